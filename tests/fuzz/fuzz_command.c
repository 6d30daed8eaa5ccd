/* Commands on models from arbitrary bytes, through the public functions: analyse, map, fuse, export, compare, and every
 * output format. An input is a model file of any format, or a line "NAME [KEY=VALUE ...]" of a built-in architecture.
 *
 * A replay runs every row of `jobs`; a fuzzer the one that the last byte names. What was exported is read again.
 */
#include <assay/assay.h>
#include <assay/study.h>
#include <stdint.h>

#include "fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef assay_status work(assay_model *m, const assay_options *o, assay_result **out,
                          assay_error *err);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void promise_reason(assay_status s, const assay_error *err)
{
    promise((s == ASSAY_OK) == (err->message[0] == '\0'));
}

/* ---- what is shown ---- */

static void write_result(const assay_result *r)
{
    static const char *const formats[] = {"json", "console", "md", "csv", "trace", "view"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *text = NULL;
        size_t n = 0;
        assay_error err = {0};
        assay_status s = assay_result_write(r, formats[i], NULL, &text, &n, &err);
        promise_reason(s, &err);
        if (s == ASSAY_OK && i == 0) {
            assay_result *again = NULL;
            promise(assay_result_from_json(text, n, "fuzz", NULL, &again, &err) == ASSAY_OK);
            assay_result_free(again);
        }
        assay_free(text);
    }
}

/* ---- work ---- */

/* The file is read again: what we write we can read. */
static assay_status export_model(assay_model *m, const assay_options *o, assay_result **out,
                                 assay_error *err)
{
    char path[256];
    snprintf(path, sizeof path, "%s/model.onnx", fuzz_folder());
    assay_status s = assay_export(m, path, o, NULL, err);
    assay_model *again = NULL;
    assay_error why = {0};
    *out = NULL;
    if (s != ASSAY_OK)
        return s;
    promise(assay_model_open(path, &again, &why) == ASSAY_OK);
    assay_status read = assay_analyze(again, NULL, out, &why);
    promise(read != ASSAY_ERR_MALFORMED);
    assay_model_free(again);
    return ASSAY_OK;
}

/* A comparison borrows from its results. */
static assay_status compare_twice(assay_model *m, const assay_options *o, assay_result **out,
                                  assay_error *err)
{
    assay_result *one = NULL, *two = NULL, *both = NULL;
    assay_status s = assay_analyze(m, o, &one, err);
    *out = NULL;
    if (s == ASSAY_OK)
        s = assay_map(m, o, &two, err);
    if (s == ASSAY_OK)
        s = assay_compare((const assay_result *const[]){one, two}, 2, NULL, &both, err);
    if (both)
        write_result(both);
    assay_result_free(both);
    assay_result_free(one);
    assay_result_free(two);
    return s;
}

static const struct job {
    work *run;
    const char *options[6]; /* name, value, ... */
} jobs[] = {
    {assay_analyze, {"patterns", "true", "advice", "true", "allocations", "true"}},
    {assay_analyze, {"lens", "fvcore", "training", "true", "verbose", "true"}},
    {assay_analyze, {"lens", "thop", "precision", "fp16", "batch", "3"}},
    {assay_analyze, {"lens", "onnx-tool", "hardware", "rtx3090"}},
    {assay_analyze, {"lens", "calflops", "at", "0"}},
    {assay_map, {"hardware", "rtx3090,epyc-9654,t4", "goal", "cost"}},
    {assay_map, {"hardware", "h100-sxm", "batch-sizes", "1,3", "runtime", "eager"}},
    {assay_fuse, {"strategy", "none"}},
    {assay_fuse, {"strategy", "aggressive"}},
    {export_model, {NULL}},
    {export_model, {"opset", "11"}},
    {export_model, {"opset", "13", "batch", "2"}},
    {export_model, {"opset", "23", "precision", "fp16"}},
    {export_model, {"precision", "int8"}},
    {export_model, {"precision", "bf16"}},
    {compare_twice, {"hardware", "l4"}},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

typedef struct input {
    assay_model *model;
    char *settings[8]; /* of a built-in architecture: "KEY=VALUE" */
    size_t n_settings;
} input;

static void run_job(const input *in, const struct job *j)
{
    assay_options *o = assay_options_new();
    assay_result *r = NULL;
    assay_error err = {0};
    promise(o != NULL);
    for (int i = 0; i < 6 && j->options[i]; i += 2)
        promise(assay_options_set(o, j->options[i], j->options[i + 1], &err) == ASSAY_OK);
    for (size_t i = 0; i < in->n_settings; i++)
        assay_options_set(o, "set", in->settings[i], &err);
    memset(&err, 0, sizeof err);
    assay_status s = j->run(in->model, o, &r, &err);
    promise_reason(s, &err);
    if (r)
        write_result(r);
    assay_result_free(r);
    assay_options_free(o);
}

/* ---- models ---- */

static bool is_name(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-. =\n,", data[i]) || !data[i])
            return false;
    return size > 0 && size < 200;
}

/* Opens "NAME KEY=VALUE ..."; `text` is cut into its words. */
static void open_built_in(char *text, input *out)
{
    char *rest = text, *name = strsep(&rest, " \n");
    for (char *word; out->n_settings < 8 && (word = strsep(&rest, " \n")) != NULL;)
        if (strchr(word, '='))
            out->settings[out->n_settings++] = word;
    /* A word with a dot may be a file. */
    if (!strchr(name, '.') && !strchr(name, '='))
        assay_model_open(name, &out->model, NULL);
}

static void open_bytes(const uint8_t *data, size_t size, input *out)
{
    assay_error err = {0};
    promise_reason(assay_model_from_bytes(data, size, "fuzz", NULL, &out->model, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[200] = "";
    input in = {0};
    size_t first = 0, n = JOBS;
    if (!size || size > 1 << 18)
        return 0;
#ifdef ASSAY_FUZZING
    first = data[size - 1] % JOBS;
    n = 1;
#endif
    if (is_name(data, size))
        open_built_in(memcpy(text, data, size), &in);
    else
        open_bytes(data, size, &in);
    for (size_t i = first; i < first + n && in.model; i++)
        run_job(&in, &jobs[i]);
    assay_model_free(in.model);
    return 0;
}
