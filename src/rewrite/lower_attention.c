/* Attention and rotary position embedding as matrix products and elementwise operators.
 *
 *     Y = softmax(softcap(scale Q K^T) + mask) V
 *
 * Q [B, Hq, Sq, d], K [B, Hkv, Sk, d], V [B, Hkv, Sk, dv], or packed [B, S, H d]. Heads of K and V that
 * several query heads share are repeated. The causal mask is made by comparing positions, so that it
 * takes Sq + Sk numbers in the file and not Sq Sk.
 */
#include <math.h>
#include <stdio.h>

#include "rewrite/lower_impl.h"

enum { Q, K, V, MASK, PAST_K, PAST_V, NONPAD };

/* ---- streams ---- */

/* [B, S, H*D] to [B, S, H, D]; what has four dims already stays. */
static ir_t as_heads(lowering *x, const char *part, ir_t in, const char *heads_attr)
{
    int64_t heads = low_int(x, heads_attr, 0);
    if (x->status != ASSAY_OK || in.rank == 4)
        return in;
    if (in.rank != 3 || heads < 1 || in.d[2] % heads) {
        low_fail(x, "its input cannot be split into heads");
        return in;
    }
    const int64_t dims[] = {in.d[0], in.d[1], heads, in.d[2] / heads};
    return low_reshape(x, part, in, 4, dims);
}

/* [B, S, H d] becomes [B, H, S, d]. */
static ir_t unpack(lowering *x, uint32_t i, const char *heads_attr, const char *part)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    char name[32];
    ir_t in = low_input(x, i);
    snprintf(name, sizeof name, "%s_heads", part);
    ir_t split = as_heads(x, name, in, heads_attr);
    return split.id == in.id ? in : low_transpose(x, part, split, perm);
}

/* What came before stands first; the whole is an output when somebody asks for it. */
static ir_t with_past(lowering *x, uint32_t past, uint32_t present, const char *part, ir_t now)
{
    bool wanted = present < x->node.n_outputs && x->node.outputs[present] != IR_NONE;
    if (x->status != ASSAY_OK || (!low_has(x, past) && !wanted))
        return now;
    if (wanted)
        low_into(x, present);
    if (!low_has(x, past))
        return low_unary(x, "Identity", part, now);
    return low_concat(x, part, 2, (const ir_t[]){low_input(x, past), now}, 2);
}

/* [B, Hkv, S, d] becomes [B, Hkv r, S, d], each head r times in a row. */
static ir_t repeat_heads(lowering *x, const char *part, ir_t in, int64_t heads)
{
    char group[32], expand[32], shape[40];
    if (x->status != ASSAY_OK || in.d[1] == heads)
        return in;
    if (in.d[1] < 1 || heads % in.d[1]) {
        low_fail(x, "its query heads are not a multiple of its key and value heads");
        return in;
    }
    const int64_t wide[] = {in.d[0], in.d[1], heads / in.d[1], in.d[2], in.d[3]};
    const int64_t dims[] = {in.d[0], heads, in.d[2], in.d[3]};
    snprintf(group, sizeof group, "%s_group", part);
    snprintf(expand, sizeof expand, "%s_expand", part);
    snprintf(shape, sizeof shape, "%s_expand.shape", part);
    ir_t t = low_unsqueeze(x, group, in, 2), out = t;
    out.d[2] = wide[2];
    t = low_node(x, "Expand", expand, 2, (const ir_t[]){t, low_ints_const(x, shape, 5, wide)}, out,
                 0, NULL);
    return low_reshape(x, part, t, 4, dims);
}

/* ---- masks ---- */

static ir_t closed(lowering *x, ir_dtype t, const char *part)
{
    return low_float_const(x, part, t, -1, -INFINITY);
}

static ir_t where(lowering *x, const char *part, ir_t cond, ir_t yes, ir_t no, ir_t shape)
{
    return low_node(x, "Where", part, 3, (const ir_t[]){cond, yes, no}, shape, 0, NULL);
}

static ir_t positions(lowering *x, const char *part, int64_t n, int64_t first, bool column)
{
    ir_t none = {.id = IR_NONE};
    char shape[40];
    if (n > 1 << 22) {
        low_fail(x, "its sequence is too long");
        return none;
    }
    int64_t *list = ARENA_ARRAY(x->scratch, int64_t, (size_t)n + 1);
    for (int64_t i = 0; list && i < n; i++)
        list[i] = first + i;
    if (!list)
        low_fail(x, "out of memory");
    ir_t t = list ? low_ints_const(x, part, (int)n, list) : none;
    if (!column)
        return t;
    snprintf(shape, sizeof shape, "%s_column", part);
    return low_reshape(x, shape, t, 2, (const int64_t[]){n, 1});
}

/* A key that follows the query is closed. */
static ir_t causal(lowering *x, ir_t scores)
{
    int64_t past = low_has(x, PAST_K) ? low_input(x, PAST_K).d[2] : 0;
    ir_t keys = positions(x, "keys", scores.d[3], 0, false);
    ir_t queries = positions(x, "queries", scores.d[2], past, true);
    ir_t later = {.dtype = IR_BOOL, .rank = 2, .d = {scores.d[2], scores.d[3]}};
    later = low_node(x, "Greater", "later", 2, (const ir_t[]){keys, queries}, later, 0, NULL);
    ir_t out = closed(x, scores.dtype, "closed");
    return where(x, "causal", later, out, scores, scores);
}

static ir_t masked(lowering *x, ir_t scores)
{
    ir_t mask = low_has(x, MASK) ? low_input(x, MASK) : (ir_t){.id = IR_NONE};
    if (mask.id != IR_NONE && mask.d[mask.rank - 1] != scores.d[3])
        low_fail(x, "its mask is shorter than its keys");
    if (mask.id != IR_NONE && mask.dtype == IR_BOOL)
        scores = where(x, "mask", mask, scores, closed(x, scores.dtype, "masked"), scores);
    else if (mask.id != IR_NONE)
        scores = low_node(x, "Add", "mask", 2, (const ir_t[]){scores, mask}, scores, 0, NULL);
    return low_int(x, "is_causal", 0) ? causal(x, scores) : scores;
}

static ir_t softcapped(lowering *x, ir_t scores)
{
    double cap = low_float(x, "softcap", 0.0);
    if (cap == 0.0)
        return scores;
    ir_t t = low_scalar(x, "Div", "softcap_in", scores, cap);
    return low_scalar(x, "Mul", "softcap", low_unary(x, "Tanh", "softcap_tanh", t), cap);
}

/* ---- attention ---- */

static ir_t scores_of(lowering *x, ir_t q, ir_t k)
{
    static const int64_t perm[] = {0, 1, 3, 2};
    double scale = low_float(x, "scale", 0.0);
    scale = scale != 0.0 ? scale : 1.0 / sqrt((double)q.d[3]);
    q = low_scalar(x, "Mul", "scale", q, scale);
    ir_t t = low_matmul(x, "scores", q, low_transpose(x, "keys_transposed", k, perm));
    return masked(x, softcapped(x, t));
}

/* Lengths of the keys came with 24. */
assay_status lower_attention_24(lowering *x)
{
    return low_has(x, NONPAD) ? low_fail(x, "its key lengths are an input") : ASSAY_OK;
}

assay_status lower_attention(lowering *x)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    bool packed = low_input(x, Q).rank == 3;
    ir_t q = unpack(x, Q, "q_num_heads", "q"), k = unpack(x, K, "kv_num_heads", "k");
    ir_t v = unpack(x, V, "kv_num_heads", "v");
    if (x->node.n_outputs > 3 && x->node.outputs[3] != IR_NONE)
        return low_fail(x, "its scores are an output");
    k = with_past(x, PAST_K, 1, "present_k", k);
    v = with_past(x, PAST_V, 2, "present_v", v);
    k = repeat_heads(x, "k_repeated", k, q.d[1]);
    v = repeat_heads(x, "v_repeated", v, q.d[1]);
    if (x->status == ASSAY_OK && (q.d[3] != k.d[3] || k.d[2] != v.d[2] || q.d[0] != k.d[0]))
        return low_fail(x, "the shapes of its queries, keys and values do not match");
    if (x->status != ASSAY_OK)
        return x->status;
    ir_t scores = scores_of(x, q, k);
    ir_t weights = low_node(x, "Softmax", "softmax", 1, &scores, scores, 1,
                            &IR_SPEC_INT("axis", 3));
    if (!packed)
        low_into(x, 0);
    ir_t y = low_matmul(x, "values", weights, v);
    if (!packed)
        return x->status;
    y = low_transpose(x, "rows", y, perm);
    low_into(x, 0);
    low_reshape(x, "packed", y, 3, (const int64_t[]){y.d[0], y.d[1], y.d[2] * y.d[3]});
    return x->status;
}

/* ---- rotary position embedding ---- */

/* cos or sin for every token, as [B, S, 1, r/2] or [B, 1, S, r/2]. */
static ir_t cache(lowering *x, uint32_t i, const char *part, int heads_axis)
{
    char name[40];
    ir_t t = low_input(x, i);
    if (low_has(x, 3) && x->status == ASSAY_OK) {
        ir_t at = low_input(x, 3), out = at;
        snprintf(name, sizeof name, "%s_rows", part);
        out.dtype = t.dtype;
        out.d[out.rank++] = t.d[1];
        t = low_node(x, "Gather", name, 2, (const ir_t[]){t, at}, out, 1, &IR_SPEC_INT("axis", 0));
    }
    return x->status == ASSAY_OK ? low_unsqueeze(x, part, t, heads_axis) : t;
}

typedef struct halves {
    ir_t a, b;
} halves;

static halves rotate(lowering *x, halves h, ir_t cos, ir_t sin)
{
    ir_t ac = low_binary(x, "Mul", "a_cos", h.a, cos), bs = low_binary(x, "Mul", "b_sin", h.b, sin);
    ir_t as = low_binary(x, "Mul", "a_sin", h.a, sin), bc = low_binary(x, "Mul", "b_cos", h.b, cos);
    return (halves){low_binary(x, "Sub", "real", ac, bs), low_binary(x, "Add", "imag", as, bc)};
}

/* Pairs lie side by side (interleaved) or a half apart. */
static halves take_halves(lowering *x, ir_t in, int64_t n, bool interleaved)
{
    if (interleaved)
        return (halves){low_slice(x, "even", in, 3, 0, n, 2), low_slice(x, "odd", in, 3, 1, n, 2)};
    return (halves){low_slice(x, "first", in, 3, 0, n / 2, 1),
                    low_slice(x, "second", in, 3, n / 2, n, 1)};
}

static ir_t join_halves(lowering *x, halves h, bool interleaved)
{
    ir_t parts[] = {h.a, h.b};
    if (!interleaved)
        return low_concat(x, "rotated", 2, parts, 3);
    parts[0] = low_unsqueeze(x, "real_pairs", h.a, 4);
    parts[1] = low_unsqueeze(x, "imag_pairs", h.b, 4);
    const int64_t dims[] = {h.a.d[0], h.a.d[1], h.a.d[2], 2 * h.a.d[3]};
    return low_reshape(x, "rotated", low_concat(x, "pairs", 2, parts, 4), 4, dims);
}

assay_status lower_rotary(lowering *x)
{
    ir_t in = low_input(x, 0), y;
    int axis = in.rank == 4 ? 1 : 2;
    bool interleaved = low_int(x, "interleaved", 0) != 0;
    ir_t t = as_heads(x, "heads", in, "num_heads"), cos = cache(x, 1, "cos", axis),
         sin = cache(x, 2, "sin", axis);
    if (x->status != ASSAY_OK)
        return x->status;
    int64_t n = low_int(x, "rotary_embedding_dim", 0);
    n = n > 0 && n < t.d[3] ? n : t.d[3];
    y = join_halves(x, rotate(x, take_halves(x, t, n, interleaved), cos, sin), interleaved);
    if (n < t.d[3])
        y = low_concat(x, "whole", 2, (const ir_t[]){y, low_slice(x, "rest", t, 3, n, t.d[3], 1)},
                       3);
    low_into(x, 0);
    low_reshape(x, "out", y, in.rank, in.d);
    return x->status;
}
