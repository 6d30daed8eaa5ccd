/* Devices, and a model on them. */
#include "analyze/map.h"

#include "api/result.h"

#define DEVICES_BYTES ((size_t)16 << 20)

/* ---- devices ---- */

struct assay_devices {
    device_list list;
};

assay_status assay_devices_open(const char *hardware, assay_devices **out, assay_error *err)
{
    arena *a = arena_new(DEVICES_BYTES);
    assay_devices *d = a ? ARENA_NEW(a, assay_devices) : NULL;
    err_clear(err);
    *out = NULL;
    if (!d) {
        arena_free(a);
        return err_no_memory(err);
    }
    d->list.arena = a;
    assay_status s = devices_choose(str_of(hardware ? hardware : "all"), &d->list, err);
    if (s == ASSAY_OK)
        *out = d;
    else
        arena_free(a);
    return s;
}

void assay_devices_free(assay_devices *devices)
{
    if (devices)
        arena_free(devices->list.arena);
}

/* Texts of a device are copies, or literals. */
static const char *text(str s)
{
    return s.p ? s.p : "";
}

bool assay_devices_at(const assay_devices *devices, size_t index, assay_device_info *out)
{
    if (index >= devices->list.rows.n)
        return false;
    const device *d = &devices->list.rows.items[index];
    assay_device_info x = {.id = text(d->id),
                           .aliases = text(d->aliases),
                           .name = text(d->name),
                           .kind = text(d->kind),
                           .certainty = text(d->certainty),
                           .source = text(d->source),
                           .memory_bytes = d->memory_bytes,
                           .bandwidth = d->bandwidth,
                           .power_w = d->power_w,
                           .overhead_s = d->overhead_s,
                           .fp16_acc16 = d->fp16_acc16};
    for (int p = 0; p < DEVICE_PRECISIONS && p < ASSAY_DEVICE_PRECISIONS; p++)
        x.peak[p] = d->peak[p];
    HAND_OUT(out, x);
    return true;
}

const char *assay_device_precision(size_t index)
{
    return index < DEVICE_PRECISIONS ? device_precision_name((device_precision)index) : NULL;
}

/* ---- a model on them ---- */

assay_status assay_map(assay_model *model, const assay_options *options, assay_result **out,
                       assay_error *err)
{
    assay_options none;
    return api_settle(job_map(model, api_options(options, &none), out, err), out, err);
}

size_t assay_profile_place_count(const assay_result *of)
{
    return of->p->mapping ? of->p->mapping->n_rows : 0;
}

bool assay_profile_place(const assay_result *of, size_t index, assay_place *out)
{
    const profile_mapping *m = of->p->mapping;
    if (!m || index >= m->n_rows)
        return false;
    const mapping_row *r = &m->rows[index];
    assay_place x = {.device = text(m->hardware[r->hardware].id),
                     .precision = r->precision,
                     .verdict = r->verdict,
                     .bound = r->bound,
                     .batch = r->batch,
                     .latency_ms = r->latency_ms,
                     .latency_low_ms = r->latency_low_ms,
                     .latency_high_ms = r->latency_high_ms,
                     .throughput = r->throughput,
                     .energy_j = r->energy_j,
                     .training_step_ms = r->training_step_ms,
                     .memory_bytes = r->memory_bytes,
                     .training_memory_bytes = r->training_memory_bytes,
                     .fits = r->fits,
                     .training_fits = r->training_fits,
                     .pareto = r->pareto,
                     .percent_of_peak = r->percent_of_peak,
                     .compute_percent = r->compute_percent,
                     .memory_percent = r->memory_percent,
                     .overhead_percent = r->overhead_percent,
                     .gain_flops_percent = r->gain_flops_percent,
                     .gain_bandwidth_percent = r->gain_bandwidth_percent};
    HAND_OUT(out, x);
    return true;
}

static bool is_named(const char *chosen, const char *precision)
{
    return chosen && strcmp(chosen, precision) == 0;
}

bool assay_profile_fit(const assay_result *of, size_t index, assay_fit *out)
{
    const profile_mapping *m = of->p->mapping;
    uint32_t i = 0;
    for (; m && i < m->n_hardware && index >= m->hardware[i].n_precisions; i++)
        index -= m->hardware[i].n_precisions;
    if (!m || i == m->n_hardware)
        return false;
    const mapping_hardware *h = &m->hardware[i];
    const mapping_precision *p = &h->precisions[index];
    assay_fit x = {.device = text(h->id),
                   .precision = p->name,
                   .peak = p->peak,
                   .ridge = p->ridge,
                   .largest_batch = p->largest_batch,
                   .largest_training_batch = p->largest_training_batch,
                   .widest = is_named(h->widest, p->name),
                   .cheapest = is_named(h->cheapest, p->name)};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_placed_layer(const assay_result *of, size_t index, assay_placed_layer *out)
{
    const profile_mapping *m = of->p->mapping;
    if (!m || index >= m->n_all_layers)
        return false;
    const mapping_layer *l = &m->layers[index];
    assay_placed_layer x = {.device = text(l->device),
                            .name = text(l->name),
                            .type = text(l->type),
                            .bound = l->bound,
                            .time_ms = l->time_ms,
                            .percent_of_peak = l->percent_of_peak};
    HAND_OUT(out, x);
    return true;
}
