/* See fleet.h: changes of level over a fleet. */
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "study/fleet.h"
#include "study/trend.h"

typedef struct changes_task {
    const fleet_points *points;
    const metric_row *metric;
    int64_t since_s;
    arena *arena;
    VEC(fleet_change) changes;
    fleet_changes *out;
    assay_error *err;
} changes_task;

/* ---- series ---- */

static int compare_series(const fleet_point *x, const fleet_point *y)
{
    int c = str_cmp(x->model, y->model);
    if (!c)
        c = str_cmp(x->machine, y->machine);
    return c ? c : (x->setup_key > y->setup_key) - (x->setup_key < y->setup_key);
}

static int compare_points(const void *a, const void *b)
{
    const fleet_point *x = a, *y = b;
    int c = compare_series(x, y);
    if (!c)
        c = (x->created_s > y->created_s) - (x->created_s < y->created_s);
    return c ? c : (x->id > y->id) - (x->id < y->id);
}

static bool is_recent(const changes_task *t, const history_change *c)
{
    return t->since_s == INT64_MIN || c->created_s >= t->since_s;
}

static assay_status examine_series(changes_task *t, const fleet_point *p, uint32_t n)
{
    history_trend trend = trend_of(t->metric);
    trend.points = ARENA_ARRAY(t->arena, history_point, n);
    trend.n = n;
    TRY_MEMORY(trend.points, t->err);
    for (uint32_t i = 0; i < n; i++)
        trend.points[i] = (history_point){
            .id = p[i].id, .created_s = p[i].created_s, .v = {.v = p[i].value}};
    TRY(trend_analyze(&trend, t->arena, t->err));
    for (uint32_t i = 0; i < trend.n_changes; i++) {
        const history_change *c = &trend.changes[i];
        const fleet_point *at = &p[c->at];
        if (is_recent(t, c) &&
            !VEC_ADD(t->arena, &t->changes,
                     (fleet_change){.model = at->model,
                                    .machine = at->machine,
                                    .setup = at->setup,
                                    .version = at->version,
                                    .version_before = c->at ? at[-1].version : (str){0},
                                    .is = *c}))
            return err_no_memory(t->err);
    }
    return ASSAY_OK;
}

/* ---- what is new ---- */

/* The names whose first record is not older than since_s. */
static assay_status list_new(const changes_task *t, size_t at, const str **out, uint32_t *n)
{
    const fleet_points *p = t->points;
    VEC(str) names = {0};
    VEC(int64_t) first = {0};
    map seen;
    *n = 0;
    if (t->since_s == INT64_MIN)
        return ASSAY_OK;
    TRY_MEMORY(map_init(&seen, t->arena, 0), t->err);
    for (uint32_t i = 0; i < p->n; i++) {
        const str name = *(const str *)((const char *)&p->items[i] + at);
        bool is_new;
        uint32_t *slot = name.n ? map_at(&seen, name, names.n, &is_new) : NULL;
        if (!name.n)
            continue;
        if (!slot ||
            (is_new && (!VEC_ADD(t->arena, &names, name) || !VEC_ADD(t->arena, &first, INT64_MAX))))
            return err_no_memory(t->err);
        if (p->items[i].created_s < first.items[*slot])
            first.items[*slot] = p->items[i].created_s;
    }
    for (uint32_t i = 0; i < names.n; i++)
        if (first.items[i] >= t->since_s)
            names.items[(*n)++] = names.items[i];
    *out = names.items;
    return ASSAY_OK;
}

/* ---- groups ---- */

static str key_of(const fleet_change *c, fleet_by by)
{
    const str keys[] = {
        [FLEET_BY_MODEL] = c->model,
        [FLEET_BY_MACHINE] = c->machine,
        [FLEET_BY_VERSION] = c->version,
    };
    return keys[by].n ? keys[by] : STR("unknown");
}

/* How bad it is, whichever direction is better: above 1 is worse. */
static double badness(const fleet_change *c, bool more_is_better)
{
    double r = c->is.ratio;
    return !(r > 0) ? 0 : more_is_better ? 1 / r : r;
}

static int order_by_worse(const fleet_change *x, const fleet_change *y, bool more)
{
    double a = badness(x, more), b = badness(y, more);
    return (a < b) - (a > b);
}

static int worst_first_low(const void *a, const void *b)
{
    return order_by_worse(a, b, false);
}
static int worst_first_high(const void *a, const void *b)
{
    return order_by_worse(a, b, true);
}

static assay_status group_changes(changes_task *t, fleet_by by)
{
    VEC(fleet_group) groups = {0};
    map seen;
    TRY_MEMORY(map_init(&seen, t->arena, 0), t->err);
    for (uint32_t i = 0; i < t->changes.n; i++) {
        const fleet_change *c = &t->changes.items[i];
        bool is_new;
        uint32_t *slot = map_at(&seen, key_of(c, by), groups.n, &is_new);
        if (!slot || (is_new && !VEC_ADD(t->arena, &groups,
                                         (fleet_group){.key = key_of(c, by), .worst = NAN})))
            return err_no_memory(t->err);
        fleet_group *g = &groups.items[*slot];
        g->worse += c->is.worse;
        g->better += !c->is.worse;
        if (c->is.worse && isnan(g->worst)) /* the worst comes first */
            g->worst = c->is.ratio;
    }
    t->out->groups = groups.items;
    t->out->n_groups = groups.n;
    return ASSAY_OK;
}

/* ---- the whole ---- */

static assay_status walk_series(changes_task *t)
{
    const fleet_points *p = t->points;
    for (uint32_t from = 0, to; from < p->n; from = to) {
        for (to = from + 1; to < p->n && compare_series(&p->items[from], &p->items[to]) == 0;)
            to++;
        t->out->series++;
        TRY(examine_series(t, &p->items[from], to - from));
    }
    return ASSAY_OK;
}

void fleet_keep_worse(fleet_changes *c)
{
    /* They are ordered: the worse ones come first. */
    c->n_changes = c->n_worse;
    c->worse_only = true;
    uint32_t kept = 0;
    fleet_group *groups = (fleet_group *)(uintptr_t)c->groups;
    for (uint32_t i = 0; i < c->n_groups; i++)
        if (groups[i].worse) {
            groups[kept] = groups[i];
            groups[kept++].better = 0;
        }
    c->n_groups = kept;
}

assay_status fleet_find_changes(fleet_points *points, const metric_row *m, fleet_by by,
                                int64_t since_s, arena *a, fleet_changes *out, assay_error *err)
{
    static const char *const words[] = {"model", "machine", "version"};
    changes_task t = {
        .points = points, .metric = m, .since_s = since_s, .arena = a, .out = out, .err = err};
    *out = (fleet_changes){.metric = m->name,
                           .title = m->title,
                           .by = words[by],
                           .unit = m->unit,
                           .more_is_better = m->more_is_better,
                           .since_s = since_s,
                           .records = points->n,
                           .older = points->older};
    if (points->n)
        qsort(points->items, points->n, sizeof *points->items, compare_points);
    TRY(walk_series(&t));
    if (t.changes.n)
        qsort(t.changes.items, t.changes.n, sizeof *t.changes.items,
              m->more_is_better ? worst_first_high : worst_first_low);
    TRY(group_changes(&t, by));
    out->changes = t.changes.items;
    out->n_changes = t.changes.n;
    for (uint32_t i = 0; i < t.changes.n; i++)
        out->n_worse += t.changes.items[i].is.worse;
    TRY(list_new(&t, offsetof(fleet_point, model), &out->new_models, &out->n_new_models));
    TRY(list_new(&t, offsetof(fleet_point, machine), &out->new_machines, &out->n_new_machines));
    return list_new(&t, offsetof(fleet_point, version), &out->new_versions, &out->n_new_versions);
}
