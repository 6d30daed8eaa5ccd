/* What an operator means: one row per operator with its shape rule, its value rule and its cost rule
 * side by side in one op_*.c file, gathered in ops/op_table.c.
 *
 * A rule sees one node through an op_ctx: what is known of its inputs (op_info), its attributes, and
 * where to put what it finds about its outputs. Rules are pure: same context, same answer.
 *
 *   infer  sets kind, dtype and shape of every output. What cannot be known stays unknown (rank -1 or
 *          dim -1); a size that depends on data becomes its upper bound with op_assume(). A real
 *          contradiction is op_fail(). Must cope with unknown inputs: any input may have rank -1, any
 *          dim may be -1, any optional input may be absent, any attribute may be missing or of a wrong
 *          kind (then the getters give the default).
 *   value  runs after infer when every output is small: computes the content of the outputs from the
 *          contents of the inputs, element by element known or unknown. Optional.
 *   cost   runs after all shapes are known: adds to the cost vector. Inputs or outputs without a known
 *          shape count 0 elements here and make the node `unknown` in the accounting, so a rule never
 *          needs to check for that. Optional: data movement costs nothing.
 */
#ifndef OPS_OP_H
#define OPS_OP_H

#include "base/arena.h"
#include "base/error.h"
#include "base/num.h"
#include "ir/graph.h"

/* ---- what is known of a value ---------------------------------------------------------------- */

typedef union op_cell {
    int64_t i; /* integers and bool */
    double f;  /* floats */
} op_cell;

/* The content of a small tensor, perhaps only in parts. Which member of a cell holds is told by the
 * dtype of the op_info it hangs on (ir_is_float: f, else i). */
typedef struct op_val {
    int64_t n;
    op_cell *cells;
    uint8_t *known; /* NULL when every cell is known, else one byte each */
} op_val;

typedef struct op_info {
    ir_kind kind;                /* IR_KIND_NONE: nothing at all is known */
    ir_dtype dtype;              /* IR_UNDEFINED when unknown; key type of a map */
    int rank;                    /* -1 unknown */
    const int64_t *dims;         /* -1 unknown */
    const op_val *val;           /* content, or NULL */
    const struct op_info *elem;  /* of a sequence or optional: what all elements have in common */
    const struct op_info *items; /* of a sequence of known length: each element; or NULL */
    int64_t length;              /* of a sequence; -1 unknown */
    bool assumed;                /* a size in it rests on an assumption */
    bool defaulted; /* it comes from an input of which a size was assumed, and is right for that */
} op_info;

#define OP_VALUE_MAX  4096 /* elements of the largest tensor whose content is followed */
#define OP_FLOATS_MAX 256  /* the same for float types */

/* ---- the context of a rule ------------------------------------------------------------------- */

struct op_row;
typedef struct op_env op_env;

typedef struct op_ctx {
    const ir_model *model;
    const ir_node *node;
    const struct op_row *row;
    int version;              /* opset of the node's domain */
    const op_info *const *in; /* [n_in]; NULL where an optional input is absent */
    op_info *out;             /* [n_out] */
    uint32_t n_in, n_out;
    arena *arena; /* for everything that hangs on out */
    op_env *env;
    assay_error *err;
    const ir_id *in_ids; /* [n_in] value ids behind `in` (IR_NONE where absent) */
} op_ctx;

/* What the analysis offers to rules; implemented in analyze/. */
struct op_env {
    void *self; /* the analysis' own */
    /* Content of a constant or computed input; NULL when unknown or too large. */
    const op_val *(*value)(op_env *env, const op_ctx *c, uint32_t input);
    /* Infers a subgraph with the given formal inputs; out[n_out] gets what its outputs are. */
    assay_status (*graph)(op_env *env, const op_ctx *c, ir_id graph, const op_info *in,
                          uint32_t n_in, op_info *out, uint32_t n_out, assay_error *err);
    /* How often one run of the node runs `graph` (a Loop's trips; 1 and 0 for an If's branches). */
    void (*times)(op_env *env, ir_id graph, uint64_t times);
    /* For an If whose condition is unknown: the costlier of two inferred graphs. */
    ir_id (*costlier)(op_env *env, ir_id a, ir_id b);
    /* Books an assumption for the node of c: accounting and a warning. */
    void (*assume)(op_env *env, const op_ctx *c, const char *reason);
    /* What the file declares of a value; NULL when it declares nothing, or for other sizes. */
    const ir_type *(*declared)(op_env *env, ir_id value);
    /* Takes n elements from the analysis' budget for content; false when it is used up. */
    bool (*spend)(op_env *env, uint64_t n);
    arena *arena; /* is valid as long as the analysis */
};

/* inputs */
static inline bool op_has(const op_ctx *c, uint32_t i)
{
    return i < c->n_in && c->in[i] != NULL;
}
/* -1 when absent or unknown. */
static inline int op_rank(const op_ctx *c, uint32_t i)
{
    return op_has(c, i) ? c->in[i]->rank : -1;
}
/* IR_UNDEFINED when absent or unknown. */
static inline ir_dtype op_dtype(const op_ctx *c, uint32_t i)
{
    return op_has(c, i) ? c->in[i]->dtype : IR_UNDEFINED;
}
const int64_t *op_dims(const op_ctx *c, uint32_t i); /* NULL when the rank is unknown or 0 */
/* The axis may be negative; -1 when unknown. */
static inline int64_t op_dim(const op_ctx *c, uint32_t i, int axis)
{
    int rank = op_rank(c, i);
    if (axis < 0)
        axis += rank;
    return rank >= 0 && axis >= 0 && axis < rank ? c->in[i]->dims[axis] : -1;
}
/* Product of dims[from, to); -1 when one is unknown. Overflow saturates at INT64_MAX. */
int64_t op_product(const int64_t *dims, int from, int to);
/* -1 when unknown; saturates at INT64_MAX. */
static inline int64_t op_numel(const op_info *x)
{
    if (!x || x->rank < 0)
        return -1;
    if (x->rank == 0)
        return 1;
    return x->rank == 1 ? (x->dims[0] < 0 ? -1 : x->dims[0]) : op_product(x->dims, 0, x->rank);
}
/* Rank and every dim known; NULL: false. */
static inline bool op_shape_full(const op_info *x)
{
    if (!x || x->rank < 0)
        return false;
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] < 0)
            return false;
    return true;
}

/* contents */
const op_val *op_value(const op_ctx *c, uint32_t i); /* NULL when not known at all */
static inline bool op_val_known(const op_val *v, int64_t k)
{
    return !v->known || v->known[k];
}
bool op_val_full(const op_val *v); /* every cell known; NULL: false */
/* All cells known and integer: copies up to max of them; count or -1. Absent or unknown: -1. */
int op_ints(const op_ctx *c, uint32_t i, int64_t *buf, int max);
bool op_int_at(const op_ctx *c, uint32_t i, int64_t k, int64_t *out);  /* one integer cell */
bool op_float_at(const op_ctx *c, uint32_t i, int64_t k, double *out); /* one cell, int or float */

/* attributes (defaults when absent or of another kind) */
int64_t op_attr_int(const op_ctx *c, const char *name, int64_t def);
double op_attr_float(const op_ctx *c, const char *name, double def);
str op_attr_str(const op_ctx *c, const char *name, const char *def);
/* Count, or -1 when absent; a borrowed pointer in *out. */
int op_attr_ints(const op_ctx *c, const char *name, const int64_t **out);
/* Of an attribute that is a number or a list of numbers, whole or not: how many, and the i-th. */
int op_attr_count(const op_ctx *c, const char *name);
double op_attr_number(const op_ctx *c, const char *name, int i, double def);
ir_id op_attr_graph(const op_ctx *c, const char *name); /* IR_NONE when absent */
bool op_attr_has(const op_ctx *c, const char *name);

/* Axes-like list from input `i` (newer opsets) or attribute `name` (older): count into buf, 0 when
 * given empty, -1 when absent in both, -2 when present but not known. */
int op_list(const op_ctx *c, uint32_t i, const char *name, int64_t *buf, int max);

/* outputs; those past n_out or not wanted are ignored */
assay_status op_set(op_ctx *c, uint32_t o, ir_dtype t, int rank, const int64_t *dims); /* copies */
assay_status op_set_scalar(op_ctx *c, uint32_t o, ir_dtype t);
assay_status op_set_unknown(op_ctx *c, uint32_t o, ir_dtype t); /* a tensor of unknown rank */
assay_status op_set_like(op_ctx *c, uint32_t o, uint32_t i);    /* shape and dtype of input i */
assay_status op_set_shape_of(op_ctx *c, uint32_t o, ir_dtype t,
                             uint32_t i); /* shape of i, dtype t */
assay_status op_set_sequence(op_ctx *c, uint32_t o, const op_info *elem, int64_t length);
assay_status op_set_optional(op_ctx *c, uint32_t o, const op_info *elem);
/* Fresh content of n cells for a value rule: NULL when it would be too large or the budget is used
 * up (the rule then returns ASSAY_OK without setting anything). with_known: adds the known bytes. */
op_val *op_new_val(op_ctx *c, int64_t n, bool with_known);
void op_set_val(op_ctx *c, uint32_t o, const op_val *v);

/* shape arithmetic */
/* Turns a negative axis into its place in [0, rank); op_fail()s when it is outside. */
assay_status op_axis(op_ctx *c, int64_t axis, int rank, int *out);
/* GatherElements and its kin: data and indices have one rank, in which attribute axis is. */
assay_status op_check_elements(op_ctx *c);
/* Numpy broadcast of one more shape into acc (rank *rank, room for IR_MAX_RANK); fails on conflict.
 * A rank of -1 on either side makes *rank -1. */
assay_status op_broadcast(op_ctx *c, int *rank, int64_t *acc, int rank2, const int64_t *dims2);
/* Broadcast of inputs first..last (present ones) into output 0 with dtype t. */
assay_status op_broadcast_inputs(op_ctx *c, uint32_t first, uint32_t last, uint32_t o, ir_dtype t);
/* The one dim that a and b must both be: the known one, or failure naming `what`. */
assay_status op_same_dim(op_ctx *c, int64_t a, int64_t b, const char *what, int64_t *out);

/* failure and assumption */
/* "Node 'x' (Conv): <sentence>" as ASSAY_ERR_UNSUPPORTED. Put both shapes into the sentence. */
assay_status op_fail(op_ctx *c, const char *fmt, ...) ASSAY_PRINTF(2, 3);
/* Marks the outputs as assumed and books it: "<reason>" is what was assumed, for display. */
void op_assume(op_ctx *c, const char *fmt, ...) ASSAY_PRINTF(2, 3);
/* "[1,3,?,224]" of input i, in the context's arena, for sentences. */
const char *op_shape_text(const op_ctx *c, uint32_t i);
const char *op_dims_text(const op_ctx *c, int rank, const int64_t *dims);

/* ---- cost ------------------------------------------------------------------------------------ */

typedef struct op_cost {
    uint64_t mac; /* multiply-accumulates of contractions */
    uint64_t add, mul, div;
    uint64_t special;    /* exp, log, erf, sqrt, tanh, pow, sin, ... */
    uint64_t cmp;        /* compare-and-select: relu, max, min, clip, comparison */
    uint64_t int_ops;    /* the same kinds on integers and bools (not MACs) */
    uint64_t causal_mac; /* mac if a causal mask were exploited; equals mac where there is none */
    uint64_t mac_qk, mac_av; /* the parts of mac that are attention scores and their application */
    uint64_t *read;          /* [n_in] bytes read of each input; pre-set to the whole tensor */
    uint64_t *written;       /* [n_out] bytes written of each output; pre-set to the whole tensor */
} op_cost;

uint64_t op_in_elems(const op_ctx *c, uint32_t i);  /* 0 when absent or unknown */
uint64_t op_out_elems(const op_ctx *c, uint32_t o); /* 0 when unknown */
/* Adds n operations of one kind (a pointer to a member of k), or to int_ops when input 0 is not of
 * a float or complex type. */
void op_count(const op_ctx *c, op_cost *k, uint64_t *kind, uint64_t n);
/* Nothing is read of inputs or written (views, shape queries). */
void op_cost_free(const op_ctx *c, op_cost *k);
/* Output 0 is like input 0. */
assay_status op_infer_like(op_ctx *c);
/* read[i] = bytes of n elements of input i's dtype. */
void op_read_elems(const op_ctx *c, op_cost *k, uint32_t i, uint64_t n);

/* ---- rows ------------------------------------------------------------------------------------ */

enum {
    OPF_ELEMENTWISE = 1, /* a constant operand of more than one element is a parameter */
    OPF_INPLACE = 2,     /* the output may take the buffer of a dying input of equal size */
    OPF_VIEW = 4,        /* output 0 aliases input 0: no bytes move */
    OPF_SHAPE_ONLY = 8,  /* reads only the shape of its inputs (Shape, Size): input may stay dead */
    OPF_RANDOM = 16,     /* never folded although its inputs may be constant */
    OPF_CONTROL = 32,    /* runs subgraphs: costs are theirs */
    OPF_CONSTANT = 64,   /* Constant: not a node that runs */
    OPF_PASS = 128, /* a weight seen through it is still that weight: Identity, Cast, Transpose,
                            Reshape (and views), DequantizeLinear */
    OPF_DATA_MOVE = 256, /* moves data and computes nothing: cost is bytes only */
    OPF_NO_SHAPES = 512, /* cost does not need shapes: never `unknown` in the accounting */
    OPF_USER = 2048,     /* described by the user: `with` is its user_rule */
    OPF_IDENTITY = 1024, /* the output is the input itself: of a weight, it does not even run */
};

/* How the backward pass costs, for --training. */
typedef enum op_backward {
    OP_BW_NONE,        /* nothing flows back (integers, comparisons, shapes) */
    OP_BW_MOVE,        /* the gradient is moved: no arithmetic (Reshape, Transpose, Concat) */
    OP_BW_CONTRACTION, /* one forward-sized contraction per operand that needs a gradient */
    OP_BW_ELEMENTWISE, /* about one multiply per element and operand (Add: none) */
    OP_BW_ADD,         /* the gradient passes unchanged; broadcast operands are summed */
    OP_BW_NORM,        /* normalisation: about twice the forward */
    OP_BW_SAME,        /* about the forward's cost again (pooling, softmax, reductions, resize) */
} op_backward;

/* What the backward pass needs kept from the forward. */
typedef enum op_saves { OP_SAVE_NOTHING, OP_SAVE_INPUTS, OP_SAVE_OUTPUT, OP_SAVE_BOTH } op_saves;

/* What a constant in slot 1 asks of input 0, for inputs whose sizes a file leaves open. */
typedef struct op_need {
    int rank; /* that input 0 must have; of a free rank, the least */
    bool any_rank;
    int axis;     /* negative: from the end */
    int64_t size; /* of that axis; -1 unknown */
} op_need;

/* An input that holds indices into another: both are slots. The same slot twice: none. */
typedef struct op_lookup {
    uint8_t index, table;
} op_lookup;
enum { OP_LOOKUPS = 2 };

typedef op_need op_need_fn(const ir_node *n, const ir_tensor *weight);
/* The axis of input 0 along which samples lie side by side. */
typedef int op_batch_fn(const ir_node *n);
typedef assay_status op_infer_fn(op_ctx *c);
typedef assay_status op_value_fn(op_ctx *c);
typedef void op_cost_fn(const op_ctx *c, op_cost *k);

typedef struct op_row {
    const char *domain;   /* "" is ai.onnx */
    const char *name;     /* "Conv" */
    const char *type;     /* family in lower case: "conv#d" (# is the spatial rank of input 0);
                             ops/family.h */
    const char *versions; /* every since_version, "1,11,22" */
    const char *formula;  /* the cost in words, for `assay ops` and docs */
    op_infer_fn *infer;
    op_value_fn *value;     /* may be NULL */
    op_cost_fn *cost;       /* may be NULL: no arithmetic, whole tensors read and written */
    uint32_t weights;       /* bit i: a constant in input slot i is a parameter (or any size) */
    uint32_t buffers;       /* bit i: a constant in slot i is a buffer (running statistics) */
    uint32_t aux;           /* bit i: slot i takes scales, zero points, shapes: never a parameter */
    uint16_t flags;         /* OPF_ */
    uint8_t min_in, max_in; /* 255: variadic */
    uint8_t min_out, max_out; /* 255: variadic */
    op_backward backward;
    op_saves saves;
    op_need_fn *needs; /* NULL: a weight in slot 1 tells nothing of input 0 */
    /* Where the operator itself says which axis of input 0 is the batch, and that it mixes what lies along the
     * others; NULL: it does not. */
    op_batch_fn *batch_axis;
    op_lookup lookups[OP_LOOKUPS];
    const void *with; /* what sets it apart from others that have the same rules, which read it */
    uint8_t sum_slot; /* an input that is added to the result, where there is one; 0: none is */
    /* Elements a packed weight stands for (MatMulNBits); NULL: the tensor's own. */
    uint64_t (*weight_elems)(const op_ctx *c, uint32_t input, const ir_tensor *t);
} op_row;

/* What every row states, and how many inputs and outputs it takes. */
#define OP_ROW(domain_, name_, type_, versions_, formula_, infer_, cost_)           \
    .domain = (domain_), .name = (name_), .type = (type_), .versions = (versions_), \
    .formula = (formula_), .infer = (infer_), .cost = (cost_)
#define OP_SLOTS(min_in_, max_in_, min_out_, max_out_) \
    .min_in = (min_in_), .max_in = (max_in_), .min_out = (min_out_), .max_out = (max_out_)

/* A file's rows: each op_NAME.c ends with
 *     const op_rows op_NAME_rows = OP_ROWS(rows);
 * and op_table.c lists them all. */
typedef struct op_rows {
    const op_row *rows;
    uint32_t n;
} op_rows;
#define OP_ROWS(array)                            \
    {                                             \
        (array), sizeof(array) / sizeof(array)[0] \
    }

extern const op_rows *const op_table[];
extern const uint32_t op_table_n;

/* Finds rows by domain and name; built once per analysis in its arena. */
typedef struct op_index op_index;
/* NULL if out of memory. `more` (or NULL) are rows that come before the table's own. */
op_index *op_index_new(arena *a, const op_rows *more);
/* NULL when unknown. "ai.onnx" and "" are one domain. */
const op_row *op_find(const op_index *x, str domain, str name);

#endif
