/* What a clock filled in, read back. The document says it in several places: `latency`, `memory` and so on at
 * the top are of the smallest batch, `configurations` have the others, and in files of before they held all
 * of that, `batch_profiling` has times and memory. All of it is put together at the end.
 */
#include <math.h>
#include <stdlib.h>

#include "profile/profile_read_impl.h"

#define MIB 1048576.0

/* ---- one configuration ---- */

static bool finish_outlier(reader *r, void *base)
{
    (void)r;
    profile_outlier *o = base;
    o->cause = o->cause ? o->cause : "unknown";
    return true;
}

static const read_row outlier_rows[] = {
    ROW_U64(profile_outlier, "run", run),
    ROW_F64(profile_outlier, "ms", ms, NULL_NAN),
    ROW_WORD(profile_outlier, "cause", cause),
};
static const read_table outlier_table = {READ_TABLE(outlier_rows), .size = sizeof(profile_outlier),
                                         .finish = finish_outlier};

static const read_row latency_rows[] = {
    ROW_F64(doc_config, "mean", c.latency.mean, NULL_NAN),
    ROW_F64(doc_config, "std", c.latency.std, NULL_NAN),
    ROW_F64(doc_config, "min", c.latency.min, NULL_NAN),
    ROW_F64(doc_config, "max", c.latency.max, NULL_NAN),
    ROW_F64(doc_config, "p50", c.latency.p50, NULL_NAN),
    ROW_F64(doc_config, "p90", c.latency.p90, NULL_NAN),
    ROW_F64(doc_config, "p95", c.latency.p95, NULL_NAN),
    ROW_F64(doc_config, "p99", c.latency.p99, NULL_NAN),
    ROW_U64(doc_config, "runs", c.latency.runs),
    ROW_F64(doc_config, "ci95_low", c.latency.ci95_low, NULL_NAN),
    ROW_F64(doc_config, "ci95_high", c.latency.ci95_high, NULL_NAN),
    ROW_F64(doc_config, "effective_runs", c.latency.effective_runs, NULL_NAN),
    ROW_U64(doc_config, "p99_runs_needed", c.latency.p99_runs_needed),
    ROW_U64(doc_config, "warmup_runs", c.warmup_runs),
    ROW_BOOL(doc_config, "steady", c.steady),
    ROW_BOOL(doc_config, "partial", c.partial),
    ROW_LIST(doc_config, "outliers", c.outliers, c.n_outliers, outlier_table),
    ROW_NUMBERS(doc_config, "samples_ms", READ_F64S, c.samples_ms, c.n_samples),
    ROW_NUMBERS(doc_config, "warmup_ms", READ_F64S, c.warmup_ms, c.n_warmup_ms),
    ROW_U64(doc_config, "steady_after", c.steady_after),
};
const read_table read_latency_table = {READ_TABLE(latency_rows),
                                       .present = 1 + offsetof(doc_config, has_latency)};

static const read_row throughput_rows[] = {
    ROW_F64(doc_config, "samples_per_second", c.samples_per_second, NULL_MINUS_ONE),
    ROW_F64(doc_config, "images_per_second", unit_images, NULL_MINUS_ONE),
    ROW_F64(doc_config, "tokens_per_second", unit_tokens, NULL_MINUS_ONE),
    ROW_F64(doc_config, "requests_per_second", unit_requests, NULL_MINUS_ONE),
    ROW_WORD(doc_config, "unit", unit),
    ROW_F64(doc_config, "units_per_sample", units_per_sample, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gflops_per_s", c.gflops_per_s, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gbytes_per_s", c.gbytes_per_s, NULL_MINUS_ONE),
    ROW_F64(doc_config, "percent_of_peak", c.percent_of_peak, NULL_MINUS_ONE),
    ROW_F64(doc_config, "percent_of_bandwidth", c.percent_of_bandwidth, NULL_MINUS_ONE),
};
const read_table read_throughput_table = {READ_TABLE(throughput_rows)};

static const read_row curve_rows[] = {
    ROW_F64(profile_memory_sample, "ms", ms, NULL_NAN),
    ROW_U64(profile_memory_sample, "resident", resident),
    ROW_U64(profile_memory_sample, "anonymous", anon),
    ROW_U64(profile_memory_sample, "file_backed", file),
};
static const read_table curve_table = {READ_TABLE(curve_rows),
                                       .size = sizeof(profile_memory_sample)};

static const read_row resident_rows[] = {
    ROW_U64(doc_config, "peak", peak_bytes),
    ROW_U64(doc_config, "average", average),
    ROW_F64(doc_config, "fragmentation", c.memory.fragmentation, NULL_MINUS_ONE),
    ROW_U64(doc_config, "resident_before_session", c.memory.before_session),
    ROW_U64(doc_config, "resident_before", c.memory.before),
    ROW_U64(doc_config, "resident_after", c.memory.after),
    ROW_U64(doc_config, "resident_run_peak", c.memory.run_peak),
    ROW_U64(doc_config, "resident_peak", c.memory.peak),
    ROW_U64(doc_config, "anonymous_peak", c.memory.peak_anon),
    ROW_U64(doc_config, "file_backed_peak", c.memory.peak_file),
    ROW_SIZE(doc_config, "arena_in_use", c.memory.arena_in_use),
    ROW_SIZE(doc_config, "arena_requested", c.memory.arena_requested),
    ROW_SIZE(doc_config, "arena_peak", c.memory.arena_peak),
    ROW_SIZE(doc_config, "arena_held", c.memory.arena_held),
    ROW_U64(doc_config, "planned_activations", c.memory.plan_activations),
    ROW_U64(doc_config, "planned_training", c.plan_training),
    ROW_U64(doc_config, "planned_training_activations", c.plan_training_activations),
    ROW_LIST(doc_config, "curve", c.curve, c.n_curve, curve_table),
};
const read_table read_resident_table = {READ_TABLE(resident_rows),
                                        .present = 1 + offsetof(doc_config, has_memory)};

static const read_row use_rows[] = {
    ROW_F64(doc_config, "cpu_percent", c.use.cpu_percent, NULL_NAN),
    {.key = "threads", .kind = READ_INT, .at = offsetof(doc_config, c.use.threads)},
    ROW_F64(doc_config, "wall_s", c.use.wall_s, NULL_NAN),
    ROW_F64(doc_config, "cpu_s", c.use.cpu_s, NULL_NAN),
    ROW_U64(doc_config, "voluntary_switches", c.use.voluntary_switches),
    ROW_U64(doc_config, "involuntary_switches", c.use.involuntary_switches),
    ROW_U64(doc_config, "minor_faults", c.use.minor_faults),
    ROW_U64(doc_config, "major_faults", c.use.major_faults),
    ROW_F64(doc_config, "steal_percent", c.use.steal_percent, NULL_MINUS_ONE),
    ROW_F64(doc_config, "energy_j", c.use.energy_j, NULL_MINUS_ONE),
    ROW_F64(doc_config, "frequency_mhz", c.use.frequency_mhz, NULL_MINUS_ONE),
    ROW_F64(doc_config, "frequency_min_mhz", c.use.frequency_min_mhz, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gpu_percent", c.use.gpu.percent, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gpu_percent_max", c.use.gpu.percent_max, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gpu_memory_percent", c.use.gpu.memory_percent, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gpu_power_w", c.use.gpu.power_w, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gpu_power_max_w", c.use.gpu.power_max_w, NULL_MINUS_ONE),
    ROW_F64(doc_config, "gpu_temperature_max_c", c.use.gpu.temperature_max_c, NULL_MINUS_ONE),
    ROW_SIZE(doc_config, "gpu_memory_peak", c.use.gpu.memory_peak),
    ROW_SIZE(doc_config, "gpu_memory_total", c.use.gpu.memory_total),
    ROW_SIZE(doc_config, "gpu_process_peak", c.use.gpu.process_peak),
    ROW_F64(doc_config, "instructions", c.use.instructions, NULL_ZERO),
    ROW_F64(doc_config, "instructions_min", c.use.instructions_min, NULL_ZERO),
    ROW_F64(doc_config, "instructions_max", c.use.instructions_max, NULL_ZERO),
    ROW_F64(doc_config, "pulse_us", c.use.pulse_us, NULL_ZERO),
};
const read_table read_use_table = {READ_TABLE(use_rows)};

static const read_row io_rows[] = {
    ROW_SIZE(doc_config, "read_bytes", c.use.read_bytes),
    ROW_SIZE(doc_config, "written_bytes", c.use.written_bytes),
    ROW_SIZE(doc_config, "read_chars", c.use.read_chars),
    ROW_SIZE(doc_config, "written_chars", c.use.written_chars),
};
const read_table read_io_table = {READ_TABLE(io_rows)};

static const read_row cold_rows[] = {
    ROW_F64(doc_config, "engine_ms", c.load_ms, NULL_MINUS_ONE),
    ROW_F64(doc_config, "session_ms", c.session_ms, NULL_MINUS_ONE),
    ROW_F64(doc_config, "first_run_ms", c.first_run_ms, NULL_MINUS_ONE),
};
const read_table read_cold_table = {READ_TABLE(cold_rows)};

static const read_row end_rows[] = {
    ROW_F64(doc_config, "preprocess_ms", c.pre_ms, NULL_MINUS_ONE),
    ROW_F64(doc_config, "postprocess_ms", c.post_ms, NULL_MINUS_ONE),
};
const read_table read_end_table = {READ_TABLE(end_rows)};

static const read_row error_rows[] = {
    ROW_F64(profile_output_error, "max_abs", max_abs, NULL_NAN),
    ROW_F64(profile_output_error, "mean_abs", mean_abs, NULL_NAN),
    ROW_F64(profile_output_error, "relative", relative, NULL_MINUS_ONE),
    ROW_F64(profile_output_error, "cosine", cosine, NULL_NAN),
    ROW_U64(profile_output_error, "elements", elements),
    ROW_U64(profile_output_error, "not_finite", not_finite),
    {.key = "outputs_left_out", .kind = READ_U32, .at = offsetof(profile_output_error, left_out)},
};
static const read_table error_table = {READ_TABLE(error_rows),
                                       .present = 1 + offsetof(profile_output_error, present)};

static bool finish_config(reader *r, void *base)
{
    (void)r;
    profile_config *c = &((doc_config *)base)->c;
    if (c->error.n && !c->code)
        c->code = "engine";
    return true;
}

static const read_row config_rows[] = {
    ROW_U64(doc_config, "batch", c.batch),
    ROW_STR(doc_config, "precision", c.precision),
    ROW_U64(doc_config, "file_bytes", c.file_bytes),
    ROW_STR(doc_config, "error", c.error),
    ROW_WORD(doc_config, "code", c.code),
    ROW_U64(doc_config, "runs", c.latency.runs),
    ROW_F64(doc_config, "mean_ms", c.latency.mean, NULL_NAN),
    ROW_F64(doc_config, "std_ms", c.latency.std, NULL_NAN),
    ROW_F64(doc_config, "median_ms", c.latency.median, NULL_NAN),
    ROW_F64(doc_config, "p95_ms", c.latency.p95, NULL_NAN),
    ROW_F64(doc_config, "p99_ms", c.latency.p99, NULL_NAN),
    ROW_F64(doc_config, "samples_per_second", c.samples_per_second, NULL_MINUS_ONE),
    ROW_U64(doc_config, "peak_bytes", peak_bytes),
    ROW_F64(doc_config, "cpu_percent", c.use.cpu_percent, NULL_NAN),
    ROW_F64(doc_config, "gflops_per_s", c.gflops_per_s, NULL_MINUS_ONE),
    ROW_OBJECT(doc_config, "output_error", c.output_error, error_table),
    ROW_INLINE("end_to_end", read_end_table),
    ROW_INLINE("latency", read_latency_table),
    ROW_INLINE("throughput", read_throughput_table),
    ROW_INLINE("memory", read_resident_table),
    ROW_INLINE("utilization", read_use_table),
    ROW_INLINE("io", read_io_table),
    ROW_INLINE("cold_start", read_cold_table),
};
static const doc_config config_start = DOC_CONFIG_START;
const read_table read_config_table = {READ_TABLE(config_rows), .size = sizeof(doc_config),
                                      .start = &config_start, .finish = finish_config};

/* ---- what older files have of a batch ---- */

static const read_row timing_rows[] = {
    ROW_F64(profile_stats, "mean_ms", mean, NULL_NAN),
    ROW_F64(profile_stats, "std_ms", std, NULL_NAN),
    ROW_F64(profile_stats, "min_ms", min, NULL_NAN),
    ROW_F64(profile_stats, "max_ms", max, NULL_NAN),
    ROW_F64(profile_stats, "median_ms", median, NULL_NAN),
};
static const read_table timing_table = {READ_TABLE(timing_rows)};

static const read_row resident_mb_rows[] = {
    ROW_F64(doc_batch, "before_mb", before_mb, NULL_NAN),
    ROW_F64(doc_batch, "after_mb", after_mb, NULL_NAN),
    ROW_F64(doc_batch, "peak_mb", peak_mb, NULL_NAN),
};
static const read_table resident_mb_table = {READ_TABLE(resident_mb_rows)};

static const read_row batch_rows[] = {
    ROW_OBJECT(doc_batch, "timing", timing, timing_table),
    ROW_INLINE("memory", resident_mb_table),
    ROW_F64(doc_batch, "throughput", throughput, NULL_NAN),
};
const read_table read_batch_table = {READ_TABLE(batch_rows), .size = sizeof(doc_batch),
                                     .present = 1 + offsetof(doc_batch, present),
                                     .name_at = offsetof(doc_batch, key)};

/* ---- layers' ledger, plan check ---- */

static const read_row kernel_rows[] = {
    ROW_STR(profile_kernel, "name", name),
    ROW_STR(profile_kernel, "op", op),
    ROW_F64(profile_kernel, "time_ms", time_ms, NULL_NAN),
};
static const read_table kernel_table = {READ_TABLE(kernel_rows), .size = sizeof(profile_kernel)};

static bool finish_group(reader *r, void *base)
{
    const profile_time_group *g = base;
    bool known = g->by && (strcmp(g->by, "type") == 0 || strcmp(g->by, "module") == 0 ||
                           strcmp(g->by, "pattern") == 0);
    return known || read_fail(r, "`by` is type, module or pattern.");
}

static const read_row group_rows[] = {
    ROW_WORD(profile_time_group, "by", by),
    ROW_STR(profile_time_group, "name", name),
    ROW_U64(profile_time_group, "layers", layers),
    ROW_F64(profile_time_group, "time_ms", time_ms, NULL_NAN),
    ROW_F64(profile_time_group, "time_std_ms", time_std_ms, NULL_MINUS_ONE),
    ROW_U64(profile_time_group, "flops", flops),
    ROW_U64(profile_time_group, "memory", memory),
};
static const profile_time_group group_start = {.time_std_ms = -1};
static const read_table group_table = {READ_TABLE(group_rows), .size = sizeof(profile_time_group),
                                       .start = &group_start, .finish = finish_group};

static const read_row ledger_rows[] = {
    ROW_U64(profile_ledger, "runs", runs),
    ROW_F64(profile_ledger, "run_ms", run_ms, NULL_NAN),
    ROW_F64(profile_ledger, "layers_ms", layers_ms, NULL_NAN),
    ROW_F64(profile_ledger, "engine_ms", engine_ms, NULL_NAN),
    ROW_F64(profile_ledger, "dispatch_ms", dispatch_ms, NULL_NAN),
    ROW_F64(profile_ledger, "unexplained_ms", unexplained_ms, NULL_NAN),
    ROW_F64(profile_ledger, "latency_ms", latency_ms, NULL_NAN),
    ROW_F64(profile_ledger, "profiler_us_per_kernel", bias_us, NULL_NAN),
    ROW_F64(profile_ledger, "profiler_us_between", overhead_us, NULL_NAN),
    ROW_U64(profile_ledger, "kernels", kernels),
    ROW_U64(profile_ledger, "fused_kernels", fused_kernels),
    ROW_U64(profile_ledger, "layers_without_kernel", unmapped_layers),
    ROW_LIST(profile_ledger, "engine_kernels", engine_kernels, n_engine_kernels, kernel_table),
    ROW_LIST(profile_ledger, "groups", groups, n_groups, group_table),
};
const read_table read_ledger_table = {READ_TABLE(ledger_rows),
                                      .present = 1 + offsetof(profile_ledger, present)};

static const read_row level_rows[] = {
    ROW_STR(profile_level, "name", name),
    ROW_F64(profile_level, "bytes_per_s", bytes_per_s, NULL_NAN),
};
static const read_table level_table = {READ_TABLE(level_rows), .size = sizeof(profile_level)};

static const read_row ceiling_rows[] = {
    ROW_STR(profile_ceilings, "name", name),
    ROW_STR(profile_ceilings, "measured", measured),
    ROW_STR(profile_ceilings, "dtype", dtype),
    ROW_U64(profile_ceilings, "threads", threads),
    ROW_F64(profile_ceilings, "operations_per_s", ops_per_s, NULL_NAN),
    ROW_LIST(profile_ceilings, "levels", levels, n_levels, level_table),
};
const read_table read_ceilings_table = {READ_TABLE(ceiling_rows),
                                        .present = 1 + offsetof(profile_ceilings, present)};

static const read_row moment_rows[] = {
    ROW_STR(profile_moment_measured, "node", node),
    ROW_U64(profile_moment_measured, "live_bytes", requested),
    ROW_SIZE(profile_moment_measured, "planned_bytes", planned),
};
static const profile_moment_measured moment_start = {.planned = PROFILE_NOT_TOLD};
static const read_table moment_table = {
    READ_TABLE(moment_rows), .size = sizeof(profile_moment_measured), .start = &moment_start};

static const read_row plan_rows[] = {
    ROW_U64(profile_plan_check, "planned_peak", planned_peak),
    ROW_U64(profile_plan_check, "planned_expanded", planned_expanded),
    ROW_U64(profile_plan_check, "planned_in_order", planned_in_order),
    ROW_U64(profile_plan_check, "planned_as_run", planned_as_run),
    ROW_U64(profile_plan_check, "planned_with_kept", planned_with_kept),
    ROW_U64(profile_plan_check, "planned_no_reuse", planned_no_reuse),
    ROW_U64(profile_plan_check, "measured_no_reuse", measured_no_reuse),
    ROW_SIZE(profile_plan_check, "workspace_bytes", workspace),
    ROW_U64(profile_plan_check, "measured_peak", measured_peak),
    ROW_STR(profile_plan_check, "measured_peak_node", peak_node),
    ROW_U64(profile_plan_check, "shapes_checked", shapes_checked),
    ROW_U64(profile_plan_check, "shapes_equal", shapes_equal),
    ROW_STR(profile_plan_check, "first_unequal", first_unequal),
    ROW_LIST(profile_plan_check, "timeline", moments, n_moments, moment_table),
};
const read_table read_plan_table = {READ_TABLE(plan_rows),
                                    .present = 1 + offsetof(profile_plan_check, present)};

/* ---- all together ---- */

static uint64_t bytes_of(double mb)
{
    return mb > 0 && mb < 1e12 ? (uint64_t)llround(mb * MIB) : 0;
}

static void take_batch(doc_config *d, const doc_batch *b)
{
    profile_config *c = &d->c;
    if (!c->memory.run_peak)
        c->memory.run_peak = bytes_of(b->peak_mb);
    if (!d->has_memory) {
        c->memory.before = bytes_of(b->before_mb);
        c->memory.after = bytes_of(b->after_mb);
    }
    if (!(c->latency.median > 0))
        c->latency.median = b->timing.median;
    if (d->has_latency)
        return;
    c->latency.min = b->timing.min;
    c->latency.max = b->timing.max;
}

/* The configuration on its own: what the sections say relative to each other. */
static void settle(doc_config *d)
{
    profile_config *c = &d->c;
    if (!d->has_memory) { /* older files tell the difference alone; the peak is that of the runs */
        c->memory.peak = c->memory.run_peak > d->peak_bytes ? c->memory.run_peak : d->peak_bytes;
        c->memory.before_session = c->memory.peak - d->peak_bytes;
    }
    uint64_t before = c->memory.before_session;
    c->memory.average = d->average > UINT64_MAX - before ? before : before + d->average;
    if (!d->has_latency)
        c->latency.p50 = c->latency.median;
    else if (!(c->latency.median > 0))
        c->latency.median = c->latency.p50;
}

static const doc_batch *batch_of(const doc *d, uint64_t batch)
{
    for (uint32_t i = 0; i < d->n_batches; i++)
        if (strtoull(d->batches[i].key.p, NULL, 10) == batch)
            return &d->batches[i];
    return NULL;
}

/* What stands at the top of the document is of the smallest batch that ran. */
static doc_config *smallest(doc_config *list, uint32_t n)
{
    doc_config *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].c.latency.runs && (!best || list[i].c.batch < best->c.batch))
            best = &list[i];
    return best;
}

static double told(double first, double second)
{
    return first >= 0 ? first : second;
}

static void take_top(const doc *d, doc_config *to)
{
    doc_config whole = d->top;
    whole.c.batch = to->c.batch;
    whole.c.precision = to->c.precision;
    whole.c.output_error = to->c.output_error;
    whole.c.file_bytes = to->c.file_bytes;
    whole.c.samples_per_second = told(d->top.c.samples_per_second, to->c.samples_per_second);
    whole.c.gflops_per_s = told(d->top.c.gflops_per_s, to->c.gflops_per_s);
    whole.c.use.cpu_percent = told(d->top.c.use.cpu_percent, to->c.use.cpu_percent);
    if (to->c.latency.median > 0)
        whole.c.latency.median = to->c.latency.median;
    if (!d->top.has_latency)
        whole.c.latency = to->c.latency;
    if (!d->top.has_memory)
        whole.peak_bytes = to->peak_bytes;
    *to = whole;
    if (d->single.present)
        take_batch(to, &d->single);
}

static void finish_unit(doc *d)
{
    const doc_config *t = &d->top;
    double rate = t->unit_images >= 0   ? t->unit_images
                  : t->unit_tokens >= 0 ? t->unit_tokens
                                        : t->unit_requests;
    d->m.unit = t->unit                 ? t->unit
                : t->unit_images >= 0   ? "images"
                : t->unit_tokens >= 0   ? "tokens"
                : t->unit_requests >= 0 ? "requests"
                                        : "samples";
    d->m.units_per_sample = 1;
    if (t->units_per_sample >= 0)
        d->m.units_per_sample = t->units_per_sample;
    else if (rate > 0 && t->c.samples_per_second > 0)
        d->m.units_per_sample = round(rate / t->c.samples_per_second * 1e6) / 1e6;
}

/* The sizes that were asked for, in their order; those of which nothing is told are empty. */
static bool place_configs(reader *r, doc *d, const doc_config *list, uint32_t n)
{
    uint32_t room = d->n_batch_sizes > n ? d->n_batch_sizes : n, k = 0;
    profile_config *to = ARENA_ARRAY(r->arena, profile_config, room ? room : 1);
    if (!to)
        return read_no_memory(r);
    for (uint32_t i = 0; i < room; i++) {
        uint32_t left = room - i, to_come = n - k;
        bool here = k < n && (to_come >= left || i >= d->n_batch_sizes ||
                              d->batch_sizes[i] == list[k].c.batch);
        to[i] = here ? list[k].c : config_start.c;
        if (here)
            k++;
        else
            to[i].batch = d->batch_sizes[i];
    }
    d->m.configs = to;
    d->m.n_configs = room;
    return true;
}

/* A document with sections and no list of configurations. */
static doc_config alone(const doc *d)
{
    doc_config c = config_start;
    c.c.batch = d->n_batch_sizes ? d->batch_sizes[0] : 1;
    c.c.latency = d->top.c.latency;
    return c;
}

static bool finish_configs(reader *r, doc *d)
{
    uint32_t n = d->n_configs ? d->n_configs : d->top.has_latency;
    doc_config *list = ARENA_ARRAY(r->s.arena, doc_config, n ? n : 1);
    if (!list)
        return read_no_memory(r);
    if (d->n_configs)
        memcpy(list, d->configs, n * sizeof *list);
    else if (n)
        list[0] = alone(d);
    doc_config *first = smallest(list, n);
    if (first)
        take_top(d, first);
    for (uint32_t i = 0; i < n; i++) {
        const doc_batch *b = batch_of(d, list[i].c.batch);
        if (b && !list[i].c.error.n)
            take_batch(&list[i], b);
        settle(&list[i]);
    }
    return place_configs(r, d, list, n);
}

bool read_finish_measured(reader *r, doc *d)
{
    if (!d->has_engine && !d->n_configs && !d->top.has_latency && !d->m.ledger.present &&
        !d->m.plan.present)
        return true;
    finish_unit(d);
    if (!finish_configs(r, d))
        return false;
    d->p.measured = ARENA_NEW(r->arena, profile_measured);
    if (!d->p.measured)
        return read_no_memory(r);
    *d->p.measured = d->m;
    return true;
}

/* ---- the GPU ---- */

static bool finish_event(reader *r, void *base)
{
    doc_gpu_event *e = base;
    (void)r;
    e->e.copy = e->kind && strcmp(e->kind, "copy") == 0;
    return true;
}

static const read_row event_rows[] = {
    ROW_STR(doc_gpu_event, "name", e.name),
    ROW_WORD(doc_gpu_event, "kind", kind),
    ROW_U64(doc_gpu_event, "count", e.count),
    ROW_F64(doc_gpu_event, "time_ms", e.time_ms, NULL_NAN),
};
static const read_table event_table = {READ_TABLE(event_rows), .size = sizeof(doc_gpu_event),
                                       .finish = finish_event};

static const read_row gpu_rows[] = {
    ROW_BOOL(doc_gpu, "available", g.available),
    ROW_STR(doc_gpu, "name", g.name),
    ROW_STR(doc_gpu, "driver", g.driver),
    ROW_STR(doc_gpu, "why", g.why),
    ROW_U64(doc_gpu, "devices", g.devices),
    ROW_BOOL(doc_gpu, "ranges", g.ranges),
    ROW_LIST(doc_gpu, "events", events, n_events, event_table),
};
const read_table read_gpu_table = {READ_TABLE(gpu_rows)};

bool read_finish_gpu(reader *r, doc *d)
{
    uint32_t n = d->gpu.n_events;
    profile_gpu_event *list = n ? ARENA_ARRAY(r->arena, profile_gpu_event, n) : NULL;
    if (n && !list)
        return read_no_memory(r);
    for (uint32_t i = 0; i < n; i++)
        list[i] = d->gpu.events[i].e;
    d->m.gpu = d->gpu.g;
    d->m.gpu.events = list;
    d->m.gpu.n_events = n;
    return true;
}
