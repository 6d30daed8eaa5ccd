/* Whisper (transformers' modeling_whisper.py): two convolutions over a spectrogram, an encoder,
 * and a decoder that reads it. Norms stand before each part; the keys' projection has no bias.
 * With past=N it is one step of the decoder alone, which has kept the keys and values of its past
 * and of the encoder.
 */
#include "zoo/hf_text.h"
#include "zoo/zoo.h"

typedef struct whisper {
    int64_t vocab, bins, width, sources, targets;
    int64_t layers[2], heads[2], inner[2]; /* encoder, decoder */
    bool tied;
    str act;
    nn_t words;
} whisper;

static const double eps = 1e-5;

static whisper read_whisper(nn *b)
{
    hf c = {b, NULL};
    hf_raw(c, "num_hidden_layers");
    return (whisper){
        .vocab = hf_int(c, "vocab_size", 51865, 1, HF_WIDTH),
        .bins = hf_int(c, "num_mel_bins", 80, 1, HF_WIDTH),
        .width = hf_int(c, "d_model|hidden_size", 384, 1, HF_WIDTH),
        .sources = hf_int(c, "max_source_positions", 1500, 1, HF_TOKENS),
        .targets = hf_int(c, "max_target_positions", 448, 1, HF_TOKENS),
        .layers = {hf_int(c, "encoder_layers", 4, 1, HF_LAYERS),
                   hf_int(c, "decoder_layers", 4, 1, HF_LAYERS)},
        .heads = {hf_int(c, "encoder_attention_heads", 6, 1, HF_HEADS),
                  hf_int(c, "decoder_attention_heads", 6, 1, HF_HEADS)},
        .inner = {hf_int(c, "encoder_ffn_dim", 1536, 1, HF_WIDTH),
                  hf_int(c, "decoder_ffn_dim", 1536, 1, HF_WIDTH)},
        .tied = hf_bool(c, "tie_word_embeddings", true),
        .act = hf_word(c, "activation_function", "gelu"),
    };
}

typedef struct part { /* one attention of a layer */
    const char *name, *norm;
    int layer, side; /* side: 0 encoder, 1 decoder */
    nn_t from;       /* the encoder's tokens; id IR_NONE: its own */
    bool kept;       /* keys and values of the encoder come from the cache */
} part;

static void keys_and_values(nn *b, hf_text *t, nn_t x, const whisper *m, const part *p, nn_t out[2])
{
    static const char *const names[] = {"k_proj", "v_proj"}, *const words[] = {"key", "value"};
    static const char *const cached[] = {"decoder.key", "decoder.value"};
    int64_t heads = m->heads[p->side];
    nn_t from = p->from.id == IR_NONE ? x : p->from;
    for (int i = 0; i < 2; i++) {
        if (p->kept) {
            out[i] = hf_kept_heads(t, p->layer, words[i], heads, m->width / heads);
            continue;
        }
        out[i] = nn_split_heads(b, words[i], nn_linear(b, names[i], from, m->width, i == 1), heads);
        if (t->causal)
            out[i] = hf_cache(t, p->layer, cached[i], out[i], 0);
    }
}

/* x + attention(norm(x)). */
static nn_t attention(nn *b, hf_text *t, nn_t x, const whisper *m, const part *p)
{
    nn_t kv[2], y = nn_layernorm(b, p->norm, x, eps);
    nn_push(b, "%s", p->name);
    nn_t q = nn_split_heads(b, "q", nn_linear(b, "q_proj", y, m->width, true), m->heads[p->side]);
    keys_and_values(b, t, y, m, p, kv);
    y = hf_attend(t, q, kv[0], kv[1], HF_ATTENTION(.layer = p->layer));
    y = nn_linear(b, "out_proj", y, m->width, true);
    nn_pop(b);
    return nn_add(b, "add", x, y);
}

static nn_t feed_forward(nn *b, nn_t x, const whisper *m, int side)
{
    nn_t y = nn_linear(b, "fc1", nn_layernorm(b, "final_layer_norm", x, eps), m->inner[side], true);
    y = nn_linear(b, "fc2", hf_act(b, "activation_fn", y, m->act), m->width, true);
    return nn_add(b, "add", x, y);
}

static nn_t features(nn *b, const whisper *m)
{
    const int64_t dims[] = {1, m->bins, 2 * m->sources};
    nn_t x = nn_input(b, "input_features", IR_FLOAT32, 3, dims);
    nn_push(b, "encoder");
    x = NN_CONV(b, "conv1", x, .out = m->width, .k = 3, .pad = 1);
    x = NN_CONV(b, "conv2", nn_gelu(b, "gelu1", x, false), .out = m->width, .k = 3, .stride = 2,
                .pad = 1);
    x = nn_swap(b, "transpose", nn_gelu(b, "gelu2", x, false));
    if (nn_ok(b) && x.d[1] != m->sources)
        nn_fail(b, "the encoder needs %lld frames, not %lld", 2 * (long long)m->sources,
                2 * (long long)x.d[1]);
    nn_t places = nn_param(b, "embed_positions.weight", 2, (const int64_t[]){m->sources, m->width});
    return nn_leave(b, nn_add(b, "embed_positions", x, places));
}

static nn_t encoder(nn *b, hf_text *t, nn_t x, const whisper *m)
{
    nn_push(b, "encoder");
    for (int i = 0; i < (int)m->layers[0] && nn_ok(b); i++) {
        nn_push(b, "layers.%d", i);
        part self = {"self_attn", "self_attn_layer_norm", i, 0, NN_ABSENT, false};
        x = attention(b, t, x, m, &self);
        x = feed_forward(b, x, m, 0);
        nn_pop(b);
    }
    return nn_leave(b, nn_layernorm(b, "layer_norm", x, eps));
}

static nn_t decoder(nn *b, hf_text *t, hf_text *source, nn_t memory, whisper *m)
{
    nn_push(b, "decoder");
    nn_t x = hf_embed(b, "embed_tokens", t->ids, m->vocab, m->width, &m->words);
    nn_t at = hf_positions(b, t->past, t->seq, m->targets);
    x = nn_add(b, "add", x, nn_embedding(b, "embed_positions", at, m->targets, m->width));
    for (int i = 0; i < (int)m->layers[1] && nn_ok(b); i++) {
        nn_push(b, "layers.%d", i);
        part self = {"self_attn", "self_attn_layer_norm", i, 1, NN_ABSENT, false};
        part cross = {"encoder_attn", "encoder_attn_layer_norm", i, 1, memory, t->past > 0};
        x = attention(b, t, x, m, &self);
        x = attention(b, source, x, m, &cross);
        x = feed_forward(b, x, m, 1);
        nn_pop(b);
    }
    return nn_leave(b, nn_layernorm(b, "layer_norm", x, eps));
}

static hf_text target(nn *b, int64_t batch, int64_t past, int64_t places)
{
    hf_text t = {.b = b, .mask = NN_ABSENT, .causal = true, .past = past};
    hf c = {b, NULL};
    int64_t n = hf_int(c, "decoder_seq_len|seq_len",
                       past > 0       ? 1
                       : places < 128 ? places
                                      : 128,
                       1, HF_TOKENS);
    const char *name = past > 0 ? "input_ids" : "decoder_input_ids";
    t.ids = nn_input(b, name, IR_INT64, 2, (const int64_t[]){batch, n});
    t.batch = t.ids.d[0];
    t.seq = t.ids.d[1];
    return t;
}

static void build(nn *b)
{
    hf_ignore(b);
    whisper m = read_whisper(b);
    hf_class class = hf_architecture(b, HF_LM);
    if ((class != HF_LM && class != HF_MODEL) || hf_architecture_is(b, "ForCausalLM"))
        nn_refuse(b, "unsupported Whisper class. Use ForConditionalGeneration or Model.");
    int64_t past = nn_int_in(b, "past", 0, 0, HF_TOKENS);
    hf_text source = {.b = b, .mask = NN_ABSENT, .batch = 1, .seq = m.sources};
    nn_t x = NN_ABSENT;
    if (class == HF_LM)
        nn_push(b, "model");
    if (past == 0) {
        x = features(b, &m);
        source.batch = x.d[0];
    }
    hf_text t = target(b, source.batch, past, m.targets);
    source.batch = t.batch;
    if (past == 0)
        x = encoder(b, &source, x, &m);
    x = decoder(b, &t, &source, x, &m);
    if (class != HF_LM) {
        nn_output(b, x, "last_hidden_state");
        return;
    }
    nn_pop(b);
    x = m.tied ? hf_tied(b, "proj_out", x, m.words, NN_ABSENT)
               : nn_linear(b, "proj_out", x, m.vocab, false);
    nn_output(b, x, "logits");
}

#define WHISPER                                                                              \
    "model_type=whisper vocab_size=51865 num_mel_bins=80 encoder_layers=4 decoder_layers=4 " \
    "encoder_attention_heads=6 decoder_attention_heads=6 encoder_ffn_dim=1536 "              \
    "decoder_ffn_dim=1536 d_model=384"
#define SIZED(layers, heads, width, inner)                                                \
    " encoder_layers=" layers " decoder_layers=" layers " encoder_attention_heads=" heads \
    " decoder_attention_heads=" heads " d_model=" width " encoder_ffn_dim=" inner         \
    " decoder_ffn_dim=" inner
#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "whisper", "speech", build, WHISPER set)

static const zoo_row rows[] = {
    ROW("whisper-tiny", NULL, ""),
    ROW("whisper-base", NULL, SIZED("6", "8", "512", "2048")),
    ROW("whisper-small", "whisper", SIZED("12", "12", "768", "3072")),
    ROW("whisper-medium", NULL, SIZED("24", "16", "1024", "4096")),
    ROW("whisper-large-v2", "whisper-large", SIZED("32", "20", "1280", "5120")),
    ROW("whisper-large-v3", NULL,
        SIZED("32", "20", "1280", "5120") " num_mel_bins=128 vocab_size=51866" ZOO_F16),
    ROW("whisper-large-v3-turbo", NULL,
        SIZED("32", "20", "1280",
              "5120") " num_mel_bins=128 vocab_size=51866 decoder_layers=4" ZOO_F16),
};
const zoo_rows zoo_whisper_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {ROW("whisper", NULL, "")};
const zoo_rows zoo_whisper_families = ZOO_ROWS(families);
