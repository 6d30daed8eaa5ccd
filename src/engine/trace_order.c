/* Assigns events to runs and to outer events.
 *
 * Events are in the file in the order of their ends. On one thread, an event that began after a later one of the file
 * began lies within it; beginning in the same microsecond is no sign of that, as the profiler alone takes longer
 * between a node and the next. A run is the span of its "model_run", which ends last. Threads that have no runs of
 * their own work for the runs of others: their events belong to the run that ends next.
 */
#include <stdlib.h>

#include "engine/trace_impl.h"

/* Per thread: events that no later one has claimed yet. */
typedef struct lane {
    uint64_t tid;
    bool has_runs; /* or works for those of others */
    VEC(uint32_t) open;
} lane;

typedef struct lanes {
    arena *arena;
    VEC(lane) list;
} lanes;

static lane *lane_of(lanes *l, uint64_t tid)
{
    for (uint32_t i = 0; i < l->list.n; i++)
        if (l->list.items[i].tid == tid)
            return &l->list.items[i];
    lane *found = VEC_PUSH(l->arena, &l->list);
    if (found)
        found->tid = tid;
    return found;
}

static void claim_inner(trace_build *b, lane *l, uint32_t outer)
{
    while (l->open.n > 0) {
        uint32_t top = l->open.items[l->open.n - 1];
        if (b->events.items[top].e.start_us <= b->events.items[outer].e.start_us)
            break;
        b->events.items[top].e.parent = outer;
        l->open.n--;
    }
    (void)VEC_ADD(b->scratch, &l->open, outer);
}

static void claim_run(trace_build *b, lane *l, uint32_t run)
{
    for (uint32_t i = 0; i < l->open.n; i++) {
        trace_event *e = &b->events.items[l->open.items[i]].e;
        if (e->start_us >= b->runs.items[run].start_us)
            e->run = run;
    }
    l->open.n = 0;
}

static void claim_lanes(trace_build *b, lanes *l, uint32_t run)
{
    for (uint32_t i = 0; i < l->list.n; i++)
        if (!l->list.items[i].has_runs || l->list.items[i].tid == b->runs.items[run].tid)
            claim_run(b, &l->list.items[i], run);
}

static void find_owners(trace_build *b)
{
    lanes l = {.arena = b->scratch};
    uint32_t run = 0;
    for (uint32_t i = 0; i < b->runs.n; i++) {
        lane *at = lane_of(&l, b->runs.items[i].tid);
        if (at)
            at->has_runs = true;
    }
    for (uint32_t i = 0; i <= b->events.n; i++) {
        for (; run < b->runs.n && b->runs.items[run].after == i; run++)
            claim_lanes(b, &l, run);
        lane *at = i < b->events.n ? lane_of(&l, b->events.items[i].tid) : NULL;
        if (at)
            claim_inner(b, at, i);
    }
    for (uint32_t i = b->events.n; i-- > 0;) { /* outer ones stand behind */
        trace_event *e = &b->events.items[i].e;
        if (e->parent != TRACE_NONE)
            e->run = b->events.items[e->parent].e.run;
    }
}

typedef struct place {
    uint32_t run, from;
    uint64_t start_us;
} place;

static int earlier(const void *x, const void *y)
{
    const place *a = x, *b = y;
    if (a->run != b->run)
        return a->run < b->run ? -1 : 1;
    if (a->start_us != b->start_us)
        return a->start_us < b->start_us ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static void copy_events(const trace_build *b, const place *order, uint32_t *to, trace_event *out)
{
    uint32_t n = b->events.n;
    for (uint32_t i = 0; i < n; i++)
        to[order[i].from] = i;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = b->events.items[order[i].from].e;
        if (out[i].parent != TRACE_NONE)
            out[i].parent = to[out[i].parent];
    }
}

static const trace_event *sorted_events(trace_build *b)
{
    uint32_t n = b->events.n;
    place *order = ARENA_ARRAY(b->scratch, place, n);
    uint32_t *to = ARENA_ARRAY(b->scratch, uint32_t, n);
    trace_event *out = ARENA_ARRAY(b->arena, trace_event, n);
    if (!order || !to || !out)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (place){b->events.items[i].e.run, i, b->events.items[i].e.start_us};
    qsort(order, n, sizeof *order, earlier);
    copy_events(b, order, to, out);
    return out;
}

static const trace_run *counted_runs(trace_build *b, const trace_event *events)
{
    trace_run *runs = ARENA_ARRAY(b->arena, trace_run, b->runs.n);
    for (uint32_t i = 0; runs && i < b->runs.n; i++) {
        runs[i].start_us = b->runs.items[i].start_us;
        runs[i].dur_us = b->runs.items[i].dur_us;
    }
    for (uint32_t i = 0; runs && i < b->events.n && events[i].run != TRACE_NONE; i++) {
        trace_run *r = &runs[events[i].run];
        if (r->n++ == 0)
            r->first = i;
    }
    return runs;
}

bool trace_order(trace_build *b, trace *out)
{
    if (arena_failed(b->scratch))
        return false;
    find_owners(b);
    const trace_event *events = sorted_events(b);
    if (!events)
        return false;
    *out = (trace){
        .nodes = arena_copy(b->arena, b->nodes.items, b->nodes.n * sizeof *b->nodes.items),
        .events = events,
        .runs = counted_runs(b, events),
        .kernels = arena_copy(b->arena, b->kernels.items, b->kernels.n * sizeof *b->kernels.items),
        .n_nodes = b->nodes.n,
        .n_events = b->events.n,
        .n_runs = b->runs.n,
        .n_kernels = b->kernels.n,
        .n_workers = b->n_workers,
        .session_us = b->session_us,
        .truncated = b->n_read >= TRACE_EVENTS_MAX,
    };
    return !arena_failed(b->arena) && !arena_failed(b->scratch);
}
