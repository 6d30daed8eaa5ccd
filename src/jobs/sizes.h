/* Sizes of a model by name: finds one, and analyses the model with other values. */
#ifndef JOBS_SIZES_H
#define JOBS_SIZES_H

#include "jobs/job.h"
#include "study/sizes.h"

/* A symbolic dimension of the file, or what size_find() finds; `base` is the model's profile as the options have it. */
assay_status job_size_find(assay_model *m, const assay_options *o, const profile *base, str name,
                           size_binding *out, assay_error *err);

/* "batch, height, width, side, size, and INPUT[AXIS]": those that the model has. */
void job_size_names(assay_model *m, const assay_options *o, const profile *base, sbuf *out);

typedef struct size_setting {
    const size_binding *of;
    int64_t value; /* in 10^-decimals */
} size_setting;

/* The static profile with these sizes and otherwise as the options have it. */
assay_status job_size_run(assay_model *m, const assay_options *o, const profile *base,
                          const size_setting *set, uint32_t n, assay_result **out,
                          assay_error *err);

#endif
