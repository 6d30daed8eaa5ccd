/* Checks of a profile: limits on metrics, and comparison with a baseline. */
#ifndef MEASURE_JUDGE_H
#define MEASURE_JUDGE_H

#include "base/error.h"
#include "profile/verdicts.h"

/* Two sessions of one model may differ by this, regardless of their runs: other memory addresses, other cores,
 * another clock frequency. A regression must be beyond the tolerance and it. */
#define JUDGE_SESSION_SHARE 0.015

typedef struct judge_request {
    const profile *now;
    const profile *base; /* NULL: no baseline */
    str base_name;
    const verdict_limit *limits;
    uint32_t n_limits;
    const metric_row *const *metrics; /* compared with the baseline; NULL: those that are gated */
    uint32_t n_metrics;
    double tolerance;                    /* a share */
    const verdict_tolerance *tolerances; /* of single metrics; counts have none otherwise */
    uint32_t n_tolerances;
} judge_request;

/* ASSAY_ERR_USAGE when a limit or a metric that was requested by name is not in the profile. Sentences go to the
 * arena. */
assay_status judge_profile(const judge_request *q, arena *a, verdicts *out, assay_error *err);

/* ASSAY_ERR_USAGE when the baseline lacks one of the metrics. It can be asked before a model is run. */
assay_status judge_baseline_has(const profile *base, const metric_row *const *metrics, uint32_t n,
                                assay_error *err);

/* What it means that a run retires so many times the instructions: a sentence. */
str judge_opinion(arena *a, double ratio);

#endif
