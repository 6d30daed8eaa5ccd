#include "formats/stored.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/sbuf.h"
#include "formats/gguf.h"
#include "formats/hf_config.h"
#include "formats/hf_folder.h"
#include "formats/safetensors.h"
#include "formats/torch/torch.h"

/* ---- what becomes of them ---- */

static assay_status take_inventory(stored_model *m, const weight_set *w, str kind, assay_error *err)
{
    TRY(weights_inventory(w, m->memory_limit, &m->ir, err));
    m->ir->name = m->name;
    if (kind.n)
        notes_add(
            &m->ir->notes, "no-graph", (str){0},
            "For FLOPs and memory, export the model: optimum-cli export onnx --model FOLDER "
            "out/",
            "Architecture '" STR_FMT
            "' is not built in. The weights are listed, but FLOPs and memory are not computed.",
            STR_ARG(kind));
    else
        notes_add(&m->ir->notes, "no-graph", (str){0},
                  "Put the model's config.json next to it, or pass the model's folder.",
                  "A weights file does not describe the architecture. The weights are listed, but "
                  "FLOPs and memory are not computed.");
    notes_join(&m->ir->notes, &m->said);
    return ASSAY_OK;
}

static void take_config(stored_model *m, const model_config *c, str config_file, weight_set *w)
{
    m->row = c->row;
    m->config = c->args;
    m->config_file = config_file;
    m->weights = w;
}

/* ---- directories ---- */

static void describe_pipeline(stored_model *m, const hf_folder *f, const hf_component *shown)
{
    sbuf list = {0};
    for (uint32_t i = 0; i < f->components.n; i++) {
        const hf_component *c = &f->components.items[i];
        if (c->is_model)
            sbuf_printf(&list, "%s" STR_FMT " (" STR_FMT ")", list.n ? ", " : "", STR_ARG(c->name),
                        STR_ARG(c->class_name));
    }
    notes_add(&m->said, "pipeline-component", shown->name,
              "Pass the folder of another component to profile it, or use `assay pipeline` for all "
              "components.",
              "This is a pipeline (" STR_FMT ") of %s. The figures are for one pass of " STR_FMT
              ".",
              STR_ARG(f->pipeline), sbuf_cstr(&list), STR_ARG(shown->name));
    sbuf_free(&list);
}

static assay_status take_folder(stored_model *m, const hf_folder *f, const char *path,
                                assay_error *err)
{
    char shown[FILE_SHOWN];
    notes_join(&m->said, &f->notes);
    if (f->config.row) {
        take_config(m, &f->config, f->config_path, f->weights);
        return ASSAY_OK;
    }
    if (f->weights)
        return take_inventory(m, f->weights, f->kind, err);
    if (f->kind.n)
        return hf_config_refuse(file_shown(f->config_path.p, shown), f->kind, err);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: no config.json and no supported weights",
                    file_shown(path, shown));
}

static assay_status take_pipeline(stored_model *m, const hf_folder *f, const char *path,
                                  assay_error *err)
{
    char shown[FILE_SHOWN];
    const hf_component *c = hf_folder_denoiser(f);
    hf_folder inner;
    if (!c)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "%s: no component has a folder with a config.json",
                        file_shown(path, shown));
    describe_pipeline(m, f, c);
    TRY(hf_folder_read(c->path.p, m->arena, &inner, err));
    return take_folder(m, &inner, c->path.p, err);
}

static assay_status load_folder(stored_model *m, const char *path, assay_error *err)
{
    hf_folder f;
    TRY(hf_folder_read(m->name.p, m->arena, &f, err));
    return f.pipeline.n ? take_pipeline(m, &f, path, err) : take_folder(m, &f, path, err);
}

/* ---- single files ---- */

/* A config.json beside it describes it, unless the file is one of several in the directory. */
static assay_status load_safetensors(stored_model *m, const char *path, assay_error *err)
{
    hf_folder f = {0};
    weight_set *w = NULL;
    bool index = str_ends(str_of(path), ".json");
    if (file_stat(path).is_regular)
        TRY(hf_folder_of(path, m->arena, &f, err));
    if (f.weights)
        return take_folder(m, &f, path, err);
    TRY(index ? weights_read_index(&safetensors_reader, path, m->arena, &w, err)
              : weights_read_file(&safetensors_reader, path, m->arena, &w, err));
    return take_inventory(m, w, (str){0}, err);
}

static assay_status load_gguf(stored_model *m, const char *path, assay_error *err)
{
    gguf_file g;
    model_config c;
    TRY(gguf_read(path, m->arena, &g, err));
    TRY(gguf_configure(&g, FILE_NAME(path), m->arena, &c, err));
    if (!c.row)
        return take_inventory(m, g.weights, g.architecture, err);
    take_config(m, &c, str_copy(m->arena, str_of(path)), g.weights);
    return m->config_file.p ? ASSAY_OK : err_no_memory(err);
}

/* pytorch_model.bin beside its config.json is a folder's; any other file is read by itself. */
static assay_status load_torch(stored_model *m, const char *path, assay_error *err)
{
    hf_folder f = {0};
    weight_set *w = NULL;
    if (str_ends(str_of(path), ".bin"))
        TRY(hf_folder_of(path, m->arena, &f, err));
    if (f.weights)
        return take_folder(m, &f, path, err);
    TRY(weights_read_file(&torch_reader, path, m->arena, &w, err));
    return take_inventory(m, w, (str){0}, err);
}

/* ---- opening ---- */

typedef assay_status load_fn(stored_model *m, const char *path, assay_error *err);

static load_fn *loader_of(const format_row *f, bool folder)
{
    static load_fn *const loaders[FORMAT_READERS] = {
        [FORMAT_SAFETENSORS] = load_safetensors,
        [FORMAT_GGUF] = load_gguf,
        [FORMAT_TORCH] = load_torch,
    };
    return folder ? load_folder : f ? loaders[f->reader] : NULL;
}

bool stored_reads(const format_row *f, bool folder)
{
    return loader_of(f, folder) != NULL;
}

assay_status stored_read(const format_row *f, const char *path, stored_model *m, assay_error *err)
{
    TRY(loader_of(f, file_stat(path).is_dir)(m, path, err));
    return arena_failed(m->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* "FOLDER/name" exists. */
static bool folder_holds(const char *folder, const char *name)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && file_stat(path).exists;
}

assay_status stored_refuse_folder(const char *path, assay_error *err)
{
    char shown[FILE_SHOWN];
    file_shown(path, shown);
    for (size_t n = strlen(shown); n > 1 && shown[n - 1] == '/'; n--)
        shown[n - 1] = '\0';
    if (folder_holds(path, "model.onnx"))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "%s: is a folder. Did you mean '%s/model.onnx'?", shown, shown);
    if (folder_holds(path, "saved_model.pb"))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "%s: unsupported format: a TensorFlow saved model. Export it with: python "
                        "-m tf2onnx.convert --saved-model '%s' --output model.onnx",
                        shown, shown);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "%s: is a folder without a config.json. Name an .onnx file in it.", shown);
}

bool stored_is_folder(const char *path)
{
    return hf_folder_is(path) &&
           (!folder_holds(path, "model.onnx") || folder_holds(path, "model.safetensors"));
}
