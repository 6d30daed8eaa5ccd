/* Whole op_infos: comparing them, finding what two have in common, and changing their axes. Used by
 * the rules that carry values through subgraphs, sequences and optionals.
 *
 * Nesting (a sequence in an optional in ...) is followed to a small depth: what lies deeper is
 * treated as unknown, so that a hostile file cannot exhaust the stack.
 */
#ifndef OPS_OP_UTIL_INFO_H
#define OPS_OP_UTIL_INFO_H

#include "ops/op.h"

/* Nothing is known. */
op_info op_info_none(void);
/* A tensor of unknown rank. */
op_info op_info_tensor(ir_dtype t);
/* Input i with the content that the analysis knows of it; op_info_none() when absent. */
op_info op_info_input(const op_ctx *c, uint32_t i);
/* The same kind, type and shape without content and without single items. */
op_info op_info_bare(const op_info *x);
/* A known scalar of an integer or bool type; content is left out when memory is short. */
op_info op_info_scalar(op_ctx *c, ir_dtype t, int64_t content);

/* What a and b share: dims, ranks, lengths that differ become unknown; content stays when equal. */
assay_status op_info_merge(op_ctx *c, const op_info *a, const op_info *b, op_info *out);
/* Whether everything known of `wide` also holds for x. */
assay_status op_info_covers(op_ctx *c, const op_info *wide, const op_info *x, bool *covers);
/* From a type written in a file. */
assay_status op_info_of_type(op_ctx *c, const ir_type *t, op_info *out);

/* Tensor x without one axis (0 <= axis < rank), or with one more of size dim; an unknown rank stays
 * unknown. Content is dropped. */
assay_status op_info_drop_axis(op_ctx *c, const op_info *x, int axis, op_info *out);
assay_status op_info_add_axis(op_ctx *c, const op_info *x, int axis, int64_t dim, op_info *out);

/* Infers a subgraph; outputs that are constants come with their content. */
assay_status op_info_run(op_ctx *c, ir_id graph, const op_info *in, uint32_t n_in, op_info *out,
                         uint32_t n_out, assay_error *err);

/* Makes output o what x is; an assumption already booked for the output stays. */
void op_info_put(op_ctx *c, uint32_t o, const op_info *x);
/* The one integer or bool that input i is: 1 and 0 for a condition. False when it is not known. */
bool op_info_truth(const op_info *x, bool *truth);

/* Makes the content of the scalar output o one integer or bool, for value rules. */
assay_status op_put_scalar(op_ctx *c, uint32_t o, int64_t content);

/* A sequence of n known items as output o: elem is what all share. `items` must be in the arena. With n of 0, elem
 * is a tensor of type t. */
assay_status op_set_items(op_ctx *c, uint32_t o, ir_dtype t, const op_info *items, int64_t n);
#define OP_ITEMS_MAX 256 /* longest sequence whose items are followed one by one */

#endif
