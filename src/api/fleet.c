/* Questions to the history of a fleet in the public API; jobs/fleet.h answers them. */
#include "jobs/fleet.h"

#include "api/history.h"
#include "api/result.h"
#include "options/rows.h"

#define FLEET_BYTES ((size_t)512 << 20)
enum { MACHINE_RECORDS = 2000 };

/* The request with its struct completed, and the records that it is about, at most `most`. */
static assay_status take_request(const assay_store *db, const assay_fleet_request *given,
                                 int64_t most, assay_fleet_request *q, store_filter *records,
                                 assay_error *err)
{
    TRY(TAKE(given, *q, err));
    const assay_record_filter f = {.size = sizeof f,
                                   .model = q->model,
                                   .machine = q->machine,
                                   .tag = q->tag,
                                   .since = q->since,
                                   .limit = q->limit > 0 && q->limit < most ? q->limit : most};
    return api_record_filter(db, &f, records, err);
}

static assay_status take_changes(const assay_fleet_request *q, fleet_change_question *out,
                                 assay_error *err)
{
    const int by = option_choice("model|machine|version", str_of(q->by ? q->by : "model"));
    out->metric = metric_find(str_of(q->metric ? q->metric : "p50"));
    if (!out->metric)
        return option_no_such_metric(str_of(q->metric), err);
    if (by < 0)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "changes are grouped by model, machine or version, not '%s'", q->by);
    out->by = (fleet_by)by;
    out->worse_only = q->worse_only;
    out->since_s = out->records.since_s ? out->records.since_s : INT64_MIN;
    out->records.since_s = 0;
    return ASSAY_OK;
}

assay_status assay_store_changes(assay_store *db, const assay_fleet_request *request,
                                 assay_result **out, assay_error *err)
{
    assay_fleet_request q;
    fleet_change_question of = {0};
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(take_request(db, request, FLEET_POINTS, &q, &of.records, err));
    TRY(take_changes(&q, &of, err));
    assay_result *r = handle_new(&changes_kind, FLEET_BYTES);
    assay_status s = r ? fleet_changes_read(db->s, &of, r->arena, r->data, err)
                       : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    const fleet_changes *c = (*out)->data;
    return q.worse_only && c->n_worse
               ? err_fail(err, ASSAY_ERR_THRESHOLD, "%u change%s for the worse in %u series",
                          c->n_worse, c->n_worse == 1 ? "" : "s", c->series)
               : ASSAY_OK;
}

assay_status assay_store_drift(assay_store *db, const assay_fleet_request *request,
                               assay_result **out, assay_error *err)
{
    assay_fleet_request q;
    store_filter records;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(take_request(db, request, MACHINE_RECORDS, &q, &records, err));
    records.model = STR("machine");
    assay_result *r = handle_new(&drift_kind, FLEET_BYTES);
    assay_status s = r ? fleet_drift_read(db->s, &records, r->arena, r->data, err)
                       : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

assay_status assay_store_cheapest(assay_store *db, const assay_fleet_request *request,
                                  assay_result **out, assay_error *err)
{
    assay_fleet_request q;
    fleet_cost_question of = {0};
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(take_request(db, request, FLEET_POINTS, &q, &of.records, err));
    if (!q.model || !*q.model)
        return err_fail(err, ASSAY_ERR_USAGE, "no model. Name the model that is to be served.");
    of.latency = q.latency;
    of.prices = q.prices;
    of.n_prices = q.n_prices;
    assay_result *r = handle_new(&cheapest_kind, FLEET_BYTES);
    assay_status s = r ? fleet_cheapest_read(db->s, &of, r->arena, r->data, err)
                       : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    const fleet_cheapest *c = (*out)->data;
    return c->n && c->classes[0].meets
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_THRESHOLD, "no class of machines meets the latency");
}
