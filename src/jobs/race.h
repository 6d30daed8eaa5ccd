/* Profiles to compare, and their times. */
#ifndef JOBS_RACE_H
#define JOBS_RACE_H

#include "jobs/job.h"
#include "study/compare.h"

typedef struct job_comparison {
    arena *arena;
    const profile *list[COMPARISON_MAX];
    profile *own[COMPARISON_MAX]; /* the same, to be filled by measuring */
    const assay_result *given[COMPARISON_MAX];
    comparison_timing timings[COMPARISON_MAX]; /* by profile; the first one's is empty */
    comparison c;
} job_comparison;

/* Runs the models interleaved and compares them with the first; hooks may be NULL. */
assay_status job_race(job_comparison *c, assay_model *const *models, size_t n,
                      const assay_options *o, const assay_hooks *hooks, assay_error *err);

#endif
