/* See kernels.h. */
#include "analyze/kernels.h"

#include "base/map.h"

typedef struct mapping {
    const ir_model *from;
    const uint32_t *layer_of;
    arena *arena;
    map values; /* name to value id of the original */
    map nodes;  /* name to node id */
    bool *claimed;
    VEC(ir_id) stack;
    VEC(uint32_t) layers;
    uint32_t first; /* in layers, of the kernel at hand */
} mapping;

static bool index_names(mapping *m)
{
    const ir_model *from = m->from;
    if (!map_init(&m->values, m->arena, from->values.n) ||
        !map_init(&m->nodes, m->arena, from->nodes.n))
        return false;
    for (ir_id id = 0; id < from->values.n; id++) {
        const ir_value *v = ir_value_at(from, id);
        if (v->graph == 0 && v->producer != IR_NONE && !map_put(&m->values, v->name, id))
            return false;
    }
    const ir_graph *g = ir_graph_at(from, 0);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        if (!map_put(&m->nodes, ir_node_at(from, g->nodes.items[i])->name, g->nodes.items[i]))
            return false;
    return true;
}

/* The longest beginning of `name` that is known, cut where optimisers put their suffixes. */
static uint32_t longest_known(const map *known, str name)
{
    uint32_t found = map_get(known, name);
    for (uint32_t n = name.n; found == MAP_NONE && n > 1; n--) {
        char c = name.p[n - 1];
        if (c == '_' || c == '/' || c == '.' || c == ':' || c == '-')
            found = map_get(known, (str){name.p, n - 1});
    }
    return found;
}

static void take_layer(mapping *m, ir_id node)
{
    uint32_t layer = m->layer_of[node];
    for (uint32_t i = m->first; i < m->layers.n; i++)
        if (m->layers.items[i] == layer)
            return;
    uint32_t *slot = layer == UINT32_MAX ? NULL : VEC_PUSH(m->arena, &m->layers);
    if (slot)
        *slot = layer;
}

/* What runs inside a node (loop bodies, branches) is done by the same kernel. */
static void take_bodies(mapping *m, const ir_node *n, int depth)
{
    for (uint32_t a = 0; a < n->n_attrs && depth < 16; a++) {
        ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
        for (uint32_t k = 0; k < inner.n; k++) {
            const ir_graph *g = ir_graph_at(m->from, inner.ids[k]);
            for (uint32_t i = 0; i < g->nodes.n; i++) {
                take_layer(m, g->nodes.items[i]);
                take_bodies(m, ir_node_at(m->from, g->nodes.items[i]), depth + 1);
            }
        }
    }
}

static void push(mapping *m, ir_id node)
{
    if (node == IR_NONE || m->claimed[node])
        return;
    ir_id *slot = VEC_PUSH(m->arena, &m->stack);
    if (slot)
        *slot = node;
}

/* Claims a node and, going back, all that nobody has claimed yet. */
static void claim_from(mapping *m, ir_id node)
{
    m->stack.n = 0;
    push(m, node);
    while (m->stack.n) {
        ir_id id = m->stack.items[--m->stack.n];
        if (m->claimed[id])
            continue;
        const ir_node *n = ir_node_at(m->from, id);
        m->claimed[id] = true;
        take_layer(m, id);
        take_bodies(m, n, 0);
        for (uint32_t i = 0; i < n->n_inputs; i++)
            if (n->inputs[i] != IR_NONE)
                push(m, ir_value_at(m->from, n->inputs[i])->producer);
    }
}

static void map_node(mapping *m, const ir_model *to, const ir_node *n, kernel_row *row)
{
    bool found = false;
    row->name = n->name;
    row->op = n->op;
    row->first = m->first = m->layers.n;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        if (n->outputs[i] == IR_NONE)
            continue;
        uint32_t value = longest_known(&m->values, ir_value_at(to, n->outputs[i])->name);
        if (value == MAP_NONE)
            continue;
        found = true;
        claim_from(m, ir_value_at(m->from, value)->producer);
    }
    uint32_t node = found ? MAP_NONE : longest_known(&m->nodes, n->name);
    if (node != MAP_NONE)
        claim_from(m, node);
    row->n = m->layers.n - row->first;
}

assay_status kernels_map(const ir_model *original, const ir_model *optimised,
                         const uint32_t *layer_of, arena *a, kernel_map *out, assay_error *err)
{
    mapping m = {.from = original, .layer_of = layer_of, .arena = a};
    const ir_graph *g = ir_graph_at(optimised, 0);
    m.claimed = ARENA_ARRAY(a, bool, original->nodes.n + 1u);
    out->kernels = ARENA_ARRAY(a, kernel_row, g->nodes.n + 1u);
    out->n_kernels = g->nodes.n;
    if (!m.claimed || !out->kernels || !index_names(&m))
        return err_no_memory(err);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        map_node(&m, optimised, ir_node_at(optimised, g->nodes.items[i]), &out->kernels[i]);
    out->layers = m.layers.items;
    out->n_layers = m.layers.n;
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
