/* Derives the parameters of an architecture from the shapes and names of a file; see recognise.h.
 *
 * Values to try come from how a shape answers to a change of the parameter (in proportion, plus a constant, inversely, or
 * with the square), and from how many layers of a kind the file has. Of all values, the one with which the
 * fewest tensors differ is kept, if it makes fewer differ than before.
 */
#include <math.h>

#include "formats/recognise_impl.h"

enum { VALUES = 8, GROUPS = 512, LIST = 16 };

typedef struct values {
    json_value v[VALUES];
    uint32_t n;
} values;

static void add_value(values *to, json_value v)
{
    for (uint32_t i = 0; i < to->n; i++)
        if (to->v[i].f == v.f)
            return;
    if (to->n < VALUES)
        to->v[to->n++] = v;
}

static void add_whole(values *to, double v)
{
    if (v >= 1 && v < 1e9 && v == floor(v))
        add_value(to, json_of_int((int64_t)v));
}

/* ---- one try ---- */

/* A copy of the arguments in which a key, or item `at` of its list, has another value. */
static bool with_value(search *s, const attempt *t, const zoo_asked *key, int at, json_value v,
                       zoo_args *out)
{
    zoo_args_init(out, s->scratch);
    if (at >= 0) {
        json_value *items = ARENA_ARRAY(s->scratch, json_value, key->value.n);
        if (!items)
            return false;
        memcpy(items, key->value.items, key->value.n * sizeof *items);
        items[at] = v;
        v = (json_value){.kind = JSON_LIST, .items = items, .n = key->value.n};
    }
    return zoo_args_copy(out, &t->args) && zoo_args_put(out, str_of(key->key), v, false);
}

/* Replaces *t by the attempt with this value if it is better. */
static bool try_value(search *s, attempt *t, const zoo_asked *key, int at, json_value v)
{
    attempt next;
    zoo_args args;
    if (!with_value(s, t, key, at, v, &args) || !recognise_try(s, t->row, &args, &next))
        return false;
    if (next.wrong >= t->wrong) {
        recognise_drop(&next);
        return false;
    }
    recognise_drop(t);
    *t = next;
    return true;
}

/* ---- values from shapes ---- */

static int64_t file_dim(const ir_value *v, const weight_item *x, int d)
{
    if (v->flags & IR_VALUE_TRANSPOSED && x->rank >= 2)
        d = d == x->rank - 1 ? x->rank - 2 : d == x->rank - 2 ? x->rank - 1 : d;
    return x->dims[d];
}

/* One size of a tensor: before the change, after it, and in the file. */
typedef struct answer {
    double was, is, wanted;
} answer;

static void fit(values *out, double v0, double v1, answer d)
{
    if (d.is == d.was || d.wanted == d.was)
        return;
    add_whole(out, v0 + (d.wanted - d.was) * (v1 - v0) / (d.is - d.was));
    if (d.was * v0 == d.is * v1)
        add_whole(out, v0 * d.was / d.wanted);
    for (int extra = 0; extra < 2; extra++) /* a class token */
        if (d.was > extra && d.wanted > extra)
            add_whole(out, rint(v0 * sqrt((d.wanted - extra) / (d.was - extra))));
}

static bool fit_all(const attempt *t, const attempt *varied, double v0, double v1, values *out)
{
    bool answered = false;
    for (uint32_t i = 0; i < t->n_reshaped; i++) {
        ir_id id = t->reshaped[i].value;
        const weight_item *x = t->reshaped[i].item;
        const ir_value *a = ir_value_at(t->m, id);
        const ir_value *b = id < varied->m->values.n ? ir_value_at(varied->m, id) : a;
        bool same = b->constant && str_eq(a->name, b->name) && b->constant->rank == x->rank &&
                    a->constant->rank == x->rank;
        for (int d = 0; same && d < x->rank; d++) {
            answer of = {(double)a->constant->dims[d], (double)b->constant->dims[d],
                         (double)file_dim(a, x, d)};
            answered |= of.was != of.is;
            fit(out, v0, v1, of);
        }
    }
    return answered;
}

/* Changes a whole number by one, and by doubling it if that changes no shape. */
static void ask_whole(search *s, const attempt *t, const zoo_asked *key, int at, values *out)
{
    const json_value *v = at < 0 ? &key->value : &key->value.items[at];
    const double steps[] = {v->f + 1, 2 * v->f};
    bool answered = false;
    for (int i = 0; i < 2 && !answered && v->f > 0; i++) {
        attempt varied;
        zoo_args args;
        if (!with_value(s, t, key, at, json_of_int((int64_t)steps[i]), &args) ||
            !recognise_try(s, t->row, &args, &varied))
            continue;
        answered = fit_all(t, &varied, v->f, steps[i], out);
        recognise_drop(&varied);
    }
}

/* A factor of all widths: what the first sizes that differ say, to two digits. */
static void ask_real(const attempt *t, const zoo_asked *key, values *out)
{
    for (uint32_t i = t->n_reshaped; i-- > 0;) {
        const ir_value *v = ir_value_at(t->m, t->reshaped[i].value);
        const weight_item *x = t->reshaped[i].item;
        double now = x->rank && v->constant->rank ? (double)v->constant->dims[0] : 0;
        double value = now > 0 ? key->value.f * (double)x->dims[0] / now : 0;
        if (value > 0 && value < 100)
            add_value(out, (json_value){.kind = JSON_REAL, .f = rint(value * 100) / 100});
    }
}

static bool improve(search *s, attempt *t, const zoo_asked *key, int at)
{
    values v = {.n = 0};
    bool better = false;
    if (key->value.kind == JSON_REAL)
        ask_real(t, key, &v);
    else
        ask_whole(s, t, key, at, &v);
    for (uint32_t i = 0; i < v.n && t->wrong; i++)
        better |= try_value(s, t, key, at, v.v[i]);
    return better;
}

static bool improve_key(search *s, attempt *t, const zoo_asked *key)
{
    bool better = false;
    if (key->value.kind != JSON_LIST)
        return improve(s, t, key, -1);
    for (uint32_t i = 0; i < key->value.n && i < LIST && t->wrong; i++)
        better |= key->value.items[i].kind == JSON_INT && improve(s, t, key, (int)i);
    return better;
}

/* Keys that change from user to user; the others make another architecture of the family. */
static bool is_usual(const char *key)
{
    static const char *const usual[] = {"num_classes", "in_chans",   "num_keypoints",
                                        "vocab_size",  "num_labels", "max_position_embeddings",
                                        "out_chans"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(key, usual[i]) == 0)
            return true;
    return false;
}

bool recognise_shapes(search *s, attempt *t, bool usual)
{
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS && t->wrong && !t->names_differ; round++) {
        const zoo_asked_list asked = t->asked; /* t may become another attempt */
        bool better = false;
        for (uint32_t i = 0; i < asked.list.n && t->wrong; i++)
            if (is_usual(asked.list.items[i].key) == usual)
                better |= improve_key(s, t, &asked.list.items[i]);
        if (!better)
            break;
    }
    return t->wrong == 0;
}

/* ---- depths ---- */

/* How many different numbers follow a text in the names: "layer1." has 3 of them. */
typedef struct group {
    str parent;
    uint32_t n;
} group;

typedef struct groups {
    group g[GROUPS];
    uint32_t n;
    map seen, by_parent;
} groups;

static bool add_index(groups *to, arena *scratch, str parent, str whole)
{
    uint32_t before = to->seen.n;
    if (map_intern(&to->seen, scratch, &whole, 0) == MAP_NONE)
        return false;
    if (to->seen.n == before)
        return true;
    before = to->by_parent.n;
    if (before == GROUPS)
        return true;
    uint32_t at = map_intern(&to->by_parent, scratch, &parent, before);
    if (at == MAP_NONE)
        return false;
    if (to->by_parent.n > before)
        to->g[to->n++] = (group){.parent = parent};
    to->g[at].n++;
    return true;
}

static bool add_name(groups *to, arena *scratch, str name)
{
    bool good = true;
    for (uint32_t i = 0; i < name.n && good; i++) {
        if (!str_is_digit(name.p[i]) || (i && str_is_digit(name.p[i - 1])))
            continue;
        uint32_t end = i;
        while (end < name.n && str_is_digit(name.p[end]))
            end++;
        good = add_index(to, scratch, (str){name.p, i}, (str){name.p, end});
    }
    return good;
}

static groups *new_groups(arena *scratch)
{
    groups *g = ARENA_NEW(scratch, groups);
    return g && map_init(&g->seen, scratch, 256) && map_init(&g->by_parent, scratch, 64) ? g : NULL;
}

static groups *groups_of_model(search *s, const ir_model *m)
{
    groups *g = new_groups(s->scratch);
    for (ir_id id = 0; g && id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (v->constant && v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER) &&
            zoo_name_counts(v->name) && !add_name(g, s->scratch, v->name))
            return NULL;
    }
    return g;
}

static groups *groups_of_file(search *s)
{
    groups *g = new_groups(s->scratch);
    for (uint32_t i = 0; g && i < s->n; i++)
        if (!add_name(g, s->scratch, s->tensors[i].name))
            return NULL;
    return g;
}

static uint32_t count_in(const groups *g, str parent)
{
    uint32_t at = map_get(&g->by_parent, parent);
    return at == MAP_NONE ? 0 : g->g[at].n;
}

/* Equal but for their numbers. */
static bool same_kind(str a, str b)
{
    uint32_t i = 0, k = 0;
    while (i < a.n && k < b.n) {
        bool x = str_is_digit(a.p[i]), y = str_is_digit(b.p[k]);
        if (x != y || (!x && a.p[i] != b.p[k]))
            return false;
        for (i++; x && i < a.n && str_is_digit(a.p[i]);)
            i++;
        for (k++; y && k < b.n && str_is_digit(b.p[k]);)
            k++;
    }
    return i == a.n && k == b.n;
}

/* The list that the groups of one kind give, if they say the same of the model as the key's value. */
static bool depths_of(search *s, const groups *model, const groups *file, uint32_t first,
                      const json_value *now, json_value *out)
{
    uint32_t n = now->kind == JSON_LIST ? now->n : 1, k = 0;
    json_value *items = ARENA_ARRAY(s->scratch, json_value, (size_t)n + 1);
    for (uint32_t i = first; items && i < model->n; i++) {
        if (!same_kind(model->g[i].parent, model->g[first].parent))
            continue;
        if (k == n)
            return false;
        const json_value *was = now->kind == JSON_LIST ? &now->items[k] : now;
        if (was->kind != JSON_INT || was->i != model->g[i].n)
            return false;
        items[k++] = json_of_int(count_in(file, model->g[i].parent));
    }
    *out = now->kind == JSON_LIST ? (json_value){.kind = JSON_LIST, .items = items, .n = n}
           : items                ? items[0]
                                  : *now;
    return items && k == n;
}

static bool deepen_key(search *s, attempt *t, const zoo_asked *key, const groups *file)
{
    const groups *model = groups_of_model(s, t->m);
    for (uint32_t i = 0; model && i < model->n && t->names_differ; i++) {
        json_value v;
        if (depths_of(s, model, file, i, &key->value, &v) && try_value(s, t, key, -1, v))
            return true;
    }
    return false;
}

bool recognise_depths(search *s, attempt *t)
{
    enum { ROUNDS = 3 };
    const groups *file = groups_of_file(s);
    for (int round = 0; file && round < ROUNDS && t->names_differ; round++) {
        const zoo_asked_list asked = t->asked;
        bool better = false;
        for (uint32_t i = 0; i < asked.list.n && t->names_differ; i++)
            better |= asked.list.items[i].value.kind != JSON_REAL &&
                      deepen_key(s, t, &asked.list.items[i], file);
        if (!better)
            break;
    }
    return !t->names_differ;
}
