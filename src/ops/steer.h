/* Inputs that steer an operator rather than flow through it: shapes, axes, scales, thresholds, lengths. Usually they
 * are constants. If a model takes one as an input, its required content is determined here.
 */
#ifndef OPS_STEER_H
#define OPS_STEER_H

#include "ops/op.h"

/* Element i of the input; the shapes of the node's inputs and outputs are known as far as they are. */
typedef double op_steer_fn(const op_ctx *c, uint32_t slot, int64_t i);

/* NULL: the slot takes data. */
op_steer_fn *op_steer_find(const op_ctx *c, uint32_t slot);

#endif
