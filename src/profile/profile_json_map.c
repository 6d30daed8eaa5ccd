/* The model on devices: `devices`, one line per device, precision and batch, and `map`, what they were made
 * from: the hardware rows, what is not there, the Pareto table and how much the figures are worth.
 */
#include "profile/profile_json.h"

/* Rounded to what means something: these are predictions. */
static void key_ms(json_writer *w, const char *key, double v)
{
    key_fixed(w, key, v, 6);
}

static void key_percent(json_writer *w, const char *key, double v)
{
    key_fixed(w, key, v, 2);
}

/* 0: not known. */
static void key_known(json_writer *w, const char *key, double v)
{
    json_key(w, key);
    if (v > 0)
        json_f64(w, v);
    else
        json_null(w);
}

static void put_training(json_writer *w, const mapping_row *r)
{
    if (!r->trains)
        return;
    key_u64(w, "training_memory_bytes", r->training_memory_bytes);
    key_bool(w, "training_fits", r->training_fits);
    key_ms(w, "training_step_ms", r->training_step_ms);
}

static void put_row(json_writer *w, const profile_mapping *m, const mapping_row *r)
{
    json_flat_object(w);
    key_str(w, "name", m->hardware[r->hardware].id);
    key_cstr(w, "precision", r->precision);
    key_i64(w, "batch", r->batch);
    key_ms(w, "latency_ms", r->latency_ms);
    if (r->latency_high_ms > 0) {
        key_ms(w, "latency_low_ms", r->latency_low_ms);
        key_ms(w, "latency_high_ms", r->latency_high_ms);
    }
    key_ms(w, "throughput", r->throughput);
    key_u64(w, "memory_bytes", r->memory_bytes);
    key_bool(w, "fits", r->fits);
    key_cstr(w, "verdict", r->verdict);
    key_cstr(w, "bound", r->bound);
    key_u64(w, "weights_bytes", r->weights_bytes);
    key_u64(w, "activations_bytes", r->activations_bytes);
    key_known(w, "energy_j_per_sample", r->energy_j);
    put_training(w, r);
    key_percent(w, "compute_bound_percent", r->compute_percent);
    key_percent(w, "memory_bound_percent", r->memory_percent);
    key_percent(w, "overhead_bound_percent", r->overhead_percent);
    key_percent(w, "percent_of_peak", r->percent_of_peak);
    key_percent(w, "gain_from_10_percent_flops", r->gain_flops_percent);
    key_percent(w, "gain_from_10_percent_bandwidth", r->gain_bandwidth_percent);
    key_cstr(w, "speed", r->speed);
    key_cstr(w, "memory_class", r->memory_class);
    key_bool(w, "pareto", r->pareto);
    json_end(w);
}

static void put_precision(json_writer *w, const mapping_precision *p)
{
    json_flat_object(w);
    key_cstr(w, "precision", p->name);
    key_f64(w, "peak_ops_per_s", p->peak);
    key_percent(w, "ridge", p->ridge);
    key_i64(w, "largest_batch", p->largest_batch);
    json_key(w, "largest_training_batch");
    if (p->largest_training_batch < 0)
        json_null(w);
    else
        json_i64(w, p->largest_training_batch);
    json_end(w);
}

static void put_hardware(json_writer *w, const mapping_hardware *h)
{
    json_object(w);
    key_str(w, "id", h->id);
    key_str(w, "name", h->name);
    key_str(w, "class", h->kind);
    key_f64(w, "memory_bytes", h->memory_bytes);
    key_f64(w, "bandwidth_bytes_per_s", h->bandwidth);
    key_known(w, "tdp_w", h->power_w);
    key_f64(w, "overhead_us", h->overhead_s * 1e6);
    key_cstr(w, "widest_precision_that_fits", h->widest);
    key_cstr(w, "cheapest_precision_that_fits", h->cheapest);
    json_key(w, "precisions");
    json_array(w);
    for (uint32_t i = 0; i < h->n_precisions; i++)
        put_precision(w, &h->precisions[i]);
    json_end(w);
    key_str(w, "certainty", h->certainty);
    key_str(w, "source", h->source);
    json_end(w);
}

static void put_pareto(json_writer *w, const profile_mapping *m)
{
    json_key(w, "pareto");
    json_object(w);
    key_cstr(w, "goal", m->goal);
    key_cstr(w, "against", m->against);
    key_known(w, "limit", m->limit);
    key_cstr(w, "limit_unit", m->goal_unit);
    key_u64(w, "left_out_power_unknown", m->n_no_power);
    json_key(w, "rows");
    json_flat_array(w);
    for (uint32_t i = 0; i < m->n_pareto; i++)
        json_u64(w, m->pareto[i]);
    json_end(w);
    json_end(w);
}

static void put_skipped(json_writer *w, const profile_mapping *m)
{
    json_key(w, "skipped");
    json_array(w);
    for (uint32_t i = 0; i < m->n_skipped; i++) {
        json_flat_object(w);
        key_str(w, "name", m->skipped[i].device);
        key_cstr(w, "precision", m->skipped[i].precision);
        json_end(w);
    }
    json_end(w);
}

static void put_layers(json_writer *w, const profile_mapping *m)
{
    if (!m->n_layers)
        return;
    json_key(w, "layers");
    json_array(w);
    for (uint32_t i = 0; i < m->n_all_layers; i++) {
        const mapping_layer *l = &m->layers[i];
        json_flat_object(w);
        key_str(w, "device", l->device);
        key_str(w, "name", l->name);
        key_str(w, "type", l->type);
        key_ms(w, "time_ms", l->time_ms);
        key_cstr(w, "bound", l->bound);
        key_percent(w, "percent_of_peak", l->percent_of_peak);
        json_end(w);
    }
    json_end(w);
}

static void put_calibration(json_writer *w, const mapping_calibration *c)
{
    if (!c->present)
        return;
    json_key(w, "calibration");
    json_object(w);
    key_str(w, "device", c->device);
    key_str(w, "engine", c->engine);
    key_f64(w, "median_error", c->median_error);
    key_f64(w, "interval_low", c->low);
    key_f64(w, "interval_high", c->high);
    key_u64(w, "runs", c->runs);
    key_percent(w, "known_percent", c->known_percent);
    json_end(w);
}

void profile_json_map(json_writer *w, const profile_mapping *m)
{
    if (!m)
        return;
    json_key(w, "devices");
    json_array(w);
    for (uint32_t i = 0; i < m->n_rows; i++)
        put_row(w, m, &m->rows[i]);
    json_end(w);
    json_key(w, "map");
    json_object(w);
    key_cstr(
        w, "prediction",
        m->calibration.present
            ? "of calibration.device at fp32 from measured kernels, else roofline, not calibrated"
            : "roofline, not calibrated");
    put_calibration(w, &m->calibration);
    json_key(w, "fixed_batch");
    if (m->fixed_batch)
        json_i64(w, m->fixed_batch);
    else
        json_null(w);
    put_pareto(w, m);
    json_key(w, "hardware");
    json_array(w);
    for (uint32_t i = 0; i < m->n_hardware; i++)
        put_hardware(w, &m->hardware[i]);
    json_end(w);
    put_skipped(w, m);
    put_layers(w, m);
    json_end(w);
}
