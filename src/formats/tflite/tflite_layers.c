/* Operators of TFLite that compute: convolutions, pooling, matrix products, normalisation, activations, quantisation. */
#include "formats/tflite/tflite_impl.h"

/* SAME pads so that sizes are divided by the stride, VALID not at all. */
static ir_attr_spec padding_of(const tfl_op *o)
{
    bool valid = flat_u8(o->r->flat, o->options, 0, 0) == 1;
    return IR_SPEC_TEXT("auto_pad", valid ? "VALID" : "SAME_UPPER");
}

static int64_t option(const tfl_op *o, unsigned id, int64_t def)
{
    return flat_i32(o->r->flat, o->options, id, def);
}

static ir_id input(const tfl_op *o, uint32_t i)
{
    return i < o->n_in ? o->in[i] : IR_NONE;
}

/* ---- convolutions ---- */

/* in: x, kernel, bias (IR_NONE: absent). */
static assay_status add_conv(tfl_op *o, const char *layout, const int64_t *strides,
                             const int64_t *dilations, int n, bool *mapped)
{
    ir_id in[] = {o->in[0], o->in[1], input(o, 2)};
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("kernel_layout", layout), padding_of(o),
                            IR_SPEC_INTS("strides", n, strides),
                            IR_SPEC_INTS("dilations", n, dilations), TFL_END};
    *mapped = tfl_node(o, FOREIGN_NHWC, "Conv", in, in[2] == IR_NONE ? 2 : 3, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_conv(tfl_op *o, bool *mapped)
{
    int64_t strides[] = {option(o, 2, 0), option(o, 1, 0)};
    int64_t dilations[] = {option(o, 5, 1), option(o, 4, 1)};
    return add_conv(o, "OHWI", strides, dilations, 2, mapped);
}

assay_status tfl_depthwise(tfl_op *o, bool *mapped)
{
    int64_t strides[] = {option(o, 2, 0), option(o, 1, 0)};
    int64_t dilations[] = {option(o, 6, 1), option(o, 5, 1)};
    return add_conv(o, "1HWO", strides, dilations, 2, mapped);
}

assay_status tfl_conv3d(tfl_op *o, bool *mapped)
{
    int64_t strides[] = {option(o, 1, 0), option(o, 3, 0), option(o, 2, 0)};
    int64_t dilations[] = {option(o, 5, 1), option(o, 7, 1), option(o, 6, 1)};
    return add_conv(o, "DHWIO", strides, dilations, 3, mapped);
}

/* in: shape of the output, kernel, x, bias. */
static assay_status add_transposed(tfl_op *o, const char *layout, const int64_t *strides, int n,
                                   bool *mapped)
{
    ir_id in[] = {o->in[2], o->in[1], input(o, 3), o->in[0]};
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("kernel_layout", layout), padding_of(o),
                            IR_SPEC_INTS("strides", n, strides), TFL_END};
    *mapped = tfl_node(o, FOREIGN_NHWC, "ConvTranspose", in, 4, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_transpose_conv(tfl_op *o, bool *mapped)
{
    int64_t strides[] = {option(o, 2, 0), option(o, 1, 0)};
    return add_transposed(o, "OHWI", strides, 2, mapped);
}

assay_status tfl_transpose_conv3d(tfl_op *o, bool *mapped)
{
    int64_t strides[] = {option(o, 1, 0), option(o, 3, 0), option(o, 2, 0)};
    return add_transposed(o, "DHWOI", strides, 3, mapped);
}

assay_status tfl_pool(tfl_op *o, bool *mapped)
{
    int64_t strides[] = {option(o, 2, 0), option(o, 1, 0)};
    int64_t kernel[] = {option(o, 4, 0), option(o, 3, 0)};
    ir_attr_spec attrs[] = {padding_of(o), IR_SPEC_INTS("strides", 2, strides),
                            IR_SPEC_INTS("kernel_shape", 2, kernel), TFL_END};
    *mapped = tfl_node(o, FOREIGN_NHWC, o->row->op, o->in, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* ---- matrix products ---- */

assay_status tfl_fully_connected(tfl_op *o, bool *mapped)
{
    bool keep = flat_u8(o->r->flat, o->options, 2, 0) != 0;
    ir_id in[] = {o->in[0], o->in[1], input(o, 2)};
    ir_attr_spec attrs[] = {IR_SPEC_INT("keep_num_dims", keep), TFL_END};
    if (flat_u8(o->r->flat, o->options, 1, 0) != 0) /* shuffled weights */
        return ASSAY_OK;
    uint32_t n = in[2] == IR_NONE ? 2 : 3;
    *mapped = tfl_node(o, FOREIGN_NHWC, "FullyConnected", in, n, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_batch_matmul(tfl_op *o, bool *mapped)
{
    bool a = flat_u8(o->r->flat, o->options, 0, 0) != 0,
         b = flat_u8(o->r->flat, o->options, 1, 0) != 0;
    ir_attr_spec attrs[] = {IR_SPEC_INT("transA", a), IR_SPEC_INT("transB", b), TFL_END};
    *mapped = a || b ? tfl_node(o, FOREIGN_MS, "FusedMatMul", o->in, 2, attrs) != IR_NONE
                     : tfl_node(o, NULL, "MatMul", o->in, 2, NULL) != IR_NONE;
    return ASSAY_OK;
}

/* States, peepholes, projections: the rows of "tflite" know the slots. */
assay_status tfl_recurrent(tfl_op *o, bool *mapped)
{
    str name = str_of(o->row->name);
    bool two = str_starts(name, "BIDIRECTIONAL"), svdf = str_is(name, "SVDF");
    unsigned merge = str_ends(name, "LSTM") ? 3 : 2; /* field of merge_outputs */
    ir_attr_spec attrs[] = {
        IR_SPEC_INT("rank", svdf ? option(o, 0, 1) : 1),
        IR_SPEC_INT("merge_outputs", two && flat_u8(o->r->flat, o->options, merge, 0)), TFL_END};
    *mapped = tfl_node(o, TFL_DOMAIN, o->row->name, o->in, o->n_in, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* ---- normalisation and activations ---- */

assay_status tfl_softmax(tfl_op *o, bool *mapped)
{
    double beta = flat_f32(o->r->flat, o->options, 0, 0);
    ir_id x = o->in[0];
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), TFL_END};
    if (beta != 1 && beta != 0) {
        ir_id in[] = {x, foreign_number(o->f, o->name, "beta", IR_FLOAT32, beta)};
        x = tfl_step(o, "Mul", in, 2, NULL);
    }
    *mapped = tfl_node(o, NULL, "Softmax", &x, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_log_softmax(tfl_op *o, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), TFL_END};
    *mapped = tfl_node(o, NULL, "LogSoftmax", o->in, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_l2_norm(tfl_op *o, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), IR_SPEC_INT("p", 2), TFL_END};
    *mapped = tfl_node(o, NULL, "LpNormalization", o->in, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* alpha is per tap here, and for the whole window in ONNX. */
assay_status tfl_lrn(tfl_op *o, bool *mapped)
{
    flat *f = o->r->flat;
    int64_t radius = option(o, 0, 0), size = radius < 0 || radius > 1 << 20 ? 1 : 2 * radius + 1;
    ir_attr_spec attrs[] = {IR_SPEC_INT("size", size),
                            IR_SPEC_FLOAT("bias", flat_f32(f, o->options, 1, 0)),
                            IR_SPEC_FLOAT("alpha", flat_f32(f, o->options, 2, 0) * (double)size),
                            IR_SPEC_FLOAT("beta", flat_f32(f, o->options, 3, 0)), TFL_END};
    *mapped = tfl_node(o, FOREIGN_NHWC, "LRN", o->in, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_clip(tfl_op *o, bool *mapped)
{
    bool six = str_is(str_of(o->row->name), "RELU6");
    double low = str_is(str_of(o->row->name), "RELU_N1_TO_1") ? -1 : 0;
    ir_id in[] = {o->in[0], foreign_number(o->f, o->name, "low", IR_FLOAT32, low),
                  foreign_number(o->f, o->name, "high", IR_FLOAT32, six ? 6 : 1)};
    *mapped = tfl_node(o, NULL, "Clip", in, 3, NULL) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_leaky_relu(tfl_op *o, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", flat_f32(o->r->flat, o->options, 0, 0)),
                            TFL_END};
    *mapped = tfl_node(o, NULL, "LeakyRelu", o->in, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_gelu(tfl_op *o, bool *mapped)
{
    bool fast = flat_u8(o->r->flat, o->options, 0, 0) != 0;
    *mapped = tfl_node(o, FOREIGN_MS, fast ? "FastGelu" : "Gelu", o->in, 1, NULL) != IR_NONE;
    return ASSAY_OK;
}

/* ---- channels last ---- */

assay_status tfl_resize(tfl_op *o, bool *mapped)
{
    bool nearest = o->row->op[0] == 'n';
    unsigned first = nearest ? 0 : 2; /* two fields of RESIZE_BILINEAR are of the past */
    flat *f = o->r->flat;
    ir_attr_spec attrs[] = {
        IR_SPEC_TEXT("mode", o->row->op),
        IR_SPEC_INT("align_corners", flat_u8(f, o->options, first, 0) != 0),
        IR_SPEC_INT("half_pixel_centers", flat_u8(f, o->options, first + 1, 0) != 0), TFL_END};
    *mapped = tfl_node(o, FOREIGN_NHWC, "Resize", o->in, 2, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_blocks(tfl_op *o, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("blocksize", option(o, 0, 0)), TFL_END};
    *mapped = tfl_node(o, FOREIGN_NHWC, o->row->op, o->in, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_batch_blocks(tfl_op *o, bool *mapped)
{
    *mapped = tfl_node(o, FOREIGN_NHWC, o->row->op, o->in, 3, NULL) != IR_NONE;
    return ASSAY_OK;
}

/* ---- quantisation ---- */

/* Whole numbers to whole numbers of another scale, or floats to whole numbers. */
assay_status tfl_quantize(tfl_op *o, bool *mapped)
{
    const tfl_tensor *to = tfl_tensor_of(o, true, 0);
    ir_id in[3] = {o->in[0]};
    ir_dtype t = tfl_dtype(o, true, 0);
    if (!ir_is_float(tfl_dtype(o, false, 0))) {
        ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), TFL_END};
        *mapped = tfl_node(o, FOREIGN_NHWC, "Requantize", in, 1, attrs) != IR_NONE;
    } else if (tfl_quant_inputs(o, to, &in[1], &in[2])) {
        ir_attr_spec attrs[] = {IR_SPEC_INT("axis", to->quant->axis), TFL_END};
        *mapped = tfl_node(o, NULL, "QuantizeLinear", in, 3, attrs) != IR_NONE;
    }
    return ASSAY_OK;
}

assay_status tfl_dequantize(tfl_op *o, bool *mapped)
{
    const tfl_tensor *from = tfl_tensor_of(o, false, 0);
    ir_id in[3] = {o->in[0]};
    if (from && ir_is_float(from->dtype)) {
        ir_attr_spec attrs[] = {IR_SPEC_INT("to", tfl_dtype(o, true, 0)), TFL_END};
        *mapped = tfl_node(o, NULL, "Cast", in, 1, attrs) != IR_NONE;
    } else if (tfl_quant_inputs(o, from, &in[1], &in[2])) {
        ir_attr_spec attrs[] = {IR_SPEC_INT("axis", from->quant->axis), TFL_END};
        *mapped = tfl_node(o, NULL, "DequantizeLinear", in, 3, attrs) != IR_NONE;
    }
    return ASSAY_OK;
}
