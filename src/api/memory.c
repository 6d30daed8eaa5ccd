/* The memory plan as the public structs show it. */
#include "api/api.h"

static const char *text(str s)
{
    return s.n ? s.p : "";
}

static const char *word(const char *s)
{
    return s ? s : "";
}

bool assay_profile_memory_plan(const assay_result *of, assay_memory_plan *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    if (!m->n_timeline && !m->peak_bytes)
        return false;
    const assay_memory_plan x = {.weights_bytes = m->weights_bytes,
                                 .activations_peak_bytes = m->activations_peak_bytes,
                                 .peak_bytes = m->peak_bytes,
                                 .lower_bound_bytes = m->lower_bound_bytes,
                                 .planned_bytes = m->planned_bytes,
                                 .fragmentation = profile_plan_fragmentation(m),
                                 .peak_node = text(m->peak_node),
                                 .n_moments = m->n_timeline,
                                 .n_witnesses = m->n_witnesses,
                                 .n_slots = m->n_slots,
                                 .n_events = m->n_events,
                                 .n_snapshots = m->n_snapshots};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_memory_moment(const assay_result *of, size_t index, assay_memory_moment *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    if (index >= m->n_timeline)
        return false;
    const assay_memory_moment x = {.node = text(m->timeline[index].node),
                                   .live_bytes = m->timeline[index].live_bytes};
    HAND_OUT(out, x);
    return true;
}

static bool value_at(const profile_witness *list, uint32_t n, size_t index, assay_live_value *out)
{
    if (index >= n)
        return false;
    const assay_live_value x = {.value = text(list[index].value),
                                .producer = text(list[index].producer),
                                .bytes = list[index].bytes};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_memory_witness(const assay_result *of, size_t index, assay_live_value *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    return value_at(m->witnesses, m->n_witnesses, index, out);
}

bool assay_profile_memory_slot(const assay_result *of, size_t index, assay_memory_slot *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    if (index >= m->n_slots)
        return false;
    const profile_slot *s = &m->slots[index];
    const assay_memory_slot x = {.value = text(s->value),
                                 .offset = s->offset,
                                 .bytes = s->bytes,
                                 .first_step = s->from,
                                 .last_step = s->to};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_memory_event(const assay_result *of, size_t index, assay_memory_event *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    if (index >= m->n_events)
        return false;
    const profile_event *e = &m->events[index];
    const assay_memory_event x = {.kind = word(e->kind),
                                  .node = text(e->node),
                                  .value = text(e->value),
                                  .of = text(e->of),
                                  .step = e->step,
                                  .slot = e->slot,
                                  .bytes = e->bytes,
                                  .offset = e->offset,
                                  .live_bytes = e->live_bytes};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_memory_snapshot(const assay_result *of, size_t index, assay_memory_snapshot *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    if (index >= m->n_snapshots)
        return false;
    const profile_snapshot *s = &m->snapshots[index];
    const assay_memory_snapshot x = {.kind = word(s->kind),
                                     .node = text(s->node),
                                     .step = s->step,
                                     .live_bytes = s->live_bytes,
                                     .n_values = s->n_values,
                                     .values_left_out = s->left_out};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_snapshot_value(const assay_result *of, size_t snapshot, size_t index,
                                  assay_live_value *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    return snapshot < m->n_snapshots &&
           value_at(m->snapshots[snapshot].values, m->snapshots[snapshot].n_values, index, out);
}
