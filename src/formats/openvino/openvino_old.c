/* Layers of IR versions 2 to 7 that later versions have in another form: weights are blobs of the layer, and attributes
 * take the place of constant inputs. Other layers keep their name and the sizes of their ports. */
#include "formats/openvino/openvino_impl.h"

#include <math.h>
#include <string.h>

/* Version 2 has a number for each axis: kernel-y, kernel-x. */
static bool oldest_window(const ov_op *o, layer_window *w)
{
    int64_t y = ov_int(o, "kernel-y", 0), x = ov_int(o, "kernel-x", 0);
    if (y < 1 || x < 1)
        return false;
    int64_t top = ov_int(o, "pad-y", 0), left = ov_int(o, "pad-x", 0);
    *w = (layer_window){.n = 2,
                        .has_kernel = true,
                        .has_strides = true,
                        .has_dilations = true,
                        .kernel = {y, x},
                        .strides = {ov_int(o, "stride-y", 1), ov_int(o, "stride-x", 1)},
                        .dilations = {ov_int(o, "dilation-y", 1), ov_int(o, "dilation-x", 1)},
                        .pads = {top, left, ov_int(o, "pad-b", top), ov_int(o, "pad-r", left)}};
    return true;
}

static bool old_window(const ov_op *o, layer_window *w)
{
    int64_t list[OV_LIST], ends[OV_LIST];
    int n = ov_ints(o, "kernel", list), m;
    if (n <= 0)
        return oldest_window(o, w);
    if (n > 8)
        return false;
    *w = (layer_window){.n = n, .has_kernel = true, .has_strides = true};
    memcpy(w->kernel, list, (size_t)n * sizeof *list);
    m = ov_ints(o, "strides", list);
    for (int i = 0; i < n; i++)
        w->strides[i] = i < m ? list[i] : 1;
    m = ov_ints(o, "dilations", list);
    w->has_dilations = m == n;
    for (int i = 0; i < m && i < n; i++)
        w->dilations[i] = list[i];
    m = ov_ints(o, "pads_begin", list);
    int k = ov_ints(o, "pads_end", ends);
    for (int i = 0; i < n; i++) {
        w->pads[i] = i < m ? list[i] : 0;
        w->pads[n + i] = i < k ? ends[i] : 0;
    }
    if (ov_is(o, "auto_pad", "same_upper", "") || ov_is(o, "auto_pad", "same_lower", ""))
        w->auto_pad = ov_is(o, "auto_pad", "same_upper", "") ? "SAME_UPPER" : "SAME_LOWER";
    else if (ov_is(o, "auto_pad", "valid", ""))
        w->auto_pad = "VALID";
    return true;
}

static ir_id bias_of(const ov_op *o, int64_t n)
{
    return ov_blob_value(o, "biases", 1, &n);
}

static bool old_conv(ov_op *o, const char *op, bool transposed)
{
    layer_window w;
    int64_t outputs = ov_int(o, "output", 0), group = ov_int(o, "group", 1), dims[16];
    const ov_port *x = ov_in(o, 0);
    if (!old_window(o, &w) || outputs < 1 || group < 1 || !x || x->rank != w.n + 2 ||
        x->dims[1] < 1)
        return false;
    dims[0] = transposed ? x->dims[1] : outputs;
    dims[1] = (transposed ? outputs : x->dims[1]) / group;
    memcpy(dims + 2, w.kernel, (size_t)w.n * sizeof *dims);
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 2] = {{0}};
    attrs[layer_window_attrs(&w, attrs)] = IR_SPEC_INT("group", group);
    ir_id in[] = {o->l.in[0], ov_blob_value(o, "weights", w.n + 2, dims), bias_of(o, outputs)};
    if (in[1] == IR_NONE)
        in[1] = layer_input(&o->l, 1);
    return in[1] != IR_NONE &&
           layer_node_of(&o->l, NULL, op, in, in[2] == IR_NONE ? 2 : 3, attrs, 1) != IR_NONE;
}

bool ov_old_conv(ov_op *o)
{
    return old_conv(o, "Conv", false);
}

bool ov_old_deconv(ov_op *o)
{
    return old_conv(o, "ConvTranspose", true);
}

/* Axes behind the first are one. */
bool ov_old_dense(ov_op *o)
{
    int64_t outputs = ov_int(o, "out-size", 0), flat[] = {0, -1}, dims[2];
    uint64_t n = ov_blob_elements(o, "weights");
    if (outputs < 1 || n % (uint64_t)outputs || n / (uint64_t)outputs > INT32_MAX)
        return false;
    dims[0] = outputs;
    dims[1] = (int64_t)(n / (uint64_t)outputs);
    const ov_port *x = ov_in(o, 0);
    ir_id from = x && x->rank == 2 ? o->l.in[0] : layer_step_reshape(&o->l, o->l.in[0], flat, 2);
    ir_id in[] = {from, ov_blob_value(o, "weights", 2, dims), bias_of(o, outputs)};
    ir_attr_spec attrs[] = {IR_SPEC_INT("transB", 1), LAYER_END};
    return in[1] != IR_NONE &&
           layer_node_of(&o->l, NULL, "Gemm", in, in[2] == IR_NONE ? 2 : 3, attrs, 1) != IR_NONE;
}

bool ov_old_pool(ov_op *o)
{
    layer_window w;
    bool max = ov_is(o, "pool-method", "max", "max");
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 3] = {{0}};
    if (!old_window(o, &w))
        return false;
    w.has_dilations = false;
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("ceil_mode", ov_is(o, "rounding_type", "ceil", "floor"));
    if (!max)
        attrs[k] = IR_SPEC_INT("count_include_pad", !ov_bool(o, "exclude-pad", true));
    return layer_unary(&o->l, max ? "MaxPool" : "AveragePool", attrs);
}

bool ov_old_eltwise(ov_op *o)
{
    static const struct {
        const char *name, *op;
    } rows[] = {{"sum", "Add"},      {"mul", "Mul"},         {"prod", "Mul"},
                {"max", "Max"},      {"min", "Min"},         {"sub", "Sub"},
                {"div", "Div"},      {"pow", "Pow"},         {"less", "Less"},
                {"equal", "Equal"},  {"greater", "Greater"}, {"logical_and", "And"},
                {"logical_or", "Or"}};
    if (o->l.n_in != 2 || ov_attr(o, "coeff").n)
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ov_is(o, "operation", rows[i].name, "sum"))
            return layer_node_of(&o->l, NULL, rows[i].op, o->l.in, 2, NULL, 1) != IR_NONE;
    return false;
}

bool ov_old_permute(ov_op *o)
{
    int64_t perm[OV_LIST];
    int n = ov_ints(o, "order", perm);
    return n > 0 && layer_transpose(&o->l, o->l.in[0], perm, n);
}

bool ov_old_relu(ov_op *o)
{
    double slope = ov_float(o, "negative_slope", 0);
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", slope), LAYER_END};
    return slope != 0 ? layer_unary(&o->l, "LeakyRelu", attrs) : layer_unary(&o->l, "Relu", NULL);
}

/* (shift + scale * x) ^ power */
bool ov_old_power(ov_op *o)
{
    double part[] = {ov_float(o, "scale", 1), ov_float(o, "shift", 0), ov_float(o, "power", 1)};
    static const double none[] = {1, 0, 1};
    static const char *const ops[] = {"Mul", "Add", "Pow"}, *const names[] = {"scale", "shift",
                                                                              "power"};
    ir_id x = o->l.in[0];
    int last = -1;
    for (int i = 0; i < 3; i++)
        if (part[i] != none[i])
            last = i;
    if (last < 0)
        return layer_unary(&o->l, "Identity", NULL);
    for (int i = 0; i < last; i++) {
        ir_id in[] = {x, IR_NONE};
        if (part[i] == none[i])
            continue;
        in[1] = layer_number(&o->l, names[i], IR_FLOAT32, part[i]);
        x = layer_step(&o->l, ops[i], in, 2, NULL);
    }
    ir_id in[] = {x, layer_number(&o->l, names[last], IR_FLOAT32, part[last])};
    return layer_node_of(&o->l, NULL, ops[last], in, 2, NULL, 1) != IR_NONE;
}

/* A blob with a value per channel, for a product with the first input; IR_NONE: it does not fit. */
static ir_id channel_values(ov_op *o, const char *blob)
{
    uint64_t n = ov_blob_elements(o, blob);
    const ov_port *x = ov_in(o, 0);
    int64_t dims[IR_MAX_RANK];
    if (!x || x->rank < 2 || n == 0 || n > INT32_MAX)
        return IR_NONE;
    for (int d = 0; d < x->rank - 1; d++)
        dims[d] = d ? 1 : (int64_t)n;
    return ov_blob_value(o, blob, x->rank - 1, dims);
}

static bool by_channel(ov_op *o, const char *op)
{
    ir_id in[] = {o->l.in[0], channel_values(o, "weights")};
    return in[1] != IR_NONE && layer_node_of(&o->l, NULL, op, in, 2, NULL, 1) != IR_NONE;
}

/* x * weights + biases by channel. */
bool ov_old_scale(ov_op *o)
{
    if (ov_blob_elements(o, "biases") != ov_blob_elements(o, "weights"))
        return by_channel(o, "Mul");
    ir_id in[] = {o->l.in[0], channel_values(o, "weights")};
    if (in[1] == IR_NONE)
        return false;
    ir_id sum[] = {layer_step(&o->l, "Mul", in, 2, NULL), channel_values(o, "biases")};
    return sum[1] != IR_NONE && layer_node_of(&o->l, NULL, "Add", sum, 2, NULL, 1) != IR_NONE;
}

bool ov_old_norm(ov_op *o)
{
    static const int64_t within[] = {2, 3};
    if (!ov_is(o, "region", "across", "across"))
        return ov_window_lrn(o, within, 2, ov_int(o, "local-size", 1), ov_float(o, "k", 1));
    ir_attr_spec attrs[] = {IR_SPEC_INT("size", ov_int(o, "local-size", 1)),
                            IR_SPEC_FLOAT("alpha", ov_float(o, "alpha", 0)),
                            IR_SPEC_FLOAT("beta", ov_float(o, "beta", 0)),
                            IR_SPEC_FLOAT("bias", ov_float(o, "k", 1)), LAYER_END};
    return layer_unary(&o->l, "LRN", attrs);
}

/* x / sqrt(sum(x * x) + eps) * weights; sums are over the channels, or over all axes behind the batch. */
bool ov_old_normalize(ov_op *o)
{
    const ov_port *x = ov_in(o, 0);
    int64_t axes[IR_MAX_RANK];
    int n = 0;
    ir_id weights = channel_values(o, "weights");
    if (!x || x->rank < 2 || weights == IR_NONE)
        return false;
    for (int d = 1; d < x->rank && (d == 1 || ov_bool(o, "across_spatial", false)); d++)
        axes[n++] = d;
    ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", 1), IR_SPEC_INTS("axes", n, axes), LAYER_END};
    ir_id sum[] = {layer_step(&o->l, "ReduceSumSquare", o->l.in, 1, attrs),
                   layer_number(&o->l, "eps", IR_FLOAT32, ov_float(o, "eps", 1e-10))};
    ir_id more = layer_step(&o->l, "Add", sum, 2, NULL);
    ir_id unit[] = {o->l.in[0], layer_step(&o->l, "Sqrt", &more, 1, NULL)};
    ir_id in[] = {layer_step(&o->l, "Div", unit, 2, NULL), weights};
    return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
}

/* Where each axis begins is a list; sizes of the ports say where it ends. */
bool ov_old_crop(ov_op *o)
{
    int64_t axes[OV_LIST], starts[OV_LIST];
    int n = ov_ints(o, "axis", axes),
        m = ov_ints(o, ov_has(o, "crop_begin") ? "crop_begin" : "offset", starts);
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    layer_slicing *s = ARENA_NEW(o->l.f->scratch, layer_slicing);
    if (!s || n < 1 || n != m || !x || !ov_static(y) || x->rank != y->rank)
        return false;
    for (int i = 0; i < n; i++) {
        if (axes[i] < 0 || axes[i] >= y->rank || starts[i] < 0 || starts[i] > INT32_MAX)
            return false;
        layer_slice_axis(s, axes[i], starts[i], starts[i] + y->dims[axes[i]], 1);
    }
    return layer_slice(&o->l, o->l.in[0], s);
}

bool ov_old_tile(ov_op *o)
{
    const ov_port *x = ov_in(o, 0);
    int64_t axis = ov_int(o, "axis", -1), tiles = ov_int(o, "tiles", 0), list[IR_MAX_RANK];
    if (!x || axis < 0 || axis >= x->rank || tiles < 1)
        return false;
    for (int d = 0; d < x->rank; d++)
        list[d] = d == axis ? tiles : 1;
    ir_id in[] = {o->l.in[0], layer_ints(&o->l, "repeats", list, x->rank)};
    return made(layer_node_of(&o->l, NULL, "Tile", in, 2, NULL, 1));
}

/* Its target is an attribute, an input or the sizes of the port. */
bool ov_old_reshape(ov_op *o)
{
    const ov_port *y = ov_out(o, 0);
    return ov_static(y) && layer_reshape(&o->l, o->l.in[0], y->dims, y->rank);
}

bool ov_old_clamp(ov_op *o)
{
    return layer_clip(&o->l, o->l.in[0], IR_FLOAT32, ov_float(o, "min", (double)NAN),
                      ov_float(o, "max", (double)NAN));
}

bool ov_old_prelu(ov_op *o)
{
    return by_channel(o, "PRelu");
}

bool ov_old_split(ov_op *o)
{
    int64_t axis = ov_int(o, "axis", 1), list[OV_LIST];
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    for (uint32_t i = 0; i < o->l.n_out; i++) {
        const ov_port *y = ov_out(o, i);
        if (i >= OV_LIST || axis < 0 || axis >= y->rank || y->dims[axis] < 0)
            return false;
        list[i] = y->dims[axis];
    }
    ir_id in[] = {o->l.in[0], layer_ints(&o->l, "split", list, (int)o->l.n_out)};
    return layer_node(&o->l, NULL, "Split", in, 2, attrs) != IR_NONE;
}

bool ov_old_activation(ov_op *o)
{
    static const struct {
        const char *name, *op;
    } rows[] = {{"sigmoid", "Sigmoid"}, {"tanh", "Tanh"}, {"relu", "Relu"},
                {"exp", "Exp"},         {"elu", "Elu"},   {"not", "Not"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ov_is(o, "type", rows[i].name, ""))
            return layer_unary(&o->l, rows[i].op, NULL);
    return false;
}
