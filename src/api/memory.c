/* The memory plan as the public structs show it, and which moments of it are asked for ("at"). */
#include "api/memory.h"

#include "api/api.h"
#include "base/num.h"

/* ---- options ---- */

static bool makes(const profile_layer *l, str value)
{
    for (uint32_t i = 0; i < l->n_outputs; i++)
        if (str_eq(l->outputs[i].name, value))
            return true;
    return false;
}

/* As the console writes it. */
static bool is_shown_as(const profile_layer *l, str word, sbuf *scratch)
{
    scratch->n = 0;
    report_name(scratch, l->name);
    return !scratch->failed && str_eq((str){scratch->p, (uint32_t)scratch->n}, word);
}

static bool is_step(str word, uint32_t n_layers, uint32_t *step)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9')
            return false;
        v = sat_add(sat_mul(v, 10), (uint64_t)(word.p[i] - '0'));
    }
    *step = (uint32_t)v;
    return v < n_layers;
}

/* The layer of that name; else the one shown by that name, or that makes the value; else the step. */
static bool find_step(const profile *p, str word, uint32_t *step)
{
    sbuf scratch = {0};
    bool found = false;
    for (uint32_t i = 0; i < p->n_layers && !found; i++)
        if ((found = str_eq(p->layers[i].name, word)))
            *step = i;
    for (uint32_t i = 0; i < p->n_layers && !found; i++)
        if ((found = makes(&p->layers[i], word) || is_shown_as(&p->layers[i], word, &scratch)))
            *step = i;
    sbuf_free(&scratch);
    return found || is_step(word, p->n_layers, step);
}

static assay_status no_such_layer(const profile *p, str word, arena *work, assay_error *err)
{
    const char **names = ARENA_ARRAY(work, const char *, p->n_layers + (size_t)1);
    sbuf hint = {0};
    if (!names)
        return err_no_memory(err);
    for (uint32_t i = 0; i < p->n_layers; i++)
        names[i] = p->layers[i].name.n ? p->layers[i].name.p : "";
    text_did_you_mean(&hint, word, names, p->n_layers);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "There is no layer '" STR_FMT
                              "' to take a snapshot at, and none that makes a value of that "
                              "name.%s",
                              STR_ARG(word), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

assay_status job_memory_detail(const assay_options *o, const profile *p, arena *work,
                               memory_detail *out, assay_error *err)
{
    uint32_t *at = ARENA_ARRAY(work, uint32_t, o->analysis.at.n + (size_t)1);
    if (!at)
        return err_no_memory(err);
    for (uint32_t i = 0; i < o->analysis.at.n; i++)
        if (!find_step(p, o->analysis.at.items[i], &at[i]))
            return no_such_layer(p, o->analysis.at.items[i], work, err);
    *out = (memory_detail){.slots = o->view.verbose,
                           .events = o->analysis.allocations || o->analysis.at.n,
                           .at = at,
                           .n_at = o->analysis.at.n};
    return ASSAY_OK;
}

/* ---- walks ---- */

static const char *text(str s)
{
    return s.n ? s.p : "";
}

static const char *word(const char *s)
{
    return s ? s : "";
}

bool assay_profile_memory_plan(const assay_profile *of, assay_memory_plan *out)
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

bool assay_profile_memory_moment(const assay_profile *of, size_t index, assay_memory_moment *out)
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

bool assay_profile_memory_witness(const assay_profile *of, size_t index, assay_live_value *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    return value_at(m->witnesses, m->n_witnesses, index, out);
}

bool assay_profile_memory_slot(const assay_profile *of, size_t index, assay_memory_slot *out)
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

bool assay_profile_memory_event(const assay_profile *of, size_t index, assay_memory_event *out)
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

bool assay_profile_memory_snapshot(const assay_profile *of, size_t index,
                                   assay_memory_snapshot *out)
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

bool assay_profile_snapshot_value(const assay_profile *of, size_t snapshot, size_t index,
                                  assay_live_value *out)
{
    const profile_memory_plan *m = &of->p->memory_plan;
    return snapshot < m->n_snapshots &&
           value_at(m->snapshots[snapshot].values, m->snapshots[snapshot].n_values, index, out);
}
