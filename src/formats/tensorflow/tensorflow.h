/* TensorFlow models: GraphDef (frozen .pb) and SavedModel (saved_model.pb, or its folder).
 * https://github.com/tensorflow/tensorflow: graph.proto, node_def.proto, function.proto, saved_model.proto,
 * tensor_bundle.proto
 *
 * GraphDef:   1 NodeDef (1 name, 2 operator, 3 inputs, 5 attributes), 2 functions
 * SavedModel: 1 version, 2 MetaGraphDef (1 info, 2 GraphDef, 5 signatures)
 *
 * - Only what the outputs need is read: those of the signature "serving_default" (else of the first one), or the nodes of
 *   a GraphDef that nothing reads. Saving, restoring, training and summaries are left out.
 * - Calls of functions are inlined. While and the loops of TensorFlow 1 (Enter, Merge, Switch, NextIteration, Exit) become
 *   Loop, with the number of trips where it is counted; If and Switch/Merge become If, or the branch that a constant
 *   condition takes. TensorList and TensorArray become what a loop scans and collects.
 * - Variables are constants. Their shapes come from the graph, or from variables/variables.index; their content from
 *   variables/variables.data-*, when it is beside the model.
 *
 * Text forms (.pbtxt) are not read. Operators without a row keep their name in the domain "tensorflow".
 */
#ifndef FORMATS_TENSORFLOW_H
#define FORMATS_TENSORFLOW_H

#include "formats/foreign.h"

foreign_read_fn tensorflow_read;

/* By the first bytes of a file: a NodeDef with a name and an operator, or a SavedModel. */
bool tensorflow_looks_like(const void *head, uint64_t n);

#endif
