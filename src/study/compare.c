/* The comparison of profiles. Layers of two are aligned by structure (align.h); what has no partner was removed
 * or added, what has one and is not the same was reshaped or changed.
 *
 * The peak of a memory plan is the sum of what is live then, its witnesses: a layer's share of the difference of
 * two peaks is what its outputs hold at the second less what they hold at the first.
 */
#include "study/compare.h"

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

static bool collect_types(comparison *c)
{
    VEC(comparison_type) list = {0};
    map places;
    if (!map_init(&places, c->arena, 64))
        return false;
    for (uint32_t p = 0; p < c->n; p++) {
        for (uint32_t i = 0; i < c->profiles[p]->n_operations; i++) {
            const profile_operation *o = &c->profiles[p]->operations[i];
            uint32_t at = map_get(&places, o->type);
            comparison_type *t = at != MAP_NONE ? &list.items[at] : VEC_PUSH(c->arena, &list);
            if (!t || (at == MAP_NONE && !map_put(&places, o->type, list.n - 1)))
                return false;
            t->type = o->type;
            t->count[p] = o->count;
            t->flops[p] = o->flops;
            t->macs[p] = o->macs;
        }
    }
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_flops);
    c->types = list.items;
    c->n_types = list.n;
    return true;
}

/* ---- layers of two ---- */

typedef VEC(comparison_layer) layer_list;

typedef struct pairing {
    comparison *c;
    const profile *a, *b;
    alignment of;
    uint64_t *peak_a, *peak_b; /* bytes live at the peak, by layer */
    layer_list differ, peak, timed;
    bool has_times;
} pairing;

static comparison_change change_of(const profile_layer *before, const profile_layer *after)
{
    return !before                         ? CHANGE_ADDED
           : !after                        ? CHANGE_REMOVED
           : align_same(before, after)     ? CHANGE_NONE
           : align_reshaped(before, after) ? CHANGE_RESHAPED
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

static bool push(arena *a, layer_list *list, const comparison_layer *l)
{
    comparison_layer *to = VEC_PUSH(a, list);
    if (to)
        *to = *l;
    return to != NULL;
}

static bool take_pair(pairing *g, uint32_t i, uint32_t k)
{
    const profile_layer *before = i != ALIGN_NONE ? &g->a->layers[i] : NULL;
    const profile_layer *after = k != ALIGN_NONE ? &g->b->layers[k] : NULL;
    uint64_t x = before ? before->flops : 0, y = after ? after->flops : 0;
    const comparison_layer l = {.change = change_of(before, after),
                                .before = before,
                                .after = after,
                                .difference = x > y ? x - y : y - x,
                                .peak_before = before ? g->peak_a[i] : 0,
                                .peak_after = after ? g->peak_b[k] : 0};
    if (l.change == CHANGE_NONE && str_eq(before->name, after->name))
        g->c->same++;
    else if (l.change == CHANGE_NONE)
        g->c->renamed++;
    else if (!push(g->c->arena, &g->differ, &l))
        return false;
    if (l.peak_before != l.peak_after && !push(g->c->arena, &g->peak, &l))
        return false;
    return !g->has_times || push(g->c->arena, &g->timed, &l);
}

/* ---- in order of weight ---- */

static int by_name(const comparison_layer *x, const comparison_layer *y)
{
    int order = str_cmp(comparison_any(x)->name, comparison_any(y)->name);
    return order ? order : (int)x->change - (int)y->change;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t memory_apart(const comparison_layer *l)
{
    return apart(l->before ? l->before->memory : 0, l->after ? l->after->memory : 0);
}

static int by_difference(const void *a, const void *b)
{
    const comparison_layer *x = a, *y = b;
    if (x->difference != y->difference)
        return x->difference < y->difference ? 1 : -1;
    uint64_t p = memory_apart(x), q = memory_apart(y);
    return p != q ? (p < q ? 1 : -1) : by_name(x, y);
}

static int by_peak(const void *a, const void *b)
{
    const comparison_layer *x = a, *y = b;
    uint64_t p = apart(x->peak_before, x->peak_after), q = apart(y->peak_before, y->peak_after);
    return p != q ? (p < q ? 1 : -1) : by_name(x, y);
}

static double time_of(const profile_layer *l)
{
    return l && l->time_ms > 0 ? l->time_ms : 0;
}

static double time_apart(const comparison_layer *l)
{
    double d = time_of(l->after) - time_of(l->before);
    return d < 0 ? -d : d;
}

static int by_time(const void *a, const void *b)
{
    double p = time_apart(a), q = time_apart(b);
    return p != q ? (p < q ? 1 : -1) : by_name(a, b);
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

static assay_status collect_layers(comparison *c, assay_error *err)
{
    pairing g = {.c = c, .a = c->profiles[0], .b = c->profiles[1]};
    g.has_times = timed(g.a) && timed(g.b);
    TRY(align_layers(g.a, g.b, c->arena, &g.of, err));
    g.peak_a = peak_by_layer(g.a, c->arena);
    g.peak_b = peak_by_layer(g.b, c->arena);
    if (!g.peak_a || !g.peak_b || !collect_pairs(&g))
        return err_no_memory(err);
    for (uint32_t i = 0; g.has_times && i < g.a->n_layers; i++)
        c->timed_before_ms += time_of(&g.a->layers[i]);
    hand_over(&g.differ, by_difference, &c->layers, &c->n_layers);
    hand_over(&g.peak, by_peak, &c->peak, &c->n_peak);
    hand_over(&g.timed, by_time, &c->timed, &c->n_timed);
    return ASSAY_OK;
}

/* Figures of two lenses do not compare. */
static assay_status same_lens(const comparison *c, assay_error *err)
{
    str first = c->profiles[0]->lens;
    for (uint32_t i = 1; i < c->n; i++)
        if (c->profiles[i]->lens.n && first.n && !str_eq(c->profiles[i]->lens, first))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "The first counts FLOPs by the lens '" STR_FMT
                            "', number %u by '" STR_FMT "': compare results of one --lens.",
                            STR_ARG(first), i + 1, STR_ARG(c->profiles[i]->lens));
    return ASSAY_OK;
}

assay_status compare_run(const profile *const *profiles, uint32_t n, arena *a, comparison *out,
                         assay_error *err)
{
    if (n < 2 || n > COMPARISON_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "From 2 to %d models can be compared, not %u.",
                        COMPARISON_MAX, n);
    *out = (comparison){.arena = a, .profiles = profiles, .n = n};
    TRY(same_lens(out, err));
    if (!collect_types(out))
        return err_no_memory(err);
    return n == 2 ? collect_layers(out, err) : ASSAY_OK;
}
