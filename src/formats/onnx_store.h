/* Location of the tensor data of an ONNX model: its file, and the files named by external_data. This is the ctx of
 * the model's ir_reader; the store is in the model's arena and closes its files with the model.
 *
 * External locations come from the model and are not trusted: only relative paths without `..` are followed, and
 * links only if they stay inside the directory or in a cache of the hub: see onnx_store_follow().
 */
#ifndef FORMATS_ONNX_STORE_H
#define FORMATS_ONNX_STORE_H

#include "base/map.h"
#include "base/source.h"
#include "formats/wire.h"
#include "ir/graph.h"

typedef struct onnx_external {
    str location;     /* normalised, relative to the directory */
    const char *path; /* NULL when there is no folder to look in */
    bool exists;
    uint64_t size;
    source *src; /* opened when first read */
    bool leaves; /* by a link, the directory of the model */
} onnx_external;

typedef struct onnx_store {
    arena *arena;       /* the model's */
    source *src;        /* the model's own bytes */
    const char *folder; /* "" or ending in '/'; NULL when the model was given as bytes */
    str own_name;       /* the model's file within the directory */
    map index;          /* location to number in `files` */
    VEC(onnx_external) files;
    bool follows; /* links that leave the directory */
} onnx_store;

/* Takes src. path is NULL for bytes. */
onnx_store *onnx_store_new(arena *a, source *src, const char *path);
/* The model's reader on this store. */
ir_reader onnx_store_reader(onnx_store *st);

/* Finds or adds the file of a location: fails when the location leaves the directory. Pointers last until the next
 * call. */
assay_status onnx_store_find(onnx_store *st, str tensor, str location, onnx_external **out,
                             assay_error *err);
/* Sizes of the model's file and of every distinct external file that is there. */
uint64_t onnx_store_size(const onnx_store *st);

/* Decodes the protobuf records of t (see onnx_read.h on encodings) from its own file into buf of
 * t->size_bytes; fails when they hold more or fewer elements. */
assay_status onnx_store_decode(onnx_store *st, const ir_tensor *t, void *buf, assay_error *err);

/* Refuses a model with data behind a link that leaves its directory, unless links are to be followed. */
assay_status onnx_store_follow(const ir_reader *r, bool follow, assay_error *err);

/* Whether a model's reader is a store: its ctx is one. */
bool onnx_store_is_reader(const ir_reader *r);
/* Calls `each` with every string of a tensor of strings, in order. */
assay_status onnx_store_strings(onnx_store *st, const ir_tensor *t, void (*each)(void *ctx, str s),
                                void *ctx, assay_error *err);

/* The TensorProto field that holds elements of a type when they are not raw. */
uint8_t onnx_typed_field(ir_dtype t);

/* The wire type of a single number of a typed field of TensorProto. */
wire_type onnx_scalar_type(uint8_t field);

#endif
