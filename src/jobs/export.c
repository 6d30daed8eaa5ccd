/* Writes a model as an ONNX or GGUF file with the requested parameters, opset and precision, and with its own or reproducible
 * random weights. */
#include "jobs/job.h"

#include "formats/gguf_export.h"
#include "formats/onnx_write.h"
#include "jobs/hooks.h"
#include "jobs/precision.h"
#include "rewrite/lower.h"

/* A built-in architecture is made in every size; a file is what it is. */
static assay_status check_file(const assay_options *o, assay_error *err)
{
    if (o->model.shapes.n == 0 && o->model.dims.n == 0 && o->model.batch == 0)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "a model file is exported with its own sizes. Use --input-shape, --dim and "
                    "--batch with built-in architectures only.");
}

static const precision_row *target_of(const assay_options *o)
{
    bool asked = o->model.target && o->model.target->kind != PRECISION_FP32;
    return asked ? o->model.target : NULL;
}

static assay_status no_such_precision(const assay_options *o, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "cannot convert to %s. Use fp32, fp16, bf16, int8-dynamic or int8.",
                    ir_dtype_get(o->model.precision)->name);
}

/* A built-in architecture goes to the opset at which the precision reaches most of it. */
static assay_status to_opset(const assay_model *m, ir_model *ir, const assay_options *o,
                             assay_error *err)
{
    const precision_row *p = target_of(o);
    if (o->export.opset)
        return m->row ? rewrite_lower(ir, (int)o->export.opset, err)
                      : convert_to_opset(ir, (int)o->export.opset, err);
    if (!m->row)
        return ASSAY_OK;
    return rewrite_lower(ir, p && p->opset > LOWER_DEFAULT ? p->opset : LOWER_DEFAULT, err);
}

static assay_status to_precision(ir_model *ir, const assay_options *o, uint64_t *n_random,
                                 assay_error *err)
{
    const engine_config config = {.library = o->engine.library.n ? o->engine.library.p : NULL};
    const job_precision q = {.row = target_of(o),
                             .engine_config = &config,
                             .engine_name = o->engine.name.n ? o->engine.name.p : NULL,
                             .seed = (uint64_t)o->model.seed,
                             .int8 = {.seven_bits = o->model.weight_bits == 7},
                             .keep_opset = o->export.opset != 0,
                             .holes = o->export.holes};
    return q.row ? job_make_precise(ir, &q, n_random, err) : ASSAY_OK;
}

static bool cancelled(void *ctx)
{
    const assay_options *const *o = ctx;
    return job_cancelled((*o)->hooks);
}

static assay_status write_model(const assay_model *m, ir_model *ir, const char *path,
                                const assay_options *o, onnx_written *got, assay_error *err)
{
    const onnx_write_options opt = {.seed = (uint64_t)o->model.seed,
                                    .external_data = o->export.external_data || o->export.holes,
                                    .holes = o->export.holes,
                                    .cancelled = cancelled,
                                    .ctx = &o};
    uint64_t n_random = 0;
    TRY(convert_to_onnx(ir, NULL, err));
    TRY(to_opset(m, ir, o, err));
    TRY(to_precision(ir, o, &n_random, err));
    TRY(onnx_write_file(ir, path, &opt, got, err));
    got->n_random += n_random;
    return ASSAY_OK;
}

/* Weights that the file should contain are needed now. Random ones are used only on request. */
static assay_status check_weights(const ir_model *ir, const assay_options *o, assay_error *err)
{
    if (o->model.seed || o->export.holes)
        return ASSAY_OK;
    for (ir_id id = 0; id < ir->values.n; id++) {
        const ir_value *v = ir_value_at(ir, id);
        bool state = ir->foreign &&
                     v->flags & IR_VALUE_NOT_PARAM; /* a variable begins with zeros */
        if (v->constant && v->constant->storage == IR_DATA_NONE && v->constant->n_elems > 0 &&
            !state)
            return err_fail(err, ASSAY_ERR_MALFORMED,
                            "the weights of '" STR_FMT
                            "' are missing from the file or its external data. Use --seed N to "
                            "write random weights.",
                            STR_ARG(v->name));
    }
    return ASSAY_OK;
}

/* ---- GGUF ---- */

assay_status job_gguf_plan(assay_model *m, const assay_options *o, str quant, arena *a,
                           gguf_plan *out, assay_error *err)
{
    TRY(gguf_export_check(m, quant, err));
    TRY(job_model_build(m, o, err));
    return gguf_export_plan(m, &o->model.set, quant, a, out, err);
}

assay_status job_gguf_write(const gguf_plan *plan, const char *path, const assay_options *o,
                            uint64_t *bytes, assay_error *err)
{
    const gguf_write_options opt = {
        .seed = (uint64_t)o->model.seed, .cancelled = cancelled, .ctx = &o};
    return gguf_export_write(plan, path, o->export.disk_limit, &opt, bytes, err);
}

static assay_status export_gguf(assay_model *m, const char *path, const assay_options *o,
                                onnx_written *got, assay_error *err)
{
    gguf_plan plan;
    arena *a = arena_new(JOB_MODEL_BYTES);
    assay_status s = a ? job_gguf_plan(m, o, o->export.quant, a, &plan, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = job_gguf_write(&plan, path, o, &got->model_bytes, err);
    if (s == ASSAY_OK)
        got->n_tensors = got->n_random = plan.tensors.n;
    arena_free(a);
    return s;
}

/* ---- the whole ---- */

/* Changes are made to a copy of a model from a file; a built-in architecture is built again for the next call. */
assay_status job_export(assay_model *m, const char *path, const assay_options *o, onnx_written *got,
                        assay_error *err)
{
    ir_model *own = NULL;
    if (gguf_export_wanted(path, o->export.quant))
        return export_gguf(m, path, o, got, err);
    if (o->model.precision != IR_UNDEFINED && !o->model.target)
        return no_such_precision(o, err);
    TRY(job_model_build(m, o, err));
    if (m->row)
        return write_model(m, m->ir, path, o, got, err);
    TRY(check_file(o, err));
    TRY(check_weights(m->ir, o, err));
    bool changes = o->export.opset || target_of(o) || m->ir->foreign;
    assay_status s = changes ? job_model_again(m, &own, err) : ASSAY_OK;
    if (s == ASSAY_OK)
        s = write_model(m, own ? own : m->ir, path, o, got, err);
    ir_model_free(own);
    return s;
}
