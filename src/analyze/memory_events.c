/* Events: three lists that are each in order of steps (births, shares, deaths of buffers) are merged into one. The
 * bytes alive after each event are summed on the way; before a step's first death they are the timeline's.
 *
 * Snapshots: the first and the last step, the peak, the highest of the other local maxima, and the steps that were
 * requested. A plateau is one maximum, at its first step.
 */
#include "analyze/memory_events.h"

#include <assert.h>
#include <stdlib.h>

enum { MAXIMA_MOST = 8 };

/* ---- who is alive ---- */

typedef struct alive {
    uint64_t bytes;
    str name;
    const ir_value *value;
} alive;

static int larger_first(const void *a, const void *b)
{
    const alive *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : str_cmp(x->name, y->name);
}

static bool lives_at(const memory_buffer *b, uint32_t step)
{
    return b->from <= step && step <= b->to && b->bytes > 0;
}

/* In the scratch arena, in no order; NULL if out of memory. */
static alive *find_alive(const memory_story *s, uint32_t step, uint32_t *n)
{
    *n = 0;
    for (uint32_t b = 0; b < s->n_buffers; b++)
        *n += lives_at(&s->buffers[b], step);
    alive *all = ARENA_ARRAY(s->scratch, alive, *n + (size_t)1);
    uint32_t k = 0;
    for (uint32_t b = 0; all && b < s->n_buffers; b++) {
        if (!lives_at(&s->buffers[b], step))
            continue;
        const ir_value *v = ir_value_at(s->model, s->buffers[b].value);
        all[k++] = (alive){.bytes = s->buffers[b].bytes, .name = v->name, .value = v};
    }
    assert(!all || k == *n);
    return all;
}

static profile_witness witness_of(const memory_story *s, const alive *x)
{
    const ir_id maker = x->value->producer;
    arena *a = s->p->arena;
    return (profile_witness){
        .value = str_copy(a, x->name),
        .producer = maker == IR_NONE ? (str){0} : str_copy(a, ir_node_at(s->model, maker)->name),
        .bytes = x->bytes};
}

assay_status memory_alive(const memory_story *s, uint32_t step, uint32_t most,
                          const profile_witness **out, uint32_t *n, uint64_t *left_out,
                          assay_error *err)
{
    uint32_t found;
    alive *all = find_alive(s, step, &found);
    *n = found < most ? found : most;
    *left_out = found - *n;
    profile_witness *list = ARENA_ARRAY(s->p->arena, profile_witness, *n + (size_t)1);
    TRY_MEMORY(all && list, err);
    qsort(all, found, sizeof *all, larger_first);
    for (uint32_t i = 0; i < *n; i++)
        list[i] = witness_of(s, &all[i]);
    *out = list;
    return ASSAY_OK;
}

/* ---- slots ---- */

static assay_status list_slots(const memory_story *s, assay_error *err)
{
    profile *p = s->p;
    profile_slot *slots = ARENA_ARRAY(p->arena, profile_slot, s->n_buffers + (size_t)1);
    TRY_MEMORY(slots, err);
    for (uint32_t b = 0; b < s->n_buffers; b++)
        slots[b] = (profile_slot){
            .value = str_copy(p->arena, ir_value_at(s->model, s->buffers[b].value)->name),
            .offset = s->buffers[b].offset,
            .bytes = s->buffers[b].bytes,
            .from = s->buffers[b].from,
            .to = s->buffers[b].to};
    p->memory_plan.slots = slots;
    p->memory_plan.n_slots = s->n_buffers;
    return ASSAY_OK;
}

/* ---- events ---- */

/* Numbers of buffers by their first or last step, equal ones as they were. */
static uint32_t *in_order(const memory_story *s, bool by_end)
{
    uint32_t *order = ARENA_ARRAY(s->scratch, uint32_t, s->n_buffers + (size_t)1);
    uint32_t *at = ARENA_ARRAY(s->scratch, uint32_t, s->n_steps + (size_t)2);
    if (!order || !at)
        return NULL;
    for (uint32_t b = 0; b < s->n_buffers; b++)
        at[(by_end ? s->buffers[b].to : s->buffers[b].from) + 1]++;
    for (uint32_t i = 0; i < s->n_steps; i++)
        at[i + 1] += at[i];
    for (uint32_t b = 0; b < s->n_buffers; b++)
        order[at[by_end ? s->buffers[b].to : s->buffers[b].from]++] = b;
    return order;
}

typedef struct telling {
    const memory_story *s;
    profile_event *events;
    uint32_t n;
    uint64_t live;
} telling;

static void add_event(telling *t, const char *kind, uint32_t step, uint32_t slot, str value, str of)
{
    const profile_memory_plan *plan = &t->s->p->memory_plan;
    assert(step < plan->n_timeline && slot < plan->n_slots);
    t->events[t->n++] = (profile_event){.kind = kind,
                                        .node = plan->timeline[step].node,
                                        .value = value,
                                        .of = of,
                                        .step = step,
                                        .slot = slot,
                                        .bytes = plan->slots[slot].bytes,
                                        .offset = plan->slots[slot].offset,
                                        .live_bytes = t->live};
}

static void allocate(telling *t, uint32_t step, uint32_t slot)
{
    const profile_slot *x = &t->s->p->memory_plan.slots[slot];
    t->live = sat_add(t->live, x->bytes);
    add_event(t, "allocate", step, slot, x->value, (str){0});
}

static void give_back(telling *t, uint32_t step, uint32_t slot)
{
    const profile_slot *x = &t->s->p->memory_plan.slots[slot];
    t->live = t->live > x->bytes ? t->live - x->bytes : 0;
    add_event(t, "free", step, slot, x->value, (str){0});
}

static void take_over(telling *t, const memory_share *x)
{
    arena *a = t->s->p->arena;
    add_event(t, x->view ? "alias" : "reuse", x->step, x->buffer,
              str_copy(a, ir_value_at(t->s->model, x->value)->name),
              str_copy(a, ir_value_at(t->s->model, x->of)->name));
}

static void merge(telling *t, const uint32_t *born, const uint32_t *dying)
{
    const memory_story *s = t->s;
    uint32_t b = 0, d = 0, k = 0;
    for (uint32_t step = 0; step < s->n_steps; step++) {
        for (; b < s->n_buffers && s->buffers[born[b]].from == step; b++)
            allocate(t, step, born[b]);
        for (; k < s->n_shares && s->shares[k].step == step; k++)
            take_over(t, &s->shares[k]);
        for (; d < s->n_buffers && s->buffers[dying[d]].to == step; d++)
            give_back(t, step, dying[d]);
    }
    assert(b == s->n_buffers && d == s->n_buffers && k == s->n_shares);
}

static assay_status list_events(const memory_story *s, assay_error *err)
{
    profile *p = s->p;
    size_t most = 2 * (size_t)s->n_buffers + s->n_shares + 1;
    telling t = {.s = s, .events = ARENA_ARRAY(p->arena, profile_event, most)};
    const uint32_t *born = in_order(s, false), *dying = in_order(s, true);
    TRY_MEMORY(t.events && born && dying, err);
    merge(&t, born, dying);
    assert(t.n < most);
    p->memory_plan.events = t.events;
    p->memory_plan.n_events = t.n;
    return ASSAY_OK;
}

/* ---- snapshots ---- */

typedef struct moment {
    uint32_t step;
    const char *kind;
    int rank; /* among those of one step */
} moment;

typedef VEC(moment) moment_list;

static bool add_moment(const memory_story *s, moment_list *list, uint32_t step, const char *kind)
{
    assert(step < s->n_steps);
    moment *m = VEC_PUSH(s->scratch, list);
    if (m)
        *m = (moment){.step = step, .kind = kind, .rank = (int)list->n};
    return m != NULL;
}

/* Higher than what precedes the step and, past a plateau that it begins, after it. */
static bool is_maximum(const memory_story *s, uint32_t step)
{
    uint32_t next = step + 1;
    if (step == 0 || s->live[step - 1] >= s->live[step])
        return false;
    while (next < s->n_steps && s->live[next] == s->live[step])
        next++;
    return next < s->n_steps && s->live[next] < s->live[step];
}

/* Keeps the highest, the earlier of equals. */
static void keep_maximum(const memory_story *s, uint32_t *kept, uint32_t *n, uint32_t step)
{
    uint32_t at = *n < MAXIMA_MOST ? (*n)++ : MAXIMA_MOST;
    for (; at > 0 && s->live[kept[at - 1]] < s->live[step]; at--)
        if (at < MAXIMA_MOST)
            kept[at] = kept[at - 1];
    if (at < MAXIMA_MOST)
        kept[at] = step;
}

static bool add_maxima(const memory_story *s, moment_list *list)
{
    uint32_t kept[MAXIMA_MOST], n = 0;
    bool ok = true;
    for (uint32_t step = 1; step + 1 < s->n_steps; step++)
        if (step != s->peak && is_maximum(s, step))
            keep_maximum(s, kept, &n, step);
    for (uint32_t i = 0; i < n && ok; i++)
        ok = add_moment(s, list, kept[i], "maximum");
    return ok;
}

static int by_step(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    return x->step != y->step ? (x->step < y->step ? -1 : 1) : x->rank - y->rank;
}

static bool choose_moments(const memory_story *s, moment_list *list)
{
    bool ok = add_moment(s, list, 0, "start") && add_moment(s, list, s->peak, "peak") &&
              add_maxima(s, list);
    for (uint32_t i = 0; ok && i < s->detail->n_at; i++)
        ok = add_moment(s, list, s->detail->at[i], "asked");
    ok = ok && add_moment(s, list, s->n_steps - 1, "end");
    if (ok)
        qsort(list->items, list->n, sizeof *list->items, by_step);
    return ok;
}

static assay_status take_snapshot(const memory_story *s, const moment *m, profile_snapshot *out,
                                  assay_error *err)
{
    *out = (profile_snapshot){.kind = m->kind,
                              .node = s->p->memory_plan.timeline[m->step].node,
                              .step = m->step,
                              .live_bytes = s->live[m->step]};
    return memory_alive(s, m->step, PROFILE_SNAPSHOT_VALUES, &out->values, &out->n_values,
                        &out->left_out, err);
}

static assay_status list_snapshots(const memory_story *s, assay_error *err)
{
    profile *p = s->p;
    moment_list list = {0};
    if (s->n_steps == 0)
        return ASSAY_OK;
    TRY_MEMORY(choose_moments(s, &list), err);
    profile_snapshot *out = ARENA_ARRAY(p->arena, profile_snapshot, list.n);
    TRY_MEMORY(out, err);
    for (uint32_t i = 0; i < list.n; i++)
        TRY(take_snapshot(s, &list.items[i], &out[i], err));
    p->memory_plan.snapshots = out;
    p->memory_plan.n_snapshots = list.n;
    return ASSAY_OK;
}

assay_status memory_tell(const memory_story *s, assay_error *err)
{
    TRY(list_slots(s, err));
    if (!s->detail->events)
        return ASSAY_OK;
    TRY(list_events(s, err));
    return list_snapshots(s, err);
}
