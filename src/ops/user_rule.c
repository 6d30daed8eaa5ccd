/* Rules of the user at work: the shape rule and the cost rule of their rows.
 *
 * Costs are computed together with the shapes, where errors can be reported; the cost rule computes the same again.
 */
#include "ops/user_rule.h"

const user_cost_key user_cost_keys[USER_COSTS] = {
    {"mac", offsetof(op_cost, mac)},         {"add", offsetof(op_cost, add)},
    {"mul", offsetof(op_cost, mul)},         {"div", offsetof(op_cost, div)},
    {"special", offsetof(op_cost, special)}, {"cmp", offsetof(op_cost, cmp)},
    {"int_ops", offsetof(op_cost, int_ops)},
};

static const user_rule *rule_of(const op_ctx *c)
{
    return c->row->with;
}

/* A count or a size: not negative. */
static assay_status eval_count(user_scope *s, const user_formula *f, user_number *out)
{
    TRY(user_expr_eval(s, f->is, f->where, out));
    if (out->known && out->n < 0)
        return user_expr_fail(s, f->is, f->where, "the result is negative");
    return ASSAY_OK;
}

static assay_status eval_lets(user_scope *s, const user_rule *r)
{
    for (uint32_t i = 0; i < r->names.n_lets; i++)
        TRY(user_expr_eval(s, r->lets[i].is, r->lets[i].where, &s->lets[i]));
    return ASSAY_OK;
}

/* ---- outputs ---- */

static assay_status set_output(op_ctx *c, user_scope *s, uint32_t o, const user_output *u)
{
    ir_dtype t = u->dtype_of >= 0 ? op_dtype(c, (uint32_t)u->dtype_of) : u->dtype;
    int64_t dims[IR_MAX_RANK];
    if (u->like >= 0)
        return op_set_shape_of(c, o, t, (uint32_t)u->like);
    for (int d = 0; d < u->rank; d++) {
        user_number n = {0};
        TRY(eval_count(s, &u->dims[d], &n));
        dims[d] = n.known ? n.n : -1;
    }
    return op_set(c, o, t, u->rank, dims);
}

/* ---- costs ---- */

typedef struct cost_sink {
    op_cost *k; /* NULL: only looked at */
    bool unknown;
} cost_sink;

static assay_status add_cost(user_scope *s, const user_formula *f, uint64_t *slot, cost_sink *sink)
{
    user_number n = {0};
    if (!f->is)
        return ASSAY_OK;
    TRY(eval_count(s, f, &n));
    sink->unknown |= !n.known;
    if (slot && n.known)
        *slot = (uint64_t)n.n;
    return ASSAY_OK;
}

static assay_status eval_costs(const op_ctx *c, user_scope *s, cost_sink *sink)
{
    const user_rule *r = rule_of(c);
    op_cost *k = sink->k;
    for (uint32_t i = 0; i < USER_COSTS; i++) {
        uint64_t *slot = k ? (uint64_t *)(void *)((char *)k + user_cost_keys[i].at) : NULL;
        TRY(add_cost(s, &r->costs[i], slot, sink));
    }
    for (uint32_t i = 0; i < r->names.n_inputs && i < c->n_in; i++)
        if (op_has(c, i))
            TRY(add_cost(s, &r->read[i], k ? &k->read[i] : NULL, sink));
    for (uint32_t o = 0; o < r->names.n_outputs && o < c->n_out; o++)
        TRY(add_cost(s, &r->written[o], k ? &k->written[o] : NULL, sink));
    return ASSAY_OK;
}

static bool shapes_known(const op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (c->in[i] && !op_shape_full(c->in[i]))
            return false;
    for (uint32_t o = 0; o < c->n_out; o++)
        if (!op_shape_full(&c->out[o]))
            return false;
    return true;
}

assay_status user_rule_infer(op_ctx *c)
{
    const user_rule *r = rule_of(c);
    user_scope s = {.node = c, .err = c->err};
    cost_sink looked = {0};
    if (c->n_out > r->names.n_outputs)
        return op_fail(c, "it has %u outputs; the rule describes %u", c->n_out, r->names.n_outputs);
    TRY(eval_lets(&s, r));
    for (uint32_t o = 0; o < c->n_out; o++)
        TRY(set_output(c, &s, o, &r->outputs[o]));
    TRY(eval_costs(c, &s, &looked));
    if (looked.unknown && shapes_known(c))
        op_assume(c, "a cost of the rule in " STR_FMT " depends on unknown content; it counts as 0",
                  STR_ARG(r->file));
    return ASSAY_OK;
}

void user_rule_cost(const op_ctx *c, op_cost *k)
{
    assay_error err = {0};
    user_scope s = {.node = c, .err = &err};
    cost_sink sink = {.k = k};
    if (eval_lets(&s, rule_of(c)) == ASSAY_OK)
        eval_costs(c, &s, &sink);
}
