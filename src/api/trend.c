/* Trends and alerts in the public API: the series comes from store/, the analysis from study/. */
#include <assay/history.h>
#include <assert.h>

#include "base/text.h"
#include "study/trend.h"

#include "api/history.h"
#include "api/result.h"
#include "report/view_units.h"

#define TREND_BYTES ((size_t)256 << 20)
#define ALERTS_MAX  32

/* ---- sentences ---- */

/* Nothing was found: is it the model, the filter or the metric? */
static assay_status explain_none(assay_store *db, const store_filter *f, const metric_row *m,
                                 arena *a, assay_error *err)
{
    const store_filter any = {.model = f->model, .limit = 1};
    history_list records = {0}, of_model = {0};
    history_models models = {0};
    const char *names[64];
    uint32_t n = 0;
    TRY(store_list(db->s, f, a, &records, err));
    TRY(store_list(db->s, &any, a, &of_model, err));
    TRY(store_models(db->s, a, &models, err));
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

/* "61.2 ms is above 50 ms, from the 22 records before it." */
static str why_text(const alert *q, const history_alert *x, arena *a)
{
    static const char *const words[] = {[ALERT_GT] = "above",
                                        [ALERT_GE] = "at least",
                                        [ALERT_LT] = "below",
                                        [ALERT_LE] = "at most"};
    const str unit = str_of(metric_unit_words[q->metric->unit]);
    sbuf b = {0};
    view_put_number(&b, x->value, unit);
    sbuf_printf(&b, " is%s %s ", x->verdict == ALERT_FIRED ? "" : " not", words[q->op]);
    view_put_number(&b, x->limit, unit);
    if (q->fn)
        sbuf_printf(&b, ", from the %u record%s before it", x->window_records,
                    x->window_records == 1 ? "" : "s");
    sbuf_putc(&b, '.');
    str out = b.failed ? (str){"", 0} : str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

/* ---- the work ---- */

static assay_status judge_one(assay_store *db, const store_filter *f, const alert *q, bool all,
                              arena *a, history_alert *out, assay_error *err)
{
    history_trend series;
    TRY(store_series(db->s, f, q->metric, all, a, &series, err));
    TRY(alert_judge(q, &series, a, out, err));
    if (out->verdict != ALERT_INCONCLUSIVE)
        out->why = why_text(q, out, a);
    return ASSAY_OK;
}

static assay_status judge_all(assay_store *db, const store_filter *f, const assay_trend_request *r,
                              arena *a, history_trend *t, assay_error *err)
{
    alert parsed[ALERTS_MAX];
    if (r->n_alerts > ALERTS_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "more than %d alerts", ALERTS_MAX);
    for (size_t i = 0; i < r->n_alerts; i++)
        TRY(alert_parse(str_of(r->alerts[i]), &parsed[i], err));
    history_alert *alerts = ARENA_ARRAY(a, history_alert, r->n_alerts + 1);
    if (!alerts)
        return err_no_memory(err);
    for (size_t i = 0; i < r->n_alerts; i++)
        TRY(judge_one(db, f, &parsed[i], r->all, a, &alerts[i], err));
    t->alerts = alerts;
    t->n_alerts = (uint32_t)r->n_alerts;
    return ASSAY_OK;
}

/* The metric that was requested; else the median, and of what has none (a pipeline, a watched process, a machine) the
 * first of these that it holds; of what was never measured, its counts. */
static assay_status read_series(assay_store *db, const store_filter *f, const metric_row *asked,
                                bool all, assay_result *of, assay_error *err)
{
    static const char *const usual[] = {"p50",  "latency", "memory", "flops-per-second",
                                        "macs", "params"};
    history_trend *t = of->data;
    if (asked)
        return store_series(db->s, f, asked, all, of->arena, t, err);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !t->n; i++)
        TRY(store_series(db->s, f, metric_find(str_of(usual[i])), all, of->arena, t, err));
    return ASSAY_OK;
}

static assay_status fill_trend(assay_store *db, const assay_trend_request *r, assay_result *out,
                               assay_error *err)
{
    const assay_record_filter given = {
        .size = sizeof given,
        .model = r->model,
        .tag = r->tag,
        .since = r->since,
        .limit = r->limit > 0 && r->limit < TREND_POINTS ? r->limit : TREND_POINTS};
    const metric_row *m = r->metric ? metric_find(str_of(r->metric)) : NULL;
    store_filter f;
    history_trend alerts = {0}, *t = out->data;
    if (r->metric && !m)
        return api_no_such_metric(str_of(r->metric), err);
    if (!r->model || !*r->model)
        return err_fail(err, ASSAY_ERR_USAGE, "no model. Name the model of the trend.");
    TRY(api_record_filter(db, &given, &f, err));
    /* Expressions are read before anything else: a slip in one is not hidden by an empty history. */
    TRY(judge_all(db, &f, r, out->arena, &alerts, err));
    TRY(read_series(db, &f, m, r->all, out, err));
    assert(!r->n_alerts || alerts.alerts);
    if (!t->n && !(r->n_alerts && alerts.alerts[0].verdict != ALERT_INCONCLUSIVE))
        return explain_none(db, &f, m ? m : metric_find(STR("p50")), out->arena, err);
    t->alerts = alerts.alerts;
    t->n_alerts = alerts.n_alerts;
    return trend_analyze(t, out->arena, err);
}

/* Alerts and series are of the same records. */
static assay_status make_trend(assay_store *db, const assay_trend_request *r, assay_result *out,
                               assay_error *err)
{
    TRY(store_read_begin(db->s, err));
    return store_read_end(db->s, fill_trend(db, r, out, err), err);
}

static assay_status verdict_of(const history_trend *t, assay_error *err)
{
    bool blind = false;
    for (uint32_t i = 0; i < t->n_alerts; i++) {
        if (t->alerts[i].verdict == ALERT_FIRED)
            return err_fail(err, ASSAY_ERR_THRESHOLD, "alert fired: " STR_FMT "",
                            STR_ARG(t->alerts[i].expression));
        blind = blind || t->alerts[i].verdict == ALERT_INCONCLUSIVE;
    }
    return blind ? err_fail(err, ASSAY_ERR_INCONCLUSIVE, "an alert is inconclusive") : ASSAY_OK;
}

assay_status assay_store_trend(assay_store *db, const assay_trend_request *request,
                               assay_result **out, assay_error *err)
{
    assay_trend_request r;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(TAKE(request, r, err));
    assay_result *made = job_result_new(&trend_kind, TREND_BYTES);
    assay_status s = made ? make_trend(db, &r, made, err) : err_no_memory(err);
    TRY(api_hand_result(s, made, out, err));
    assert(made);
    return verdict_of(made->data, err);
}
