/* assay_validate(): counts compared with those of other tools. */
#include <assay/study.h>

#include "jobs/job.h"
#include "profile/validation.h"

#include "api/result.h"

assay_status assay_validate(const char *const *models, size_t n_models,
                            const assay_options *options, assay_result **out, assay_error *err)
{
    assay_options none;
    assay_result *r = handle_new(&validation_kind, JOB_ANALYSIS_BYTES);
    api_begin(err);
    *out = NULL;
    TRY_MEMORY(r, err);
    validation *v = r->data;
    v->arena = r->arena;
    return api_hand_result(
        job_validate(models, n_models, options_or_default(options, &none), v, err), r, out, err);
}
