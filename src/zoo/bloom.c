/* BLOOM and Falcon (transformers' modeling_bloom.py, modeling_falcon.py): LayerNorm decoders whose
 * q, k and v are one projection; positions as a slope per head added to the scores (ALiBi), or
 * rotary.
 *
 *   BLOOM:         x += attention(input_layernorm(x)); x += mlp(post_attention_layernorm(x))
 *   Falcon:        x + attention(n) + mlp(n), n = input_layernorm(x), one key and value head
 *   Falcon 40B up: two norms (ln_attn, ln_mlp), num_kv_heads groups
 */
#include <math.h>

#include "zoo/lm_head.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

typedef struct bloom {
    bool falcon, alibi, parallel, grouped, bias, residual_after;
    int64_t vocab, width, layers, heads, kv_heads, inner, norms;
    double eps;
    str act;
    nn_t slopes; /* [1, H, 1, keys] */
    hf_rope rope;
} bloom;

/* ---- parameters ---- */

static void read_falcon(hf c, bloom *m)
{
    m->falcon = true;
    m->alibi = hf_bool(c, "alibi", false);
    m->grouped = hf_bool(c, "new_decoder_architecture", false);
    m->parallel = hf_bool(c, "parallel_attn", true);
    m->bias = hf_bool(c, "bias", false);
    m->inner = hf_int(c, "ffn_hidden_size", 4 * m->width, 1, 4 * (int64_t)HF_WIDTH);
    m->act = hf_word(c, "activation", "gelu");
    m->norms = hf_int(c, "num_ln_in_parallel_attn", m->grouped ? 2 : 1, 1, 2);
    int64_t groups = hf_int(c, "num_kv_heads|n_head_kv", m->heads, 1, HF_HEADS);
    bool single = hf_bool(c, "multi_query", true);
    m->kv_heads = m->grouped ? groups : single ? 1 : groups;
}

static bloom read_bloom(nn *b)
{
    hf c = {b, NULL};
    bloom m = {.alibi = true, .bias = true, .act = STR("gelu_new"), .norms = 1};
    m.vocab = hf_int(c, "vocab_size", 250880, 1, HF_WIDTH);
    m.width = hf_int(c, "hidden_size|n_embed", 64, 1, HF_WIDTH);
    m.layers = hf_int(c, "n_layer|num_hidden_layers", 2, 1, HF_LAYERS);
    m.heads = hf_int(c, "n_head|num_attention_heads", 8, 1, HF_HEADS);
    m.kv_heads = m.heads;
    m.inner = 4 * m.width;
    m.eps = hf_real(c, "layer_norm_epsilon", 1e-5);
    if (str_is(hf_word(c, "model_type", "bloom"), "falcon"))
        read_falcon(c, &m);
    else
        m.residual_after = hf_bool(c, "apply_residual_connection_post_layernorm", false);
    return m;
}

/* ---- ALiBi ---- */

/* Powers of 2^(-8/n) for n heads; for other counts than powers of two those of the next lower
 * power and then every second of the next higher. */
static double slope(int64_t heads, int64_t i)
{
    int64_t n = 1;
    while (2 * n <= heads)
        n *= 2;
    if (i < n)
        return pow(2.0, -8.0 * (double)(i + 1) / (double)n);
    return pow(2.0, -4.0 * (double)(2 * (i - n) + 1) / (double)n);
}

/* Falcon adds the slopes before it scales the scores. */
static nn_t slopes(nn *b, const hf_text *t, const bloom *m)
{
    int64_t keys = t->past + t->seq;
    float *by = nn_ok(b) ? ARENA_ARRAY(b->scratch, float, (size_t)m->heads) : NULL;
    float *at = nn_ok(b) ? ARENA_ARRAY(b->scratch, float, (size_t)keys) : NULL;
    double scale = m->falcon ? 1.0 / sqrt((double)m->width / (double)m->heads) : 1.0;
    for (int64_t i = 0; by && i < m->heads; i++)
        by[i] = (float)(slope(m->heads, i) * scale);
    for (int64_t i = 0; at && i < keys; i++)
        at[i] = (float)i;
    nn_t s = nn_table_of(b, "slopes", IR_FLOAT32, 4, (const int64_t[]){1, m->heads, 1, 1}, by);
    nn_t p = nn_table_of(b, "places", IR_FLOAT32, 4, (const int64_t[]){1, 1, 1, keys}, at);
    return nn_mul(b, "alibi", s, p);
}

/* ---- a layer ---- */

static nn_t attention(nn *b, hf_text *t, nn_t x, const bloom *m, int i)
{
    nn_t p[3];
    int64_t wide = (m->heads + 2 * m->kv_heads) * (m->width / m->heads);
    nn_push(b, "self_attention");
    hf_fused_heads(b, nn_linear(b, "query_key_value", x, wide, m->bias), m->heads, m->kv_heads, p);
    if (!m->alibi) {
        p[0] = hf_rope_turn(b, "q/rotary", p[0], &m->rope);
        p[1] = hf_rope_turn(b, "k/rotary", p[1], &m->rope);
    }
    p[1] = hf_cache(t, i, "key", p[1], 0);
    p[2] = hf_cache(t, i, "value", p[2], 0);
    hf_attention a = {.layer = i, .bias = m->alibi ? m->slopes : NN_ABSENT, .sinks = NN_ABSENT};
    return nn_leave(b,
                    nn_linear(b, "dense", hf_attend(t, p[0], p[1], p[2], &a), m->width, m->bias));
}

static nn_t mlp(nn *b, nn_t x, const bloom *m)
{
    nn_push(b, "mlp");
    x = hf_act(b, "act", nn_linear(b, "dense_h_to_4h", x, m->inner, m->bias), m->act);
    return nn_leave(b, nn_linear(b, "dense_4h_to_h", x, m->width, m->bias));
}

static nn_t one_after_the_other(nn *b, hf_text *t, nn_t x, const bloom *m, int i)
{
    nn_t n = nn_layernorm(b, "input_layernorm", x, m->eps);
    x = nn_add(b, "add_1", attention(b, t, n, m, i), m->residual_after ? n : x);
    n = nn_layernorm(b, "post_attention_layernorm", x, m->eps);
    return nn_add(b, "add_2", mlp(b, n, m), m->residual_after ? n : x);
}

static nn_t side_by_side(nn *b, hf_text *t, nn_t x, const bloom *m, int i)
{
    bool two = m->norms == 2;
    nn_t n = nn_layernorm(b, two ? "ln_attn" : "input_layernorm", x, m->eps);
    nn_t k = two ? nn_layernorm(b, "ln_mlp", x, m->eps) : n;
    nn_t y = attention(b, t, n, m, i);
    return nn_add(b, "add_2", nn_add(b, "add_1", mlp(b, k, m), y), x);
}

static void build(nn *b)
{
    hf_ignore(b);
    bloom m = read_bloom(b);
    lm_head head = lm_head_begin(b, "transformer", "lm_head", true);
    hf_text t = hf_text_input(b, true, 0);
    nn_t x = hf_embed(b, "word_embeddings", t.ids, m.vocab, m.width, &head.words);
    if (!m.falcon)
        x = nn_layernorm(b, "word_embeddings_layernorm", x, m.eps);
    int64_t size = m.width / m.heads;
    if (m.alibi)
        m.slopes = slopes(b, &t, &m);
    else
        m.rope = hf_rope_make(&t, size, size, 1e4, true);
    hf_mask(&t, 0);
    if (m.alibi)
        m.slopes = nn_add(b, "alibi/mask", hf_mask(&t, 0), m.slopes);
    for (int i = 0; i < (int)m.layers && nn_ok(b); i++)
        x = NN_UNDER(b,
                     m.falcon && (m.parallel || m.grouped) ? side_by_side(b, &t, x, &m, i)
                                                           : one_after_the_other(b, &t, x, &m, i),
                     "h.%d", i);
    lm_head_end(b, nn_layernorm(b, "ln_f", x, m.eps), &head);
}

#define BLOOM "model_type=bloom vocab_size=250880 hidden_size=64 n_layer=2 n_head=8"
#define FALCON                                                                  \
    "model_type=falcon vocab_size=65024 hidden_size=4544 num_hidden_layers=32 " \
    "num_attention_heads=71 max_position_embeddings=2048"
#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "language", build, set)

static const zoo_row rows[] = {
    ROW("bloom-560m", NULL, "bloom", BLOOM " hidden_size=1024 n_layer=24 n_head=16" ZOO_F16),
    ROW("bloom-1b1", NULL, "bloom", BLOOM " hidden_size=1536 n_layer=24 n_head=16" ZOO_F16),
    ROW("bloom-1b7", NULL, "bloom", BLOOM " hidden_size=2048 n_layer=24 n_head=16" ZOO_F16),
    ROW("bloom-3b", NULL, "bloom", BLOOM " hidden_size=2560 n_layer=30 n_head=32" ZOO_F16),
    ROW("bloom-7b1", NULL, "bloom", BLOOM " hidden_size=4096 n_layer=30 n_head=32" ZOO_F16),
    ROW("bloom", "bloom-176b", "bloom", BLOOM " hidden_size=14336 n_layer=70 n_head=112" ZOO_BF16),
    ROW("falcon-7b", "falcon", "falcon", FALCON ZOO_BF16),
    ROW("falcon-40b", NULL, "falcon",
        FALCON " hidden_size=8192 num_hidden_layers=60 num_attention_heads=128 num_kv_heads=8 "
               "new_decoder_architecture=true" ZOO_BF16),
};
const zoo_rows zoo_bloom_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("bloom", NULL, "bloom", BLOOM),
    ROW("falcon", NULL, "falcon", FALCON),
};
const zoo_rows zoo_bloom_families = ZOO_ROWS(families);
