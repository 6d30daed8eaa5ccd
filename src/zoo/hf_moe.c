/* Mixtures of experts: a router, and for every token the weights of the experts that it chose.
 *
 *   scores [T, E] -> TopK -> chosen [T, k] -> Gather of the stacked weights [T, k, H, I] -> MatMul
 *
 * T tokens, E experts, k active. A served model sorts tokens by expert instead; products and
 * parameters are the same.
 */
#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"

typedef struct choice {
    nn_t weights, index; /* [T, k] */
} choice;

/* The k best of each row, with their places. */
static choice top(nn *b, const char *name, nn_t x, int64_t k)
{
    nn_t out[2] = {x, x};
    int last = x.rank - 1;
    out[0].d[last] = out[1].d[last] = k;
    out[1].dtype = IR_INT64;
    const nn_t in[] = {x, nn_ints_const(b, arena_printf(b->scratch, "%s.k", name), 1, &k)};
    nn_emit(b, &(nn_call){.op = "TopK", .name = name, .in = in, .n_in = 2, .out = out, .n_out = 2});
    return (choice){out[0], out[1]};
}

static nn_t sum(nn *b, const char *name, nn_t x, int axis, bool keep)
{
    nn_t out = x;
    out.rank -= !keep;
    for (int i = axis; !keep && i < out.rank; i++)
        out.d[i] = x.d[i + 1];
    if (keep)
        out.d[axis] = 1;
    const nn_t in[] = {
        x, nn_ints_const(b, arena_printf(b->scratch, "%s.axes", name), 1, &(int64_t){axis})};
    return nn_one(b, "ReduceSum", name, 2, in, out, 1, &NN_INT("keepdims", keep));
}

static nn_t at_chosen(nn *b, const char *name, nn_t x, nn_t index)
{
    nn_t out = index;
    out.dtype = x.dtype;
    return nn_one(b, "GatherElements", name, 2, (const nn_t[]){x, index}, out, 1,
                  &NN_INT("axis", 1));
}

/* Scores of experts outside the best groups become 0; a group is as good as its two best experts
 * (V3), or its best (V2). */
static nn_t best_groups(nn *b, nn_t scores, const hf_moe *m)
{
    int64_t n = scores.d[0], each = m->experts / m->groups;
    nn_t x = nn_reshape(b, "groups", scores, 3, (const int64_t[]){n, m->groups, each});
    nn_t worth = top(b, "group_top", x, m->sigmoid && each > 1 ? 2 : 1).weights;
    worth = sum(b, "group_scores", worth, 2, false);
    choice best = top(b, "group_choice", worth, m->top_groups);
    nn_t none = nn_table(b, "group_none", IR_FLOAT32, 2, (const int64_t[]){n, m->groups});
    nn_t ones = nn_expand(b, "group_ones", nn_float_const(b, "group_one", 1.0), 2, best.index.d);
    nn_t mask = nn_one(b, "ScatterElements", "group_mask", 3,
                       (const nn_t[]){none, best.index, ones}, none, 1, &NN_INT("axis", 1));
    x = nn_mul(b, "group_scores_for_choice", x, nn_unsqueeze(b, "group_mask/unsqueeze", mask, 2));
    return nn_reshape(b, "scores_for_choice", x, 2, (const int64_t[]){n, m->experts});
}

static nn_t normalized(nn *b, nn_t weights)
{
    return nn_binary(b, "Div", "normalized", weights, sum(b, "weight_sum", weights, 1, true));
}

static choice route(nn *b, nn_t x, const hf_moe *m)
{
    choice c;
    nn_t logits = nn_linear(b, m->router, x, m->experts, m->router_bias);
    if (m->softmax_last) {
        c = top(b, "topk", logits, m->active);
        c.weights = nn_softmax(b, "topk/softmax", c.weights, -1);
        return c;
    }
    nn_t scores = m->sigmoid ? nn_act(b, "Sigmoid", "scores", logits)
                             : nn_softmax(b, "scores", logits, -1);
    nn_t by = scores;
    if (m->sigmoid) {
        const char *name = arena_printf(b->scratch, "%s.e_score_correction_bias", m->router);
        by = nn_add(b, "corrected", scores, nn_buffer(b, name, 1, &m->experts));
    }
    if (m->groups > 1)
        by = best_groups(b, by, m);
    c = top(b, "topk", by, m->active);
    if (m->sigmoid)
        c.weights = at_chosen(b, "topk_weights", scores, c.index);
    if (m->normalize)
        c.weights = normalized(b, c.weights);
    if (m->scale != 0.0 && m->scale != 1.0)
        c.weights = nn_scale(b, "topk_scale", c.weights, m->scale);
    return c;
}

/* x [T, k or 1, 1, in] times the chosen experts' weights. */
static nn_t expert_linear(nn *b, const char *name, nn_t x, nn_t index, int64_t experts,
                          int64_t out_features, bool bias)
{
    int64_t in_features = x.d[3];
    nn_t w = nn_param(b, name, 3, (const int64_t[]){experts, in_features, out_features});
    if (w.id != IR_NONE && strchr(name, '*'))
        ir_value_at(b->model, w.id)->flags |= IR_VALUE_TRANSPOSED;
    w = nn_gather(b, arena_printf(b->scratch, "%s/gather", name), w, index, 0);
    x = nn_matmul(b, arena_printf(b->scratch, "%s/matmul", name), x, w);
    if (!bias)
        return x;
    const char *called = arena_printf(b->scratch, "%s_bias", name);
    nn_t v = nn_param(b, called, 2, (const int64_t[]){experts, out_features});
    v = nn_gather(b, arena_printf(b->scratch, "%s/gather", called), v, index, 0);
    v = nn_unsqueeze(b, arena_printf(b->scratch, "%s/unsqueeze", called), v, 2);
    return nn_add(b, arena_printf(b->scratch, "%s/add", called), x, v);
}

static nn_t clamp(nn *b, const char *name, nn_t x, bool below)
{
    nn_t in[3] = {x, NN_ABSENT, nn_float_const(b, arena_printf(b->scratch, "%s.max", name), 7.0)};
    if (below)
        in[1] = nn_float_const(b, arena_printf(b->scratch, "%s.min", name), -7.0);
    return nn_one(b, "Clip", name, 3, in, x, 0, NULL);
}

/* gpt-oss: (up + 1) * gate * sigmoid(1.702 gate), both clamped, every second feature being `up`. */
static nn_t interleaved_glu(nn *b, nn_t x)
{
    int64_t n = x.d[3];
    nn_t gate = clamp(b, "gate/clamp", nn_slice_step(b, "gate", x, 3, 0, n, 2), false);
    nn_t up = clamp(b, "up/clamp", nn_slice_step(b, "up", x, 3, 1, n, 2), true);
    gate = nn_one(b, "Swish", "glu", 1, &gate, gate, 1, &NN_FLOAT("alpha", 1.702));
    return nn_mul(b, "mul", nn_add(b, "up/add", up, nn_float_const(b, "up.one", 1.0)), gate);
}

static nn_t experts(nn *b, nn_t x, nn_t index, const hf_moe *m)
{
    int64_t width = x.d[3];
    if (m->interleaved) {
        x = expert_linear(b, m->gate, x, index, m->experts, 2 * m->inner, true);
        x = interleaved_glu(b, x);
    } else {
        nn_t gate = expert_linear(b, m->gate, x, index, m->experts, m->inner, false);
        nn_t up = expert_linear(b, m->up, x, index, m->experts, m->inner, false);
        x = nn_mul(b, "experts/mul", hf_act(b, "experts/act_fn", gate, m->act), up);
    }
    return expert_linear(b, m->down, x, index, m->experts, width, m->interleaved);
}

static bool fits(nn *b, const hf_moe *m)
{
    bool ok = m->active <= m->experts && m->groups >= 0 &&
              (m->groups <= 1 ||
               (m->experts % m->groups == 0 && m->top_groups >= 1 && m->top_groups <= m->groups));
    if (!ok)
        nn_fail(b, "cannot choose %lld of %lld experts in %lld groups", (long long)m->active,
                (long long)m->experts, (long long)m->groups);
    return nn_ok(b);
}

nn_t hf_mixture(nn *b, nn_t x, const hf_moe *m)
{
    if (!fits(b, m))
        return nn_harmless(x);
    int64_t n = x.d[0] * x.d[1], width = x.d[2];
    nn_t rows = nn_reshape(b, "tokens", x, 2, (const int64_t[]){n, width});
    choice c = route(b, rows, m);
    nn_t y = nn_reshape(b, "tokens/unsqueeze", rows, 4, (const int64_t[]){n, 1, 1, width});
    y = experts(b, y, c.index, m);
    y = nn_reshape(b, "experts/reshape", y, 3, (const int64_t[]){n, m->active, width});
    y = nn_mul(b, "experts/weighted", y, nn_unsqueeze(b, "topk/unsqueeze", c.weights, 2));
    y = sum(b, "experts/sum", y, 1, false);
    return nn_reshape(b, "experts/tokens", y, 3, (const int64_t[]){x.d[0], x.d[1], width});
}
