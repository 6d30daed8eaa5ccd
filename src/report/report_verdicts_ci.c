/* Verdicts for the systems that run tests.
 *
 * JUnit has no schema of its own; what is written fits the one that Ant's and Jenkins' readers share:
 * testsuites, testsuite with properties, testcase, system-out, system-err. A missed limit and a regression are
 * failures, what is inconclusive is an error. GitHub's annotations are lines of "::error title=...::text"
 * (its "workflow commands"), with the bytes that end them escaped.
 */
#include "base/clock.h"
#include "base/text.h"
#include "report/verdicts_impl.h"

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
    verdict_put_sentence(&b, r);
    xml_text(out, (str){b.p, (uint32_t)b.n});
    out->failed |= b.failed;
    sbuf_free(&b);
}

static void xml_case(sbuf *out, const verdicts *v, const verdict_row *r)
{
    sbuf_puts(out, "    <testcase classname=\"");
    xml_text(out, v->model);
    sbuf_printf(out, "\" name=\"%s %s\" time=\"0\">", r->metric,
                r->op ? "within its limit" : "against the baseline");
    if (verdict_is_bad(r) || r->verdict == VERDICT_INCONCLUSIVE) {
        sbuf_printf(out, "<%s type=\"%s\" message=\"", verdict_is_bad(r) ? "failure" : "error",
                    verdict_words[r->verdict]);
        xml_sentence(out, r);
        sbuf_puts(out, "\">");
        xml_sentence(out, r);
        sbuf_printf(out, "</%s>", verdict_is_bad(r) ? "failure" : "error");
    }
    sbuf_puts(out, "</testcase>\n");
}

/* It comes from a file: only what is a time goes into the attribute. */
static bool is_stamp(str s)
{
    int64_t t;
    return s.n >= 19 && clock_parse((str){s.p, 19}, &t);
}

void verdict_write_junit(const verdicts *v, const report_options *o, sbuf *out)
{
    uint32_t failures = 0, errors = 0, tests = 0;
    (void)o;
    for (uint32_t i = 0; i < v->n; i++) {
        tests += v->rows[i].verdict != VERDICT_SHOWN;
        failures += verdict_is_bad(&v->rows[i]);
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

void verdict_write_github(const verdicts *v, const report_options *o, sbuf *out)
{
    (void)o;
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf b = {0};
        if (r->verdict == VERDICT_PASS || r->verdict == VERDICT_SHOWN)
            continue;
        text_safe(&b, v->model);
        sbuf_puts(&b, ": ");
        verdict_put_sentence(&b, r);
        sbuf_printf(out, "::%s title=assay %s %s::",
                    verdict_is_bad(r)                    ? "error"
                    : r->verdict == VERDICT_INCONCLUSIVE ? "warning"
                                                         : "notice",
                    r->metric, verdict_words[r->verdict]);
        github_text(out, (str){b.p, (uint32_t)b.n});
        sbuf_putc(out, '\n');
        sbuf_free(&b);
    }
}
