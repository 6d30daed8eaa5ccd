/* Verdicts as text: what all their writers share, and the table of them. */
#include <math.h>

#include "base/text.h"
#include "report/console.h"
#include "report/studies.h"
#include "report/verdicts_impl.h"

void report_metric(sbuf *b, metric_unit unit, double v)
{
    switch (unit) {
    case METRIC_MS:
        console_ms(b, v);
        return;
    case METRIC_BYTES:
        text_bytes(b, v < 0 ? 0 : v > 9e18 ? (uint64_t)9e18 : (uint64_t)v);
        return;
    case METRIC_COUNT:
        text_si(b, v, -1);
        return;
    case METRIC_RATE:
        if (v < 1000)
            report_fixed(b, v, v < 10 ? 2 : 1);
        else
            text_si(b, v, -1);
        sbuf_puts(b, " /s");
        return;
    case METRIC_PERCENT:
        report_fixed(b, v, 1);
        sbuf_puts(b, " %");
        return;
    case METRIC_PLAIN:
        report_fixed(b, v, 2);
        return;
    }
}

static void put_signed_percent(sbuf *b, double ratio)
{
    double percent = 100 * (ratio - 1);
    sbuf_puts(b, percent >= 0.005 ? "+" : percent <= -0.005 ? "−" : "");
    report_fixed(b, fabs(percent), fabs(percent) < 9.995 ? 2 : 1);
}

void verdict_put_change(sbuf *b, double ratio)
{
    put_signed_percent(b, ratio);
    sbuf_puts(b, " %");
}

void verdict_put_interval(sbuf *b, const verdict_row *r)
{
    put_signed_percent(b, r->low);
    sbuf_puts(b, " … ");
    verdict_put_change(b, r->high);
}

/* Counts that differ must not look the same: "417 k" and "417 k" are 416,520 and 417,360. */
static bool look_alike(const verdict_row *r)
{
    sbuf x = {0}, y = {0};
    report_metric(&x, r->unit, r->now.v);
    report_metric(&y, r->unit, r->base.v);
    bool alike = strcmp(sbuf_cstr(&x), sbuf_cstr(&y)) == 0;
    sbuf_free(&x);
    sbuf_free(&y);
    return alike;
}

void verdict_put_value(sbuf *b, const verdict_row *r, const metric_value *v)
{
    if (!r->op && v->whole && r->now.n != r->base.n && look_alike(r))
        text_thousands(b, v->n);
    else
        report_metric(b, r->unit, v->v);
}

void verdict_put_against(sbuf *b, const verdict_row *r)
{
    if (r->op) {
        sbuf_puts(b, strcmp(r->op, VERDICT_AT_LEAST) == 0 ? "≥ " : "≤ ");
        report_metric(b, r->unit, r->limit);
    } else {
        verdict_put_value(b, r, &r->base);
    }
}

bool verdict_has_moved(const verdict_row *r)
{
    const metric_row *m = metric_find(str_of(r->metric));
    return !r->op && r->ratio > 0 && ((m && m->measured) || r->ratio != 1);
}

void verdict_put_moved(sbuf *b, const verdict_row *r)
{
    if (!verdict_has_moved(r))
        return;
    verdict_put_change(b, r->ratio);
    if (!verdict_is_tested(r))
        return;
    sbuf_puts(b, " (");
    verdict_put_interval(b, r);
    sbuf_putc(b, ')');
}

void verdict_put_sentence(sbuf *b, const verdict_row *r)
{
    sbuf_printf(b, "%s ", metric_title(r->metric));
    verdict_put_value(b, r, &r->now);
    sbuf_puts(b, r->op ? ", limit " : ", baseline ");
    verdict_put_against(b, r);
    sbuf moved = {0};
    verdict_put_moved(&moved, r);
    if (moved.n)
        sbuf_printf(b, ": %s", sbuf_cstr(&moved));
    sbuf_free(&moved);
    if (r->why.n)
        sbuf_printf(b, "; " STR_FMT, STR_ARG(r->why));
    sbuf_putc(b, '.');
}

bool verdict_is_bad(const verdict_row *r)
{
    return r->verdict == VERDICT_MISSED || r->verdict == VERDICT_REGRESSION;
}

/* ---- what moved ---- */

void verdict_put_signed(sbuf *b, int64_t d, bool bytes)
{
    uint64_t n = d < 0 ? (uint64_t)-d : (uint64_t)d;
    sbuf_puts(b, d > 0 ? "+" : d < 0 ? "−" : "");
    if (bytes && n)
        text_bytes(b, n);
    else
        text_si(b, (double)n, -1);
}

void verdict_put_time(sbuf *b, const verdict_move *m)
{
    double d = m->time_ms;
    if (isnan(d))
        return;
    sbuf_puts(b, d > 0 ? "+" : d < 0 ? "−" : "");
    console_ms(b, d < 0 ? -d : d);
}

/* ---- all ---- */

static const struct {
    const char *name;
    verdict_writer_fn *write;
} writers[] = {
    {"console", verdict_write_console}, {"json", verdict_write_json},
    {"csv", verdict_write_csv},         {"md", verdict_write_md},
    {"junit", verdict_write_junit},     {"github", verdict_write_github},
};

assay_status report_verdicts(const verdicts *v, str format, const report_options *o, sbuf *out,
                             assay_error *err)
{
    size_t from = out->n;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        if (!str_is(format, writers[i].name))
            continue;
        writers[i].write(v, o, out);
        if (i == 0)
            report_first_line(out, from);
        if (i == 0 && o->ascii)
            console_to_ascii(out, from);
        return out->failed ? err_no_memory(err) : ASSAY_OK;
    }
    return err_fail(err, ASSAY_ERR_USAGE,
                    "A check has no format '" STR_FMT
                    "'. There are: console, json, csv, md, html, summary-html, junit, github.",
                    STR_ARG(format));
}
