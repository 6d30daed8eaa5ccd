/* Causes of slow runs: an outlier is reported with what the system counted during it. */
#ifndef MEASURE_CAUSE_H
#define MEASURE_CAUSE_H

#include "base/arena.h"
#include "measure/sample.h"
#include "measure/watch.h"
#include "profile/measured.h"

/* What runs usually count: medians over the series. */
typedef struct cause_usual {
    double ms, cpu_share;
    double voluntary, involuntary, minor_faults;
    double mhz; /* negative: not reported */
} cause_usual;

/* The likeliest cause of one slow run, a literal. stolen: of the ticks that passed around it. */
const char *cause_of(const sample_run *r, const cause_usual *usual, bool stolen, double mhz);

/* Fills outliers (at most CAUSE_OUTLIERS, the slowest) of a series in the arena. */
#define CAUSE_OUTLIERS 20
assay_status cause_outliers(const sample_runs *runs, const watch_tick *ticks, uint32_t n_ticks,
                            arena *a, profile_config *out, assay_error *err);

#endif
