/* Lists of a profile as CSV (--rows). Lists of runs of an unmeasured profile contain only the header row. */
#include <inttypes.h>

#include "base/json_write.h"
#include "base/map.h"
#include "profile/profile.h"
#include "report/views.h"

static const profile *profile_of(const view *v)
{
    return v->root.at;
}

/* ---- runs ---- */

static const char *cause_of(const profile_config *c, int64_t run)
{
    for (uint32_t i = 0; i < c->n_outliers; i++)
        if ((int64_t)c->outliers[i].run == run)
            return c->outliers[i].cause;
    return "";
}

static void put_run(const profile_config *c, int64_t run, double ms, sbuf *out)
{
    json_writer w; /* numbers that do not depend on the locale of the host program */
    sbuf_printf(out, "%" PRIu64 ",", c->batch);
    report_csv_field(out, c->precision);
    sbuf_printf(out, ",%" PRId64 ",", run);
    json_begin(&w, out, 0);
    json_fixed(&w, ms, 6);
    sbuf_printf(out, ",%s,%s\r\n", cause_of(c, run), run < 1 ? "warm-up" : "measured");
}

/* The warm-up counts up to 0, so that the first measured run is run 1 with it or without it. */
static void write_runs(const view *v, sbuf *out)
{
    const profile_measured *m = profile_of(v)->measured;
    sbuf_puts(out, "batch,precision,run,time_ms,cause,phase\r\n");
    for (uint32_t k = 0; m && k < m->n_configs && !out->failed; k++) {
        const profile_config *c = &m->configs[k];
        for (uint32_t i = 0; i < c->n_warmup_ms; i++)
            put_run(c, (int64_t)i + 1 - c->n_warmup_ms, c->warmup_ms[i], out);
        for (uint32_t i = 0; i < c->n_samples; i++)
            put_run(c, (int64_t)i + 1, c->samples_ms[i], out);
    }
}

/* ---- the plan beside a run ---- */

/* Layers of a run by name; the last of several, as the engine writes them in order. */
static bool index_run(const profile_plan_check *k, arena *a, map *by_node)
{
    if (!map_init(by_node, a, k->n_moments + 1u))
        return false;
    for (uint32_t i = 0; i < k->n_moments; i++)
        if (!map_put(by_node, k->moments[i].node, i))
            return false;
    return true;
}

static void write_timeline(const view *v, sbuf *out)
{
    static const profile_plan_check none;
    const profile *p = profile_of(v);
    bool ran = p->measured && p->measured->plan.present;
    const profile_plan_check *k = ran ? &p->measured->plan : &none;
    map by_node;
    out->failed |= !index_run(k, v->a, &by_node);
    sbuf_puts(out, "step,node,live_bytes,measured_live_bytes\r\n");
    for (uint32_t i = 0; i < p->memory_plan.n_timeline && !out->failed; i++) {
        const profile_moment *m = &p->memory_plan.timeline[i];
        uint32_t at = map_get(&by_node, m->node);
        sbuf_printf(out, "%" PRIu32 ",", i);
        report_csv_field(out, m->node);
        sbuf_printf(out, ",%" PRIu64 ",", m->live_bytes);
        if (at != MAP_NONE)
            sbuf_printf(out, "%" PRIu64, k->moments[at].requested);
        sbuf_puts(out, "\r\n");
    }
}

/* ---- lists by path ---- */

static const view_column batch_columns[] = {
    VIEW_TEXT("batch", "batch"),
    VIEW_TEXT("precision", "precision"),
    VIEW_TEXT("runs", "runs"),
    VIEW_TEXT("mean_ms", "mean_ms"),
    VIEW_TEXT("std_ms", "std_ms"),
    VIEW_TEXT("min_ms", "latency.min"),
    VIEW_TEXT("max_ms", "latency.max"),
    VIEW_TEXT("p50_ms", "latency.p50"),
    VIEW_TEXT("p90_ms", "latency.p90"),
    VIEW_TEXT("p95_ms", "latency.p95"),
    VIEW_TEXT("p99_ms", "latency.p99"),
    VIEW_TEXT("ci95_low_ms", "latency.ci95_low"),
    VIEW_TEXT("ci95_high_ms", "latency.ci95_high"),
    VIEW_TEXT("samples_per_second", "samples_per_second"),
    VIEW_TEXT("peak_bytes", "memory.peak"),
    VIEW_TEXT("activation_bytes", "memory.activations"),
    VIEW_TEXT("planned_activation_bytes", "memory.planned_activations"),
    VIEW_TEXT("cpu_percent", "cpu_percent"),
    VIEW_TEXT("gflops_per_s", "gflops_per_s"),
    VIEW_TEXT("gbytes_per_s", "throughput.gbytes_per_s"),
    VIEW_TEXT("session_ms", "cold_start.session_ms"),
    VIEW_TEXT("first_run_ms", "cold_start.first_run_ms"),
    VIEW_TEXT("energy_j", "utilization.energy_j"),
    VIEW_TEXT("error_max_abs", "output_error.max_abs"),
    VIEW_TEXT("error_mean_abs", "output_error.mean_abs"),
    VIEW_TEXT("error_relative", "output_error.relative"),
    VIEW_TEXT("error_cosine", "output_error.cosine"),
    VIEW_TEXT("effective_runs", "latency.effective_runs"),
    VIEW_TEXT("warmup_runs", "latency.warmup_runs"),
    VIEW_TEXT("steady_after", "latency.steady_after"),
    VIEW_TEXT("average_bytes", "memory.average"),
    VIEW_TEXT("per_sample_bytes", "memory.per_sample"),
    VIEW_TEXT("fragmentation", "memory.fragmentation"),
    VIEW_TEXT("percent_of_peak", "throughput.percent_of_peak"),
    VIEW_TEXT("percent_of_bandwidth", "throughput.percent_of_bandwidth"),
    VIEW_TEXT("voluntary_switches", "utilization.voluntary_switches"),
    VIEW_TEXT("involuntary_switches", "utilization.involuntary_switches"),
    VIEW_TEXT("minor_faults", "utilization.minor_faults"),
    VIEW_TEXT("major_faults", "utilization.major_faults"),
    VIEW_TEXT("read_bytes", "io.read_bytes"),
    VIEW_TEXT("written_bytes", "io.written_bytes"),
    VIEW_TEXT("steal_percent", "utilization.steal_percent"),
    VIEW_TEXT("frequency_mhz", "utilization.frequency_mhz"),
    VIEW_TEXT("preprocess_ms", "end_to_end.preprocess_ms"),
    VIEW_TEXT("postprocess_ms", "end_to_end.postprocess_ms"),
    VIEW_TEXT("file_bytes", "file_bytes"),
    VIEW_TEXT("error", "error"),
};

static const view_column curve_columns[] = {
    VIEW_TEXT("batch", "^batch"),
    VIEW_TEXT("precision", "^precision"),
    VIEW_TEXT("ms", "ms"),
    VIEW_TEXT("resident", "resident"),
    VIEW_TEXT("anonymous", "anonymous"),
    VIEW_TEXT("file_backed", "file_backed"),
};

static const view_column snapshot_columns[] = {
    VIEW_TEXT("kind", "^kind"),  VIEW_TEXT("step", "^step"),
    VIEW_TEXT("node", "^node"),  VIEW_TEXT("live_bytes", "^live_bytes"),
    VIEW_TEXT("value", "value"), VIEW_TEXT("producer", "producer"),
    VIEW_TEXT("bytes", "bytes"),
};

static const view_column slot_columns[] = {
    VIEW_TEXT("slot", "@index"),   VIEW_TEXT("value", "value"), VIEW_TEXT("bytes", "bytes"),
    VIEW_TEXT("offset", "offset"), VIEW_TEXT("from", "from"),   VIEW_TEXT("to", "to"),
};

const view_csv_row profile_csv[PROFILE_CSV_LISTS] = {
    {.name = "devices", .path = "devices", .in = "map"},
    {.name = "groups", .path = "groups", .in = "fuse"},
    {.name = "events", .path = "memory_plan.events", .in = "memory"},
    {.name = "layers", .path = "layers"},
    {.name = "samples", .path = "watch.samples"},
    {.name = "runs", .path = "configurations", .write = write_runs},
    {.name = "batches",
     .path = "configurations",
     .when = "runs/error",
     VIEW_COLUMNS(batch_columns)},
    {.name = "groups", .path = "ledger.groups"},
    {.name = "timeline", .path = "memory_plan.timeline", .write = write_timeline},
    {.name = "snapshots",
     .path = "memory_plan.snapshots",
     .inner = "values",
     VIEW_COLUMNS(snapshot_columns)},
    {.name = "slots", .path = "memory_plan.slots", VIEW_COLUMNS(slot_columns)},
    {.name = "curve",
     .path = "configurations",
     .inner = "memory.curve",
     VIEW_COLUMNS(curve_columns)},
};

/* ---- every configuration in detail ---- */

/* JSON leaves out of the list what stands at the top of the document; views find all in the list. */
const void *profile_in_detail(const void *data, arena *a)
{
    profile *p = arena_copy(a, data, sizeof *p);
    profile_measured *m = p && p->measured ? arena_copy(a, p->measured, sizeof *m) : NULL;
    if (!p || !p->measured)
        return p;
    if (m)
        m->configs = arena_copy(a, m->configs, sizeof *m->configs * m->n_configs);
    for (uint32_t i = 0; m && m->configs && i < m->n_configs; i++)
        m->configs[i].detailed = m->configs[i].ran;
    p->measured = m;
    return m ? p : NULL;
}
