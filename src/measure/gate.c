/* See gate.h. */
#include "measure/gate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "measure/stats.h"

enum {
    RESAMPLES = 2000,
    RUNS_MOST = 4096,     /* of a side; more are thinned evenly, the interval is narrow by then */
    EFFECTIVE_LEAST = 10, /* independent runs of a side */
    TAIL_LEAST = 5        /* runs beyond a quantile */
};
#define ONE_SIDE 0.005 /* beyond each end of the interval */

typedef struct side {
    double x[RUNS_MOST];
    uint32_t n;
    double block; /* mean length of the stretches that are drawn */
    double effective;
    double value;
} side;

typedef struct bench_table {
    side base, now;
    double work[RUNS_MOST];
    double ratios[RESAMPLES];
} bench_table;

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* Hoare's selection: puts the k-th smallest at x[k], what is smaller before it. A resample is wanted for
 * one number, and sorting it whole would take most of the time. */
static double select_kth(double *x, uint32_t n, uint32_t k)
{
    for (int64_t low = 0, high = (int64_t)n - 1; low < high;) {
        double pivot = x[(low + high) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j)
                swap(&x[i++], &x[j--]);
        }
        if ((int64_t)k <= j)
            high = j;
        else if ((int64_t)k >= i)
            low = i;
        else
            break;
    }
    assert(k < n);
    return x[k];
}

/* As stats_quantile() of the sorted series. */
static double quantile_of(double *x, uint32_t n, double q)
{
    assert(n > 0 && q >= 0 && q <= 1);
    double at = q * (n - 1);
    uint32_t k = (uint32_t)at;
    double low = select_kth(x, n, k), next = INFINITY;
    for (uint32_t i = k + 1; i < n; i++)
        next = x[i] < next ? x[i] : next;
    return k + 1 < n ? low + (at - k) * (next - low) : low;
}

/* Changes the order of x. */
static double statistic(const gate_question *q, double *x, uint32_t n)
{
    return q->what == RUNS_QUANTILE ? quantile_of(x, n, q->quantile) : stats_mean(x, n);
}

static void fill_side(side *s, const gate_question *q, const gate_series *from, double *work)
{
    uint32_t step = (from->n + RUNS_MOST - 1) / RUNS_MOST;
    for (uint32_t i = 0; i < from->n; i += step)
        s->x[s->n++] = from->ms[i];
    assert(s->n > 0 && s->n <= RUNS_MOST);
    double tau = stats_autocorrelation_upper(s->x, s->n);
    s->effective = s->n / tau;
    s->block = tau < 1.5 ? 1 : ceil(2 * tau);
    if (s->block > s->n / 4.0)
        s->block = s->n / 4.0;
    memcpy(work, s->x, sizeof *work * s->n);
    s->value = statistic(q, work, s->n);
}

/* Stretches of geometric length, from anywhere, around the end. */
static void draw(const side *s, rng *r, double *out)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (i == 0 || s->block <= 1 || rng_uniform(r) * s->block < 1)
            at = (uint32_t)(rng_uniform(r) * s->n);
        else
            at = at + 1 == s->n ? 0 : at + 1;
        assert(at < s->n);
        out[i] = s->x[at];
    }
}

static double draw_value(const gate_question *q, const side *s, rng *r, double *work)
{
    draw(s, r, work);
    return statistic(q, work, s->n);
}

static void interval(const gate_question *q, bench_table *t, gate_answer *out)
{
    rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < RESAMPLES; i++) {
        double base = draw_value(q, &t->base, &r, t->work);
        double now = draw_value(q, &t->now, &r, t->work);
        t->ratios[i] = base > 0 ? now / base : 1;
    }
    stats_sort(t->ratios, RESAMPLES);
    out->low = stats_quantile(t->ratios, RESAMPLES, ONE_SIDE);
    out->high = stats_quantile(t->ratios, RESAMPLES, 1 - ONE_SIDE);
    assert(out->low <= out->high);
}

/* The lowest and highest value of blocks of a series whose length is that of its correlation. */
static void range_of_stretches(const gate_question *q, const side *s, double *work, double *least,
                               double *most)
{
    uint32_t length = (uint32_t)ceil(s->block / 2);
    *least = INFINITY;
    *most = -INFINITY;
    for (uint32_t i = 0; i + length <= s->n; i++) {
        memcpy(work, s->x + i, sizeof *work * length);
        double v = statistic(q, work, length);
        *least = fmin(*least, v);
        *most = fmax(*most, v);
    }
}

/* Runs that drift or come in groups: resampling hides the distance of the groups. The interval covers every block of
 * one series divided by every block of the other. */
static void widen(const gate_question *q, bench_table *t, gate_answer *out)
{
    double base_least, base_most, now_least, now_most;
    range_of_stretches(q, &t->base, t->work, &base_least, &base_most);
    range_of_stretches(q, &t->now, t->work, &now_least, &now_most);
    if (base_least <= 0)
        return;
    out->low = fmin(out->low, now_least / base_most);
    out->high = fmax(out->high, now_most / base_least);
}

static bool is_dependent(const bench_table *t)
{
    return t->base.effective < EFFECTIVE_LEAST || t->now.effective < EFFECTIVE_LEAST;
}

/* The interval decides, whatever the runs are like. A reason is needed only if it is inconclusive. */
static void decide(const gate_question *q, bool dependent, gate_answer *out)
{
    assert(q->tolerance >= 0 && q->allowance >= 0);
    double limit = 1 + q->tolerance + q->allowance;
    out->reason = GATE_CLEAR;
    if (out->low > limit)
        out->verdict = VERDICT_REGRESSION;
    else if (out->high < 1 / limit)
        out->verdict = VERDICT_IMPROVEMENT;
    else if (out->high < 1 + q->tolerance)
        out->verdict = VERDICT_PASS;
    else
        out->reason = dependent                                           ? GATE_DEPENDENT
                      : out->low > 1 + q->tolerance && out->high <= limit ? GATE_SESSIONS
                                                                          : GATE_NOISE;
}

/* The P99 of fifty runs is a single run and not reproducible. */
static uint32_t needed(const gate_question *q)
{
    return q->what == RUNS_QUANTILE && q->quantile < 1
               ? (uint32_t)ceil(TAIL_LEAST / (1 - q->quantile) - 1e-9)
               : GATE_RUNS_LEAST;
}

static bool enough(const gate_question *q, const gate_series *s, gate_answer *out)
{
    out->runs_needed = needed(q);
    out->reason = s->n < GATE_RUNS_LEAST ? GATE_FEW_RUNS : GATE_FEW_TAIL;
    return s->n >= GATE_RUNS_LEAST && s->n >= out->runs_needed;
}

static void answer_question(const gate_question *q, bench_table *t, gate_answer *out)
{
    fill_side(&t->base, q, &q->base, t->work);
    fill_side(&t->now, q, &q->now, t->work);
    out->base = t->base.value;
    out->now = t->now.value;
    out->ratio = t->base.value > 0 ? t->now.value / t->base.value : 1;
    out->low = out->high = out->ratio;
    out->effective_base = t->base.effective;
    out->effective_now = t->now.effective;
    if (!enough(q, &q->base, out) || !enough(q, &q->now, out))
        return;
    interval(q, t, out);
    if (is_dependent(t))
        widen(q, t, out);
    decide(q, is_dependent(t), out);
}

assay_status gate_ask(const gate_question *q, gate_answer *out, assay_error *err)
{
    bench_table *t = memory_zeroed(1, sizeof *t);
    TRY_MEMORY(t, err);
    *out = (gate_answer){.verdict = VERDICT_INCONCLUSIVE, .reason = GATE_FEW_RUNS, .ratio = 1};
    if (q->base.n && q->now.n)
        answer_question(q, t, out);
    free(t);
    return ASSAY_OK;
}
