/* BART and mBART (transformers' modeling_bart.py, modeling_mbart.py): an encoder and a decoder with learned
 * positions and biases everywhere. BART normalises after each part, mBART before it and once more at the end.
 *
 *   embed_tokens (* sqrt(d_model)) + embed_positions, layernorm_embedding; layers; cross-attention in the decoder
 *   the words again as head, with a bias that is no parameter (final_logits_bias)
 */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

enum { FIRST_PLACE = 2 };

typedef struct bart {
    bool before; /* mBART */
    int64_t vocab, width, places, layers[2], heads[2], inner[2];
    double scale;
    bool tied;
    str act;
    nn_t words;
} bart;

static const double eps = 1e-5;

static bart read_bart(nn *b)
{
    hf c = {b, NULL};
    bart m = {.before = str_is(hf_word(c, "model_type", "bart"), "mbart")};
    m.vocab = hf_int(c, "vocab_size", 50265, 1, HF_WIDTH);
    m.width = hf_int(c, "d_model|hidden_size", 1024, 1, HF_WIDTH);
    m.places = hf_int(c, "max_position_embeddings", 1024, 1, HF_TOKENS);
    m.layers[0] = hf_int(c, "encoder_layers", 12, 1, HF_LAYERS);
    m.layers[1] = hf_int(c, "decoder_layers", 12, 1, HF_LAYERS);
    m.heads[0] = hf_int(c, "encoder_attention_heads", 16, 1, HF_HEADS);
    m.heads[1] = hf_int(c, "decoder_attention_heads", 16, 1, HF_HEADS);
    m.inner[0] = hf_int(c, "encoder_ffn_dim", 4096, 1, 4 * (int64_t)HF_WIDTH);
    m.inner[1] = hf_int(c, "decoder_ffn_dim", 4096, 1, 4 * (int64_t)HF_WIDTH);
    m.scale = hf_bool(c, "scale_embedding", false) ? sqrt((double)m.width) : 1.0;
    m.act = hf_word(c, "activation_function", "gelu");
    m.tied = hf_bool(c, "tie_word_embeddings", true);
    hf_raw(c, "num_hidden_layers");
    return m;
}

/* ---- parts ---- */

typedef struct part {
    const char *name, *norm;
    int layer, side; /* 0 encoder, 1 decoder */
    nn_t memory;     /* id IR_NONE: the tokens themselves */
} part;

/* What is added to x, before or after a norm. */
static nn_t joined(nn *b, const char *name, nn_t x, nn_t y, const char *norm, const bart *m)
{
    x = nn_add(b, name, x, y);
    return m->before ? x : nn_layernorm(b, norm, x, eps);
}

static nn_t attend(nn *b, hf_text *t, nn_t x, const bart *m, const part *p)
{
    int64_t heads = m->heads[p->side];
    bool cross = p->memory.id != IR_NONE;
    nn_t from = cross ? p->memory : x;
    nn_push(b, "%s", p->name);
    nn_t q = nn_split_heads(b, "q", nn_linear(b, "q_proj", x, m->width, true), heads);
    nn_t k = nn_split_heads(b, "k", nn_linear(b, "k_proj", from, m->width, true), heads);
    nn_t v = nn_split_heads(b, "v", nn_linear(b, "v_proj", from, m->width, true), heads);
    return nn_leave(b,
                    nn_linear(b, "out_proj", hf_attend(t, q, k, v, HF_ATTENTION(.layer = p->layer)),
                              m->width, true));
}

static nn_t attention(nn *b, hf_text *t, nn_t x, const bart *m, const part *p)
{
    nn_t in = m->before ? nn_layernorm(b, p->norm, x, eps) : x;
    nn_t y = attend(b, t, in, m, p);
    return joined(b, arena_printf(b->scratch, "%s/add", p->name), x, y, p->norm, m);
}

static nn_t feed_forward(nn *b, nn_t x, const bart *m, int side)
{
    nn_t y = m->before ? nn_layernorm(b, "final_layer_norm", x, eps) : x;
    y = hf_act(b, "activation_fn", nn_linear(b, "fc1", y, m->inner[side], true), m->act);
    y = nn_linear(b, "fc2", y, m->width, true);
    return joined(b, "add", x, y, "final_layer_norm", m);
}

static nn_t embed(nn *b, const hf_text *t, bart *m, nn_t *words)
{
    nn_t x = hf_embed(b, "shared", t->ids, m->vocab, m->width, words);
    return m->scale != 1.0 ? nn_scale(b, "embed_scale", x, m->scale) : x;
}

static nn_t with_places(nn *b, const hf_text *t, nn_t x, const bart *m)
{
    int64_t rows = m->places + FIRST_PLACE;
    nn_t at = hf_positions(b, FIRST_PLACE, t->seq, rows);
    x = nn_add(b, "add", x, nn_embedding(b, "embed_positions", at, rows, m->width));
    return nn_layernorm(b, "layernorm_embedding", x, eps);
}

static nn_t encoder(nn *b, hf_text *t, nn_t x, const bart *m)
{
    nn_push(b, "encoder");
    x = with_places(b, t, x, m);
    for (int i = 0; i < (int)m->layers[0] && nn_ok(b); i++) {
        const part self = {"self_attn", "self_attn_layer_norm", i, 0, NN_ABSENT};
        x = NN_UNDER(b, feed_forward(b, attention(b, t, x, m, &self), m, 0), "layers.%d", i);
    }
    if (m->before)
        x = nn_layernorm(b, "layer_norm", x, eps);
    return nn_leave(b, x);
}

static nn_t decoder(nn *b, hf_text *t, hf_text *source, nn_t x, nn_t memory, const bart *m)
{
    nn_push(b, "decoder");
    x = with_places(b, t, x, m);
    for (int i = 0; i < (int)m->layers[1] && nn_ok(b); i++) {
        const part self = {"self_attn", "self_attn_layer_norm", i, 1, NN_ABSENT};
        const part cross = {"encoder_attn", "encoder_attn_layer_norm", i, 1, memory};
        nn_push(b, "layers.%d", i);
        x = attention(b, t, x, m, &self);
        x = attention(b, source, x, m, &cross);
        x = feed_forward(b, x, m, 1);
        nn_pop(b);
    }
    if (m->before)
        x = nn_layernorm(b, "layer_norm", x, eps);
    return nn_leave(b, x);
}

/* ---- the model ---- */

static void head(nn *b, nn_t x, const bart *m)
{
    if (!m->tied) {
        x = nn_linear(b, "lm_head", x, m->vocab, false);
    } else {
        x = hf_tied(b, "lm_head", x, m->words, NN_ABSENT);
    }
    x = nn_add(b, "final_logits_bias/add", x,
               nn_buffer(b, "final_logits_bias", 2, (const int64_t[]){1, m->vocab}));
    nn_output(b, x, "logits");
}

static void build(nn *b)
{
    nn_t memory, x;
    hf_ignore(b);
    bart m = read_bart(b);
    hf_class class = hf_architecture(b, HF_LM);
    if ((class != HF_LM && class != HF_MODEL) || hf_architecture_is(b, "ForCausalLM"))
        nn_refuse(b, "unsupported BART class. Use ForConditionalGeneration or Model.");
    hf_text source = hf_text_input(b, false, m.places), t = hf_text_target(b, &source);
    if (class == HF_LM)
        nn_push(b, "model");
    x = embed(b, &source, &m, &m.words);
    hf_mask(&source, 0);
    memory = encoder(b, &source, x, &m);
    x = decoder(b, &t, &source, embed(b, &t, &m, &m.words), memory, &m);
    if (class == HF_LM) {
        nn_pop(b);
        head(b, x, &m);
    } else {
        nn_output(b, x, "last_hidden_state");
    }
}

#define BART                                                                      \
    "model_type=bart vocab_size=50265 d_model=1024 max_position_embeddings=1024 " \
    "encoder_layers=12 decoder_layers=12 encoder_attention_heads=16 "             \
    "decoder_attention_heads=16 encoder_ffn_dim=4096 decoder_ffn_dim=4096"
#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "language", build, set)

static const zoo_row rows[] = {
    ROW("bart-large", "bart", "bart", BART),
    ROW("bart-base", NULL, "bart",
        BART " d_model=768 encoder_layers=6 decoder_layers=6 encoder_attention_heads=12 "
             "decoder_attention_heads=12 encoder_ffn_dim=3072 decoder_ffn_dim=3072"),
};
const zoo_rows zoo_bart_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("bart", NULL, "bart", BART),
    ROW("mbart", NULL, "mbart", BART " model_type=mbart"),
};
const zoo_rows zoo_bart_families = ZOO_ROWS(families);
