/* Ranges of values for quantisation. The model is written with these values as outputs and run on the given or
 * generated inputs, without optimisations that would fuse the values away. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "formats/onnx_write.h"
#include "ir/build.h"
#include "jobs/precision.h"

typedef struct calibration {
    ir_model *m;
    engine *e;
    const job_precision *q;
    const input_want *wants;
    uint32_t n_wants;
    const ir_id *points;
    uint32_t n;
    value_range *ranges;
    char *folder, *path;
    assay_error *err;
} calibration;

/* ---- the model with more outputs ---- */

static bool add_outputs(calibration *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const ir_value *v = ir_value_at(c->m, c->points[i]);
        if (!(v->flags & (IR_VALUE_OUTPUT | IR_VALUE_INPUT)) &&
            !ir_add_output(c->m, 0, c->points[i]))
            return false;
    }
    return true;
}

static void drop_outputs(calibration *c, uint32_t keep)
{
    ir_graph *g = ir_graph_at(c->m, 0);
    for (uint32_t i = keep; i < g->outputs.n; i++)
        ir_value_at(c->m, g->outputs.items[i])->flags &= ~(uint32_t)IR_VALUE_OUTPUT;
    g->outputs.n = keep;
}

static assay_status write_copy(calibration *c)
{
    const onnx_write_options opt = {.seed = c->q->seed, .external_data = true};
    uint32_t keep = ir_graph_at(c->m, 0)->outputs.n;
    TRY(file_temp_folder(&c->folder, c->err));
    if (asprintf(&c->path, "%s/model.onnx", c->folder) < 0) {
        c->path = NULL;
        return err_no_memory(c->err);
    }
    assay_status s = add_outputs(c) ? onnx_write_file(c->m, c->path, &opt, NULL, c->err)
                                    : err_no_memory(c->err);
    drop_outputs(c, keep);
    return s;
}

/* ---- ranges ---- */

static void widen(value_range *r, const engine_tensor *t)
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

static value_range *range_named(calibration *c, const char *name)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (str_is(ir_value_at(c->m, c->points[i])->name, name))
            return &c->ranges[i];
    return NULL;
}

static assay_status read_ranges(calibration *c, engine_session *s, const input_set *set)
{
    const engine_session_info *info = engine_session_about(s);
    engine_job *job = NULL;
    TRY(engine_job_open(s, set->tensors, set->n, &job, c->err));
    assay_status status = engine_job_run(job, c->err);
    for (uint32_t i = 0; status == ASSAY_OK && i < info->n_outputs; i++) {
        value_range *r = range_named(c, info->outputs[i].name);
        engine_tensor t;
        if (!r)
            continue;
        status = engine_job_output(job, i, &t, c->err);
        if (status == ASSAY_OK)
            widen(r, &t);
    }
    for (uint32_t i = 0; i < info->n_inputs; i++) {
        value_range *r = range_named(c, info->inputs[i].name);
        if (r)
            widen(r, &set->tensors[i]);
    }
    engine_job_close(job);
    return status;
}

static assay_status run_once(calibration *c, engine_session *s, uint64_t seed)
{
    input_set set = {0};
    assay_status status = inputs_make(c->wants, c->n_wants, engine_session_about(s), seed, &set,
                                      c->err);
    if (status == ASSAY_OK)
        status = read_ranges(c, s, &set);
    inputs_free(&set);
    return status;
}

static bool all_given(const calibration *c)
{
    for (uint32_t i = 0; i < c->n_wants; i++)
        if (!c->wants[i].data)
            return false;
    return true;
}

static assay_status run_all(calibration *c)
{
    engine_options opt = ENGINE_OPTIONS;
    engine_session *s = NULL;
    uint32_t runs = c->q->runs ? c->q->runs : CALIBRATION_RUNS;
    opt.opt_level = ENGINE_OPT_BASIC;
    opt.spin = false;
    TRY(engine_session_open(c->e, &(engine_model){.path = c->path}, &opt, &s, c->err));
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; status == ASSAY_OK && i < (all_given(c) ? 1 : runs); i++)
        status = run_once(c, s, c->q->seed + i);
    engine_session_close(s);
    return status;
}

assay_status job_calibrate(ir_model *m, infer_result *r, const job_precision *q, engine *e,
                           const ir_id *points, uint32_t n, value_range *ranges, assay_error *err)
{
    calibration c = {
        .m = m, .e = e, .q = q, .points = points, .n = n, .ranges = ranges, .err = err};
    c.wants = q->wants ? q->wants : job_wants_of(r, r->arena);
    c.n_wants = q->wants ? q->n_wants : ir_graph_at(m, 0)->inputs.n;
    TRY_MEMORY(c.wants, err);
    for (uint32_t i = 0; i < n; i++)
        ranges[i] = (value_range){.value = points[i], .min = INFINITY, .max = -INFINITY};
    assay_status s = write_copy(&c);
    if (s == ASSAY_OK)
        s = run_all(&c);
    file_drop_folder(c.folder);
    free(c.path);
    return s;
}
