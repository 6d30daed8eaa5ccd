/* A comparison on the screen. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/compare_impl.h"
#include "report/console.h"

enum { TYPES_SHOWN = 12, PEAK_SHOWN = 5 };

static const char *label_of(const comparison *c, uint32_t i)
{
    return c->models[i].label.n ? c->models[i].label.p : "";
}

/* A column for the titles, then for each profile its figures and its ratios. */
static unsigned columns_for(const comparison *c, console_column *columns)
{
    unsigned n = 0;
    columns[n++] = (console_column){.title = "", .min = 12};
    for (uint32_t i = 0; i < c->n_models && n + 2 <= TABLE_MAX_COLUMNS; i++) {
        columns[n++] = (console_column){.title = label_of(c, i), .right = true, .min = 8};
        if (i > 0 && c->n_models <= 5)
            columns[n++] = (console_column){.title = "", .right = true, .drop = 1};
    }
    return n;
}

static void console_totals(console *k, const comparison *c)
{
    console_column columns[TABLE_MAX_COLUMNS];
    unsigned n = columns_for(c, columns);
    console_table t;
    console_heading(k, "Comparison", "ratios are to the first");
    table_begin(&t, columns, n, 2);
    for (int r = 0; r < compare_totals_n; r++) {
        if (!compare_has(c, &compare_totals[r]))
            continue;
        double first = compare_total(&c->models[0], &compare_totals[r]);
        sbuf_puts(table_cell(&t, STYLE_PLAIN), compare_totals[r].title);
        for (uint32_t i = 0; i < c->n_models; i++) {
            double v = compare_total(&c->models[i], &compare_totals[r]);
            compare_put_total(table_cell(&t, STYLE_PLAIN), &compare_totals[r], v);
            if (i > 0 && c->n_models <= 5)
                compare_put_ratio(table_cell(&t, STYLE_DIM), v, first);
        }
    }
    table_print(&t, k);
}

static void console_types(console *k, const comparison *c)
{
    console_column columns[TABLE_MAX_COLUMNS] = {{.title = "type", .min = 8}};
    console_table t;
    for (uint32_t i = 0; i < c->n_models; i++)
        columns[i + 1] = (console_column){.title = label_of(c, i), .right = true, .min = 8};
    uint32_t shown = k->o->verbose || c->n_types < TYPES_SHOWN ? c->n_types : TYPES_SHOWN;
    console_heading(k, "FLOPs by operator type", "and how many of it");
    table_begin(&t, columns, c->n_models + 1, 2);
    for (uint32_t i = 0; i < shown; i++) {
        table_str(&t, STYLE_PLAIN, c->types[i].type);
        for (uint32_t m = 0; m < c->types[i].n; m++) {
            sbuf *b = table_cell(&t, STYLE_PLAIN);
            if (c->types[i].count[m] == 0) {
                sbuf_puts(b, "–");
                continue;
            }
            text_si(b, (double)c->types[i].flops[m], -1);
            sbuf_printf(b, "  %4" PRIu64 "×", c->types[i].count[m]);
        }
    }
    table_print(&t, k);
}

/* ---- how long they take ---- */

static console_style timing_style(const char *verdict)
{
    static const char *const bad[] = {"slower", "cannot tell", "not run"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strcmp(verdict, bad[i]) == 0)
            return STYLE_WARN;
    return STYLE_GOOD;
}

static void timing_row(console_table *t, const comparison_timing *m)
{
    table_str(t, STYLE_PLAIN, m->label);
    sbuf *b = table_cell(t, STYLE_PLAIN);
    if (!isnan(m->ratio)) {
        report_fixed(b, m->ratio, 3);
        sbuf_puts(b, "×");
    } else {
        sbuf_puts(b, "–");
    }
    b = table_cell(t, STYLE_DIM);
    if (!isnan(m->low)) {
        report_fixed(b, m->low, 3);
        sbuf_puts(b, " … ");
        report_fixed(b, m->high, 3);
    }
    sbuf_printf(table_cell(t, STYLE_DIM), "%" PRIu32, m->runs);
    sbuf_puts(table_cell(t, timing_style(m->verdict)), m->verdict);
}

static void timing_words(console *k, const comparison_timing *m, str sentence)
{
    sbuf b = {0};
    if (!sentence.n)
        return;
    sbuf_printf(&b, STR_FMT ": " STR_FMT, STR_ARG(m->label), STR_ARG(sentence));
    console_words(k, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static void console_timings(console *k, const comparison *c)
{
    static const console_column columns[] = {{.title = "", .min = 12},
                                             {.title = "time", .right = true},
                                             {.title = "99 % interval", .right = true},
                                             {.title = "runs", .right = true, .drop = 1},
                                             {.title = "than the first"}};
    console_table t;
    if (!c->n_measured)
        return;
    console_heading(k, "Measured",
                    c->measured[c->n_measured - 1].interleaved
                        ? "turn by turn in one process; time over that of the first"
                        : "by the runs that were saved; time over that of the first");
    table_begin(&t, columns, 5, 2);
    for (uint32_t i = 0; i < c->n_measured; i++)
        timing_row(&t, &c->measured[i]);
    table_print(&t, k);
    for (uint32_t i = 0; i < c->n_measured; i++) {
        timing_words(k, &c->measured[i], c->measured[i].why);
        timing_words(k, &c->measured[i], c->measured[i].opinion);
    }
}

/* ---- of two: what stands behind the difference ---- */

static void change_row(console_table *t, const comparison_layer *l)
{
    const comparison_side *a = l->before, *b = l->after;
    sbuf_puts(table_cell(t, STYLE_DIM), comparison_change_words[l->change]);
    table_name(t, STYLE_PLAIN, comparison_name(l));
    table_str(t, STYLE_DIM, l->type);
    comparison_put_shapes(table_cell(t, STYLE_DIM), l);
    compare_put_delta(table_cell(t, STYLE_PLAIN), COMPARE_FIGURE(a, macs), COMPARE_FIGURE(b, macs),
                      false);
    compare_put_delta(table_cell(t, STYLE_PLAIN), COMPARE_FIGURE(a, parameters),
                      COMPARE_FIGURE(b, parameters), false);
    compare_put_delta(table_cell(t, STYLE_PLAIN), COMPARE_FIGURE(a, memory),
                      COMPARE_FIGURE(b, memory), true);
}

/* Which attributes are others. */
static void change_words(console *k, const comparison_layer *l)
{
    sbuf b = {0}, changes = {0};
    comparison_put_attributes(&changes, l);
    if (changes.n) {
        sbuf_str(&b, comparison_name(l));
        sbuf_printf(&b, ": %s", sbuf_cstr(&changes));
        console_words(k, STYLE_DIM, 2, false, (str){b.p, (uint32_t)b.n});
    }
    sbuf_free(&b);
    sbuf_free(&changes);
}

static void console_more(console *k, uint32_t n)
{
    console_putf(k, STYLE_DIM, "  %u more; --top N or --verbose shows them.", n);
    console_line(k);
}

static uint32_t shown_of(const console *k, uint32_t n)
{
    uint32_t top = (uint32_t)(k->o->top > 0 ? k->o->top : 0);
    return k->o->verbose || n < top ? n : top;
}

static void console_changes(console *k, const comparison *c)
{
    static const console_column columns[] = {
        {.title = ""},
        {.title = "layer", .min = 16},
        {.title = "type", .drop = 1},
        {.title = "output", .drop = 2},
        {.title = "MACs", .right = true},
        {.title = "params", .right = true},
        {.title = "bytes moved", .right = true},
    };
    uint32_t shown = shown_of(k, c->n_layers);
    char remark[128];
    console_table t;
    snprintf(remark, sizeof remark, "%u are the same, %u more but for the name", c->same,
             c->renamed);
    console_heading(k, "Layers behind the difference", remark);
    if (!c->n_layers) {
        console_put(k, STYLE_GOOD, "  None: the two are the same network.");
        console_line(k);
        return;
    }
    table_begin(&t, columns, 7, 2);
    for (uint32_t i = 0; i < shown; i++)
        change_row(&t, &c->layers[i]);
    table_print(&t, k);
    for (uint32_t i = 0; i < shown; i++)
        change_words(k, &c->layers[i]);
    if (shown < c->n_layers)
        console_more(k, c->n_layers - shown);
}

static void console_peak(console *k, const comparison *c)
{
    static const console_column columns[] = {{.title = "live at the peak, made by", .min = 16},
                                             {.title = "first", .right = true},
                                             {.title = "second", .right = true},
                                             {.title = "difference", .right = true}};
    uint32_t shown = k->o->verbose || c->n_peak < PEAK_SHOWN ? c->n_peak : PEAK_SHOWN;
    console_table t;
    if (!c->n_peak || c->models[0].activations_peak_bytes == c->models[1].activations_peak_bytes)
        return;
    console_heading(k, "Behind the activation peak", NULL);
    table_begin(&t, columns, 4, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const comparison_layer *l = &c->peak[i];
        uint64_t before = COMPARE_FIGURE(l->before, peak_bytes);
        uint64_t after = COMPARE_FIGURE(l->after, peak_bytes);
        table_name(&t, STYLE_PLAIN, comparison_name(l));
        text_bytes(table_cell(&t, STYLE_PLAIN), before);
        text_bytes(table_cell(&t, STYLE_PLAIN), after);
        compare_put_delta(table_cell(&t, STYLE_PLAIN), before, after, true);
    }
    table_print(&t, k);
}

static void put_layer_ms(sbuf *b, const comparison_side *l)
{
    if (l && l->time_ms >= 0)
        console_ms(b, l->time_ms);
    else
        sbuf_puts(b, "–");
}

static double layer_ms(const comparison_side *l)
{
    return l && l->time_ms > 0 ? l->time_ms : 0;
}

static void console_timed(console *k, const comparison *c)
{
    static const console_column columns[] = {{.title = "layer", .min = 16},
                                             {.title = "type", .drop = 1},
                                             {.title = "first", .right = true},
                                             {.title = "second", .right = true},
                                             {.title = "difference", .right = true}};
    uint32_t shown = shown_of(k, c->n_timed);
    console_table t;
    if (!c->n_timed)
        return;
    console_heading(k, "Time by layer", "as measured; single layers are not judged");
    table_begin(&t, columns, 5, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const comparison_layer *l = &c->timed[i];
        table_name(&t, STYLE_PLAIN, comparison_name(l));
        table_str(&t, STYLE_DIM, l->type);
        put_layer_ms(table_cell(&t, STYLE_PLAIN), l->before);
        put_layer_ms(table_cell(&t, STYLE_PLAIN), l->after);
        compare_put_delta_ms(table_cell(&t, STYLE_PLAIN), layer_ms(l->before), layer_ms(l->after));
    }
    table_print(&t, k);
    if (shown < c->n_timed)
        console_more(k, c->n_timed - shown);
}

/* Figures that are not exact must not stand beside others as if they were. */
static void console_doubts(console *k, const comparison *c)
{
    for (uint32_t i = 0; i < c->n_models; i++) {
        const comparison_model *m = &c->models[i];
        sbuf b = {0};
        if (!m->assumed && !m->unknown)
            continue;
        sbuf_printf(&b,
                    "⚠ " STR_FMT ": of %llu operators %llu assumed, %llu unknown and not counted.",
                    STR_ARG(m->label), (unsigned long long)m->operators,
                    (unsigned long long)m->assumed, (unsigned long long)m->unknown);
        console_words(k, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
}

void compare_write_console(const comparison *c, const report_options *o, sbuf *out)
{
    int width = o->width ? o->width : 80;
    console k = {.o = o, .out = out, .width = (unsigned)width};
    console_totals(&k, c);
    console_doubts(&k, c);
    console_timings(&k, c);
    console_types(&k, c);
    if (!c->is_pair)
        return;
    console_changes(&k, c);
    console_peak(&k, c);
    console_timed(&k, c);
}
