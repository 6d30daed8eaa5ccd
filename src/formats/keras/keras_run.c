/* Calls layers and models: what a layer of an unknown class becomes, and in which order the calls of a model are made. */
#include <string.h>

#include "formats/keras/keras_model.h"

enum { MAX_STEPS = 1 << 26 };

/* ---- calling layers ---- */

/* What the file says of the output: by its readers, or the setting output_shape, which is without the batch. */
static ir_t declared_shape(const keras_call *c)
{
    ir_dtype t = c->n_in ? c->in[0].dtype : IR_FLOAT32;
    ir_t known = keras_shape_of(c->declared, t),
         rest = keras_shape_of(keras_get(c->config, "output_shape"), t);
    if (known.rank >= 0 || rest.rank < 0 || rest.rank >= IR_KIT_RANK ||
        !str_is(c->l->cls, "Lambda"))
        return known;
    known.rank = rest.rank + 1;
    known.d[0] = c->n_in && c->in[0].rank > 0 ? c->in[0].d[0] : -1;
    for (int d = 0; d < rest.rank; d++)
        known.d[d + 1] = rest.d[d];
    return known;
}

/* Most functions of Lambda layers scale or clip their input. The shapes of the weights behind one are the check; a
 * model without weights has none. */
static bool keeps_shape(const keras_call *c, ir_t declared)
{
    return c->r->trust_lambdas && declared.rank < 0 && c->n_in == 1 && c->in[0].rank >= 0 &&
           c->r->store.form != KERAS_NO_WEIGHTS && str_is(c->l->cls, "Lambda");
}

static bool has_open_size(ir_t shape)
{
    for (int d = 0; d < shape.rank; d++)
        if (shape.d[d] < 0)
            return true;
    return false;
}

/* A size that the file leaves open gets the name of the input's batch, sequence, ...; only the code of the layer says
 * whether it is the same. */
static ir_t output_shape(keras_call *c, bool *assumed)
{
    ir_t shape = declared_shape(c);
    bool kept = keeps_shape(c, shape);
    *assumed = kept || has_open_size(shape);
    c->r->trusted |= kept;
    if (kept)
        keras_note(c, "assumed-shape",
                   "The code of this layer is not read. Its output is assumed to have the shape of "
                   "its input.");
    else if (*assumed)
        keras_note(c, "assumed-shape",
                   "The code of this layer is not read. Sizes of its output that the file leaves "
                   "open, such as the batch, are assumed to be those of the input.");
    return kept ? c->in[0] : shape;
}

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
        bool assumed = false;
        ir_t shape = i == 0 ? output_shape(c, &assumed)
                            : keras_unknown_shape(c->n_in ? c->in[0].dtype : IR_FLOAT32);
        shape.id = out[i] = foreign_inner(c->f, c->name, "output");
        if (shape.id == IR_NONE)
            return false;
        if (shape.rank >= 0)
            ir_value_at(c->f->m, shape.id)->declared = keras_type(c->r, shape);
        if (assumed)
            ir_value_at(c->f->m, shape.id)->flags |= IR_VALUE_ASSUMED;
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
        keras_fail_model(r, l->name,
                         "models or wrappers are nested too deeply, or called too often");
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

assay_status keras_status(keras_reader *r)
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
    keras_refs_of(x->m, s->spec, &x->refs);
    for (uint32_t i = 0; i < x->refs.n; i++) {
        const call_site *from = keras_site_of(x->m, &x->refs.list[i]);
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
    TRY_MEMORY(c.in && c.keys, x->r->f.err);
    if (!keras_call_layer(x->r, s->l, &c) || !c.n_out)
        return keras_status(x->r) == ASSAY_OK
                   ? keras_fail_model(x->r, s->l->name, "it makes nothing")
                   : x->r->f.err->code;
    return keep_outputs(x, i, c.out, c.n_out) ? keras_status(x->r) : err_no_memory(x->r->f.err);
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
                return keras_fail_model(x->r, x->m->sites.items[i].l->name,
                                        "the model is too large");
            if (!gather(x, &x->m->sites.items[i])) {
                left++;
                continue;
            }
            TRY(call_site_now(x, i));
            moved = true;
        }
        if (left && !moved)
            return keras_fail_model(x->r, STR("model"),
                                    "layers form a cycle, or read a layer that does not exist");
    }
    return ASSAY_OK;
}

static assay_status take_inputs(running *x, const ir_t *in, uint32_t n)
{
    found_refs *refs = &x->refs;
    refs->n = 0;
    refs->full = false;
    keras_collect(x->m, x->m->inputs, refs);
    if (refs->full)
        return keras_fail_model(x->r, STR("model"), "more than 256 inputs");
    for (uint32_t i = 0; i < refs->n; i++) {
        const call_site *s = keras_site_of(x->m, &refs->list[i]);
        if (!s || i >= n)
            return keras_fail_model(x->r, refs->list[i].layer, "an input is missing");
        TRY_MEMORY(keep_outputs(x, (uint32_t)(s - x->m->sites.items), &in[i], 1), x->r->f.err);
    }
    return ASSAY_OK;
}

static assay_status give_outputs(running *x, ir_t *out, uint32_t *n_out)
{
    found_refs *refs = &x->refs;
    refs->n = *n_out = 0;
    refs->full = false;
    keras_collect(x->m, x->m->outputs, refs);
    if (refs->full)
        return keras_fail_model(x->r, STR("model"), "more than 256 outputs");
    for (uint32_t i = 0; i < refs->n; i++) {
        const call_site *s = keras_site_of(x->m, &refs->list[i]);
        uint32_t at = s ? (uint32_t)(s - x->m->sites.items) : 0;
        if (!s || !x->out[at])
            return keras_fail_model(x->r, refs->list[i].layer, "no operator writes an output");
        int64_t k = refs->list[i].tensor;
        out[(*n_out)++] = k >= 0 && k < x->n_out[at] ? x->out[at][k] : x->out[at][0];
    }
    return *n_out ? ASSAY_OK : keras_fail_model(x->r, STR("model"), "it has no outputs");
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

assay_status keras_run_model(keras_reader *r, keras_layer *l, const ir_t *in, uint32_t n, ir_t *out,
                             uint32_t *n_out)
{
    if (!l->inner)
        TRY(keras_open_model(r, l));
    running *x = ARENA_NEW(r->a, running);
    TRY_MEMORY(x, r->f.err);
    x->r = r;
    x->m = l->inner;
    x->out = ARENA_ARRAY(r->a, ir_t *, (size_t)x->m->sites.n + 1);
    x->n_out = ARENA_ARRAY(r->a, uint32_t, (size_t)x->m->sites.n + 1);
    TRY_MEMORY(x->out && x->n_out, r->f.err);
    return x->m->sequential ? run_sequence(x, in, n, out, n_out)
                            : run_functional(x, in, n, out, n_out);
}

bool keras_nested(keras_call *c)
{
    return keras_run_model(c->r, c->l, c->in, c->n_in, c->out, &c->n_out) == ASSAY_OK;
}
