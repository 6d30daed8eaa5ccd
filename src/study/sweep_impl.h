/* Shared by sweep.c and sweep_machines.c. */
#ifndef STUDY_SWEEP_IMPL_H
#define STUDY_SWEEP_IMPL_H

#include "study/sweep.h"

/* Whether two tasks differ in their repeat alone. */
bool sweep_rows_equal(const sweep_row *a, const sweep_row *b);
/* Fills the machines of a report that has its rows. `work` has room for as many numbers as there are rows. */
assay_status sweep_compare_machines(sweep_report *r, double *work, arena *a, assay_error *err);

#endif
