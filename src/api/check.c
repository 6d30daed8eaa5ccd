/* assay_check(): limits and metrics of the options, and the verdicts. */
#include <assay/study.h>
#include <assert.h>

#include <stdlib.h>

#include "api/result.h"
#include "measure/judge.h"
#include "study/explain.h"

bool assay_options_limits(const assay_options *options)
{
    return options->check.limits.n > 0;
}

bool assay_options_measured(const assay_options *options, const assay_result *baseline)
{
    for (uint32_t i = 0; i < options->check.limits.n; i++)
        if (options->check.limits.items[i].metric->measured)
            return true;
    for (uint32_t i = 0; i < options->check.metrics.n; i++)
        if (options->check.metrics.items[i]->measured)
            return true;
    return baseline && baseline->p && !options->check.metrics.n &&
           profile_smallest(baseline->p) != NULL;
}

/* Counts are of the batch that the inputs have: 0 when they are as the model has them. */
static int64_t analysed_batch(const profile *p, const profile_config *c)
{
    for (uint32_t i = 0; c->batch > 1 && i < p->n_inputs; i++) {
        int64_t axis = profile_input_batch(p, i);
        if (axis >= 0)
            return p->inputs[i].shape.dims[axis] == (int64_t)c->batch ? (int64_t)c->batch : 0;
    }
    return 0;
}

static assay_status follow_config(assay_options *o, const profile *p, const profile_config *c,
                                  assay_error *err)
{
    if (o->measure.configs.n || o->measure.batch_sizes.n || o->model.batch || o->model.shapes.n)
        return ASSAY_OK;
    o->model.batch = analysed_batch(p, c);
    job_config *own = VEC_PUSH(o->arena, &o->measure.configs);
    TRY_MEMORY(own, err);
    *own = (job_config){.batch = (int64_t)c->batch, .precision = str_copy(o->arena, c->precision)};
    return own->precision.p ? ASSAY_OK : err_no_memory(err);
}

assay_status assay_options_follow(assay_options *o, const assay_result *baseline, assay_error *err)
{
    api_begin(err);
    TRY(api_need_profile(baseline, "a baseline", err));
    if (!baseline->p)
        return err_fail(err, ASSAY_ERR_USAGE, "the baseline is %s, and what is checked is a model",
                        baseline->kind->what);
    TRY(judge_baseline_has(baseline->p, o->check.metrics.items, o->check.metrics.n, err));
    const profile_config *c = profile_smallest(baseline->p);
    const profile_measured *m = baseline->p->measured;
    if (!c)
        return ASSAY_OK;
    o->engine.threads = o->engine.threads ? o->engine.threads : m->engine.threads;
    o->measure.concurrency = o->measure.concurrency > 1 ? o->measure.concurrency
                             : m->concurrency           ? (int64_t)m->concurrency
                                                        : 1;
    o->engine.opt_level = o->engine.opt_level != 99 ? o->engine.opt_level : m->engine.opt_level;
    o->engine.no_spin = o->engine.no_spin || !m->engine.spin;
    return follow_config(o, baseline->p, c, err);
}

/* ---- metrics ---- */

bool assay_metric_at(size_t index, assay_metric_info *out)
{
    if (index >= metric_table_n)
        return false;
    const metric_row *m = &metric_table[index];
    const assay_metric_info info = {.name = m->name,
                                    .title = m->title,
                                    .aliases = m->aliases ? m->aliases : "",
                                    .unit = metric_unit_words[m->unit],
                                    .example = metric_example(m->unit),
                                    .more_is_better = m->more_is_better,
                                    .measured = m->measured};
    return HAND_OUT(out, info);
}

bool assay_result_metric(const assay_result *of, const char *metric, double *out)
{
    const metric_row *m = api_profile_of(of) ? metric_find(str_of(metric)) : NULL;
    metric_value v;
    if (!m || !m->get(api_profile_of(of), &v))
        return false;
    *out = v.v;
    return true;
}

/* ---- judging ---- */

static assay_status status_of(const verdicts *v, assay_error *err)
{
    switch (v->overall) {
    case VERDICT_MISSED:
        return err_fail(err, ASSAY_ERR_THRESHOLD, "a threshold was missed");
    case VERDICT_REGRESSION:
        return err_fail(err, ASSAY_ERR_THRESHOLD, "worse than the baseline");
    case VERDICT_INCONCLUSIVE:
        return err_fail(err, ASSAY_ERR_INCONCLUSIVE, "inconclusive: %s",
                        v->busy.n ? "machine too busy" : "the runs do not decide");
    default:
        return ASSAY_OK;
    }
}

/* A file may be valid and say nothing: against that everything would pass. */
static assay_status holds_something(const profile *p, const char *which, assay_error *err)
{
    if (p->n_layers || p->total_parameters || p->measured || p->watch || p->inventory.present)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "the %s has no layers and no measurements, so there is nothing to check",
                    which);
}

/* The verdicts outlive the profiles. */
static assay_status judge_result(const judge_request *q, assay_result *out, assay_error *err)
{
    verdicts *v = out->data;
    TRY(judge_profile(q, out->arena, v, err));
    if (q->base)
        TRY(explain_change(q->base, q->now, out->arena, v, err));
    v->model = str_copy(out->arena, v->model);
    v->baseline = str_copy(out->arena, v->baseline);
    v->timestamp = str_copy(out->arena, v->timestamp);
    v->baseline_timestamp = str_copy(out->arena, v->baseline_timestamp);
    return arena_failed(out->arena) ? err_no_memory(err) : ASSAY_OK;
}

assay_status assay_check(const assay_result *of, const assay_result *baseline,
                         const char *baseline_name, const assay_options *options,
                         assay_result **out, assay_error *err)
{
    const assay_options none = options_default();
    const assay_options *o = options ? options : &none;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(api_need_profile(of, "a check", err));
    TRY(holds_something(api_profile_of(of), "result", err));
    if (baseline) {
        TRY(api_need_profile(baseline, "a baseline", err));
        TRY(holds_something(api_profile_of(baseline), "baseline", err));
    }
    api_describe_host(of);
    const judge_request q = {.now = api_profile_of(of),
                             .base = baseline ? api_profile_of(baseline) : NULL,
                             .base_name = str_of(baseline && baseline_name ? baseline_name : ""),
                             .limits = o->check.limits.items,
                             .n_limits = o->check.limits.n,
                             .metrics = o->check.metrics.n ? o->check.metrics.items : NULL,
                             .n_metrics = o->check.metrics.n,
                             .tolerance = o->check.tolerance / 100,
                             .tolerances = o->check.tolerances.items,
                             .n_tolerances = o->check.tolerances.n};
    assay_result *r = handle_new(&check_kind, JOB_ANALYSIS_BYTES);
    assay_status s = r ? judge_result(&q, r, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    assert(r);
    return status_of(r->data, err);
}
