/* Names that other packages give to the weights of the same architectures; see recognise.h.
 *
 * A scheme is a list of rules. A rule replaces the beginning of a name: '#' stands for a number, and {i}, {i*k}, {i+k},
 * {i*k+j} and {i-k} in the replacement for the i-th of them. A rule that begins with '*' replaces the end of a name. The
 * first rule that fits is used; a name that none fits stays as it is. A scheme counts if its marker, a name in the same
 * notation, is there. What the names become must agree with a built-in model as any other file's.
 *
 * Where blocks are numbered otherwise, a scheme has families instead of rules: the tensors of the file are taken for
 * those of a model in their order, which must have as many, of the same kinds (weight, bias) and shapes.
 */
#include "base/sbuf.h"
#include "formats/recognise_impl.h"

enum { NUMBERS = 4, RULES = 14 };

typedef struct rule {
    const char *from, *to;
} rule;

typedef struct scheme {
    const char *package, *marker;
    const char *families; /* or NULL */
    rule rules[RULES];
} scheme;

#define VIT_LAYER   "encoder.layers.encoder_layer_{0}."
#define STAGE       "features.{0*2+1}.{1}."
#define REGNET      "trunk_output.block{0}.block{0}-{1-1}."
#define HF_RESNET   "resnet.encoder.stages.#.layers.#."
#define HF_CONVNEXT "convnext.encoder.stages.#.layers.#."

static const scheme schemes[] = {
    {"timm",
     "blocks.0.attn.qkv.weight",
     NULL,
     {{"cls_token", "class_token"},
      {"pos_embed", "encoder.pos_embedding"},
      {"patch_embed.proj.", "conv_proj."},
      {"blocks.#.norm1.", VIT_LAYER "ln_1."},
      {"blocks.#.attn.qkv.", VIT_LAYER "self_attention.in_proj_"},
      {"blocks.#.attn.proj.", VIT_LAYER "self_attention.out_proj."},
      {"blocks.#.norm2.", VIT_LAYER "ln_2."},
      {"blocks.#.mlp.fc1.", VIT_LAYER "mlp.0."},
      {"blocks.#.mlp.fc2.", VIT_LAYER "mlp.3."},
      {"norm.", "encoder.ln."},
      {"head.", "heads.head."}}},
    {"torchvision before 0.13",
     "encoder.layers.encoder_layer_0.mlp.linear_1.weight",
     NULL,
     {{"encoder.layers.encoder_layer_#.mlp.linear_1.", VIT_LAYER "mlp.0."},
      {"encoder.layers.encoder_layer_#.mlp.linear_2.", VIT_LAYER "mlp.3."}}},
    {"timm",
     "layers.3.downsample.reduction.weight",
     NULL,
     {{"patch_embed.proj.", "features.0.0."},
      {"patch_embed.norm.", "features.0.2."},
      {"layers.#.blocks.#.mlp.fc1.", STAGE "mlp.0."},
      {"layers.#.blocks.#.mlp.fc2.", STAGE "mlp.3."},
      {"layers.#.blocks.#.", STAGE},
      {"layers.#.downsample.", "features.{0*2}."},
      {"head.fc.", "head."}}},
    {"the authors of Swin",
     "layers.0.downsample.reduction.weight",
     NULL,
     {{"patch_embed.proj.", "features.0.0."},
      {"patch_embed.norm.", "features.0.2."},
      {"layers.#.blocks.#.mlp.fc1.", STAGE "mlp.0."},
      {"layers.#.blocks.#.mlp.fc2.", STAGE "mlp.3."},
      {"layers.#.blocks.#.", STAGE},
      {"layers.#.downsample.", "features.{0*2+2}."},
      {"head.fc.", "head."}}},
    {"timm",
     "stages.0.blocks.0.conv_dw.weight",
     NULL,
     {{"stem.#.", "features.0.{0}."},
      {"stages.#.downsample.#.", "features.{0*2}.{1}."},
      {"stages.#.blocks.#.conv_dw.", STAGE "block.0."},
      {"stages.#.blocks.#.norm.", STAGE "block.2."},
      {"stages.#.blocks.#.mlp.fc1.", STAGE "block.3."},
      {"stages.#.blocks.#.mlp.fc2.", STAGE "block.5."},
      {"stages.#.blocks.#.gamma", STAGE "layer_scale"},
      {"head.norm.", "classifier.0."},
      {"head.fc.", "classifier.2."}}},
    {"the authors of ConvNeXt",
     "stages.0.0.dwconv.weight",
     NULL,
     {{"downsample_layers.#.#.", "features.{0*2}.{1}."},
      {"stages.#.#.dwconv.", STAGE "block.0."},
      {"stages.#.#.norm.", STAGE "block.2."},
      {"stages.#.#.pwconv1.", STAGE "block.3."},
      {"stages.#.#.pwconv2.", STAGE "block.5."},
      {"stages.#.#.gamma", STAGE "layer_scale"},
      {"norm.", "classifier.0."},
      {"head.", "classifier.2."}}},
    {"transformers",
     HF_CONVNEXT "dwconv.weight",
     NULL,
     {{"convnext.embeddings.patch_embeddings.", "features.0.0."},
      {"convnext.embeddings.layernorm.", "features.0.1."},
      {"convnext.encoder.stages.#.downsampling_layer.#.", "features.{0*2}.{1}."},
      {HF_CONVNEXT "dwconv.", STAGE "block.0."},
      {HF_CONVNEXT "layernorm.", STAGE "block.2."},
      {HF_CONVNEXT "pwconv1.", STAGE "block.3."},
      {HF_CONVNEXT "pwconv2.", STAGE "block.5."},
      {HF_CONVNEXT "layer_scale_parameter", STAGE "layer_scale"},
      {"convnext.layernorm.", "classifier.0."},
      {"classifier.", "classifier.2."}}},
    {"timm",
     "s1.b1.conv1.conv.weight",
     NULL,
     {{"stem.conv.", "stem.0."},
      {"stem.bn.", "stem.1."},
      {"s#.b#.conv1.conv.", REGNET "f.a.0."},
      {"s#.b#.conv1.bn.", REGNET "f.a.1."},
      {"s#.b#.conv2.conv.", REGNET "f.b.0."},
      {"s#.b#.conv2.bn.", REGNET "f.b.1."},
      {"s#.b#.conv3.conv.", REGNET "f.c.0."},
      {"s#.b#.conv3.bn.", REGNET "f.c.1."},
      {"s#.b#.se.", REGNET "f.se."},
      {"s#.b#.downsample.conv.", REGNET "proj.0."},
      {"s#.b#.downsample.bn.", REGNET "proj.1."},
      {"head.fc.", "fc."}}},
    {"transformers",
     HF_RESNET "layer.0.convolution.weight",
     NULL,
     {{"resnet.embedder.embedder.convolution.", "conv1."},
      {"resnet.embedder.embedder.normalization.", "bn1."},
      {HF_RESNET "shortcut.convolution.", "layer{0+1}.{1}.downsample.0."},
      {HF_RESNET "shortcut.normalization.", "layer{0+1}.{1}.downsample.1."},
      {HF_RESNET "layer.#.convolution.", "layer{0+1}.{1}.conv{2+1}."},
      {HF_RESNET "layer.#.normalization.", "layer{0+1}.{1}.bn{2+1}."},
      {"classifier.1.", "fc."}}},
    {"torchvision before 0.4",
     "features.denseblock1.denselayer1.norm.1.weight",
     NULL,
     {{"features.denseblock#.denselayer#.norm.#.", "features.denseblock{0}.denselayer{1}.norm{2}."},
      {"features.denseblock#.denselayer#.conv.#.",
       "features.denseblock{0}.denselayer{1}.conv{2}."}}},
    {"MMPretrain", "head.fc.weight", NULL, {{"backbone.", ""}, {"head.fc.", "fc."}}},
    {"older transformers",
     "*embeddings.LayerNorm.gamma",
     NULL,
     {{"*LayerNorm.gamma", "LayerNorm.weight"}, {"*LayerNorm.beta", "LayerNorm.bias"}}},
    {"timm", "conv_stem.weight", "mobilenet_v2 mobilenet_v3 efficientnet mnasnet", {{0}}},
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* ---- rules ---- */

/* Takes the beginning of a name that a pattern fits; the numbers go to n. NULL: it does not fit. */
static const char *fit_start(const char *pattern, str name, int64_t *n)
{
    const char *p = name.p, *end = name.p + name.n;
    for (int k = 0; *pattern; pattern++) {
        if (*pattern != '#') {
            if (p == end || *p++ != *pattern)
                return NULL;
            continue;
        }
        if (p == end || !str_is_digit(*p) || k == NUMBERS)
            return NULL;
        for (n[k] = 0; p < end && str_is_digit(*p) && n[k] < 100000; p++)
            n[k] = 10 * n[k] + (*p - '0');
        k++;
    }
    return p;
}

static bool fits_end(const char *pattern, str name)
{
    return pattern[0] == '*' && str_ends(name, pattern + 1);
}

/* {0*2+1} */
static const char *put_number(sbuf *b, const char *p, const int64_t *n)
{
    int64_t v = n[*++p - '0'];
    for (p++; *p != '}'; p += 2)
        v = *p == '*' ? v * (p[1] - '0') : *p == '+' ? v + (p[1] - '0') : v - (p[1] - '0');
    sbuf_printf(b, "%lld", (long long)v);
    return p;
}

static str replaced(arena *a, const rule *r, str name, const char *rest, const int64_t *n)
{
    sbuf b = {0};
    if (!rest)
        sbuf_str(&b, (str){name.p, name.n - (uint32_t)strlen(r->from + 1)});
    for (const char *p = r->to; *p; p++)
        if (*p == '{')
            p = put_number(&b, p, n);
        else
            sbuf_putc(&b, *p);
    if (rest)
        sbuf_str(&b, (str){rest, (uint32_t)(name.p + name.n - rest)});
    str out = str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

static str rename_by(const scheme *s, arena *a, str name)
{
    int64_t n[NUMBERS];
    for (const rule *r = s->rules; r < s->rules + RULES && r->from; r++) {
        const char *rest = fit_start(r->from, name, n);
        if (rest || fits_end(r->from, name))
            return replaced(a, r, name, rest, n);
    }
    return name;
}

static bool has_marker(const scheme *s, const named *list, uint32_t n)
{
    int64_t numbers[NUMBERS];
    for (uint32_t i = 0; i < n; i++)
        if (fit_start(s->marker, list[i].name, numbers) == list[i].name.p + list[i].name.n ||
            fits_end(s->marker, list[i].name))
            return true;
    return false;
}

/* ---- order ---- */

static uint32_t parent_length(str name)
{
    uint32_t i = name.n;
    while (i && name.p[i - 1] != '.')
        i--;
    return i;
}

static str last_part(str name)
{
    uint32_t at = parent_length(name);
    return (str){name.p + at, name.n - at};
}

/* The next weight of a model; IR_NONE at the end. */
static ir_id next_weight(const ir_model *m, ir_id from)
{
    for (ir_id id = from; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (v->constant && v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER) &&
            zoo_name_counts(v->name))
            return id;
    }
    return IR_NONE;
}

/* Gives the tensors the names of a model that has as many of the same kinds, most of them of the same size. Running
 * statistics, which may be there or not, follow the weight of the same module. */
static bool rename_in_order(const ir_model *m, arena *a, named *list, uint32_t n)
{
    ir_id id = next_weight(m, 0);
    str old = {0}, now = {0};
    uint32_t counted = 0, same = 0;
    for (uint32_t i = 0; i < n; i++) {
        str name = list[i].name, last = last_part(name);
        bool counts = zoo_name_counts(name);
        if (counts && (id == IR_NONE || !str_eq(last_part(ir_value_at(m, id)->name), last)))
            return false;
        if (counts) {
            old = (str){name.p, parent_length(name)};
            now = ir_value_at(m, id)->name;
            counted++;
            same += ir_value_at(m, id)->constant->n_elems == list[i].item->n_elems;
            id = next_weight(m, id + 1);
        } else if (!str_eq(old, (str){name.p, parent_length(name)})) {
            continue;
        }
        list[i].name = str_printf(a, "%.*s" STR_FMT, (int)parent_length(now), now.p, STR_ARG(last));
    }
    return id == IR_NONE && 4 * (uint64_t)same >= 3 * (uint64_t)counted;
}

/* ---- all ---- */

/* Tries the rows of the families of a scheme; the names of the first that fits are in `to`. */
static assay_status try_families(search *s, const scheme *by, const recognise_names *in,
                                 recognise_found *out, assay_error *err)
{
    named *list = ARENA_ARRAY(s->scratch, named, (size_t)in->n + 1);
    attempt *t = ARENA_NEW(s->scratch, attempt);
    TRY_MEMORY(list && t, err);
    for (uint32_t i = 0; i < zoo_count() && !out->found->row; i++) {
        const zoo_row *row = zoo_at(i);
        zoo_args none;
        zoo_args_init(&none, s->scratch);
        if (!str_in_list(str_of(row->family), by->families, ' ') || !zoo_names_has(row) ||
            !recognise_try(s, row, &none, t))
            continue;
        memcpy(list, in->list, in->n * sizeof *list);
        bool fits = rename_in_order(t->m, s->scratch, list, in->n);
        recognise_drop(t);
        if (fits)
            TRY(recognise_names_as(s, (recognise_names){list, in->n}, out, err));
    }
    return ASSAY_OK;
}

static assay_status try_rules(search *s, const scheme *by, const recognise_names *in,
                              recognise_found *out, assay_error *err)
{
    named *list = arena_copy(s->scratch, in->list, (in->n + 1) * sizeof *in->list);
    TRY_MEMORY(list, err);
    for (uint32_t i = 0; i < in->n; i++) {
        list[i].name = rename_by(by, s->scratch, list[i].name);
        TRY_MEMORY(list[i].name.p, err);
    }
    const recognise_names now = {list, in->n};
    TRY(recognise_names_as(s, now, out, err));
    return out->found->row ? ASSAY_OK : recognise_heads(s, now, out, err);
}

assay_status recognise_schemes(search *s, recognise_names in, recognise_found *out,
                               assay_error *err)
{
    for (const scheme *by = schemes; by < schemes + SCHEMES && !out->found->row; by++) {
        if (!has_marker(by, in.list, in.n))
            continue;
        TRY(by->families ? try_families(s, by, &in, out, err) : try_rules(s, by, &in, out, err));
        if (out->found->row)
            out->found->names_of = by->package;
    }
    return ASSAY_OK;
}
