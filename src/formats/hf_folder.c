/* Directories of transformers and diffusers; see hf_folder.h. */
#include "formats/hf_folder.h"

#include "base/file.h"
#include "base/json_tree.h"
#include "base/sbuf.h"
#include "formats/hf_config.h"
#include "formats/safetensors.h"
#include "formats/torch/torch.h"

enum { COMPONENTS_MAX = 64 };

/* In the order they are preferred in; of files that match none the first is taken. */
static const char *const preferred[] = {
    "model.safetensors.index.json",
    "diffusion_pytorch_model.safetensors.index.json",
    "model.safetensors",
    "diffusion_pytorch_model.safetensors",
    "adapter_model.safetensors",
};
/* Where there is no such file. */
static const char *const pickles[] = {
    "pytorch_model.bin.index.json", "pytorch_model.bin",
    "diffusion_pytorch_model.bin",  "adapter_model.bin",
    "consolidated.00.pth",          "model.ckpt",
};
static const char *const not_read[] = {"tf_model.h5", "flax_model.msgpack"};

typedef struct reading {
    const char *path;
    arena *arena;
    hf_folder *out;
    const str *names;
    uint32_t n_names;
    assay_error *err;
} reading;

static const char *path_inside(const reading *r, str name)
{
    return arena_printf(r->arena, "%s/" STR_FMT, r->path, STR_ARG(name));
}

static bool has_file(const reading *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_names; i++)
        if (str_is(r->names[i], name))
            return true;
    return false;
}

/* ---- configuration ---- */

/* A file of the folder, which somebody else may have filled. */
static assay_status read_member(reading *r, const char *path, json_value *root)
{
    TRY(file_check_regular(path, r->err));
    return json_tree_read(path, r->arena, root, r->err);
}

static assay_status read_config(reading *r)
{
    json_value root;
    const char *path = path_inside(r, STR("config.json"));
    TRY_MEMORY(path, r->err);
    TRY(read_member(r, path, &root));
    TRY(hf_config_take(&root, FILE_NAME(path), r->arena, &r->out->config, &r->out->kind, r->err));
    hf_config_place(&r->out->config, path);
    r->out->config_path = str_of(path);
    return ASSAY_OK;
}

/* ---- weights ---- */

/* "-00002-of-00007.safetensors" */
static bool is_shard(str name)
{
    static const char form[] = "-00000-of-00000.safetensors";
    size_t n = sizeof form - 1;
    if (name.n <= n)
        return false;
    const char *p = name.p + name.n - n;
    for (size_t i = 0; i < n; i++)
        if (form[i] == '0' ? p[i] < '0' || p[i] > '9' : p[i] != form[i])
            return false;
    return true;
}

static const str *choose_weights(const reading *r)
{
    const str *index = NULL, *single = NULL;
    for (size_t k = 0; k < sizeof preferred / sizeof *preferred; k++)
        for (uint32_t i = 0; i < r->n_names; i++)
            if (str_is(r->names[i], preferred[k]))
                return &r->names[i];
    for (uint32_t i = r->n_names; i-- > 0;) {
        if (str_ends(r->names[i], ".safetensors.index.json"))
            index = &r->names[i];
        else if (str_ends(r->names[i], ".safetensors"))
            single = &r->names[i];
    }
    return index ? index : single;
}

static bool is_variant(str chosen, str other)
{
    const char *dot = memchr(chosen.p, '.', chosen.n);
    uint32_t n = dot ? (uint32_t)(dot - chosen.p) : chosen.n;
    return other.n > n && memcmp(other.p, chosen.p, n) == 0;
}

static void note_others(reading *r, str chosen)
{
    for (uint32_t i = 0; i < r->n_names; i++)
        if (str_ends(r->names[i], ".safetensors") && !str_eq(r->names[i], chosen) &&
            !is_variant(chosen, r->names[i]))
            notes_add(&r->out->notes, "weights-other", r->names[i], "Pass its path to profile it.",
                      "'" STR_FMT "' is another weights file. This result uses '" STR_FMT "'.",
                      STR_ARG(r->names[i]), STR_ARG(chosen));
}

/* Shards whose index is missing are read all the same. */
static assay_status read_shards(reading *r, str first)
{
    VEC(str) list = {0};
    uint32_t stem = first.n - (uint32_t)sizeof("-00000-of-00000.safetensors") + 1;
    for (uint32_t i = 0; i < r->n_names; i++) {
        str name = r->names[i];
        if (!is_shard(name) || name.n != first.n || memcmp(name.p, first.p, stem) != 0)
            continue;
        TRY_MEMORY(VEC_ADD(r->arena, &list, name), r->err);
    }
    notes_add(&r->out->notes, "index-missing", first, NULL,
              "The set of %u files has no index. All of them were read.", list.n);
    return weights_read_files(&safetensors_reader, r->path, list.items, list.n, r->arena,
                              &r->out->weights, r->err);
}

static void note_unread(reading *r)
{
    for (size_t i = 0; i < sizeof not_read / sizeof *not_read; i++)
        if (has_file(r, not_read[i]))
            notes_add(
                &r->out->notes, "weights-not-read", str_of(not_read[i]),
                "Save them as safetensors: model.save_pretrained(folder).",
                "The weights in '%s' are not supported. The figures come from the configuration.",
                not_read[i]);
}

static assay_status read_pickle(reading *r, bool *found)
{
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++) {
        if (!has_file(r, pickles[i]))
            continue;
        const char *path = path_inside(r, str_of(pickles[i]));
        *found = true;
        TRY_MEMORY(path, r->err);
        return str_ends(str_of(path), ".json")
                   ? weights_read_index(&torch_reader, path, r->arena, &r->out->weights, r->err)
                   : weights_read_file(&torch_reader, path, r->arena, &r->out->weights, r->err);
    }
    return ASSAY_OK;
}

static assay_status read_weights(reading *r)
{
    const str *name = choose_weights(r);
    bool found = false;
    if (!name) {
        TRY(read_pickle(r, &found));
        if (!found)
            note_unread(r);
        return ASSAY_OK;
    }
    const char *path = path_inside(r, *name);
    TRY_MEMORY(path, r->err);
    if (str_ends(*name, ".index.json"))
        return weights_read_index(&safetensors_reader, path, r->arena, &r->out->weights, r->err);
    if (is_shard(*name))
        return read_shards(r, *name);
    note_others(r, *name);
    return weights_read_file(&safetensors_reader, path, r->arena, &r->out->weights, r->err);
}

/* ---- pipelines ---- */

static assay_status add_component(reading *r, str name, str class_name)
{
    hf_component *c = r->out->components.n < COMPONENTS_MAX
                          ? VEC_PUSH(r->arena, &r->out->components)
                          : NULL;
    const char *path = c ? path_inside(r, name) : NULL;
    const char *config = path ? arena_printf(r->arena, "%s/config.json", path) : NULL;
    if (!config)
        return r->out->components.n < COMPONENTS_MAX
                   ? err_no_memory(r->err)
                   : err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: more than %d components", r->path,
                              COMPONENTS_MAX);
    *c = (hf_component){.name = str_copy(r->arena, name),
                        .class_name = str_copy(r->arena, class_name),
                        .path = str_of(path),
                        .is_model = file_stat(config).is_regular};
    return c->name.p && c->class_name.p ? ASSAY_OK : err_no_memory(r->err);
}

static bool is_plain_name(str name)
{
    return name.n && !memchr(name.p, '/', name.n) && name.p[0] != '.' && !memchr(name.p, 0, name.n);
}

/* [library, class]; [null, null] is a component that is left out. */
static assay_status take_entry(reading *r, const char *shown, str key, const json_value *v)
{
    if (key.p[0] == '_' || v->kind != JSON_LIST)
        return ASSAY_OK;
    if (v->n == 2 && v->items[0].kind == JSON_NULL && v->items[1].kind == JSON_NULL)
        return ASSAY_OK;
    if (v->n != 2 || v->items[0].kind != JSON_TEXT || v->items[1].kind != JSON_TEXT ||
        !is_plain_name(key))
        return err_fail_node(r->err, ASSAY_ERR_MALFORMED, key.p, "%s: %s must be [library, class]",
                             shown, key.p);
    return add_component(r, key, v->items[1].s);
}

static assay_status read_index(reading *r)
{
    char shown[FILE_SHOWN];
    json_value root;
    const char *path = path_inside(r, STR("model_index.json"));
    TRY_MEMORY(path, r->err);
    TRY(read_member(r, path, &root));
    file_shown(path, shown);
    if (root.kind != JSON_OBJECT)
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: expected an object, found %s", shown,
                        json_kind_name(root.kind));
    const json_value *class = json_get(&root, "_class_name");
    if (class && class->kind != JSON_TEXT)
        return err_fail_node(r->err, ASSAY_ERR_MALFORMED, "_class_name",
                             "%s: _class_name must be a string", shown);
    r->out->pipeline = class ? class->s : STR("pipeline");
    for (uint32_t i = 0; i < root.n; i++)
        TRY(take_entry(r, shown, root.items[i].key, &root.items[i]));
    return ASSAY_OK;
}

static str class_in(const json_value *root)
{
    const json_value *class = json_get(root, "_class_name");
    const json_value *list = json_get(root, "architectures");
    if (class && class->kind == JSON_TEXT)
        return class->s;
    bool any = list && list->kind == JSON_LIST && list->n && list->items[0].kind == JSON_TEXT;
    return any ? list->items[0].s : STR("");
}

/* Component directories alone. */
static assay_status find_components(reading *r)
{
    for (uint32_t i = 0; i < r->n_names; i++) {
        const char *config = arena_printf(r->arena, "%s/" STR_FMT "/config.json", r->path,
                                          STR_ARG(r->names[i]));
        json_value root;
        TRY_MEMORY(config, r->err);
        if (!file_stat(config).is_regular)
            continue;
        TRY(read_member(r, config, &root));
        if (hf_config_is(&root))
            TRY(add_component(r, r->names[i], class_in(&root)));
    }
    if (r->out->components.n)
        r->out->pipeline = STR("pipeline");
    return ASSAY_OK;
}

const hf_component *hf_folder_denoiser(const hf_folder *f)
{
    static const char *const names[] = {"unet", "transformer", "prior"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (uint32_t i = 0; i < f->components.n; i++)
            if (f->components.items[i].is_model && str_is(f->components.items[i].name, names[k]))
                return &f->components.items[i];
    for (uint32_t i = 0; i < f->components.n; i++)
        if (f->components.items[i].is_model)
            return &f->components.items[i];
    return NULL;
}

/* ---- the whole ---- */

static bool file_exists(const char *folder, const char *name)
{
    sbuf path = {0};
    sbuf_printf(&path, "%s/%s", folder, name);
    bool found = file_stat(sbuf_cstr(&path)).is_regular;
    sbuf_free(&path);
    return found;
}

bool hf_folder_is(const char *path)
{
    static const char *const components[] = {"unet/config.json", "transformer/config.json",
                                             "vae/config.json", "text_encoder/config.json"};
    if (file_exists(path, "config.json") || file_exists(path, "model_index.json"))
        return true;
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++)
        if (file_exists(path, preferred[i]))
            return true;
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        if (file_exists(path, components[i]))
            return true;
    return false;
}

static assay_status init_reading(reading *r, const char *path, arena *a, hf_folder *out,
                                 assay_error *err)
{
    str *names = NULL;
    *r = (reading){.path = path, .arena = a, .out = out, .err = err};
    *out = (hf_folder){0};
    notes_init(&out->notes, a);
    zoo_args_init(&out->config.args, a);
    TRY(file_list(path, a, &names, &r->n_names, err));
    r->names = names;
    return ASSAY_OK;
}

assay_status hf_folder_read(const char *path, arena *a, hf_folder *out, assay_error *err)
{
    reading r;
    TRY(init_reading(&r, path, a, out, err));
    if (has_file(&r, "model_index.json"))
        TRY(read_index(&r));
    else if (has_file(&r, "config.json"))
        TRY(read_config(&r));
    else if (!choose_weights(&r))
        TRY(find_components(&r));
    if (!out->pipeline.n)
        TRY(read_weights(&r));
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

assay_status hf_folder_of(const char *file, arena *a, hf_folder *out, assay_error *err)
{
    const char *slash = strrchr(file, '/');
    str folder = slash == file ? STR("/")
                 : slash       ? str_copy(a, (str){file, (uint32_t)(slash - file)})
                               : STR(".");
    reading r;
    TRY_MEMORY(folder.p, err);
    TRY(init_reading(&r, folder.p, a, out, err));
    const str *chosen = choose_weights(&r);
    if (!has_file(&r, "config.json") || !chosen || is_shard(*chosen) ||
        !str_is(*chosen, slash ? slash + 1 : file))
        return ASSAY_OK;
    TRY(read_config(&r));
    return read_weights(&r);
}
