/* What the files of the NCNN reader share. */
#ifndef FORMATS_NCNN_IMPL_H
#define FORMATS_NCNN_IMPL_H

#include "base/map.h"
#include "formats/foreign_layer.h"

enum {
    NC_RANK = 4,
    NC_MAX_PORTS = 4096,
    NC_MAX_KEYS = 64,
    NC_LIST = 64, /* numbers of a list that a layer takes */
    NC_MAX_LINE = 1 << 20,
    NC_MAX_TEXT = 64 << 20, /* of a binary form as text */
    NC_UNSET = -233,
    NC_TOKENS = 128, /* rows of an input that no layer fixes */
};
#define NC_DOMAIN "ncnn"

/* Sizes from the outside in, without a batch. rank 0: nothing is known. */
typedef struct nc_shape {
    int rank;
    int64_t d[NC_RANK];
} nc_shape;

typedef struct nc_key {
    int64_t id;
    bool list;
    str text;
} nc_key;

typedef struct nc_layer {
    str type, name;
    const struct nc_row *row; /* NULL: unknown */
    uint32_t *in, *out;       /* blobs */
    uint32_t n_in, n_out, n_keys;
    nc_key *keys;
} nc_layer;

typedef struct nc_blob {
    str name;
    ir_id value;
    nc_shape shape;
    nc_shape want; /* what a layer that reads it needs; rank 0: nothing is said */
    bool made, used;
    bool open; /* an input without sizes, or of its sizes */
} nc_blob;

typedef struct nc_reader {
    foreign f;
    VEC(nc_layer) layers;
    VEC(nc_blob) blobs;
    map by_name;
    source *bin;
    uint64_t at;    /* in the .bin */
    bool lost;      /* the place in the .bin is not known any more */
    int64_t side;   /* of inputs without sizes; 0: left open */
    int64_t width;  /* where that is another one; 0: it is not */
    int64_t tokens; /* rows of inputs; 0: as usual */
    bool sized;     /* an input had no sizes */
    bool images;    /* an input states three */
    bool override;  /* those contradict the rest of the file */
    bool probing;   /* the run looks for what layers want of open inputs */
    bool wants;     /* it found something new */
    bool cached;    /* attention has earlier keys and values */
} nc_reader;

/* One layer: first its sizes, then (emit) its nodes. */
typedef struct nc_op {
    foreign_layer l; /* emit only */
    nc_reader *r;
    const nc_layer *layer;
    const nc_shape *in; /* [n_in] */
    nc_shape *out;      /* [n_out]; rank 0 until it is set */
    bool emit;
    bool clash; /* sizes contradict each other */
} nc_op;

/* Sets the sizes of the outputs; false: nothing is known of them. */
typedef bool nc_size_fn(nc_op *o);
/* Adds the nodes; false: the layer becomes an unknown operator. */
typedef bool nc_emit_fn(nc_op *o);
typedef struct nc_row {
    const char *type;
    nc_size_fn *size;
    nc_emit_fn *emit; /* NULL: `op` takes the inputs as they are */
    const char *op;
    uint8_t least_in;
} nc_row;
const nc_row *nc_row_of(str type); /* NULL: unknown */

/* ---- parameters (ncnn_read.c) ---- */

int64_t nc_int(const nc_op *o, int64_t key, int64_t def);
double nc_float(const nc_op *o, int64_t key, double def);
int nc_ints(const nc_op *o, int64_t key, int64_t *list); /* of NC_LIST; -1: absent */
int nc_floats(const nc_op *o, int64_t key, double *list);
str nc_text(const nc_op *o, int64_t key); /* empty: absent */

/* All layers in order: sizes alone, or also their nodes. */
assay_status nc_run_layers(nc_reader *r, bool emit, bool *clash);

/* ---- inputs without sizes (ncnn_input.c) ---- */

/* The layer needs these sizes of an input, if that is open. */
void nc_want(nc_op *o, uint32_t in, int rank, const int64_t *d);
assay_status nc_find_wants(nc_reader *r);
bool nc_keeps_sizes(const nc_layer *l); /* inputs and outputs have the same */
int64_t nc_tokens(const nc_op *o);      /* usual rows of an input */
/* Sizes by the keys of w, h, d and c; the number of them. Unset ones end the list. */
int nc_keyed_sizes(const nc_op *o, int64_t *d);

/* ---- weights (ncnn_weights.c) ---- */

/* The text that a binary .param stands for, in the scratch arena (ncnn_binary.c). */
assay_status nc_text_of_binary(nc_reader *r, str *out);

/* The next weight of the .bin. tagged: a word before it tells its type. */
ir_id nc_weight(nc_op *o, const char *what, bool tagged, int rank, const int64_t *dims);
/* Floats that are read but not used by the graph. */
void nc_skip_floats(nc_op *o, uint64_t n);
assay_status nc_open_bin(nc_reader *r, const char *path);
void nc_check_bin(nc_reader *r);

/* ---- sizes ---- */

bool nc_set(nc_op *o, uint32_t i, int rank, const int64_t *d);
/* Axis of a blob, negative from the inside, as one of the graph's value; -1: outside. */
int64_t nc_axis(const nc_shape *s, int64_t axis);
/* [1, sizes...] of a shape, with -1 for what is open; the rank. */
int nc_dims(const nc_shape *s, int64_t dims[NC_RANK + 1]);
/* A part of the layer that makes the output, then the activation that the layer has fused. */
bool nc_activated(nc_op *o, const char *op, const ir_id *in, uint32_t n, const ir_attr_spec *attrs,
                  int64_t key);

/* Axes of the larger shape before the smaller one, where they are broadcast. */
int nc_shift(const nc_shape *large, const nc_shape *small);
int nc_permutation(const nc_op *o, int rank, int64_t *perm); /* -1: none */
bool nc_crop_of(const nc_op *o, int64_t *start, int64_t *size);
bool nc_equation(const nc_op *o, char *text, int room);
unsigned nc_reduced_axes(const nc_op *o); /* bits */

extern nc_size_fn nc_size_like, nc_size_input, nc_size_conv, nc_size_conv1d, nc_size_deconv,
    nc_size_pool, nc_size_dense, nc_size_binary, nc_size_all_like, nc_size_concat, nc_size_slice,
    nc_size_reshape, nc_size_permute, nc_size_flatten, nc_size_interp, nc_size_crop, nc_size_pad,
    nc_size_memory, nc_size_matmul, nc_size_gemm, nc_size_reduction, nc_size_squeeze,
    nc_size_expand, nc_size_shuffle, nc_size_embed, nc_size_rnn, nc_size_einsum, nc_size_norm,
    nc_size_rotary, nc_size_sdpa, nc_size_tile, nc_size_focus;
extern nc_emit_fn nc_conv, nc_conv1d, nc_deconv, nc_pool, nc_dense, nc_batch_norm, nc_scale,
    nc_prelu, nc_matmul, nc_gemm, nc_layer_norm, nc_group_norm, nc_instance_norm, nc_lrn,
    nc_softmax, nc_attention, nc_embed, nc_rnn, nc_memory, nc_normalize, nc_einsum, nc_rms_norm,
    nc_rotary, nc_sdpa, nc_tile, nc_bias, nc_power, nc_threshold, nc_focus, nc_celu;
extern nc_emit_fn nc_input, nc_alias, nc_relu, nc_clip, nc_elu, nc_hard, nc_swish, nc_mish, nc_gelu,
    nc_binary, nc_unary, nc_eltwise, nc_concat, nc_slice, nc_reshape, nc_permute, nc_flatten,
    nc_interp, nc_crop, nc_pad, nc_reduction, nc_view, nc_shuffle_channel, nc_pixel_shuffle;

#endif
