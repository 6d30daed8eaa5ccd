/* The machine that pickles are programs for; see pickle.h. */
#include "formats/pickle.h"

#include <stdlib.h>
#include <string.h>

typedef struct machine {
    cursor *c;
    arena *a;
    VEC(pickle_value *) stack;
    VEC(pickle_value *) memo;
    uint32_t n_values;
    bool stopped;
} machine;

/* ---- values and the stack ---- */

static pickle_value *make(machine *m, pickle_kind kind)
{
    pickle_value *v = m->n_values++ < PICKLE_MAX_VALUES ? ARENA_NEW(m->a, pickle_value) : NULL;
    if (!v)
        cursor_fail(m->c, "pickle: too many values");
    else
        v->kind = kind;
    return v;
}

static void push(machine *m, pickle_value *v)
{
    if (v && !VEC_ADD(m->a, &m->stack, v))
        cursor_fail(m->c, "pickle: the stack is too deep");
}

static pickle_value *pop(machine *m)
{
    if (m->stack.n)
        return m->stack.items[--m->stack.n];
    cursor_fail(m->c, "pickle: a value is missing on the stack");
    return NULL;
}

static pickle_value *top(machine *m)
{
    pickle_value *v = pop(m);
    m->stack.n += v != NULL;
    return v;
}

static void add_item(machine *m, pickle_value *to, pickle_value *item)
{
    if (to && item && !VEC_ADD(m->a, &to->items, item))
        cursor_fail(m->c, "pickle: out of memory");
}

/* Where the last mark is; its items stand above it. */
static uint32_t last_mark(machine *m)
{
    for (uint32_t i = m->stack.n; i-- > 0;)
        if (m->stack.items[i]->kind == PICKLE_MARK)
            return i;
    cursor_fail(m->c, "pickle: no mark on the stack");
    return m->stack.n;
}

/* Moves what stands above the mark into `to` and takes the mark away. */
static void take_marked(machine *m, pickle_value *to, uint32_t mark)
{
    for (uint32_t i = mark + 1; i < m->stack.n; i++)
        add_item(m, to, m->stack.items[i]);
    m->stack.n = cursor_ok(m->c) ? mark : m->stack.n;
}

/* ---- arguments of operations ---- */

typedef enum argument {
    ARG_NONE,
    ARG_U1,
    ARG_U2,
    ARG_I4,
    ARG_U4,
    ARG_U8,
    ARG_F8,    /* big-endian double */
    ARG_LINE,  /* text up to a line feed */
    ARG_TEXT1, /* a length of 1, 4 or 8 bytes, then the text */
    ARG_TEXT4,
    ARG_TEXT8
} argument;

typedef struct given {
    int64_t n;
    double number;
    str text;    /* n is its length, which may be more than what is kept */
    uint64_t at; /* of the text */
    int p;       /* of the operation's row */
} given;

static uint64_t little(machine *m, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)cursor_u8(m->c) << (8 * i);
    return v;
}

static double big_double(machine *m)
{
    uint64_t bits = 0;
    double d;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | cursor_u8(m->c);
    memcpy(&d, &bits, sizeof d);
    return d;
}

static given take_text(machine *m, uint64_t n)
{
    given g = {.n = (int64_t)n, .at = m->c->pos};
    if (n > cursor_left(m->c))
        cursor_fail(m->c, "pickle: a text runs past the end");
    else if (n > PICKLE_MAX_TEXT)
        cursor_skip(m->c, n);
    else
        g.text = cursor_str(m->c, n, m->a, PICKLE_MAX_TEXT);
    return g;
}

static given take_line(machine *m)
{
    cursor ahead = *m->c;
    uint64_t n = 0;
    while (cursor_more(&ahead) && cursor_u8(&ahead) != '\n')
        n++;
    if (ahead.failed || n > PICKLE_MAX_TEXT || n >= cursor_left(m->c)) {
        cursor_fail(m->c, "pickle: unterminated line");
        return (given){0};
    }
    given g = take_text(m, n);
    cursor_skip(m->c, 1);
    if (n && g.text.p)
        g.n = strtoll(g.text.p, NULL, 10), g.number = strtod(g.text.p, NULL);
    return g;
}

static given take_argument(machine *m, argument kind)
{
    switch (kind) {
    case ARG_NONE:
        return (given){0};
    case ARG_U1:
        return (given){.n = (int64_t)little(m, 1)};
    case ARG_U2:
        return (given){.n = (int64_t)little(m, 2)};
    case ARG_I4:
        return (given){.n = (int32_t)(uint32_t)little(m, 4)};
    case ARG_U4:
        return (given){.n = (int64_t)little(m, 4)};
    case ARG_U8:
        return (given){.n = (int64_t)little(m, 8)};
    case ARG_F8:
        return (given){.number = big_double(m)};
    case ARG_LINE:
        return take_line(m);
    case ARG_TEXT1:
        return take_text(m, little(m, 1));
    case ARG_TEXT4:
        return take_text(m, little(m, 4));
    case ARG_TEXT8:
        return take_text(m, little(m, 8));
    }
    return (given){0};
}

/* ---- operations ---- */

static void op_nothing(machine *m, const given *g)
{
    (void)m;
    (void)g;
}

static void op_stop(machine *m, const given *g)
{
    (void)g;
    m->stopped = true;
}

static void push_whole(machine *m, pickle_kind kind, int64_t n)
{
    pickle_value *v = make(m, kind);
    if (v)
        v->whole = n;
    push(m, v);
}

static void op_int(machine *m, const given *g)
{
    push_whole(m, PICKLE_INT, g->n);
}

/* "I01" and "I00" are true and false. */
static void op_int_line(machine *m, const given *g)
{
    bool is_bool = str_is(g->text, "00") || str_is(g->text, "01");
    push_whole(m, is_bool ? PICKLE_BOOL : PICKLE_INT, g->n);
}

static void op_bool(machine *m, const given *g)
{
    push_whole(m, PICKLE_BOOL, g->p);
}

static void op_float(machine *m, const given *g)
{
    pickle_value *v = make(m, PICKLE_FLOAT);
    if (v)
        v->number = g->number;
    push(m, v);
}

/* Two's complement, least byte first. Numbers above 64 bits keep their low ones. */
static void op_long(machine *m, const given *g)
{
    uint64_t v = 0;
    uint32_t n = g->text.n;
    for (uint32_t i = 0; i < n && i < 8; i++)
        v |= (uint64_t)(uint8_t)g->text.p[i] << (8 * i);
    if (n && n < 8 && (g->text.p[n - 1] & 0x80))
        v |= UINT64_MAX << (8 * n);
    push_whole(m, PICKLE_INT, (int64_t)v);
}

static void push_text(machine *m, pickle_kind kind, const given *g)
{
    pickle_value *v = make(m, kind);
    if (v) {
        v->text = g->text;
        v->whole = g->n;
        v->at = g->at;
    }
    push(m, v);
}

static void op_text(machine *m, const given *g)
{
    push_text(m, (pickle_kind)g->p, g);
}

/* 'text' in quotes. */
static void op_string_line(machine *m, const given *g)
{
    given inner = *g;
    if (inner.text.n >= 2)
        inner.text = (str){inner.text.p + 1, inner.text.n - 2};
    push_text(m, PICKLE_TEXT, &inner);
}

static void push_empty(machine *m, pickle_kind kind)
{
    pickle_value *v = make(m, kind);
    if (v)
        v->pairs = kind == PICKLE_DICT;
    push(m, v);
}

/* A value without content: of a list or dict, items may follow. */
static void op_empty(machine *m, const given *g)
{
    push_empty(m, (pickle_kind)g->p);
}

static void push_marked(machine *m, pickle_kind kind)
{
    pickle_value *v = make(m, kind);
    uint32_t mark = last_mark(m);
    if (v)
        v->pairs = kind == PICKLE_DICT;
    take_marked(m, v, mark);
    push(m, v);
}

static void op_marked(machine *m, const given *g)
{
    push_marked(m, (pickle_kind)g->p);
}

/* Of the last g->p values. */
static void op_tuple_of(machine *m, const given *g)
{
    const uint32_t n = (uint32_t)g->p;
    pickle_value *v = make(m, PICKLE_TUPLE);
    if (m->stack.n < n)
        cursor_fail(m->c, "pickle: a value is missing on the stack");
    for (uint32_t i = 0; cursor_ok(m->c) && i < n; i++)
        add_item(m, v, m->stack.items[m->stack.n - n + i]);
    m->stack.n -= cursor_ok(m->c) ? n : 0;
    push(m, v);
}

static void op_append(machine *m, const given *g)
{
    (void)g;
    pickle_value *item = pop(m);
    add_item(m, top(m), item);
}

static void op_set_item(machine *m, const given *g)
{
    (void)g;
    pickle_value *value = pop(m), *key = pop(m), *to = top(m);
    if (to)
        to->pairs = true;
    add_item(m, to, key);
    add_item(m, to, value);
}

/* Everything above the mark goes into what stands below it. */
static void op_extend(machine *m, const given *g)
{
    const bool pairs = g->p != 0;
    uint32_t mark = last_mark(m);
    if (!cursor_ok(m->c) || mark == 0) {
        cursor_fail(m->c, "pickle: items without a list");
        return;
    }
    pickle_value *to = m->stack.items[mark - 1];
    if (pairs && (m->stack.n - mark - 1) % 2)
        cursor_fail(m->c, "pickle: a key without a value");
    to->pairs |= pairs;
    take_marked(m, to, mark);
}

static void op_pop(machine *m, const given *g)
{
    (void)g;
    (void)pop(m);
}

static void op_pop_mark(machine *m, const given *g)
{
    (void)g;
    uint32_t mark = last_mark(m);
    m->stack.n = cursor_ok(m->c) ? mark : m->stack.n;
}

static void op_twice(machine *m, const given *g)
{
    (void)g;
    push(m, top(m));
}

/* ---- the memo ---- */

static void remember(machine *m, int64_t at)
{
    pickle_value *v = top(m);
    if (at < 0 || at >= PICKLE_MAX_MEMO)
        cursor_fail(m->c, "pickle: a memo number above the limit");
    while (cursor_ok(m->c) && m->memo.n <= at)
        if (!VEC_ADD(m->a, &m->memo, NULL))
            cursor_fail(m->c, "pickle: out of memory");
    if (cursor_ok(m->c))
        m->memo.items[at] = v;
}

static void op_put(machine *m, const given *g)
{
    remember(m, g->n);
}

static void op_memoize(machine *m, const given *g)
{
    (void)g;
    remember(m, m->memo.n);
}

static void op_get(machine *m, const given *g)
{
    if (g->n < 0 || g->n >= m->memo.n || !m->memo.items[g->n])
        cursor_fail(m->c, "pickle: a memo number that was not set");
    else
        push(m, m->memo.items[g->n]);
}

/* ---- globals and calls, which stay descriptions ---- */

static void push_global(machine *m, str module, str name)
{
    pickle_value *v = make(m, PICKLE_GLOBAL);
    if (v)
        v->text = str_printf(m->a, STR_FMT "." STR_FMT, STR_ARG(module), STR_ARG(name));
    push(m, v);
}

static void op_global(machine *m, const given *g)
{
    const given name = take_line(m);
    push_global(m, g->text, name.text);
}

static void op_stack_global(machine *m, const given *g)
{
    (void)g;
    const pickle_value *name = pop(m), *module = pop(m);
    if (name && module)
        push_global(m, module->text, name->text);
}

static void push_object(machine *m, pickle_value *of, pickle_value *args)
{
    pickle_value *v = of && args ? make(m, PICKLE_OBJECT) : NULL;
    if (v) {
        v->of = of;
        v->args = args;
    }
    push(m, v);
}

static void op_reduce(machine *m, const given *g)
{
    (void)g;
    pickle_value *args = pop(m), *of = pop(m);
    push_object(m, of, args);
}

static void op_new_with_names(machine *m, const given *g)
{
    (void)g;
    (void)pop(m); /* arguments by name */
    pickle_value *args = pop(m), *of = pop(m);
    push_object(m, of, args);
}

/* The class is the first item above the mark. */
static void op_object(machine *m, const given *g)
{
    (void)g;
    pickle_value *args = make(m, PICKLE_TUPLE);
    uint32_t mark = last_mark(m);
    if (!cursor_ok(m->c) || mark + 1 >= m->stack.n) {
        cursor_fail(m->c, "pickle: object without a class");
        return;
    }
    pickle_value *of = m->stack.items[mark + 1];
    m->stack.items[mark + 1] = m->stack.items[mark];
    take_marked(m, args, mark + 1);
    m->stack.n = cursor_ok(m->c) ? mark : m->stack.n;
    push_object(m, of, args);
}

static void op_instance(machine *m, const given *g)
{
    const given name = take_line(m);
    push_marked(m, PICKLE_TUPLE);
    pickle_value *args = pop(m);
    push_global(m, g->text, name.text);
    push_object(m, pop(m), args);
}

static void op_build(machine *m, const given *g)
{
    (void)g;
    pickle_value *state = pop(m), *of = top(m);
    if (of && state)
        of->state = state;
}

static void push_persistent(machine *m, pickle_value *id)
{
    pickle_value *v = id ? make(m, PICKLE_PERSISTENT) : NULL;
    if (v)
        v->of = id;
    push(m, v);
}

static void op_persistent(machine *m, const given *g)
{
    (void)g;
    push_persistent(m, pop(m));
}

static void op_persistent_line(machine *m, const given *g)
{
    push_text(m, PICKLE_TEXT, g);
    push_persistent(m, pop(m));
}

/* ---- the table ---- */

typedef struct operation {
    argument argument;
    void (*run)(machine *m, const given *g);
    int p; /* what tells operations of one function apart: a kind, a truth, a number */
} operation;

static const operation operations[256] = {
    [0x80] = {ARG_U1, op_nothing, 0}, /* PROTO */
    [0x95] = {ARG_U8, op_nothing, 0}, /* FRAME */
    ['.'] = {ARG_NONE, op_stop, 0},
    ['('] = {ARG_NONE, op_empty, PICKLE_MARK},
    ['0'] = {ARG_NONE, op_pop, 0},
    ['1'] = {ARG_NONE, op_pop_mark, 0},
    ['2'] = {ARG_NONE, op_twice, 0},
    ['N'] = {ARG_NONE, op_empty, PICKLE_NONE},
    [0x88] = {ARG_NONE, op_bool, 1},
    [0x89] = {ARG_NONE, op_bool, 0},
    ['I'] = {ARG_LINE, op_int_line, 0},
    ['L'] = {ARG_LINE, op_int, 0},
    ['J'] = {ARG_I4, op_int, 0},
    ['K'] = {ARG_U1, op_int, 0},
    ['M'] = {ARG_U2, op_int, 0},
    [0x8a] = {ARG_TEXT1, op_long, 0},
    [0x8b] = {ARG_TEXT4, op_long, 0},
    ['F'] = {ARG_LINE, op_float, 0},
    ['G'] = {ARG_F8, op_float, 0},
    ['S'] = {ARG_LINE, op_string_line, 0},
    ['T'] = {ARG_TEXT4, op_text, PICKLE_TEXT},
    ['U'] = {ARG_TEXT1, op_text, PICKLE_TEXT},
    ['V'] = {ARG_LINE, op_text, PICKLE_TEXT},
    ['X'] = {ARG_TEXT4, op_text, PICKLE_TEXT},
    [0x8c] = {ARG_TEXT1, op_text, PICKLE_TEXT},
    [0x8d] = {ARG_TEXT8, op_text, PICKLE_TEXT},
    ['B'] = {ARG_TEXT4, op_text, PICKLE_BYTES},
    ['C'] = {ARG_TEXT1, op_text, PICKLE_BYTES},
    [0x8e] = {ARG_TEXT8, op_text, PICKLE_BYTES},
    [0x96] = {ARG_TEXT8, op_text, PICKLE_BYTES},
    [0x97] = {ARG_NONE, op_empty, PICKLE_NONE}, /* NEXT_BUFFER: bytes that stand elsewhere */
    [0x98] = {ARG_NONE, op_nothing, 0},         /* READONLY_BUFFER */
    [')'] = {ARG_NONE, op_empty, PICKLE_TUPLE},
    [']'] = {ARG_NONE, op_empty, PICKLE_LIST},
    ['}'] = {ARG_NONE, op_empty, PICKLE_DICT},
    [0x8f] = {ARG_NONE, op_empty, PICKLE_LIST}, /* EMPTY_SET */
    ['t'] = {ARG_NONE, op_marked, PICKLE_TUPLE},
    ['l'] = {ARG_NONE, op_marked, PICKLE_LIST},
    ['d'] = {ARG_NONE, op_marked, PICKLE_DICT},
    [0x91] = {ARG_NONE, op_marked, PICKLE_LIST}, /* FROZENSET */
    [0x85] = {ARG_NONE, op_tuple_of, 1},
    [0x86] = {ARG_NONE, op_tuple_of, 2},
    [0x87] = {ARG_NONE, op_tuple_of, 3},
    ['a'] = {ARG_NONE, op_append, 0},
    ['e'] = {ARG_NONE, op_extend, false},
    [0x90] = {ARG_NONE, op_extend, false}, /* ADDITEMS */
    ['s'] = {ARG_NONE, op_set_item, 0},
    ['u'] = {ARG_NONE, op_extend, true},
    ['p'] = {ARG_LINE, op_put, 0},
    ['q'] = {ARG_U1, op_put, 0},
    ['r'] = {ARG_U4, op_put, 0},
    [0x94] = {ARG_NONE, op_memoize, 0},
    ['g'] = {ARG_LINE, op_get, 0},
    ['h'] = {ARG_U1, op_get, 0},
    ['j'] = {ARG_U4, op_get, 0},
    ['c'] = {ARG_LINE, op_global, 0},
    [0x93] = {ARG_NONE, op_stack_global, 0},
    ['R'] = {ARG_NONE, op_reduce, 0},
    [0x81] = {ARG_NONE, op_reduce, 0}, /* NEWOBJ */
    [0x92] = {ARG_NONE, op_new_with_names, 0},
    ['o'] = {ARG_NONE, op_object, 0},
    ['i'] = {ARG_LINE, op_instance, 0},
    ['b'] = {ARG_NONE, op_build, 0},
    ['P'] = {ARG_LINE, op_persistent_line, 0},
    ['Q'] = {ARG_NONE, op_persistent, 0},
};
static void step(machine *m)
{
    const operation *o = &operations[cursor_u8(m->c)];
    if (!o->run) {
        cursor_fail(m->c, "pickle: unknown operation");
        return;
    }
    given g = take_argument(m, o->argument);
    g.p = o->p;
    if (cursor_ok(m->c))
        o->run(m, &g);
}

assay_status pickle_read(cursor *c, arena *a, pickle_value **out)
{
    machine m = {.c = c, .a = a};
    while (cursor_more(c) && !m.stopped)
        step(&m);
    if (cursor_ok(c) && !m.stopped)
        cursor_fail(c, "pickle: it ends without a result");
    *out = cursor_ok(c) ? pop(&m) : NULL;
    TRY_MEMORY(!arena_failed(a), c->err);
    return cursor_ok(c) ? ASSAY_OK : c->err->code;
}

/* ---- looking ---- */

static const pickle_value *find_pair(const pickle_value *v, const char *key)
{
    for (uint32_t i = 0; v && v->pairs && i + 1 < v->items.n; i += 2)
        if (v->items.items[i]->kind == PICKLE_TEXT && str_is(v->items.items[i]->text, key))
            return v->items.items[i + 1];
    return NULL;
}

const pickle_value *pickle_get(const pickle_value *v, const char *key)
{
    const pickle_value *found = find_pair(v, key);
    return found || !v || v->kind != PICKLE_OBJECT ? found : find_pair(v->state, key);
}

const pickle_value *pickle_item(const pickle_value *v, uint32_t i)
{
    return v && i < v->items.n ? v->items.items[i] : NULL;
}
