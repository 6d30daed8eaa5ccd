/* Statistics of durations; see measured.h. */
#ifndef PROFILE_MEASURED_STATS_H
#define PROFILE_MEASURED_STATS_H

#include "base/str.h"

/* Of the durations of single runs. */
typedef struct profile_stats {
    uint64_t runs;
    double mean, std, min, max, median;
    double p50, p90, p95, p99;
    double ci95_low, ci95_high; /* of the mean; respects autocorrelation. NaN: none */
    double effective_runs;      /* number of independent runs with the same information */
    uint64_t p99_runs_needed;   /* for the slowest run to bound P99 with 99 % confidence */
    const char *ci95_absent;    /* profile_settle(): why there is no interval; NULL: there is one */
} profile_stats;

#endif
