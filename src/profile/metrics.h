/* The metrics of a profile, used by thresholds, baselines and the history. One row each: unit, direction, and where
 * the value is.
 *
 * Counts of the model are exact whole numbers; values from the clock or the system are measured. `latency`,
 * `throughput` and `memory` are those of the smallest batch that ran, as in the JSON document.
 */
#ifndef PROFILE_METRICS_H
#define PROFILE_METRICS_H

#include "base/amount.h"
#include "base/fields.h"
#include "profile/profile.h"

typedef enum metric_unit {
    METRIC_MS = AMOUNT_MS,
    METRIC_BYTES = AMOUNT_BYTES,
    METRIC_COUNT = AMOUNT_COUNT,
    METRIC_RATE = AMOUNT_RATE,
    METRIC_PERCENT = AMOUNT_PERCENT,
    METRIC_PLAIN = AMOUNT_PLAIN,
    METRIC_SHARE = AMOUNT_SHARE
} metric_unit;

typedef field_number metric_value;

/* How a measured metric is computed from the runs, for statistical tests. */
typedef enum metric_of_runs { RUNS_NOT, RUNS_MEAN, RUNS_QUANTILE, RUNS_RATE } metric_of_runs;

typedef struct metric_row {
    const char *name, *title;
    const char *aliases; /* space separated; or NULL */
    metric_unit unit;
    bool more_is_better;
    bool measured;
    bool gated;     /* compared with a baseline unless others are requested */
    bool per_batch; /* an exact one that grows with the batch size: of two sizes it says nothing */
    metric_of_runs runs;
    double quantile;                               /* of RUNS_QUANTILE */
    bool (*get)(const profile *p, metric_value *); /* false: the profile does not hold it */
} metric_row;

extern const metric_row metric_table[];
extern const uint32_t metric_table_n;

/* By name or alias; case, '-' and '_' make no difference. NULL if there is none. */
const metric_row *metric_find(str name);

/* A limit as people type it; a bare number is in the unit of the JSON document (milliseconds, bytes). */
bool metric_parse(metric_unit unit, str text, double *out);
/* An example of what metric_parse() takes. */
const char *metric_example(metric_unit unit);
/* What the JSON document calls the units, by metric_unit: "ms", "bytes", ... */
extern const char *const metric_unit_words[];

/* Throughput in the model's own unit; negative: of nothing, or not reported. */
double profile_rate(const profile_measured *m, const profile_config *c);
/* Peak of resident memory above what was there before the session; 0: not reported. */
uint64_t profile_used_bytes(const profile_config *c);
/* Why the runs have no 95 % interval of the mean: "few-runs" or "scattered"; NULL: they have one. */
const char *profile_no_interval(const profile_stats *s);
/* The dimension of an input that is the batch, as determined; the first if it was not determined; -1: none. */
int64_t profile_input_batch(const profile *p, uint32_t input);
/* The configuration that `latency` is of: the smallest batch that ran; NULL when none did. */
const profile_config *profile_smallest(const profile *p);

#endif
