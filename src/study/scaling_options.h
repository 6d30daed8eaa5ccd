/* What `assay scale` is asked for: ranges of sizes, and the conditions of --solve. */
#ifndef STUDY_SCALING_OPTIONS_H
#define STUDY_SCALING_OPTIONS_H

#include "base/error.h"
#include "base/vec.h"
#include "profile/scaling.h"

typedef struct scaling_range { /* --dim NAME=A..B, of scale */
    str name;
    int decimals;
    int64_t from, to, step, count; /* in 10^-decimals; step and count 0: not given */
    const int64_t *values;         /* one by one, ascending; or NULL */
    uint32_t n_values;
} scaling_range;

typedef struct scaling_options {
    VEC(scaling_range) ranges;
    VEC(scaling_question) questions;
} scaling_options;

/* Adds a range: A..B, A..B..STEP, A..B:COUNT or A,B,C. Texts are copied to the arena. */
assay_status scaling_add_range(scaling_options *o, arena *a, str name, str text, assay_error *err);
/* Adds a condition of --solve: "batch:memory<=24GB". */
assay_status scaling_add_question(scaling_options *o, arena *a, str value, assay_error *err);

#endif
