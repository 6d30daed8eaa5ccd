/* Programs of torch.export: zip archives (.pt2) with a graph of ATen operators in JSON and the weights.
 *
 *     torch 2.1 to 2.7   serialized_exported_program.json, serialized_state_dict.pt (.json in 2.1 and 2.2), version,
 *                        serialized_constants.pt: archives of torch.save within the archive
 *     torch 2.8 and on   archive_format, models/NAME.json, data/weights/NAME_weights_config.json and the bytes of each tensor
 *                        in data/weights/weight_0, ...; the same of data/constants; or data/weights/NAME.pt
 *
 *     program = {graph_module: {graph: {inputs, outputs, nodes, tensor_values, ...}, signature}, range_constraints, ...}
 *     node    = {target: "torch.ops.aten.conv2d.default", inputs: [{name, arg}], outputs: [arg], metadata}
 *     arg     = {"as_tensor": {"name": ...}} and other kinds; in schema 2 every kind is there, the unused as null
 *
 * The schema is torch/_export/serde/schema.py of PyTorch. Shapes that the file stores are declared of the values, so that
 * the analysis compares them with its own. Sizes that are expressions ("s0") stay open. Subgraphs of higher-order operators
 * that only set a mode are part of the graph; others (cond, while_loop) are unknown operators.
 */
#ifndef FORMATS_PT2_H
#define FORMATS_PT2_H

#include "formats/foreign.h"
#include "formats/zip.h"

foreign_read_fn pt2_read;
bool pt2_is_inside(const zip_directory *z);

#endif
