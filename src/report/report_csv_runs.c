/* What was measured as CSV: one row per run, or one per configuration. Of a profile without measurements
 * there is the header row alone. Numbers that the system does not tell, and all of a configuration that
 * failed, are empty. */
#include <inttypes.h>
#include <math.h>

#include "base/json_write.h"
#include "base/text.h"
#include "report/report.h"

static void end_row(sbuf *out)
{
    sbuf_puts(out, "\r\n");
}

/* JSON's form of numbers does not depend on the locale of the host program. */
void report_csv_number(sbuf *out, double v)
{
    json_writer w;
    json_begin(&w, out, 0);
    json_f64(&w, v);
}

static void put_text(sbuf *out, str s)
{
    sbuf cell = {0};
    text_safe(&cell, s);
    report_csv_field(out, (str){cell.p, (uint32_t)cell.n});
    out->failed = out->failed || cell.failed;
    sbuf_free(&cell);
}

static void put_config(sbuf *out, const profile_config *c)
{
    sbuf_printf(out, "%" PRIu64 ",", c->batch);
    put_text(out, c->precision);
}

/* ---- runs ---- */

static const char *cause_of(const profile_config *c, uint64_t run)
{
    for (uint32_t i = 0; i < c->n_outliers; i++)
        if (c->outliers[i].run == run)
            return c->outliers[i].cause;
    return "";
}

static void put_run(const profile_config *c, int64_t run, double ms, const char *cause, sbuf *out)
{
    put_config(out, c);
    sbuf_printf(out, ",%" PRId64 ",", run);
    report_csv_number(out, ms);
    sbuf_putc(out, ',');
    put_text(out, str_of(cause));
    sbuf_puts(out, run < 1 ? ",warm-up" : ",measured");
    end_row(out);
}

/* The warm-up counts up to 0, so that the first run that is measured is run 1 with it or without it. */
static void put_runs(const profile_config *c, sbuf *out)
{
    for (uint32_t i = 0; i < c->n_warmup_ms && !out->failed; i++)
        put_run(c, (int64_t)i + 1 - c->n_warmup_ms, c->warmup_ms[i], "", out);
    for (uint32_t i = 0; i < c->n_samples && !out->failed; i++)
        put_run(c, (int64_t)i + 1, c->samples_ms[i], cause_of(c, (uint64_t)i + 1), out);
}

/* ---- configurations ---- */

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

typedef double number_fn(const profile_config *c); /* NaN or negative: an empty cell */

#define NUMBER(name, expression)                      \
    static double get_##name(const profile_config *c) \
    {                                                 \
        return (double)(expression);                  \
    }
NUMBER(runs, c->latency.runs)
NUMBER(mean, c->latency.mean)
NUMBER(std, c->latency.std)
NUMBER(min, c->latency.min)
NUMBER(max, c->latency.max)
NUMBER(p50, c->latency.p50)
NUMBER(p90, c->latency.p90)
NUMBER(p95, c->latency.p95)
NUMBER(p99, c->latency.p99)
NUMBER(ci95_low, c->latency.ci95_low)
NUMBER(ci95_high, c->latency.ci95_high)
NUMBER(rate, c->samples_per_second)
NUMBER(peak, c->memory.peak ? (double)above(c->memory.peak, c->memory.before_session) : -1)
NUMBER(activations, c->memory.run_peak ? (double)above(c->memory.run_peak, c->memory.before) : -1)
NUMBER(planned, c->memory.plan_activations)
NUMBER(cpu, c->use.cpu_percent)
NUMBER(gflops, c->gflops_per_s)
NUMBER(gbytes, c->gbytes_per_s)
NUMBER(session, c->session_ms)
NUMBER(first_run, c->first_run_ms)
NUMBER(energy, c->use.energy_j >= 0 ? c->use.energy_j : (double)NAN)
NUMBER(effective, c->latency.effective_runs)
NUMBER(warmup, c->warmup_runs)
NUMBER(steady_after, c->steady_after ? (double)c->steady_after : -1)
NUMBER(average, c->memory.peak ? (double)above(c->memory.average, c->memory.before_session) : -1)
NUMBER(per_sample, c->memory.peak && c->batch
                       ? (double)(above(c->memory.peak, c->memory.before_session) / c->batch)
                       : -1)
NUMBER(fragmentation, c->memory.fragmentation)
NUMBER(peak_share, c->percent_of_peak)
NUMBER(bandwidth_share, c->percent_of_bandwidth)
NUMBER(voluntary, !c->use.present ? -1 : (double)c->use.voluntary_switches)
NUMBER(involuntary, !c->use.present ? -1 : (double)c->use.involuntary_switches)
NUMBER(minor, !c->use.present ? -1 : (double)c->use.minor_faults)
NUMBER(major, !c->use.present ? -1 : (double)c->use.major_faults)
NUMBER(read, c->use.io.read_bytes == PROFILE_NOT_TOLD ? -1 : (double)c->use.io.read_bytes)
NUMBER(written, c->use.io.written_bytes == PROFILE_NOT_TOLD ? -1 : (double)c->use.io.written_bytes)
NUMBER(steal, c->use.steal_percent)
NUMBER(frequency, c->use.frequency_mhz)
NUMBER(pre, c->pre_ms)
NUMBER(post, c->post_ms)
NUMBER(file_bytes, c->file_bytes ? (double)c->file_bytes : -1)
NUMBER(error_max, c->output_error.present ? c->output_error.max_abs : (double)NAN)
NUMBER(error_mean, c->output_error.present ? c->output_error.mean_abs : (double)NAN)
NUMBER(error_relative, c->output_error.present && c->output_error.relative >= 0
                           ? c->output_error.relative
                           : (double)NAN)
NUMBER(error_cosine, c->output_error.present ? c->output_error.cosine : (double)NAN)

static const struct {
    const char *name;
    number_fn *get;
} numbers[] = {
    {"runs", get_runs},
    {"mean_ms", get_mean},
    {"std_ms", get_std},
    {"min_ms", get_min},
    {"max_ms", get_max},
    {"p50_ms", get_p50},
    {"p90_ms", get_p90},
    {"p95_ms", get_p95},
    {"p99_ms", get_p99},
    {"ci95_low_ms", get_ci95_low},
    {"ci95_high_ms", get_ci95_high},
    {"samples_per_second", get_rate},
    {"peak_bytes", get_peak},
    {"activation_bytes", get_activations},
    {"planned_activation_bytes", get_planned},
    {"cpu_percent", get_cpu},
    {"gflops_per_s", get_gflops},
    {"gbytes_per_s", get_gbytes},
    {"session_ms", get_session},
    {"first_run_ms", get_first_run},
    {"energy_j", get_energy},
    {"error_max_abs", get_error_max},
    {"error_mean_abs", get_error_mean},
    {"error_relative", get_error_relative},
    {"error_cosine", get_error_cosine},
    {"effective_runs", get_effective},
    {"warmup_runs", get_warmup},
    {"steady_after", get_steady_after},
    {"average_bytes", get_average},
    {"per_sample_bytes", get_per_sample},
    {"fragmentation", get_fragmentation},
    {"percent_of_peak", get_peak_share},
    {"percent_of_bandwidth", get_bandwidth_share},
    {"voluntary_switches", get_voluntary},
    {"involuntary_switches", get_involuntary},
    {"minor_faults", get_minor},
    {"major_faults", get_major},
    {"read_bytes", get_read},
    {"written_bytes", get_written},
    {"steal_percent", get_steal},
    {"frequency_mhz", get_frequency},
    {"preprocess_ms", get_pre},
    {"postprocess_ms", get_post},
    {"file_bytes", get_file_bytes},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static void put_batch(const profile_config *c, sbuf *out)
{
    if (!c->error.n && !c->latency.runs)
        return;
    put_config(out, c);
    for (int i = 0; i < N_NUMBERS; i++) {
        double v = c->latency.runs ? numbers[i].get(c) : (double)NAN;
        bool told = !isnan(v) && (v >= 0 || numbers[i].get == get_error_cosine);
        sbuf_putc(out, ',');
        if (told)
            report_csv_number(out, v);
    }
    sbuf_putc(out, ',');
    put_text(out, c->error);
    end_row(out);
}

/* ---- sums of layers ---- */

static void put_group(sbuf *out, const profile_time_group *g, double run_ms)
{
    sbuf_printf(out, "%s,", g->by);
    put_text(out, g->name);
    sbuf_printf(out, ",%" PRIu64 ",", g->layers);
    report_csv_number(out, g->time_ms);
    sbuf_putc(out, ',');
    if (g->time_std_ms >= 0)
        report_csv_number(out, g->time_std_ms);
    sbuf_putc(out, ',');
    if (run_ms > 0)
        report_csv_number(out, 100 * g->time_ms / run_ms);
    sbuf_printf(out, ",%" PRIu64 ",%" PRIu64, g->flops, g->memory);
    end_row(out);
}

assay_status report_csv_groups(const profile *p, sbuf *out, assay_error *err)
{
    const profile_ledger *l = p->measured ? &p->measured->ledger : NULL;
    sbuf_puts(out, "by,name,layers,time_ms,time_std_ms,percent,flops,memory\r\n");
    for (uint32_t i = 0; l && i < l->n_groups && !out->failed; i++)
        put_group(out, &l->groups[i], l->run_ms);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

/* ---- all of them ---- */

assay_status report_csv_runs(const profile *p, sbuf *out, assay_error *err)
{
    const profile_measured *m = p->measured;
    sbuf_puts(out, "batch,precision,run,time_ms,cause,phase\r\n");
    for (uint32_t i = 0; m && i < m->n_configs && !out->failed; i++)
        put_runs(&m->configs[i], out);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status report_csv_batches(const profile *p, sbuf *out, assay_error *err)
{
    const profile_measured *m = p->measured;
    sbuf_puts(out, "batch,precision");
    for (int i = 0; i < N_NUMBERS; i++)
        sbuf_printf(out, ",%s", numbers[i].name);
    sbuf_puts(out, ",error\r\n");
    for (uint32_t i = 0; m && i < m->n_configs && !out->failed; i++)
        put_batch(&m->configs[i], out);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
