/* Models on devices, side by side: of profiles that were mapped, each model on each device. */
#include "profile/mapping.h"
#include "study/compare.h"

static comparison_place place_of(const comparison_model *model, const mapping_hardware *h,
                                 const mapping_row *first, const mapping_row *best)
{
    return (comparison_place){.model = model->model,
                              .label = model->label,
                              .device = h->id,
                              .precision = first->precision,
                              .batch = first->batch,
                              .latency_ms = first->latency_ms,
                              .latency_low_ms = first->latency_low_ms,
                              .latency_high_ms = first->latency_high_ms,
                              .limit_ms = first->limit_ms,
                              .imprecise = first->imprecise,
                              .throughput = first->throughput,
                              .memory_bytes = first->memory_bytes,
                              .fits = first->fits,
                              .verdict = first->verdict,
                              .bound = first->bound,
                              .best_batch = best->batch,
                              .best_throughput = best->throughput};
}

static bool overlaps(const comparison_place *a, const comparison_place *b)
{
    return a->latency_high_ms > 0 && b->latency_high_ms > 0 &&
           a->latency_low_ms <= b->latency_high_ms && b->latency_low_ms <= a->latency_high_ms;
}

/* On each device one model has the shortest expectation; others tie with it where intervals overlap. Imprecise ones are
 * in no ranking. */
static void mark_ties(comparison_place *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const comparison_place *best = NULL;
        for (uint32_t k = 0; k < n; k++)
            if (str_eq(list[k].device, list[i].device) && list[k].fits && !list[k].imprecise &&
                (!best || list[k].latency_ms < best->latency_ms))
                best = &list[k];
        list[i].tie = best && best != &list[i] && list[i].fits && !list[i].imprecise &&
                      best->batch == list[i].batch && overlaps(best, &list[i]);
    }
}

static uint32_t count_places(const profile *const *profiles, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += profiles[i]->mapping ? profiles[i]->mapping->n_hardware : 0;
    return sum;
}

bool compare_place(const profile *const *profiles, arena *a, comparison *out)
{
    uint32_t most = count_places(profiles, out->n_models), n = 0;
    comparison_place *list = most ? ARENA_ARRAY(a, comparison_place, most) : NULL;
    for (uint32_t i = 0; list && i < out->n_models; i++) {
        const profile_mapping *m = profiles[i]->mapping;
        for (uint32_t d = 0; m && d < m->n_hardware; d++) {
            const mapping_row *first = mapping_row_on(m, d, m->hardware[d].cheapest, false);
            if (first)
                list[n++] = place_of(&out->models[i], &m->hardware[d], first,
                                     mapping_row_on(m, d, m->hardware[d].cheapest, true));
        }
    }
    mark_ties(list, n);
    out->places = list;
    out->n_places = n;
    return list || !most;
}
