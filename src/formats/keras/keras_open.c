/* Models: their layers, what each call takes, and where the weights are.
 *
 *     Sequential   config.layers (Keras 1: config itself), each takes what the one before it makes
 *     Functional   config.layers with inbound_nodes: one list of tensors for each call
 *                    Keras 1, 2   [[["layer", node, tensor, {arguments}], ...], ...]; flat where there is one tensor
 *                    Keras 3      [{"args": [...], "kwargs": {...}}], tensors are {"class_name": "__keras_tensor__"}
 *
 * A model within a model is called like a layer: its own layers are shared among the calls.
 */

#include "formats/keras/keras_model.h"

enum { REF_DEPTH = 16 };

/* ---- layers ---- */

keras_layer *keras_new_layer(keras_reader *r, str name, str shown, str cls,
                             const json_value *config)
{
    keras_layer *l = ARENA_NEW(r->a, keras_layer);
    if (!l)
        return NULL;
    *l = (keras_layer){.name = name,
                       .shown = str_copy(r->f.m->arena, shown),
                       .cls = cls,
                       .config = config,
                       .row = keras_class_of(cls),
                       .trainable = keras_bool(config, "trainable", true)};
    return l->shown.p ? l : NULL;
}

bool keras_is_model(str cls, const json_value *config)
{
    if (str_is(cls, "Sequential"))
        return true;
    return json_get(config, "layers") && json_get(config, "input_layers");
}

/* DenseBlock is dense_block, Conv2D is conv2d, GlobalAveragePooling2D global_average_pooling2d. */
str keras_snake_case(arena *a, str cls)
{
    char *p = arena_alloc(a, 2 * (size_t)cls.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; p && i < cls.n; i++) {
        char ch = cls.p[i], before = i ? cls.p[i - 1] : 0, next = i + 1 < cls.n ? cls.p[i + 1] : 0;
        bool upper = ch >= 'A' && ch <= 'Z';
        bool after_small = before >= 'a' && before <= 'z';
        bool starts_word = next >= 'a' && next <= 'z' && i > 0;
        if (upper && (after_small || starts_word) && n && p[n - 1] != '_')
            p[n++] = '_';
        p[n++] = upper ? (char)(ch - 'A' + 'a') : ch;
    }
    return (str){p, p ? n : 0};
}

/* ---- where the weights of a model's layers are ---- */

/* "<container>/<snake>[_N]" of the k-th layer of a class: groups are numbered in order, with gaps in some versions. */
static str nth_group(keras_reader *r, str container, str snake, uint32_t k)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < 4096 && found <= k; n++) {
        str path = n ? str_printf(r->a, STR_FMT "/" STR_FMT "_%u", STR_ARG(container),
                                  STR_ARG(snake), n)
                     : str_printf(r->a, STR_FMT "/" STR_FMT, STR_ARG(container), STR_ARG(snake));
        if (!path.p)
            return path;
        bool there = map_get(&r->store.groups, path) != MAP_NONE;
        if (there && found++ == k)
            return path;
        if (!there && n > 2 * (k + 1) + 2)
            break;
    }
    return (str){0};
}

static str find_group(keras_reader *r, str prefix, const keras_layer *l, uint32_t k)
{
    static const char *const containers[] = {"layers", "_layer_checkpoint_dependencies", "_layers",
                                             "_self_tracked_trackables"};
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        str box = prefix.n ? str_printf(r->a, STR_FMT "/%s", STR_ARG(prefix), containers[i])
                           : str_of(containers[i]);
        str key = box.p ? str_printf(r->a, STR_FMT "\n" STR_FMT, STR_ARG(box), STR_ARG(l->name))
                        : box;
        uint32_t at = key.p ? map_get(&r->store.names, key) : MAP_NONE;
        if (at != MAP_NONE)
            return r->store.prefixes.items[at];
        str found = box.p ? nth_group(r, box, keras_snake_case(r->a, l->cls), k) : box;
        if (found.p)
            return found;
    }
    return (str){0};
}

static bool holds_model(const keras_layer *l)
{
    const json_value *config;
    str cls = keras_object(keras_get(l->config, "layer"), &config);
    return keras_is_model(l->cls, l->config) || (config && keras_is_model(cls, config));
}

static void place_weights(keras_reader *r, keras_layer *of, keras_model *m)
{
    map counts;
    if (!map_init(&counts, r->a, m->layers.n))
        return;
    for (uint32_t i = 0; i < m->layers.n; i++) {
        keras_layer *l = m->layers.items[i];
        bool is_new;
        uint32_t *k = map_at(&counts, l->cls, 0, &is_new);
        if (r->store.form == KERAS_BY_PATH && k && (of->prefix.p || !of->name.n))
            l->prefix = find_group(r, of->prefix, l, *k);
        if (r->store.form == KERAS_BY_LAYER && of->bag) {
            l->bag = of->bag;
        } else if (r->store.form == KERAS_BY_LAYER && !of->name.n) {
            uint32_t at = map_get(&r->store.by_layer, l->name);
            l->bag = at == MAP_NONE ? NULL : &r->store.bags.items[at];
            if (l->bag)
                l->bag->by_name = holds_model(l);
        }
        if (k)
            ++*k;
        l->trainable = l->trainable && of->trainable;
    }
}

/* ---- references ---- */

/* ["layer", node, tensor, ...] or {"class_name": "__keras_tensor__", ...}. */
static bool read_ref(const json_value *v, ref *out)
{
    *out = (ref){0};
    if (v->kind == JSON_OBJECT && str_is(keras_word(v, "class_name", ""), "__keras_tensor__")) {
        const json_value *config = keras_get(v, "config");
        out->shape = keras_get(config, "shape");
        v = config ? keras_get(config, "keras_history") : NULL;
    }
    uint32_t n;
    const json_value *items = keras_items(v, &n);
    if (!items || n < 3 || items[0].kind != JSON_TEXT || items[1].kind != JSON_INT ||
        items[2].kind != JSON_INT)
        return false;
    out->layer = items[0].s;
    out->node = items[1].i;
    out->tensor = items[2].i;
    return true;
}

/* All tensors within a value, in order. */
static void collect(const keras_model *m, const json_value *v, str key, unsigned depth,
                    found_refs *out)
{
    ref r;
    uint32_t n;
    if (!v || depth > REF_DEPTH || out->full)
        return;
    if (read_ref(v, &r) && map_get(&m->by_name, r.layer) != MAP_NONE) {
        out->full = out->n == KERAS_MAX_PORTS;
        if (out->full)
            return;
        out->keys[out->n] = key;
        out->list[out->n++] = r;
        return;
    }
    const json_value *items = keras_items(v, &n);
    for (uint32_t i = 0; items && i < n; i++)
        collect(m, &items[i], key, depth + 1, out);
    for (uint32_t i = 0; !items && v->kind == JSON_OBJECT && i < v->n; i++)
        if (!str_is(keras_word(v, "class_name", ""), "__numpy__"))
            collect(m, &v->items[i], key, depth + 1, out);
}

void keras_collect(const keras_model *m, const json_value *v, found_refs *out)
{
    collect(m, v, (str){0}, 0, out);
}

static void collect_kwargs(const keras_model *m, const json_value *kwargs, found_refs *out)
{
    if (!kwargs || kwargs->kind != JSON_OBJECT)
        return;
    if (!out->args)
        out->args = kwargs;
    for (uint32_t i = 0; i < kwargs->n; i++)
        collect(m, &kwargs->items[i], kwargs->items[i].key, 0, out);
}

/* One tensor of Keras 2 with the arguments of its call. */
static void collect_old(const keras_model *m, const json_value *v, found_refs *out)
{
    ref r;
    if (v->kind == JSON_LIST && read_ref(v, &r)) {
        collect(m, v, (str){0}, 0, out);
        collect_kwargs(m, v->n > 3 ? &v->items[3] : NULL, out);
    } else if (v->kind == JSON_LIST && v->n && v->items[0].kind == JSON_TEXT) {
        collect_kwargs(m, v->n > 3 ? &v->items[3] : NULL,
                       out); /* ["_CONSTANT_VALUE", -1, 2.0, {}] */
    } else if (v->kind == JSON_LIST) {
        for (uint32_t i = 0; i < v->n; i++)
            collect_old(m, &v->items[i], out);
    }
}

void keras_refs_of(const keras_model *m, const json_value *spec, found_refs *out)
{
    out->n = 0;
    out->full = false;
    out->args = out->positional = NULL;
    if (spec->kind == JSON_OBJECT) {
        out->positional = keras_get(spec, "args");
        collect(m, out->positional, (str){0}, 0, out);
        collect_kwargs(m, keras_get(spec, "kwargs"), out);
        return;
    }
    out->positional = spec;
    collect_old(m, spec, out);
}

/* ---- opening ---- */

assay_status keras_fail_model(keras_reader *r, str layer, const char *what)
{
    return err_fail_node(r->f.err, ASSAY_ERR_MALFORMED, layer.n && layer.p ? layer.p : "model",
                         "Keras model: layer '" STR_FMT "': %s", STR_ARG(layer), what);
}

static bool add_site(keras_reader *r, keras_model *m, keras_layer *l, const json_value *spec)
{
    return VEC_ADD(r->a, &m->sites, (call_site){.l = l, .spec = spec, .n_wanted = 1});
}

static assay_status add_layer(keras_reader *r, keras_model *m, keras_layer *of, const json_value *v)
{
    const json_value *config;
    str cls = keras_object(v, &config), name = keras_word(v, "name", "");
    if (v->kind != JSON_OBJECT || !cls.n)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "Keras model: a layer has no class_name");
    if (m->layers.n >= KERAS_MAX_LAYERS)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "Keras model: too many layers");
    if (!name.n)
        name = keras_word(config, "name", "");
    if (!name.n)
        name = str_printf(r->a, STR_FMT "_%u", STR_ARG(keras_snake_case(r->a, cls)),
                          m->layers.n + 1);
    str shown = of->shown.n
                    ? str_printf(r->a, STR_FMT "/" STR_FMT, STR_ARG(of->shown), STR_ARG(name))
                    : name;
    keras_layer *l = shown.p && name.p ? keras_new_layer(r, name, shown, cls, config) : NULL;
    if (l && str_contains(keras_word(v, "module", ""), ".ops")) /* keras.ops.Add is no layer Add */
        l->row = keras_operation_class();
    if (!l || !VEC_ADD(r->a, &m->layers, l) || !VEC_ADD(r->a, &m->first, m->sites.n) ||
        !map_put(&m->by_name, name, m->layers.n - 1))
        return err_no_memory(r->f.err);
    uint32_t n;
    const json_value *nodes = keras_items(keras_get(v, "inbound_nodes"), &n);
    for (uint32_t i = 0; !m->sequential && nodes && i < n; i++)
        TRY_MEMORY(add_site(r, m, l, &nodes[i]), r->f.err);
    if ((m->sequential || !nodes || !n) && !add_site(r, m, l, NULL))
        return err_no_memory(r->f.err);
    return ASSAY_OK;
}

call_site *keras_site_of(const keras_model *m, const ref *x)
{
    uint32_t at = map_get(&m->by_name, x->layer);
    if (at == MAP_NONE)
        return NULL;
    uint32_t first = m->first.items[at],
             end = at + 1 < m->layers.n ? m->first.items[at + 1] : m->sites.n;
    /* Keras numbers calls outside of this model as well: the only one is meant then. */
    uint64_t node = x->node < 0 || (uint64_t)x->node >= end - first ? end - first - 1
                                                                    : (uint64_t)x->node;
    return end > first ? &m->sites.items[first + node] : NULL;
}

/* What is read of each call, and which shape its readers expect. */
static void note_wanted(keras_model *m, const found_refs *refs)
{
    for (uint32_t i = 0; i < refs->n; i++) {
        call_site *s = keras_site_of(m, &refs->list[i]);
        int64_t k = refs->list[i].tensor;
        if (s && k >= s->n_wanted && k < KERAS_MAX_PORTS)
            s->n_wanted = (uint32_t)k + 1;
        if (s && k == 0 && refs->list[i].shape && !s->declared)
            s->declared = refs->list[i].shape;
    }
}

assay_status keras_open_model(keras_reader *r, keras_layer *of)
{
    const json_value *config = of->config, *layers = config && config->kind == JSON_LIST
                                                         ? config
                                                         : keras_get(config, "layers");
    keras_model *m = ARENA_NEW(r->a, keras_model);
    found_refs *refs = ARENA_NEW(r->a, found_refs);
    TRY_MEMORY(m && refs && map_init(&m->by_name, r->a, 64), r->f.err);
    if (!layers || layers->kind != JSON_LIST)
        return keras_fail_model(r, of->cls, "its settings list no layers");
    m->sequential = str_is(of->cls, "Sequential") || !json_get(config, "input_layers");
    for (uint32_t i = 0; i < layers->n; i++)
        TRY(add_layer(r, m, of, &layers->items[i]));
    m->inputs = keras_get(config, "input_layers");
    m->outputs = keras_get(config, "output_layers");
    place_weights(r, of, m);
    for (uint32_t i = 0; i < m->sites.n; i++) {
        const json_value *spec = m->sites.items[i].spec;
        if (!spec)
            continue;
        keras_refs_of(m, spec, refs);
        if (refs->full)
            return keras_fail_model(r, m->sites.items[i].l->name, "more than 256 inputs");
        note_wanted(m, refs);
    }
    for (uint32_t i = 0; m->sequential && i + 1 < m->layers.n; i++) {
        const json_value *next = keras_get(&layers->items[i + 1], "build_config");
        m->sites.items[i].declared = next ? keras_get(next, "input_shape") : NULL;
    }
    of->inner = m;
    return ASSAY_OK;
}
