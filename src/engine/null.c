/* The null engine; see null.h. */
#include "engine/null.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/engine_impl.h"

typedef struct null_engine {
    engine base;
    const engine_script *script;
    pthread_mutex_t lock; /* of the two below */
    uint64_t now_ns, n_runs;
} null_engine;

typedef struct null_session {
    engine_session base;
    bool stopped; /* under the engine's lock */
} null_session;

typedef struct null_job {
    engine_job base;
    bool ran;
} null_job;

static null_engine *of_job(const engine_job *j)
{
    return (null_engine *)j->session->engine;
}

static uint64_t pass_time(null_engine *e, uint64_t ns)
{
    pthread_mutex_lock(&e->lock);
    e->now_ns += ns;
    uint64_t now = e->now_ns;
    pthread_mutex_unlock(&e->lock);
    return now;
}

static uint64_t null_now(engine *base)
{
    null_engine *e = (null_engine *)base;
    return pass_time(e, e->script->tick_ns);
}

static void null_sleep_until(engine *base, uint64_t when_ns)
{
    null_engine *e = (null_engine *)base;
    pthread_mutex_lock(&e->lock);
    if (e->now_ns < when_ns)
        e->now_ns = when_ns;
    pthread_mutex_unlock(&e->lock);
}

void engine_null_advance(engine *e, uint64_t ns)
{
    pass_time((null_engine *)e, ns);
}

uint64_t engine_null_runs(const engine *base)
{
    return ((const null_engine *)base)->n_runs;
}

static void null_close(engine *base)
{
    null_engine *e = (null_engine *)base;
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void null_session_close(engine_session *s)
{
    engine_log_destroy(&s->log);
    free(s);
}

static assay_status fail_as(const engine_script *script, const char *sentence, assay_error *err)
{
    return err_fail_errno(err, ASSAY_ERR_ENGINE, script->out_of_memory ? ENOMEM : 0, "%s",
                          sentence);
}

static void describe(const engine_script *script, const engine_options *o,
                     engine_session_info *info)
{
    bool other = o->device && strcmp(o->device, "cpu") != 0;
    *info = (engine_session_info){
        .inputs = script->inputs,
        .outputs = script->outputs,
        .n_inputs = script->n_inputs,
        .n_outputs = script->n_outputs,
        .device = other && !script->falls_back ? "other" : "cpu",
        .fell_back = other && script->falls_back,
        .fallback_why = other && script->falls_back ? "The script has no such device." : "",
        .create_ns = script->session_ns,
    };
}

static assay_status null_session_open(engine *base, const engine_model *model,
                                      const engine_options *o, engine_session **out,
                                      assay_error *err)
{
    const engine_script *script = ((null_engine *)base)->script;
    pass_time((null_engine *)base, script->session_ns);
    if (script->opened)
        script->opened(script->context, model, o);
    if (script->session_failure)
        return fail_as(script, script->session_failure, err);
    null_session *s = memory_zeroed(1, sizeof *s);
    TRY_MEMORY(s, err);
    s->base.ops = base->ops;
    s->base.engine = base;
    engine_log_init(&s->base.log);
    describe(script, o, &s->base.info);
    for (const char *const *m = script->messages; m && *m; m++)
        engine_log_add(&s->base.log, 2, *m);
    *out = &s->base;
    return ASSAY_OK;
}

static void null_session_stop(engine_session *base)
{
    null_engine *e = (null_engine *)base->engine;
    pthread_mutex_lock(&e->lock);
    ((null_session *)base)->stopped = true;
    pthread_mutex_unlock(&e->lock);
}

static bool null_session_memory(engine_session *s, engine_memory *out)
{
    null_engine *e = (null_engine *)s->engine;
    uint32_t n = e->script->n_memory;
    if (n == 0)
        return false;
    pthread_mutex_lock(&e->lock);
    *out = e->script->memory[e->n_runs < n ? e->n_runs : n - 1];
    pthread_mutex_unlock(&e->lock);
    return true;
}

static assay_status null_profile_end(engine_session *s, const char **path, assay_error *err)
{
    *path = ((null_engine *)s->engine)->script->trace_path;
    if (!*path)
        return err_fail(err, ASSAY_ERR_ENGINE, "the script of the null engine has no trace");
    return ASSAY_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static assay_status null_job_open(engine_session *s, const engine_tensor *inputs, engine_job **out,
                                  assay_error *err)
{
    (void)inputs;
    null_job *j = memory_zeroed(1, sizeof *j);
    TRY_MEMORY(j, err);
    j->base = (engine_job){.ops = s->ops, .session = s};
    *out = &j->base;
    return ASSAY_OK;
}

static void null_job_close(engine_job *j)
{
    free(j);
}

static uint64_t duration_of(const engine_script *s, uint64_t run)
{
    if (s->duration)
        return s->duration(s->context, run);
    return s->n_run_ns ? s->run_ns[run % s->n_run_ns] : 0;
}

static const char *failure_of(const engine_script *s, uint64_t run)
{
    for (uint32_t i = 0; i < s->n_failures; i++) {
        const engine_script_failure *f = &s->failures[i];
        if (run >= f->run && run - f->run < (f->n_runs ? f->n_runs : 1))
            return f->message;
    }
    return NULL;
}

static assay_status null_job_run(engine_job *base, assay_error *err)
{
    null_job *j = (null_job *)base;
    null_engine *e = of_job(base);
    pthread_mutex_lock(&e->lock);
    uint64_t run = e->n_runs++;
    e->now_ns += duration_of(e->script, run);
    bool stopped = ((null_session *)base->session)->stopped;
    pthread_mutex_unlock(&e->lock);
    const char *failure = stopped ? "the session was stopped" : failure_of(e->script, run);
    j->ran = !failure;
    return failure ? fail_as(e->script, failure, err) : ASSAY_OK;
}

static void null_job_drop(engine_job *j)
{
    ((null_job *)j)->ran = false;
}

static assay_status null_job_output(engine_job *j, uint32_t index, engine_tensor *out,
                                    assay_error *err)
{
    const engine_script *s = of_job(j)->script;
    if (!((null_job *)j)->ran || !s->output_data)
        return err_fail(err, ASSAY_ERR_ENGINE, "no output %" PRIu32 " to read", index);
    *out = s->output_data[index];
    return ASSAY_OK;
}

static const engine_ops null_ops = {
    .close = null_close,
    .now_ns = null_now,
    .sleep_until = null_sleep_until,
    .session_open = null_session_open,
    .session_close = null_session_close,
    .session_stop = null_session_stop,
    .session_memory = null_session_memory,
    .profile_end = null_profile_end,
    .job_open = null_job_open,
    .job_close = null_job_close,
    .job_run = null_job_run,
    .job_drop = null_job_drop,
    .job_output = null_job_output,
};

assay_status engine_null_open(const engine_config *config, engine **out, assay_error *err)
{
    static const engine_script empty = {0};
    null_engine *e = memory_zeroed(1, sizeof *e);
    TRY_MEMORY(e, err);
    e->script = config->script ? config->script : &empty;
    e->now_ns = e->script->start_ns;
    pthread_mutex_init(&e->lock, NULL);
    e->base.ops = &null_ops;
    e->base.info = (engine_info){
        .name = "null", .title = "null engine", .version = "1", .library = "", .build = ""};
    *out = &e->base;
    return ASSAY_OK;
}
