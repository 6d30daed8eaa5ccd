/* See feed.h. An input is followed forwards through operators that only move or convert it; where it
 * ends up as the index of a table, the table's length bounds it; where it steers an operator, that
 * operator's shapes tell what it holds. Names decide what the graph leaves open: "attention_mask",
 * "position_ids", "lengths". */
#include "analyze/feed.h"

#include "ops/family.h"
#include "ops/steer.h"

enum { STEPS_MAX = 4096, DEPTH_MAX = 12, NUMBERS_MAX = 256 };

typedef struct search {
    infer_result *r;
    feed_hint hint;
    int steps;
} search;

static void take_bound(search *s, const ir_node *n, uint32_t table)
{
    if (table >= n->n_inputs || n->inputs[table] == IR_NONE)
        return;
    const op_info *t = &s->r->info[n->inputs[table]];
    const ir_attr *attr = ir_attr_find(n, "axis");
    int64_t axis = attr && attr->kind == IR_ATTR_INT ? attr->v.i : 0;
    if (axis < 0)
        axis += t->rank;
    if (t->rank < 1 || axis < 0 || axis >= t->rank || t->dims[axis] < 1)
        return;
    uint64_t length = (uint64_t)t->dims[axis];
    if (!s->hint.bound || length < s->hint.bound)
        s->hint.bound = length;
    s->hint.looks_up = s->hint.looks_up || t->rank == 2;
}

static void take_numbers(search *s, const op_ctx *c, uint32_t slot)
{
    op_steer_fn *at = op_steer_find(c, slot);
    int64_t n = op_numel(c->in[slot]);
    if (!at || n < 1 || n > NUMBERS_MAX || s->hint.numbers)
        return;
    double *numbers = ARENA_ARRAY(s->r->arena, double, (size_t)n);
    for (int64_t i = 0; numbers && i < n; i++)
        numbers[i] = at(c, slot, i);
    s->hint.numbers = numbers;
    s->hint.kind = FEED_STEER;
}

static void look_for_steering(search *s, ir_id node, ir_id value)
{
    const ir_node *n = ir_node_at(s->r->model, node);
    op_ctx c;
    const op_info **in = ARENA_ARRAY(s->r->arena, const op_info *, n->n_inputs + 1u);
    op_info *out = ARENA_ARRAY(s->r->arena, op_info, n->n_outputs + 1u);
    if (!in || !out)
        return;
    infer_context(s->r, node, in, out, &c);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] == value)
            take_numbers(s, &c, i);
}

static void follow(search *s, ir_id value, int depth);

static void look_at(search *s, ir_id node, ir_id value, int depth)
{
    const ir_node *n = ir_node_at(s->r->model, node);
    const op_row *row = s->r->rows[node];
    for (int k = 0; row && k < OP_LOOKUPS; k++) {
        op_lookup l = row->lookups[k];
        if (l.index != l.table && l.index < n->n_inputs && n->inputs[l.index] == value) {
            s->hint.kind = FEED_INDEX;
            take_bound(s, n, l.table);
        }
    }
    look_for_steering(s, node, value);
    bool moves = row && (op_family_find(str_of(row->type))->is & OPS_MOVES_NUMBERS);
    for (uint32_t o = 0; moves && o < n->n_outputs; o++)
        if (n->outputs[o] != IR_NONE)
            follow(s, n->outputs[o], depth + 1);
}

/* Inputs have few readers and the walk is short, so no table of readers is made for it. */
static void follow(search *s, ir_id value, int depth)
{
    const ir_model *m = s->r->model;
    if (depth > DEPTH_MAX || s->steps++ > STEPS_MAX)
        return;
    for (ir_id i = 0; i < m->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, i);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] == value) {
                look_at(s, i, value, depth);
                break;
            }
    }
}

/* The largest last dimension of the other inputs: what a length counts. */
static uint64_t longest(const infer_result *r, ir_id except)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    uint64_t most = 1;
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const op_info *x = &r->info[g->inputs.items[i]];
        if (g->inputs.items[i] != except && x->rank >= 2 && x->dims[1] > (int64_t)most)
            most = (uint64_t)x->dims[1];
    }
    return most;
}

/* Tokens in the cache that comes with the ids: "past_key_values.0.key" of [batch, heads, past, size]. */
static uint64_t cached(const infer_result *r)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const op_info *x = &r->info[g->inputs.items[i]];
        str name = ir_value_at(r->model, g->inputs.items[i])->name;
        if (str_contains_any_case(name, "past_key") && !str_contains_any_case(name, "encoder.") &&
            x->rank == 4 && x->dims[2] > 0)
            return (uint64_t)x->dims[2];
    }
    return 0;
}

feed_hint feed_of(infer_result *r, ir_id input)
{
    const ir_value *v = ir_value_at(r->model, input);
    const op_info *x = &r->info[input];
    search s = {.r = r};
    if (str_contains_any_case(v->name, "mask"))
        return (feed_hint){.kind = FEED_MASK};
    if (x->dtype == IR_BOOL && str_contains_any_case(v->name, "use_cache"))
        return (feed_hint){.kind = FEED_SWITCH};
    int64_t n = op_numel(x);
    if (!ir_is_integer(x->dtype) && (n < 0 || n > NUMBERS_MAX))
        return (feed_hint){0}; /* data */
    follow(&s, input, 0);
    if (s.hint.kind == FEED_STEER || !ir_is_integer(x->dtype))
        return s.hint.kind == FEED_STEER ? s.hint : (feed_hint){0};
    if (str_contains_any_case(v->name, "position")) {
        s.hint.kind = FEED_POSITION; /* of rotary ones no table tells the bound */
        s.hint.from = cached(r);
    }
    if (s.hint.kind == FEED_ANY && str_contains_any_case(v->name, "len") && x->rank <= 1)
        s.hint = (feed_hint){.kind = FEED_LENGTH, .bound = longest(r, input)};
    return s.hint;
}
