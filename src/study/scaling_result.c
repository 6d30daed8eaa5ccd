/* The result of a scaling study: sizes in their own unit, closed forms as text. */
#include <inttypes.h>
#include <math.h>

#include "base/sbuf.h"
#include "study/scaling.h"

static double size_of(const scale_axis *x, int64_t v)
{
    double one = 1;
    for (int i = 0; i < x->decimals; i++)
        one *= 10;
    return (double)v / one;
}

/* ---- axes and the grid ---- */

static bool make_axis(const scale_axis *x, arena *a, scaling_axis *out)
{
    double *values = ARENA_ARRAY(a, double, x->n_values + 1);
    for (uint32_t i = 0; values && i < x->n_values; i++)
        values[i] = size_of(x, x->values[i]);
    *out = (scaling_axis){.name = x->name,
                          .kind = x->kind,
                          .from = size_of(x, x->from),
                          .to = size_of(x, x->to),
                          .granule = x->granule,
                          .accepted = x->accepted,
                          .values = values,
                          .n_values = x->n_values};
    memcpy(out->symbol, x->symbol, sizeof out->symbol);
    return values != NULL;
}

/* Sizes of all axes but one. */
static const scaling_size *make_sizes(const scale_work *s, const int64_t *at, uint32_t without,
                                      uint32_t *n)
{
    scaling_size *sizes = ARENA_ARRAY(s->arena, scaling_size, SCALING_AXES);
    *n = 0;
    for (uint32_t k = 0; sizes && k < s->n_axes; k++)
        if (k != without)
            sizes[(*n)++] = (scaling_size){s->axes[k].name, size_of(&s->axes[k], at[k])};
    return sizes;
}

static bool make_point(const scale_work *s, const scale_point *p, scaling_point *out)
{
    out->sizes = make_sizes(s, p->at, SCALING_AXES, &out->n_sizes);
    out->refused = p->refused;
    for (int m = 0; m < SCALING_METRICS; m++)
        out->figures[m] = s->metrics[m] && !p->refused.n ? p->figures.v[m] : FIELD_UNKNOWN;
    return out->sizes != NULL;
}

/* ---- closed forms ---- */

static bool has_variable(const scale_term *t)
{
    for (int k = 0; k < SCALING_AXES; k++)
        if (t->powers[k])
            return true;
    return false;
}

static void put_variables(sbuf *b, const scale_work *s, const scale_term *t, bool first)
{
    for (uint32_t k = 0; k < s->n_axes; k++) {
        if (!t->powers[k])
            continue;
        sbuf_printf(b, "%s%s", first ? "" : "*", s->axes[k].symbol);
        if (t->powers[k] > 1)
            sbuf_printf(b, "^%d", t->powers[k]);
        first = false;
    }
}

static void put_coefficient(sbuf *b, const scale_term *t, bool exact)
{
    uint64_t size = (uint64_t)(t->numerator < 0 ? -t->numerator : t->numerator);
    if (!exact)
        sbuf_printf(b, "%.4g", fabs(t->value));
    else
        sbuf_printf(b, "%" PRIu64, size);
    if (exact && t->denominator != 1)
        sbuf_printf(b, "/%" PRId64, t->denominator);
}

static void put_term(sbuf *b, const scale_work *s, const scale_term *t, bool exact)
{
    bool one = exact && t->denominator == 1 && (t->numerator == 1 || t->numerator == -1) &&
               has_variable(t);
    if (!one)
        put_coefficient(b, t, exact);
    put_variables(b, s, t, one);
}

static void put_form(sbuf *b, const scale_work *s, const scale_fit *f)
{
    if (f->n_terms == 0)
        sbuf_puts(b, f->exact ? "0" : "–");
    for (uint32_t i = 0; i < f->n_terms; i++) {
        bool negative = f->terms[i].value < 0;
        if (i)
            sbuf_printf(b, " %s ", negative ? "-" : "+");
        else if (negative)
            sbuf_putc(b, '-');
        put_term(b, s, &f->terms[i], f->exact);
    }
}

static str form_text(const scale_work *s, const scale_fit *f)
{
    sbuf b = {0};
    put_form(&b, s, f);
    str text = str_copy(s->arena, str_of(sbuf_cstr(&b)));
    sbuf_free(&b);
    return text;
}

static bool make_term(const scale_work *s, const scale_term *t, bool exact, scaling_term *out)
{
    scaling_power *powers = ARENA_ARRAY(s->arena, scaling_power, SCALING_AXES);
    for (uint32_t k = 0; powers && k < s->n_axes; k++)
        powers[k] = (scaling_power){s->axes[k].name, t->powers[k]};
    *out = (scaling_term){.coefficient = t->value,
                          .numerator = exact ? t->numerator : INT64_MIN,
                          .denominator = exact ? t->denominator : INT64_MIN,
                          .powers = powers,
                          .n_powers = s->n_axes};
    return powers != NULL;
}

static bool make_form(const scale_work *s, int metric, scaling_form *out)
{
    const scale_fit *f = &s->fits[metric];
    scaling_exponent *exponents = ARENA_ARRAY(s->arena, scaling_exponent, SCALING_AXES);
    scaling_term *terms = ARENA_ARRAY(s->arena, scaling_term, f->n_terms + 1);
    bool ok = exponents && terms;
    for (uint32_t k = 0; ok && k < s->n_axes; k++)
        exponents[k] = (scaling_exponent){s->axes[k].name, f->exponent[k], f->exponent_first[k],
                                          f->exponent_last[k]};
    for (uint32_t i = 0; ok && i < f->n_terms; i++)
        ok = make_term(s, &f->terms[i], f->exact, &terms[i]);
    *out = (scaling_form){.metric = str_of(scaling_metrics[metric].key),
                          .title = str_of(scaling_metrics[metric].title),
                          .form = f->terms ? form_text(s, f) : (str){0},
                          .exact = f->exact,
                          .checked = f->n_checked,
                          .error_percent = f->error_percent,
                          .between = {f->n_between, f->between_percent},
                          .exponents = exponents,
                          .n_exponents = s->n_axes,
                          .terms = terms,
                          .n_terms = f->n_terms};
    return ok;
}

/* ---- answers ---- */

static bool make_answer(const scale_work *s, const scale_answer *a, scaling_answer *out)
{
    const scaling_question *q = &s->questions[a->question];
    const scale_axis *x = &s->axes[a->axis];
    bool refused = a->next_refused.n || !a->next;
    double tried = size_of(x, a->at[a->axis]);
    *out = (scaling_answer){.question = q->text,
                            .metric = scaling_metrics[q->metric].key,
                            .unit = scaling_metrics[q->metric].bytes ? "bytes" : "count",
                            .limit = q->limit,
                            .axis = x->name,
                            .outcome = a->outcome,
                            .value = a->outcome == SCALING_FOUND ? tried : NAN,
                            .tried = tried,
                            .figure = a->figure,
                            .next = a->next ? size_of(x, a->next) : NAN,
                            .next_figure = refused ? FIELD_UNKNOWN : a->next_figure,
                            .outside = a->outside};
    out->sizes = make_sizes(s, a->at, a->axis, &out->n_sizes);
    return out->sizes != NULL;
}

/* ---- all ---- */

bool scaling_result(const scale_work *s, scaling *out)
{
    scaling_axis *axes = ARENA_ARRAY(s->arena, scaling_axis, s->n_axes + 1);
    scaling_point *points = ARENA_ARRAY(s->arena, scaling_point, s->n_points + 1);
    scaling_form *forms = ARENA_ARRAY(s->arena, scaling_form, SCALING_METRICS);
    scaling_answer *answers = ARENA_ARRAY(s->arena, scaling_answer, s->n_answers + 1);
    bool ok = !arena_failed(s->arena);
    *out = (scaling){.model = s->model,
                     .precision = s->precision,
                     .kv_cache = s->kv_cache,
                     .evaluations = s->evaluations,
                     .assumed = s->assumed,
                     .axes = axes,
                     .n_axes = s->n_axes,
                     .points = points,
                     .n_points = s->n_points,
                     .forms = forms,
                     .answers = answers,
                     .n_answers = s->n_answers};
    for (uint32_t k = 0; ok && k < s->n_axes; k++)
        ok = make_axis(&s->axes[k], s->arena, &axes[k]);
    for (uint32_t i = 0; ok && i < s->n_points; i++)
        ok = make_point(s, &s->points[i], &points[i]);
    for (int m = 0; ok && m < SCALING_METRICS; m++)
        if (s->fits[m].wanted)
            ok = make_form(s, m, &forms[out->n_forms++]);
    for (uint32_t i = 0; ok && i < s->n_answers; i++)
        ok = make_answer(s, &s->answers[i], &answers[i]);
    return ok;
}
