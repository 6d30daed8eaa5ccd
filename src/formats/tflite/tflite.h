/* TFLite (LiteRT) models: a FlatBuffer "TFL3" of subgraphs with tensors and operators, and buffers with the weights.
 *
 * Schema (version 3; numbers are the fields of each table):
 *   Model      0 version, 1 operator_codes, 2 subgraphs, 3 description, 4 buffers, 6 metadata, 7 signature_defs
 *   Tensor     0 shape, 1 type, 2 buffer, 3 name, 4 quantization, 5 is_variable, 6 sparsity, 7 shape_signature, 8 has_rank
 *   Operator   0 opcode_index, 1 inputs, 2 outputs, 3/4 builtin_options, 11/12 builtin_options_2
 *   Buffer     0 data, 1 offset, 2 size: an offset above 1 is that of bytes outside the FlatBuffer
 *
 * Operators become ONNX rows, rows with channels last ("assay.nhwc") or rows of "tflite"; those without a row keep
 * their name in "tflite" and are unknown to the analysis. Values have the names and the shapes that the file gives
 * them; a fused activation is a separate node after its operator. Sizes that the file leaves open (-1 in
 * shape_signature) are those of `shape`, as the interpreter allocates them, and are noted.
 */
#ifndef FORMATS_TFLITE_H
#define FORMATS_TFLITE_H

#include "formats/foreign.h"

foreign_read_fn tflite_read;

#endif
