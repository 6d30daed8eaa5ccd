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

static void json_row(json_writer *w, const verdict_row *r)
{
    json_flat_object(w);
    key_cstr(w, "metric", r->metric->name);
    key_cstr(w, "unit", metric_unit_words[r->metric->unit]);
    key_cstr(w, "verdict", verdict_name(r->verdict));
    json_value(w, "value", &r->now);
    if (r->against_limit) {
        key_cstr(w, "operator", r->at_least ? ">=" : "<=");
        key_f64(w, "limit", r->limit);
    } else {
        json_value(w, "baseline", &r->base);
        if (r->ratio > 0)
            key_f64(w, "ratio", r->ratio);
        if (r->tested) {
            key_f64(w, "ratio_ci99_low", r->low);
            key_f64(w, "ratio_ci99_high", r->high);
        }
    }
    if (r->why.n)
        key_str(w, "why", r->why);
    json_end(w);
}

static void json_move(json_writer *w, const verdict_move *m)
{
    json_flat_object(w);
    key_cstr(w, "change", comparison_change_name(m->change));
    key_str(w, "layer", m->name);
    key_str(w, "type", m->type);
    key_str(w, "shapes", m->shapes);
    if (m->attributes.n)
        key_str(w, "attributes", m->attributes);
    key_i64(w, "macs", m->macs);
    key_i64(w, "parameters", m->parameters);
    key_i64(w, "memory", m->bytes);
    key_i64(w, "peak_bytes", m->peak_bytes);
    if (m->before_ms >= 0 && m->after_ms >= 0)
        key_f64(w, "time_ms", m->after_ms - m->before_ms);
    json_end(w);
}

static void json_moves(json_writer *w, const verdicts *v)
{
    key_u64(w, "layers_moved", v->n_moved);
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
        key_str(w, "type", t->type);
        key_u64(w, "layers", t->layers);
        key_i64(w, "count", t->count);
        key_i64(w, "macs", t->macs);
        key_i64(w, "parameters", t->parameters);
        key_i64(w, "memory", t->bytes);
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
    key_cstr(&w, "schema", "assay.check/1");
    key_str(&w, "model", v->model);
    key_cstr(&w, "verdict", verdict_name(v->overall));
    if (v->baseline.n) {
        key_str(&w, "baseline", v->baseline);
        key_str(&w, "baseline_timestamp", v->baseline_timestamp);
        key_f64(&w, "tolerance_percent", 100 * v->tolerance);
        key_f64(&w, "allowance_percent", 100 * v->allowance);
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
        sbuf_printf(out, "%s,%s,%s", r->metric->name, metric_unit_words[r->metric->unit],
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
