/* ATen contractions: matrix products, convolutions, attention, embeddings. */
#include <math.h>

#include "formats/aten/aten.h"

/* ---- products ---- */

static ir_id transposed(aten_call *c, ir_id x, int rank)
{
    int64_t perm[IR_MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return layer_step_transpose(&c->l, x, perm, rank);
}

/* linear(x, weight [out, in], bias): Gemm of a matrix, else MatMul and Add. */
bool aten_linear(aten_call *c)
{
    ir_id in[] = {aten_tensor(c, 0), aten_tensor(c, 1), aten_tensor(c, 2)};
    const ir_attr_spec attrs[] = {IR_SPEC_INT("transB", 1), LAYER_END};
    uint32_t n = in[2] == IR_NONE ? 2 : 3;
    if (in[0] == IR_NONE || in[1] == IR_NONE || aten_rank(c, 1) != 2)
        return false;
    if (aten_rank(c, 0) == 2)
        return aten_node(c, "Gemm", in, n, attrs);
    ir_id turned = transposed(c, in[1], 2);
    if (n == 2)
        return aten_node2(c, "MatMul", in[0], turned);
    return aten_node2(c, "Add", aten_step2(c, "MatMul", in[0], turned), in[2]);
}

bool aten_matmul(aten_call *c)
{
    ir_id in[2];
    aten_promote(c, 0, 1, in);
    return aten_node2(c, "MatMul", in[0], in[1]);
}

/* beta * self + alpha * (a @ b): addmm, baddbmm. */
bool aten_addmm(aten_call *c)
{
    double beta = aten_float(c, 3, 1), alpha = aten_float(c, 4, 1);
    ir_id in[] = {aten_tensor(c, 1), aten_tensor(c, 2), aten_tensor(c, 0)};
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", alpha), IR_SPEC_FLOAT("beta", beta),
                                  LAYER_END};
    if (in[0] == IR_NONE || in[1] == IR_NONE || in[2] == IR_NONE)
        return false;
    if (aten_rank(c, 1) == 2)
        return aten_node(c, "Gemm", in, 3, attrs);
    ir_id product = aten_step2(c, "MatMul", in[0], in[1]);
    if (alpha != 1)
        product = aten_step2(c, "Mul", product, aten_like(c, alpha, aten_dtype(c, 1)));
    if (beta == 0)
        return aten_node(c, "Identity", &product, 1, NULL);
    if (beta != 1)
        in[2] = aten_step2(c, "Mul", in[2], aten_like(c, beta, aten_dtype(c, 0)));
    return aten_node2(c, "Add", product, in[2]);
}

bool aten_outer(aten_call *c)
{
    ir_id a = aten_tensor(c, 0), b = aten_tensor(c, 1);
    if (a == IR_NONE || b == IR_NONE)
        return false;
    return aten_node2(c, "Mul", layer_step_reshape(&c->l, a, (const int64_t[]){-1, 1}, 2), b);
}

bool aten_einsum(aten_call *c)
{
    enum { MOST = 16 };
    ir_id in[MOST];
    int n = aten_tensors(c, 1, in, MOST);
    const char *equation = c->arg[0].kind == ATEN_TEXT ? str_copy(c->t->a, c->arg[0].s).p : NULL;
    if (n < 1 || !equation)
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("equation", equation), LAYER_END};
    return aten_node(c, "Einsum", in, (uint32_t)n, attrs);
}

/* embedding(weight, indices, ...) */
bool aten_embedding(aten_call *c)
{
    return aten_node2(c, "Gather", aten_tensor(c, 0), aten_tensor(c, 1));
}

/* ---- convolutions ---- */

typedef struct conv_args {
    int n; /* spatial axes */
    int64_t stride[LAYER_LIST], pad[LAYER_LIST], dilation[LAYER_LIST], more[LAYER_LIST];
    int64_t groups;
    bool same;
} conv_args;

/* A list of n numbers, of which one may stand for all; def where there is none. */
static bool spread(aten_call *c, int i, int n, int64_t def, int64_t *out)
{
    int64_t list[LAYER_LIST];
    int have = i < 0 ? -1 : aten_ints(c, i, list);
    if (have == -2 || (have > 1 && have != n))
        return false;
    for (int k = 0; k < n; k++)
        out[k] = have <= 0 ? def : have == 1 ? list[0] : list[k];
    return true;
}

static bool read_conv(aten_call *c, const int at[5], conv_args *a)
{
    a->n = aten_rank(c, 1) - 2;
    a->same = at[1] >= 0 && aten_is_text(c, at[1], "same");
    bool text = at[1] >= 0 && c->arg[at[1]].kind == ATEN_TEXT;
    a->groups = aten_int(c, at[4], 1);
    return a->n >= 1 && a->n <= 3 && aten_tensor(c, 0) != IR_NONE && aten_tensor(c, 1) != IR_NONE &&
           spread(c, at[0], a->n, 1, a->stride) && spread(c, text ? -1 : at[1], a->n, 0, a->pad) &&
           spread(c, at[2], a->n, 1, a->dilation) && spread(c, at[3], a->n, 0, a->more);
}

/* Without a batch the data has one axis less: it gets one, and the result loses it. */
static ir_id with_batch(aten_call *c, int n, bool *added)
{
    ir_id x = aten_tensor(c, 0);
    *added = aten_rank(c, 0) == n + 1;
    return *added
               ? aten_step2(c, "Unsqueeze", x, layer_ints(&c->l, "axes", (const int64_t[]){0}, 1))
               : x;
}

static bool without_batch(aten_call *c, const char *op, const ir_id *in, uint32_t n,
                          const ir_attr_spec *attrs, bool added)
{
    if (!added)
        return aten_node(c, op, in, n, attrs);
    ir_id y = aten_step(c, op, in, n, attrs);
    return aten_node2(c, "Squeeze", y, layer_ints(&c->l, "axes", (const int64_t[]){0}, 1));
}

static bool add_conv(aten_call *c, const conv_args *a, bool transposed_conv)
{
    int64_t pads[2 * 3], kernel[3];
    const op_info *w = aten_info(c->t, aten_tensor(c, 1));
    bool added;
    for (int i = 0; i < a->n; i++) {
        kernel[i] = w->dims[2 + i];
        int64_t total = a->dilation[i] * (kernel[i] - 1);
        pads[i] = a->same ? total / 2 : a->pad[i];
        pads[a->n + i] = a->same ? total - total / 2 : a->pad[i];
        if (kernel[i] < 1 || a->stride[i] < 1 || a->dilation[i] < 1)
            return false;
    }
    ir_attr_spec attrs[] = {IR_SPEC_INTS("kernel_shape", a->n, kernel),
                            IR_SPEC_INTS("strides", a->n, a->stride),
                            IR_SPEC_INTS("pads", 2 * a->n, pads),
                            IR_SPEC_INTS("dilations", a->n, a->dilation),
                            IR_SPEC_INT("group", a->groups),
                            IR_SPEC_INTS("output_padding", a->n, a->more),
                            LAYER_END};
    if (!transposed_conv)
        attrs[5] = LAYER_END;
    ir_id in[] = {with_batch(c, a->n, &added), aten_tensor(c, 1), aten_tensor(c, 2)};
    return without_batch(c, transposed_conv ? "ConvTranspose" : "Conv", in,
                         in[2] == IR_NONE ? 2 : 3, attrs, added);
}

/* conv2d(x, weight, bias, stride, padding, dilation, groups) */
bool aten_conv(aten_call *c)
{
    conv_args a;
    return read_conv(c, (const int[]){3, 4, 5, -1, 6}, &a) && add_conv(c, &a, false);
}

/* conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation) */
bool aten_deconv(aten_call *c)
{
    conv_args a;
    return read_conv(c, (const int[]){3, 4, 7, 5, 6}, &a) && add_conv(c, &a, true);
}

/* convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups) */
bool aten_convolution(aten_call *c)
{
    conv_args a;
    return read_conv(c, (const int[]){3, 4, 5, 7, 8}, &a) &&
           add_conv(c, &a, aten_flag(c, 6, false));
}

/* ---- attention ---- */

/* 1 above the diagonal of the last two axes of the scores, as a mask that is added. */
static ir_id causal_mask(aten_call *c, ir_id scores, ir_dtype t)
{
    ir_id shape = aten_step(c, "Shape", &scores, 1, NULL);
    float low = -3.4028234663852886e38f;
    ir_id value = aten_like(c, t == IR_FLOAT16 ? -65504.0 : (double)low, t);
    ir_id full = aten_step2(c, "Expand", value, shape);
    ir_id in[] = {full, aten_like(c, 1, IR_INT64)};
    const ir_attr_spec upper[] = {IR_SPEC_INT("upper", 1), LAYER_END};
    return aten_step(c, "Trilu", in, 2, upper);
}

static ir_id masked_scores(aten_call *c, ir_id scores, ir_dtype t)
{
    ir_id mask = aten_tensor(c, 3);
    if (aten_flag(c, 5, false))
        mask = causal_mask(c, scores, t);
    else if (mask != IR_NONE && aten_dtype(c, 3) == IR_BOOL) {
        ir_id in[] = {mask, aten_like(c, 0, t),
                      aten_like(c, t == IR_FLOAT16 ? -65504.0 : -1e30, t)};
        mask = aten_step(c, "Where", in, 3, NULL);
    }
    return mask == IR_NONE ? scores : aten_step2(c, "Add", scores, mask);
}

/* scaled_dot_product_attention(q, k, v, mask, dropout, causal, scale, enable_gqa) */
bool aten_attention(aten_call *c)
{
    ir_id q = aten_tensor(c, 0), k = aten_tensor(c, 1), v = aten_tensor(c, 2);
    int rank = aten_rank(c, 1);
    ir_dtype t = aten_dtype(c, 0);
    if (q == IR_NONE || k == IR_NONE || v == IR_NONE || rank < 2 || aten_rank(c, 0) != rank ||
        aten_flag(c, 7, false))
        return false;
    const op_info *info = aten_info(c->t, q);
    double width = (double)info->dims[rank - 1], scale = aten_float(c, 6, 1 / sqrt(width));
    if (!aten_given(c, 6) && width < 1)
        return false;
    ir_id scaled = aten_step2(c, "Mul", q, aten_like(c, scale, t));
    ir_id scores = aten_step2(c, "MatMul", scaled, transposed(c, k, rank));
    scores = masked_scores(c, scores, t);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    return aten_node2(c, "MatMul", aten_step(c, "Softmax", &scores, 1, attrs), v);
}
