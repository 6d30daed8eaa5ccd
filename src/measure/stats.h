/* Statistics of run times, which are few, skewed and correlated.
 *
 * Percentiles interpolate linearly between order statistics (numpy's default). The interval of the mean
 * is Student's with the variance of the mean widened by the autocorrelation time tau = 1 + 2 sum(rho),
 * summed by Geyer's initial positive sequence: pairs of neighbouring autocovariances for as long as
 * they are positive.
 */
#ifndef MEASURE_STATS_H
#define MEASURE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/measured.h"

/* Sorts x. */
void stats_sort(double *x, uint32_t n);
/* q in 0..1 of sorted x; 0 when n is 0. */
double stats_quantile(const double *sorted, uint32_t n, double q);
/* Median absolute deviation from the median of sorted x, times 1.4826: the deviation that a normal
 * distribution with such a spread has. Uses work[n]. */
double stats_spread(const double *sorted, double *work, uint32_t n);
/* Of a series in the order it was measured; at least 1, at most n. */
double stats_autocorrelation_time(const double *x, uint32_t n);
/* A conservative estimate, for callers that must not overestimate the number of independent runs: at least that of an
 * AR(1) series whose coefficient is the one measured, corrected for what short series hide (Marriott and Pope 1954)
 * and half a standard error more. */
double stats_autocorrelation_upper(const double *x, uint32_t n);
/* Quantile of Student's t for a two-sided 95 % interval; df may be a fraction. */
double stats_t95(double df);
/* Runs until the slowest of them is beyond quantile q with that confidence: 459 for 0.99 and 0.99. */
uint64_t stats_runs_needed(double q, double confidence);
/* All of it. work has room for 2 * n. The interval is NaN when the runs are too few or too scattered to tell
 * one: a single run, or an interval that would reach below zero. */
void stats_describe(const double *x, uint32_t n, double *work, profile_stats *out);
/* Whether a run is slow enough to be named: 3.5 spreads and a twentieth above the median. */
bool stats_is_outlier(double x, double median, double spread);
/* Distance of the last third of a series from its first third, as a share of the median; 0 if it is within chance. */
double stats_drift(const double *x, uint32_t n, double *work);

/* 0 of none. */
double stats_mean(const double *x, uint32_t n);

#endif
