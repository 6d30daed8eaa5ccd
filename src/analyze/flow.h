/* The layers of a counted model as a graph: dependencies, buffers of values, and the bytes that each layer reads and
 * writes. Layers are indices of profile.layers, whose order respects every edge.
 *
 * Bodies of loops and branches: their layers wait for the control node, and who reads its outputs waits for
 * the layers that make the body's. A view has no buffer of its own: its root is what it views.
 */
#ifndef ANALYZE_FLOW_H
#define ANALYZE_FLOW_H

#include "analyze/count.h"
#include "ops/family.h"

#define FLOW_NONE UINT32_MAX

typedef struct flow_list { /* lists of layers by layer */
    uint32_t *first;       /* [n + 1] */
    uint32_t *items;
} flow_list;

typedef struct flow {
    infer_result *r;
    const profile *p;
    const counted *of;
    ir_dtype precision;
    uint32_t n;               /* layers */
    const op_family **family; /* [n] */
    uint32_t *layer_of;       /* [n_nodes]; FLOW_NONE: does not run */
    ir_id *root;              /* [n_values] */
    flow_list deps, uses;
    bool *kept;        /* [n] an output is one of a graph's */
    bool *value_kept;  /* [n_values] the same of values */
    uint32_t *readers; /* [n_values] layers that read it */
    uint32_t *control; /* [n_graphs] layer that runs the graph; FLOW_NONE: none */
} flow;

/* Everything in the arena of the inference. */
assay_status flow_build(infer_result *r, const counted *of, const profile *p, ir_dtype precision,
                        flow *out, assay_error *err);

static inline const ir_node *flow_node(const flow *f, uint32_t layer)
{
    return ir_node_at(f->r->model, f->of->nodes[layer]);
}
static inline const op_row *flow_row(const flow *f, uint32_t layer)
{
    return f->r->rows[f->of->nodes[layer]];
}
/* The layer that makes a value; FLOW_NONE when none does. */
static inline uint32_t flow_maker(const flow *f, ir_id value)
{
    ir_id node = value == IR_NONE ? IR_NONE : ir_value_at(f->r->model, value)->producer;
    return node == IR_NONE ? FLOW_NONE : f->layer_of[node];
}
static inline uint32_t flow_n(const flow_list *l, uint32_t layer)
{
    return l->first[layer + 1] - l->first[layer];
}
static inline const uint32_t *flow_at(const flow_list *l, uint32_t layer)
{
    return l->items + l->first[layer];
}
/* What the operator's family is; of one that is not known, a row of nothing. */
static inline const op_family *flow_family(const flow *f, uint32_t layer)
{
    return f->family[layer];
}
/* The name of the family ("conv#d", "relu"), "" when the operator is not known. */
static inline const char *flow_type(const flow *f, uint32_t layer)
{
    const op_row *row = flow_row(f, layer);
    return row ? row->type : "";
}
static inline bool flow_is_view(const flow *f, uint32_t layer)
{
    const op_row *row = flow_row(f, layer);
    return row && (row->flags & OPF_VIEW);
}

#endif
