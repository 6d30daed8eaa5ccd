/* See fleet.h: drift of ceilings, and the cheapest class of machines. */
#include "study/fleet.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"

/* ---- drift ---- */

static int compare_ceilings(const void *a, const void *b)
{
    const fleet_ceiling *x = a, *y = b;
    int c = str_cmp(x->machine, y->machine);
    if (!c)
        c = str_cmp(x->name, y->name);
    return c ? c : (x->created_s > y->created_s) - (x->created_s < y->created_s);
}

static fleet_drift drift_of(const fleet_ceiling *list, uint32_t n, double *work)
{
    const fleet_ceiling *last = &list[n - 1];
    fleet_drift d = {.machine = last->machine,
                     .ceiling = last->name,
                     .unit = last->unit,
                     .records = n,
                     .first = list->value,
                     .median = NAN,
                     .newest = last->value,
                     .ratio = NAN,
                     .first_s = list->created_s,
                     .newest_s = last->created_s,
                     .course = COURSE_UNKNOWN};
    if (n < 2)
        return d;
    for (uint32_t i = 0; i + 1 < n; i++)
        work[i] = list[i].value;
    d.median = num_median(work, n - 1);
    d.ratio = d.median > 0 ? d.newest / d.median : NAN;
    d.course = d.ratio < 1 - FLEET_DRIFT   ? COURSE_LOWER
               : d.ratio > 1 + FLEET_DRIFT ? COURSE_HIGHER
                                           : COURSE_STEADY;
    return d;
}

assay_status fleet_find_drift(fleet_ceiling *list, uint32_t n, arena *a, fleet_drifts *out,
                              assay_error *err)
{
    fleet_drift *drifts = ARENA_ARRAY(a, fleet_drift, (size_t)n + 1);
    double *work = ARENA_ARRAY(a, double, (size_t)n + 1);
    *out = (fleet_drifts){.tolerance = FLEET_DRIFT, .ceilings = drifts};
    TRY_MEMORY(drifts && work, err);
    if (n)
        qsort(list, n, sizeof *list, compare_ceilings);
    for (uint32_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && str_eq(list[to].machine, list[from].machine) &&
                            str_eq(list[to].name, list[from].name);)
            to++;
        out->n_machines += !from || !str_eq(list[from].machine, list[from - 1].machine);
        drifts[out->n++] = drift_of(&list[from], to - from, work);
    }
    return ASSAY_OK;
}

/* ---- the cheapest ---- */

/* The class of nodes that the task of the record asked for, else its processor and device. */
static str class_of(const fleet_point *p, arena *a)
{
    for (str rest = p->tags, tag; rest.n && str_split(&rest, ',', &tag);)
        if (str_starts(tag, FLEET_CLASS_PREFIX))
            return (str){tag.p + strlen(FLEET_CLASS_PREFIX),
                         tag.n - (uint32_t)strlen(FLEET_CLASS_PREFIX)};
    return str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(p->host), p->host.n ? " · " : "",
                      STR_ARG(p->device));
}

/* Whether the record says more for its class than the one before: it meets the limit and is faster in bulk. */
static bool is_better(const fleet_class *old, const fleet_class *now)
{
    if (!old->records || old->meets != now->meets)
        return !old->records || now->meets;
    return now->meets && now->throughput > 0 ? !(old->throughput >= now->throughput)
                                             : now->latency_ms < old->latency_ms;
}

static void take_record(fleet_class *c, const fleet_class *now)
{
    uint32_t records = c->records;
    if (is_better(c, now))
        *c = *now;
    c->records = records + 1;
}

static int compare_classes(const void *a, const void *b)
{
    const fleet_class *x = a, *y = b;
    double p = x->meets && x->cost_per_million >= 0 ? x->cost_per_million : INFINITY,
           q = y->meets && y->cost_per_million >= 0 ? y->cost_per_million : INFINITY;
    if (p != q)
        return p < q ? -1 : 1;
    if (x->meets != y->meets)
        return x->meets ? -1 : 1;
    return (x->latency_ms > y->latency_ms) - (x->latency_ms < y->latency_ms);
}

/* Throughput by the number of the record. */
static int compare_ids(const void *a, const void *b)
{
    const fleet_point *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static double throughput_of(const fleet_points *sorted, int64_t id)
{
    const fleet_point key = {.id = id};
    const fleet_point *p = sorted->n
                               ? bsearch(&key, sorted->items, sorted->n, sizeof key, compare_ids)
                               : NULL;
    return p ? p->value : NAN;
}

static void price_classes(fleet_class *list, uint32_t n, price_list *prices)
{
    for (uint32_t i = 0; i < n; i++) {
        const price p = price_of_name(prices, list[i].name);
        list[i].price_per_hour = p.per_hour;
        list[i].price_basis = p.basis;
        list[i].cost_per_million = price_per_million(p.per_hour, list[i].throughput);
    }
    if (n)
        qsort(list, n, sizeof *list, compare_classes);
    if (n && list[0].meets && list[0].cost_per_million >= 0)
        list[0].cheapest = true;
}

assay_status fleet_find_cheapest(const fleet_points *latency, const fleet_points *throughput,
                                 price_list *prices, arena *a, fleet_cheapest *out,
                                 assay_error *err)
{
    VEC(fleet_class) classes = {0};
    map seen;
    TRY_MEMORY(map_init(&seen, a, 0), err);
    if (throughput->n)
        qsort(throughput->items, throughput->n, sizeof *throughput->items, compare_ids);
    for (uint32_t i = 0; i < latency->n; i++) {
        const fleet_point *p = &latency->items[i];
        const fleet_class now = {.name = class_of(p, a),
                                 .config = p->setup,
                                 .record = p->id,
                                 .latency_ms = p->value,
                                 .throughput = throughput_of(throughput, p->id),
                                 .meets = !(p->value > out->limit_ms)};
        bool is_new;
        uint32_t *slot = map_at(&seen, now.name, classes.n, &is_new);
        if (!slot || (is_new && !VEC_ADD(a, &classes, (fleet_class){.name = now.name})))
            return err_no_memory(err);
        take_record(&classes.items[*slot], &now);
    }
    price_classes(classes.items, classes.n, prices);
    out->classes = classes.items;
    out->n = classes.n;
    return arena_failed(a) ? err_no_memory(err) : price_check_used(prices, err);
}
