/* Parsing of expressions: recursive descent with a limit on depth. See user_expr.h for the grammar and user_eval.c for
 * what they are worth. */
#include "ops/user_expr_impl.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

typedef struct expr_parser {
    str text, where;
    uint32_t at;
    int depth;
    const user_names *names;
    arena *arena;
    assay_error *err;
} expr_parser;

static assay_status fail_at(const expr_parser *p, uint32_t at, const char *fmt, ...)
    ASSAY_PRINTF(3, 4);
static assay_status fail_at(const expr_parser *p, uint32_t at, const char *fmt, ...)
{
    char what[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return err_fail(p->err, ASSAY_ERR_MALFORMED, STR_FMT ": %s (character %u)", STR_ARG(p->where),
                    what, at + 1);
}

/* ---- tokens ---- */

static void skip_blanks(expr_parser *p)
{
    while (p->at < p->text.n && (p->text.p[p->at] == ' ' || p->text.p[p->at] == '\t'))
        p->at++;
}

static bool take_token(expr_parser *p, const char *token)
{
    size_t n = strlen(token);
    skip_blanks(p);
    if (p->text.n - p->at < n || memcmp(p->text.p + p->at, token, n) != 0)
        return false;
    p->at += (uint32_t)n;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool user_is_name(str s)
{
    bool good = s.n > 0 && s.n <= 64 && is_letter(s.p[0]);
    for (uint32_t i = 0; good && i < s.n; i++)
        good = is_letter(s.p[i]) || str_is_digit(s.p[i]);
    return good;
}

static str take_name(expr_parser *p)
{
    skip_blanks(p);
    uint32_t from = p->at;
    while (p->at < p->text.n && (is_letter(p->text.p[p->at]) || str_is_digit(p->text.p[p->at])))
        p->at++;
    return (str){p->text.p + from, p->at - from};
}

static assay_status want_token(expr_parser *p, const char *token)
{
    return take_token(p, token) ? ASSAY_OK : fail_at(p, p->at, "'%s' expected", token);
}

/* ---- nodes ---- */

static assay_status new_expr(expr_parser *p, user_expr e, const user_expr **out)
{
    user_expr *x = ARENA_NEW(p->arena, user_expr);
    TRY_MEMORY(x, p->err);
    *x = e;
    *out = x;
    return ASSAY_OK;
}

user_expr *user_expr_number(int64_t n, arena *a)
{
    user_expr *x = ARENA_NEW(a, user_expr);
    if (x)
        *x = (user_expr){.kind = EXPR_NUMBER, .number = n};
    return x;
}

static assay_status parse_expression(expr_parser *p, const user_expr **out);

static assay_status parse_number(expr_parser *p, const user_expr **out)
{
    uint32_t from = p->at;
    int64_t n = 0;
    for (; p->at < p->text.n && str_is_digit(p->text.p[p->at]); p->at++)
        if (!num_mul(n, 10, &n) || !num_add(n, p->text.p[p->at] - '0', &n))
            return fail_at(p, from, "the number does not fit 64 bits");
    return new_expr(p, (user_expr){.kind = EXPR_NUMBER, .number = n, .at = from}, out);
}

static int find_name(const str *list, uint32_t n, str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(list[i], name))
            return (int)i;
    return -1;
}

static assay_status parse_tensor(expr_parser *p, user_expr *call)
{
    skip_blanks(p);
    uint32_t from = p->at;
    str name = take_name(p);
    int in = find_name(p->names->inputs, p->names->n_inputs, name);
    int out = find_name(p->names->outputs, p->names->n_outputs, name);
    if (in < 0 && out < 0)
        return fail_at(p, from, "unknown tensor '" STR_FMT "'", STR_ARG(name));
    call->is_output = in < 0;
    call->tensor = (uint32_t)(in < 0 ? out : in);
    return ASSAY_OK;
}

static assay_status parse_attribute(expr_parser *p, user_expr *call)
{
    skip_blanks(p);
    uint32_t from = p->at;
    str name = take_name(p);
    if (!user_is_name(name))
        return fail_at(p, from, "name of an attribute expected");
    call->name = str_copy(p->arena, name);
    return call->name.p ? ASSAY_OK : err_no_memory(p->err);
}

/* The signature: t a tensor, a an attribute, i an expression; after "|" they may be left out. */
static assay_status parse_arguments(expr_parser *p, user_expr *call)
{
    bool optional = false;
    uint32_t n = 0;
    TRY(want_token(p, "("));
    for (const char *s = call->function->takes; *s; s++) {
        if (*s == '|') {
            optional = true;
            continue;
        }
        skip_blanks(p);
        if (optional && p->at < p->text.n && p->text.p[p->at] == ')')
            break;
        if (n++)
            TRY(want_token(p, ","));
        if (*s == 't')
            TRY(parse_tensor(p, call));
        else if (*s == 'a')
            TRY(parse_attribute(p, call));
        else
            TRY(parse_expression(p, &call->args[call->n_args++]));
    }
    return want_token(p, ")");
}

static assay_status parse_word(expr_parser *p, const user_expr **out)
{
    user_expr e = {.kind = EXPR_LET, .at = p->at};
    str name = take_name(p);
    skip_blanks(p);
    if (p->at < p->text.n && p->text.p[p->at] == '(') {
        e.kind = EXPR_CALL;
        e.function = user_function_find(name);
        if (!e.function)
            return fail_at(p, e.at, "unknown function '" STR_FMT "'", STR_ARG(name));
        TRY(parse_arguments(p, &e));
        return new_expr(p, e, out);
    }
    int let = find_name(p->names->lets, p->names->n_lets, name);
    if (let < 0)
        return fail_at(p, e.at, "'" STR_FMT "' is not defined", STR_ARG(name));
    if ((uint32_t)let >= p->names->lets_before)
        return fail_at(p, e.at, "'" STR_FMT "' recurses: a definition uses only those before it",
                       STR_ARG(name));
    e.tensor = (uint32_t)let;
    return new_expr(p, e, out);
}

static assay_status parse_atom(expr_parser *p, const user_expr **out)
{
    skip_blanks(p);
    char c = p->at < p->text.n ? p->text.p[p->at] : '\0';
    if (str_is_digit(c))
        return parse_number(p, out);
    if (is_letter(c))
        return parse_word(p, out);
    if (!take_token(p, "("))
        return fail_at(p, p->at, "a number, a name or '(' expected");
    TRY(parse_expression(p, out));
    return want_token(p, ")");
}

static assay_status parse_unary(expr_parser *p, const user_expr **out)
{
    uint32_t at = p->at;
    bool minus = take_token(p, "-");
    user_expr e = {.kind = EXPR_MINUS, .at = at, .n_args = 1};
    TRY(parse_atom(p, minus ? &e.args[0] : out));
    return minus ? new_expr(p, e, out) : ASSAY_OK;
}

/* ---- operators, by how tightly they bind ---- */

typedef struct expr_operator {
    const char *token;
    user_expr_kind kind;
} expr_operator;

/* Longer tokens first. */
static const expr_operator compares[] = {
    {"<=", EXPR_AT_MOST}, {">=", EXPR_AT_LEAST}, {"==", EXPR_EQUAL}, {"!=", EXPR_DIFFERS},
    {"<", EXPR_LESS},     {">", EXPR_MORE},      {NULL, EXPR_NUMBER}};
static const expr_operator sums[] = {{"+", EXPR_ADD}, {"-", EXPR_SUB}, {NULL, EXPR_NUMBER}};
static const expr_operator terms[] = {
    {"*", EXPR_MUL}, {"/", EXPR_DIV}, {"%", EXPR_MOD}, {NULL, EXPR_NUMBER}};

static const expr_operator *take_operator(expr_parser *p, const expr_operator *list)
{
    while (list->token && !take_token(p, list->token))
        list++;
    return list->token ? list : NULL;
}

typedef assay_status parse_fn(expr_parser *p, const user_expr **out);

/* Operands of `below` with operators of the list between them, from the left. */
static assay_status parse_chain(expr_parser *p, const expr_operator *list, parse_fn *below,
                                const user_expr **out)
{
    TRY(below(p, out));
    for (;;) {
        skip_blanks(p);
        user_expr e = {.at = p->at, .n_args = 2, .args = {*out}};
        const expr_operator *op = take_operator(p, list);
        if (!op)
            return ASSAY_OK;
        e.kind = op->kind;
        TRY(below(p, &e.args[1]));
        TRY(new_expr(p, e, out));
    }
}

static assay_status parse_term(expr_parser *p, const user_expr **out)
{
    return parse_chain(p, terms, parse_unary, out);
}

static assay_status parse_sum(expr_parser *p, const user_expr **out)
{
    return parse_chain(p, sums, parse_term, out);
}

static assay_status parse_choice(expr_parser *p, const user_expr **out)
{
    TRY(parse_sum(p, out));
    user_expr e = {.at = p->at, .n_args = 2, .args = {*out}};
    const expr_operator *op = take_operator(p, compares);
    if (op) {
        e.kind = op->kind;
        TRY(parse_sum(p, &e.args[1]));
        TRY(new_expr(p, e, out));
    }
    e = (user_expr){.kind = EXPR_CHOICE, .at = p->at, .n_args = 3, .args = {*out}};
    if (!take_token(p, "?"))
        return ASSAY_OK;
    TRY(parse_expression(p, &e.args[1]));
    TRY(want_token(p, ":"));
    TRY(parse_expression(p, &e.args[2]));
    return new_expr(p, e, out);
}

static assay_status parse_expression(expr_parser *p, const user_expr **out)
{
    if (p->depth >= USER_EXPR_DEPTH)
        return fail_at(p, p->at, "nested deeper than %d levels", USER_EXPR_DEPTH);
    p->depth++;
    TRY(parse_choice(p, out));
    p->depth--;
    return ASSAY_OK;
}

assay_status user_expr_parse(str text, str where, const user_names *names, arena *a,
                             const user_expr **out, assay_error *err)
{
    expr_parser p = {.text = text, .where = where, .names = names, .arena = a, .err = err};
    if (text.n > USER_EXPR_CHARS)
        return fail_at(&p, USER_EXPR_CHARS, "an expression has at most %d characters",
                       USER_EXPR_CHARS);
    TRY(parse_expression(&p, out));
    skip_blanks(&p);
    return p.at == text.n ? ASSAY_OK : fail_at(&p, p.at, "the expression should end here");
}
