/* Our counts beside another tool's: one table per tool, then which operators explain the difference and
 * whether the lens agrees with what the tool really answered. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/console.h"
#include "report/studies.h"

enum { TYPES_SHOWN = 5 };

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* ---- console ---- */

static const char *unit_sentence(const char *unit)
{
    if (strcmp(unit, "MAC") == 0)
        return "Both columns are multiply-accumulates, which this tool calls FLOPs: one multiply and "
               "one add are 1 here and 2 in our own FLOPs.";
    if (strcmp(unit, "FLOP") == 0)
        return "Both columns are FLOPs: one multiply-accumulate is 2, everything else as each counts "
               "it.";
    return "Ours are multiply-accumulates; this tool adds a price for every other function to them.";
}

static void add_row(console_table *t, const validation_row *r)
{
    table_str(t, STYLE_PLAIN, r->model);
    text_si(table_cell(t, STYLE_PLAIN), (double)r->ours, 3);
    text_si(table_cell(t, STYLE_PLAIN), (double)r->theirs, 3);
    sbuf *b = table_cell(t, STYLE_PLAIN);
    double d = r->difference_percent;
    sbuf_puts(b, d > 0 ? "+" : "");
    report_fixed(b, d, 2);
    sbuf_puts(b, " %");
    b = table_cell(t, STYLE_PLAIN);
    report_fixed(b, r->accuracy_percent, 2);
    sbuf_puts(b, " %");
}

static void put_recorded(sbuf *b, const validation_row *r)
{
    sbuf_printf(b, " %s itself gave ", r->lens);
    text_thousands(b, r->recorded.count);
    sbuf_printf(b, " (" STR_FMT "); ", STR_ARG(r->recorded.setup));
    if (r->recorded.equal) {
        sbuf_puts(b, "the lens gives the same.");
        return;
    }
    sbuf_puts(b, "the lens is ");
    text_thousands(b, apart(r->recorded.count, r->theirs));
    sbuf_printf(b, " %s.", r->theirs > r->recorded.count ? "above" : "below");
}

static void put_live(sbuf *b, const validation_row *r)
{
    if (!r->live.answered) {
        sbuf_printf(b, " Live: " STR_FMT, STR_ARG(r->live.error));
        return;
    }
    sbuf_puts(b, " Live, it gives ");
    text_thousands(b, r->live.count);
    sbuf_printf(b, " (" STR_FMT ")", STR_ARG(r->live.version));
    sbuf_puts(b, r->live.equal ? ", the same as the lens." : ", not what the lens gives.");
}

static void put_reasons(sbuf *b, const validation_row *r)
{
    if (r->n_types == 0)
        sbuf_puts(b, "no operator is counted differently.");
    for (uint32_t i = 0; i < r->n_types && i < TYPES_SHOWN; i++) {
        const validation_type *t = &r->types[i];
        sbuf_printf(b, "%s" STR_FMT " %s", i ? ", " : "", STR_ARG(t->type),
                    t->theirs > t->ours ? "+" : "−");
        text_si(b, (double)apart(t->ours, t->theirs), -1);
    }
    if (r->n_types > TYPES_SHOWN)
        sbuf_printf(b, ", %u more type%s", r->n_types - TYPES_SHOWN,
                    r->n_types - TYPES_SHOWN == 1 ? "" : "s");
    if (r->n_types)
        sbuf_putc(b, '.');
}

static void explain(console *k, const validation_row *r)
{
    sbuf b = {0};
    sbuf_printf(&b, STR_FMT ": ", STR_ARG(r->model));
    put_reasons(&b, r);
    if (r->assumed || r->unknown)
        sbuf_printf(&b, " Not exact: %llu operators assumed, %llu unknown and in neither count.",
                    (unsigned long long)r->assumed, (unsigned long long)r->unknown);
    if (r->recorded.present)
        put_recorded(&b, r);
    if (r->live.present)
        put_live(&b, r);
    console_words(k, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static void console_tool(console *k, const validation *v, uint32_t from, uint32_t to)
{
    const validation_row *first = &v->rows.items[from];
    char theirs[48], title[64];
    const console_column columns[] = {
        {.title = "Model", .min = 12},        {.title = "Our FLOPs", .right = true},
        {.title = theirs, .right = true},     {.title = "Difference", .right = true},
        {.title = "Accuracy", .right = true},
    };
    console_table t;
    snprintf(theirs, sizeof theirs, "%s FLOPs", first->lens);
    snprintf(title, sizeof title, "Beside %s", first->lens);
    console_heading(k, title, NULL);
    table_begin(&t, columns, 5, 2);
    for (uint32_t i = from; i < to; i++)
        add_row(&t, &v->rows.items[i]);
    table_print(&t, k);
    console_line(k);
    console_words(k, STYLE_DIM, 2, false, str_of(unit_sentence(first->unit)));
    console_heading(k, "What explains it", "what the tool counts more (+) or less (−) than we do");
    for (uint32_t i = from; i < to; i++)
        explain(k, &v->rows.items[i]);
}

/* Rows of one tool stand together. */
static void write_console(const validation *v, const report_options *o, sbuf *out)
{
    int width = o->width ? o->width : 80;
    console k = {.o = o, .out = out, .width = (unsigned)width};
    for (uint32_t from = 0, to; from < v->rows.n; from = to) {
        for (to = from;
             to < v->rows.n && strcmp(v->rows.items[to].lens, v->rows.items[from].lens) == 0;)
            to++;
        console_tool(&k, v, from, to);
    }
}

/* ---- json and csv ---- */

static void write_json(const void *of, const report_options *o, sbuf *out)
{
    (void)o;
    result_write(&validation_kind, of, 2, out);
}

static void write_csv(const void *of, const report_options *o, sbuf *out)
{
    const validation *v = of;
    (void)o;
    sbuf_puts(out, "model,lens,unit,ours,theirs,difference_percent,accuracy_percent,recorded\r\n");
    for (uint32_t i = 0; i < v->rows.n; i++) {
        const validation_row *r = &v->rows.items[i];
        sbuf name = {0};
        text_safe(&name, r->model);
        report_csv_field(out, (str){name.p, (uint32_t)name.n});
        sbuf_free(&name);
        sbuf_printf(out, ",%s,%s,%" PRIu64 ",%" PRIu64 ",", r->lens, r->unit, r->ours, r->theirs);
        report_fixed(out, r->difference_percent, 3);
        sbuf_putc(out, ',');
        report_fixed(out, r->accuracy_percent, 3);
        sbuf_putc(out, ',');
        if (r->recorded.present)
            sbuf_printf(out, "%" PRIu64, r->recorded.count);
        sbuf_puts(out, "\r\n");
    }
}

static void write_screen(const void *of, const report_options *o, sbuf *out)
{
    write_console(of, o, out);
}

assay_status report_validation(const validation *v, str format, const report_options *o, sbuf *out,
                               assay_error *err)
{
    static const report_writer writers[] = {
        {"console", write_screen}, {"json", write_json}, {"csv", write_csv}};
    return report_by_name(REPORT_WRITERS(writers), "A validation", v, format, o, out, err);
}
