/* Whether a profile is good enough, as plain data: limits that were set, and a baseline that it was
 * compared with. Filled by measure/judge.c, read by reports. Pointers live in the arena of whoever asked.
 */
#ifndef PROFILE_VERDICTS_H
#define PROFILE_VERDICTS_H

#include "profile/comparison.h"
#include "profile/metrics.h"

typedef enum verdict_kind {
    VERDICT_PASS,
    VERDICT_IMPROVEMENT,
    VERDICT_SHOWN, /* there is nothing to judge it by: no part of the answer */
    VERDICT_INCONCLUSIVE,
    VERDICT_REGRESSION,
    VERDICT_MISSED, /* a limit */
} verdict_kind;
const char *verdict_name(verdict_kind v); /* "pass", "regression", ... */

typedef struct verdict_limit {
    const metric_row *metric;
    bool at_least; /* else at most */
    double limit;
} verdict_limit;

typedef struct verdict_row {
    const metric_row *metric;
    verdict_kind verdict;
    bool against_limit; /* else against the baseline */
    bool at_least;
    double limit;
    metric_value now, base;
    double ratio;     /* now / base; 0 when there is no base or it is 0 */
    bool tested;      /* by the runs themselves; low and high hold the 99 % interval of the ratio */
    double low, high; /* of now / base */
    str why;          /* a sentence; or empty */
} verdict_row;

/* A layer behind a difference: what it adds to the totals. */
typedef struct verdict_move {
    comparison_change change;
    str name, type, shapes; /* shapes: of the first output, before and after */
    str attributes;         /* that are others: "strides [1,1] → [2,2]"; or empty */
    int64_t macs, parameters, bytes, peak_bytes;
    double before_ms, after_ms; /* negative: not measured */
} verdict_move;

typedef struct verdict_type { /* the same by type of operator */
    str type;
    uint32_t layers; /* that moved */
    int64_t count;   /* more of them than before */
    int64_t macs, parameters, bytes;
} verdict_type;

typedef struct verdicts {
    str model, baseline; /* baseline: as the user called it; empty without one */
    str timestamp, baseline_timestamp;
    double tolerance; /* a share: 0.02 */
    double allowance; /* beside it, because the baseline is of another session */
    verdict_row *rows;
    uint32_t n;
    verdict_kind overall;
    verdict_move *moves; /* the weightiest layers that moved */
    uint32_t n_moves, n_moved;
    verdict_type *types; /* by MACs, descending */
    uint32_t n_types;
    str *notes; /* what differs between the two contexts, a sentence each */
    uint32_t n_notes;
} verdicts;

#endif
