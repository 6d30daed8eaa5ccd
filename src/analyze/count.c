/* Layers and totals: every node that runs becomes a layer with its cost vector and bytes, times the
 * runs of the graph it stands in; sums by operator type; arithmetic intensity and its bands.
 */
#include <assert.h>
#include <math.h>

#include "analyze/count.h"

#include <stdlib.h>

#include "analyze/axis_roles.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sbuf.h"

typedef struct counter {
    infer_result *r;
    const count_options *opt;
    const lens *lens;
    profile *p;
    weights w;
    VEC(profile_layer) layers;
    VEC(ir_id) nodes;    /* the node after each layer */
    VEC(uint64_t) times; /* and how often it runs */
    VEC(load_step) loaded;
    uint32_t *place; /* [n_values] in described, counted from 1 */
    VEC(profile_tensor) described;
    uint32_t inside_assumed; /* control flow around the node at hand that rests on an assumption */
    VEC(profile_item) items;
    module_memo last_module;
    const op_info **in;
    op_info *out;
    op_cost cost;
    uint32_t n_in, n_out;
} counter;

/* ---- room for one node ---- */

static bool reserve(counter *x, const ir_node *n)
{
    arena *a = x->r->arena;
    if (!x->in || n->n_inputs > x->n_in) {
        x->n_in = n->n_inputs * 2 + 8;
        x->in = ARENA_ARRAY(a, const op_info *, x->n_in);
        x->cost.read = ARENA_ARRAY(a, uint64_t, x->n_in);
    }
    if (!x->out || n->n_outputs > x->n_out) {
        x->n_out = n->n_outputs * 2 + 8;
        x->out = ARENA_ARRAY(a, op_info, x->n_out);
        x->cost.written = ARENA_ARRAY(a, uint64_t, x->n_out);
    }
    return x->in && x->out && x->cost.read && x->cost.written;
}

/* ---- the walk over graphs ---- */

static bool add_loaded(counter *x, ir_id node)
{
    load_step *step = VEC_PUSH(x->r->arena, &x->loaded);
    if (step)
        *step = (load_step){.node = node};
    return step != NULL;
}

typedef bool visit_fn(counter *x, ir_id node, uint64_t times);

static bool runs(const infer_result *r, ir_id node)
{
    return (r->state[node] & (INFER_REACHED | INFER_FOLDED | INFER_LOADED)) == INFER_REACHED;
}

/* times: runs of `graph` per run of the model, or per run of the walk's root. */
static bool walk_graph(counter *x, ir_id graph, uint64_t times, bool absolute, visit_fn *visit)
{
    const ir_graph *g = ir_graph_at(x->r->model, graph);
    for (uint32_t k = 0; k < g->nodes.n; k++) {
        ir_id id = g->nodes.items[k];
        const ir_node *n = ir_node_at(x->r->model, id);
        if (x->r->state[id] & INFER_LOADED && !add_loaded(x, id))
            return false;
        if (!runs(x->r, id))
            continue;
        if (!visit(x, id, times))
            return false;
        bool assumed = x->r->state[id] & INFER_ASSUMED;
        x->inside_assumed += assumed;
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t i = 0; i < inner.n; i++) {
                uint64_t t = x->r->times[inner.ids[i]];
                t = absolute ? t : sat_mul(times, t);
                if (t && !walk_graph(x, inner.ids[i], t, absolute, visit))
                    return false;
            }
        }
        x->inside_assumed -= assumed;
    }
    return true;
}

static void cost_of(counter *x, ir_id node, op_ctx *c)
{
    infer_context(x->r, node, x->in, x->out, c);
    count_node(x->r, c, x->opt->precision, &x->cost);
}

static bool add_flops(counter *x, ir_id node, uint64_t times)
{
    op_ctx c;
    if (!reserve(x, ir_node_at(x->r->model, node)))
        return false;
    cost_of(x, node, &c);
    x->p->total_flops = sat_add(x->p->total_flops, sat_mul(times, x->lens->flops(&c, &x->cost)));
    return true;
}

uint64_t count_graph_flops(infer_result *r, ir_id graph)
{
    static const count_options plain = {0};
    profile sum = {0};
    counter x = {.r = r, .opt = &plain, .lens = &lens_table[0], .p = &sum};
    walk_graph(&x, graph, 1, false, add_flops);
    return sum.total_flops;
}

/* ---- layers ---- */

static const char *const kind_names[] = {
    [IR_KIND_NONE] = "unknown",         [IR_KIND_TENSOR] = "tensor",
    [IR_KIND_SPARSE] = "sparse_tensor", [IR_KIND_SEQUENCE] = "sequence",
    [IR_KIND_OPTIONAL] = "optional",    [IR_KIND_MAP] = "map",
    [IR_KIND_OPAQUE] = "opaque",
};

/* A sequence or optional is as well known as what it holds. */
static const op_info *held_by(const op_info *x)
{
    while ((x->kind == IR_KIND_SEQUENCE || x->kind == IR_KIND_OPTIONAL) && !x->items && x->elem)
        x = x->elem;
    return x;
}

static bool is_tensor(const op_info *x)
{
    return x->kind == IR_KIND_TENSOR || x->kind == IR_KIND_SPARSE;
}

static bool shape_missing(const op_info *x)
{
    x = held_by(x);
    return x->kind == IR_KIND_NONE || (is_tensor(x) && !op_shape_full(x));
}

static profile_certainty value_certainty(const infer_result *r, ir_id id)
{
    const op_info *x = &r->info[id], *held = held_by(x);
    if (shape_missing(x) || (is_tensor(held) && held->dtype == IR_UNDEFINED))
        return PROFILE_UNKNOWN;
    return x->assumed || x->defaulted ? PROFILE_ASSUMED : PROFILE_EXACT;
}

/* The profile outlives model and analysis, so names and shapes are copied: once per value, however
 * many layers read it. */
static profile_tensor describe(counter *x, ir_id id)
{
    const op_info *info = &x->r->info[id];
    if (x->place[id])
        return x->described.items[x->place[id] - 1];
    profile_tensor *t = VEC_PUSH(x->r->arena, &x->described);
    if (!t)
        return (profile_tensor){0};
    x->place[id] = x->described.n;
    *t = (profile_tensor){.name = str_copy(x->p->arena, ir_value_at(x->r->model, id)->name),
                          .dtype = info->dtype,
                          .kind = kind_names[info->kind],
                          .shape = {.rank = info->rank},
                          .certainty = profile_certainty_name(value_certainty(x->r, id))};
    if (info->rank > 0)
        t->shape.dims = arena_copy(x->p->arena, info->dims,
                                   (size_t)info->rank * sizeof *info->dims);
    return *t;
}

static const profile_tensor *describe_list(counter *x, const ir_id *ids, uint32_t n,
                                           uint32_t *count)
{
    profile_tensor *list = ARENA_ARRAY(x->p->arena, profile_tensor, n ? n : 1);
    *count = 0;
    for (uint32_t k = 0; list && k < n; k++)
        if (ids[k] != IR_NONE)
            list[(*count)++] = describe(x, ids[k]);
    return list;
}

str count_type(const op_row *row, int rank, arena *a)
{
    if (!row)
        return STR("unknown");
    const char *hash = strchr(row->type, '#');
    if (!hash)
        return str_of(row->type);
    return str_printf(a, "%.*s%d%s", (int)(hash - row->type), row->type, rank > 2 ? rank - 2 : 2,
                      hash + 1);
}

static str op_name(counter *x, const ir_node *n)
{
    if (n->domain.n == 0 || str_is(n->domain, "ai.onnx"))
        return str_copy(x->p->arena, n->op);
    return str_printf(x->p->arena, STR_FMT "::" STR_FMT, STR_ARG(n->domain), STR_ARG(n->op));
}

static profile_certainty certainty_of(const counter *x, ir_id node, const op_ctx *c)
{
    /* Trips or a branch that were assumed make all that runs inside them assumed. */
    const uint16_t any_input = OPF_NO_SHAPES | OPF_VIEW | OPF_CONTROL | OPF_SHAPE_ONLY;
    bool assumed = (x->r->state[node] & INFER_ASSUMED) || x->inside_assumed, missing = !c->row;
    for (uint32_t i = 0; i < c->n_in; i++) {
        assumed |= c->in[i] && c->in[i]->assumed;
        missing |= c->in[i] && shape_missing(c->in[i]) && !(c->row && c->row->flags & any_input);
    }
    for (uint32_t o = 0; o < c->n_out; o++) {
        assumed |= c->out[o].assumed;
        missing |= c->node->outputs[o] != IR_NONE && shape_missing(&c->out[o]);
    }
    if (missing || assumed)
        return missing ? PROFILE_UNKNOWN : PROFILE_ASSUMED;
    return c->row->flags & OPF_USER ? PROFILE_USER_DEFINED : PROFILE_EXACT;
}

/* A parameter or buffer, or what was made of constants when the model was loaded. */
static bool holds_weights(const counter *x, ir_id id)
{
    if (!ir_value_at(x->r->model, id)->constant)
        return x->w.fixed[id];
    return x->w.cls[id] == WEIGHT_PARAM || x->w.cls[id] == WEIGHT_BUFFER;
}

static void split_bytes(const counter *x, const op_ctx *c, uint64_t times, profile_layer *l)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        ir_id id = c->in_ids[i];
        uint64_t *slot = id != IR_NONE && holds_weights(x, id) ? &l->weight_bytes : &l->read_bytes;
        *slot = sat_add(*slot, sat_mul(times, x->cost.read[i]));
    }
    for (uint32_t o = 0; o < c->n_out; o++)
        l->written_bytes = sat_add(l->written_bytes, sat_mul(times, x->cost.written[o]));
    l->memory = sat_add(sat_add(l->read_bytes, l->weight_bytes), l->written_bytes);
}

static profile_ops scaled(const op_cost *k, uint64_t times)
{
    return (profile_ops){
        .mac = sat_mul(k->mac, times),
        .add = sat_mul(k->add, times),
        .mul = sat_mul(k->mul, times),
        .div = sat_mul(k->div, times),
        .special = sat_mul(k->special, times),
        .cmp = sat_mul(k->cmp, times),
        .int_ops = sat_mul(k->int_ops, times),
        .causal_mac = sat_mul(k->causal_mac, times),
        .mac_qk = sat_mul(k->mac_qk, times),
        .mac_av = sat_mul(k->mac_av, times),
    };
}

static void add_missing_item(counter *x, const profile_layer *l)
{
    (void)VEC_ADD(
        x->p->arena, &x->items,
        (profile_item){
            .node = l->name,
            .op = l->op,
            .reason = STR("The shape of an input or output is unknown. Its cost is a lower bound."),
            .unknown = true});
}

static bool add_step(counter *x, ir_id node, uint64_t times)
{
    ir_id *of = VEC_PUSH(x->r->arena, &x->nodes);
    uint64_t *runs_per_run = VEC_PUSH(x->r->arena, &x->times);
    if (!of || !runs_per_run)
        return false;
    *of = node;
    *runs_per_run = times;
    return true;
}

static bool reserve_layers(counter *x)
{
    uint32_t n = 0;
    for (ir_id id = 0; id < x->r->model->nodes.n; id++)
        n += runs(x->r, id);
    return VEC_RESERVE(x->p->arena, &x->layers, n) && VEC_RESERVE(x->r->arena, &x->nodes, n) &&
           VEC_RESERVE(x->r->arena, &x->times, n) &&
           VEC_RESERVE(x->r->arena, &x->described, n < UINT32_MAX / 2 ? 2 * n : n);
}

static bool add_layer(counter *x, ir_id node, uint64_t times)
{
    const ir_node *n = ir_node_at(x->r->model, node);
    profile_layer *l = VEC_PUSH(x->p->arena, &x->layers);
    op_ctx c;
    if (!l || !add_step(x, node, times) || !reserve(x, n))
        return false;
    cost_of(x, node, &c);
    l->name = str_copy(x->p->arena, n->name);
    l->op = op_name(x, n);
    l->type = count_type(c.row, op_rank(&c, 0), x->p->arena);
    l->module = count_module_of(n, x->p->arena, &x->last_module);
    l->inputs = describe_list(x, n->inputs, n->n_inputs, &l->n_inputs);
    l->outputs = describe_list(x, n->outputs, n->n_outputs, &l->n_outputs);
    if (!count_attributes(x->r, &x->w, &c, x->p->arena, l))
        return false;
    l->times = times;
    l->ops = scaled(&x->cost, times);
    l->macs = l->ops.mac;
    l->flops = sat_mul(x->lens->flops(&c, &x->cost), times);
    l->parameters = x->w.booked[node];
    split_bytes(x, &c, times, l);
    l->certainty = certainty_of(x, node, &c);
    l->time_ms = l->time_std_ms = NAN;
    if (l->certainty == PROFILE_UNKNOWN && c.row)
        add_missing_item(x, l);
    return true;
}

/* ---- totals ---- */

static void add_ops(profile_ops *sum, const profile_ops *o)
{
    sum->mac = sat_add(sum->mac, o->mac);
    sum->add = sat_add(sum->add, o->add);
    sum->mul = sat_add(sum->mul, o->mul);
    sum->div = sat_add(sum->div, o->div);
    sum->special = sat_add(sum->special, o->special);
    sum->cmp = sat_add(sum->cmp, o->cmp);
    sum->int_ops = sat_add(sum->int_ops, o->int_ops);
    sum->causal_mac = sat_add(sum->causal_mac, o->causal_mac);
    sum->mac_qk = sat_add(sum->mac_qk, o->mac_qk);
    sum->mac_av = sat_add(sum->mac_av, o->mac_av);
}

static void total_layers(counter *x)
{
    profile *p = x->p;
    for (uint32_t k = 0; k < p->n_layers; k++) {
        const profile_layer *l = &p->layers[k];
        add_ops(&p->ops, &l->ops);
        p->total_flops = sat_add(p->total_flops, l->flops);
        p->total_memory = sat_add(p->total_memory, l->memory);
        p->accounting.exact += l->certainty == PROFILE_EXACT;
        p->accounting.assumed += l->certainty == PROFILE_ASSUMED;
        p->accounting.unknown += l->certainty == PROFILE_UNKNOWN;
        p->accounting.user_defined += l->certainty == PROFILE_USER_DEFINED;
    }
    p->total_flops = sat_add(p->total_flops, x->lens->eager ? p->load_time.flops : 0);
    p->total_macs = p->ops.mac;
    p->total_operators = p->accounting.nodes = p->n_layers;
    p->total_parameters = p->architecture.total_parameters;
    p->arithmetic_intensity = num_ratio(count_flops(&p->ops), p->total_memory);
    p->architecture.flops = p->total_flops;
    p->architecture.macs = p->total_macs;
    p->architecture.causal_macs = p->ops.causal_mac;
    p->architecture.operators = p->total_operators;
}

/* ---- accounting ---- */

static assay_status gather_items(counter *x, assay_error *err)
{
    const infer_result *r = x->r;
    profile *p = x->p;
    VEC(profile_item) all = {0};
    for (uint32_t k = 0; k < r->items.n; k++) {
        const infer_item *it = &r->items.items[k];
        const ir_node *n = ir_node_at(r->model, it->node);
        profile_item *slot = VEC_PUSH(p->arena, &all);
        TRY_MEMORY(slot, err);
        *slot = (profile_item){.node = str_copy(p->arena, n->name),
                               .op = op_name(x, n),
                               .reason = str_copy(p->arena, it->reason),
                               .unknown = it->unknown};
    }
    const profile_item *more[] = {x->items.items, p->accounting.items};
    uint32_t n_more[] = {x->items.n, p->accounting.n_items};
    for (int list = 0; list < 2; list++)
        for (uint32_t k = 0; k < n_more[list]; k++) {
            profile_item *slot = VEC_PUSH(p->arena, &all);
            TRY_MEMORY(slot, err);
            *slot = more[list][k];
            slot->node = str_copy(p->arena, slot->node);
        }
    p->accounting.items = all.items;
    p->accounting.n_items = all.n;
    p->accounting.folded = r->model->n_constant_nodes;
    for (ir_id id = 0; id < r->model->nodes.n; id++)
        p->accounting.folded += (r->state[id] & INFER_FOLDED) != 0;
    return ASSAY_OK;
}

static void note_saturation(profile *p)
{
    if (p->total_flops >= NUM_SATURATED || p->total_memory >= NUM_SATURATED)
        notes_add(&p->warnings, "saturated", (str){0}, NULL,
                  "A total exceeds 2^63 and is capped. The model's sizes are not realistic.");
}

/* Not in a branch that is not taken. */
static bool is_there(const infer_result *r, ir_id id)
{
    ir_id producer = ir_value_at(r->model, id)->producer;
    return r->info[id].kind != IR_KIND_NONE ||
           (producer != IR_NONE && r->state[producer] & INFER_REACHED);
}

static void gather_values(counter *x)
{
    const ir_model *m = x->r->model;
    VEC(profile_tensor) all = {0};
    for (ir_id id = 0; x->opt->verbose && id < m->values.n; id++) {
        if (!is_there(x->r, id))
            continue;
        (void)VEC_ADD(x->p->arena, &all, describe(x, id));
    }
    x->p->values = all.items;
    x->p->n_values = all.n;
}

/* Of the first image; a video is none. */
static profile_image_size image_size_of(const profile *p)
{
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const profile_tensor *t = &p->inputs[i];
        axis_input in = {t->name, t->dtype, t->shape.rank, t->shape.dims};
        image_axes image;
        if (t->shape.rank != 4 || !axis_image(&in, AXIS_BATCH_UNKNOWN, &image) || !image.picture)
            continue;
        profile_image_size size = {t->shape.dims[image.height], t->shape.dims[image.width]};
        if (size.height >= 1 && size.width >= 1)
            return size;
    }
    return (profile_image_size){0};
}

static void describe_metadata(const ir_model *m, profile *p)
{
    profile_property *list = ARENA_ARRAY(p->arena, profile_property, (size_t)m->n_properties + 1);
    for (uint32_t i = 0; list && i < m->n_properties; i++)
        list[i] = (profile_property){str_copy(p->arena, m->properties[i].key),
                                     str_copy(p->arena, m->properties[i].value)};
    p->metadata = list;
    p->n_metadata = list ? m->n_properties : 0;
}

static void describe_model(counter *x)
{
    const ir_model *m = x->r->model;
    profile *p = x->p;
    const ir_graph *g = ir_graph_at(m, 0);
    p->model = str_copy(p->arena, m->name);
    p->format = str_copy(p->arena, m->format);
    p->producer = str_copy(p->arena, m->producer);
    describe_metadata(m, p);
    p->lens = str_of(x->lens->name);
    if (x->opt->precision != IR_UNDEFINED)
        p->precision = str_of(ir_dtype_get(x->opt->precision)->name);
    p->ir_version = m->ir_version;
    p->opset = ir_opset_version(m, (str){"", 0});
    p->inputs = describe_list(x, g->inputs.items, g->inputs.n, &p->n_inputs);
    p->outputs = describe_list(x, g->outputs.items, g->outputs.n, &p->n_outputs);
    p->image_size = image_size_of(p);
    p->architecture.file_size_bytes = m->file_size_bytes;
    p->architecture.constant_tensors = m->stored.tensors;
    p->architecture.constant_elements = m->stored.elements;
    p->architecture.constant_bytes = m->stored.bytes;
    p->architecture.parameters_not_in_graph = m->parameters_not_in_graph;
}

/* Additional information for readers of the profile. */
static assay_status add_details(counter *x, assay_error *err)
{
    TRY(count_break_down(x->p, x->r->arena, err));
    TRY(gather_items(x, err));
    TRY(count_user_operators(x->r, x->p, err));
    TRY(count_modules(x->p, err));
    gather_values(x);
    notes_join(&x->p->warnings, &x->r->model->notes);
    notes_join(&x->p->warnings, &x->r->notes);
    note_saturation(x->p);
    return ASSAY_OK;
}

/* An input or output of which nothing is known, even where no operator asks for it. */
static bool lacks_shape(const profile_tensor *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(t[i].certainty, "unknown") == 0)
            return true;
    return false;
}

static counted steps_of(const counter *x)
{
    return (counted){.nodes = x->nodes.items,
                     .times = x->times.items,
                     .n = x->nodes.n,
                     .loaded = x->loaded.items,
                     .n_loaded = x->loaded.n,
                     .weights = x->w};
}

assay_status count_steps(infer_result *r, profile *p, counted *out, assay_error *err)
{
    counter x = {.r = r, .p = p};
    TRY(count_weights(r, p, &x.w, err));
    TRY_MEMORY(walk_graph(&x, 0, 1, true, add_step), err);
    *out = steps_of(&x);
    return ASSAY_OK;
}

assay_status count_run(infer_result *r, const count_options *opt, profile *p, counted *out,
                       assay_error *err)
{
    static const count_options plain = {0};
    counter x = {.r = r, .opt = opt ? opt : &plain, .p = p};
    x.lens = x.opt->lens ? x.opt->lens : &lens_table[0];
    x.place = ARENA_ARRAY(r->arena, uint32_t, r->model->values.n + (size_t)1);
    TRY_MEMORY(x.place, err);
    describe_model(&x);
    TRY(count_weights(r, p, &x.w, err));
    if (x.opt->unoptimised)
        count_unmark_loaded(r, x.w.fixed);
    TRY_MEMORY(reserve_layers(&x) && walk_graph(&x, 0, 1, true, add_layer), err);
    p->layers = x.layers.items;
    p->n_layers = x.layers.n;
    *out = steps_of(&x);
    TRY_MEMORY(count_load_time(r, x.opt->precision, x.lens, out, p), err);
    total_layers(&x);
    count_judge_bounds(x.p, x.opt->threshold);
    TRY(add_details(&x, err));
    p->weights_differ = r->model->weights_differ;
    p->architecture_changed = r->model->architecture_changed;
    p->anything_assumed = p->weights_differ || p->architecture_changed || r->assumed_inputs ||
                          (r->model->input_assumed && !r->resized) || p->accounting.assumed ||
                          p->accounting.unknown || lacks_shape(p->inputs, p->n_inputs) ||
                          lacks_shape(p->outputs, p->n_outputs);
    return arena_failed(p->arena) || arena_failed(r->arena) ? err_no_memory(err) : ASSAY_OK;
}
