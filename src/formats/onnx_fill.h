/* Random content for missing weights: uniform random numbers, scaled by their use.
 *
 *     weights of contractions      variance 1 / fan-in; of convolutions and Gemm more before an
 *                                  activation that halves the signal, less on a residual branch
 *     scale and bias of norms      1 and 0; running mean and variance 0 and 1
 *     biases, embeddings, added    deviation 0.02
 *     factors, divisors            1
 *     scales of quantisation       0.02; 8-bit weights are drawn as if divided by that
 *     tables that are no weights   0
 *
 * The numbers depend on the seed and the tensor's name only, not on what else is in the model.
 */
#ifndef FORMATS_ONNX_FILL_H
#define FORMATS_ONNX_FILL_H

#include "base/rng.h"
#include "ir/made.h"

typedef struct onnx_fill {
    float centre, spread; /* uniform in centre +- spread */
    bool set;
} onnx_fill;

/* One per value, of those that have a constant without bytes. In `a`; NULL if out of memory. */
const onnx_fill *onnx_fill_plan(const ir_model *m, arena *a);

typedef struct onnx_filler {
    onnx_fill fill;
    ir_dtype dtype;
    rng rng;
} onnx_filler;

onnx_filler onnx_filler_of(const ir_tensor *t, str name, const onnx_fill *fill, uint64_t seed);
/* The next n bytes of the tensor; n is a multiple of 16 in all calls but the last. */
void onnx_filler_next(onnx_filler *f, uint8_t *buf, size_t n);

/* Gives every constant without bytes its random content, made when it is read (ir/made.h), for rewrites
 * that must know what weights hold. The content is what writing the model as it is now would make up.
 * *n counts them; it may be NULL. */
assay_status onnx_fill_model(ir_model *m, uint64_t seed, uint64_t *n, assay_error *err);

#endif
