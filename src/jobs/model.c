/* Opening a model: what the word the user gave means, and the steps every model goes through. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/sbuf.h"
#include "formats/format.h"
#include "formats/onnx_read.h"
#include "ir/verify.h"
#include "jobs/job.h"
#include "rewrite/inline.h"

void job_model_free(assay_model *model)
{
    if (!model)
        return;
    ir_model_free(model->ir);
    arena_free(model->arena);
    free(model);
}

/* Takes ir. */
static assay_status finish(ir_model *ir, str name, assay_model **out, assay_error *err)
{
    assay_model *m = calloc(1, sizeof *m);
    assay_status s = m ? ASSAY_OK : err_no_memory(err);
    if (m)
        m->ir = ir;
    else
        ir_model_free(ir);
    if (s == ASSAY_OK && name.n) {
        ir->name = str_copy(ir->arena, name);
        s = ir->name.p ? ASSAY_OK : err_no_memory(err);
    }
    if (s == ASSAY_OK)
        s = ir_verify(ir, err);
    if (s == ASSAY_OK)
        s = rewrite_inline(ir, err);
    if (s != ASSAY_OK) {
        job_model_free(m);
        return s;
    }
    *out = m;
    return ASSAY_OK;
}

static bool has_slash(const char *word)
{
    return strchr(word, '/') != NULL;
}

/* "FOLDER/name" exists. */
static bool folder_holds(const char *folder, const char *name)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && file_stat(path).exists;
}

static assay_status refuse_folder(const char *path, assay_error *err)
{
    char shown[FILE_SHOWN];
    file_shown(path, shown);
    for (size_t n = strlen(shown); n > 1 && shown[n - 1] == '/'; n--)
        shown[n - 1] = '\0';
    if (folder_holds(path, "model.onnx"))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "'%s' is a folder. Did you mean '%s/model.onnx'?", shown, shown);
    if (folder_holds(path, "saved_model.pb"))
        return err_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "'%s' is a TensorFlow saved model, which is not read. Export it with: python -m "
            "tf2onnx.convert --saved-model '%s' --output model.onnx",
            shown, shown);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "'%s' is a folder; give the path of an .onnx file in it, or a folder with a "
                    "config.json.",
                    shown);
}

/* A folder that was exported as ONNX keeps its config.json; its weights are gone. */
static bool is_model_folder(const char *path)
{
    return job_is_folder(path) &&
           (!folder_holds(path, "model.onnx") || folder_holds(path, "model.safetensors"));
}

static assay_status open_path(const char *path, const format_row *f, ir_model **ir,
                              assay_error *err)
{
    const onnx_read_options opt = {.memory_limit = JOB_MODEL_BYTES};
    file_info info = file_stat(path);
    if (info.exists && info.is_dir)
        return refuse_folder(path, err);
    if (info.exists && f && f->reader == FORMAT_NOT_READ)
        return format_refuse(f, path, err);
    /* What is not recognised is taken for ONNX; the reader says so when it is not. */
    return onnx_read_file(path, &opt, ir, err);
}

/* Takes nothing: the row is constant. */
static assay_status open_row(const zoo_row *row, const char *word, assay_model **out,
                             assay_error *err)
{
    assay_model *m = calloc(1, sizeof *m);
    arena *a = m ? arena_new(JOB_MODEL_BYTES) : NULL;
    if (a)
        *m = (assay_model){.row = row, .arena = a, .name = str_copy(a, str_of(word))};
    if (!a || !m->name.p) {
        arena_free(a);
        free(m);
        return err_no_memory(err);
    }
    *out = m;
    return ASSAY_OK;
}

static assay_status open_config(const char *path, assay_model **out, assay_error *err)
{
    assay_model *m = calloc(1, sizeof *m);
    assay_status s = m ? job_model_configure(m, path, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        *out = m;
    else
        job_model_free(m);
    return s;
}

static job_load_fn *const loaders[FORMAT_READERS] = {
    [FORMAT_SAFETENSORS] = job_load_safetensors,
    [FORMAT_GGUF] = job_load_gguf,
};

static assay_status open_file(const char *path, assay_model **out, assay_error *err)
{
    ir_model *ir = NULL;
    const format_row *f = format_of_file(path);
    bool folder = file_stat(path).is_dir;
    if (folder && is_model_folder(path))
        return job_open_loaded(job_load_folder, path, out, err);
    if (f && loaders[f->reader] && !folder)
        return job_open_loaded(loaders[f->reader], path, out, err);
    if (f && f->reader == FORMAT_CONFIG && !folder)
        return open_config(path, out, err);
    TRY(open_path(path, f, &ir, err));
    return finish(ir, str_of(path), out, err);
}

/* A word with a slash or a known suffix is a path. Any other is a built-in name first, and a file if
 * there is one. */
assay_status job_model_open(const char *model, assay_model **out, assay_error *err)
{
    err_clear(err);
    *out = NULL;
    if (!model || !*model)
        return err_fail(err, ASSAY_ERR_USAGE, "The name of the model is empty.");
    bool is_path = has_slash(model) || format_by_suffix(str_of(model));
    const zoo_row *row = is_path ? NULL : zoo_find(str_of(model));
    if (row)
        return open_row(row, model, out, err);
    if (!is_path && !file_stat(model).exists)
        return job_no_such_model(model, err);
    return open_file(model, out, err);
}

assay_status job_model_from_bytes(const void *bytes, size_t n, const char *name, const char *folder,
                                  assay_model **out, assay_error *err)
{
    const onnx_read_options opt = {.memory_limit = JOB_MODEL_BYTES, .folder = folder};
    ir_model *ir = NULL;
    err_clear(err);
    *out = NULL;
    TRY(onnx_read_bytes(bytes, n, &opt, &ir, err));
    TRY(finish(ir, str_of(name ? name : "model"), out, err));
    (*out)->bytes = bytes;
    (*out)->n_bytes = n;
    (*out)->folder = folder ? str_copy(ir->arena, str_of(folder)) : (str){0};
    return ASSAY_OK;
}
