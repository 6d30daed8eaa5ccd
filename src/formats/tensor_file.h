/* A tensor in a separate file: .npy (numpy), .pb (ONNX TensorProto), or raw little-endian bytes.
 *
 *   npy   "\x93NUMPY" major minor, header length (u16, from version 2 on u32), a Python dict
 *         {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }, then the data
 */
#ifndef FORMATS_TENSOR_FILE_H
#define FORMATS_TENSOR_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/dtype.h"

#define TENSOR_FILE_BYTES limit_value(LIMIT_TENSOR)

typedef struct tensor_file {
    ir_dtype dtype; /* IR_UNDEFINED: the file does not say (raw) */
    int rank;       /* -1: the file does not say */
    const int64_t *dims;
    const void *data; /* raw little-endian */
    uint64_t size_bytes;
} tensor_file;

/* By the suffix; everything is in the arena. */
assay_status tensor_file_read(const char *path, arena *a, tensor_file *out, assay_error *err);

/* Writes a .npy; types that numpy has no name for are written as the unsigned whole numbers of their bits.
 * ASSAY_ERR_UNSUPPORTED for strings and for elements of less than a byte. */
assay_status tensor_file_write(const char *path, const tensor_file *t, assay_error *err);

#endif
