/* See cause.h. */
#include <math.h>

#include "measure/cause.h"

#include <stdlib.h>

#include "base/memory.h"
#include "measure/stats.h"

typedef double reading(const sample_run *r);

static double wall_of(const sample_run *r)
{
    return (double)(r->end_ns - r->start_ns);
}
static double ms_of(const sample_run *r)
{
    return sample_ms(r);
}
static double share_of(const sample_run *r)
{
    return wall_of(r) > 0 ? (double)r->cpu_ns / wall_of(r) : 0;
}
static double voluntary_of(const sample_run *r)
{
    return r->voluntary;
}
static double involuntary_of(const sample_run *r)
{
    return r->involuntary;
}
static double minor_of(const sample_run *r)
{
    return r->minor_faults;
}

static double median_of(const sample_runs *runs, reading *f, double *work)
{
    for (uint32_t i = 0; i < runs->n; i++)
        work[i] = f(&runs->items[i]);
    stats_sort(work, runs->n);
    return stats_quantile(work, runs->n, 0.5);
}

static bool began_late(const sample_run *r)
{
    return r->start_ns > r->due_ns && (double)(r->start_ns - r->due_ns) / 1e6 > 0.5 * ms_of(r);
}

const char *cause_of(const sample_run *r, const cause_usual *u, bool stolen, double mhz)
{
    if (began_late(r))
        return "queued behind other requests";
    if (stolen)
        return "CPU steal";
    if (r->major_faults)
        return "page faults with disk reads";
    if (r->minor_faults > 16 + 4 * u->minor_faults)
        return "page faults";
    if (r->involuntary > 2 * u->involuntary)
        return "preempted by other processes";
    if (u->mhz > 0 && mhz > 0 && mhz < 0.9 * u->mhz)
        return "lower clock frequency";
    if (r->voluntary > 4 + 4 * u->voluntary)
        return "waiting";
    if (share_of(r) < 0.7 * u->cpu_share)
        return "less CPU time than usual";
    return "unknown";
}

/* Ticks just before and just after a run: whether time was stolen between them, and the clock. */
static bool around(const watch_tick *t, uint32_t n, const sample_run *r, double *mhz)
{
    const watch_tick *before = NULL, *after = NULL;
    for (uint32_t i = 0; i < n && !after; i++)
        if (t[i].time_ns <= r->start_ns)
            before = &t[i];
        else if (t[i].time_ns >= r->end_ns)
            after = &t[i];
    *mhz = after ? after->mhz : NAN;
    return before && after && after->ticks.steal > before->ticks.steal;
}

/* Of one that began late: whether others were at work for most of that time. */
static bool waited_behind(const sample_runs *runs, const sample_run *r)
{
    uint64_t middle = r->due_ns + (r->start_ns - r->due_ns) / 2;
    for (uint32_t i = 0; i < runs->n; i++) {
        const sample_run *o = &runs->items[i];
        if (o != r && o->start_ns < r->start_ns && o->end_ns >= middle)
            return true;
    }
    return false;
}

/* Nothing was in its way: the thread that sends requests did not get the processor in time. */
static const char *cause_in(const sample_runs *runs, const sample_run *r, const cause_usual *u,
                            bool stolen, double mhz)
{
    if (!began_late(r) || waited_behind(runs, r))
        return cause_of(r, u, stolen, mhz);
    return stolen ? "CPU steal" : "sent late";
}

static int slowest_first(const void *a, const void *b)
{
    const profile_outlier *x = a, *y = b;
    return x->ms > y->ms ? -1 : x->ms < y->ms;
}

static int in_order(const void *a, const void *b)
{
    const profile_outlier *x = a, *y = b;
    return x->run < y->run ? -1 : x->run > y->run;
}

static cause_usual usual_of(const sample_runs *runs, double *work)
{
    return (cause_usual){.ms = median_of(runs, ms_of, work),
                         .cpu_share = median_of(runs, share_of, work),
                         .voluntary = median_of(runs, voluntary_of, work),
                         .involuntary = median_of(runs, involuntary_of, work),
                         .minor_faults = median_of(runs, minor_of, work),
                         .mhz = NAN};
}

assay_status cause_outliers(const sample_runs *runs, const watch_tick *ticks, uint32_t n_ticks,
                            arena *a, profile_config *out, assay_error *err)
{
    uint32_t n = 0;
    watch_summary all;
    double *work = runs->n ? memory_alloc(sizeof *work * 2 * runs->n) : NULL;
    profile_outlier *found = runs->n ? memory_alloc(sizeof *found * runs->n) : NULL;
    if (!work || !found) {
        free(work);
        free(found);
        return runs->n ? err_no_memory(err) : ASSAY_OK;
    }
    cause_usual usual = usual_of(runs, work);
    median_of(runs, ms_of, work);
    double spread = stats_spread(work, work + runs->n, runs->n);
    if (watch_summarise(ticks, n_ticks, runs->begin_ns, runs->end_ns, &all))
        usual.mhz = all.mhz;
    for (uint32_t i = 0; i < runs->n; i++) {
        const sample_run *r = &runs->items[i];
        double mhz;
        if (!stats_is_outlier(sample_ms(r), usual.ms, spread))
            continue;
        bool stolen = around(ticks, n_ticks, r, &mhz);
        found[n++] = (profile_outlier){
            .run = i + 1, .ms = sample_ms(r), .cause = cause_in(runs, r, &usual, stolen, mhz)};
    }
    qsort(found, n, sizeof *found, slowest_first);
    out->n_outliers = n < CAUSE_OUTLIERS ? n : CAUSE_OUTLIERS;
    qsort(found, out->n_outliers, sizeof *found, in_order);
    out->outliers = arena_copy(a, found, sizeof *found * out->n_outliers);
    free(work);
    free(found);
    return out->n_outliers && !out->outliers ? err_no_memory(err) : ASSAY_OK;
}
