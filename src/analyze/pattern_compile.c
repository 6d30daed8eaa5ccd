/* Compiles formulas; the language is described in pattern_impl.h. */
#include <math.h>

#include "analyze/pattern_term.h"

typedef struct parser {
    const char *at;
    arena *arena;
    struct pattern_program *p;
} parser;

static void skip_blanks(parser *x)
{
    while (*x->at == ' ')
        x->at++;
}

static double take_number(parser *x)
{
    double v = NAN;
    str rest = str_of(x->at);
    if (*x->at == '_')
        x->at++;
    else if (str_take_f64(&rest, &v))
        x->at = rest.p;
    return v;
}

static bool at_number(const parser *x)
{
    return *x->at == '_' || *x->at == '.' || (*x->at >= '0' && *x->at <= '9') ||
           (*x->at == '-' && x->at[1] >= '0' && x->at[1] <= '9');
}

static term *parse(parser *x);

/* A power inside a product is a factor of it. */
static const term *factor_of(const term *t, const term *of)
{
    bool power = of && t->kind == TERM_PRODUCT && of->kind == TERM_PRODUCT && of->n == 1;
    return power && of->number == 1 ? of->of[0] : of;
}

static void take_args(parser *x, term *t)
{
    for (skip_blanks(x); *x->at && *x->at != ')' && t->n < TERMS; skip_blanks(x)) {
        bool number = at_number(x);
        if (number && t->kind != TERM_CALL) {
            t->number = take_number(x);
            continue;
        }
        t->is_number[t->n] = number;
        if (number)
            t->args[t->n] = take_number(x);
        else
            t->of[t->n] = factor_of(t, parse(x));
        t->n++;
    }
    x->at += *x->at == ')';
}

static void name_term(term *t, const char *word, uint32_t n)
{
    t->type = word;
    t->type_n = n;
    t->kind = TERM_CALL;
    if (n == 1 && *word == '*') {
        t->kind = TERM_PRODUCT;
        t->number = 1;
    } else if (n == 1 && *word == '+') {
        t->kind = TERM_SUM;
        t->number = 0;
    } else if (n == 3 && memcmp(word, "neg", 3) == 0) {
        t->kind = TERM_NEG;
    }
}

/* (^ e t) is a product of one factor; inside a product it is that factor. */
static void parse_power(parser *x, term *t)
{
    skip_blanks(x);
    double e = take_number(x);
    skip_blanks(x);
    term *base = parse(x);
    skip_blanks(x);
    x->at += *x->at == ')';
    t->kind = TERM_PRODUCT;
    t->number = 1;
    t->n = 1;
    t->of[0] = base;
    if (base)
        base->exponent = e;
}

static void parse_group(parser *x, term *t)
{
    const char *word = ++x->at;
    while (*x->at && *x->at != ' ' && *x->at != ')')
        x->at++;
    uint32_t n = (uint32_t)(x->at - word);
    if (n == 1 && *word == '^') {
        parse_power(x, t);
        return;
    }
    name_term(t, word, n);
    take_args(x, t);
}

static term *parse(parser *x)
{
    term *t = ARENA_NEW(x->arena, term);
    if (!t)
        return NULL;
    t->letter = -1;
    t->exponent = 1;
    skip_blanks(x);
    if (*x->at == '(') {
        parse_group(x, t);
        return t;
    }
    char c = *x->at++;
    t->kind = c >= 'A' && c <= 'Z' ? TERM_CONSTANT : TERM_VALUE;
    t->letter = t->kind == TERM_CONSTANT ? c - 'A' : c - 'a';
    if (*x->at == '=') {
        x->at++;
        term *is = parse(x);
        x->p->named[t->letter] = is;
    }
    return t;
}

struct pattern_program *pattern_compile(const char *formula, arena *a)
{
    struct pattern_program *p = ARENA_NEW(a, struct pattern_program);
    parser x = {.at = formula, .arena = a, .p = p};
    if (p)
        p->root = parse(&x);
    return p && p->root ? p : NULL;
}

bool term_is_part(const term *t)
{
    return t->type_n == 4 && memcmp(t->type, "part", 4) == 0;
}

bool term_takes_part(const op_family *f)
{
    return (f->is & (OPS_CUTS | OPS_PICKS)) != 0;
}

static bool has_types(const term *t, const map *types, int depth)
{
    bool found = t->kind != TERM_CALL;
    if (depth > TERM_DEPTH)
        return false;
    for (uint32_t k = 0; !found && term_is_part(t) && k < op_families_n; k++)
        found = term_takes_part(&op_families[k]) &&
                map_get(types, str_of(op_families[k].type)) != MAP_NONE;
    found = found || map_get(types, (str){t->type, t->type_n}) != MAP_NONE;
    for (int k = 0; found && k < t->n; k++)
        found = !t->of[k] || has_types(t->of[k], types, depth + 1);
    return found;
}

bool pattern_possible(const struct pattern_program *p, const map *types)
{
    bool ok = has_types(p->root, types, 0);
    for (int k = 0; ok && k < LETTERS; k++)
        ok = !p->named[k] || has_types(p->named[k], types, 0);
    return ok;
}
