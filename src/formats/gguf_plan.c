/* Which keys and tensors a model of the zoo has as a GGUF file; see gguf_write.h. */
#include <strings.h>

#include "base/num.h"
#include "formats/gguf_write.h"
#include "formats/onnx_fill.h"

enum {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    BF16 = 30,
    MXFP4 = 39,
    CONTEXT = 2048, /* of a model that states no length */
    ALIGNMENT = 32,
};

const gguf_quant gguf_quants[] = {
    {"f32", F32, F32, F32, F32, 0},       {"f16", F16, F16, F16, F16, 1},
    {"bf16", BF16, BF16, BF16, BF16, 32}, {"q8_0", Q8_0, Q8_0, Q8_0, Q8_0, 7},
    {"q4_0", Q4_0, Q6_K, Q4_0, Q4_0, 2},  {"q4_1", Q4_1, Q6_K, Q4_1, Q4_1, 3},
    {"q5_0", Q5_0, Q6_K, Q5_0, Q5_0, 8},  {"q5_1", Q5_1, Q6_K, Q5_1, Q5_1, 9},
    {"q4_k", Q4_K, Q6_K, Q4_K, Q4_K, 14}, {"q4_k_m", Q4_K, Q6_K, Q6_K, Q4_K, 15},
    {"q5_k", Q5_K, Q6_K, Q5_K, Q5_K, 16}, {"q5_k_m", Q5_K, Q6_K, Q6_K, Q5_K, 17},
    {"q6_k", Q6_K, Q6_K, Q6_K, Q6_K, 18}, {"mxfp4", Q8_0, Q8_0, Q8_0, MXFP4, 38},
};
const uint32_t gguf_quants_n = sizeof gguf_quants / sizeof *gguf_quants;

const gguf_quant *gguf_quant_find(str name)
{
    for (uint32_t i = 0; i < gguf_quants_n; i++)
        if (strlen(gguf_quants[i].name) == name.n &&
            strncasecmp(gguf_quants[i].name, name.p, name.n) == 0)
            return &gguf_quants[i];
    return NULL;
}

typedef struct planning {
    const ir_model *m;
    const zoo_row *row;
    const zoo_asked_list *asked;
    const onnx_fill *fills;
    arena *arena;
    gguf_plan *out;
    assay_error *err;
    int64_t layers;
    bool tied;    /* the output matrix is that of the tokens */
    bool experts; /* there are some */
} planning;

/* ---- keys ---- */

static const json_value *asked_of(const planning *p, str key)
{
    for (uint32_t i = 0; i < p->asked->list.n; i++)
        if (str_is(key, p->asked->list.items[i].key))
            return &p->asked->list.items[i].value;
    return NULL;
}

static double number_of(const json_value *v)
{
    return v->kind == JSON_REAL ? v->f : (double)v->i;
}

/* The first of several spellings that the builder asked for. */
static bool asked_number(const planning *p, const char *names, double *out)
{
    for (str rest = str_of(names), name; str_split(&rest, ' ', &name);) {
        const json_value *v = asked_of(p, name);
        if (!v || v->kind == JSON_TEXT || v->kind == JSON_LIST)
            continue;
        *out = number_of(v);
        return true;
    }
    return false;
}

static double asked_or(const planning *p, const char *names, double otherwise)
{
    double v;
    return asked_number(p, names, &v) ? v : otherwise;
}

static assay_status put_pair(planning *p, const char *key, gguf_key_kind kind, double value)
{
    for (uint32_t i = 0; i < p->out->pairs.n; i++)
        if (strcmp(p->out->pairs.items[i].key, key) == 0) {
            p->out->pairs.items[i].value = value;
            return ASSAY_OK;
        }
    return VEC_ADD(p->arena, &p->out->pairs, ((gguf_out_pair){key, kind, value}))
               ? ASSAY_OK
               : err_no_memory(p->err);
}

static assay_status put_int(planning *p, const char *key, double value)
{
    return put_pair(p, key, GGUF_KEY_INT, value);
}

/* A builder asks for a length only where it needs it. */
static assay_status put_context(planning *p)
{
    static const char names[] = "max_position_embeddings n_positions";
    int64_t n = CONTEXT;
    for (str rest = str_of(names), name; str_split(&rest, ' ', &name);) {
        const char *key = str_copy(p->arena, name).p;
        if (key && zoo_default(p->row, key, &n))
            break;
    }
    return put_int(p, "context_length", asked_or(p, names, (double)n));
}

/* One key for both kinds of norms in the builders, two in llama.cpp. */
static assay_status put_epsilon(planning *p)
{
    double eps = asked_or(p, "rms_norm_eps layer_norm_epsilon layer_norm_eps", 1e-5);
    return put_pair(p,
                    p->out->arch->layer_norm ? "attention.layer_norm_epsilon"
                                             : "attention.layer_norm_rms_epsilon",
                    GGUF_KEY_REAL, eps);
}

static assay_status put_heads(planning *p)
{
    double heads = asked_or(p, "num_attention_heads n_head", 1);
    double head = asked_or(p, "head_dim",
                           (double)((int64_t)asked_or(p, "hidden_size n_embd n_embed", 1) /
                                    (int64_t)(heads >= 1 ? heads : 1)));
    double part = asked_or(p, "partial_rotary_factor", 1.0);
    if (asked_or(p, "multi_query", 0) > 0 && asked_or(p, "new_decoder_architecture", 0) == 0)
        TRY(put_int(p, "attention.head_count_kv", 1));
    if (p->out->arch->style == GGUF_LLAMA) {
        TRY(put_int(p, "attention.key_length", head));
        TRY(put_int(p, "attention.value_length", head));
    }
    return part < 1.0 ? put_int(p, "rope.dimension_count", (double)(int64_t)(head * part))
                      : ASSAY_OK;
}

/* Multi-head latent attention: one head of the compressed keys in the cache. */
static assay_status put_latent(planning *p)
{
    double latent = asked_or(p, "kv_lora_rank", 0), turned = asked_or(p, "qk_rope_head_dim", 0);
    if (latent <= 0)
        return ASSAY_OK;
    TRY(put_int(p, "attention.head_count_kv", 1));
    TRY(put_int(p, "attention.key_length", latent + turned));
    TRY(put_int(p, "attention.value_length", latent));
    TRY(put_int(p, "attention.key_length_mla", turned + asked_or(p, "qk_nope_head_dim", 0)));
    TRY(put_int(p, "attention.value_length_mla", asked_or(p, "v_head_dim", 0)));
    TRY(put_int(p, "rope.dimension_count", turned));
    return put_int(p, "expert_gating_func", strcmp(p->out->model_type, "deepseek_v3") == 0 ? 2 : 1);
}

static assay_status put_keys(planning *p)
{
    for (uint32_t i = 0; i < gguf_keys_n; i++) {
        const gguf_key *k = &gguf_keys[i];
        double v;
        if (strstr(k->key, "epsilon") || strcmp(k->key, "context_length") == 0)
            continue;
        if (asked_number(p, k->parameters, &v))
            TRY(put_pair(p, k->key, k->kind, v));
        else if (k->needed)
            return err_fail(p->err, ASSAY_ERR_UNSUPPORTED, "%s: no value for %s of llama.cpp",
                            p->row->name, k->key);
    }
    TRY(put_context(p));
    TRY(put_epsilon(p));
    TRY(put_heads(p));
    if (strcmp(p->out->model_type, "gpt_oss") == 0)
        TRY(put_int(p, "expert_feed_forward_length", asked_or(p, "intermediate_size", 1)));
    return put_latent(p);
}

/* ---- names of tensors ---- */

typedef struct named {
    const gguf_stem *stem;
    str block;        /* the number of its block; empty: outside */
    const char *part; /* "weight" or "bias" */
} named;

/* "model.layers.3.self_attn.q_proj.weight" without what stands before the block's own names. */
static bool split_block(const planning *p, str name, str *block, str *rest)
{
    const char *before = gguf_blocks[p->out->arch->style];
    size_t n = strlen(before);
    if (!str_starts(name, before) || name.n <= n || name.p[n] != '.')
        return false;
    *rest = (str){name.p + n + 1, name.n - (uint32_t)n - 1};
    *block = str_cut(rest, '.');
    return block->n > 0 && rest->n > 0;
}

static bool is_stem(const gguf_stem *s, str name, named *out)
{
    static const char *const parts[] = {"weight", "bias"};
    for (size_t i = 0; i < 2; i++) {
        size_t n;
        const char *end = gguf_ending(s->to, str_of(parts[i]), &n);
        if (name.n != n + strlen(end) || strncmp(name.p, s->to, n) != 0 ||
            strncmp(name.p + n, end, strlen(end)) != 0)
            continue;
        *out = (named){.stem = s,
                       .block = out->block,
                       .part = strstr(s->to, "e_score_correction") ? "bias" : parts[i]};
        return true;
    }
    return false;
}

static bool find_name(const planning *p, str name, named *out)
{
    str rest = name;
    *out = (named){0};
    if (str_starts(rest, "language_model."))
        rest = (str){rest.p + 15, rest.n - 15};
    str whole = rest;
    bool inside = split_block(p, whole, &out->block, &rest);
    const gguf_stems *stems = inside ? &gguf_inner : &gguf_outer;
    for (uint32_t i = 0; i < stems->n; i++)
        if (gguf_stem_is(&stems->rows[i], p->out->arch->style, p->out->model_type) &&
            is_stem(&stems->rows[i], inside ? rest : whole, out))
            return true;
    return false;
}

/* ---- types ---- */

/* The mixtures spend more bits on the first and last eighth of the layers and on every third between. */
static bool has_more_bits(const planning *p, str block)
{
    uint64_t i, n = (uint64_t)p->layers;
    if (!block.n || !str_to_u64(block, &i))
        return false;
    return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
}

static bool stays_float(const char *stem, const char *part, int rank)
{
    return rank < 2 || strcmp(part, "bias") == 0 || strstr(stem, "norm") ||
           strcmp(stem, "position_embd") == 0 || strcmp(stem, "ffn_gate_inp") == 0 ||
           strcmp(stem, "ffn_gate_inp_shexp") == 0;
}

static uint32_t wanted_type(const planning *p, const char *stem, const named *of, int rank)
{
    const gguf_quant *q = p->out->quant;
    if (stays_float(stem, of->part, rank))
        return F32;
    if (strcmp(stem, "output") == 0 || (p->tied && strcmp(stem, "token_embd") == 0))
        return q->output;
    if (strstr(stem, "_exps"))
        return q->experts;
    bool mixed = strcmp(stem, "attn_v") == 0 || strcmp(stem, "ffn_down") == 0;
    return mixed && has_more_bits(p, of->block) ? q->more : q->type;
}

/* The same as llama-quantize takes for rows that are no multiple of a block. */
static uint32_t fitting_type(planning *p, uint32_t type, uint64_t row)
{
    static const uint32_t coarser[][2] = {{Q4_K, Q5_0}, {Q5_K, Q5_1}, {Q6_K, Q8_0}};
    uint32_t fits = type;
    for (size_t i = 0; i < sizeof coarser / sizeof *coarser; i++)
        if (fits == coarser[i][0] && row % gguf_type_of(fits)->block)
            fits = coarser[i][1];
    if (row % gguf_type_of(fits)->block)
        fits = F16;
    p->out->other_types += fits != type;
    return fits;
}

/* ---- tensors ---- */

static assay_status add_tensor(planning *p, gguf_out_tensor t, const char *stem, const named *of)
{
    gguf_plan *out = p->out;
    t.name = of->block.n
                 ? str_printf(p->arena, "blk." STR_FMT ".%s.%s", STR_ARG(of->block), stem, of->part)
                 : str_printf(p->arena, "%s.%s", stem, of->part);
    t.type = fitting_type(p, wanted_type(p, stem, of, t.rank), t.ne[0]);
    const gguf_type *type = gguf_type_of(t.type);
    t.elems = 1;
    for (int i = 0; i < t.rank; i++)
        t.elems = sat_mul(t.elems, t.ne[i]);
    t.bytes = sat_mul(t.elems / type->block, type->bytes);
    t.offset = out->data_bytes;
    if (strstr(stem, "norm")) {
        t.centre = strcmp(of->part, "weight") == 0 ? 1.0f : 0.0f;
        t.spread = 0.0f;
    }
    out->parameters = sat_add(out->parameters, t.elems);
    out->data_bytes = sat_add(out->data_bytes, (t.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    TRY_MEMORY(t.name.p && VEC_ADD(p->arena, &out->tensors, t), p->err);
    return out->data_bytes < NUM_SATURATED
               ? ASSAY_OK
               : err_fail(p->err, ASSAY_ERR_UNSUPPORTED, "the model is too large for a file");
}

/* gpt-oss: gate and up are one weight of the checkpoint and two tensors of the file. */
static assay_status add_gate_and_up(planning *p, gguf_out_tensor t, const named *of)
{
    int axis = strcmp(of->part, "bias") == 0 ? 0 : 1;
    t.ne[axis] /= 2;
    TRY(add_tensor(p, t, "ffn_gate_exps", of));
    return add_tensor(p, t, "ffn_up_exps", of);
}

/* DeepSeek: the compressed keys and values are expanded by one tensor each. */
static assay_status add_latent_factors(planning *p, gguf_out_tensor t, const named *of)
{
    uint64_t heads = (uint64_t)asked_or(p, "num_attention_heads", 1), latent = t.ne[0];
    t.rank = 3;
    t.ne[0] = (uint64_t)asked_or(p, "qk_nope_head_dim", 1);
    t.ne[1] = latent;
    t.ne[2] = heads;
    TRY(add_tensor(p, t, "attn_k_b", of));
    t.ne[0] = latent;
    t.ne[1] = (uint64_t)asked_or(p, "v_head_dim", 1);
    return add_tensor(p, t, "attn_v_b", of);
}

/* The last dimension of a checkpoint is the fastest; matrices that the builder holds as [.., in, out] are there the other
 * way round. */
static gguf_out_tensor tensor_of(const planning *p, const ir_value *v, ir_id id, bool in_first)
{
    const ir_tensor *c = v->constant;
    gguf_out_tensor t = {
        .rank = c->rank, .centre = p->fills[id].centre, .spread = p->fills[id].spread};
    for (int i = 0; i < c->rank; i++)
        t.ne[i] = (uint64_t)c->dims[c->rank - 1 - i];
    if (c->rank >= 2 && (v->flags & IR_VALUE_TRANSPOSED || (in_first && c->rank >= 2))) {
        uint64_t first = t.ne[0];
        t.ne[0] = t.ne[1];
        t.ne[1] = first;
    }
    return t;
}

static assay_status add_value(planning *p, ir_id id)
{
    const ir_value *v = ir_value_at(p->m, id);
    named of;
    if (v->constant->rank < 1 || v->constant->rank > 4 || !find_name(p, v->name, &of)) {
        if (v->flags & IR_VALUE_BUFFER)
            return ASSAY_OK;
        return err_fail_node(p->err, ASSAY_ERR_UNSUPPORTED, v->name.p,
                             "%s: llama.cpp has no tensor for '" STR_FMT
                             "' of this architecture. Export it as ONNX.",
                             p->row->name, STR_ARG(v->name));
    }
    bool bias = strcmp(of.part, "bias") == 0;
    gguf_out_tensor t = tensor_of(p, v, id, of.stem->in_first && !bias);
    if (strcmp(of.stem->to, "mlp.experts.gate_up_proj@") == 0)
        return add_gate_and_up(p, t, &of);
    if (strcmp(of.stem->to, "self_attn.kv_b_proj") == 0)
        return add_latent_factors(p, t, &of);
    return add_tensor(p, t, of.stem->from, &of);
}

static bool is_weight(const ir_value *v)
{
    return v->constant && v->constant->storage == IR_DATA_NONE && v->constant->n_elems > 0 &&
           !(v->flags & IR_VALUE_NOT_PARAM);
}

/* Whether there is an output matrix decides over the type of the first tensor. */
static void look_at_names(planning *p)
{
    named of;
    p->tied = true;
    for (ir_id id = 0; id < p->m->values.n; id++) {
        const ir_value *v = ir_value_at(p->m, id);
        if (!is_weight(v) || !find_name(p, v->name, &of))
            continue;
        if (strcmp(of.stem->from, "output") == 0)
            p->tied = false;
        if (strstr(of.stem->from, "_exps"))
            p->experts = true;
    }
}

static assay_status add_tensors(planning *p)
{
    look_at_names(p);
    if (p->out->quant->experts != p->out->quant->type && !p->experts)
        return err_fail(p->err, ASSAY_ERR_USAGE,
                        "--quant %s is for models with experts, which %s does not have. Use q4_0.",
                        p->out->quant->name, p->row->name);
    for (ir_id id = 0; id < p->m->values.n; id++)
        if (is_weight(ir_value_at(p->m, id)))
            TRY(add_value(p, id));
    return ASSAY_OK;
}

/* Some builders have no parameter for the width of the MLP: its tensor tells. */
static assay_status put_inner(planning *p)
{
    for (uint32_t i = 0; i < p->out->pairs.n; i++)
        if (strcmp(p->out->pairs.items[i].key, "feed_forward_length") == 0)
            return ASSAY_OK;
    for (uint32_t i = 0; i < p->out->tensors.n; i++)
        if (str_is(p->out->tensors.items[i].name, "blk.0.ffn_up.weight"))
            return put_int(p, "feed_forward_length", (double)p->out->tensors.items[i].ne[1]);
    return ASSAY_OK;
}

/* ---- the plan ---- */

static const char *model_type_of(const planning *p)
{
    const json_value *v = asked_of(p, STR("model_type"));
    const char *type = v && v->kind == JSON_TEXT ? v->s.p : p->row->family;
    return strcmp(type, "gemma3") == 0 ? "gemma3_text" : type;
}

static assay_status find_arch(planning *p)
{
    p->out->model_type = model_type_of(p);
    for (uint32_t i = 0; i < gguf_archs_n; i++)
        if (strcmp(gguf_archs[i].model_type, p->out->model_type) == 0) {
            p->out->arch = &gguf_archs[i];
            return ASSAY_OK;
        }
    return err_fail(p->err, ASSAY_ERR_UNSUPPORTED,
                    "%s: GGUF is written for language models that llama.cpp knows, such as "
                    "llama-3.2-1b. Export this model as ONNX.",
                    p->row->name);
}

assay_status gguf_plan_make(const ir_model *m, const zoo_row *row, const zoo_asked_list *asked,
                            const gguf_quant *quant, arena *a, gguf_plan *out, assay_error *err)
{
    planning p = {.m = m, .row = row, .asked = asked, .arena = a, .out = out, .err = err};
    *out = (gguf_plan){.quant = quant, .name = row->name};
    TRY(find_arch(&p));
    p.fills = onnx_fill_plan(m, a);
    TRY_MEMORY(p.fills, err);
    p.layers = (int64_t)asked_or(&p, "num_hidden_layers n_layer", 1);
    out->vocab = (uint64_t)asked_or(&p, "vocab_size", 1);
    TRY(put_keys(&p));
    TRY(add_tensors(&p));
    return put_inner(&p);
}
