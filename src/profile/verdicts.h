/* Whether a profile is good enough, as plain data: limits that were set, and a baseline that it was
 * compared with. Filled by measure/judge.c, read by reports. Pointers live in the arena of whoever asked.
 */
#ifndef PROFILE_VERDICTS_H
#define PROFILE_VERDICTS_H

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

typedef struct verdicts {
    str model, baseline; /* baseline: as the user called it; empty without one */
    str timestamp, baseline_timestamp;
    double tolerance; /* a share: 0.02 */
    double allowance; /* beside it, because the baseline is of another hour */
    verdict_row *rows;
    uint32_t n;
    verdict_kind overall;
    str *notes; /* what differs between the two contexts, a sentence each */
    uint32_t n_notes;
} verdicts;

#endif
