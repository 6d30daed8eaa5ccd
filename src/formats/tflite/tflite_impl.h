/* What the files of the TFLite reader share. */
#ifndef FORMATS_TFLITE_IMPL_H
#define FORMATS_TFLITE_IMPL_H

#include "base/vec.h"
#include "formats/flatbuf.h"
#include "formats/foreign.h"

enum {
    TFL_MAX_DEPTH = 16,   /* subgraphs in subgraphs */
    TFL_MAX_ITEMS = 4096, /* inputs or outputs of an operator */
    TFL_MAX_TENSORS = 1 << 22,
    TFL_LIST = 128, /* values of a constant list that an operator takes as an attribute */
};
#define TFL_DOMAIN "tflite"

typedef struct tfl_tensor {
    str name;
    ir_dtype dtype;
    int rank; /* -1: not known */
    const int64_t *dims;
    const int64_t *open;     /* the same with -1 for the sizes that the file leaves open */
    uint64_t offset, length; /* of the data; length 0: there is none */
    const ir_quant *quant;
    bool variable, sparse;
    bool counted; /* by tfl_count_constant() */
} tfl_tensor;

typedef struct tfl_subgraph {
    flat_table table;
    str name;
    tfl_tensor *tensors; /* NULL until it is used */
    uint32_t n_tensors;
    flat_vector inputs, outputs, operators;
} tfl_subgraph;

typedef struct tfl_code {
    uint32_t builtin; /* TFL_CUSTOM for a custom one */
    str custom;
} tfl_code;
enum { TFL_CUSTOM = 32 };

/* What the handle of a TensorList stands for (tflite_lists.c). */
typedef enum tfl_list_kind {
    TFL_LIST_EMPTY,     /* nothing was put into it yet */
    TFL_LIST_COLLECTED, /* `value` is the item of this trip */
    TFL_LIST_WHOLE,     /* `value` holds the items along its first axis */
} tfl_list_kind;

typedef struct tfl_list {
    ir_id handle;
    tfl_list_kind kind;
    ir_id value;
} tfl_list;

typedef struct tfl_reader {
    foreign f;
    flat *flat;
    tfl_code *codes;
    tfl_subgraph *subgraphs;
    flat_vector buffers;
    uint32_t n_codes, n_subgraphs, depth, n_operators;
    VEC(tfl_list) lists;
} tfl_reader;

/* A subgraph in use: which value each of its tensors is by now (IR_NONE: none yet). */
typedef struct tfl_scope {
    tfl_subgraph *sub;
    ir_id *values;
    const struct tfl_scope *outer;
} tfl_scope;

struct tfl_builtin;

/* One operator on its way into the graph. */
typedef struct tfl_op {
    tfl_reader *r;
    foreign *f; /* of r */
    tfl_scope *scope;
    const struct tfl_builtin *row;
    flat_table options, options2;
    flat_vector custom; /* options of a custom operator */
    str name;           /* of its first output */
    ir_id *in, *out;
    const int64_t *in_at, *out_at; /* indices of the tensors; -1: absent */
    uint32_t n_in, n_out;
    ir_id first; /* out[0], before a fused activation took it */
} tfl_op;

/* ASSAY_OK and *mapped false: the operator cannot be expressed in rows; nothing was added. */
typedef assay_status tfl_map_fn(tfl_op *o, bool *mapped);

typedef struct tfl_builtin {
    const char *name; /* of the schema */
    tfl_map_fn *map;  /* NULL: `op` takes the inputs as they are; both NULL: no row */
    const char *op;
    uint8_t activation; /* 1 + the options' field of the fused activation; 0: none */
    uint8_t least_in;
} tfl_builtin;

/* The row of a number; NULL: newer than the table. */
const tfl_builtin *tfl_builtin_of(uint32_t code);
/* The row of a custom operator that is known by its name; NULL: none is. */
const tfl_builtin *tfl_custom_of(str name);

/* ---- lists of tensors (tflite_lists.c) ---- */

const tfl_list *tfl_list_of(const tfl_reader *r, ir_id value); /* or NULL */
bool tfl_set_list(tfl_reader *r, ir_id handle, tfl_list_kind kind, ir_id value);

/* ---- tensors (tflite_tensor.c) ---- */

assay_status tfl_read_tensors(tfl_reader *r, tfl_subgraph *s);
/* Books a constant that an operator reads, once. */
void tfl_count_constant(tfl_reader *r, tfl_tensor *t);
/* The value of tensor i for an operator that reads it: constants are made when they are first used. */
ir_id tfl_use(tfl_reader *r, tfl_scope *s, int64_t i);
/* A new value for tensor i, which an operator or the graph makes. by_shape: open sizes are those of `shape`. */
ir_id tfl_define(tfl_reader *r, tfl_scope *s, int64_t i, bool by_shape);
const tfl_tensor *tfl_tensor_of(const tfl_op *o, bool output, uint32_t slot); /* or NULL */
/* Rank and type of input `slot` by the file; -1 and IR_UNDEFINED when not known. */
int tfl_rank(const tfl_op *o, uint32_t slot);
ir_dtype tfl_dtype(const tfl_op *o, bool output, uint32_t slot);
/* The whole numbers of a constant input: how many; -1: it is no constant, or has more than max. */
int tfl_ints(const tfl_op *o, uint32_t slot, int64_t *list, int max);
/* One number of a constant tensor of any integer type; false: no constant. */
bool tfl_first_int(tfl_reader *r, const tfl_tensor *t, int64_t *v);
/* Scale and zero point of a tensor as constants of the graph, for DequantizeLinear; false: it has none. */
bool tfl_quant_inputs(tfl_op *o, const tfl_tensor *t, ir_id *scale, ir_id *zero);

/* Fills the properties of the model (tflite_metadata.c). */
void tfl_tell_metadata(tfl_reader *r, flat_vector metadata, flat_vector signatures);

/* ---- operators (tflite_read.c) ---- */

/* The operators of a subgraph whose inputs have values, into f.graph. */
assay_status tfl_read_operators(tfl_reader *r, tfl_scope *s);
bool tfl_scope_open(tfl_reader *r, uint64_t subgraph, const tfl_scope *outer, tfl_scope *s,
                    assay_status *status);
/* A node that makes out[0], and its fused activation behind it. */
ir_id tfl_make(tfl_op *o, const foreign_node *n);
#define TFL_IDS(...) (const ir_id[]){__VA_ARGS__}, sizeof((ir_id[]){__VA_ARGS__}) / sizeof(ir_id)
/* A node of these inputs; list is made by TFL_IDS. */
ir_id tfl_node(tfl_op *o, const char *domain, const char *op, const ir_id *in, uint32_t n_in,
               ir_attr_spec *attrs);
/* A node within an operator: its output is a separate value. */
ir_id tfl_step(tfl_op *o, const char *op, const ir_id *in, uint32_t n_in, ir_attr_spec *attrs);
/* Ends a list of attributes. */
#define TFL_END ((ir_attr_spec){0})

extern tfl_map_fn tfl_conv, tfl_depthwise, tfl_conv3d, tfl_transpose_conv, tfl_transpose_conv3d,
    tfl_pool, tfl_fully_connected, tfl_batch_matmul, tfl_softmax, tfl_lrn, tfl_l2_norm, tfl_resize,
    tfl_blocks, tfl_batch_blocks, tfl_clip, tfl_leaky_relu, tfl_gelu, tfl_quantize, tfl_dequantize,
    tfl_recurrent, tfl_log_softmax;
extern tfl_map_fn tfl_reshape, tfl_transpose, tfl_squeeze, tfl_expand_dims, tfl_concat, tfl_pack,
    tfl_unpack, tfl_split, tfl_split_v, tfl_slice, tfl_strided_slice, tfl_pad, tfl_mirror_pad,
    tfl_gather, tfl_embedding, tfl_shape, tfl_rank_of, tfl_reverse, tfl_reverse_sequence, tfl_fill,
    tfl_zeros_like, tfl_where, tfl_select, tfl_one_hot, tfl_topk, tfl_scatter, tfl_sparse_to_dense;
extern tfl_map_fn tfl_reduce, tfl_arg, tfl_cast, tfl_squared_difference, tfl_rsqrt, tfl_square,
    tfl_floor_div, tfl_not_equal, tfl_cumsum, tfl_shift;
extern tfl_map_fn tfl_detections;
extern tfl_map_fn tfl_list_reserve, tfl_list_from, tfl_list_set, tfl_list_get, tfl_list_stack;
extern tfl_map_fn tfl_while, tfl_if, tfl_call_once, tfl_call, tfl_composite;

#endif
