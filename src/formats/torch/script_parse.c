/* The subset of Python that TorchScript writes, as trees: classes with annotations and methods, functions; assignments, if,
 * while, for, return; expressions without operators but minus. See script.h. */
#include <ctype.h>

#include "formats/torch/script_impl.h"

typedef struct parser {
    str text, module;
    uint32_t pos, line;
    arena *a;
    assay_error *err;
    int depth;
    bool failed;
} parser;

/* ---- characters ---- */

static void *fail_at(parser *p, const char *what)
{
    if (!p->failed)
        err_fail(p->err, ASSAY_ERR_UNSUPPORTED, "TorchScript code of '" STR_FMT "', line %u: %s",
                 STR_ARG(p->module), p->line, what);
    p->failed = true;
    return NULL;
}

static char at(const parser *p, uint32_t ahead)
{
    return p->pos + ahead < p->text.n ? p->text.p[p->pos + ahead] : '\0';
}

/* Blanks, comments and continued lines within an expression; ends of lines only in brackets. */
static void skip_blanks(parser *p, bool lines)
{
    for (;;) {
        char c = at(p, 0);
        if (c == '#')
            while (at(p, 0) && at(p, 0) != '\n')
                p->pos++;
        else if (c == ' ' || c == '\t' || c == '\r')
            p->pos++;
        else if (c == '\\' && at(p, 1) == '\n')
            p->pos += 2, p->line++;
        else if (c == '\n' && lines)
            p->pos++, p->line++;
        else
            return;
    }
}

static bool take(parser *p, char c)
{
    skip_blanks(p, false);
    if (at(p, 0) != c)
        return false;
    p->pos++;
    return true;
}

/* Within brackets. */
static bool take_inside(parser *p, char c)
{
    skip_blanks(p, true);
    return take(p, c);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static str peek_word(parser *p)
{
    skip_blanks(p, false);
    uint32_t n = 0;
    while (is_word(at(p, n)))
        n++;
    return (str){p->text.p + p->pos, n};
}

static bool take_word(parser *p, const char *word)
{
    str w = peek_word(p);
    if (!str_is(w, word))
        return false;
    p->pos += w.n;
    return true;
}

/* ---- expressions ---- */

static script_expr *parse_expr(parser *p);

static script_expr *new_expr(parser *p, script_kind kind)
{
    script_expr *e = ARENA_NEW(p->a, script_expr);
    if (!e)
        return fail_at(p, "out of memory");
    e->kind = kind;
    e->line = p->line;
    return e;
}

/* Quotes within are escaped; what an escape stands for does not matter here but for quotes. */
static script_expr *parse_text(parser *p)
{
    script_expr *e = new_expr(p, EXPR_TEXT);
    char quote = at(p, 0);
    uint32_t from = ++p->pos, n = 0;
    while (at(p, 0) && at(p, 0) != quote && at(p, 0) != '\n')
        p->pos += at(p, 0) == '\\' && at(p, 1) ? 2 : 1;
    if (at(p, 0) != quote)
        return fail_at(p, "unterminated string");
    char *text = e ? arena_alloc(p->a, p->pos - from + 1) : NULL;
    for (uint32_t i = from; text && i < p->pos; i++) {
        i += p->text.p[i] == '\\' && i + 1 < p->pos;
        text[n++] = p->text.p[i];
    }
    p->pos++;
    if (e)
        e->s = (str){text, n};
    return text ? e : fail_at(p, "out of memory");
}

static script_expr *parse_number(parser *p)
{
    uint32_t n = 0;
    bool real = false;
    for (char c = at(p, 0); isalnum((unsigned char)c) || c == '.' ||
                            ((c == '-' || c == '+') && (at(p, n - 1) | 32) == 'e');
         c = at(p, ++n))
        real |= c == '.' || (c | 32) == 'e';
    str s = {p->text.p + p->pos, n};
    script_expr *e = new_expr(p, real ? EXPR_FLOAT : EXPR_INT);
    bool good = e && (real ? str_to_f64(s, &e->f) : str_to_i64(s, &e->i));
    p->pos += n;
    return good ? e : fail_at(p, "unsupported number");
}

static bool add_item(parser *p, script_expr *e, script_expr *item)
{
    return item && (VEC_ADD(p->a, &e->items, item) || fail_at(p, "out of memory"));
}

/* Items up to `end`; a comma may be last. *comma: there was one. */
static bool parse_items(parser *p, script_expr *e, char end, bool *comma)
{
    *comma = false;
    while (!take_inside(p, end)) {
        if (!add_item(p, e, parse_expr(p)))
            return false;
        skip_blanks(p, true);
        if (e->kind == EXPR_DICT && take_inside(p, ':') && !add_item(p, e, parse_expr(p)))
            return false;
        if (take_inside(p, ','))
            *comma = true;
        else if (!take_inside(p, end))
            return fail_at(p, "unterminated list") != NULL;
        else
            return true;
    }
    return true;
}

static script_expr *parse_brackets(parser *p, script_kind kind, char end)
{
    script_expr *e = new_expr(p, kind);
    bool comma;
    p->pos++;
    if (!e || !parse_items(p, e, end, &comma))
        return NULL;
    return kind == EXPR_TUPLE && e->items.n == 1 && !comma ? e->items.items[0] : e;
}

static script_expr *parse_name(parser *p)
{
    str w = peek_word(p);
    static const struct {
        const char *word;
        script_kind kind;
        int64_t i;
    } words[] = {{"None", EXPR_NONE, 0}, {"True", EXPR_BOOL, 1}, {"False", EXPR_BOOL, 0}};
    script_kind kind = EXPR_NAME;
    int64_t i = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (str_is(w, words[k].word)) {
            kind = words[k].kind;
            i = words[k].i;
        }
    script_expr *e = w.n ? new_expr(p, kind) : fail_at(p, "missing expression");
    p->pos += w.n;
    if (e) {
        e->s = w;
        e->i = i;
    }
    return e;
}

static script_expr *parse_atom(parser *p)
{
    skip_blanks(p, true);
    char c = at(p, 0);
    if (c == '"' || c == '\'')
        return parse_text(p);
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)at(p, 1))))
        return parse_number(p);
    if (c == '[')
        return parse_brackets(p, EXPR_LIST, ']');
    if (c == '(')
        return parse_brackets(p, EXPR_TUPLE, ')');
    if (c == '{')
        return parse_brackets(p, EXPR_DICT, '}');
    if (c == '-') {
        script_expr *e = new_expr(p, EXPR_NEG);
        p->pos++;
        if (e)
            e->of = parse_atom(p);
        return e && e->of ? e : NULL;
    }
    return parse_name(p);
}

/* name=value or value */
static bool parse_argument(parser *p, script_expr *call)
{
    skip_blanks(p, true);
    uint32_t from = p->pos, line = p->line;
    str name = peek_word(p);
    p->pos += name.n;
    skip_blanks(p, false);
    if (!name.n || at(p, 0) != '=' || at(p, 1) == '=') {
        p->pos = from;
        p->line = line;
        name = (str){0};
    } else {
        p->pos++;
    }
    return add_item(p, call, parse_expr(p)) &&
           (VEC_ADD(p->a, &call->names, name) || fail_at(p, "out of memory"));
}

static script_expr *parse_call(parser *p, script_expr *of)
{
    script_expr *e = new_expr(p, EXPR_CALL);
    p->pos++;
    if (e)
        e->of = of;
    while (e && !take_inside(p, ')')) {
        if (!parse_argument(p, e))
            return NULL;
        if (!take_inside(p, ',') && (skip_blanks(p, true), at(p, 0) != ')'))
            return fail_at(p, "unterminated call");
    }
    return e;
}

static script_expr *parse_index(parser *p, script_expr *of)
{
    script_expr *e = new_expr(p, EXPR_INDEX);
    bool comma;
    p->pos++;
    if (e)
        e->of = of;
    return e && parse_items(p, e, ']', &comma) ? e : NULL;
}

static script_expr *parse_trailers(parser *p)
{
    script_expr *e = parse_atom(p);
    while (e) {
        skip_blanks(p, false);
        char c = at(p, 0);
        if (c == '(') {
            e = parse_call(p, e);
        } else if (c == '[') {
            e = parse_index(p, e);
        } else if (c == '.') {
            script_expr *of = e;
            p->pos++;
            e = new_expr(p, EXPR_ATTR);
            str w = peek_word(p);
            p->pos += w.n;
            if (e) {
                e->of = of;
                e->s = w;
            }
        } else {
            return e;
        }
    }
    return e;
}

static script_expr *parse_expr(parser *p)
{
    if (p->depth >= SCRIPT_DEPTH)
        return fail_at(p, "nested too deeply");
    p->depth++;
    script_expr *e = parse_trailers(p);
    if (e && take_word(p, "if")) {
        script_expr *choice = new_expr(p, EXPR_CHOICE), *of = parse_expr(p);
        if (!choice || !of || !take_word(p, "else") || !add_item(p, choice, e) ||
            !add_item(p, choice, parse_expr(p)))
            return fail_at(p, "conditional expression without else");
        choice->of = of;
        e = choice;
    }
    p->depth--;
    return e;
}

/* ---- lines ---- */

/* Blanks before the next line with content, which is not consumed; -1 at the end. */
static int indent_of(parser *p)
{
    for (;;) {
        uint32_t n = 0;
        while (at(p, n) == ' ' || at(p, n) == '\t' || at(p, n) == '\r')
            n++;
        if (at(p, n) == '#')
            while (at(p, n) && at(p, n) != '\n')
                n++;
        if (!at(p, n))
            return -1;
        if (at(p, n) != '\n')
            return (int)n;
        p->pos += n + 1;
        p->line++;
    }
}

static bool end_line(parser *p)
{
    skip_blanks(p, false);
    if (at(p, 0) == ';')
        p->pos++;
    else if (at(p, 0) && at(p, 0) != '\n')
        return fail_at(p, "unsupported code") != NULL;
    return true;
}

/* ---- statements ---- */

static bool parse_block(parser *p, int outer, script_block *out);

static script_stmt *new_stmt(parser *p, script_form form)
{
    script_stmt *s = ARENA_NEW(p->a, script_stmt);
    if (!s)
        return fail_at(p, "out of memory");
    s->form = form;
    s->line = p->line;
    return s;
}

/* Several expressions with commas are a tuple. */
static script_expr *parse_tuple(parser *p, bool *tuple)
{
    script_expr *first = parse_expr(p), *list = NULL;
    *tuple = false;
    while (first && take(p, ',')) {
        *tuple = true;
        if (!list) {
            list = new_expr(p, EXPR_TUPLE);
            if (!list || !add_item(p, list, first))
                return NULL;
        }
        skip_blanks(p, false);
        if (at(p, 0) == '=' || at(p, 0) == '\n' || !at(p, 0))
            break;
        if (!add_item(p, list, parse_expr(p)))
            return NULL;
    }
    return list ? list : first;
}

static script_stmt *parse_simple(parser *p)
{
    script_stmt *s = new_stmt(p, FORM_EXPR);
    bool tuple, ignored;
    script_expr *e = s ? parse_tuple(p, &tuple) : NULL;
    if (!e)
        return NULL;
    if (take(p, ':') && !parse_expr(p)) /* a type */
        return NULL;
    s->value = e;
    if (take(p, '=')) {
        s->form = FORM_ASSIGN;
        s->tuple = tuple;
        for (uint32_t i = 0; tuple && i < e->items.n; i++)
            if (!VEC_ADD(p->a, &s->targets, e->items.items[i]))
                return fail_at(p, "out of memory");
        if (!tuple && !VEC_ADD(p->a, &s->targets, e))
            return fail_at(p, "out of memory");
        s->value = parse_tuple(p, &ignored);
    }
    return s->value && end_line(p) ? s : NULL;
}

static bool parse_body(parser *p, int indent, void *block)
{
    if (!take(p, ':') || !end_line(p))
        return fail_at(p, "block without a colon") != NULL;
    return parse_block(p, indent, block);
}

static script_stmt *parse_if(parser *p, int indent)
{
    script_stmt *s = new_stmt(p, FORM_IF);
    if (!s || !(s->value = parse_expr(p)) || !parse_body(p, indent, &s->body))
        return NULL;
    if (indent_of(p) == indent) {
        uint32_t before = p->pos;
        p->pos += (uint32_t)indent;
        if (take_word(p, "else"))
            return parse_body(p, indent, &s->other) ? s : NULL;
        p->pos = before;
    }
    return s;
}

static script_stmt *parse_loop(parser *p, int indent, script_form form)
{
    script_stmt *s = new_stmt(p, form);
    bool tuple;
    if (s && form == FORM_FOR) {
        script_expr *target = parse_tuple(p, &tuple);
        if (!target || tuple || !take_word(p, "in") || !VEC_ADD(p->a, &s->targets, target))
            return fail_at(p, "unsupported loop");
    }
    return s && (s->value = parse_expr(p)) && parse_body(p, indent, &s->body) ? s : NULL;
}

static script_stmt *parse_return(parser *p)
{
    script_stmt *s = new_stmt(p, FORM_RETURN);
    bool tuple;
    skip_blanks(p, false);
    if (s && at(p, 0) && at(p, 0) != '\n' && !(s->value = parse_tuple(p, &tuple)))
        return NULL;
    return s && end_line(p) ? s : NULL;
}

static script_stmt *parse_stmt(parser *p, int indent)
{
    static const char *const others[] = {"with",     "try",    "del",    "raise",  "break",
                                         "continue", "assert", "lambda", "import", "from"};
    str w = peek_word(p);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is(w, others[i]))
            return fail_at(p, "unsupported statement");
    if (take_word(p, "if"))
        return parse_if(p, indent);
    if (take_word(p, "while"))
        return parse_loop(p, indent, FORM_WHILE);
    if (take_word(p, "for"))
        return parse_loop(p, indent, FORM_FOR);
    if (take_word(p, "return"))
        return parse_return(p);
    if (take_word(p, "pass")) {
        script_stmt *s = new_stmt(p, FORM_PASS);
        return s && end_line(p) ? s : NULL;
    }
    return parse_simple(p);
}

static bool parse_block(parser *p, int outer, script_block *out)
{
    int indent = indent_of(p);
    if (indent <= outer)
        return fail_at(p, "an empty block") != NULL;
    if (p->depth >= SCRIPT_DEPTH)
        return fail_at(p, "nested too deeply") != NULL;
    p->depth++;
    while (!p->failed && indent_of(p) == indent) {
        p->pos += (uint32_t)indent;
        script_stmt *s = parse_stmt(p, indent);
        if (!s || !VEC_ADD(p->a, out, s))
            return fail_at(p, "out of memory") != NULL;
    }
    p->depth--;
    return !p->failed;
}

/* ---- functions and classes ---- */

static bool parse_param(parser *p, script_function *f)
{
    script_param x = {0};
    skip_blanks(p, true);
    x.name = peek_word(p);
    p->pos += x.name.n;
    if (!x.name.n)
        return fail_at(p, "parameter without a name") != NULL;
    if (take_inside(p, ':') && !(x.type = parse_expr(p)))
        return false;
    if (take_inside(p, '=') && !(x.value = parse_expr(p)))
        return false;
    return VEC_ADD(p->a, &f->params, x);
}

static script_function *parse_function(parser *p, int indent)
{
    script_function *f = ARENA_NEW(p->a, script_function);
    if (!f)
        return fail_at(p, "out of memory");
    f->name = peek_word(p);
    p->pos += f->name.n;
    if (!take(p, '('))
        return fail_at(p, "function without parameters");
    while (!take_inside(p, ')')) {
        if (!parse_param(p, f))
            return NULL;
        take_inside(p, ',');
    }
    skip_blanks(p, false);
    if (at(p, 0) == '-' && at(p, 1) == '>') {
        p->pos += 2;
        if (!parse_expr(p))
            return NULL;
    }
    return parse_body(p, indent, &f->body) ? f : NULL;
}

static bool parse_member(parser *p, script_class *c, int indent)
{
    if (take_word(p, "def")) {
        script_function *f = parse_function(p, indent);
        return f && VEC_ADD(p->a, &c->methods, f);
    }
    if (take_word(p, "pass"))
        return end_line(p);
    script_expr *name = parse_expr(p);
    if (name && take(p, ':') &&
        (!parse_expr(p) || (name->kind == EXPR_NAME && !VEC_ADD(p->a, &c->fields, name->s))))
        return false;
    script_constant x = {name ? name->s : (str){0}, NULL};
    if (name && take(p, '=') && !(x.value = parse_expr(p)))
        return false;
    if (name && x.value && name->kind == EXPR_NAME && !VEC_ADD(p->a, &c->constants, x))
        return false;
    return name && end_line(p);
}

static bool parse_class(parser *p, script_file *out)
{
    script_class *c = ARENA_NEW(p->a, script_class);
    if (!c || !VEC_ADD(p->a, &out->classes, c))
        return fail_at(p, "out of memory") != NULL;
    c->name = peek_word(p);
    p->pos += c->name.n;
    if (take(p, '(')) {
        c->base = peek_word(p);
        p->pos += c->base.n;
        if (!take_inside(p, ')'))
            return fail_at(p, "class with several bases") != NULL;
    }
    if (!take(p, ':') || !end_line(p))
        return fail_at(p, "class without a body") != NULL;
    int indent = indent_of(p);
    while (indent > 0 && !p->failed && indent_of(p) == indent) {
        p->pos += (uint32_t)indent;
        if (!parse_member(p, c, indent))
            return fail_at(p, "unsupported code in a class") != NULL;
    }
    return !p->failed;
}

static bool parse_top(parser *p, script_file *out)
{
    if (take_word(p, "class"))
        return parse_class(p, out);
    if (take_word(p, "def")) {
        script_function *f = parse_function(p, 0);
        return f && VEC_ADD(p->a, &out->functions, f);
    }
    return parse_simple(p) != NULL; /* op_version_set = 1 */
}

assay_status script_parse(str text, str module, arena *a, script_file *out, assay_error *err)
{
    parser p = {.text = text, .module = module, .line = 1, .a = a, .err = err};
    out->module = module;
    while (!p.failed && indent_of(&p) == 0)
        if (!parse_top(&p, out))
            fail_at(&p, "unsupported code");
    if (!p.failed && indent_of(&p) > 0)
        fail_at(&p, "a line that is indented");
    TRY_MEMORY(!arena_failed(a), err);
    for (uint32_t i = 0; !p.failed && i < out->functions.n; i++)
        out->functions.items[i]->file = out;
    for (uint32_t i = 0; !p.failed && i < out->classes.n; i++)
        for (uint32_t k = 0; k < out->classes.items[i]->methods.n; k++)
            out->classes.items[i]->methods.items[k]->file = out;
    return p.failed ? err->code : ASSAY_OK;
}
