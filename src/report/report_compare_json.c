/* A comparison for scripts: assay.comparison/1, and CSV. */
#include <inttypes.h>

#include "base/json_write.h"
#include "base/text.h"
#include "report/compare_impl.h"

static bool is_real(const total_row *row)
{
    return row->kind == TOTAL_REAL || row->kind == TOTAL_MS;
}

/* As screens call it; the model's name unless several have it. */
static void put_label(json_writer *w, const comparison *c, uint32_t i)
{
    char title[COMPARE_TITLE];
    compare_title(c, i, title, sizeof title);
    key_cstr(w, "label", title);
}

static void json_model(json_writer *w, const comparison *c, uint32_t i)
{
    json_object(w);
    key_str(w, "model", c->profiles[i]->model);
    put_label(w, c, i);
    key_u64(w, "assumed", c->profiles[i]->accounting.assumed);
    key_u64(w, "unknown", c->profiles[i]->accounting.unknown);
    for (int r = 0; r < compare_totals_n; r++) {
        double v = compare_totals[r].get(c->profiles[i]);
        if (v < 0)
            continue;
        json_key(w, compare_totals[r].key);
        if (is_real(&compare_totals[r]))
            json_f64(w, v);
        else
            json_u64(w, (uint64_t)v);
    }
    json_key(w, "ratios");
    json_flat_object(w);
    for (int r = 0; r < compare_totals_n; r++) {
        double first = compare_totals[r].get(c->profiles[0]);
        double v = compare_totals[r].get(c->profiles[i]);
        if (v < 0 || first < 0)
            continue;
        json_key(w, compare_totals[r].key);
        json_f64(w, first > 0 ? v / first : 0.0);
    }
    json_end(w);
    json_end(w);
}

static void json_numbers(json_writer *w, const char *key, const uint64_t *v, uint32_t n)
{
    json_key(w, key);
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i++)
        json_u64(w, v[i]);
    json_end(w);
}

static void json_shape(json_writer *w, const profile_shape *s)
{
    if (s->rank < 0) {
        json_null(w);
        return;
    }
    json_flat_array(w);
    for (int i = 0; i < s->rank; i++)
        if (s->dims[i] < 0)
            json_null(w);
        else
            json_i64(w, s->dims[i]);
    json_end(w);
}

static void json_layer(json_writer *w, const char *key, const profile_layer *l, uint64_t peak)
{
    json_key(w, key);
    if (!l) {
        json_null(w);
        return;
    }
    json_flat_object(w);
    key_str(w, "name", l->name);
    json_key(w, "output_shapes");
    json_flat_array(w);
    for (uint32_t i = 0; i < l->n_outputs; i++)
        json_shape(w, &l->outputs[i].shape);
    json_end(w);
    key_u64(w, "flops", l->flops);
    key_u64(w, "macs", l->macs);
    key_u64(w, "parameters", l->parameters);
    key_u64(w, "memory", l->memory);
    key_u64(w, "peak_bytes", peak);
    if (l->time_ms >= 0)
        key_f64(w, "time_ms", l->time_ms);
    json_end(w);
}

/* Those that differ; null is the operator's default. */
static void json_attributes(json_writer *w, const comparison_layer *l)
{
    attribute_pair p;
    uint32_t i = 0, k = 0;
    bool any = false;
    if (!comparison_attributes_told(l))
        return;
    while (attribute_next(l->before->attributes, l->after->attributes, &i, &k, &p)) {
        const profile_attribute *sides[] = {p.before, p.after};
        if (!any) {
            json_key(w, "attributes");
            json_flat_object(w);
        }
        any = true;
        json_key_str(w, p.before ? p.before->name : p.after->name);
        json_flat_object(w);
        for (int side = 0; side < 2; side++) {
            json_key(w, side ? "after" : "before");
            if (sides[side])
                attribute_json(w, sides[side]);
            else
                json_null(w);
        }
        json_end(w);
    }
    if (any)
        json_end(w);
}

static void json_layers(json_writer *w, const char *key, const comparison_layer *list, uint32_t n)
{
    json_key(w, key);
    json_array(w);
    for (uint32_t i = 0; i < n; i++) {
        const comparison_layer *l = &list[i];
        json_object(w);
        key_cstr(w, "change", comparison_change_words[l->change]);
        key_str(w, "type", comparison_any(l)->type);
        key_str(w, "op", comparison_any(l)->op);
        json_layer(w, "before", l->before, l->peak_before);
        json_layer(w, "after", l->after, l->peak_after);
        json_attributes(w, l);
        json_end(w);
    }
    json_end(w);
}

static void json_changes(json_writer *w, const comparison *c)
{
    key_u64(w, "same_layers", c->same);
    key_u64(w, "renamed_layers", c->renamed);
    json_layers(w, "layers", c->layers, c->n_layers);
    json_layers(w, "peak", c->peak, c->n_peak);
    if (c->n_timed)
        json_layers(w, "times", c->timed, c->n_timed);
}

static void json_types(json_writer *w, const comparison *c)
{
    json_key(w, "types");
    json_array(w);
    for (uint32_t i = 0; i < c->n_types; i++) {
        json_object(w);
        key_str(w, "type", c->types[i].type);
        json_numbers(w, "count", c->types[i].count, c->n);
        json_numbers(w, "flops", c->types[i].flops, c->n);
        json_numbers(w, "macs", c->types[i].macs, c->n);
        json_end(w);
    }
    json_end(w);
}

static void json_instructions(json_writer *w, const comparison_timing *t)
{
    json_key(w, "instructions");
    json_flat_object(w);
    key_f64(w, "ratio", t->instructions);
    key_f64(w, "low", t->instructions_low);
    key_f64(w, "high", t->instructions_high);
    json_end(w);
}

static void json_timing(json_writer *w, const comparison *c, uint32_t i)
{
    const comparison_timing *t = &c->timings[i];
    json_object(w);
    key_str(w, "model", c->profiles[i]->model);
    put_label(w, c, i);
    key_cstr(w, "verdict", t->verdict);
    key_bool(w, "interleaved", t->interleaved);
    if (t->runs)
        key_f64(w, "ratio", t->ratio);
    if (t->tested) {
        key_f64(w, "ratio_ci99_low", t->low);
        key_f64(w, "ratio_ci99_high", t->high);
    }
    key_u64(w, "runs", t->runs);
    if (t->why.n)
        key_str(w, "why", t->why);
    if (t->instructions > 0)
        json_instructions(w, t);
    if (t->opinion.n)
        key_str(w, "opinion", t->opinion);
    json_end(w);
}

static void json_timings(json_writer *w, const comparison *c)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < c->n; i++)
        n += c->timings[i].verdict != NULL;
    if (!n)
        return;
    json_key(w, "measured");
    json_array(w);
    for (uint32_t i = 1; i < c->n; i++)
        if (c->timings[i].verdict)
            json_timing(w, c, i);
    json_end(w);
}

void compare_write_json(const comparison *c, const report_options *o, sbuf *out)
{
    json_writer w;
    (void)o;
    json_begin(&w, out, 2);
    json_object(&w);
    key_cstr(&w, "schema", "assay.comparison/1");
    key_str(&w, "lens", c->profiles[0]->lens);
    json_key(&w, "models");
    json_array(&w);
    for (uint32_t i = 0; i < c->n; i++)
        json_model(&w, c, i);
    json_end(&w);
    json_timings(&w, c);
    json_types(&w, c);
    if (c->n == 2)
        json_changes(&w, c);
    json_end(&w);
    sbuf_putc(out, '\n');
}

/* ---- csv ---- */

static void csv_name(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    report_csv_field(out, (str){safe.p, (uint32_t)safe.n});
    sbuf_free(&safe);
}

static void csv_totals(const comparison *c, sbuf *out)
{
    sbuf_puts(out, "model");
    for (int r = 0; r < compare_totals_n; r++)
        if (compare_has(c, &compare_totals[r]))
            sbuf_printf(out, ",%s", compare_totals[r].key);
    sbuf_puts(out, "\r\n");
    for (uint32_t i = 0; i < c->n; i++) {
        char title[COMPARE_TITLE];
        compare_title(c, i, title, sizeof title);
        csv_name(out, str_of(title));
        for (int r = 0; r < compare_totals_n; r++) {
            double v = compare_totals[r].get(c->profiles[i]);
            if (!compare_has(c, &compare_totals[r]))
                continue;
            sbuf_putc(out, ',');
            if (v >= 0 && is_real(&compare_totals[r]))
                report_fixed(out, v, 3);
            else if (v >= 0)
                sbuf_printf(out, "%" PRIu64, (uint64_t)v);
        }
        sbuf_puts(out, "\r\n");
    }
}

/* One row per layer that differs, of two. */
static void csv_layer(const comparison_layer *l, sbuf *out)
{
    const profile_layer *a = l->before, *b = l->after;
    sbuf_printf(out, "%s,", comparison_change_words[l->change]);
    csv_name(out, a ? a->name : (str){0});
    sbuf_putc(out, ',');
    csv_name(out, b ? b->name : (str){0});
    sbuf_putc(out, ',');
    csv_name(out, comparison_any(l)->type);
    sbuf_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                (int64_t)(COMPARE_FIGURE(b, macs) - COMPARE_FIGURE(a, macs)),
                (int64_t)(COMPARE_FIGURE(b, flops) - COMPARE_FIGURE(a, flops)),
                (int64_t)(COMPARE_FIGURE(b, parameters) - COMPARE_FIGURE(a, parameters)),
                (int64_t)(COMPARE_FIGURE(b, memory) - COMPARE_FIGURE(a, memory)),
                (int64_t)(l->peak_after - l->peak_before));
    sbuf changes = {0};
    compare_put_attributes(&changes, l);
    csv_name(out, (str){changes.p, (uint32_t)changes.n});
    sbuf_puts(out, "\r\n");
    sbuf_free(&changes);
}

void compare_write_csv(const comparison *c, const report_options *o, sbuf *out)
{
    if (c->n != 2 || !o->rows || strcmp(o->rows, "layers") != 0) {
        csv_totals(c, out);
        return;
    }
    sbuf_puts(out,
              "change,before,after,type,macs,flops,parameters,memory,peak_bytes,attributes\r\n");
    for (uint32_t i = 0; i < c->n_layers; i++)
        csv_layer(&c->layers[i], out);
}
