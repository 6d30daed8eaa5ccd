/* Arithmetic of normalisations and of softmax, per element; per-row terms are not counted.
 *
 *   layer, group, instance   7: mean add, subtract, square mul, variance add, scale mul, gamma mul,
 *                            beta add; gamma and beta only where they are
 *   rms                      4: square mul, sum add, scale mul, gamma mul
 *   batch, at inference      2: mul, add
 *   softmax                  5: max cmp, subtract, exp, sum add, div
 */
#ifndef OPS_OP_UTIL_NORM_H
#define OPS_OP_UTIL_NORM_H

#include "ops/op.h"

void op_norm_cost(const op_ctx *c, op_cost *k, uint64_t elems, bool gamma, bool beta);
void op_rms_cost(const op_ctx *c, op_cost *k, uint64_t elems, bool gamma);
void op_softmax_cost(const op_ctx *c, op_cost *k, uint64_t elems);
/* Statistics beside a layer norm: output o with input 0's dims before `axis`, 1 from there on. */
assay_status op_set_stats(op_ctx *c, uint32_t o, ir_dtype t, int64_t axis);

/* The type of means and deviations. */
ir_dtype op_stash_type(const op_ctx *c);

#endif
