/* Constant nodes as tensors: the seven forms that ONNX gives a Constant's value.
 *
 *     value, sparse_value             a tensor
 *     value_float, value_int          a scalar of float32, int64
 *     value_floats, value_ints        a list of them
 *     value_string, value_strings     strings (their bytes one after the other)
 */
#ifndef IR_CONSTANT_H
#define IR_CONSTANT_H

#include "ir/graph.h"

/* A Constant of ai.onnx. */
static inline bool ir_is_constant_op(str domain, str op)
{
    return str_empty(domain) && str_is(op, "Constant");
}
static inline bool ir_is_constant_node(const ir_node *n)
{
    return ir_is_constant_op(n->domain, n->op);
}

/* Sets *out to the node's value: borrowed from its attributes, or made in the model's arena. NULL
 * when the node has none (inside a function, an attribute that the caller supplies). */
assay_status ir_node_constant(ir_model *m, const ir_node *n, const ir_tensor **out,
                              assay_error *err);

/* The same of a node with this attribute alone. */
assay_status ir_attr_constant(ir_model *m, const ir_attr *a, const ir_tensor **out,
                              assay_error *err);

#endif
