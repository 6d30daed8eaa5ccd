/* Profiles side by side: totals, operator types, and of two of them the layers that differ. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "base/error.h"
#include "profile/comparison.h"

/* Borrows the profiles (1 to COMPARISON_MAX of them) for as long as the result lives in `a`. */
assay_status compare_run(const profile *const *profiles, uint32_t n, arena *a, comparison *out,
                         assay_error *err);

#endif
