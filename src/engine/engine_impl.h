/* The interface that an engine implements. The public functions of engine.h do the common checks and call through
 * this vtable. The structs of an engine begin with the ones below. */
#ifndef ENGINE_ENGINE_IMPL_H
#define ENGINE_ENGINE_IMPL_H

#include "engine/engine.h"
#include "engine/generate.h"
#include "engine/log.h"

typedef struct engine_ops {
    void (*close)(engine *e);
    uint64_t (*now_ns)(engine *e);
    void (*sleep_until)(engine *e, uint64_t when_ns);
    bool (*works_in_place)(str domain, str op); /* NULL: all do that could */

    assay_status (*session_open)(engine *e, const engine_model *model,
                                 const engine_options *options, engine_session **out,
                                 assay_error *err);
    void (*session_close)(engine_session *s);
    void (*session_stop)(engine_session *s);
    bool (*session_memory)(engine_session *s, engine_memory *out);
    assay_status (*profile_end)(engine_session *s, const char **path, assay_error *err);

    assay_status (*job_open)(engine_session *s, const engine_tensor *inputs, engine_job **out,
                             assay_error *err);
    void (*job_close)(engine_job *j);
    assay_status (*job_run)(engine_job *j, assay_error *err);
    void (*job_drop)(engine_job *j);
    assay_status (*job_output)(engine_job *j, uint32_t index, engine_tensor *out, assay_error *err);

    /* generate.h; NULL: it runs graphs only. */
    assay_status (*generate)(engine *e, const generate_request *q, arena *a, generate_answer *out,
                             assay_error *err);
} engine_ops;

struct engine {
    const engine_ops *ops;
    arena *arena; /* holds what the lists below point to; freed by ops->close */
    engine_info info;
};

struct engine_session {
    const engine_ops *ops;
    engine *engine;
    arena *arena; /* holds what info points to; freed by ops->session_close */
    engine_session_info info;
    engine_log log;
};

struct engine_job {
    const engine_ops *ops;
    engine_session *session;
};

/* More than the names and shapes of any model's inputs and outputs. */
#define ENGINE_ARENA_BYTES ((size_t)64 << 20)

/* now_ns and sleep_until of engines that work in real time. */
uint64_t engine_clock_now(engine *e);
void engine_clock_sleep_until(engine *e, uint64_t when_ns);

assay_status engine_ort_open(const engine_config *config, engine **out, assay_error *err);
assay_status engine_llama_open(const engine_config *config, engine **out, assay_error *err);
assay_status engine_null_open(const engine_config *config, engine **out, assay_error *err);

#endif
