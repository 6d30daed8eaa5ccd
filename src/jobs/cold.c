/* Cold starts of the first configuration (measure/cold.h). int8 with calibration needs the engine to make the model, so
 * it is refused. */
#include "measure/cold.h"
#include "jobs/hooks.h"
#include "jobs/measure.h"
#include "jobs/precision.h"

static assay_status open_engine(void *options, engine **out, assay_error *err)
{
    return job_engine_open(options, out, err);
}

static bool stopped(void *options)
{
    return job_cancelled(((const assay_options *)options)->hooks);
}

assay_status job_measure_cold(assay_model *m, const assay_options *o, const profile_config *c,
                              profile *p, profile_cold *out, assay_error *err)
{
    job_runnable x = {0};
    const precision_row *precise;
    TRY(job_find_precision(c->precision, &precise, err));
    if (precise && precise->kind == PRECISION_INT8)
        return err_fail(err, ASSAY_ERR_USAGE, "--cold cannot be used with int8");
    assay_status s = job_runnable_make(m, o, (int64_t)c->batch, &x, err);
    x.precise = precise;
    if (s == ASSAY_OK)
        s = job_runnable_export(m, o, &x, err);
    if (s == ASSAY_OK) {
        const cold_request q = {.model = x.model,
                                .options = job_engine_options(o, x.work),
                                .wants = x.wants,
                                .n_wants = x.n_wants,
                                .seed = (uint64_t)o->model.seed,
                                .starts = (uint32_t)o->measure.cold,
                                .open = open_engine,
                                .cancelled = stopped,
                                .ctx = (void *)(uintptr_t)o};
        s = cold_measure(&q, p, out, err);
    }
    out->batch = x.batch_shown;
    out->precision = str_copy(p->arena, c->precision);
    job_runnable_free(&x);
    return s;
}
