/* GPU events of the trace, by name. */
#include "measure/gpu_events.h"

#include "base/map.h"

static bool is_copy(str name)
{
    return str_contains_any_case(name, "memcpy");
}

static profile_gpu_event *event_of(profile_gpu_event *list, uint32_t *n, map *index, str name)
{
    uint32_t at = map_get(index, name);
    if (at != MAP_NONE)
        return &list[at];
    if (!map_put(index, name, *n))
        return NULL;
    list[*n] = (profile_gpu_event){.name = name, .copy = is_copy(name)};
    return &list[(*n)++];
}

static uint32_t choose_events(profile_gpu_event *list, uint32_t n, gpu_wanted wanted)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (wanted == GPU_ALL || list[i].copy == (wanted == GPU_COPIES))
            list[kept++] = list[i];
    return kept;
}

void gpu_events_sum(const trace *t, uint32_t warmup_runs, arena *scratch, arena *keep,
                    gpu_wanted wanted, profile_gpu *g)
{
    map index;
    if (t->n_runs <= warmup_runs || wanted == GPU_NONE)
        return;
    uint64_t from_us = t->runs[warmup_runs].start_us;
    double runs = (double)(t->n_runs - warmup_runs);
    profile_gpu_event *list = ARENA_ARRAY(scratch, profile_gpu_event,
                                          t->n_kernels + t->n_nodes + 1u);
    uint32_t n = 0;
    if (!list || !map_init(&index, scratch, 0))
        return;
    for (uint32_t i = 0; i < t->n_kernels; i++) {
        profile_gpu_event *e = t->kernels[i].start_us < from_us
                                   ? NULL
                                   : event_of(list, &n, &index, t->kernels[i].name);
        if (e) {
            e->count++;
            e->time_ms += (double)t->kernels[i].dur_us / 1000 / runs;
        }
    }
    for (uint32_t i = 0; i < t->n_events; i++) {
        const trace_event *x = &t->events[i];
        str op = t->nodes[x->node].op;
        bool counts = x->run != TRACE_NONE && x->run >= warmup_runs && is_copy(op);
        profile_gpu_event *e = counts ? event_of(list, &n, &index, op) : NULL;
        if (e) {
            e->count++;
            e->time_ms += (double)x->dur_us / 1000 / runs;
        }
    }
    n = choose_events(list, n, wanted);
    for (uint32_t i = 0; i < n; i++)
        list[i].name = str_copy(keep, list[i].name);
    g->events = n ? arena_copy(keep, list, sizeof *list * n) : NULL;
    g->n_events = g->events ? n : 0;
}
