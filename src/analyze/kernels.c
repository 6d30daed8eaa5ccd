/* See kernels.h. */
#include "analyze/kernels.h"

#include "base/map.h"
#include "ops/op.h"

enum { VIEWS_MAX = 4 };

typedef struct mapping {
    const ir_model *from;
    const uint32_t *layer_of;
    const op_index *ops;
    arena *arena;
    map values; /* name to value id of the original */
    map nodes;  /* name to node id */
    bool *claimed;
    ir_id *reader; /* [n_values] the one node that reads it; IR_NONE: none, or several */
    const ir_model *to;
    ir_id *reader_there; /* the same of the optimised graph */
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

/* Who reads each value, where only one does. Nodes that a lowering replaced are in no graph. */
static void note_readers(const ir_model *in, ir_id node, ir_id *reader, uint8_t *n_readers)
{
    const ir_node *n = ir_node_at(in, node);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        ir_id v = n->inputs[i];
        if (v == IR_NONE || (n_readers[v] && reader[v] == node))
            continue;
        n_readers[v] = n_readers[v] ? 2 : 1;
        reader[v] = node;
    }
}

static ir_id *only_readers(const ir_model *in, arena *a)
{
    uint8_t *n_readers = ARENA_ARRAY(a, uint8_t, in->values.n + 1u);
    ir_id *reader = ARENA_ARRAY(a, ir_id, in->values.n + 1u);
    if (!n_readers || !reader)
        return NULL;
    for (ir_id g = 0; g < in->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(in, g);
        for (uint32_t k = 0; k < graph->nodes.n; k++)
            note_readers(in, graph->nodes.items[k], reader, n_readers);
    }
    for (ir_id v = 0; v < in->values.n; v++)
        if (n_readers[v] != 1 || (ir_value_at(in, v)->flags & IR_VALUE_OUTPUT))
            reader[v] = IR_NONE;
    return reader;
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

static void push_node(mapping *m, ir_id node)
{
    if (node == IR_NONE || m->claimed[node])
        return;
    (void)VEC_ADD(m->arena, &m->stack, node);
}

/* Claims a node and, going back, all that nobody has claimed yet. */
static void claim_from(mapping *m, ir_id node)
{
    m->stack.n = 0;
    push_node(m, node);
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
                push_node(m, ir_value_at(m->from, n->inputs[i])->producer);
    }
}

/* The node that a kernel is called after: optimisers name what they make after a node, or after the value
 * that it made. */
static ir_id named_after(const mapping *m, str name)
{
    for (uint32_t n = name.n; n > 0; n--) {
        char c = n < name.n ? name.p[n] : '_';
        if (c != '_' && c != '/' && c != '.' && c != ':' && c != '-')
            continue;
        uint32_t value = map_get(&m->values, (str){name.p, n});
        if (value != MAP_NONE)
            return ir_value_at(m->from, value)->producer;
        uint32_t node = map_get(&m->nodes, (str){name.p, n});
        if (node != MAP_NONE)
            return node;
    }
    return IR_NONE;
}

static ir_id next_of(const mapping *m, ir_id node)
{
    const ir_node *n = ir_node_at(m->from, node);
    ir_id next = n->n_outputs == 1 && n->outputs[0] != IR_NONE ? m->reader[n->outputs[0]] : IR_NONE;
    return next == IR_NONE || m->claimed[next] ? IR_NONE : next;
}

static ir_id claim_next(mapping *m, ir_id node)
{
    m->claimed[node] = true;
    take_layer(m, node);
    return node;
}

/* A kernel of blocked layout has a result with a name of the engine's own, so what it does besides would be taken
 * for the next kernel's: a convolution with one operand more adds that sum, and an activation is named. */
static void claim_extras(mapping *m, const ir_node *kernel, ir_id node)
{
    const ir_attr *act = ir_attr_find(kernel, "activation");
    const op_row *row = op_find(m->ops, kernel->domain, kernel->op);
    uint32_t slot = row ? row->sum_slot : 0;
    bool sum = slot && kernel->n_inputs > slot && kernel->inputs[slot] != IR_NONE;
    ir_id next = sum ? next_of(m, node) : IR_NONE;
    if (next != IR_NONE && ir_node_at(m->from, next)->n_inputs == 2)
        node = claim_next(m, next);
    if (!act || act->kind != IR_ATTR_STRING || str_eq(ir_node_at(m->from, node)->op, act->v.s))
        return;
    next = next_of(m, node);
    if (next != IR_NONE && str_eq(ir_node_at(m->from, next)->op, act->v.s))
        claim_next(m, next);
}

/* The value of the original that an output is. Where an optimiser puts a view behind a kernel that is made for
 * another rank (a product with bias as Gemm between two Reshapes), the view has the name and the kernel did the
 * work. */
static uint32_t value_behind(const mapping *m, ir_id output)
{
    uint32_t value = longest_known(&m->values, ir_value_at(m->to, output)->name);
    for (int steps = 0; value == MAP_NONE && steps < VIEWS_MAX; steps++) {
        ir_id next = m->reader_there[output];
        const ir_node *n = next == IR_NONE ? NULL : ir_node_at(m->to, next);
        const op_row *row = n ? op_find(m->ops, n->domain, n->op) : NULL;
        if (!row || !(row->flags & OPF_VIEW) || n->inputs[0] != output || n->outputs[0] == IR_NONE)
            break;
        output = n->outputs[0];
        value = map_get(&m->values, ir_value_at(m->to, output)->name);
    }
    return value;
}

static void map_node(mapping *m, const ir_node *n, kernel_row *row)
{
    bool found = false;
    row->name = str_copy(m->arena, n->name);
    row->op = str_copy(m->arena, n->op);
    row->first = m->first = m->layers.n;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        if (n->outputs[i] == IR_NONE)
            continue;
        uint32_t value = value_behind(m, n->outputs[i]);
        if (value == MAP_NONE)
            continue;
        found = true;
        claim_from(m, ir_value_at(m->from, value)->producer);
    }
    ir_id node = found ? IR_NONE : named_after(m, n->name);
    if (node != IR_NONE) {
        claim_from(m, node);
        claim_extras(m, n, node);
    }
    row->n = m->layers.n - row->first;
}

assay_status kernels_map(const ir_model *original, const ir_model *optimised,
                         const uint32_t *layer_of, arena *a, kernel_map *out, assay_error *err)
{
    mapping m = {.from = original, .to = optimised, .layer_of = layer_of, .arena = a};
    const ir_graph *g = ir_graph_at(optimised, 0);
    m.claimed = ARENA_ARRAY(a, bool, original->nodes.n + 1u);
    out->kernels = ARENA_ARRAY(a, kernel_row, g->nodes.n + 1u);
    out->n_kernels = g->nodes.n;
    m.ops = op_index_new(a, NULL);
    if (!m.claimed || !out->kernels || !m.ops || !index_names(&m) ||
        !(m.reader = only_readers(original, a)) || !(m.reader_there = only_readers(optimised, a)))
        return err_no_memory(err);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        map_node(&m, ir_node_at(optimised, g->nodes.items[i]), &out->kernels[i]);
    out->layers = m.layers.items;
    out->n_layers = m.layers.n;
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

/* The layer a node is, or belongs to: what lowering put in its place has its id in `call`. */
uint32_t *kernels_layer_of(const ir_model *m, const counted *of, uint32_t n_layers, arena *a)
{
    uint32_t *layer = ARENA_ARRAY(a, uint32_t, m->nodes.n + 1u);
    for (ir_id i = 0; layer && i < m->nodes.n; i++)
        layer[i] = UINT32_MAX;
    for (uint32_t i = 0; layer && i < n_layers; i++)
        layer[of->nodes[i]] = i;
    for (ir_id i = 0; layer && i < m->nodes.n; i++) {
        ir_id at = ir_node_at(m, i)->call;
        for (int hops = 0; layer[i] == UINT32_MAX && at < m->nodes.n && hops < 8; hops++) {
            layer[i] = layer[at];
            at = ir_node_at(m, at)->call;
        }
    }
    return layer;
}
