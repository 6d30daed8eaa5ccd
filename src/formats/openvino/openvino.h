/* OpenVINO IR: NAME.xml (the graph) and NAME.bin (the constants).
 * https://docs.openvino.ai/latest/documentation/openvino-ir-format.html
 *
 *   <net name version="10|11"> <layers> <layer id name type version> <data .../> <input> <port id> <dim>..
 *   <output> <port id precision> <dim>.. </layer>.. </layers> <edges> <edge from-layer from-port to-layer to-port/>
 *
 * Const layers name a slice of the .bin. Bodies of TensorIterator, Loop and If are nets within their layer. Versions 5
 * to 7 have weights as <blobs> of a layer.
 *
 * The sizes in the ports are declarations: the analysis infers its own and reports a contradiction. Where the .bin is
 * absent, what an operator takes from small constants (axes, shapes) follows from the sizes of the ports, and the model
 * has a note (weights-absent). Operators without a row keep the sizes of their ports and are reported as unknown.
 */
#ifndef FORMATS_OPENVINO_H
#define FORMATS_OPENVINO_H

#include "formats/foreign.h"

foreign_read_fn openvino_read;

#endif
