/* The layers of NCNN and what they become. Types that are not here are unknown operators: their cost is not counted, and
 * nothing is known of the sizes behind them. */
#include <stdlib.h>

#include "formats/ncnn/ncnn_impl.h"

/* In the order of strcmp(). */
static const nc_row rows[] = {
    {"AbsVal", nc_size_like, NULL, "Abs", 1},
    {"BNLL", nc_size_like, NULL, "Softplus", 1},
    {"BatchNorm", nc_size_like, nc_batch_norm, NULL, 1},
    {"BinaryOp", nc_size_binary, nc_binary, NULL, 1},
    {"Clip", nc_size_like, nc_clip, NULL, 1},
    {"Concat", nc_size_concat, nc_concat, NULL, 1},
    {"Convolution", nc_size_conv, nc_conv, NULL, 1},
    {"Convolution1D", nc_size_conv1d, nc_conv1d, NULL, 1},
    {"ConvolutionDepthWise", nc_size_conv, nc_conv, NULL, 1},
    {"ConvolutionDepthWise1D", nc_size_conv1d, nc_conv1d, NULL, 1},
    {"Crop", nc_size_crop, nc_crop, NULL, 1},
    {"Deconvolution", nc_size_deconv, nc_deconv, NULL, 1},
    {"DeconvolutionDepthWise", nc_size_deconv, nc_deconv, NULL, 1},
    {"Dropout", nc_size_like, nc_alias, NULL, 1},
    {"ELU", nc_size_like, nc_elu, NULL, 1},
    {"Einsum", nc_size_einsum, nc_einsum, NULL, 1},
    {"Eltwise", nc_size_all_like, nc_eltwise, NULL, 2},
    {"Embed", nc_size_embed, nc_embed, NULL, 1},
    {"Erf", nc_size_like, NULL, "Erf", 1},
    {"Exp", nc_size_like, NULL, "Exp", 1},
    {"ExpandDims", nc_size_expand, nc_view, NULL, 1},
    {"Flatten", nc_size_flatten, nc_flatten, NULL, 1},
    {"GELU", nc_size_like, nc_gelu, NULL, 1},
    {"GRU", nc_size_rnn, nc_rnn, NULL, 1},
    {"Gemm", nc_size_gemm, nc_gemm, NULL, 0},
    {"GroupNorm", nc_size_like, nc_group_norm, NULL, 1},
    {"HardSigmoid", nc_size_like, nc_hard, NULL, 1},
    {"HardSwish", nc_size_like, nc_hard, NULL, 1},
    {"InnerProduct", nc_size_dense, nc_dense, NULL, 1},
    {"Input", nc_size_input, nc_input, NULL, 0},
    {"InstanceNorm", nc_size_like, nc_instance_norm, NULL, 1},
    {"Interp", nc_size_interp, nc_interp, NULL, 1},
    {"LRN", nc_size_like, nc_lrn, NULL, 1},
    {"LSTM", nc_size_rnn, nc_rnn, NULL, 1},
    {"LayerNorm", nc_size_like, nc_layer_norm, NULL, 1},
    {"Log", nc_size_like, NULL, "Log", 1},
    {"MatMul", nc_size_matmul, nc_matmul, NULL, 2},
    {"MemoryData", nc_size_memory, nc_memory, NULL, 0},
    {"Mish", nc_size_like, nc_mish, NULL, 1},
    {"MultiHeadAttention", nc_size_like, nc_attention, NULL, 1},
    {"Noop", nc_size_like, nc_alias, NULL, 1},
    {"Normalize", nc_size_like, nc_normalize, NULL, 1},
    {"PReLU", nc_size_like, nc_prelu, NULL, 1},
    {"Padding", nc_size_pad, nc_pad, NULL, 1},
    {"Permute", nc_size_permute, nc_permute, NULL, 1},
    {"PixelShuffle", nc_size_shuffle, nc_pixel_shuffle, NULL, 1},
    {"Pooling", nc_size_pool, nc_pool, NULL, 1},
    {"RNN", nc_size_rnn, nc_rnn, NULL, 1},
    {"ReLU", nc_size_like, nc_relu, NULL, 1},
    {"Reduction", nc_size_reduction, nc_reduction, NULL, 1},
    {"Reorg", nc_size_shuffle, nc_pixel_shuffle, NULL, 1},
    {"Reshape", nc_size_reshape, nc_reshape, NULL, 1},
    {"SELU", nc_size_like, NULL, "Selu", 1},
    {"Scale", nc_size_like, nc_scale, NULL, 1},
    {"ShuffleChannel", nc_size_like, nc_shuffle_channel, NULL, 1},
    {"Sigmoid", nc_size_like, NULL, "Sigmoid", 1},
    {"Slice", nc_size_slice, nc_slice, NULL, 1},
    {"Softmax", nc_size_like, nc_softmax, NULL, 1},
    {"Softplus", nc_size_like, NULL, "Softplus", 1},
    {"Split", nc_size_like, nc_alias, NULL, 1},
    {"Squeeze", nc_size_squeeze, nc_view, NULL, 1},
    {"Swish", nc_size_like, nc_swish, NULL, 1},
    {"TanH", nc_size_like, NULL, "Tanh", 1},
    {"UnaryOp", nc_size_like, nc_unary, NULL, 1},
};

static int by_type(const void *key, const void *row)
{
    const nc_row *r = row;
    return str_cmp(*(const str *)key, str_of(r->type));
}

const nc_row *nc_row_of(str type)
{
    return bsearch(&type, rows, sizeof rows / sizeof *rows, sizeof *rows, by_type);
}
