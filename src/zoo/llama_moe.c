/* The second half of a Llama-like layer: a gated MLP, or experts as Mixtral, Qwen and gpt-oss have
 * them. */
#include "zoo/llama.h"

static int64_t active(nn *b, int64_t def)
{
    return hf_int((hf){b, NULL}, "num_experts_per_tok|experts_per_token", def, 1, HF_WIDTH);
}

static nn_t mixtral(nn *b, nn_t x, const lm *m)
{
    hf_moe e = {.experts = hf_int((hf){b, NULL}, "num_local_experts|num_experts", 8, 1, HF_HEADS),
                .active = active(b, 2),
                .inner = m->inner,
                .router = "gate",
                .gate = "experts.*.w1.weight",
                .up = "experts.*.w3.weight",
                .down = "experts.*.w2.weight",
                .normalize = true,
                .act = m->act};
    return NN_UNDER(b, hf_mixture(b, x, &e), "block_sparse_moe");
}

static nn_t gpt_oss(nn *b, nn_t x, const lm *m)
{
    hf_moe e = {.experts = hf_int((hf){b, NULL}, "num_local_experts|num_experts", 128, 1, HF_HEADS),
                .active = active(b, 4),
                .inner = m->inner,
                .router = "router",
                .gate = "experts.gate_up_proj",
                .down = "experts.down_proj",
                .router_bias = true,
                .softmax_last = true,
                .interleaved = true};
    return NN_UNDER(b, hf_mixture(b, x, &e), "mlp");
}

static nn_t gated_mlp(nn *b, nn_t x, int64_t inner, const lm *m)
{
    nn_t parts[2];
    if (m->is->mlp == LM_GATED)
        return hf_gated_mlp(b, x, inner, m->mlp_bias, m->act);
    if (m->is->mlp == LM_PLAIN) {
        x = hf_act(b, "act", nn_linear(b, m->is->up, x, inner, m->mlp_bias), m->act);
        return nn_linear(b, m->is->down, x, m->width, m->mlp_bias);
    }
    nn_split(b, "chunk", nn_linear(b, "gate_up_proj", x, 2 * inner, false), 2, 2, parts);
    x = nn_mul(b, "mul", parts[1], hf_act(b, "activation_fn", parts[0], m->act));
    return nn_linear(b, "down_proj", x, m->width, false);
}

/* Qwen 2 adds one expert that all tokens take, as much as a separate gate lets through. */
static nn_t shared_expert(nn *b, nn_t x, nn_t y, const lm *m)
{
    int64_t inner = hf_int((hf){b, NULL}, "shared_expert_intermediate_size", 5632, 1,
                           4 * (int64_t)HF_WIDTH);
    nn_t s = NN_UNDER(b, hf_gated_mlp(b, x, inner, false, m->act), "shared_expert");
    nn_t gate = nn_act(b, "Sigmoid", "sigmoid", nn_linear(b, "shared_expert_gate", x, 1, false));
    return nn_add(b, "add", y, nn_mul(b, "shared", gate, s));
}

static nn_t qwen(nn *b, nn_t x, const lm *m)
{
    hf c = {b, NULL};
    bool olmo = m->is->experts == LM_OLMOE;
    hf_moe e = {.experts = hf_int(c, "num_experts|num_local_experts", 60, 1, HF_HEADS),
                .active = active(b, 4),
                .inner = olmo ? m->inner : hf_int(c, "moe_intermediate_size", 1408, 1, HF_WIDTH),
                .router = "gate",
                .gate = "experts.*.gate_proj.weight",
                .up = "experts.*.up_proj.weight",
                .down = "experts.*.down_proj.weight",
                .normalize = hf_bool(c, "norm_topk_prob", false),
                .act = m->act};
    nn_push(b, "mlp");
    nn_t y = hf_mixture(b, x, &e);
    if (m->is->shared)
        y = shared_expert(b, x, y, m);
    return nn_leave(b, y);
}

static bool is_sparse(nn *b, int64_t i)
{
    hf c = {b, NULL};
    const json_value *dense = hf_raw(c, "mlp_only_layers");
    int64_t step = hf_int(c, "decoder_sparse_step", 1, 1, HF_LAYERS);
    for (uint32_t k = 0; dense && dense->kind == JSON_LIST && k < dense->n; k++)
        if (dense->items[k].kind == JSON_INT && dense->items[k].i == i)
            return false;
    return hf_int(c, "num_experts|num_local_experts", 60, 0, HF_HEADS) > 0 && (i + 1) % step == 0;
}

nn_t lm_feed_forward(nn *b, nn_t x, const lm *m, int64_t i)
{
    if (m->is->experts == LM_MIXTRAL)
        return mixtral(b, x, m);
    if (m->is->experts == LM_GPT_OSS)
        return gpt_oss(b, x, m);
    if (m->is->experts == LM_OLMOE || (m->is->experts == LM_QWEN_MOE && is_sparse(b, i)))
        return qwen(b, x, m);
    return NN_UNDER(b, gated_mlp(b, x, m->inner, m), "mlp");
}
