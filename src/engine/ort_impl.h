/* Structs and functions shared by the files of the ort engine. */
#ifndef ENGINE_ORT_IMPL_H
#define ENGINE_ORT_IMPL_H

#include "engine/engine_impl.h"
#include "engine/ort_api.h"

typedef struct ort_engine {
    engine base;
    ort_api api;
    ort_env *env;
    ort_allocator *strings; /* the default allocator: owns strings of the runtime; not released */
    ort_memory_info *cpu;   /* plain CPU memory, for tensors on the caller's data */
    ort_memory_info *cpu_arena; /* to ask a session for its arena */
} ort_engine;

typedef struct ort_engine_session {
    engine_session base;
    ort_session *session;
    ort_run_options *run_options; /* shared by all jobs: one flag stops them all */
    ort_allocator *arena;         /* NULL if there is none to ask */
    ort_strings input_names, output_names;
    ort_value **weights; /* views of the caller's memory, as long as the session */
    uint32_t n_weights;
    char *trace_path;
} ort_engine_session;

typedef struct ort_engine_job {
    engine_job base;
    const ort_api *api;
    ort_session *session;
    const ort_run_options *run_options;
    ort_strings input_names, output_names;
    ort_value **inputs, **outputs;
    int64_t **output_dims; /* one malloc'ed array per output that was read, reused */
    uint32_t n_inputs, n_outputs;
    bool ran; /* outputs may hold values */
} ort_engine_job;

static inline ort_engine *ort_of(const engine_session *s)
{
    return (ort_engine *)s->engine;
}

/* ort_session.c */
assay_status ort_session_open(engine *e, const engine_model *model, const engine_options *options,
                              engine_session **out, assay_error *err);
void ort_session_close(engine_session *s);
void ort_session_stop(engine_session *s);
assay_status ort_profile_end(engine_session *s, const char **path, assay_error *err);

/* ort_device.c: appends the provider of a device other than the CPU. ASSAY_ERR_USAGE when there is no
 * such device at all, ASSAY_ERR_ENGINE when it cannot be used here. */
bool ort_device_is_cpu(const char *device);
/* Whether a key is one of the session's own settings ("session.disable_prepacking"), which every device takes. */
bool ort_is_session_setting(const char *key);
assay_status ort_device_append(const ort_engine *e, ort_options *to, const engine_options *options,
                               assay_error *err);

/* ort_io.c: inputs and outputs into the session's info. */
assay_status ort_io_describe(ort_engine_session *s, const engine_options *o, assay_error *err);
/* Element type of the runtime; IR_UNDEFINED for what we have no name for. */
ir_dtype ort_dtype(int element_type);
/* A value on the caller's memory. */
assay_status ort_tensor_view(const ort_engine *e, const engine_tensor *t, ort_value **out,
                             assay_error *err);

/* ort_memory.c */
bool ort_session_memory(engine_session *s, engine_memory *out);

/* ort_job.c */
assay_status ort_job_open(engine_session *s, const engine_tensor *inputs, engine_job **out,
                          assay_error *err);
void ort_job_close(engine_job *j);
assay_status ort_job_run(engine_job *j, assay_error *err);
void ort_job_drop(engine_job *j);
assay_status ort_job_output(engine_job *j, uint32_t index, engine_tensor *out, assay_error *err);

#endif
