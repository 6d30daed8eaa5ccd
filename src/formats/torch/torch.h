/* Checkpoints of PyTorch: what torch.save and torch.jit.save write, in the zip form and in the older one of five pickles.
 *
 *     zip      ROOT/data.pkl (a pickle), ROOT/data/KEY (the bytes of a storage), TorchScript also ROOT/constants.pkl
 *     legacy   magic, version, system, the object, the list of storage keys: five pickles; then the storages
 *
 * The tensors are listed with their names, shapes, types and roles. The reader imports and calls nothing (pickle.h); every
 * global of another package than those that checkpoints need is named in a warning.
 */
#ifndef FORMATS_TORCH_H
#define FORMATS_TORCH_H

#include "formats/weights_index.h"
#include "zoo/args.h"

extern const weight_reader torch_reader;
/* From memory, which is borrowed for the call. *out is in the arena. */
assay_status torch_read_bytes(const void *p, uint64_t n, arena *a, weight_set **out,
                              assay_error *err);

/* The parameters of the row "yolo" by the table of layers that a set carries. False if out of memory. */
bool ultralytics_args(const weight_set *w, zoo_args *to);

#endif
