/* A scaling as JSON, schema assay.scaling/1; docs/scaling.md describes it. */
#include "base/json_write.h"
#include "report/scalings.h"

static void put_value(json_writer *w, const scaling_axis *x, int64_t v)
{
    double one = 1;
    for (int i = 0; i < x->decimals; i++)
        one *= 10;
    if (x->decimals)
        json_f64(w, (double)v / one);
    else
        json_i64(w, v);
}

static void put_axes(json_writer *w, const scaling *s)
{
    json_key(w, "axes");
    json_array(w);
    for (uint32_t k = 0; k < s->n_axes; k++) {
        const scaling_axis *x = &s->axes[k];
        json_flat_object(w);
        key_str(w, "name", x->name);
        key_cstr(w, "kind", x->kind);
        key_cstr(w, "symbol", x->symbol);
        json_key(w, "from");
        put_value(w, x, x->from);
        json_key(w, "to");
        put_value(w, x, x->to);
        key_i64(w, "granule", x->granule);
        key_i64(w, "accepted", x->accepted);
        json_key(w, "values");
        json_flat_array(w);
        for (uint32_t i = 0; i < x->n_values; i++)
            put_value(w, x, x->values[i]);
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void put_sizes(json_writer *w, const scaling *s, const int64_t *at, uint32_t without)
{
    json_key(w, "sizes");
    json_flat_object(w);
    for (uint32_t k = 0; k < s->n_axes; k++) {
        if (k == without)
            continue;
        json_key_str(w, s->axes[k].name);
        put_value(w, &s->axes[k], at[k]);
    }
    json_end(w);
}

static void put_points(json_writer *w, const scaling *s)
{
    json_key(w, "points");
    json_array(w);
    for (uint32_t i = 0; i < s->n_points; i++) {
        const scaling_point *p = &s->points[i];
        json_flat_object(w);
        put_sizes(w, s, p->at, SCALING_AXES);
        for (int m = 0; m < SCALING_METRICS && !p->refused.n; m++)
            if (s->metrics[m]) {
                json_key(w, scaling_metrics[m].key);
                json_u64(w, p->figures.v[m]);
            }
        if (p->refused.n)
            key_str(w, "refused", p->refused);
        json_end(w);
    }
    json_end(w);
}

static void put_terms(json_writer *w, const scaling *s, const scaling_fit *f)
{
    json_key(w, "terms");
    json_array(w);
    for (uint32_t i = 0; i < f->n_terms; i++) {
        const scaling_term *t = &f->terms[i];
        json_flat_object(w);
        key_f64(w, "coefficient", t->value);
        if (f->exact) {
            key_i64(w, "numerator", t->numerator);
            key_i64(w, "denominator", t->denominator);
        }
        json_key(w, "powers");
        json_flat_object(w);
        for (uint32_t k = 0; k < s->n_axes; k++) {
            json_key_str(w, s->axes[k].name);
            json_u64(w, t->powers[k]);
        }
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void put_exponents(json_writer *w, const scaling *s, const scaling_fit *f)
{
    json_key(w, "exponents");
    json_flat_object(w);
    for (uint32_t k = 0; k < s->n_axes; k++) {
        json_key_str(w, s->axes[k].name);
        json_flat_object(w);
        key_fixed(w, "fitted", f->exponent[k], 4);
        key_fixed(w, "first", f->exponent_first[k], 4);
        key_fixed(w, "last", f->exponent_last[k], 4);
        json_end(w);
    }
    json_end(w);
}

static void put_forms(json_writer *w, const scaling *s)
{
    json_key(w, "forms");
    json_object(w);
    for (int m = 0; m < SCALING_METRICS; m++) {
        const scaling_fit *f = &s->fits[m];
        sbuf text = {0};
        if (!f->wanted)
            continue;
        json_key(w, scaling_metrics[m].key);
        json_object(w);
        json_key(w, "form");
        scaling_put_form(&text, s, f, true);
        if (f->terms)
            json_cstr(w, sbuf_cstr(&text));
        else
            json_null(w);
        sbuf_free(&text);
        key_bool(w, "exact", f->exact);
        key_u64(w, "checked", f->n_checked);
        key_f64(w, "error_percent", f->error_percent);
        json_key(w, "between_multiples");
        json_flat_object(w);
        key_u64(w, "checked", f->n_between);
        key_f64(w, "error_percent", f->between_percent);
        json_end(w);
        put_exponents(w, s, f);
        put_terms(w, s, f);
        json_end(w);
    }
    json_end(w);
}

static void put_answers(json_writer *w, const scaling *s)
{
    static const char *const outcomes[] = {
        [SCALING_FOUND] = "found", [SCALING_NONE] = "none", [SCALING_ALWAYS] = "always"};
    json_key(w, "answers");
    json_array(w);
    for (uint32_t i = 0; i < s->n_answers; i++) {
        const scaling_answer *a = &s->answers[i];
        const scaling_question *q = &s->questions[a->question];
        const scaling_axis *x = &s->axes[a->axis];
        json_flat_object(w);
        key_str(w, "question", q->text);
        key_cstr(w, "metric", scaling_metrics[q->metric].key);
        key_u64(w, "limit", q->limit);
        key_str(w, "axis", x->name);
        put_sizes(w, s, a->at, a->axis);
        key_cstr(w, "outcome", outcomes[a->outcome]);
        json_key(w, "value");
        if (a->outcome == SCALING_FOUND)
            put_value(w, x, a->at[a->axis]);
        else
            json_null(w);
        json_key(w, "tried");
        put_value(w, x, a->at[a->axis]);
        key_u64(w, "figure", a->figure);
        json_key(w, "next");
        if (a->next)
            put_value(w, x, a->next);
        else
            json_null(w);
        json_key(w, "next_figure");
        if (a->next && !a->next_refused.n)
            json_u64(w, a->next_figure);
        else
            json_null(w);
        key_bool(w, "outside_range", a->outside);
        json_end(w);
    }
    json_end(w);
}

void report_scaling_json(const scaling *s, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    json_object(&w);
    key_cstr(&w, "schema", "assay.scaling/1");
    key_str(&w, "model", s->model);
    if (s->precision.n)
        key_str(&w, "precision", s->precision);
    if (s->kv_cache)
        key_cstr(&w, "kv_cache", s->kv_cache);
    key_u64(&w, "evaluations", s->evaluations);
    key_u64(&w, "evaluations_with_assumptions", s->assumed);
    put_axes(&w, s);
    put_points(&w, s);
    put_forms(&w, s);
    put_answers(&w, s);
    json_end(&w);
    sbuf_putc(out, '\n');
}
