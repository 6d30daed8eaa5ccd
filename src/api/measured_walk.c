/* What was measured, as the public structs show it. */
#include "api/measure_walk.h"

#include "profile/batch_choice.h"
#include "profile/metrics.h"

static const char *text(str s)
{
    return s.n ? s.p : "";
}

assay_config api_config_public(const profile_measured *of, const profile_config *c)
{
    const profile_stats *t = &c->latency;
    const profile_resident *m = &c->memory;
    const config_bands bands = config_bands_of(of, c);
    return (assay_config){
        .batch = c->batch,
        .precision = text(c->precision),
        .error = text(c->error),
        .partial = c->partial,
        .runs = t->runs,
        .warmup_runs = c->warmup_runs,
        .steady = c->steady,
        .mean_ms = t->mean,
        .std_ms = t->std,
        .min_ms = t->min,
        .max_ms = t->max,
        .median_ms = t->median,
        .p50_ms = t->p50,
        .p90_ms = t->p90,
        .p95_ms = t->p95,
        .p99_ms = t->p99,
        .ci95_low_ms = t->ci95_low,
        .ci95_high_ms = t->ci95_high,
        .effective_runs = t->effective_runs,
        .p99_runs_needed = t->p99_runs_needed,
        .samples_per_second = c->samples_per_second,
        .load_ms = c->load_ms,
        .session_ms = c->session_ms,
        .first_run_ms = c->first_run_ms,
        .resident_before = m->before,
        .resident_after = m->after,
        .resident_peak = m->peak,
        .resident_average = m->average,
        .resident_before_session = m->before_session,
        .activation_bytes = m->run_peak > m->before ? m->run_peak - m->before : 0,
        .planned_activation_bytes = m->plan_activations,
        .planned_training_bytes = c->plan_training,
        .planned_training_activation_bytes = c->plan_training_activations,
        .fragmentation = m->fragmentation,
        .cpu_percent = c->use.cpu_percent,
        .gflops_per_s = c->gflops_per_s,
        .gbytes_per_s = c->gbytes_per_s,
        .samples_ms = c->samples_ms,
        .n_samples = c->n_samples,
        .n_outliers = c->n_outliers,
        .has_output_error = c->output_error.present,
        .error_max_abs = c->output_error.max_abs,
        .error_mean_abs = c->output_error.mean_abs,
        .error_relative = c->output_error.relative,
        .error_cosine = c->output_error.cosine,
        .gpu_percent = c->use.gpu.percent,
        .gpu_power_w = c->use.gpu.power_w,
        .gpu_temperature_c = c->use.gpu.temperature_max_c,
        .gpu_memory_peak = c->use.gpu.memory_peak,
        .file_bytes = c->file_bytes,
        .percent_of_peak = c->percent_of_peak,
        .percent_of_bandwidth = c->percent_of_bandwidth,
        .warmup_ms = c->warmup_ms,
        .n_warmup_ms = c->n_warmup_ms,
        .steady_after = c->steady_after,
        .unit = of->unit ? of->unit : "samples",
        .units_per_second = profile_rate(of, c),
        .code = c->code ? c->code : "",
        .preprocess_ms = c->pre_ms,
        .postprocess_ms = c->post_ms,
        .wall_s = c->use.wall_s,
        .cpu_s = c->use.cpu_s,
        .threads = c->use.threads > 0 ? (uint64_t)c->use.threads : 0,
        .voluntary_switches = c->use.voluntary_switches,
        .involuntary_switches = c->use.involuntary_switches,
        .minor_faults = c->use.minor_faults,
        .major_faults = c->use.major_faults,
        .read_bytes = c->use.io.read_bytes,
        .written_bytes = c->use.io.written_bytes,
        .steal_percent = c->use.steal_percent,
        .energy_j = c->use.energy_j,
        .frequency_mhz = c->use.frequency_mhz,
        .frequency_min_mhz = c->use.frequency_min_mhz,
        .anonymous_peak = m->peak_anon > m->before_anon ? m->peak_anon - m->before_anon : 0,
        .file_backed_peak = m->peak_file > m->before_file ? m->peak_file - m->before_file : 0,
        .arena_in_use = m->arena_in_use,
        .arena_requested = m->arena_requested,
        .arena_held = m->arena_held,
        .arena_peak = m->arena_peak,
        .n_curve = c->n_curve,
        .speed_band = band_word(bands.speed),
        .memory_band = band_word(bands.memory),
    };
}

size_t assay_profile_config_count(const assay_result *of)
{
    return of->p->measured ? of->p->measured->n_configs : 0;
}

bool assay_profile_config(const assay_result *of, size_t index, assay_config *out)
{
    if (index >= assay_profile_config_count(of))
        return false;
    assay_config c = api_config_public(of->p->measured, &of->p->measured->configs[index]);
    HAND_OUT(out, c);
    return true;
}

bool assay_profile_batch_choice(const assay_result *of, assay_batch_choice *out)
{
    const profile_measured *m = of->p->measured;
    const profile_config *c = m ? profile_chosen(m) : NULL;
    if (!c)
        return false;
    const profile_batch_choice *k = &m->choice;
    assay_batch_choice x = {.config = (size_t)(c - m->configs),
                            .batch = c->batch,
                            .precision = text(c->precision),
                            .fastest_batch = k->fastest_batch,
                            .fastest_precision = text(k->fastest_precision),
                            .samples_per_second = c->samples_per_second,
                            .fastest_samples_per_second = k->fastest_samples_per_second,
                            .tie_percent = BATCH_TIE_PERCENT,
                            .memory_available = k->room_bytes,
                            .why = text(k->why)};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_outlier(const assay_result *of, size_t config, size_t index, assay_outlier *out)
{
    if (config >= assay_profile_config_count(of))
        return false;
    const profile_config *c = &of->p->measured->configs[config];
    if (index >= c->n_outliers)
        return false;
    const profile_outlier *o = &c->outliers[index];
    assay_outlier x = {.run = o->run, .ms = o->ms, .cause = o->cause};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_ceilings(const assay_result *of, assay_ceilings *out)
{
    const profile_ceilings *c = of->p->measured ? &of->p->measured->ceilings : NULL;
    if (!c || !c->present || !c->n_levels)
        return false;
    assay_ceilings x = {.name = text(c->name),
                        .measured = text(c->measured),
                        .dtype = text(c->dtype),
                        .threads = c->threads,
                        .operations_per_s = c->ops_per_s,
                        .bytes_per_s = c->levels[c->n_levels - 1].bytes_per_s};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_gpu(const assay_result *of, assay_gpu *out)
{
    if (!of->p->measured)
        return false;
    const profile_gpu *g = &of->p->measured->gpu;
    assay_gpu x = {.available = g->available,
                   .ranges = g->ranges,
                   .name = text(g->name),
                   .driver = text(g->driver),
                   .why = text(g->why),
                   .devices = g->devices,
                   .n_events = g->n_events};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_gpu_event(const assay_result *of, size_t index, assay_gpu_event *out)
{
    if (!of->p->measured || index >= of->p->measured->gpu.n_events)
        return false;
    const profile_gpu_event *e = &of->p->measured->gpu.events[index];
    assay_gpu_event x = {
        .name = text(e->name), .copy = e->copy, .count = e->count, .time_ms = e->time_ms};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_time_group(const assay_result *of, size_t index, assay_time_group *out)
{
    const profile_ledger *l = of->p->measured ? &of->p->measured->ledger : NULL;
    if (!l || index >= l->n_groups)
        return false;
    const profile_time_group *g = &l->groups[index];
    assay_time_group x = {.by = g->by,
                          .name = text(g->name),
                          .layers = g->layers,
                          .time_ms = g->time_ms,
                          .time_std_ms = g->time_std_ms,
                          .flops = g->flops,
                          .memory = g->memory};
    HAND_OUT(out, x);
    return true;
}
