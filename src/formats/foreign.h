/* The kit for readers of formats other than ONNX: a file becomes a graph of ONNX rows and of the rows with channels last
 * ("assay.nhwc", ops/op_nhwc.c), built through a few calls.
 *
 *   read(source, path, limit) -> foreign_new -> values, constants, nodes -> foreign_done
 *
 * - Names of values and nodes are the source's; where one is taken already, ir_kit_name() numbers it.
 * - A constant is a slice of the file and is never read here (foreign_slice); small lists that the source has as
 *   attributes become constants with content (foreign_ints, foreign_number).
 * - An operator without a row keeps the source's name in a domain of the format ("tflite"): the analysis reports it as
 *   unknown and takes the shapes that the file declares of its outputs.
 * - Memory that runs out is sticky in the arenas: ids are IR_NONE, and foreign_done() tells.
 *
 * Everything is in the model's arena, but for what is in `scratch`, which is valid as long as the reading.
 */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H

#include "base/source.h"
#include "ir/kit.h"

#define FOREIGN_NHWC "assay.nhwc" /* domain of the rows with channels last */
#define FOREIGN_MS   "com.microsoft"
enum { FOREIGN_BIG_ENDIAN = 1 };   /* ir_tensor.encoding of a slice */
enum { FOREIGN_INLINE = 1 << 16 }; /* bytes of a constant that is copied */
enum { FOREIGN_OPSET = 17, FOREIGN_MAX_NODES = 1 << 20, FOREIGN_MAX_NAME = 1 << 16 };

/* How format.c calls a reader. src is borrowed until it returns ASSAY_OK: then the model owns it and reads constants from
 * it. path is for formats of several files, or NULL. */
typedef assay_status foreign_read_fn(source *src, const char *path, size_t limit, ir_model **out,
                                     assay_error *err);

typedef struct foreign {
    ir_model *m;
    arena *scratch;
    ir_kit kit, nodes; /* names of values and of nodes */
    ir_id graph;       /* where values and nodes are made; readers of subgraphs change it */
    source *src;
    const char *format; /* the domain of operators without a row */
    assay_error *err;
} foreign;

/* A new model of that format ("tflite"). The opsets are those of the rows. */
assay_status foreign_new(foreign *f, const char *format, source *src, size_t limit,
                         assay_error *err);
/* Ends the reading: frees scratch and gives the model, or frees both if status or the memory failed. */
assay_status foreign_done(foreign *f, assay_status status, ir_model **out);
/* The same for a format whose constants are in a second file (NULL: it is missing), which the model keeps instead of the
 * first. Errors go to `err` from here on. */
assay_status foreign_done_beside(foreign *f, source *bin, assay_status status, ir_model **out,
                                 assay_error *err);

/* Opens a file that belongs to the model. *out is NULL if there is no such file, it is not a regular one, or it is a Git
 * LFS pointer, which is noted. A file that is there and cannot be opened is an error: without it the result would be
 * another. name NULL: out of memory. */
assay_status foreign_open_beside(const foreign *f, const char *name, source **out);

/* ---- values ---- */

/* dtype and shape are what the file declares; -1: a free size; rank -1: nothing is known. */
ir_id foreign_value(foreign *f, str name, ir_dtype t, int rank, const int64_t *dims);
/* A value that the source does not name: "<base>/<what>". */
ir_id foreign_inner(foreign *f, str base, const char *what);
/* The same with the declared type of another value. */
ir_id foreign_inner_like(foreign *f, str base, const char *what, ir_id like);

/* Makes a value an output of the main graph; a constant, an input and a second output of the same value get an Identity. */
bool foreign_output(foreign *f, ir_id id);

/* Books a constant that an operator of the file reads, whatever becomes of it (ir_model.stored). */
void foreign_count(foreign *f, uint64_t elements, uint64_t bytes);
/* A constant of `length` bytes at `offset` of the file. */
ir_id foreign_slice(foreign *f, str name, const ir_tensor *as, uint64_t offset, uint64_t length);
/* The same with a tensor that the caller may change; *own is NULL with IR_NONE. */
ir_id foreign_slice_own(foreign *f, str name, const ir_tensor *as, uint64_t offset, uint64_t length,
                        ir_tensor **own);
/* Makes a tensor whose elements are all the same (`item`, copied): in memory where it is small, else made when it is read.
 * The reader must be wrapped (ir/made.h). False: out of memory. */
bool foreign_splat(foreign *f, ir_tensor *t, const void *item);
/* Constants with content that the source has elsewhere; never parameters. int64 [n]; float32 [n]; a scalar of type t. */
ir_id foreign_ints(foreign *f, str base, const char *what, const int64_t *list, uint32_t n);
ir_id foreign_floats(foreign *f, str base, const char *what, const float *list, uint32_t n);
ir_id foreign_number(foreign *f, str base, const char *what, ir_dtype t, double v);

/* ---- nodes ---- */

typedef struct foreign_node {
    const char *op, *domain; /* domain NULL: ai.onnx */
    str name;                /* of the layer; made unique */
    const ir_id *in, *out;
    uint32_t n_in, n_out;
    const ir_attr_spec *attrs;
    uint32_t n_attrs;
} foreign_node;
/* The id of the node, or IR_NONE. */
ir_id foreign_add(foreign *f, const foreign_node *n);
/* One input and one output, without attributes. */
ir_id foreign_unary(foreign *f, const char *op, str name, ir_id in, ir_id out);
ir_id foreign_binary(foreign *f, const char *op, str name, ir_id a, ir_id b, ir_id out);
/* Gives a node an attribute that holds a graph ("body"), behind those it has. */
bool foreign_attach_graph(foreign *f, ir_id node, const char *attr, ir_id graph);
/* The same of texts, which are borrowed as long as the model, and of numbers. */
bool foreign_attach_texts(foreign *f, ir_id node, const char *attr, const str *list, uint32_t n);
bool foreign_attach_floats(foreign *f, ir_id node, const char *attr, const double *list,
                           uint32_t n);

#endif
