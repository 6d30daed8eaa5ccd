/* Models that are stored as a configuration, as weights, or as both: Hugging Face directories, safetensors and GGUF
 * files. If the architecture is known, the result is its row and parameters, and the storage of the weights. If it is
 * not, the weights are an inventory. */
#ifndef FORMATS_STORED_H
#define FORMATS_STORED_H

#include "formats/format.h"
#include "formats/weights.h"
#include "zoo/zoo.h"

typedef struct stored_model {
    arena *arena; /* of everything but ir; with the limit below, given by the caller */
    size_t memory_limit;
    str name;           /* given by the caller: the path */
    notes said;         /* by reading; made by the caller */
    const zoo_row *row; /* NULL: ir is an inventory */
    str config_file;
    zoo_args config;
    str recognised; /* the architecture was not given but recognised: "resnet50 num_classes=10"; or empty */
    bool input_stated;   /* the file says how large the input is */
    weight_set *weights; /* or NULL */
    ir_model *ir;
} stored_model;

/* What is read in this way: a directory (f is NULL), or a file of such a format. */
bool stored_reads(const format_row *f, bool folder);
assay_status stored_read(const format_row *f, const char *path, stored_model *m, assay_error *err);

/* Weights without a configuration: a recognised architecture, or an inventory that says why there is none. */
assay_status stored_take_weights(stored_model *m, weight_set *w, assay_error *err);

/* The same of bytes, which are borrowed for the call; files beside them cannot be found. */
bool stored_reads_bytes(const format_row *f);
assay_status stored_read_bytes(const format_row *f, const void *p, uint64_t n, stored_model *m,
                               assay_error *err);

/* A directory with a config.json or weights. One that was exported as ONNX keeps its config.json; its weights are
 * gone. */
bool stored_is_folder(const char *path);
/* ASSAY_ERR_UNSUPPORTED: what to give instead of the directory. */
assay_status stored_refuse_folder(const char *path, assay_error *err);

#endif
