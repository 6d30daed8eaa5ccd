/* A comparison: totals with ratios to the first profile, operator types, and of two profiles the layers
 * that make the difference. What all its writers share, and their table. */
#include "report/compare_impl.h"

#include "base/text.h"
#include "profile/metrics.h"
#include "report/console.h"

/* ---- totals: one row each ---- */

static double get_parameters(const profile *p)
{
    return (double)p->total_parameters;
}
static double get_size(const profile *p)
{
    return (double)p->architecture.weight_bytes;
}
static double get_operators(const profile *p)
{
    return (double)p->total_operators;
}
static double get_macs(const profile *p)
{
    return (double)p->total_macs;
}
static double get_flops(const profile *p)
{
    return (double)p->total_flops;
}
static double get_traffic(const profile *p)
{
    return (double)p->total_memory;
}
static double get_intensity(const profile *p)
{
    return p->arithmetic_intensity;
}
static double get_activations(const profile *p)
{
    return (double)p->memory_plan.activations_peak_bytes;
}
static double get_peak(const profile *p)
{
    return (double)p->memory_plan.peak_bytes;
}
static double by_metric(const profile *p, const char *name)
{
    const metric_row *m = metric_find(str_of(name));
    metric_value v;
    return m && m->get(p, &v) ? v.v : -1;
}
static double get_p50(const profile *p)
{
    return by_metric(p, "p50");
}
static double get_rate(const profile *p)
{
    return by_metric(p, "throughput");
}
static double get_used(const profile *p)
{
    double v = by_metric(p, "memory");
    return v > 0 ? v : -1;
}
static double get_per_parameter(const profile *p)
{
    return p->total_parameters ? (double)p->total_flops / (double)p->total_parameters : 0;
}

const total_row compare_totals[] = {
    {"Parameters", "parameters", TOTAL_SI, get_parameters},
    {"Model size", "weight_bytes", TOTAL_BYTES, get_size},
    {"Operators", "operators", TOTAL_COUNT, get_operators},
    {"MACs", "macs", TOTAL_SI, get_macs},
    {"FLOPs", "flops", TOTAL_SI, get_flops},
    {"FLOPs per parameter", "flops_per_param", TOTAL_REAL, get_per_parameter},
    {"Memory traffic", "memory", TOTAL_BYTES, get_traffic},
    {"FLOPs per byte", "arithmetic_intensity", TOTAL_REAL, get_intensity},
    {"Activation peak", "activations_peak_bytes", TOTAL_BYTES, get_activations},
    {"Peak memory", "peak_bytes", TOTAL_BYTES, get_peak},
    {"Median latency", "p50_ms", TOTAL_MS, get_p50},
    {"Throughput /s", "samples_per_second", TOTAL_REAL, get_rate},
    {"Memory used", "memory_used_bytes", TOTAL_BYTES, get_used},
};
const int compare_totals_n = sizeof compare_totals / sizeof *compare_totals;

bool compare_has(const comparison *c, const total_row *row)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (row->get(c->profiles[i]) >= 0)
            return true;
    return false;
}

void compare_put_total(sbuf *b, const total_row *row, double v)
{
    if (v < 0) {
        sbuf_puts(b, "–");
        return;
    }
    switch (row->kind) {
    case TOTAL_COUNT:
        text_thousands(b, (uint64_t)v);
        return;
    case TOTAL_SI:
        text_si(b, v, -1);
        return;
    case TOTAL_BYTES:
        text_bytes(b, (uint64_t)v);
        return;
    case TOTAL_REAL:
        report_fixed(b, v, 2);
        return;
    case TOTAL_MS:
        console_ms(b, v);
        return;
    }
}

void compare_put_ratio(sbuf *b, double v, double first)
{
    if (first <= 0 || v < 0)
        return;
    report_fixed(b, v / first, 2);
    sbuf_puts(b, "×");
}

/* ---- what a layer contributes ---- */

void compare_put_delta(sbuf *b, uint64_t before, uint64_t after, bool bytes)
{
    uint64_t d = after > before ? after - before : before - after;
    sbuf_puts(b, after > before ? "+" : after < before ? "−" : "");
    if (!d)
        sbuf_puts(b, "0");
    else if (bytes)
        text_bytes(b, d);
    else
        text_si(b, (double)d, -1);
}

void compare_put_delta_ms(sbuf *b, double before, double after)
{
    sbuf_puts(b, after > before ? "+" : after < before ? "−" : "");
    console_ms(b, after > before ? after - before : before - after);
}

void compare_put_attributes(sbuf *b, const comparison_layer *l)
{
    if (comparison_attributes_told(l))
        attribute_changes(b, l->before->attributes, l->after->attributes);
}

/* ---- all ---- */

void report_first_line(sbuf *out, size_t from)
{
    if (out->failed || out->n <= from || out->p[from] != '\n')
        return;
    memmove(out->p + from, out->p + from + 1, out->n - from - 1);
    out->n--;
}

static const struct comparison_writer {
    const char *name;
    void (*write)(const comparison *c, const report_options *o, sbuf *out);
} writers[] = {{"console", compare_write_console},
               {"json", compare_write_json},
               {"csv", compare_write_csv},
               {"md", compare_write_md}};

assay_status report_comparison(const comparison *c, str format, const report_options *o, sbuf *out,
                               assay_error *err)
{
    size_t from = out->n;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        if (!str_is(format, writers[i].name))
            continue;
        writers[i].write(c, o, out);
        if (i == 0)
            report_first_line(out, from);
        if (i == 0 && o->ascii)
            console_to_ascii(out, from);
        return out->failed ? err_no_memory(err) : ASSAY_OK;
    }
    return err_fail(
        err, ASSAY_ERR_USAGE,
        "A comparison can be written as console, json, csv, md, html or summary-html, not as "
        "'" STR_FMT "'.",
        STR_ARG(format));
}
