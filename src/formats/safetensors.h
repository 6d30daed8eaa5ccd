/* Files of weights in the safetensors format, one or a set with its index. Only headers are read.
 *
 *     file   = u64 little-endian N, N bytes of JSON, data
 *     JSON   = {"__metadata__": {key: text}, name: {"dtype": "BF16", "shape": [2, 3],
 *               "data_offsets": [begin, end]}, ...}        offsets from the beginning of the data
 *
 * A header of more than 100,000,000 bytes, offsets past the end, data that overlaps or that belongs to no
 * tensor, and a size that is not the shape's are refused, as the library itself refuses them.
 */
#ifndef FORMATS_SAFETENSORS_H
#define FORMATS_SAFETENSORS_H

#include "formats/weights_index.h"

extern const weight_reader safetensors_reader;
/* From memory, which is borrowed for the call. *out is in the arena. */
assay_status safetensors_read_bytes(const void *p, uint64_t n, arena *a, weight_set **out,
                                    assay_error *err);

#endif
