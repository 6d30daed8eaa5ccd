/* Reads the parameters of an architecture: getters for builders, and messages for invalid values. Synonyms of some
 * keys are accepted.
 */
#include <math.h>

#include "zoo/nn_impl.h"

static const char *const synonyms[][2] = {
    {"num_classes", "classes"},
    {"image_size", "img_size"},
    {"in_chans", "in_channels"},
    {"width_mult", "width"},
};

static zoo_arg *take_arg(nn *b, const char *key)
{
    zoo_arg *arg = zoo_args_get(&b->args, key);
    (void)VEC_ADD(b->scratch, &b->asked, key);
    if (arg)
        arg->used = true;
    return arg;
}

/* The user's word beats the row's, whichever of two synonyms it was said with. */
static zoo_arg *find_arg(nn *b, const char *key)
{
    zoo_arg *best = take_arg(b, key);
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        if (strcmp(synonyms[i][0], key) != 0 && strcmp(synonyms[i][1], key) != 0)
            continue;
        zoo_arg *other = take_arg(b, synonyms[i][strcmp(synonyms[i][0], key) == 0]);
        if (other && (!best || (best->is_default && !other->is_default)))
            best = other;
    }
    return best && best->value.kind != JSON_NULL ? best : NULL;
}

void nn_tell_asked(nn *b, const char *key, json_value v)
{
    zoo_asked_list *to = b->request->asked;
    for (uint32_t i = 0; to && i < to->list.n; i++)
        if (strcmp(to->list.items[i].key, key) == 0)
            return;
    if (to)
        (void)VEC_ADD(to->arena, &to->list, ((zoo_asked){key, v}));
}

static void wrong_kind(nn *b, const char *key, const char *wanted, const json_value *v)
{
    if (v->kind == JSON_TEXT)
        nn_fail(b, "parameter '%s' must be %s, not '" STR_FMT "'", key, wanted, STR_ARG(v->s));
    else
        nn_fail(b, "parameter '%s' must be %s, not %s", key, wanted, json_kind_name(v->kind));
}

static bool to_int(const json_value *v, int64_t *out)
{
    bool whole = v->kind == JSON_REAL && v->f >= -9e15 && v->f <= 9e15 && v->f == floor(v->f);
    if (v->kind != JSON_INT && !whole)
        return false;
    *out = v->kind == JSON_INT ? v->i : (int64_t)v->f;
    return true;
}

int64_t nn_int(nn *b, const char *key, int64_t def)
{
    const zoo_arg *arg = find_arg(b, key);
    int64_t v = def;
    if (arg && !to_int(&arg->value, &v))
        wrong_kind(b, key, "a whole number", &arg->value);
    nn_tell_asked(b, key, json_of_int(v));
    return b->failed ? def : v;
}

int64_t nn_int_in(nn *b, const char *key, int64_t def, int64_t min, int64_t max)
{
    int64_t v = nn_int(b, key, def);
    if (v >= min && v <= max)
        return v;
    nn_fail(b, "parameter '%s' is %lld; it must be %lld to %lld", key, (long long)v, (long long)min,
            (long long)max);
    return def < min ? min : def > max ? max : def;
}

double nn_real(nn *b, const char *key, double def)
{
    const zoo_arg *arg = find_arg(b, key);
    double v = arg && json_is_number(&arg->value) ? arg->value.f : def;
    if (arg && !b->failed && !json_is_number(&arg->value))
        wrong_kind(b, key, "a number", &arg->value);
    nn_tell_asked(b, key, (json_value){.kind = JSON_REAL, .f = v});
    return b->failed ? def : v;
}

double nn_real_in(nn *b, const char *key, double def, double min, double max)
{
    double v = nn_real(b, key, def);
    if (v >= min && v <= max)
        return v;
    nn_fail(b, "parameter '%s' is %g; it must be %g to %g", key, v, min, max);
    return def;
}

bool nn_bool(nn *b, const char *key, bool def)
{
    const zoo_arg *arg = find_arg(b, key);
    if (!arg || b->failed)
        return def;
    if (arg->value.kind == JSON_BOOL || (arg->value.kind == JSON_INT && (arg->value.i | 1) == 1))
        return arg->value.i != 0;
    wrong_kind(b, key, "true or false", &arg->value);
    return def;
}

str nn_word(nn *b, const char *key, const char *def)
{
    const zoo_arg *arg = find_arg(b, key);
    if (!arg || b->failed)
        return str_of(def);
    if (arg->value.kind == JSON_TEXT)
        return arg->value.s;
    wrong_kind(b, key, "a word", &arg->value);
    return str_of(def);
}

/* The items of a list, or a single value as a list of one; NULL when absent or failed. */
static const json_value *items_of(nn *b, const char *key, int max, int *n)
{
    const zoo_arg *arg = find_arg(b, key);
    if (!arg || b->failed)
        return NULL;
    bool list = arg->value.kind == JSON_LIST;
    *n = list ? (int)arg->value.n : 1;
    if (*n > max) {
        nn_fail(b, "parameter '%s' has %d items; the limit is %d", key, *n, max);
        return NULL;
    }
    return list ? arg->value.items : &arg->value;
}

static void tell_list(nn *b, const char *key, const int64_t *list, int n)
{
    json_value v = {.kind = JSON_LIST, .n = (uint32_t)n};
    if (!b->request->asked || n <= 0)
        return;
    json_value *items = ARENA_ARRAY(b->request->asked->arena, json_value, (size_t)n);
    for (int i = 0; items && i < n; i++)
        items[i] = json_of_int(list[i]);
    v.items = items;
    if (items)
        nn_tell_asked(b, key, v);
}

static int read_ints(nn *b, const char *key, const int64_t *def, int n_def, int64_t *out, int max)
{
    int n = 0;
    const json_value *items = items_of(b, key, max, &n);
    for (int i = 0; items && i < n; i++) {
        if (to_int(&items[i], &out[i]))
            continue;
        wrong_kind(b, key, "a list of whole numbers", &items[i]);
        items = NULL;
    }
    if (items)
        return n;
    for (n = 0; n < n_def && n < max; n++)
        out[n] = def[n];
    return n;
}

int nn_ints(nn *b, const char *key, const int64_t *def, int n_def, int64_t *out, int max)
{
    int n = read_ints(b, key, def, n_def, out, max);
    tell_list(b, key, out, n);
    return n;
}

bool nn_has(nn *b, const char *key)
{
    return find_arg(b, key) != NULL;
}

const json_value *nn_raw(nn *b, const char *key)
{
    const zoo_arg *arg = find_arg(b, key);
    return arg ? &arg->value : NULL;
}

bool nn_either(nn *b, const char *key, const char *first, const char *second)
{
    str word = nn_word(b, key, first);
    if (!str_is(word, first) && !str_is(word, second))
        nn_fail(b, "parameter '%s' must be %s or %s, not '" STR_FMT "'", key, second, first,
                STR_ARG(word));
    return str_is(word, first);
}
