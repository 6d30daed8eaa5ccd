/* Inlining of model-local functions: every call is replaced by a copy of the function's body, calls
 * inside bodies and subgraphs too, so that analyses see operators only.
 *
 * Copies are named after the call ("<call>/<inner>", nodes and values) and carry the id of the
 * outermost calling node in ir_node.call. That node stays in the model's array, but in no graph.
 * Attribute references take the call's attribute, else the function's default, else are dropped. A
 * formal output that is a formal input becomes an Identity. Function bodies stay as templates that
 * nothing refers to any more: walk from the main graph, not over all graphs.
 */
#ifndef REWRITE_INLINE_H
#define REWRITE_INLINE_H

#include "base/limits.h"
#include "ir/graph.h"

#define INLINE_MAX_DEPTH 200

/* ASSAY_ERR_MALFORMED when functions call each other in a circle or a call does not fit its
 * function; ASSAY_ERR_UNSUPPORTED when the result would pass the limit `inlined-nodes` or the model's
 * memory limit. */
assay_status rewrite_inline(ir_model *m, assay_error *err);

#endif
