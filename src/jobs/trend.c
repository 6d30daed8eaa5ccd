/* Trends: the series comes from store/, the analysis from study/. */
#include "jobs/trend.h"

#include <assert.h>

#include "base/text.h"

/* Nothing was found: is it the model, the filter or the metric? */
static assay_status explain_none(const trend_question *q, arena *a, assay_error *err)
{
    const metric_row *m = q->metric ? q->metric : metric_find(STR("p50"));
    const store_filter *f = &q->filter;
    const store_filter any = {.model = f->model, .limit = 1};
    history_list records = {0}, of_model = {0};
    history_models models = {0};
    const char *names[64];
    uint32_t n = 0;
    TRY(store_list(q->store, f, a, &records, err));
    TRY(store_list(q->store, &any, a, &of_model, err));
    TRY(store_models(q->store, a, &models, err));
    if (records.n)
        return err_fail(err, ASSAY_ERR_USAGE, "no record of '" STR_FMT "' in the history has %s%s",
                        STR_ARG(f->model), m->name, m->measured ? " (none was measured)" : "");
    if (of_model.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "no record of '" STR_FMT "' in the history matches the tag or the time",
                        STR_ARG(f->model));
    sbuf hint = {0};
    for (; n < models.n && n < 64; n++)
        names[n] = models.models[n].model.p;
    text_did_you_mean(&hint, f->model, names, n);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "no record of '" STR_FMT "' in the history.%s",
                              STR_ARG(f->model), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

static assay_status judge_alerts(const trend_question *q, arena *a, history_trend *t,
                                 assay_error *err)
{
    history_trend series;
    history_alert *alerts = ARENA_ARRAY(a, history_alert, q->n_alerts + 1);
    TRY_MEMORY(alerts, err);
    for (uint32_t i = 0; i < q->n_alerts; i++) {
        TRY(store_series(q->store, &q->filter, q->alerts[i].metric, q->all, a, &series, err));
        TRY(alert_judge(&q->alerts[i], &series, a, &alerts[i], err));
        if (alerts[i].verdict != ALERT_INCONCLUSIVE)
            alerts[i].why = q->why(&q->alerts[i], &alerts[i], a);
    }
    t->alerts = alerts;
    t->n_alerts = q->n_alerts;
    return ASSAY_OK;
}

/* The metric that was requested; else the median, and of what has none (a pipeline, a watched process, a machine) the
 * first of these that it holds; of what was never measured, its counts. */
static assay_status read_series(const trend_question *q, arena *a, history_trend *t,
                                assay_error *err)
{
    static const char *const usual[] = {"p50",  "latency", "memory", "flops-per-second",
                                        "macs", "params"};
    if (q->metric)
        return store_series(q->store, &q->filter, q->metric, q->all, a, t, err);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !t->n; i++)
        TRY(store_series(q->store, &q->filter, metric_find(str_of(usual[i])), q->all, a, t, err));
    return ASSAY_OK;
}

static assay_status fill_trend(const trend_question *q, arena *a, history_trend *t,
                               assay_error *err)
{
    history_trend judged = {0};
    TRY(judge_alerts(q, a, &judged, err));
    TRY(read_series(q, a, t, err));
    assert(judged.alerts);
    if (!t->n && !(q->n_alerts && judged.alerts[0].verdict != ALERT_INCONCLUSIVE))
        return explain_none(q, a, err);
    t->alerts = judged.alerts;
    t->n_alerts = judged.n_alerts;
    return trend_analyze(t, a, err);
}

assay_status job_trend(const trend_question *q, arena *a, history_trend *out, assay_error *err)
{
    TRY(store_read_begin(q->store, err));
    return store_read_end(q->store, fill_trend(q, a, out, err), err);
}
