/* A pipeline: a name, a folder or a file becomes a plan, and running that a result. What a folder holds that we do
 * not know is a warning of the result, never a failure of the caller. */
#include "jobs/pipeline.h"

#include "base/file.h"
#include "base/json_tree.h"
#include "base/sbuf.h"
#include "formats/format.h"
#include "formats/gguf.h"
#include "formats/hf_config.h"
#include "formats/hf_folder.h"

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
        if (str_is(word, pipeline_role_words[r])) {
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
                                                 : str_of(pipeline_role_words[part->role]);
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

assay_status job_pipeline_open(assay_pipeline *p, const char *word, const assay_options *o,
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

assay_status job_pipeline_diffusion(assay_pipeline *p, const assay_options *o, assay_error *err)
{
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

assay_status job_pipeline_language(assay_pipeline *p, const assay_options *o, assay_error *err)
{
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
