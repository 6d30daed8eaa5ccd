/* See stats.h. C. Geyer, "Practical Markov Chain Monte Carlo" (1992), for the initial sequence. */
#include "measure/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

#ifndef NDEBUG
static bool is_sorted(const double *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (x[i - 1] > x[i])
            return false;
    return true;
}
#endif

void stats_sort(double *x, uint32_t n)
{
    if (n)
        qsort(x, n, sizeof *x, ascending);
}

double stats_quantile(const double *sorted, uint32_t n, double q)
{
    assert(q >= 0 && q <= 1 && is_sorted(sorted, n));
    if (n == 0)
        return 0;
    double at = q * (n - 1);
    uint32_t low = (uint32_t)at;
    if (low + 1 >= n)
        return sorted[n - 1];
    return sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]);
}

double stats_spread(const double *sorted, double *work, uint32_t n)
{
    double median = stats_quantile(sorted, n, 0.5);
    for (uint32_t i = 0; i < n; i++)
        work[i] = fabs(sorted[i] - median);
    stats_sort(work, n);
    return 1.4826 * stats_quantile(work, n, 0.5);
}

double stats_mean(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / n : 0;
}

static double covariance_at(const double *x, uint32_t n, double mean, uint32_t lag)
{
    double sum = 0;
    for (uint32_t i = 0; i + lag < n; i++)
        sum += (x[i] - mean) * (x[i + lag] - mean);
    return sum / n;
}

/* Lags beyond this say nothing more of a series that will ever be measured, and would cost n squared. */
enum { LAG_MAX = 2000 };

double stats_autocorrelation_time(const double *x, uint32_t n)
{
    double mean = stats_mean(x, n), c0 = covariance_at(x, n, mean, 0), tau = -1;
    uint32_t last = n / 2 < LAG_MAX ? n / 2 : LAG_MAX;
    if (n < 4 || c0 <= 0)
        return 1;
    for (uint32_t lag = 0; lag < last; lag += 2) {
        double pair = covariance_at(x, n, mean, lag) + covariance_at(x, n, mean, lag + 1);
        if (pair <= 0)
            break;
        tau += 2 * pair / c0;
    }
    assert(!isnan(tau));
    return tau < 1 ? 1 : tau > n ? n : tau;
}

double stats_autocorrelation_upper(const double *x, uint32_t n)
{
    double mean = stats_mean(x, n), c0 = covariance_at(x, n, mean, 0);
    double tau = stats_autocorrelation_time(x, n);
    if (n < 8 || c0 <= 0)
        return tau;
    double r = covariance_at(x, n, mean, 1) / c0;
    r += (1 + 3 * r) / n + 0.5 / sqrt(n);
    double by_one = r > 0.98 ? 99 : (1 + r) / (1 - r);
    tau = by_one > tau ? by_one : tau;
    return tau > n ? n : tau;
}

/* Exact for one and two degrees of freedom, else the expansion by Fisher and Cornish around the
 * normal quantile, whose error is below 0.2 % from three on. */
double stats_t95(double df)
{
    static const double exact[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706};
    const double z = 1.959963985, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    if (df <= 1)
        return exact[0];
    if (df < 5) {
        int below = (int)df;
        return exact[below - 1] + (df - below) * (exact[below] - exact[below - 1]);
    }
    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df);
}

uint64_t stats_runs_needed(double q, double confidence)
{
    if (!(q > 0 && q < 1 && confidence > 0 && confidence < 1))
        return 0;
    return (uint64_t)ceil(log(1 - confidence) / log(q) - 1e-9);
}

/* Half the width of the interval of the mean; 0 for a single run. */
static double half_width(const double *x, uint32_t n, double std, double *effective)
{
    double tau = stats_autocorrelation_time(x, n);
    assert(tau >= 1 && std >= 0);
    *effective = n / tau;
    if (n < 2)
        return 0;
    double independent = *effective < 2 ? 2 : *effective;
    /* The variance estimate is too low by about tau/n if runs are correlated. */
    double unbiased = std * sqrt((double)n / (n - tau < 1 ? 1 : n - tau) * (n - 1) / n);
    return stats_t95(independent - 1) * unbiased / sqrt(independent);
}

void stats_describe(const double *x, uint32_t n, double *work, profile_stats *out)
{
    double squares = 0;
    memset(out, 0, sizeof *out);
    out->runs = n;
    out->p99_runs_needed = stats_runs_needed(0.99, 0.99);
    if (n == 0)
        return;
    out->mean = stats_mean(x, n);
    for (uint32_t i = 0; i < n; i++)
        squares += (x[i] - out->mean) * (x[i] - out->mean);
    out->std = n > 1 ? sqrt(squares / (n - 1)) : 0;
    memcpy(work, x, sizeof *x * n);
    stats_sort(work, n);
    out->min = work[0];
    out->max = work[n - 1];
    out->p50 = out->median = stats_quantile(work, n, 0.50);
    out->p90 = stats_quantile(work, n, 0.90);
    out->p95 = stats_quantile(work, n, 0.95);
    out->p99 = stats_quantile(work, n, 0.99);
    assert(out->min <= out->p50 && out->p50 <= out->p99 && out->p99 <= out->max);
    double half = half_width(x, n, out->std, &out->effective_runs);
    /* An interval that reaches below zero is not meaningful. */
    bool told = n > 1 && (half < out->mean || half == 0);
    out->ci95_low = told ? out->mean - half : (double)NAN;
    out->ci95_high = told ? out->mean + half : (double)NAN;
}

bool stats_is_outlier(double x, double median, double spread)
{
    return x > median * 1.05 && x - median > 3.5 * spread;
}

double stats_drift(const double *x, uint32_t n, double *work)
{
    uint32_t third = n / 3;
    if (third < 8)
        return 0;
    assert(3 * third <= n);
    double *first = work, *last = work + third, *rest = work + 2 * third;
    memcpy(first, x, sizeof *x * third);
    memcpy(last, x + n - third, sizeof *x * third);
    stats_sort(first, third);
    stats_sort(last, third);
    double a = stats_quantile(first, third, 0.5), b = stats_quantile(last, third, 0.5);
    double s = stats_spread(first, rest, third), t = stats_spread(last, rest, third);
    /* The median of m values deviates by about 1.25 s / sqrt(m); four deviations are no chance. */
    double chance = 4 * 1.25 * sqrt((s * s + t * t) / third);
    return a > 0 && fabs(b - a) > chance ? (b - a) / a : 0;
}
