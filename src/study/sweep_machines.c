/* Which machines of a sweep disagree with their peers; see sweep.h. */
#include "base/num.h"
#include "study/sweep_impl.h"

typedef struct pace_task { /* of the comparison of one machine */
    const sweep_report *r;
    double *ratios, *work;
    uint32_t n; /* ratios */
} pace_task;

/* The median latency of the records of equal tasks on other machines; NaN: there are none. Equal rows stand
 * together. */
static double latency_elsewhere(pace_task *t, uint32_t at)
{
    const sweep_row *rows = t->r->rows;
    uint32_t from = at, n = 0;
    while (from > 0 && sweep_rows_equal(&rows[from - 1], &rows[at]))
        from--;
    for (uint32_t i = from; i < t->r->n_rows && sweep_rows_equal(&rows[i], &rows[at]); i++)
        if (rows[i].figures.p50_ms > 0 && !str_eq(rows[i].machine, rows[at].machine))
            t->work[n++] = rows[i].figures.p50_ms;
    return n ? num_median(t->work, n) : NAN;
}

/* P(X >= k) of a binomial distribution with n trials of 1/2. */
static double chance_of(uint64_t k, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = k; i <= n; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) -
                   (double)n * M_LN2);
    return sum < 1 ? sum : 1;
}

static void judge_pace(pace_task *t, sweep_machine *m)
{
    uint64_t faster = 0;
    m->compared = t->n;
    m->ratio = m->p = NAN;
    m->pace = PACE_NOT_COMPARED;
    if (!t->n)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        m->slower += t->ratios[i] > 1;
        faster += t->ratios[i] < 1;
    }
    m->ratio = num_median(t->ratios, t->n);
    m->p = chance_of(m->ratio > 1 ? m->slower : faster, m->slower + faster);
    bool sure = t->n >= SWEEP_PACE_LEAST && m->p <= SWEEP_PACE_LEVEL;
    m->pace = sure && m->ratio > 1 + SWEEP_PACE         ? PACE_SLOW
              : sure && m->ratio < 1 / (1 + SWEEP_PACE) ? PACE_FAST
                                                        : PACE_LIKE_PEERS;
}

static void compare_machine(pace_task *t, sweep_machine *m)
{
    t->n = 0;
    for (uint32_t i = 0; i < t->r->n_rows; i++) {
        const sweep_row *row = &t->r->rows[i];
        if (row->record == INT64_MIN || !str_eq(row->machine, m->machine))
            continue;
        m->records++;
        double others = row->figures.p50_ms > 0 ? latency_elsewhere(t, i) : NAN;
        if (others > 0)
            t->ratios[t->n++] = row->figures.p50_ms / others;
    }
    judge_pace(t, m);
}

/* A name that is not in the list yet. */
static bool is_listed(const sweep_machine *list, uint32_t n, str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(list[i].machine, name))
            return true;
    return false;
}

assay_status sweep_compare_machines(sweep_report *r, double *work, arena *a, assay_error *err)
{
    sweep_machine *machines = ARENA_ARRAY(a, sweep_machine, r->n_rows + 1);
    pace_task t = {.r = r, .work = work, .ratios = ARENA_ARRAY(a, double, r->n_rows + 1)};
    TRY_MEMORY(machines && t.ratios, err);
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].record != INT64_MIN &&
            !is_listed(machines, r->n_machines, r->rows[i].machine))
            machines[r->n_machines++].machine = r->rows[i].machine;
    for (uint32_t i = 0; i < r->n_machines; i++)
        compare_machine(&t, &machines[i]);
    r->machines = machines;
    return ASSAY_OK;
}
