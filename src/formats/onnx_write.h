/* Writes a model as an ONNX file, the inverse of formats/onnx_read.h.
 *
 * The graph is written as it stands, at the opset that the model has (rewrite/lower.h brings it down first); calls of
 * model-local functions must have been inlined. Weights are streamed in pieces, never held: those of a file are
 * copied through the model's reader, missing ones (built-in architectures, files saved without weights) are random,
 * the same for the same seed and name, scaled by what they feed so that outputs stay finite (formats/onnx_fill.h).
 * Typed fields become raw data.
 *
 * What a builder knew of its constants (parameter, buffer, neither) is kept as model metadata
 * "assay.parameters", "assay.buffers", "assay.constants": names, one per line. The reader takes it.
 *
 * Protobuf ends at 2 GB: from there on, or when asked, weights above 1 KB go to one file beside the
 * model, each at a multiple of 4096.
 */
#ifndef FORMATS_ONNX_WRITE_H
#define FORMATS_ONNX_WRITE_H

#include "formats/wire_write.h"
#include "ir/graph.h"

#define ONNX_EXTERNAL_MIN_BYTES 1024
#define ONNX_EXTERNAL_ALIGN     4096

typedef struct onnx_write_options {
    uint64_t seed;
    bool external_data; /* also below 2 GB */
    bool holes; /* random weights in the external file are holes: zeros that take no space */
    bool (*cancelled)(void *ctx); /* asked between pieces of weights; may be NULL */
    void *ctx;
} onnx_write_options;

typedef struct onnx_written {
    uint64_t model_bytes, data_bytes;
    uint64_t n_tensors; /* initialisers */
    uint64_t n_random;  /* of them, made up */
} onnx_written;

/* Writes path, and path + ".data" when there is external data. Each is written completely or not at all. opt and got may
 * be NULL. */
assay_status onnx_write_file(const ir_model *m, const char *path, const onnx_write_options *opt,
                             onnx_written *got, assay_error *err);

/* The same into sinks. data may be NULL: then nothing is external, and above 2 GB is
 * ASSAY_ERR_UNSUPPORTED. location is the name that the model gives to the external file. */
assay_status onnx_write_sinks(const ir_model *m, const onnx_write_options *opt,
                              const wire_sink *model, const wire_sink *data, const char *location,
                              onnx_written *got, assay_error *err);

/* Writes a chain of ONNX_CHAIN trivial nodes, each y = -x of one number (onnx_chain.c). */
enum { ONNX_CHAIN = 256 };
assay_status onnx_write_chain(const char *path, assay_error *err);

#endif
