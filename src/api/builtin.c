/* The built-in architectures and their cost. Counts are not stored: a model is built and counted on request. */
#include <stdio.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "api/api.h"

static assay_model_info describe(const zoo_row *row)
{
    return (assay_model_info){.name = row->name,
                              .aliases = row->aliases ? row->aliases : "",
                              .family = row->family,
                              .task = row->task,
                              .defaults = row->defaults ? row->defaults : ""};
}

bool assay_model_at(size_t index, assay_model_info *out)
{
    if (index >= zoo_count())
        return false;
    assay_model_info info = describe(zoo_at((uint32_t)index));
    return HAND_OUT(out, info);
}

static void describe_input(const profile_tensor *t, assay_model_input *out)
{
    snprintf(out->name, sizeof out->name, STR_FMT, STR_ARG(t->name));
    out->rank = t->shape.rank < 8 ? t->shape.rank : 8;
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = t->shape.dims[i];
}

static assay_status count_model(const ir_model *ir, arena *work, profile *p, assay_model_info *info,
                                assay_error *err)
{
    const count_options plain = {0};
    infer_result *r = NULL;
    counted of;
    TRY(infer_run(ir, NULL, work, &r, err));
    TRY(count_run(r, &plain, p, &of, err));
    info->parameters = p->total_parameters;
    info->flops = p->total_flops;
    info->macs = p->total_macs;
    info->n_inputs = p->n_inputs;
    for (uint32_t i = 0; i < p->n_inputs && i < ASSAY_MODEL_INPUTS; i++)
        describe_input(&p->inputs[i], &info->inputs[i]);
    return ASSAY_OK;
}

assay_status assay_model_cost(size_t index, assay_model_info *out, assay_error *err)
{
    api_begin(err);
    TRY(api_check_size(out, err));
    if (index >= zoo_count())
        return err_fail(err, ASSAY_ERR_USAGE,
                        "model index out of range: there are %u built-in models", zoo_count());
    const zoo_row *row = zoo_at((uint32_t)index);
    assay_model_info info = describe(row);
    const zoo_request q = {.row = row, .memory_limit = JOB_MODEL_BYTES};
    ir_model *ir = NULL;
    TRY(zoo_build(&q, &ir, err));
    arena *work = arena_new(JOB_ANALYSIS_BYTES);
    profile *p = profile_new(JOB_PROFILE_BYTES);
    assay_status s = work && p ? count_model(ir, work, p, &info, err) : err_no_memory(err);
    profile_free(p);
    arena_free(work);
    ir_model_free(ir);
    if (s == ASSAY_OK)
        HAND_OUT(out, info);
    return s;
}
