/* A comparison: totals with ratios to the first profile, operator types, and of two profiles the layers
 * that make the difference. What all its writers share, and their table. */
#include "report/compare_impl.h"

#include "base/text.h"
#include "report/console.h"

/* ---- totals: one row each ---- */

#define TOTAL(member) #member, .at = (uint32_t)offsetof(comparison_model, member)

const total_row compare_totals[] = {
    {"Parameters", TOTAL(parameters), .kind = TOTAL_SI},
    {"Model size", TOTAL(weight_bytes), .kind = TOTAL_BYTES},
    {"Operators", TOTAL(operators), .kind = TOTAL_COUNT},
    {"MACs", TOTAL(macs), .kind = TOTAL_SI},
    {"FLOPs", TOTAL(flops), .kind = TOTAL_SI},
    {"FLOPs per parameter", TOTAL(flops_per_param), .kind = TOTAL_REAL},
    {"Memory traffic", TOTAL(memory), .kind = TOTAL_BYTES},
    {"FLOPs per byte", TOTAL(arithmetic_intensity), .kind = TOTAL_REAL},
    {"Activation peak", TOTAL(activations_peak_bytes), .kind = TOTAL_BYTES},
    {"Peak memory", TOTAL(peak_bytes), .kind = TOTAL_BYTES},
    {"Median latency", TOTAL(p50_ms), .kind = TOTAL_MS},
    {"Throughput /s", TOTAL(samples_per_second), .kind = TOTAL_REAL},
    {"Memory used", TOTAL(memory_used_bytes), .kind = TOTAL_BYTES},
};
const int compare_totals_n = sizeof compare_totals / sizeof *compare_totals;

double compare_total(const comparison_model *m, const total_row *row)
{
    double d;
    uint64_t n;
    if (row->kind == TOTAL_REAL || row->kind == TOTAL_MS) {
        memcpy(&d, (const char *)m + row->at, sizeof d);
        return d;
    }
    memcpy(&n, (const char *)m + row->at, sizeof n);
    return n == FIELD_UNKNOWN ? NAN : (double)n;
}

bool compare_has(const comparison *c, const total_row *row)
{
    for (uint32_t i = 0; i < c->n_models; i++)
        if (!isnan(compare_total(&c->models[i], row)))
            return true;
    return false;
}

void compare_put_total(sbuf *b, const total_row *row, double v)
{
    if (isnan(v)) {
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
    if (!(first > 0) || isnan(v))
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
