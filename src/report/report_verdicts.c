/* Verdicts for people, for scripts and for the systems that run tests.
 *
 * JUnit has no schema of its own; what is written fits the one that Ant's and Jenkins' readers share:
 * testsuites, testsuite with properties, testcase, system-out, system-err. A missed limit and a regression are
 * failures, what is inconclusive is an error. GitHub's annotations are lines of "::error title=...::text"
 * (its "workflow commands"), with the bytes that end them escaped.
 */
#include <math.h>

#include "base/json_write.h"
#include "base/text.h"
#include "report/console.h"
#include "report/studies.h"
#include "report/verdicts.h"

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

/* "+5.1 %" */
static void put_change(sbuf *b, double ratio)
{
    double percent = 100 * (ratio - 1);
    sbuf_puts(b, percent >= 0.005 ? "+" : "");
    report_fixed(b, percent, fabs(percent) < 10 ? 2 : 1);
    sbuf_puts(b, " %");
}

static void put_against(sbuf *b, const verdict_row *r)
{
    if (r->against_limit) {
        sbuf_puts(b, r->at_least ? "≥ " : "≤ ");
        report_metric(b, r->metric->unit, r->limit);
    } else {
        report_metric(b, r->metric->unit, r->base.v);
    }
}

static void put_moved(sbuf *b, const verdict_row *r)
{
    if (r->against_limit || r->ratio <= 0 || (!r->metric->measured && r->ratio == 1))
        return;
    put_change(b, r->ratio);
    if (!r->tested)
        return;
    sbuf_puts(b, " (");
    put_change(b, r->low);
    sbuf_puts(b, " … ");
    put_change(b, r->high);
    sbuf_putc(b, ')');
}

/* One sentence of a row, for where there is no table. */
static void put_sentence(sbuf *b, const verdict_row *r)
{
    sbuf_printf(b, "%s is ", r->metric->title);
    report_metric(b, r->metric->unit, r->now.v);
    sbuf_puts(b, r->against_limit ? ", limit " : ", baseline ");
    put_against(b, r);
    sbuf moved = {0};
    put_moved(&moved, r);
    if (moved.n)
        sbuf_printf(b, ": %s", sbuf_cstr(&moved));
    sbuf_free(&moved);
    if (r->why.n)
        sbuf_printf(b, "; " STR_FMT, STR_ARG(r->why));
    sbuf_putc(b, '.');
}

static bool is_bad(const verdict_row *r)
{
    return r->verdict == VERDICT_MISSED || r->verdict == VERDICT_REGRESSION;
}

/* ---- console ---- */

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

static void put_row(console_table *t, const verdict_row *r)
{
    sbuf *b = table_cell(t, style_of(r->verdict));
    sbuf_printf(b, "%s%s", mark_of(r->verdict), verdict_name(r->verdict));
    sbuf_puts(table_cell(t, STYLE_PLAIN), r->metric->title);
    report_metric(table_cell(t, STYLE_PLAIN), r->metric->unit, r->now.v);
    put_against(table_cell(t, STYLE_PLAIN), r);
    if (!r->against_limit)
        put_moved(table_cell(t, STYLE_DIM), r);
}

static void console_rows(console *k, const verdicts *v, bool limits)
{
    const console_column columns[] = {{.title = "verdict"},
                                      {.title = "metric", .min = 10},
                                      {.title = "value", .right = true},
                                      {.title = limits ? "limit" : "baseline", .right = true},
                                      {.title = "change", .drop = 1}};
    console_table t;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += v->rows[i].against_limit == limits;
    if (!n)
        return;
    console_heading(k, limits ? "Limits" : "Against the baseline",
                    limits ? NULL : "change with its 99 % interval where runs were compared");
    table_begin(&t, columns, limits ? 4 : 5, 2);
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].against_limit == limits)
            put_row(&t, &v->rows[i]);
    table_print(&t, k);
}

static void console_why(console *k, const verdicts *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf b = {0};
        if (!r->why.n || (r->verdict == VERDICT_SHOWN && !k->o->verbose))
            continue;
        sbuf_printf(&b, "%s: " STR_FMT ".", r->metric->title, STR_ARG(r->why));
        console_words(k, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
    for (uint32_t i = 0; i < v->n_notes; i++)
        console_words(k, STYLE_DIM, 2, false, v->notes[i]);
}

static void write_console(const verdicts *v, const report_options *o, sbuf *out)
{
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    console_rows(&k, v, true);
    console_rows(&k, v, false);
    console_why(&k, v);
    console_line(&k);
    console_putf(&k, style_of(v->overall), "%s%s", mark_of(v->overall), verdict_name(v->overall));
    if (v->baseline.n) {
        console_put(&k, STYLE_DIM, " · tolerance ");
        report_fixed(out, 100 * v->tolerance, 1);
        console_put(&k, STYLE_DIM, " %");
    }
    console_line(&k);
}

/* ---- json ---- */

static void json_value(json_writer *w, const char *key, const metric_value *v)
{
    json_key(w, key);
    if (v->whole)
        json_u64(w, v->n);
    else
        json_f64(w, v->v);
}

static void json_number(json_writer *w, const char *key, double v)
{
    json_key(w, key);
    json_f64(w, v);
}

static void json_row(json_writer *w, const verdict_row *r)
{
    json_flat_object(w);
    json_key(w, "metric");
    json_cstr(w, r->metric->name);
    json_key(w, "unit");
    json_cstr(w, metric_unit_name(r->metric->unit));
    json_key(w, "verdict");
    json_cstr(w, verdict_name(r->verdict));
    json_value(w, "value", &r->now);
    if (r->against_limit) {
        json_key(w, "operator");
        json_cstr(w, r->at_least ? ">=" : "<=");
        json_number(w, "limit", r->limit);
    } else {
        json_value(w, "baseline", &r->base);
        if (r->ratio > 0)
            json_number(w, "ratio", r->ratio);
        if (r->tested) {
            json_number(w, "ratio_ci99_low", r->low);
            json_number(w, "ratio_ci99_high", r->high);
        }
    }
    if (r->why.n) {
        json_key(w, "why");
        json_str(w, r->why);
    }
    json_end(w);
}

static void write_json(const verdicts *v, const report_options *o, sbuf *out)
{
    json_writer w;
    (void)o;
    json_begin(&w, out, 2);
    json_object(&w);
    json_key(&w, "schema");
    json_cstr(&w, "assay.check/1");
    json_key(&w, "model");
    json_str(&w, v->model);
    json_key(&w, "verdict");
    json_cstr(&w, verdict_name(v->overall));
    if (v->baseline.n) {
        json_key(&w, "baseline");
        json_str(&w, v->baseline);
        json_key(&w, "baseline_timestamp");
        json_str(&w, v->baseline_timestamp);
        json_number(&w, "tolerance_percent", 100 * v->tolerance);
        json_number(&w, "allowance_percent", 100 * v->allowance);
    }
    json_key(&w, "checks");
    json_array(&w);
    for (uint32_t i = 0; i < v->n; i++)
        json_row(&w, &v->rows[i]);
    json_end(&w);
    json_key(&w, "notes");
    json_array(&w);
    for (uint32_t i = 0; i < v->n_notes; i++)
        json_str(&w, v->notes[i]);
    json_end(&w);
    json_end(&w);
    sbuf_putc(out, '\n');
}

/* ---- csv ---- */

static void csv_number(sbuf *out, bool told, double v)
{
    sbuf_putc(out, ',');
    if (told)
        report_csv_number(out, v);
}

static void write_csv(const verdicts *v, const report_options *o, sbuf *out)
{
    (void)o;
    sbuf_puts(out, "metric,unit,verdict,value,operator,limit,baseline,ratio,ratio_ci99_low,"
                   "ratio_ci99_high,why\r\n");
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf_printf(out, "%s,%s,%s", r->metric->name, metric_unit_name(r->metric->unit),
                    verdict_name(r->verdict));
        csv_number(out, true, r->now.v);
        sbuf_printf(out, ",%s", r->against_limit ? r->at_least ? ">=" : "<=" : "");
        csv_number(out, r->against_limit, r->limit);
        csv_number(out, !r->against_limit, r->base.v);
        csv_number(out, !r->against_limit && r->ratio > 0, r->ratio);
        csv_number(out, r->tested, r->low);
        csv_number(out, r->tested, r->high);
        sbuf_putc(out, ',');
        report_csv_field(out, r->why);
        sbuf_puts(out, "\r\n");
    }
}

/* ---- Markdown: a pull request's comment, a workflow's summary ---- */

/* Names may hold what Markdown or HTML would obey. */
static void md_text(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    for (size_t i = 0; i < safe.n; i++) {
        if (safe.p[i] == '<')
            sbuf_puts(out, "&lt;");
        else if (safe.p[i] == '&')
            sbuf_puts(out, "&amp;");
        else {
            if (strchr("\\|`*_[]#!", safe.p[i]))
                sbuf_putc(out, '\\');
            sbuf_putc(out, safe.p[i]);
        }
    }
    out->failed |= safe.failed;
    sbuf_free(&safe);
}

static void write_md(const verdicts *v, const report_options *o, sbuf *out)
{
    static const char *const marks[] = {
        [VERDICT_PASS] = "✅",         [VERDICT_IMPROVEMENT] = "🚀", [VERDICT_SHOWN] = "",
        [VERDICT_INCONCLUSIVE] = "❔", [VERDICT_REGRESSION] = "❌",  [VERDICT_MISSED] = "❌"};
    (void)o;
    sbuf_puts(out, "### assay: ");
    md_text(out, v->model);
    sbuf_printf(out,
                " %s %s\n\n| | metric | value | limit or baseline | change |\n"
                "|---|---|---:|---:|---|\n",
                marks[v->overall], verdict_name(v->overall));
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf_printf(out, "| %s %s | %s | ", marks[r->verdict], verdict_name(r->verdict),
                    r->metric->title);
        report_metric(out, r->metric->unit, r->now.v);
        sbuf_puts(out, " | ");
        put_against(out, r);
        sbuf_puts(out, " | ");
        put_moved(out, r);
        sbuf_puts(out, " |\n");
    }
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].why.n && v->rows[i].verdict != VERDICT_SHOWN) {
            sbuf_printf(out, "\n%s: ", v->rows[i].metric->title);
            md_text(out, v->rows[i].why);
            sbuf_puts(out, ".\n");
        }
    for (uint32_t i = 0; i < v->n_notes; i++) {
        sbuf_putc(out, '\n');
        md_text(out, v->notes[i]);
        sbuf_putc(out, '\n');
    }
}

/* ---- JUnit ---- */

static void xml_text(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    for (size_t i = 0; i < safe.n; i++)
        switch (safe.p[i]) {
        case '&':
            sbuf_puts(out, "&amp;");
            break;
        case '<':
            sbuf_puts(out, "&lt;");
            break;
        case '>':
            sbuf_puts(out, "&gt;");
            break;
        case '"':
            sbuf_puts(out, "&quot;");
            break;
        default:
            sbuf_putc(out, safe.p[i]);
        }
    out->failed |= safe.failed;
    sbuf_free(&safe);
}

static void xml_sentence(sbuf *out, const verdict_row *r)
{
    sbuf b = {0};
    put_sentence(&b, r);
    xml_text(out, (str){b.p, (uint32_t)b.n});
    out->failed |= b.failed;
    sbuf_free(&b);
}

static void xml_case(sbuf *out, const verdicts *v, const verdict_row *r)
{
    sbuf_puts(out, "    <testcase classname=\"");
    xml_text(out, v->model);
    sbuf_printf(out, "\" name=\"%s %s\" time=\"0\">", r->metric->name,
                r->against_limit ? "within its limit" : "against the baseline");
    if (is_bad(r) || r->verdict == VERDICT_INCONCLUSIVE) {
        sbuf_printf(out, "<%s type=\"%s\" message=\"", is_bad(r) ? "failure" : "error",
                    verdict_name(r->verdict));
        xml_sentence(out, r);
        sbuf_puts(out, "\">");
        xml_sentence(out, r);
        sbuf_printf(out, "</%s>", is_bad(r) ? "failure" : "error");
    }
    sbuf_puts(out, "</testcase>\n");
}

static void write_junit(const verdicts *v, const report_options *o, sbuf *out)
{
    uint32_t failures = 0, errors = 0, tests = 0;
    (void)o;
    for (uint32_t i = 0; i < v->n; i++) {
        tests += v->rows[i].verdict != VERDICT_SHOWN;
        failures += is_bad(&v->rows[i]);
        errors += v->rows[i].verdict == VERDICT_INCONCLUSIVE;
    }
    str stamp = v->timestamp.n >= 19 ? (str){v->timestamp.p, 19} : STR("1970-01-01T00:00:00");
    sbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                   "  <testsuite id=\"0\" package=\"assay\" name=\"assay check ");
    xml_text(out, v->model);
    sbuf_printf(out,
                "\" timestamp=\"" STR_FMT "\" hostname=\"localhost\" tests=\"%u\" failures=\"%u\" "
                "errors=\"%u\" time=\"0\">\n    <properties>\n",
                STR_ARG(stamp), tests, failures, errors);
    sbuf_puts(out, "      <property name=\"verdict\" value=\"");
    sbuf_puts(out, verdict_name(v->overall));
    sbuf_puts(out, "\"/>\n    </properties>\n");
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].verdict != VERDICT_SHOWN)
            xml_case(out, v, &v->rows[i]);
    sbuf_puts(out, "    <system-out></system-out>\n    <system-err></system-err>\n"
                   "  </testsuite>\n</testsuites>\n");
}

/* ---- GitHub's workflow commands ---- */

static void github_text(sbuf *out, str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (s.p[i] == '%' || s.p[i] == '\r' || s.p[i] == '\n')
            sbuf_printf(out, "%%%02X", (unsigned char)s.p[i]);
        else
            sbuf_putc(out, s.p[i]);
}

static void write_github(const verdicts *v, const report_options *o, sbuf *out)
{
    (void)o;
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf b = {0};
        if (r->verdict == VERDICT_PASS || r->verdict == VERDICT_SHOWN)
            continue;
        text_safe(&b, v->model);
        sbuf_puts(&b, ": ");
        put_sentence(&b, r);
        sbuf_printf(out, "::%s title=assay %s %s::",
                    is_bad(r)                            ? "error"
                    : r->verdict == VERDICT_INCONCLUSIVE ? "warning"
                                                         : "notice",
                    r->metric->name, verdict_name(r->verdict));
        github_text(out, (str){b.p, (uint32_t)b.n});
        sbuf_putc(out, '\n');
        sbuf_free(&b);
    }
}

/* ---- all ---- */

static const struct verdict_writer {
    const char *name;
    void (*write)(const verdicts *v, const report_options *o, sbuf *out);
} writers[] = {
    {"console", write_console}, {"json", write_json},   {"csv", write_csv},
    {"md", write_md},           {"junit", write_junit}, {"github", write_github},
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
                    "'. There are: console, json, csv, md, junit, github.",
                    STR_ARG(format));
}
