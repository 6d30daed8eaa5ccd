/* The cost of a model: the cost vector of every node that runs, as layers of a profile; parameters and buffers;
 * totals by operator type and module; arithmetic intensity and its bands.
 */
#ifndef ANALYZE_COUNT_H
#define ANALYZE_COUNT_H

#include "analyze/infer.h"
#include "profile/profile.h"

/* A convention converts the cost vector of a node to FLOPs. */
typedef struct lens {
    const char *name;
    const char *unit; /* "FLOP", "MAC", ... */
    const char *about;
    uint64_t (*flops)(const op_ctx *c, const op_cost *k);
    bool
        eager; /* the tool repeats in every run what an engine does once, when it loads the model */
} lens;

extern const lens lens_table[];
extern const uint32_t lens_table_n;
const lens *lens_find(str name); /* NULL when unknown */

typedef struct count_options {
    const lens *lens;   /* NULL: assay's own */
    ir_dtype precision; /* re-weigh float bytes at this type; IR_UNDEFINED: as stored */
    double threshold; /* FLOPs per byte from which a layer is compute-bound; 0: BAND_COMPUTE_FROM */
    bool verbose;     /* fill profile.values */
    bool unoptimised; /* for an engine that repeats load-time work in every run */
} count_options;

/* FLOPs of one inferred graph (one run of it, inner graphs included), for choosing the costlier branch
 * of an If. */
uint64_t count_graph_flops(infer_result *r, ir_id graph);

/* What the node's row says it costs, bytes at the stored types. k's arrays must have room for the node's
 * inputs and outputs. */
void count_cost(const op_ctx *c, op_cost *k);
/* Bytes that such a node moves in all, each distinct tensor once, floats at `precision`. */
uint64_t count_moved(const infer_result *r, const op_ctx *c, ir_dtype precision, const op_cost *k);
/* Both for one node: vector, and bytes at that precision. */
void count_node(infer_result *r, const op_ctx *c, ir_dtype precision, op_cost *k);

/* The type that a layer is shown as: "conv#d" with the spatial rank of its first input, "conv2d". */
str count_type(const op_row *row, int rank, arena *a);

/* The counts of assay, whatever convention is shown: intensity is based on real operations. */
uint64_t count_flops(const profile_ops *o);
/* Bytes of a value, floats at `precision` unless it is IR_UNDEFINED; 0 when its size is not known. */
uint64_t count_tensor_bytes(const op_info *x, ir_dtype precision);

typedef enum weight_class { WEIGHT_NONE, WEIGHT_PARAM, WEIGHT_BUFFER, WEIGHT_AUX } weight_class;

typedef struct weights {
    uint8_t *cls;    /* [n_values] weight_class of each constant */
    uint64_t *elems; /* [n_values] parameters it stands for */
    ir_id *owner;    /* [n_values] the layer (node) it is booked under */
    uint64_t
        *booked;    /* [n_nodes] parameters first used by the node, whatever was folded before it */
    uint8_t *fixed; /* [n_values] a constant, or computed from constants alone */
} weights;

/* The layer's attributes (count_attrs.c); false if out of memory. */
bool count_attributes(const infer_result *r, const weights *w, const op_ctx *c, arena *a,
                      profile_layer *l);

/* An operator that runs once, when the model is loaded. Its cost is counted by count_run() only. */
typedef struct load_step {
    ir_id node;
    uint64_t flops, macs;
} load_step;

/* What later analyses need to know of a counted model. Lives in the analysis' arena. */
typedef struct counted {
    const ir_id *nodes;    /* [n] the node after each layer */
    const uint64_t *times; /* [n] its runs per run of the model */
    uint32_t n;
    load_step *loaded; /* [n_loaded] in execution order */
    uint32_t n_loaded;
    weights weights;
} counted;

/* Fills layers, totals, operations, architecture, accounting, bottlenecks, modules, inputs, outputs
 * (and values) of p. */
assay_status count_run(infer_result *r, const count_options *opt, profile *p, counted *out,
                       assay_error *err);

/* Which nodes run and what the weights are, without layers: of p, only what is said of weights is filled. */
assay_status count_steps(infer_result *r, profile *p, counted *out, assay_error *err);

/* ---- between count.c and its neighbours ---- */

/* Bytes of a weight where it is stored, and its place among the bytes by type; count_weights.c. The
 * files' own types are fewer than the rows. */
enum { COUNT_DTYPES_MAX = 96 };
typedef struct count_stored {
    str name;       /* "float32", or a file's own word: "Q4_K" */
    ir_dtype dtype; /* IR_UNDEFINED for such a word */
    uint64_t bytes;
    bool as_declared; /* as the graph has it: neither a file nor a native type says otherwise */
} count_stored;
/* Where a file holds the weight, as it lies there; else float32 at the native type of `r`, which may be NULL. */
count_stored count_stored_as(const infer_result *r, const ir_tensor *t);
typedef struct dtype_sums {
    arena *arena;
    profile_bytes_by_dtype *rows;
    uint32_t n;
} dtype_sums;
bool count_dtypes_begin(dtype_sums *sums, arena *a);
void count_dtype(dtype_sums *sums, const count_stored *s, uint64_t elems);
/* Which constants are parameters (SPEC.md, Counting); count_weights.c. */
assay_status count_weights(infer_result *r, profile *p, weights *w, assay_error *err);
/* Which operators are load-time work (count_load.c). The first call marks those whose content is not followed;
 * the second, with the weights classified, those of which it is, and makes others that use a weight run. */
void count_mark_loaded(infer_result *r, uint8_t *fixed);
void count_unfold_weights(infer_result *r, const weights *w, uint8_t *of_weight);
/* Takes the marks back: all of it runs. */
void count_unmark_loaded(infer_result *r, uint8_t *fixed);
/* Costs of s->loaded and p->load_time; false if out of memory. */
bool count_load_time(infer_result *r, ir_dtype precision, const lens *by, const counted *s,
                     profile *p);
/* The module a node belongs to, from its own or its name: "layer1.0.conv1"; count_modules.c. Nodes of one module mostly
 * follow each other: `last` has the one before, and its path is made once. */
typedef struct module_memo {
    str scope; /* of the node's name: what is before its last '/' */
    str module;
} module_memo;
str count_module_of(const ir_node *n, arena *a, module_memo *last);
/* Which rules of the user were used; count_user.c. */
assay_status count_user_operators(const infer_result *r, profile *p, assay_error *err);
/* Builds p->modules from p->layers. */
assay_status count_modules(profile *p, assay_error *err);

/* ---- between the files of counting (count_totals.c) ---- */

/* Bounds of the layers and of the whole; threshold 0: the usual. */
void count_judge_bounds(profile *p, double threshold);
/* p->operations: sums by operator type. */
assay_status count_break_down(profile *p, arena *work, assay_error *err);

#endif
