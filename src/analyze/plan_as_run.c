/* The memory plan over the engine's order of execution.
 *
 * An engine may run a graph's branches in another order than the file lists them, and what is alive at once
 * depends on that. Nodes are told apart among its kernels by name, or by their place among the nodes that are no
 * constants where a name is missing or not the only one of its kind. Layers that have no event (what the
 * engine folded, or never ran) go right before the first that needs them.
 */
#include "analyze/plan_as_run.h"

#include "analyze/memory.h"
#include "base/map.h"

#define WORK_BYTES ((size_t)256 << 20)

typedef struct ordering {
    const plan_as_run *x;
    const ir_model *m;
    uint32_t *layer_of; /* [nodes] or UINT32_MAX */
    bool *placed;       /* [layers] */
    uint32_t *order;    /* layers in the engine's order */
    uint32_t n;
} ordering;

/* ---- nodes that ran ---- */

static bool is_constant(const plan_as_run *x, ir_id node)
{
    const op_row *row = x->r->rows[node];
    return row && (row->flags & OPF_CONSTANT);
}

/* Names that two nodes share are not in the map. */
static bool map_names(const plan_as_run *x, const ir_model *m, map *names)
{
    const ir_graph *g = ir_graph_at(m, 0);
    if (!map_init(names, x->arena, g->nodes.n))
        return false;
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        str name = ir_node_at(m, g->nodes.items[i])->name;
        bool again = name.n && map_get(names, name) != MAP_NONE;
        if (name.n && !map_put(names, name, again ? IR_NONE : g->nodes.items[i]))
            return false;
    }
    return true;
}

static ir_id *nodes_by_place(const plan_as_run *x, const ir_model *m, uint32_t *n)
{
    const ir_graph *g = ir_graph_at(m, 0);
    ir_id *list = ARENA_ARRAY(x->arena, ir_id, g->nodes.n + 1u);
    *n = 0;
    for (uint32_t i = 0; list && i < g->nodes.n; i++)
        if (!is_constant(x, g->nodes.items[i]))
            list[(*n)++] = g->nodes.items[i];
    return list;
}

static assay_status find_nodes(plan_as_run *x, const ir_model *m, const plan_run *t,
                               assay_error *err)
{
    map names;
    uint32_t n;
    const ir_id *places = nodes_by_place(x, m, &n);
    x->node_of = ARENA_ARRAY(x->arena, ir_id, t->n_kernels + 1u);
    x->ran = ARENA_ARRAY(x->arena, bool, m->nodes.n + 1u);
    TRY_MEMORY(places && x->node_of && x->ran && map_names(x, m, &names), err);
    for (uint32_t i = 0; i < t->n_kernels; i++) {
        const plan_kernel *k = &t->kernels[i];
        uint32_t id = map_get(&names, k->name);
        bool placed = k->index < n && str_eq(ir_node_at(m, places[k->index])->op, k->op);
        x->node_of[i] = id != MAP_NONE && id != IR_NONE ? id : placed ? places[k->index] : IR_NONE;
        if (x->node_of[i] == IR_NONE)
            x->strangers = true;
        else
            x->ran[x->node_of[i]] = true;
    }
    return ASSAY_OK;
}

/* ---- the order ---- */

static void place_layer(ordering *o, uint32_t layer, int depth)
{
    const ir_node *n = ir_node_at(o->m, o->x->of.nodes[layer]);
    if (o->placed[layer])
        return;
    o->placed[layer] = true;
    for (uint32_t i = 0; i < n->n_inputs && depth < 1000; i++) {
        ir_id from = n->inputs[i] == IR_NONE ? IR_NONE : ir_value_at(o->m, n->inputs[i])->producer;
        if (from != IR_NONE && o->layer_of[from] != UINT32_MAX)
            place_layer(o, o->layer_of[from], depth + 1);
    }
    o->order[o->n++] = layer;
}

/* Bodies of loops and branches run as often as they do: a graph with such keeps its own order. */
static bool one_graph(const plan_as_run *x, const ir_model *m)
{
    for (uint32_t i = 0; i < x->p->n_layers; i++)
        if (ir_node_at(m, x->of.nodes[i])->graph != 0)
            return false;
    return true;
}

static bool order_layers(ordering *o, const plan_run *t)
{
    const plan_as_run *x = o->x;
    uint32_t n = x->p->n_layers;
    o->layer_of = ARENA_ARRAY(x->arena, uint32_t, o->m->nodes.n + 1u);
    o->placed = ARENA_ARRAY(x->arena, bool, n + 1u);
    o->order = ARENA_ARRAY(x->arena, uint32_t, n + 1u);
    if (arena_failed(x->arena))
        return false;
    memset(o->layer_of, 0xff, sizeof *o->layer_of * (o->m->nodes.n + 1u));
    for (uint32_t i = 0; i < n; i++)
        o->layer_of[x->of.nodes[i]] = i;
    for (uint32_t i = 0; i < t->n_order && one_graph(x, o->m); i++) {
        ir_id id = x->node_of[t->order[i]];
        if (id != IR_NONE && o->layer_of[id] != UINT32_MAX)
            place_layer(o, o->layer_of[id], 0);
    }
    for (uint32_t i = 0; i < n; i++)
        if (!o->placed[i])
            o->order[o->n++] = i;
    return true;
}

static assay_status reorder(plan_as_run *x, const ordering *o, assay_error *err)
{
    uint32_t n = x->p->n_layers;
    ir_id *nodes = ARENA_ARRAY(x->arena, ir_id, n + 1u);
    profile_layer *layers = ARENA_ARRAY(x->p->arena, profile_layer, n + 1u);
    TRY_MEMORY(nodes && layers, err);
    for (uint32_t i = 0; i < n; i++) {
        nodes[i] = x->of.nodes[o->order[i]];
        layers[i] = x->p->layers[o->order[i]];
        x->step_of[nodes[i]] = i;
    }
    x->of.nodes = nodes;
    x->p->layers = layers;
    return ASSAY_OK;
}

static bool in_place(const void *ctx, ir_id node)
{
    const plan_as_run *x = ctx;
    const ir_node *n = ir_node_at(x->model, node);
    return x->ran[node] && x->run->in_place(x->run->engine, n->domain, n->op);
}

static bool never(const void *ctx, ir_id node)
{
    (void)ctx, (void)node;
    return false;
}

/* An operator that the engine has no kernel for is run as the function that the standard gives for it: there
 * are kernels that nobody knows, and none for the node. Views do not run either way. */
static bool taken_apart(const void *ctx, ir_id node)
{
    const plan_as_run *x = ctx;
    const op_row *row = x->r->rows[node];
    return x->strangers && !x->ran[node] && row && !(row->flags & (OPF_VIEW | OPF_CONTROL));
}

static assay_status plan_by(plan_as_run *x, memory_rule rule, uint64_t *peak, assay_error *err)
{
    rule.taken_apart = taken_apart;
    rule.ctx = x;
    x->p->memory_plan = (profile_memory_plan){0};
    TRY(memory_run_by(x->r, &x->of, &rule, x->p, err));
    *peak = x->p->memory_plan.activations_peak_bytes;
    return ASSAY_OK;
}

/* At each step the smaller of the two ways to run, as it is measured; stays in x->p. */
static void take_smaller(plan_as_run *x, const profile_moment *freed)
{
    profile_memory_plan *plan = &x->p->memory_plan;
    profile_moment *list = arena_copy(x->p->arena, plan->timeline, plan->n_timeline * sizeof *list);
    x->with_kept = 0;
    for (uint32_t i = 0; list && i < plan->n_timeline; i++) {
        if (freed[i].live_bytes < list[i].live_bytes)
            list[i].live_bytes = freed[i].live_bytes;
        if (list[i].live_bytes > x->with_kept)
            x->with_kept = list[i].live_bytes;
    }
    plan->timeline = list;
    plan->n_timeline = list ? plan->n_timeline : 0;
}

/* What is alive at once over the engine's order: by our own rule, with the kernels in place that are, and in
 * both ways to run. */
static assay_status plan_all(plan_as_run *x, assay_error *err)
{
    uint64_t kept;
    TRY(plan_by(x, (memory_rule){0}, &x->in_order, err));
    TRY(plan_by(x, (memory_rule){.in_place = in_place}, &x->as_run, err));
    TRY(plan_by(x, (memory_rule){.in_place = never}, &x->no_reuse, err));
    const profile_moment *freed = x->p->memory_plan.timeline;
    TRY(plan_by(x, (memory_rule){.in_place = in_place, .keeps = true}, &kept, err));
    take_smaller(x, freed);
    return arena_failed(x->p->arena) ? err_no_memory(err) : ASSAY_OK;
}

static assay_status make_plan(const ir_model *m, const infer_options *shapes, plan_as_run *x,
                              assay_error *err)
{
    const count_options counting = {.precision = IR_UNDEFINED, .unoptimised = true};
    ordering o = {.x = x, .m = m};
    x->model = m;
    TRY(infer_run(m, shapes, x->arena, &x->r, err));
    TRY(count_run(x->r, &counting, x->p, &x->of, err));
    TRY(find_nodes(x, m, x->run, err));
    x->step_of = ARENA_ARRAY(x->arena, uint32_t, m->nodes.n + 1u);
    TRY_MEMORY(x->step_of && order_layers(&o, x->run), err);
    memset(x->step_of, 0xff, sizeof *x->step_of * (m->nodes.n + 1u));
    TRY(plan_by(x, (memory_rule){0}, &x->expanded, err));
    TRY(reorder(x, &o, err));
    return plan_all(x, err);
}

assay_status plan_as_run_make(const ir_model *m, const infer_options *shapes, const plan_run *run,
                              plan_as_run *out, assay_error *err)
{
    *out = (plan_as_run){.run = run, .arena = arena_new(WORK_BYTES), .p = profile_new(WORK_BYTES)};
    assay_status s = out->arena && out->p ? make_plan(m, shapes, out, err) : err_no_memory(err);
    out->run = NULL; /* the caller's */
    return s;
}

void plan_as_run_free(plan_as_run *x)
{
    profile_free(x->p);
    arena_free(x->arena);
}
