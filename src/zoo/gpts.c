/* Decoders of the GPT kind other than GPT-2: GPT-J, GPT-Neo, StarCoder (gpt_bigcode), OPT and MPT, after
 * transformers' modeling_*.py. LayerNorm, plain MLPs, positions that are learned, turned (GPT-J) or a slope per
 * head (MPT). What they differ in, the names of their weights first of all, is a row.
 *
 *   one after the other:  x += attention(first(x));  x += mlp(second(x))
 *   side by side:         x += attention(first(x)) + mlp(first(x))
 *   norms after (OPT):    x = first(x + attention(x));  x = second(x + mlp(x))
 */
#include <math.h>

#include "zoo/lm_head.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

typedef struct gpt_trait {
    const char *model_type, *prefix, *words, *places, *layers;
    const char *attention, *q, *k, *v, *qkv, *out; /* qkv: one projection instead of three */
    const char *first, *second, *last;             /* norms; second NULL: side by side */
    const char *mlp, *up, *down;                   /* mlp "": no scope of its own */
    int64_t offset;                                /* of the first learned position */
    bool qkv_bias, out_bias, norm_bias, mlp_bias, head_bias, tied;
    bool alibi, rotary, unscaled, windows;
    const char *act;
} gpt_trait;

#define SPLIT_QKV .q = "q_proj", .k = "k_proj", .v = "v_proj", .out = "out_proj"
#define GPT2_NAMES                                                                            \
    .prefix = "transformer", .words = "wte", .places = "wpe", .layers = "h", .first = "ln_1", \
    .second = "ln_2", .last = "ln_f"
#define GPT2_MLP .mlp = "mlp", .up = "c_fc", .down = "c_proj"
#define BIASED   .out_bias = true, .norm_bias = true, .mlp_bias = true

static const gpt_trait traits[] = {
    {"gptj", .prefix = "transformer", .words = "wte", .layers = "h", .attention = "attn", SPLIT_QKV,
     .first = "ln_1", .last = "ln_f", .mlp = "mlp", .up = "fc_in", .down = "fc_out",
     .norm_bias = true, .mlp_bias = true, .head_bias = true, .rotary = true, .act = "gelu_new"},
    {"gpt_neo", GPT2_NAMES, GPT2_MLP, .attention = "attn.attention", SPLIT_QKV, BIASED,
     .tied = true, .unscaled = true, .windows = true, .act = "gelu_new"},
    {"gpt_bigcode", GPT2_NAMES, GPT2_MLP, .attention = "attn", .qkv = "c_attn", .out = "c_proj",
     BIASED, .qkv_bias = true, .tied = true, .act = "gelu_pytorch_tanh"},
    {"opt", .prefix = "model", .words = "decoder.embed_tokens", .places = "decoder.embed_positions",
     .layers = "decoder.layers", .attention = "self_attn", SPLIT_QKV,
     .first = "self_attn_layer_norm", .second = "final_layer_norm",
     .last = "decoder.final_layer_norm", .mlp = "", .up = "fc1", .down = "fc2", BIASED, .offset = 2,
     .qkv_bias = true, .tied = true, .act = "relu"},
    {"mpt", .prefix = "transformer", .words = "wte", .layers = "blocks", .attention = "attn",
     .qkv = "Wqkv", .out = "out_proj", .first = "norm_1", .second = "norm_2", .last = "norm_f",
     .mlp = "ffn", .up = "up_proj", .down = "down_proj", .tied = true, .alibi = true,
     .act = "gelu"},
};

typedef struct gpt {
    const gpt_trait *is;
    int64_t vocab, places, width, embedding, layers, heads, kv_heads, inner, window;
    double eps;
    bool after; /* norms after, not before */
    str act;
    hf_rope rope;
    nn_t slopes; /* with the mask */
} gpt;

/* ---- parameters ---- */

static const gpt_trait *trait_of(nn *b)
{
    str type = hf_word((hf){b, NULL}, "model_type", "opt");
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        if (str_is(type, traits[i].model_type))
            return &traits[i];
    nn_fail(b, "model type '" STR_FMT "' does not belong to this family", STR_ARG(type));
    return &traits[0];
}

static void read_switches(hf c, gpt *m)
{
    bool bigcode = strcmp(m->is->model_type, "gpt_bigcode") == 0;
    m->kv_heads = bigcode && hf_bool(c, "multi_query", true) ? 1 : m->heads;
    m->after = m->is->offset > 0 && !hf_bool(c, "do_layer_norm_before", true);
    m->embedding = m->is->offset > 0 ? hf_int(c, "word_embed_proj_dim", m->width, 1, HF_WIDTH)
                                     : m->width;
    m->window = m->is->windows ? hf_int(c, "window_size", 256, 1, HF_TOKENS) : 0;
}

static gpt read_gpt(nn *b)
{
    hf c = {b, NULL};
    gpt m = {.is = trait_of(b)};
    m.vocab = hf_int(c, "vocab_size", 50257, 1, HF_WIDTH);
    m.width = hf_int(c, "n_embd|hidden_size|d_model", 4096, 1, HF_WIDTH);
    m.layers = hf_int(c, "n_layer|num_hidden_layers|num_layers|n_layers", 28, 1, HF_LAYERS);
    m.heads = hf_int(c, "n_head|num_attention_heads|num_heads|n_heads", 16, 1, HF_HEADS);
    m.places = hf_int(c, "n_positions|max_position_embeddings|max_seq_len", 2048, 1, HF_TOKENS);
    int64_t ratio = hf_int(c, "expansion_ratio", 4, 1, 1000);
    m.inner = hf_int(c, "n_inner|intermediate_size|ffn_dim", ratio * m.width, 1,
                     4 * (int64_t)HF_WIDTH);
    m.eps = hf_real(c, "layer_norm_epsilon|layer_norm_eps", 1e-5);
    m.act = hf_word(c, "activation_function", m.is->act);
    read_switches(c, &m);
    return m;
}

/* attention_types: [[["global", "local"], 12]] of GPT-Neo, taken in turn. */
static bool is_local(nn *b, int64_t layer)
{
    const json_value *list = hf_raw((hf){b, NULL}, "attention_types");
    int64_t from = 0;
    for (uint32_t i = 0; list && list->kind == JSON_LIST && i < list->n; i++) {
        const json_value *pair = &list->items[i];
        if (pair->kind != JSON_LIST || pair->n != 2 || pair->items[0].kind != JSON_LIST ||
            pair->items[0].n < 1 || pair->items[1].kind != JSON_INT)
            break;
        const json_value *words = &pair->items[0];
        int64_t n = pair->items[1].i * words->n;
        if (layer < from + n)
            return str_is(words->items[(layer - from) % words->n].s, "local");
        from += n;
    }
    return layer % 2 == 1;
}

/* ---- parts ---- */

static nn_t norm(nn *b, const char *name, nn_t x, const gpt *m)
{
    if (m->is->norm_bias && hf_bool((hf){b, NULL}, "layer_norm_elementwise_affine", true))
        return nn_layernorm(b, name, x, m->eps);
    const nn_attr attrs[] = {NN_INT("axis", -1), NN_FLOAT("epsilon", m->eps)};
    nn_t w = nn_param(b, arena_printf(b->scratch, "%s.weight", name), 1, &x.d[x.rank - 1]);
    return nn_one(b, "LayerNormalization", name, 2, (const nn_t[]){x, w}, x, 2, attrs);
}

/* [B, S, ...] to the heads of q, k and v. */
static void project(nn *b, nn_t x, const gpt *m, bool bias, nn_t out[3])
{
    const char *const names[] = {m->is->q, m->is->k, m->is->v};
    int64_t size = m->width / m->heads, narrow = m->kv_heads * size;
    if (!m->is->qkv) {
        for (int i = 0; i < 3; i++)
            out[i] = nn_split_heads(b, names[i], nn_linear(b, names[i], x, m->width, bias),
                                    m->heads);
        return;
    }
    const int64_t sizes[] = {m->width, narrow, narrow};
    x = nn_linear(b, m->is->qkv, x, m->width + 2 * narrow, bias);
    if (m->kv_heads == m->heads &&
        !m->is->alibi) { /* StarCoder without multi-query: head by head */
        hf_fused_heads(b, x, m->heads, m->heads, out);
        return;
    }
    hf_parts(b, "split", x, 3, sizes, out);
    out[0] = nn_split_heads(b, "q", out[0], m->heads);
    out[1] = nn_split_heads(b, "k", out[1], m->kv_heads);
    out[2] = nn_split_heads(b, "v", out[2], m->kv_heads);
}

static nn_t attention(nn *b, hf_text *t, nn_t x, const gpt *m, int i)
{
    nn_t p[3];
    bool enabled = hf_bool((hf){b, NULL}, "enable_bias", true);
    int64_t window = m->is->windows && is_local(b, i) ? m->window : 0;
    nn_push(b, "%s", m->is->attention);
    project(b, x, m, m->is->qkv_bias && enabled, p);
    if (m->is->rotary) {
        p[0] = hf_rope_turn(b, "q/rotary", p[0], &m->rope);
        p[1] = hf_rope_turn(b, "k/rotary", p[1], &m->rope);
    }
    p[1] = hf_cache(t, i, "key", p[1], window);
    p[2] = hf_cache(t, i, "value", p[2], window);
    const hf_attention a = {.layer = i,
                            .window = window,
                            .scale = m->is->unscaled ? 1.0 : 0.0,
                            .bias = m->is->alibi ? m->slopes : NN_ABSENT,
                            .sinks = NN_ABSENT};
    return nn_leave(b, nn_linear(b, m->is->out, hf_attend(t, p[0], p[1], p[2], &a), m->width,
                                 m->is->out_bias && enabled));
}

static nn_t mlp(nn *b, nn_t x, const gpt *m)
{
    bool bias = m->is->mlp_bias && hf_bool((hf){b, NULL}, "enable_bias", true);
    if (*m->is->mlp)
        nn_push(b, "%s", m->is->mlp);
    x = hf_act(b, "act", nn_linear(b, m->is->up, x, m->inner, bias), m->act);
    x = nn_linear(b, m->is->down, x, m->width, bias);
    if (*m->is->mlp)
        nn_pop(b);
    return x;
}

static nn_t layer(nn *b, hf_text *t, nn_t x, const gpt *m, int i)
{
    if (m->after) {
        x = norm(b, m->is->first, nn_add(b, "add_1", x, attention(b, t, x, m, i)), m);
        return norm(b, m->is->second, nn_add(b, "add_2", x, mlp(b, x, m)), m);
    }
    nn_t n = norm(b, m->is->first, x, m), y = attention(b, t, n, m, i);
    if (!m->is->second)
        return nn_add(b, "add_2", nn_add(b, "add_1", y, mlp(b, n, m)), x);
    x = nn_add(b, "add_1", x, y);
    return nn_add(b, "add_2", x, mlp(b, norm(b, m->is->second, x, m), m));
}

/* ---- positions ---- */

/* MPT: -slope times the distance; for other counts of heads than powers of two every second slope of the
 * next power comes first. */
static double slope(int64_t heads, int64_t i, double most)
{
    int64_t n = 1;
    while (n < heads)
        n *= 2;
    int64_t at = n == heads ? i : i < n / 2 ? 2 * i + 1 : 2 * (i - n / 2);
    return pow(2.0, -most * (double)(at + 1) / (double)n);
}

static nn_t alibi(nn *b, hf_text *t, const gpt *m)
{
    int64_t keys = t->past + t->seq;
    double most = hf_real((hf){b, "attn_config"}, "alibi_bias_max", 8.0);
    float *by = nn_ok(b) ? ARENA_ARRAY(b->scratch, float, (size_t)m->heads) : NULL;
    float *at = nn_ok(b) ? ARENA_ARRAY(b->scratch, float, (size_t)keys) : NULL;
    for (int64_t i = 0; by && i < m->heads; i++)
        by[i] = (float)slope(m->heads, i, most);
    for (int64_t i = 0; at && i < keys; i++)
        at[i] = (float)(i + 1 - keys);
    nn_t s = nn_table_of(b, "slopes", IR_FLOAT32, 4, (const int64_t[]){1, m->heads, 1, 1}, by);
    nn_t p = nn_table_of(b, "distances", IR_FLOAT32, 4, (const int64_t[]){1, 1, 1, keys}, at);
    return nn_add(b, "alibi/mask", hf_mask(t, 0), nn_mul(b, "alibi", s, p));
}

static nn_t embed(nn *b, hf_text *t, gpt *m, nn_t *words)
{
    nn_t x = hf_embed(b, m->is->words, t->ids, m->vocab, m->embedding, words);
    if (m->embedding != m->width)
        x = nn_linear(b, "decoder.project_in", x, m->width, false);
    if (!m->is->places)
        return x;
    int64_t rows = m->places + m->is->offset;
    nn_t at = hf_positions(b, t->past + m->is->offset, t->seq, rows);
    return nn_add(b, "add", x, nn_embedding(b, m->is->places, at, rows, m->width));
}

static void prepare(nn *b, hf_text *t, gpt *m)
{
    int64_t size = m->width / m->heads;
    if (m->is->rotary) {
        int64_t dim = hf_int((hf){b, NULL}, "rotary_dim", size, 2, HF_HEADS);
        m->rope = hf_rope_make(t, size, dim, 1e4, false);
        m->rope.interleaved = true;
    }
    hf_mask(t, 0);
    if (m->is->windows)
        hf_mask(t, m->window);
    if (m->is->alibi)
        m->slopes = alibi(b, t, m);
}

static void build(nn *b)
{
    hf_ignore(b);
    gpt m = read_gpt(b);
    lm_head head = lm_head_begin(b, m.is->prefix, "lm_head", m.is->tied);
    head.bias = m.is->head_bias;
    hf_text t = hf_text_input(b, true, m.is->places ? m.places : 0);
    nn_t x = embed(b, &t, &m, &head.words);
    prepare(b, &t, &m);
    for (int i = 0; i < (int)m.layers && nn_ok(b); i++)
        x = NN_UNDER(b, layer(b, &t, x, &m, i), "%s.%d", m.is->layers, i);
    if (!m.after && !hf_bool((hf){b, NULL}, "_remove_final_layer_norm", false))
        x = norm(b, m.is->last, x, &m);
    if (m.embedding != m.width)
        x = nn_linear(b, "decoder.project_out", x, m.embedding, false);
    lm_head_end(b, x, &head);
}

/* ---- rows ---- */

#define GPTJ                                                                    \
    "model_type=gptj vocab_size=50400 n_positions=2048 n_embd=4096 n_layer=28 " \
    "n_head=16 rotary_dim=64"
#define GPT_NEO                                                         \
    "model_type=gpt_neo vocab_size=50257 max_position_embeddings=2048 " \
    "hidden_size=2048 num_layers=24 num_heads=16 window_size=256"
#define BIGCODE                                                                       \
    "model_type=gpt_bigcode vocab_size=50257 n_positions=1024 n_embd=768 n_layer=12 " \
    "n_head=12"
#define OPT                                                                         \
    "model_type=opt vocab_size=50272 max_position_embeddings=2048 hidden_size=768 " \
    "num_hidden_layers=12 num_attention_heads=12 ffn_dim=3072"
#define MPT                                                                      \
    "model_type=mpt vocab_size=50368 max_seq_len=2048 d_model=2048 n_layers=24 " \
    "n_heads=16"
#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "language", build, set)

static const zoo_row rows[] = {
    ROW("gpt-j-6b", "gptj-6b gpt-j", "gptj", GPTJ),
    ROW("gpt-neo-1.3b", NULL, "gpt_neo", GPT_NEO),
    ROW("gpt-neo-2.7b", NULL, "gpt_neo", GPT_NEO " hidden_size=2560 num_layers=32 num_heads=20"),
    ROW("starcoder", "starcoderbase", "gpt_bigcode",
        BIGCODE " vocab_size=49152 n_positions=8192 n_embd=6144 n_layer=40 n_head=48 "
                "n_inner=24576"),
    ROW("opt-125m", "opt", "opt", OPT ZOO_F16),
    ROW("opt-350m", NULL, "opt",
        OPT " hidden_size=1024 word_embed_proj_dim=512 num_hidden_layers=24 "
            "num_attention_heads=16 ffn_dim=4096 do_layer_norm_before=false" ZOO_F16),
    ROW("opt-1.3b", NULL, "opt",
        OPT " hidden_size=2048 num_hidden_layers=24 num_attention_heads=32 ffn_dim=8192" ZOO_F16),
    ROW("opt-6.7b", NULL, "opt",
        OPT " hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 ffn_dim=16384" ZOO_F16),
    ROW("opt-13b", NULL, "opt",
        OPT " hidden_size=5120 num_hidden_layers=40 num_attention_heads=40 ffn_dim=20480" ZOO_F16),
    ROW("opt-66b", NULL, "opt",
        OPT " hidden_size=9216 num_hidden_layers=64 num_attention_heads=72 ffn_dim=36864" ZOO_F16),
    ROW("mpt-7b", "mpt", "mpt",
        MPT " vocab_size=50432 d_model=4096 n_layers=32 n_heads=32" ZOO_BF16),
};
const zoo_rows zoo_gpts_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("gptj", NULL, "gptj", GPTJ),
    ROW("gpt_neo", NULL, "gpt_neo", GPT_NEO),
    ROW("gpt_bigcode", NULL, "gpt_bigcode", BIGCODE),
    ROW("opt", NULL, "opt", OPT),
    ROW("mpt", NULL, "mpt", MPT),
};
const zoo_rows zoo_gpts_families = ZOO_ROWS(families);
