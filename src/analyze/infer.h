/* Shapes and values of a whole model: walks every graph in execution order and asks each node's row.
 *
 * The result is side arrays over the model's ids; the model itself is not touched, so one model can be inferred again
 * with other input shapes. Everything is in the arena given.
 */
#ifndef ANALYZE_INFER_H
#define ANALYZE_INFER_H

#include "analyze/axis_roles.h"
#include "base/map.h"
#include "base/notes.h"
#include "ir/graph.h"
#include "ops/op.h"

typedef struct infer_shape {
    str input; /* empty: the first input that has no shape given by name */
    int rank;
    const int64_t *dims;
} infer_shape;

typedef struct infer_dim {
    str symbol;
    int64_t value;
    bool assumed; /* it took a default; not for options */
} infer_dim;

enum {
    INFER_NO_BATCH = -1, /* the input has none */
    INFER_FIRST = -2     /* the first dimension of what has two or more */
};

typedef struct infer_options {
    const infer_shape *shapes; /* --input-shape */
    uint32_t n_shapes;
    const infer_dim *dims; /* --dim */
    uint32_t n_dims;
    bool dims_must_exist; /* a name that the model has not is ASSAY_ERR_USAGE, not a note */
    int64_t batch;        /* --batch; 0 when not given */
    /* [inputs] the dimension that it sets, INFER_NO_BATCH or INFER_FIRST; NULL: INFER_FIRST of all. */
    const int *batch_axes;
    const op_rows *user_ops; /* operators that the user described; or NULL */
    bool
        ignore_declared; /* rules alone, for tests: value_info and graph outputs are not looked at */
} infer_options;

enum {
    INFER_REACHED = 1, /* the walk came by (a branch not taken is not reached) */
    INFER_FOLDED =
        2, /* content known in advance: shape arithmetic, Constant, Identity of a weight */
    INFER_ASSUMED = 4, /* this node itself had to assume something */
    INFER_UNKNOWN = 8, /* no row for it */
    INFER_LOADED = 16, /* computed from constants alone: work of loading; count_load.c */
};

#define INFER_ATTEMPTS AXIS_SIZES /* default sizes tried for symbolic inputs before giving up */

/* A size of an input that nothing gives: every dimension of one symbol, or a single one without a name. */
typedef struct infer_free {
    ir_id input;
    int axis;
    str symbol;
    int64_t value; /* that it took */
} infer_free;

/* Which sizes the free dimensions take: those of an attempt by their role, but for those chosen to fit. */
typedef struct infer_trial {
    int attempt;
    const infer_free *chosen;
    uint32_t n_chosen;
    bool
        open_ranks; /* inputs whose rank the file leaves open have none, whatever their readers need */
} infer_trial;

typedef struct infer_item { /* one line of the accounting */
    ir_id node;
    bool unknown; /* else assumed */
    str reason;
} infer_item;

typedef struct infer_result {
    const ir_model *model;
    const op_index *ops;
    op_info *info; /* [n_values] */
    ir_id *origin; /* [n_values] the constant a value is, seen through OPF_PASS ops; IR_NONE */
    const op_row **rows; /* [n_nodes] NULL when unknown */
    uint8_t *state;      /* [n_nodes] INFER_ flags */
    uint64_t *times;     /* [n_graphs] runs of the graph per run of the model */
    VEC(infer_item) items;
    notes notes;
    infer_trial trial;     /* the sizes of symbolic inputs that are in force */
    VEC(infer_free) free;  /* those that took a size by it */
    uint8_t *defaulted;    /* [n_values] an input of which a size was assumed */
    uint64_t walked;       /* nodes that the walk came by, each time */
    uint64_t content_read; /* cells of content that it followed */
    ir_id failed_at;       /* the node whose rule failed; IR_NONE */
    bool resized; /* an option replaced a size that the file fixes: its declared shapes are stale */
    bool assumed_inputs; /* a symbolic input dimension took a default */
    arena *arena;
    op_env env;                     /* what cost rules may ask: contents only */
    VEC(infer_dim) symbols;         /* what each symbolic dimension was set to */
    map symbol_at;                  /* its place there */
    const struct infer_need *needs; /* [n_values] see infer_needs.h; NULL until somebody asks */
    ir_dtype native;                /* what infer_as_native() made of float32, or IR_UNDEFINED */
} infer_result;

/* ASSAY_ERR_UNSUPPORTED for shapes that contradict; opt may be NULL. */
assay_status infer_run(const ir_model *m, const infer_options *opt, arena *a, infer_result **out,
                       assay_error *err);

/* From now on float32 values, and weights that no file stores, are of the model's native type: the one place where
 * a default precision is decided. For analyses only: an engine runs the graph's own types. */
void infer_as_native(infer_result *r);

/* The context of a node as the rules see it after inference, for cost rules. `in` and `out` have room
 * for the node's inputs and outputs. */
void infer_context(infer_result *r, ir_id node, const op_info **in, op_info *out, op_ctx *c);

/* ---- between infer.c and its neighbours ---- */

/* One walk with the sizes of a trial; *out is set on failure, too, unless out of memory. */
assay_status infer_once(const ir_model *m, const infer_options *opt, const infer_trial *trial,
                        arena *a, infer_result **out, assay_error *err);
/* What the file declares, into what the rules found of a value (infer_declared.c). */
assay_status infer_reconcile(infer_result *r, const infer_options *opt, ir_id id, assay_error *err);
/* From a type that the file declares. */
assay_status infer_describe(infer_result *r, const ir_type *t, op_info *x, assay_error *err);
/* A view has as many elements as its input: a size that is open follows, a declared shape may contradict. */
assay_status infer_fill_view(infer_result *r, op_ctx *c);
/* Gives every input of the main graph a shape (infer_inputs.c). */
assay_status infer_inputs(infer_result *r, const infer_options *opt, assay_error *err);
/* Content of a constant (infer_const.c); NULL when too large, of an odd type or not readable. */
const op_val *infer_constant(const infer_result *r, const ir_tensor *t);
/* The dimension of an input of this rank that is the batch, or -1. */
int infer_batch_axis(const int *axes, uint32_t input, int rank);
/* Value a symbol has, or -1. Understands sums such as "past_sequence_length + 1". */
int64_t infer_symbol(const infer_result *r, str symbol);

#endif
