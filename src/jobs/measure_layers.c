/* Time of every layer, from runs with the engine's profiler. The overhead of the profiler is subtracted
 * (measure/layer_times.h). */
#include <stdlib.h>

#include "base/file.h"
#include "base/map.h"
#include "formats/onnx_write.h"
#include "jobs/kernels.h"
#include "measure/blocking.h"
#include "measure/gpu_events.h"
#include "measure/layer_times.h"

enum { CHAIN_RUNS = 60, WARMUP_RUNS = 5, EVENTS_MAX = 800000, RUNS_MOST = 200 };

#define TRACE_BYTES ((size_t)1 << 30)

typedef struct study {
    const job_layers_request *q;
    arena *arena;
    char *folder; /* of our own files */
    trace trace;
    uint32_t warmup_runs, runs;
    profiler_bias bias;
    kernel_map map;
    layer_span *spans; /* [nodes of the trace] */
} study;

static char *path_in(const study *s, const char *name)
{
    return arena_printf(s->arena, "%s/%s", s->folder, name);
}

/* ---- a profiled session ---- */

typedef struct session_run {
    const engine_model *model;
    engine_options options;
    const input_want *wants;
    uint32_t n_wants, warmup, runs;
    double median_ms;
} session_run;

static assay_status run_jobs(study *s, session_run *r, engine_session *session, assay_error *err)
{
    input_set inputs;
    engine_job *job = NULL;
    assay_status status = inputs_make(r->wants, r->n_wants, engine_session_about(session),
                                      (uint64_t)s->q->o->model.seed, &inputs, err);
    if (status == ASSAY_OK)
        status = engine_job_open(session, inputs.tensors, inputs.n, &job, err);
    if (status == ASSAY_OK)
        status = measure_median(s->q->engine, job, r->warmup, r->runs, &s->q->hook, &r->median_ms,
                                err);
    engine_job_close(job);
    inputs_free(&inputs);
    return status;
}

static assay_status run_session(study *s, session_run *r, trace *out, assay_error *err)
{
    engine_session *session = NULL;
    const char *path = NULL;
    TRY(engine_session_open(s->q->engine, r->model, &r->options, &session, err));
    assay_status status = run_jobs(s, r, session, err);
    if (out) {
        assay_error ignored;
        err_clear(&ignored);
        assay_status ended = engine_profile_end(session, &path,
                                                status == ASSAY_OK ? err : &ignored);
        if (status == ASSAY_OK)
            status = ended;
    }
    if (status == ASSAY_OK && out)
        status = trace_read(path, s->arena, out, err);
    if (path)
        file_remove(path);
    engine_session_close(session);
    return status;
}

/* ---- what the profiler costs ---- */

static assay_status calibrate(study *s, assay_error *err)
{
    static const int64_t dims[] = {1};
    const input_want x = {.name = STR("x0"), .dtype = IR_FLOAT32, .rank = 1, .dims = dims};
    const char *path = path_in(s, "chain.onnx");
    const engine_model model = {.path = path};
    session_run r = {.model = &model,
                     .options = job_engine_options(s->q->o, s->arena),
                     .wants = &x,
                     .n_wants = 1,
                     .warmup = WARMUP_RUNS,
                     .runs = CHAIN_RUNS};
    trace t;
    TRY(onnx_write_chain(path, err));
    r.options.opt_level = ENGINE_OPT_OFF;
    TRY(run_session(s, &r, NULL, err));
    double plain_us = r.median_ms * 1000 / ONNX_CHAIN;
    r.options.profile_prefix = path_in(s, "chain_trace");
    TRY(run_session(s, &r, &t, err));
    if (!profiler_bias_of(&t, WARMUP_RUNS, plain_us, ONNX_CHAIN, &s->bias))
        return err_fail(err, ASSAY_ERR_ENGINE, "the engine's profile has no kernels");
    return ASSAY_OK;
}

/* ---- the model ---- */

static assay_status profile_runs(study *s, assay_error *err)
{
    const job_runnable *x = s->q->x;
    const assay_options *o = s->q->o;
    uint32_t most = x->ir->nodes.n ? EVENTS_MAX / x->ir->nodes.n : EVENTS_MAX;
    s->warmup_runs = WARMUP_RUNS;
    s->runs = (uint32_t)o->measure.num_runs < RUNS_MOST ? (uint32_t)o->measure.num_runs : RUNS_MOST;
    if (most < s->runs + s->warmup_runs)
        s->runs = most > s->warmup_runs + 1 ? most - s->warmup_runs : 1;
    session_run r = {.model = &x->model,
                     .options = job_engine_options(o, s->arena),
                     .wants = x->wants,
                     .n_wants = x->n_wants,
                     .warmup = s->warmup_runs,
                     .runs = s->runs};
    r.options.profile_prefix = path_in(s, "trace");
    r.options.optimised_path = path_in(s, "optimised.onnx");
    return run_session(s, &r, &s->trace, err);
}

static assay_status map_kernels(study *s, assay_error *err)
{
    TRY(job_read_kernels(s->q->x, path_in(s, "optimised.onnx"), s->arena, &s->map, err));
    const uint32_t *kernel_of = job_kernels_of_trace(&s->map, &s->trace, s->arena);
    s->spans = ARENA_ARRAY(s->arena, layer_span, s->trace.n_nodes + 1u);
    TRY_MEMORY(kernel_of && s->spans, err);
    for (uint32_t i = 0; i < s->trace.n_nodes; i++)
        if (kernel_of[i] != MAP_NONE)
            s->spans[i] = (layer_span){s->map.kernels[kernel_of[i]].first,
                                       s->map.kernels[kernel_of[i]].n};
    return ASSAY_OK;
}

/* ---- the profile ---- */

/* Layers without a kernel; a layer may be in several kernels. */
static uint64_t unmapped(const study *s, uint32_t n_layers)
{
    bool *seen = ARENA_ARRAY(s->arena, bool, n_layers + 1u);
    uint64_t n = n_layers;
    for (uint32_t i = 0; seen && i < s->map.n_layers; i++) {
        uint32_t layer = s->map.layers[i];
        if (layer < n_layers && !seen[layer]) {
            seen[layer] = true;
            n--;
        }
    }
    return n;
}

static assay_status fill_ledger(study *s, profile *p, assay_error *err)
{
    const layer_times_request q = {.trace = &s->trace,
                                   .warmup_runs = s->warmup_runs,
                                   .bias = s->bias,
                                   .of = s->q->x->p,
                                   .spans = s->spans,
                                   .layers = s->map.layers,
                                   .patterns = s->q->o->measure.layer_patterns,
                                   .latency_ms = s->q->latency_ms};
    profile_ledger *l = &p->measured->ledger;
    TRY(layer_times_fill(&q, s->arena, p, err));
    TRY(blocking_fill(&q, s->arena, p, err));
    gpu_events_sum(&s->trace, s->warmup_runs, s->arena, p->arena,
                   (gpu_wanted)s->q->o->engine.gpu_events, &p->measured->gpu);
    l->kernels = s->map.n_kernels;
    l->unmapped_layers = unmapped(s, p->n_layers);
    for (uint32_t i = 0; i < s->map.n_kernels; i++)
        l->fused_kernels += s->map.kernels[i].n > 1;
    return ASSAY_OK;
}

static assay_status study_all(study *s, profile *p, assay_error *err)
{
    TRY(file_temp_folder(&s->folder, err));
    TRY(calibrate(s, err));
    TRY(profile_runs(s, err));
    TRY(map_kernels(s, err));
    if (s->trace.truncated)
        notes_add(&p->warnings, "trace-truncated", (str){0}, "Use fewer --num-runs.",
                  "The engine's profile reached its event limit. Later runs are missing.");
    return fill_ledger(s, p, err);
}

assay_status job_measure_layers(const job_layers_request *q, profile *p, assay_error *err)
{
    study s = {.q = q, .arena = arena_new(TRACE_BYTES)};
    TRY_MEMORY(s.arena, err);
    assay_status status = study_all(&s, p, err);
    file_drop_folder(s.folder);
    arena_free(s.arena);
    return status;
}
