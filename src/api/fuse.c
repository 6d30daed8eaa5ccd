/* assay_fuse(): groups of layers that can run as one kernel, and patterns. */
#include <assay/study.h>

#include "jobs/job.h"

#include "api/result.h"

assay_status assay_fuse(assay_model *model, const assay_options *options, assay_result **out,
                        assay_error *err)
{
    assay_options none;
    return api_settle(job_fuse(model, options_or_default(options, &none), out, err), out, err);
}
