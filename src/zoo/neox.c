/* GPT-NeoX (Pythia) and Phi-1/2 (transformers' modeling_gpt_neox.py, modeling_phi.py): LayerNorm,
 * partly rotary heads, attention and MLP side by side.
 *
 *   NeoX:  x + attention(input_layernorm(x)) + mlp(post_attention_layernorm(x))   (or one after
 *   the other)
 *   Phi:   x + self_attn(n) + mlp(n),  n = input_layernorm(x)
 */
#include "zoo/lm_head.h"
#include "zoo/zoo.h"

typedef struct neox {
    bool phi, parallel, bias, qk_norm;
    int64_t vocab, width, layers, heads, kv_heads, inner;
    double eps;
    str act;
    hf_rope rope;
} neox;

static neox read_neox(nn *b)
{
    hf c = {b, NULL};
    neox m = {.phi = str_is(hf_word(c, "model_type", "gpt_neox"), "phi")};
    m.vocab = hf_int(c, "vocab_size", 50432, 1, HF_WIDTH);
    m.width = hf_int(c, "hidden_size", 6144, 1, HF_WIDTH);
    m.layers = hf_int(c, "num_hidden_layers", 44, 1, HF_LAYERS);
    m.heads = hf_int(c, "num_attention_heads", 64, 1, HF_HEADS);
    m.kv_heads = m.phi ? hf_int(c, "num_key_value_heads", m.heads, 1, HF_HEADS) : m.heads;
    m.inner = hf_int(c, "intermediate_size", 4 * m.width, 1, 4 * (int64_t)HF_WIDTH);
    m.eps = hf_real(c, "layer_norm_eps", 1e-5);
    m.act = hf_word(c, "hidden_act", m.phi ? "gelu_new" : "gelu");
    m.parallel = m.phi || hf_bool(c, "use_parallel_residual", true);
    m.bias = m.phi || hf_bool(c, "attention_bias", true);
    m.qk_norm = m.phi && hf_bool(c, "qk_layernorm", false);
    return m;
}

static hf_rope rope_of(nn *b, const hf_text *t, const neox *m)
{
    int64_t head = m->width / m->heads;
    double part = hf_real((hf){b, NULL}, "partial_rotary_factor|rotary_pct", m->phi ? 0.5 : 0.25);
    if (nn_has(b, "rope_parameters"))
        part = hf_real((hf){b, "rope_parameters"}, "partial_rotary_factor", part);
    hf_raw((hf){b, NULL}, "rotary_pct");
    int64_t dim = part > 0.0 && part <= 1.0 ? (int64_t)((double)head * part) : head;
    return hf_rope_make(t, head, dim, 1e4, true);
}

static void phi_heads(nn *b, nn_t x, const neox *m, nn_t out[3])
{
    int64_t head = m->width / m->heads, narrow = m->kv_heads * head;
    out[0] = nn_split_heads(b, "q", nn_linear(b, "q_proj", x, m->heads * head, true), m->heads);
    out[1] = nn_split_heads(b, "k", nn_linear(b, "k_proj", x, narrow, true), m->kv_heads);
    out[2] = nn_split_heads(b, "v", nn_linear(b, "v_proj", x, narrow, true), m->kv_heads);
    if (!m->qk_norm)
        return;
    out[0] = nn_layernorm(b, "q_layernorm", out[0], m->eps);
    out[1] = nn_layernorm(b, "k_layernorm", out[1], m->eps);
}

static nn_t attention(nn *b, hf_text *t, nn_t x, const neox *m, int i)
{
    nn_t p[3];
    nn_push(b, m->phi ? "self_attn" : "attention");
    if (m->phi)
        phi_heads(b, x, m, p);
    else
        hf_fused_heads(b, nn_linear(b, "query_key_value", x, 3 * m->width, m->bias), m->heads,
                       m->heads, p);
    p[0] = hf_rope_turn(b, "q/rotary", p[0], &m->rope);
    p[1] = hf_cache(t, i, "key", hf_rope_turn(b, "k/rotary", p[1], &m->rope), 0);
    p[2] = hf_cache(t, i, "value", p[2], 0);
    x = hf_attend(t, p[0], p[1], p[2], HF_ATTENTION(.layer = i));
    return nn_leave(b, nn_linear(b, "dense", x, m->width, m->bias));
}

static nn_t mlp(nn *b, nn_t x, const neox *m)
{
    nn_push(b, "mlp");
    x = nn_linear(b, m->phi ? "fc1" : "dense_h_to_4h", x, m->inner, true);
    x = hf_act(b, "act", x, m->act);
    return nn_leave(b, nn_linear(b, m->phi ? "fc2" : "dense_4h_to_h", x, m->width, true));
}

static nn_t layer(nn *b, hf_text *t, nn_t x, const neox *m, int i)
{
    nn_t n = nn_layernorm(b, "input_layernorm", x, m->eps), y = attention(b, t, n, m, i);
    if (!m->parallel)
        x = nn_add(b, "add_1", x, y);
    if (!m->phi)
        n = nn_layernorm(b, "post_attention_layernorm", x, m->eps);
    nn_t z = mlp(b, n, m);
    if (m->parallel)
        z = nn_add(b, "add_1", z, y);
    return nn_add(b, "add_2", z, x);
}

static void build(nn *b)
{
    hf_ignore(b);
    neox m = read_neox(b);
    lm_head head = lm_head_begin(b, m.phi ? "model" : "gpt_neox", m.phi ? "lm_head" : "embed_out",
                                 false);
    head.bias = m.phi;
    hf_text t = hf_text_input(b, true, 0);
    nn_t x = hf_embed(b, m.phi ? "embed_tokens" : "embed_in", t.ids, m.vocab, m.width, &head.words);
    m.rope = rope_of(b, &t, &m);
    hf_mask(&t, 0);
    for (int i = 0; i < (int)m.layers && nn_ok(b); i++)
        x = NN_UNDER(b, layer(b, &t, x, &m, i), "layers.%d", i);
    lm_head_end(b, nn_layernorm(b, m.phi ? "final_layernorm" : "final_layer_norm", x, m.eps),
                &head);
}

#define NEOX                                                                      \
    "model_type=gpt_neox vocab_size=50432 hidden_size=6144 num_hidden_layers=44 " \
    "num_attention_heads=64 intermediate_size=24576 max_position_embeddings=2048"
#define PYTHIA NEOX " vocab_size=50304"
#define PHI                                                                    \
    "model_type=phi vocab_size=51200 hidden_size=2048 intermediate_size=8192 " \
    "num_hidden_layers=24 num_attention_heads=32 max_position_embeddings=2048"
#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "language", build, set)

static const zoo_row rows[] = {
    ROW("gpt-neox-20b", NULL, "gpt_neox", NEOX ZOO_F16),
    ROW("pythia-70m", NULL, "gpt_neox",
        PYTHIA
        " hidden_size=512 num_hidden_layers=6 num_attention_heads=8 intermediate_size=2048" ZOO_F16),
    ROW("pythia-160m", NULL, "gpt_neox",
        PYTHIA " hidden_size=768 num_hidden_layers=12 num_attention_heads=12 "
               "intermediate_size=3072" ZOO_F16),
    ROW("pythia-410m", NULL, "gpt_neox",
        PYTHIA " hidden_size=1024 num_hidden_layers=24 num_attention_heads=16 "
               "intermediate_size=4096" ZOO_F16),
    ROW("pythia-1b", NULL, "gpt_neox",
        PYTHIA " hidden_size=2048 num_hidden_layers=16 num_attention_heads=8 "
               "intermediate_size=8192" ZOO_F16),
    ROW("pythia-1.4b", NULL, "gpt_neox",
        PYTHIA " hidden_size=2048 num_hidden_layers=24 num_attention_heads=16 "
               "intermediate_size=8192" ZOO_F16),
    ROW("pythia-2.8b", NULL, "gpt_neox",
        PYTHIA " hidden_size=2560 num_hidden_layers=32 num_attention_heads=32 "
               "intermediate_size=10240" ZOO_F16),
    ROW("pythia-6.9b", NULL, "gpt_neox",
        NEOX " hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 "
             "intermediate_size=16384" ZOO_F16),
    ROW("pythia-12b", NULL, "gpt_neox",
        NEOX " vocab_size=50688 hidden_size=5120 num_hidden_layers=36 num_attention_heads=40 "
             "intermediate_size=20480" ZOO_F16),
    ROW("phi-1", NULL, "phi", PHI),
    ROW("phi-1.5", "phi-1_5", "phi", PHI ZOO_F16),
    ROW("phi-2", "phi", "phi",
        PHI " hidden_size=2560 intermediate_size=10240 num_hidden_layers=32 "
            "partial_rotary_factor=0.4" ZOO_F16),
};
const zoo_rows zoo_neox_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("gpt_neox", NULL, "gpt_neox", NEOX),
    ROW("phi", NULL, "phi", PHI),
};
const zoo_rows zoo_neox_families = ZOO_ROWS(families);
