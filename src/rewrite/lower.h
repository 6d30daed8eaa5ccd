/* Lowering: a model at one opset of ai.onnx becomes the same model at an older one; and raising, to a newer
 * one.
 *
 * Composite operators that the older opset does not have (Attention, Gelu, RMSNormalization, ...) become
 * the nodes that their definition names; operators whose form changed (axes as input or attribute) take
 * the older form. One row per operator and version in rewrite/lower.c.
 *
 * It works in place: use it on a model that was built for the export. New nodes are called
 * "<node>/<part>", have the module of the node they replace and its id in ir_node.call; that node stays
 * in the model's array, but in no graph. Shapes that a lowering needs are taken from declared types, so
 * it is meant for built-in architectures, where every value has one. The IR version becomes 0: the
 * writer chooses one that goes with the opset.
 */
#ifndef REWRITE_LOWER_H
#define REWRITE_LOWER_H

#include "rewrite/precision.h"

#define LOWER_OLDEST  11
#define LOWER_NEWEST  24
#define LOWER_DEFAULT 17

/* ASSAY_ERR_UNSUPPORTED when a node has no lowering: the sentence names it, its operator and the opset
 * that has it. */
assay_status rewrite_lower(ir_model *m, int opset, assay_error *err);

/* The same up or down, with what inference found of the values: models from files declare little. A model
 * that cannot be raised stays as it was; one that cannot be lowered is of no use then. */
assay_status rewrite_to_opset(ir_model *m, value_facts facts, int opset, assay_error *err);

#endif
