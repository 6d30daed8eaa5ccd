/* Models: the order of their layers.
 *
 *     Sequential   config.layers (Keras 1: config itself), each takes what the one before it makes
 *     Functional   config.layers with inbound_nodes: one list of tensors for each call
 *                    Keras 1, 2   [[["layer", node, tensor, {arguments}], ...], ...]; flat where there is one tensor
 *                    Keras 3      [{"args": [...], "kwargs": {...}}], tensors are {"class_name": "__keras_tensor__"}
 *
 * A model within a model is called like a layer: its own layers are shared among the calls.
 */
#include <inttypes.h>
#include <string.h>

#include "formats/keras/keras_impl.h"

enum { MAX_STEPS = 1 << 26, REF_DEPTH = 16 };

/* One call of a layer in the file. */
typedef struct call_site {
    keras_layer *l;
    const json_value *spec; /* NULL: an input */
    uint32_t n_wanted;
    const json_value *declared; /* shape of its first output, if a reader of it says so */
} call_site;

typedef struct keras_model {
    bool sequential;
    VEC(keras_layer *) layers;
    VEC(call_site) sites;               /* those of a layer one after another */
    VEC(uint32_t) first;                /* [layers] its first site */
    map by_name;                        /* layer */
    const json_value *inputs, *outputs; /* of a functional one */
} keras_model;

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

typedef struct ref {
    str layer;
    int64_t node, tensor;
    const json_value *shape;
} ref;

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

typedef struct found_refs {
    ref list[KERAS_MAX_PORTS];
    str keys[KERAS_MAX_PORTS];
    uint32_t n;
    const json_value *args, *positional;
} found_refs;

/* All tensors within a value, in order. */
static void collect(const keras_model *m, const json_value *v, str key, unsigned depth,
                    found_refs *out)
{
    ref r;
    uint32_t n;
    if (!v || depth > REF_DEPTH || out->n == KERAS_MAX_PORTS)
        return;
    if (read_ref(v, &r) && map_get(&m->by_name, r.layer) != MAP_NONE) {
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

static void refs_of(const keras_model *m, const json_value *spec, found_refs *out)
{
    out->n = 0;
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

static assay_status fail_model(keras_reader *r, str layer, const char *what)
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
    if (!l || !VEC_ADD(r->a, &m->layers, l) || !VEC_ADD(r->a, &m->first, m->sites.n) ||
        !map_put(&m->by_name, name, m->layers.n - 1))
        return err_no_memory(r->f.err);
    uint32_t n;
    const json_value *nodes = keras_items(keras_get(v, "inbound_nodes"), &n);
    for (uint32_t i = 0; !m->sequential && nodes && i < n; i++)
        if (!add_site(r, m, l, &nodes[i]))
            return err_no_memory(r->f.err);
    if ((m->sequential || !nodes || !n) && !add_site(r, m, l, NULL))
        return err_no_memory(r->f.err);
    return ASSAY_OK;
}

static call_site *site_of(const keras_model *m, const ref *x)
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
        call_site *s = site_of(m, &refs->list[i]);
        int64_t k = refs->list[i].tensor;
        if (s && k >= s->n_wanted && k < KERAS_MAX_PORTS)
            s->n_wanted = (uint32_t)k + 1;
        if (s && k == 0 && refs->list[i].shape && !s->declared)
            s->declared = refs->list[i].shape;
    }
}

static assay_status open_model(keras_reader *r, keras_layer *of)
{
    const json_value *config = of->config, *layers = config && config->kind == JSON_LIST
                                                         ? config
                                                         : keras_get(config, "layers");
    keras_model *m = ARENA_NEW(r->a, keras_model);
    found_refs *refs = ARENA_NEW(r->a, found_refs);
    if (!m || !refs || !map_init(&m->by_name, r->a, 64))
        return err_no_memory(r->f.err);
    if (!layers || layers->kind != JSON_LIST)
        return fail_model(r, of->cls, "its settings list no layers");
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
        refs_of(m, spec, refs);
        note_wanted(m, refs);
    }
    for (uint32_t i = 0; m->sequential && i + 1 < m->layers.n; i++) {
        const json_value *next = keras_get(&layers->items[i + 1], "build_config");
        m->sites.items[i].declared = next ? keras_get(next, "input_shape") : NULL;
    }
    of->inner = m;
    return ASSAY_OK;
}

/* ---- calling layers ---- */

/* A layer of a class without a row: what it takes and its weights are its inputs. */
static bool call_unknown(keras_call *c)
{
    uint32_t n_weights, n;
    const ir_id *weights = keras_other_weights(c, &n_weights);
    ir_id *in = ARENA_ARRAY(c->r->a, ir_id, (size_t)c->n_in + n_weights + 1);
    ir_id *out = ARENA_ARRAY(c->r->a, ir_id, (size_t)c->n_wanted + 1);
    if (!in || !out)
        return false;
    for (n = 0; n < c->n_in; n++)
        in[n] = c->in[n].id;
    for (uint32_t i = 0; i < n_weights; i++)
        in[n++] = weights[i];
    c->n_out = c->n_wanted ? c->n_wanted : 1;
    for (uint32_t i = 0; i < c->n_out; i++) {
        ir_t shape = keras_shape_of(i == 0 ? c->declared : NULL,
                                    c->n_in ? c->in[0].dtype : IR_FLOAT32);
        shape.id = out[i] = foreign_inner(c->f, c->name, "output");
        if (shape.id == IR_NONE)
            return false;
        if (shape.rank >= 0)
            ir_value_at(c->f->m, shape.id)->declared = keras_type(c->r, shape);
        c->out[i] = shape;
    }
    str op = str_copy(c->f->m->arena, c->l->cls);
    if (!op.p)
        return false;
    return foreign_add(c->f, &(foreign_node){.op = op.p,
                                             .domain = KERAS_DOMAIN,
                                             .name = c->name,
                                             .in = in,
                                             .n_in = n,
                                             .out = out,
                                             .n_out = c->n_out}) != IR_NONE;
}

/* Takes back the nodes and constants of a layer that turned out not to fit; its weights stay. */
static void undo_nodes(keras_reader *r, uint32_t values, uint32_t nodes)
{
    ir_model *m = r->f.m;
    ir_graph *g = ir_graph_at(m, r->f.graph);
    uint32_t kept = 0;
    while (g->nodes.n && g->nodes.items[g->nodes.n - 1] >= nodes)
        g->nodes.n--;
    m->nodes.n = nodes;
    for (uint32_t i = 0; i < g->constants.n; i++) {
        ir_value *v = ir_value_at(m, g->constants.items[i]);
        if (g->constants.items[i] < values || v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER))
            g->constants.items[kept++] = g->constants.items[i];
        else
            v->constant = NULL;
    }
    g->constants.n = kept;
    for (uint32_t id = values; id < m->values.n; id++)
        m->values.items[id].producer = IR_NONE;
}

bool keras_call_layer(keras_reader *r, keras_layer *l, keras_call *c)
{
    uint32_t before = r->f.m->values.n, nodes = r->f.m->nodes.n;
    c->r = r;
    c->f = &r->f;
    c->l = l;
    c->config = l->config;
    c->name = l->shown;
    c->n_out = 0;
    if (r->depth >= KERAS_MAX_DEPTH || ++r->n_calls > KERAS_MAX_LAYERS * 4) {
        fail_model(r, l->name, "models or wrappers are nested too deep, or called too often");
        return false;
    }
    r->depth++;
    bool model = keras_is_model(l->cls, l->config);
    bool mapped = model ? keras_nested(c) : l->row && l->row->map && l->row->map(c);
    if (!mapped && r->f.err->code == ASSAY_OK && !arena_failed(r->a) &&
        !arena_failed(r->f.m->arena)) {
        undo_nodes(r, before, nodes);
        c->main_made = false;
        mapped = call_unknown(c);
    }
    r->depth--;
    for (uint32_t i = 0; mapped && i < c->n_out; i++) {
        ir_id id = c->out[i].id;
        if (id != IR_NONE && id >= before && !model && r->f.m->values.items[id].producer != IR_NONE)
            r->f.m->values.items[id].name = ir_kit_name(&r->f.kit, c->name);
    }
    return mapped;
}

/* ---- running a model ---- */

typedef struct running {
    keras_reader *r;
    keras_model *m;
    ir_t **out; /* [sites]; NULL: not yet */
    uint32_t *n_out;
    found_refs refs;
    ir_t in[KERAS_MAX_PORTS], made[KERAS_MAX_PORTS];
} running;

static assay_status status_of(keras_reader *r)
{
    if (r->f.err->code != ASSAY_OK)
        return r->f.err->code;
    bool failed = arena_failed(r->a) || arena_failed(r->f.m->arena);
    return failed ? err_no_memory(r->f.err) : ASSAY_OK;
}

static bool keep_outputs(running *x, uint32_t site, const ir_t *made, uint32_t n)
{
    x->out[site] = ARENA_ARRAY(x->r->a, ir_t, (size_t)n + 1);
    x->n_out[site] = n;
    if (x->out[site] && n)
        memcpy(x->out[site], made, n * sizeof *made);
    return x->out[site] != NULL;
}

/* Whether all tensors of a call are there: they are in x->in then. */
static bool gather(running *x, const call_site *s)
{
    refs_of(x->m, s->spec, &x->refs);
    for (uint32_t i = 0; i < x->refs.n; i++) {
        const call_site *from = site_of(x->m, &x->refs.list[i]);
        uint32_t at = from ? (uint32_t)(from - x->m->sites.items) : 0;
        if (!from || !x->out[at])
            return false;
        int64_t k = x->refs.list[i].tensor;
        x->in[i] = k >= 0 && k < x->n_out[at] ? x->out[at][k] : x->out[at][0];
    }
    return true;
}

static assay_status call_site_now(running *x, uint32_t i)
{
    call_site *s = &x->m->sites.items[i];
    keras_call c = {.args = x->refs.args,
                    .positional = x->refs.positional,
                    .in = arena_copy(x->r->a, x->in, (x->refs.n + 1) * sizeof *x->in),
                    .keys = arena_copy(x->r->a, x->refs.keys, (x->refs.n + 1) * sizeof(str)),
                    .n_in = x->refs.n,
                    .out = x->made,
                    .n_wanted = s->n_wanted,
                    .declared = s->declared};
    if (!c.in || !c.keys)
        return err_no_memory(x->r->f.err);
    if (!keras_call_layer(x->r, s->l, &c) || !c.n_out)
        return status_of(x->r) == ASSAY_OK ? fail_model(x->r, s->l->name, "it makes nothing")
                                           : x->r->f.err->code;
    return keep_outputs(x, i, c.out, c.n_out) ? status_of(x->r) : err_no_memory(x->r->f.err);
}

/* Layers are listed in about the order in which they run: the rest is found in further rounds. */
static assay_status run_sites(running *x)
{
    uint64_t steps = 0;
    for (uint32_t left = 1; left;) {
        bool moved = false;
        left = 0;
        for (uint32_t i = 0; i < x->m->sites.n; i++) {
            if (x->out[i] || !x->m->sites.items[i].spec)
                continue;
            if (++steps > MAX_STEPS)
                return fail_model(x->r, x->m->sites.items[i].l->name, "the model is too large");
            if (!gather(x, &x->m->sites.items[i])) {
                left++;
                continue;
            }
            TRY(call_site_now(x, i));
            moved = true;
        }
        if (left && !moved)
            return fail_model(x->r, STR("model"),
                              "layers wait for each other or for a layer that is not there");
    }
    return ASSAY_OK;
}

static assay_status take_inputs(running *x, const ir_t *in, uint32_t n)
{
    found_refs *refs = &x->refs;
    refs->n = 0;
    collect(x->m, x->m->inputs, (str){0}, 0, refs);
    for (uint32_t i = 0; i < refs->n; i++) {
        const call_site *s = site_of(x->m, &refs->list[i]);
        if (!s || i >= n)
            return fail_model(x->r, refs->list[i].layer, "an input is missing");
        if (!keep_outputs(x, (uint32_t)(s - x->m->sites.items), &in[i], 1))
            return err_no_memory(x->r->f.err);
    }
    return ASSAY_OK;
}

static assay_status give_outputs(running *x, ir_t *out, uint32_t *n_out)
{
    found_refs *refs = &x->refs;
    refs->n = *n_out = 0;
    collect(x->m, x->m->outputs, (str){0}, 0, refs);
    for (uint32_t i = 0; i < refs->n; i++) {
        const call_site *s = site_of(x->m, &refs->list[i]);
        uint32_t at = s ? (uint32_t)(s - x->m->sites.items) : 0;
        if (!s || !x->out[at])
            return fail_model(x->r, refs->list[i].layer, "an output is not made");
        int64_t k = refs->list[i].tensor;
        out[(*n_out)++] = k >= 0 && k < x->n_out[at] ? x->out[at][k] : x->out[at][0];
    }
    return *n_out ? ASSAY_OK : fail_model(x->r, STR("model"), "it has no outputs");
}

static assay_status run_functional(running *x, const ir_t *in, uint32_t n, ir_t *out,
                                   uint32_t *n_out)
{
    TRY(take_inputs(x, in, n));
    TRY(run_sites(x));
    return give_outputs(x, out, n_out);
}

static assay_status run_sequence(running *x, const ir_t *in, uint32_t n, ir_t *out, uint32_t *n_out)
{
    if (n > KERAS_MAX_PORTS)
        n = KERAS_MAX_PORTS;
    memcpy(x->in, in, n * sizeof *in);
    for (uint32_t i = 0; i < x->m->sites.n; i++) {
        if (str_is(x->m->sites.items[i].l->cls, "InputLayer"))
            continue;
        x->refs.n = n;
        x->refs.args = x->refs.positional = NULL;
        memset(x->refs.keys, 0, n * sizeof(str));
        TRY(call_site_now(x, i));
        n = x->n_out[i];
        memcpy(x->in, x->out[i], n * sizeof *in);
    }
    memcpy(out, x->in, n * sizeof *in);
    *n_out = n;
    return ASSAY_OK;
}

static assay_status run_model(keras_reader *r, keras_layer *l, const ir_t *in, uint32_t n,
                              ir_t *out, uint32_t *n_out)
{
    if (!l->inner)
        TRY(open_model(r, l));
    running *x = ARENA_NEW(r->a, running);
    if (!x)
        return err_no_memory(r->f.err);
    x->r = r;
    x->m = l->inner;
    x->out = ARENA_ARRAY(r->a, ir_t *, (size_t)x->m->sites.n + 1);
    x->n_out = ARENA_ARRAY(r->a, uint32_t, (size_t)x->m->sites.n + 1);
    if (!x->out || !x->n_out)
        return err_no_memory(r->f.err);
    return x->m->sequential ? run_sequence(x, in, n, out, n_out)
                            : run_functional(x, in, n, out, n_out);
}

bool keras_nested(keras_call *c)
{
    return run_model(c->r, c->l, c->in, c->n_in, c->out, &c->n_out) == ASSAY_OK;
}

/* ---- the main model ---- */

ir_type keras_type(keras_reader *r, ir_t shape)
{
    static const char *const names[4][4] = {{"batch"},
                                            {"batch", "sequence"},
                                            {"batch", "sequence", "features"},
                                            {"batch", "height", "width", "channels"}};
    ir_type t = ir_tensor_type(r->f.m, shape.dtype, shape.rank, shape.d);
    ir_dim *dims = shape.rank > 0 ? ARENA_ARRAY(r->f.m->arena, ir_dim, (size_t)shape.rank) : NULL;
    for (int d = 0; dims && d < shape.rank; d++) {
        dims[d] = (ir_dim){.value = shape.d[d] < 0 ? -1 : shape.d[d]};
        if (shape.d[d] < 0)
            dims[d].symbol = d == 0            ? STR("batch")
                             : shape.rank <= 4 ? str_of(names[shape.rank - 1][d])
                                               : str_printf(r->f.m->arena, "dim%d", d);
    }
    t.dims = dims;
    return t;
}

static bool add_input(keras_reader *r, str name, ir_t *shape)
{
    if (shape->dtype == IR_UNDEFINED)
        shape->dtype = IR_FLOAT32;
    name = str_copy(r->f.m->arena, name);
    shape->id = name.p ? foreign_value(&r->f, name, IR_UNDEFINED, -1, NULL) : IR_NONE;
    if (shape->id == IR_NONE)
        return false;
    ir_value_at(r->f.m, shape->id)->declared = keras_type(r, *shape);
    return ir_add_input(r->f.m, 0, shape->id);
}

/* Embedding and Masking state their input in settings of their own; Keras 1 may state the features alone. */
static ir_t input_shape(const json_value *config)
{
    const json_value *shape = keras_get(config, "batch_shape|batch_input_shape");
    ir_t x = keras_shape_of(shape, keras_dtype(config, "dtype|input_dtype", IR_FLOAT32));
    if (x.rank >= 0)
        return x;
    int64_t dims[2] = {-1, keras_int(config, "input_length", -1)};
    if (json_get(config, "input_length") && json_get(config, "embeddings_initializer"))
        return keras_shape(x.dtype, 2, dims);
    return x;
}

/* The shape of what a Sequential model takes: stated by its first layer, or by the model itself. */
static ir_t sequential_input(keras_reader *r, keras_layer *l, unsigned depth)
{
    const json_value *layers = l->config && l->config->kind == JSON_LIST
                                   ? l->config
                                   : keras_get(l->config, "layers");
    const json_value *first = layers && layers->kind == JSON_LIST && layers->n ? layers->items
                                                                               : NULL,
                     *config;
    str cls = keras_object(first, &config);
    ir_t x = input_shape(config);
    if (first && x.rank < 0 && depth < KERAS_MAX_DEPTH) {
        keras_layer inner = {.cls = cls, .config = config};
        const json_value *wrapped;
        str wrapped_cls = keras_object(keras_get(config, "layer"), &wrapped);
        if (str_is(cls, "Sequential"))
            x = sequential_input(r, &inner, depth + 1);
        else if (keras_is_model(cls, config))
            x = input_shape(keras_get(json_path(config, "layers.0"), "config"));
        else if (wrapped_cls.n)
            x = input_shape(wrapped);
    }
    const json_value *build = keras_get(first, "build_config");
    if (x.rank < 0)
        x = keras_shape_of(keras_get(l->config, "build_input_shape"), x.dtype);
    if (x.rank < 0)
        x = keras_shape_of(build ? keras_get(build, "input_shape") : NULL, x.dtype);
    return x;
}

static assay_status sequential_inputs(keras_reader *r, keras_layer *l, ir_t *in, uint32_t *n)
{
    const json_value *layers = l->config && l->config->kind == JSON_LIST
                                   ? l->config
                                   : keras_get(l->config, "layers"),
                     *config = NULL;
    str name = STR("input"), cls = {0};
    if (layers && layers->kind == JSON_LIST && layers->n)
        cls = keras_object(layers->items, &config);
    if (config && keras_word(config, "name", "").n)
        name = str_is(cls, "InputLayer")
                   ? keras_word(config, "name", "")
                   : str_printf(r->a, STR_FMT "_input", STR_ARG(keras_word(config, "name", "")));
    in[0] = sequential_input(r, l, 0);
    *n = 1;
    return name.p && add_input(r, name, &in[0]) ? ASSAY_OK : err_no_memory(r->f.err);
}

/* InputLayer, or the first layer of Keras 1, in the order of input_layers. */
static assay_status functional_inputs(keras_reader *r, keras_layer *l, ir_t *in, uint32_t *n)
{
    found_refs *refs = ARENA_NEW(r->a, found_refs);
    if (!refs)
        return err_no_memory(r->f.err);
    TRY(open_model(r, l));
    collect(l->inner, l->inner->inputs, (str){0}, 0, refs);
    for (uint32_t i = 0; i < refs->n; i++) {
        const call_site *s = site_of(l->inner, &refs->list[i]);
        in[i] = s ? input_shape(s->l->config) : keras_unknown_shape(IR_FLOAT32);
        if (!s || !add_input(r, s->l->name, &in[i]))
            return err_no_memory(r->f.err);
    }
    *n = refs->n;
    return *n ? ASSAY_OK : fail_model(r, l->name, "it has no inputs");
}

static assay_status add_outputs(keras_reader *r, const ir_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ir_id id = out[i].id;
        const ir_value *v = id == IR_NONE ? NULL : ir_value_at(r->f.m, id);
        if (!v)
            return err_no_memory(r->f.err);
        if (v->producer == IR_NONE || v->flags & IR_VALUE_OUTPUT) {
            str name = v->name;
            ir_id own = foreign_inner(&r->f, name, "output");
            foreign_unary(&r->f, "Identity", name, id, own);
            id = own;
        }
        if (id == IR_NONE || !ir_add_output(r->f.m, 0, id))
            return err_no_memory(r->f.err);
        ir_t shape = out[i];
        if (shape.rank >= 0)
            ir_value_at(r->f.m, id)->declared = keras_type(r, shape);
    }
    return ASSAY_OK;
}

/* Weights that a layer has but does not use at inference, such as the count of Normalization. */
static void mark_unread(keras_reader *r)
{
    ir_model *m = r->f.m;
    uint8_t *read = ARENA_ARRAY(r->a, uint8_t, (size_t)m->values.n + 1);
    for (uint32_t i = 0; read && i < m->nodes.n; i++)
        for (uint32_t k = 0; k < m->nodes.items[i].n_inputs; k++)
            if (m->nodes.items[i].inputs[k] != IR_NONE)
                read[m->nodes.items[i].inputs[k]] = 1;
    for (ir_id id = 0; read && id < m->values.n; id++)
        if (!read[id] && ir_value_at(m, id)->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER))
            ir_value_at(m, id)->flags |= IR_VALUE_UNREAD;
}

assay_status keras_build(keras_reader *r, const json_value *root)
{
    const json_value *config;
    str cls = keras_object(root, &config);
    ir_t *in = ARENA_ARRAY(r->a, ir_t, KERAS_MAX_PORTS),
         *out = ARENA_ARRAY(r->a, ir_t, KERAS_MAX_PORTS);
    uint32_t n_in = 0, n_out = 0;
    bool list = config && config->kind == JSON_LIST;
    if (!cls.n || (!list && !keras_is_model(cls, config)))
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "Keras model of the class '" STR_FMT
                        "', which is not in the file. Export it in Python with model.export().",
                        STR_ARG(cls));
    keras_layer *l = keras_new_layer(r, (str){0}, (str){0}, cls, config);
    if (!in || !out || !l)
        return err_no_memory(r->f.err);
    ir_graph_at(r->f.m, 0)->name = str_copy(r->f.m->arena, keras_word(config, "name", "model"));
    bool functional = !list && !str_is(cls, "Sequential");
    TRY(functional ? functional_inputs(r, l, in, &n_in) : sequential_inputs(r, l, in, &n_in));
    TRY(run_model(r, l, in, n_in, out, &n_out));
    TRY(add_outputs(r, out, n_out));
    keras_weights_left(r);
    mark_unread(r);
    return status_of(r);
}
