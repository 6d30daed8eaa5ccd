/* Statistics of a load: plain functions of records, so that tests need neither clock nor server.
 *
 * Percentiles are over all requests. A failed one ranks above every good one, with the longer of its own time and the
 * slowest good one's: failures never improve a percentile. Mean and deviation are of good requests. The interval of the
 * mean accounts for autocorrelation (stats.h), those of percentiles are by ranks: n q ± 1.96 sqrt(n q (1 - q)).
 *
 * Steady state: the run is cut into equal windows, and MSER (White 1997) chooses how many to leave out at the
 * beginning: the number d that minimises var(rest) / (n - d). It is steady if d is below half of the windows, and the
 * two halves of the rest do not differ by more than chance and a tenth.
 */
#ifndef MEASURE_LOAD_STATS_H
#define MEASURE_LOAD_STATS_H

#include "measure/load_run.h"
#include "profile/load.h"

typedef struct load_values {
    float *good, *bad; /* milliseconds; sorted in place */
    uint32_t n_good, n_bad;
} load_values;

/* Sorts; the interval of the mean is of `good` in its first order. False if out of memory. */
bool load_times_of(load_values *v, load_times *out);
/* q in 0..1 of sorted values; NaN of none. */
double load_quantile(const load_values *v, double q);

enum { LOAD_WINDOWS = 20 };
typedef struct load_steady {
    bool steady;
    double after_s; /* where it begins */
} load_steady;
/* Mean of each window; NaN: it has none. */
load_steady load_find_steady(const double *means, uint32_t n, double window_s);
load_steady load_run_steady(const load_record *items, uint32_t n, double duration_s);

/* ---- service level objectives ---- */

typedef enum load_metric { METRIC_LATENCY, METRIC_TTFT, METRIC_ITL, LOAD_METRICS } load_metric;
extern const char *const load_metric_words[];

typedef struct load_objective {
    load_metric metric;
    double quantile; /* that must be within the limit */
    double limit_ms;
} load_objective;
enum { LOAD_OBJECTIVES = 8 };

typedef struct load_objectives {
    load_objective items[LOAD_OBJECTIVES];
    uint32_t n;
} load_objectives;

/* "p99:200ms", "ttft:500ms,itl:50ms", "p95_ttft:400ms". A metric without a percentile is P99. False when it is none. */
bool load_objectives_parse(str text, load_objectives *out);
/* Whether one request is within all of them. A failed one never is. */
bool load_is_good(const load_record *r, const load_objectives *o);

/* ---- a run ---- */

typedef struct load_summary_request {
    const load_run_result *run;
    const load_objectives *slo; /* n 0: none */
    bool tokens;                /* of a protocol with tokens */
    bool open;                  /* requests had times at which they were due */
    uint64_t from_ns;           /* requests due before are left out */
} load_summary_request;

/* Fills what follows from the records: counts, times, throughput, errors, slo, client, network, timeline, cdf. */
assay_status load_summarise(const load_summary_request *q, arena *a, load_result *out,
                            assay_error *err);

#endif
