/* Every invariant of ir/graph.h, checked: ids in range, one producer per value, execution order,
 * scopes (a node sees its own graph's and outer values only), subgraphs owned once, no cycle of
 * graphs, tensors whose element counts fit. Run after every reader and rewrite.
 */
#ifndef IR_VERIFY_H
#define IR_VERIFY_H
#include "ir/graph.h"

/* ASSAY_ERR_MALFORMED with the node or value when an invariant does not hold. */
assay_status ir_verify(const ir_model *m, assay_error *err);
/* Puts the nodes of one graph into execution order (stable). *moved: whether anything moved.
 * ASSAY_ERR_MALFORMED with a node's name when there is a cycle. scratch holds the work arrays. */
assay_status ir_sort_graph(ir_model *m, ir_id graph, arena *scratch, bool *moved, assay_error *err);
#endif
