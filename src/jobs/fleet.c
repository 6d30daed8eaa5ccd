/* Questions to the history of a fleet: figures come from store/, answers from study/fleet.h. */
#include "jobs/fleet.h"

#include <stdio.h>

#include "base/vec.h"
#include "device/machine.h"

#define MACHINE_BYTES ((size_t)64 << 20) /* of one document and its ceilings */

/* ---- what changed ---- */

assay_status fleet_changes_read(store *db, const fleet_change_question *q, arena *a,
                                fleet_changes *out, assay_error *err)
{
    fleet_points points;
    TRY(store_points(db, &q->records, q->metric, a, &points, err));
    TRY(fleet_find_changes(&points, q->metric, q->by, q->since_s, a, out, err));
    if (q->worse_only)
        fleet_keep_worse(out);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
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

static assay_status read_machine(store *db, const history_record *r, ceilings *list, arena *a,
                                 assay_error *err)
{
    char shown[32];
    str text;
    machine m = {0};
    arena *own = arena_new(MACHINE_BYTES);
    snprintf(shown, sizeof shown, "record %lld", (long long)r->id);
    assay_status s = own ? store_document(db, r->id, own, &text, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = result_read_as(&machine_kind, text, shown, own, &m, err);
    if (s == ASSAY_OK && !add_machine(list, r, &m, a))
        s = err_no_memory(err);
    arena_free(own);
    return s;
}

assay_status fleet_drift_read(store *db, const store_filter *records, arena *a, fleet_drifts *out,
                              assay_error *err)
{
    history_list found = {0};
    ceilings list = {0};
    TRY(store_list(db, records, a, &found, err));
    for (uint32_t i = 0; i < found.n; i++)
        if (str_is(found.records[i].kind, "machine"))
            TRY(read_machine(db, &found.records[i], &list, a, err));
    return fleet_find_drift(list.items, list.n, a, out, err);
}

/* ---- the cheapest ---- */

/* What is given, and the list prices of devices. */
static assay_status read_prices(const fleet_cost_question *q, price_list *prices, arena *a,
                                assay_error *err)
{
    device_list *rows = ARENA_NEW(a, device_list);
    TRY_MEMORY(rows, err);
    rows->arena = a;
    *prices = (price_list){.devices = rows, .arena = a};
    for (size_t i = 0; i < q->n_prices; i++)
        TRY(price_read(prices, str_of(q->prices[i]), err));
    return devices_builtin(rows, err);
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
                    "a latency must be such as p99:50ms, p50:5ms or mean:20ms, got '%s'", text);
}

assay_status fleet_cheapest_read(store *db, const fleet_cost_question *q, arena *a,
                                 fleet_cheapest *out, assay_error *err)
{
    price_list prices;
    const metric_row *m;
    fleet_points latency, throughput;
    TRY(read_prices(q, &prices, a, err));
    TRY(read_limit(q->latency, &m, &out->limit_ms, err));
    TRY(store_points(db, &q->records, m, a, &latency, err));
    TRY(store_points(db, &q->records, metric_find(STR("throughput")), a, &throughput, err));
    if (!latency.n)
        return err_fail(err, ASSAY_ERR_USAGE, "no record of '" STR_FMT "' in the history has %s",
                        STR_ARG(q->records.model), m->name);
    out->model = str_copy(a, q->records.model);
    out->statistic = m->name;
    TRY(fleet_find_cheapest(&latency, &throughput, &prices, a, out, err));
    out->limit_ms = q->latency ? out->limit_ms : NAN;
    return ASSAY_OK;
}
