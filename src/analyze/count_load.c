/* Which operators are load-time work: those that compute from constants alone, such as the Slice, Concat and Unsqueeze
 * of weights that torch's export of an LSTM writes. An engine runs them once, when it loads the model.
 *
 * Not load-time: random numbers, control flow, operators without a rule, and DequantizeLinear of a weight. Engines keep
 * such a weight quantised and decode it where it is used. Work on weights that mixes in a size of an input is not
 * load-time work either: the size may change from run to run.
 */
#include "analyze/count.h"

#include "ops/family.h"

typedef void visit_fn(void *ctx, ir_id node);

/* Every node in execution order, those of inner graphs before the node that runs them. */
static void for_each_node(const ir_model *m, ir_id graph, visit_fn *visit, void *ctx)
{
    const ir_graph *g = ir_graph_at(m, graph);
    for (uint32_t k = 0; k < g->nodes.n; k++) {
        const ir_node *n = ir_node_at(m, g->nodes.items[k]);
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t i = 0; i < inner.n; i++)
                for_each_node(m, inner.ids[i], visit, ctx);
        }
        visit(ctx, g->nodes.items[k]);
    }
}

typedef struct marker {
    infer_result *r;
    uint8_t *fixed;
} marker;

static bool may_run_at_load(const op_row *row)
{
    return (row->flags & OPF_CONSTANT) || (!(row->flags & (OPF_RANDOM | OPF_CONTROL)) &&
                                           op_family_find(str_of(row->type))->role != OPR_DEQUANT);
}

static bool reads_constants_alone(const marker *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != IR_NONE && !x->fixed[n->inputs[i]])
            return false;
    return true;
}

static void mark_node(void *ctx, ir_id node)
{
    marker *x = ctx;
    const ir_node *n = ir_node_at(x->r->model, node);
    const op_row *row = x->r->rows[node];
    bool fixed = row && reads_constants_alone(x, n) && may_run_at_load(row);
    for (uint32_t o = 0; fixed && o < n->n_outputs; o++)
        if (n->outputs[o] != IR_NONE)
            x->fixed[n->outputs[o]] = 1;
    if (fixed && n->n_inputs && !(x->r->state[node] & INFER_FOLDED))
        x->r->state[node] |= INFER_LOADED;
}

void count_mark_loaded(infer_result *r, uint8_t *fixed)
{
    marker x = {r, fixed};
    count_unmark_loaded(r, fixed);
    for_each_node(r->model, 0, mark_node, &x);
}

void count_unmark_loaded(infer_result *r, uint8_t *fixed)
{
    for (ir_id id = 0; id < r->model->values.n; id++)
        fixed[id] = ir_value_at(r->model, id)->constant != NULL;
    for (ir_id node = 0; node < r->model->nodes.n; node++)
        r->state[node] &= (uint8_t)~INFER_LOADED;
}

typedef struct unfolder {
    infer_result *r;
    const weights *w;
    uint8_t *of_weight; /* [n_values] computed from a weight */
} unfolder;

static bool reads_weight(const unfolder *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        ir_id id = n->inputs[i], origin = id == IR_NONE ? IR_NONE : x->r->origin[id];
        if (id != IR_NONE && x->of_weight[id])
            return true;
        if (origin != IR_NONE && x->w->cls[origin] == WEIGHT_PARAM)
            return true;
    }
    return false;
}

/* Content known in advance is no reason not to count an operator on a weight: that must not depend on the weight being
 * small enough to be read. Constant nodes and the Identity of a weight never run. */
static void unfold_node(void *ctx, ir_id node)
{
    unfolder *x = ctx;
    const ir_node *n = ir_node_at(x->r->model, node);
    const op_row *row = x->r->rows[node];
    if (!row || !(x->r->state[node] & INFER_FOLDED) || !reads_weight(x, n) ||
        (row->flags & (OPF_CONSTANT | OPF_IDENTITY | OPF_SHAPE_ONLY)))
        return;
    bool fixed = false;
    for (uint32_t o = 0; o < n->n_outputs; o++)
        if (n->outputs[o] != IR_NONE) {
            x->of_weight[n->outputs[o]] = 1;
            fixed |= x->w->fixed[n->outputs[o]];
        }
    x->r->state[node] &= (uint8_t)~INFER_FOLDED;
    x->r->state[node] |= fixed ? INFER_LOADED : 0;
}

void count_unfold_weights(infer_result *r, const weights *w, uint8_t *of_weight)
{
    unfolder x = {r, w, of_weight};
    for_each_node(r->model, 0, unfold_node, &x);
}

/* ---- what they cost ---- */

typedef struct load_counter {
    infer_result *r;
    ir_dtype precision;
    const op_info **in; /* room for the widest node */
    op_info *out;
    op_cost cost;
} load_counter;

static bool reserve_widest(load_counter *x, const counted *s)
{
    uint32_t in = 0, out = 0;
    for (uint32_t k = 0; k < s->n_loaded; k++) {
        const ir_node *n = ir_node_at(x->r->model, s->loaded[k].node);
        in = n->n_inputs > in ? n->n_inputs : in;
        out = n->n_outputs > out ? n->n_outputs : out;
    }
    arena *a = x->r->arena;
    x->in = ARENA_ARRAY(a, const op_info *, in + (size_t)1);
    x->out = ARENA_ARRAY(a, op_info, out + (size_t)1);
    x->cost.read = ARENA_ARRAY(a, uint64_t, in + (size_t)1);
    x->cost.written = ARENA_ARRAY(a, uint64_t, out + (size_t)1);
    return x->in && x->out && x->cost.read && x->cost.written;
}

static void add_load_step(load_counter *x, const lens *by, load_step *s, profile_load_time *t)
{
    op_ctx c;
    infer_context(x->r, s->node, x->in, x->out, &c);
    count_node(x->r, &c, x->precision, &x->cost);
    const op_cost *k = &x->cost;
    s->macs = k->mac;
    s->flops = lens_table[0].flops(&c, k);
    t->macs = sat_add(t->macs, k->mac);
    t->flops = sat_add(t->flops, by->flops(&c, k));
    for (uint32_t i = 0; i < c.n_in; i++)
        t->memory = sat_add(t->memory, k->read[i]);
    for (uint32_t o = 0; o < c.n_out; o++)
        t->memory = sat_add(t->memory, k->written[o]);
    t->operators++;
}

/* Results that an operator of a run reads stay in memory; the others are gone before the first run. */
static uint64_t kept_for(const load_counter *x, const counted *s, const ir_node *n, uint8_t *kept)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        ir_id id = n->inputs[i];
        if (id == IR_NONE || kept[id] || !s->weights.fixed[id] ||
            ir_value_at(x->r->model, id)->constant)
            continue;
        kept[id] = 1;
        bytes = sat_add(bytes, count_tensor_bytes(&x->r->info[id], x->precision));
    }
    return bytes;
}

bool count_load_time(infer_result *r, ir_dtype precision, const lens *by, const counted *s,
                     profile *p)
{
    load_counter x = {.r = r, .precision = precision};
    uint8_t *kept = ARENA_ARRAY(r->arena, uint8_t, r->model->values.n + (size_t)1);
    if (!kept || !reserve_widest(&x, s))
        return false;
    for (uint32_t k = 0; k < s->n_loaded; k++)
        add_load_step(&x, by, &s->loaded[k], &p->load_time);
    for (uint32_t k = 0; p->load_time.operators && k < s->n; k++)
        p->load_time.kept_bytes = sat_add(p->load_time.kept_bytes,
                                          kept_for(&x, s, ir_node_at(r->model, s->nodes[k]), kept));
    return true;
}
