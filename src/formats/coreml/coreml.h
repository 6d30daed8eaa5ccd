/* Core ML models: .mlmodel, and the model.mlmodel of an .mlpackage folder.
 * https://apple.github.io/coremltools/mlmodel (Model.proto, NeuralNetwork.proto, MIL.proto)
 *
 * A Model is a protobuf message: 1 version, 2 description (inputs, outputs), and one field that is its kind:
 *   200 201 202  a pipeline of models: the first neural network or ML program in it is read
 *   303 403 500  a neural network: layers with their weights in the file; sizes of values are inferred
 *   502          an ML program: operations with typed outputs; weights in weights/weight.bin
 * Other kinds (trees, linear models, Vision feature prints) have no network and are refused (exit 4).
 *
 * Weights are never read. A quantised weight is counted with its elements and kept without content; so are compressed
 * ones of ML programs (constexpr_*).
 */
#ifndef FORMATS_COREML_H
#define FORMATS_COREML_H

#include "formats/foreign.h"

foreign_read_fn coreml_read;

/* By the first bytes of a file. */
bool coreml_looks_like(const void *head, uint64_t n);

#endif
