/* The comparison of profiles.
 *
 * Layers of two profiles are aligned by name first: exported and built-in models of one family carry the
 * names of their modules, so a changed width shows as changed layers. Then by module, then by structure:
 * layers of equal type and equal figures, in the order they run, are the same under another name. The rest
 * was removed or added.
 */
#include "study/compare.h"

#include <stdlib.h>

#include "base/map.h"

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

typedef struct aligning {
    comparison *c;
    const profile *a, *b;
    uint32_t *partner; /* [b->n_layers] the layer of a, or NOBODY */
    uint8_t *taken;    /* [a->n_layers] */
    VEC(comparison_layer) list;
} aligning;

#define NOBODY UINT32_MAX

static bool same_figures(const profile_layer *x, const profile_layer *y)
{
    return x->flops == y->flops && x->macs == y->macs && x->parameters == y->parameters &&
           x->memory == y->memory && x->times == y->times;
}

/* What two layers have in common when they are the same: a text per layer, empty for none. */
typedef str key_fn(arena *a, const profile_layer *l);

static str name_key(arena *a, const profile_layer *l)
{
    return str_printf(a, STR_FMT " " STR_FMT, STR_ARG(l->type), STR_ARG(l->name));
}

/* Files name nodes after their module and operator, builders after the module alone. */
static str module_key(arena *a, const profile_layer *l)
{
    if (str_empty(l->module))
        return STR("");
    return str_printf(a, STR_FMT " " STR_FMT, STR_ARG(l->type), STR_ARG(l->module));
}

static str work_key(arena *a, const profile_layer *l)
{
    return str_printf(a, STR_FMT " %llu %llu %llu %llu", STR_ARG(l->type),
                      (unsigned long long)l->flops, (unsigned long long)l->macs,
                      (unsigned long long)l->parameters, (unsigned long long)l->memory);
}

/* Free layers of a stand in chains by key, the first to run first; those of b take from them. */
static bool align(aligning *g, key_fn *key)
{
    uint32_t n = g->a->n_layers;
    uint32_t *next = ARENA_ARRAY(g->c->arena, uint32_t, (size_t)n + 1);
    map heads;
    if (!next || !map_init(&heads, g->c->arena, n))
        return false;
    for (uint32_t i = n; i-- > 0;) {
        if (g->taken[i])
            continue;
        str s = key(g->c->arena, &g->a->layers[i]);
        next[i] = s.p ? map_get(&heads, s) : NOBODY;
        if (!s.p || (s.n && !map_put(&heads, s, i)))
            return false;
    }
    for (uint32_t i = 0; i < g->b->n_layers; i++) {
        if (g->partner[i] != NOBODY)
            continue;
        str s = key(g->c->arena, &g->b->layers[i]);
        uint32_t at = s.n ? map_get(&heads, s) : MAP_NONE;
        if (!s.p || (at != MAP_NONE && !map_put(&heads, s, next[at])))
            return false;
        g->partner[i] = at;
        if (at != MAP_NONE)
            g->taken[at] = 1;
    }
    return true;
}

static bool keep(aligning *g, comparison_change change, const profile_layer *before,
                 const profile_layer *after)
{
    uint64_t x = before ? before->flops : 0, y = after ? after->flops : 0;
    comparison_layer *l = VEC_PUSH(g->c->arena, &g->list);
    if (l)
        *l = (comparison_layer){.change = change,
                                .before = before,
                                .after = after,
                                .difference = x > y ? x - y : y - x};
    return l != NULL;
}

static bool keep_pair(aligning *g, uint32_t i)
{
    const profile_layer *after = &g->b->layers[i];
    if (g->partner[i] == NOBODY)
        return keep(g, CHANGE_ADDED, NULL, after);
    const profile_layer *before = &g->a->layers[g->partner[i]];
    if (!same_figures(before, after))
        return keep(g, CHANGE_CHANGED, before, after);
    if (str_eq(before->name, after->name))
        g->c->same++;
    else
        g->c->renamed++;
    return true;
}

static int by_difference(const void *a, const void *b)
{
    const comparison_layer *x = a, *y = b;
    if (x->difference != y->difference)
        return x->difference < y->difference ? 1 : -1;
    const profile_layer *p = x->after ? x->after : x->before, *q = y->after ? y->after : y->before;
    int order = str_cmp(p->name, q->name);
    return order ? order : (int)x->change - (int)y->change;
}

static bool collect_layers(comparison *c)
{
    aligning g = {.c = c, .a = c->profiles[0], .b = c->profiles[1]};
    g.partner = ARENA_ARRAY(c->arena, uint32_t, (size_t)g.b->n_layers + 1);
    g.taken = ARENA_ARRAY(c->arena, uint8_t, (size_t)g.a->n_layers + 1);
    if (!g.partner || !g.taken)
        return false;
    for (uint32_t i = 0; i < g.b->n_layers; i++)
        g.partner[i] = NOBODY;
    if (!align(&g, name_key) || !align(&g, module_key) || !align(&g, work_key))
        return false;
    for (uint32_t i = 0; i < g.b->n_layers; i++)
        if (!keep_pair(&g, i))
            return false;
    for (uint32_t i = 0; i < g.a->n_layers; i++)
        if (!g.taken[i] && !keep(&g, CHANGE_REMOVED, &g.a->layers[i], NULL))
            return false;
    if (g.list.n)
        qsort(g.list.items, g.list.n, sizeof *g.list.items, by_difference);
    c->layers = g.list.items;
    c->n_layers = g.list.n;
    return true;
}

assay_status compare_run(const profile *const *profiles, uint32_t n, arena *a, comparison *out,
                         assay_error *err)
{
    if (n < 2 || n > COMPARISON_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "From 2 to %d models can be compared, not %u.",
                        COMPARISON_MAX, n);
    *out = (comparison){.arena = a, .profiles = profiles, .n = n};
    if (!collect_types(out) || (n == 2 && !collect_layers(out)))
        return err_no_memory(err);
    return ASSAY_OK;
}
