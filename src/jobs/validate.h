/* Our counts beside those of other tools. */
#ifndef JOBS_VALIDATE_H
#define JOBS_VALIDATE_H

#include "jobs/job.h"
#include "profile/validation.h"

/* Names or paths; none: the usual ones. Fills out, whose arena is there. */
assay_status job_validate(const char *const *models, size_t n_models, const assay_options *o,
                          validation *out, assay_error *err);

#endif
