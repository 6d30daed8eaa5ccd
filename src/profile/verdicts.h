/* The verdicts of limits and of a baseline: the result "assay.check/1" (verdict_fields.c), filled by measure/judge.c.
 * Pointers are in the arena of the caller. */
#ifndef PROFILE_VERDICTS_H
#define PROFILE_VERDICTS_H

#include "base/result.h"
#include "profile/comparison.h"
#include "profile/metrics.h"

typedef enum verdict_kind {
    VERDICT_PASS,
    VERDICT_IMPROVEMENT,
    VERDICT_SHOWN, /* nothing to compare with: not part of the verdict */
    VERDICT_INCONCLUSIVE,
    VERDICT_REGRESSION,
    VERDICT_MISSED, /* a limit */
} verdict_kind;
extern const char *const verdict_words[]; /* "pass", "regression", ... */

typedef struct verdict_limit {
    const metric_row *metric;
    bool at_least; /* else at most */
    double limit;
} verdict_limit;

typedef struct verdict_tolerance { /* of one metric, instead of the usual one */
    const metric_row *metric;
    double percent;
} verdict_tolerance;

#define VERDICT_AT_LEAST ">="
#define VERDICT_AT_MOST  "<="

typedef struct verdict_row {
    const char *metric; /* name in metric_table */
    const char *title;  /* of the metric: "Median latency" */
    metric_unit unit;
    verdict_kind verdict;
    metric_value now;
    const char *op;    /* VERDICT_AT_LEAST, VERDICT_AT_MOST: against a limit; NULL: the baseline */
    double limit;      /* NaN: none */
    metric_value base; /* unknown: none */
    double ratio;      /* now / base; NaN when there is none or it is 0 */
    double low, high;  /* 99 % interval of the ratio by the runs themselves; NaN: not tested */
    double tolerance_percent; /* its own; NaN: that of all measured metrics, and none for counts */
    str why;                  /* a sentence; or empty */
} verdict_row;

/* A layer after a difference: what it adds to the totals. */
typedef struct verdict_move {
    comparison_change change;
    str name, type, shapes; /* shapes: of the first output, before and after */
    str attributes;         /* that are others: "strides [1,1] → [2,2]"; or empty */
    int64_t macs, parameters, bytes, peak_bytes;
    double time_ms; /* NaN: not measured in both */
} verdict_move;

typedef struct verdict_type { /* the same by type of operator */
    str type;
    uint32_t layers; /* that moved */
    int64_t count;   /* more of them than before */
    int64_t macs, parameters, bytes;
} verdict_type;

typedef struct verdicts {
    str conclusion; /* one or two sentences: result_conclude() */
    str model;
    verdict_kind overall;
    bool has_baseline;
    str baseline; /* as the user called it; empty without one */
    str timestamp, baseline_timestamp;
    double tolerance_percent;
    double allowance_percent; /* in addition, because the baseline is of another session */
    verdict_row *rows;
    uint32_t n;
    uint32_t n_moved;    /* layers */
    verdict_move *moves; /* the weightiest of them */
    uint32_t n_moves;
    verdict_type *types; /* by MACs, descending */
    uint32_t n_types;
    str busy;   /* measured on a busy machine: whose runs, and the evidence; or empty */
    str *notes; /* what differs between the two contexts, a sentence each */
    uint32_t n_notes;
} verdicts;

extern const result_kind check_kind;

static inline bool verdict_is_tested(const verdict_row *r)
{
    return !isnan(r->low);
}

#endif
