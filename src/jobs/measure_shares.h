/* Achieved rates beside the machine's ceilings; apart from measure.h, whose names are not the machine's. */
#ifndef JOBS_MEASURE_SHARES_H
#define JOBS_MEASURE_SHARES_H

#include "jobs/job.h"

/* The shares of a configuration, and once the ceilings themselves, whose texts are copied into `keep`. Nothing when no machine was measured, or the model did not run on the processor (`where` is "cpu"). */
void job_set_shares(const assay_options *o, str where, profile_config *c, arena *keep,
                    profile_ceilings *ceilings);

#endif
