/* How models are kept while they are read; see keras_open.c. */
#ifndef FORMATS_KERAS_MODEL_H
#define FORMATS_KERAS_MODEL_H

#include "formats/keras/keras_impl.h"

/* One call of a layer in the file. */
typedef struct call_site {
    keras_layer *l;
    const json_value *spec; /* NULL: an input */
    uint32_t n_wanted;
    const json_value *declared; /* shape of its first output, if a reader of it says so */
} call_site;

typedef struct keras_model {
    bool sequential;
    VEC(keras_layer *) layers;
    VEC(call_site) sites;               /* those of a layer one after another */
    VEC(uint32_t) first;                /* [layers] its first site */
    map by_name;                        /* layer */
    const json_value *inputs, *outputs; /* of a functional one */
} keras_model;

/* A tensor that a call or a model names. */
typedef struct ref {
    str layer;
    int64_t node, tensor;
    const json_value *shape;
} ref;

/* All of them, with the names of arguments (empty: by position). */
typedef struct found_refs {
    ref list[KERAS_MAX_PORTS];
    str keys[KERAS_MAX_PORTS];
    uint32_t n;
    bool full; /* there are more than KERAS_MAX_PORTS */
    const json_value *args, *positional;
} found_refs;

/* Lists the layers of a model and where their weights are: of->inner. */
assay_status keras_open_model(keras_reader *r, keras_layer *of);
/* The tensors of a call; those within any value, in order, are added by keras_collect(). */
void keras_refs_of(const keras_model *m, const json_value *spec, found_refs *out);
void keras_collect(const keras_model *m, const json_value *v, found_refs *out);
/* NULL: there is no such call. */
call_site *keras_site_of(const keras_model *m, const ref *x);
assay_status keras_fail_model(keras_reader *r, str layer, const char *what);

/* Calls all of its layers: `out` has room for KERAS_MAX_PORTS. */
assay_status keras_run_model(keras_reader *r, keras_layer *l, const ir_t *in, uint32_t n, ir_t *out,
                             uint32_t *n_out);
/* The error, or that memory is out. */
assay_status keras_status(keras_reader *r);

#endif
