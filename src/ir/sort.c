/* Execution order. A node depends on the makers of its inputs in its own graph, and of the values
 * of its graph that its attribute subgraphs refer to, at any depth.
 *
 * Files are nearly always in order, and that is seen without memory or work arrays when the ids of
 * the nodes ascend. Otherwise: Kahn's algorithm, where among the nodes that are ready the one that
 * stood first goes first (a binary heap of places), so what was in order stays as it was.
 */
#include "ir/verify.h"

#include <stdio.h>

enum { NEST_MAX = 256 }; /* graphs inside graphs; readers stop at 64 */

typedef struct visit {
    const ir_model *m;
    ir_id graph;                            /* whose values are of interest */
    bool (*see)(void *ctx, ir_id producer); /* false ends the walk */
    void *ctx;
    bool too_deep;
} visit;

static bool visit_node(visit *v, ir_id node, int depth);

static bool visit_value(const visit *v, ir_id id)
{
    if (id >= v->m->values.n)
        return true;
    const ir_value *value = ir_value_at(v->m, id);
    if (value->graph != v->graph || value->producer >= v->m->nodes.n)
        return true;
    return ir_node_at(v->m, value->producer)->graph != v->graph || v->see(v->ctx, value->producer);
}

static bool visit_graph(visit *v, ir_id graph, int depth)
{
    if (graph >= v->m->graphs.n)
        return true;
    if (depth >= NEST_MAX) {
        v->too_deep = true;
        return false;
    }
    const ir_graph *g = ir_graph_at(v->m, graph);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        if (g->nodes.items[i] < v->m->nodes.n && !visit_node(v, g->nodes.items[i], depth + 1))
            return false;
    for (uint32_t i = 0; i < g->outputs.n; i++)
        if (!visit_value(v, g->outputs.items[i]))
            return false;
    return true;
}

static bool visit_attr(visit *v, const ir_attr *a, int depth)
{
    ir_graphs inner = ir_attr_graphs(a);
    for (uint32_t i = 0; i < inner.n; i++)
        if (!visit_graph(v, inner.ids[i], depth))
            return false;
    return true;
}

/* Shows every producer in v->graph that the node needs; one that is needed twice is shown twice. */
static bool visit_node(visit *v, ir_id node, int depth)
{
    const ir_node *n = ir_node_at(v->m, node);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (!visit_value(v, n->inputs[i]))
            return false;
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (!visit_attr(v, &n->attrs[i], depth))
            return false;
    return true;
}

/* ---- is it sorted already? ------------------------------------------------------------------- */

static bool see_smaller(void *ctx, ir_id producer)
{
    return producer < *(const ir_id *)ctx;
}

/* False also when it would take work arrays to know. */
static bool plainly_sorted(const ir_model *m, ir_id graph)
{
    const ir_graph *g = ir_graph_at(m, graph);
    ir_id node;
    visit v = {.m = m, .graph = graph, .see = see_smaller, .ctx = &node};
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        node = g->nodes.items[i];
        if (i > 0 && node <= g->nodes.items[i - 1])
            return false;
        if (!visit_node(&v, node, 0))
            return false;
    }
    return true;
}

/* ---- Kahn ------------------------------------------------------------------------------------ */

typedef struct kahn {
    const ir_model *m;
    const ir_graph *g;
    uint32_t *place;   /* by node id: index in the graph's list */
    uint32_t *waiting; /* by place: edges that come in from nodes not yet put out */
    size_t *first;     /* by place: where its edges start; one more at the end */
    uint32_t *edges;   /* places of the nodes that wait for it */
    uint32_t *heap;    /* places that are ready */
    uint32_t n_heap;
    ir_id *order;
    uint32_t n_order;
    uint32_t consumer; /* the place whose needs are being visited */
    uint32_t found;
} kahn;

static void heap_push(kahn *k, uint32_t place)
{
    uint32_t i = k->n_heap++;
    for (; i > 0 && k->heap[(i - 1) / 2] > place; i = (i - 1) / 2)
        k->heap[i] = k->heap[(i - 1) / 2];
    k->heap[i] = place;
}

static uint32_t heap_pop(kahn *k)
{
    uint32_t top = k->heap[0], last = k->heap[--k->n_heap], i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < k->n_heap && k->heap[child + 1] < k->heap[child])
            child++;
        if (child >= k->n_heap || k->heap[child] >= last)
            break;
        k->heap[i] = k->heap[child];
        i = child;
    }
    k->heap[i] = last;
    return top;
}

static bool see_count(void *ctx, ir_id producer)
{
    kahn *k = ctx;
    if (k->place[producer] == IR_NONE)
        return true;
    k->first[k->place[producer] + 1]++;
    k->waiting[k->consumer]++;
    return true;
}

static bool see_edge(void *ctx, ir_id producer)
{
    kahn *k = ctx;
    if (k->place[producer] != IR_NONE)
        k->edges[k->first[k->place[producer]]++] = k->consumer;
    return true;
}

static assay_status visit_all(kahn *k, ir_id graph, bool (*see)(void *, ir_id), assay_error *err)
{
    visit v = {.m = k->m, .graph = graph, .see = see, .ctx = k};
    for (k->consumer = 0; k->consumer < k->g->nodes.n; k->consumer++)
        visit_node(&v, k->g->nodes.items[k->consumer], 0);
    if (v.too_deep)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "subgraphs are nested deeper than %d levels or contain each other",
                        NEST_MAX);
    return ASSAY_OK;
}

static assay_status kahn_init(kahn *k, arena *scratch, assay_error *err)
{
    uint32_t n = k->g->nodes.n;
    k->place = ARENA_ARRAY(scratch, uint32_t, k->m->nodes.n);
    k->waiting = ARENA_ARRAY(scratch, uint32_t, n);
    k->first = ARENA_ARRAY(scratch, size_t, (size_t)n + 2);
    k->heap = ARENA_ARRAY(scratch, uint32_t, n);
    k->order = ARENA_ARRAY(scratch, ir_id, n);
    TRY_MEMORY(!arena_failed(scratch), err);
    if (k->m->nodes.n)
        memset(k->place, 0xff, k->m->nodes.n * sizeof *k->place); /* IR_NONE */
    for (uint32_t i = 0; i < n; i++)
        k->place[k->g->nodes.items[i]] = i;
    return ASSAY_OK;
}

/* Fills `first` and `edges`: counts, running sums, then the edges themselves. The second pass moves
 * each start to its end, which is the next one's start, so they are moved back by one place. */
static assay_status kahn_edges(kahn *k, ir_id graph, arena *scratch, assay_error *err)
{
    uint32_t n = k->g->nodes.n;
    TRY(visit_all(k, graph, see_count, err));
    for (uint32_t i = 0; i < n; i++)
        k->first[i + 1] += k->first[i];
    k->edges = ARENA_ARRAY(scratch, uint32_t, k->first[n] + 1);
    TRY_MEMORY(k->edges, err);
    TRY(visit_all(k, graph, see_edge, err));
    memmove(k->first + 1, k->first, n * sizeof *k->first);
    k->first[0] = 0;
    return ASSAY_OK;
}

static void kahn_run(kahn *k)
{
    for (uint32_t i = 0; i < k->g->nodes.n; i++)
        if (k->waiting[i] == 0)
            heap_push(k, i);
    while (k->n_heap > 0) {
        uint32_t place = heap_pop(k);
        k->order[k->n_order++] = k->g->nodes.items[place];
        for (size_t e = k->first[place]; e < k->first[place + 1]; e++)
            if (--k->waiting[k->edges[e]] == 0)
                heap_push(k, k->edges[e]);
    }
}

static bool see_waiting(void *ctx, ir_id producer)
{
    kahn *k = ctx;
    uint32_t place = k->place[producer];
    if (place == IR_NONE || k->waiting[place] == 0)
        return true;
    k->found = place;
    return false;
}

/* Every node that is left needs another that is left: going from need to need ends in a circle, and
 * the first node met twice is on it. The heap is empty by now and holds the marks. */
static assay_status cycle_error(kahn *k, ir_id graph, assay_error *err)
{
    char name[sizeof err->node];
    visit v = {.m = k->m, .graph = graph, .see = see_waiting, .ctx = k};
    uint32_t at = 0;
    while (k->waiting[at] == 0)
        at++;
    memset(k->heap, 0, k->g->nodes.n * sizeof *k->heap);
    while (k->heap[at]++ == 0) {
        k->found = at;
        visit_node(&v, k->g->nodes.items[at], 0);
        at = k->found;
    }
    const ir_node *n = ir_node_at(k->m, k->g->nodes.items[at]);
    snprintf(name, sizeof name, STR_FMT, STR_ARG(n->name));
    return err_fail_node(err, ASSAY_ERR_MALFORMED, name,
                         "node '%s' (" STR_FMT ") depends on its own output: the graph has a cycle",
                         name, STR_ARG(n->op));
}

assay_status ir_sort_graph(ir_model *m, ir_id graph, arena *scratch, bool *moved, assay_error *err)
{
    ir_graph *g = ir_graph_at(m, graph);
    kahn k = {.m = m, .g = g};
    *moved = false;
    if (plainly_sorted(m, graph))
        return ASSAY_OK;
    TRY(kahn_init(&k, scratch, err));
    TRY(kahn_edges(&k, graph, scratch, err));
    kahn_run(&k);
    if (k.n_order < g->nodes.n)
        return cycle_error(&k, graph, err);
    *moved = memcmp(g->nodes.items, k.order, g->nodes.n * sizeof *k.order) != 0;
    if (*moved)
        memcpy(g->nodes.items, k.order, g->nodes.n * sizeof *k.order);
    return ASSAY_OK;
}
