/* The list of engines, and their shared code: finding a row, checking inputs of the caller, and calls through the
 * vtable. */
#include "engine/engine.h"

#include <inttypes.h>
#include <time.h>

#include "base/clock.h"
#include "base/num.h"
#include "engine/engine_impl.h"

const engine_row engine_table[] = {
    {.name = "ort",
     .about = "ONNX Runtime, loaded when a measuring command runs",
     .open = engine_ort_open},
    {.name = "llama",
     .about = "llama.cpp for language models in GGUF files, in a process of its own",
     .open = engine_llama_open},
    {.name = "null",
     .about = "runs nothing and reports scripted times, for tests",
     .open = engine_null_open},
};
const uint32_t engine_table_n = sizeof engine_table / sizeof *engine_table;

assay_status engine_open(const char *name, const engine_config *config, engine **out,
                         assay_error *err)
{
    static const engine_config none = {0};
    *out = NULL;
    for (uint32_t i = 0; i < engine_table_n; i++)
        if (strcmp(engine_table[i].name, name) == 0)
            return engine_table[i].open(config ? config : &none, out, err);
    return err_fail(err, ASSAY_ERR_USAGE, "unknown engine '%s'. Use ort, llama or null.", name);
}

void engine_close(engine *e)
{
    if (e)
        e->ops->close(e);
}

const engine_info *engine_about(const engine *e)
{
    return &e->info;
}

bool engine_works_in_place(const engine *e, str domain, str op)
{
    return !e->ops->works_in_place || e->ops->works_in_place(domain, op);
}

uint64_t engine_now_ns(engine *e)
{
    return e->ops->now_ns(e);
}

void engine_sleep_until(engine *e, uint64_t when_ns)
{
    e->ops->sleep_until(e, when_ns);
}

uint64_t engine_clock_now(engine *e)
{
    (void)e;
    return clock_mono_ns();
}

void engine_clock_sleep_until(engine *e, uint64_t when_ns)
{
    struct timespec t = {.tv_sec = (time_t)(when_ns / 1000000000u),
                         .tv_nsec = (long)(when_ns % 1000000000u)};
    (void)e;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static assay_status check_options(const engine_options *o, assay_error *err)
{
    if (o->threads < 0 || o->threads > 4096)
        return err_fail(err, ASSAY_ERR_USAGE, "--threads must be 0 to 4096, got %d", o->threads);
    if (o->opt_level != ENGINE_OPT_ALL &&
        (o->opt_level < ENGINE_OPT_OFF || o->opt_level > ENGINE_OPT_EXTENDED + 1))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the optimisation level must be 0, 1, 2 or 99, got %d", o->opt_level);
    for (uint32_t i = 0; i < o->n_dims; i++)
        if (o->dims[i].value < 0)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "dimension '%s' must not be negative, got %" PRId64 "", o->dims[i].name,
                            o->dims[i].value);
    return ASSAY_OK;
}

assay_status engine_session_open(engine *e, const engine_model *model,
                                 const engine_options *options, engine_session **out,
                                 assay_error *err)
{
    engine_options defaults = ENGINE_OPTIONS;
    const engine_options *o = options ? options : &defaults;
    *out = NULL;
    TRY(check_options(o, err));
    return e->ops->session_open(e, model, o, out, err);
}

void engine_session_close(engine_session *s)
{
    if (s)
        s->ops->session_close(s);
}

const engine_session_info *engine_session_about(const engine_session *s)
{
    return &s->info;
}

bool engine_session_message(engine_session *s, uint32_t index, engine_message *out)
{
    return engine_log_get(&s->log, index, out);
}

uint32_t engine_session_messages_dropped(engine_session *s)
{
    return engine_log_dropped(&s->log);
}

void engine_session_stop(engine_session *s)
{
    s->ops->session_stop(s);
}

bool engine_session_memory(engine_session *s, engine_memory *out)
{
    *out = (engine_memory){0};
    return s->ops->session_memory(s, out);
}

assay_status engine_profile_end(engine_session *s, const char **path, assay_error *err)
{
    *path = NULL;
    return s->ops->profile_end(s, path, err);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool expected_bytes(const engine_tensor *t, uint64_t *bytes)
{
    uint64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] < 0 || !num_mulu(n, (uint64_t)t->dims[i], &n))
            return false;
    *bytes = ir_dtype_bytes(t->dtype, n);
    return *bytes < NUM_SATURATED;
}

static assay_status check_shape(const engine_io *io, const engine_tensor *t, assay_error *err)
{
    if (io->rank >= 0 && io->rank != t->rank)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "input '%s' has %d dimensions; the model needs %d", io->name, t->rank,
                        io->rank);
    for (int i = 0; i < io->rank; i++)
        if (io->dims[i] >= 0 && io->dims[i] != t->dims[i])
            return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "dimension %d of input '%s' is %" PRId64 "; the model needs %" PRId64
                            "",
                            i, io->name, t->dims[i], io->dims[i]);
    return ASSAY_OK;
}

static assay_status check_input(const engine_io *io, const engine_tensor *t, assay_error *err)
{
    uint64_t bytes = 0;
    if (!io->is_tensor)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "input '%s' is not a tensor but a sequence, map or optional value. Such "
                        "models cannot be run.",
                        io->name);
    if (t->dtype != io->dtype)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "input '%s' is %s; the model needs %s",
                        io->name, ir_dtype_get(t->dtype)->name, ir_dtype_get(io->dtype)->name);
    TRY(check_shape(io, t, err));
    if (!expected_bytes(t, &bytes) || bytes != t->size_bytes || (bytes > 0 && !t->data))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "input '%s' has %" PRIu64 " bytes; its shape needs %" PRIu64 "", io->name,
                        t->size_bytes, bytes);
    return ASSAY_OK;
}

assay_status engine_job_open(engine_session *s, const engine_tensor *inputs, uint32_t n_inputs,
                             engine_job **out, assay_error *err)
{
    *out = NULL;
    if (n_inputs != s->info.n_inputs)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "got %" PRIu32 " inputs; the model needs %" PRIu32 "", n_inputs,
                        s->info.n_inputs);
    for (uint32_t i = 0; i < n_inputs; i++)
        TRY(check_input(&s->info.inputs[i], &inputs[i], err));
    return s->ops->job_open(s, inputs, out, err);
}

void engine_job_close(engine_job *j)
{
    if (j)
        j->ops->job_close(j);
}

assay_status engine_job_run(engine_job *j, assay_error *err)
{
    return j->ops->job_run(j, err);
}

void engine_job_drop(engine_job *j)
{
    j->ops->job_drop(j);
}

assay_status engine_job_output(engine_job *j, uint32_t index, engine_tensor *out, assay_error *err)
{
    *out = (engine_tensor){0};
    if (index >= j->session->info.n_outputs)
        return err_fail(err, ASSAY_ERR_USAGE, "the model has no output number %" PRIu32 "", index);
    return j->ops->job_output(j, index, out, err);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

assay_status engine_generate(engine *e, const generate_request *q, arena *a, generate_answer *out,
                             assay_error *err)
{
    *out = (generate_answer){0};
    if (!e->ops->generate)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "%s runs graphs. Language models in GGUF files need llama.cpp.",
                        e->info.title);
    if (!q->batch || !(q->prompt || q->generate))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the batch and the number of tokens must be at least 1");
    return e->ops->generate(e, q, a, out, err);
}
