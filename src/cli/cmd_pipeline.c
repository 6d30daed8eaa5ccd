/* assay pipeline: what a generation costs. */
#include <string.h>

#include "cli/job.h"
#include "cli/keep.h"

typedef struct showing {
    assay_pipeline *list[CLI_MAX_WORDS];
    size_t n;
    assay_output *files[CLI_MAX_OUTPUTS];
    assay_store *store; /* or NULL */
} showing;

/* A file of this name is the record of a run over several models, whatever else is asked for. */
static const char *format_of(const cli_args *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "generation_config.json") == 0)
        return "generation-config";
    return a->format ? a->format : assay_report_format(path);
}

static int open_outputs(const cli_args *a, showing *s)
{
    assay_error err;
    for (int i = 0; i < a->n_outputs; i++) {
        if (strcmp(a->outputs[i], "-") == 0)
            continue;
        if (!format_of(a, a->outputs[i]))
            return cli_complain_text(
                ASSAY_ERR_USAGE,
                "The name '%.200s' does not say which format it should have; add "
                "--format.",
                a->outputs[i]);
        if (assay_output_open(a->outputs[i], &s->files[i], &err) != ASSAY_OK)
            return cli_complain(&err);
    }
    return ASSAY_OK;
}

static int run_all(cli_args *a, showing *s)
{
    assay_error err;
    int words = a->n_words ? a->n_words : 1; /* none with --pipeline-file */
    for (int i = 0; i < words; i++) {
        const char *word = a->n_words ? a->words[i] : NULL;
        if (assay_pipeline_run(word, a->options, &s->list[s->n], &err) != ASSAY_OK)
            return cli_complain(&err);
        s->n++;
        if (a->measure &&
            assay_pipeline_measure(s->list[s->n - 1], a->options, NULL, &err) != ASSAY_OK)
            return cli_complain(&err);
    }
    return ASSAY_OK;
}

static int keep_all(cli_args *a, const showing *s)
{
    int code = ASSAY_OK;
    for (size_t i = 0; s->store && i < s->n && !code; i++) {
        assay_error err;
        int64_t id = 0;
        assay_status kept = assay_store_save_pipeline(s->store, s->list[i], a->options, a->tags,
                                                      (size_t)a->n_tags, &id, &err);
        code = cli_kept(a, kept, id, &err);
    }
    return code;
}

static assay_status render(const showing *s, const char *format, const assay_options *o,
                           char **text, size_t *n, assay_error *err)
{
    return assay_pipeline_report((const assay_pipeline *const *)s->list, s->n, format, o, text, n,
                                 err);
}

static int write_file(cli_args *a, showing *s, int i)
{
    assay_error err;
    char *text;
    size_t n;
    assay_options_set(a->options, "color", "false", NULL);
    if (render(s, format_of(a, a->outputs[i]), a->options, &text, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    assay_output *file = s->files[i];
    s->files[i] = NULL;
    assay_status status = assay_output_commit(file, text, n, &err);
    assay_free(text);
    return status == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static int write_stdout(cli_args *a, const showing *s, const char *format)
{
    assay_error err;
    char *text;
    size_t n;
    assay_options_set(a->options, "color", cli_color(a->color) ? "true" : "false", NULL);
    if (render(s, format, a->options, &text, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = cli_print(text, n);
    assay_free(text);
    return code;
}

static int write_all(cli_args *a, showing *s)
{
    const char *shown = a->quiet ? NULL : a->n_outputs == 0 && a->format ? a->format : "console";
    int code = ASSAY_OK;
    cli_describe_screen(a);
    for (int i = 0; i < a->n_outputs && !code; i++) {
        if (s->files[i])
            code = write_file(a, s, i);
        else
            shown = a->format ? a->format : "console";
    }
    return code || !shown ? code : write_stdout(a, s, shown);
}

int cmd_pipeline(cli_args *args)
{
    showing s = {0};
    int code = open_outputs(args, &s);
    if (!code)
        code = cli_keep_open(args, &s.store);
    cli_record_command(args);
    if (!code)
        code = run_all(args, &s);
    if (!code)
        code = keep_all(args, &s);
    if (!code)
        code = write_all(args, &s);
    for (size_t i = 0; i < s.n; i++)
        assay_pipeline_free(s.list[i]);
    for (int i = 0; i < args->n_outputs; i++)
        assay_output_abandon(s.files[i]);
    assay_store_close(s.store);
    return code;
}
