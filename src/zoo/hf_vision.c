/* ViT, DeiT, DINOv2 and Swin as transformers has them (modeling_vit.py, ...): the networks of vit.c
 * and swin.c with q, k and v apart and other names. DeiT has a second token, DINOv2 scales what its layers add.
 */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_windows.h"
#include "zoo/zoo.h"

typedef struct image_config {
    int64_t side, channels, patch;
    double eps;
    bool qkv_bias;
    str act;
} image_config;

/* Sizes may be written as a list of two; the first counts for both, which must be equal. */
static int64_t side_of(nn *b, const char *key, int64_t def)
{
    int64_t two[2] = {def, def};
    nn_ints_each(b, key, (const int64_t[]){def, def}, two, 2, 1, HF_HEADS);
    if (two[0] != two[1])
        nn_fail(b, "parameter '%s' must be the same for height and width", key);
    return two[0];
}

static image_config read_image(nn *b, int64_t patch, double eps)
{
    hf c = {b, NULL};
    return (image_config){.side = side_of(b, "image_size", 224),
                          .channels = hf_int(c, "num_channels", 3, 1, HF_HEADS),
                          .patch = side_of(b, "patch_size", patch),
                          .eps = hf_real(c, "layer_norm_eps", eps),
                          .qkv_bias = hf_bool(c, "qkv_bias", true),
                          .act = hf_word(c, "hidden_act", "gelu")};
}

static nn_t image_input(nn *b, const image_config *c)
{
    const int64_t dims[] = {1, c->channels, c->side, c->side};
    nn_t x = nn_input(b, "pixel_values", IR_FLOAT32, 4, dims);
    if (nn_ok(b) && (x.d[2] % c->patch || x.d[3] % c->patch))
        nn_fail(b, "a %lldx%lld image is not divisible into patches of %lld", (long long)x.d[2],
                (long long)x.d[3], (long long)c->patch);
    return x;
}

static nn_t query_key_value(nn *b, nn_t x, int64_t heads, const char *name, const image_config *c)
{
    return nn_split_heads(b, name, nn_linear(b, name, x, x.d[x.rank - 1], c->qkv_bias), heads);
}

/* ---- ViT ---- */

typedef struct hf_vit {
    const char *prefix;
    bool deit, dino, swiglu;
    int64_t width, layers, heads, inner;
    image_config image;
} hf_vit;

static hf_vit read_vit(nn *b)
{
    hf c = {b, NULL};
    str type = hf_word(c, "model_type", "vit");
    hf_vit m = {.prefix = "vit", .deit = str_is(type, "deit"), .dino = str_is(type, "dinov2")};
    if (m.deit || m.dino)
        m.prefix = m.deit ? "deit" : "dinov2";
    m.image = read_image(b, 16, m.dino ? 1e-6 : 1e-12);
    m.width = hf_int(c, "hidden_size", 768, 1, HF_WIDTH);
    m.layers = hf_int(c, "num_hidden_layers", 12, 1, HF_LAYERS);
    m.heads = hf_int(c, "num_attention_heads", 12, 1, HF_HEADS);
    m.inner = m.dino ? nn_times(m.width, nn_real_in(b, "mlp_ratio", 4.0, 0.001, 1000.0))
                     : hf_int(c, "intermediate_size", 3072, 1, HF_WIDTH);
    m.swiglu = m.dino && hf_bool(c, "use_swiglu_ffn", false);
    return m;
}

static nn_t own_token(nn *b, const char *name, nn_t x)
{
    nn_t token = nn_param(b, name, 3, (const int64_t[]){1, 1, x.d[2]});
    return nn_expand(b, arena_printf(nn_arena(b), "%s/expand", name), token, 3,
                     (const int64_t[]){x.d[0], 1, x.d[2]});
}

static nn_t vit_tokens(nn *b, nn_t x, const hf_vit *m)
{
    const image_config *c = &m->image;
    nn_t parts[3];
    int n = 0;
    nn_push(b, "embeddings");
    x = NN_CONV(b, "patch_embeddings.projection", x, .out = m->width, .k = c->patch,
                .stride = c->patch);
    x = nn_swap(b, "transpose", nn_flatten(b, "flatten", x, 2));
    parts[n++] = own_token(b, "cls_token", x);
    if (m->deit)
        parts[n++] = own_token(b, "distillation_token", x);
    parts[n++] = x;
    if (m->dino && hf_bool((hf){b, NULL}, "use_mask_token", true))
        nn_param(b, "mask_token", 2, (const int64_t[]){1, m->width}); /* of training */
    x = nn_concat(b, "cat", n, parts, 1);
    nn_t p = nn_param(b, "position_embeddings", 3, (const int64_t[]){1, x.d[1], m->width});
    return nn_leave(b, nn_add(b, "add", x, p));
}

static nn_t vit_mlp(nn *b, nn_t x, const hf_vit *m)
{
    nn_t parts[2];
    if (!m->dino) {
        x = nn_linear(b, "intermediate.dense", x, m->inner, true);
        return nn_linear(b, "output.dense", hf_act(b, "intermediate.act", x, m->image.act),
                         m->width, true);
    }
    if (!m->swiglu) {
        x = hf_act(b, "mlp.activation", nn_linear(b, "mlp.fc1", x, m->inner, true), m->image.act);
        return nn_linear(b, "mlp.fc2", x, m->width, true);
    }
    int64_t inner = (m->inner * 2 / 3 + 7) / 8 * 8;
    nn_split(b, "mlp.chunk", nn_linear(b, "mlp.weights_in", x, 2 * inner, true), 2, 2, parts);
    x = nn_mul(b, "mlp.mul", hf_act(b, "mlp.silu", parts[0], STR("silu")), parts[1]);
    return nn_linear(b, "mlp.weights_out", x, m->width, true);
}

static nn_t scaled(nn *b, const char *name, nn_t x, const hf_vit *m)
{
    if (!m->dino)
        return x;
    nn_t by = nn_param(b, arena_printf(nn_arena(b), "%s.lambda1", name), 1, &m->width);
    return nn_mul(b, name, x, by);
}

static nn_t vit_layer(nn *b, nn_t x, const hf_vit *m)
{
    const image_config *c = &m->image;
    hf_text t = {.b = b, .mask = NN_ABSENT, .batch = x.d[0], .seq = x.d[1]};
    nn_t y = nn_layernorm(b, m->dino ? "norm1" : "layernorm_before", x, c->eps);
    nn_push(b, "attention.attention");
    nn_t q = query_key_value(b, y, m->heads, "query", c);
    nn_t k = query_key_value(b, y, m->heads, "key", c);
    nn_t v = query_key_value(b, y, m->heads, "value", c);
    y = hf_attend(&t, q, k, v, HF_ATTENTION(.layer = 0));
    nn_pop(b);
    y = nn_linear(b, "attention.output.dense", y, m->width, true);
    x = nn_add(b, "add_1", x, scaled(b, "layer_scale1", y, m));
    y = vit_mlp(b, nn_layernorm(b, m->dino ? "norm2" : "layernorm_after", x, c->eps), m);
    return nn_add(b, "add_2", x, scaled(b, "layer_scale2", y, m));
}

static nn_t vit_pooler(nn *b, nn_t token, int64_t width)
{
    int64_t wide = hf_int((hf){b, NULL}, "pooler_output_size", width, 1, HF_WIDTH);
    nn_t x = nn_linear(b, "pooler.dense", token, wide, true);
    return hf_act(b, "pooler.activation", x, hf_word((hf){b, NULL}, "pooler_act", "tanh"));
}

static nn_t token_at(nn *b, const char *name, nn_t x, int64_t i)
{
    nn_t token = nn_slice(b, name, x, 1, i, i + 1);
    return nn_squeeze(b, arena_printf(nn_arena(b), "%s/squeeze", name), token, 1);
}

/* DeiT: two classifiers, on the two tokens, whose answers are averaged. */
static void with_teacher(nn *b, nn_t x)
{
    int64_t labels = hf_labels(b);
    nn_t first = nn_linear(b, "cls_classifier", token_at(b, "token", x, 0), labels, true);
    nn_t second = nn_linear(b, "distillation_classifier", token_at(b, "distilled", x, 1), labels,
                            true);
    nn_output(b, nn_scale(b, "average", nn_add(b, "sum", first, second), 0.5), "logits");
}

static void vit_classifier(nn *b, nn_t x, const hf_vit *m)
{
    nn_t token = token_at(b, "token", x, 0);
    if (m->dino) {
        nn_t rest = nn_slice(b, "patches", x, 1, 1, x.d[1]);
        rest = nn_mean(b, "patches/mean", rest, 1, (const int64_t[]){1}, false);
        token = nn_concat(b, "pooled", 2, (const nn_t[]){token, rest}, 1);
    }
    nn_output(b, nn_linear(b, "classifier", token, hf_labels(b), true), "logits");
}

static void build_vit(nn *b)
{
    hf_ignore(b);
    hf_vit m = read_vit(b);
    bool teacher = m.deit && hf_architecture_is(b, "WithTeacher");
    bool classify = teacher || hf_architecture(b, HF_CLASSIFY) != HF_MODEL;
    if (classify)
        nn_push(b, "%s", m.prefix);
    nn_t x = vit_tokens(b, image_input(b, &m.image), &m);
    for (int i = 0; i < (int)m.layers && nn_ok(b); i++)
        x = NN_UNDER(b, vit_layer(b, x, &m), "encoder.layer.%d", i);
    x = nn_layernorm(b, "layernorm", x, m.image.eps);
    if (classify) {
        nn_pop(b);
        hf_raw((hf){b, NULL}, "pooler_output_size|pooler_act");
        if (teacher)
            with_teacher(b, x);
        else
            vit_classifier(b, x, &m);
        return;
    }
    nn_output(b, x, "last_hidden_state");
    nn_t token = token_at(b, "token", x, 0);
    nn_output(b, m.dino ? token : vit_pooler(b, token, m.width), "pooler_output");
}

/* ---- Swin ---- */

enum { STAGES = 8 };

typedef struct hf_swin {
    image_config image;
    int64_t width, window, depths[STAGES], heads[STAGES];
    int stages;
    double ratio;
    nn_window_tables tables;
} hf_swin;

static hf_swin read_swin(nn *b)
{
    static const int64_t depths[] = {2, 2, 6, 2}, heads[] = {3, 6, 12, 24};
    hf c = {b, NULL};
    hf_swin s = {.image = read_image(b, 4, 1e-5),
                 .width = hf_int(c, "embed_dim", 96, 1, HF_HEADS),
                 .window = hf_int(c, "window_size", 7, 1, NN_WINDOW_SIDE),
                 .ratio = nn_real_in(b, "mlp_ratio", 4.0, 0.001, 1000.0)};
    s.stages = nn_ints_in(b, "depths", depths, 4, s.depths, STAGES, 1, HF_LAYERS);
    int n = nn_ints_in(b, "num_heads", heads, 4, s.heads, STAGES, 1, HF_HEADS);
    if (nn_ok(b) && n != s.stages)
        nn_fail(b, "depths has %d items but num_heads has %d", s.stages, n);
    hf_raw(c, "num_layers|hidden_size");
    hf_raw(c, "num_layers");
    return s;
}

/* A map no larger than a window is one window, unshifted. */
static nn_windows windows_of(const hf_swin *s, nn_t x, bool shifted)
{
    int64_t small = x.d[1] < x.d[2] ? x.d[1] : x.d[2];
    int64_t size = small <= s->window ? small : s->window;
    nn_windows w = {.n = 2};
    for (int i = 0; i < 2; i++) {
        w.map[i] = x.d[1 + i];
        w.size[i] = size;
        w.whole[i] = s->window;
        w.shift[i] = shifted && small > s->window ? s->window / 2 : 0;
    }
    return w;
}

static nn_t swin_attention(nn *b, hf_swin *s, nn_t x, int64_t heads, bool shifted)
{
    nn_windows w = windows_of(s, x, shifted);
    int64_t batch = x.d[0], width = x.d[3];
    nn_push(b, "attention.self");
    x = nn_windows_cut(b, x, &w);
    nn_t q = query_key_value(b, x, heads, "query", &s->image);
    nn_t k = query_key_value(b, x, heads, "key", &s->image);
    nn_t v = query_key_value(b, x, heads, "value", &s->image);
    q = nn_scale(b, "scale", q, 1.0 / sqrt((double)q.d[3]));
    const int64_t dims[] = {nn_windows_offsets(&w), heads};
    nn_t table = nn_param(b, "relative_position_bias_table", 2, dims);
    nn_t bias = nn_windows_bias(b, table, &w, &s->tables);
    nn_t scores = nn_matmul(b, "scores", q, nn_swap(b, "key/swap", k));
    scores = nn_add(b, "add_bias", scores, bias);
    scores = nn_windows_masked(b, scores, batch, &w, &s->tables);
    scores = nn_one(b, "Softmax", "softmax", 1, &scores, scores, 1, &NN_INT("axis", -1));
    x = nn_unheads(b, nn_matmul(b, "attend", scores, v));
    nn_pop(b);
    return nn_windows_join(b, nn_linear(b, "attention.output.dense", x, width, true), batch, &w);
}

static nn_t swin_block(nn *b, hf_swin *s, nn_t x, int64_t heads, bool shifted)
{
    int64_t width = x.d[3];
    nn_t y = nn_layernorm(b, "layernorm_before", x, s->image.eps);
    x = nn_add(b, "add_1", x, swin_attention(b, s, y, heads, shifted));
    y = nn_layernorm(b, "layernorm_after", x, s->image.eps);
    y = nn_linear(b, "intermediate.dense", y, nn_times(width, s->ratio), true);
    y = nn_linear(b, "output.dense", hf_act(b, "intermediate.act", y, s->image.act), width, true);
    return nn_add(b, "add_2", x, y);
}

static nn_t swin_merge(nn *b, nn_t x, double eps)
{
    nn_t part[4];
    int64_t width = x.d[3], pads[8] = {0, 0, 0, 0, 0, x.d[1] % 2, x.d[2] % 2, 0};
    nn_push(b, "downsample");
    if (x.d[1] % 2 || x.d[2] % 2)
        x = nn_pad(b, "pad", x, pads, "constant");
    for (int i = 0; i < 4; i++) {
        nn_t rows = nn_slice_step(b, "rows", x, 1, i % 2, x.d[1], 2);
        part[i] = nn_slice_step(b, "columns", rows, 2, i / 2, x.d[2], 2);
    }
    x = nn_layernorm(b, "norm", nn_concat(b, "cat", 4, part, 3), eps);
    return nn_leave(b, nn_linear(b, "reduction", x, 2 * width, false));
}

static nn_t swin_embeddings(nn *b, const hf_swin *s)
{
    nn_t x = image_input(b, &s->image);
    nn_push(b, "embeddings");
    x = NN_CONV(b, "patch_embeddings.projection", x, .out = s->width, .k = s->image.patch,
                .stride = s->image.patch);
    x = nn_transpose(b, "transpose", x, (const int64_t[]){0, 2, 3, 1});
    x = nn_layernorm(b, "norm", x, s->image.eps);
    if (nn_bool(b, "use_absolute_embeddings", false)) {
        const int64_t n = x.d[1] * x.d[2], dims[] = {1, n, s->width};
        nn_t p = nn_param(b, "position_embeddings", 3, dims);
        p = nn_reshape(b, "positions", p, 4, (const int64_t[]){1, x.d[1], x.d[2], s->width});
        x = nn_add(b, "add", x, p);
    }
    return nn_leave(b, x);
}

static void build_swin(nn *b)
{
    hf_ignore(b);
    hf_swin s = read_swin(b);
    bool classify = hf_architecture(b, HF_CLASSIFY) != HF_MODEL;
    if (classify)
        nn_push(b, "swin");
    nn_t x = swin_embeddings(b, &s);
    for (int i = 0; i < s.stages && nn_ok(b); i++) {
        nn_push(b, "encoder.layers.%d", i);
        for (int k = 0; k < (int)s.depths[i] && nn_ok(b); k++)
            x = NN_UNDER(b, swin_block(b, &s, x, s.heads[i], k % 2 == 1), "blocks.%d", k);
        x = i + 1 < s.stages ? swin_merge(b, x, s.image.eps) : x;
        nn_pop(b);
    }
    x = nn_reshape(b, "flatten", x, 3, (const int64_t[]){x.d[0], x.d[1] * x.d[2], x.d[3]});
    x = nn_layernorm(b, "layernorm", x, s.image.eps);
    nn_t pooled = nn_mean(b, "pooler", x, 1, (const int64_t[]){1}, false);
    if (classify) {
        nn_pop(b);
        nn_output(b, nn_linear(b, "classifier", pooled, hf_labels(b), true), "logits");
        return;
    }
    nn_output(b, x, "last_hidden_state");
    nn_output(b, pooled, "pooler_output");
}

static const zoo_row families[] = {
    ZOO_ROW("vit", NULL, "vit", "classification", build_vit, NULL),
    ZOO_ROW("deit", NULL, "deit", "classification", build_vit, "model_type=deit"),
    ZOO_ROW("dinov2", NULL, "dinov2", "classification", build_vit,
            "model_type=dinov2 patch_size=14"),
    ZOO_ROW("swin", NULL, "swin", "classification", build_swin, NULL),
};
const zoo_rows zoo_hf_vision_families = ZOO_ROWS(families);
