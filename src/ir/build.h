/* Primitives that add to a model, used by every reader, builder and rewrite. All return IR_NONE (or false) if out of
 * memory. The arena's failure is sticky, so callers may check arena_failed() once at the end. */
#ifndef IR_BUILD_H
#define IR_BUILD_H

#include "ir/graph.h"

ir_id ir_add_graph(ir_model *m, str name, ir_id parent);
/* Copies the name. */
ir_id ir_add_value(ir_model *m, ir_id graph, str name);
/* Borrows the name: it must be valid as long as the model. */
ir_id ir_add_value_borrowed(ir_model *m, ir_id graph, str name);
/* Adds a node at the end of `graph`; copies the id arrays, sets producers of the outputs. attrs are
 * borrowed (make them in the model's arena). */
ir_id ir_add_node(ir_model *m, ir_id graph, const ir_node *proto);
/* Puts a node that is in the model's list at the end of `graph` and sets producers of its outputs. */
bool ir_place_node(ir_model *m, ir_id graph, ir_id node);
bool ir_add_input(ir_model *m, ir_id graph, ir_id value);
bool ir_add_output(ir_model *m, ir_id graph, ir_id value);
bool ir_add_constant(ir_model *m, ir_id graph, ir_id value, const ir_tensor *t);
bool ir_set_opset(ir_model *m, str domain, int64_t version);

/* A tensor declaration in the model's arena; dims are copied. NULL if out of memory or the element count overflows. */
ir_tensor *ir_make_tensor(ir_model *m, str name, ir_dtype t, int rank, const int64_t *dims);
/* The same with the name borrowed. */
ir_tensor *ir_make_tensor_borrowed(ir_model *m, str name, ir_dtype t, int rank,
                                   const int64_t *dims);
ir_type ir_tensor_type(ir_model *m, ir_dtype t, int rank, const int64_t *dims);

#endif
