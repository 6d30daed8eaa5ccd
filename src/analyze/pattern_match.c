/* Formulas against the graph; the language is described in pattern_impl.h.
 *
 * A product is expanded into a coefficient and factors with exponents, a sum into a constant and terms with
 * signs, as far as the formula needs and no further: x may itself be a product. Which to expand is tried
 * one after the other, within a budget of steps, so a hostile graph costs no more than that per layer.
 */
#include <math.h>

#include "analyze/pattern_term.h"

enum { STEPS_MAX = 1000 };

/* ---- what is known of values ---- */

bool pattern_is_pass(const flow *f, uint32_t layer)
{
    return (flow_family(f, layer)->is & OPS_SAME_VALUE) && flow_node(f, layer)->n_inputs > 0;
}

ir_id pattern_source(const flow *f, ir_id value)
{
    for (int k = 0; k < TERM_DEPTH; k++) {
        uint32_t layer = flow_maker(f, value);
        if (layer == FLOW_NONE || !pattern_is_pass(f, layer) ||
            flow_node(f, layer)->outputs[0] != value)
            return value;
        value = flow_node(f, layer)->inputs[0];
    }
    return value;
}

bool pattern_is_constant(const flow *f, ir_id value)
{
    value = value == IR_NONE ? value : pattern_source(f, value);
    return value != IR_NONE && (ir_value_at(f->r->model, value)->constant ||
                                f->r->origin[value] != IR_NONE || f->r->info[value].val);
}

bool pattern_scalar(const flow *f, ir_id value, double *out)
{
    if (value == IR_NONE)
        return false;
    const op_info *info = &f->r->info[value];
    const ir_tensor *t = ir_value_at(f->r->model, value)->constant;
    if (op_numel(info) != 1 && !(t && t->n_elems == 1))
        return false;
    const op_val *v = info->val ? info->val : t ? infer_constant(f->r, t) : NULL;
    ir_dtype is = info->dtype != IR_UNDEFINED ? info->dtype : t ? t->dtype : IR_UNDEFINED;
    if (!v || v->n != 1 || !op_val_known(v, 0))
        return false;
    *out = ir_is_float(is) ? v->cells[0].f : (double)v->cells[0].i;
    return true;
}

/* ---- sets ---- */

bool pattern_has(const pattern_set *s, uint32_t layer)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (s->layers[k] == layer)
            return true;
    return false;
}

bool pattern_add(pattern_set *s, uint32_t layer, bool pass)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (s->layers[k] == layer) {
            s->pass[k] = s->pass[k] && pass;
            return true;
        }
    if (s->n == PATTERN_LAYERS)
        return false;
    s->layers[s->n] = layer;
    s->pass[s->n++] = pass;
    return true;
}

static bool read_inside(const flow *f, const pattern_set *s, uint32_t layer)
{
    uint32_t n = flow_n(&f->uses, layer);
    if (n == 0 || n > s->n || f->kept[layer])
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (!pattern_has(s, flow_at(&f->uses, layer)[k]))
            return false;
    return true;
}

static void sort_layers(pattern_set *s)
{
    for (uint32_t i = 1; i < s->n; i++)
        for (uint32_t k = i; k > 0 && s->layers[k] < s->layers[k - 1]; k--) {
            uint32_t layer = s->layers[k];
            bool pass = s->pass[k];
            s->layers[k] = s->layers[k - 1];
            s->pass[k] = s->pass[k - 1];
            s->layers[k - 1] = layer;
            s->pass[k - 1] = pass;
        }
}

static void drop_match(pattern_set *s, uint32_t k)
{
    memmove(s->layers + k, s->layers + k + 1, sizeof *s->layers * (s->n - k - 1));
    memmove(s->pass + k, s->pass + k + 1, sizeof *s->pass * (s->n - k - 1));
    s->n--;
}

/* What was looked through and makes nothing that is needed inside alone, or begins the set, stays outside. */
static bool leaf_pass(const flow *f, const pattern_set *s, uint32_t k)
{
    uint32_t before = flow_maker(f, flow_node(f, s->layers[k])->inputs[0]);
    return s->pass[k] && (before == FLOW_NONE || !pattern_has(s, before));
}

bool pattern_close(const flow *f, pattern_set *s)
{
    sort_layers(s);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k + 1 < s->n && !again; k++)
            if (leaf_pass(f, s, k) || (s->pass[k] && !read_inside(f, s, s->layers[k]))) {
                drop_match(s, k);
                again = true;
            }
    }
    for (uint32_t k = 0; k + 1 < s->n; k++)
        if (!read_inside(f, s, s->layers[k]) ||
            flow_node(f, s->layers[k])->graph != flow_node(f, s->layers[s->n - 1])->graph)
            return false;
    return s->n > 1;
}

/* ---- matching ---- */

typedef struct matcher {
    const flow *f;
    const struct pattern_program *p;
    ir_id bound[2 * LETTERS]; /* values, then constants */
    pattern_set *set;
    int steps, depth;
} matcher;

typedef struct mark {
    ir_id bound[2 * LETTERS];
    uint32_t n;
    bool pass[PATTERN_LAYERS];
} mark;

static mark remember(const matcher *m)
{
    mark k = {.n = m->set->n};
    memcpy(k.bound, m->bound, sizeof k.bound);
    memcpy(k.pass, m->set->pass, sizeof *k.pass * m->set->n);
    return k;
}

static void forget(matcher *m, const mark *k)
{
    memcpy(m->bound, k->bound, sizeof k->bound);
    m->set->n = k->n;
    memcpy(m->set->pass, k->pass, sizeof *k->pass * k->n);
}

static bool match(matcher *m, const term *t, ir_id value);

/* Goes back through casts and the like; they come along. */
static ir_id look_through(matcher *m, ir_id value)
{
    for (int k = 0; k < TERM_DEPTH; k++) {
        uint32_t layer = flow_maker(m->f, value);
        if (layer == FLOW_NONE || !pattern_is_pass(m->f, layer) ||
            flow_node(m->f, layer)->outputs[0] != value || !pattern_add(m->set, layer, true))
            break;
        value = flow_node(m->f, layer)->inputs[0];
    }
    return value;
}

static bool close_to(double a, double b)
{
    return isnan(b) || fabs(a - b) <= 2e-3 * fabs(b) + 1e-12;
}

/* ---- products and sums as lists ---- */

typedef struct parts {
    double number;
    int n;
    struct {
        ir_id value;
        double by; /* exponent or sign */
    } of[TERMS];
} parts;

static bool add_part(parts *p, ir_id v, double by)
{
    if (p->n == TERMS)
        return false;
    p->of[p->n].value = v;
    p->of[p->n++].by = by;
    return true;
}

static bool put_factor(const matcher *m, parts *p, ir_id v, double e)
{
    double s;
    if (v == IR_NONE)
        return false;
    if (pattern_scalar(m->f, v, &s)) {
        p->number *= pow(s, e);
        return isfinite(p->number);
    }
    for (int k = 0; k < p->n; k++)
        if (pattern_source(m->f, p->of[k].value) == pattern_source(m->f, v)) {
            p->of[k].by += e;
            return true;
        }
    return add_part(p, v, e);
}

static bool put_term(const matcher *m, parts *p, ir_id v, double sign)
{
    double s;
    if (v == IR_NONE)
        return false;
    if (pattern_scalar(m->f, v, &s)) {
        p->number += sign * s;
        return true;
    }
    return add_part(p, v, sign);
}

static bool is_binary(op_algebra a)
{
    return a == OPA_DIV || a == OPA_SUB || a == OPA_POW;
}

/* value^e as factors; false when it is no product. */
static bool split_product(matcher *m, ir_id value, double e, parts *p)
{
    uint32_t layer = flow_maker(m->f, look_through(m, value));
    if (layer == FLOW_NONE)
        return false;
    const ir_node *n = flow_node(m->f, layer);
    op_algebra a = flow_family(m->f, layer)->algebra;
    double power;
    bool ok = false;
    if (n->n_inputs == 0 || (n->n_inputs < 2 && is_binary(a)))
        return false;
    if (a == OPA_MUL && n->n_inputs == 2)
        ok = put_factor(m, p, n->inputs[0], e) && put_factor(m, p, n->inputs[1], e);
    else if (a == OPA_DIV)
        ok = put_factor(m, p, n->inputs[0], e) && put_factor(m, p, n->inputs[1], -e);
    else if (a == OPA_RECIPROCAL)
        ok = put_factor(m, p, n->inputs[0], -e);
    else if (a == OPA_SQRT)
        ok = put_factor(m, p, n->inputs[0], e / 2);
    else if (a == OPA_POW && pattern_scalar(m->f, n->inputs[1], &power))
        ok = put_factor(m, p, n->inputs[0], e * power);
    else if (a == OPA_NEG && fabs(e) == 1) {
        p->number = -p->number;
        ok = put_factor(m, p, n->inputs[0], e);
    }
    return ok && pattern_add(m->set, layer, false);
}

static bool split_sum(matcher *m, ir_id value, double sign, parts *p)
{
    uint32_t layer = flow_maker(m->f, look_through(m, value));
    if (layer == FLOW_NONE)
        return false;
    const ir_node *n = flow_node(m->f, layer);
    op_algebra a = flow_family(m->f, layer)->algebra;
    bool ok = false;
    if (n->n_inputs == 0 || (n->n_inputs < 2 && is_binary(a)))
        return false;
    if (n->n_inputs == 2 && (a == OPA_ADD || a == OPA_SUM))
        ok = put_term(m, p, n->inputs[0], sign) && put_term(m, p, n->inputs[1], sign);
    else if (a == OPA_SUB)
        ok = put_term(m, p, n->inputs[0], sign) && put_term(m, p, n->inputs[1], -sign);
    else if (a == OPA_NEG)
        ok = put_term(m, p, n->inputs[0], -sign);
    return ok && pattern_add(m->set, layer, false);
}

/* Each term of the formula from `at` on finds its part among those not taken. */
static bool assign(matcher *m, const term *t, const parts *p, int at, unsigned taken)
{
    if (at == t->n)
        return true;
    const term *want = t->of[at];
    double by = t->kind == TERM_PRODUCT ? want->exponent : want->kind == TERM_NEG ? -1 : 1;
    const term *what = t->kind == TERM_SUM && want->kind == TERM_NEG ? want->of[0] : want;
    for (int k = 0; k < p->n; k++) {
        if ((taken & 1u << k) || fabs(p->of[k].by - by) > 1e-6)
            continue;
        mark before = remember(m);
        if (match(m, what, p->of[k].value) && assign(m, t, p, at + 1, taken | 1u << k))
            return true;
        forget(m, &before);
    }
    return false;
}

static parts without(const parts *p, int k)
{
    parts q = *p;
    memmove(q.of + k, q.of + k + 1, sizeof *q.of * (size_t)(q.n - k - 1));
    q.n--;
    return q;
}

static bool match_parts(matcher *m, const term *t, const parts *p)
{
    bool product = t->kind == TERM_PRODUCT;
    /* Terms never become fewer; factors do when two are the same. */
    if (++m->steps > STEPS_MAX || m->depth >= TERM_DEPTH || p->n > t->n + product)
        return false;
    m->depth++;
    mark before = remember(m);
    bool ok = p->n == t->n && close_to(p->number, t->number) && assign(m, t, p, 0, 0);
    for (int k = 0; !ok && k < p->n; k++) {
        parts q = without(p, k);
        forget(m, &before);
        ok = (product ? split_product(m, p->of[k].value, p->of[k].by, &q)
                      : split_sum(m, p->of[k].value, p->of[k].by, &q)) &&
             match_parts(m, t, &q);
    }
    m->depth--;
    if (!ok)
        forget(m, &before);
    return ok;
}

static bool match_list(matcher *m, const term *t, ir_id value)
{
    bool product = t->kind == TERM_PRODUCT;
    parts p = {.number = product ? 1 : 0};
    mark before = remember(m);
    if ((product ? split_product(m, value, 1, &p) : split_sum(m, value, 1, &p)) &&
        match_parts(m, t, &p))
        return true;
    forget(m, &before);
    return false;
}

/* ---- the other kinds ---- */

static bool match_letter(matcher *m, const term *t, ir_id value)
{
    const term *is = t->kind == TERM_VALUE ? m->p->named[t->letter] : NULL;
    ir_id *slot = &m->bound[t->letter + (t->kind == TERM_CONSTANT ? LETTERS : 0)];
    if (t->kind == TERM_CONSTANT && !pattern_is_constant(m->f, value))
        return false;
    if (*slot != IR_NONE && pattern_source(m->f, *slot) == pattern_source(m->f, value))
        return true;
    /* A formula that a file computes twice is the same value too. */
    if (is ? !match(m, is, value) : *slot != IR_NONE)
        return false;
    if (*slot == IR_NONE)
        *slot = value;
    return true;
}

/* Families that mean the same to a formula. */
static bool is_called(const flow *f, const term *t, uint32_t layer)
{
    const char *type = flow_type(f, layer);
    if (term_is_part(t) && term_takes_part(flow_family(f, layer)))
        return true;
    return strlen(type) == t->type_n && memcmp(type, t->type, t->type_n) == 0;
}

/* Operand k as a scalar: an input, or the attribute that older opsets have. */
static bool number_at(const matcher *m, const ir_node *n, int k, double *out)
{
    static const char *const attrs[] = {NULL, "min", "max"};
    if ((uint32_t)k < n->n_inputs && n->inputs[k] != IR_NONE)
        return pattern_scalar(m->f, n->inputs[k], out);
    const ir_attr *a = k < 3 && attrs[k] ? ir_attr_find(n, attrs[k]) : NULL;
    if (!a || a->kind != IR_ATTR_FLOAT)
        return false;
    *out = a->v.f;
    return true;
}

static bool match_call(matcher *m, const term *t, ir_id value)
{
    uint32_t layer = flow_maker(m->f, look_through(m, value));
    double v;
    if (layer == FLOW_NONE || !is_called(m->f, t, layer) || !pattern_add(m->set, layer, false))
        return false;
    const ir_node *n = flow_node(m->f, layer);
    for (int k = 0; k < t->n; k++) {
        if (t->is_number[k]) {
            if (!isnan(t->args[k]) && (!number_at(m, n, k, &v) || !close_to(v, t->args[k])))
                return false;
        } else if ((uint32_t)k >= n->n_inputs || n->inputs[k] == IR_NONE ||
                   !match(m, t->of[k], n->inputs[k])) {
            return false;
        }
    }
    return true;
}

static bool match_neg(matcher *m, const term *t, ir_id value)
{
    parts p = {.number = 1};
    return split_product(m, value, 1, &p) && p.n == 1 && p.of[0].by == 1 && p.number == -1 &&
           match(m, t->of[0], p.of[0].value);
}

static bool match(matcher *m, const term *t, ir_id value)
{
    if (++m->steps > STEPS_MAX || m->depth >= TERM_DEPTH || !t)
        return false;
    bool ok = false;
    m->depth++;
    if (t->kind == TERM_VALUE || t->kind == TERM_CONSTANT)
        ok = match_letter(m, t, value);
    else if (t->kind == TERM_PRODUCT || t->kind == TERM_SUM)
        ok = match_list(m, t, value);
    else
        ok = t->kind == TERM_NEG ? match_neg(m, t, value) : match_call(m, t, value);
    m->depth--;
    return ok;
}

bool pattern_may_end(const flow *f, const struct pattern_program *p, uint32_t layer)
{
    op_algebra a = flow_family(f, layer)->algebra;
    const term *t = p->root;
    if (t->kind == TERM_CALL)
        return is_called(f, t, layer);
    return t->kind == TERM_SUM ? a == OPA_ADD || a == OPA_SUB : a == OPA_MUL || a == OPA_DIV;
}

bool pattern_matches(const flow *f, const struct pattern_program *p, uint32_t layer,
                     pattern_set *out, int64_t *budget)
{
    const ir_node *n = flow_node(f, layer);
    matcher m = {.f = f, .p = p, .set = out};
    memset(m.bound, 0xff, sizeof m.bound);
    out->n = 0;
    bool found = n->n_outputs && n->outputs[0] != IR_NONE && match(&m, p->root, n->outputs[0]);
    *budget -= m.steps;
    return found && pattern_close(f, out);
}
