/* The road to another precision: content for weights that nobody has, types of all values, the rewrite, and
 * for int8 a calibration between. */
#include "api/precision.h"

#include "api/measure.h"
#include "device/host.h"
#include "formats/onnx_fill.h"
#include "ir/verify.h"

bool api_seven_bits(const assay_options *o)
{
    host_info h;
    if (o->weight_bits)
        return o->weight_bits == 7;
    host_describe(&h);
    return h.saturates_int8;
}

input_want *api_wants_of(const infer_result *r, arena *a)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    input_want *wants = ARENA_ARRAY(a, input_want, (size_t)g->inputs.n + 1);
    for (uint32_t i = 0; wants && i < g->inputs.n; i++) {
        feed_hint hint = feed_of(r, g->inputs.items[i]);
        wants[i] = api_want_of(r, g->inputs.items[i], &hint);
    }
    return wants;
}

static assay_status ranges_of(ir_model *m, infer_result *r, const api_precision *q,
                              const ir_id *points, uint32_t n, value_range *ranges,
                              assay_error *err)
{
    engine *own = NULL;
    if (!q->engine)
        TRY(engine_open(q->engine_name ? q->engine_name : "ort", q->engine_config, &own, err));
    assay_status s = api_calibrate(m, r, q, own ? own : q->engine, points, n, ranges, err);
    engine_close(own);
    return s;
}

static assay_status to_qdq(ir_model *m, infer_result *r, const api_precision *q, assay_error *err)
{
    const value_facts facts = {r->info, m->values.n};
    const ir_id *points;
    uint32_t n;
    TRY(rewrite_fold_norms(m, facts, err));
    TRY(rewrite_calibration_points(m, facts, r->arena, &points, &n, err));
    value_range *ranges = ARENA_ARRAY(r->arena, value_range, (size_t)n + 1);
    if (!ranges)
        return err_no_memory(err);
    TRY(ranges_of(m, r, q, points, n, ranges, err));
    return rewrite_qdq(m, facts, ranges, n, &q->int8, err);
}

static assay_status rewrite(ir_model *m, infer_result *r, const api_precision *q, assay_error *err)
{
    const value_facts facts = {r->info, m->values.n};
    switch (q->row->kind) {
    case PRECISION_FP16:
    case PRECISION_BF16:
        return rewrite_half(m, facts, &(half_options){.dtype = q->row->dtype}, err);
    case PRECISION_INT8_DYNAMIC:
        return rewrite_int8_dynamic(m, facts, &q->int8, err);
    case PRECISION_INT8:
        return to_qdq(m, r, q, err);
    case PRECISION_FP32:
        break;
    }
    return ASSAY_OK;
}

static assay_status holes_and_ranges(assay_error *err)
{
    return err_fail(
        err, ASSAY_ERR_USAGE,
        "int8 needs the ranges of activations, and a model whose weights are holes has none: "
        "leave --holes out, or choose int8-dynamic.");
}

assay_status api_make_precise(ir_model *m, const api_precision *q, uint64_t *n_random,
                              assay_error *err)
{
    infer_result *r;
    assay_error own;
    if (!err)
        err = &own;
    err_clear(err);
    if (n_random)
        *n_random = 0;
    if (q->row->kind == PRECISION_FP32)
        return ASSAY_OK;
    if (q->holes && q->row->kind == PRECISION_INT8)
        return holes_and_ranges(err);
    arena *a = arena_new(API_ANALYSIS_BYTES);
    assay_status s = a ? ASSAY_OK : err_no_memory(err);
    if (s == ASSAY_OK && !q->holes)
        s = onnx_fill_model(m, q->seed, n_random, err);
    if (s == ASSAY_OK)
        s = infer_run(m, q->shapes, a, &r, err);
    if (s == ASSAY_OK)
        s = rewrite(m, r, q, err);
    if (s == ASSAY_OK)
        s = ir_verify(m, err);
    arena_free(a);
    return s;
}
