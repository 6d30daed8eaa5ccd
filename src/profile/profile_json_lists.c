/* The sections of the JSON document that are lists: layers, modules, values, the memory plan, training.
 * An item takes one line. */
#include "base/map.h"
#include "profile/profile_json.h"

/* ---- layers ---- */

static void put_names(json_writer *w, const char *key, const profile_tensor *t, uint32_t n)
{
    json_key(w, key);
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i++)
        json_str(w, t[i].name);
    json_end(w);
}

static void put_shapes(json_writer *w, const char *key, const profile_tensor *t, uint32_t n)
{
    json_key(w, key);
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i++)
        put_shape(w, &t[i].shape);
    json_end(w);
}

static void put_types(json_writer *w, const char *key, const profile_tensor *t, uint32_t n)
{
    json_key(w, key);
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i++)
        put_dtype(w, t[i].dtype);
    json_end(w);
}

static void put_layer_cost(json_writer *w, const profile_layer *l)
{
    key_u64(w, "parameters", l->parameters);
    key_u64(w, "flops", l->flops);
    key_u64(w, "macs", l->macs);
    key_u64(w, "memory", l->memory);
    key_u64(w, "weight_bytes", l->weight_bytes);
    key_u64(w, "read_bytes", l->read_bytes);
    key_u64(w, "written_bytes", l->written_bytes);
    key_f64(w, "arithmetic_intensity", l->arithmetic_intensity);
    key_cstr(w, "bottleneck", l->compute_bound ? "compute-bound" : "memory-bound");
    key_cstr(w, "band", l->band);
    key_cstr(w, "certainty", profile_certainty_name(l->certainty));
    key_u64(w, "times", l->times);
    key_u64(w, "live_bytes", l->live_bytes);
}

static void put_attributes(json_writer *w, const attribute_list *a)
{
    json_key(w, "attributes");
    json_flat_object(w);
    for (uint32_t i = 0; i < a->n; i++) {
        json_key_str(w, a->items[i].name);
        attribute_json(w, &a->items[i]);
    }
    json_end(w);
}

/* roof: per cent of it, or negative. */
static void put_layer(json_writer *w, const profile_layer *l, bool training, double roof)
{
    json_flat_object(w);
    key_str(w, "name", l->name);
    key_str(w, "type", l->type);
    key_str(w, "op", l->op);
    key_str(w, "module", l->module);
    put_names(w, "inputs", l->inputs, l->n_inputs);
    put_names(w, "outputs", l->outputs, l->n_outputs);
    put_shapes(w, "input_shapes", l->inputs, l->n_inputs);
    put_shapes(w, "output_shapes", l->outputs, l->n_outputs);
    put_types(w, "output_types", l->outputs, l->n_outputs);
    if (l->attributes_told)
        put_attributes(w, &l->attributes);
    put_layer_cost(w, l);
    if (training) {
        key_u64(w, "backward_flops", l->backward_flops);
        key_u64(w, "backward_macs", l->backward_macs);
        key_u64(w, "saved_bytes", l->saved_bytes);
    }
    if (l->time_ms >= 0) {
        key_f64(w, "time_ms", l->time_ms);
        key_f64(w, "time_std_ms", l->time_std_ms);
    }
    if (l->time_ms > 0) {
        key_f64(w, "gflops_per_s", (double)l->flops / l->time_ms / 1e6);
        key_f64(w, "gbytes_per_s", (double)l->memory / l->time_ms / 1e6);
    }
    if (roof >= 0)
        key_f64(w, "percent_of_roof", roof);
    json_end(w);
}

void profile_json_layers(json_writer *w, const profile *p)
{
    json_key(w, "layers");
    json_array(w);
    for (uint32_t i = 0; i < p->n_layers; i++)
        put_layer(w, &p->layers[i], p->training.present, profile_percent_of_roof(p, &p->layers[i]));
    json_end(w);
}

void profile_json_modules(json_writer *w, const profile *p)
{
    if (p->n_modules == 0)
        return;
    json_key(w, "modules");
    json_array(w);
    for (uint32_t i = 0; i < p->n_modules; i++) {
        const profile_module *m = &p->modules[i];
        json_flat_object(w);
        key_str(w, "path", m->path);
        key_str(w, "name", m->name);
        key_i64(w, "depth", m->depth);
        key_u64(w, "layers", m->layers);
        key_u64(w, "parameters", m->parameters);
        key_u64(w, "flops", m->flops);
        key_u64(w, "macs", m->macs);
        key_u64(w, "memory", m->memory);
        json_end(w);
    }
    json_end(w);
}

/* Branches of one If may use the same name twice; a JSON object may not. The later one gets its
 * number in the list behind the name. */
void profile_json_values(json_writer *w, const profile *p)
{
    arena *a = p->n_values ? arena_new(SIZE_MAX) : NULL;
    map seen;
    if (p->n_values == 0)
        return;
    if (!a || !map_init(&seen, a, p->n_values))
        w->out->failed = true;
    json_key(w, "values");
    json_object(w);
    for (uint32_t i = 0; i < p->n_values && !w->out->failed; i++) {
        str name = p->values[i].name;
        if (map_get(&seen, name) != MAP_NONE)
            name = str_printf(a, STR_FMT "#%u", STR_ARG(name), i);
        if (!map_put(&seen, name, i))
            w->out->failed = true;
        json_key_str(w, name);
        json_flat_object(w);
        put_value(w, &p->values[i]);
        if (p->values[i].certainty)
            key_cstr(w, "certainty", p->values[i].certainty);
        json_end(w);
    }
    json_end(w);
    arena_free(a);
}

/* ---- memory plan, training ---- */

static void put_witnesses(json_writer *w, const char *key, const profile_witness *list, uint32_t n)
{
    json_key(w, key);
    json_array(w);
    for (uint32_t i = 0; i < n; i++) {
        json_flat_object(w);
        key_str(w, "value", list[i].value);
        key_str(w, "producer", list[i].producer);
        key_u64(w, "bytes", list[i].bytes);
        json_end(w);
    }
    json_end(w);
}

static void put_slots(json_writer *w, const profile_memory_plan *m)
{
    json_key(w, "slots");
    json_array(w);
    for (uint32_t i = 0; i < m->n_slots; i++) {
        const profile_slot *s = &m->slots[i];
        json_flat_object(w);
        key_str(w, "value", s->value);
        key_u64(w, "offset", s->offset);
        key_u64(w, "bytes", s->bytes);
        key_u64(w, "from", s->from);
        key_u64(w, "to", s->to);
        json_end(w);
    }
    json_end(w);
}

static void put_event(json_writer *w, const profile_event *e)
{
    json_flat_object(w);
    key_u64(w, "step", e->step);
    key_cstr(w, "kind", e->kind);
    key_str(w, "node", e->node);
    key_str(w, "value", e->value);
    key_str_or_null(w, "of", e->of);
    key_u64(w, "bytes", e->bytes);
    key_u64(w, "slot", e->slot);
    key_u64(w, "offset", e->offset);
    key_u64(w, "live_bytes", e->live_bytes);
    json_end(w);
}

static void put_snapshot(json_writer *w, const profile_snapshot *s)
{
    json_object(w);
    key_cstr(w, "kind", s->kind);
    key_u64(w, "step", s->step);
    key_str(w, "node", s->node);
    key_u64(w, "live_bytes", s->live_bytes);
    put_witnesses(w, "values", s->values, s->n_values);
    key_u64(w, "values_left_out", s->left_out);
    json_end(w);
}

static void put_events(json_writer *w, const profile_memory_plan *m)
{
    json_key(w, "events");
    json_array(w);
    for (uint32_t i = 0; i < m->n_events; i++)
        put_event(w, &m->events[i]);
    json_end(w);
    json_key(w, "snapshots");
    json_array(w);
    for (uint32_t i = 0; i < m->n_snapshots; i++)
        put_snapshot(w, &m->snapshots[i]);
    json_end(w);
}

void profile_json_memory_plan(json_writer *w, const profile *p)
{
    const profile_memory_plan *m = &p->memory_plan;
    json_key(w, "memory_plan");
    json_object(w);
    key_u64(w, "weights_bytes", m->weights_bytes);
    key_u64(w, "activations_peak_bytes", m->activations_peak_bytes);
    key_u64(w, "peak_bytes", m->peak_bytes);
    key_u64(w, "lower_bound_bytes", m->lower_bound_bytes);
    key_u64(w, "planned_bytes", m->planned_bytes);
    key_f64(w, "fragmentation", profile_plan_fragmentation(m));
    key_str_or_null(w, "peak_node", m->peak_node);
    if (m->kv_cache)
        key_cstr(w, "kv_cache", m->kv_cache);
    put_witnesses(w, "witnesses", m->witnesses, m->n_witnesses);
    json_key(w, "timeline");
    json_array(w);
    for (uint32_t i = 0; i < m->n_timeline; i++) {
        json_flat_object(w);
        key_str(w, "node", m->timeline[i].node);
        key_u64(w, "live_bytes", m->timeline[i].live_bytes);
        json_end(w);
    }
    json_end(w);
    if (p->n_values > 0 || m->n_events > 0)
        put_slots(w, m);
    if (m->n_events > 0)
        put_events(w, m);
    json_end(w);
}

void profile_json_training(json_writer *w, const profile_training *t)
{
    if (!t->present)
        return;
    json_key(w, "training");
    json_object(w);
    key_u64(w, "forward_flops", t->forward_flops);
    key_u64(w, "backward_flops", t->backward_flops);
    key_u64(w, "forward_macs", t->forward_macs);
    key_u64(w, "backward_macs", t->backward_macs);
    key_u64(w, "saved_activation_bytes", t->saved_activation_bytes);
    json_key(w, "optimizers");
    json_array(w);
    for (uint32_t i = 0; i < t->n_optimizers; i++) {
        const profile_optimizer *o = &t->optimizers[i];
        json_flat_object(w);
        key_cstr(w, "name", o->name);
        key_u64(w, "bytes_per_param", o->bytes_per_param);
        key_u64(w, "weights_bytes", o->weights_bytes);
        key_u64(w, "gradients_bytes", o->gradients_bytes);
        key_u64(w, "states_bytes", o->states_bytes);
        key_u64(w, "total_bytes", o->total_bytes);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

void profile_json_inventory(json_writer *w, const profile_inventory *i)
{
    if (!i->present)
        return;
    json_key(w, "inventory");
    json_object(w);
    key_u64(w, "tensors", i->tensors);
    key_u64(w, "elements", i->elements);
    key_u64(w, "bytes", i->bytes);
    json_key(w, "largest");
    json_array(w);
    for (uint32_t k = 0; k < i->n_largest; k++) {
        const profile_weight *x = &i->largest[k];
        json_flat_object(w);
        key_str(w, "name", x->name);
        key_str(w, "dtype", x->dtype);
        json_key(w, "shape");
        put_shape(w, &x->shape);
        key_u64(w, "elements", x->elements);
        key_u64(w, "bytes", x->bytes);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}
