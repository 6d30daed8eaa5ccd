/* Limits on metrics. A limit is compared with the value, regardless of its noise. Only if the machine was too busy,
 * the interval of a measured value decides: if it contains the limit, the verdict is inconclusive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/judge_impl.h"
#include "measure/stats.h"

static bool holds(double v, const verdict_limit *l)
{
    return l->at_least ? v >= l->limit : v <= l->limit;
}

/* Whether the interval of the mean holds the limit: the next measurement may say otherwise. */
static bool is_close(const judging *j, const verdict_limit *l)
{
    const profile_config *c = profile_smallest(j->q->now);
    return l->metric->runs == RUNS_MEAN && c && c->latency.ci95_low < l->limit &&
           l->limit < c->latency.ci95_high;
}

static str remark(const judging *j, const verdict_limit *l)
{
    const profile_config *c = profile_smallest(j->q->now);
    double q = l->metric->quantile;
    if (is_close(j, l))
        return STR(
            "the 95 % interval of the mean contains the limit: another measurement may differ");
    if (l->metric->runs == RUNS_QUANTILE && c && q > 0.5 && (double)c->latency.runs * (1 - q) < 5)
        return str_printf(j->a, "from %llu runs; a reliable value needs %d",
                          (unsigned long long)c->latency.runs, (int)ceil(5 / (1 - q) - 1e-9));
    return (str){0};
}

/* The 95 % interval of a quantile by the ranks that hold it: n q ± 1.96 sqrt(n q (1 - q)). */
static bool quantile_interval(const profile_config *c, double q, double *low, double *high)
{
    uint32_t n = c->n_samples;
    double *sorted = n ? memory_alloc(sizeof *sorted * n) : NULL;
    if (!sorted)
        return false;
    memcpy(sorted, c->samples_ms, sizeof *sorted * n);
    stats_sort(sorted, n);
    double at = q * (n - 1), by = 1.96 * sqrt(n * q * (1 - q));
    *low = sorted[at > by ? (uint32_t)(at - by) : 0];
    *high = sorted[at + by < n - 1 ? (uint32_t)ceil(at + by) : n - 1];
    free(sorted);
    return true;
}

/* Runs without an interval of the mean are represented by their range. */
static void mean_interval(const profile_config *c, double *low, double *high)
{
    bool told = isfinite(c->latency.ci95_low) && isfinite(c->latency.ci95_high);
    *low = told ? c->latency.ci95_low : c->latency.min;
    *high = told ? c->latency.ci95_high : c->latency.max;
}

/* Of the metric's value, from the runs. */
static bool run_interval(const profile_config *c, const metric_row *m, double *low, double *high)
{
    if (m->runs == RUNS_QUANTILE)
        return quantile_interval(c, m->quantile, low, high);
    mean_interval(c, low, high);
    if (m->runs == RUNS_RATE) {
        double slow = *high;
        *high = c->samples_per_second * c->latency.mean / *low;
        *low = c->samples_per_second * c->latency.mean / slow;
    }
    return m->runs != RUNS_NOT;
}

static bool straddles(const judging *j, const verdict_limit *l)
{
    const profile_config *c = profile_smallest(j->q->now);
    double low, high;
    return c && c->use.busy.n && run_interval(c, l->metric, &low, &high) && low <= l->limit &&
           l->limit <= high;
}

assay_status judge_limit(judging *j, const verdict_limit *l, assay_error *err)
{
    metric_value v;
    if (!l->metric->get(j->q->now, &v))
        return judge_absent(j, l->metric, "the result", err);
    verdict_row *row = judge_add_row(j, l->metric);
    row->op = l->at_least ? VERDICT_AT_LEAST : VERDICT_AT_MOST;
    row->limit = l->limit;
    row->now = v;
    row->verdict = holds(v.v, l) ? VERDICT_PASS : VERDICT_MISSED;
    row->why = remark(j, l);
    if (j->busy && straddles(j, l)) {
        row->verdict = VERDICT_INCONCLUSIVE;
        row->why = STR(JUDGE_TOO_BUSY);
    }
    return ASSAY_OK;
}
