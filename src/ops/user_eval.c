/* What expressions are worth: arithmetic that is checked, and the functions that look at a node. */
#include "base/text.h"
#include "ops/user_expr_impl.h"

/* ---- functions ---- */

static const op_info *tensor_of(const user_call *c)
{
    uint32_t i = c->e->tensor;
    if (c->e->is_output)
        return i < c->node->n_out ? &c->node->out[i] : NULL;
    return op_has(c->node, i) ? c->node->in[i] : NULL;
}

/* An absent optional input has rank 0 and no elements. */
static const char *eval_rank(const user_call *c, user_number *out)
{
    const op_info *x = tensor_of(c);
    *out = (user_number){!x || x->rank >= 0, x ? x->rank : 0};
    return NULL;
}

static const char *eval_dim(const user_call *c, user_number *out)
{
    const op_info *x = tensor_of(c);
    if (!x)
        return "the input is absent";
    if (x->rank < 0)
        return NULL;
    int64_t axis = c->args[0] < 0 ? c->args[0] + x->rank : c->args[0];
    if (axis < 0 || axis >= x->rank)
        return "the axis is out of range";
    *out = (user_number){x->dims[axis] >= 0, x->dims[axis]};
    return NULL;
}

static const char *eval_size(const user_call *c, user_number *out)
{
    const op_info *x = tensor_of(c);
    int64_t n = x ? op_numel(x) : 0;
    *out = (user_number){n >= 0, n};
    return n == INT64_MAX ? "the number of elements overflows" : NULL;
}

static const char *eval_bytes(const user_call *c, user_number *out)
{
    const op_info *x = tensor_of(c);
    const char *wrong = eval_size(c, out);
    uint64_t bytes = !wrong && x && out->known ? ir_dtype_bytes(x->dtype, (uint64_t)out->n) : 0;
    if (bytes > INT64_MAX)
        return "the number of bytes overflows";
    out->known &= !x || x->dtype != IR_UNDEFINED;
    out->n = (int64_t)bytes;
    return wrong;
}

static const char *eval_product(const user_call *c, user_number *out)
{
    const op_info *x = tensor_of(c);
    if (!x)
        return "the input is absent";
    if (x->rank < 0)
        return NULL;
    int64_t from = c->args[0], to = c->n_args > 1 ? c->args[1] : x->rank;
    if (from < 0 || to > x->rank || from > to)
        return "the axes are out of range";
    int64_t n = op_product(x->dims, (int)from, (int)to);
    *out = (user_number){n >= 0, n};
    return n == INT64_MAX ? "the product overflows" : NULL;
}

static const char *eval_present(const user_call *c, user_number *out)
{
    *out = (user_number){true, tensor_of(c) != NULL};
    return NULL;
}

static const char *whole_number(double f, user_number *out)
{
    if (!(f >= -9007199254740992.0 && f <= 9007199254740992.0) || f != (double)(int64_t)f)
        return "the value is not a whole number below 2^53";
    *out = (user_number){true, (int64_t)f};
    return NULL;
}

static const char *eval_value(const user_call *c, user_number *out)
{
    int64_t at = c->n_args ? c->args[0] : 0, n;
    double f;
    if (c->e->is_output)
        return "value() takes an input";
    if (at < 0)
        return "the index is out of range";
    if (!op_has(c->node, c->e->tensor))
        return "the input is absent";
    int64_t cells = op_numel(c->node->in[c->e->tensor]);
    if (cells >= 0 && at >= cells)
        return "the index is out of range";
    if (op_int_at(c->node, c->e->tensor, at, &n))
        *out = (user_number){true, n};
    else if (op_float_at(c->node, c->e->tensor, at, &f))
        return whole_number(f, out);
    return NULL;
}

static const ir_attr *attribute_of(const user_call *c)
{
    const ir_attr *a = ir_attr_find(c->node->node, c->e->name.p);
    return a && !a->ref.n ? a : NULL;
}

static const char *eval_attr(const user_call *c, user_number *out)
{
    const ir_attr *a = attribute_of(c);
    if (!a && c->n_args)
        *out = (user_number){true, c->args[0]};
    if (!a)
        return c->n_args ? NULL : "the node does not have this attribute";
    if (a->kind == IR_ATTR_FLOAT)
        return whole_number((double)a->v.f, out);
    *out = (user_number){true, a->v.i};
    return a->kind == IR_ATTR_INT ? NULL : "the attribute is not a number";
}

static const char *eval_item(const user_call *c, user_number *out)
{
    const ir_attr *a = attribute_of(c);
    bool there = a && a->kind == IR_ATTR_INTS && c->args[0] >= 0 && c->args[0] < (int64_t)a->n;
    if (!there && c->n_args < 2)
        return "the node does not have this item of the attribute";
    *out = (user_number){true, there ? a->v.ints[c->args[0]] : c->args[1]};
    return NULL;
}

static const char *eval_count(const user_call *c, user_number *out)
{
    const ir_attr *a = attribute_of(c);
    *out = (user_number){true, a && a->kind == IR_ATTR_INTS ? (int64_t)a->n : 0};
    return NULL;
}

static const char *eval_min(const user_call *c, user_number *out)
{
    *out = (user_number){true, c->args[0] < c->args[1] ? c->args[0] : c->args[1]};
    return NULL;
}

static const char *eval_max(const user_call *c, user_number *out)
{
    *out = (user_number){true, c->args[0] > c->args[1] ? c->args[0] : c->args[1]};
    return NULL;
}

static const char *divide(int64_t a, int64_t b, int64_t *quotient, int64_t *rest)
{
    if (b == 0)
        return "division by zero";
    if (a == INT64_MIN && b == -1)
        return "the result does not fit 64 bits";
    *quotient = a / b;
    *rest = a % b;
    if (*rest != 0 && (*rest < 0) != (b < 0)) {
        *quotient -= 1;
        *rest += b;
    }
    return NULL;
}

static const char *eval_ceil_div(const user_call *c, user_number *out)
{
    int64_t rest = 0;
    out->known = true;
    const char *wrong = divide(c->args[0], c->args[1], &out->n, &rest);
    out->n += !wrong && rest != 0;
    return wrong;
}

static const user_function functions[] = {
    {"rank", "t", eval_rank},          {"dim", "ti", eval_dim},
    {"size", "t", eval_size},          {"bytes", "t", eval_bytes},
    {"product", "ti|i", eval_product}, {"present", "t", eval_present},
    {"value", "t|i", eval_value},      {"attr", "a|i", eval_attr},
    {"item", "ai|i", eval_item},       {"count", "a", eval_count},
    {"min", "ii", eval_min},           {"max", "ii", eval_max},
    {"ceil_div", "ii", eval_ceil_div},
};

const user_function *user_function_find(str name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_is(name, functions[i].name))
            return &functions[i];
    return NULL;
}

/* ---- operators ---- */

static const char *combine(user_expr_kind kind, int64_t a, int64_t b, int64_t *out)
{
    static const char *const too_large = "the result does not fit 64 bits";
    int64_t rest = 0, quotient = 0;
    const char *wrong = NULL;
    switch (kind) {
    case EXPR_ADD:
        return num_add(a, b, out) ? NULL : too_large;
    case EXPR_SUB:
        return num_sub(a, b, out) ? NULL : too_large;
    case EXPR_MUL:
        return num_mul(a, b, out) ? NULL : too_large;
    case EXPR_DIV:
    case EXPR_MOD:
        wrong = divide(a, b, &quotient, &rest);
        *out = kind == EXPR_DIV ? quotient : rest;
        return wrong;
    case EXPR_LESS:
        *out = a < b;
        return NULL;
    case EXPR_AT_MOST:
        *out = a <= b;
        return NULL;
    case EXPR_MORE:
        *out = a > b;
        return NULL;
    case EXPR_AT_LEAST:
        *out = a >= b;
        return NULL;
    case EXPR_EQUAL:
        *out = a == b;
        return NULL;
    default:
        *out = a != b;
        return NULL;
    }
}

assay_status user_expr_fail(const user_scope *s, const user_expr *e, str where, const char *what)
{
    char node[128];
    text_safe_into(node, sizeof node, s->node->node->name);
    return err_fail_node(s->err, ASSAY_ERR_MALFORMED, node,
                         STR_FMT ": node '%s': %s (character %u)", STR_ARG(where), node, what,
                         e->at + 1);
}

static assay_status eval_choice(user_scope *s, const user_expr *e, str where, user_number *out)
{
    user_number which = {0};
    TRY(user_expr_eval(s, e->args[0], where, &which));
    *out = (user_number){0};
    return which.known ? user_expr_eval(s, e->args[which.n ? 1 : 2], where, out) : ASSAY_OK;
}

assay_status user_expr_eval(user_scope *s, const user_expr *e, str where, user_number *out)
{
    user_number arg[3] = {0};
    int64_t n[3] = {0};
    const char *wrong = NULL;
    *out = (user_number){e->kind == EXPR_NUMBER, e->number};
    if (e->kind == EXPR_CHOICE)
        return eval_choice(s, e, where, out);
    if (e->kind == EXPR_LET)
        *out = s->lets[e->tensor];
    for (uint32_t i = 0; i < e->n_args; i++) {
        TRY(user_expr_eval(s, e->args[i], where, &arg[i]));
        if (!arg[i].known)
            return ASSAY_OK;
        n[i] = arg[i].n;
    }
    if (e->kind == EXPR_CALL) {
        user_call call = {.node = s->node, .e = e, .args = n, .n_args = e->n_args};
        wrong = e->function->eval(&call, out);
    } else if (e->n_args) {
        wrong = combine(e->kind == EXPR_MINUS ? EXPR_SUB : e->kind, e->n_args > 1 ? n[0] : 0,
                        n[e->n_args - 1], &out->n);
        out->known = true;
    }
    return wrong ? user_expr_fail(s, e, where, wrong) : ASSAY_OK;
}
