/* See feed.h. An input is followed forwards through operators that only move or convert it; where it
 * ends up as the index of a table, the table's length bounds it; where it steers an operator, that
 * operator's shapes tell what it holds. Names decide what the graph leaves open: "attention_mask",
 * "position_ids", "lengths". */
#include "analyze/feed.h"

#include <string.h>

#include "analyze/axis_roles.h"
#include "ops/family.h"
#include "ops/steer.h"

enum { STEPS_MAX = 4096, DEPTH_MAX = 12, NUMBERS_MAX = 256 };

typedef struct search {
    infer_result *r;
    feed_hint hint;
    int64_t n; /* elements of the input */
    int steps;
} search;

typedef struct place { /* where the input has come to */
    ir_id value;
    int64_t first; /* element of the value that is the input's first; -1: not known */
} place;

static void take_bound(search *s, const ir_node *n, uint32_t table)
{
    if (table >= n->n_inputs || n->inputs[table] == IR_NONE)
        return;
    const op_info *t = &s->r->info[n->inputs[table]];
    int64_t axis = ir_attr_int(n, "axis", 0);
    if (axis < 0)
        axis += t->rank;
    if (t->rank < 1 || axis < 0 || axis >= t->rank || t->dims[axis] < 1)
        return;
    uint64_t length = (uint64_t)t->dims[axis];
    if (!s->hint.bound || length < s->hint.bound)
        s->hint.bound = length;
    s->hint.looks_up = s->hint.looks_up || t->rank == 2;
}

/* The input's numbers are those of the slot from `first` on. A slot that holds fewer was cut out of it. */
static void take_numbers(search *s, ir_id node, uint32_t slot, int64_t first)
{
    const ir_node *n = ir_node_at(s->r->model, node);
    const op_info **in = ARENA_ARRAY(s->r->arena, const op_info *, n->n_inputs + 1u);
    op_info *out = ARENA_ARRAY(s->r->arena, op_info, n->n_outputs + 1u);
    double *numbers = ARENA_ARRAY(s->r->arena, double, (size_t)s->n);
    op_ctx c;
    if (!in || !out || !numbers)
        return;
    infer_context(s->r, node, in, out, &c);
    int64_t all = op_numel(c.in[slot]);
    if (all > NUMBERS_MAX || all - first < s->n)
        return;
    for (int64_t i = 0; i < s->n; i++)
        numbers[i] = op_steer_find(&c, slot)(&c, slot, first + i);
    s->hint.numbers = numbers;
    s->hint.kind = FEED_STEER;
}

static void look_for_steering(search *s, ir_id node, place at)
{
    const ir_node *n = ir_node_at(s->r->model, node);
    const op_ctx bare = {.node = n};
    bool possible = at.first >= 0 && s->n >= 1 && s->n <= NUMBERS_MAX;
    for (uint32_t i = 0; possible && !s->hint.numbers && i < n->n_inputs; i++)
        if (n->inputs[i] == at.value && op_steer_find(&bare, i))
            take_numbers(s, node, i, at.first);
}

/* Sizes are often put together from parts: the first element after a Concat, or -1 when what precedes it is not
 * counted, or when the operator cuts. */
static int64_t first_behind(const search *s, const ir_node *n, const op_family *f, place at)
{
    bool joins = strcmp(f->type, "concat") == 0;
    int64_t first = f->is & OPS_CUTS ? -1 : at.first;
    for (uint32_t i = 0; joins && first >= 0 && n->inputs[i] != at.value; i++) {
        int64_t before = n->inputs[i] == IR_NONE ? 0 : op_numel(&s->r->info[n->inputs[i]]);
        first = before < 0 || before > NUMBERS_MAX ? -1 : first + before;
    }
    return first;
}

static void follow(search *s, place at, int depth);

static void look_at(search *s, ir_id node, place at, int depth)
{
    const ir_node *n = ir_node_at(s->r->model, node);
    const op_row *row = s->r->rows[node];
    for (int k = 0; row && k < OP_LOOKUPS; k++) {
        op_lookup l = row->lookups[k];
        if (l.index != l.table && l.index < n->n_inputs && n->inputs[l.index] == at.value) {
            s->hint.kind = FEED_INDEX;
            take_bound(s, n, l.table);
        }
    }
    look_for_steering(s, node, at);
    const op_family *f = row ? op_family_find(str_of(row->type)) : NULL;
    for (uint32_t o = 0; f && (f->is & OPS_MOVES_NUMBERS) && o < n->n_outputs; o++)
        if (n->outputs[o] != IR_NONE)
            follow(s, (place){n->outputs[o], first_behind(s, n, f, at)}, depth + 1);
}

/* Inputs have few readers and the walk is short, so no table of readers is made for it. */
static void follow(search *s, place at, int depth)
{
    const ir_model *m = s->r->model;
    if (depth > DEPTH_MAX || s->steps++ > STEPS_MAX)
        return;
    for (ir_id i = 0; i < m->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, i);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] == at.value) {
                look_at(s, i, at, depth);
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
        int64_t tokens = axis_cached_tokens(&(axis_input){name, x->dtype, x->rank, x->dims});
        if (tokens > 0)
            return (uint64_t)tokens;
    }
    return 0;
}

feed_hint feed_of(infer_result *r, ir_id input)
{
    const ir_value *v = ir_value_at(r->model, input);
    const op_info *x = &r->info[input];
    search s = {.r = r, .n = op_numel(x)};
    if (axis_names_mask(v->name))
        return (feed_hint){.kind = FEED_MASK};
    if (x->dtype == IR_BOOL && str_contains_any_case(v->name, "use_cache"))
        return (feed_hint){.kind = FEED_SWITCH};
    if (!ir_is_integer(x->dtype) && (s.n < 0 || s.n > NUMBERS_MAX))
        return (feed_hint){0}; /* data */
    follow(&s, (place){input, 0}, 0);
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
