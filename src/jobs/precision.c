/* See precision.h. For the ranges of values, the model is written with them as outputs. */
#include "jobs/precision.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "device/host.h"
#include "formats/onnx_fill.h"
#include "formats/onnx_write.h"
#include "ir/build.h"
#include "jobs/measure.h"
#include "measure/ranges.h"

bool job_seven_bits(const assay_options *o)
{
    host_info h;
    if (o->model.weight_bits)
        return o->model.weight_bits == 7;
    host_describe(&h);
    return h.saturates_int8;
}

input_want *job_wants_of(infer_result *r, arena *a)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    input_want *wants = ARENA_ARRAY(a, input_want, (size_t)g->inputs.n + 1);
    for (uint32_t i = 0; wants && i < g->inputs.n; i++) {
        feed_hint hint = feed_of(r, g->inputs.items[i]);
        wants[i] = job_want_of(r, g->inputs.items[i], &hint);
    }
    return wants;
}

/* ---- the model with more outputs ---- */

typedef struct calibration {
    const job_precision *q;
    ir_model *m;
    const ir_id *points;
    uint32_t n;
    char *folder, *path;
    assay_error *err;
} calibration;

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

static assay_status run_copy(calibration *c, engine *e, infer_result *r, value_range *out)
{
    const job_precision *q = c->q;
    named_range *named = ARENA_ARRAY(r->arena, named_range, (size_t)c->n + 1);
    const ranges_request request = {.engine = e,
                                    .path = c->path,
                                    .wants = q->wants ? q->wants : job_wants_of(r, r->arena),
                                    .n_wants = q->wants ? q->n_wants
                                                        : ir_graph_at(c->m, 0)->inputs.n,
                                    .seed = q->seed,
                                    .runs = q->runs ? q->runs : CALIBRATION_RUNS,
                                    .ranges = named,
                                    .n = c->n};
    TRY_MEMORY(named && request.wants, c->err);
    for (uint32_t i = 0; i < c->n; i++)
        named[i].name = ir_value_at(c->m, c->points[i])->name;
    TRY(ranges_measure(&request, c->err));
    for (uint32_t i = 0; i < c->n; i++)
        out[i] = (value_range){.value = c->points[i], .min = named[i].min, .max = named[i].max};
    return ASSAY_OK;
}

static assay_status find_ranges(void *precision, ir_model *m, infer_result *r, const ir_id *points,
                                uint32_t n, value_range *ranges, assay_error *err)
{
    const job_precision *q = precision;
    calibration c = {.q = q, .m = m, .points = points, .n = n, .err = err};
    engine *own = NULL;
    if (!q->engine)
        TRY(engine_open(q->engine_name ? q->engine_name : "ort", q->engine_config, &own, err));
    assay_status s = write_copy(&c);
    if (s == ASSAY_OK)
        s = run_copy(&c, own ? own : q->engine, r, ranges);
    file_drop_folder(c.folder);
    free(c.path);
    engine_close(own);
    return s;
}

assay_status job_make_precise(ir_model *m, const job_precision *q, uint64_t *n_random,
                              assay_error *err)
{
    const convert_request request = {.row = q->row,
                                     .shapes = q->shapes,
                                     .seed = q->seed,
                                     .keep_opset = q->keep_opset,
                                     .holes = q->holes,
                                     .int8 = q->int8,
                                     .fill = onnx_fill_model,
                                     .ranges = find_ranges,
                                     .ctx = (void *)(uintptr_t)q,
                                     .held = q->held};
    return convert_precision(m, &request, n_random, err);
}
