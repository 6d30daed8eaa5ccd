/* The binary form of a .param, which ncnn2mem writes, as the lines of the text; see ncnn.h.
 *
 *     7767517, layers, blobs                                  words of 4 bytes, as all the rest
 *     layer:  type, inputs, outputs, their blobs, parameters, -233
 *     parameter:  key, value    or    -23300-key, length, values
 *
 * Types are numbers in the order in which ncnn lists its layers; names are not kept. A word does not say whether it is a
 * whole number or a float: what would be a float below 1e-30, or none, is a whole number. Texts (keys from -23400 on) are
 * not read.
 */
#include <math.h>
#include <string.h>

#include "base/sbuf.h"
#include "formats/ncnn/ncnn_impl.h"

static const char *const types[] = {
    "AbsVal",
    "ArgMax",
    "BatchNorm",
    "Bias",
    "BNLL",
    "Concat",
    "Convolution",
    "Crop",
    "Deconvolution",
    "Dropout",
    "Eltwise",
    "ELU",
    "Embed",
    "Exp",
    "Flatten",
    "InnerProduct",
    "Input",
    "Log",
    "LRN",
    "MemoryData",
    "MVN",
    "Pooling",
    "Power",
    "PReLU",
    "Proposal",
    "Reduction",
    "ReLU",
    "Reshape",
    "ROIPooling",
    "Scale",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Split",
    "SPP",
    "TanH",
    "Threshold",
    "Tile",
    "RNN",
    "LSTM",
    "BinaryOp",
    "UnaryOp",
    "ConvolutionDepthWise",
    "Padding",
    "Squeeze",
    "ExpandDims",
    "Normalize",
    "Permute",
    "PriorBox",
    "DetectionOutput",
    "Interp",
    "DeconvolutionDepthWise",
    "ShuffleChannel",
    "InstanceNorm",
    "Clip",
    "Reorg",
    "YoloDetectionOutput",
    "Quantize",
    "Dequantize",
    "Yolov3DetectionOutput",
    "PSROIPooling",
    "ROIAlign",
    "Packing",
    "Requantize",
    "Cast",
    "HardSigmoid",
    "SELU",
    "HardSwish",
    "Noop",
    "PixelShuffle",
    "DeepCopy",
    "Mish",
    "StatisticsPooling",
    "Swish",
    "Gemm",
    "GroupNorm",
    "LayerNorm",
    "Softplus",
    "GRU",
    "MultiHeadAttention",
    "GELU",
    "Convolution1D",
    "Pooling1D",
    "ConvolutionDepthWise1D",
    "Convolution3D",
    "ConvolutionDepthWise3D",
    "Pooling3D",
    "MatMul",
    "Deconvolution1D",
    "DeconvolutionDepthWise1D",
    "Deconvolution3D",
    "DeconvolutionDepthWise3D",
    "Einsum",
    "DeformableConv2D",
    "GLU",
    "Fold",
    "Unfold",
    "GridSample",
    "CumulativeSum",
};
enum { TYPES = sizeof types / sizeof *types };

static int32_t word(cursor *c)
{
    return (int32_t)cursor_u32le(c);
}

static void put_value(sbuf *b, int32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    if (isfinite(f) && fabsf(f) >= 1e-30F)
        sbuf_printf(b, "%.9g", (double)f);
    else
        sbuf_printf(b, "%d", (int)bits);
}

static void put_key(sbuf *b, cursor *c, int32_t key)
{
    sbuf_printf(b, " %d=", (int)key);
    if (key > -23300) {
        put_value(b, word(c));
        return;
    }
    int32_t n = word(c);
    if (key <= -23400 || n < 0 || (uint64_t)n > cursor_left(c) / 4)
        cursor_fail(c, "a parameter is neither a number nor a list of numbers");
    sbuf_printf(b, "%d", (int)n);
    for (int32_t i = 0; i < n && !c->failed && b->n < NC_MAX_TEXT; i++) {
        sbuf_putc(b, ',');
        put_value(b, word(c));
    }
}

static void put_layer(sbuf *b, cursor *c, int32_t number)
{
    int32_t type = word(c), n_in = word(c), n_out = word(c);
    if (n_in < 0 || n_out < 0 || n_in > NC_MAX_PORTS || n_out > NC_MAX_PORTS) {
        cursor_fail(c, "a layer has an invalid number of inputs or outputs");
        return;
    }
    if (type >= 0 && type < TYPES)
        sbuf_printf(b, "%s", types[type]);
    else
        sbuf_printf(b, "Type%d", (int)type);
    sbuf_printf(b, " layer%d %d %d", (int)number, (int)n_in, (int)n_out);
    for (int32_t i = 0; i < n_in + n_out && !c->failed; i++)
        sbuf_printf(b, " %d", (int)word(c));
    for (int32_t key; !c->failed && (key = word(c)) != NC_UNSET;)
        put_key(b, c, key);
    sbuf_putc(b, '\n');
}

assay_status nc_text_of_binary(nc_reader *r, str *out)
{
    cursor c = cursor_at(r->f.src, 4, source_size(r->f.src) - 4, r->f.err);
    sbuf b = {0};
    int32_t layers = word(&c), blobs = word(&c);
    sbuf_printf(&b, "7767517\n%d %d\n", (int)layers, (int)blobs);
    for (int32_t i = 0; i < layers && !c.failed && b.n < NC_MAX_TEXT; i++)
        put_layer(&b, &c, i);
    if (!c.failed && b.n >= NC_MAX_TEXT)
        cursor_fail(&c, "the model is too large");
    *out = c.failed ? (str){0} : str_copy(r->f.scratch, (str){b.p, (uint32_t)b.n});
    bool failed = b.failed;
    sbuf_free(&b);
    if (c.failed)
        return r->f.err->code;
    return out->p && !failed ? ASSAY_OK : err_no_memory(r->f.err);
}
