/* Shared by the onnx_write*.c files: the state of the writer. */
#ifndef FORMATS_ONNX_WRITE_IMPL_H
#define FORMATS_ONNX_WRITE_IMPL_H

#include "formats/onnx_fill.h"
#include "formats/onnx_write.h"

#define ONNX_PIECE_BYTES ((size_t)1 << 20) /* of weights in memory at once */

typedef struct onnx_writer {
    wire_out out;
    const ir_model *m;
    onnx_write_options opt;
    const wire_sink *data; /* NULL: there is no external file */
    str location;
    bool external;          /* in force */
    uint64_t data_pos;      /* bytes of the external file so far */
    const onnx_fill *fills; /* [values] */
    uint8_t *piece;         /* [ONNX_PIECE_BYTES] */
    sbuf marks[3];          /* names of parameters, buffers, constants */
    onnx_written got;
} onnx_writer;

/* An initialiser, as a field of its graph. */
void onnx_write_initialiser(onnx_writer *w, ir_id value);
/* A tensor of an attribute. */
void onnx_write_tensor(onnx_writer *w, uint32_t field, const ir_tensor *t);
void onnx_write_sparse(onnx_writer *w, uint32_t field, str name, const ir_tensor *t);

#endif
