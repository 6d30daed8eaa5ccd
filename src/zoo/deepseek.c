/* DeepSeek-V2 and V3 (transformers' modeling_deepseek_v2.py, _v3.py): keys and values from one
 * small latent per token (MLA), a few dense layers, then shared and routed experts.
 *
 *   q = q_b_proj(norm(q_a_proj(x)))                    [H, nope + rope]
 *   c, r = kv_a_proj_with_mqa(x); c = norm(c)          [latent], [rope] for all heads
 *   k, v = kv_b_proj(c)                                [H, nope], [H, v]; r is put behind every k
 *
 * A prefill expands k and v. A step after a past keeps only c and r in its cache (as the library
 * does) and takes kv_b_proj into q and the output instead, as serving does: then all heads share
 * one key [c, r] and one value c. The module for predicting a second token
 * (num_nextn_predict_layers) is not part of the library's model, nor of this one.
 */
#include <math.h>

#include "zoo/lm_head.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

typedef struct deepseek {
    bool v3, bias, mlp_bias;
    int64_t vocab, width, layers, heads, inner, first_dense, every;
    int64_t q_rank, kv_rank, nope, rope_dim, v_dim, shared;
    double eps, scale;
    hf_moe moe;
    hf_rope rope;
} deepseek;

/* ---- parameters ---- */

static double score_scale(nn *b, const deepseek *m)
{
    hf c = hf_rope_scaling(b);
    double scale = 1.0 / sqrt((double)(m->nope + m->rope_dim));
    double all = hf_real(c, "mscale_all_dim", 0.0), by = hf_real(c, "factor", 1.0);
    double more = all != 0.0 ? hf_rope_mscale(by, all) : 1.0;
    return scale * more * more;
}

static hf_moe read_experts(hf c, bool v3, str act)
{
    str method = hf_word(c, "topk_method", v3 ? "noaux_tc" : "greedy");
    bool grouped = v3 || str_is(method, "group_limited_greedy");
    int64_t groups = hf_int(c, "n_group", 1, 0, HF_HEADS);
    hf_raw(c, "scoring_func");
    return (hf_moe){
        .experts = hf_int(c, "n_routed_experts|num_routed_experts|num_local_experts|num_experts",
                          64, 1, HF_HEADS),
        .active = hf_int(c, "num_experts_per_tok", v3 ? 8 : 6, 1, HF_HEADS),
        .inner = hf_int(c, "moe_intermediate_size", 1407, 1, HF_WIDTH),
        .groups = grouped ? groups : 0,
        .top_groups = hf_int(c, "topk_group", 1, 0, HF_HEADS),
        .router = "gate",
        .gate = "experts.*.gate_proj.weight",
        .up = "experts.*.up_proj.weight",
        .down = "experts.*.down_proj.weight",
        .sigmoid = v3,
        .normalize = hf_bool(c, "norm_topk_prob", v3),
        .scale = hf_real(c, "routed_scaling_factor", 1.0),
        .act = act};
}

static deepseek read_deepseek(nn *b)
{
    hf c = {b, NULL};
    deepseek m = {.v3 = str_is(hf_word(c, "model_type", "deepseek_v3"), "deepseek_v3")};
    m.vocab = hf_int(c, "vocab_size", 102400, 1, HF_WIDTH);
    m.width = hf_int(c, "hidden_size", 4096, 1, HF_WIDTH);
    m.layers = hf_int(c, "num_hidden_layers", 32, 1, HF_LAYERS);
    m.heads = hf_int(c, "num_attention_heads", 32, 1, HF_HEADS);
    hf_raw(c, "num_key_value_heads|head_dim|qk_head_dim");
    m.inner = hf_int(c, "intermediate_size", 11008, 1, HF_WIDTH);
    m.first_dense = hf_int(c, "first_k_dense_replace", 0, 0, HF_LAYERS);
    m.every = hf_int(c, "moe_layer_freq", 1, 1, HF_LAYERS);
    m.q_rank = hf_int(c, "q_lora_rank", 0, 0, HF_WIDTH);
    m.kv_rank = hf_int(c, "kv_lora_rank", 512, 1, HF_WIDTH);
    m.nope = hf_int(c, "qk_nope_head_dim", 128, 1, HF_HEADS);
    m.rope_dim = hf_int(c, "qk_rope_head_dim", 64, 2, HF_HEADS);
    m.v_dim = hf_int(c, "v_head_dim", 128, 1, HF_HEADS);
    m.shared = hf_int(c, "n_shared_experts|num_shared_experts", 0, 0, HF_HEADS);
    m.eps = hf_real(c, "rms_norm_eps", 1e-6);
    m.bias = hf_bool(c, "attention_bias", false);
    m.mlp_bias = hf_bool(c, "mlp_bias", false);
    m.moe = read_experts(c, m.v3, hf_word(c, "hidden_act", "silu"));
    m.scale = score_scale(b, &m);
    return m;
}

/* ---- attention ---- */

static void queries(nn *b, nn_t x, const deepseek *m, nn_t out[2])
{
    int64_t head = m->nope + m->rope_dim;
    if (m->q_rank > 0) {
        x = nn_linear(b, "q_a_proj", x, m->q_rank, m->bias);
        x = nn_rmsnorm(b, "q_a_layernorm", x, 1e-6);
        x = nn_linear(b, "q_b_proj", x, m->heads * head, false);
    } else {
        x = nn_linear(b, "q_proj", x, m->heads * head, false);
    }
    x = nn_split_heads(b, "q", x, m->heads);
    hf_parts(b, "q/split", x, 2, (const int64_t[]){m->nope, m->rope_dim}, out);
    out[1] = hf_rope_turn(b, "q/rotary", out[1], &m->rope);
}

/* c [B, S, latent] and the turned r [B, 1, S, rope]. */
static void latent(nn *b, nn_t x, const deepseek *m, nn_t out[2])
{
    x = nn_linear(b, "kv_a_proj_with_mqa", x, m->kv_rank + m->rope_dim, m->bias);
    hf_parts(b, "kv_a/split", x, 2, (const int64_t[]){m->kv_rank, m->rope_dim}, out);
    out[0] = nn_rmsnorm(b, "kv_a_layernorm", out[0], 1e-6);
    out[1] = hf_rope_turn(b, "k/rotary", nn_unsqueeze(b, "k/head", out[1], 1), &m->rope);
}

static nn_t expanded(nn *b, hf_text *t, const nn_t q[2], const nn_t kv[2], const hf_attention *a,
                     const deepseek *m)
{
    nn_t parts[2];
    nn_t x = nn_linear(b, "kv_b_proj", kv[0], m->heads * (m->nope + m->v_dim), false);
    x = nn_split_heads(b, "kv", x, m->heads);
    hf_parts(b, "kv/split", x, 2, (const int64_t[]){m->nope, m->v_dim}, parts);
    const int64_t wide[] = {kv[1].d[0], m->heads, kv[1].d[2], m->rope_dim};
    nn_t turned = nn_expand(b, "k/expand", kv[1], 4, wide);
    nn_t keys = nn_concat(b, "k/concat", 2, (const nn_t[]){parts[0], turned}, 3);
    return hf_attend(t, nn_concat(b, "q/concat", 2, q, 3), keys, parts[1], a);
}

/* kv_b_proj as a factor of the queries and one of the result: [H, latent, nope], [H, latent, v]. */
static void factors(nn *b, const deepseek *m, nn_t out[2])
{
    int64_t each = m->nope + m->v_dim;
    nn_t w = nn_param(b, "kv_b_proj.weight", 2, (const int64_t[]){m->kv_rank, m->heads * each});
    if (w.id != IR_NONE)
        ir_value_at(b->model, w.id)->flags |= IR_VALUE_TRANSPOSED;
    w = nn_reshape(b, "kv_b/reshape", w, 3, (const int64_t[]){m->kv_rank, m->heads, each});
    w = nn_transpose(b, "kv_b/transpose", w, (const int64_t[]){1, 0, 2});
    hf_parts(b, "kv_b/split", w, 2, (const int64_t[]){m->nope, m->v_dim}, out);
}

static nn_t absorbed(nn *b, hf_text *t, const nn_t q[2], const nn_t kv[2], const hf_attention *a,
                     const deepseek *m)
{
    nn_t w[2];
    factors(b, m, w);
    nn_t c = nn_unsqueeze(b, "c/head", kv[0], 1);
    c = hf_cache(t, a->layer, "key", c, 0);
    nn_t r = hf_cache(t, a->layer, "value", kv[1], 0);
    nn_t small = nn_matmul(b, "q/absorb", q[0], nn_swap(b, "kv_b/swap", w[0]));
    nn_t wide = nn_concat(b, "q/concat", 2, (const nn_t[]){small, q[1]}, 3);
    nn_t keys = nn_concat(b, "k/concat", 2, (const nn_t[]){c, r}, 3);
    nn_t x = hf_attend_heads(t, wide, keys, c, a);
    return nn_unheads(b, nn_matmul(b, "v/absorb", x, w[1]));
}

static nn_t attention(nn *b, hf_text *t, nn_t x, const deepseek *m, int i)
{
    nn_t q[2], kv[2];
    const hf_attention *a = HF_ATTENTION(.layer = i, .scale = m->scale);
    nn_push(b, "self_attn");
    queries(b, x, m, q);
    latent(b, x, m, kv);
    x = t->past > 0 ? absorbed(b, t, q, kv, a, m) : expanded(b, t, q, kv, a, m);
    return nn_leave(b, nn_linear(b, "o_proj", x, m->width, m->bias));
}

/* ---- the model ---- */

static nn_t feed_forward(nn *b, nn_t x, const deepseek *m, int64_t i)
{
    bool dense = i < m->first_dense || i % m->every != 0;
    nn_push(b, "mlp");
    nn_t y = dense ? hf_gated_mlp(b, x, m->inner, m->mlp_bias, m->moe.act)
                   : hf_mixture(b, x, &m->moe);
    if (!dense && m->shared > 0) {
        nn_t s = NN_UNDER(b, hf_gated_mlp(b, x, m->moe.inner * m->shared, m->mlp_bias, m->moe.act),
                          "shared_experts");
        y = nn_add(b, "add", y, s);
    }
    return nn_leave(b, y);
}

static void build(nn *b)
{
    hf_ignore(b);
    deepseek m = read_deepseek(b);
    lm_head head = lm_head_begin(b, "model", "lm_head", false);
    hf_text t = hf_text_input(b, true, 0);
    nn_t x = hf_embed(b, "embed_tokens", t.ids, m.vocab, m.width, &head.words);
    m.rope = hf_rope_make(&t, m.rope_dim, m.rope_dim, 1e4, true);
    m.rope.interleaved = !m.v3 || hf_bool((hf){b, NULL}, "rope_interleave", true);
    hf_mask(&t, 0);
    for (int i = 0; i < (int)m.layers && nn_ok(b); i++) {
        nn_push(b, "layers.%d", i);
        nn_t y = attention(b, &t, nn_rmsnorm(b, "input_layernorm", x, m.eps), &m, i);
        x = nn_add(b, "add_1", x, y);
        y = feed_forward(b, nn_rmsnorm(b, "post_attention_layernorm", x, m.eps), &m, i);
        x = nn_add(b, "add_2", x, y);
        nn_pop(b);
    }
    lm_head_end(b, nn_rmsnorm(b, "norm", x, m.eps), &head);
}

/* ---- rows ---- */

#define V2                                                                                       \
    "model_type=deepseek_v2 vocab_size=102400 hidden_size=4096 intermediate_size=11008 "         \
    "num_hidden_layers=32 num_attention_heads=32 max_position_embeddings=2048 kv_lora_rank=512 " \
    "q_lora_rank=1536 n_routed_experts=64 n_shared_experts=2 qk_nope_head_dim=128 "              \
    "qk_rope_head_dim=64 v_head_dim=128 moe_intermediate_size=1407"
#define V3                                                                                        \
    "model_type=deepseek_v3 vocab_size=129280 hidden_size=7168 intermediate_size=18432 "          \
    "moe_intermediate_size=2048 num_hidden_layers=61 num_attention_heads=128 n_shared_experts=1 " \
    "n_routed_experts=256 routed_scaling_factor=2.5 kv_lora_rank=512 q_lora_rank=1536 "           \
    "qk_rope_head_dim=64 v_head_dim=128 qk_nope_head_dim=128 n_group=8 topk_group=4 "             \
    "num_experts_per_tok=8 first_k_dense_replace=3 norm_topk_prob=true "                          \
    "max_position_embeddings=4096"
#define YARN                                                                              \
    " max_position_embeddings=163840 rope_scaling.rope_type=yarn rope_scaling.factor=40 " \
    "rope_scaling.original_max_position_embeddings=4096 "
#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "language", build, set)

static const zoo_row rows[] = {
    ROW("deepseek-v2-lite", NULL, "deepseek_v2",
        V2 YARN "rope_scaling.mscale=0.707 rope_scaling.mscale_all_dim=0.707 hidden_size=2048 "
                "intermediate_size=10944 num_hidden_layers=27 num_attention_heads=16 "
                "q_lora_rank=null first_k_dense_replace=1 moe_intermediate_size=1408 "
                "num_experts_per_tok=6" ZOO_BF16),
    ROW("deepseek-v2", NULL, "deepseek_v2",
        V2 YARN "rope_scaling.mscale=0.707 rope_scaling.mscale_all_dim=0.707 hidden_size=5120 "
                "intermediate_size=12288 num_hidden_layers=60 num_attention_heads=128 "
                "first_k_dense_replace=1 moe_intermediate_size=1536 n_routed_experts=160 "
                "num_experts_per_tok=6 n_group=8 topk_group=3 topk_method=group_limited_greedy "
                "routed_scaling_factor=16" ZOO_BF16),
    ROW("deepseek-v3", "deepseek-r1 deepseek-v3-0324", "deepseek_v3",
        V3 YARN "rope_scaling.mscale=1 rope_scaling.mscale_all_dim=1 "
                "quantization_config.quant_method=fp8" ZOO_BF16),
};
const zoo_rows zoo_deepseek_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("deepseek_v2", NULL, "deepseek_v2", V2),
    ROW("deepseek_v3", NULL, "deepseek_v3", V3),
};
const zoo_rows zoo_deepseek_families = ZOO_ROWS(families);
