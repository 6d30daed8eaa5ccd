/* Weights in another number type, converted when they are read (ir/made.h): float32 becomes float16 or
 * bfloat16, int8 steps of a scale, or float32 times a factor.
 *
 *     float16, bfloat16   rounded to nearest even; finite numbers beyond the range become the largest
 *                         finite one, because infinities in masks turn products into NaN
 *     int8                round(w / scale[channel]), within +-limit; symmetric: the zero point is 0
 *     float32             w * scale[channel]
 *
 * The channel of element e of the result is (e / inner) % channels.
 */
#ifndef REWRITE_CONVERT_H
#define REWRITE_CONVERT_H

#include "ir/graph.h"

typedef struct conversion {
    const ir_tensor *source; /* dense float32 */
    ir_dtype to;
    const float *scale; /* [channels], in the model's arena; NULL for float16 and bfloat16 */
    uint64_t channels, inner;
    int limit; /* of int8 */
    bool
        transpose; /* a source of two dimensions, turned; one source is in memory while it is read */
} conversion;

/* A tensor with the source's dims (turned when asked). A source without bytes gives one without. The model's reader
 * must be wrapped. NULL if out of memory. */
ir_tensor *convert_tensor(ir_model *m, str name, const conversion *c);

/* The largest absolute value of each channel of a dense float32 tensor, where the channel of element e is
 * (e / inner) % channels; what is not finite does not count. Zeros when it has no bytes. */
assay_status convert_peaks(const ir_model *m, const ir_tensor *t, uint64_t channels, uint64_t inner,
                           float *peaks, assay_error *err);

/* All elements of a dense float32 tensor that has bytes. */
assay_status convert_floats(const ir_model *m, const ir_tensor *t, float *out, assay_error *err);

#endif
