/* What came out of a sweep: its records arranged as a matrix of models, places and configurations.
 *
 * Equal tasks (repeats) are one cell with the medians of their records. A cell is on the Pareto front of its model if no
 * other cell of the model is at least as good in median latency, throughput and memory and better in one of them.
 *
 * Machines. The latency of a record is divided by the median of the records of equal tasks on other machines. A machine
 * is slow if the median of these ratios is above 1 + SWEEP_PACE, at least SWEEP_PACE_LEAST records are compared, and the
 * number of slower ones has a probability of at most SWEEP_PACE_LEVEL by chance (one-sided sign test). Without equal
 * tasks on several machines (--repeat), nothing is compared.
 */
#ifndef STUDY_SWEEP_H
#define STUDY_SWEEP_H

#include "base/error.h"
#include "profile/history.h"
#include "profile/sweep.h"

#define SWEEP_PACE       0.10
#define SWEEP_PACE_LEAST 3
#define SWEEP_PACE_LEVEL 0.125
#define SWEEP_NOISY_TAG  "noisy" /* of a record: the machine was not quiet */

/* Fills the report from the plan and the records of its sweep, in any order. Borrows their texts. */
assay_status sweep_report_make(const sweep_plan *plan, const history_list *records, arena *a,
                               sweep_report *out, assay_error *err);
/* By task number: its record, or NULL. ASSAY_ERR_SYSTEM: out of memory. */
assay_status sweep_match(const sweep_plan *plan, const history_list *records, arena *a,
                         const history_record ***out, assay_error *err);
bool sweep_is_noisy(const history_record *r);
/* The end at the pace of the records so far; INT64_MIN: not known. */
int64_t sweep_expected_end(const history_list *records, uint32_t left, int64_t now_s);

/* The slowest mean of records of equal tasks, in seconds, of the task's node class if there are any; 0: there is none. */
double sweep_recorded_run(const history_list *records, const sweep_task *t);

#endif
