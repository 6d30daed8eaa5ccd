/* Why a profile differs from its baseline: which layers and operators changed, and by how much. */
#include "study/explain.h"

#include <math.h>
#include <stdlib.h>

#include "study/compare.h"

enum { MOVES_MOST = 20, TYPES_MOST = 12 };
#define WORK_BYTES ((size_t)256 << 20)
#define TIME_SHARE 0.01 /* of the whole, from which a layer's time is worth a line */

typedef struct explaining {
    verdicts *v;
    arena *a;
    comparison c;
} explaining;

static str type_text(arena *a, str s)
{
    return s.n ? str_copy(a, s) : STR("");
}

static verdict_move move_of(arena *a, const comparison_layer *l)
{
    const comparison_side *x = l->before, *y = l->after;
    bool timed = x && y && !isnan(x->time_ms) && !isnan(y->time_ms);
    return (verdict_move){.change = l->change,
                          .name = type_text(a, l->name),
                          .type = type_text(a, l->type),
                          .shapes = type_text(a, l->shapes),
                          .attributes = l->changes.n ? str_copy(a, l->changes) : (str){0},
                          .macs = l->difference.macs,
                          .parameters = l->difference.parameters,
                          .bytes = l->difference.memory,
                          .peak_bytes = l->difference.peak_bytes,
                          .time_ms = timed ? y->time_ms - x->time_ms : NAN};
}

static double time_of(const comparison_side *l)
{
    return l && l->time_ms > 0 ? l->time_ms : 0;
}

static double slower_by(const comparison_layer *l)
{
    return time_of(l->after) - time_of(l->before);
}

static double time_before(const comparison *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n_timed; i++)
        sum += time_of(c->timed[i].before);
    return sum;
}

/* Layers that differ, then layers that are the same and took another time. */
static void add_moves(explaining *g)
{
    const comparison *c = &g->c;
    verdicts *v = g->v;
    double least = TIME_SHARE * time_before(c);
    for (uint32_t i = 0; i < c->n_layers && v->n_moves < MOVES_MOST; i++)
        v->moves[v->n_moves++] = move_of(g->a, &c->layers[i]);
    for (uint32_t i = 0; i < c->n_timed && v->n_moves < MOVES_MOST; i++) {
        double d = slower_by(&c->timed[i]);
        if (c->timed[i].change == CHANGE_NONE && (d > least || -d > least))
            v->moves[v->n_moves++] = move_of(g->a, &c->timed[i]);
    }
    v->n_moved = c->n_layers;
}

static verdict_type *type_row(verdicts *v, str type)
{
    for (uint32_t i = 0; i < v->n_types; i++)
        if (str_eq(v->types[i].type, type))
            return &v->types[i];
    if (v->n_types == TYPES_MOST)
        return NULL;
    v->types[v->n_types] = (verdict_type){.type = type};
    return &v->types[v->n_types++];
}

static void add_type(explaining *g, const comparison_layer *l)
{
    const verdict_move m = move_of(g->a, l);
    verdict_type *t = type_row(g->v, m.type);
    if (!t)
        return;
    t->count += (l->after != NULL) - (l->before != NULL);
    t->layers++;
    t->macs += m.macs;
    t->parameters += m.parameters;
    t->bytes += m.bytes;
}

static uint64_t weight_of(const verdict_type *t)
{
    return (uint64_t)(t->macs < 0 ? -t->macs : t->macs);
}

static int by_macs(const void *a, const void *b)
{
    const verdict_type *x = a, *y = b;
    uint64_t p = weight_of(x), q = weight_of(y);
    return p != q ? (p < q ? 1 : -1) : str_cmp(x->type, y->type);
}

static void explain_layers(explaining *g)
{
    add_moves(g);
    for (uint32_t i = 0; i < g->c.n_layers; i++)
        add_type(g, &g->c.layers[i]);
    if (g->v->n_types)
        qsort(g->v->types, g->v->n_types, sizeof *g->v->types, by_macs);
}

assay_status explain_change(const profile *base, const profile *now, arena *a, verdicts *v,
                            assay_error *err)
{
    const profile *const pair[] = {base, now};
    explaining g = {.v = v, .a = a};
    arena *work = arena_new(WORK_BYTES);
    v->moves = ARENA_ARRAY(a, verdict_move, MOVES_MOST);
    v->types = ARENA_ARRAY(a, verdict_type, TYPES_MOST);
    assay_status s = work && v->moves && v->types ? compare_run(pair, 2, work, &g.c, err)
                                                  : err_no_memory(err);
    if (s == ASSAY_OK)
        explain_layers(&g);
    arena_free(work);
    return s;
}
