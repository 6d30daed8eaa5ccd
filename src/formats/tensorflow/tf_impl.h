/* What the files of the TensorFlow reader share.
 *
 * A tf_graph is a graph of the file: the main one, or the body of a function. A tf_scope is one use of it: which values its
 * nodes have there. Functions that are called twice have two scopes; the body of a loop is a scope whose values are in the
 * graph of that body. A tf_ref is an output of a node in a scope.
 *
 * Values are made on demand (tf_build): a reference is followed through identities, calls, arguments and branches that are
 * constant (tf_resolve) to the node that makes it.
 */
#ifndef FORMATS_TF_IMPL_H
#define FORMATS_TF_IMPL_H

#include "formats/foreign_layer.h"
#include "formats/wire_find.h"

enum {
    TF_MAX_DEPTH = 64,       /* calls and loops within each other */
    TF_MAX_LOOPS = 16,       /* loops and branches within each other: those are read by recursion */
    TF_MAX_NODES = 1 << 21,  /* of all graphs of the file */
    TF_MAX_ITEMS = 1 << 14,  /* inputs, outputs or attributes of a node */
    TF_MAX_STEPS = 1 << 12,  /* identities and calls in a row */
    TF_MAX_FOLD = 24,        /* operators in a row that are folded to a list */
    TF_MAX_LOOKS = 1 << 24,  /* at nodes, to fold lists and to find branches */
    TF_LIST = 64,            /* whole numbers of such a list */
    TF_MAX_SHARDS = 1 << 10, /* data files of a checkpoint */
};
#define TF_DOMAIN  "tensorflow"
#define TF_UNKNOWN INT64_MIN /* a number of a list that is not known */
#define TF_NONE    UINT32_MAX

struct tf_row;
struct tf_scope;

typedef struct tf_attr {
    str key;
    uint64_t at, end; /* of its AttrValue */
} tf_attr;

typedef struct tf_in {
    uint32_t node, out; /* node TF_NONE: a name that is not there */
} tf_in;

typedef struct tf_node {
    str name, op;
    const struct tf_row *row; /* NULL: unknown */
    tf_in *in;                /* without control inputs */
    uint32_t *after;          /* control inputs */
    const tf_attr *attrs;
    uint32_t n_in, n_after, n_attrs;
    uint32_t n_out;  /* outputs that somebody reads */
    uint32_t n_uses; /* by data */
    ir_id constant;  /* of a Const or a variable, once it is made */
    bool counted;
} tf_node;

typedef struct tf_graph {
    str name;
    VEC(tf_node) nodes; /* arguments come first */
    VEC(str) texts;     /* inputs as written, until they are linked */
    map by_name;
    uint32_t n_args, n_ret;
    const tf_in *ret;
    const str *ret_names;
    cursor def; /* FunctionDef, until it is read */
    bool read, is_function;
} tf_graph;

typedef struct tf_ref {
    struct tf_scope *s; /* NULL: nothing */
    uint32_t node, out;
} tf_ref;

enum { TF_NEW, TF_OPEN, TF_DONE };
typedef struct tf_slot {
    ir_id *out;
    uint32_t n_out;
    uint8_t state;
    tf_ref to;              /* the node stands for this; s NULL: for itself */
    struct tf_scope *inner; /* of a call */
    struct tf_list *lists;  /* [n_out] of outputs that are TensorLists or TensorArrays; or NULL */
} tf_slot;

/* A list of tensors: one tensor with the items along axis 0, or what a loop collects. */
enum { TF_NO_LIST, TF_EMPTY, TF_WHOLE, TF_COLLECTED };
typedef struct tf_list {
    uint8_t kind;
    ir_id value; /* TF_WHOLE: all; TF_COLLECTED: the item of one trip */
} tf_list;

typedef struct tf_scope {
    tf_graph *g;
    struct tf_scope *outer; /* where it is called from */
    ir_id graph;
    tf_slot *slots; /* [nodes] */
    str prefix;     /* of names: "" or "layer/" */
    uint32_t depth, loops;
    bool frame; /* of a loop of TensorFlow 1: Enter leads to `outer` */
    uint8_t *
        depends; /* [nodes] of a branch of TensorFlow 1: 1 it depends on the condition, 2 it does not */
    tf_ref condition; /* of that branch */
    bool taken;       /* which branch it is */
} tf_scope;

typedef struct tf_entry { /* of a checkpoint */
    ir_dtype dtype;
    int rank;
    int64_t dims[IR_MAX_RANK];
    uint64_t shard, offset, size;
} tf_entry;

typedef struct tf_checkpoint {
    map by_key;
    VEC(tf_entry) entries;
    uint32_t n_shards;
    struct source **shards; /* NULL where a file is absent */
    uint64_t *starts;       /* of each among all files of the model */
    bool found;
} tf_checkpoint;

typedef struct tf_reader {
    foreign f;
    tf_graph main;
    VEC(tf_graph) functions;
    map by_function;
    uint32_t n_nodes, n_scopes;
    uint64_t version;  /* of the producer of the graph */
    VEC(tf_ref) stack; /* of tf_build() */
    tf_checkpoint ck;
    map keys; /* of variables in the checkpoint, by node name */
    VEC(str) key_list;
    tf_ref names; /* of the RestoreV2 that was looked at last: the constant with its keys */
    str *restored;
    uint32_t n_restored;
    uint64_t n_looks;   /* up to TF_MAX_LOOKS */
    bool has_variables; /* parameters are variables; constants are none */
    bool absent;        /* a variable has no content */
} tf_reader;

/* A list of whole numbers, folded. */
typedef struct tf_ints {
    int n;
    bool scalar;
    int64_t v[TF_LIST]; /* TF_UNKNOWN: not known */
} tf_ints;

/* One node on its way into the graph. */
typedef struct tf_op {
    foreign_layer l;
    ir_id *in; /* l.in */
    tf_reader *r;
    tf_scope *s;
    uint32_t at;
    tf_node *n;
    const struct tf_row *row;
} tf_op;

/* False: the node cannot be expressed in rows, and nothing was added. */
typedef bool tf_map_fn(tf_op *o);

typedef enum tf_pass {              /* what stands for a node */
                       TF_MAKES,    /* the node itself */
                       TF_FIRST,    /* its first input */
                       TF_SAME,     /* the input of the same number */
                       TF_CALL,     /* an output of the function "f" */
                       TF_ENTER,    /* its input, in the scope around the loop */
                       TF_SWITCH,   /* its first input, if the branch is alive */
                       TF_MERGE,    /* the input that is alive */
                       TF_CHOICE,   /* an output of the branch that is taken */
                       TF_RESOURCE, /* no tensor: nothing is made */
                       TF_STANDS,   /* values that its mapping names with tf_stand() */
                       TF_CONSTANT, /* Const */
                       TF_VARIABLE, /* VariableV2 */
                       TF_SINK,     /* no output of a network: training, saving, summaries */
} tf_pass;

typedef struct tf_row {
    const char *op;
    tf_map_fn *map; /* NULL: `onnx` takes the inputs as they are */
    const char *onnx;
    uint8_t least_in;
    uint8_t pass;     /* tf_pass */
    const char *outs; /* names of the output arguments, where there are several; ',' between */
} tf_row;
const tf_row *tf_row_of(str op); /* NULL: none */

/* ---- the file (tf_proto.c) ---- */

assay_status tf_read_graph(tf_reader *r, cursor def);
/* A function by its name, read when it is first used; NULL: it is not there or damaged. */
tf_graph *tf_function(tf_reader *r, str name);
uint32_t tf_node_at(const tf_graph *g, str name); /* TF_NONE: none */
/* "name", "name:1" */
tf_in tf_parse_input(const tf_graph *g, str text);

/* ---- attributes (tf_attr.c) ---- */

cursor tf_attr_of(const tf_op *o, const char *key); /* the AttrValue; empty: absent */
cursor tf_node_attr(tf_reader *r, const tf_node *n, const char *key);
bool tf_bool(const tf_op *o, const char *key, bool def);
int64_t tf_int(const tf_op *o, const char *key, int64_t def);
double tf_float(const tf_op *o, const char *key, double def);
str tf_text(const tf_op *o, const char *key);
bool tf_is(const tf_op *o, const char *key, const char *value);
str tf_function_name(tf_reader *r, const tf_node *n, const char *key);
int tf_int_list(const tf_op *o, const char *key, int64_t *list); /* of TF_LIST; -1: absent */
ir_dtype tf_dtype_of(uint64_t number);
ir_dtype tf_dtype(const tf_op *o, const char *key);
/* TensorShapeProto; false: the rank is unknown. Sizes are -1 where unknown. */
bool tf_shape_of(cursor shape, int *rank, int64_t *dims);
/* The shape of an output as the file states it: placeholders, constants, variables, "_output_shapes". */
bool tf_static_shape(tf_reader *r, tf_ref ref, int *rank, int64_t *dims);
int tf_rank(const tf_op *o, uint32_t in); /* -1: not stated */

/* ---- constants (tf_tensor.c) ---- */

typedef struct tf_tensor {
    ir_dtype dtype;
    int rank;
    int64_t dims[IR_MAX_RANK];
    uint64_t elements;
    uint64_t content, n_content; /* raw bytes in the file */
    cursor proto;
} tf_tensor;
bool tf_tensor_read(cursor proto, tf_tensor *t);
ir_id tf_constant(tf_reader *r, tf_scope *s, tf_node *n);
bool tf_tensor_ints(tf_reader *r, cursor proto, tf_ints *out);

/* ---- variables (tf_variable.c, tf_checkpoint.c) ---- */

/* The constant of the variable that a reference names, in the main graph; IR_NONE: unknown. */
ir_id tf_variable_of(tf_reader *r, tf_ref ref);
bool tf_variable_shape(tf_reader *r, const tf_node *n, ir_dtype *t, int *rank, int64_t *dims);
/* Reads the index of a checkpoint; the model is at path. */
assay_status tf_checkpoint_open(tf_reader *r, const char *path);
void tf_checkpoint_close(tf_reader *r);
const tf_entry *tf_checkpoint_find(const tf_reader *r, str key);
/* Which key of the checkpoint each variable is restored from. */
void tf_find_keys(tf_reader *r, tf_scope *main);

/* ---- values (tf_scope.c, tf_fold.c) ---- */

tf_scope *tf_scope_new(tf_reader *r, tf_graph *g, tf_scope *outer, str prefix);
tf_ref tf_input(tf_scope *s, uint32_t node, uint32_t in);
tf_ref tf_in_ref(const tf_op *o, uint32_t in);
tf_ref tf_resolve(tf_reader *r, tf_ref ref);
/* Makes what the references need; then tf_use() has their values. */
assay_status tf_build(tf_reader *r, const tf_ref *refs, uint32_t n);
ir_id tf_use(tf_reader *r, tf_ref ref);
/* A reference has this value from now on. */
bool tf_bind(tf_reader *r, tf_scope *s, uint32_t node, ir_id value, uint32_t n_out);
tf_list *tf_list_of(tf_reader *r, tf_ref ref); /* NULL: no list */
bool tf_set_list(tf_op *o, uint32_t out, uint8_t kind, ir_id value);
/* Output `out` of the node is this value. */
bool tf_stand(tf_op *o, uint32_t out, ir_id value);
str tf_name(tf_reader *r, const tf_scope *s, str name, uint32_t out);
assay_status tf_failed(tf_reader *r); /* ASSAY_OK, or what went wrong so far */

/* Input i as known whole numbers: how many, or -1. */
int tf_fold_in(const tf_op *o, uint32_t in, int64_t *list);
bool tf_fold_one(const tf_op *o, uint32_t in, int64_t *v);
bool tf_fold_ref(tf_reader *r, tf_ref ref, int64_t *v); /* one number */

/* The input of a Merge that a constant condition leaves alive; s NULL: the condition is computed. */
tf_ref tf_alive(tf_reader *r, tf_ref merge);
/* Whether a node is within a loop of TensorFlow 1. */
bool tf_in_frame(tf_reader *r, tf_scope *s, uint32_t node);
/* Whether a node needs a Switch of the condition of a branch; that of a scope with `depends`. */
bool tf_depends(tf_reader *r, tf_scope *s, uint32_t node);
tf_scope *tf_call_scope(tf_reader *r, tf_ref call, str function, uint32_t first_in);
/* The inputs that a node waits for, onto the stack; those of an Exit (tf_frame.c). */
assay_status tf_push(tf_reader *r, tf_ref ref);
assay_status tf_push_exit(tf_reader *r, tf_ref ref);

/* ---- loops (tf_loop.c), of both kinds ---- */

typedef struct tf_var {
    tf_ref init;
    uint32_t cond_node; /* that has its value in the condition */
    uint32_t body_node,
        body_next; /* the same in the body; two nodes in loops of TensorFlow 1 (else TF_NONE) */
    tf_in next;    /* its value after a trip */
    bool same, collects; /* the body does not change it; it is a list to which the body adds */
    ir_id out;           /* after the loop; IR_NONE: nobody reads it */
    tf_list *list;       /* where the list goes */
} tf_var;

enum { TF_MAX_LIMITS = 4 };
typedef struct tf_loop {
    tf_op *o;
    tf_graph *cond, *body;
    tf_in condition;
    tf_var *vars;
    uint32_t n;
    bool frame;
    int64_t trips;               /* the least that is known as a number; -1: none is */
    ir_id limits[TF_MAX_LIMITS]; /* that the graph computes */
    uint32_t n_limits;
} tf_loop;
/* False: it cannot be a Loop. */
bool tf_build_loop(tf_loop *l);

extern tf_map_fn tf_conv, tf_depthwise, tf_conv_backprop, tf_pool, tf_matmul, tf_bias_add,
    tf_batch_norm, tf_softmax, tf_lrn, tf_resize, tf_blocks, tf_batch_blocks, tf_clip,
    tf_leaky_relu, tf_fake_quant, tf_l2_loss, tf_einsum, tf_nms, tf_dequantize;
extern tf_map_fn tf_reshape, tf_transpose, tf_squeeze, tf_expand_dims, tf_concat, tf_pack,
    tf_unpack, tf_split, tf_split_v, tf_slice, tf_strided_slice, tf_pad, tf_mirror_pad, tf_gather,
    tf_gather_nd, tf_shape, tf_shape_n, tf_size, tf_rank_of, tf_reverse, tf_reverse_sequence,
    tf_fill, tf_zeros_like, tf_one_hot, tf_topk, tf_tile, tf_broadcast_to, tf_scatter, tf_where,
    tf_random, tf_resource_gather, tf_lookup, tf_resize_conv;
/* The convolution of a node with this input and kernel. */
bool tf_conv_of(tf_op *o, const ir_id *from);
extern tf_map_fn tf_reduce, tf_arg, tf_cast, tf_squared_difference, tf_rsqrt, tf_square,
    tf_floor_div, tf_div_no_nan, tf_not_equal, tf_cumsum, tf_select, tf_log1p, tf_expm1,
    tf_floor_mod, tf_add_n, tf_read_variable, tf_placeholder, tf_truncate_div, tf_true;
extern tf_map_fn tf_while, tf_if, tf_exit, tf_merge;
extern tf_map_fn tf_list_reserve, tf_list_from, tf_list_get, tf_list_set, tf_list_stack,
    tf_list_length, tf_array_new, tf_array_scatter, tf_array_read, tf_array_write, tf_array_gather,
    tf_array_size;

#endif
