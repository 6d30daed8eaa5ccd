/* Verdicts for scripts and for comments: assay.check/1, CSV, Markdown. */
#include "base/text.h"
#include "report/markdown.h"
#include "report/verdicts_impl.h"

/* ---- json ---- */

void verdict_write_json(const verdicts *v, const report_options *o, sbuf *out)
{
    (void)o;
    result_write(&check_kind, v, 2, out);
}

/* ---- csv ---- */

static void csv_number(sbuf *out, double v)
{
    sbuf_putc(out, ',');
    if (!isnan(v))
        report_csv_number(out, v);
}

void verdict_write_csv(const verdicts *v, const report_options *o, sbuf *out)
{
    (void)o;
    sbuf_puts(out, "metric,unit,verdict,value,operator,limit,baseline,ratio,ratio_ci99_low,"
                   "ratio_ci99_high,why\r\n");
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf_printf(out, "%s,%s,%s", r->metric, metric_unit_words[r->unit],
                    verdict_words[r->verdict]);
        csv_number(out, r->now.v);
        sbuf_printf(out, ",%s", r->op ? r->op : "");
        csv_number(out, r->limit);
        csv_number(out, r->base.v);
        csv_number(out, r->ratio);
        csv_number(out, r->low);
        csv_number(out, r->high);
        sbuf_putc(out, ',');
        report_csv_field(out, r->why);
        sbuf_puts(out, "\r\n");
    }
}

/* ---- Markdown: a pull request's comment, a workflow's summary ---- */

static void md_moves(sbuf *out, const verdicts *v)
{
    if (!v->n_moves)
        return;
    sbuf_printf(out,
                "\n<details><summary>What moved: %u of %u layers</summary>\n\n"
                "| | layer | output | MACs | params | bytes moved | time |\n"
                "|---|---|---|---:|---:|---:|---:|\n",
                v->n_moves, v->n_moved > v->n_moves ? v->n_moved : v->n_moves);
    for (uint32_t i = 0; i < v->n_moves; i++) {
        const verdict_move *m = &v->moves[i];
        sbuf_printf(out, "| %s | ", comparison_change_words[m->change]);
        md_code(out, m->name);
        sbuf_printf(out, " | " STR_FMT, STR_ARG(m->shapes));
        sbuf_puts(out, m->attributes.n ? " " : "");
        md_text(out, m->attributes);
        sbuf_puts(out, " | ");
        verdict_put_signed(out, m->macs, false);
        sbuf_puts(out, " | ");
        verdict_put_signed(out, m->parameters, false);
        sbuf_puts(out, " | ");
        verdict_put_signed(out, m->bytes, true);
        sbuf_puts(out, " | ");
        verdict_put_time(out, m);
        sbuf_puts(out, " |\n");
    }
    sbuf_puts(out, "\n</details>\n");
}

void verdict_write_md(const verdicts *v, const report_options *o, sbuf *out)
{
    static const char *const marks[] = {
        [VERDICT_PASS] = "✅",         [VERDICT_IMPROVEMENT] = "🚀", [VERDICT_SHOWN] = "",
        [VERDICT_INCONCLUSIVE] = "❔", [VERDICT_REGRESSION] = "❌",  [VERDICT_MISSED] = "❌"};
    (void)o;
    sbuf_puts(out, "### assay: ");
    md_code(out, v->model);
    sbuf_printf(out,
                " %s %s\n\n| | metric | value | limit or baseline | change |\n"
                "|---|---|---:|---:|---|\n",
                marks[v->overall], verdict_words[v->overall]);
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf_printf(out, "| %s %s | %s | ", marks[r->verdict], verdict_words[r->verdict],
                    metric_title(r->metric));
        verdict_put_value(out, r, &r->now);
        sbuf_puts(out, " | ");
        verdict_put_against(out, r);
        sbuf_puts(out, " | ");
        verdict_put_moved(out, r);
        sbuf_puts(out, " |\n");
    }
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].why.n && v->rows[i].verdict != VERDICT_SHOWN) {
            sbuf_printf(out, "\n%s: ", metric_title(v->rows[i].metric));
            md_text(out, v->rows[i].why);
            sbuf_puts(out, ".\n");
        }
    for (uint32_t i = 0; i < v->n_notes; i++) {
        sbuf_putc(out, '\n');
        md_text(out, v->notes[i]);
        sbuf_putc(out, '\n');
    }
    md_moves(out, v);
}
