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

enum { DECIMALS_MOST = 6 };

static int decimals_of(double v)
{
    int n = 0;
    for (double x = fabs(v); n < DECIMALS_MOST && fabs(x - round(x)) > 1e-9 * (1 + x); x *= 10)
        n++;
    return n;
}

static int more_decimals(int n, double v)
{
    int of_v = isnan(v) ? 0 : decimals_of(v);
    return of_v > n ? of_v : n;
}

/* Digits behind the point that the sizes of an axis need. */
static int axis_decimals(const scaling *s, const scaling_axis *x)
{
    int n = more_decimals(decimals_of(x->from), x->to);
    for (uint32_t i = 0; i < x->n_values; i++)
        n = more_decimals(n, x->values[i]);
    for (uint32_t i = 0; i < s->n_answers; i++)
        if (str_eq(s->answers[i].axis, x->name))
            n = more_decimals(more_decimals(n, s->answers[i].tried), s->answers[i].next);
    return n;
}

static const scaling_axis *axis_of(const scaling *s, str name)
{
    for (uint32_t k = 0; k < s->n_axes; k++)
        if (str_eq(s->axes[k].name, name))
            return &s->axes[k];
    return NULL;
}

/* A size in its own unit: "224", "0.25". */
static void put_size(sbuf *b, const scaling *s, str axis, double v)
{
    const scaling_axis *x = axis_of(s, axis);
    report_fixed(b, v, x ? axis_decimals(s, x) : decimals_of(v));
}

static void put_named_size(sbuf *b, const scaling *s, str axis, double v)
{
    text_safe(b, axis);
    sbuf_putc(b, ' ');
    put_size(b, s, axis, v);
}

/* ---- closed forms for people: "81,674,240·b·h² + 2,048,000·b" ---- */

/* The number that a term begins with; only whole ones are grouped. */
static uint32_t put_coefficient(sbuf *b, str form, uint32_t i)
{
    uint32_t from = i;
    uint64_t whole = 0;
    bool plain = true;
    for (; i < form.n && strchr("0123456789.e", form.p[i]); i++) {
        bool signed_power = form.p[i] == 'e' && i + 1 < form.n && strchr("+-", form.p[i + 1]);
        plain = plain && form.p[i] != '.' && form.p[i] != 'e' && i - from < 19;
        whole = plain ? whole * 10 + (uint64_t)(form.p[i] - '0') : 0;
        i += signed_power;
    }
    if (plain && i > from)
        text_thousands(b, whole);
    else
        sbuf_put(b, form.p + from, i - from);
    return i;
}

static void put_sign_of_form(sbuf *b, char c)
{
    if (c == '*')
        sbuf_puts(b, "·");
    else if (c == '-')
        sbuf_puts(b, "−");
    else
        sbuf_putc(b, c);
}

static bool put_power(sbuf *b, str form, uint32_t i)
{
    static const char *const raised[] = {"²", "³", "⁴", "⁵"};
    bool has_one = form.p[i] == '^' && i + 1 < form.n && form.p[i + 1] >= '2' &&
                   form.p[i + 1] <= '5' && (i + 2 == form.n || strchr("* ", form.p[i + 2]));
    if (has_one)
        sbuf_puts(b, raised[form.p[i + 1] - '2']);
    return has_one;
}

static void put_pretty_form(sbuf *b, str form)
{
    bool starts_term = true;
    for (uint32_t i = 0; i < form.n; i++) {
        if (starts_term && form.p[i] >= '0' && form.p[i] <= '9') {
            i = put_coefficient(b, form, i);
            starts_term = false;
            if (i == form.n)
                break;
        }
        starts_term = form.p[i] == ' ' || form.p[i] == '-';
        if (put_power(b, form, i))
            i++;
        else
            put_sign_of_form(b, form.p[i]);
    }
}

/* "b = batch, h = height/32". */
static void put_legend(sbuf *b, const scaling *s)
{
    for (uint32_t k = 0; k < s->n_axes; k++) {
        sbuf_printf(b, "%s%s = ", k ? ", " : "", s->axes[k].symbol);
        text_safe(b, s->axes[k].name);
        if (s->axes[k].granule > 1)
            sbuf_printf(b, "/%" PRId64, s->axes[k].granule);
    }
}

/* ---- metrics ---- */

static bool is_asked(const scaling *s, int metric)
{
    for (uint32_t i = 0; i < s->n_forms; i++)
        if (str_is(s->forms[i].metric, scaling_metrics[metric].key))
            return true;
    return false;
}

static void put_figure(sbuf *b, const char *metric, uint64_t v)
{
    const scaling_metric *m = scaling_metric_find(str_of(metric));
    if (m && m->bytes)
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
        if (is_asked(s, m))
            columns[n++] = (console_column){
                .title = scaling_metrics[m].title, .right = true, .drop = drop[m]};
    return n;
}

static void add_point(console_table *t, const scaling *s, const scaling_point *p)
{
    for (uint32_t k = 0; k < p->n_sizes; k++)
        put_size(table_cell(t, STYLE_TITLE), s, p->sizes[k].axis, p->sizes[k].size);
    for (int m = 0; m < SCALING_METRICS; m++) {
        if (!is_asked(s, m))
            continue;
        if (scaling_metrics[m].bytes)
            table_bytes(t, STYLE_PLAIN, p->figures[m]);
        else
            table_si(t, STYLE_PLAIN, p->figures[m]);
    }
}

static uint32_t refused_of(const scaling *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_points; i++)
        n += s->points[i].refused.n > 0;
    return n;
}

static void put_refusals(console *c, const scaling *s)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < s->n_points && shown < REFUSALS_SHOWN; i++) {
        const scaling_point *p = &s->points[i];
        if (!p->refused.n)
            continue;
        console_put(c, STYLE_WARN, "  ⚠ left out:");
        for (uint32_t k = 0; k < p->n_sizes; k++) {
            sbuf b = {0};
            put_named_size(&b, s, p->sizes[k].axis, p->sizes[k].size);
            console_putf(c, STYLE_WARN, "%s %s", k ? "," : "", sbuf_cstr(&b));
            sbuf_free(&b);
        }
        console_line(c);
        console_words(c, STYLE_DIM, 4, false, p->refused);
        shown++;
    }
    if (refused_of(s) > shown) {
        console_putf(c, STYLE_WARN, "  and %u more sizes that the model does not take",
                     refused_of(s) - shown);
        console_line(c);
    }
}

static void put_grid(console *c, const scaling *s)
{
    console_column columns[TABLE_MAX_COLUMNS];
    char names[SCALING_AXES][24];
    unsigned n = grid_columns(s, columns, names);
    uint32_t good = s->n_points - refused_of(s), shown = 0;
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

static const char *title_of(str metric)
{
    const scaling_metric *m = scaling_metric_find(metric);
    return m ? m->title : "";
}

static void put_certainty(sbuf *b, const scaling_form *f)
{
    if (f->exact) {
        sbuf_printf(b, "  (exact: %u more evaluations agree", f->checked);
        if (f->between.checked && f->between.error_percent > 0)
            sbuf_printf(b, "; between multiples off by %.2g %% at most", f->between.error_percent);
    } else {
        sbuf_printf(b, "  (approximate: off by %.2g %% at most in %u evaluations", f->error_percent,
                    f->checked);
    }
    sbuf_putc(b, ')');
}

static void put_forms(console *c, const scaling *s)
{
    sbuf legend = {0};
    put_legend(&legend, s);
    console_heading(c, "Closed forms", sbuf_cstr(&legend));
    sbuf_free(&legend);
    for (uint32_t i = 0; i < s->n_forms; i++) {
        const scaling_form *f = &s->forms[i];
        sbuf b = {0};
        sbuf_printf(&b, "%s = ", title_of(f->metric));
        if (f->form.n) {
            if (c->o->ascii)
                text_safe(&b, f->form);
            else
                put_pretty_form(&b, f->form);
            put_certainty(&b, f);
        } else {
            sbuf_puts(&b, "no form was found; the grid above is what is known");
        }
        console_words(c, f->exact ? STYLE_PLAIN : STYLE_DIM, 2, false, str_of(sbuf_cstr(&b)));
        sbuf_free(&b);
    }
}

static void add_exponent(console_table *t, const scaling_exponent *e)
{
    sbuf *b = table_cell(t, STYLE_PLAIN);
    report_fixed(b, e->fitted, 2);
    if (fabs(e->first - e->last) < 0.005)
        return;
    sbuf_puts(b, " (");
    report_fixed(b, e->first, 2);
    sbuf_puts(b, " to ");
    report_fixed(b, e->last, 2);
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
    for (uint32_t i = 0; i < s->n_forms; i++) {
        sbuf_puts(table_cell(&t, STYLE_PLAIN), title_of(s->forms[i].metric));
        for (uint32_t k = 0; k < s->forms[i].n_exponents; k++)
            add_exponent(&t, &s->forms[i].exponents[k]);
    }
    table_print(&t, c);
}

/* ---- answers ---- */

static void put_where(sbuf *b, const scaling *s, const scaling_answer *a)
{
    for (uint32_t k = 0; k < a->n_sizes; k++) {
        sbuf_puts(b, k ? ", " : "");
        put_named_size(b, s, a->sizes[k].axis, a->sizes[k].size);
    }
    if (a->n_sizes)
        sbuf_puts(b, ": ");
}

static bool asks_at_least(const scaling_answer *a)
{
    return a->question.n && memchr(a->question.p, '>', a->question.n);
}

/* There is a next size, and the model does not take it. */
static bool is_next_refused(const scaling_answer *a)
{
    return !isnan(a->next) && a->next_figure == FIELD_UNKNOWN;
}

static void put_found(sbuf *b, const scaling *s, const scaling_answer *a)
{
    put_named_size(b, s, a->axis, a->value);
    sbuf_puts(b, " (");
    put_figure(b, a->metric, a->figure);
    if (!isnan(a->next)) {
        sbuf_puts(b, "; ");
        put_size(b, s, a->axis, a->next);
        sbuf_puts(b, is_next_refused(a) ? " is refused" : asks_at_least(a) ? " has " : " needs ");
        if (!is_next_refused(a))
            put_figure(b, a->metric, a->next_figure);
    }
    sbuf_puts(b, a->outside ? ") *" : ")");
}

/* "no side is small enough: at side 1, the smallest tried, it is 25.5 M" */
static void put_unfound(sbuf *b, const scaling *s, const scaling_answer *a)
{
    bool at_least = asks_at_least(a);
    bool always = a->outcome == SCALING_ALWAYS, smallest = always == at_least;
    sbuf_puts(b, always ? "every " : "no ");
    text_safe(b, a->axis);
    sbuf_puts(b, at_least ? " is large enough: at " : " is small enough: at ");
    put_named_size(b, s, a->axis, a->tried);
    sbuf_printf(b, ", the %s %s, it is ", smallest ? "smallest" : "largest",
                is_next_refused(a) && !smallest ? "that the model takes" : "tried");
    put_figure(b, a->metric, a->figure);
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
        if (i == 0 || !str_eq(s->answers[i - 1].question, a->question)) {
            text_safe(&b, a->question);
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
    for (uint32_t k = 0; k < p->n_sizes; k++) {
        put_size(out, s, p->sizes[k].axis, p->sizes[k].size);
        sbuf_putc(out, ',');
    }
    for (int m = 0; m < SCALING_METRICS; m++) {
        if (!is_asked(s, m))
            continue;
        if (p->figures[m] != FIELD_UNKNOWN)
            sbuf_printf(out, "%" PRIu64, p->figures[m]);
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
        if (is_asked(s, m))
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
    result_write(&scaling_kind, of, 2, out);
}

assay_status report_scaling(const scaling *s, str format, const report_options *o, sbuf *out,
                            assay_error *err)
{
    static const report_writer writers[] = {
        {"console", write_screen}, {"json", write_json}, {"csv", write_csv}};
    return report_by_name(REPORT_WRITERS(writers), "A scaling", s, format, o, out, err);
}
