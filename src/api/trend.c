/* Trends and alerts in the public API: requests, sentences and the status. */
#include <assay/history.h>
#include <assert.h>

#include "jobs/trend.h"

#include "api/history.h"
#include "api/result.h"
#include "report/view_units.h"

#define TREND_BYTES ((size_t)256 << 20)
#define ALERTS_MAX  32

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

static assay_status parse_alerts(const assay_trend_request *r, alert parsed[ALERTS_MAX],
                                 assay_error *err)
{
    if (r->n_alerts > ALERTS_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "more than %d alerts", ALERTS_MAX);
    for (size_t i = 0; i < r->n_alerts; i++)
        TRY(alert_parse(str_of(r->alerts[i]), &parsed[i], err));
    return ASSAY_OK;
}

static assay_status make_trend(assay_store *db, const assay_trend_request *r, assay_result *out,
                               assay_error *err)
{
    const assay_record_filter given = {
        .size = sizeof given,
        .model = r->model,
        .tag = r->tag,
        .since = r->since,
        .limit = r->limit > 0 && r->limit < TREND_POINTS ? r->limit : TREND_POINTS};
    alert parsed[ALERTS_MAX];
    trend_question q = {.store = db->s,
                        .metric = r->metric ? metric_find(str_of(r->metric)) : NULL,
                        .all = r->all,
                        .alerts = parsed,
                        .n_alerts = (uint32_t)r->n_alerts,
                        .why = why_text};
    if (r->metric && !q.metric)
        return option_no_such_metric(str_of(r->metric), err);
    if (!r->model || !*r->model)
        return err_fail(err, ASSAY_ERR_USAGE, "no model. Name the model of the trend.");
    TRY(api_record_filter(db, &given, &q.filter, err));
    TRY(parse_alerts(r, parsed, err));
    return job_trend(&q, out->arena, out->data, err);
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
    assay_result *made = handle_new(&trend_kind, TREND_BYTES);
    assay_status s = made ? make_trend(db, &r, made, err) : err_no_memory(err);
    TRY(api_hand_result(s, made, out, err));
    assert(made);
    return verdict_of(made->data, err);
}
