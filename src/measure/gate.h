/* Slower, faster, equivalent or inconclusive: a statistical comparison of two series of runs.
 *
 * The question is one of equivalence: is the ratio of the two (mean, quantile) beyond the tolerance? Its 99 %
 * interval comes from a stationary bootstrap (Politis and Romano 1994): blocks of each series are resampled, as long
 * as its autocorrelation requires, so that correlated runs are not treated as independent. With limit = 1 + tolerance
 * + allowance:
 *
 *   regression     the whole interval lies above the limit
 *   improvement    the whole interval lies below 1 / limit
 *   pass           the whole interval lies below 1 + tolerance
 *   inconclusive   anything else: noise hides the answer
 *
 * Of runs that drift or come in groups, so that few independent ones remain, the interval reaches from the
 * fastest stretch of the one over the slowest of the other to the contrary: a difference that is larger than
 * that between groups is told, a smaller one is inconclusive.
 *
 * A difference must so be both certain and large before anybody is woken, and an unchanged series passes
 * only when it was measured well enough to tell. The generator is seeded: the same runs give the same
 * answer.
 */
#ifndef MEASURE_GATE_H
#define MEASURE_GATE_H

#include "base/error.h"
#include "profile/verdicts.h"

#define GATE_RUNS_LEAST 10 /* of each side */

typedef struct gate_series {
    const double *ms; /* in the order they were measured */
    uint32_t n;
} gate_series;

typedef struct gate_question {
    gate_series base, now;
    metric_of_runs what; /* RUNS_RATE is judged by the mean time */
    double quantile;
    double tolerance, allowance; /* shares */
} gate_question;

typedef enum gate_reason {
    GATE_CLEAR,
    GATE_NOISE,     /* the interval holds the limit */
    GATE_SESSIONS,  /* all of it is between the tolerance and what two sessions may differ by */
    GATE_FEW_RUNS,  /* below GATE_RUNS_LEAST */
    GATE_FEW_TAIL,  /* too few runs beyond the quantile */
    GATE_DEPENDENT, /* as GATE_NOISE, for runs so correlated that few independent ones remain */
} gate_reason;

typedef struct gate_answer {
    verdict_kind verdict;
    gate_reason reason;
    double base, now;        /* milliseconds */
    double ratio, low, high; /* of time: above 1 is slower */
    double effective_base, effective_now;
    uint32_t runs_needed; /* of GATE_FEW_TAIL */
} gate_answer;

assay_status gate_ask(const gate_question *q, gate_answer *out, assay_error *err);

#endif
