/* Layers without weights: activations, pooling, arithmetic, attention. */
#include <math.h>

#include "base/num.h"
#include "zoo/nn_impl.h"

/* ---- activations ---- */

/* PyTorch's hard sigmoid is relu6(x + 3) / 6, not the 0.2 of ONNX's default. */
nn_t nn_act(nn *b, const char *op, const char *name, nn_t x)
{
    bool hard = strcmp(op, "HardSigmoid") == 0;
    const nn_attr attrs[] = {NN_FLOAT("alpha", 1.0 / 6.0), NN_FLOAT("beta", 0.5)};
    return nn_module(b, op, name, 1, &x, x, hard ? 2 : 0, attrs);
}

nn_t nn_relu6(nn *b, const char *name, nn_t x)
{
    const char *low = arena_printf(b->scratch, "%s.min", name),
               *high = arena_printf(b->scratch, "%s.max", name);
    const nn_t in[] = {x, nn_float_const(b, low, 0.0), nn_float_const(b, high, 6.0)};
    return nn_module(b, "Clip", name, 3, in, x, 0, NULL);
}

nn_t nn_leaky(nn *b, const char *name, nn_t x, double slope)
{
    return nn_module(b, "LeakyRelu", name, 1, &x, x, 1, &NN_FLOAT("alpha", slope));
}

nn_t nn_gelu(nn *b, const char *name, nn_t x, bool tanh_form)
{
    return nn_module(b, "Gelu", name, 1, &x, x, tanh_form, &NN_TEXT("approximate", "tanh"));
}

nn_t nn_softmax(nn *b, const char *name, nn_t x, int axis)
{
    return nn_module(b, "Softmax", name, 1, &x, x, 1, &NN_INT("axis", axis));
}

/* ---- pooling ---- */

typedef struct pool {
    int n;
    int64_t kernel[3], strides[3], pads[6];
} pool;

/* A stride of 0 is the kernel's, as in PyTorch. */
static pool pool_window(const nn_pool *p, int n)
{
    pool w = {.n = n};
    for (int i = 0; i < n; i++) {
        w.kernel[i] = p->kernel[0] ? p->kernel[i] : p->k;
        w.strides[i] = p->kernel[0] && p->strides[i] ? p->strides[i] : p->stride;
        w.strides[i] = w.strides[i] ? w.strides[i] : w.kernel[i];
        w.pads[i] = w.pads[n + i] = p->kernel[0] ? p->pads[i] : p->pad;
    }
    return w;
}

/* With ceil a last window may start inside the input or its left padding, not beyond. */
static int64_t pooled(int64_t in, int64_t kernel, int64_t stride, int64_t pad, bool ceil)
{
    int64_t room = in + 2 * pad - kernel;
    if (room < 0)
        return 0;
    int64_t out = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    return ceil && (out - 1) * stride >= in + pad ? out - 1 : out;
}

static bool pool_slide(const pool *w, bool ceil, nn_t *out)
{
    for (int i = 0; i < w->n; i++) {
        int64_t k = w->kernel[i], s = w->strides[i], p = w->pads[i];
        if (k < 1 || k > INT32_MAX || s < 1 || s > INT32_MAX || p < 0 || p >= k ||
            out->d[2 + i] > INT32_MAX)
            return false;
        out->d[2 + i] = pooled(out->d[2 + i], k, s, p, ceil);
        if (out->d[2 + i] < 1)
            return false;
    }
    return true;
}

static nn_t pool_layer(nn *b, const char *op, const char *name, nn_t x, const nn_pool *p)
{
    bool average = op[0] == 'A';
    nn_t out = x;
    pool w = pool_window(p, x.rank >= 3 && x.rank <= 5 ? x.rank - 2 : 0);
    if (!b->failed && (w.n == 0 || !pool_slide(&w, p->ceil, &out)))
        nn_fail(b, "pooling '%s' has a window of %lld, too large for its input %s",
                nn_full_name(b, name).p, (long long)w.kernel[0], nn_dims_text(b, x));
    if (b->failed)
        return nn_harmless(out);
    const nn_attr attrs[] = {NN_LIST("kernel_shape", w.n, w.kernel),
                             NN_LIST("strides", w.n, w.strides), NN_LIST("pads", 2 * w.n, w.pads),
                             NN_INT("ceil_mode", p->ceil),
                             NN_INT("count_include_pad", !p->exclude_pad)};
    return nn_module(b, op, name, 1, &x, out, average ? 5 : 4, attrs);
}

nn_t nn_maxpool(nn *b, const char *name, nn_t x, const nn_pool *p)
{
    return pool_layer(b, "MaxPool", name, x, p);
}

nn_t nn_avgpool(nn *b, const char *name, nn_t x, const nn_pool *p)
{
    return pool_layer(b, "AveragePool", name, x, p);
}

nn_t nn_global_avgpool(nn *b, const char *name, nn_t x)
{
    nn_t out = x;
    for (int i = 2; i < x.rank; i++)
        out.d[i] = 1;
    return nn_module(b, "GlobalAveragePool", name, 1, &x, out, 0, NULL);
}

/* One output of an adaptive pooling that does not divide: the mean of its own window. */
static nn_t pool_cell(nn *b, const char *name, nn_t row, int64_t j, int64_t ow)
{
    int64_t w = row.d[3], from = j * w / ow, to = num_ceil_div((j + 1) * w, ow);
    nn_t cell = nn_slice(b, name, row, 3, from, to);
    return nn_mean(b, name, cell, 2, (const int64_t[]){2, 3}, true);
}

enum { CELLS_MAX = 64 };

static nn_t pool_cells(nn *b, const char *name, nn_t x, int64_t oh, int64_t ow)
{
    nn_t rows[CELLS_MAX], cells[CELLS_MAX];
    for (int64_t i = 0; i < oh; i++) {
        int64_t from = i * x.d[2] / oh, to = num_ceil_div((i + 1) * x.d[2], oh);
        nn_t row = nn_slice(b, name, x, 2, from, to);
        for (int64_t j = 0; j < ow; j++)
            cells[j] = pool_cell(b, name, row, j, ow);
        rows[i] = nn_concat(b, name, (int)ow, cells, 3);
    }
    return nn_concat(b, name, (int)oh, rows, 2);
}

nn_t nn_adaptive_avgpool(nn *b, const char *name, nn_t x, int64_t oh, int64_t ow)
{
    nn_t out = x;
    if (oh == 1 && ow == 1)
        return nn_global_avgpool(b, name, x);
    bool sane = x.rank == 4 && oh >= 1 && oh <= CELLS_MAX && ow >= 1 && ow <= CELLS_MAX &&
                x.d[2] < INT32_MAX && x.d[3] < INT32_MAX;
    if (!sane)
        nn_fail(b, "invalid pooling '%s' of %s to %lldx%lld", nn_full_name(b, name).p,
                nn_dims_text(b, x), (long long)oh, (long long)ow);
    if (b->failed)
        return nn_harmless(out);
    if (x.d[2] % oh || x.d[3] % ow)
        return pool_cells(b, name, x, oh, ow);
    out = nn_avgpool(b, name, x, &(nn_pool){.kernel = {x.d[2] / oh, x.d[3] / ow}});
    return nn_mark(b, out, IR_NODE_ADAPTIVE);
}

nn_t nn_mean(nn *b, const char *name, nn_t x, int n_axes, const int64_t *axes, bool keepdims)
{
    bool gone[NN_RANK] = {false};
    nn_t out = x;
    out.rank = 0;
    for (int i = 0; i < n_axes; i++)
        gone[(axes[i] < 0 ? axes[i] + x.rank : axes[i]) % NN_RANK] = true;
    for (int i = 0; i < x.rank; i++)
        if (!gone[i] || keepdims)
            out.d[out.rank++] = gone[i] ? 1 : x.d[i];
    const nn_t in[] = {x,
                       nn_ints_const(b, arena_printf(b->scratch, "%s.axes", name), n_axes, axes)};
    return nn_one(b, "ReduceMean", name, 2, in, out, 1, &NN_INT("keepdims", keepdims));
}

/* ---- arithmetic ---- */

static bool broadcast(nn_t x, nn_t y, nn_t *out)
{
    out->rank = x.rank > y.rank ? x.rank : y.rank;
    for (int i = 1; i <= out->rank; i++) {
        int64_t p = i <= x.rank ? x.d[x.rank - i] : 1, q = i <= y.rank ? y.d[y.rank - i] : 1;
        if (p != q && p != 1 && q != 1)
            return false;
        out->d[out->rank - i] = p == 1 ? q : p;
    }
    return true;
}

static nn_t does_not_match(nn *b, const char *op, const char *name, nn_t x, nn_t y)
{
    if (!b->failed)
        nn_fail(b, "layer '%s' (%s) cannot join %s and %s", nn_full_name(b, name).p, op,
                nn_dims_text(b, x), nn_dims_text(b, y));
    return nn_harmless(x);
}

nn_t nn_binary(nn *b, const char *op, const char *name, nn_t x, nn_t y)
{
    nn_t out = x;
    if (b->failed || !broadcast(x, y, &out))
        return does_not_match(b, op, name, x, y);
    return nn_one(b, op, name, 2, (const nn_t[]){x, y}, out, 0, NULL);
}

nn_t nn_add(nn *b, const char *name, nn_t x, nn_t y)
{
    return nn_binary(b, "Add", name, x, y);
}

nn_t nn_mul(nn *b, const char *name, nn_t x, nn_t y)
{
    return nn_binary(b, "Mul", name, x, y);
}

nn_t nn_scale(nn *b, const char *name, nn_t x, double by)
{
    return nn_mul(b, name, x, nn_float_const(b, arena_printf(b->scratch, "%s.factor", name), by));
}

nn_t nn_matmul(nn *b, const char *name, nn_t x, nn_t y)
{
    nn_t out = x, left = x, right = y;
    if (b->failed || x.rank < 2 || y.rank < 2 || x.d[x.rank - 1] != y.d[y.rank - 2])
        return does_not_match(b, "MatMul", name, x, y);
    left.rank -= 2;
    right.rank -= 2;
    if (!broadcast(left, right, &out))
        return does_not_match(b, "MatMul", name, x, y);
    out.d[out.rank++] = x.d[x.rank - 2];
    out.d[out.rank++] = y.d[y.rank - 1];
    return nn_one(b, "MatMul", name, 2, (const nn_t[]){x, y}, out, 0, NULL);
}

/* ---- attention ---- */

nn_t nn_attention(nn *b, const char *name, nn_t q, nn_t k, nn_t v, nn_t mask, double scale,
                  bool causal)
{
    nn_t out = q;
    if (b->failed || q.rank != 4 || k.rank != 4 || v.rank != 4 || q.d[3] != k.d[3] ||
        k.d[2] != v.d[2] || k.d[1] < 1 || q.d[1] % k.d[1])
        return does_not_match(b, "Attention", name, q, k);
    out.d[3] = v.d[3];
    nn_attr attrs[2];
    int n = 0;
    attrs[n++] = NN_FLOAT("scale", scale != 0.0 ? scale : 1.0 / sqrt((double)q.d[3]));
    if (causal)
        attrs[n++] = NN_INT("is_causal", 1);
    const nn_t in[] = {q, k, v, mask};
    return nn_one(b, "Attention", name, mask.id == IR_NONE ? 3 : 4, in, out, n, attrs);
}
