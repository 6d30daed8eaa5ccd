/* Writes a built-in language model as a GGUF file with random weights in a quantisation, if it fits. */
#include "formats/gguf_export.h"

#include <inttypes.h>
#include <strings.h>

#include "base/file.h"
#include "base/sbuf.h"
#include "base/text.h"

bool gguf_export_wanted(const char *path, str quant)
{
    size_t n = strlen(path);
    return quant.n > 0 || (n > 5 && strcasecmp(path + n - 5, ".gguf") == 0);
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

static assay_status build_told(const assay_model *m, const zoo_args *set, zoo_asked_list *asked,
                               ir_model **ir, assay_error *err)
{
    zoo_args args;
    zoo_args_init(&args, asked->arena);
    const zoo_request q = {
        .row = m->row, .set = &args, .memory_limit = LIMIT_MODEL_BYTES, .asked = asked};
    if (!zoo_args_copy(&args, &m->config) || !zoo_args_copy(&args, set) || !without_images(&args))
        return err_no_memory(err);
    return zoo_build(&q, ir, err);
}

static const gguf_quant *native_quant(const ir_model *ir)
{
    return gguf_quant_find(ir->native == IR_BFLOAT16  ? STR("bf16")
                           : ir->native == IR_FLOAT16 ? STR("f16")
                                                      : STR("f32"));
}

assay_status gguf_export_check(const assay_model *m, str quant, assay_error *err)
{
    if (!m->row || m->weights)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "GGUF is written with random weights, for built-in language models only. "
                        "Convert files that hold weights with convert_hf_to_gguf.py of llama.cpp.");
    if (quant.n && !gguf_quant_find(quant))
        return err_fail(err, ASSAY_ERR_USAGE, "--quant must be " GGUF_QUANTS ", got '" STR_FMT "'",
                        STR_ARG(quant));
    return ASSAY_OK;
}

assay_status gguf_export_plan(const assay_model *m, const zoo_args *set, str quant, arena *a,
                              gguf_plan *out, assay_error *err)
{
    zoo_asked_list asked = {.arena = a, .library = true};
    ir_model *ir = NULL;
    TRY(gguf_export_check(m, quant, err));
    assay_status s = build_told(m, set, &asked, &ir, err);
    if (s == ASSAY_OK)
        s = gguf_plan_make(ir, m->row, &asked, quant.n ? gguf_quant_find(quant) : native_quant(ir),
                           a, out, err);
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

static assay_status check_disk(const gguf_plan *plan, const char *path, uint64_t limit,
                               assay_error *err)
{
    uint64_t need = 0, room = file_free_bytes(path);
    TRY(gguf_plan_bytes(plan, &need, err));
    if (limit && need > limit)
        return too_large(plan, need, limit, "the limit is", err);
    if (need > room)
        return too_large(plan, need, room, "the free disk space is", err);
    return ASSAY_OK;
}

assay_status gguf_export_write(const gguf_plan *plan, const char *path, uint64_t limit,
                               const gguf_write_options *o, uint64_t *bytes, assay_error *err)
{
    TRY(check_disk(plan, path, limit, err));
    return gguf_write_file(plan, path, o, bytes, err);
}
