/* Models of a command: opened, and built-in architectures built with the parameters of an analysis. */
#include <assert.h>
#include <stdio.h>

#include "base/file.h"
#include "formats/onnx_store.h"
#include "jobs/job.h"
#include "rewrite/inline.h"
#include "study/changed.h"

/* ---- opening ---- */

/* Functions of a file are inlined: the rest of the program knows none. */
static assay_status take_opened(assay_status s, assay_model **m, assay_error *err)
{
    TRY(s);
    if ((*m)->ir && !(*m)->ir->inventory)
        s = rewrite_inline((*m)->ir, err);
    if (s != ASSAY_OK) {
        model_free(*m);
        *m = NULL;
    }
    return s;
}

assay_status job_model_open(const char *word, assay_model **out, assay_error *err)
{
    return take_opened(model_open(word, out, err), out, err);
}

assay_status job_model_from_bytes(const void *bytes, size_t n, const char *name, const char *folder,
                                  assay_model **out, assay_error *err)
{
    return take_opened(model_from_bytes(bytes, n, name, folder, out, err), out, err);
}

assay_status job_model_again(const assay_model *m, ir_model **out, assay_error *err)
{
    TRY(model_again(m, out, err));
    return rewrite_inline(*out, err);
}

/* ---- building ---- */

static const zoo_input *inputs_of(const assay_options *o, arena *a)
{
    zoo_input *list = ARENA_ARRAY(a, zoo_input, (size_t)o->model.shapes.n + 1);
    for (uint32_t i = 0; list && i < o->model.shapes.n; i++)
        list[i] = (zoo_input){.name = o->model.shapes.items[i].input,
                              .rank = o->model.shapes.items[i].rank,
                              .dims = o->model.shapes.items[i].dims};
    return list;
}

static assay_status build_architecture(const assay_model *m, const assay_options *o, bool with_set,
                                       arena *scratch, ir_model **ir, assay_error *err)
{
    zoo_args args;
    zoo_args_init(&args, scratch);
    zoo_request q = {.row = m->row,
                     .set = &args,
                     .inputs = inputs_of(o, scratch),
                     .n_inputs = o->model.shapes.n,
                     .batch = o->model.batch,
                     .memory_limit = LIMIT_MODEL_BYTES};
    if (!q.inputs || !zoo_args_copy(&args, &m->config) ||
        (with_set && !zoo_args_copy(&args, &o->model.set)))
        return err_no_memory(err);
    return zoo_build(&q, ir, err);
}

/* Whose fault is it? What the file alone does not survive is the file's. */
static assay_status blame_config(const assay_model *m, arena *scratch, assay_error *err)
{
    const assay_options none = {0};
    char shown[FILE_SHOWN], sentence[sizeof err->message];
    assay_error alone;
    ir_model *ir = NULL;
    err_clear(&alone);
    assay_status s = build_architecture(m, &none, false, scratch, &ir, &alone);
    ir_model_free(ir);
    if (s != ASSAY_ERR_USAGE || !err)
        return ASSAY_ERR_USAGE;
    snprintf(sentence, sizeof sentence, "%s", alone.message);
    err_clear(err);
    return err_fail(err, ASSAY_ERR_MALFORMED, "%s: %s", file_shown(m->config_file.p, shown),
                    sentence);
}

/* The options without what they say of the size of the input. */
static bool at_usual_size(const assay_options *o, arena *scratch, assay_options *out)
{
    *out = *o;
    memset(&out->model.shapes, 0, sizeof out->model.shapes);
    zoo_args_init(&out->model.set, scratch);
    for (uint32_t i = 0; i < o->model.set.list.n; i++) {
        const zoo_arg *arg = &o->model.set.list.items[i];
        if (!changed_is_image_size(arg->key) &&
            !zoo_args_put(&out->model.set, arg->key, arg->value, false))
            return false;
    }
    return true;
}

static bool sizes_input(const assay_options *o)
{
    bool sizes = o->model.shapes.n > 0;
    for (uint32_t i = 0; i < o->model.set.list.n; i++)
        sizes = sizes || changed_is_image_size(o->model.set.list.items[i].key);
    return sizes;
}

/* Another input size may have made another model. What does not build at its usual size has none to differ from. */
static assay_status note_change(const assay_model *m, const assay_options *o, arena *scratch,
                                ir_model *ir, assay_error *err)
{
    assay_options usual_size;
    assay_error ignored;
    ir_model *usual = NULL;
    if (!sizes_input(o))
        return ASSAY_OK;
    TRY_MEMORY(at_usual_size(o, scratch, &usual_size), err);
    err_clear(&ignored);
    bool ok = build_architecture(m, &usual_size, true, scratch, &usual, &ignored) != ASSAY_OK ||
              changed_note(usual, ir, scratch);
    ir_model_free(usual);
    return ok ? ASSAY_OK : err_no_memory(err);
}

/* Weights do not show how large the input is. */
static void note_input(const assay_model *m, const assay_options *o, ir_model *ir)
{
    ir->input_assumed = m->recognised.n && !m->input_stated && !sizes_input(o);
    if (ir->input_assumed)
        notes_add(&ir->notes, "assumed-input", (str){0}, "Use --input-shape for another size.",
                  "The file does not state the size of its input. That of the built-in model is "
                  "assumed.");
}

static assay_status build_row(assay_model *m, const assay_options *o, arena *scratch,
                              assay_error *err)
{
    ir_model *ir = NULL;
    assay_status s = build_architecture(m, o, true, scratch, &ir, err);
    if (s == ASSAY_ERR_USAGE && m->config_file.n)
        return blame_config(m, scratch, err);
    if (s != ASSAY_OK)
        return s;
    assert(ir);
    ir->name = str_copy(ir->arena, m->name);
    ir_model_free(m->ir);
    m->ir = ir;
    TRY(note_change(m, o, scratch, ir, err));
    TRY(model_match_weights(m, ir, err));
    note_input(m, o, ir);
    return ir->name.p ? ASSAY_OK : err_no_memory(err);
}

static assay_status refuse_parameters(const assay_options *o, assay_error *err)
{
    if (o->model.config.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--config works with built-in architectures only, not with a model file");
    return err_fail(err, ASSAY_ERR_USAGE,
                    "--set works with built-in architectures only, not with a model file. Set its "
                    "sizes with --input-shape or --dim.");
}

/* --config beside a name: its parameters, whatever network the file was written for. */
static assay_status take_config(assay_model *m, const char *path, assay_error *err)
{
    assay_model of_file = {.arena = m->arena};
    if (m->config_file.n && str_is(m->config_file, path))
        return ASSAY_OK;
    assay_status s = model_configure(&of_file, path, err);
    if (s == ASSAY_OK) {
        m->config.arena = m->arena;
        m->config_file = str_copy(m->arena, str_of(path));
        m->said = of_file.said;
        s = zoo_args_copy(&m->config, &of_file.config) ? ASSAY_OK : err_no_memory(err);
    }
    return s;
}

assay_status job_model_build(assay_model *m, const assay_options *o, assay_error *err)
{
    if (m->ir && m->ir->inventory)
        return model_no_graph(m, err);
    if (!m->row && m->ir)
        TRY(onnx_store_follow(&m->ir->reader, o->model.follow_symlinks, err));
    if (!m->row)
        return o->model.set.list.n || o->model.config.n ? refuse_parameters(o, err) : ASSAY_OK;
    arena *scratch = arena_new(LIMIT_MODEL_BYTES);
    TRY_MEMORY(scratch, err);
    assay_status s = o->model.config.n ? take_config(m, o->model.config.p, err) : ASSAY_OK;
    if (s == ASSAY_OK)
        s = build_row(m, o, scratch, err);
    arena_free(scratch);
    return s;
}
