/* Ranks the models of a comparison by a budget: which are within the limits, and how much of them they use. */
#include <math.h>
#include <stdlib.h>

#include "study/compare.h"

#define FITS    "fits"
#define OVER    "over"
#define UNKNOWN "unknown"
const char *const comparison_fit_words[] = {FITS, UNKNOWN, OVER, NULL};

assay_status compare_set_budget(const verdict_limit *limits, uint32_t n, arena *a, comparison *out,
                                assay_error *err)
{
    comparison_budget *b = ARENA_NEW(a, comparison_budget);
    comparison_limit *list = ARENA_ARRAY(a, comparison_limit, n);
    TRY_MEMORY(b && list, err);
    for (uint32_t i = 0; i < n; i++) {
        const metric_row *m = limits[i].metric;
        list[i] = (comparison_limit){.row = m,
                                     .metric = m->name,
                                     .title = m->title,
                                     .unit = m->unit,
                                     .op = limits[i].at_least ? VERDICT_AT_LEAST : VERDICT_AT_MOST,
                                     .limit = limits[i].limit};
    }
    *b = (comparison_budget){.limits = list, .n_limits = n};
    out->budget = b;
    return ASSAY_OK;
}

/* ---- one model ---- */

/* Memory that was not measured is planned. */
static const metric_row *metric_of(const profile *p, const metric_row *asked, metric_value *out)
{
    const metric_row *plan = metric_find(STR("plan"));
    if (asked->get(p, out))
        return asked;
    bool memory = asked == metric_find(STR("memory"));
    if (memory && plan->get(p, out))
        return plan;
    *out = (metric_value){.v = NAN};
    return asked;
}

/* The part of a limit that a value uses: above 1 it is missed. */
static double share_of(const comparison_limit *l, double v)
{
    bool at_least = str_is(STR(VERDICT_AT_LEAST), l->op);
    double part = at_least ? l->limit : v, whole = at_least ? v : l->limit;
    return isnan(v) ? NAN : whole > 0 ? part / whole : part > 0 ? INFINITY : 1;
}

static comparison_use use_of(const profile *p, const comparison_limit *l)
{
    comparison_use u = {.unit = l->unit};
    u.metric = metric_of(p, l->row, &u.value)->name;
    u.share = share_of(l, u.value.v);
    if (isinf(u.share))
        u.share = 1e9; /* JSON has no infinity */
    return u;
}

/* A total without some operators is at least that much. */
static bool is_lower_bound(const profile *p, const comparison_limit *l)
{
    return p->accounting.unknown > 0 && !l->row->measured;
}

static str why_unknown(const profile *p, const comparison_rank *r, const comparison_limit *limits,
                       arena *a)
{
    for (uint32_t i = 0; i < r->n_uses; i++)
        if (isnan(r->uses[i].share))
            return str_printf(a, "%s is unknown%s", limits[i].metric,
                              limits[i].row->measured ? "; add --measure" : "");
    return str_printf(a, "%llu operators are unknown and not counted",
                      (unsigned long long)p->accounting.unknown);
}

static void judge_model(const profile *p, const comparison_limit *limits, arena *a,
                        comparison_rank *r)
{
    bool unknown = false;
    r->share = 0;
    r->verdict = FITS;
    for (uint32_t i = 0; i < r->n_uses; i++) {
        const comparison_use *u = &r->uses[i];
        unknown = unknown || isnan(u->share) || is_lower_bound(p, &limits[i]);
        if (u->share > r->share || !r->tightest) {
            r->share = isnan(u->share) ? r->share : u->share;
            r->tightest = isnan(u->share) ? r->tightest : limits[i].metric;
        }
    }
    if (r->share > 1)
        r->verdict = OVER;
    else if (unknown)
        r->verdict = UNKNOWN;
    if (r->verdict[0] == 'u')
        r->why = why_unknown(p, r, limits, a);
}

/* ---- all ---- */

static int order_of(const char *verdict)
{
    int i = 0;
    while (comparison_fit_words[i][0] != verdict[0])
        i++;
    return i;
}

/* What fits comes first, that which uses most of the budget before the others; then what is nearest to fitting. */
static int by_rank(const void *x, const void *y)
{
    const comparison_rank *a = x, *b = y;
    int of_a = order_of(a->verdict), of_b = order_of(b->verdict);
    if (of_a != of_b)
        return of_a - of_b;
    if (a->share != b->share)
        return (a->share < b->share) == (of_a == 0) ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

bool compare_rank(const profile *const *profiles, arena *a, comparison *out)
{
    comparison_budget b = *out->budget, *settled = ARENA_NEW(a, comparison_budget);
    comparison_rank *list = ARENA_ARRAY(a, comparison_rank, out->n_models);
    comparison_use *uses = ARENA_ARRAY(a, comparison_use, (size_t)out->n_models * b.n_limits);
    if (!settled || !list || !uses)
        return false;
    b.fits = 0;
    b.planned = false;
    for (uint32_t i = 0; i < out->n_models; i++, uses += b.n_limits) {
        for (uint32_t k = 0; k < b.n_limits; k++) {
            uses[k] = use_of(profiles[i], &b.limits[k]);
            b.planned = b.planned || uses[k].metric != b.limits[k].metric;
        }
        list[i] = (comparison_rank){.index = i,
                                    .model = out->models[i].model,
                                    .label = out->models[i].label,
                                    .uses = uses,
                                    .n_uses = b.n_limits};
        judge_model(profiles[i], b.limits, a, &list[i]);
        b.fits += list[i].verdict[0] == 'f';
    }
    qsort(list, out->n_models, sizeof *list, by_rank);
    b.ranking = list;
    b.n_ranking = out->n_models;
    *settled = b;
    out->budget = settled;
    return true;
}
