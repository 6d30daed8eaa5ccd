/* See convert.h. */
#include "study/convert.h"

#include <assert.h>

#include "base/limits.h"
#include "ir/verify.h"
#include "rewrite/lower.h"
#include "rewrite/to_onnx.h"

static assay_status to_qdq(ir_model *m, infer_result *r, const convert_request *q, assay_error *err)
{
    const value_facts facts = {r->info, m->values.n};
    const ir_id *points;
    uint32_t n;
    TRY(rewrite_fold_norms(m, facts, err));
    TRY(rewrite_calibration_points(m, facts, r->arena, &points, &n, err));
    value_range *ranges = ARENA_ARRAY(r->arena, value_range, (size_t)n + 1);
    TRY_MEMORY(ranges, err);
    TRY(q->ranges(q->ctx, m, r, points, n, ranges, err));
    return rewrite_qdq(m, facts, ranges, n, &q->int8, err);
}

static assay_status rewrite(ir_model *m, infer_result *r, const convert_request *q,
                            assay_error *err)
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
    return err_fail(err, ASSAY_ERR_USAGE,
                    "int8 needs activation ranges, which a model with --holes does not have. Omit "
                    "--holes, or use int8-dynamic.");
}

/* ---- opsets ---- */

assay_status convert_to_opset(ir_model *m, int opset, assay_error *err)
{
    infer_result *r = NULL;
    arena *a = arena_new(LIMIT_ANALYSIS_BYTES);
    assay_status s = a ? infer_run(m, NULL, a, &r, err) : err_no_memory(err);
    assert(s != ASSAY_OK || r);
    if (s == ASSAY_OK)
        s = rewrite_to_opset(m, (value_facts){r->info, m->values.n}, opset, err);
    arena_free(a);
    return s;
}

assay_status convert_to_onnx(ir_model *m, const infer_options *shapes, assay_error *err)
{
    infer_result *r = NULL;
    if (!m->foreign)
        return ASSAY_OK;
    arena *a = arena_new(LIMIT_ANALYSIS_BYTES);
    assay_status s = a ? infer_run(m, shapes, a, &r, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = rewrite_to_onnx(m, (value_facts){r->info, m->values.n}, err);
    arena_free(a);
    return s;
}

/* A model that cannot be raised is converted as far as its own opset allows; `why` then says what is in
 * the way. */
static assay_status raise_opset(ir_model *m, const convert_request *q, arena *a, infer_result **r,
                                assay_error *why, assay_error *err)
{
    if (q->keep_opset || ir_opset_version(m, STR("")) >= q->row->opset)
        return ASSAY_OK;
    assay_status s = rewrite_to_opset(m, (value_facts){(*r)->info, m->values.n}, q->row->opset,
                                      why);
    if (s == ASSAY_ERR_UNSUPPORTED)
        return ASSAY_OK;
    if (s != ASSAY_OK) {
        *err = *why;
        return s;
    }
    return infer_run(m, q->shapes, a, r, err);
}

/* Nothing could be converted, and the model could not be raised to a newer opset: the message says both. */
static assay_status with_reason(assay_status s, const assay_error *why, assay_error *err)
{
    if (s != ASSAY_ERR_UNSUPPORTED || why->code != ASSAY_ERR_UNSUPPORTED)
        return s;
    const assay_error first = *err;
    err_clear(err);
    return err_fail_node(err, ASSAY_ERR_UNSUPPORTED, first.node[0] ? first.node : NULL, "%s; %s",
                         first.message, why->message);
}

static assay_status infer_and_rewrite(ir_model *m, const convert_request *q, arena *a,
                                      assay_error *err)
{
    infer_result *r;
    assay_error why;
    err_clear(&why);
    TRY(infer_run(m, q->shapes, a, &r, err));
    TRY(raise_opset(m, q, a, &r, &why, err));
    TRY(with_reason(rewrite(m, r, q, err), &why, err));
    if (q->held && why.code != ASSAY_OK)
        *q->held = why;
    return ir_verify(m, err);
}

assay_status convert_precision(ir_model *m, const convert_request *q, uint64_t *n_random,
                               assay_error *err)
{
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
    arena *a = arena_new(LIMIT_ANALYSIS_BYTES);
    assay_status s = a ? ASSAY_OK : err_no_memory(err);
    if (s == ASSAY_OK && !q->holes)
        s = q->fill(m, q->seed, n_random, err);
    if (s == ASSAY_OK)
        s = infer_and_rewrite(m, q, a, err);
    arena_free(a);
    return s;
}
