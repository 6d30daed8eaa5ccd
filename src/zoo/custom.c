/* Custom models: a JSON tree of layers walked in order, every tensor going through the same builder as
 * those of the catalogue.
 *
 * A layer is {"KIND": SETTINGS, "name": ...} or just "KIND"; without a name it is called by its place in
 * its list, as PyTorch's Sequential does. Lists inside the tree are sequences, branches or repetitions.
 */
#include "zoo/custom.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/sbuf.h"
#include "zoo/custom_impl.h"

enum { STEPS_MAX = 200000, BRANCHES_MAX = 64, REPEAT_MAX = 10000 };

static nn_t sequence(custom *c, const json_value *list, nn_t x);

/* ---- places and failures ---- */

void custom_fail(const custom *c, const char *fmt, ...)
{
    char text[384];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    nn_fail(c->b, "%s: %s", *c->path ? c->path : "the model", text);
}

/* Appends to the path; returns what to give to leave_path(). */
static uint32_t enter_path(custom *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static uint32_t enter_path(custom *c, const char *fmt, ...)
{
    uint32_t before = c->path_n;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(c->path + before, sizeof c->path - before, fmt, ap);
    va_end(ap);
    uint32_t room = (uint32_t)sizeof c->path - 1 - before;
    c->path_n = before + (n < 0 ? 0 : (uint32_t)n < room ? (uint32_t)n : room);
    return before;
}

static void leave_path(custom *c, uint32_t before)
{
    c->path_n = before;
    c->path[before] = 0;
}

/* ---- settings ---- */

static bool is_first_key(const custom_row *row, const char *key)
{
    size_t n = strlen(key);
    return strncmp(row->keys, key, n) == 0 && (row->keys[n] == ' ' || row->keys[n] == 0);
}

static void check_settings(const custom_layer *l)
{
    const json_value *s = l->settings;
    if (s && s->kind != JSON_OBJECT && !*l->row->keys)
        custom_fail(l->c, "%s has no settings", l->row->name);
    for (uint32_t i = 0; s && s->kind == JSON_OBJECT && i < s->n; i++)
        if (!str_in_list(s->items[i].key, l->row->keys, ' '))
            custom_fail(l->c, "%s has no setting '" STR_FMT "'. It has: %s.", l->row->name,
                        STR_ARG(s->items[i].key), *l->row->keys ? l->row->keys : "none");
}

const json_value *custom_get(const custom_layer *l, const char *key)
{
    const json_value *s = l->settings;
    if (!s || s->kind == JSON_NULL)
        return NULL;
    if (s->kind != JSON_OBJECT)
        return is_first_key(l->row, key) ? s : NULL;
    const json_value *v = json_get(s, key);
    return v && v->kind != JSON_NULL ? v : NULL;
}

static int64_t whole(const custom_layer *l, const char *key, const json_value *v, int64_t min,
                     int64_t max)
{
    bool fits = v->kind == JSON_INT || (v->kind == JSON_REAL && v->f == floor(v->f));
    if (fits && v->f >= (double)min && v->f <= (double)max)
        return v->kind == JSON_INT ? v->i : (int64_t)v->f;
    custom_fail(l->c, "%s must be a whole number, %lld to %lld", key, (long long)min,
                (long long)max);
    return min;
}

int64_t custom_int(const custom_layer *l, const char *key, int64_t def, int64_t min, int64_t max)
{
    const json_value *v = custom_get(l, key);
    if (v)
        return whole(l, key, v, min, max);
    if (def != CUSTOM_NEEDED)
        return def;
    custom_fail(l->c, "%s needs '%s'", l->row->name, key);
    return min;
}

double custom_real(const custom_layer *l, const char *key, double def)
{
    const json_value *v = custom_get(l, key);
    if (v && !json_is_number(v))
        custom_fail(l->c, "%s must be a number", key);
    return v ? v->f : def;
}

bool custom_bool(const custom_layer *l, const char *key, bool def)
{
    const json_value *v = custom_get(l, key);
    if (v && v->kind != JSON_BOOL)
        custom_fail(l->c, "%s must be true or false", key);
    return v ? v->i != 0 : def;
}

str custom_word(const custom_layer *l, const char *key, const char *def)
{
    const json_value *v = custom_get(l, key);
    if (v && v->kind != JSON_TEXT)
        custom_fail(l->c, "%s must be a string", key);
    return v && v->kind == JSON_TEXT ? v->s : str_of(def);
}

void custom_ints(const custom_layer *l, const char *key, int64_t def, int n, int64_t *out,
                 int64_t min, int64_t max)
{
    const json_value *v = custom_get(l, key);
    bool list = v && v->kind == JSON_LIST;
    if (list && v->n != (uint32_t)n) {
        custom_fail(l->c, "%s must be one number or a list of %d", key, n);
        v = NULL;
    }
    for (int i = 0; i < n; i++)
        out[i] = !v ? def : whole(l, key, list ? &v->items[i] : v, min, max);
}

int custom_list(const custom_layer *l, const char *key, int64_t *out, int max_n)
{
    const json_value *v = custom_get(l, key);
    if (!v)
        return 0;
    bool list = v->kind == JSON_LIST;
    int n = list ? (int)v->n : 1;
    if (n > max_n) {
        custom_fail(l->c, "%s has more than %d items", key, max_n);
        return 0;
    }
    for (int i = 0; i < n; i++)
        out[i] = whole(l, key, list ? &v->items[i] : v, -CUSTOM_MAX, CUSTOM_MAX);
    return n;
}

bool custom_rank(const custom_layer *l, nn_t x, int min, int max)
{
    if (x.rank >= min && x.rank <= max)
        return nn_ok(l->c->b);
    if (min == max)
        custom_fail(l->c, "%s needs an input of rank %d, not %d", l->row->name, min, x.rank);
    else
        custom_fail(l->c, "%s needs an input of rank %d to %d, not %d", l->row->name, min, max,
                    x.rank);
    return false;
}

/* ---- layers that hold layers ---- */

static nn_t in_scope(custom *c, const char *name, const json_value *list, nn_t x)
{
    nn_push(c->b, "%s", name);
    x = sequence(c, list, x);
    nn_pop(c->b);
    return x;
}

static nn_t build_sequence(const custom_layer *l, nn_t x)
{
    return in_scope(l->c, l->name, l->settings, x);
}

/* {"residual": [...], "shortcut": [...]}: what the list gives, plus what came in. */
static nn_t build_residual(const custom_layer *l, nn_t x)
{
    nn_push(l->c->b, "%s", l->name);
    nn_t y = sequence(l->c, l->settings, x);
    y = nn_add(l->c->b, "add", y, x);
    nn_pop(l->c->b);
    return y;
}

static int branches(const custom_layer *l, nn_t x, nn_t *out)
{
    const json_value *s = l->settings;
    if (!s || s->kind != JSON_LIST || s->n < 2 || s->n > BRANCHES_MAX) {
        custom_fail(l->c, "%s must be a list of 2 to %d lists of layers", l->row->name,
                    BRANCHES_MAX);
        return 0;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        char name[24];
        snprintf(name, sizeof name, "branch%u", i + 1);
        uint32_t before = enter_path(l->c, "[%u]", i);
        out[i] = in_scope(l->c, name, &s->items[i], x);
        leave_path(l->c, before);
    }
    return nn_ok(l->c->b) ? (int)s->n : 0;
}

static nn_t build_concat(const custom_layer *l, nn_t x)
{
    nn_t parts[BRANCHES_MAX];
    nn_push(l->c->b, "%s", l->name);
    int n = branches(l, x, parts);
    /* Channels stand second in maps and last in rows of tokens. */
    if (n > 0)
        x = nn_concat(l->c->b, "concat", n, parts, parts[0].rank == 3 ? 2 : 1);
    nn_pop(l->c->b);
    return x;
}

static nn_t fold(const custom_layer *l, nn_t x, const char *op, const char *name)
{
    nn_t parts[BRANCHES_MAX];
    nn_push(l->c->b, "%s", l->name);
    int n = branches(l, x, parts);
    for (int i = 1; i < n; i++)
        parts[0] = nn_binary(l->c->b, op, name, parts[0], parts[i]);
    nn_pop(l->c->b);
    return n > 0 ? parts[0] : x;
}

static nn_t build_add(const custom_layer *l, nn_t x)
{
    return fold(l, x, "Add", "add");
}

static nn_t build_mul(const custom_layer *l, nn_t x)
{
    return fold(l, x, "Mul", "mul");
}

static const custom_row container_rows[] = {
    {.name = "sequence", .keys = "layers", .build = build_sequence},
    {.name = "residual", .keys = "layers", .build = build_residual},
    {.name = "concat", .keys = "branches", .build = build_concat},
    {.name = "add", .keys = "branches", .build = build_add},
    {.name = "mul", .keys = "branches", .build = build_mul},
};
static const custom_rows containers = {container_rows,
                                       sizeof container_rows / sizeof *container_rows};
static const custom_rows *const all_rows[] = {&containers, &custom_plain_rows, &custom_block_rows};

/* ---- one layer ---- */

static const custom_row *find_row(str kind)
{
    for (size_t t = 0; t < sizeof all_rows / sizeof *all_rows; t++)
        for (uint32_t i = 0; i < all_rows[t]->n; i++)
            if (str_is(kind, all_rows[t]->rows[i].name))
                return &all_rows[t]->rows[i];
    return NULL;
}

static void unknown_kind(const custom *c, str kind)
{
    const char *near = NULL;
    unsigned least = kind.n / 3 + 1;
    for (size_t t = 0; t < sizeof all_rows / sizeof *all_rows; t++)
        for (uint32_t i = 0; i < all_rows[t]->n; i++) {
            unsigned d = str_distance(kind, str_of(all_rows[t]->rows[i].name), least);
            if (d <= least && (!near || d < least)) {
                near = all_rows[t]->rows[i].name;
                least = d;
            }
        }
    custom_fail(c, "unknown layer '" STR_FMT "'%s%s%s", STR_ARG(kind),
                near ? ". Did you mean '" : ". docs/custom-models.md lists the layers.",
                near ? near : "", near ? "'?" : "");
}

static nn_t build_layer(custom *c, str kind, const json_value *settings, const char *name, nn_t x)
{
    const custom_row *row = find_row(kind);
    uint32_t before = enter_path(c, "." STR_FMT, STR_ARG(kind));
    custom_layer l = {.c = c, .row = row, .settings = settings, .name = name};
    if (!row)
        unknown_kind(c, kind);
    else if (row->build != build_sequence && row->build != build_residual)
        check_settings(&l);
    if (row && nn_ok(c->b))
        x = row->build(&l, x);
    leave_path(c, before);
    return x;
}

/* Repetitions multiply; what is never reached cannot take for ever. */
static bool one_more(custom *c)
{
    if (++c->steps > STEPS_MAX)
        custom_fail(c, "the model has more than %d layers, repeats included", STEPS_MAX);
    return nn_ok(c->b);
}

/* {"repeat": 3, "layers": [...]}: numbered like a separate list. */
static nn_t repeat(custom *c, const json_value *times, const json_value *layers, const char *name,
                   nn_t x)
{
    if (times->kind != JSON_INT || times->i < 1 || times->i > REPEAT_MAX || !layers) {
        custom_fail(c, "repeat must be 1 to %d, next to a list \"layers\"", REPEAT_MAX);
        return x;
    }
    uint32_t before = enter_path(c, ".layers");
    nn_push(c->b, "%s", name);
    for (int64_t i = 0; i < times->i && one_more(c); i++) {
        nn_push(c->b, "%d", (int)i);
        x = sequence(c, layers, x);
        nn_pop(c->b);
    }
    nn_pop(c->b);
    leave_path(c, before);
    return x;
}

static bool name_fits(str name)
{
    for (uint32_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < 0x21 || (unsigned char)name.p[i] > 0x7e)
            return false;
    return name.n > 0 && name.n <= 100;
}

/* The one key that is neither the name nor a repetition's list. */
static const str *kind_of(const custom *c, const json_value *object, const json_value **settings)
{
    const str *kind = NULL;
    for (uint32_t i = 0; i < object->n; i++) {
        if (str_is(object->items[i].key, "name"))
            continue;
        if (kind) {
            custom_fail(c, "a layer must have one kind, not '" STR_FMT "' and '" STR_FMT "'",
                        STR_ARG(*kind), STR_ARG(object->items[i].key));
            return NULL;
        }
        kind = &object->items[i].key;
        *settings = &object->items[i];
    }
    if (!kind)
        custom_fail(c, "layer without a kind. Name it, as in {\"relu\": {}}.");
    return kind;
}

static nn_t layer_of_object(custom *c, const json_value *object, const char *name, nn_t x)
{
    const json_value *given = json_get(object, "name"), *settings = NULL;
    if (given && (given->kind != JSON_TEXT || !name_fits(given->s))) {
        custom_fail(c, "name must be a string of up to 100 plain characters");
        return x;
    }
    name = given ? given->s.p : name;
    if (json_get(object, "repeat"))
        return repeat(c, json_get(object, "repeat"), json_get(object, "layers"), name, x);
    const str *kind = kind_of(c, object, &settings);
    return kind ? build_layer(c, *kind, settings, name, x) : x;
}

static nn_t build_item(custom *c, const json_value *layer, uint32_t index, nn_t x)
{
    char name[16];
    snprintf(name, sizeof name, "%u", index);
    if (!one_more(c))
        return x;
    if (layer->kind == JSON_TEXT)
        return build_layer(c, layer->s, NULL, name, x);
    if (layer->kind == JSON_OBJECT)
        return layer_of_object(c, layer, name, x);
    custom_fail(c,
                "a layer must be an object such as {\"linear\": 10} or a string such as \"relu\"");
    return x;
}

static nn_t sequence(custom *c, const json_value *list, nn_t x)
{
    if (!list || list->kind != JSON_LIST) {
        custom_fail(c, "expected a list of layers");
        return x;
    }
    for (uint32_t i = 0; i < list->n && nn_ok(c->b); i++) {
        uint32_t before = enter_path(c, "[%u]", i);
        x = build_item(c, &list->items[i], i, x);
        leave_path(c, before);
    }
    return x;
}

/* ---- the model ---- */

static nn_t custom_input(custom *c)
{
    const json_value *v = nn_raw(c->b, "input"), *dims = v;
    ir_dtype t = IR_FLOAT32;
    if (v && v->kind == JSON_OBJECT) {
        const json_value *type = json_get(v, "dtype");
        dims = json_get(v, "shape");
        t = type && type->kind == JSON_TEXT ? ir_dtype_by_name(type->s) : type ? IR_UNDEFINED : t;
    }
    int64_t d[NN_RANK] = {1};
    int n = dims && dims->kind == JSON_LIST && dims->n <= NN_RANK ? (int)dims->n : 0;
    for (int i = 0; i < n; i++) {
        d[i] = dims->items[i].i;
        if (dims->items[i].kind != JSON_INT || d[i] < 1 || d[i] > CUSTOM_MAX)
            n = 0;
    }
    if (n == 0 || t == IR_UNDEFINED)
        nn_fail(c->b, "input: must be a shape such as [1, 3, 224, 224], or {\"dtype\": \"int64\", "
                      "\"shape\": [1, 128]}");
    return nn_input(c->b, "input", t, n ? n : 1, d);
}

static void build_custom(nn *b)
{
    custom c = {.b = b};
    nn_t x = custom_input(&c);
    enter_path(&c, "layers");
    x = sequence(&c, nn_raw(b, "layers"), x);
    nn_output(b, x, "output");
}

const zoo_row zoo_custom_row = {
    .name = "custom", .family = "custom", .task = "custom", .build = build_custom, .defaults = ""};
