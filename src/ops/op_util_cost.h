/* Elementwise costs: so many operations of each kind per element of output 0. */
#ifndef OPS_OP_UTIL_COST_H
#define OPS_OP_UTIL_COST_H

#include "ops/op.h"

typedef struct op_mix {
    uint8_t add, mul, div, special, cmp; /* operations per element */
} op_mix;

/* Adds the mix for n elements (to int_ops when input 0 is not float). */
void op_count_mix(const op_ctx *c, op_cost *k, op_mix mix, uint64_t n);

/* A suppression of boxes: 1 cmp per score; an overlap of 7 cmp, 4 add, 1 mul and 1 div per kept box, the least there can
 * be. */
void op_count_kept(const op_ctx *c, op_cost *k, uint64_t scores, uint64_t kept);
/* One operation per output element. */
op_cost_fn op_cost_add1, op_cost_mul1, op_cost_div1, op_cost_special1, op_cost_cmp1;
/* One operation per element of input 0; the sum of input 0 over what output 0 has, divided. */
op_cost_fn op_cost_add_in, op_cost_mul_in, op_cost_cmp_in, op_cost_mean;
/* Reads of input 0 only as many elements as it writes: Gather, Slice. */
op_cost_fn op_cost_taken;
/* Writes only: its inputs are shapes or nothing. */
op_cost_fn op_cost_write_only;
/* Writes what it reads of input 0, as another kind of value. */
op_cost_fn op_cost_as_read;

#endif
