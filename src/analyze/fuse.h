/* The fusion partitioner: every layer in exactly one group that may run as one kernel.
 *
 * A group has one exit: all it makes, save by its last layer, is read inside it and is no output of a graph.
 * A layer joins the group whose exit it alone reads, when a rule says that such a kernel exists; views in
 * between come along. From the one exit follow the properties that tests check by brute force: a path that
 * leaves a group never comes back (that would be a cycle of the graph itself), so groups are convex and
 * depend on each other without cycles, whatever the rules say. Groups never cross the edge of a loop's body
 * or a branch. The work is linear in nodes and edges.
 *
 * The exception has two exits and ends there: a norm that reads nothing but a residual sum joins it although others
 * read the sum too, when it runs before all of them. Nothing joins such a group any more, so every reader of either
 * exit follows its last layer, and the order of last layers still is one in which groups can run.
 */
#ifndef ANALYZE_FUSE_H
#define ANALYZE_FUSE_H

#include "analyze/flow.h"
#include "analyze/kernels.h"
#include "analyze/pattern.h"
#include "profile/fusion.h"

typedef enum fuse_strategy {
    FUSE_NONE,         /* a group per layer */
    FUSE_CONVENTIONAL, /* chains that engines are known to run as one kernel; residual adds stay apart */
    FUSE_AGGRESSIVE, /* also the residual add, what precedes a contraction, layout changes, blocks */
    FUSE_STRATEGIES
} fuse_strategy;

const char *fuse_strategy_name(fuse_strategy s);

/* What a layer is to the rules. */
typedef enum fuse_role {
    ROLE_ALONE, /* joins nothing */
    ROLE_VIEW,  /* moves nothing */
    ROLE_CONV,
    ROLE_MATMUL,
    ROLE_ATTENTION,
    ROLE_NORM,     /* reduces and normalises: group and instance norms, softmax */
    ROLE_ROW_NORM, /* layer and RMS norm */
    ROLE_POOL,     /* pooling and reductions */
    ROLE_AFFINE,   /* scale and shift per channel: batch norm at inference */
    ROLE_ACT,
    ROLE_BIAS,   /* adds what is smaller than its other operand */
    ROLE_ADD,    /* adds two tensors of its own size */
    ROLE_BINARY, /* any other elementwise operator of two tensors of its own size */
    ROLE_POINT,  /* any other elementwise operator */
    ROLE_PAD,
    ROLE_LAYOUT,  /* moves each element once: transpose, depth to space */
    ROLE_DEQUANT, /* to floating point */
    ROLE_QUANT,   /* from it */
    ROLE_BLOCK,   /* a block that a pattern names: squeeze-excite, gated MLP */
    ROLE_CLOSED,  /* leads a group with two exits: nothing joins it */
    ROLE_COUNT
} fuse_role;

typedef struct fuse_rule {
    const char *about;
    uint32_t group; /* roles that a group may be led by, as bits */
    uint32_t next;  /* roles that may join it */
    bool before; /* the group is computed while `next` loads its operand, and `next` leads then */
    bool forks;  /* also when others read the group's exit; then nothing more joins */
    fuse_strategy from;
} fuse_rule;

extern const fuse_rule fuse_rules[];
extern const uint32_t fuse_rules_n;

/* The role of a layer by its operator and operands; a name for kinds. */
fuse_role fuse_role_of(const flow *f, uint32_t layer);
const char *fuse_role_name(fuse_role role); /* NULL: the layer's type */

typedef struct fuse_partition {
    uint32_t *group_of;             /* [layers] */
    uint32_t n_groups;              /* numbered so that a group stands behind what it depends on */
    uint32_t *first;                /* [n_groups + 1] in members */
    uint32_t *members;              /* layers, ascending within a group */
    fuse_role *role_of;             /* [layers] */
    const pattern_match **match_of; /* [layers] the pattern it joined as a part of, or NULL */
} fuse_partition;

/* Everything in the arena of the inference. */
assay_status fuse_run(const flow *f, const pattern_list *patterns, fuse_strategy strategy,
                      fuse_partition *out, assay_error *err);

/* Bytes that enter and leave each group: of a buffer from outside the most that a layer reads of it, once; of a
 * buffer made inside what is written, unless all who read it are inside. bytes[n_groups]. */
assay_status fuse_boundary(const flow *f, const fuse_partition *g, uint64_t *bytes,
                           assay_error *err);

/* The groups with their figures, levels and critical path; in p's arena (fuse_figures.c). */
assay_status fuse_figures(const flow *f, const fuse_partition *g, fuse_strategy strategy,
                          profile *p, profile_fusion **out, assay_error *err);

/* Fills p->fusion->engine: where an engine's kernels cut the layers of p->fusion otherwise (fuse_compare.c). */
assay_status fuse_compare(const flow *f, const fuse_partition *g, const kernel_map *kernels,
                          arena *work, profile *p, assay_error *err);

/* What each strategy would save (fuse_figures.c). */
assay_status fuse_potential(const flow *f, const pattern_list *patterns, profile_potential *out,
                            assay_error *err);

#endif
