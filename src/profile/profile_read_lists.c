/* The lists of a result read back: layers, modules, values, the memory plan, training, inventory. */
#include "profile/profile_read_impl.h"

/* ---- tensors ---- */

static const read_row tensor_rows[] = {
    ROW_STR(profile_tensor, "name", name),
    {.key = "dtype", .kind = READ_DTYPE, .at = offsetof(profile_tensor, dtype)},
    {.key = "shape", .kind = READ_SHAPE, .at = offsetof(profile_tensor, shape)},
    ROW_WORD(profile_tensor, "kind", kind),
    ROW_WORD(profile_tensor, "certainty", certainty),
};
static const profile_tensor tensor_start = {.kind = "tensor", .shape = {.rank = -1}};

static bool finish_tensor(reader *r, void *base)
{
    (void)r;
    profile_tensor *t = base;
    t->kind = t->kind ? t->kind : "tensor";
    return true;
}

const read_table read_tensor_table = {
    READ_TABLE(tensor_rows), .size = sizeof(profile_tensor), .start = &tensor_start,
    .name_at = offsetof(profile_tensor, name), .finish = finish_tensor};

/* ---- layers ---- */

/* A layer's tensors stand in lists beside each other: names, shapes, types. */
typedef struct doc_layer {
    profile_layer l;
    profile_tensor *in, *out;
    uint32_t n_in, n_in_shapes, n_out, n_out_shapes, n_out_types, cap_in, cap_out;
} doc_layer;

/* Tensor `index` of the list, which grows by whichever of the three comes first. */
static profile_tensor *tensor_at(reader *r, profile_tensor **list, uint32_t index, uint32_t *cap)
{
    uint32_t n = index;
    if (index < *cap && (*list)[index].kind)
        return &(*list)[index];
    profile_tensor *t = read_push(r, (void **)list, &n, cap, sizeof **list);
    if (t)
        *t = tensor_start;
    return t;
}

typedef bool read_part(reader *r, profile_tensor *t);

static bool part_name(reader *r, profile_tensor *t)
{
    return read_text(r, &t->name);
}

static bool part_shape(reader *r, profile_tensor *t)
{
    return read_shape(r, &t->shape);
}

static bool part_dtype(reader *r, profile_tensor *t)
{
    str s = {0};
    if (!scan_null(&r->s) && !scan_str(&r->s, &s))
        return false;
    t->dtype = s.n ? ir_dtype_by_name(s) : IR_UNDEFINED;
    return true;
}

static bool read_parts(reader *r, read_part *part, profile_tensor **list, uint32_t *n,
                       uint32_t *cap)
{
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        if (!read_enter(r, (str){0}, *n))
            return false;
        profile_tensor *t = tensor_at(r, list, *n, cap);
        if (!t || !part(r, t))
            return false;
        (*n)++;
        read_leave(r);
    }
    return !r->s.failed;
}

static bool read_inputs(reader *r, void *base)
{
    doc_layer *d = base;
    return read_parts(r, part_name, &d->in, &d->n_in, &d->cap_in);
}

static bool read_input_shapes(reader *r, void *base)
{
    doc_layer *d = base;
    return read_parts(r, part_shape, &d->in, &d->n_in_shapes, &d->cap_in);
}

static bool read_outputs(reader *r, void *base)
{
    doc_layer *d = base;
    return read_parts(r, part_name, &d->out, &d->n_out, &d->cap_out);
}

static bool read_output_shapes(reader *r, void *base)
{
    doc_layer *d = base;
    return read_parts(r, part_shape, &d->out, &d->n_out_shapes, &d->cap_out);
}

static bool read_output_types(reader *r, void *base)
{
    doc_layer *d = base;
    return read_parts(r, part_dtype, &d->out, &d->n_out_types, &d->cap_out);
}

static bool read_attributes(reader *r, void *base)
{
    return profile_read_attributes(r, &((doc_layer *)base)->l);
}

static bool read_bottleneck(reader *r, void *base)
{
    str s;
    if (!scan_str(&r->s, &s))
        return false;
    ((doc_layer *)base)->l.compute_bound = str_is(s, "compute-bound");
    return true;
}

static bool read_certainty(reader *r, void *base)
{
    str s;
    if (!scan_str(&r->s, &s))
        return false;
    ((doc_layer *)base)->l.certainty = str_is(s, "exact")     ? PROFILE_EXACT
                                       : str_is(s, "assumed") ? PROFILE_ASSUMED
                                                              : PROFILE_UNKNOWN;
    return true;
}

static const read_row layer_rows[] = {
    ROW_STR(doc_layer, "name", l.name),
    ROW_STR(doc_layer, "type", l.type),
    ROW_STR(doc_layer, "op", l.op),
    ROW_STR(doc_layer, "module", l.module),
    ROW_CALL("inputs", read_inputs),
    ROW_CALL("outputs", read_outputs),
    ROW_CALL("input_shapes", read_input_shapes),
    ROW_CALL("output_shapes", read_output_shapes),
    ROW_CALL("output_types", read_output_types),
    ROW_CALL("attributes", read_attributes),
    ROW_U64(doc_layer, "parameters", l.parameters),
    ROW_U64(doc_layer, "flops", l.flops),
    ROW_U64(doc_layer, "macs", l.macs),
    ROW_U64(doc_layer, "memory", l.memory),
    ROW_U64(doc_layer, "weight_bytes", l.weight_bytes),
    ROW_U64(doc_layer, "read_bytes", l.read_bytes),
    ROW_U64(doc_layer, "written_bytes", l.written_bytes),
    ROW_F64(doc_layer, "arithmetic_intensity", l.arithmetic_intensity, NULL_NAN),
    ROW_CALL("bottleneck", read_bottleneck),
    ROW_WORD(doc_layer, "band", l.band),
    ROW_CALL("certainty", read_certainty),
    ROW_U64(doc_layer, "times", l.times),
    ROW_U64(doc_layer, "live_bytes", l.live_bytes),
    ROW_U64(doc_layer, "backward_flops", l.backward_flops),
    ROW_U64(doc_layer, "backward_macs", l.backward_macs),
    ROW_U64(doc_layer, "saved_bytes", l.saved_bytes),
    ROW_F64(doc_layer, "time_ms", l.time_ms, NULL_MINUS_ONE),
    ROW_F64(doc_layer, "time_std_ms", l.time_std_ms, NULL_MINUS_ONE),
};
static const read_table layer_table = {READ_TABLE(layer_rows)};

static bool finish_layer(reader *r, doc_layer *d)
{
    if ((d->n_in_shapes && d->n_in_shapes != d->n_in) ||
        (d->n_out_shapes && d->n_out_shapes != d->n_out) ||
        (d->n_out_types && d->n_out_types != d->n_out))
        return read_fail(r, "The lists of names, shapes and types are not of one length.");
    d->l.inputs = d->in;
    d->l.n_inputs = d->n_in;
    d->l.outputs = d->out;
    d->l.n_outputs = d->n_out;
    d->l.band = d->l.band ? d->l.band : "";
    return true;
}

bool read_layers(reader *r, void *base)
{
    doc *d = base;
    uint32_t cap = 0;
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        doc_layer one = {.l = {.times = 1, .time_ms = -1, .time_std_ms = -1}};
        if (!read_enter(r, (str){0}, d->p.n_layers) || !read_object(r, &layer_table, &one) ||
            !finish_layer(r, &one))
            return false;
        profile_layer *l = read_push(r, (void **)&d->p.layers, &d->p.n_layers, &cap,
                                     sizeof(profile_layer));
        if (!l)
            return false;
        *l = one.l;
        read_leave(r);
    }
    return !r->s.failed;
}

/* ---- modules ---- */

static const read_row module_rows[] = {
    ROW_STR(profile_module, "path", path),
    ROW_STR(profile_module, "name", name),
    {.key = "depth", .kind = READ_INT, .at = offsetof(profile_module, depth)},
    ROW_U64(profile_module, "layers", layers),
    ROW_U64(profile_module, "parameters", parameters),
    ROW_U64(profile_module, "flops", flops),
    ROW_U64(profile_module, "macs", macs),
    ROW_U64(profile_module, "memory", memory),
};
static const read_table module_table = {READ_TABLE(module_rows), .size = sizeof(profile_module)};

/* The tree is in depth-first order, so a module's parent is the last one before it that is one level up. */
bool read_modules(reader *r, void *base)
{
    doc *d = base;
    void *items;
    if (!read_list(r, &module_table, &items, &d->p.n_modules))
        return false;
    profile_module *m = items;
    for (uint32_t i = 0; i < d->p.n_modules; i++) {
        if (m[i].depth > (i ? m[i - 1].depth + 1 : 0))
            return read_fail(r, "A module stands deeper than one level below the one before it.");
        uint32_t up = i ? i - 1 : 0;
        while (m[i].depth > 0 && m[up].depth >= m[i].depth)
            up = m[up].parent;
        m[i].parent = m[i].depth > 0 ? up : 0;
    }
    d->p.modules = m;
    return true;
}

/* ---- memory plan, training, inventory ---- */

static const read_row witness_rows[] = {
    ROW_STR(profile_witness, "value", value),
    ROW_STR(profile_witness, "producer", producer),
    ROW_U64(profile_witness, "bytes", bytes),
};
static const read_table witness_table = {READ_TABLE(witness_rows), .size = sizeof(profile_witness)};

static const read_row moment_rows[] = {
    ROW_STR(profile_moment, "node", node),
    ROW_U64(profile_moment, "live_bytes", live_bytes),
};
static const read_table moment_table = {READ_TABLE(moment_rows), .size = sizeof(profile_moment)};

static const read_row slot_rows[] = {
    ROW_STR(profile_slot, "value", value),
    ROW_U64(profile_slot, "offset", offset),
    ROW_U64(profile_slot, "bytes", bytes),
    {.key = "from", .kind = READ_U32, .at = offsetof(profile_slot, from)},
    {.key = "to", .kind = READ_U32, .at = offsetof(profile_slot, to)},
};
static const read_table slot_table = {READ_TABLE(slot_rows), .size = sizeof(profile_slot)};

static const read_row event_rows[] = {
    ROW_WORD(profile_event, "kind", kind),
    ROW_STR(profile_event, "node", node),
    ROW_STR(profile_event, "value", value),
    ROW_STR(profile_event, "of", of),
    {.key = "step", .kind = READ_U32, .at = offsetof(profile_event, step)},
    {.key = "slot", .kind = READ_U32, .at = offsetof(profile_event, slot)},
    ROW_U64(profile_event, "bytes", bytes),
    ROW_U64(profile_event, "offset", offset),
    ROW_U64(profile_event, "live_bytes", live_bytes),
};
static const read_table event_table = {READ_TABLE(event_rows), .size = sizeof(profile_event)};

static const read_row snapshot_rows[] = {
    ROW_WORD(profile_snapshot, "kind", kind),
    ROW_STR(profile_snapshot, "node", node),
    {.key = "step", .kind = READ_U32, .at = offsetof(profile_snapshot, step)},
    ROW_U64(profile_snapshot, "live_bytes", live_bytes),
    ROW_LIST(profile_snapshot, "values", values, n_values, witness_table),
    ROW_U64(profile_snapshot, "values_left_out", left_out),
};
static const read_table snapshot_table = {READ_TABLE(snapshot_rows),
                                          .size = sizeof(profile_snapshot)};

static const read_row memory_plan_rows[] = {
    ROW_U64(profile_memory_plan, "weights_bytes", weights_bytes),
    ROW_U64(profile_memory_plan, "activations_peak_bytes", activations_peak_bytes),
    ROW_U64(profile_memory_plan, "peak_bytes", peak_bytes),
    ROW_U64(profile_memory_plan, "lower_bound_bytes", lower_bound_bytes),
    ROW_U64(profile_memory_plan, "planned_bytes", planned_bytes),
    ROW_STR(profile_memory_plan, "peak_node", peak_node),
    ROW_WORD(profile_memory_plan, "kv_cache", kv_cache),
    ROW_LIST(profile_memory_plan, "witnesses", witnesses, n_witnesses, witness_table),
    ROW_LIST(profile_memory_plan, "timeline", timeline, n_timeline, moment_table),
    ROW_LIST(profile_memory_plan, "slots", slots, n_slots, slot_table),
    ROW_LIST(profile_memory_plan, "events", events, n_events, event_table),
    ROW_LIST(profile_memory_plan, "snapshots", snapshots, n_snapshots, snapshot_table),
};
const read_table read_memory_plan_table = {READ_TABLE(memory_plan_rows)};

static const read_row optimizer_rows[] = {
    ROW_WORD(profile_optimizer, "name", name),
    ROW_U64(profile_optimizer, "bytes_per_param", bytes_per_param),
    ROW_U64(profile_optimizer, "weights_bytes", weights_bytes),
    ROW_U64(profile_optimizer, "gradients_bytes", gradients_bytes),
    ROW_U64(profile_optimizer, "states_bytes", states_bytes),
    ROW_U64(profile_optimizer, "total_bytes", total_bytes),
};
static const read_table optimizer_table = {READ_TABLE(optimizer_rows),
                                           .size = sizeof(profile_optimizer)};

static bool read_optimizers(reader *r, void *base)
{
    profile_training *t = base;
    void *items;
    uint32_t n;
    if (!read_list(r, &optimizer_table, &items, &n))
        return false;
    if (n > sizeof t->optimizers / sizeof *t->optimizers)
        return read_fail(r, "There are more optimizers than this version knows.");
    if (n)
        memcpy(t->optimizers, items, n * sizeof *t->optimizers);
    for (uint32_t i = 0; i < n; i++)
        t->optimizers[i].name = t->optimizers[i].name ? t->optimizers[i].name : "";
    t->n_optimizers = n;
    return true;
}

static const read_row training_rows[] = {
    ROW_U64(profile_training, "forward_flops", forward_flops),
    ROW_U64(profile_training, "backward_flops", backward_flops),
    ROW_U64(profile_training, "forward_macs", forward_macs),
    ROW_U64(profile_training, "backward_macs", backward_macs),
    ROW_U64(profile_training, "saved_activation_bytes", saved_activation_bytes),
    ROW_CALL("optimizers", read_optimizers),
};
const read_table read_training_table = {READ_TABLE(training_rows),
                                        .present = 1 + offsetof(profile_training, present)};

static const read_row weight_rows[] = {
    ROW_STR(profile_weight, "name", name),
    ROW_STR(profile_weight, "dtype", dtype),
    {.key = "shape", .kind = READ_SHAPE, .at = offsetof(profile_weight, shape)},
    ROW_U64(profile_weight, "elements", elements),
    ROW_U64(profile_weight, "bytes", bytes),
};
static const profile_weight weight_start = {.shape = {.rank = -1}};
static const read_table weight_table = {READ_TABLE(weight_rows), .size = sizeof(profile_weight),
                                        .start = &weight_start};

static const read_row inventory_rows[] = {
    ROW_U64(profile_inventory, "tensors", tensors),
    ROW_U64(profile_inventory, "elements", elements),
    ROW_U64(profile_inventory, "bytes", bytes),
    ROW_LIST(profile_inventory, "largest", largest, n_largest, weight_table),
};
const read_table read_inventory_table = {READ_TABLE(inventory_rows),
                                         .present = 1 + offsetof(profile_inventory, present)};
