/* The comparison of profiles. Layers of two are aligned by structure (align.h); what has no partner was removed
 * or added, what has one and is not the same was reshaped or changed.
 *
 * The peak of a memory plan is the sum of what is live then, its witnesses: a layer's share of the difference of
 * two peaks is what its outputs hold at the second less what they hold at the first.
 */
#include "study/compare.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "study/align.h"

/* ---- types ---- */

static uint64_t largest(const comparison_type *t, uint32_t n)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = t->flops[i] > most ? t->flops[i] : most;
    return most;
}

static int by_flops(const void *a, const void *b)
{
    const comparison_type *x = a, *y = b;
    uint64_t p = largest(x, COMPARISON_MAX), q = largest(y, COMPARISON_MAX);
    return p != q ? (p < q ? 1 : -1) : str_cmp(x->type, y->type);
}

static bool collect_types(const profile *const *profiles, uint32_t n, arena *a, comparison *out)
{
    VEC(comparison_type) list = {0};
    map places;
    if (!map_init(&places, a, 64))
        return false;
    for (uint32_t p = 0; p < n; p++) {
        for (uint32_t i = 0; i < profiles[p]->n_operations; i++) {
            const profile_operation *o = &profiles[p]->operations[i];
            uint32_t at = map_get(&places, o->type);
            comparison_type *t = at != MAP_NONE ? &list.items[at] : VEC_PUSH(a, &list);
            if (!t || (at == MAP_NONE && !map_put(&places, o->type, list.n - 1)))
                return false;
            t->type = o->type;
            t->n = n;
            t->count[p] = o->count;
            t->flops[p] = o->flops;
            t->macs[p] = o->macs;
        }
    }
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_flops);
    out->types = list.items;
    out->n_types = list.n;
    return true;
}

/* ---- layers of two ---- */

typedef VEC(comparison_layer) layer_list;

typedef struct pairing {
    arena *arena;
    const profile *a, *b;
    alignment of;
    uint64_t *peak_a, *peak_b; /* bytes live at the peak, by layer */
    layer_list differ, peak, timed;
    bool has_times, across;
    uint32_t same, renamed;
} pairing;

static comparison_change change_of(const profile_layer *before, const profile_layer *after,
                                   bool across)
{
    return !before                                 ? CHANGE_ADDED
           : !after                                ? CHANGE_REMOVED
           : align_same(before, after, across)     ? CHANGE_NONE
           : align_reshaped(before, after, across) ? CHANGE_RESHAPED
                                                   : CHANGE_CHANGED;
}

/* Witnesses name their producer; of layers of one name the first takes it. */
static uint64_t *peak_by_layer(const profile *p, arena *a)
{
    uint64_t *bytes = ARENA_ARRAY(a, uint64_t, (size_t)p->n_layers + 1);
    map names;
    if (!bytes || !map_init(&names, a, p->n_layers))
        return NULL;
    for (uint32_t i = p->n_layers; i-- > 0;)
        if (p->layers[i].name.n && !map_put(&names, p->layers[i].name, i))
            return NULL;
    for (uint32_t i = 0; i < p->memory_plan.n_witnesses; i++) {
        const profile_witness *w = &p->memory_plan.witnesses[i];
        uint32_t at = w->producer.n ? map_get(&names, w->producer) : MAP_NONE;
        if (at != MAP_NONE)
            bytes[at] += w->bytes;
    }
    return bytes;
}

static const comparison_side *side_of(arena *a, const profile_layer *l, uint64_t peak_bytes)
{
    comparison_side *side = ARENA_NEW(a, comparison_side);
    profile_shape *shapes = ARENA_ARRAY(a, profile_shape, (size_t)l->n_outputs + 1);
    if (!side || !shapes)
        return NULL;
    for (uint32_t i = 0; i < l->n_outputs; i++)
        shapes[i] = l->outputs[i].shape;
    *side = (comparison_side){.name = l->name,
                              .output_shapes = shapes,
                              .n_output_shapes = l->n_outputs,
                              .flops = l->flops,
                              .macs = l->macs,
                              .parameters = l->parameters,
                              .memory = l->memory,
                              .peak_bytes = peak_bytes,
                              .time_ms = l->time_ms};
    return side;
}

/* Those that differ, where both say which attributes they have. */
static bool list_attributes(arena *a, const profile_layer *before, const profile_layer *after,
                            comparison_layer *out)
{
    VEC(comparison_attribute) list = {0};
    attribute_pair p;
    if (!before || !after || !before->attributes_told || !after->attributes_told)
        return true;
    for (uint32_t i = 0, k = 0;
         attribute_next(before->attributes, after->attributes, &i, &k, &p);) {
        if (!VEC_ADD(a, &list,
                     (comparison_attribute){.name = p.before ? p.before->name : p.after->name,
                                            .before = p.before,
                                            .after = p.after}))
            return false;
    }
    out->attributes = list.items;
    out->n_attributes = list.n;
    return true;
}

/* Attributes of operators of two formats do not compare. */
static bool make_layer(arena *a, const profile_layer *before, const profile_layer *after,
                       bool across, comparison_layer *l)
{
    const profile_layer *any = after ? after : before;
    assert(any);
    l->type = any->type;
    l->op = any->op;
    return across || list_attributes(a, before, after, l);
}

static bool push_layer(arena *a, layer_list *list, const comparison_layer *l)
{
    comparison_layer *to = VEC_PUSH(a, list);
    if (to)
        *to = *l;
    return to != NULL;
}

/* Where the layer belongs: among those that differ, at the peak, among those with times. */
static bool take_pair(pairing *g, uint32_t i, uint32_t k)
{
    const profile_layer *before = i != ALIGN_NONE ? &g->a->layers[i] : NULL;
    const profile_layer *after = k != ALIGN_NONE ? &g->b->layers[k] : NULL;
    uint64_t peak_before = before ? g->peak_a[i] : 0, peak_after = after ? g->peak_b[k] : 0;
    comparison_layer l = {.change = change_of(before, after, g->across)};
    bool is_same = l.change == CHANGE_NONE, moves_peak = peak_before != peak_after;
    assert(!is_same || (before && after));
    if (is_same && str_eq(before->name, after->name))
        g->same++;
    else if (is_same)
        g->renamed++;
    if (is_same && !moves_peak && !g->has_times)
        return true;
    if (before)
        l.before = side_of(g->arena, before, peak_before);
    if (after)
        l.after = side_of(g->arena, after, peak_after);
    if (arena_failed(g->arena) || !make_layer(g->arena, before, after, g->across, &l))
        return false;
    compare_describe(g->arena, g->has_times, &l);
    return (is_same || push_layer(g->arena, &g->differ, &l)) &&
           (!moves_peak || push_layer(g->arena, &g->peak, &l)) &&
           (!g->has_times || push_layer(g->arena, &g->timed, &l));
}

/* ---- in order of weight ---- */

static int by_name(const comparison_layer *x, const comparison_layer *y)
{
    int order = str_cmp(x->name, y->name);
    return order ? order : (int)x->change - (int)y->change;
}

static uint64_t size_of(int64_t difference)
{
    return difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
}

#define APART(layer, figure) size_of((layer)->difference.figure)

static int by_difference(const void *a, const void *b)
{
    const comparison_layer *x = a, *y = b;
    uint64_t p = APART(x, flops), q = APART(y, flops);
    if (p != q)
        return p < q ? 1 : -1;
    p = APART(x, memory);
    q = APART(y, memory);
    return p != q ? (p < q ? 1 : -1) : by_name(x, y);
}

static int by_peak(const void *a, const void *b)
{
    const comparison_layer *x = a, *y = b;
    uint64_t p = APART(x, peak_bytes), q = APART(y, peak_bytes);
    return p != q ? (p < q ? 1 : -1) : by_name(x, y);
}

static int by_time(const void *a, const void *b)
{
    const comparison_layer *x = a, *y = b;
    double p = fabs(x->difference.time_ms), q = fabs(y->difference.time_ms);
    return p != q ? (p < q ? 1 : -1) : by_name(x, y);
}

static void hand_over(layer_list *from, int (*order)(const void *, const void *),
                      const comparison_layer **to, uint32_t *n)
{
    if (from->n)
        qsort(from->items, from->n, sizeof *from->items, order);
    *to = from->items;
    *n = from->n;
}

static bool timed(const profile *p)
{
    return p->measured && p->measured->ledger.present;
}

static bool collect_pairs(pairing *g)
{
    for (uint32_t k = 0; k < g->b->n_layers; k++)
        if (!take_pair(g, g->of.of_b[k], k))
            return false;
    for (uint32_t i = 0; i < g->a->n_layers; i++)
        if (g->of.of_a[i] == ALIGN_NONE && !take_pair(g, i, ALIGN_NONE))
            return false;
    return true;
}

static assay_status collect_layers(const profile *const *pair, arena *a, comparison *out,
                                   assay_error *err)
{
    pairing g = {.arena = a, .a = pair[0], .b = pair[1]};
    g.has_times = timed(g.a) && timed(g.b);
    g.across = align_is_across(g.a, g.b);
    TRY(align_layers(g.a, g.b, a, &g.of, err));
    g.peak_a = peak_by_layer(g.a, a);
    g.peak_b = peak_by_layer(g.b, a);
    TRY_MEMORY(g.peak_a && g.peak_b && collect_pairs(&g), err);
    out->is_pair = true;
    out->same = g.same;
    out->renamed = g.renamed;
    hand_over(&g.differ, by_difference, &out->layers, &out->n_layers);
    hand_over(&g.peak, by_peak, &out->peak, &out->n_peak);
    hand_over(&g.timed, by_time, &out->timed, &out->n_timed);
    return ASSAY_OK;
}

/* Figures of two lenses do not compare. */
static assay_status same_lens(const profile *const *profiles, uint32_t n, assay_error *err)
{
    str first = profiles[0]->lens;
    for (uint32_t i = 1; i < n; i++)
        if (profiles[i]->lens.n && first.n && !str_eq(profiles[i]->lens, first))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "result 1 uses the FLOP-counting convention '" STR_FMT
                            "', result %u uses '" STR_FMT "'. Compare results of one --lens.",
                            STR_ARG(first), i + 1, STR_ARG(profiles[i]->lens));
    return ASSAY_OK;
}

assay_status compare_run(const profile *const *profiles, uint32_t n, arena *a, comparison *out,
                         assay_error *err)
{
    if (n < 2 || n > COMPARISON_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "compare needs 2 to %d models, got %u",
                        COMPARISON_MAX, n);
    TRY(same_lens(profiles, n, err));
    *out = (comparison){.lens = profiles[0]->lens};
    TRY_MEMORY(collect_types(profiles, n, a, out), err);
    bool graphs = !profiles[0]->inventory.alone && !profiles[1]->inventory.alone;
    return n == 2 && graphs ? collect_layers(profiles, a, out, err) : ASSAY_OK;
}
