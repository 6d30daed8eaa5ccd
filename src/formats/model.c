/* See model.h. */
#include "formats/model.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/near.h"
#include "base/sbuf.h"
#include "formats/model_config.h"
#include "formats/onnx_read.h"
#include "formats/stored.h"
#include "formats/torch/torch.h"
#include "ir/verify.h"

enum { SUGGESTIONS = 4 };

void model_free(assay_model *model)
{
    if (!model)
        return;
    ir_model_free(model->ir);
    arena_free(model->arena);
    free(model);
}

/* Takes ir. */
static assay_status finish_model(ir_model *ir, str name, assay_model **out, assay_error *err)
{
    assay_model *m = memory_zeroed(1, sizeof *m);
    assay_status s = m ? ASSAY_OK : err_no_memory(err);
    assert(ir);
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
    if (s != ASSAY_OK) {
        model_free(m);
        return s;
    }
    *out = m;
    return ASSAY_OK;
}

/* ---- names ---- */

/* Of a family that is not built in: models for the same task. */
static void put_relatives(sbuf *out, const char *task)
{
    uint32_t named = 0;
    sbuf_printf(out, " Built-in models for %s (`assay models %s`) are ", task, task);
    for (uint32_t i = 0; i < zoo_count() && named < SUGGESTIONS; i++)
        if (strcmp(zoo_at(i)->task, task) == 0)
            sbuf_printf(out, "%s%s", named++ ? ", " : "", zoo_at(i)->name);
    sbuf_puts(out, ", ... Give another model as a file, for example ONNX.");
}

static void put_suggestions(sbuf *out, const char *word)
{
    const char *near[SUGGESTIONS], *task = zoo_task_of_stranger(str_of(word));
    uint32_t n = zoo_suggest(str_of(word), NULL, near, SUGGESTIONS);
    near_put(out, near, n);
    if (n == 0 && task)
        put_relatives(out, task);
    else
        sbuf_puts(out, " List the built-in models with `assay models`.");
}

static assay_status no_such_model(const char *word, assay_error *err)
{
    char shown[FILE_SHOWN], with_suffix[FILE_SHOWN + 8];
    sbuf hint = {0};
    file_shown(word, shown);
    snprintf(with_suffix, sizeof with_suffix, "%s.onnx", shown);
    if (file_stat(with_suffix).exists)
        sbuf_printf(&hint, " Did you mean the file %s?", with_suffix);
    else
        put_suggestions(&hint, shown);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "no file or built-in model '%s'.%s", shown,
                              sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

/* ---- reading ---- */

static bool has_slash(const char *word)
{
    return strchr(word, '/') != NULL;
}

static assay_status read_path(const char *path, ir_model **ir, assay_error *err)
{
    const format_row *f;
    const onnx_read_options opt = {.memory_limit = LIMIT_MODEL_BYTES};
    file_info info = file_stat(path);
    char inner[FORMAT_PATH];
    bool inside = info.is_dir && format_inside(path, inner, sizeof inner);
    const char *file = inside ? inner : path;
    TRY(format_of_file(file, &f, err));
    if (info.exists && f && f->reader == FORMAT_NOT_READ)
        return format_refuse(f, file, err);
    if (info.is_dir && !inside)
        return stored_refuse_folder(path, err);
    if (info.exists && f && f->reader == FORMAT_FOREIGN)
        return format_read(f, file, LIMIT_MODEL_BYTES, ir, err);
    /* Unrecognised files are read as ONNX; the reader reports an error if they are not. */
    return onnx_read_file(file, &opt, ir, err);
}

/* Takes nothing: the row is constant. */
static assay_status open_row(const zoo_row *row, const char *word, assay_model **out,
                             assay_error *err)
{
    assay_model *m = memory_zeroed(1, sizeof *m);
    arena *a = m ? arena_new(LIMIT_MODEL_BYTES) : NULL;
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

assay_status model_configure(assay_model *m, const char *path, assay_error *err)
{
    model_config c;
    if (!m->arena && !(m->arena = arena_new(LIMIT_MODEL_BYTES)))
        return err_no_memory(err);
    TRY(model_config_read(path, m->arena, &c, err));
    m->row = c.row;
    m->name = c.name;
    m->config = c.args;
    m->said = c.said;
    m->config_file = str_copy(m->arena, str_of(path));
    return m->config_file.p ? ASSAY_OK : err_no_memory(err);
}

static assay_status open_config(const char *path, assay_model **out, assay_error *err)
{
    assay_model *m = memory_zeroed(1, sizeof *m);
    assay_status s = m ? model_configure(m, path, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        *out = m;
    else
        model_free(m);
    return s;
}

static str plain_path(arena *a, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return str_copy(a, (str){path, (uint32_t)n});
}

/* A file, or bytes that are called `path`. */
typedef struct stored_input {
    const format_row *f;
    const char *path;
    const void *bytes; /* NULL: the file */
    size_t n;
} stored_input;

static assay_status read_stored(const stored_input *in, assay_model *m, assay_error *err)
{
    stored_model s = {.arena = m->arena, .memory_limit = LIMIT_MODEL_BYTES};
    s.name = plain_path(m->arena, in->path);
    notes_init(&s.said, m->arena);
    assay_status status = !s.name.p   ? err_no_memory(err)
                          : in->bytes ? stored_read_bytes(in->f, in->bytes, in->n, &s, err)
                                      : stored_read(in->f, in->path, &s, err);
    m->ir = s.ir;
    m->row = s.row;
    m->name = s.name;
    m->said = s.said;
    m->config = s.config;
    m->config_file = s.config_file;
    m->weights = s.weights;
    m->recognised = s.recognised;
    m->input_stated = s.input_stated;
    return status;
}

static assay_status open_stored(const stored_input *in, assay_model **out, assay_error *err)
{
    assay_model *m = memory_zeroed(1, sizeof *m);
    if (m)
        m->arena = arena_new(LIMIT_MODEL_BYTES);
    assay_status s = m && m->arena ? read_stored(in, m, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        *out = m;
    else
        model_free(m);
    return s;
}

/* ---- TorchScript: a graph where its code is plain, else weights ---- */

/* The tensors of the file, for the inventory beside the graph. */
static assay_status list_tensors(assay_model *m, const stored_input *in, assay_error *err)
{
    m->arena = arena_new(LIMIT_MODEL_BYTES);
    TRY_MEMORY(m->arena, err);
    return in->bytes ? torch_read_bytes(in->bytes, in->n, m->arena, &m->weights, err)
                     : weights_read_file(&torch_reader, in->path, m->arena, &m->weights, err);
}

static assay_status open_weights(const stored_input *in, const char *why, assay_model **out,
                                 assay_error *err)
{
    stored_input own = *in;
    own.f = format_by_suffix(STR("x.pt"));
    TRY(open_stored(&own, out, err));
    notes_add((*out)->ir ? &(*out)->ir->notes : &(*out)->said, "no-script-graph", (str){0},
              "Export the model as ONNX to analyse its own graph.",
              "The code of the file was not followed: %s", why);
    return ASSAY_OK;
}

/* Takes the status of reading the graph. */
static assay_status open_script(const stored_input *in, assay_status status, ir_model *ir,
                                assay_model **out, assay_error *err)
{
    if (status == ASSAY_ERR_UNSUPPORTED) {
        assay_error why = *err;
        err_clear(err);
        return open_weights(in, why.message, out, err);
    }
    TRY(status);
    TRY(finish_model(ir, str_of(in->path), out, err));
    status = list_tensors(*out, in, err);
    if (status != ASSAY_OK) {
        model_free(*out);
        *out = NULL;
    }
    return status;
}

/* "models/bert-base-uncased" may mean the built-in model of that name. */
static assay_status check_exists(const char *path, assay_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char shown[FILE_SHOWN];
    if (file_stat(path).exists || !zoo_find(str_of(name)))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_SYSTEM, "%s: no such file. Use '%s' for the built-in model.",
                    file_shown(path, shown), name);
}

static assay_status open_file(const char *path, assay_model **out, assay_error *err)
{
    TRY(check_exists(path, err));
    ir_model *ir = NULL;
    const format_row *f;
    TRY(format_of_file(path, &f, err));
    bool folder = file_stat(path).is_dir;
    if (folder ? stored_is_folder(path) : stored_reads(f, false))
        return open_stored(&(stored_input){.f = f, .path = path}, out, err);
    if (f && f->reader == FORMAT_CONFIG && !folder)
        return open_config(path, out, err);
    assay_status s = read_path(path, &ir, err);
    if (f && f->weights && !folder)
        return open_script(&(stored_input){.f = f, .path = path}, s, ir, out, err);
    TRY(s);
    return finish_model(ir, str_of(path), out, err);
}

/* A word with a slash or a known suffix is a path. Any other is a built-in name first, and a file if
 * there is one. */
assay_status model_open(const char *model, assay_model **out, assay_error *err)
{
    err_clear(err);
    *out = NULL;
    if (!model || !*model)
        return err_fail(err, ASSAY_ERR_USAGE, "empty model name");
    bool is_path = has_slash(model) || format_by_suffix(str_of(model));
    const zoo_row *row = is_path ? NULL : zoo_find(str_of(model));
    if (row)
        return open_row(row, model, out, err);
    if (!is_path && !file_stat(model).exists)
        return no_such_model(model, err);
    return open_file(model, out, err);
}

static assay_status read_bytes(const void *bytes, size_t n, const char *folder, ir_model **ir,
                               assay_error *err)
{
    const onnx_read_options opt = {.memory_limit = LIMIT_MODEL_BYTES, .folder = folder};
    const format_row *f;
    TRY(format_of_bytes(bytes, n, &f, err));
    return f && f->reader == FORMAT_FOREIGN
               ? format_read_bytes(f, bytes, n, LIMIT_MODEL_BYTES, ir, err)
               : onnx_read_bytes(bytes, n, &opt, ir, err);
}

assay_status model_from_bytes(const void *bytes, size_t n, const char *name, const char *folder,
                              assay_model **out, assay_error *err)
{
    ir_model *ir = NULL;
    stored_input in = {NULL, name ? name : "model", bytes, n};
    err_clear(err);
    *out = NULL;
    TRY(format_of_bytes(bytes, n, &in.f, err));
    if (stored_reads_bytes(in.f))
        return open_stored(&in, out, err);
    if (in.f && in.f->reader == FORMAT_NOT_READ)
        return format_refuse(in.f, in.path, err);
    assay_status s = read_bytes(bytes, n, folder, &ir, err);
    if (in.f && in.f->weights)
        TRY(open_script(&in, s, ir, out, err));
    else {
        TRY(s);
        TRY(finish_model(ir, str_of(in.path), out, err));
    }
    if (!(*out)->ir || (*out)->ir->inventory || (*out)->row)
        return ASSAY_OK; /* weights: nothing is read again */
    (*out)->bytes = bytes;
    (*out)->n_bytes = n;
    (*out)->folder = folder ? str_copy((*out)->ir->arena, str_of(folder)) : (str){0};
    return ASSAY_OK;
}

assay_status model_again(const assay_model *m, ir_model **out, assay_error *err)
{
    TRY(m->bytes ? read_bytes(m->bytes, m->n_bytes, m->folder.n ? m->folder.p : NULL, out, err)
                 : read_path(m->ir->name.p, out, err));
    (*out)->name = m->ir->name;
    return ASSAY_OK;
}

assay_status model_match_weights(const assay_model *m, ir_model *ir, assay_error *err)
{
    if (m->weights)
        TRY(weights_match(m->weights, ir, err));
    notes_join(&ir->notes, &m->said);
    return ASSAY_OK;
}

assay_status model_no_graph(const assay_model *m, assay_error *err)
{
    char shown[FILE_SHOWN];
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "%s: weights of an unknown architecture, so there is no graph. Export the "
                    "model as ONNX and use that file.",
                    file_shown(m->name.p ? m->name.p : m->ir->name.p, shown));
}
