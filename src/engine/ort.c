/* ONNX Runtime as an engine: the library, its environment and the clock.
 *
 * The runtime keeps one environment per process, however often it is created, with the logger of the
 * first who did. That logger must therefore need nothing that could be freed: it drops what it gets, and
 * every session has a logging function of its own (ort_session.c) that does the work.
 */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/ort_impl.h"

#define ORT_LOG_WARNING 2

/* CPU kernels that are registered as working in place: activations of one input and what overwrites parts of
 * its input, but no arithmetic of two. The tests ask the library itself. */
static bool ort_works_in_place(str domain, str op)
{
    return domain.n == 0 &&
           str_in_list(op,
                       "Cast Celu Clip Elu HardSigmoid LeakyRelu LogSoftmax Relu Scatter "
                       "ScatterElements ScatterND Selu Sigmoid Softmax Softplus Softsign Tanh "
                       "ThresholdedRelu",
                       ' ');
}

static void ort_close(engine *base)
{
    ort_engine *e = (ort_engine *)base;
    if (e->cpu_arena)
        e->api.release_memory(e->cpu_arena);
    if (e->cpu)
        e->api.release_memory(e->cpu);
    if (e->env)
        e->api.release_env(e->env);
    ort_api_unload(&e->api);
    arena_free(e->base.arena);
    free(e);
}

static const engine_ops ort_ops = {
    .close = ort_close,
    .now_ns = engine_clock_now,
    .sleep_until = engine_clock_sleep_until,
    .works_in_place = ort_works_in_place,
    .session_open = ort_session_open,
    .session_close = ort_session_close,
    .session_stop = ort_session_stop,
    .session_memory = ort_session_memory,
    .profile_end = ort_profile_end,
    .job_open = ort_job_open,
    .job_close = ort_job_close,
    .job_run = ort_job_run,
    .job_drop = ort_job_drop,
    .job_output = ort_job_output,
};

static void drop_message(void *param, int severity, const char *category, const char *id,
                         const char *where, const char *message)
{
    (void)param, (void)severity, (void)category, (void)id, (void)where, (void)message;
}

static assay_status make_environment(ort_engine *e, assay_error *err)
{
    const ort_api *api = &e->api;
    const char *what = "did not start";
    TRY(ort_check(api, api->create_env(drop_message, NULL, ORT_LOG_WARNING, "assay", &e->env), what,
                  err));
    TRY(ort_check(api, api->disable_telemetry(e->env), what, err));
    TRY(ort_check(api, api->default_allocator(&e->strings), what, err));
    TRY(ort_check(api, api->create_cpu_memory(0, 0, &e->cpu), what, err));
    return ort_check(api, api->create_cpu_memory(1, 0, &e->cpu_arena), what, err);
}

static assay_status start_runtime(ort_engine *e, const engine_config *config, assay_error *err)
{
    uint64_t begun = clock_mono_ns();
    TRY(ort_api_load(config, e->base.arena, &e->api, err));
    TRY(make_environment(e, err));
    const char *build = e->api.build_info();
    e->base.info = (engine_info){
        .name = "ort",
        .title = "ONNX Runtime",
        .version = e->api.version,
        .library = e->api.library,
        .build = build ? build : "",
        .load_ns = clock_mono_ns() - begun,
    };
    return ASSAY_OK;
}

assay_status engine_ort_open(const engine_config *config, engine **out, assay_error *err)
{
    ort_engine *e = memory_zeroed(1, sizeof *e);
    TRY_MEMORY(e, err);
    e->base.ops = &ort_ops;
    e->base.arena = arena_new(ENGINE_ARENA_BYTES);
    assay_status status = e->base.arena ? start_runtime(e, config, err) : err_no_memory(err);
    if (status == ASSAY_OK)
        *out = &e->base;
    else
        ort_close(&e->base);
    return status;
}
