/* See capacity_curve.h. */
#include "study/capacity_curve.h"

#include <math.h>

#define MACHINES_MAX 1e9

/* Which column of the curve a quantile is; 0 is the mean. */
static double column_of(const load_curve_step *s, double quantile)
{
    const struct {
        double quantile, ms;
    } columns[] = {{0.5, s->p50}, {0.9, s->p90}, {0.95, s->p95}, {0.99, s->p99}};
    if (!(quantile > 0))
        return s->mean;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (fabs(columns[i].quantile - quantile) < 1e-9)
            return columns[i].ms;
    return NAN;
}

/* The last step before the first that was saturated. */
static const load_curve_step *last_sustained(const load_result *r)
{
    const load_curve_step *last = NULL;
    for (uint32_t i = 0; i < r->n_curve && !r->curve[i].saturated; i++)
        last = &r->curve[i];
    return last;
}

double capacity_curve_at(const load_result *r, double rate, double quantile)
{
    const load_curve_step *last = last_sustained(r), *low = &r->curve[0];
    if (!last || rate > last->rate * (1 + 1e-9))
        return NAN;
    for (const load_curve_step *s = r->curve; s <= last; s++) {
        double b = column_of(s, quantile), a = column_of(low, quantile);
        if (s->rate >= rate) {
            double share = s->rate > low->rate ? fmax(0, (rate - low->rate) / (s->rate - low->rate))
                                               : 0;
            return a > 0 && b > 0 ? a * pow(b / a, share) : NAN;
        }
        low = s;
    }
    return column_of(last, quantile);
}

/* The highest rate of one machine within limit and headroom; 0: none. Latency may fall again between steps, so the
 * first rate above the limit ends the search. */
static double highest_rate(const capacity_request *q, const load_result *r, double most)
{
    double good = 0;
    enum { LOOKS = 2000 };
    for (int i = 1; i <= LOOKS; i++) {
        double rate = most * i / LOOKS, ms = capacity_curve_at(r, rate, q->quantile);
        if (!(ms > 0) || (q->limit_ms > 0 && ms > q->limit_ms))
            break;
        good = rate;
    }
    return good;
}

static void fill_plan(const capacity_request *q, const load_result *r, double machines,
                      double saturation, capacity_plan *p)
{
    double rate = q->target / machines;
    p->feasible = true;
    p->machines = (uint64_t)machines;
    p->per_machine = rate;
    p->utilization = rate / saturation;
    p->mean_ms = capacity_curve_at(r, rate, 0);
    p->quantile_ms = capacity_curve_at(r, rate, q->quantile > 0 ? q->quantile : 0.99);
    p->in_flight = rate * p->mean_ms / 1000;
}

void capacity_plan_curve(const capacity_request *q, const load_result *r, arena *a,
                         capacity_plan *p)
{
    const load_curve_step *last = last_sustained(r);
    double saturation = last ? fmax(last->rate, last->requests_per_second) : 0;
    double most = (1 - q->headroom) * saturation, rate = last ? highest_rate(q, r, most) : 0;
    double machines = rate > 0 ? ceil(q->target / rate - 1e-9) : 0;
    *p = (capacity_plan){.batch = 1,
                         .concurrency = r->settings.concurrency,
                         .precision = {"", 0},
                         .runs = r->requests,
                         .by_curve = true,
                         .most = most,
                         CAPACITY_PLAN_UNKNOWN};
    if (rate > 0 && machines < MACHINES_MAX)
        fill_plan(q, r, machines, saturation, p);
    else if (!last)
        p->why = STR("every step of the curve is saturated");
    else if (isnan(column_of(last, q->quantile)))
        p->why = STR("a load curve has P50, P90, P95, P99 and the mean only");
    else
        p->why = str_printf(a, "latency is %.4g ms at the lowest rate that was measured",
                            column_of(&r->curve[0], q->quantile));
}
