/* Verdicts on the screen. */
#include "base/text.h"
#include "report/console.h"
#include "report/verdicts_impl.h"

enum { WIDE = 90 }; /* columns from which a change and its interval fit */

static console_style style_of(verdict_kind v)
{
    return v == VERDICT_PASS || v == VERDICT_IMPROVEMENT ? STYLE_GOOD
           : v == VERDICT_SHOWN                          ? STYLE_DIM
                                                         : STYLE_WARN;
}

static const char *mark_of(verdict_kind v)
{
    return v == VERDICT_PASS || v == VERDICT_IMPROVEMENT ? "✓ " : v == VERDICT_SHOWN ? "  " : "⚠ ";
}

/* Where there is little room the interval stands alone: the two values beside it tell the rest. */
static void put_moved(sbuf *b, const verdict_row *r, bool wide)
{
    if (verdict_is_tested(r) && !wide)
        verdict_put_interval(b, r);
    else
        verdict_put_moved(b, r);
}

static void put_row(console_table *t, const verdict_row *r, bool wide)
{
    sbuf *b = table_cell(t, style_of(r->verdict));
    sbuf_printf(b, "%s%s", mark_of(r->verdict), verdict_words[r->verdict]);
    sbuf_puts(table_cell(t, STYLE_PLAIN), metric_title(r->metric));
    verdict_put_value(table_cell(t, STYLE_PLAIN), r, &r->now);
    verdict_put_against(table_cell(t, STYLE_PLAIN), r);
    if (!r->op)
        put_moved(table_cell(t, STYLE_PLAIN), r, wide);
}

static bool any_interval(const verdicts *v, bool limits)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (verdict_is_tested(&v->rows[i]) && (v->rows[i].op != NULL) == limits)
            return true;
    return false;
}

static void console_rows(console *k, const verdicts *v, bool limits)
{
    const console_column columns[] = {{.title = "verdict"},
                                      {.title = "metric", .min = 17},
                                      {.title = "value", .right = true},
                                      {.title = limits ? "limit" : "baseline", .right = true},
                                      {.title = "change", .right = true}};
    console_table t;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += (v->rows[i].op != NULL) == limits;
    if (!n)
        return;
    console_heading(k, limits ? "Limits" : "Against the baseline",
                    any_interval(v, limits) ? "a range is the 99 % interval of the change" : NULL);
    table_begin(&t, columns, limits ? 4 : 5, 2);
    for (uint32_t i = 0; i < v->n; i++)
        if ((v->rows[i].op != NULL) == limits)
            put_row(&t, &v->rows[i], k->o->width >= WIDE);
    table_print(&t, k);
}

static void console_why(console *k, const verdicts *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf b = {0};
        if (!r->why.n || (r->verdict == VERDICT_SHOWN && !k->o->verbose))
            continue;
        sbuf_printf(&b, "%s: " STR_FMT ".", metric_title(r->metric), STR_ARG(r->why));
        console_words(k, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
    for (uint32_t i = 0; i < v->n_notes; i++)
        console_words(k, STYLE_DIM, 2, false, v->notes[i]);
}

/* ---- what moved ---- */

static bool any_times(const verdicts *v)
{
    for (uint32_t i = 0; i < v->n_moves; i++)
        if (!isnan(v->moves[i].time_ms))
            return true;
    return false;
}

static void console_moves(console *k, const verdicts *v)
{
    static const console_column columns[] = {{.title = ""},
                                             {.title = "layer", .min = 16},
                                             {.title = "output", .drop = 2},
                                             {.title = "MACs", .right = true},
                                             {.title = "params", .right = true},
                                             {.title = "bytes moved", .right = true},
                                             {.title = "time", .right = true}};
    bool timed = any_times(v);
    uint32_t top = (uint32_t)(k->o->top > 0 ? k->o->top : 0);
    uint32_t shown = k->o->verbose || v->n_moves < top ? v->n_moves : top;
    console_table t;
    if (!shown)
        return;
    console_heading(k, "What moved", "what each layer adds to the totals");
    table_begin(&t, columns, timed ? 7 : 6, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const verdict_move *m = &v->moves[i];
        sbuf_puts(table_cell(&t, STYLE_DIM), comparison_change_words[m->change]);
        table_name(&t, STYLE_PLAIN, m->name);
        table_str(&t, STYLE_DIM, m->shapes);
        verdict_put_signed(table_cell(&t, STYLE_PLAIN), m->macs, false);
        verdict_put_signed(table_cell(&t, STYLE_PLAIN), m->parameters, false);
        verdict_put_signed(table_cell(&t, STYLE_PLAIN), m->bytes, true);
        if (timed)
            verdict_put_time(table_cell(&t, STYLE_PLAIN), m);
    }
    table_print(&t, k);
    for (uint32_t i = 0; i < shown; i++)
        if (v->moves[i].attributes.n) {
            sbuf b = {0};
            sbuf_printf(&b, STR_FMT ": " STR_FMT, STR_ARG(v->moves[i].name),
                        STR_ARG(v->moves[i].attributes));
            console_words(k, STYLE_DIM, 2, false, (str){b.p, (uint32_t)b.n});
            sbuf_free(&b);
        }
    if (v->n_moved > shown) {
        console_putf(k, STYLE_DIM, "  %u layers differ in all; `assay compare` lists them.",
                     v->n_moved);
        console_line(k);
    }
}

/* "conv2d: 3 layers, MACs +1.2 M, parameters +64 k" */
static void put_type(sbuf *b, const verdict_type *t)
{
    text_safe(b, t->type);
    sbuf_printf(b, ": %u layer%s", t->layers, t->layers == 1 ? "" : "s");
    if (t->count)
        sbuf_printf(b, " (%+lld)", (long long)t->count);
    sbuf_puts(b, ", MACs ");
    verdict_put_signed(b, t->macs, false);
    sbuf_puts(b, ", parameters ");
    verdict_put_signed(b, t->parameters, false);
    sbuf_puts(b, ", bytes ");
    verdict_put_signed(b, t->bytes, true);
}

static void console_type_moves(console *k, const verdicts *v)
{
    for (uint32_t i = 0; i < v->n_types && i < 5; i++) {
        sbuf b = {0};
        put_type(&b, &v->types[i]);
        sbuf_putc(&b, '.');
        console_words(k, STYLE_DIM, 2, false, (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
}

void verdict_write_console(const verdicts *v, const report_options *o, sbuf *out)
{
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    console_rows(&k, v, true);
    console_rows(&k, v, false);
    console_why(&k, v);
    console_moves(&k, v);
    console_type_moves(&k, v);
    console_line(&k);
    console_putf(&k, style_of(v->overall), "%s%s", mark_of(v->overall), verdict_words[v->overall]);
    if (v->has_baseline) {
        console_put(&k, STYLE_DIM, " · tolerance ");
        report_fixed(out, v->tolerance_percent, 1);
        console_put(&k, STYLE_DIM, " %");
    }
    console_line(&k);
}
