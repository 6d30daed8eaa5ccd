/* Reads an ONNX model (a protobuf ModelProto, IR versions 1 to 14 and what newer ones keep) into
 * the graph of ir/graph.h.
 *
 * Weights are not read: data longer than ONNX_INLINE_BYTES stays in the file as (offset, length)
 * and is fetched through the model's ir_reader when somebody asks. Names of outer scopes are
 * resolved, nodes stand in execution order, model-local functions are kept as functions
 * (rewrite/inline.h expands them). Skipped: doc strings, metadata (but our own, see
 * formats/onnx_write.h), quantisation annotations, training info, device configurations.
 *
 * Encodings of an ir_tensor slice: 0 is raw little-endian bytes; any other number is the
 * TensorProto field whose protobuf records lie in the slice (4 float_data, 5 int32_data, 6
 * string_data, 7 int64_data, 10 double_data, 11 uint64_data). A tensor of strings reads as their
 * bytes one after the other. Of a sparse tensor the stored values are what size_bytes counts and
 * what is read.
 *
 * Notes it adds: unsorted, weights-absent, external-missing, external-short, ir-version,
 * opset-assumed, opset-newer.
 */
#ifndef FORMATS_ONNX_READ_H
#define FORMATS_ONNX_READ_H

#include "ir/graph.h"

#define ONNX_INLINE_BYTES         256
#define ONNX_NEWEST_IR_VERSION    14
#define ONNX_NEWEST_OPSET         28
#define ONNX_DEFAULT_MEMORY_LIMIT ((uint64_t)1 << 30)

typedef struct onnx_read_options {
    uint64_t memory_limit;  /* bytes, work memory included; 0 means ONNX_DEFAULT_MEMORY_LIMIT */
    bool external_required; /* an absent or short external file is an error, not a note */
    const char *folder;     /* of onnx_read_bytes: where external data lies; NULL: nowhere */
} onnx_read_options;

/* opt may be NULL. *out takes: free with ir_model_free(), which also closes the file. */
assay_status onnx_read_file(const char *path, const onnx_read_options *opt, ir_model **out,
                            assay_error *err);

/* Borrows p: the bytes must stay valid and unchanged until the model is freed, because slices are
 * read from them later. External data is looked for in opt->folder; without one it is noted as
 * missing. */
assay_status onnx_read_bytes(const void *p, uint64_t n, const onnx_read_options *opt,
                             ir_model **out, assay_error *err);

/* Whether the first bytes of a file (64 are plenty) can be an ONNX model: for a table of
 * formats. */
bool onnx_looks_like(const void *head, uint64_t n);

/* When the head is that of another known format, or of no model at all, fails with a sentence that
 * names it and says what to do; else ASSAY_OK. file_size is that of the whole file. */
assay_status onnx_refuse_other(const void *head, uint64_t n, uint64_t file_size, assay_error *err);

#endif
