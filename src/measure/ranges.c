/* See ranges.h. */
#include "measure/ranges.h"

#include <math.h>

static void widen(named_range *r, const engine_tensor *t)
{
    const float *p = t->data;
    uint64_t n = t->dtype == IR_FLOAT32 ? t->size_bytes / sizeof *p : 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!isfinite(p[i]))
            continue;
        r->min = p[i] < r->min ? p[i] : r->min;
        r->max = p[i] > r->max ? p[i] : r->max;
    }
}

static named_range *range_named(const ranges_request *c, const char *name)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (str_is(c->ranges[i].name, name))
            return &c->ranges[i];
    return NULL;
}

static assay_status read_ranges(const ranges_request *c, engine_session *s, const input_set *set,
                                assay_error *err)
{
    const engine_session_info *info = engine_session_about(s);
    engine_job *job = NULL;
    TRY(engine_job_open(s, set->tensors, set->n, &job, err));
    assay_status status = engine_job_run(job, err);
    for (uint32_t i = 0; status == ASSAY_OK && i < info->n_outputs; i++) {
        named_range *r = range_named(c, info->outputs[i].name);
        engine_tensor t;
        if (!r)
            continue;
        status = engine_job_output(job, i, &t, err);
        if (status == ASSAY_OK)
            widen(r, &t);
    }
    for (uint32_t i = 0; i < info->n_inputs; i++) {
        named_range *r = range_named(c, info->inputs[i].name);
        if (r)
            widen(r, &set->tensors[i]);
    }
    engine_job_close(job);
    return status;
}

static assay_status run_once(const ranges_request *c, engine_session *s, uint64_t seed,
                             assay_error *err)
{
    input_set set = {0};
    assay_status status = inputs_make(c->wants, c->n_wants, engine_session_about(s), seed, &set,
                                      err);
    if (status == ASSAY_OK)
        status = read_ranges(c, s, &set, err);
    inputs_free(&set);
    return status;
}

static bool all_given(const ranges_request *c)
{
    for (uint32_t i = 0; i < c->n_wants; i++)
        if (!c->wants[i].data)
            return false;
    return true;
}

assay_status ranges_measure(const ranges_request *c, assay_error *err)
{
    engine_options opt = ENGINE_OPTIONS;
    engine_session *s = NULL;
    for (uint32_t i = 0; i < c->n; i++) {
        c->ranges[i].min = INFINITY;
        c->ranges[i].max = -INFINITY;
    }
    opt.opt_level = ENGINE_OPT_BASIC;
    opt.spin = false;
    TRY(engine_session_open(c->engine, &(engine_model){.path = c->path}, &opt, &s, err));
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; status == ASSAY_OK && i < (all_given(c) ? 1 : c->runs); i++)
        status = run_once(c, s, c->seed + i, err);
    engine_session_close(s);
    return status;
}
