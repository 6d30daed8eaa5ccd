/* Warm-up: caches, clocks, the engine's arena and its threads settle in the first runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/sample.h"
#include "measure/stats.h"

enum { WINDOW = 5, FIRST_ROOM = 64 };
#define DEFAULT_MAX_NS 20000000000u

/* Whether a series has settled: the median of its last five is that of the five before within 2 %, or
 * within what their own spread makes likely. */
static bool warmup_is_steady(const double *ms, uint32_t n)
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
    uint32_t least = rule->min_runs < WARMUP_RUNS_MAX ? rule->min_runs : WARMUP_RUNS_MAX;
    uint32_t most = rule->max_runs ? rule->max_runs : least * 10 > 100 ? least * 10 : 100;
    if (most < least)
        most = least;
    return most < WARMUP_RUNS_MAX ? most : WARMUP_RUNS_MAX;
}

void warmup_result_free(warmup_result *r)
{
    free(r->ms);
    *r = (warmup_result){0};
}

bool warmup_keep(const warmup_result *r, arena *a, profile_config *to)
{
    to->warmup_ms = r->runs ? arena_copy(a, r->ms, sizeof *r->ms * r->runs) : NULL;
    to->warmup_runs = to->n_warmup_ms = r->runs;
    to->steady_after = r->steady_after;
    to->first_run_ms = r->first_ms;
    to->steady = r->steady;
    to->partial = r->interrupted;
    return !arena_failed(a);
}

/* Grows the list of durations, between runs, when no time is measured. */
static assay_status make_room(warmup_result *r, uint32_t *room, assay_error *err)
{
    if (r->runs < *room)
        return ASSAY_OK;
    uint32_t more = *room ? *room * 2 : FIRST_ROOM;
    double *grown = memory_resize(r->ms, more * sizeof *grown);
    TRY_MEMORY(grown, err);
    r->ms = grown;
    *room = more;
    return ASSAY_OK;
}

static assay_status one(engine *e, engine_job *job, warmup_result *r, assay_error *err)
{
    uint64_t start = engine_now_ns(e);
    TRY(engine_job_run(job, err));
    r->last_ms = (double)(engine_now_ns(e) - start) / 1e6;
    engine_job_drop(job);
    r->ms[r->runs++] = r->last_ms;
    r->first_ms = r->ms[0];
    return ASSAY_OK;
}

static void judge_warmup(warmup_result *r)
{
    r->steady = warmup_is_steady(r->ms, r->runs);
    if (!r->steady)
        r->steady_after = 0;
    else if (!r->steady_after)
        r->steady_after = r->runs;
}

assay_status warmup_run(engine *e, engine_job *job, const warmup_rule *rule,
                        const sample_hook *hook, warmup_result *out, assay_error *err)
{
    uint32_t most = most_runs(rule), least = rule->min_runs < most ? rule->min_runs : most;
    uint64_t begin = engine_now_ns(e), limit = rule->max_ns ? rule->max_ns : DEFAULT_MAX_NS;
    uint32_t room = 0;
    *out = (warmup_result){0};
    while (out->runs < most) {
        TRY(make_room(out, &room, err));
        TRY(one(e, job, out, err));
        if (hook && hook->go_on && !hook->go_on(hook->ctx, out->runs, 0, 0)) {
            out->interrupted = true;
            return ASSAY_OK;
        }
        judge_warmup(out);
        if (out->runs >= least && (out->steady || engine_now_ns(e) - begin > limit))
            break;
    }
    return ASSAY_OK;
}
