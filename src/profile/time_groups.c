/* See time_groups.h. */
#include "profile/time_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"

bool layer_holds(const profile_layer *l, str part)
{
    return part.n && (str_holds_any_case(l->name, part) || str_holds_any_case(l->type, part) ||
                      str_holds_any_case(l->module, part) || str_holds_any_case(l->op, part));
}

bool layer_next_pattern(str *rest, str *out)
{
    while (str_split(rest, ',', out))
        if (out->n)
            return true;
    return false;
}

bool layer_is_one_of(const profile_layer *l, str patterns)
{
    str part;
    bool any = false;
    while (layer_next_pattern(&patterns, &part)) {
        any = true;
        if (layer_holds(l, part))
            return true;
    }
    return !any;
}

/* ---- who belongs where ---- */

typedef struct member {
    uint32_t layer, group;
} member;

typedef struct grouping {
    const profile *p;
    arena *arena;
    VEC(profile_time_group) groups;
    VEC(member) members;
    map names; /* of the kind at hand */
} grouping;

static bool begin(grouping *g)
{
    return map_init(&g->names, g->arena, 64);
}

/* MAP_NONE if out of memory. */
static uint32_t group_of(grouping *g, const char *by, str name)
{
    uint32_t k = map_get(&g->names, name);
    if (k != MAP_NONE)
        return k;
    profile_time_group *to = VEC_PUSH(g->arena, &g->groups);
    if (!to || !map_put(&g->names, name, g->groups.n - 1))
        return MAP_NONE;
    *to = (profile_time_group){.by = by, .name = name, .time_std_ms = -1};
    return g->groups.n - 1;
}

static bool join(grouping *g, const char *by, str name, uint32_t layer)
{
    uint32_t k = group_of(g, by, name);
    if (k == MAP_NONE)
        return false;
    const profile_layer *l = &g->p->layers[layer];
    profile_time_group *to = &g->groups.items[k];
    to->layers++;
    to->time_ms += l->time_ms;
    to->flops = sat_add(to->flops, l->flops);
    to->memory = sat_add(to->memory, l->memory);
    member *m = VEC_PUSH(g->arena, &g->members);
    if (m)
        *m = (member){layer, k};
    return m != NULL;
}

static bool join_type(grouping *g, uint32_t i)
{
    return join(g, "type", g->p->layers[i].type, i);
}

/* "layer1.0.conv1" is in layer1, layer1.0 and layer1.0.conv1. */
static bool join_modules(grouping *g, uint32_t i)
{
    str path = g->p->layers[i].module;
    for (uint32_t n = 1; n <= path.n; n++)
        if ((n == path.n || path.p[n] == '.') && !join(g, "module", (str){path.p, n}, i))
            return false;
    return true;
}

static bool group_layers(grouping *g, bool (*of)(grouping *g, uint32_t i))
{
    if (!begin(g))
        return false;
    for (uint32_t i = 0; i < g->p->n_layers; i++)
        if (g->p->layers[i].time_ms > 0 && !of(g, i))
            return false;
    return true;
}

static bool group_patterns(grouping *g, str patterns)
{
    str part;
    if (!begin(g))
        return false;
    while (layer_next_pattern(&patterns, &part)) {
        bool again = map_get(&g->names, part) != MAP_NONE; /* a duplicate word */
        if (group_of(g, "pattern", part) == MAP_NONE)      /* also what no layer holds */
            return false;
        for (uint32_t i = 0; i < g->p->n_layers && !again; i++)
            if (g->p->layers[i].time_ms > 0 && layer_holds(&g->p->layers[i], part) &&
                !join(g, "pattern", part, i))
                return false;
    }
    return true;
}

/* ---- deviations ---- */

static bool deviate(grouping *g, const double *per_run, uint32_t runs)
{
    uint32_t n = g->groups.n;
    double *sum = ARENA_ARRAY(g->arena, double, n + 1u),
           *sq = ARENA_ARRAY(g->arena, double, n + 1u);
    double *now = ARENA_ARRAY(g->arena, double, n + 1u);
    if (!sum || !sq || !now)
        return false;
    for (uint32_t r = 0; r < runs; r++) {
        memset(now, 0, sizeof *now * n);
        for (uint32_t i = 0; i < g->members.n; i++)
            now[g->members.items[i].group] +=
                per_run[(size_t)r * g->p->n_layers + g->members.items[i].layer];
        for (uint32_t k = 0; k < n; k++) {
            sum[k] += now[k];
            sq[k] += now[k] * now[k];
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        double mean = sum[k] / runs, square = sq[k] / runs - mean * mean;
        g->groups.items[k].time_std_ms = square > 0 ? sqrt(square) : 0;
    }
    return true;
}

static int kind_of(const profile_time_group *g)
{
    return g->by[0] == 't' ? 0 : g->by[0] == 'm' ? 1 : 2;
}

static int in_order(const void *a, const void *b)
{
    const profile_time_group *x = a, *y = b;
    if (kind_of(x) != kind_of(y))
        return kind_of(x) - kind_of(y);
    if (x->time_ms != y->time_ms)
        return x->time_ms > y->time_ms ? -1 : 1;
    return str_cmp(x->name, y->name);
}

bool time_groups_make(const profile *p, const double *per_run, uint32_t runs, str patterns,
                      arena *a, time_groups *out)
{
    grouping g = {.p = p, .arena = a};
    *out = (time_groups){0};
    bool good = group_layers(&g, join_type) && group_layers(&g, join_modules) &&
                group_patterns(&g, patterns);
    if (good && per_run && runs)
        good = deviate(&g, per_run, runs);
    if (!good)
        return false;
    if (g.groups.n)
        qsort(g.groups.items, g.groups.n, sizeof *g.groups.items, in_order);
    time_groups_settle(p, g.groups.items, g.groups.n);
    *out = (time_groups){g.groups.items, g.groups.n};
    return true;
}

void time_groups_settle(const profile *p, profile_time_group *groups, uint32_t n)
{
    double run = p->measured ? p->measured->ledger.run_ms : 0;
    for (uint32_t i = 0; i < n; i++) {
        profile_time_group *g = &groups[i];
        g->percent = run > 0 ? 100 * g->time_ms / run : 0;
        g->gflops_per_s = g->time_ms > 0 ? (double)g->flops / g->time_ms / 1e6 : NAN;
        g->gbytes_per_s = g->time_ms > 0 ? (double)g->memory / g->time_ms / 1e6 : NAN;
        g->compute_bound = g->memory &&
                           (double)g->flops / (double)g->memory >= p->bottlenecks.threshold;
    }
}

/* ---- of which patterns ---- */

static bool is_listed(str patterns, str name)
{
    str part;
    while (layer_next_pattern(&patterns, &part))
        if (str_eq(part, name))
            return true;
    return false;
}

static bool is_summed(time_groups g, str name)
{
    for (uint32_t i = 0; i < g.n; i++)
        if (strcmp(g.items[i].by, "pattern") == 0 && str_eq(g.items[i].name, name))
            return true;
    return false;
}

bool time_groups_are_of(time_groups g, str patterns)
{
    str part;
    for (uint32_t i = 0; i < g.n; i++)
        if (strcmp(g.items[i].by, "pattern") == 0 && !is_listed(patterns, g.items[i].name))
            return false;
    while (layer_next_pattern(&patterns, &part))
        if (!is_summed(g, part))
            return false;
    return true;
}
