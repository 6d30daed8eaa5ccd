/* See flow.h. */
#include "analyze/flow.h"

typedef struct builder {
    flow *f;
    uint32_t *stamp; /* [n] last layer that was found to wait for it */
    VEC(uint32_t) edges;
    arena *arena;
} builder;

static void push_edge(builder *b, uint32_t layer, uint32_t on)
{
    if (on == FLOW_NONE || on == layer || b->stamp[on] == layer + 1)
        return;
    b->stamp[on] = layer + 1;
    (void)VEC_ADD(b->arena, &b->edges, on);
}

/* An output of a control node is made by its bodies: output k of a branch, k + 1 of a loop, whose first is
 * the condition. */
static void push_bodies(builder *b, uint32_t layer, uint32_t control, ir_id value)
{
    const ir_model *m = b->f->r->model;
    const ir_node *n = flow_node(b->f, control);
    uint32_t k = 0;
    while (k < n->n_outputs && n->outputs[k] != value)
        k++;
    for (uint32_t a = 0; a < n->n_attrs; a++) {
        ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
        for (uint32_t i = 0; i < inner.n; i++) {
            const ir_graph *g = ir_graph_at(m, inner.ids[i]);
            uint32_t at = g->outputs.n > n->n_outputs ? k + 1 : k;
            if (at < g->outputs.n)
                push_edge(b, layer, flow_maker(b->f, g->outputs.items[at]));
        }
    }
}

static bool is_control(const flow *f, uint32_t layer)
{
    const op_row *row = flow_row(f, layer);
    return row && (row->flags & OPF_CONTROL);
}

static void find_deps(builder *b, uint32_t layer)
{
    flow *f = b->f;
    const ir_node *n = flow_node(f, layer);
    f->deps.first[layer] = b->edges.n;
    push_edge(b, layer, f->control[n->graph]);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t on = flow_maker(f, n->inputs[i]);
        if (on != FLOW_NONE && is_control(f, on))
            push_bodies(b, layer, on, n->inputs[i]);
        push_edge(b, layer, on);
    }
}

static assay_status invert(flow *f, arena *a, assay_error *err)
{
    uint32_t n_edges = f->deps.first[f->n];
    f->uses.first = ARENA_ARRAY(a, uint32_t, (size_t)f->n + 2);
    f->uses.items = ARENA_ARRAY(a, uint32_t, (size_t)n_edges + 1);
    TRY_MEMORY(f->uses.first && f->uses.items, err);
    for (uint32_t e = 0; e < n_edges; e++)
        f->uses.first[f->deps.items[e] + 2]++;
    for (uint32_t k = 2; k <= f->n + 1; k++)
        f->uses.first[k] += f->uses.first[k - 1];
    for (uint32_t layer = 0; layer < f->n; layer++)
        for (uint32_t k = 0; k < flow_n(&f->deps, layer); k++)
            f->uses.items[f->uses.first[flow_at(&f->deps, layer)[k] + 1]++] = layer;
    return ASSAY_OK;
}

/* Which layer runs a graph: bodies stand in the attributes of running nodes. */
static void find_controls(flow *f)
{
    memset(f->control, 0xff, sizeof *f->control * f->r->model->graphs.n);
    for (uint32_t layer = 0; layer < f->n; layer++) {
        const ir_node *n = flow_node(f, layer);
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t i = 0; i < inner.n; i++)
                f->control[inner.ids[i]] = layer;
        }
    }
}

static void find_roots(flow *f)
{
    const ir_model *m = f->r->model;
    for (ir_id v = 0; v < m->values.n; v++)
        f->root[v] = v;
    for (uint32_t layer = 0; layer < f->n; layer++) {
        const ir_node *n = flow_node(f, layer);
        if (flow_is_view(f, layer) && n->n_inputs && n->inputs[0] != IR_NONE && n->n_outputs &&
            n->outputs[0] != IR_NONE)
            f->root[n->outputs[0]] = f->root[n->inputs[0]];
    }
}

static void find_readers(flow *f, uint32_t *stamp)
{
    for (uint32_t layer = 0; layer < f->n; layer++) {
        const ir_node *n = flow_node(f, layer);
        for (uint32_t i = 0; i < n->n_inputs; i++) {
            ir_id v = n->inputs[i];
            if (v == IR_NONE || stamp[v] == layer + 1)
                continue;
            stamp[v] = layer + 1;
            f->readers[v]++;
        }
    }
}

static void find_kept(flow *f)
{
    const ir_model *m = f->r->model;
    for (ir_id g = 0; g < m->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(m, g);
        for (uint32_t k = 0; k < graph->outputs.n; k++) {
            ir_id v = graph->outputs.items[k];
            uint32_t maker = flow_maker(f, v);
            if (v != IR_NONE)
                f->value_kept[v] = true;
            if (maker != FLOW_NONE)
                f->kept[maker] = true;
        }
    }
}

static bool make_room(flow *f, arena *a)
{
    const ir_model *m = f->r->model;
    f->layer_of = ARENA_ARRAY(a, uint32_t, m->nodes.n + (size_t)1);
    f->root = ARENA_ARRAY(a, ir_id, m->values.n + (size_t)1);
    f->readers = ARENA_ARRAY(a, uint32_t, m->values.n + (size_t)1);
    f->value_kept = ARENA_ARRAY(a, bool, m->values.n + (size_t)1);
    f->control = ARENA_ARRAY(a, uint32_t, m->graphs.n + (size_t)1);
    f->kept = ARENA_ARRAY(a, bool, f->n + (size_t)1);
    f->deps.first = ARENA_ARRAY(a, uint32_t, f->n + (size_t)2);
    f->family = ARENA_ARRAY(a, const op_family *, f->n + (size_t)1);
    return !arena_failed(a);
}

assay_status flow_build(infer_result *r, const counted *of, const profile *p, ir_dtype precision,
                        flow *out, assay_error *err)
{
    arena *a = r->arena;
    *out = (flow){.r = r, .p = p, .of = of, .precision = precision, .n = p->n_layers};
    builder b = {.f = out, .arena = a, .stamp = ARENA_ARRAY(a, uint32_t, p->n_layers + (size_t)1)};
    uint32_t *stamp = ARENA_ARRAY(a, uint32_t, r->model->values.n + (size_t)1);
    TRY_MEMORY(b.stamp && stamp && make_room(out, a), err);
    memset(out->layer_of, 0xff, sizeof *out->layer_of * r->model->nodes.n);
    for (uint32_t layer = 0; layer < out->n; layer++) {
        out->layer_of[of->nodes[layer]] = layer;
        out->family[layer] = op_family_find(str_of(flow_type(out, layer)));
    }
    find_controls(out);
    find_roots(out);
    find_readers(out, stamp);
    find_kept(out);
    for (uint32_t layer = 0; layer < out->n; layer++)
        find_deps(&b, layer);
    out->deps.first[out->n] = b.edges.n;
    out->deps.items = b.edges.items;
    return arena_failed(a) ? err_no_memory(err) : invert(out, a, err);
}
