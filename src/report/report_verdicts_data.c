/* Verdicts for scripts and for comments: assay.check/1, CSV, Markdown. */
#include "base/json_write.h"
#include "base/text.h"
#include "report/markdown.h"
#include "report/verdicts_impl.h"

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

static void json_signed(json_writer *w, const char *key, int64_t v)
{
    json_key(w, key);
    json_i64(w, v);
}

static void json_move(json_writer *w, const verdict_move *m)
{
    json_flat_object(w);
    json_key(w, "change");
    json_cstr(w, comparison_change_name(m->change));
    json_key(w, "layer");
    json_str(w, m->name);
    json_key(w, "type");
    json_str(w, m->type);
    json_key(w, "shapes");
    json_str(w, m->shapes);
    if (m->attributes.n) {
        json_key(w, "attributes");
        json_str(w, m->attributes);
    }
    json_signed(w, "macs", m->macs);
    json_signed(w, "parameters", m->parameters);
    json_signed(w, "memory", m->bytes);
    json_signed(w, "peak_bytes", m->peak_bytes);
    if (m->before_ms >= 0 && m->after_ms >= 0)
        json_number(w, "time_ms", m->after_ms - m->before_ms);
    json_end(w);
}

static void json_moves(json_writer *w, const verdicts *v)
{
    json_key(w, "layers_moved");
    json_u64(w, v->n_moved);
    json_key(w, "moved");
    json_array(w);
    for (uint32_t i = 0; i < v->n_moves; i++)
        json_move(w, &v->moves[i]);
    json_end(w);
    json_key(w, "types_moved");
    json_array(w);
    for (uint32_t i = 0; i < v->n_types; i++) {
        const verdict_type *t = &v->types[i];
        json_flat_object(w);
        json_key(w, "type");
        json_str(w, t->type);
        json_key(w, "layers");
        json_u64(w, t->layers);
        json_signed(w, "count", t->count);
        json_signed(w, "macs", t->macs);
        json_signed(w, "parameters", t->parameters);
        json_signed(w, "memory", t->bytes);
        json_end(w);
    }
    json_end(w);
}

void verdict_write_json(const verdicts *v, const report_options *o, sbuf *out)
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
    if (v->baseline.n)
        json_moves(&w, v);
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

void verdict_write_csv(const verdicts *v, const report_options *o, sbuf *out)
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
        sbuf_printf(out, "| %s | ", comparison_change_name(m->change));
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
                marks[v->overall], verdict_name(v->overall));
    for (uint32_t i = 0; i < v->n; i++) {
        const verdict_row *r = &v->rows[i];
        sbuf_printf(out, "| %s %s | %s | ", marks[r->verdict], verdict_name(r->verdict),
                    r->metric->title);
        verdict_put_value(out, r, &r->now);
        sbuf_puts(out, " | ");
        verdict_put_against(out, r);
        sbuf_puts(out, " | ");
        verdict_put_moved(out, r);
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
    md_moves(out, v);
}
