/* See fit.h. */
#include "device/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define SMALL_RESIDUAL 0.03 /* below it a row counts in full */
#define STEP_MOST      1.0  /* of a coefficient, natural logarithm */
#define LEAST_SECONDS  1e-12
enum { ROUNDS_FACTORS = 8, ROUNDS_SUM = 40 };

typedef struct normal { /* lower triangle of the normal equations, and the right-hand side */
    double g[FIT_TERMS][FIT_TERMS], h[FIT_TERMS];
} normal;

typedef struct fitter {
    const fit_problem *p;
    normal *eq;
    const uint32_t *fold; /* [n] */
    uint32_t without;     /* this fold; UINT32_MAX: nothing is left out */
} fitter;

double fit_quantile(double *x, uint32_t n, double q)
{
    if (n == 0)
        return 0;
    qsort(x, n, sizeof *x, num_order);
    double at = q * (n - 1);
    uint32_t i = (uint32_t)at;
    return i + 1 < n ? x[i] + (x[i + 1] - x[i]) * (at - i) : x[n - 1];
}

double fit_seconds(fit_form form, double base, const double *x, const double *c, uint32_t n_terms)
{
    double sum = 0;
    for (uint32_t j = 0; j < n_terms; j++)
        sum += form == FIT_FACTORS ? c[j] * x[j] : exp(c[j]) * x[j];
    return form == FIT_FACTORS ? base * exp(sum) : sum;
}

static const double *row_of(const fit_problem *p, uint32_t i)
{
    return p->x + (size_t)i * p->n_terms;
}

static double predicted(const fit_problem *p, uint32_t i, const double *c)
{
    double t = fit_seconds(p->form, p->base ? p->base[i] : 1, row_of(p, i), c, p->n_terms);
    return t > LEAST_SECONDS ? t : LEAST_SECONDS;
}

/* How the logarithm of the prediction changes with each coefficient. */
static void slopes(const fit_problem *p, uint32_t i, const double *c, double t, double *out)
{
    const double *x = row_of(p, i);
    for (uint32_t j = 0; j < p->n_terms; j++)
        out[j] = p->form == FIT_FACTORS ? x[j] : exp(c[j]) * x[j] / t;
}

static void add_row(const fitter *f, uint32_t i, const double *c, bool first)
{
    const fit_problem *p = f->p;
    double t = predicted(p, i, c), r = log(p->seconds[i] / t), s[FIT_TERMS];
    double weight = p->weight ? p->weight[i] : 1;
    if (!(first && p->form == FIT_FACTORS))
        weight *= SMALL_RESIDUAL / (fabs(r) > SMALL_RESIDUAL ? fabs(r) : SMALL_RESIDUAL);
    slopes(p, i, c, t, s);
    for (uint32_t j = 0; j < p->n_terms; j++) {
        double v = weight * s[j];
        f->eq->h[j] += v * r;
        for (uint32_t k = 0; k <= j; k++)
            f->eq->g[j][k] += v * s[k];
    }
}

static void add_prior(const fitter *f, const double *c)
{
    const fit_problem *p = f->p;
    for (uint32_t j = 0; j < p->n_terms; j++) {
        double strength = p->form == FIT_FACTORS && j == 0 ? p->prior_rows * 1e-3 : p->prior_rows;
        f->eq->g[j][j] += strength + 1e-9;
        f->eq->h[j] += strength * ((p->prior ? p->prior[j] : 0) - c[j]);
    }
}

/* In place: g = L L', then the step in h. */
static void solve(normal *e, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = 0; k <= j; k++) {
            double v = e->g[j][k];
            for (uint32_t i = 0; i < k; i++)
                v -= e->g[j][i] * e->g[k][i];
            e->g[j][k] = j == k ? sqrt(v > 1e-12 ? v : 1e-12) : v / e->g[k][k];
        }
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t k = 0; k < j; k++)
            e->h[j] -= e->g[j][k] * e->h[k];
        e->h[j] /= e->g[j][j];
    }
    for (uint32_t j = n; j-- > 0;) {
        for (uint32_t k = j + 1; k < n; k++)
            e->h[j] -= e->g[k][j] * e->h[k];
        e->h[j] /= e->g[j][j];
    }
}

static double limited(double step, fit_form form)
{
    return form == FIT_FACTORS || fabs(step) <= STEP_MOST ? step
           : step > 0                                     ? STEP_MOST
                                                          : -STEP_MOST;
}

static void fit_once(const fitter *f, double *c)
{
    const fit_problem *p = f->p;
    int rounds = p->form == FIT_FACTORS ? ROUNDS_FACTORS : ROUNDS_SUM;
    for (uint32_t j = 0; j < p->n_terms; j++)
        c[j] = p->prior ? p->prior[j] : 0;
    for (int round = 0; round < rounds; round++) {
        memset(f->eq, 0, sizeof *f->eq);
        for (uint32_t i = 0; i < p->n; i++)
            if (f->without == UINT32_MAX || f->fold[i] != f->without)
                add_row(f, i, c, round == 0);
        add_prior(f, c);
        solve(f->eq, p->n_terms);
        for (uint32_t j = 0; j < p->n_terms; j++)
            c[j] += limited(f->eq->h[j], p->form);
    }
}

/* ---- folds ---- */

typedef struct grouped {
    uint32_t group, row;
} grouped;

static int by_group(const void *a, const void *b)
{
    const grouped *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Groups are dealt to folds in turn; the number of groups. */
static uint32_t deal(const fit_problem *p, arena *a, uint32_t *fold)
{
    grouped *g = ARENA_ARRAY(a, grouped, (size_t)p->n + 1);
    uint32_t groups = 0;
    if (!g)
        return 0;
    for (uint32_t i = 0; i < p->n; i++)
        g[i] = (grouped){p->group[i], i};
    qsort(g, p->n, sizeof *g, by_group);
    for (uint32_t i = 0; i < p->n; i++) {
        groups += i == 0 || g[i].group != g[i - 1].group;
        fold[g[i].row] = (groups - 1) % FIT_FOLDS;
    }
    return groups;
}

static void judge(const fit_problem *p, const double *ratio, double *scratch, fit_result *out)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        scratch[i] = fabs(1 / ratio[i] - 1);
        sum += scratch[i];
    }
    out->mean_error = sum / p->n;
    out->median_error = fit_quantile(scratch, p->n, 0.5);
    memcpy(scratch, ratio, sizeof *ratio * p->n);
    out->low = fit_quantile(scratch, p->n, 0.1);
    out->high = fit_quantile(scratch, p->n, 0.9);
}

static void leave_out(fitter *f, uint32_t fold, double *ratio)
{
    double c[FIT_TERMS];
    f->without = fold;
    fit_once(f, c);
    for (uint32_t i = 0; i < f->p->n; i++)
        if (f->fold[i] == fold)
            ratio[i] = f->p->seconds[i] / predicted(f->p, i, c);
}

static assay_status check(const fit_problem *p, assay_error *err)
{
    if (p->n < 2 || p->n_terms == 0 || p->n_terms > FIT_TERMS)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "a fit needs at least two measured rows");
    for (uint32_t i = 0; i < p->n; i++)
        if (!(p->seconds[i] > 0) || !isfinite(p->seconds[i]))
            return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "a measured time must be above zero (row %u)", i + 1);
    return ASSAY_OK;
}

assay_status fit_run(const fit_problem *p, arena *scratch, fit_result *out, double *ratio,
                     assay_error *err)
{
    TRY(check(p, err));
    uint32_t *fold = ARENA_ARRAY(scratch, uint32_t, (size_t)p->n + 1);
    double *sorted = ARENA_ARRAY(scratch, double, (size_t)p->n + 1);
    double *own = ratio ? ratio : ARENA_ARRAY(scratch, double, (size_t)p->n + 1);
    fitter f = {.p = p, .eq = ARENA_NEW(scratch, normal), .fold = fold, .without = UINT32_MAX};
    *out = (fit_result){.n_terms = p->n_terms, .rows = p->n};
    TRY_MEMORY(fold && sorted && own && f.eq, err);
    out->groups = deal(p, scratch, fold);
    TRY_MEMORY(out->groups, err);
    fit_once(&f, out->c);
    uint32_t folds = out->groups < FIT_FOLDS ? out->groups : FIT_FOLDS;
    for (uint32_t k = 0; k < folds; k++)
        leave_out(&f, k, own);
    judge(p, own, sorted, out);
    return ASSAY_OK;
}
