/* What the files of the Keras reader share. */
#ifndef FORMATS_KERAS_IMPL_H
#define FORMATS_KERAS_IMPL_H

#include "base/json_tree.h"
#include "formats/foreign.h"
#include "formats/hdf5.h"

enum {
    KERAS_MAX_DEPTH = 32, /* models and wrappers within each other */
    KERAS_MAX_LAYERS = 1 << 16,
    KERAS_MAX_PORTS = 256, /* inputs or outputs of a layer */
    KERAS_MAX_JSON = 64 << 20,
    KERAS_MAX_WINDOW = 1 << 20, /* kernels, strides */
    KERAS_LIST = 64,            /* whole numbers of a setting */
};
#define KERAS_MAX_SIZE ((int64_t)1 << 40) /* of an axis; what is larger counts as unknown */
#define KERAS_DOMAIN   "keras"

/* ---- weights (keras_store.c) ---- */

typedef struct keras_data {
    str path; /* "layers/dense/vars/0"; in files of layers: the weight's name, "dense/kernel:0" */
    hdf5_data data;
    bool used;
} keras_data;

/* Weights of one layer of the main model, in the order of Keras 1 and 2. */
typedef struct keras_bag {
    str layer;
    uint32_t first, n, next; /* in keras_store.items */
    bool by_name;            /* it is a model: its order is not that of its layers */
} keras_bag;

typedef enum keras_form {
    KERAS_NO_WEIGHTS,
    KERAS_BY_LAYER, /* Keras 1 and 2, and 3 in .h5: attributes layer_names and weight_names */
    KERAS_BY_PATH   /* "layers/dense/vars/0" */
} keras_form;

typedef struct keras_store {
    keras_form form;
    VEC(keras_data) items;
    VEC(keras_bag) bags;
    map by_path, by_layer;
    map groups; /* by path: those that hold weights */
    map names; /* by path: the layer's own name in an attribute, to the item of its path in `prefixes` */
    VEC(str) prefixes;
} keras_store;

/* Lists the weights of an open file. ASSAY_OK with KERAS_NO_WEIGHTS: it has none of Keras. */
assay_status keras_store_read(keras_store *s, hdf5 *h, arena *a);

/* ---- layers ---- */

struct keras_class;
struct keras_reader;

/* A layer: it is called one or several times. Parts of layers (cells, wrapped layers) are layers as well. */
typedef struct keras_layer {
    str name;  /* within its model */
    str shown; /* with the models around it: "encoder/conv1" */
    str cls;
    const json_value *config;
    const struct keras_class *row; /* NULL: unknown */
    bool trainable;
    str prefix;     /* KERAS_BY_PATH: "layers/dense"; p NULL: none */
    keras_bag *bag; /* KERAS_BY_LAYER; or NULL */
    uint32_t n_weights;
    VEC(ir_id) weights; /* in order of creation */
    VEC(str) weight_names;
    struct keras_model *inner; /* what a model is made of, once it is open */
    str attr;                  /* of a part: what its layer calls it */
    VEC(struct keras_layer *) parts;
} keras_layer;

typedef struct keras_reader {
    foreign f;
    arena *a; /* f.scratch */
    hdf5 h5;
    keras_store store;
    const json_value *root; /* the model's JSON */
    int major;              /* of Keras; 0: not stated */
    unsigned depth;
    uint32_t n_calls;
    uint64_t n_looks;   /* at weights, for layers that no row explains */
    source *unpacked;   /* compressed weights of a .keras file, or NULL */
    bool trust_lambdas; /* a Lambda's output is taken to have the shape of its input, */
    bool refuted;       /* until the shape of a weight behind it says otherwise */
    bool trusted;       /* there is such a Lambda */
} keras_reader;

/* One call of a layer on its way into the graph. */
typedef struct keras_call {
    keras_reader *r;
    foreign *f; /* of r */
    keras_layer *l;
    const json_value *config; /* of l */
    const json_value *args;   /* of the call, by name; NULL: none. Other tensors are among `in` */
    str name;                 /* of its nodes */
    const json_value *positional; /* of the call, as the file lists them; or NULL */
    const ir_t *in;
    const str *keys; /* of in: the argument's name, empty for those by position; NULL: all are */
    uint32_t n_in;
    ir_t *out;         /* room for KERAS_MAX_PORTS */
    uint32_t n_wanted; /* outputs that others read */
    uint32_t n_out;
    bool main_made;             /* a node has the layer's own name */
    const json_value *declared; /* the shape that the file has for the output of a layer; or NULL */
} keras_call;

/* False: the layer cannot be expressed in rows. Its nodes so far stay without effect. */
typedef bool keras_map_fn(keras_call *c);

typedef struct keras_class {
    const char *name; /* of the class; several with '|' between */
    keras_map_fn *map;
    const char *op; /* what map needs to know */
    int arg;        /* the same: number of spatial axes, ... */
} keras_class;

/* NULL: unknown. */
const keras_class *keras_class_of(str name);
/* The row of Keras 3's operations on tensors, whose classes have names that layers have too. */
const keras_class *keras_operation_class(void);

/* ---- settings (keras_config.c): keys are "units|output_dim", the first that is there ---- */

const json_value *keras_get(const json_value *config, const char *keys); /* NULL also for null */
int64_t keras_int(const json_value *config, const char *keys, int64_t def);
double keras_number(const json_value *config, const char *keys, double def);
bool keras_bool(const json_value *config, const char *keys, bool def);
str keras_word(const json_value *config, const char *keys, const char *def);
/* n whole numbers; one number stands for all of them. false: absent, or of another form. */
bool keras_ints(const json_value *config, const char *keys, int64_t *list, int n);
/* A list of any length up to max, one number too; -1: absent, or of another form. null items are -1. */
int keras_list(const json_value *v, int64_t *list, int max);
/* Items of a list or of a tuple ({"class_name": "__tuple__", "items": [...]}). */
const json_value *keras_items(const json_value *v, uint32_t *n);
bool keras_channels_first(const json_value *config);
ir_dtype keras_dtype(const json_value *config, const char *key, ir_dtype def);
/* "{class_name, config}" of an object within a setting; class empty: none. */
str keras_object(const json_value *v, const json_value **config);

/* ---- nodes (keras_call.c) ---- */

#define KERAS_IDS(...) (const ir_id[]){__VA_ARGS__}, sizeof((ir_id[]){__VA_ARGS__}) / sizeof(ir_id)
#define KERAS_END      ((ir_attr_spec){0})

ir_t keras_unknown_shape(ir_dtype t);
ir_t keras_shape(ir_dtype t, int rank, const int64_t *dims);
/* A node of ai.onnx, called after the layer: part NULL: by its name. Its output has `shape`'s type; id of it in the result. */
ir_t keras_step(keras_call *c, const char *part, const char *op, const ir_id *in, uint32_t n_in,
                const ir_attr_spec *attrs, ir_t shape);
ir_t keras_step_in(keras_call *c, const char *domain, const char *part, const char *op,
                   const ir_id *in, uint32_t n_in, const ir_attr_spec *attrs, ir_t shape);
ir_t keras_unary(keras_call *c, const char *part, const char *op, ir_t x);
ir_t keras_binary(keras_call *c, const char *part, const char *op, ir_t a, ir_t b);
ir_id keras_consts(keras_call *c, const char *part, const int64_t *list, int n); /* int64 [n] */
ir_t keras_scalar(keras_call *c, const char *part, ir_dtype t, double v);
/* float32 (or t) list of values. */
ir_t keras_floats(keras_call *c, const char *part, ir_dtype t, const double *list, int n);
/* [n] of one value, for weights that a layer does without. */
ir_t keras_filled(keras_call *c, const char *part, ir_dtype t, int64_t n, double v);
ir_t keras_cast(keras_call *c, ir_t x, ir_dtype t);
ir_t keras_transpose(keras_call *c, const char *part, ir_t x, const int64_t *perm);
/* 0 copies a size, -1 is what remains. */
ir_t keras_reshape(keras_call *c, const char *part, ir_t x, const int64_t *dims, int n);
ir_t keras_expand_dims(keras_call *c, const char *part, ir_t x, int64_t axis);
ir_t keras_squeeze(keras_call *c, const char *part, ir_t x, int64_t axis);
/* Axes of x from..; end INT64_MAX: all. */
ir_t keras_slice(keras_call *c, const char *part, ir_t x, int axis, const int64_t range[3]);
ir_t keras_reduce(keras_call *c, const char *part, const char *op, ir_t x, const int64_t *axes,
                  int n, bool keep);
ir_t keras_concat(keras_call *c, const char *part, const ir_t *list, uint32_t n, int axis);
/* The shape of two shapes that are broadcast. */
ir_t keras_broadcast(ir_t a, ir_t b);
void keras_note(keras_call *c, const char *code, const char *sentence);
bool keras_give(keras_call *c, ir_t x); /* the output: true */

/* ---- weights and parts of a layer (keras_weight.c, keras_parts.c) ---- */

enum { KERAS_TRAINED, KERAS_FIXED };
/* The next weight of the layer, by the order in which Keras makes them. dims are those that the settings ask for, -1 where
 * they do not say; those of the file win. */
ir_t keras_weight(keras_call *c, const char *name, int kind, int rank, const int64_t *dims);
/* Whether the file has an unused weight of that name for the layer, in the form of Keras 1 and 2. */
bool keras_has_weight(const keras_call *c, const char *name);
/* A part of a layer ("cell", "forward_layer|_forward"), by its settings {class_name, config} or config alone. */
keras_layer *keras_part(keras_call *c, const char *attr, str cls, const json_value *config);
/* Calls it: its outputs are out[]. */
bool keras_call_part(keras_call *c, keras_layer *part, const ir_t *in, uint32_t n_in, ir_t *out,
                     uint32_t *n_out);
/* Makes the weights of a layer constants that no row explains: their number is *n, ids in the arena. */
const ir_id *keras_other_weights(keras_call *c, uint32_t *n);
/* Those that no layer took. */
void keras_weights_left(keras_reader *r);

/* ---- models (keras_model.c) ---- */

/* The main model, with its inputs and outputs. */
assay_status keras_build(keras_reader *r, const json_value *root);
/* Calls a layer with these inputs, into c->out. */
bool keras_call_layer(keras_reader *r, keras_layer *l, keras_call *c);
/* "GlobalAveragePooling2D" is "global_average_pooling2d". */
str keras_snake_case(arena *a, str cls);
bool keras_is_model(str cls, const json_value *config);
keras_layer *keras_new_layer(keras_reader *r, str name, str shown, str cls,
                             const json_value *config);

/* The tensor of that argument; NULL: none. */
const ir_t *keras_arg(const keras_call *c, const char *key);
/* null is -1. Rank -1: not a shape. */
ir_t keras_shape_of(const json_value *v, ir_dtype t);
/* A declared type with names for the sizes that the file leaves open. */
ir_type keras_type(keras_reader *r, ir_t shape);

/* x after the activation of that setting; the same without one. */
ir_t keras_activate(keras_call *c, const char *key, const char *def, ir_t x);
ir_t keras_activate_as(keras_call *c, const json_value *setting, const char *def, ir_t x);

extern keras_map_fn keras_nested, keras_identity, keras_dropout, keras_dense, keras_activation,
    keras_flatten, keras_reshape_layer, keras_permute, keras_repeat, keras_embedding, keras_masking,
    keras_einsum_dense, keras_input;
extern keras_map_fn keras_conv, keras_depthwise, keras_separable, keras_conv_transpose, keras_pool,
    keras_global_pool, keras_upsample, keras_pad, keras_crop, keras_adaptive_pool;
extern keras_map_fn keras_relu, keras_leaky, keras_prelu, keras_elu, keras_threshold, keras_softmax;
extern keras_map_fn keras_batch_norm, keras_layer_norm, keras_group_norm, keras_rms_norm,
    keras_unit_norm, keras_normalization, keras_spectral_norm;
extern keras_map_fn keras_merge, keras_subtract, keras_concatenate, keras_dot, keras_old_merge;
extern keras_map_fn keras_recurrent, keras_rnn, keras_bidirectional, keras_time_distributed,
    keras_conv_lstm;
extern keras_map_fn keras_attention, keras_mha, keras_gqa;
extern keras_map_fn keras_rescale, keras_resize, keras_center_crop, keras_encode_category,
    keras_lookup, keras_text_vectors, keras_discretize;
extern keras_map_fn keras_maxout, keras_highway, keras_local, keras_reversible, keras_soft_plus,
    keras_fourier_features, keras_cell, keras_auto_contrast, keras_pipeline, keras_spectrogram,
    keras_mel_spectrogram;
extern keras_map_fn keras_op_lambda, keras_slicing, keras_operation, keras_tf_layer;

#endif
