/* Checks as JUnit XML and as GitHub annotations.
 *
 * JUnit has no official schema. The output follows the one that the readers of Ant and Jenkins share: testsuites,
 * testsuite with properties, testcase, system-out, system-err. A missed limit and a regression are failures; an
 * inconclusive check is an error. GitHub annotations are lines of "::error title=...::text" (workflow commands) with
 * escaped line ends.
 */
#include "base/clock.h"
#include "base/text.h"
#include "profile/verdicts.h"
#include "report/report.h"
#include "report/view.h"

static bool is_bad(const verdict_row *r)
{
    return r->verdict == VERDICT_MISSED || r->verdict == VERDICT_REGRESSION;
}

/* A check in one sentence. */
static void put_sentence(const verdicts *v, uint32_t i, const report_options *o, sbuf *b)
{
    const view whole = {.o = o, .root = fields_root(check_kind.of, v)};
    const field_value checks = fields_get(&whole.root, "checks"), row = fields_item(&checks, i);
    view_put(&whole, b, &row,
             v->rows[i].op
                 ? "{title:text} {value:unit}, limit {operator:text} {limit:unit}[; {why:text}]."
                 : "{title:text} {value:unit~baseline}, baseline {baseline:unit~value}"
                   "[: {ratio:change}][ ({ratio_ci99_low:change} to {ratio_ci99_high:change})]"
                   "[; {why:text}].");
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

static void xml_fault(sbuf *out, const verdict_row *r, str sentence)
{
    const char *element = is_bad(r) ? "failure" : "error";
    sbuf_printf(out, "<%s type=\"%s\" message=\"", element, verdict_words[r->verdict]);
    xml_text(out, sentence);
    sbuf_puts(out, "\">");
    xml_text(out, sentence);
    sbuf_printf(out, "</%s>", element);
}

static void xml_case(sbuf *out, const verdicts *v, uint32_t i, const report_options *o)
{
    const verdict_row *r = &v->rows[i];
    sbuf sentence = {0};
    sbuf_puts(out, "    <testcase classname=\"");
    xml_text(out, v->model);
    sbuf_puts(out, "\" name=\"");
    xml_text(out, str_of(r->metric));
    sbuf_printf(out, " %s\" time=\"0\">", r->op ? "within its limit" : "against the baseline");
    put_sentence(v, i, o, &sentence);
    if (is_bad(r) || r->verdict == VERDICT_INCONCLUSIVE)
        xml_fault(out, r, (str){sbuf_cstr(&sentence), (uint32_t)sentence.n});
    sbuf_puts(out, "</testcase>\n");
    out->failed |= sentence.failed;
    sbuf_free(&sentence);
}

/* It comes from a file: only what is a time goes into the attribute. */
static bool is_stamp(str s)
{
    int64_t t;
    return s.n >= 19 && clock_parse((str){s.p, 19}, &t);
}

static void write_junit(const verdicts *v, const report_options *o, sbuf *out)
{
    uint32_t failures = 0, errors = 0, tests = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        tests += v->rows[i].verdict != VERDICT_SHOWN;
        failures += is_bad(&v->rows[i]);
        errors += v->rows[i].verdict == VERDICT_INCONCLUSIVE;
    }
    str stamp = is_stamp(v->timestamp) ? (str){v->timestamp.p, 19} : STR("1970-01-01T00:00:00");
    sbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                   "  <testsuite id=\"0\" package=\"assay\" name=\"assay check ");
    xml_text(out, v->model);
    sbuf_printf(out,
                "\" timestamp=\"" STR_FMT "\" hostname=\"localhost\" tests=\"%u\" failures=\"%u\" "
                "errors=\"%u\" time=\"0\">\n    <properties>\n",
                STR_ARG(stamp), tests, failures, errors);
    sbuf_puts(out, "      <property name=\"verdict\" value=\"");
    sbuf_puts(out, verdict_words[v->overall]);
    sbuf_puts(out, "\"/>\n    </properties>\n");
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].verdict != VERDICT_SHOWN)
            xml_case(out, v, i, o);
    sbuf_puts(out, "    <system-out></system-out>\n    <system-err></system-err>\n"
                   "  </testsuite>\n</testsuites>\n");
}

/* ---- GitHub's workflow commands ---- */

static void github_text(sbuf *out, str s, const char *escaped)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (s.p[i] == '\r' || s.p[i] == '\n' || (s.p[i] && strchr(escaped, s.p[i])))
            sbuf_printf(out, "%%%02X", (unsigned char)s.p[i]);
        else
            sbuf_putc(out, s.p[i]);
}

static void write_annotation(const verdicts *v, uint32_t i, const report_options *o, sbuf *out)
{
    const verdict_row *r = &v->rows[i];
    sbuf b = {0}, safe = {0};
    sbuf_printf(&b, STR_FMT ": ", STR_ARG(v->model));
    put_sentence(v, i, o, &b);
    text_safe(&safe, (str){b.p, (uint32_t)b.n});
    sbuf_printf(out, "::%s title=assay ",
                is_bad(r)                            ? "error"
                : r->verdict == VERDICT_INCONCLUSIVE ? "warning"
                                                     : "notice");
    github_text(out, str_of(r->metric), "%:,");
    sbuf_printf(out, " %s::", verdict_words[r->verdict]);
    github_text(out, (str){safe.p, (uint32_t)safe.n}, "%");
    sbuf_putc(out, '\n');
    out->failed |= b.failed || safe.failed;
    sbuf_free(&b);
    sbuf_free(&safe);
}

static void write_github(const verdicts *v, const report_options *o, sbuf *out)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].verdict != VERDICT_PASS && v->rows[i].verdict != VERDICT_SHOWN)
            write_annotation(v, i, o, out);
}

assay_status report_check_ci(const void *data, str format, const report_options *o, sbuf *out,
                             assay_error *err)
{
    if (str_is(format, "junit"))
        write_junit(data, o, out);
    else
        write_github(data, o, out);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
