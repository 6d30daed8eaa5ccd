/* How the cost of a model grows with its sizes, behind the API. */
#include "jobs/scaling.h"
#include "api/result.h"
#include "profile/scaling.h"

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

assay_status assay_scale(assay_model *model, const assay_options *options, assay_result **out,
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
    assay_result *r = job_result_new(&scaling_kind, JOB_ANALYSIS_BYTES);
    assay_status s = r ? job_scale(model, o, r->arena, r->data, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out));
    return judge(o, r->data, err);
}

static const scaling *scaling_of(const assay_result *of)
{
    return of->data;
}

void assay_scaling_totals(const assay_result *of, assay_scaling_info *out)
{
    const scaling *s = of->data;
    assay_scaling_info x = {.model = s->model.p ? s->model.p : "",
                            .n_axes = s->n_axes,
                            .n_points = s->n_points,
                            .n_answers = s->n_answers,
                            .evaluations = s->evaluations};
    for (uint32_t i = 0; i < s->n_points; i++)
        x.n_refused += s->points[i].refused.n > 0;
    HAND_OUT(out, x);
}

bool assay_scaling_axis(const assay_result *of, size_t index, assay_axis *out)
{
    if (index >= scaling_of(of)->n_axes)
        return false;
    const scaling_axis *a = &scaling_of(of)->axes[index];
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

bool assay_scaling_point(const assay_result *of, size_t index, assay_point *out)
{
    if (index >= scaling_of(of)->n_points)
        return false;
    const scaling_point *p = &scaling_of(of)->points[index];
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

static const scaling_form *form_of(const assay_result *of, const char *metric)
{
    for (uint32_t i = 0; i < scaling_of(of)->n_forms; i++)
        if (str_is(scaling_of(of)->forms[i].metric, metric))
            return &scaling_of(of)->forms[i];
    return NULL;
}

bool assay_scaling_form(const assay_result *of, const char *metric, assay_form *out)
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

bool assay_scaling_term(const assay_result *of, const char *metric, size_t index, assay_term *out)
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

bool assay_scaling_answer(const assay_result *of, size_t index, assay_answer *out)
{
    if (index >= scaling_of(of)->n_answers)
        return false;
    const scaling_answer *a = &scaling_of(of)->answers[index];
    assay_answer x = {.question = a->question.p,
                      .outcome = scaling_outcome_words[a->outcome],
                      .figure = a->figure,
                      .next = isnan(a->next) ? 0 : a->next,
                      .next_figure = or_zero(a->next_figure)};
    place_answer(scaling_of(of), a, &x);
    HAND_OUT(out, x);
    return true;
}
