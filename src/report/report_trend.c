/* A figure over time: a line of blocks for people, the series for scripts and spreadsheets. */
#include <math.h>

#include "base/clock.h"
#include "base/text.h"
#include "report/console.h"
#include "report/histories.h"
#include "report/studies.h"
#include "report/verdicts.h"

/* ---- console ---- */

/* From an eighth above nothing to the top: the lowest run is a low block, not none. */
static void put_line(console *k, const history_trend *t)
{
    arena *a = arena_new((size_t)1 << 20);
    uint64_t *heights = a ? ARENA_ARRAY(a, uint64_t, t->n) : NULL;
    double span = t->max - t->min;
    for (uint32_t i = 0; heights && i < t->n; i++)
        heights[i] = span > 0 ? (uint64_t)(1000 * (t->points[i].v.v - t->min) / span) : 500;
    console_put(k, STYLE_PLAIN, "  ");
    console_on(k, STYLE_BAR);
    if (heights)
        console_spark(k->out, heights, t->n, k->width - 4);
    console_on(k, STYLE_PLAIN);
    console_line(k);
    arena_free(a);
}

/* A count that moved by one in a million must show it. */
static void put_value(sbuf *b, metric_unit unit, double v)
{
    if (unit == METRIC_COUNT && v >= 0 && v < 1e15)
        text_thousands(b, (uint64_t)v);
    else
        report_metric(b, unit, v);
}

/* Beside the others, or on a line of its own when there is no room; the column behind it. */
static unsigned put_figure(console *k, unsigned at, const char *name, metric_unit unit, double v)
{
    sbuf value = {0};
    put_value(&value, unit, v);
    unsigned wide = (unsigned)strlen(name) + 1 + text_width((str){value.p, (uint32_t)value.n});
    if (at && at + 3 + wide > k->width) {
        console_line(k);
        at = 0;
    }
    console_put(k, STYLE_PLAIN, at ? "   " : "  ");
    console_put(k, STYLE_DIM, name);
    console_put(k, STYLE_PLAIN, " ");
    sbuf_puts(k->out, sbuf_cstr(&value));
    sbuf_free(&value);
    return at + (at ? 3 : 2) + wide;
}

static void put_totals(console *k, const history_trend *t)
{
    unsigned at = put_figure(k, 0, "newest", t->unit, t->newest);
    at = put_figure(k, at, "median", t->unit, t->median);
    at = put_figure(k, at, "least", t->unit, t->min);
    put_figure(k, at, "most", t->unit, t->max);
    console_line(k);
}

static void put_title(console *k, const history_trend *t)
{
    sbuf *b = k->out;
    console_name(k, STYLE_TITLE, t->model);
    sbuf_printf(b, " · %s · %u run%s, ", t->title, t->n, t->n == 1 ? "" : "s");
    history_put_minute(b, t->points[0].created_s);
    if (t->n > 1) {
        sbuf_puts(b, " to ");
        history_put_minute(b, t->points[t->n - 1].created_s);
    }
    console_line(k);
}

static void put_notes(console *k, const history_trend *t)
{
    console_words(k, STYLE_DIM, 2, false, t->setup);
    sbuf b = {0};
    if (t->left_out)
        sbuf_printf(&b, "%llu run%s with another setup %s left out; --all takes them. ",
                    (unsigned long long)t->left_out, t->left_out == 1 ? "" : "s",
                    t->left_out == 1 ? "is" : "are");
    if (t->older)
        sbuf_printf(&b, "%llu older run%s not looked at.", (unsigned long long)t->older,
                    t->older == 1 ? " is" : "s are");
    if (b.n)
        console_words(k, STYLE_DIM, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static void put_percent(sbuf *b, double ratio)
{
    double percent = isnan(ratio) ? 0 : 100 * (ratio - 1);
    sbuf_puts(b, percent >= 0 ? "+" : "");
    report_fixed(b, percent, fabs(percent) < 10 ? 1 : 0);
    sbuf_puts(b, " %");
}

static void put_changes(console *k, const history_trend *t)
{
    static const console_column columns[] = {
        {.title = "from run", .right = true},         {.title = "when (UTC)"},
        {.title = "before", .right = true},           {.title = "after", .right = true},
        {.title = "change", .right = true},           {.title = ""},
        {.title = "chance", .right = true, .drop = 1}};
    console_table table;
    if (!t->n_changes)
        return;
    console_heading(k, "Changes of level", NULL);
    table_begin(&table, columns, sizeof columns / sizeof *columns, 2);
    for (uint32_t i = 0; i < t->n_changes; i++) {
        const history_change *c = &t->changes[i];
        sbuf_printf(table_cell(&table, STYLE_PLAIN), "%lld", (long long)c->id);
        history_put_minute(table_cell(&table, STYLE_DIM), c->created_s);
        put_value(table_cell(&table, STYLE_PLAIN), t->unit, c->before);
        put_value(table_cell(&table, STYLE_PLAIN), t->unit, c->after);
        put_percent(table_cell(&table, STYLE_PLAIN), c->ratio);
        sbuf_puts(table_cell(&table, c->worse ? STYLE_WARN : STYLE_GOOD),
                  c->worse ? "worse" : "better");
        sbuf *b = table_cell(&table, STYLE_DIM);
        if (c->p > 0) {
            sbuf_puts(b, c->p <= 0.001 ? "≤ " : "");
            report_fixed(b, 100 * c->p, 1);
            sbuf_puts(b, " %");
        } else {
            sbuf_puts(b, "exact");
        }
    }
    table_print(&table, k);
}

static void put_alerts(console *k, const history_trend *t)
{
    static const char *const marks[] = {
        [ALERT_QUIET] = "✓", [ALERT_FIRED] = "⚠", [ALERT_INCONCLUSIVE] = "?"};
    if (t->n_alerts)
        console_heading(k, "Alerts", NULL);
    for (uint32_t i = 0; i < t->n_alerts; i++) {
        const history_alert *x = &t->alerts[i];
        sbuf b = {0};
        sbuf_printf(&b, "%s " STR_FMT ": " STR_FMT, marks[x->verdict], STR_ARG(x->expression),
                    STR_ARG(x->why));
        console_words(k, x->verdict == ALERT_QUIET ? STYLE_GOOD : STYLE_WARN, 2, false,
                      (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
}

static void write_console(const history_trend *t, console *k)
{
    if (t->n) {
        put_title(k, t);
        put_line(k, t);
        put_totals(k, t);
        put_notes(k, t);
        put_changes(k, t);
    }
    put_alerts(k, t);
}

/* ---- json ---- */

static void write_json(const void *of, const report_options *o, sbuf *out)
{
    (void)o;
    result_write(&trend_kind, of, 2, out);
}

/* ---- csv ---- */

static void write_csv(const void *of, const report_options *o, sbuf *out)
{
    const history_trend *t = of;
    uint32_t change = 0;
    (void)o;
    sbuf_printf(out, "id,created,%s,change\r\n", t->metric);
    for (uint32_t i = 0; i < t->n; i++) {
        const history_point *p = &t->points[i];
        bool here = change < t->n_changes && t->changes[change].at == i;
        char when[32];
        clock_format(p->created_s, when);
        sbuf_printf(out, "%lld,%s,", (long long)p->id, when);
        if (p->v.whole)
            sbuf_printf(out, "%llu", (unsigned long long)p->v.n);
        else
            report_csv_number(out, p->v.v);
        sbuf_printf(out, ",%s\r\n", here ? t->changes[change].worse ? "worse" : "better" : "");
        change += here;
    }
}

static void write_screen(const void *of, const report_options *o, sbuf *out)
{
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    write_console(of, &k);
}

assay_status report_trend(const history_trend *t, str format, const report_options *o, sbuf *out,
                          assay_error *err)
{
    static const report_writer writers[] = {
        {"console", write_screen}, {"json", write_json}, {"csv", write_csv}};
    return report_by_name(REPORT_WRITERS(writers), "A trend", t, format, o, out, err);
}
