/* Runs pipelines on the engine. For a diffusion pipeline, one call of every component; for a language model, the
 * prompt and the first and last step after it, with the cache as inputs (past_key_values). Weights are random,
 * because times do not depend on them. */
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/measure.h"
#include "jobs/pipeline.h"

typedef struct timing {
    const assay_options *o;
    const assay_hooks *hooks;
    assay_error *err;
} timing;

static assay_status mean_of(const profile_measured *m, double *ms, assay_error *err)
{
    const profile_config *c = m && m->n_configs ? &m->configs[0] : NULL;
    if (!c || c->error.n)
        return err_fail(err, ASSAY_ERR_ENGINE, "%s", c ? c->error.p : "nothing was measured");
    *ms = c->latency.mean;
    return ASSAY_OK;
}

/* Milliseconds of a run of the model, which is taken. */
static assay_status time_model(const timing *t, assay_model *m, int64_t batch, double *ms)
{
    assay_options plain = *t->o;
    const job_measure_hooks hooks = {.caller = t->hooks};
    assay_result *of = NULL;
    plain.model.batch = batch;
    plain.model.set = (zoo_args){0};
    plain.model.shapes.n = plain.pipeline.sweeps.n = 0;
    plain.model.precision = IR_UNDEFINED;
    plain.hardware.names = (str){0};
    assay_status s = job_analyze(m, &plain, &of, t->err);
    if (s == ASSAY_OK)
        s = job_measure(m, &plain, 0, &hooks, of, t->err);
    if (s == ASSAY_OK)
        s = mean_of(of->p->measured, ms, t->err);
    handle_free(of);
    model_free(m);
    return s;
}

static assay_model *model_new(const zoo_row *row, str name)
{
    assay_model *m = memory_zeroed(1, sizeof *m);
    if (!m || !(m->arena = arena_new(JOB_MODEL_BYTES))) {
        model_free(m);
        return NULL;
    }
    m->row = row;
    m->name = str_copy(m->arena, name);
    zoo_args_init(&m->config, m->arena);
    return m;
}

/* ---- images ---- */

static assay_status time_component(const timing *t, const job_pipeline *p, pipeline_component *c)
{
    assay_model *m = model_new(p->plan.parts[c->part].row, c->name);
    TRY_MEMORY(m, t->err);
    assay_status s = pipeline_component_args(&p->plan, &p->diffusion, c, m->arena, &m->config,
                                             t->err);
    if (s == ASSAY_OK)
        return time_model(t, m, 0, &c->time_ms);
    model_free(m);
    return s;
}

/* One component that does not run is a warning, and there is no time of the whole; none that does is a
 * failure. */
static assay_status measure_images(const timing *t, job_pipeline *p)
{
    pipeline_result *r = &p->diffusion;
    assay_status last = ASSAY_OK;
    double seconds = 0;
    uint32_t ran = 0;
    for (uint32_t i = 0; i < r->n_components; i++) {
        pipeline_component *c = &r->components[i];
        if (c->error.n || !c->calls)
            continue;
        assay_status s = time_component(t, p, c);
        if (s == ASSAY_ERR_INTERRUPTED)
            return s;
        if (s != ASSAY_OK)
            notes_add(&r->warnings, "not-measured", c->name,
                      "Smaller images (--height, --width) need less memory and time.", "%s",
                      t->err->message);
        last = s != ASSAY_OK ? s : last;
        ran += s == ASSAY_OK;
        seconds += s == ASSAY_OK ? c->time_ms * (double)c->calls / 1e3 : 0;
    }
    if (last != ASSAY_OK && ran == 0)
        return last;
    err_clear(t->err);
    r->inference_time_s = last == ASSAY_OK ? seconds * (double)r->batch : NAN;
    return pipeline_settle(r, p->arena) ? ASSAY_OK : err_no_memory(t->err);
}

/* ---- language ---- */

static assay_status time_phase(const timing *t, const job_pipeline *p, int64_t tokens, int64_t past,
                               double *ms)
{
    assay_model *m = model_new(p->asked.row, p->asked.model);
    TRY_MEMORY(m, t->err);
    bool ok = zoo_args_add(&m->config, p->asked.args) &&
              zoo_args_put_int(&m->config, "seq_len", tokens) &&
              zoo_args_put_int(&m->config, "past", past);
    if (ok)
        return time_model(t, m, p->language.batch, ms);
    model_free(m);
    return err_no_memory(t->err);
}

static double per_second(uint64_t flops, double ms)
{
    return ms > 0 ? (double)flops / ms / 1e9 : 0;
}

static assay_status measure_language(const timing *t, job_pipeline *p)
{
    language_result *o = &p->language;
    language_measured m = {.present = true};
    int64_t last = o->prompt_tokens + o->generate - 1;
    TRY(time_phase(t, p, o->prompt_tokens, 0, &m.prefill_ms));
    TRY(time_phase(t, p, 1, o->prompt_tokens, &m.first_step_ms));
    m.last_step_ms = m.first_step_ms;
    if (last > o->prompt_tokens)
        TRY(time_phase(t, p, 1, last, &m.last_step_ms));
    double step_ms = (m.first_step_ms + m.last_step_ms) / 2.0, batch = (double)o->batch;
    m.total_s = (m.prefill_ms + step_ms * (double)o->generate) / 1e3;
    m.tokens_per_s = step_ms > 0 ? batch * 1e3 / step_ms : 0;
    m.prefill_tokens_per_s = m.prefill_ms > 0
                                 ? batch * (double)o->prompt_tokens * 1e3 / m.prefill_ms
                                 : 0;
    m.prefill_tflops = per_second(o->prefill.flops, m.prefill_ms);
    m.decode_tflops = per_second(o->average.flops, step_ms);
    o->measured = m;
    return language_settle(o, p->arena) ? ASSAY_OK : err_no_memory(t->err);
}

assay_status job_pipeline_measure(job_pipeline *pipeline, const assay_options *o,
                                  const assay_hooks *hooks, assay_error *err)
{
    assay_error own;
    const timing t = {.o = o, .hooks = hooks, .err = err ? err : &own};
    err_clear(t.err);
    if (t.o->pipeline.no_profiling)
        return ASSAY_OK;
    return pipeline->is_language ? measure_language(&t, pipeline) : measure_images(&t, pipeline);
}
