/* The static profile by a confined process. The result itself stays there: only texts come back, so this process never
 * reads what a stranger may have formed, but for a byte count before each text. */
#include <assay/sandbox.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/confined.h"
#include "base/memory.h"
#include "base/sandbox.h"
#include "zoo/zoo.h"

#define TEXTS_BYTES ((size_t)1 << 30)

assay_status assay_sandbox_check(assay_error *err)
{
    api_begin(err);
    return sandbox_check(err);
}

assay_status assay_sandbox_enter(int out, assay_error *err)
{
    api_begin(err);
    return sandbox_enter(out, -1, err);
}

/* ---- in the confined process ---- */

typedef struct confined_work {
    assay_confined what;
    const assay_options *options;
    const assay_text *texts;
    size_t n;
} confined_work;

static void put_text(sbuf *out, const char *text, size_t n)
{
    const uint64_t length = n;
    sbuf_put(out, &length, sizeof length);
    sbuf_put(out, text, n);
}

static assay_status write_texts(const confined_work *w, const assay_result *result, sbuf *out,
                                assay_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        assay_options o = *w->options;
        char *text = NULL;
        size_t n = 0;
        o.view.color = w->texts[i].color;
        TRY(assay_result_write(result, w->texts[i].format, &o, &text, &n, err));
        put_text(out, text, n);
        assay_free(text);
    }
    return ASSAY_OK;
}

/* A folder of files that is named like a built-in model is meant as a folder. */
static const char *path_of(const assay_confined *what, sbuf *path)
{
    if (!what->n_files || !zoo_find(str_of(what->model)))
        return what->model;
    sbuf_printf(path, "%s/", what->model);
    return sbuf_cstr(path);
}

/* Nothing is freed: the process ends. */
static assay_status analyze_confined(void *ctx, sbuf *out, assay_error *err)
{
    const confined_work *w = ctx;
    assay_model *model = NULL;
    assay_result *result = NULL;
    assay_error late = {0};
    sbuf path = {0};
    TRY(w->what.bytes ? assay_model_from_bytes(w->what.bytes, w->what.n_bytes, w->what.model, NULL,
                                               &model, err)
                      : assay_model_open(path_of(&w->what, &path), &model, err));
    assay_status s = assay_analyze(model, w->options, &result, err);
    if (result && s != ASSAY_ERR_SYSTEM) {
        assay_status written = write_texts(w, result, out, s == ASSAY_OK ? err : &late);
        s = s == ASSAY_OK ? written : s;
    }
    return s;
}

/* ---- here ---- */

static assay_status take_texts(const sbuf *got, assay_text *texts, size_t n, assay_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < n && at < got->n; i++) {
        uint64_t length;
        if (got->n - at < sizeof length)
            return err_fail(err, ASSAY_ERR_MALFORMED, "the sandbox returned an invalid answer");
        memcpy(&length, got->p + at, sizeof length);
        at += sizeof length;
        if (length > got->n - at)
            return err_fail(err, ASSAY_ERR_MALFORMED, "the sandbox returned an invalid answer");
        texts[i].text = memory_alloc((size_t)length + 1);
        TRY_MEMORY(texts[i].text, err);
        memcpy(texts[i].text, got->p + at, (size_t)length);
        texts[i].text[length] = '\0';
        texts[i].n = (size_t)length;
        at += (size_t)length;
    }
    return ASSAY_OK;
}

static assay_status run_confined(confined_work *w, const broker_file *memory, assay_text *texts,
                                 assay_error *err)
{
    const assay_options *o = w->options;
    const char *files[2];
    size_t n_files = 0;
    sbuf got = {0};
    if (o->model.config.n)
        files[n_files++] = o->model.config.p;
    if (o->hardware.names.n)
        files[n_files++] = o->hardware.names.p;
    confined_call call = {.run = analyze_confined,
                          .ctx = w,
                          .most = TEXTS_BYTES,
                          .policy = {.model = w->what.bytes ? NULL : w->what.model,
                                     .files = files,
                                     .n_files = n_files,
                                     .memory = memory,
                                     .n_memory = memory ? w->what.n_files : 0}};
    assay_status s = confined_run(&call, &got, err);
    assay_status taken = take_texts(&got, texts, w->n, s == ASSAY_OK ? err : NULL);
    sbuf_free(&got);
    return s == ASSAY_OK ? taken : s;
}

/* A path that leaves the files is nobody's. */
static bool is_inside(const char *path)
{
    str rest = str_of(path), part;
    if (!*path || *path == '/')
        return false;
    while (str_split(&rest, '/', &part))
        if (str_is(part, ".."))
            return false;
    return true;
}

static assay_status take_files(const assay_confined *what, broker_file **out, assay_error *err)
{
    *out = NULL;
    if (!what->n_files)
        return ASSAY_OK;
    for (size_t i = 0; i < what->n_files; i++)
        if (!what->files[i].path || !is_inside(what->files[i].path))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "'%s': the name of a file must be relative, "
                            "without '..'",
                            what->files[i].path ? what->files[i].path : "");
    broker_file *list = memory_alloc(what->n_files * sizeof *list);
    TRY_MEMORY(list, err);
    for (size_t i = 0; i < what->n_files; i++)
        list[i] = (broker_file){what->files[i].path, what->files[i].bytes, what->files[i].n};
    *out = list;
    return ASSAY_OK;
}

assay_status assay_analyze_confined(const assay_confined *what, const assay_options *options,
                                    assay_text *texts, size_t n_texts, assay_error *err)
{
    assay_options none;
    confined_work w = {.options = options_or_default(options, &none), .texts = texts, .n = n_texts};
    api_begin(err);
    TRY(TAKE(what, w.what, err));
    for (size_t i = 0; i < n_texts; i++) {
        texts[i].text = NULL;
        texts[i].n = 0;
    }
    if (!w.what.model)
        return err_fail(err, ASSAY_ERR_USAGE, "no model is given");
    if (w.options->model.follow_symlinks)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--follow-symlinks allows any file, and --sandbox only those in the "
                        "model's folder. Leave one out.");
    broker_file *memory;
    TRY(take_files(&w.what, &memory, err));
    assay_status s = run_confined(&w, memory, texts, err);
    free(memory);
    return s;
}
