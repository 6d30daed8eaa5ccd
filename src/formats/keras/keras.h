/* Models of Keras 1 to 3:
 *
 *     .h5      a whole model: attribute "model_config" (JSON) of the root, weights under "model_weights/LAYER"; or weights
 *              alone (save_weights), whose architecture is in a JSON file beside it
 *     .keras   a zip archive with config.json (JSON), model.weights.h5 and metadata.json
 *     .json    Model.to_json(): the architecture without weights
 *
 * Layers become nodes of ONNX's operators and of those with channels last ("assay.nhwc"), named after the layers; nested
 * models are prefixes of the names. Weights are slices of the file. Layers of other classes (Lambda, custom ones) become
 * nodes of the domain "keras", with the weights that the file has for them. Nothing in a file is run: code of Lambda layers
 * is ignored.
 *
 * Weights alone are listed without a graph. States of optimizers and metrics are not parameters.
 */
#ifndef FORMATS_KERAS_H
#define FORMATS_KERAS_H

#include "formats/foreign.h"

foreign_read_fn keras_read;

#endif
