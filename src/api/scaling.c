/* assay_scale(): cost as a function of sizes. */
#include <assay/study.h>

#include <assert.h>

#include "api/result.h"
#include "jobs/job.h"
#include "profile/scaling.h"

static assay_status judge_strict(const assay_options *o, const scaling *s, assay_error *err)
{
    if (!o->model.strict || !s->assumed)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "strict: assumed or unknown values in %llu of %llu evaluations. List them with "
                    "`assay graph`.",
                    (unsigned long long)s->assumed, (unsigned long long)s->evaluations);
}

/* ---- the public functions ---- */

assay_status assay_scale(assay_model *model, const assay_options *options, assay_result **out,
                         assay_error *err)
{
    assay_options none;
    const assay_options *o = options_or_default(options, &none);
    api_begin(err);
    *out = NULL;
    if (!o->scaling.ranges.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "scale needs a size to vary. Use --dim NAME=A..B, for example --dim "
                        "batch=1..64.");
    assay_result *r = handle_new(&scaling_kind, JOB_ANALYSIS_BYTES);
    assay_status s = r ? job_scale(model, o, r->arena, r->data, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    assert(r);
    return judge_strict(o, r->data, err);
}
