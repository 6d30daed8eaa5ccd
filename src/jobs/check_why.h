/* Between the check*.c files of this room. */
#ifndef JOBS_CHECK_WHY_H
#define JOBS_CHECK_WHY_H

#include "jobs/job.h"
#include "profile/verdicts.h"

/* Fills what moved between the two, and by how much; texts are copied into the arena. */
assay_status job_explain(const profile *base, const profile *now, arena *a, verdicts *v,
                         assay_error *err);

#endif
