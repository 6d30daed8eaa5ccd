/* Questions to the history of a fleet in the public API: figures come from store/, answers from study/fleet.h. */
#include <stdlib.h>

#include "api/history.h"
#include "api/options.h"
#include "api/result.h"
#include "base/vec.h"
#include "device/machine.h"
#include "study/fleet.h"

#define FLEET_BYTES ((size_t)512 << 20)
enum { PRICES_MOST = 64, MACHINE_RECORDS = 2000 };

static assay_status filter_of(const assay_store *db, const assay_fleet_request *q,
                              store_filter *out, assay_error *err)
{
    const assay_record_filter f = {.size = sizeof f,
                                   .model = q->model,
                                   .machine = q->machine,
                                   .tag = q->tag,
                                   .limit = q->limit > 0 ? q->limit : FLEET_POINTS};
    return api_record_filter(db, &f, out, err);
}

/* ---- what changed ---- */

static assay_status by_of(const char *text, fleet_by *out, assay_error *err)
{
    int at = option_choice("model|machine|version", str_of(text ? text : "model"));
    if (at < 0)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "changes are grouped by model, machine or version, not '%s'", text);
    *out = (fleet_by)at;
    return ASSAY_OK;
}

static assay_status fill_changes(assay_store *db, const assay_fleet_request *q, assay_result *r,
                                 assay_error *err)
{
    const metric_row *m = metric_find(str_of(q->metric ? q->metric : "p50"));
    fleet_points points;
    store_filter f, since;
    fleet_by by = FLEET_BY_MODEL;
    if (!m)
        return api_no_such_metric(str_of(q->metric), err);
    TRY(by_of(q->by, &by, err));
    TRY(filter_of(db, q, &f, err));
    /* Earlier records tell the level before. */
    TRY(api_record_filter(
        db, &(const assay_record_filter){.size = sizeof(assay_record_filter), .since = q->since},
        &since, err));
    TRY(store_points(db->s, &f, m, r->arena, &points, err));
    TRY(fleet_find_changes(&points, m, by, since.since_s ? since.since_s : INT64_MIN, r->arena,
                           r->data, err));
    if (q->worse_only)
        fleet_keep_worse(r->data);
    return arena_failed(r->arena) ? err_no_memory(err) : ASSAY_OK;
}

assay_status assay_store_changes(assay_store *db, const assay_fleet_request *request,
                                 assay_result **out, assay_error *err)
{
    assay_fleet_request q;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(TAKE(request, q, err));
    assay_result *r = job_result_new(&changes_kind, FLEET_BYTES);
    assay_status s = r ? fill_changes(db, &q, r, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    const fleet_changes *c = (*out)->data;
    return q.worse_only && c->n_worse
               ? err_fail(err, ASSAY_ERR_THRESHOLD, "%u change%s for the worse in %u series",
                          c->n_worse, c->n_worse == 1 ? "" : "s", c->series)
               : ASSAY_OK;
}

/* ---- drift ---- */

typedef VEC(fleet_ceiling) ceilings;

static bool add_ceiling(ceilings *list, const history_record *r, str name, const char *unit,
                        double value, arena *a)
{
    return !(value > 0) || VEC_ADD(a, list,
                                   (fleet_ceiling){.machine = r->machine.n ? r->machine : r->host,
                                                   .name = name,
                                                   .unit = str_of(unit),
                                                   .created_s = r->created_s,
                                                   .value = value});
}

/* Peaks of every type and bandwidths of every level, with the most threads, and the engine's overhead. */
static bool add_machine(ceilings *list, const history_record *r, const machine *m, arena *a)
{
    bool good = true;
    unsigned most = 0;
    for (uint32_t i = 0; i < m->n_rates; i++)
        most = m->rates[i].threads > most ? m->rates[i].threads : most;
    for (uint32_t i = 0; i < m->n_rates; i++)
        if (m->rates[i].threads == most)
            good = good &&
                   add_ceiling(list, r, str_printf(a, "%s, %s", m->rates[i].dtype, m->rates[i].isa),
                               "FLOP/s", m->rates[i].ops.value, a);
    for (uint32_t i = 0; i < m->n_flows; i++)
        if (m->flows[i].threads == most)
            good = good &&
                   add_ceiling(list, r, str_printf(a, "%s %s", m->flows[i].level, m->flows[i].kind),
                               "B/s", m->flows[i].bytes.value, a);
    if (m->dispatch.present && m->dispatch.seconds.value > 0)
        good = good && add_ceiling(list, r, STR("kernels of the engine"), "1/s",
                                   1 / m->dispatch.seconds.value, a);
    return good;
}

static assay_status read_machine(assay_store *db, const history_record *r, ceilings *list, arena *a,
                                 assay_error *err)
{
    assay_result *m = NULL;
    TRY(assay_store_get(db, r->id, "machine", &m, err));
    bool good = add_machine(list, r, m->data, a);
    assay_result_free(m);
    return good ? ASSAY_OK : err_no_memory(err);
}

static assay_status fill_drift(assay_store *db, const assay_fleet_request *q, assay_result *r,
                               assay_error *err)
{
    const assay_record_filter f = {
        .size = sizeof f,
        .model = "machine",
        .machine = q->machine,
        .tag = q->tag,
        .since = q->since,
        .limit = q->limit > 0 && q->limit < MACHINE_RECORDS ? q->limit : MACHINE_RECORDS};
    store_filter filter;
    history_list records = {0};
    ceilings list = {0};
    TRY(api_record_filter(db, &f, &filter, err));
    TRY(store_list(db->s, &filter, r->arena, &records, err));
    for (uint32_t i = 0; i < records.n; i++)
        if (str_is(records.records[i].kind, "machine"))
            TRY(read_machine(db, &records.records[i], &list, r->arena, err));
    return fleet_find_drift(list.items, list.n, r->arena, r->data, err);
}

assay_status assay_store_drift(assay_store *db, const assay_fleet_request *request,
                               assay_result **out, assay_error *err)
{
    assay_fleet_request q;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(TAKE(request, q, err));
    assay_result *r = job_result_new(&drift_kind, FLEET_BYTES);
    assay_status s = r ? fill_drift(db, &q, r, err) : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

/* ---- the cheapest ---- */

static assay_status read_prices(const assay_fleet_request *q, fleet_price *prices, assay_error *err)
{
    if (q->n_prices > PRICES_MOST)
        return err_fail(err, ASSAY_ERR_USAGE, "more than %d prices", PRICES_MOST);
    for (size_t i = 0; i < q->n_prices; i++) {
        str price = str_of(q->prices[i]), name = str_cut(&price, '=');
        if (!name.n || !str_to_f64(price, &prices[i].per_hour) || prices[i].per_hour < 0)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "a price must be CLASS=USD-PER-HOUR such as epyc=0.42, not '%s'",
                            q->prices[i]);
        prices[i].name = name;
    }
    return ASSAY_OK;
}

/* "p99:50ms", "mean:20ms"; a bare time is of P99. */
static assay_status read_limit(const char *text, const metric_row **m, double *limit_ms,
                               assay_error *err)
{
    str limit = str_of(text), name = STR("p99");
    *limit_ms = INFINITY;
    if (text && memchr(limit.p, ':', limit.n))
        name = str_cut(&limit, ':');
    *m = metric_find(name);
    if (*m && (*m)->unit == METRIC_MS &&
        (!text || (metric_parse(METRIC_MS, limit, limit_ms) && *limit_ms > 0)))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "a latency must be such as p99:50ms, p50:5ms or mean:20ms, not '%s'", text);
}

static assay_status fill_cheapest(assay_store *db, const assay_fleet_request *q, assay_result *r,
                                  assay_error *err)
{
    fleet_price prices[PRICES_MOST];
    fleet_cheapest *out = r->data;
    const metric_row *m;
    fleet_points latency, throughput;
    store_filter f;
    TRY(read_prices(q, prices, err));
    TRY(read_limit(q->latency, &m, &out->limit_ms, err));
    TRY(filter_of(db, q, &f, err));
    TRY(api_record_filter(db,
                          &(const assay_record_filter){.size = sizeof(assay_record_filter),
                                                       .model = q->model,
                                                       .machine = q->machine,
                                                       .tag = q->tag,
                                                       .since = q->since,
                                                       .limit = f.limit},
                          &f, err));
    TRY(store_points(db->s, &f, m, r->arena, &latency, err));
    TRY(store_points(db->s, &f, metric_find(STR("throughput")), r->arena, &throughput, err));
    if (!latency.n)
        return err_fail(err, ASSAY_ERR_USAGE, "no record of '%s' in the history has %s", q->model,
                        m->name);
    out->model = str_copy(r->arena, str_of(q->model));
    out->statistic = m->name;
    TRY(fleet_find_cheapest(&latency, &throughput, prices, (uint32_t)q->n_prices, r->arena, out,
                            err));
    out->limit_ms = q->latency ? out->limit_ms : NAN;
    return ASSAY_OK;
}

assay_status assay_store_cheapest(assay_store *db, const assay_fleet_request *request,
                                  assay_result **out, assay_error *err)
{
    assay_fleet_request q;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(TAKE(request, q, err));
    if (!q.model || !*q.model)
        return err_fail(err, ASSAY_ERR_USAGE, "no model. Name the model that is to be served.");
    assay_result *r = job_result_new(&cheapest_kind, FLEET_BYTES);
    assay_status s = r ? fill_cheapest(db, &q, r, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    const fleet_cheapest *c = (*out)->data;
    return c->n && c->classes[0].meets
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_THRESHOLD, "no class of machines meets the latency");
}
