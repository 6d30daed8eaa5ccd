/* Pipelines: a name, a directory or a file becomes a plan, and the plan a result. Unknown components of a directory
 * are warnings of the result, not failures. */
#include "jobs/pipeline.h"

#include "base/file.h"
#include "base/near.h"
#include "base/sbuf.h"
#include "device/serving.h"
#include "formats/format.h"
#include "formats/gguf.h"
#include "formats/hf_config.h"
#include "formats/hf_folder.h"

enum { SUGGESTIONS = 4 };

/* ---- components from a directory ---- */

static void take_config(const hf_component *c, arena *a, pipeline_part *part)
{
    hf_folder f;
    assay_error err;
    err_clear(&err);
    assay_status s = hf_folder_read(c->path.p, a, &f, &err);
    part->problem = s == ASSAY_OK ? STR("unknown architecture") : str_copy(a, str_of(err.message));
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

static assay_status read_folder(job_pipeline *p, const char *path, const hf_folder *f,
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
            return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: more than %d components", path,
                            PIPELINE_COMPONENTS);
        parts[n] = (pipeline_part){.name = c->name,
                                   .role = ROLE_OTHER,
                                   .model = c->class_name.n ? c->class_name : c->name};
        take_config(c, p->arena, &parts[n++]);
    }
    return pipeline_of_parts(str_copy(p->arena, str_of(path)), parts, n, &p->plan, err);
}

/* ---- what a word means ---- */

static const char *pipeline_name_of(uint32_t i, const void *ctx)
{
    (void)ctx;
    return i < pipeline_count() ? pipeline_name_at(i) : NULL;
}

/* Pipelines and language models that the word may be a slip of; else the pipelines there are. */
static void put_near_pipelines(sbuf *out, const char *word)
{
    const char *near[SUGGESTIONS];
    uint32_t n = near_names(str_of(word), pipeline_name_of, NULL, near, SUGGESTIONS);
    n += zoo_suggest(str_of(word), "language", near + n, SUGGESTIONS - n);
    near_put(out, near, n);
    sbuf_puts(out, n ? "" : " The pipelines are: ");
    for (uint32_t i = 0; !n && i < pipeline_count(); i++)
        sbuf_printf(out, "%s%s", i ? ", " : "", pipeline_name_at(i));
    sbuf_puts(out, n ? "" : ". List the language models with `assay models language`.");
}

static assay_status no_such_pipeline(const char *word, assay_error *err)
{
    char shown[FILE_SHOWN];
    sbuf hint = {0};
    put_near_pipelines(&hint, word);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "'%s' is not a pipeline, a language model or a folder.%s",
                              file_shown(word, shown), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

/* `stored` may be NULL: then weights weigh what the number type says. */
static assay_status take_language(job_pipeline *p, const char *word, const zoo_row *row,
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

static assay_status take_folder(job_pipeline *p, const char *path, const hf_folder *f,
                                assay_error *err)
{
    if (f->pipeline.n)
        return read_folder(p, path, f, err);
    if (!f->config.row)
        return hf_config_refuse(path, f->kind, err);
    return take_language(p, path, f->config.row, &f->config.args, f->weights);
}

static assay_status open_gguf(job_pipeline *p, const char *path, assay_error *err)
{
    gguf_file g;
    model_config *c = ARENA_NEW(p->arena, model_config);
    TRY_MEMORY(c, err);
    TRY(gguf_read(path, p->arena, &g, err));
    TRY(gguf_configure(&g, FILE_NAME(path), p->arena, c, err));
    if (!c->row)
        return hf_config_refuse(FILE_NAME(path), g.architecture, err);
    return take_language(p, path, c->row, &c->args, g.weights);
}

static assay_status open_path(job_pipeline *p, const char *path, assay_error *err)
{
    hf_folder *f = ARENA_NEW(p->arena, hf_folder);
    model_config *c = ARENA_NEW(p->arena, model_config);
    const format_row *kind = NULL;
    TRY_MEMORY(f && c, err);
    if (!file_stat(path).is_dir)
        TRY(format_of_file(path, &kind, err));
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

assay_status job_pipeline_open(job_pipeline *p, const char *word, const assay_options *o,
                               assay_error *err)
{
    if (o->pipeline.file.n)
        return pipeline_read_file(o->pipeline.file.p, p->arena, &p->plan, err);
    if (!word || !*word)
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "pipeline needs a name such as sdxl or llama-3.2-1b, a folder, or --pipeline-file FILE");
    if (!strchr(word, '/') && pipeline_find(str_of(word), &p->plan))
        return ASSAY_OK;
    const zoo_row *row = strchr(word, '/') ? NULL : zoo_find(str_of(word));
    if (row)
        return take_language(p, word, row, NULL, NULL);
    if (file_stat(word).exists)
        return open_path(p, word, err);
    if (strchr(word, '/') && pipeline_find(str_of(word), &p->plan))
        return ASSAY_OK; /* the whole name of a repository; a directory of that name would come first */
    if (strchr(word, '/'))
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s: no such file or folder", word);
    return no_such_pipeline(word, err);
}

/* ---- running ---- */

assay_status job_pipeline_diffusion(job_pipeline *p, const assay_options *o, assay_error *err)
{
    if (o->model.set.list.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--set works with language models only. Set the parameters of a pipeline "
                        "in its --pipeline-file.");
    if (o->hardware.names.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--hardware works with language models only. Use `assay map` to map a "
                        "component of a pipeline.");
    if (o->load.slo.n)
        return err_fail(err, ASSAY_ERR_USAGE, "--slo works with language models only");
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
static assay_status take_set(job_pipeline *p, const assay_options *o, assay_error *err)
{
    if (!o->model.set.list.n)
        return ASSAY_OK;
    zoo_args *both = ARENA_NEW(p->arena, zoo_args);
    TRY_MEMORY(both, err);
    zoo_args_init(both, p->arena);
    TRY_MEMORY(zoo_args_add(both, p->asked.args) && zoo_args_add(both, &o->model.set), err);
    p->asked.args = both;
    return ASSAY_OK;
}

static assay_status take_objectives(const assay_options *o, language_slo *out, assay_error *err)
{
    *out = (language_slo){.present = o->load.slo.n > 0, .text = o->load.slo_text};
    if (out->present && !o->hardware.names.n)
        return err_fail(err, ASSAY_ERR_USAGE, "--slo needs --hardware: the devices that serve");
    for (uint32_t i = 0; i < o->load.slo.n; i++)
        out->limits[out->n_limits++] = (language_limit){
            .metric = load_metric_words[o->load.slo.items[i].metric],
            .percentile = o->load.slo.items[i].quantile * 100,
            .limit_ms = o->load.slo.items[i].limit_ms};
    return ASSAY_OK;
}

/* Sweeps, devices and users. */
static assay_status place_language(job_pipeline *p, const assay_options *o, assay_error *err)
{
    language_users_asked users = {.most = p->most_users};
    language_sweep_asked sweep = {.hardware = o->hardware.names, .settings = &p->asked};
    TRY(take_objectives(o, &users.slo, err));
    for (uint32_t i = 0; i < o->pipeline.sweeps.n; i++) {
        sweep.what = o->pipeline.sweeps.items[i];
        TRY(language_sweep_over(&sweep, &users, p->arena, &p->language, err));
    }
    users.slo.text = str_copy(p->arena, users.slo.text);
    return o->hardware.names.n ? language_on_devices(o->hardware.names, &p->asked, &users, p->arena,
                                                     &p->language, err)
                               : ASSAY_OK;
}

assay_status job_pipeline_language(job_pipeline *p, const assay_options *o, assay_error *err)
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
    p->asked.serving = ARENA_NEW(p->arena, serving_model);
    TRY_MEMORY(p->asked.serving, err);
    TRY(language_run(&p->asked, p->arena, &p->language, err));
    return place_language(p, o, err);
}
