/* T5, T5 v1.1 and Flan-T5 (transformers' modeling_t5.py): RMS norms before each part, no biases,
 * scores without scale, relative positions as a bias per head that the first layer of a stack owns.
 *
 *   encoder.block.N: layer.0 SelfAttention, layer.1 DenseReluDense
 *   decoder.block.N: layer.0 SelfAttention, layer.1 EncDecAttention, layer.2 DenseReluDense
 *
 * T5EncoderModel is the encoder alone. The decoder reads decoder_input_ids of decoder_seq_len
 * tokens, as many as the encoder's unless given. With past=N it is one step of the decoder alone,
 * which has kept the keys and values of its own past and of the encoder (optimum's
 * decoder_with_past).
 */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

typedef struct t5 {
    int64_t vocab, width, head, inner, layers, decoder_layers, heads, buckets, farthest;
    double eps;
    bool gated, tied, own_bias; /* own_bias: every layer has positions of its own (UMT5) */
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
    m.own_bias = str_is(hf_word(c, "model_type", "t5"), "umt5");
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
        nn_fail(b, "parameter 'relative_attention_max_distance' must exceed half the buckets");
    return m;
}

static nn_t position_bias(const hf_text *t, const t5 *m, bool both_ways)
{
    const hf_buckets by = {"relative_attention_bias", m->buckets, m->farthest, m->heads, both_ways};
    return hf_relative_bias(t, &by);
}

/* ---- layers ---- */

typedef struct part { /* one attention of a block */
    int layer;
    const char *name;
    nn_t from;            /* the encoder's tokens; id IR_NONE: its own */
    nn_t *bias;           /* of its stack: made by the first that needs it; NULL: none */
    bool both_ways, kept; /* kept: keys and values of the encoder come from the cache */
} part;

static void keys_and_values(nn *b, hf_text *t, nn_t x, const t5 *m, const part *p, nn_t out[2])
{
    static const char *const names[] = {"k", "v"}, *const words[] = {"key", "value"};
    static const char *const cached[] = {"decoder.key", "decoder.value"};
    nn_t from = p->from.id == IR_NONE ? x : p->from;
    for (int i = 0; i < 2; i++) {
        if (p->kept) {
            out[i] = hf_kept_heads(t, p->layer, words[i], m->heads, m->head);
            continue;
        }
        out[i] = nn_linear(b, names[i], from, m->heads * m->head, false);
        out[i] = nn_split_heads(b, names[i], out[i], m->heads);
        if (t->causal)
            out[i] = hf_cache(t, p->layer, cached[i], out[i], 0);
    }
}

static nn_t attention(nn *b, hf_text *t, nn_t x, const t5 *m, const part *p)
{
    nn_t kv[2];
    nn_t q = nn_split_heads(b, "q", nn_linear(b, "q", x, m->heads * m->head, false), m->heads);
    keys_and_values(b, t, x, m, p, kv);
    if (p->bias && p->bias->id == IR_NONE) {
        nn_t mask = hf_mask(t, 0);
        *p->bias = position_bias(t, m, p->both_ways);
        if (mask.id != IR_NONE)
            *p->bias = nn_add(b, "bias/mask", *p->bias, mask);
    }
    hf_attention a = {.scale = 1.0, .bias = p->bias ? *p->bias : NN_ABSENT, .sinks = NN_ABSENT};
    return nn_linear(b, "o", hf_attend(t, q, kv[0], kv[1], &a), m->width, false);
}

static nn_t feed_forward(nn *b, nn_t x, const t5 *m)
{
    nn_push(b, "DenseReluDense");
    nn_t y = hf_act(b, "act", nn_linear(b, m->gated ? "wi_0" : "wi", x, m->inner, false), m->act);
    if (m->gated)
        y = nn_mul(b, "mul", y, nn_linear(b, "wi_1", x, m->inner, false));
    return nn_leave(b, nn_linear(b, "wo", y, m->width, false));
}

/* One part of a block: x + part(layer_norm(x)). */
static nn_t attention_part(nn *b, int i, hf_text *t, nn_t x, const t5 *m, const part *p)
{
    nn_push(b, "layer.%d", i);
    nn_t y = nn_rmsnorm(b, "layer_norm", x, m->eps);
    y = NN_UNDER(b, attention(b, t, y, m, p), "%s", p->name);
    return nn_leave(b, nn_add(b, "add", x, y));
}

static nn_t feed_forward_part(nn *b, int i, nn_t x, const t5 *m)
{
    return NN_UNDER(b,
                    nn_add(b, "add", x, feed_forward(b, nn_rmsnorm(b, "layer_norm", x, m->eps), m)),
                    "layer.%d", i);
}

static nn_t encoder(nn *b, hf_text *t, nn_t x, const t5 *m)
{
    nn_t bias = NN_ABSENT;
    nn_push(b, "encoder");
    for (int i = 0; i < (int)m->layers && nn_ok(b); i++) {
        nn_push(b, "block.%d", i);
        bias = m->own_bias ? NN_ABSENT : bias;
        part self = {i, "SelfAttention", NN_ABSENT, &bias, true, false};
        x = attention_part(b, 0, t, x, m, &self);
        x = feed_forward_part(b, 1, x, m);
        nn_pop(b);
    }
    return nn_leave(b, nn_rmsnorm(b, "final_layer_norm", x, m->eps));
}

static nn_t decoder(nn *b, hf_text *t, hf_text *source, nn_t x, nn_t memory, const t5 *m)
{
    nn_t bias = NN_ABSENT;
    nn_push(b, "decoder");
    for (int i = 0; i < (int)m->decoder_layers && nn_ok(b); i++) {
        nn_push(b, "block.%d", i);
        bias = m->own_bias ? NN_ABSENT : bias;
        part self = {i, "SelfAttention", NN_ABSENT, &bias, false, false};
        part cross = {i, "EncDecAttention", memory, NULL, false, t->past > 0};
        x = attention_part(b, 0, t, x, m, &self);
        x = attention_part(b, 1, source, x, m, &cross);
        x = feed_forward_part(b, 2, x, m);
        nn_pop(b);
    }
    return nn_leave(b, nn_rmsnorm(b, "final_layer_norm", x, m->eps));
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

/* The source of a step is only a mask and a length. */
static hf_text kept_source(nn *b, int64_t past)
{
    hf_text s = {.b = b, .past = past, .ids = NN_ABSENT};
    int64_t seq = nn_int_in(b, "seq_len", 128, 1, HF_TOKENS);
    s.mask = nn_input(b, "encoder_attention_mask", IR_INT64, 2, (const int64_t[]){1, seq});
    s.batch = s.mask.d[0];
    s.seq = s.mask.d[1];
    return s;
}

static void build(nn *b)
{
    hf_ignore(b);
    t5 m = read_t5(b);
    hf_class class = hf_architecture(b, HF_LM);
    int64_t past = class == HF_ENCODER ? 0 : nn_int_in(b, "past", 0, 0, HF_TOKENS);
    hf_text source = past > 0 ? kept_source(b, past) : hf_text_input(b, false, 0);
    nn_t memory = NN_ABSENT;
    if (past == 0) {
        nn_t x = hf_embed(b, "shared", source.ids, m.vocab, m.width, &m.words);
        hf_mask(&source, 0);
        memory = encoder(b, &source, x, &m);
    }
    if (class == HF_ENCODER) {
        nn_output(b, memory, "last_hidden_state");
        return;
    }
    hf_text t = hf_text_target(b, &source);
    source.past = 0; /* its mask is its own */
    nn_t x = hf_embed(b, "shared", t.ids, m.vocab, m.width, &m.words);
    x = decoder(b, &t, &source, x, memory, &m);
    if (class == HF_LM)
        head(b, x, &m);
    else if (class == HF_MODEL)
        nn_output(b, x, "last_hidden_state");
    else
        nn_refuse(b, "unsupported T5 class. Use ForConditionalGeneration, Model or EncoderModel.");
}

#define T5                     "model_type=t5 vocab_size=32128 d_model=512 d_kv=64 d_ff=2048 num_layers=6 num_heads=8"
#define V11                    " feed_forward_proj=gated-gelu tie_word_embeddings=false"
#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "t5", "language", build, T5 set)

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
    ZOO_ROW("mt5", NULL, "mt5", "language", build,
            T5 " model_type=mt5 vocab_size=250112 d_ff=1024 num_layers=8 num_heads=6" V11),
    ZOO_ROW("umt5", NULL, "umt5", "language", build,
            T5 " model_type=umt5 vocab_size=250112 d_ff=1024 num_layers=8 num_heads=6 "
               "feed_forward_proj=gated-gelu"),
};
const zoo_rows zoo_t5_families = ZOO_ROWS(families);
