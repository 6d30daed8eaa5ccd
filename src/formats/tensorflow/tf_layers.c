/* Convolutions, pooling, products, normalisation and activations of TensorFlow. Channels are last unless data_format says
 * otherwise: such layers become rows of "assay.nhwc", the others rows of ONNX, whose kernels are transposed. */
#include <math.h>
#include <string.h>

#include "formats/tensorflow/tf_impl.h"

static bool channels_first(const tf_op *o)
{
    return str_starts(tf_text(o, "data_format"), "NC");
}

/* ---- windows ---- */

enum { MAX_SPATIAL = 3 };

typedef struct window {
    layer_window w;
    int64_t lists[3][TF_LIST];
} window;

/* The spatial part of a list over all axes. */
static bool spatial(const tf_op *o, const char *key, int n, int64_t *out, bool *has)
{
    int64_t list[TF_LIST];
    int first = channels_first(o) ? 2 : 1, found = tf_int_list(o, key, list);
    *has = found > 0;
    if (found <= 0)
        return true;
    if (found != n + 2)
        return false;
    memcpy(out, list + first, (size_t)n * sizeof *out);
    return true;
}

/* explicit_paddings: before and after each axis. */
static bool explicit_pads(const tf_op *o, layer_window *w)
{
    int64_t list[TF_LIST];
    int first = channels_first(o) ? 2 : 1;
    if (tf_int_list(o, "explicit_paddings", list) != 2 * (w->n + 2))
        return false;
    for (int d = 0; d < w->n; d++) {
        w->pads[d] = list[2 * (first + d)];
        w->pads[w->n + d] = list[2 * (first + d) + 1];
    }
    return true;
}

static bool read_window(const tf_op *o, int n, layer_window *w)
{
    str padding = tf_text(o, "padding");
    *w = (layer_window){.n = n};
    w->auto_pad = str_is(padding, "SAME")    ? "SAME_UPPER"
                  : str_is(padding, "VALID") ? "VALID"
                                             : NULL;
    if (!w->auto_pad && !(str_is(padding, "EXPLICIT") && explicit_pads(o, w)))
        return false;
    return spatial(o, "strides", n, w->strides, &w->has_strides) &&
           spatial(o, "dilations", n, w->dilations, &w->has_dilations) &&
           spatial(o, "ksize", n, w->kernel, &w->has_kernel);
}

static int spatial_axes(const tf_op *o)
{
    return str_contains(o->n->op, "3D") || str_contains(o->n->op, "3d") ? 3 : 2;
}

/* ---- convolutions ---- */

static ir_id channels_last_of(const tf_op *o, ir_id x, int n)
{
    static const int64_t perm[2][5] = {{0, 2, 3, 1}, {0, 2, 3, 4, 1}};
    return layer_step_transpose(&o->l, x, perm[n - 2], n + 2);
}

static bool channels_first_of(const tf_op *o, ir_id x, int n)
{
    static const int64_t perm[2][5] = {{0, 3, 1, 2}, {0, 4, 1, 2, 3}};
    return layer_transpose(&o->l, x, perm[n - 2], n + 2);
}

/* A row with channels last; data with channels first is transposed before and after it. */
static bool nhwc_node(const tf_op *o, const char *op, ir_id *in, uint32_t n_in,
                      const ir_attr_spec *attrs)
{
    int n = spatial_axes(o);
    if (!channels_first(o))
        return made(layer_node_of(&o->l, FOREIGN_NHWC, op, in, n_in, attrs, 1));
    in[0] = channels_last_of(o, in[0], n);
    return channels_first_of(o, layer_step_in(&o->l, FOREIGN_NHWC, op, in, n_in, attrs), n);
}

/* in: x, kernel. */
bool tf_conv_of(tf_op *o, const ir_id *from)
{
    static const int64_t perm[2][5] = {{3, 2, 0, 1}, {4, 3, 0, 1, 2}};
    layer_window w;
    int n = spatial_axes(o);
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 2] = {{0}};
    if (!read_window(o, n, &w))
        return false;
    int k = layer_window_attrs(&w, attrs);
    ir_id in[] = {from[0], from[1]};
    if (channels_first(o)) {
        in[1] = layer_step_transpose(&o->l, in[1], perm[n - 2], n + 2);
        return made(layer_node_of(&o->l, NULL, "Conv", in, 2, attrs, 1));
    }
    attrs[k] = IR_SPEC_TEXT("kernel_layout", n == 3 ? "DHWIO" : "HWIO");
    return made(layer_node_of(&o->l, FOREIGN_NHWC, "Conv", in, 2, attrs, 1));
}

bool tf_conv(tf_op *o)
{
    return tf_conv_of(o, o->in);
}

bool tf_depthwise(tf_op *o)
{
    layer_window w;
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 2] = {{0}};
    if (!read_window(o, 2, &w))
        return false;
    attrs[layer_window_attrs(&w, attrs)] = IR_SPEC_TEXT("kernel_layout", "HWIM");
    ir_id in[] = {o->in[0], o->in[1]};
    return nhwc_node(o, "Conv", in, 2, attrs);
}

/* in: shape of the output, kernel [H,W,outputs,inputs], x. The shape has the order of the data. */
bool tf_conv_backprop(tf_op *o)
{
    layer_window w;
    int n = spatial_axes(o);
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 2] = {{0}};
    if (!read_window(o, n, &w))
        return false;
    attrs[layer_window_attrs(&w, attrs)] = IR_SPEC_TEXT("kernel_layout", n == 3 ? "DHWOI" : "HWOI");
    ir_id in[] = {o->in[2], o->in[1], IR_NONE, o->in[0]};
    return nhwc_node(o, "ConvTranspose", in, channels_first(o) ? 2 : 4, attrs);
}

bool tf_pool(tf_op *o)
{
    layer_window w;
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 1] = {{0}};
    if (!read_window(o, spatial_axes(o), &w) || !w.has_kernel)
        return false;
    layer_window_attrs(&w, attrs);
    const char *domain = channels_first(o) ? NULL : FOREIGN_NHWC;
    return made(layer_node_of(&o->l, domain, o->row->onnx, o->in, 1, attrs, 1));
}

/* ---- products ---- */

static bool either(const tf_op *o, const char *a, const char *b)
{
    return tf_bool(o, a, false) || tf_bool(o, b, false);
}

bool tf_matmul(tf_op *o)
{
    bool a = either(o, "transpose_a", "adj_x"), b = either(o, "transpose_b", "adj_y");
    const ir_attr_spec attrs[] = {IR_SPEC_INT("transA", a), IR_SPEC_INT("transB", b), LAYER_END};
    return a || b ? made(layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", o->in, 2, attrs, 1))
                  : made(layer_node_of(&o->l, NULL, "MatMul", o->in, 2, NULL, 1));
}

bool tf_einsum(tf_op *o)
{
    str text = tf_text(o, "equation");
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("equation", text.p ? text.p : ""), LAYER_END};
    return text.n && made(layer_node_of(&o->l, NULL, "Einsum", o->in, o->l.n_in, attrs, 1));
}

/* With channels first, the bias is one number for each axis behind them. */
bool tf_bias_add(tf_op *o)
{
    static const int64_t axes[] = {1, 2, 3};
    ir_id in[] = {o->in[0], o->in[1]};
    int rank = tf_rank(o, 0);
    if (channels_first(o)) {
        ir_id list[] = {in[1],
                        layer_ints(&o->l, "axes", axes, rank > 2 && rank < 6 ? rank - 2 : 2)};
        in[1] = layer_step(&o->l, "Unsqueeze", list, 2, NULL);
    }
    return made(layer_node_of(&o->l, NULL, "Add", in, 2, NULL, 1));
}

/* ---- normalisation ---- */

/* Mean and variance are those of the batch: over all axes but the channels. */
static bool normalize_batch(tf_op *o, double epsilon)
{
    int n = spatial_axes(o);
    bool first = channels_first(o);
    int64_t axes[LAYER_LIST], shape[LAYER_LIST];
    for (int d = 0, k = 0; d < n + 2; d++) {
        shape[d] = d == (first ? 1 : n + 1) ? -1 : 1;
        if (shape[d] == 1)
            axes[k++] = d;
    }
    const ir_attr_spec mean[] = {IR_SPEC_INTS("axes", n + 1, axes), IR_SPEC_INT("keepdims", 1),
                                 LAYER_END};
    ir_id m = layer_step(&o->l, "ReduceMean", o->in, 1, mean);
    ir_id d = layer_step(&o->l, "Sub", (ir_id[]){o->in[0], m}, 2, NULL);
    ir_id square = layer_step(&o->l, "Mul", (ir_id[]){d, d}, 2, NULL);
    ir_id v = layer_step(&o->l, "ReduceMean", &square, 1, mean);
    ir_id e = layer_number(&o->l, "epsilon", IR_FLOAT32, epsilon);
    ir_id sum = layer_step(&o->l, "Add", (ir_id[]){v, e}, 2, NULL);
    ir_id root = layer_step(&o->l, "Sqrt", &sum, 1, NULL);
    ir_id unit = layer_step(&o->l, "Div", (ir_id[]){d, root}, 2, NULL);
    ir_id scale = first ? layer_step_reshape(&o->l, o->in[1], shape, n + 2) : o->in[1];
    ir_id shift = first ? layer_step_reshape(&o->l, o->in[2], shape, n + 2) : o->in[2];
    ir_id scaled = layer_step(&o->l, "Mul", (ir_id[]){unit, scale}, 2, NULL);
    return made(layer_node_of(&o->l, NULL, "Add", (ir_id[]){scaled, shift}, 2, NULL, 1));
}

/* in: x, scale, offset, mean, variance; out: y, mean, variance, and others that only training reads. */
bool tf_batch_norm(tf_op *o)
{
    double epsilon = tf_float(o, "epsilon", 1e-4);
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", epsilon), LAYER_END};
    const char *domain = channels_first(o) ? NULL : FOREIGN_NHWC;
    bool training = tf_bool(o, "is_training", true);
    if (o->l.n_in != 5 || (training && (o->l.n_out > 1 || tf_dtype(o, "T") != IR_FLOAT32)))
        return false;
    if (training)
        return normalize_batch(o, epsilon);
    for (uint32_t i = 1; i < o->l.n_out && i < 3; i++)
        tf_stand(o, i, o->in[i + 2]);
    return made(layer_node_of(&o->l, domain, "BatchNormalization", o->in, 5, attrs, 1));
}

bool tf_softmax(tf_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    return made(layer_node_of(&o->l, NULL, o->row->onnx, o->in, 1, attrs, 1));
}

/* alpha is per tap here, and for the whole window in ONNX. */
bool tf_lrn(tf_op *o)
{
    int64_t radius = tf_int(o, "depth_radius", 5);
    int64_t size = radius < 0 || radius > 1 << 20 ? 1 : 2 * radius + 1;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("size", size),
                                  IR_SPEC_FLOAT("bias", tf_float(o, "bias", 1)),
                                  IR_SPEC_FLOAT("alpha", tf_float(o, "alpha", 1) * (double)size),
                                  IR_SPEC_FLOAT("beta", tf_float(o, "beta", 0.5)), LAYER_END};
    return made(layer_node_of(&o->l, FOREIGN_NHWC, "LRN", o->in, 1, attrs, 1));
}

/* Half the sum of squares. */
bool tf_l2_loss(tf_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", 0), LAYER_END};
    ir_id sum = layer_step(&o->l, "ReduceSumSquare", o->in, 1, attrs);
    ir_id in[] = {sum, layer_number(&o->l, "half", tf_dtype(o, "T"), 0.5)};
    return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
}

/* ---- activations ---- */

bool tf_clip(tf_op *o)
{
    if (str_is(o->n->op, "Relu6"))
        return layer_clip(&o->l, o->in[0], tf_dtype(o, "T"), 0, 6);
    ir_id in[] = {o->in[0], o->in[1], o->in[2]}; /* ClipByValue: x, low, high */
    return made(layer_node_of(&o->l, NULL, "Clip", in, 3, NULL, 1));
}

bool tf_leaky_relu(tf_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", tf_float(o, "alpha", 0.2)), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "LeakyRelu", o->in, 1, attrs, 1));
}

/* Whole numbers of num_bits between min and max: QuantizeLinear and DequantizeLinear with the nudged scale. */
static bool fake_quant(tf_op *o, double low, double high)
{
    int64_t bits = tf_int(o, "num_bits", 8);
    bool narrow = tf_bool(o, "narrow_range", false);
    double first = narrow ? 1 : 0, last = bits >= 2 && bits <= 8 ? (double)((1 << bits) - 1) : 0;
    if (last == 0 || !(low < high))
        return false;
    double scale = (high - low) / (last - first), zero = round(first - low / scale);
    zero = zero < first ? first : zero > last ? last : zero;
    ir_id step = layer_number(&o->l, "scale", IR_FLOAT32, scale);
    ir_id in[] = {o->in[0], step, layer_number(&o->l, "zero_point", IR_UINT8, zero)};
    in[0] = layer_step(&o->l, "QuantizeLinear", in, 3, NULL);
    return made(layer_node_of(&o->l, NULL, "DequantizeLinear", in, 3, NULL, 1));
}

static bool number_of(const tf_op *o, uint32_t in, double *v)
{
    const ir_tensor *t = o->in[in] == IR_NONE ? NULL : ir_value_at(o->r->f.m, o->in[in])->constant;
    if (!t || t->storage != IR_DATA_INLINE || t->n_elems != 1 || !ir_is_float(t->dtype))
        return false;
    *v = ir_load_float(t->dtype, t->bytes);
    return true;
}

bool tf_fake_quant(tf_op *o)
{
    double low = tf_float(o, "min", -6), high = tf_float(o, "max", 6);
    if (str_is(o->n->op, "FakeQuantWithMinMaxArgs"))
        return fake_quant(o, low, high);
    return o->l.n_in == 3 && number_of(o, 1, &low) && number_of(o, 2, &high) &&
           fake_quant(o, low, high);
}

/* in: uint8 x, least and greatest value. Types with a sign and SCALED have other formulas. */
bool tf_dequantize(tf_op *o)
{
    double low, high;
    bool plain = !tf_text(o, "mode").n || tf_is(o, "mode", "MIN_COMBINED");
    if (!plain || tf_dtype(o, "T") != IR_UINT8 || tf_int(o, "axis", -1) != -1 ||
        !number_of(o, 1, &low) || !number_of(o, 2, &high))
        return false;
    const ir_attr_spec to[] = {IR_SPEC_INT("to", IR_FLOAT32), LAYER_END};
    ir_id scaled[] = {layer_step(&o->l, "Cast", o->in, 1, to),
                      layer_number(&o->l, "scale", IR_FLOAT32, (high - low) / 255)};
    ir_id in[] = {layer_step(&o->l, "Mul", scaled, 2, NULL), o->in[1]};
    return made(layer_node_of(&o->l, NULL, "Add", in, 2, NULL, 1));
}

/* ---- images ---- */

bool tf_resize(tf_op *o)
{
    const ir_attr_spec attrs[] = {
        IR_SPEC_TEXT("mode", o->row->onnx),
        IR_SPEC_INT("align_corners", tf_bool(o, "align_corners", false)),
        IR_SPEC_INT("half_pixel_centers", tf_bool(o, "half_pixel_centers", false)), LAYER_END};
    return made(layer_node_of(&o->l, FOREIGN_NHWC, "Resize", o->in, 2, attrs, 1));
}

bool tf_blocks(tf_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("blocksize", tf_int(o, "block_size", 0)), LAYER_END};
    const char *domain = channels_first(o) ? NULL : FOREIGN_NHWC;
    return made(layer_node_of(&o->l, domain, o->row->onnx, o->in, 1, attrs, 1));
}

bool tf_batch_blocks(tf_op *o)
{
    return made(layer_node_of(&o->l, FOREIGN_NHWC, o->row->onnx, o->in, 3, NULL, 1));
}

/* in: boxes [n,4], scores [n], most, overlap, least score. */
bool tf_nms(tf_op *o)
{
    static const int64_t front[] = {0}, fronts[] = {0, 1}, last[] = {2}, one[] = {1};
    const foreign_layer *l = &o->l;
    ir_id boxes[] = {o->in[0], layer_ints(l, "batch", front, 1)};
    ir_id scores[] = {o->in[1], layer_ints(l, "class", fronts, 2)};
    ir_id most[] = {o->in[2], layer_ints(l, "list", one, 1)};
    const ir_attr_spec wide[] = {IR_SPEC_INT("to", IR_INT64), LAYER_END};
    most[0] = layer_step(l, "Cast", most, 1, wide);
    ir_id in[5] = {layer_step(l, "Unsqueeze", boxes, 2, NULL),
                   layer_step(l, "Unsqueeze", scores, 2, NULL),
                   layer_step(l, "Reshape", most, 2, NULL), layer_input(l, 3), layer_input(l, 4)};
    if (o->n->n_out > 1) /* scores, or how many are valid */
        return false;
    uint32_t n_in = in[4] != IR_NONE ? 5 : in[3] != IR_NONE ? 4 : 3;
    for (uint32_t i = 3; i < n_in; i++) {
        ir_id list[] = {in[i], layer_ints(l, "list", one, 1)};
        in[i] = layer_step(l, "Reshape", list, 2, NULL);
    }
    ir_id found = layer_step(l, "NonMaxSuppression", in, n_in, NULL);
    const ir_attr_spec column[] = {IR_SPEC_INT("axis", 1), LAYER_END};
    ir_id pick[] = {found, layer_ints(l, "column", last, 1)};
    ir_id cut[] = {layer_step(l, "Gather", pick, 2, column), layer_ints(l, "axis", one, 1)};
    return layer_cast(l, layer_step(l, "Squeeze", cut, 2, NULL), IR_INT32);
}
