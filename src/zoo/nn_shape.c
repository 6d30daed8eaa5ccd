/* Moving data: reshape, transpose, concat, split, slice, pad, gather, resize. */
#include "base/num.h"
#include "zoo/nn_impl.h"

static nn_t ints(nn *b, const char *layer, const char *what, int n, const int64_t *values)
{
    return nn_ints_const(b, arena_printf(b->scratch, "%s.%s", layer, what), n, values);
}

static nn_t refuse(nn *b, const char *op, const char *name, nn_t x)
{
    if (!b->failed)
        nn_fail(b, "layer '%s' (%s) does not accept %s", nn_full_name(b, name).p, op,
                nn_dims_text(b, x));
    return nn_harmless(x);
}

static int axis_of(nn_t x, int axis)
{
    return axis < 0 ? axis + x.rank : axis;
}

static bool has_axis(nn_t x, int axis)
{
    return axis >= 0 && axis < x.rank;
}

static nn_t split_shape(nn_t x, int rank, const int64_t *dims)
{
    nn_t out = nn_shape(x.dtype, rank, dims);
    int64_t rest = nn_elems(x), open = -1;
    for (int i = 0; i < out.rank; i++) {
        if (out.d[i] == -1)
            open = i;
        else if (out.d[i] > 0)
            rest /= out.d[i];
    }
    if (open >= 0)
        out.d[open] = rest;
    return out;
}

nn_t nn_reshape(nn *b, const char *name, nn_t x, int rank, const int64_t *dims)
{
    nn_t out = split_shape(x, rank, dims);
    if (b->failed || rank > NN_RANK || nn_elems(out) != nn_elems(x))
        return refuse(b, "Reshape", name, b->failed ? out : x);
    const nn_t in[] = {x, ints(b, name, "shape", out.rank, out.d)};
    return nn_one(b, "Reshape", name, 2, in, out, 0, NULL);
}

nn_t nn_transpose(nn *b, const char *name, nn_t x, const int64_t *perm)
{
    nn_t out = x;
    for (int i = 0; i < x.rank; i++) {
        if (perm[i] < 0 || perm[i] >= x.rank)
            return refuse(b, "Transpose", name, x);
        out.d[i] = x.d[perm[i]];
    }
    return nn_one(b, "Transpose", name, 1, &x, out, 1, &NN_LIST("perm", x.rank, perm));
}

/* torch.flatten(x, axis): the dims before stay as they are. */
nn_t nn_flatten(nn *b, const char *name, nn_t x, int axis)
{
    axis = axis_of(x, axis);
    if (!has_axis(x, axis))
        return refuse(b, "Flatten", name, x);
    nn_t out = x, tail = x;
    tail.rank = x.rank - axis;
    for (int i = 0; i < tail.rank; i++)
        tail.d[i] = x.d[axis + i];
    out.rank = axis + 1;
    out.d[axis] = nn_elems(tail);
    if (axis == 1)
        return nn_one(b, "Flatten", name, 1, &x, out, 1, &NN_INT("axis", 1));
    return nn_reshape(b, name, x, out.rank, out.d);
}

nn_t nn_concat(nn *b, const char *name, int n, const nn_t *x, int axis)
{
    nn_t out = n > 0 ? x[0] : NN_ABSENT;
    axis = axis_of(out, axis);
    if (n < 1 || !has_axis(out, axis))
        return refuse(b, "Concat", name, out);
    if (n == 1)
        return x[0];
    for (int k = 1; k < n; k++) {
        for (int i = 0; i < out.rank; i++)
            if (i != axis && (x[k].rank != out.rank || x[k].d[i] != out.d[i]))
                return refuse(b, "Concat", name, x[k]);
        if (!num_add(out.d[axis], x[k].d[axis], &out.d[axis]))
            return refuse(b, "Concat", name, x[k]);
    }
    return nn_one(b, "Concat", name, n, x, out, 1, &NN_INT("axis", axis));
}

void nn_split(nn *b, const char *name, nn_t x, int axis, int n, nn_t *out)
{
    axis = axis_of(x, axis);
    nn_t part = x;
    bool fits = n > 0 && has_axis(x, axis) && x.d[axis] % n == 0;
    if (fits)
        part.d[axis] = x.d[axis] / n;
    else
        part = refuse(b, "Split", name, x);
    for (int i = 0; i < n; i++)
        out[i] = part;
    const nn_attr attrs[] = {NN_INT("axis", axis), NN_INT("num_outputs", n)};
    if (fits)
        nn_emit(b, &(nn_call){.op = "Split",
                              .name = name,
                              .in = &x,
                              .n_in = 1,
                              .out = out,
                              .n_out = n,
                              .attrs = attrs,
                              .n_attrs = 2});
}

nn_t nn_slice_step(nn *b, const char *name, nn_t x, int axis, int64_t from, int64_t to,
                   int64_t step)
{
    nn_t out = x;
    axis = axis_of(x, axis);
    if (b->failed || !has_axis(x, axis) || from < 0 || to < from || to > x.d[axis] || step < 1)
        return refuse(b, "Slice", name, x);
    out.d[axis] = num_ceil_div(to - from, step);
    nn_t in[5] = {x, ints(b, name, "starts", 1, &from), ints(b, name, "ends", 1, &to),
                  ints(b, name, "axes", 1, &(int64_t){axis})};
    if (step != 1)
        in[4] = ints(b, name, "steps", 1, &step);
    return nn_one(b, "Slice", name, step == 1 ? 4 : 5, in, out, 0, NULL);
}

nn_t nn_slice(nn *b, const char *name, nn_t x, int axis, int64_t from, int64_t to)
{
    return nn_slice_step(b, name, x, axis, from, to, 1);
}

nn_t nn_pad(nn *b, const char *name, nn_t x, const int64_t *pads, const char *mode)
{
    nn_t out = x;
    for (int i = 0; i < x.rank; i++)
        if (!num_add(out.d[i], pads[i], &out.d[i]) ||
            !num_add(out.d[i], pads[x.rank + i], &out.d[i]) || out.d[i] < 1)
            return refuse(b, "Pad", name, x);
    const nn_t in[] = {x, ints(b, name, "pads", 2 * x.rank, pads)};
    return nn_one(b, "Pad", name, 2, in, out, 1, &NN_TEXT("mode", mode));
}

nn_t nn_expand(nn *b, const char *name, nn_t x, int rank, const int64_t *dims)
{
    nn_t out = nn_shape(x.dtype, rank, dims);
    bool fits = rank >= x.rank && rank <= NN_RANK;
    for (int i = 1; fits && i <= x.rank; i++)
        fits = x.d[x.rank - i] == 1 || x.d[x.rank - i] == out.d[rank - i];
    if (!fits)
        return refuse(b, "Expand", name, x);
    const nn_t in[] = {x, ints(b, name, "shape", rank, dims)};
    return nn_one(b, "Expand", name, 2, in, out, 0, NULL);
}

nn_t nn_unsqueeze(nn *b, const char *name, nn_t x, int axis)
{
    nn_t out = x;
    axis = axis < 0 ? axis + x.rank + 1 : axis;
    if (axis < 0 || axis > x.rank || x.rank >= NN_RANK)
        return refuse(b, "Unsqueeze", name, x);
    for (int i = out.rank++; i > axis; i--)
        out.d[i] = out.d[i - 1];
    out.d[axis] = 1;
    const nn_t in[] = {x, ints(b, name, "axes", 1, &(int64_t){axis})};
    return nn_one(b, "Unsqueeze", name, 2, in, out, 0, NULL);
}

nn_t nn_squeeze(nn *b, const char *name, nn_t x, int axis)
{
    nn_t out = x;
    axis = axis_of(x, axis);
    if (!has_axis(x, axis) || x.d[axis] != 1)
        return refuse(b, "Squeeze", name, x);
    out.rank--;
    for (int i = axis; i < out.rank; i++)
        out.d[i] = out.d[i + 1];
    const nn_t in[] = {x, ints(b, name, "axes", 1, &(int64_t){axis})};
    return nn_one(b, "Squeeze", name, 2, in, out, 0, NULL);
}

nn_t nn_gather(nn *b, const char *name, nn_t x, nn_t index, int axis)
{
    nn_t out = {.id = IR_NONE, .dtype = x.dtype};
    axis = axis_of(x, axis);
    if (!has_axis(x, axis) || x.rank - 1 + index.rank > NN_RANK)
        return refuse(b, "Gather", name, x);
    for (int i = 0; i < axis; i++)
        out.d[out.rank++] = x.d[i];
    for (int i = 0; i < index.rank; i++)
        out.d[out.rank++] = index.d[i];
    for (int i = axis + 1; i < x.rank; i++)
        out.d[out.rank++] = x.d[i];
    return nn_one(b, "Gather", name, 2, (const nn_t[]){x, index}, out, 1, &NN_INT("axis", axis));
}

/* PyTorch's nearest takes floor(i * in / out); its cubic has a = -0.75. */
nn_t nn_resize(nn *b, const char *name, nn_t x, int64_t h, int64_t w, const char *mode,
               bool align_corners)
{
    bool nearest = strcmp(mode, "nearest") == 0, cubic = strcmp(mode, "cubic") == 0;
    const char *place = align_corners ? "align_corners" : nearest ? "asymmetric" : "half_pixel";
    nn_t out = x;
    if (b->failed || x.rank < 2 || h < 1 || w < 1)
        return refuse(b, "Resize", name, x);
    out.d[x.rank - 2] = h;
    out.d[x.rank - 1] = w;
    const nn_t in[] = {x, NN_ABSENT, NN_ABSENT, ints(b, name, "sizes", x.rank, out.d)};
    nn_attr attrs[3] = {NN_TEXT("mode", mode), NN_TEXT("coordinate_transformation_mode", place)};
    if (nearest)
        attrs[2] = NN_TEXT("nearest_mode", "floor");
    if (cubic)
        attrs[2] = NN_FLOAT("cubic_coeff_a", -0.75);
    out = nn_one(b, "Resize", name, 4, in, out, nearest || cubic ? 3 : 2, attrs);
    return nn_mark(b, out, IR_NODE_FUNCTION);
}

nn_t nn_pixel_shuffle(nn *b, const char *name, nn_t x, int64_t r)
{
    nn_t out = x;
    if (x.rank != 4 || r < 1 || r > INT16_MAX || x.d[1] % (r * r) ||
        !num_mul(x.d[2], r, &out.d[2]) || !num_mul(x.d[3], r, &out.d[3]))
        return refuse(b, "DepthToSpace", name, x);
    out.d[1] = x.d[1] / (r * r);
    const nn_attr attrs[] = {NN_INT("blocksize", r), NN_TEXT("mode", "CRD")};
    return nn_module(b, "DepthToSpace", name, 1, &x, out, 2, attrs);
}
