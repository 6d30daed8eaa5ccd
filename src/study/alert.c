/* Alerts on a metric of the history. The parser reports the column of an error. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/num.h"
#include "study/trend.h"

/* ---- functions of a window ---- */

struct alert_fn {
    const char *name;
    double (*of)(double *values, uint32_t n); /* oldest first; may be reordered */
};
typedef struct alert_fn alert_fn;

static double fn_mean(double *v, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += v[i];
    return sum / n;
}

static double fn_min(double *v, uint32_t n)
{
    double m = v[0];
    for (uint32_t i = 1; i < n; i++)
        m = v[i] < m ? v[i] : m;
    return m;
}

static double fn_max(double *v, uint32_t n)
{
    double m = v[0];
    for (uint32_t i = 1; i < n; i++)
        m = v[i] > m ? v[i] : m;
    return m;
}

static double fn_last(double *v, uint32_t n)
{
    return v[n - 1];
}

static const alert_fn functions[] = {
    {"median", num_median}, {"mean", fn_mean}, {"min", fn_min}, {"max", fn_max}, {"last", fn_last},
};

static const alert_fn *find_function(str name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_is(name, functions[i].name))
            return &functions[i];
    return NULL;
}

/* ---- words ---- */

typedef struct parser {
    str text;
    uint32_t at;
    assay_error *err;
} parser;

static assay_status fail_at(parser *p, uint32_t at, const char *what)
{
    return err_fail_at(p->err, ASSAY_ERR_USAGE, at, "alert '" STR_FMT "', column %u: %s",
                       STR_ARG(p->text), at + 1, what);
}

static void skip_blanks(parser *p)
{
    while (p->at < p->text.n && (p->text.p[p->at] == ' ' || p->text.p[p->at] == '\t'))
        p->at++;
}

static char next(const parser *p)
{
    return p->at < p->text.n ? p->text.p[p->at] : '\0';
}

/* Letters, digits, '-' and '_', from a letter on. */
static str word(parser *p)
{
    uint32_t from = p->at;
    if (isalpha((unsigned char)next(p)))
        while (isalnum((unsigned char)next(p)) || next(p) == '-' || next(p) == '_')
            p->at++;
    return (str){p->text.p + from, p->at - from};
}

/* Everything up to `end` or the end of the text, without blanks behind it. */
static str until(parser *p, char end)
{
    uint32_t from = p->at;
    while (p->at < p->text.n && next(p) != end)
        p->at++;
    uint32_t to = p->at;
    while (to > from && p->text.p[to - 1] == ' ')
        to--;
    return (str){p->text.p + from, to - from};
}

/* ---- the grammar ---- */

static assay_status parse_metric(parser *p, alert *out)
{
    skip_blanks(p);
    uint32_t at = p->at;
    str name = word(p);
    if (!name.n)
        return fail_at(p, at, "expected a metric, such as p95, throughput or memory");
    out->metric = metric_find(name);
    return out->metric
               ? ASSAY_OK
               : fail_at(p, at,
                         "unknown metric; some are p50, p95, latency, throughput and memory "
                         "(docs/ci.md lists all)");
}

static assay_status parse_operator(parser *p, alert *out)
{
    skip_blanks(p);
    char c = next(p);
    if (c != '<' && c != '>')
        return fail_at(p, p->at, "expected >, >=, < or <=");
    p->at++;
    bool equal = next(p) == '=';
    p->at += equal;
    out->op = c == '>' ? equal ? ALERT_GE : ALERT_GT : equal ? ALERT_LE : ALERT_LT;
    skip_blanks(p);
    return ASSAY_OK;
}

static assay_status parse_window(parser *p, alert *out)
{
    skip_blanks(p);
    uint32_t at = p->at;
    str text = until(p, ')');
    double n;
    if (next(p) != ')')
        return fail_at(p, p->at, "missing )");
    p->at++;
    if (text.n > 8 && str_ends(text, " records"))
        text.n -= 8;
    if (!text.n || str_is(text, "all"))
        return ASSAY_OK;
    if (clock_duration(text, &out->window_s) && out->window_s > 0)
        return ASSAY_OK;
    out->window_s = 0;
    if (!amount_number(text, &n) || n < 1 || n > 1e6 || n != floor(n))
        return fail_at(p, at, "expected a window: 30d, 12h, 2w, a number of records, or all");
    out->window_records = (uint32_t)n;
    return ASSAY_OK;
}

static assay_status parse_function(parser *p, alert *out)
{
    uint32_t at = p->at;
    str name = word(p);
    out->fn = find_function(name);
    if (!out->fn)
        return fail_at(p, at, "expected median, mean, min, max or last");
    skip_blanks(p);
    if (next(p) != '(')
        return fail_at(p, p->at, "expected (, as in median(30d)");
    p->at++;
    return parse_window(p, out);
}

/* "1.2x " or "1.2 * " before a function; false, and nothing is taken, when it is not one. */
static bool parse_factor(parser *p, alert *out)
{
    uint32_t i = p->at;
    while (i < p->text.n && (isdigit((unsigned char)p->text.p[i]) || p->text.p[i] == '.'))
        i++;
    str digits = {p->text.p + p->at, i - p->at};
    while (i < p->text.n && p->text.p[i] == ' ')
        i++;
    if (i >= p->text.n || (p->text.p[i] != 'x' && p->text.p[i] != '*') ||
        !amount_number(digits, &out->factor))
        return false;
    for (i++; i < p->text.n && p->text.p[i] == ' ';)
        i++;
    p->at = i;
    return true;
}

static assay_status parse_value(parser *p, alert *out)
{
    uint32_t at = p->at;
    char what[128];
    str text = until(p, '\0');
    if (metric_parse(out->metric->unit, text, &out->limit))
        return ASSAY_OK;
    snprintf(what, sizeof what, "a value such as %s, or 1.2x median(30d), should stand here",
             metric_example(out->metric->unit));
    return fail_at(p, at, what);
}

assay_status alert_parse(str expression, alert *out, assay_error *err)
{
    parser p = {.text = expression, .err = err};
    *out = (alert){.expression = expression, .factor = 1};
    TRY(parse_metric(&p, out));
    TRY(parse_operator(&p, out));
    if (parse_factor(&p, out) || isalpha((unsigned char)next(&p)))
        TRY(parse_function(&p, out));
    else
        return parse_value(&p, out);
    skip_blanks(&p);
    return p.at == expression.n ? ASSAY_OK : fail_at(&p, p.at, "unexpected text after the alert");
}

/* ---- judging ---- */

/* Values of the records in the window, oldest first, without the newest record. */
static uint32_t window_values(const alert *q, const history_trend *t, double *out)
{
    uint32_t n = 0, before = t->n - 1, from = 0;
    if (q->window_records && q->window_records < before)
        from = before - q->window_records;
    for (uint32_t i = from; i < before; i++)
        if (!q->window_s || t->points[i].created_s >= t->points[t->n - 1].created_s - q->window_s)
            out[n++] = t->points[i].v.v;
    return n;
}

static bool is_beyond(alert_op op, double value, double limit)
{
    switch (op) {
    case ALERT_GT:
        return value > limit;
    case ALERT_GE:
        return value >= limit;
    case ALERT_LT:
        return value < limit;
    case ALERT_LE:
        return value <= limit;
    }
    return false;
}

static void compare(alert_op op, double value, double limit, history_alert *out)
{
    out->value = value;
    out->limit = limit;
    out->verdict = is_beyond(op, value, limit) ? ALERT_FIRED : ALERT_QUIET;
}

assay_status alert_judge(const alert *q, const history_trend *t, arena *a, history_alert *out,
                         assay_error *err)
{
    *out = (history_alert){.expression = str_copy(a, q->expression),
                           .verdict = ALERT_INCONCLUSIVE,
                           .value = NAN,
                           .limit = NAN,
                           .why = {"", 0}};
    if (!t->n) {
        out->why = str_printf(a, "no record has %s", q->metric->name);
        return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
    }
    double limit = q->limit;
    if (q->fn) {
        double *values = ARENA_ARRAY(a, double, t->n);
        TRY_MEMORY(values, err);
        out->window_records = window_values(q, t, values);
        limit = out->window_records ? q->factor * q->fn->of(values, out->window_records) : NAN;
    }
    if (!q->fn || out->window_records)
        compare(q->op, t->points[t->n - 1].v.v, limit, out);
    else
        out->why = str_printf(a, "no record in the window before the newest one");
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
