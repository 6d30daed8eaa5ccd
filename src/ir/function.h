/* Which model-local function a node calls: one whose domain, name and overload are the node's. It
 * wins over an operator of the same name, as ONNX says.
 */
#ifndef IR_FUNCTION_H
#define IR_FUNCTION_H

#include "base/map.h"
#include "ir/graph.h"

typedef struct ir_function_index {
    map names; /* of functions, whatever their domain: most nodes are told apart by this alone */
    map keys;  /* domain, name and overload to the function's number */
    arena *arena;
} ir_function_index;

/* Lives in `a`. ASSAY_ERR_MALFORMED when a function is defined twice. */
assay_status ir_function_index_init(ir_function_index *x, const ir_model *m, arena *a,
                                    assay_error *err);

/* Number of the function that the node calls, or IR_NONE. */
ir_id ir_called_function(ir_function_index *x, const ir_node *n);

#endif
