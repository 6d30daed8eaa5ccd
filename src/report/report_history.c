/* Lists of runs for people, for scripts and for spreadsheets. */
#include "base/clock.h"
#include "report/console.h"
#include "report/histories.h"
#include "report/studies.h"
#include "report/verdicts.h"

/* ---- shared ---- */

void history_put_minute(sbuf *b, int64_t epoch_s)
{
    char text[32];
    clock_format(epoch_s, text);
    sbuf_printf(b, "%.10s %.5s", text, text + 11);
}

/* ---- console ---- */

static void cell_figure(console_table *t, const history_run *r, int figure)
{
    const metric_row *m = metric_find(str_of(history_metrics[figure]));
    double v = r->figures[figure].v;
    sbuf *b = table_cell(t, isnan(v) ? STYLE_DIM : STYLE_PLAIN);
    if (isnan(v))
        sbuf_puts(b, "-");
    else
        report_metric(b, m->unit, v);
}

static void cell_tags(console_table *t, const history_run *r)
{
    sbuf *b = table_cell(t, STYLE_DIM);
    for (uint32_t i = 0; i < r->n_tags; i++) {
        sbuf_puts(b, i ? "," : "");
        sbuf_str(b, r->tags[i]);
    }
}

static void cell_number(console_table *t, uint64_t v)
{
    sbuf *b = table_cell(t, v ? STYLE_PLAIN : STYLE_DIM);
    if (v)
        sbuf_printf(b, "%llu", (unsigned long long)v);
    else
        sbuf_puts(b, "-");
}

static void put_run(console_table *t, const history_run *r)
{
    cell_number(t, (uint64_t)r->id);
    history_put_minute(table_cell(t, STYLE_DIM), r->created_s);
    table_str(t, STYLE_PLAIN, r->model);
    cell_number(t, r->batch);
    table_str(t, STYLE_PLAIN, r->precision);
    cell_figure(t, r, HISTORY_P50);
    cell_figure(t, r, HISTORY_THROUGHPUT);
    cell_figure(t, r, HISTORY_MEMORY);
    cell_figure(t, r, HISTORY_MACS);
    cell_tags(t, r);
}

static void console_runs(console *k, const history_list *l)
{
    static const console_column columns[] = {{.title = "run", .right = true},
                                             {.title = "when (UTC)"},
                                             {.title = "model", .min = 12},
                                             {.title = "batch", .right = true, .drop = 1},
                                             {.title = "type", .drop = 3},
                                             {.title = "P50", .right = true},
                                             {.title = "throughput", .right = true, .drop = 4},
                                             {.title = "memory", .right = true, .drop = 5},
                                             {.title = "MACs", .right = true, .drop = 2},
                                             {.title = "tags", .min = 16, .max = 32}};
    console_table t;
    table_begin(&t, columns, sizeof columns / sizeof *columns, 0);
    for (uint32_t i = 0; i < l->n; i++)
        put_run(&t, &l->runs[i]);
    table_print(&t, k);
    if (l->total > l->n)
        console_putf(k, STYLE_DIM, "%u of %llu runs; --limit N shows more.", l->n,
                     (unsigned long long)l->total);
    if (l->total > l->n)
        console_line(k);
}

/* ---- json ---- */

static void json_runs(const void *of, const report_options *o, sbuf *out)
{
    (void)o;
    result_write(&runs_kind, of, 2, out);
}

/* ---- csv ---- */

static void csv_run(sbuf *out, const history_run *r)
{
    char when[32];
    sbuf tags = {0};
    clock_format(r->created_s, when);
    sbuf_printf(out, "%lld,%s,", (long long)r->id, when);
    report_csv_field(out, r->model);
    sbuf_putc(out, ',');
    if (r->batch)
        sbuf_printf(out, "%llu", (unsigned long long)r->batch);
    const str texts[] = {r->precision, r->device, r->host, r->command};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sbuf_putc(out, ',');
        report_csv_field(out, texts[i]);
    }
    for (int i = 0; i < HISTORY_FIGURES; i++) {
        const metric_value *v = &r->figures[i];
        sbuf_putc(out, ',');
        if (v->whole)
            sbuf_printf(out, "%llu", (unsigned long long)v->n);
        else if (!isnan(v->v))
            report_csv_number(out, v->v);
    }
    for (uint32_t i = 0; i < r->n_tags; i++)
        sbuf_printf(&tags, "%s" STR_FMT, i ? "," : "", STR_ARG(r->tags[i]));
    sbuf_putc(out, ',');
    report_csv_field(out, (str){tags.p, (uint32_t)tags.n});
    sbuf_putc(out, ',');
    report_csv_field(out, r->kind);
    sbuf_puts(out, "\r\n");
    sbuf_free(&tags);
}

static void csv_runs(const void *of, const report_options *o, sbuf *out)
{
    const history_list *l = of;
    (void)o;
    sbuf_puts(out, "id,created,model,batch,precision,device,host,command,p50_ms,p95_ms,mean_ms,"
                   "throughput,memory_bytes,macs,parameters,tags,kind\r\n");
    for (uint32_t i = 0; i < l->n; i++)
        csv_run(out, &l->runs[i]);
}

static void screen_runs(const void *of, const report_options *o, sbuf *out)
{
    const history_list *l = of;
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    if (l->n)
        console_runs(&k, l);
    else
        sbuf_puts(out, "No runs.\n");
}

assay_status report_runs(const history_list *l, str format, const report_options *o, sbuf *out,
                         assay_error *err)
{
    static const report_writer writers[] = {
        {"console", screen_runs}, {"json", json_runs}, {"csv", csv_runs}};
    return report_by_name(REPORT_WRITERS(writers), "A list of runs", l, format, o, out, err);
}

/* ---- models ---- */

static void json_models(const void *of, const report_options *o, sbuf *out)
{
    (void)o;
    result_write(&models_kind, of, 2, out);
}

static void console_models(console *k, const history_models *m)
{
    static const console_column columns[] = {{.title = "model", .min = 12},
                                             {.title = "runs", .right = true},
                                             {.title = "newest (UTC)"},
                                             {.title = "P50", .right = true},
                                             {.title = "throughput", .right = true, .drop = 1}};
    console_table t;
    table_begin(&t, columns, sizeof columns / sizeof *columns, 0);
    for (uint32_t i = 0; i < m->n; i++) {
        table_str(&t, STYLE_PLAIN, m->models[i].model);
        cell_number(&t, m->models[i].runs);
        history_put_minute(table_cell(&t, STYLE_DIM), m->models[i].newest.created_s);
        cell_figure(&t, &m->models[i].newest, HISTORY_P50);
        cell_figure(&t, &m->models[i].newest, HISTORY_THROUGHPUT);
    }
    table_print(&t, k);
}

static void csv_models(const void *of, const report_options *o, sbuf *out)
{
    const history_models *m = of;
    (void)o;
    sbuf_puts(out, "model,runs,newest_id,newest\r\n");
    for (uint32_t i = 0; i < m->n; i++) {
        char when[32];
        clock_format(m->models[i].newest.created_s, when);
        report_csv_field(out, m->models[i].model);
        sbuf_printf(out, ",%llu,%lld,%s\r\n", (unsigned long long)m->models[i].runs,
                    (long long)m->models[i].newest.id, when);
    }
}

static void screen_models(const void *of, const report_options *o, sbuf *out)
{
    const history_models *m = of;
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    if (m->n)
        console_models(&k, m);
    else
        sbuf_puts(out, "No runs.\n");
}

assay_status report_models(const history_models *m, str format, const report_options *o, sbuf *out,
                           assay_error *err)
{
    static const report_writer writers[] = {
        {"console", screen_models}, {"json", json_models}, {"csv", csv_models}};
    return report_by_name(REPORT_WRITERS(writers), "A list of models", m, format, o, out, err);
}
