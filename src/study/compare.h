/* Profiles side by side: totals, operator types, and of two of them the layers that differ. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "base/error.h"
#include "profile/comparison.h"
#include "profile/profile.h"
#include "profile/verdicts.h"

/* Borrows the profiles (2 to COMPARISON_MAX of them) for as long as the result lives in `a`. What compare_settle() fills
 * is not filled yet. */
assay_status compare_run(const profile *const *profiles, uint32_t n, arena *a, comparison *out,
                         assay_error *err);
/* The models with their labels and totals, and the times of those whose verdict is not NULL (timings[n], in the order
 * of the profiles; the first one's is empty). To be called again when profiles were measured. False if out of memory
 * (compare_totals.c). */
bool compare_settle(const profile *const *profiles, uint32_t n, const comparison_timing *timings,
                    arena *a, comparison *out);

/* Limits to choose by (compare_budget.c); compare_settle() ranks the models by them. */
assay_status compare_set_budget(const verdict_limit *limits, uint32_t n, arena *a, comparison *out,
                                assay_error *err);
/* Ranks the models of a comparison that has a budget; false if out of memory. */
bool compare_rank(const profile *const *profiles, arena *a, comparison *out);

/* Puts models that were mapped on their devices (compare_places.c); false if out of memory. */
bool compare_place(const profile *const *profiles, arena *a, comparison *out);

/* Fills what follows from the two sides and the attributes of a layer (compare_layer.c). */
void compare_describe(arena *a, bool has_times, comparison_layer *l);

/* What the profiles are called in outputs (compare_labels.c). */
void compare_labels(const profile *const *profiles, uint32_t n, arena *a, str *out);

/* No times yet. */
#define COMPARISON_NO_TIMES ((comparison_timing){.ratio = NAN, .low = NAN, .high = NAN})

#endif
