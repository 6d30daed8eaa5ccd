/* How the cost of a model grows with its sizes. */
#ifndef JOBS_SCALING_H
#define JOBS_SCALING_H

#include "jobs/job.h"

/* Over the ranges of the options, of which there is at least one; the result is in the arena. */
assay_status job_scale(assay_model *m, const assay_options *o, arena *a, scaling *out,
                       assay_error *err);

#endif
