/* Pipelines behind the API: a result that is walked or written. */
#include "jobs/pipeline.h"
#include "api/result.h"

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

static assay_status count_pipeline(job_pipeline *p, const char *model, const assay_options *o,
                                   assay_error *err)
{
    if (o->pipeline.no_profiling) {
        switch_off(p, model, o);
        return ASSAY_OK;
    }
    TRY(job_pipeline_open(p, model, o, err));
    return run_pipeline(p, o, err);
}

assay_status assay_pipeline(const char *model, const assay_options *options, assay_result **out,
                            assay_error *err)
{
    const assay_options none = api_default_options();
    const assay_options *o = options ? options : &none;
    err_clear(err);
    *out = NULL;
    assay_result *r = job_result_new(&diffusion_kind, JOB_MODEL_BYTES);
    job_pipeline *p = r ? ARENA_NEW(r->arena, job_pipeline) : NULL;
    if (!p) {
        job_result_free(r);
        return err_no_memory(err);
    }
    r->pipeline = p;
    p->arena = r->arena;
    assay_status s = count_pipeline(p, model, o, err);
    r->kind = p->is_language ? &language_kind : &diffusion_kind;
    r->data = p->is_language ? (void *)&p->language : (void *)&p->diffusion;
    return api_hand_result(s, r, out);
}

assay_status assay_pipeline_measure(assay_result *pipeline, const assay_options *options,
                                    const assay_hooks *hooks, assay_error *err)
{
    assay_options none;
    err_clear(err);
    if (!pipeline->pipeline)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "Only a pipeline that was counted can be measured, not %s.",
                        pipeline->kind->what);
    return job_pipeline_measure(pipeline->pipeline, api_options(options, &none), hooks, err);
}

/* ---- walking ---- */

static const char *text_of(arena *a, str s)
{
    str copy = str_copy(a, s);
    return copy.p ? copy.p : "";
}

static double or_negative(double v)
{
    return isnan(v) ? -1 : v;
}

void assay_pipeline_totals(const assay_result *pipeline, assay_pipeline_info *out)
{
    const pipeline_result *d = &pipeline->pipeline->diffusion;
    const language_result *l = &pipeline->pipeline->language;
    assay_pipeline_info info = {
        .kind = pipeline->pipeline->is_language ? "language"
                : d->kind                       ? d->kind
                                                : "",
        .model = text_of(pipeline->arena, pipeline->pipeline->is_language ? l->model : d->model)};
    info.time_to_first_token_s = info.time_per_token_s = info.tokens_per_s = -1;
    if (pipeline->pipeline->is_language) {
        info.n_devices = l->n_devices;
        if (l->measured.present) {
            info.time_to_first_token_s = l->measured.prefill_ms / 1e3;
            info.time_per_token_s = (l->measured.first_step_ms + l->measured.last_step_ms) / 2e3;
            info.tokens_per_s = l->measured.tokens_per_s;
        }
        info.inference_time_s = l->measured.present ? l->measured.total_s : -1;
        info.enabled = true;
        info.parameters = l->parameters;
        info.active_parameters = l->active_parameters;
        info.prefill_macs = l->prefill.macs;
        info.decode_macs = l->decode_macs;
        info.cache_bytes_per_token = l->cache_bytes_per_token;
        info.cache_bytes = l->cache_bytes;
        info.serve_bytes = l->serve_bytes;
        info.total_macs = l->total_macs;
        info.total_flops = l->total_flops;
    } else {
        info.enabled = d->enabled;
        info.component = d->model_component ? d->model_component : "";
        info.parameters = info.active_parameters = d->denoiser_parameters;
        info.steps = (uint64_t)d->steps_run;
        info.passes_per_step = d->passes_per_step;
        info.macs_per_pass = d->macs_per_pass;
        info.macs_per_step = d->macs_per_step;
        info.amortised_macs_per_step = d->amortised_macs_per_step;
        info.vae_macs = d->vae_macs;
        info.text_encoder_macs = d->text_encoder_macs;
        info.total_macs = d->total_macs;
        info.total_flops = d->total_flops;
        info.n_components = d->n_components;
        info.n_warnings = d->warnings.list.n;
        info.inference_time_s = d->enabled ? or_negative(d->inference_time_s) : -1;
    }
    HAND_OUT(out, info);
}

bool assay_pipeline_component(const assay_result *pipeline, size_t index, assay_component *out)
{
    if (index >= pipeline->pipeline->diffusion.n_components)
        return false;
    const pipeline_component *c = &pipeline->pipeline->diffusion.components[index];
    assay_component info = {.name = text_of(pipeline->arena, c->name),
                            .role = pipeline_role_words[c->role],
                            .model = text_of(pipeline->arena, c->model),
                            .error = text_of(pipeline->arena, c->error),
                            .parameters = c->parameters,
                            .macs = c->macs,
                            .flops = c->flops,
                            .calls = c->calls,
                            .total_macs = c->total_macs,
                            .total_flops = c->total_flops,
                            .percent = c->percent,
                            .time_ms = or_negative(c->time_ms),
                            .attention_qk_macs = c->attention.qk_macs,
                            .attention_av_macs = c->attention.av_macs,
                            .attention_softmax_elements = c->attention.softmax_elements,
                            .attention_projection_macs = c->attention.projection_macs};
    HAND_OUT(out, info);
    return true;
}

/* -1: none; INT64_MAX: any. */
static int64_t most_of(int64_t v, bool fits)
{
    return v != INT64_MIN ? v : fits ? INT64_MAX : -1;
}

bool assay_pipeline_on(const assay_result *pipeline, size_t index, assay_pipeline_place *out)
{
    if (!pipeline->pipeline->is_language || index >= pipeline->pipeline->language.n_devices)
        return false;
    const language_device *d = &pipeline->pipeline->language.devices[index];
    assay_pipeline_place place = {.device = text_of(pipeline->arena, d->id),
                                  .title = text_of(pipeline->arena, d->name),
                                  .memory_bytes = (double)d->memory_bytes,
                                  .fits = d->fits,
                                  .largest_context = most_of(d->largest_context, d->fits),
                                  .largest_batch = most_of(d->largest_batch, d->fits),
                                  .precision = "",
                                  .prefill_bound = "",
                                  .decode_bound = ""};
    if (d->precision) {
        place.precision = d->precision;
        place.time_to_first_token_s = d->first_token_ms / 1e3;
        place.time_per_token_s = d->average_ms / 1e3;
        place.total_s = d->total_s;
        place.tokens_per_s = d->tokens_per_s;
        place.prefill_bound = d->prefill_bound;
        place.decode_bound = d->decode_bound;
    }
    HAND_OUT(out, place);
    return true;
}

bool assay_pipeline_at(size_t index, const char **name)
{
    *name = pipeline_name_at(index < UINT32_MAX ? (uint32_t)index : UINT32_MAX);
    return *name != NULL;
}

/* ---- single questions ---- */

static assay_status ask(const char *model, const assay_options *o, assay_pipeline_info *out,
                        assay_error *err)
{
    assay_result *p;
    *out = (assay_pipeline_info){.size = sizeof *out};
    TRY(assay_pipeline(model, o, &p, err));
    assay_pipeline_totals(p, out);
    assay_result_free(p);
    out->model = ""; /* it went with the pipeline */
    return ASSAY_OK;
}

assay_status assay_pipeline_denoiser_macs(const char *model, int64_t height, int64_t width,
                                          int64_t prompt_tokens, double guidance_scale,
                                          uint64_t *macs, assay_error *err)
{
    assay_options o = api_default_options();
    assay_pipeline_info info;
    *macs = 0;
    o.pipeline.height = height;
    o.pipeline.width = width;
    o.pipeline.prompt_tokens = prompt_tokens;
    o.pipeline.guidance = guidance_scale;
    TRY(ask(model, &o, &info, err));
    *macs = info.macs_per_step;
    return ASSAY_OK;
}

assay_status assay_pipeline_vae_decode_macs(const char *model, int64_t height, int64_t width,
                                            uint64_t *macs, assay_error *err)
{
    assay_options o = api_default_options();
    assay_pipeline_info info;
    *macs = 0;
    o.pipeline.height = height;
    o.pipeline.width = width;
    TRY(ask(model, &o, &info, err));
    *macs = info.vae_macs;
    return ASSAY_OK;
}

assay_status assay_pipeline_text_encoder_macs(const char *model, int64_t prompt_tokens,
                                              bool negative_prompt, uint64_t *macs,
                                              assay_error *err)
{
    assay_options o = api_default_options();
    assay_pipeline_info info;
    *macs = 0;
    o.pipeline.prompt_tokens = prompt_tokens;
    o.pipeline.guidance = 1;
    TRY(ask(model, &o, &info, err));
    *macs = info.text_encoder_macs * (negative_prompt ? 2 : 1);
    return ASSAY_OK;
}

assay_status assay_pipeline_summarize(const char *model, int64_t height, int64_t width,
                                      int64_t steps, int64_t prompt_tokens, double guidance_scale,
                                      assay_pipeline_info *out, assay_error *err)
{
    assay_options o = api_default_options();
    assay_pipeline_info info;
    o.pipeline.height = height;
    o.pipeline.width = width;
    o.pipeline.steps = steps;
    o.pipeline.prompt_tokens = prompt_tokens;
    o.pipeline.guidance = guidance_scale;
    assay_status s = ask(model, &o, &info, err);
    HAND_OUT(out, info);
    return s;
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
    if (!items)
        return err_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_pipeline(list[i]))
            return err_fail(err, ASSAY_ERR_USAGE, "This is %s, not a pipeline.",
                            list[i]->kind->what);
        if (list[i]->kind != list[0]->kind)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "Image pipelines and language models cannot stand side by side.");
        items[i] = (field_result){list[i]->kind, list[i]->data};
    }
    *all = (pipelines_result){.list = items, .n = n};
    return ASSAY_OK;
}

assay_status assay_pipelines(const assay_result *const *pipelines, size_t n, assay_result **out,
                             assay_error *err)
{
    err_clear(err);
    *out = NULL;
    if (n < 1 || n > PIPELINES_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "From 1 to %d pipelines can stand side by side.",
                        PIPELINES_MAX);
    assay_result *r = job_result_new(&pipelines_kind, (size_t)1 << 20);
    assay_status s = r ? gather(pipelines, (uint32_t)n, r, err) : err_no_memory(err);
    return api_hand_result(s, r, out);
}
