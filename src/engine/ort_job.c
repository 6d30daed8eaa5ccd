/* Runs. Everything is prepared when the job is opened, so that a run is one call. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/ort_impl.h"
#include "ir/graph.h"

void ort_job_drop(engine_job *base)
{
    ort_engine_job *j = (ort_engine_job *)base;
    j->ran = false;
    for (uint32_t i = 0; i < j->n_outputs; i++) {
        if (j->outputs[i])
            j->api->release_value(j->outputs[i]);
        j->outputs[i] = NULL;
    }
}

void ort_job_close(engine_job *base)
{
    ort_engine_job *j = (ort_engine_job *)base;
    if (j->outputs)
        ort_job_drop(base);
    for (uint32_t i = 0; j->inputs && i < j->n_inputs; i++)
        if (j->inputs[i])
            j->api->release_value(j->inputs[i]);
    for (uint32_t i = 0; j->output_dims && i < j->n_outputs; i++)
        free(j->output_dims[i]);
    free(j->output_dims);
    free(j->inputs);
    free(j->outputs);
    free(j);
}

static assay_status prepare(ort_engine_job *j, const engine_tensor *inputs, assay_error *err)
{
    j->inputs = memory_zeroed((size_t)j->n_inputs + 1, sizeof *j->inputs);
    j->outputs = memory_zeroed((size_t)j->n_outputs + 1, sizeof *j->outputs);
    j->output_dims = memory_zeroed((size_t)j->n_outputs + 1, sizeof *j->output_dims);
    TRY_MEMORY(j->inputs && j->outputs && j->output_dims, err);
    for (uint32_t i = 0; i < j->n_inputs; i++)
        TRY(ort_tensor_view(ort_of(j->base.session), &inputs[i], &j->inputs[i], err));
    return ASSAY_OK;
}

assay_status ort_job_open(engine_session *base, const engine_tensor *inputs, engine_job **out,
                          assay_error *err)
{
    ort_engine_session *s = (ort_engine_session *)base;
    ort_engine_job *j = memory_alloc(sizeof *j);
    TRY_MEMORY(j, err);
    *j = (ort_engine_job){
        .base = {.ops = base->ops, .session = base},
        .api = &ort_of(base)->api,
        .session = s->session,
        .run_options = s->run_options,
        .input_names = s->input_names,
        .output_names = s->output_names,
        .n_inputs = base->info.n_inputs,
        .n_outputs = base->info.n_outputs,
    };
    assay_status status = prepare(j, inputs, err);
    if (status == ASSAY_OK)
        *out = &j->base;
    else
        ort_job_close(&j->base);
    return status;
}

assay_status ort_job_run(engine_job *base, assay_error *err)
{
    ort_engine_job *j = (ort_engine_job *)base;
    if (j->ran)
        ort_job_drop(base);
    ort_status *status = j->api->run(j->session, j->run_options, j->input_names,
                                     (const ort_value *const *)j->inputs, j->n_inputs,
                                     j->output_names, j->n_outputs, j->outputs);
    j->ran = true;
    if (!status)
        return ASSAY_OK;
    ort_job_drop(base);
    return ort_check(j->api, status, "failed to run the model", err);
}

/* ---- reading outputs ------------------------------------------------------------------------- */

static const char what[] = "cannot read an output";

static assay_status read_shape(ort_engine_job *j, uint32_t index, const ort_tensor_info *info,
                               engine_tensor *out, assay_error *err)
{
    size_t rank = 0;
    int element = 0;
    TRY(ort_check(j->api, j->api->element_type(info, &element), what, err));
    TRY(ort_check(j->api, j->api->rank(info, &rank), what, err));
    if (rank > IR_MAX_RANK)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "an output has more than %d dimensions",
                        IR_MAX_RANK);
    if (!j->output_dims[index])
        j->output_dims[index] = memory_zeroed(IR_MAX_RANK, sizeof(int64_t));
    TRY_MEMORY(j->output_dims[index], err);
    out->dtype = ort_dtype(element);
    out->rank = (int)rank;
    out->dims = j->output_dims[index];
    return ort_check(j->api, j->api->dims(info, j->output_dims[index], rank), what, err);
}

static assay_status read_tensor(ort_engine_job *j, uint32_t index, engine_tensor *out,
                                assay_error *err)
{
    const char *name = j->output_names[index];
    ort_tensor_info *info = NULL;
    uint64_t n = 1;
    TRY(ort_check(j->api, j->api->value_type(j->outputs[index], &info), what, err));
    assay_status status = read_shape(j, index, info, out, err);
    j->api->release_tensor_info(info);
    TRY(status);
    if (out->dtype == IR_STRING || out->dtype == IR_UNDEFINED)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "output '%s' has an unsupported element type (strings or unknown)", name);
    for (int i = 0; i < out->rank; i++)
        n *= (uint64_t)out->dims[i]; /* the tensor exists, so this cannot overflow */
    out->size_bytes = ir_dtype_bytes(out->dtype, n);
    return ort_check(j->api, j->api->tensor_data(j->outputs[index], &out->data), what, err);
}

assay_status ort_job_output(engine_job *base, uint32_t index, engine_tensor *out, assay_error *err)
{
    enum { KIND_TENSOR = 1 };
    ort_engine_job *j = (ort_engine_job *)base;
    int kind = 0;
    if (!j->ran || !j->outputs[index])
        return err_fail(err, ASSAY_ERR_ENGINE, "no output '%s' to read: the model was not run",
                        j->output_names[index]);
    TRY(ort_check(j->api, j->api->value_kind(j->outputs[index], &kind), what, err));
    if (kind != KIND_TENSOR)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "output '%s' is not a tensor",
                        j->output_names[index]);
    return read_tensor(j, index, out, err);
}
