/* assay report: shows saved results again: one in any format, several side by side. */
#include <string.h>

#include "cli/job.h"

typedef struct reading {
    assay_result *list[CLI_MAX_WORDS];
    size_t n;
} reading;

static int read_all(const cli_args *a, reading *r)
{
    assay_error err;
    for (; r->n < (size_t)a->n_words; r->n++)
        if (assay_result_read(a->words[r->n], NULL, &r->list[r->n], &err) != ASSAY_OK)
            return cli_complain(&err);
    return ASSAY_OK;
}

/* Several results of models are compared; others stand one after the other. */
static bool are_profiles(const reading *r)
{
    bool all = r->n > 1;
    for (size_t i = 0; i < r->n; i++)
        all = all && strcmp(assay_result_kind(r->list[i]), "profile") == 0;
    return all;
}

static int run_report(cli_args *args)
{
    cli_job j = {.args = args};
    reading r = {0};
    int code = read_all(args, &r);
    bool compare = !code && are_profiles(&r);
    if (!code && !compare)
        code = cli_job_open_outputs(&j);
    if (!code && !compare)
        code = cli_views(&j, (const assay_result *const *)r.list, r.n);
    for (size_t i = 0; i < r.n; i++)
        assay_result_free(r.list[i]);
    cli_job_close(&j);
    return compare ? cli_find_command("compare")->run(args) : code;
}

static const char *const report_examples[] = {
    "assay report result.json",
    "print it again",
    "assay report result.json -o report.md -o layers.csv",
    "convert it to Markdown and CSV",
    "assay report result.json -o model.trace.json",
    "for Perfetto or chrome://tracing",
    "assay report before.json after.json",
    "two results side by side",
    NULL,
};

const cli_command command_report = {
    CLI_COMMAND("report", "RESULT ...", 1, 12, run_report),
    .classes = "screen page result",
    .formats = CLI_REPORT_FORMATS,
    .values = "@files",
    .examples = report_examples,
    .about = "Show saved results in any format, also several side by side."};
