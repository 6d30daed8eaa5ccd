/* GPT-2 (transformers' modeling_gpt2.py): wte + wpe; x += attn(ln_1(x)); x += mlp(ln_2(x)); ln_f;
 * the words again as head. Linear layers are Conv1D, whose weight is [in, out].
 */
#include "zoo/hf_text.h"

#include <math.h>

#include "zoo/lm_head.h"
#include "zoo/zoo.h"

typedef struct gpt2 {
    int64_t vocab, positions, width, layers, heads, inner;
    double eps;
    bool scaled, by_layer;
    str act;
} gpt2;

static gpt2 read_gpt2(nn *b)
{
    hf c = {b, NULL};
    gpt2 g = {.vocab = hf_int(c, "vocab_size", 50257, 1, HF_WIDTH),
              .positions = hf_int(c, "n_positions|max_position_embeddings", 1024, 1, HF_TOKENS),
              .width = hf_int(c, "n_embd|hidden_size", 768, 1, HF_WIDTH),
              .layers = hf_int(c, "n_layer|num_hidden_layers", 12, 1, HF_LAYERS),
              .heads = hf_int(c, "n_head|num_attention_heads", 12, 1, HF_HEADS),
              .eps = hf_real(c, "layer_norm_epsilon", 1e-5),
              .scaled = hf_bool(c, "scale_attn_weights", true),
              .by_layer = hf_bool(c, "scale_attn_by_inverse_layer_idx", false),
              .act = hf_word(c, "activation_function", "gelu_new")};
    g.inner = hf_int(c, "n_inner", 4 * g.width, 1, 4 * (int64_t)HF_WIDTH);
    return g;
}

static nn_t attention(nn *b, hf_text *t, nn_t x, const gpt2 *g, int layer)
{
    nn_t parts[3];
    nn_push(b, "attn");
    nn_split(b, "split", hf_conv1d(b, "c_attn", x, 3 * g->width), 2, 3, parts);
    nn_t q = nn_split_heads(b, "q", parts[0], g->heads),
         k = nn_split_heads(b, "k", parts[1], g->heads);
    nn_t v = nn_split_heads(b, "v", parts[2], g->heads);
    double scale = g->scaled ? 1.0 / sqrt((double)q.d[3]) : 1.0;
    scale = g->by_layer ? scale / (layer + 1) : scale;
    k = hf_cache(t, layer, "key", k, 0);
    v = hf_cache(t, layer, "value", v, 0);
    x = hf_attend(t, q, k, v, HF_ATTENTION(.layer = layer, .scale = scale));
    return nn_leave(b, hf_conv1d(b, "c_proj", x, g->width));
}

static nn_t mlp(nn *b, nn_t x, const gpt2 *g)
{
    nn_push(b, "mlp");
    x = hf_act(b, "act", hf_conv1d(b, "c_fc", x, g->inner), g->act);
    return nn_leave(b, hf_conv1d(b, "c_proj", x, g->width));
}

static void build(nn *b)
{
    hf_ignore(b);
    gpt2 g = read_gpt2(b);
    lm_head head = lm_head_begin(b, "transformer", "lm_head", true);
    hf_text t = hf_text_input(b, true, g.positions);
    nn_t x = hf_embed(b, "wte", t.ids, g.vocab, g.width, &head.words);
    nn_t at = hf_positions(b, t.past, t.seq, g.positions);
    x = nn_add(b, "add", x, nn_embedding(b, "wpe", at, g.positions, g.width));
    hf_mask(&t, 0);
    for (int i = 0; i < (int)g.layers && nn_ok(b); i++) {
        nn_push(b, "h.%d", i);
        nn_t y = attention(b, &t, nn_layernorm(b, "ln_1", x, g.eps), &g, i);
        x = nn_add(b, "add_1", y, x);
        y = mlp(b, nn_layernorm(b, "ln_2", x, g.eps), &g);
        x = nn_add(b, "add_2", x, y);
        nn_pop(b);
    }
    lm_head_end(b, nn_layernorm(b, "ln_f", x, g.eps), &head);
}

#define GPT2                                                                             \
    "model_type=gpt2 vocab_size=50257 n_positions=1024 n_embd=768 n_layer=12 n_head=12 " \
    "activation_function=gelu_new layer_norm_epsilon=1e-5"
#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "gpt2", "language", build, GPT2 set)

static const zoo_row rows[] = {
    ROW("gpt2", "gpt2-small", ""),
    ROW("gpt2-medium", NULL, " n_embd=1024 n_layer=24 n_head=16"),
    ROW("gpt2-large", NULL, " n_embd=1280 n_layer=36 n_head=20"),
    ROW("gpt2-xl", NULL, " n_embd=1600 n_layer=48 n_head=25"),
    ROW("distilgpt2", NULL, " n_layer=6"),
};
const zoo_rows zoo_gpt2_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {ROW("gpt2", NULL, "")};
const zoo_rows zoo_gpt2_families = ZOO_ROWS(families);
