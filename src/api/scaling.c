/* How the cost of a model grows with its sizes, behind the API. */
#include <stdlib.h>

#include "api/document.h"
#include "jobs/scaling.h"

struct assay_scaling {
    arena *arena;
    scaling s;
};

static assay_status judge(const assay_options *o, const scaling *s, assay_error *err)
{
    if (!o->model.strict || !s->assumed)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "Strict: something was assumed or unknown in %llu of %llu evaluations; `assay "
                    "graph` says what.",
                    (unsigned long long)s->assumed, (unsigned long long)s->evaluations);
}

/* ---- the public functions ---- */

assay_status assay_scale(assay_model *model, const assay_options *options, assay_scaling **out,
                         assay_error *err)
{
    assay_options none;
    const assay_options *o = api_options(options, &none);
    err_clear(err);
    *out = NULL;
    if (!o->scaling.ranges.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "scale needs a size to vary: --dim NAME=A..B, for example --dim "
                        "batch=1..64.");
    assay_scaling *result = calloc(1, sizeof *result);
    if (result)
        result->arena = arena_new(JOB_ANALYSIS_BYTES);
    assay_status s = result && result->arena ? job_scale(model, o, result->arena, &result->s, err)
                                             : err_no_memory(err);
    if (s != ASSAY_OK) {
        assay_scaling_free(result);
        return s;
    }
    *out = result;
    return judge(o, &result->s, err);
}

void assay_scaling_free(assay_scaling *of)
{
    if (!of)
        return;
    arena_free(of->arena);
    free(of);
}

void assay_scaling_totals(const assay_scaling *of, assay_scaling_info *out)
{
    const scaling *s = &of->s;
    assay_scaling_info x = {.model = s->model.p ? s->model.p : "",
                            .n_axes = s->n_axes,
                            .n_points = s->n_points,
                            .n_answers = s->n_answers,
                            .evaluations = s->evaluations};
    for (uint32_t i = 0; i < s->n_points; i++)
        x.n_refused += s->points[i].refused.n > 0;
    HAND_OUT(out, x);
}

bool assay_scaling_axis(const assay_scaling *of, size_t index, assay_axis *out)
{
    if (index >= of->s.n_axes)
        return false;
    const scaling_axis *a = &of->s.axes[index];
    const assay_axis x = {.name = a->name.p,
                          .kind = a->kind,
                          .symbol = a->symbol,
                          .from = a->from,
                          .to = a->to,
                          .n_values = a->n_values,
                          .granule = a->granule,
                          .accepted = a->accepted};
    HAND_OUT(out, x);
    return true;
}

static uint64_t or_zero(uint64_t v)
{
    return v == FIELD_UNKNOWN ? 0 : v;
}

bool assay_scaling_point(const assay_scaling *of, size_t index, assay_point *out)
{
    if (index >= of->s.n_points)
        return false;
    const scaling_point *p = &of->s.points[index];
    assay_point x = {.refused = p->refused.n ? p->refused.p : "",
                     .macs = or_zero(p->figures[SCALING_MACS]),
                     .flops = or_zero(p->figures[SCALING_FLOPS]),
                     .traffic_bytes = or_zero(p->figures[SCALING_TRAFFIC]),
                     .parameters = or_zero(p->figures[SCALING_PARAMETERS]),
                     .activations_peak_bytes = or_zero(p->figures[SCALING_ACTIVATIONS]),
                     .peak_bytes = or_zero(p->figures[SCALING_PEAK]),
                     .training_bytes = or_zero(p->figures[SCALING_TRAINING])};
    for (uint32_t k = 0; k < p->n_sizes; k++)
        x.at[k] = p->sizes[k].size;
    HAND_OUT(out, x);
    return true;
}

static const scaling_form *form_of(const assay_scaling *of, const char *metric)
{
    for (uint32_t i = 0; i < of->s.n_forms; i++)
        if (str_is(of->s.forms[i].metric, metric))
            return &of->s.forms[i];
    return NULL;
}

bool assay_scaling_form(const assay_scaling *of, const char *metric, assay_form *out)
{
    const scaling_form *f = form_of(of, metric);
    if (!f)
        return false;
    assay_form x = {.exact = f->exact,
                    .n_terms = f->n_terms,
                    .error_percent = f->error_percent,
                    .checked = f->checked};
    for (uint32_t k = 0; k < f->n_exponents; k++)
        x.exponent[k] = f->exponents[k].fitted;
    HAND_OUT(out, x);
    return true;
}

bool assay_scaling_term(const assay_scaling *of, const char *metric, size_t index, assay_term *out)
{
    const scaling_form *f = form_of(of, metric);
    if (!f || index >= f->n_terms)
        return false;
    const scaling_term *t = &f->terms[index];
    assay_term x = {.numerator = f->exact ? t->numerator : 0,
                    .denominator = f->exact ? t->denominator : 0,
                    .value = t->coefficient};
    for (uint32_t k = 0; k < t->n_powers; k++)
        x.powers[k] = (uint8_t)t->powers[k].power;
    HAND_OUT(out, x);
    return true;
}

/* The sizes of an answer are those of the other axes. */
static void place_answer(const scaling *s, const scaling_answer *a, assay_answer *x)
{
    for (uint32_t k = 0, other = 0; k < s->n_axes; k++)
        if (str_eq(s->axes[k].name, a->axis)) {
            x->axis = k;
            x->at[k] = a->tried;
        } else {
            x->at[k] = a->sizes[other++].size;
        }
}

bool assay_scaling_answer(const assay_scaling *of, size_t index, assay_answer *out)
{
    if (index >= of->s.n_answers)
        return false;
    const scaling_answer *a = &of->s.answers[index];
    assay_answer x = {.question = a->question.p,
                      .outcome = scaling_outcome_words[a->outcome],
                      .figure = a->figure,
                      .next = isnan(a->next) ? 0 : a->next,
                      .next_figure = or_zero(a->next_figure)};
    place_answer(&of->s, a, &x);
    HAND_OUT(out, x);
    return true;
}

static assay_status write_scaling(const void *of, str format, const report_options *o, sbuf *out,
                                  assay_error *err)
{
    return report_result(&scaling_kind, of, format, o, out, err);
}

assay_status assay_scaling_report(const assay_scaling *of, const char *format,
                                  const assay_options *options, char **out, size_t *n,
                                  assay_error *err)
{
    const api_document d = {.of = &of->s, .write = write_scaling};
    return api_document_report(&d, format, options, out, n, err);
}
