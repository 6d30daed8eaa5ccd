/* The sections of the JSON document that a clock filled in. `latency`, `throughput`, `memory`,
 * `utilization`, `io` and `single_image` describe the smallest batch that ran; `batch_profiling` and
 * `configurations` hold them all. */
#include <math.h>
#include <stdio.h>

#include "profile/batch_choice.h"
#include "profile/metrics.h"
#include "profile/plan_ledger.h"
#include "profile/profile_json.h"

#define MIB          1048576.0
#define SAMPLES_MOST 100000u /* numbers in the file; more are thinned evenly */

static void key_size(json_writer *w, const char *key, uint64_t v)
{
    json_key(w, key);
    if (v == PROFILE_NOT_TOLD)
        json_null(w);
    else
        json_u64(w, v);
}

static void key_told(json_writer *w, const char *key, double v)
{
    json_key(w, key);
    if (v < 0)
        json_null(w);
    else
        json_f64(w, v);
}

/* What was not measured is left out, not zero. */
static void key_known(json_writer *w, const char *key, double v)
{
    if (!(v < 0))
        key_f64(w, key, v);
}

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* ---- the shapes scripts rely on ---- */

/* Of a batch of nothing there are none. */
static double fps_of(const profile_config *c)
{
    return c->latency.mean > 0 && c->batch ? (double)c->batch * 1000 / c->latency.mean : -1;
}

static void put_timing(json_writer *w, const profile_config *c)
{
    const profile_stats *t = &c->latency;
    json_key(w, "timing");
    json_flat_object(w);
    key_f64(w, "mean_ms", t->mean);
    key_f64(w, "std_ms", t->std);
    key_f64(w, "min_ms", t->min);
    key_f64(w, "max_ms", t->max);
    key_f64(w, "median_ms", t->median);
    key_known(w, "fps", fps_of(c));
    json_end(w);
}

/* Memory of models that share a process is nobody's own. */
static bool tells_memory(const profile_measured *m, const profile_config *c)
{
    return c->memory.peak && !m->interleaved;
}

static void put_resident(json_writer *w, const profile_config *c)
{
    const profile_resident *m = &c->memory;
    if (!m->run_peak)
        return;
    json_key(w, "memory");
    json_flat_object(w);
    key_f64(w, "before_mb", (double)m->before / MIB);
    key_f64(w, "after_mb", (double)m->after / MIB);
    key_f64(w, "peak_mb", (double)m->run_peak / MIB);
    key_f64(w, "activation_mb", (double)above(m->run_peak, m->before) / MIB);
    json_end(w);
}

/* The first input with its batch, if it has one, set to the one that was measured. */
static void put_input_shape(json_writer *w, const profile *p, uint64_t batch)
{
    /* Results of before the rule was told have it first. */
    int64_t axis = p->batch.n_axes                               ? p->batch.axes[0].axis
                   : p->n_inputs && p->inputs[0].shape.rank >= 2 ? 0
                                                                 : -1;
    json_key(w, "input_shape");
    json_flat_array(w);
    for (int i = 0; p->n_inputs && i < p->inputs[0].shape.rank; i++)
        if (i == axis)
            json_u64(w, batch);
        else
            put_dim(w, p->inputs[0].shape.dims[i]);
    json_end(w);
}

static void put_single(json_writer *w, const profile *p, const profile_config *c)
{
    json_key(w, "single_image");
    json_object(w);
    put_input_shape(w, p, c->batch);
    put_timing(w, c);
    if (tells_memory(p->measured, c))
        put_resident(w, c);
    json_end(w);
}

static void put_batch(json_writer *w, const profile_measured *m, const profile_config *c)
{
    char key[32];
    int n = snprintf(key, sizeof key, "%llu", (unsigned long long)c->batch);
    json_key_str(w, (str){key, (uint32_t)n});
    json_object(w);
    if (c->error.n) {
        key_str(w, "error", c->error);
        key_cstr(w, "code", c->code);
    } else if (c->latency.runs) {
        put_timing(w, c);
        if (tells_memory(m, c))
            put_resident(w, c);
        key_known(w, "throughput", c->samples_per_second);
    }
    json_end(w);
}

static bool has_ended(const profile_config *c)
{
    return c->error.n || c->latency.runs;
}

static bool seen_before(const profile_measured *m, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (m->configs[k].batch == m->configs[i].batch && has_ended(&m->configs[k]))
            return true;
    return false;
}

static void put_batches(json_writer *w, const profile_measured *m)
{
    json_key(w, "batch_profiling");
    json_object(w);
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (!seen_before(m, i) && has_ended(&m->configs[i]))
            put_batch(w, m, &m->configs[i]);
    json_end(w);
}

/* ---- of one configuration ---- */

static void put_times(json_writer *w, const char *key, const double *ms, uint32_t n)
{
    uint32_t step = n ? (n - 1) / SAMPLES_MOST + 1 : 1;
    json_key(w, key);
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i += step)
        json_fixed(w, ms[i], 6);
    json_end(w);
}

static void put_outliers(json_writer *w, const profile_config *c)
{
    json_key(w, "outliers");
    json_array(w);
    for (uint32_t i = 0; i < c->n_outliers; i++) {
        json_flat_object(w);
        key_u64(w, "run", c->outliers[i].run);
        key_f64(w, "ms", c->outliers[i].ms);
        key_cstr(w, "cause", c->outliers[i].cause);
        json_end(w);
    }
    json_end(w);
}

static void put_latency(json_writer *w, const profile_config *c)
{
    const profile_stats *t = &c->latency;
    json_key(w, "latency");
    json_object(w);
    key_f64(w, "mean", t->mean);
    key_f64(w, "std", t->std);
    key_f64(w, "min", t->min);
    key_f64(w, "max", t->max);
    key_f64(w, "p50", t->p50);
    key_f64(w, "p90", t->p90);
    key_f64(w, "p95", t->p95);
    key_f64(w, "p99", t->p99);
    key_u64(w, "runs", t->runs);
    key_f64(w, "ci95_low", t->ci95_low);
    key_f64(w, "ci95_high", t->ci95_high);
    if (profile_no_interval(t))
        key_cstr(w, "ci95_absent", profile_no_interval(t));
    key_f64(w, "effective_runs", t->effective_runs);
    key_u64(w, "p99_runs_needed", t->p99_runs_needed);
    key_u64(w, "warmup_runs", c->warmup_runs);
    if (c->steady_after)
        key_u64(w, "steady_after", c->steady_after);
    key_bool(w, "steady", c->steady);
    if (c->partial)
        key_bool(w, "partial", true);
    put_outliers(w, c);
    if (c->n_warmup_ms)
        put_times(w, "warmup_ms", c->warmup_ms, c->n_warmup_ms);
    put_times(w, "samples_ms", c->samples_ms, c->n_samples);
    json_end(w);
}

static void put_throughput(json_writer *w, const profile_measured *m, const profile_config *c)
{
    char key[40];
    json_key(w, "throughput");
    json_object(w);
    key_known(w, "samples_per_second", c->samples_per_second);
    if (m->unit && strcmp(m->unit, "samples") != 0 && profile_rate(m, c) >= 0) {
        int n = snprintf(key, sizeof key, "%s_per_second", m->unit);
        json_key_str(w, (str){key, (uint32_t)n});
        json_f64(w, profile_rate(m, c));
    }
    key_cstr(w, "unit", m->unit ? m->unit : "samples");
    key_f64(w, "units_per_sample", m->units_per_sample);
    key_known(w, "gflops_per_s", c->gflops_per_s);
    key_known(w, "gbytes_per_s", c->gbytes_per_s);
    key_told(w, "percent_of_peak", c->percent_of_peak);
    key_told(w, "percent_of_bandwidth", c->percent_of_bandwidth);
    json_end(w);
}

static void put_memory(json_writer *w, const profile_config *c)
{
    const profile_resident *m = &c->memory;
    uint64_t peak = above(m->peak, m->before_session);
    json_key(w, "memory");
    json_object(w);
    key_u64(w, "peak", peak);
    key_u64(w, "average", above(m->average, m->before_session));
    if (c->batch)
        key_u64(w, "per_sample", peak / c->batch);
    key_told(w, "fragmentation", m->fragmentation);
    key_u64(w, "resident_before_session", m->before_session);
    key_u64(w, "resident_before", m->before);
    key_u64(w, "resident_after", m->after);
    key_u64(w, "resident_run_peak", m->run_peak);
    key_u64(w, "resident_peak", m->peak);
    key_u64(w, "anonymous_peak", above(m->peak_anon, m->before_anon));
    key_u64(w, "file_backed_peak", above(m->peak_file, m->before_file));
    key_size(w, "arena_in_use", m->arena_in_use);
    key_size(w, "arena_requested", m->arena_requested);
    key_size(w, "arena_peak", m->arena_peak);
    key_size(w, "arena_held", m->arena_held);
    key_u64(w, "planned_activations", m->plan_activations);
    if (c->plan_training) {
        key_u64(w, "planned_training", c->plan_training);
        key_u64(w, "planned_training_activations", c->plan_training_activations);
    }
    json_key(w, "curve");
    json_array(w);
    for (uint32_t i = 0; i < c->n_curve; i++) {
        json_flat_object(w);
        key_fixed(w, "ms", c->curve[i].ms, 3);
        key_u64(w, "resident", c->curve[i].resident);
        key_u64(w, "anonymous", c->curve[i].anon);
        key_u64(w, "file_backed", c->curve[i].file);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void put_use(json_writer *w, const profile_use *u)
{
    if (u->cpu_percent < 0)
        return;
    json_key(w, "utilization");
    json_object(w);
    key_f64(w, "cpu_percent", u->cpu_percent);
    if (u->threads > 0) {
        key_u64(w, "threads", (uint64_t)u->threads);
        key_f64(w, "cpu_percent_per_thread", u->cpu_percent / u->threads);
    }
    key_f64(w, "wall_s", u->wall_s);
    key_f64(w, "cpu_s", u->cpu_s);
    key_u64(w, "voluntary_switches", u->voluntary_switches);
    key_u64(w, "involuntary_switches", u->involuntary_switches);
    key_u64(w, "minor_faults", u->minor_faults);
    key_u64(w, "major_faults", u->major_faults);
    key_told(w, "steal_percent", u->steal_percent);
    key_told(w, "energy_j", u->energy_j);
    key_told(w, "frequency_mhz", u->frequency_mhz);
    key_told(w, "frequency_min_mhz", u->frequency_min_mhz);
    key_told(w, "gpu_percent", u->gpu.percent);
    key_told(w, "gpu_percent_max", u->gpu.percent_max);
    key_told(w, "gpu_memory_percent", u->gpu.memory_percent);
    key_told(w, "gpu_power_w", u->gpu.power_w);
    key_told(w, "gpu_power_max_w", u->gpu.power_max_w);
    key_told(w, "gpu_temperature_max_c", u->gpu.temperature_max_c);
    key_size(w, "gpu_memory_peak", u->gpu.memory_peak);
    key_size(w, "gpu_memory_total", u->gpu.memory_total);
    key_size(w, "gpu_process_peak", u->gpu.process_peak);
    if (u->instructions > 0) {
        key_f64(w, "instructions", u->instructions);
        key_f64(w, "instructions_min", u->instructions_min);
        key_f64(w, "instructions_max", u->instructions_max);
    }
    if (u->pulse_us > 0)
        key_f64(w, "pulse_us", u->pulse_us);
    json_end(w);
    json_key(w, "io");
    json_object(w);
    key_size(w, "read_bytes", u->read_bytes);
    key_size(w, "written_bytes", u->written_bytes);
    key_size(w, "read_chars", u->read_chars);
    key_size(w, "written_chars", u->written_chars);
    json_end(w);
}

static void put_cold(json_writer *w, const profile_config *c)
{
    json_key(w, "cold_start");
    json_flat_object(w);
    key_known(w, "engine_ms", c->load_ms);
    key_known(w, "session_ms", c->session_ms);
    key_known(w, "first_run_ms", c->first_run_ms);
    json_end(w);
}

static void put_end_to_end(json_writer *w, const profile_config *c)
{
    if (c->pre_ms < 0 || !c->latency.runs)
        return;
    json_key(w, "end_to_end");
    json_flat_object(w);
    key_f64(w, "preprocess_ms", c->pre_ms);
    key_f64(w, "inference_ms", c->latency.median);
    key_told(w, "postprocess_ms", c->post_ms);
    key_f64(w, "total_ms", c->pre_ms + c->latency.median + (c->post_ms > 0 ? c->post_ms : 0));
    json_end(w);
}

/* ---- all ---- */

static void put_output_error(json_writer *w, const profile_output_error *e)
{
    if (!e->present)
        return;
    json_key(w, "output_error");
    json_flat_object(w);
    key_f64(w, "max_abs", e->max_abs);
    key_f64(w, "mean_abs", e->mean_abs);
    key_told(w, "relative", e->relative);
    json_key(w, "cosine");
    if (isnan(e->cosine))
        json_null(w);
    else
        json_f64(w, e->cosine);
    key_u64(w, "elements", e->elements);
    key_u64(w, "not_finite", e->not_finite);
    key_u64(w, "outputs_left_out", e->left_out);
    json_end(w);
}

/* The sections that stand at the top of the document for the smallest batch. */
static void put_sections(json_writer *w, const profile_measured *m, const profile_config *c)
{
    put_latency(w, c);
    put_throughput(w, m, c);
    if (tells_memory(m, c))
        put_memory(w, c);
    put_use(w, &c->use);
    put_cold(w, c);
}

/* Those of the first, which are at the top, are not repeated. */
static void put_configuration(json_writer *w, const profile_measured *m, const profile_config *c,
                              const profile_config *first)
{
    const profile_stats *t = &c->latency;
    json_flat_object(w);
    key_u64(w, "batch", c->batch);
    key_str(w, "precision", c->precision);
    if (c->file_bytes)
        key_u64(w, "file_bytes", c->file_bytes);
    if (c->error.n) {
        key_str(w, "error", c->error);
        key_cstr(w, "code", c->code);
        json_end(w);
        return;
    }
    key_u64(w, "runs", t->runs);
    key_f64(w, "mean_ms", t->mean);
    key_f64(w, "std_ms", t->std);
    key_f64(w, "median_ms", t->median);
    key_f64(w, "p95_ms", t->p95);
    key_f64(w, "p99_ms", t->p99);
    key_known(w, "samples_per_second", c->samples_per_second);
    if (tells_memory(m, c))
        key_u64(w, "peak_bytes", above(c->memory.peak, c->memory.before_session));
    key_known(w, "cpu_percent", c->use.cpu_percent);
    key_known(w, "gflops_per_s", c->gflops_per_s);
    put_output_error(w, &c->output_error);
    put_end_to_end(w, c);
    if (c != first)
        put_sections(w, m, c);
    json_end(w);
}

static void put_group(json_writer *w, const profile *p, const profile_time_group *g)
{
    double run_ms = p->measured->ledger.run_ms, per_byte = p->bottlenecks.threshold;
    json_flat_object(w);
    key_cstr(w, "by", g->by);
    key_str(w, "name", g->name);
    key_u64(w, "layers", g->layers);
    key_f64(w, "time_ms", g->time_ms);
    key_known(w, "time_std_ms", g->time_std_ms);
    key_f64(w, "percent", run_ms > 0 ? 100 * g->time_ms / run_ms : 0);
    key_u64(w, "flops", g->flops);
    key_u64(w, "memory", g->memory);
    if (g->time_ms > 0) {
        key_f64(w, "gflops_per_s", (double)g->flops / g->time_ms / 1e6);
        key_f64(w, "gbytes_per_s", (double)g->memory / g->time_ms / 1e6);
    }
    bool compute = g->memory && (double)g->flops / (double)g->memory >= per_byte;
    key_cstr(w, "bottleneck", compute ? "compute-bound" : "memory-bound");
    json_end(w);
}

static void put_groups(json_writer *w, const profile *p)
{
    const profile_ledger *l = &p->measured->ledger;
    if (!l->n_groups)
        return;
    json_key(w, "groups");
    json_array(w);
    for (uint32_t i = 0; i < l->n_groups; i++)
        put_group(w, p, &l->groups[i]);
    json_end(w);
}

static void put_ledger(json_writer *w, const profile *p)
{
    const profile_ledger *l = &p->measured->ledger;
    if (!l->present)
        return;
    json_key(w, "ledger");
    json_object(w);
    key_u64(w, "runs", l->runs);
    key_f64(w, "run_ms", l->run_ms);
    key_f64(w, "layers_ms", l->layers_ms);
    key_f64(w, "engine_ms", l->engine_ms);
    key_f64(w, "dispatch_ms", l->dispatch_ms);
    key_f64(w, "unexplained_ms", l->unexplained_ms);
    key_f64(w, "latency_ms", l->latency_ms);
    key_f64(w, "profiler_us_per_kernel", l->bias_us);
    key_f64(w, "profiler_us_between", l->overhead_us);
    key_u64(w, "kernels", l->kernels);
    key_u64(w, "fused_kernels", l->fused_kernels);
    key_u64(w, "layers_without_kernel", l->unmapped_layers);
    json_key(w, "engine_kernels");
    json_array(w);
    for (uint32_t i = 0; i < l->n_engine_kernels; i++) {
        json_flat_object(w);
        key_str(w, "name", l->engine_kernels[i].name);
        key_str(w, "op", l->engine_kernels[i].op);
        key_f64(w, "time_ms", l->engine_kernels[i].time_ms);
        json_end(w);
    }
    json_end(w);
    put_groups(w, p);
    json_end(w);
}

static void put_plan_ledger(json_writer *w, const profile_plan_check *c)
{
    plan_ledger_row rows[PLAN_LEDGER_MAX];
    uint32_t n = plan_ledger(c, rows);
    json_key(w, "ledger");
    json_array(w);
    for (uint32_t i = 0; i < n; i++) {
        json_flat_object(w);
        key_cstr(w, "cause", rows[i].cause);
        key_i64(w, "bytes", rows[i].bytes);
        key_u64(w, "total_bytes", rows[i].total);
        json_end(w);
    }
    json_end(w);
}

static void put_plan(json_writer *w, const profile_plan_check *c)
{
    if (!c->present)
        return;
    json_key(w, "plan_check");
    json_object(w);
    key_u64(w, "planned_peak", c->planned_peak);
    key_u64(w, "planned_expanded", c->planned_expanded);
    key_u64(w, "planned_in_order", c->planned_in_order);
    key_u64(w, "planned_as_run", c->planned_as_run);
    key_u64(w, "planned_with_kept", c->planned_with_kept);
    key_u64(w, "measured_peak", c->measured_peak);
    key_str_or_null(w, "measured_peak_node", c->peak_node);
    key_u64(w, "planned_no_reuse", c->planned_no_reuse);
    key_u64(w, "measured_no_reuse", c->measured_no_reuse);
    key_size(w, "workspace_bytes", c->workspace);
    put_plan_ledger(w, c);
    key_u64(w, "shapes_checked", c->shapes_checked);
    key_u64(w, "shapes_equal", c->shapes_equal);
    key_str_or_null(w, "first_unequal", c->first_unequal);
    json_key(w, "timeline");
    json_array(w);
    for (uint32_t i = 0; i < c->n_moments; i++) {
        json_flat_object(w);
        key_str(w, "node", c->moments[i].node);
        key_u64(w, "live_bytes", c->moments[i].requested);
        key_size(w, "planned_bytes", c->moments[i].planned);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void put_gpu(json_writer *w, const profile_gpu *g)
{
    if (!g->available && !g->why.n && !g->n_events)
        return;
    json_key(w, "gpu");
    json_object(w);
    key_bool(w, "available", g->available);
    key_str_or_null(w, "name", g->name);
    key_str_or_null(w, "driver", g->driver);
    key_str_or_null(w, "why", g->why);
    key_u64(w, "devices", g->devices);
    key_bool(w, "ranges", g->ranges);
    json_key(w, "events");
    json_array(w);
    for (uint32_t i = 0; i < g->n_events; i++) {
        json_flat_object(w);
        key_str(w, "name", g->events[i].name);
        key_cstr(w, "kind", g->events[i].copy ? "copy" : "kernel");
        key_u64(w, "count", g->events[i].count);
        key_f64(w, "time_ms", g->events[i].time_ms);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void put_ceilings(json_writer *w, const profile_ceilings *c)
{
    if (!c->present)
        return;
    json_key(w, "ceilings");
    json_object(w);
    key_str(w, "name", c->name);
    key_str(w, "measured", c->measured);
    key_str(w, "dtype", c->dtype);
    key_u64(w, "threads", c->threads);
    key_f64(w, "operations_per_s", c->ops_per_s);
    json_key(w, "levels");
    json_array(w);
    for (uint32_t i = 0; i < c->n_levels; i++) {
        json_flat_object(w);
        key_str(w, "name", c->levels[i].name);
        key_f64(w, "bytes_per_s", c->levels[i].bytes_per_s);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

/* The number alone is what scripts read; files of before have no more. */
static void put_choice(json_writer *w, const profile_batch_choice *k)
{
    key_u64(w, "recommended_batch", k->batch);
    if (!k->why.n)
        return;
    json_key(w, "batch_choice");
    json_object(w);
    key_u64(w, "batch", k->batch);
    key_str(w, "precision", k->precision);
    key_f64(w, "samples_per_second", k->samples_per_second);
    key_u64(w, "fastest_batch", k->fastest_batch);
    key_str(w, "fastest_precision", k->fastest_precision);
    key_f64(w, "fastest_samples_per_second", k->fastest_samples_per_second);
    key_u64(w, "tie_percent", BATCH_TIE_PERCENT);
    if (k->room_bytes)
        key_u64(w, "memory_available_bytes", k->room_bytes);
    key_str(w, "why", k->why);
    json_end(w);
}

void profile_json_measured(json_writer *w, const profile *p)
{
    const profile_measured *m = p->measured;
    const profile_config *c = profile_smallest(p);
    if (!m)
        return;
    if (c) {
        put_single(w, p, c);
        put_batches(w, m);
        put_sections(w, m, c);
        put_end_to_end(w, c);
    } else {
        put_batches(w, m);
    }
    put_ledger(w, p);
    put_plan(w, &m->plan);
    put_ceilings(w, &m->ceilings);
    put_gpu(w, &m->gpu);
    json_key(w, "configurations");
    json_array(w);
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (m->configs[i].error.n || m->configs[i].latency.runs)
            put_configuration(w, m, &m->configs[i], c);
    json_end(w);
    if (m->choice.batch)
        put_choice(w, &m->choice);
    if (m->interrupted)
        key_bool(w, "interrupted", true);
    if (!str_empty(m->stopped))
        key_str(w, "stopped", m->stopped);
}

static void put_settings(json_writer *w, const profile_engine *e)
{
    if (!e->n_settings)
        return;
    json_key(w, "provider_options");
    json_array(w);
    for (uint32_t i = 0; i < e->n_settings && e->settings; i++) {
        json_flat_object(w);
        key_str(w, "key", e->settings[i].key);
        key_str(w, "value", e->settings[i].value);
        json_end(w);
    }
    json_end(w);
}

void profile_json_engine(json_writer *w, const profile *p)
{
    const profile_measured *m = p->measured;
    if (!m)
        return;
    json_key(w, "engine");
    json_object(w);
    key_str(w, "name", m->engine.name);
    key_str_or_null(w, "title", m->engine.title);
    key_str(w, "version", m->engine.version);
    key_str_or_null(w, "library", m->engine.library);
    key_str_or_null(w, "device", m->engine.device);
    key_u64(w, "threads", (uint64_t)m->engine.threads);
    key_u64(w, "opt_level", (uint64_t)m->engine.opt_level);
    key_bool(w, "spin", m->engine.spin);
    put_settings(w, &m->engine);
    key_u64(w, "concurrency", m->concurrency);
    json_key(w, "rate");
    if (m->rate > 0)
        json_f64(w, m->rate);
    else
        json_null(w);
    key_u64(w, "seed", m->seed);
    if (m->interleaved)
        key_bool(w, "interleaved", true);
    json_end(w);
}

void profile_json_batch_sizes(json_writer *w, const profile *p)
{
    if (!p->measured)
        return;
    json_key(w, "batch_sizes");
    json_flat_array(w);
    for (uint32_t i = 0; i < p->measured->n_configs; i++)
        json_u64(w, p->measured->configs[i].batch);
    json_end(w);
}
