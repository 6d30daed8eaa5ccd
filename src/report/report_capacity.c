/* Capacity for people, for scripts and for spreadsheets. */
#include "report/capacities.h"

#include "base/text.h"
#include "report/console.h"
#include "report/verdicts.h"

/* ---- console ---- */

static void put_rate(sbuf *b, double v)
{
    if (v < 1e15)
        text_thousands(b, (uint64_t)(v + 0.5));
    else
        text_si(b, v, -1);
}

static void put_question(console *k, const capacity *c)
{
    char name[16];
    console_name(k, STYLE_TITLE, c->model);
    sbuf_puts(k->out, " · ");
    put_rate(k->out, c->target);
    sbuf_puts(k->out, " requests/s");
    if (c->limit_ms > 0) {
        sbuf_printf(k->out, " · %s within ", capacity_quantile_name(c->quantile, name));
        console_ms(k->out, c->limit_ms);
    }
    sbuf_puts(k->out, " · ");
    report_fixed(k->out, 100 * c->headroom, 0);
    sbuf_puts(k->out, " % kept free");
    console_line(k);
}

static void put_answer(console *k, const capacity *c)
{
    sbuf b = {0};
    char name[16];
    if (c->best >= c->n) {
        sbuf_puts(&b,
                  "⚠ None of the measured configurations can do it, with any number of machines.");
    } else {
        const capacity_plan *p = &c->plans[c->best];
        sbuf_puts(&b, "✓ ");
        text_thousands(&b, p->machines);
        sbuf_printf(&b, " machine%s at batch %llu, %llu run%s at a time: %s ",
                    p->machines == 1 ? "" : "s", (unsigned long long)p->batch,
                    (unsigned long long)p->concurrency, p->concurrency == 1 ? "" : "s",
                    capacity_quantile_name(c->quantile > 0 ? c->quantile : 0.99, name));
        console_ms(&b, p->quantile_ms);
        sbuf_puts(&b, ", load ");
        report_fixed(&b, 100 * p->utilization, 0);
        sbuf_puts(&b, " %.");
    }
    console_words(k, c->best >= c->n ? STYLE_WARN : STYLE_GOOD, 2, false,
                  (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static void cell_ms(console_table *t, double v)
{
    console_ms(table_cell(t, STYLE_PLAIN), v);
}

static void put_plan(console_table *t, const capacity_plan *p, bool best)
{
    console_style style = best ? STYLE_GOOD : STYLE_PLAIN;
    sbuf_puts(table_cell(t, style), best ? "→" : "");
    sbuf_printf(table_cell(t, style), "%llu", (unsigned long long)p->batch);
    table_str(t, style, p->precision);
    sbuf_printf(table_cell(t, style), "%llu", (unsigned long long)p->concurrency);
    if (!p->feasible) {
        sbuf_puts(table_cell(t, STYLE_DIM), "-");
        return;
    }
    text_thousands(table_cell(t, style), p->machines);
    sbuf *b = table_cell(t, style);
    report_fixed(b, 100 * p->utilization, 0);
    sbuf_puts(b, " %");
    cell_ms(t, p->quantile_ms);
    cell_ms(t, p->forming_ms);
    cell_ms(t, p->waiting_ms);
    cell_ms(t, p->service_ms);
    put_rate(table_cell(t, STYLE_PLAIN), p->most);
}

static void put_plans(console *k, const capacity *c)
{
    char name[16];
    const char *quantile = capacity_quantile_name(c->quantile > 0 ? c->quantile : 0.99, name);
    const console_column columns[] = {{.title = ""},
                                      {.title = "batch", .right = true},
                                      {.title = "type", .drop = 4},
                                      {.title = "at once", .right = true, .drop = 3},
                                      {.title = "machines", .right = true},
                                      {.title = "load", .right = true},
                                      {.title = quantile, .right = true},
                                      {.title = "forming", .right = true, .drop = 1},
                                      {.title = "waiting", .right = true, .drop = 1},
                                      {.title = "running", .right = true},
                                      {.title = "most/s", .right = true, .drop = 2}};
    console_table t;
    console_heading(k, "Configurations", "times are means of a request; most/s is of one machine");
    table_begin(&t, columns, sizeof columns / sizeof *columns, 2);
    for (uint32_t i = 0; i < c->n; i++) {
        put_plan(&t, &c->plans[i], i == c->best);
        for (int pad = 0; !c->plans[i].feasible && pad < 6; pad++)
            sbuf_puts(table_cell(&t, STYLE_DIM), "");
    }
    table_print(&t, k);
    for (uint32_t i = 0; i < c->n; i++) {
        const capacity_plan *p = &c->plans[i];
        sbuf b = {0};
        if (p->feasible)
            continue;
        sbuf_printf(&b, "Batch %llu: " STR_FMT ".", (unsigned long long)p->batch, STR_ARG(p->why));
        console_words(k, STYLE_DIM, 2, false, (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
}

static void write_console(const capacity *c, console *k)
{
    put_question(k, c);
    put_answer(k, c);
    put_plans(k, c);
    console_heading(k, "What this rests on", NULL);
    for (uint32_t i = 0; i < c->n_notes; i++)
        console_words(k, STYLE_DIM, 2, false, c->notes[i]);
}

/* ---- json ---- */

static void write_json(const void *of, const report_options *o, sbuf *out)
{
    (void)o;
    result_write(&capacity_kind, of, 2, out);
}

/* ---- csv ---- */

static void write_csv(const void *of, const report_options *o, sbuf *out)
{
    const capacity *c = of;
    (void)o;
    sbuf_puts(out,
              "source,batch,precision,concurrency,runs,feasible,best,machines,requests_per_second,"
              "utilization,latency_quantile_ms,latency_mean_ms,forming_mean_ms,waiting_mean_ms,"
              "service_mean_ms,in_flight,requests_per_second_most,why\r\n");
    for (uint32_t i = 0; i < c->n; i++) {
        const capacity_plan *p = &c->plans[i];
        const double numbers[] = {p->per_machine, p->utilization, p->quantile_ms, p->mean_ms,
                                  p->forming_ms,  p->waiting_ms,  p->service_ms,  p->in_flight};
        report_csv_field(out, p->source);
        sbuf_printf(out, ",%llu,", (unsigned long long)p->batch);
        report_csv_field(out, p->precision);
        sbuf_printf(out, ",%llu,%llu,%s,%s,", (unsigned long long)p->concurrency,
                    (unsigned long long)p->runs, p->feasible ? "true" : "false",
                    i == c->best ? "true" : "false");
        if (p->feasible)
            sbuf_printf(out, "%llu", (unsigned long long)p->machines);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            sbuf_putc(out, ',');
            if (p->feasible)
                report_csv_number(out, numbers[k]);
        }
        sbuf_putc(out, ',');
        report_csv_number(out, p->most);
        sbuf_putc(out, ',');
        report_csv_field(out, p->why);
        sbuf_puts(out, "\r\n");
    }
}

static void write_screen(const void *of, const report_options *o, sbuf *out)
{
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    write_console(of, &k);
}

assay_status report_capacity(const capacity *c, str format, const report_options *o, sbuf *out,
                             assay_error *err)
{
    static const report_writer writers[] = {
        {"console", write_screen}, {"json", write_json}, {"csv", write_csv}};
    return report_by_name(REPORT_WRITERS(writers), "A plan of capacity", c, format, o, out, err);
}
