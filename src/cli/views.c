#include "cli/views.h"

typedef struct shown {
    const assay_result *const *results;
    size_t n;
} shown;

static int write_view(cli_job *j, const shown *what, const char *format, assay_output *file)
{
    cli_args *a = j->args;
    assay_error err;
    char *text = NULL;
    size_t n;
    /* A file is for keeps: no colour in it. */
    assay_options_set(a->options, "color", !file && cli_color(a->output.color) ? "true" : "false",
                      NULL);
    assay_status s = assay_results_write(what->results, what->n, format, a->options, &text, &n,
                                         &err);
    if (s != ASSAY_OK)
        assay_output_abandon(file);
    else if (file)
        s = assay_output_commit(file, text, n, &err);
    int code = s != ASSAY_OK ? cli_complain(&err) : file ? ASSAY_OK : cli_print(text, n);
    assay_free(text);
    return code;
}

int cli_views(cli_job *j, const assay_result *const *results, size_t n_results)
{
    const shown what = {results, n_results};
    int code = ASSAY_OK;
    cli_describe_screen(j->args);
    for (int i = 0; i < j->n_files && !code; i++) {
        assay_output *file = j->files[i].out;
        j->files[i].out = NULL;
        code = write_view(j, &what, j->files[i].format, file);
    }
    if (!code && j->stdout_format)
        code = write_view(j, &what, j->stdout_format, NULL);
    return code;
}

int cli_view(cli_job *j, const assay_result *result)
{
    return cli_views(j, &result, 1);
}
