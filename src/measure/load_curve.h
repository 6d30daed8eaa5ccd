/* The curve of latency over throughput: which rates to try, and what the steps say.
 *
 * Rates begin low and double until the server does not keep up; then the gap between the highest rate that is good and
 * the lowest that is not is halved (by ratio), again and again while there is time. A rate is good when the server
 * sustains it, that is answers at least 95 % of what is due, and when it meets the SLO, if there is one.
 *
 * The knee is the step with the highest power, throughput divided by mean latency (Kleinrock 1979).
 */
#ifndef MEASURE_LOAD_CURVE_H
#define MEASURE_LOAD_CURVE_H

#include "profile/load.h"

enum { LOAD_STEPS_MOST = 40 };

typedef struct load_search {
    double first;        /* rate to begin with */
    const double *rates; /* the user's own; or NULL */
    uint32_t n_rates;
    bool has_slo;
    load_curve_step steps[LOAD_STEPS_MOST]; /* in the order they were taken */
    uint32_t n;
} load_search;

/* The next rate to try; 0: enough is known. */
double load_search_next(const load_search *s);
/* Whether a step counts as good for the search. */
bool load_step_is_good(const load_curve_step *s);
/* Sorts the steps by rate, marks knee and best, and fills the answer. */
void load_search_finish(load_search *s, load_curve_answer *out);

#endif
