/* Sliding windows: the arithmetic that convolutions, transposed convolutions and pooling share.
 *
 * Per axis, with k' = (kernel - 1) * dilation + 1:
 *   explicit pads   out = floor((in + begin + end - k') / stride) + 1; with ceil_mode the quotient
 *                   is rounded up, and a last window that would start past the input and its left
 *                   padding is dropped
 *   SAME_*          out = ceil(in / stride)
 *   VALID           as explicit, without padding
 *   transposed      out = stride * (in - 1) + output_padding + k' - begin - end; SAME_* cut it to
 *                   in * stride; output_shape overrides
 * auto_pad wins over pads, as engines do it. Unknown sizes stay unknown (-1); a stride, dilation or
 * kernel below 1 and a window that does not fit are failures.
 *
 * Channels-last forms (com.microsoft NhwcConv, NhwcMaxPool) have the data as N,spatial...,C and the
 * weights still as M,C/group,kernel.
 */
#ifndef OPS_OP_UTIL_SPATIAL_H
#define OPS_OP_UTIL_SPATIAL_H

#include "ops/op.h"

typedef enum op_pad_mode { OP_PAD_EXPLICIT, OP_PAD_SAME, OP_PAD_VALID } op_pad_mode;

typedef struct op_window {
    int n;            /* spatial axes */
    op_pad_mode mode; /* from auto_pad */
    bool ceil_mode;
    int64_t kernel[IR_MAX_RANK]; /* -1 where unknown */
    int64_t stride[IR_MAX_RANK], dilation[IR_MAX_RANK];
    int64_t begin[IR_MAX_RANK], end[IR_MAX_RANK]; /* padding */
} op_window;

/* Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for n spatial axes. */
assay_status op_window_read(op_ctx *c, int n, op_window *w);
/* Fills kernel sizes that no attribute gave from weight dims [first, first+n); conflicts fail. */
assay_status op_window_from_weight(op_ctx *c, op_window *w, uint32_t weight, int first);
/* Size of the output of a convolution or pooling along one axis. */
assay_status op_window_out(op_ctx *c, const op_window *w, int axis, int64_t in, int64_t *out);
/* Size of the output of a transposed convolution without output_shape along one axis. */
assay_status op_window_out_transposed(op_ctx *c, const op_window *w, int axis, int64_t in,
                                      int64_t output_padding, int64_t *out);
/* Kernel elements from kernel_shape; 0 when it is absent. For cost rules of pooling. */
uint64_t op_window_elems(const op_ctx *c);

/* A whole convolution of data in slot 0 with weights w (M,C/group,k...) and bias b (an absent slot is allowed): what
 * the row's `with` says of it. */
typedef struct op_conv {
    uint32_t w, b; /* input slots; b UINT32_MAX: there is none */
    uint32_t
        type_slot; /* the input whose type the output has, if it is there; else that of input 0 */
    ir_dtype t;    /* the type of the output, whatever the inputs have; or IR_UNDEFINED */
    bool channels_last;
    bool asks_layout; /* the attribute channels_last says so instead */
} op_conv;
/* Sets output 0. Checks channels, groups and bias. */
op_infer_fn op_conv_infer;
/* N*M*out*(C/group)*kernel MACs, and an add per output when the bias is there; to requantise, two multiplies more. */
op_cost_fn op_conv_cost, op_conv_cost_requantised;

/* Pooling with kernel_shape: output 0 like input 0 with pooled spatial axes, and output 1, when
 * wanted, the same with dtype t1. */
assay_status op_pool_infer(op_ctx *c, ir_dtype t1, bool channels_last);
/* [N,C,1,...] ([N,1,...,C] channels last). */
assay_status op_global_pool_infer(op_ctx *c, bool channels_last);

#endif
