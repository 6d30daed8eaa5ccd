/* ATen operators that real programs use seldom, most of them of core ATen: several ONNX operators each; see aten.h. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "formats/aten/aten.h"

/* ---- element by element ---- */

/* Towards zero: sign(x) * floor(|x|). */
bool aten_trunc(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE)
        return false;
    if (!ir_is_float(aten_dtype(c, 0)))
        return aten_same(c);
    ir_id sign = aten_step(c, "Sign", &x, 1, NULL), size = aten_step(c, "Abs", &x, 1, NULL);
    return aten_node2(c, "Mul", sign, aten_step(c, "Floor", &size, 1, NULL));
}

bool aten_erfc(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    return x != IR_NONE && aten_node2(c, "Sub", aten_like(c, 1, aten_dtype(c, 0)),
                                      aten_step(c, "Erf", &x, 1, NULL));
}

bool aten_isfinite(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || !ir_is_float(aten_dtype(c, 0)))
        return false;
    ir_id inf = aten_step(c, "IsInf", &x, 1, NULL), nan = aten_step(c, "IsNaN", &x, 1, NULL);
    ir_id either = aten_step2(c, "Or", inf, nan);
    return aten_node(c, "Not", &either, 1, NULL);
}

static ir_id choose(aten_call *c, ir_id when, ir_id yes, ir_id no)
{
    const ir_id in[] = {when, yes, no};
    return aten_step(c, "Where", in, 3, NULL);
}

/* atan(y / x), and half a turn more where x < 0, in the direction of y; 0 for two zeros. */
bool aten_atan2(aten_call *c)
{
    ir_id in[2];
    ir_dtype t = aten_promote(c, 0, 1, in);
    if (in[0] == IR_NONE || in[1] == IR_NONE || !ir_is_float(t))
        return false;
    const double pi = 3.14159265358979323846;
    ir_id zero = aten_like(c, 0, t), up = aten_like(c, pi, t), down = aten_like(c, -pi, t);
    ir_id ratio = aten_step2(c, "Div", in[0], in[1]);
    ir_id none = aten_step2(c, "Equal", in[0], zero);
    ratio = choose(c, none, zero, ratio);
    ir_id angle = aten_step(c, "Atan", &ratio, 1, NULL);
    ir_id below = aten_step2(c, "Less", in[0], zero);
    ir_id turn = choose(c, below, down, up);
    ir_id left = aten_step2(c, "Less", in[1], zero);
    return aten_node2(c, "Add", angle, choose(c, left, turn, zero));
}

/* ---- parts and places ---- */

/* tensor_split(x, sections or indices, dim): sizes that differ by one at most, or the ends of the parts. */
bool aten_tensor_split(aten_call *c)
{
    int64_t axis, at[LAYER_LIST], sizes[LAYER_LIST], before = 0;
    ir_id x = aten_tensor(c, 0);
    int n = aten_ints(c, 1, at);
    if (x == IR_NONE || n < 1 || aten_rank(c, 0) < 1 || !aten_axis(c, 0, aten_int(c, 2, 0), &axis))
        return false;
    int64_t all = aten_info(c->t, x)->dims[axis];
    bool ends = c->arg[1].kind == ATEN_LIST;
    int64_t wanted = ends ? n + 1 : at[0];
    int parts = (int)wanted;
    if (all < 0 || wanted < 1 || wanted > LAYER_LIST)
        return false;
    for (int i = 0; i < parts; i++) {
        int64_t end = i == parts - 1 ? all : ends ? at[i] + (at[i] < 0 ? all : 0) : 0;
        end = end > all ? all : end < before ? before : end;
        sizes[i] = ends ? end - before : all / parts + (i < all % parts);
        before = end;
    }
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    ir_id in[] = {x, layer_ints(&c->l, "split", sizes, parts)};
    c->t->fixed = true;
    return aten_outs(c, (uint32_t)parts) &&
           layer_node(&c->l, NULL, "Split", in, 2, attrs) != IR_NONE;
}

/* as_strided(x, size, stride, offset): where all elements stay in their order, and only axes of size 1 come or go. Other
 * strides read memory that shapes do not tell. */
bool aten_as_strided(aten_call *c)
{
    int64_t size[LAYER_LIST], stride[LAYER_LIST], dense_stride = 1;
    int n = aten_ints(c, 1, size), at = 0;
    ir_id x = aten_tensor(c, 0);
    const op_info *info = x == IR_NONE ? NULL : aten_info(c->t, x);
    if (!info || n < 0 || info->rank < 0 || aten_int(c, 3, 0) != 0 || aten_ints(c, 2, stride) != n)
        return false;
    for (int d = n; d-- > 0;)
        if ((size[d] != 1 && stride[d] != dense_stride) ||
            !num_mul(dense_stride, size[d], &dense_stride))
            return false;
    for (int d = 0; d < info->rank; d++) {
        while (at < n && size[at] == 1)
            at++;
        if (info->dims[d] != 1 && (at == n || size[at++] != info->dims[d]))
            return false;
    }
    while (at < n && size[at] == 1)
        at++;
    return at == n && aten_out(c) != IR_NONE && layer_reshape(&c->l, x, size, n);
}

/* select_scatter(x, part, dim, index): a slice of one index. */
bool aten_select_scatter(aten_call *c)
{
    int64_t axis, index = aten_int(c, 3, 0);
    ir_id part = aten_tensor(c, 1);
    if (part == IR_NONE || index == INT64_MAX || aten_rank(c, 0) < 1 ||
        !aten_axis(c, 0, aten_int(c, 2, 0), &axis))
        return false;
    ir_id row = aten_step2(c, "Unsqueeze", part, layer_ints(&c->l, "axes", &axis, 1));
    c->arg[1] = aten_of_tensor(row);
    c->arg[4] = index == -1 ? aten_none() : aten_of_int(index + 1);
    return row != IR_NONE && aten_slice_scatter(c);
}

/* scatter_reduce(x, dim, index, src, reduce): the sum and the product with x. */
bool aten_scatter_reduce(aten_call *c)
{
    int64_t axis;
    bool sum = aten_is_text(c, 4, "sum"), product = aten_is_text(c, 4, "prod");
    ir_id in[] = {aten_tensor(c, 0), aten_tensor(c, 2), aten_tensor(c, 3)};
    if ((!sum && !product) || !aten_flag(c, 5, true) || in[0] == IR_NONE || in[1] == IR_NONE ||
        in[2] == IR_NONE || aten_rank(c, 0) < 1 || !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis),
                                  IR_SPEC_TEXT("reduction", sum ? "add" : "mul"), LAYER_END};
    return aten_node(c, "ScatterElements", in, 3, attrs);
}

/* index_put(x, indices, values, accumulate): a mask is Where, rows by number are ScatterND. */
bool aten_index_put(aten_call *c)
{
    ir_id list[8], x = aten_tensor(c, 0), v = aten_operand(c, 2, aten_dtype(c, 0));
    if (x == IR_NONE || v == IR_NONE || aten_tensors(c, 1, list, 8) != 1)
        return false;
    int rank = aten_rank(c, 0), of_index = aten_rank_of(c->t, list[0]);
    bool add = aten_flag(c, 3, false);
    if (aten_dtype_of(c->t, list[0]) == IR_BOOL) {
        const ir_id in[] = {list[0], v, x};
        return of_index == rank && !add && aten_rank_of(c->t, v) == 0 &&
               aten_node(c, "Where", in, 3, NULL);
    }
    if (of_index != 1 || aten_rank_of(c->t, v) != rank)
        return false;
    ir_id at = aten_step2(c, "Unsqueeze", aten_cast(c, list[0], IR_INT64),
                          layer_ints(&c->l, "axes", (const int64_t[]){1}, 1));
    const ir_id in[] = {x, at, v};
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("reduction", add ? "add" : "none"), LAYER_END};
    return aten_node(c, "ScatterND", in, 3, attrs);
}

/* Positions [n, rank]; ONNX has them as columns. */
bool aten_nonzero(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || aten_rank(c, 0) < 1)
        return false;
    ir_id found = aten_step(c, "NonZero", &x, 1, NULL);
    return aten_out(c) != IR_NONE && layer_transpose(&c->l, found, (const int64_t[]){1, 0}, 2);
}

/* ---- grids and distances ---- */

/* Equal steps from start to end, which are numbers. */
bool aten_linspace(aten_call *c)
{
    enum { MOST = 1 << 20 };
    double from, to;
    int64_t n = aten_int(c, 2, 0);
    if (!aten_number(&c->arg[0], &from) || !aten_number(&c->arg[1], &to) || n < 1 || n > MOST)
        return false;
    float *list = ARENA_ARRAY(c->t->a, float, (size_t)n);
    for (int64_t i = 0; list && i < n; i++)
        list[i] = (float)(n == 1 ? from : from + (to - from) * (double)i / (double)(n - 1));
    ir_id x = list ? foreign_floats(c->t->f, c->l.name, "steps", list, (uint32_t)n) : IR_NONE;
    c->result = aten_of_tensor(x);
    return x != IR_NONE;
}

/* meshgrid([a, b], indexing="ij"): each over all axes. */
bool aten_meshgrid(aten_call *c)
{
    ir_id list[8], shape[8];
    int n = aten_tensors(c, 0, list, 8);
    if (n < 1 || aten_is_text(c, 1, "xy") || !aten_outs(c, (uint32_t)n))
        return false;
    const ir_attr_spec join[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    for (int i = 0; i < n; i++)
        shape[i] = aten_step(c, "Shape", &list[i], 1, NULL);
    ir_id all = aten_step(c, "Concat", shape, (uint32_t)n, join);
    for (int i = 0; i < n; i++) {
        int64_t dims[8];
        for (int d = 0; d < n; d++)
            dims[d] = d == i ? -1 : 1;
        ir_id in[] = {layer_step_reshape(&c->l, list[i], dims, n), all};
        if (layer_into(&c->l, "Expand", in, 2, NULL, c->l.out[i]) == IR_NONE)
            return false;
    }
    return true;
}

/* cdist(a [.., P, M], b [.., R, M], p): norms of all differences. */
bool aten_cdist(aten_call *c)
{
    ir_id a = aten_tensor(c, 0), b = aten_tensor(c, 1);
    int rank = aten_rank(c, 0);
    double p = aten_float(c, 2, 2);
    if (a == IR_NONE || b == IR_NONE || rank < 2 || aten_rank(c, 1) != rank || (p != 1 && p != 2))
        return false;
    int64_t of_a = rank - 1, of_b = rank - 2, last = rank;
    a = aten_step2(c, "Unsqueeze", a, layer_ints(&c->l, "axes", &of_a, 1));
    b = aten_step2(c, "Unsqueeze", b, layer_ints(&c->l, "axes", &of_b, 1));
    ir_id way = aten_step2(c, "Sub", a, b);
    return aten_out(c) != IR_NONE &&
           layer_reduce(&c->l, p == 1 ? "ReduceL1" : "ReduceL2", way, &last, 1, false);
}

/* ---- attention, pooling and statistics with several results ---- */

/* _scaled_dot_product_flash_attention_for_cpu and its like: results beside the first serve the backward pass. */
bool aten_fused_attention(aten_call *c)
{
    bool masked = strcmp(c->row->op, "mask") == 0;
    aten_value causal = c->arg[masked ? 6 : 4], scale = c->arg[7];
    if (strcmp(c->row->op, "cpu") == 0) { /* q k v dropout causal mask scale */
        c->arg[3] = c->arg[5];
        scale = c->arg[6];
    } else if (!masked) { /* q k v dropout causal debug scale */
        c->arg[3] = aten_none();
        scale = c->arg[6];
    }
    c->arg[4] = aten_none();
    c->arg[5] = causal;
    c->arg[6] = scale;
    c->arg[7] = (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE};
    return aten_attention(c) && aten_first_of(c, c->wanted > 1 ? c->wanted : 2);
}

static ir_id dense(aten_call *c, ir_id x, int weight, int bias)
{
    ir_id w = layer_step_transpose(&c->l, aten_tensor(c, weight), (const int64_t[]){1, 0}, 2);
    ir_id y = aten_step2(c, "MatMul", x, w);
    return aten_tensor(c, bias) == IR_NONE ? y : aten_step2(c, "Add", y, aten_tensor(c, bias));
}

/* [N, L, E] to [N, heads, L, E / heads]. */
static ir_id by_heads(aten_call *c, ir_id x, int64_t heads)
{
    ir_id apart = layer_step_reshape(&c->l, x, (const int64_t[]){0, 0, heads, -1}, 4);
    return layer_step_transpose(&c->l, apart, (const int64_t[]){0, 2, 1, 3}, 4);
}

/* _native_multi_head_attention(q, k, v, width, heads, qkv weight and bias, output weight and bias, mask, ...): of one
 * value, without a mask. The second result, the weights of the attention, is not made. */
bool aten_self_attention(aten_call *c)
{
    ir_id x = aten_tensor(c, 0), part[3];
    int64_t width = aten_int(c, 3, 0), heads = aten_int(c, 4, 0);
    bool own = aten_tensor(c, 1) == x && aten_tensor(c, 2) == x && !aten_given(c, 9);
    if (x == IR_NONE || !own || aten_rank(c, 0) != 3 || heads < 1 || width < heads ||
        width > INT32_MAX || width % heads || aten_tensor(c, 5) == IR_NONE ||
        aten_tensor(c, 7) == IR_NONE)
        return false;
    ir_dtype t = aten_dtype(c, 0);
    ir_id all = dense(c, x, 5, 6);
    for (int i = 0; i < 3; i++) {
        const int64_t from = i * width, to = from + width, axis = 2;
        ir_id in[] = {all, layer_ints(&c->l, "from", &from, 1), layer_ints(&c->l, "to", &to, 1),
                      layer_ints(&c->l, "axes", &axis, 1)};
        part[i] = by_heads(c, aten_step(c, "Slice", in, 4, NULL), heads);
    }
    ir_id q = aten_step2(c, "Mul", part[0], aten_like(c, 1 / sqrt((double)(width / heads)), t));
    ir_id k = layer_step_transpose(&c->l, part[1], (const int64_t[]){0, 1, 3, 2}, 4);
    ir_id scores = aten_step2(c, "MatMul", q, k);
    const ir_attr_spec last[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    ir_id y = aten_step2(c, "MatMul", aten_step(c, "Softmax", &scores, 1, last), part[2]);
    y = layer_step_transpose(&c->l, y, (const int64_t[]){0, 2, 1, 3}, 4);
    y = layer_step_reshape(&c->l, y, (const int64_t[]){0, 0, -1}, 3);
    y = dense(c, y, 7, 8);
    return aten_node(c, "Identity", &y, 1, NULL) && aten_first_of(c, 2);
}

/* The largest of each part; the second result are places, which nothing but unpooling reads. */
bool aten_adaptive_max_pool(aten_call *c)
{
    return aten_adaptive_pool(c) && aten_first_of(c, 2);
}

/* pixel_unshuffle(x, r) is SpaceToDepth with channels first: [N,C,H/r,r,W/r,r] to [N,C,r,r,H/r,W/r]. */
bool aten_unshuffle(aten_call *c)
{
    int64_t r = aten_int(c, 1, 0), channels;
    ir_id x = aten_tensor(c, 0);
    const op_info *info = x == IR_NONE ? NULL : aten_info(c->t, x);
    if (!info || info->rank != 4 || r < 1 || r > INT16_MAX)
        return false;
    const int64_t n = info->dims[0], ch = info->dims[1], h = info->dims[2], w = info->dims[3];
    if (n < 0 || ch < 0 || h < 0 || w < 0 || h % r || w % r || !num_mul(ch, r * r, &channels))
        return false;
    const int64_t apart[] = {n, ch, h / r, r, w / r, r}, perm[] = {0, 1, 3, 5, 2, 4},
                  joined[] = {n, channels, h / r, w / r};
    ir_id y = layer_step_reshape(&c->l, x, apart, 6);
    y = layer_step_transpose(&c->l, y, perm, 6);
    c->t->fixed = true;
    return aten_out(c) != IR_NONE && layer_reshape(&c->l, y, joined, 4);
}
