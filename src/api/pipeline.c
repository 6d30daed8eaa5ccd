/* Pipelines behind the API: a name, a folder or a file becomes a plan; running it is a result that is
 * walked or written. What a folder holds that we do not know is a warning of the result, never a failure
 * of the caller. */
#include <stdlib.h>

#include "api/api.h"
#include "api/document.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json_tree.h"
#include "base/sbuf.h"
#include "formats/format.h"
#include "formats/gguf.h"
#include "formats/hf_config.h"
#include "formats/hf_folder.h"
#include "jobs/pipeline.h"
#include "report/pipelines.h"

/* ---- components from a folder ---- */

static void take_config(const hf_component *c, arena *a, pipeline_part *part)
{
    hf_folder f;
    assay_error err;
    err_clear(&err);
    assay_status s = hf_folder_read(c->path.p, a, &f, &err);
    part->problem = s == ASSAY_OK ? STR("Its architecture is not known.")
                                  : str_copy(a, str_of(err.message));
    if (s != ASSAY_OK || !f.config.row)
        return;
    zoo_args *args = ARENA_NEW(a, zoo_args);
    if (!args)
        return;
    *args = f.config.args;
    part->args = args;
    part->row = f.config.row;
    part->problem = (str){0};
    if (!c->class_name.n && f.kind.n)
        part->model = f.kind;
}

static assay_status read_folder(assay_pipeline *p, const char *path, const hf_folder *f,
                                assay_error *err)
{
    pipeline_part parts[PIPELINE_COMPONENTS] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->components.n; i++) {
        const hf_component *c = &f->components.items[i];
        if (!c->is_model || str_contains(c->name, "safety_checker") ||
            str_contains(c->name, "image_encoder"))
            continue;
        if (n == PIPELINE_COMPONENTS)
            return err_fail(err, ASSAY_ERR_UNSUPPORTED, "'%s' has more than %d components.", path,
                            PIPELINE_COMPONENTS);
        parts[n] = (pipeline_part){.name = c->name,
                                   .role = ROLE_OTHER,
                                   .model = c->class_name.n ? c->class_name : c->name};
        take_config(c, p->arena, &parts[n++]);
    }
    return pipeline_of_parts(str_copy(p->arena, str_of(path)), parts, n, &p->plan, err);
}

/* ---- a pipeline of one's own: --pipeline-file ---- */

static assay_status wrong(const char *shown, const char *key, const char *must, assay_error *err)
{
    return err_fail_node(err, ASSAY_ERR_MALFORMED, key, "'%s': %s must be %s.", shown, key, must);
}

static assay_status file_number(const json_value *root, const char *shown, const char *key,
                                double *out, assay_error *err)
{
    const json_value *v = json_get(root, key);
    if (v && !json_is_number(v))
        return wrong(shown, key, "a number", err);
    if (v && !(v->f >= 0 && v->f < 1e9))
        return wrong(shown, key, "between 0 and 1e9", err);
    if (v)
        *out = v->f;
    return ASSAY_OK;
}

static assay_status file_word(const json_value *root, const char *shown, const char *key, str *out,
                              assay_error *err)
{
    const json_value *v = json_get(root, key);
    if (v && v->kind != JSON_TEXT)
        return wrong(shown, key, "a text", err);
    if (v)
        *out = v->s;
    return ASSAY_OK;
}

static assay_status file_role(str word, const char *shown, pipeline_role *out, assay_error *err)
{
    for (int r = ROLE_TEXT_ENCODER; r <= ROLE_OTHER; r++)
        if (str_is(word, pipeline_role_name((pipeline_role)r))) {
            *out = (pipeline_role)r;
            return ASSAY_OK;
        }
    return wrong(shown, "components[].role",
                 "text_encoder, vae_encoder, denoiser, vae_decoder or other", err);
}

static assay_status file_set(const json_value *v, const char *shown, arena *a, pipeline_part *part,
                             assay_error *err)
{
    if (!v)
        return ASSAY_OK;
    if (v->kind != JSON_OBJECT)
        return wrong(shown, "components[].set", "an object", err);
    zoo_args *args = ARENA_NEW(a, zoo_args);
    if (!args)
        return err_no_memory(err);
    zoo_args_init(args, a);
    for (uint32_t i = 0; i < v->n; i++)
        if (!zoo_args_put(args, v->items[i].key, v->items[i], false))
            return err_no_memory(err);
    part->args = args;
    return ASSAY_OK;
}

static assay_status file_component(const json_value *v, const char *shown, arena *a,
                                   pipeline_part *part, assay_error *err)
{
    str role = STR("other");
    double calls = 1;
    if (v->kind != JSON_OBJECT)
        return wrong(shown, "components[]", "an object", err);
    TRY(file_word(v, shown, "model", &part->model, err));
    TRY(file_word(v, shown, "name", &part->name, err));
    TRY(file_word(v, shown, "role", &role, err));
    TRY(file_number(v, shown, "calls", &calls, err));
    TRY(file_role(role, shown, &part->role, err));
    if (!part->model.n)
        return wrong(shown, "components[].model", "a built-in name", err);
    if (!part->name.n)
        part->name = part->role == ROLE_DENOISER ? STR("transformer")
                                                 : str_of(pipeline_role_name(part->role));
    part->calls = (int64_t)calls;
    part->row = zoo_find(part->model);
    if (!part->row)
        part->problem = str_printf(a, "'" STR_FMT "' is not built in.", STR_ARG(part->model));
    return file_set(json_get(v, "set"), shown, a, part, err);
}

static assay_status file_defaults(const json_value *root, const char *shown, pipeline_plan *plan,
                                  assay_error *err)
{
    double height = (double)plan->height, width = (double)plan->width, steps = (double)plan->steps;
    double tokens = (double)plan->prompt_tokens, scale = (double)plan->vae_scale;
    const json_value *distilled = json_get(root, "guidance_distilled");
    TRY(file_number(root, shown, "height", &height, err));
    width = json_get(root, "height") ? height : width;
    TRY(file_number(root, shown, "width", &width, err));
    TRY(file_number(root, shown, "num_inference_steps", &steps, err));
    TRY(file_number(root, shown, "guidance_scale", &plan->guidance, err));
    TRY(file_number(root, shown, "prompt_tokens", &tokens, err));
    TRY(file_number(root, shown, "vae_scale", &scale, err));
    TRY(file_word(root, shown, "title", &plan->title, err));
    if (distilled && distilled->kind != JSON_BOOL)
        return wrong(shown, "guidance_distilled", "true or false", err);
    if (distilled)
        plan->distilled = distilled->i != 0;
    if (scale < 1)
        return wrong(shown, "vae_scale", "at least 1", err);
    plan->height = (int64_t)height;
    plan->width = (int64_t)width;
    plan->steps = (int64_t)steps;
    plan->prompt_tokens = (int64_t)tokens;
    plan->vae_scale = (int64_t)scale;
    return ASSAY_OK;
}

static assay_status read_file(assay_pipeline *p, const char *path, assay_error *err)
{
    pipeline_part parts[PIPELINE_COMPONENTS] = {0};
    char shown[FILE_SHOWN];
    json_value root;
    str name = str_copy(p->arena, str_of(path));
    TRY(json_tree_read(path, p->arena, &root, err));
    file_shown(path, shown);
    const json_value *list = json_get(&root, "components");
    if (!list || list->kind != JSON_LIST || list->n + 1 > PIPELINE_COMPONENTS)
        return wrong(shown, "components", "a list of at most eleven objects", err);
    for (uint32_t i = 0; i < list->n; i++)
        TRY(file_component(&list->items[i], shown, p->arena, &parts[i], err));
    TRY(file_word(&root, shown, "name", &name, err));
    TRY(pipeline_of_parts(name, parts, list->n, &p->plan, err));
    return file_defaults(&root, shown, &p->plan, err);
}

/* ---- what a word means ---- */

static assay_status no_such_pipeline(const char *word, assay_error *err)
{
    char shown[FILE_SHOWN];
    sbuf names = {0};
    for (uint32_t i = 0; i < pipeline_count(); i++)
        sbuf_printf(&names, "%s%s", i ? ", " : "", pipeline_name_at(i));
    assay_status s = err_fail(
        err, ASSAY_ERR_USAGE,
        "'%s' is neither a pipeline (%s), nor a language model of `assay models "
        "language`, nor a folder.",
        file_shown(word, shown), sbuf_cstr(&names));
    sbuf_free(&names);
    return s;
}

/* `stored` may be NULL: then weights weigh what the number type says. */
static assay_status take_language(assay_pipeline *p, const char *word, const zoo_row *row,
                                  const zoo_args *args, const weight_set *stored)
{
    p->is_language = true;
    p->asked.model = str_copy(p->arena, str_of(word));
    p->asked.row = row;
    p->asked.args = args;
    if (stored && stored->size_bytes) {
        p->asked.stored_bytes = stored->size_bytes;
        p->asked.stored_type = str_copy(p->arena, weights_type(stored)).p;
    }
    return ASSAY_OK;
}

static assay_status take_folder(assay_pipeline *p, const char *path, const hf_folder *f,
                                assay_error *err)
{
    if (f->pipeline.n)
        return read_folder(p, path, f, err);
    if (!f->config.row)
        return hf_config_refuse(path, f->kind, err);
    return take_language(p, path, f->config.row, &f->config.args, f->weights);
}

static assay_status open_gguf(assay_pipeline *p, const char *path, assay_error *err)
{
    char shown[FILE_SHOWN];
    gguf_file g;
    model_config *c = ARENA_NEW(p->arena, model_config);
    if (!c)
        return err_no_memory(err);
    TRY(gguf_read(path, p->arena, &g, err));
    TRY(gguf_configure(&g, file_shown(path, shown), p->arena, c, err));
    if (!c->row)
        return hf_config_refuse(file_shown(path, shown), g.architecture, err);
    return take_language(p, path, c->row, &c->args, g.weights);
}

static assay_status open_path(assay_pipeline *p, const char *path, assay_error *err)
{
    hf_folder *f = ARENA_NEW(p->arena, hf_folder);
    model_config *c = ARENA_NEW(p->arena, model_config);
    const format_row *kind = file_stat(path).is_dir ? NULL : format_of_file(path);
    if (!f || !c)
        return err_no_memory(err);
    if (kind && kind->reader == FORMAT_GGUF)
        return open_gguf(p, path, err);
    if (kind && kind->reader == FORMAT_SAFETENSORS) {
        TRY(hf_folder_of(path, p->arena, f, err));
        return take_folder(p, path, f, err);
    }
    if (!file_stat(path).is_dir) {
        TRY(model_config_read(path, p->arena, c, err));
        return take_language(p, path, c->row, &c->args, NULL);
    }
    TRY(hf_folder_read(path, p->arena, f, err));
    return take_folder(p, path, f, err);
}

static assay_status open_word(assay_pipeline *p, const char *word, const assay_options *o,
                              assay_error *err)
{
    if (o->pipeline.file.n)
        return read_file(p, o->pipeline.file.p, err);
    if (!word || !*word)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "A pipeline needs a name, a folder or --pipeline-file.");
    if (!strchr(word, '/') && pipeline_find(str_of(word), &p->plan))
        return ASSAY_OK;
    const zoo_row *row = strchr(word, '/') ? NULL : zoo_find(str_of(word));
    if (row)
        return take_language(p, word, row, NULL, NULL);
    if (file_stat(word).exists)
        return open_path(p, word, err);
    if (strchr(word, '/') && pipeline_find(str_of(word), &p->plan))
        return ASSAY_OK; /* the whole name of a repository; a folder of that name would come first */
    if (strchr(word, '/'))
        return err_fail(err, ASSAY_ERR_SYSTEM, "'%s' does not exist.", word);
    return no_such_pipeline(word, err);
}

/* ---- running ---- */

static assay_status run_diffusion(assay_pipeline *p, const assay_options *o, assay_error *err)
{
    TRY(option_refuse_topic(o, &options_language, "an image pipeline", err));
    if (o->model.set.list.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--set is for language models; a pipeline of one's own sets parameters in "
                        "its --pipeline-file.");
    if (o->hardware.names.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--hardware is for language models; `assay map` places a component of a "
                        "pipeline on devices.");
    const pipeline_settings s = {.height = o->pipeline.height,
                                 .width = o->pipeline.width,
                                 .steps = o->pipeline.steps,
                                 .prompt_tokens = o->pipeline.prompt_tokens,
                                 .batch = o->model.batch,
                                 .guidance = o->pipeline.guidance,
                                 .strength = o->pipeline.strength,
                                 .memory_limit = JOB_ANALYSIS_BYTES};
    TRY(pipeline_run(&p->plan, &s, p->arena, &p->diffusion, err));
    for (uint32_t i = 0; i < o->pipeline.sweeps.n; i++)
        TRY(pipeline_sweep_over(&p->plan, &s, o->pipeline.sweeps.items[i], p->arena, &p->diffusion,
                                err));
    return ASSAY_OK;
}

/* --set over what the configuration says. */
static assay_status take_set(assay_pipeline *p, const assay_options *o, assay_error *err)
{
    if (!o->model.set.list.n)
        return ASSAY_OK;
    zoo_args *both = ARENA_NEW(p->arena, zoo_args);
    if (!both)
        return err_no_memory(err);
    zoo_args_init(both, p->arena);
    if (!zoo_args_add(both, p->asked.args) || !zoo_args_add(both, &o->model.set))
        return err_no_memory(err);
    p->asked.args = both;
    return ASSAY_OK;
}

static assay_status run_language(assay_pipeline *p, const assay_options *o, assay_error *err)
{
    TRY(option_refuse_topic(o, &options_diffusion, "a language model", err));
    TRY(take_set(p, o, err));
    p->asked.prompt_tokens = o->pipeline.prompt_tokens;
    p->asked.generate = o->pipeline.generate;
    p->asked.batch = o->model.batch;
    p->asked.weights = o->model.precision;
    p->asked.cache = o->pipeline.cache_dtype;
    p->asked.memory = o->measure.memory_limit;
    p->asked.memory_limit = JOB_ANALYSIS_BYTES;
    if (o->model.precision != IR_UNDEFINED)
        p->asked.stored_bytes = 0;
    TRY(language_run(&p->asked, p->arena, &p->language, err));
    return o->hardware.names.n ? language_on_devices(o->hardware.names, p->arena, &p->language, err)
                               : ASSAY_OK;
}

void assay_pipeline_free(assay_pipeline *pipeline)
{
    if (!pipeline)
        return;
    arena_free(pipeline->arena);
    free(pipeline);
}

/* What it is is looked up, but not built; a word that nobody knows must not keep a generation from going on. */
static void switch_off(assay_pipeline *p, const char *model, const assay_options *o)
{
    assay_error ignored;
    err_clear(&ignored);
    bool known = open_word(p, model, o, &ignored) == ASSAY_OK;
    p->diffusion = (pipeline_result){.model = str_copy(p->arena, str_of(model ? model : "")),
                                     .off_kind = !known           ? NULL
                                                 : p->is_language ? "language"
                                                                  : "diffusion"};
    p->is_language = false;
}

assay_status assay_pipeline_run(const char *model, const assay_options *options,
                                assay_pipeline **out, assay_error *err)
{
    const assay_options none = api_default_options();
    const assay_options *o = options ? options : &none;
    err_clear(err);
    *out = NULL;
    assay_pipeline *p = calloc(1, sizeof *p);
    if (!p || !(p->arena = arena_new(JOB_MODEL_BYTES))) {
        assay_pipeline_free(p);
        return err_no_memory(err);
    }
    assay_status s = ASSAY_OK;
    if (o->pipeline.no_profiling)
        switch_off(p, model, o);
    else
        s = open_word(p, model, o, err);
    if (s == ASSAY_OK && !o->pipeline.no_profiling)
        s = p->is_language ? run_language(p, o, err) : run_diffusion(p, o, err);
    if (s != ASSAY_OK) {
        assay_pipeline_free(p);
        return s;
    }
    *out = p;
    return ASSAY_OK;
}

assay_status assay_pipeline_measure(assay_pipeline *pipeline, const assay_options *options,
                                    const assay_hooks *hooks, assay_error *err)
{
    assay_options none;
    return job_pipeline_measure(pipeline, api_options(options, &none), hooks, err);
}

/* ---- walking ---- */

static const char *text_of(arena *a, str s)
{
    str copy = str_copy(a, s);
    return copy.p ? copy.p : "";
}

void assay_pipeline_totals(const assay_pipeline *pipeline, assay_pipeline_info *out)
{
    const pipeline_result *d = &pipeline->diffusion;
    const language_result *l = &pipeline->language;
    assay_pipeline_info info = {
        .kind = pipeline->is_language ? "language"
                : d->enabled          ? "diffusion"
                : d->off_kind         ? d->off_kind
                                      : "",
        .model = text_of(pipeline->arena, pipeline->is_language ? l->model : d->model)};
    info.time_to_first_token_s = info.time_per_token_s = info.tokens_per_s = -1;
    if (pipeline->is_language) {
        info.n_devices = l->n_devices;
        if (l->measured.done) {
            info.time_to_first_token_s = l->measured.prefill_ms / 1e3;
            info.time_per_token_s = (l->measured.first_step_ms + l->measured.last_step_ms) / 2e3;
            info.tokens_per_s = l->measured.tokens_per_s;
        }
        info.inference_time_s = l->measured.done ? l->measured.total_s : -1;
        info.enabled = true;
        info.parameters = l->parameters;
        info.active_parameters = l->active_parameters;
        info.prefill_macs = l->prefill.macs;
        info.decode_macs = l->decode_macs;
        info.cache_bytes_per_token = l->cache_bytes_per_token;
        info.cache_bytes = l->cache_bytes;
        info.serve_bytes = l->serve_bytes;
        info.total_macs = l->prefill.macs + l->decode_macs;
        info.total_flops = l->prefill.flops + l->decode_flops;
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
        info.inference_time_s = d->enabled ? d->inference_time_s : -1;
    }
    HAND_OUT(out, info);
}

bool assay_pipeline_component(const assay_pipeline *pipeline, size_t index, assay_component *out)
{
    if (index >= pipeline->diffusion.n_components)
        return false;
    const pipeline_component *c = &pipeline->diffusion.components[index];
    assay_component info = {
        .name = text_of(pipeline->arena, c->name),
        .role = pipeline_role_name(c->role),
        .model = text_of(pipeline->arena, c->model),
        .error = text_of(pipeline->arena, c->error),
        .parameters = c->parameters,
        .macs = c->macs,
        .flops = c->flops,
        .calls = c->calls,
        .total_macs = c->total_macs,
        .total_flops = c->total_flops,
        .percent = c->percent,
        .time_ms = c->time_ms,
        .attention_qk_macs = c->self.qk_macs + c->cross.qk_macs,
        .attention_av_macs = c->self.av_macs + c->cross.av_macs,
        .attention_softmax_elements = c->self.softmax_elements + c->cross.softmax_elements,
        .attention_projection_macs = c->self.projection_macs + c->cross.projection_macs};
    HAND_OUT(out, info);
    return true;
}

bool assay_pipeline_on(const assay_pipeline *pipeline, size_t index, assay_pipeline_place *out)
{
    if (!pipeline->is_language || index >= pipeline->language.n_devices)
        return false;
    const language_device *d = &pipeline->language.devices[index];
    assay_pipeline_place place = {.device = text_of(pipeline->arena, d->id),
                                  .title = text_of(pipeline->arena, d->name),
                                  .precision = d->precision,
                                  .time_to_first_token_s = d->first_token_s,
                                  .time_per_token_s = d->average_s,
                                  .total_s = d->total_s,
                                  .tokens_per_s = d->tokens_per_s,
                                  .memory_bytes = d->memory_bytes,
                                  .fits = d->fits,
                                  .largest_context = d->largest_context,
                                  .largest_batch = d->largest_batch,
                                  .prefill_bound = d->prefill_bound,
                                  .decode_bound = d->decode_bound};
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
    assay_pipeline *p;
    *out = (assay_pipeline_info){.size = sizeof *out};
    TRY(assay_pipeline_run(model, o, &p, err));
    assay_pipeline_totals(p, out);
    assay_pipeline_free(p);
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

/* ---- reports ---- */

typedef struct written { /* pipelines, and what the record of a run says */
    const assay_pipeline *const *list;
    uint32_t n;
    str prompt;
} written;

static assay_status write_all(const void *of, str format, const report_options *screen, sbuf *text,
                              assay_error *err)
{
    const written *all = of;
    const pipeline_result *images[PIPELINES_MAX];
    const language_result *texts[PIPELINES_MAX];
    char now[32];
    for (uint32_t i = 0; i < all->n; i++) {
        images[i] = &all->list[i]->diffusion;
        texts[i] = &all->list[i]->language;
        if (all->list[i]->is_language != all->list[0]->is_language)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "Image pipelines and language models cannot stand side by side.");
    }
    if (all->list[0]->is_language)
        return report_languages(texts, all->n, format, screen, text, err);
    clock_timestamp(now);
    const report_run run = {.timestamp = str_of(now), .prompt = all->prompt};
    return report_pipelines(images, all->n, format, &run, screen, text, err);
}

assay_status assay_pipeline_report(const assay_pipeline *const *pipelines, size_t n_pipelines,
                                   const char *format, const assay_options *options, char **out,
                                   size_t *n, assay_error *err)
{
    const written all = {.list = pipelines,
                         .n = (uint32_t)n_pipelines,
                         .prompt = options ? options->pipeline.prompt : (str){0}};
    const api_document d = {.of = &all, .write = write_all};
    err_clear(err);
    *out = NULL;
    *n = 0;
    if (n_pipelines < 1 || n_pipelines > PIPELINES_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "From 1 to %d pipelines can be written.",
                        PIPELINES_MAX);
    return api_document_report(&d, format, options, out, n, err);
}
