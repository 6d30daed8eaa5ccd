/* Writes a built-in language model as a GGUF file with random weights in a quantisation, if it fits. */
#include "jobs/export_gguf.h"

#include <inttypes.h>
#include <strings.h>

#include "base/file.h"
#include "base/sbuf.h"
#include "base/text.h"
#include "formats/weights.h"
#include "jobs/hooks.h"

bool job_is_gguf(const char *path, const assay_options *o)
{
    size_t n = strlen(path);
    return o->export.quant.n > 0 || (n > 5 && strcasecmp(path + n - 5, ".gguf") == 0);
}

/* Only the text part of a model that also reads images is in a GGUF file. */
static bool without_images(zoo_args *args)
{
    zoo_arg *arg;
    if (!zoo_args_put_int(args, "images", 0) || !(arg = zoo_args_get(args, "images")))
        return false;
    arg->silent = true;
    return true;
}

static assay_status build_told(const assay_model *m, const assay_options *o, zoo_asked_list *asked,
                               ir_model **ir, assay_error *err)
{
    zoo_args args;
    zoo_args_init(&args, asked->arena);
    const zoo_request q = {
        .row = m->row, .set = &args, .memory_limit = JOB_MODEL_BYTES, .asked = asked};
    if (!zoo_args_copy(&args, &m->config) || !zoo_args_copy(&args, &o->model.set) ||
        !without_images(&args))
        return err_no_memory(err);
    return zoo_build(&q, ir, err);
}

static const gguf_quant *native_quant(const ir_model *ir)
{
    return gguf_quant_find(ir->native == IR_BFLOAT16  ? STR("bf16")
                           : ir->native == IR_FLOAT16 ? STR("f16")
                                                      : STR("f32"));
}

static assay_status check_source(const assay_model *m, assay_error *err)
{
    if (m->row && !m->weights)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "GGUF is written with random weights, for built-in language models only. "
                    "Convert files that hold weights with convert_hf_to_gguf.py of llama.cpp.");
}

assay_status job_gguf_plan(assay_model *m, const assay_options *o, str quant, arena *a,
                           gguf_plan *out, assay_error *err)
{
    zoo_asked_list asked = {.arena = a, .library = true};
    const gguf_quant *q = quant.n ? gguf_quant_find(quant) : NULL;
    ir_model *ir = NULL;
    TRY(check_source(m, err));
    if (quant.n && !q)
        return err_fail(err, ASSAY_ERR_USAGE, "--quant must be " GGUF_QUANTS ", got '" STR_FMT "'",
                        STR_ARG(quant));
    TRY(job_model_build(m, o, err));
    assay_status s = build_told(m, o, &asked, &ir, err);
    if (s == ASSAY_OK)
        s = gguf_plan_make(ir, m->row, &asked, q ? q : native_quant(ir), a, out, err);
    if (s == ASSAY_OK && arena_failed(a))
        s = err_no_memory(err);
    ir_model_free(ir);
    return s;
}

static assay_status too_large(const gguf_plan *plan, uint64_t need, uint64_t have, const char *what,
                              assay_error *err)
{
    sbuf sizes[2] = {{0}, {0}};
    text_bytes(&sizes[0], need);
    text_bytes(&sizes[1], have);
    assay_status s = err_fail(err, ASSAY_ERR_SYSTEM,
                              "%s as %s is a file of %s; %s %s. Use a smaller --quant or model, or "
                              "raise --disk-limit.",
                              plan->name, plan->quant->name, sbuf_cstr(&sizes[0]), what,
                              sbuf_cstr(&sizes[1]));
    sbuf_free(&sizes[0]);
    sbuf_free(&sizes[1]);
    return s;
}

assay_status job_gguf_check_disk(const gguf_plan *plan, const char *path, const assay_options *o,
                                 assay_error *err)
{
    uint64_t need = 0, room = file_free_bytes(path);
    TRY(gguf_plan_bytes(plan, &need, err));
    if (o->export.disk_limit && need > o->export.disk_limit)
        return too_large(plan, need, o->export.disk_limit, "the limit is", err);
    if (need > room)
        return too_large(plan, need, room, "the free disk space is", err);
    return ASSAY_OK;
}

static bool cancelled(void *ctx)
{
    const assay_options *const *o = ctx;
    return job_cancelled((*o)->hooks);
}

assay_status job_gguf_write(const gguf_plan *plan, const char *path, const assay_options *o,
                            uint64_t *bytes, assay_error *err)
{
    const gguf_write_options opt = {
        .seed = (uint64_t)o->model.seed, .cancelled = cancelled, .ctx = &o};
    TRY(job_gguf_check_disk(plan, path, o, err));
    return gguf_write_file(plan, path, &opt, bytes, err);
}

assay_status job_export_gguf(assay_model *m, const char *path, const assay_options *o,
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
