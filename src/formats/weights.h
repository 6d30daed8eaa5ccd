/* Weights without their data: what files of weights say of each tensor, whatever their format; matching
 * them with a graph that was built from a configuration; and the model that remains when there is none.
 *
 * Names, shapes, types and places are held, never the numbers themselves. Shapes are as PyTorch has them
 * (the last dimension is the one whose elements lie side by side).
 */
#ifndef FORMATS_WEIGHTS_H
#define FORMATS_WEIGHTS_H

#include "base/map.h"
#include "base/source.h"
#include "ir/graph.h"

typedef enum weight_role {
    WEIGHT_ROLE_UNTOLD, /* by its type: integers are buffers */
    WEIGHT_ROLE_PARAMETER,
    WEIGHT_ROLE_BUFFER,
    WEIGHT_ROLE_OTHER,   /* a tensor of the model that is neither: a cache, a constant */
    WEIGHT_ROLE_TRAINING /* not of the model: moments of an optimizer, averaged copies */
} weight_role;

typedef struct weight_item {
    str name;   /* in the file; NUL-terminated */
    str as;     /* the checkpoint's name for it when the format has names of its own; else empty */
    str stored; /* its type: "bfloat16" as numpy says, or the file's own word: "Q4_K" */
    bool integer; /* not a type that parameters have */
    weight_role role;
    int rank;
    const int64_t *dims;
    uint64_t n_elems, size_bytes;
    uint64_t offset; /* of its first element in the file; with `entry` in the entry */
    uint64_t entry;  /* of an entry of a zip archive: where its header lies, plus 1; or 0 */
    uint64_t packed, unpacked; /* bytes of that entry where it is deflated; or 0 */
    bool placed;               /* offset is set */
    const int64_t *strides;    /* in elements; NULL: one after the other */
    uint32_t file;
} weight_item;

typedef struct weight_file {
    str name; /* within the directory */
    str path; /* that it was opened by; empty: in memory */
    uint64_t size_bytes;
} weight_file;

typedef struct weight_pair {
    str key, value;
} weight_pair;

typedef struct module_input {
    int64_t channels; /* or features; 0: not known */
    int spatial;      /* dimensions beside batch and channels */
    bool tokens;      /* whole numbers */
} module_input;

typedef struct weight_set {
    arena *arena; /* borrowed: holds everything */
    str format;   /* "safetensors", "gguf", "pytorch" */
    VEC(weight_item) items;
    VEC(weight_file) files;
    VEC(weight_pair) metadata;
    map by_name;
    notes notes;
    uint64_t n_elems, size_bytes, file_bytes;
    const struct json_value
        *layers;        /* the table of layers that a file carries (torch/ultralytics.c), or NULL */
    str classes;        /* names of its classes, or empty */
    int64_t image_size; /* of its training, or 0 */
    const struct json_value
        *modules; /* the layers of a whole module (torch/torch_modules.c), or NULL */
    struct module_input module_input; /* what the first of them takes */
    str why_no_graph;                 /* of a whole module whose layers are not evident, or empty */
    bool any_way; /* the format may hold a matrix either way round, and parts of fused ones apart */
} weight_set;

/* Made for `expected` tensors and any number. NULL if out of memory. */
weight_set *weight_set_new(arena *a, const char *format, uint32_t expected);
/* Adds a file; its number, or UINT32_MAX if out of memory. */
uint32_t weight_set_file(weight_set *w, str name, uint64_t size_bytes);
/* Adds a tensor. A name that exists already is malformed; so are sizes that pass 2^63. */
assay_status weight_set_add(weight_set *w, const weight_item *item, const char *shown,
                            assay_error *err);
/* NULL when absent. */
const weight_item *weight_set_get(const weight_set *w, str name);
/* Of the items from `first` on, which are those of one file: ASSAY_ERR_MALFORMED when the data of two
 * share bytes, when bytes between `start` and `end` belong to none (but what rounding up to `align`
 * leaves), or when data passes `end`. */
assay_status weight_set_check_places(const weight_set *w, uint32_t first, uint64_t start,
                                     uint64_t end, uint64_t align, const char *shown,
                                     assay_error *err);

/* The type that most bytes have: "bfloat16", "Q4_K"; empty when there are none. */
str weights_type(const weight_set *w);
/* What a model with these weights computes in: that type where it is a float of 16 bits or more (IR_UNDEFINED for
 * float32, which builders write), else `configured`. */
ir_dtype weights_native(const weight_set *w, ir_dtype configured);

/* Tells the constants of `m`, which a builder made, how they are stored. What differs becomes notes of
 * the model (weights-missing, weights-unexpected, weights-shape, and weights-differ with the sums) and
 * sets its weights_differ. */
assay_status weights_match(const weight_set *w, ir_model *m, assay_error *err);

/* Lets constants of `m` read their numbers from the files of a set (weights_bind.c): first the files, then constant by
 * constant. What cannot be read so keeps no data. NULL, false: out of memory. */
struct bound_files;
struct bound_files *weights_bind_begin(ir_model *m, const weight_set *w);
bool weights_bind(ir_model *m, struct bound_files *files, const weight_item *x, ir_id value);

/* The same of sources that are open: file i of the set is sources[i]. Those behind the first become the model's. */
struct bound_files *weights_bind_sources(ir_model *m, source *const *sources, uint32_t n);
/* Once the model has its reader: constants that are bound are read through it, and freed with it. */
assay_status weights_bind_end(ir_model *m, struct bound_files *files, assay_error *err);

/* A model of constants and nothing else. *out takes. */
assay_status weights_inventory(const weight_set *w, size_t memory_limit, ir_model **out,
                               assay_error *err);

#endif
