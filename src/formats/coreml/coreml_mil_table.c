/* The operations of ML programs (opsets iOS 13 to 18) and what they become. Those that are not here are unknown: their
 * outputs have the sizes that the program declares, and their cost is not counted. */
#include <math.h>
#include <stdlib.h>

#include "formats/coreml/coreml_mil.h"

static bool one(mil_op *o, const char *op, const ir_id *in, uint32_t n, const ir_attr_spec *attrs)
{
    for (uint32_t i = 0; i < n; i++)
        if (in[i] == IR_NONE)
            return false;
    return made(layer_node_of(&o->l, NULL, op, in, n, attrs, 1));
}

/* ---- element by element ---- */

static bool mil_unary(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    return one(o, o->op, &x, 1, NULL);
}

static bool mil_binary(mil_op *o)
{
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "y")};
    return one(o, o->op, in, 2, NULL);
}

static bool mil_silu(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    return x != IR_NONE && layer_swish(&o->l, x);
}

static bool mil_gelu(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    const char *op = mil_is(o, "mode", "TANH_APPROXIMATION") ? "FastGelu" : "Gelu";
    return x != IR_NONE && made(layer_node_of(&o->l, FOREIGN_MS, op, &x, 1, NULL, 1));
}

static bool mil_clip(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    bool six = str_is(o->type, "relu6");
    ir_dtype t = o->out[0].dtype;
    return x != IR_NONE && ir_is_float(t) &&
           layer_clip(&o->l, x, t, six ? 0 : mil_float(o, "alpha", (double)NAN),
                      six ? 6 : mil_float(o, "beta", (double)NAN));
}

static bool mil_alpha(mil_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", mil_float(o, "alpha", 0.01)), LAYER_END};
    ir_id x = mil_in(o, "x");
    return one(o, o->op, &x, 1, attrs);
}

static bool mil_rsqrt(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    if (x == IR_NONE)
        return false;
    x = layer_step(&o->l, "Sqrt", &x, 1, NULL);
    return one(o, "Reciprocal", &x, 1, NULL);
}

static bool mil_square(mil_op *o)
{
    ir_id x = mil_in(o, "x"), in[] = {x, x};
    return one(o, "Mul", in, 2, NULL);
}

static bool mil_softmax(mil_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", mil_int(o, "axis", -1)), LAYER_END};
    ir_id x = mil_in(o, "x");
    return one(o, "Softmax", &x, 1, attrs);
}

static bool mil_cast(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    return x != IR_NONE && layer_cast(&o->l, x, o->out[0].dtype);
}

static bool mil_select(mil_op *o)
{
    ir_id in[] = {mil_in(o, "cond"), mil_in(o, "a"), mil_in(o, "b")};
    return one(o, "Where", in, 3, NULL);
}

/* ---- windows ---- */

enum { CONV_ATTRS = LAYER_WINDOW_ATTRS + 4 };

/* pad is begin and end of each axis in turn. */
static void take_pads(const mil_op *o, layer_window *w)
{
    int64_t list[ML_LIST] = {0};
    int n = mil_ints(o, "pad", list);
    if (mil_is(o, "pad_type", "same"))
        w->auto_pad = "SAME_UPPER";
    else if (mil_is(o, "pad_type", "same_lower"))
        w->auto_pad = "SAME_LOWER";
    else if (mil_is(o, "pad_type", "valid"))
        n = 0;
    for (int i = 0; i < w->n; i++) {
        w->pads[i] = 2 * i < n ? list[2 * i] : 0;
        w->pads[w->n + i] = 2 * i + 1 < n ? list[2 * i + 1] : 0;
    }
}

static layer_window window_of(const mil_op *o, int spatial)
{
    layer_window w = {.n = spatial, .has_strides = true};
    int64_t list[ML_LIST];
    int n = mil_ints(o, "strides", list);
    for (int i = 0; i < spatial; i++)
        w.strides[i] = i < n ? list[i] : 1;
    n = mil_ints(o, "dilations", list);
    w.has_dilations = n == spatial;
    for (int i = 0; i < n && i < spatial; i++)
        w.dilations[i] = list[i];
    n = mil_ints(o, "kernel_sizes", list);
    w.has_kernel = n == spatial;
    for (int i = 0; i < n && i < spatial; i++)
        w.kernel[i] = list[i];
    take_pads(o, &w);
    return w;
}

static bool mil_conv(mil_op *o)
{
    int rank = o->out[0].rank;
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "weight"), mil_in(o, "bias")};
    int64_t list[ML_LIST];
    bool grows = str_is(o->type, "conv_transpose");
    if (rank < 3 || rank > 5 || in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    layer_window w = window_of(o, rank - 2);
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("group", mil_int(o, "groups", 1));
    if (grows && mil_ints(o, "output_shape", list) == rank)
        attrs[k] = IR_SPEC_INTS("output_shape", rank - 2, list + 2);
    return made(layer_node_of(&o->l, NULL, grows ? "ConvTranspose" : "Conv", in,
                              in[2] == IR_NONE ? 2 : 3, attrs, 1));
}

static bool mil_pool(mil_op *o)
{
    int rank = o->out[0].rank;
    ir_id x = mil_in(o, "x");
    if (rank < 3 || rank > 5 || x == IR_NONE)
        return false;
    layer_window w = window_of(o, rank - 2);
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("ceil_mode", mil_int(o, "ceil_mode", 0));
    if (str_is(str_of(o->op), "AveragePool"))
        attrs[k] = IR_SPEC_INT("count_include_pad", !mil_int(o, "exclude_padding_from_average", 0));
    return one(o, o->op, &x, 1, attrs);
}

/* ---- products and normalisation ---- */

static bool mil_linear(mil_op *o)
{
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "weight")}, bias = mil_in(o, "bias");
    ir_attr_spec attrs[] = {IR_SPEC_INT("transB", 1), LAYER_END};
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    if (bias == IR_NONE)
        return made(layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, attrs, 1));
    ir_id sum[] = {layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, attrs), bias};
    return one(o, "Add", sum, 2, NULL);
}

static bool mil_matmul(mil_op *o)
{
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "y")};
    int64_t a = mil_int(o, "transpose_x", 0), b = mil_int(o, "transpose_y", 0);
    ir_attr_spec attrs[] = {IR_SPEC_INT("transA", a), IR_SPEC_INT("transB", b), LAYER_END};
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    return a || b ? made(layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, attrs, 1))
                  : one(o, "MatMul", in, 2, NULL);
}

static bool mil_batch_norm(mil_op *o)
{
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "gamma"), mil_in(o, "beta"), mil_in(o, "mean"),
                  mil_in(o, "variance")};
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", mil_float(o, "epsilon", 1e-5)), LAYER_END};
    return one(o, "BatchNormalization", in, 5, attrs);
}

static bool mil_instance_norm(mil_op *o)
{
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "gamma"), mil_in(o, "beta")};
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", mil_float(o, "epsilon", 1e-5)), LAYER_END};
    return one(o, "InstanceNormalization", in, 3, attrs);
}

/* Over the last axes, with a scale. */
static bool mil_layer_norm(mil_op *o)
{
    int64_t axes[ML_LIST];
    int n = mil_ints(o, "axes", axes), rank = o->out[0].rank;
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "gamma"), mil_in(o, "beta")};
    if (n < 1 || rank < n || in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    for (int i = 0; i < n; i++)
        if ((axes[i] < 0 ? axes[i] + rank : axes[i]) != rank - n + i)
            return false;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -n),
                            IR_SPEC_FLOAT("epsilon", mil_float(o, "epsilon", 1e-5)), LAYER_END};
    return one(o, "LayerNormalization", in, in[2] == IR_NONE ? 2 : 3, attrs);
}

static bool mil_attention(mil_op *o)
{
    ir_id both[] = {mil_in(o, "query"), mil_in(o, "key")}, v = mil_in(o, "value");
    ir_id mask = mil_in(o, "attn_mask");
    const ml_value *q = mil_type(o, "query");
    int64_t size = q && q->rank > 0 ? q->dims[q->rank - 1] : -1;
    if (size < 1 || both[0] == IR_NONE || both[1] == IR_NONE || v == IR_NONE)
        return false;
    ir_attr_spec attrs[] = {IR_SPEC_INT("transB", 1),
                            IR_SPEC_FLOAT("alpha", 1 / sqrt((double)size)), LAYER_END};
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    ir_id scores = layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", both, 2, attrs);
    if (mask != IR_NONE) {
        ir_id sum[] = {scores, mask};
        scores = layer_step(&o->l, "Add", sum, 2, NULL);
    }
    ir_id in[] = {layer_step(&o->l, "Softmax", &scores, 1, axis), v};
    return one(o, "MatMul", in, 2, NULL);
}

static bool mil_reduce(mil_op *o)
{
    int64_t axes[ML_LIST];
    int n = mil_ints(o, "axes", axes);
    const ml_value *x = mil_type(o, "x");
    ir_id in = mil_in(o, "x");
    for (int d = 0; n < 0 && x && d < x->rank; d++)
        axes[d] = d;
    if (n < 0)
        n = x ? x->rank : -1;
    return n > 0 && in != IR_NONE &&
           layer_reduce(&o->l, o->op, in, axes, n, mil_int(o, "keep_dims", 0) != 0);
}

/* ---- shapes: the declared sizes of the output tell the target ---- */

static bool mil_reshape(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    const ml_value *y = &o->out[0];
    int open = 0;
    for (int d = 0; d < y->rank; d++)
        open += y->dims[d] < 0;
    return x != IR_NONE && y->rank >= 0 && open <= 1 && layer_reshape(&o->l, x, y->dims, y->rank);
}

static bool mil_transpose(mil_op *o)
{
    int64_t perm[ML_LIST];
    int n = mil_ints(o, "perm", perm);
    ir_id x = mil_in(o, "x");
    for (int i = 0; i < n; i++)
        perm[i] = perm[i] < 0 ? perm[i] + n : perm[i];
    return n > 0 && x != IR_NONE && layer_transpose(&o->l, x, perm, n);
}

static bool mil_axes(mil_op *o)
{
    int64_t axes[ML_LIST];
    int n = mil_ints(o, "axes", axes);
    ir_id x = mil_in(o, "x");
    if (n < 0)
        return mil_reshape(o);
    ir_id in[] = {x, layer_ints(&o->l, "axes", axes, n)};
    return one(o, o->op, in, 2, NULL);
}

static bool mil_concat(mil_op *o)
{
    ir_id *in = ARENA_ARRAY(o->r->f.scratch, ir_id, ML_MAX_NAMES);
    uint32_t n = in ? mil_in_list(o, "values", in, ML_MAX_NAMES) : 0;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", mil_int(o, "axis", 0)), LAYER_END};
    return n > 0 && !mil_int(o, "interleave", 0) && one(o, "Concat", in, n, attrs);
}

static bool mil_split(mil_op *o)
{
    int64_t axis = mil_int(o, "axis", 0), list[ML_LIST];
    ir_id x = mil_in(o, "x");
    for (uint32_t i = 0; i < o->l.n_out; i++) {
        const ml_value *y = &o->out[i];
        int64_t at = axis < 0 ? axis + y->rank : axis;
        if (i >= ML_LIST || at < 0 || at >= y->rank || y->dims[at] < 0)
            return false;
        list[i] = y->dims[at];
    }
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    ir_id in[] = {x, layer_ints(&o->l, "split", list, (int)o->l.n_out)};
    return x != IR_NONE && made(layer_node(&o->l, NULL, "Split", in, 2, attrs));
}

static bool bit_of(const mil_op *o, const char *key, int i)
{
    int64_t list[ML_LIST];
    int n = mil_ints(o, key, list);
    return i < n && list[i];
}

static bool mil_slice(mil_op *o)
{
    int64_t begin[ML_LIST], end[ML_LIST], step[ML_LIST];
    int n = mil_ints(o, "begin", begin), m = mil_ints(o, "end", end);
    int k = mil_ints(o, "stride", step);
    ir_id x = mil_in(o, "x");
    layer_slicing *s = ARENA_NEW(o->r->f.scratch, layer_slicing);
    if (!s || n < 1 || n != m || n > IR_MAX_RANK || x == IR_NONE)
        return false;
    for (int i = 0; i < n; i++) {
        int64_t by = k == n ? step[i] : 1, low = by < 0 ? INT32_MAX : 0;
        bool from = bit_of(o, "begin_mask", i), to = bit_of(o, "end_mask", i);
        if (bit_of(o, "squeeze_mask", i)) {
            layer_slice_axis(s, i, begin[i], begin[i] == -1 ? INT32_MAX : begin[i] + 1, 1);
            s->squeeze[s->n_squeeze++] = i;
        } else if (!(from && to && by == 1)) {
            layer_slice_axis(s, i, from ? low : begin[i],
                             to ? (by < 0 ? -INT32_MAX : INT32_MAX) : end[i], by);
        }
    }
    return layer_slice(&o->l, x, s);
}

static bool mil_pad(mil_op *o)
{
    int64_t list[ML_LIST], pads[2 * IR_MAX_RANK] = {0};
    int n = mil_ints(o, "pad", list), rank = o->out[0].rank;
    ir_id x = mil_in(o, "x");
    if (n < 2 || n % 2 || rank < n / 2 || rank > IR_MAX_RANK || x == IR_NONE)
        return false;
    for (int i = 0; i < n / 2; i++) {
        pads[rank - n / 2 + i] = list[2 * i];
        pads[2 * rank - n / 2 + i] = list[2 * i + 1];
    }
    const char *mode = mil_is(o, "mode", "reflect")     ? "reflect"
                       : mil_is(o, "mode", "replicate") ? "edge"
                                                        : "constant";
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", mode), LAYER_END};
    ir_id in[] = {x, layer_ints(&o->l, "pads", pads, 2 * rank)};
    return one(o, "Pad", in, 2, attrs);
}

/* The sizes of the output tell the scale. */
static bool mil_resize(mil_op *o)
{
    const ml_value *x = mil_type(o, "x"), *y = &o->out[0];
    float scales[IR_MAX_RANK];
    bool whole = true, align = mil_int(o, "align_corners", 0) != 0;
    ir_id in[] = {mil_in(o, "x"), IR_NONE, IR_NONE, IR_NONE};
    if (!x || x->rank < 1 || x->rank != y->rank || in[0] == IR_NONE)
        return false;
    for (int d = 0; d < x->rank; d++) {
        if (x->dims[d] < 1 || y->dims[d] < 1)
            return false;
        whole &= y->dims[d] % x->dims[d] == 0;
        scales[d] = (float)((double)y->dims[d] / (double)x->dims[d]);
    }
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", o->op),
                            IR_SPEC_TEXT("coordinate_transformation_mode", align ? "align_corners"
                                                                           : o->op[0] == 'n'
                                                                               ? "asymmetric"
                                                                               : "half_pixel"),
                            IR_SPEC_TEXT("nearest_mode", "floor"), LAYER_END};
    if (whole)
        in[2] = foreign_floats(o->l.f, o->l.name, "scales", scales, (uint32_t)x->rank);
    else
        in[3] = layer_ints(&o->l, "sizes", y->dims, y->rank);
    return made(layer_node_of(&o->l, NULL, "Resize", in, whole ? 3 : 4, attrs, 1));
}

static bool mil_gather(mil_op *o)
{
    ir_id in[] = {mil_in(o, "x"), mil_in(o, "indices")};
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", mil_int(o, "axis", 0)), LAYER_END};
    return mil_int(o, "batch_dims", 0) == 0 && one(o, o->op, in, 2, attrs);
}

static bool mil_tile(mil_op *o)
{
    int64_t reps[ML_LIST];
    int n = mil_ints(o, "reps", reps);
    ir_id in[] = {mil_in(o, "x"), layer_ints(&o->l, "repeats", reps, n)};
    return n > 0 && one(o, "Tile", in, 2, NULL);
}

static bool mil_pixel_shuffle(mil_op *o)
{
    ir_id x = mil_in(o, "x");
    ir_attr_spec attrs[] = {IR_SPEC_INT("blocksize", mil_int(o, "upscale_factor", 1)),
                            IR_SPEC_TEXT("mode", "CRD"), LAYER_END};
    return one(o, "DepthToSpace", &x, 1, attrs);
}

/* In the order of strcmp(). */
static const mil_row rows[] = {
    {"abs", mil_unary, "Abs"},
    {"acos", mil_unary, "Acos"},
    {"add", mil_binary, "Add"},
    {"asin", mil_unary, "Asin"},
    {"atan", mil_unary, "Atan"},
    {"avg_pool", mil_pool, "AveragePool"},
    {"batch_norm", mil_batch_norm, NULL},
    {"cast", mil_cast, NULL},
    {"ceil", mil_unary, "Ceil"},
    {"clip", mil_clip, NULL},
    {"concat", mil_concat, NULL},
    {"conv", mil_conv, NULL},
    {"conv_transpose", mil_conv, NULL},
    {"cos", mil_unary, "Cos"},
    {"elu", mil_alpha, "Elu"},
    {"equal", mil_binary, "Equal"},
    {"erf", mil_unary, "Erf"},
    {"exp", mil_unary, "Exp"},
    {"expand_dims", mil_axes, "Unsqueeze"},
    {"flatten2d", mil_reshape, NULL},
    {"floor", mil_unary, "Floor"},
    {"gather", mil_gather, "Gather"},
    {"gather_along_axis", mil_gather, "GatherElements"},
    {"gelu", mil_gelu, NULL},
    {"greater", mil_binary, "Greater"},
    {"greater_equal", mil_binary, "GreaterOrEqual"},
    {"identity", mil_unary, "Identity"},
    {"instance_norm", mil_instance_norm, NULL},
    {"layer_norm", mil_layer_norm, NULL},
    {"leaky_relu", mil_alpha, "LeakyRelu"},
    {"less", mil_binary, "Less"},
    {"less_equal", mil_binary, "LessOrEqual"},
    {"linear", mil_linear, NULL},
    {"log", mil_unary, "Log"},
    {"logical_and", mil_binary, "And"},
    {"logical_not", mil_unary, "Not"},
    {"logical_or", mil_binary, "Or"},
    {"matmul", mil_matmul, NULL},
    {"max_pool", mil_pool, "MaxPool"},
    {"maximum", mil_binary, "Max"},
    {"minimum", mil_binary, "Min"},
    {"mod", mil_binary, "Mod"},
    {"mul", mil_binary, "Mul"},
    {"pad", mil_pad, NULL},
    {"pixel_shuffle", mil_pixel_shuffle, NULL},
    {"pow", mil_binary, "Pow"},
    {"real_div", mil_binary, "Div"},
    {"reduce_l1_norm", mil_reduce, "ReduceL1"},
    {"reduce_l2_norm", mil_reduce, "ReduceL2"},
    {"reduce_log_sum_exp", mil_reduce, "ReduceLogSumExp"},
    {"reduce_max", mil_reduce, "ReduceMax"},
    {"reduce_mean", mil_reduce, "ReduceMean"},
    {"reduce_min", mil_reduce, "ReduceMin"},
    {"reduce_prod", mil_reduce, "ReduceProd"},
    {"reduce_sum", mil_reduce, "ReduceSum"},
    {"reduce_sum_square", mil_reduce, "ReduceSumSquare"},
    {"relu", mil_unary, "Relu"},
    {"relu6", mil_clip, NULL},
    {"reshape", mil_reshape, NULL},
    {"resize_bilinear", mil_resize, "linear"},
    {"resize_nearest_neighbor", mil_resize, "nearest"},
    {"round", mil_unary, "Round"},
    {"rsqrt", mil_rsqrt, NULL},
    {"scaled_dot_product_attention", mil_attention, NULL},
    {"select", mil_select, NULL},
    {"shape", mil_unary, "Shape"},
    {"sigmoid", mil_unary, "Sigmoid"},
    {"sign", mil_unary, "Sign"},
    {"silu", mil_silu, NULL},
    {"sin", mil_unary, "Sin"},
    {"slice_by_index", mil_slice, NULL},
    {"softmax", mil_softmax, NULL},
    {"softplus", mil_unary, "Softplus"},
    {"softsign", mil_unary, "Softsign"},
    {"split", mil_split, NULL},
    {"sqrt", mil_unary, "Sqrt"},
    {"square", mil_square, NULL},
    {"squeeze", mil_axes, "Squeeze"},
    {"sub", mil_binary, "Sub"},
    {"tan", mil_unary, "Tan"},
    {"tanh", mil_unary, "Tanh"},
    {"tile", mil_tile, NULL},
    {"transpose", mil_transpose, NULL},
    {"upsample_bilinear", mil_resize, "linear"},
    {"upsample_nearest_neighbor", mil_resize, "nearest"},
};

const mil_row *mil_row_of(str type)
{
    return bsearch(&type, rows, sizeof rows / sizeof *rows, sizeof *rows, str_order_row);
}
