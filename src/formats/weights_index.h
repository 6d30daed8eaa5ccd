/* Weights of one file, of several, and of those that an index names, whatever their format.
 *
 *     index  = {"metadata": {"total_size": N}, "weight_map": {name: file, ...}}     its files stand beside it
 */
#ifndef FORMATS_WEIGHTS_INDEX_H
#define FORMATS_WEIGHTS_INDEX_H

#include "base/source.h"
#include "formats/weights.h"

/* Adds a file and its tensors to the set. `name` is what the set calls the file, `shown` what messages call it. */
typedef assay_status weight_file_fn(source *src, const char *shown, str name, weight_set *set,
                                    assay_error *err);
typedef struct weight_reader {
    const char *format; /* "safetensors" */
    weight_file_fn *read;
} weight_reader;

/* One file. *out lives in the arena, as it does below. */
assay_status weights_read_file(const weight_reader *r, const char *path, arena *a, weight_set **out,
                               assay_error *err);
/* The same of bytes in memory. */
assay_status weights_read_bytes(const weight_reader *r, const void *p, uint64_t n, arena *a,
                                weight_set **out, assay_error *err);
/* A set by its index, whose tensors must be where it says. */
assay_status weights_read_index(const weight_reader *r, const char *path, arena *a,
                                weight_set **out, assay_error *err);
/* Several files without an index, names within `folder`. */
assay_status weights_read_files(const weight_reader *r, const char *folder, const str *names,
                                uint32_t n, arena *a, weight_set **out, assay_error *err);

#endif
