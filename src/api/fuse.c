/* Groups of layers that may run as one kernel, and the patterns in a file. */
#include <assay/study.h>

#include "jobs/job.h"

#include "api/result.h"

assay_status assay_fuse(assay_model *model, const assay_options *options, assay_result **out,
                        assay_error *err)
{
    assay_options none;
    return api_settle(job_fuse(model, api_options(options, &none), out, err), out, err);
}
