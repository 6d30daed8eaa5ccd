/* See trend.h. */
#include "study/trend.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/rng.h"
#include "base/vec.h"

/* ---- totals ---- */

static void sum_up(history_trend *t, const double *values, double *scratch)
{
    double sum = 0;
    t->min = t->max = values[0];
    for (uint32_t i = 0; i < t->n; i++) {
        sum += values[i];
        t->min = values[i] < t->min ? values[i] : t->min;
        t->max = values[i] > t->max ? values[i] : t->max;
        scratch[i] = values[i];
    }
    t->mean = sum / t->n;
    t->median = num_median(scratch, t->n);
    t->newest = values[t->n - 1];
}

/* ---- the statistic ---- */

typedef struct ranked {
    double value;
    uint32_t at;
} ranked;

typedef struct search {
    const double *values; /* of the whole series */
    double *ranks, *shuffled, *scratch;
    ranked *order;
    double *cuts_p; /* by index: p of the cut before it; negative: none */
    rng random;
} search;

static int compare_ranked(const void *a, const void *b)
{
    double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Midranks less their mean, into s->ranks; the variance. */
static double rank_stretch(search *s, uint32_t from, uint32_t n)
{
    double squares = 0;
    for (uint32_t i = 0; i < n; i++)
        s->order[i] = (ranked){s->values[from + i], i};
    qsort(s->order, n, sizeof *s->order, compare_ranked);
    for (uint32_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && s->order[j].value == s->order[i].value;)
            j++;
        for (uint32_t k = i; k < j; k++)
            s->ranks[s->order[k].at] = (double)(i + j - 1) / 2 - (double)(n - 1) / 2;
    }
    for (uint32_t i = 0; i < n; i++)
        squares += s->ranks[i] * s->ranks[i];
    return squares / n;
}

/* The largest statistic over all cuts, squared and without the variance, which shuffling does not change. */
static double largest(const double *ranks, uint32_t n, uint32_t *at)
{
    double sum = 0, best = -1;
    for (uint32_t k = 1; k + CHANGE_SIDE <= n; k++) {
        sum += ranks[k - 1];
        if (k < CHANGE_SIDE)
            continue;
        double t = sum * sum / ((double)k * (n - k));
        if (t > best) {
            best = t;
            *at = k;
        }
    }
    return best;
}

/* Lag-1 autocorrelation of the ranks about the means of the two parts; 0 when negative. */
static double memory_of(const double *ranks, uint32_t n, uint32_t cut)
{
    double left = 0, right = 0, products = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++)
        *(i < cut ? &left : &right) += ranks[i];
    left /= cut;
    right /= n - cut;
    for (uint32_t i = 0; i < n; i++) {
        double e = ranks[i] - (i < cut ? left : right);
        squares += e * e;
        if (i + 1 < n && i + 1 != cut)
            products += e * (ranks[i + 1] - (i + 1 < cut ? left : right));
    }
    double a = squares > 0 ? products / squares : 0;
    return a > 0 ? a : 0;
}

static void shuffle(search *s, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)(rng_uniform(&s->random) * i);
        double t = s->shuffled[i - 1];
        s->shuffled[i - 1] = s->shuffled[j];
        s->shuffled[j] = t;
    }
}

/* How often chance alone does as much; ends early when that is clearly too often. */
static double chance(search *s, uint32_t n, double seen)
{
    uint32_t as_much = 0, ignored;
    memcpy(s->shuffled, s->ranks, n * sizeof *s->shuffled);
    for (uint32_t i = 0; i < CHANGE_SHUFFLES; i++) {
        shuffle(s, n);
        as_much += largest(s->shuffled, n, &ignored) >= seen * (1 - 1e-12);
        if (as_much > (CHANGE_SHUFFLES + 1) * CHANGE_LEVEL)
            return 1;
    }
    return (1.0 + as_much) / (1.0 + CHANGE_SHUFFLES);
}

/* The depth is bounded by the number of cuts, each of which leaves CHANGE_SIDE values on both sides; an
 * explicit stack keeps it off the machine's. */
typedef struct stretch {
    uint32_t from, to;
} stretch;

static uint32_t cut_of(search *s, stretch x, double *p)
{
    uint32_t n = x.to - x.from, at = 0;
    *p = 1;
    if (n < 2 * CHANGE_SIDE || rank_stretch(s, x.from, n) <= 0)
        return 0;
    double seen = largest(s->ranks, n, &at), a = memory_of(s->ranks, n, at);
    *p = chance(s, n, seen * (1 - a) / (1 + a));
    return *p <= CHANGE_LEVEL ? x.from + at : 0;
}

static bool segment(search *s, uint32_t n, arena *arena_)
{
    VEC(stretch) todo = {0};
    stretch *x = VEC_PUSH(arena_, &todo);
    if (!x)
        return false;
    *x = (stretch){0, n};
    while (todo.n) {
        stretch now = todo.items[--todo.n];
        double p;
        uint32_t at = cut_of(s, now, &p);
        if (!at)
            continue;
        s->cuts_p[at] = p;
        x = VEC_PUSH(arena_, &todo);
        if (x)
            *x = (stretch){now.from, at};
        x = VEC_PUSH(arena_, &todo);
        if (!x)
            return false;
        *x = (stretch){at, now.to};
    }
    return true;
}

/* ---- changes ---- */

typedef VEC(history_change) change_list;

static uint32_t next_cut(const double *p, uint32_t from, uint32_t n)
{
    uint32_t i = from + 1;
    while (i < n && p[i] < 0)
        i++;
    return i;
}

static double level(search *s, uint32_t from, uint32_t to)
{
    memcpy(s->scratch, s->values + from, (to - from) * sizeof *s->scratch);
    return num_median(s->scratch, to - from);
}

/* Removes cuts with a small change, the smallest first, because merging parts changes the neighbours. */
static void drop_small(search *s, uint32_t n)
{
    for (;;) {
        uint32_t smallest = 0;
        double least = CHANGE_LEAST;
        for (uint32_t from = 0, at; (at = next_cut(s->cuts_p, from, n)) < n; from = at) {
            double before = level(s, from, at), after = level(s, at, next_cut(s->cuts_p, at, n));
            double moved = before != 0 ? fabs(after / before - 1) : after != 0;
            if (moved < least) {
                least = moved;
                smallest = at;
            }
        }
        if (!smallest)
            return;
        s->cuts_p[smallest] = -1;
    }
}

static bool gather(search *s, history_trend *t, arena *a, change_list *out)
{
    for (uint32_t from = 0, at; (at = next_cut(s->cuts_p, from, t->n)) < t->n; from = at) {
        history_change *c = VEC_PUSH(a, out);
        if (!c)
            return false;
        *c = (history_change){.at = at,
                              .id = t->points[at].id,
                              .created_s = t->points[at].created_s,
                              .before = level(s, from, at),
                              .after = level(s, at, next_cut(s->cuts_p, at, t->n)),
                              .p = s->cuts_p[at]};
        c->ratio = c->before != 0 ? c->after / c->before : NAN;
        c->worse = t->more_is_better ? c->after < c->before : c->after > c->before;
        t->points[at].change = c->worse ? "worse" : "better";
    }
    return true;
}

static void cut_exactly(search *s, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (s->values[i] != s->values[i - 1])
            s->cuts_p[i] = 0;
}

static bool find_changes(history_trend *t, search *s, arena *a)
{
    change_list changes = {0};
    for (uint32_t i = 0; i < t->n; i++)
        s->cuts_p[i] = -1;
    if (!metric_find(str_of(t->metric))->measured) {
        cut_exactly(s, t->n);
    } else {
        if (!segment(s, t->n, a))
            return false;
        drop_small(s, t->n);
    }
    if (!gather(s, t, a, &changes))
        return false;
    t->changes = changes.items;
    t->n_changes = changes.n;
    return true;
}

assay_status trend_analyze(history_trend *t, arena *a, assay_error *err)
{
    const uint32_t n = t->n;
    if (!n)
        return ASSAY_OK;
    double *values = ARENA_ARRAY(a, double, n);
    search s = {.values = values,
                .ranks = ARENA_ARRAY(a, double, n),
                .shuffled = ARENA_ARRAY(a, double, n),
                .scratch = ARENA_ARRAY(a, double, n),
                .order = ARENA_ARRAY(a, ranked, n),
                .cuts_p = ARENA_ARRAY(a, double, n)};
    TRY_MEMORY(!arena_failed(a), err);
    for (uint32_t i = 0; i < n; i++)
        values[i] = t->points[i].v.v;
    rng_seed(&s.random, 1979);
    sum_up(t, values, s.scratch);
    return find_changes(t, &s, a) ? ASSAY_OK : err_no_memory(err);
}
