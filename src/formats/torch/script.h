/* TorchScript: archives of torch.jit.save with a graph.
 *
 *     ROOT/code/__torch__/....py   classes and functions, in a subset of Python
 *     ROOT/data.pkl                the module: objects of those classes with their attributes
 *     ROOT/constants.pkl           tensors that the code names CONSTANTS.c0, ...
 *
 * The forward method of the root module is followed, call by call, as PyTorch would run it, with values of the graph in
 * place of tensors (script_run.c). Nothing of the file is executed: the code is parsed into trees (script_parse.c) whose
 * calls of torch operators go through the table of ATen operators. Conditions that are known (attributes, ranks, sizes,
 * whether something is None) choose a branch, and loops of a known length are unrolled. A condition that depends on data, or
 * code outside of the subset, is ASSAY_ERR_UNSUPPORTED with the line: the archive is a file of weights then.
 *
 * The file does not state the sizes of inputs. What the first operators take gives their rank and channels; of the usual
 * sizes the first without a contradiction is assumed, and marked as such.
 */
#ifndef FORMATS_SCRIPT_H
#define FORMATS_SCRIPT_H

#include "formats/foreign.h"
#include "formats/zip.h"

foreign_read_fn script_read;
bool script_is_inside(const zip_directory *z);

#endif
