/* Time ratio of two models, from the runs in their profiles or from interleaved runs. */
#ifndef MEASURE_COMPARE_TIMES_H
#define MEASURE_COMPARE_TIMES_H

#include "measure/interleave.h"
#include "profile/comparison.h"

/* By saved runs; `out` stays as it is where one has none. tolerance: 0.05 is 5 %. Texts go to the arena. */
assay_status compare_saved_times(const profile *base, const profile *now, double tolerance,
                                 arena *a, comparison_timing *out, assay_error *err);
/* By turns in one process, whose runs both profiles hold. */
void compare_turns(const interleave_series *base, const interleave_series *now, double tolerance,
                   comparison_timing *out);
/* Every run of one compared with every run of the other. */
void compare_instructions(const profile *base, const profile *now, comparison_timing *out);

/* Sets the values of a configuration that turns provide; the others are unknown. `of` is what a run computes. */
assay_status turns_describe(const interleave_series *s, const profile *of, arena *a,
                            profile_config *c, assay_error *err);

#endif
