/* Operators of OpenVINO that compute: convolutions, pooling, matrix products, normalisation, recurrent layers. */
#include "formats/openvino/openvino_impl.h"

#include <math.h>
#include <string.h>

/* ---- windows ---- */

static void take_list(const ov_op *o, const char *name, int64_t *to, bool *has, int *n)
{
    int64_t list[OV_LIST];
    int got = ov_ints(o, name, list);
    *has = got > 0 && got <= IR_MAX_RANK;
    if (!*has)
        return;
    memcpy(to, list, (size_t)got * sizeof *to);
    *n = got;
}

static void take_pads(const ov_op *o, layer_window *w)
{
    int64_t begin[OV_LIST] = {0}, end[OV_LIST] = {0};
    int n = ov_ints(o, "pads_begin", begin), m = ov_ints(o, "pads_end", end);
    if (ov_is(o, "auto_pad", "same_upper", ""))
        w->auto_pad = "SAME_UPPER";
    else if (ov_is(o, "auto_pad", "same_lower", ""))
        w->auto_pad = "SAME_LOWER";
    else if (ov_is(o, "auto_pad", "valid", ""))
        w->auto_pad = "VALID";
    for (int i = 0; i < w->n; i++) {
        w->pads[i] = i < n ? begin[i] : 0;
        w->pads[w->n + i] = i < m ? end[i] : 0;
    }
}

/* Strides that a file leaves out are 1 by the number of spatial axes of input 0. */
static layer_window window_of(const ov_op *o)
{
    layer_window w = {.n = 0};
    take_list(o, "kernel", w.kernel, &w.has_kernel, &w.n);
    take_list(o, "strides", w.strides, &w.has_strides, &w.n);
    take_list(o, "dilations", w.dilations, &w.has_dilations, &w.n);
    if (w.n == 0 && ov_in(o, 0) && ov_in(o, 0)->rank > 2)
        w.n = ov_in(o, 0)->rank - 2;
    take_pads(o, &w);
    return w;
}

/* ---- convolutions ---- */

enum { CONV_ATTRS = LAYER_WINDOW_ATTRS + 4 };

static bool add_conv(ov_op *o, const char *op, ir_id kernel, int64_t group)
{
    layer_window w = window_of(o);
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    ir_id in[] = {o->l.in[0], kernel};
    int k = layer_window_attrs(&w, attrs);
    attrs[k] = IR_SPEC_INT("group", group);
    return layer_node_of(&o->l, NULL, op, in, 2, attrs, 1) != IR_NONE;
}

bool ov_conv(ov_op *o)
{
    return add_conv(o, "Conv", o->l.in[1], 1);
}

/* The sizes of the output are an optional input; pads follow from them. */
static bool add_deconv(ov_op *o, ir_id kernel, int64_t group)
{
    layer_window w = window_of(o);
    int64_t extra[OV_LIST], sizes[OV_LIST];
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    ir_id in[] = {o->l.in[0], kernel};
    int n = ov_ints(o, "output_padding", extra), m = -1;
    const ov_port *out = ov_out(o, 0);
    if (layer_input(&o->l, 2) != IR_NONE) {
        m = ov_const_ints(o, 2, sizes);
        if (m < 0 && ov_static(out) && out->rank == w.n + 2) {
            memcpy(sizes, out->dims + 2, (size_t)w.n * sizeof *sizes);
            m = w.n;
            ov_guessed(o);
        }
        if (m != w.n)
            return false;
    }
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("group", group);
    if (n == w.n)
        attrs[k++] = IR_SPEC_INTS("output_padding", n, extra);
    if (m > 0)
        attrs[k++] = IR_SPEC_INTS("output_shape", m, sizes);
    return layer_node_of(&o->l, NULL, "ConvTranspose", in, 2, attrs, 1) != IR_NONE;
}

bool ov_deconv(ov_op *o)
{
    return add_deconv(o, o->l.in[1], 1);
}

/* [groups, a, b, ...] as [groups * a, b, ...], which is the same data. */
static ir_id merged_kernel(ov_op *o, int64_t *group)
{
    const ov_port *p = ov_in(o, 1);
    int64_t dims[IR_MAX_RANK];
    if (!ov_static(p) || p->rank < 3)
        return IR_NONE;
    memcpy(dims, p->dims + 1, (size_t)(p->rank - 1) * sizeof *dims);
    *group = p->dims[0];
    if (__builtin_mul_overflow(p->dims[0], p->dims[1], &dims[0]))
        return IR_NONE;
    return ov_reshaped(o, 1, dims, p->rank - 1);
}

bool ov_group_conv(ov_op *o)
{
    int64_t group = 1;
    ir_id kernel = merged_kernel(o, &group);
    return kernel != IR_NONE && add_conv(o, "Conv", kernel, group);
}

bool ov_group_deconv(ov_op *o)
{
    int64_t group = 1;
    ir_id kernel = merged_kernel(o, &group);
    return kernel != IR_NONE && add_deconv(o, kernel, group);
}

/* in: x, offsets, kernel, mask; the operator of ONNX is newer than the opset of foreign models. */
bool ov_deformable(ov_op *o)
{
    layer_window w = window_of(o);
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("group", ov_int(o, "group", 1));
    attrs[k++] = IR_SPEC_INT("deformable_group", ov_int(o, "deformable_group", 1));
    return layer_node_of(&o->l, OV_DOMAIN, "DeformableConvolution", o->l.in, o->l.n_in, attrs, 1) !=
           IR_NONE;
}

/* ---- pooling ---- */

bool ov_max_pool(ov_op *o)
{
    layer_window w = window_of(o);
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    int k = layer_window_attrs(&w, attrs);
    bool ceil = ov_is(o, "rounding_type", "ceil", "floor") ||
                ov_is(o, "rounding_type", "ceil_torch", "floor");
    attrs[k] = IR_SPEC_INT("ceil_mode", ceil);
    return layer_node_of(&o->l, NULL, "MaxPool", o->l.in, 1, attrs, 2) != IR_NONE;
}

bool ov_avg_pool(ov_op *o)
{
    layer_window w = window_of(o);
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    w.has_dilations = false;
    int k = layer_window_attrs(&w, attrs);
    bool exclude = ov_bool(o, "exclude-pad", ov_bool(o, "exclude_pad", true));
    bool ceil = ov_is(o, "rounding_type", "ceil", "floor") ||
                ov_is(o, "rounding_type", "ceil_torch", "floor");
    attrs[k++] = IR_SPEC_INT("ceil_mode", ceil);
    attrs[k] = IR_SPEC_INT("count_include_pad", !exclude);
    return layer_node_of(&o->l, NULL, "AveragePool", o->l.in, 1, attrs, 1) != IR_NONE;
}

/* One output is a global pooling; a whole number of inputs for each output is a pooling of that window. */
static bool whole_windows(ov_op *o)
{
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    bool max = str_is(o->layer->type, "AdaptiveMaxPool"), all = true, whole = true;
    layer_window w = {.has_kernel = true, .has_strides = true};
    if (!ov_static(x) || !ov_static(y) || x->rank != y->rank || x->rank < 3)
        return false;
    w.n = x->rank - 2;
    for (int i = 0; i < w.n; i++) {
        int64_t from = x->dims[i + 2], to = y->dims[i + 2];
        all &= to == 1;
        whole &= to > 0 && from % to == 0;
        w.kernel[i] = w.strides[i] = to > 0 ? from / to : 1;
    }
    if (all && o->l.n_out == 1)
        return layer_unary(&o->l, max ? "GlobalMaxPool" : "GlobalAveragePool", NULL);
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    layer_window_attrs(&w, attrs);
    return whole && layer_node_of(&o->l, NULL, max ? "MaxPool" : "AveragePool", o->l.in, 1, attrs,
                                  max ? 2 : 1) != IR_NONE;
}

/* Windows of several sizes have no equal in ONNX. */
bool ov_adaptive_pool(ov_op *o)
{
    return whole_windows(o) || ov_own(o);
}

/* ---- matrix products ---- */

bool ov_matmul(ov_op *o)
{
    bool a = ov_bool(o, "transpose_a", false), b = ov_bool(o, "transpose_b", false);
    const ov_port *p = ov_in(o, 0), *q = ov_in(o, 1);
    a = a && !(p && p->rank == 1); /* a vector has nothing to swap */
    b = b && !(q && q->rank == 1);
    ir_attr_spec attrs[] = {IR_SPEC_INT("transA", a), IR_SPEC_INT("transB", b), LAYER_END};
    if (a || b)
        return layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", o->l.in, 2, attrs, 1) != IR_NONE;
    return layer_node_of(&o->l, NULL, "MatMul", o->l.in, 2, NULL, 1) != IR_NONE;
}

/* softmax(q k' scale + mask) v; in: q, k, v, mask, scale. With a causal mask or a bool one it keeps its name. */
static bool plain_attention(ov_op *o)
{
    const ov_port *q = ov_in(o, 0);
    int64_t size = q && q->rank > 0 ? q->dims[q->rank - 1] : -1;
    double scale = size > 0 ? 1 / sqrt((double)size) : 0;
    if (layer_input(&o->l, 4) != IR_NONE && !ov_const_number(o, 4, &scale))
        return false;
    if (ov_bool(o, "causal", false) || scale <= 0)
        return false;
    ir_attr_spec attrs[] = {IR_SPEC_INT("transB", 1), IR_SPEC_FLOAT("alpha", scale), LAYER_END};
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    ir_id scores = layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", o->l.in, 2, attrs);
    if (layer_input(&o->l, 3) != IR_NONE) {
        bool keep = ov_in_dtype(o, 3) == IR_BOOL;
        if (keep)
            return false;
        ir_id sum[] = {scores, o->l.in[3]};
        scores = layer_step(&o->l, "Add", sum, 2, NULL);
    }
    ir_id in[] = {layer_step(&o->l, "Softmax", &scores, 1, axis), o->l.in[2]};
    return layer_node_of(&o->l, NULL, "MatMul", in, 2, NULL, 1) != IR_NONE;
}

bool ov_attention(ov_op *o)
{
    return plain_attention(o) || ov_own(o);
}

/* States and gates of the rows of "openvino". */
bool ov_recurrent(ov_op *o)
{
    str direction = ov_attr(o, "direction");
    bool both = str_is(direction, "bidirectional") || str_is(direction, "BIDIRECTIONAL");
    ir_attr_spec attrs[] = {IR_SPEC_INT("hidden_size", ov_int(o, "hidden_size", 0)),
                            IR_SPEC_INT("directions", both ? 2 : 1), LAYER_END};
    return layer_node(&o->l, OV_DOMAIN, o->layer->type.p, o->l.in, o->l.n_in, attrs) != IR_NONE;
}

/* ---- normalisation ---- */

bool ov_softmax(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", ov_int(o, "axis", 1)), LAYER_END};
    return layer_unary(&o->l, o->row->op, attrs);
}

bool ov_lrn(ov_op *o)
{
    int64_t axes[OV_LIST];
    int n = ov_const_ints(o, 1, axes);
    if (n >= 0 && (n != 1 || axes[0] != 1))
        return ov_window_lrn(o, axes, n, ov_int(o, "size", 1), ov_float(o, "bias", 1));
    if (n < 0)
        ov_guessed(o);
    ir_attr_spec attrs[] = {IR_SPEC_INT("size", ov_int(o, "size", 1)),
                            IR_SPEC_FLOAT("alpha", ov_float(o, "alpha", 0)),
                            IR_SPEC_FLOAT("beta", ov_float(o, "beta", 0)),
                            IR_SPEC_FLOAT("bias", ov_float(o, "bias", 1)), LAYER_END};
    return layer_unary(&o->l, "LRN", attrs);
}

/* Axes are an input; in opset 1 they are those behind the channels, or behind the batch. */
bool ov_mvn(ov_op *o)
{
    int64_t axes[OV_LIST];
    int n = o->l.n_in > 1 ? ov_const_ints(o, 1, axes) : 0;
    const ov_port *x = ov_in(o, 0);
    bool across = ov_bool(o, "across_channels", true);
    for (int d = across ? 1 : 2; o->l.n_in == 1 && x && d < x->rank; d++)
        axes[n++] = d;
    for (int i = 0; i < n; i++)
        axes[i] = axes[i] < 0 && x && x->rank > 0 ? axes[i] + x->rank : axes[i];
    ir_attr_spec attrs[] = {
        IR_SPEC_FLOAT("eps", ov_float(o, "eps", 1e-9)),
        IR_SPEC_INT("normalize_variance", ov_bool(o, "normalize_variance", true)),
        IR_SPEC_INT("inside", !ov_is(o, "eps_mode", "outside_sqrt", "OUTSIDE_SQRT")),
        IR_SPEC_INTS("axes", n > 0 ? n : 0, axes), LAYER_END};
    if (n <= 0)
        attrs[3] = LAYER_END;
    return made(layer_node_of(&o->l, OV_DOMAIN, "MVN", o->l.in, o->l.n_in, attrs, 1));
}

bool ov_group_norm(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", ov_float(o, "epsilon", 1e-5)),
                            IR_SPEC_INT("num_groups", ov_int(o, "num_groups", 1)), LAYER_END};
    return made(layer_node_of(&o->l, OV_DOMAIN, o->layer->type.p, o->l.in, o->l.n_in, attrs, 1));
}

/* x / sqrt(max(sum(x * x), eps)), or with a sum for max. */
bool ov_normalize(ov_op *o)
{
    int64_t axes[OV_LIST];
    int n = ov_const_ints(o, 1, axes);
    ir_dtype t = ov_in_dtype(o, 0);
    if (n < 0 && ov_in(o, 1) && ov_in(o, 1)->rank == 1 && ov_in(o, 1)->dims[0] == 1) {
        axes[0] = n = 1;
        ov_guessed(o);
    }
    if (n <= 0 || t == IR_UNDEFINED)
        return false;
    ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", 1), IR_SPEC_INTS("axes", n, axes), LAYER_END};
    ir_id floor[] = {layer_step(&o->l, "ReduceSumSquare", o->l.in, 1, attrs),
                     layer_number(&o->l, "eps", t, ov_float(o, "eps", 1e-10))};
    const char *how = ov_is(o, "eps_mode", "max", "add") ? "Max" : "Add";
    ir_id sum = layer_step(&o->l, how, floor, 2, NULL);
    ir_id in[] = {o->l.in[0], layer_step(&o->l, "Sqrt", &sum, 1, NULL)};
    return layer_node_of(&o->l, NULL, "Div", in, 2, NULL, 1) != IR_NONE;
}

/* in: x, gamma, beta, mean, variance; opset 1 has x behind beta. */
bool ov_batch_norm(ov_op *o)
{
    const ir_id *i = o->l.in;
    bool old = str_is(o->layer->opset, "opset1");
    ir_id in[] = {i[old ? 2 : 0], i[old ? 0 : 1], i[old ? 1 : 2], i[3], i[4]};
    ir_attr_spec attrs[] = {
        IR_SPEC_FLOAT("epsilon", ov_float(o, "epsilon", ov_float(o, "eps", 1e-5))), LAYER_END};
    return layer_node_of(&o->l, NULL, "BatchNormalization", in, 5, attrs, 1) != IR_NONE;
}

bool ov_fake_quantize(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("levels", ov_int(o, "levels", 256)), LAYER_END};
    return layer_node_of(&o->l, OV_DOMAIN, "FakeQuantize", o->l.in, o->l.n_in, attrs, 1) != IR_NONE;
}

/* ---- resizing ---- */

static const char *resize_mode(const ov_op *o)
{
    str mode = ov_attr(o, "mode"), old = ov_attr(o, "type"); /* caffe.ResampleParameter.NEAREST */
    if (str_starts(mode, "nearest") || str_contains(old, "NEAREST"))
        return "nearest";
    bool cubic = str_starts(mode, "cubic") || str_starts(mode, "bicub");
    return cubic || str_contains(old, "CUBIC") ? "cubic" : "linear";
}

/* Each size of the output as a multiple of the input's. */
static ir_id resize_scales(ov_op *o, const ov_port *x, const ov_port *y)
{
    float scales[IR_MAX_RANK];
    int64_t n = x->rank;
    for (int d = 0; d < x->rank; d++)
        scales[d] = x->dims[d] > 0 ? (float)((double)y->dims[d] / (double)x->dims[d]) : 1;
    return foreign_floats(o->l.f, o->l.name, "scales", scales, (uint32_t)n);
}

/* Sizes of the resized axes only, which are the last; the others are those of x. */
static ir_id computed_sizes(ov_op *o, const ov_port *x)
{
    int64_t axes[OV_LIST], zero = 0, first;
    const ov_port *p = ov_in(o, 1);
    int k = p && p->rank == 1 && p->dims[0] > 0 ? (int)(p->dims[0] & 0xff) : 0;
    uint32_t slot = str_is(o->layer->opset, "opset11") ? 2 : 3;
    int n = ov_const_ints(o, slot, axes);
    if (!x || x->rank < 3 || k == 0 || k > x->rank || !ir_is_integer(ov_in_dtype(o, 1)))
        return IR_NONE;
    first = x->rank - k;
    if (n > 0 && axes[0] != first && axes[0] != -k)
        return IR_NONE;
    ir_attr_spec to[] = {IR_SPEC_INT("to", IR_INT64), LAYER_END};
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    ir_id shape = layer_step(&o->l, "Shape", o->l.in, 1, NULL);
    ir_id cut[] = {shape, layer_ints(&o->l, "starts", &zero, 1),
                   layer_ints(&o->l, "ends", &first, 1)};
    ir_id parts[] = {layer_step(&o->l, "Slice", cut, 3, NULL),
                     layer_step(&o->l, "Cast", &o->l.in[1], 1, to)};
    return first == 0 ? parts[1] : layer_step(&o->l, "Concat", parts, 2, axis);
}

static bool add_resize(ov_op *o, ir_id scales, ir_id sizes)
{
    static const char *const modes[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                        "align_corners"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    const char *mode = modes[ov_bool(o, "align_corners", false) ? 3 : 0], *nearest = roundings[0];
    for (size_t i = 0; i < 4; i++) {
        if (ov_is(o, "coordinate_transformation_mode", modes[i], ""))
            mode = modes[i];
        if (ov_is(o, "nearest_mode", roundings[i], ""))
            nearest = roundings[i];
    }
    ir_attr_spec attrs[] = {
        IR_SPEC_TEXT("mode", resize_mode(o)), IR_SPEC_TEXT("coordinate_transformation_mode", mode),
        IR_SPEC_TEXT("nearest_mode", nearest),
        IR_SPEC_FLOAT("cubic_coeff_a", ov_float(o, "cube_coeff", -0.75)), LAYER_END};
    ir_id in[] = {o->l.in[0], IR_NONE, scales, sizes};
    return layer_node_of(&o->l, NULL, "Resize", in, sizes == IR_NONE ? 3 : 4, attrs, 1) != IR_NONE;
}

static bool whole_multiples(const ov_port *x, const ov_port *y)
{
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] <= 0 || y->dims[d] % x->dims[d])
            return false;
    return true;
}

/* The sizes by the constants of the operator, where they are there; false: those of the port are used. */
static bool constant_sizes(const ov_op *o, const ov_port *x, int64_t *dims)
{
    int64_t sizes[OV_LIST], axes[OV_LIST];
    int n = ov_const_ints(o, 1, sizes);
    uint32_t slot = str_is(o->layer->opset, "opset11") ? 2 : 3;
    int m = ov_has(o, "axes") ? ov_ints(o, "axes", axes) : ov_const_ints(o, slot, axes);
    if (ov_is(o, "shape_calculation_mode", "scales", "sizes") || n <= 0 || !ov_static(x))
        return false;
    memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
    for (int i = 0; i < n; i++) {
        int64_t axis = m == n ? axes[i] : x->rank - n + i;
        axis = axis < 0 ? axis + x->rank : axis;
        if (axis < 0 || axis >= x->rank || sizes[i] < 0)
            return false;
        dims[axis] = sizes[i];
    }
    return true;
}

bool ov_interpolate(ov_op *o)
{
    int64_t dims[IR_MAX_RANK];
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    ov_port own = {.rank = x ? x->rank : 0, .dims = dims};
    if (constant_sizes(o, x, dims))
        y = &own;
    else if (ov_constant(o, 1))
        ov_guessed(o);
    bool known = ov_static(x) && ov_static(y) && x->rank == y->rank;
    if (known && whole_multiples(x, y))
        return add_resize(o, resize_scales(o, x, y), IR_NONE);
    if (known)
        return add_resize(o, IR_NONE, layer_ints(&o->l, "sizes", y->dims, y->rank));
    ir_id sizes = computed_sizes(o, x);
    return sizes != IR_NONE && add_resize(o, IR_NONE, sizes);
}
