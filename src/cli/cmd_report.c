/* assay report: documents that were saved, rendered again: one in any format, several side by side. */
#include <string.h>

#include "cli/views.h"

static int read_one(const char *path, assay_profile **out)
{
    assay_error err;
    return assay_profile_read(path, out, &err) == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static int report_single(cli_job *j)
{
    int code = read_one(j->args->words[0], &j->profile);
    if (code)
        return code;
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    return code ? code : shown;
}

/* Pipelines, comparisons and the like, which no profile is made of. */
static assay_status render(const void *ctx, const char *format, const assay_options *o, char **text,
                           size_t *n, assay_error *err)
{
    const cli_args *a = ctx;
    return assay_documents_report((const char *const *)a->words, (size_t)a->n_words, format, o,
                                  text, n, err);
}

/* Whether all of them are results of models. What cannot be read, or says nothing of itself, is left to the
 * reader of results, whose sentence says what is wrong. */
static bool are_results(const cli_args *a)
{
    bool results = true;
    for (int i = 0; i < a->n_words; i++) {
        assay_document d = {.size = sizeof d};
        assay_error err;
        if (assay_document_of(a->words[i], &d, &err) == ASSAY_OK && *d.schema)
            results = results && strcmp(d.schema, "assay.profile") == 0;
    }
    return results;
}

static int run_report(cli_args *args)
{
    cli_job j = {.args = args};
    bool results = are_results(args);
    if (results && args->n_words > 1)
        return cli_find_command("compare")->run(args);
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = results ? report_single(&j) : cli_views(&j, render, args);
    cli_job_close(&j);
    return code;
}

static const char *const report_examples[] = {
    "assay report result.json",
    "the screen again",
    "assay report result.json -o report.md -o layers.csv",
    "other views of it",
    "assay report result.json -o model.trace.json",
    "for Perfetto or chrome://tracing",
    "assay report before.json after.json",
    "several, side by side",
    NULL,
};

const cli_command command_report = {
    .name = "report",
    .words = "RESULT ...",
    .about = "Render saved results in any format; several side by side.",
    .examples = report_examples,
    .min_words = 1,
    .max_words = 12,
    .classes = "screen page result",
    .formats = CLI_REPORT_FORMATS,
    .values = "@files",
    .run = run_report,
};
