/* Where the weights of a Keras file are.
 *
 * By layer (Keras 1 and 2, .h5 of Keras 3): the root, or "model_weights", has the attribute layer_names; each layer's group
 * has weight_names, in the order in which the layer made them, trained ones first. Lists above 64 KiB are split into
 * layer_names0, layer_names1, ...
 *
 * By path (.keras, .weights.h5): "layers/dense_1/vars/0". The second part is the class in snake case with a number, the
 * attribute "name" of the group "vars" is the layer's name. Keras 2.13 to 2.15 write "_layer_checkpoint_dependencies" for
 * "layers", on Windows with backslashes within the names of groups.
 */
#include <stdio.h>
#include <string.h>

#include "formats/keras/keras_impl.h"

enum { SPLIT_MAX = 4096 };

typedef struct listing {
    keras_store *s;
    hdf5 *h;
    arena *a;
} listing;

static void no_memory(listing *l)
{
    if (!l->h->failed)
        err_no_memory(l->h->err);
    l->h->failed = true;
}

/* ---- by layer ---- */

/* One list, or its parts "layer_names0", "layer_names1", ... */
static hdf5_texts split_texts(listing *l, uint64_t object, const char *name)
{
    hdf5_texts all = hdf5_attribute(l->h, object, name);
    char part[64];
    for (unsigned i = 0; !all.there && i < SPLIT_MAX && !l->h->failed; i++) {
        snprintf(part, sizeof part, "%s%u", name, i);
        hdf5_texts more = hdf5_attribute(l->h, object, part);
        if (!more.there)
            break;
        for (uint32_t k = 0; k < more.list.n; k++)
            if (!VEC_ADD(l->a, &all.list, more.list.items[k]))
                no_memory(l);
        all.there = false;
        if (i + 1 == SPLIT_MAX)
            break;
    }
    all.there = all.there || all.list.n;
    return all;
}

static void add_bag(listing *l, str layer, uint64_t group)
{
    keras_store *s = l->s;
    keras_bag bag = {.layer = layer, .first = s->items.n};
    const hdf5_texts names = split_texts(l, group, "weight_names");
    for (uint32_t i = 0; i < names.list.n && !l->h->failed; i++) {
        str name = str_copy(l->a, names.list.items[i]);
        uint64_t object = name.p ? hdf5_find_path(l->h, group, name.p) : UINT64_MAX;
        if (object == UINT64_MAX)
            continue; /* keras_weight() notes what is missing */
        keras_data d = {.path = name, .data = hdf5_describe(l->h, object)};
        if (!VEC_ADD(l->a, &s->items, d))
            no_memory(l);
    }
    bag.n = s->items.n - bag.first;
    if (!VEC_ADD(l->a, &s->bags, bag) || !map_put(&s->by_layer, layer, s->bags.n - 1))
        no_memory(l);
}

static void list_layers(listing *l, uint64_t base, const hdf5_texts *layers)
{
    const hdf5_links links = hdf5_list(l->h, base);
    map at;
    if (!map_init(&at, l->a, links.list.n)) {
        no_memory(l);
        return;
    }
    for (uint32_t i = 0; i < links.list.n; i++)
        if (!map_put(&at, links.list.items[i].name, i))
            no_memory(l);
    for (uint32_t i = 0; i < layers->list.n && !l->h->failed; i++) {
        str name = str_copy(l->a, layers->list.items[i]);
        uint32_t k = name.p ? map_get(&at, name) : MAP_NONE;
        uint64_t group = k != MAP_NONE ? links.list.items[k].at
                         : name.p      ? hdf5_find_path(l->h, base, name.p)
                                       : UINT64_MAX;
        if (group != UINT64_MAX && map_get(&l->s->by_layer, name) == MAP_NONE)
            add_bag(l, name, group);
    }
    uint32_t top = map_get(&at, STR("top_level_model_weights"));
    if (top != MAP_NONE && map_get(&l->s->by_layer, links.list.items[top].name) == MAP_NONE)
        add_bag(l, links.list.items[top].name, links.list.items[top].at);
}

/* ---- by path ---- */

static str join_path(listing *l, str before, str name)
{
    char *p = arena_alloc(l->a, (size_t)before.n + name.n + 2);
    uint32_t n = 0;
    if (!p) {
        no_memory(l);
        return (str){0};
    }
    if (before.n) {
        memcpy(p, before.p, before.n);
        p[before.n] = '/';
        n = before.n + 1;
    }
    for (uint32_t i = 0; i < name.n; i++)
        p[n + i] = name.p[i] == '\\' ? '/' : name.p[i];
    return (str){p, n + name.n};
}

/* States of training and of metrics, which Keras stores beside the model's. */
static bool is_training(str path)
{
    static const char *const roots[] = {"optimizer",       "metrics",          "_metrics",
                                        "compile_metrics", "_compile_metrics", "_loss_tracker",
                                        "loss_tracker"};
    str rest = path, first = str_cut(&rest, '/');
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (str_is(first, roots[i]))
            return true;
    return false;
}

/* The layer's own name: "layers/dense" and "dense_7" give "layers\ndense_7". */
static void note_name(listing *l, str path, uint64_t vars)
{
    const hdf5_texts name = hdf5_attribute(l->h, vars, "name");
    uint32_t cut = path.n;
    while (cut && path.p[cut - 1] != '/')
        cut--;
    if (!name.list.n || l->h->failed)
        return;
    str key = str_printf(l->a, STR_FMT "\n" STR_FMT, (int)(cut ? cut - 1 : 0), path.p,
                         STR_ARG(name.list.items[0]));
    if (!key.p || !VEC_ADD(l->a, &l->s->prefixes, path) ||
        !map_put(&l->s->names, key, l->s->prefixes.n - 1))
        no_memory(l);
}

/* The groups around it are known by their paths. */
static void add_groups(listing *l, str path)
{
    for (uint32_t i = path.n; i-- > 1;) {
        if (path.p[i] != '/')
            continue;
        str group = {path.p, i};
        if (map_get(&l->s->groups, group) != MAP_NONE)
            return;
        if (!map_put(&l->s->groups, group, 0))
            no_memory(l);
    }
}

static void add_data(listing *l, str path, uint64_t object)
{
    keras_data d = {.path = path, .data = hdf5_describe(l->h, object)};
    if (d.data.is_data &&
        (!VEC_ADD(l->a, &l->s->items, d) || !map_put(&l->s->by_path, path, l->s->items.n - 1)))
        no_memory(l);
    if (d.data.is_data)
        add_groups(l, path);
}

static void walk_groups(listing *l, str path, uint64_t group, unsigned depth)
{
    const hdf5_links links = hdf5_list(l->h, group);
    bool vars = str_is(path, "vars") || str_ends(path, "/vars");
    if (depth > KERAS_MAX_DEPTH * 2)
        return;
    for (uint32_t i = 0; i < links.list.n && !l->h->failed; i++) {
        str inner = join_path(l, path, links.list.items[i].name);
        if (!inner.p || is_training(inner))
            continue;
        if (vars)
            add_data(l, inner, links.list.items[i].at);
        else if (!hdf5_describe(l->h, links.list.items[i].at).is_data)
            walk_groups(l, inner, links.list.items[i].at, depth + 1);
    }
    if (vars && path.n > 5)
        note_name(l, (str){path.p, path.n - 5}, group);
}

/* ---- both ---- */

assay_status keras_store_read(keras_store *s, hdf5 *h, arena *a)
{
    listing l = {s, h, a};
    *s = (keras_store){.form = KERAS_NO_WEIGHTS};
    if (!map_init(&s->by_path, a, 64) || !map_init(&s->by_layer, a, 64) ||
        !map_init(&s->names, a, 64) || !map_init(&s->groups, a, 64))
        return err_no_memory(h->err);
    uint64_t base = hdf5_find(h, h->root, STR("model_weights"));
    base = base == UINT64_MAX ? h->root : base;
    TRY(hdf5_status(h));
    const hdf5_texts layers = split_texts(&l, base, "layer_names");
    if (layers.there)
        list_layers(&l, base, &layers);
    else if (!h->failed)
        walk_groups(&l, (str){0}, h->root, 0);
    if (layers.there)
        s->form = KERAS_BY_LAYER;
    else if (s->items.n)
        s->form = KERAS_BY_PATH;
    return hdf5_status(h);
}
