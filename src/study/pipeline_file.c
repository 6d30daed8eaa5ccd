/* A custom pipeline, described by a JSON file (--pipeline-file). */
#include "base/file.h"
#include "base/json_tree.h"
#include "study/pipeline.h"

static assay_status fail_key(const char *shown, const char *key, const char *must, assay_error *err)
{
    return err_fail_node(err, ASSAY_ERR_MALFORMED, key, "%s: %s must be %s", shown, key, must);
}

static assay_status file_number(const json_value *root, const char *shown, const char *key,
                                double *out, assay_error *err)
{
    const json_value *v = json_get(root, key);
    if (v && !json_is_number(v))
        return fail_key(shown, key, "a number", err);
    if (v && !(v->f >= 0 && v->f < 1e9))
        return fail_key(shown, key, "0 to 1e9", err);
    if (v)
        *out = v->f;
    return ASSAY_OK;
}

static assay_status file_word(const json_value *root, const char *shown, const char *key, str *out,
                              assay_error *err)
{
    const json_value *v = json_get(root, key);
    if (v && v->kind != JSON_TEXT)
        return fail_key(shown, key, "a text", err);
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
    return fail_key(shown, "components[].role",
                    "text_encoder, vae_encoder, denoiser, vae_decoder or other", err);
}

static assay_status file_set(const json_value *v, const char *shown, arena *a, pipeline_part *part,
                             assay_error *err)
{
    if (!v)
        return ASSAY_OK;
    if (v->kind != JSON_OBJECT)
        return fail_key(shown, "components[].set", "an object", err);
    zoo_args *args = ARENA_NEW(a, zoo_args);
    TRY_MEMORY(args, err);
    zoo_args_init(args, a);
    for (uint32_t i = 0; i < v->n; i++)
        TRY_MEMORY(zoo_args_put(args, v->items[i].key, v->items[i], false), err);
    part->args = args;
    return ASSAY_OK;
}

static assay_status file_component(const json_value *v, const char *shown, arena *a,
                                   pipeline_part *part, assay_error *err)
{
    str role = STR("other");
    double calls = 1;
    if (v->kind != JSON_OBJECT)
        return fail_key(shown, "components[]", "an object", err);
    TRY(file_word(v, shown, "model", &part->model, err));
    TRY(file_word(v, shown, "name", &part->name, err));
    TRY(file_word(v, shown, "role", &role, err));
    TRY(file_number(v, shown, "calls", &calls, err));
    TRY(file_role(role, shown, &part->role, err));
    if (!part->model.n)
        return fail_key(shown, "components[].model", "a built-in name", err);
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
        return fail_key(shown, "guidance_distilled", "true or false", err);
    if (distilled)
        plan->distilled = distilled->i != 0;
    if (scale < 1)
        return fail_key(shown, "vae_scale", "at least 1", err);
    plan->height = (int64_t)height;
    plan->width = (int64_t)width;
    plan->steps = (int64_t)steps;
    plan->prompt_tokens = (int64_t)tokens;
    plan->vae_scale = (int64_t)scale;
    return ASSAY_OK;
}

assay_status pipeline_read_file(const char *path, arena *a, pipeline_plan *out, assay_error *err)
{
    pipeline_part parts[PIPELINE_COMPONENTS] = {0};
    char shown[FILE_SHOWN];
    json_value root;
    str name = str_copy(a, str_of(path));
    TRY(json_tree_read(path, a, &root, err));
    file_shown(path, shown);
    const json_value *list = json_get(&root, "components");
    if (!list || list->kind != JSON_LIST || list->n + 1 > PIPELINE_COMPONENTS)
        return fail_key(shown, "components", "a list of at most 11 objects", err);
    for (uint32_t i = 0; i < list->n; i++)
        TRY(file_component(&list->items[i], shown, a, &parts[i], err));
    TRY(file_word(&root, shown, "name", &name, err));
    TRY(pipeline_of_parts(name, parts, list->n, out, err));
    return file_defaults(&root, shown, out, err);
}
