/* Built-in architectures: builds one with the parameters of an analysis, and lists them with their cost. Counts are
 * not stored: a model is built and counted on request. */
#include <assert.h>
#include <stdio.h>

#include "base/file.h"
#include "base/near.h"
#include "base/sbuf.h"
#include "formats/model_config.h"
#include "formats/onnx_store.h"
#include "jobs/job.h"
#include "study/changed.h"

enum { SUGGESTIONS = 4 };

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

assay_status job_no_such_model(const char *word, assay_error *err)
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
                     .memory_limit = JOB_MODEL_BYTES};
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
    TRY(job_match_weights(m, ir, err));
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

assay_status job_model_configure(assay_model *m, const char *path, assay_error *err)
{
    model_config c;
    if (!m->arena && !(m->arena = arena_new(JOB_MODEL_BYTES)))
        return err_no_memory(err);
    TRY(model_config_read(path, m->arena, &c, err));
    m->row = c.row;
    m->name = c.name;
    m->config = c.args;
    m->said = c.said;
    m->config_file = str_copy(m->arena, str_of(path));
    return m->config_file.p ? ASSAY_OK : err_no_memory(err);
}

/* --config beside a name: its parameters, whatever network the file was written for. */
static assay_status take_config(assay_model *m, const char *path, assay_error *err)
{
    assay_model of_file = {.arena = m->arena};
    if (m->config_file.n && str_is(m->config_file, path))
        return ASSAY_OK;
    assay_status s = job_model_configure(&of_file, path, err);
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
        return job_no_graph(m, err);
    if (!m->row && m->ir)
        TRY(onnx_store_follow(&m->ir->reader, o->model.follow_symlinks, err));
    if (!m->row)
        return o->model.set.list.n || o->model.config.n ? refuse_parameters(o, err) : ASSAY_OK;
    arena *scratch = arena_new(JOB_MODEL_BYTES);
    TRY_MEMORY(scratch, err);
    assay_status s = o->model.config.n ? take_config(m, o->model.config.p, err) : ASSAY_OK;
    if (s == ASSAY_OK)
        s = build_row(m, o, scratch, err);
    arena_free(scratch);
    return s;
}
