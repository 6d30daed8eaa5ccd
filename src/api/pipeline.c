/* Pipelines in the public API. */
#include <assay/study.h>

#include "api/result.h"
#include "jobs/pipeline.h"

/* What it is is looked up, but not built; a word that nobody knows must not keep a generation from going on. */
static void switch_off(job_pipeline *p, const char *model, const assay_options *o)
{
    assay_error ignored;
    err_clear(&ignored);
    bool known = job_pipeline_open(p, model, o, &ignored) == ASSAY_OK;
    p->diffusion = (pipeline_result){.model = str_copy(p->arena, str_of(model ? model : "")),
                                     .kind = !known           ? NULL
                                             : p->is_language ? "language"
                                                              : "diffusion"};
    p->is_language = false;
}

static assay_status run_pipeline(job_pipeline *p, const assay_options *o, assay_error *err)
{
    if (p->is_language) {
        TRY(option_refuse_topic(o, &options_diffusion, "a language model", err));
        return job_pipeline_language(p, o, err);
    }
    TRY(option_refuse_topic(o, &options_language, "an image pipeline", err));
    return job_pipeline_diffusion(p, o, err);
}

assay_status api_refuse_drawn(const assay_options *o, assay_error *err)
{
    if (o->pipeline.prompt_tokens != LENGTH_DRAWN && o->pipeline.generate != LENGTH_DRAWN)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "--%s must be a whole number: only `assay load` draws lengths at random",
                    o->pipeline.generate == LENGTH_DRAWN ? "generate" : "prompt-tokens");
}

static assay_status count_pipeline(job_pipeline *p, const char *model, const assay_options *o,
                                   assay_error *err)
{
    TRY(api_refuse_drawn(o, err));
    if (o->pipeline.no_profiling) {
        switch_off(p, model, o);
        return ASSAY_OK;
    }
    TRY(job_pipeline_open(p, model, o, err));
    return run_pipeline(p, o, err);
}

static assay_status judge_strict(const assay_options *o, const job_pipeline *p, assay_error *err)
{
    const pipeline_result *r = &p->diffusion;
    if (!o->model.strict || p->is_language || !r->partial)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "strict: " STR_FMT, STR_ARG(r->error));
}

assay_status assay_pipeline(const char *model, const assay_options *options, assay_result **out,
                            assay_error *err)
{
    const assay_options none = options_default();
    const assay_options *o = options ? options : &none;
    api_begin(err);
    *out = NULL;
    assay_result *r = handle_new(&diffusion_kind, JOB_MODEL_BYTES);
    job_pipeline *p = r ? ARENA_NEW(r->arena, job_pipeline) : NULL;
    if (!p) {
        handle_free(r);
        return err_no_memory(err);
    }
    r->pipeline = p;
    p->arena = r->arena;
    assay_status s = count_pipeline(p, model, o, err);
    r->kind = p->is_language ? &language_kind : &diffusion_kind;
    r->data = p->is_language ? (void *)&p->language : (void *)&p->diffusion;
    TRY(api_hand_result(s, r, out, err));
    return judge_strict(o, p, err);
}

assay_status assay_pipeline_measure(assay_result *pipeline, const assay_options *options,
                                    const assay_hooks *hooks, assay_error *err)
{
    assay_options none;
    api_begin(err);
    TRY(api_check_size(hooks, err));
    if (!pipeline->pipeline)
        return err_fail(err, ASSAY_ERR_USAGE, "only an analysed pipeline can be measured, not %s",
                        pipeline->kind->what);
    assay_status s = job_pipeline_measure(pipeline->pipeline, options_or_default(options, &none),
                                          hooks, err);
    bool whole = result_conclude(pipeline->kind, pipeline->data, pipeline->arena);
    return s == ASSAY_OK && !whole ? err_no_memory(err) : s;
}

bool assay_pipeline_at(size_t index, const char **name)
{
    *name = pipeline_name_at(index < UINT32_MAX ? (uint32_t)index : UINT32_MAX);
    return *name != NULL;
}

/* ---- several ---- */

static bool is_pipeline(const assay_result *of)
{
    return of->kind == &language_kind || of->kind == &diffusion_kind;
}

static assay_status gather(const assay_result *const *list, uint32_t n, assay_result *out,
                           assay_error *err)
{
    pipelines_result *all = out->data;
    field_result *items = ARENA_ARRAY(out->arena, field_result, n);
    TRY_MEMORY(items, err);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_pipeline(list[i]))
            return err_fail(err, ASSAY_ERR_USAGE, "this is %s, not a pipeline",
                            list[i]->kind->what);
        if (list[i]->kind != list[0]->kind)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "image pipelines and language models cannot be compared");
        items[i] = (field_result){list[i]->kind, list[i]->data};
    }
    *all = (pipelines_result){.list = items, .n = n};
    return ASSAY_OK;
}

assay_status assay_pipelines(const assay_result *const *pipelines, size_t n, assay_result **out,
                             assay_error *err)
{
    api_begin(err);
    *out = NULL;
    if (n < 1 || n > PIPELINES_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "a comparison needs 1 to %d pipelines",
                        PIPELINES_MAX);
    assay_result *r = handle_new(&pipelines_kind, (size_t)1 << 20);
    assay_status s = r ? gather(pipelines, (uint32_t)n, r, err) : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}
