/* T5, T5 v1.1 and Flan-T5 (transformers' modeling_t5.py): RMS norms before each part, no biases, scores
 * without scale, relative positions as a bias per head that the first layer of a stack owns.
 *
 *   encoder.block.N: layer.0 SelfAttention, layer.1 DenseReluDense
 *   decoder.block.N: layer.0 SelfAttention, layer.1 EncDecAttention, layer.2 DenseReluDense
 *
 * T5EncoderModel is the encoder alone. The decoder reads decoder_input_ids of decoder_seq_len tokens, as
 * many as the encoder's unless given.
 */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

typedef struct t5 {
    int64_t vocab, width, head, inner, layers, decoder_layers, heads, buckets, farthest;
    double eps;
    bool gated, tied;
    str act;
    nn_t words;
} t5;

static t5 read_t5(nn *b)
{
    hf c = {b, NULL};
    t5 m = {.vocab = hf_int(c, "vocab_size", 32128, 1, HF_WIDTH),
            .width = hf_int(c, "d_model|hidden_size", 512, 1, HF_WIDTH),
            .head = hf_int(c, "d_kv|head_dim", 64, 1, HF_HEADS),
            .inner = hf_int(c, "d_ff", 2048, 1, HF_WIDTH),
            .layers = hf_int(c, "num_layers|num_hidden_layers", 6, 1, HF_LAYERS),
            .heads = hf_int(c, "num_heads|num_attention_heads", 8, 1, HF_HEADS),
            .buckets = hf_int(c, "relative_attention_num_buckets", 32, 4, HF_HEADS),
            .farthest = hf_int(c, "relative_attention_max_distance", 128, 2, HF_TOKENS),
            .eps = hf_real(c, "layer_norm_epsilon", 1e-6),
            .tied = hf_bool(c, "tie_word_embeddings", true)};
    m.decoder_layers = hf_int(c, "num_decoder_layers", m.layers, 1, HF_LAYERS);
    str proj = hf_word(c, "feed_forward_proj", "relu");
    m.gated = hf_bool(c, "is_gated_act", str_starts(proj, "gated-"));
    m.act = hf_word(c, "dense_act_fn", "");
    if (str_empty(m.act))
        m.act = str_is(proj, "gated-gelu")   ? STR("gelu_new")
                : str_starts(proj, "gated-") ? (str){proj.p + 6, proj.n - 6}
                                             : proj;
    hf_raw(c, "n_positions");
    if (nn_ok(b) && m.farthest <= m.buckets / 2)
        nn_fail(b, "The parameter 'relative_attention_max_distance' must exceed half the buckets.");
    return m;
}

/* ---- relative positions ---- */

/* Near distances have a bucket each, far ones share them by their logarithm. */
static int64_t bucket(const t5 *m, int64_t distance, bool both_ways)
{
    int64_t n = both_ways ? m->buckets / 2 : m->buckets, from = 0;
    if (both_ways && distance > 0)
        from = n;
    int64_t far = both_ways ? (distance < 0 ? -distance : distance) : distance < 0 ? -distance : 0;
    int64_t exact = n / 2;
    if (far < exact)
        return from + far;
    double share = log((double)far / (double)exact) / log((double)m->farthest / (double)exact);
    int64_t at = exact + (int64_t)(share * (double)(n - exact));
    return from + (at < n - 1 ? at : n - 1);
}

/* The bias of every pair [1, H, S, S]: buckets of all 2S-1 distances, their rows, and for each pair the
 * place of its distance. */
static nn_t position_bias(nn *b, int64_t seq, const t5 *m, bool both_ways)
{
    int64_t n = 2 * seq - 1;
    int64_t *of = nn_ok(b) ? ARENA_ARRAY(b->scratch, int64_t, (size_t)n) : NULL;
    for (int64_t i = 0; of && i < n; i++)
        of[i] = bucket(m, i - (seq - 1), both_ways);
    nn_t x = nn_table_of(b, "buckets", IR_INT64, 1, &n, of);
    x = nn_embedding(b, "relative_attention_bias", x, m->buckets, m->heads);
    x = nn_transpose(b, "bias/transpose", x, (const int64_t[]){1, 0});
    nn_t keys = nn_reshape(b, "bias/keys", hf_positions(b, seq - 1, seq, 2 * seq), 2,
                           (const int64_t[]){1, seq});
    nn_t queries = nn_reshape(b, "bias/queries", hf_positions(b, 0, seq, seq), 2,
                              (const int64_t[]){seq, 1});
    nn_t at = nn_binary(b, "Sub", "bias/distance", keys, queries);
    at.d[0] = seq;
    x = nn_gather(b, "bias/gather", x, at, 1);
    return nn_unsqueeze(b, "bias", x, 0);
}

/* ---- layers ---- */

static nn_t attention(nn *b, hf_text *t, nn_t x, nn_t from, const t5 *m, nn_t *bias, bool both_ways)
{
    int64_t wide = m->heads * m->head;
    nn_t q = hf_heads(b, "q", nn_linear(b, "q", x, wide, false), m->heads);
    nn_t k = hf_heads(b, "k", nn_linear(b, "k", from, wide, false), m->heads);
    nn_t v = hf_heads(b, "v", nn_linear(b, "v", from, wide, false), m->heads);
    if (bias && bias->id == IR_NONE) {
        *bias = position_bias(b, t->seq, m, both_ways);
        nn_t mask = hf_mask(t, 0);
        if (mask.id != IR_NONE)
            *bias = nn_add(b, "bias/mask", *bias, mask);
    }
    hf_attention a = {.scale = 1.0, .bias = bias ? *bias : NN_ABSENT, .sinks = NN_ABSENT};
    return nn_linear(b, "o", hf_attend(t, q, k, v, &a), m->width, false);
}

static nn_t feed_forward(nn *b, nn_t x, const t5 *m)
{
    nn_push(b, "DenseReluDense");
    nn_t y = hf_act(b, "act", nn_linear(b, m->gated ? "wi_0" : "wi", x, m->inner, false), m->act);
    if (m->gated)
        y = nn_mul(b, "mul", y, nn_linear(b, "wi_1", x, m->inner, false));
    y = nn_linear(b, "wo", y, m->width, false);
    nn_pop(b);
    return y;
}

/* One part of a block: x + part(layer_norm(x)). */
static nn_t attention_part(nn *b, int i, const char *name, hf_text *t, nn_t x, nn_t from,
                           const t5 *m, nn_t *bias, bool both_ways)
{
    nn_push(b, "layer.%d", i);
    nn_t y = nn_rmsnorm(b, "layer_norm", x, m->eps);
    nn_push(b, "%s", name);
    y = attention(b, t, y, from.id == IR_NONE ? y : from, m, bias, both_ways);
    nn_pop(b);
    x = nn_add(b, "add", x, y);
    nn_pop(b);
    return x;
}

static nn_t feed_forward_part(nn *b, int i, nn_t x, const t5 *m)
{
    nn_push(b, "layer.%d", i);
    x = nn_add(b, "add", x, feed_forward(b, nn_rmsnorm(b, "layer_norm", x, m->eps), m));
    nn_pop(b);
    return x;
}

static nn_t encoder(nn *b, hf_text *t, nn_t x, const t5 *m)
{
    nn_t bias = NN_ABSENT;
    nn_push(b, "encoder");
    for (int i = 0; i < (int)m->layers && nn_ok(b); i++) {
        nn_push(b, "block.%d", i);
        x = attention_part(b, 0, "SelfAttention", t, x, NN_ABSENT, m, &bias, true);
        x = feed_forward_part(b, 1, x, m);
        nn_pop(b);
    }
    x = nn_rmsnorm(b, "final_layer_norm", x, m->eps);
    nn_pop(b);
    return x;
}

static nn_t decoder(nn *b, hf_text *t, hf_text *source, nn_t x, nn_t memory, const t5 *m)
{
    nn_t bias = NN_ABSENT;
    nn_push(b, "decoder");
    for (int i = 0; i < (int)m->decoder_layers && nn_ok(b); i++) {
        nn_push(b, "block.%d", i);
        x = attention_part(b, 0, "SelfAttention", t, x, NN_ABSENT, m, &bias, false);
        x = attention_part(b, 1, "EncDecAttention", source, x, memory, m, NULL, false);
        x = feed_forward_part(b, 2, x, m);
        nn_pop(b);
    }
    x = nn_rmsnorm(b, "final_layer_norm", x, m->eps);
    nn_pop(b);
    return x;
}

static hf_text target(nn *b, const hf_text *source)
{
    int64_t n = nn_int_in(b, "decoder_seq_len", source->seq, 1, HF_TOKENS);
    hf_text t = {.b = b, .causal = true, .mask = NN_ABSENT};
    t.ids = nn_input(b, "decoder_input_ids", IR_INT64, 2, (const int64_t[]){source->batch, n});
    t.batch = t.ids.d[0];
    t.seq = t.ids.d[1];
    return t;
}

static void head(nn *b, nn_t x, const t5 *m)
{
    if (m->tied) {
        x = nn_scale(b, "scale", x, 1.0 / sqrt((double)m->width));
        x = hf_tied(b, "lm_head", x, m->words, NN_ABSENT);
    } else {
        x = nn_linear(b, "lm_head", x, m->vocab, false);
    }
    nn_output(b, x, "logits");
}

static void build(nn *b)
{
    hf_ignore(b);
    t5 m = read_t5(b);
    hf_class class = hf_architecture(b, HF_LM);
    hf_text source = hf_text_input(b, false);
    nn_t x = hf_embed(b, "shared", source.ids, m.vocab, m.width, &m.words);
    hf_mask(&source, 0);
    nn_t memory = encoder(b, &source, x, &m);
    if (class == HF_ENCODER) {
        nn_output(b, memory, "last_hidden_state");
        return;
    }
    hf_text t = target(b, &source);
    x = nn_embedding(b, "shared", t.ids, m.vocab, m.width);
    x = decoder(b, &t, &source, x, memory, &m);
    if (class == HF_LM)
        head(b, x, &m);
    else if (class == HF_MODEL)
        nn_output(b, x, "last_hidden_state");
    else
        nn_fail(b, "Of T5 the classes ForConditionalGeneration, Model and EncoderModel are known.");
}

#define T5  "model_type=t5 vocab_size=32128 d_model=512 d_kv=64 d_ff=2048 num_layers=6 num_heads=8"
#define V11 " feed_forward_proj=gated-gelu tie_word_embeddings=false"
#define ROW(name_, alias, set)                                                               \
    {                                                                                        \
        .name = name_, .aliases = alias, .family = "t5", .task = "language", .build = build, \
        .defaults = T5 set                                                                   \
    }

static const zoo_row rows[] = {
    ROW("t5-small", "t5", ""),
    ROW("t5-base", NULL, " d_model=768 d_ff=3072 num_layers=12 num_heads=12"),
    ROW("t5-large", NULL, " d_model=1024 d_ff=4096 num_layers=24 num_heads=16"),
    ROW("flan-t5-small", "t5-v1_1-small", " d_ff=1024 num_layers=8 num_heads=6" V11),
    ROW("flan-t5-base", "t5-v1_1-base", " d_model=768 num_layers=12 num_heads=12" V11),
    ROW("flan-t5-large", "t5-v1_1-large", " d_model=1024 d_ff=2816 num_layers=24 num_heads=16" V11),
    ROW("flan-t5-xl", "t5-v1_1-xl", " d_model=2048 d_ff=5120 num_layers=24 num_heads=32" V11),
    ROW("flan-t5-xxl", "t5-v1_1-xxl t5-xxl",
        " d_model=4096 d_ff=10240 num_layers=24 num_heads=64" V11),
    ROW("t5-xxl-encoder", "t5-v1_1-xxl-encoder",
        " d_model=4096 d_ff=10240 num_layers=24 num_heads=64 architectures=T5EncoderModel" V11),
};
const zoo_rows zoo_t5_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("t5", NULL, ""),
    {.name = "mt5",
     .family = "mt5",
     .task = "language",
     .build = build,
     .defaults = T5 " model_type=mt5 vocab_size=250112 d_ff=1024 num_layers=8 num_heads=6" V11},
};
const zoo_rows zoo_t5_families = ZOO_ROWS(families);
