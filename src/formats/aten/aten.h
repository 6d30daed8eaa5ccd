/* Calls of ATen operators (PyTorch's tensor library) on their way into the graph. torch.export files and TorchScript have
 * the same operators: this is the one table of them, with what each becomes in ONNX.
 *
 *   a call      an operator and its arguments by position; names of arguments are in the row
 *   a value     a tensor of the graph, a number, a text, a list; or a size: a whole number that the graph computes, because
 *               it follows from the sizes of the inputs
 *
 * Shapes are followed while the graph is built, by the rules of ops/ (aten_infer.c): what an operator becomes depends on
 * the ranks and types of its arguments. Sizes stay computed, so that the graph is right for other input sizes as well.
 *
 * What has no row keeps its name in the domain "aten" and is an unknown operator.
 */
#ifndef FORMATS_ATEN_H
#define FORMATS_ATEN_H

#include "formats/foreign_layer.h"
#include "ops/op.h"

enum { ATEN_ARGS = 20, ATEN_LIST_MAX = 1 << 16, ATEN_MAX_OUT = 4096 };
#define ATEN_DOMAIN "aten"

typedef enum aten_kind {
    ATEN_ABSENT, /* not given */
    ATEN_NONE,
    ATEN_TENSOR,
    ATEN_INT,
    ATEN_BOOL,
    ATEN_FLOAT,
    ATEN_SIZE, /* a whole number that the graph computes */
    ATEN_TEXT,
    ATEN_LIST, /* and tuples */
    ATEN_DICT, /* keys and values in turn */
    ATEN_OTHER /* of the reader: a module, a function */
} aten_kind;

struct aten_list;

typedef struct aten_value {
    aten_kind kind;
    bool known; /* ATEN_SIZE: i is what it is at the sizes that are declared or assumed */
    ir_id id;   /* ATEN_TENSOR; ATEN_SIZE: its int64 scalar, or IR_NONE while nothing needs it */
    ir_id of;   /* ATEN_SIZE without id: size `axis` of this tensor */
    int axis;
    int64_t i; /* also of ATEN_BOOL */
    double f;
    str s;
    struct aten_list *list;
    const void *other;
} aten_value;

typedef struct aten_list {
    VEC(aten_value) v;
    bool tuple;
} aten_list;

typedef struct aten {
    foreign *f;
    arena *a; /* f->scratch */
    op_index *ops;
    VEC(op_info) info; /* of values */
    uint32_t followed; /* nodes */
    op_env env;
    uint64_t budget;
    bool fixed;                /* an operator needed a number where the graph computes a size */
    assay_error contradiction; /* the first that shapes had */
    VEC(ir_id) newest;         /* what operators in place made of a value; IR_NONE: nothing */
    uint32_t unknown;          /* calls without a row */
} aten;

bool aten_begin(aten *t, foreign *f);
/* What is known of a value so far. Never NULL; until the next call. */
const op_info *aten_info(aten *t, ir_id id);
int aten_rank_of(aten *t, ir_id id); /* -1: unknown */
ir_dtype aten_dtype_of(aten *t, ir_id id);

/* What operators in place have made of a value. */
ir_id aten_latest(const aten *t, ir_id id);

/* ---- values ---- */

aten_value aten_of_int(int64_t i);
aten_value aten_of_bool(bool yes);
aten_value aten_of_float(double f);
aten_value aten_of_text(str s);
aten_value aten_of_tensor(ir_id id);
aten_value aten_none(void);
/* An empty list; kind ATEN_ABSENT if out of memory. */
aten_value aten_new_list(aten *t, bool tuple);
bool aten_push(aten *t, const aten_value *list, aten_value v);
/* Size `axis` (which may be negative) of a tensor. */
aten_value aten_size_of(aten *t, ir_id x, int64_t axis);
/* A number of either kind at the sizes at hand; false: not a number, or not known. */
bool aten_whole(const aten_value *v, int64_t *out);
bool aten_number(const aten_value *v, double *out);
/* "add", "sub", "mul", "floordiv", "mod" of whole numbers of which one is a size; kind ATEN_ABSENT: another operator. */
aten_value aten_size_math(aten *t, const char *op, const aten_value *a, const aten_value *b);
/* The int64 scalar of a whole number. */
ir_id aten_scalar(aten *t, str base, const aten_value *v);
/* An int64 tensor [n] of a list of whole numbers; IR_NONE: it is something else. */
ir_id aten_list_tensor(aten *t, str base, const aten_value *list);
/* PyTorch's number of a type (torch.float32 is 6); IR_UNDEFINED: unknown. */
ir_dtype aten_scalar_type(int64_t number);

/* ---- calls ---- */

struct aten_row;
typedef struct aten_call {
    aten *t;
    foreign_layer l; /* name; out and n_out once they are made */
    str op;          /* without namespace and overload: "add_" */
    const struct aten_row *row;
    aten_value arg[ATEN_ARGS];
    aten_value result;
    /* Makes output i; NULL: values named after the layer. */
    ir_id (*make)(struct aten_call *c, uint32_t i);
    void *ctx;       /* of make */
    uint32_t wanted; /* outputs that the source names; 0: not said */
    ir_id outs[8];
} aten_call;

/* False: the call cannot be expressed in rows, and nothing was added. */
typedef bool aten_map_fn(aten_call *c);
typedef struct aten_row {
    const char *name;
    const char *args; /* names by position, with alternatives: "self dim|other keepdim" */
    aten_map_fn *map; /* NULL: `op` takes the first argument */
    const char *op;
} aten_row;
/* "add", "add_" and "add.Tensor" are one row. NULL: none. */
const aten_row *aten_row_of(str op);
/* Gives an argument by its name; false: the row has none of that name. */
bool aten_name_arg(aten_call *c, str name, const aten_value *v);
/* Maps the call; c->result is what it returns. False: out of memory or too many nodes. */
bool aten_run(aten_call *c);

/* ---- what operators ask (aten_call.c) ---- */

bool aten_given(const aten_call *c, int i); /* and not None */
ir_id aten_tensor(const aten_call *c, int i);
int64_t aten_int(aten_call *c, int i, int64_t def);
double aten_float(const aten_call *c, int i, double def);
bool aten_flag(const aten_call *c, int i, bool def);
bool aten_is_text(const aten_call *c, int i, const char *text);
/* Whole numbers of a list, or one number: how many; -1: not given; -2: not known. At most LAYER_LIST. */
int aten_ints(aten_call *c, int i, int64_t *list);
int aten_rank(aten_call *c, int i);
ir_dtype aten_dtype(aten_call *c, int i);
/* An axis as it is counted from the front; false: outside or unknown rank. */
bool aten_axis(aten_call *c, int i, int64_t axis, int64_t *out);
/* A tensor or number as an operand of type t. */
ir_id aten_operand(aten_call *c, int i, ir_dtype t);
/* Arguments i and k in the type that PyTorch promotes them to. */
ir_dtype aten_promote(aten_call *c, int i, int k, ir_id out[2]);
ir_id aten_cast(aten_call *c, ir_id x, ir_dtype t);
/* The tensors of a list; how many, -1: it is none. */
int aten_tensors(aten_call *c, int i, ir_id *list, int max);

/* The output, made now. */
ir_id aten_out(aten_call *c);
/* n outputs, which the call returns as a list. */
bool aten_outs(aten_call *c, uint32_t n);
/* The call returns n values, of which only the output is made: statistics of native_ operators. */
bool aten_first_of(aten_call *c, uint32_t n);
bool aten_node(aten_call *c, const char *op, const ir_id *in, uint32_t n,
               const ir_attr_spec *attrs);
ir_id aten_step(aten_call *c, const char *op, const ir_id *in, uint32_t n,
                const ir_attr_spec *attrs);
ir_id aten_step2(aten_call *c, const char *op, ir_id a, ir_id b);
bool aten_node2(aten_call *c, const char *op, ir_id a, ir_id b);
ir_id aten_like(aten_call *c, double v, ir_dtype t); /* a scalar constant */
/* The result is the argument itself: no node. */
bool aten_same(aten_call *c);
bool aten_nothing(aten_call *c);

extern aten_map_fn aten_unary, aten_rsqrt, aten_square, aten_log_base, aten_log1p, aten_expm1,
    aten_silu, aten_mish, aten_gelu, aten_leaky_relu, aten_elu, aten_prelu, aten_clamp, aten_relu6,
    aten_hardswish, aten_hardsigmoid, aten_softplus, aten_log_sigmoid, aten_softmax, aten_glu,
    aten_celu, aten_threshold, aten_shrink;
extern aten_map_fn aten_binary, aten_compare, aten_not_equal, aten_add, aten_rsub, aten_div,
    aten_floor_divide, aten_remainder, aten_pow, aten_logical, aten_logical_not, aten_bitwise_not,
    aten_where, aten_masked_fill, aten_addcmul, aten_lerp;
extern aten_map_fn aten_reduce, aten_extreme, aten_arg_extreme, aten_variance, aten_norm, aten_any,
    aten_cumsum, aten_topk, aten_sort;
extern aten_map_fn aten_linear, aten_matmul, aten_addmm, aten_einsum, aten_conv, aten_convolution,
    aten_deconv, aten_embedding, aten_attention, aten_outer;
extern aten_map_fn aten_max_pool, aten_avg_pool, aten_adaptive_pool, aten_upsample, aten_grid;
extern aten_map_fn aten_batch_norm, aten_native_batch_norm, aten_layer_norm, aten_group_norm,
    aten_native_group_norm, aten_instance_norm, aten_rms_norm;
extern aten_map_fn aten_rnn;
extern aten_map_fn aten_view, aten_view_as, aten_flatten, aten_unflatten, aten_squeeze,
    aten_unsqueeze, aten_permute, aten_transpose, aten_t, aten_expand, aten_expand_as, aten_repeat,
    aten_cat, aten_stack, aten_split, aten_chunk, aten_unbind, aten_slice, aten_select, aten_narrow,
    aten_index_select, aten_gather, aten_index, aten_flip, aten_roll, aten_pad, aten_pad_mode,
    aten_shuffle, aten_tril, aten_movedim, aten_scatter, aten_copy, aten_slice_scatter;
extern aten_map_fn aten_trunc, aten_erfc, aten_isfinite, aten_atan2, aten_tensor_split,
    aten_as_strided, aten_select_scatter, aten_scatter_reduce, aten_index_put, aten_nonzero,
    aten_linspace, aten_meshgrid, aten_cdist, aten_fused_attention, aten_self_attention,
    aten_adaptive_max_pool, aten_unshuffle;
extern aten_map_fn aten_fill, aten_fill_like, aten_arange, aten_scalar_tensor, aten_to,
    aten_type_as, aten_to_copy, aten_cast_to, aten_one_hot, aten_random, aten_fill_value;

#endif
