/* See reference.h. */
#include "jobs/reference.h"

#include <stdlib.h>

#include "base/memory.h"
#include "measure/stats.h"

/* Dense and 1x1 convolutions, some 15 ms on two cores: long enough to be scheduled like the others. */
static const char reference_model[] = "squeezenet1_0";
enum { WARMUP = 3, RUNS = 7 };
#define REFERENCE_BYTES ((size_t)64 << 20)

struct job_reference {
    engine *engine;
    arena *arena;
    assay_model *model;
    job_runnable x;
    engine_session *session;
    input_set inputs;
    engine_job *job;
    drift drift;
};

static assay_status run_once(job_reference *r, double *seconds, assay_error *err)
{
    uint64_t began = engine_now_ns(r->engine);
    assay_status s = engine_job_run(r->job, err);
    *seconds = (double)(engine_now_ns(r->engine) - began) / 1e9;
    engine_job_drop(r->job);
    return s;
}

static assay_status open_reference(job_reference *r, const assay_options *o, assay_error *err)
{
    TRY(job_model_open(reference_model, &r->model, err));
    TRY(job_runnable_make(r->model, o, 1, &r->x, err));
    TRY(job_runnable_export(r->model, o, &r->x, err));
    engine_options options = job_engine_options(o, r->arena);
    TRY(engine_session_open(r->engine, &r->x.model, &options, &r->session, err));
    TRY(inputs_make(r->x.wants, r->x.n_wants, engine_session_about(r->session), 0, &r->inputs,
                    err));
    TRY(engine_job_open(r->session, r->inputs.tensors, r->inputs.n, &r->job, err));
    double seconds;
    for (int i = 0; i < WARMUP; i++)
        TRY(run_once(r, &seconds, err));
    return ASSAY_OK;
}

assay_status job_reference_open(engine *e, const assay_options *o, job_reference **out,
                                assay_error *err)
{
    job_reference *r = memory_zeroed(1, sizeof *r);
    *out = r;
    if (!r)
        return err_no_memory(err);
    r->engine = e;
    r->arena = arena_new(REFERENCE_BYTES);
    return r->arena ? open_reference(r, o, err) : err_no_memory(err);
}

void job_reference_close(job_reference *r)
{
    if (!r)
        return;
    engine_job_close(r->job);
    inputs_free(&r->inputs);
    engine_session_close(r->session);
    job_runnable_free(&r->x);
    model_free(r->model);
    arena_free(r->arena);
    free(r);
}

assay_status job_reference_sample(job_reference *r, uint32_t *at, assay_error *err)
{
    double times[RUNS];
    for (int i = 0; i < RUNS; i++)
        TRY(run_once(r, &times[i], err));
    stats_sort(times, RUNS);
    *at = drift_add(&r->drift, stats_quantile(times, RUNS, 0.5));
    return ASSAY_OK;
}

const drift *job_reference_drift(const job_reference *r)
{
    return &r->drift;
}
