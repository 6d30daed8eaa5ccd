/* A graph that was read from another format becomes one of ONNX operators alone (opset 17), which an engine can run.
 *
 *   channels last   "assay.nhwc": the data is transposed in front of the operator and back behind it, kernels are
 *                   transposed from their own layout; padding is written as numbers. Engines cancel the pairs.
 *   quantised       a value with quantisation parameters stays a tensor of whole numbers; operators that compute take it
 *                   through DequantizeLinear and give it back through QuantizeLinear. What only moves data takes it as
 *                   it is.
 *   whole numbers   shapes, starts and indices that ONNX wants as int64 are cast.
 *
 * Inputs and outputs of the model keep their names, layout and types. It works in place, on a copy made for the export,
 * and takes sizes from an inference of it. Parts of a node are called "<node>/<part>".
 */
#ifndef REWRITE_TO_ONNX_H
#define REWRITE_TO_ONNX_H

#include "rewrite/precision.h"

/* ASSAY_ERR_UNSUPPORTED: a node has no form in ONNX; the sentence names it. */
assay_status rewrite_to_onnx(ir_model *m, value_facts facts, assay_error *err);

#endif
