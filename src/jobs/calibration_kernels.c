/* The kernels of one model: the layers that each executes, and its time. A session is profiled for some runs; then
 * profiling ends, and the same session is timed without it. A low quantile is used for the time of a kernel, because
 * disturbances only add time, and the median for whole runs, because that is what is predicted. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/map.h"
#include "jobs/calibration.h"
#include "jobs/kernels.h"
#include "measure/stats.h"

enum { RUNS_LEAST = 3, RUNS_MOST = 60, WARMUP = 2 };
#define LOW_QUANTILE 0.1

typedef struct study {
    const job_kernels_request *q;
    arena *arena;
    job_kernels *out;
    char *folder;
    assay_model *model;
    trace trace;
    kernel_map map;
    uint32_t *kernel_of; /* [nodes of the trace] */
} study;

/* ---- runs ---- */

static assay_status one_run(study *s, engine_job *job, double *seconds, assay_error *err)
{
    uint64_t began = engine_now_ns(s->q->engine);
    assay_status status = engine_job_run(job, err);
    *seconds = (double)(engine_now_ns(s->q->engine) - began) / 1e9;
    engine_job_drop(job);
    return status;
}

static assay_status some_runs(study *s, engine_job *job, double *times, uint32_t *n,
                              assay_error *err)
{
    double spent = 0;
    for (*n = 0; *n < RUNS_MOST && (*n < RUNS_LEAST + WARMUP || spent < s->q->budget_s); ++*n) {
        TRY(one_run(s, job, &times[*n], err));
        spent += times[*n];
    }
    return ASSAY_OK;
}

static assay_status sample_reference(study *s, int which, assay_error *err)
{
    job_reference *r = s->q->reference;
    return r ? job_reference_sample(r, &s->out->reference[which], err) : ASSAY_OK;
}

static assay_status run_both(study *s, engine_session *session, engine_job *job, assay_error *err)
{
    double times[RUNS_MOST];
    uint32_t n;
    const char *path = NULL;
    TRY(sample_reference(s, 0, err));
    TRY(some_runs(s, job, times, &n, err));
    TRY(sample_reference(s, 1, err));
    TRY(engine_profile_end(session, &path, err));
    assay_status status = trace_read(path, s->arena, &s->trace, err);
    file_remove(path);
    TRY(status);
    TRY(some_runs(s, job, times, &n, err));
    TRY(sample_reference(s, 2, err));
    stats_sort(times + WARMUP, n - WARMUP);
    s->out->latency_s = stats_quantile(times + WARMUP, n - WARMUP, 0.5);
    return ASSAY_OK;
}

static assay_status run_model(study *s, assay_error *err)
{
    job_runnable *x = &s->out->x;
    engine_options options = job_engine_options(s->q->o, s->arena);
    engine_session *session = NULL;
    engine_job *job = NULL;
    input_set inputs = {0};
    options.profile_prefix = arena_printf(s->arena, "%s/trace", s->folder);
    options.optimised_path = arena_printf(s->arena, "%s/optimised.onnx", s->folder);
    TRY(engine_session_open(s->q->engine, &x->model, &options, &session, err));
    assay_status status = inputs_make(x->wants, x->n_wants, engine_session_about(session), 0,
                                      &inputs, err);
    if (status == ASSAY_OK)
        status = engine_job_open(session, inputs.tensors, inputs.n, &job, err);
    if (status == ASSAY_OK)
        status = run_both(s, session, job, err);
    engine_job_close(job);
    inputs_free(&inputs);
    engine_session_close(session);
    return status;
}

/* ---- kernels to layers ---- */

static assay_status map_kernels(study *s, assay_error *err)
{
    const char *path = arena_printf(s->arena, "%s/optimised.onnx", s->folder);
    TRY(job_read_kernels(&s->out->x, path, s->arena, &s->map, err));
    s->kernel_of = job_kernels_of_trace(&s->map, &s->trace, s->arena);
    return s->kernel_of ? ASSAY_OK : err_no_memory(err);
}

/* The layer of a kernel that most of its work is for. */
static uint32_t leader(const study *s, const kernel_row *k)
{
    const profile *p = s->out->p;
    uint32_t best = UINT32_MAX;
    double most = -1;
    for (uint32_t i = 0; i < k->n; i++) {
        const profile_layer *l = &p->layers[s->map.layers[k->first + i]];
        /* A contraction leads whatever moves beside it. */
        double w = l->macs ? 1e18 + (double)l->macs : (double)l->memory;
        if (w > most) {
            most = w;
            best = s->map.layers[k->first + i];
        }
    }
    return best;
}

/* Low quantile over runs of one node's time; what the profiler adds is fitted away later. */
static double node_seconds(const study *s, uint32_t node, double *work)
{
    uint32_t n = 0;
    for (uint32_t r = WARMUP; r < s->trace.n_runs; r++) {
        double sum = 0, events = 0;
        for (uint32_t i = 0; i < s->trace.runs[r].n; i++) {
            const trace_event *e = &s->trace.events[s->trace.runs[r].first + i];
            if (e->node == node && e->parent == TRACE_NONE) {
                sum += (double)e->dur_us * 1e-6;
                events++;
            }
        }
        if (events > 0)
            work[n++] = sum;
    }
    stats_sort(work, n);
    return n ? stats_quantile(work, n, LOW_QUANTILE) : 0;
}

/* Kernels that the engine inserted (layout changes, copies) are attributed to the next layer, or to the last one. */
static void book(study *s)
{
    job_kernels *out = s->out;
    double work[RUNS_MOST], waiting = 0;
    uint32_t last = UINT32_MAX;
    for (uint32_t node = 0; node < s->trace.n_nodes; node++) {
        uint32_t k = s->kernel_of[node];
        double t = node_seconds(s, node, work);
        uint32_t lead = k != MAP_NONE ? leader(s, &s->map.kernels[k]) : UINT32_MAX;
        out->kernels++;
        out->kernels_s += t;
        waiting += t;
        if (lead == UINT32_MAX)
            continue;
        out->seconds[lead] += waiting;
        out->led[lead] = true;
        waiting = 0;
        last = lead;
    }
    if (last != UINT32_MAX)
        out->seconds[last] += waiting;
}

/* ---- the whole ---- */

static assay_status study_model(study *s, assay_error *err)
{
    job_kernels *out = s->out;
    TRY(job_model_open(s->q->model, &s->model, err));
    TRY(job_runnable_make(s->model, s->q->o, s->q->batch, &out->x, err));
    TRY(job_runnable_export(s->model, s->q->o, &out->x, err));
    TRY(file_temp_folder(&s->folder, err));
    TRY(run_model(s, err));
    out->p = out->x.p;
    TRY(map_kernels(s, err));
    out->seconds = ARENA_ARRAY(s->arena, double, out->p->n_layers + 1u);
    out->led = ARENA_ARRAY(s->arena, bool, out->p->n_layers + 1u);
    TRY_MEMORY(out->seconds && out->led, err);
    if (s->trace.n_runs <= WARMUP)
        return err_fail(err, ASSAY_ERR_ENGINE, "the engine's profile has no runs");
    book(s);
    return ASSAY_OK;
}

assay_status job_kernels_measure(const job_kernels_request *q, arena *a, job_kernels *out,
                                 assay_error *err)
{
    study s = {.q = q, .arena = a, .out = out};
    *out = (job_kernels){0};
    assay_status status = study_model(&s, err);
    file_drop_folder(s.folder);
    /* The graph that `x` borrows is not read any more. */
    model_free(s.model);
    return status;
}

void job_kernels_free(job_kernels *k)
{
    job_runnable_free(&k->x);
}
