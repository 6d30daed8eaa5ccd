/* A scaling for people and as CSV: the grid, closed forms, exponents, answers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "report/console.h"
#include "report/scalings.h"
#include "report/studies.h"

enum { ROWS_SHOWN = 48, REFUSALS_SHOWN = 3 };

/* ---- numbers ---- */

void scaling_put_size(sbuf *b, const scaling_axis *x, int64_t v)
{
    int64_t one = 1;
    for (int i = 0; i < x->decimals; i++)
        one *= 10;
    if (x->decimals)
        sbuf_printf(b, "%" PRId64 ".%0*" PRId64, v / one, x->decimals, v % one);
    else
        sbuf_printf(b, "%" PRId64, v);
}

static void put_power(sbuf *b, int power, bool plain)
{
    static const char *const raised[] = {"", "", "²", "³", "⁴", "⁵"};
    if (power > 1 && (plain || power > 5))
        sbuf_printf(b, "^%d", power);
    else
        sbuf_puts(b, raised[power]);
}

static void put_variables(sbuf *b, const scaling *s, const scaling_term *t, bool first, bool plain)
{
    for (uint32_t k = 0; k < s->n_axes; k++) {
        if (!t->powers[k])
            continue;
        sbuf_printf(b, "%s%s", first ? "" : plain ? "*" : "·", s->axes[k].symbol);
        put_power(b, t->powers[k], plain);
        first = false;
    }
}

static bool has_variable(const scaling_term *t)
{
    for (int k = 0; k < SCALING_AXES; k++)
        if (t->powers[k])
            return true;
    return false;
}

static void put_coefficient(sbuf *b, const scaling_term *t, bool exact, bool plain)
{
    uint64_t size = (uint64_t)(t->numerator < 0 ? -t->numerator : t->numerator);
    if (!exact)
        sbuf_printf(b, "%.4g", fabs(t->value));
    else if (plain)
        sbuf_printf(b, "%" PRIu64, size);
    else
        text_thousands(b, size);
    if (exact && t->denominator != 1)
        sbuf_printf(b, "/%" PRId64, t->denominator);
}

static void put_term(sbuf *b, const scaling *s, const scaling_term *t, bool exact, bool plain)
{
    bool one = exact && t->denominator == 1 && (t->numerator == 1 || t->numerator == -1) &&
               has_variable(t);
    if (!one)
        put_coefficient(b, t, exact, plain);
    put_variables(b, s, t, one, plain);
}

void scaling_put_form(sbuf *b, const scaling *s, const scaling_fit *f, bool plain)
{
    const char *minus = plain ? "-" : "−";
    if (f->n_terms == 0)
        sbuf_puts(b, f->exact ? "0" : "–");
    for (uint32_t i = 0; i < f->n_terms; i++) {
        bool negative = f->terms[i].value < 0;
        if (i)
            sbuf_printf(b, " %s ", negative ? minus : "+");
        else if (negative)
            sbuf_puts(b, minus);
        put_term(b, s, &f->terms[i], f->exact, plain);
    }
}

void scaling_put_legend(sbuf *b, const scaling *s)
{
    for (uint32_t k = 0; k < s->n_axes; k++) {
        sbuf_printf(b, "%s%s = ", k ? ", " : "", s->axes[k].symbol);
        text_safe(b, s->axes[k].name);
        if (s->axes[k].granule > 1)
            sbuf_printf(b, "/%" PRId64, s->axes[k].granule);
    }
}

static void put_figure(sbuf *b, scaling_metric_id m, uint64_t v)
{
    if (scaling_metrics[m].bytes)
        text_bytes(b, v);
    else
        text_si(b, (double)v, -1);
}

/* ---- the grid ---- */

static unsigned grid_columns(const scaling *s, console_column *columns, char names[][24])
{
    static const uint8_t drop[SCALING_METRICS] = {[SCALING_FLOPS] = 2, [SCALING_PARAMETERS] = 1};
    unsigned n = 0;
    for (uint32_t k = 0; k < s->n_axes; k++) {
        text_safe_into(names[k], 24, s->axes[k].name);
        columns[n++] = (console_column){.title = names[k], .right = true, .min = 6};
    }
    for (int m = 0; m < SCALING_METRICS; m++)
        if (s->metrics[m])
            columns[n++] = (console_column){
                .title = scaling_metrics[m].title, .right = true, .drop = drop[m]};
    return n;
}

static void add_point(console_table *t, const scaling *s, const scaling_point *p)
{
    for (uint32_t k = 0; k < s->n_axes; k++)
        scaling_put_size(table_cell(t, STYLE_TITLE), &s->axes[k], p->at[k]);
    for (int m = 0; m < SCALING_METRICS; m++) {
        if (!s->metrics[m])
            continue;
        if (scaling_metrics[m].bytes)
            table_bytes(t, STYLE_PLAIN, p->figures.v[m]);
        else
            table_si(t, STYLE_PLAIN, p->figures.v[m]);
    }
}

static void put_refusals(console *c, const scaling *s)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < s->n_points && shown < REFUSALS_SHOWN; i++) {
        const scaling_point *p = &s->points[i];
        if (!p->refused.n)
            continue;
        console_put(c, STYLE_WARN, "  ⚠ left out:");
        for (uint32_t k = 0; k < s->n_axes; k++) {
            sbuf b = {0};
            text_safe(&b, s->axes[k].name);
            sbuf_putc(&b, ' ');
            scaling_put_size(&b, &s->axes[k], p->at[k]);
            console_putf(c, STYLE_WARN, "%s %s", k ? "," : "", sbuf_cstr(&b));
            sbuf_free(&b);
        }
        console_line(c);
        console_words(c, STYLE_DIM, 4, false, p->refused);
        shown++;
    }
    if (s->n_refused > shown) {
        console_putf(c, STYLE_WARN, "  and %u more sizes that the model does not take",
                     s->n_refused - shown);
        console_line(c);
    }
}

static void put_grid(console *c, const scaling *s)
{
    console_column columns[TABLE_MAX_COLUMNS];
    char names[SCALING_AXES][24];
    unsigned n = grid_columns(s, columns, names);
    uint32_t good = s->n_points - s->n_refused, shown = 0;
    /* Every k-th row, so that both ends of the grid are there. */
    uint32_t each = c->o->verbose || good <= ROWS_SHOWN ? 1 : (good + ROWS_SHOWN - 1) / ROWS_SHOWN;
    console_table t;
    table_begin(&t, columns, n, 2);
    for (uint32_t i = 0, k = 0; i < s->n_points; i++) {
        if (s->points[i].refused.n || k++ % each != 0)
            continue;
        add_point(&t, s, &s->points[i]);
        shown++;
    }
    table_print(&t, c);
    if (shown < good) {
        console_putf(c, STYLE_DIM, "  %u of %u points; --verbose, --json and CSV have all of them.",
                     shown, good);
        console_line(c);
    }
    put_refusals(c, s);
}

/* ---- closed forms ---- */

static void put_certainty(sbuf *b, const scaling_fit *f)
{
    if (f->exact) {
        sbuf_printf(b, "  (exact: %u more evaluations agree", f->n_checked);
        if (f->n_between && f->between_percent > 0)
            sbuf_printf(b, "; between multiples off by %.2g %% at most", f->between_percent);
    } else {
        sbuf_printf(b, "  (approximate: off by %.2g %% at most in %u evaluations", f->error_percent,
                    f->n_checked);
    }
    sbuf_putc(b, ')');
}

static void put_forms(console *c, const scaling *s)
{
    sbuf legend = {0};
    scaling_put_legend(&legend, s);
    console_heading(c, "Closed forms", sbuf_cstr(&legend));
    sbuf_free(&legend);
    for (int m = 0; m < SCALING_METRICS; m++) {
        const scaling_fit *f = &s->fits[m];
        sbuf b = {0};
        if (!f->wanted)
            continue;
        sbuf_printf(&b, "%s = ", scaling_metrics[m].title);
        if (f->terms) {
            scaling_put_form(&b, s, f, c->o->ascii);
            put_certainty(&b, f);
        } else {
            sbuf_puts(&b, "no form was found; the grid above is what is known");
        }
        console_words(c, f->exact ? STYLE_PLAIN : STYLE_DIM, 2, false, str_of(sbuf_cstr(&b)));
        sbuf_free(&b);
    }
}

static void add_exponent(console_table *t, const scaling_fit *f, uint32_t k)
{
    sbuf *b = table_cell(t, STYLE_PLAIN);
    report_fixed(b, f->exponent[k], 2);
    if (fabs(f->exponent_first[k] - f->exponent_last[k]) < 0.005)
        return;
    sbuf_puts(b, " (");
    report_fixed(b, f->exponent_first[k], 2);
    sbuf_puts(b, " to ");
    report_fixed(b, f->exponent_last[k], 2);
    sbuf_putc(b, ')');
}

static void put_exponents(console *c, const scaling *s)
{
    console_column columns[SCALING_AXES + 1] = {{.title = ""}};
    char names[SCALING_AXES][24];
    console_table t;
    for (uint32_t k = 0; k < s->n_axes; k++) {
        text_safe_into(names[k], 24, s->axes[k].name);
        columns[k + 1] = (console_column){.title = names[k], .right = true};
    }
    console_heading(c, "Exponents", "cost grows as size^exponent; first to last step");
    table_begin(&t, columns, s->n_axes + 1, 2);
    for (int m = 0; m < SCALING_METRICS; m++) {
        if (!s->fits[m].wanted)
            continue;
        sbuf_puts(table_cell(&t, STYLE_PLAIN), scaling_metrics[m].title);
        for (uint32_t k = 0; k < s->n_axes; k++)
            add_exponent(&t, &s->fits[m], k);
    }
    table_print(&t, c);
}

/* ---- answers ---- */

static void put_where(sbuf *b, const scaling *s, const scaling_answer *a)
{
    const char *mark = "";
    for (uint32_t k = 0; k < s->n_axes; k++) {
        if (k == a->axis)
            continue;
        sbuf_puts(b, mark);
        text_safe(b, s->axes[k].name);
        sbuf_putc(b, ' ');
        scaling_put_size(b, &s->axes[k], a->at[k]);
        mark = ", ";
    }
    if (*mark)
        sbuf_puts(b, ": ");
}

static void put_found(sbuf *b, const scaling *s, const scaling_answer *a)
{
    const scaling_axis *x = &s->axes[a->axis];
    const scaling_question *q = &s->questions[a->question];
    text_safe(b, x->name);
    sbuf_putc(b, ' ');
    scaling_put_size(b, x, a->at[a->axis]);
    sbuf_puts(b, " (");
    put_figure(b, q->metric, a->figure);
    if (a->next) {
        sbuf_puts(b, "; ");
        scaling_put_size(b, x, a->next);
        sbuf_puts(b, a->next_refused.n ? " is refused" : q->at_least ? " has " : " needs ");
        if (!a->next_refused.n)
            put_figure(b, q->metric, a->next_figure);
    }
    sbuf_puts(b, a->outside ? ") *" : ")");
}

/* "no side is small enough: at side 1, the smallest tried, it is 25.5 M" */
static void put_unfound(sbuf *b, const scaling *s, const scaling_answer *a)
{
    const scaling_axis *x = &s->axes[a->axis];
    const scaling_question *q = &s->questions[a->question];
    bool always = a->outcome == SCALING_ALWAYS, smallest = always == q->at_least;
    sbuf_puts(b, always ? "every " : "no ");
    text_safe(b, x->name);
    sbuf_puts(b, q->at_least ? " is large enough: at " : " is small enough: at ");
    text_safe(b, x->name);
    sbuf_putc(b, ' ');
    scaling_put_size(b, x, a->at[a->axis]);
    sbuf_printf(b, ", the %s %s, it is ", smallest ? "smallest" : "largest",
                a->next_refused.n && !smallest ? "that the model takes" : "tried");
    put_figure(b, q->metric, a->figure);
}

static void put_answers(console *c, const scaling *s)
{
    bool outside = false;
    if (!s->n_answers)
        return;
    console_heading(c, "Answers", "each is an evaluation of the model, and so is the next size");
    for (uint32_t i = 0; i < s->n_answers; i++) {
        const scaling_answer *a = &s->answers[i];
        sbuf b = {0};
        if (i == 0 || s->answers[i - 1].question != a->question) {
            text_safe(&b, s->questions[a->question].text);
            console_words(c, STYLE_TITLE, 2, false, str_of(sbuf_cstr(&b)));
            sbuf_free(&b);
            b = (sbuf){0};
        }
        outside = outside || a->outside;
        put_where(&b, s, a);
        if (a->outcome == SCALING_FOUND)
            put_found(&b, s, a);
        else
            put_unfound(&b, s, a);
        console_words(c, a->outcome == SCALING_NONE ? STYLE_WARN : STYLE_PLAIN, 4, false,
                      str_of(sbuf_cstr(&b)));
        sbuf_free(&b);
    }
    if (outside)
        console_words(c, STYLE_DIM, 2, false, STR("* outside the range that was given"));
}

static void write_console(const scaling *s, const report_options *o, sbuf *out)
{
    int width = o->width ? o->width : 80;
    console c = {.o = o, .out = out, .width = (unsigned)width};
    sbuf title = {0}, remark = {0};
    sbuf_puts(&title, "Scaling of ");
    text_safe(&title, s->model);
    sbuf_printf(&remark, "%u points, %" PRIu64 " evaluations", s->n_points, s->evaluations);
    if (s->precision.n)
        sbuf_puts(&remark, " · ");
    text_safe(&remark, s->precision);
    if (s->kv_cache)
        sbuf_printf(&remark, " · %s", profile_cache_words(s->kv_cache));
    console_heading(&c, sbuf_cstr(&title), sbuf_cstr(&remark));
    sbuf_free(&title);
    sbuf_free(&remark);
    put_grid(&c, s);
    put_forms(&c, s);
    put_exponents(&c, s);
    put_answers(&c, s);
    if (s->assumed) {
        sbuf b = {0};
        sbuf_printf(&b,
                    "⚠ Something was assumed or is unknown in %" PRIu64
                    " evaluations; `assay graph` says what.",
                    s->assumed);
        console_words(&c, STYLE_WARN, 2, false, str_of(sbuf_cstr(&b)));
        sbuf_free(&b);
    }
}

/* ---- csv ---- */

static void csv_point(const scaling *s, const scaling_point *p, sbuf *out)
{
    for (uint32_t k = 0; k < s->n_axes; k++) {
        scaling_put_size(out, &s->axes[k], p->at[k]);
        sbuf_putc(out, ',');
    }
    for (int m = 0; m < SCALING_METRICS; m++) {
        if (!s->metrics[m])
            continue;
        if (!p->refused.n)
            sbuf_printf(out, "%" PRIu64, p->figures.v[m]);
        sbuf_putc(out, ',');
    }
    report_csv_field(out, p->refused);
    sbuf_puts(out, "\r\n");
}

static void write_csv(const void *of, const report_options *o, sbuf *out)
{
    const scaling *s = of;
    (void)o;
    for (uint32_t k = 0; k < s->n_axes; k++) {
        sbuf safe = {0};
        text_safe(&safe, s->axes[k].name);
        report_csv_field(out, str_of(sbuf_cstr(&safe)));
        sbuf_putc(out, ',');
        sbuf_free(&safe);
    }
    for (int m = 0; m < SCALING_METRICS; m++)
        if (s->metrics[m])
            sbuf_printf(out, "%s,", scaling_metrics[m].key);
    sbuf_puts(out, "refused\r\n");
    for (uint32_t i = 0; i < s->n_points; i++)
        csv_point(s, &s->points[i], out);
}

static void write_screen(const void *of, const report_options *o, sbuf *out)
{
    write_console(of, o, out);
}

static void write_json(const void *of, const report_options *o, sbuf *out)
{
    (void)o;
    report_scaling_json(of, out);
}

assay_status report_scaling(const scaling *s, str format, const report_options *o, sbuf *out,
                            assay_error *err)
{
    static const report_writer writers[] = {
        {"console", write_screen}, {"json", write_json}, {"csv", write_csv}};
    return report_by_name(REPORT_WRITERS(writers), "A scaling", s, format, o, out, err);
}
