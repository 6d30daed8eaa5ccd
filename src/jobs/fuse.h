/* Fusion groups compared with the engine's kernels. */
#ifndef JOBS_FUSE_H
#define JOBS_FUSE_H

#include "jobs/job.h"

/* Groups and patterns; beside the engine's kernels when the options ask for it. */
assay_status job_fuse(assay_model *model, const assay_options *options, assay_result **out,
                      assay_error *err);
/* Fills p->fusion->engine; ASSAY_ERR_ENGINE when there is none. */
assay_status job_fuse_engine(assay_model *model, const assay_options *o, profile *p,
                             assay_error *err);

#endif
