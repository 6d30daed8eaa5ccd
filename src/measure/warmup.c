/* Warm-up: caches, clocks, the engine's arena and its threads settle in the first runs. */
#include <math.h>
#include <string.h>

#include "measure/sample.h"
#include "measure/stats.h"

enum { WINDOW = 5, RUNS_MAX = 4096 };
#define DEFAULT_MAX_NS 20000000000u

bool warmup_is_steady(const double *ms, uint32_t n)
{
    double last[WINDOW], before[WINDOW], work[WINDOW];
    if (n < 2 * WINDOW)
        return false;
    memcpy(last, ms + n - WINDOW, sizeof last);
    memcpy(before, ms + n - 2 * WINDOW, sizeof before);
    stats_sort(last, WINDOW);
    stats_sort(before, WINDOW);
    double a = stats_quantile(before, WINDOW, 0.5), b = stats_quantile(last, WINDOW, 0.5);
    double chance = stats_spread(last, work, WINDOW) * 1.25 / sqrt(WINDOW);
    double apart = fabs(a - b);
    return apart <= 0.02 * b || apart <= 2 * chance;
}

static uint32_t most_runs(const warmup_rule *rule)
{
    uint32_t least = rule->min_runs < RUNS_MAX ? rule->min_runs : RUNS_MAX;
    uint32_t most = rule->max_runs ? rule->max_runs : least * 10 > 100 ? least * 10 : 100;
    if (most < least)
        most = least;
    return most < RUNS_MAX ? most : RUNS_MAX;
}

static assay_status one(engine *e, engine_job *job, double *ms, assay_error *err)
{
    uint64_t start = engine_now_ns(e);
    TRY(engine_job_run(job, err));
    *ms = (double)(engine_now_ns(e) - start) / 1e6;
    engine_job_drop(job);
    return ASSAY_OK;
}

assay_status warmup_run(engine *e, engine_job *job, const warmup_rule *rule,
                        const sample_hook *hook, warmup_result *out, assay_error *err)
{
    double ms[RUNS_MAX];
    uint32_t most = most_runs(rule), least = rule->min_runs < most ? rule->min_runs : most;
    uint64_t begin = engine_now_ns(e), limit = rule->max_ns ? rule->max_ns : DEFAULT_MAX_NS;
    memset(out, 0, sizeof *out);
    while (out->runs < most) {
        TRY(one(e, job, &ms[out->runs], err));
        out->last_ms = ms[out->runs];
        if (out->runs++ == 0)
            out->first_ms = ms[0];
        if (hook && hook->go_on && !hook->go_on(hook->ctx, out->runs, 0, 0)) {
            out->interrupted = true;
            return ASSAY_OK;
        }
        out->steady = warmup_is_steady(ms, out->runs);
        if (out->runs >= least && (out->steady || engine_now_ns(e) - begin > limit))
            break;
    }
    return ASSAY_OK;
}
