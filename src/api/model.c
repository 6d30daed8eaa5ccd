/* Models in the public API: open, analyse, measure, export. */
#include <assay/measure.h>

#include <stdio.h>

#include "api/result.h"
#include "base/memory.h"
#include "formats/onnx_write.h"
#include "jobs/job.h"
#include "jobs/measure.h"
#include "jobs/measure_llama.h"
#include "profile/profile_fields.h"

/* What a reader could not allocate or read and passed over is an error. */
static assay_status hand_model(assay_status s, assay_model **out, assay_error *err)
{
    if (s != ASSAY_OK || !memory_lacked())
        return s;
    model_free(*out);
    *out = NULL;
    return err_no_memory(err);
}

assay_status assay_model_open(const char *model, assay_model **out, assay_error *err)
{
    api_begin(err);
    return hand_model(job_model_open(model, out, err), out, err);
}

assay_status assay_model_from_bytes(const void *bytes, size_t n, const char *name,
                                    const char *folder, assay_model **out, assay_error *err)
{
    api_begin(err);
    return hand_model(job_model_from_bytes(bytes, n, name, folder, out, err), out, err);
}

void assay_model_free(assay_model *model)
{
    model_free(model);
}

assay_status assay_analyze(assay_model *model, const assay_options *options, assay_result **out,
                           assay_error *err)
{
    assay_options none;
    return api_settle(job_analyze(model, options_or_default(options, &none), out, err), out, err);
}

/* ---- measuring ---- */

static const result_kind configuration_kind = {.schema = "assay.configuration",
                                               .version = 1,
                                               .name = "configuration",
                                               .what = "a measured configuration",
                                               .of = &configuration_fields};

void api_hand_config(const assay_hooks *hooks, const profile_measured *m, const profile_config *c)
{
    profile_config own = *c;
    assay_result shown = {
        .kind = &configuration_kind, .data = &own, .arena = arena_new(JOB_PROFILE_BYTES)};
    if (hooks->measured && shown.arena && profile_settle_config(&own, m, shown.arena))
        hooks->measured(hooks->ctx, &shown);
    arena_free(shown.arena);
}

/* ASSAY_ERR_USAGE for the first of these options that was set. */
static assay_status refuse_given(const assay_options *o, const char *names, const char *why,
                                 assay_error *err)
{
    for (str rest = str_of(names), name; str_split(&rest, ' ', &name);) {
        char key[64];
        snprintf(key, sizeof key, STR_FMT, STR_ARG(name));
        if (assay_options_get(o, key))
            return err_fail(err, ASSAY_ERR_USAGE, "--%s has no effect: %s", key, why);
    }
    return ASSAY_OK;
}

/* llama.cpp runs sequences of tokens, ONNX Runtime graphs: each has options of its own. */
static assay_status check_engine_options(const assay_model *m, const assay_options *o,
                                         unsigned what, assay_error *err)
{
    if (!o)
        return ASSAY_OK;
    if (what == ASSAY_MEASURE_LAYERS && job_runs_on_llama(m, o))
        return refuse_given(o,
                            "batch-sizes prompt-tokens generate context-depth input unit device "
                            "no-spin opt-level provider-option no-nvtx gpu-events",
                            "llama.cpp runs one pass over the model's input. Use --batch, "
                            "--input-shape and --threads.",
                            err);
    if (job_runs_on_llama(m, o))
        return refuse_given(o,
                            "configs precision precision-target concurrency rate cold input "
                            "save-outputs unit device no-spin opt-level provider-option no-nvtx "
                            "input-shape dim weight-bits",
                            "llama.cpp runs language models. Use --prompt-tokens, --generate, "
                            "--batch, --batch-sizes, --context-depth and --threads.",
                            err);
    return refuse_given(o,
                        "prompt-tokens generate context-depth cache-dtype flash-attention "
                        "disk-limit",
                        "it is for GGUF files and --quant, which run on llama.cpp.", err);
}

assay_status assay_measure(assay_model *model, const assay_options *options, unsigned what,
                           const assay_hooks *hooks, assay_result *of, assay_error *err)
{
    assay_options none;
    const job_measure_hooks h = {.caller = hooks, .measured = api_hand_config};
    api_begin(err);
    TRY(api_check_size(hooks, err));
    TRY(api_need_profile(of, "measuring", err));
    if (!of->p)
        return err_fail(err, ASSAY_ERR_USAGE, "measuring needs a result of one model, not %s",
                        of->kind->what);
    TRY(check_engine_options(model, options, what, err));
    assay_options own = *options_or_default(options, &none);
    own.measure.runs_given = assay_options_get(options, "num-runs") != NULL;
    own.measure.warmup_given = assay_options_get(options, "warmup-runs") != NULL;
    of->text = (str){0};
    return api_settle(job_measure(model, &own, what, &h, of, err), &of, err);
}

assay_status assay_engine_find(const assay_options *options, assay_engine_info *out,
                               assay_error *err)
{
    assay_options none;
    assay_engine_info x = {0};
    engine *e = NULL;
    api_begin(err);
    TRY(api_check_size(out, err));
    TRY(job_engine_open(options_or_default(options, &none), &e, err));
    const engine_info *info = engine_about(e);
    snprintf(x.name, sizeof x.name, "%s", info->name);
    snprintf(x.title, sizeof x.title, "%s", info->title);
    snprintf(x.version, sizeof x.version, "%s", info->version);
    snprintf(x.library, sizeof x.library, "%s", info->library);
    engine_close(e);
    return GIVE(out, x, err);
}

/* ---- export ---- */

assay_status assay_export(assay_model *model, const char *path, const assay_options *options,
                          assay_export_info *out, assay_error *err)
{
    assay_options none;
    onnx_written got = {0};
    api_begin(err);
    TRY(api_check_size(out, err));
    assay_status s = job_export(model, path, options_or_default(options, &none), &got, err);
    if (!out || s != ASSAY_OK)
        return s;
    assay_export_info info = {.model_bytes = got.model_bytes,
                              .data_bytes = got.data_bytes,
                              .tensors = got.n_tensors,
                              .random_tensors = got.n_random};
    return GIVE(out, info, err);
}
