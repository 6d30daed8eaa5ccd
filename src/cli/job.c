/* Shared by commands on one model: opens outputs before the work, opens the model, analyses it and writes all
 * requested views. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job.h"
#include "cli/keep.h"
#include "cli/values.h"

#define STDIN_BYTES_MAX ((size_t)4 << 30)

static int check_format(const cli_job *j, const char *name)
{
    const cli_command *c = j->args->command;
    if (!name || (c->formats && cli_has_word(c->formats, '|', name, strlen(name))))
        return ASSAY_OK;
    return cli_complain_text(ASSAY_ERR_USAGE, "%s cannot write '%.60s'. Its formats are %s.",
                             c->name, name, c->formats ? c->formats : "none");
}

static bool ends_in(const char *word, const char *suffix)
{
    size_t n = strlen(word), m = strlen(suffix);
    return n >= m && strcmp(word + n - m, suffix) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A file of this name is the record of a run over several pipelines, whatever format is requested. */
static bool is_generation_record(const cli_job *j, const char *path)
{
    return cli_has_word(j->args->command->formats, '|', "generation-config", 17) &&
           strcmp(base_name(path), "generation_config.json") == 0;
}

static const char *format_of_path(const cli_job *j, const char *path)
{
    if (is_generation_record(j, path))
        return "generation-config";
    if (j->args->output.format)
        return j->args->output.format;
    bool junit = cli_has_word(j->args->command->formats, '|', "junit", 5);
    return junit && ends_in(path, ".xml") ? "junit" : assay_format_of(path);
}

/* " .json .csv": of the formats that have one. */
static const char *suffixes_of(const char *formats, char *out, size_t cap)
{
    assay_format_info f = {.size = sizeof f};
    size_t n = 0;
    *out = 0;
    for (size_t i = 0; assay_format_at(i, &f) && n + 32 < cap; i++)
        if (*f.suffix && cli_has_word(formats, '|', f.name, strlen(f.name)))
            n += (size_t)snprintf(out + n, cap - n, " %s", f.suffix);
    return out;
}

static int open_output(cli_job *j, const char *path)
{
    const char *format = format_of_path(j, path);
    char suffixes[256];
    assay_error err;
    if (!format)
        return cli_complain_text(
            ASSAY_ERR_USAGE,
            "%.200s: the suffix names no format. Use one of%s, or --format with one of %s.", path,
            suffixes_of(j->args->command->formats, suffixes, sizeof suffixes),
            j->args->command->formats);
    if (check_format(j, format) != ASSAY_OK)
        return ASSAY_ERR_USAGE;
    if (assay_output_open(path, &j->files[j->n_files].out, &err) != ASSAY_OK)
        return cli_complain(&err);
    j->files[j->n_files].path = path;
    j->files[j->n_files].replaces = access(path, F_OK) == 0;
    j->files[j->n_files++].format = format;
    return ASSAY_OK;
}

/* Before any work: a path that cannot be written must not cost the user a run. */
static int open_outputs(cli_job *j)
{
    const cli_output_args *out = &j->args->output;
    int code = ASSAY_OK;
    j->stdout_format = out->quiet                         ? NULL
                       : out->paths.n == 0 && out->format ? out->format
                                                          : "console";
    for (int i = 0; i < out->paths.n && !code; i++) {
        if (strcmp(out->paths.items[i], "-") == 0)
            j->stdout_format = out->format ? out->format : "console";
        else
            code = open_output(j, out->paths.items[i]);
    }
    return code;
}

int cli_read_stdin(void **bytes, size_t *n)
{
    size_t cap = 1 << 16;
    char *p = malloc(cap);
    *n = 0;
    while (p) {
        ssize_t got = read(STDIN_FILENO, p + *n, cap - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(p);
            return cli_complain_text(ASSAY_ERR_SYSTEM, "cannot read stdin: %s", strerror(errno));
        }
        *n += (size_t)got;
        if (got == 0)
            break;
        if (*n == cap) {
            char *grown = cap < STDIN_BYTES_MAX ? realloc(p, cap * 2) : NULL;
            if (!grown)
                free(p);
            p = grown;
            cap *= 2;
        }
    }
    *bytes = p;
    return p ? ASSAY_OK
             : cli_complain_text(ASSAY_ERR_SYSTEM,
                                 "the model on stdin does not fit into memory. Save it as a file.");
}

int cli_complain_model(const cli_args *a, const assay_error *err)
{
    const char *near = a->command_given || err->code != ASSAY_ERR_USAGE
                           ? NULL
                           : cli_nearest(a->words[0], cli_command_name_at, NULL);
    if (near)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "'%.200s' is neither a command nor a model. Did you mean '%s'?",
                                 a->words[0], near);
    return cli_complain(err);
}

static int open_model(cli_job *j)
{
    const char *word = j->args->words[0];
    assay_error err;
    size_t n = 0;
    if (strcmp(word, "-") == 0) {
        int code = cli_read_stdin(&j->bytes, &n);
        if (code)
            return code;
        return assay_model_from_bytes(j->bytes, n, "stdin", NULL, &j->model, &err) == ASSAY_OK
                   ? ASSAY_OK
                   : cli_complain(&err);
    }
    if (assay_model_open(word, &j->model, &err) == ASSAY_OK)
        return ASSAY_OK;
    return cli_complain_model(j->args, &err);
}

/* The command line as it could be typed again, for the result's context. */
void cli_record_command(cli_args *a)
{
    char text[4096] = "assay";
    size_t n = strlen(text);
    for (int i = 1; i < a->argc && n + strlen(a->argv[i]) + 4 < sizeof text; i++) {
        bool plain = *a->argv[i] && !strpbrk(a->argv[i], " \t\n'\"\\$`*?[]{}()<>|&;!#~");
        n += (size_t)snprintf(text + n, sizeof text - n, plain ? " %s" : " '%s'", a->argv[i]);
    }
    assay_options_set(a->options, "command", text, NULL);
}

void cli_job_record(cli_job *j)
{
    cli_record_command(j->args);
}

static bool is_for_people(const char *format)
{
    return format && (strcmp(format, "html") == 0 || strcmp(format, "md") == 0);
}

/* graph omits recommendations unless they are requested (--advice) or the output is a report. */
static bool wants_advice(const cli_job *j)
{
    bool report = is_for_people(j->stdout_format);
    for (int i = 0; i < j->n_files; i++)
        report = report || is_for_people(j->files[i].format);
    return report || cli_command_is(j->args->command, "advises");
}

void cli_job_prepare(cli_job *j)
{
    cli_record_command(j->args);
    if (wants_advice(j))
        assay_options_set(j->args->options, "advice", "true", NULL);
}

int cli_job_analyze(cli_job *j)
{
    assay_error err;
    cli_job_prepare(j);
    j->verdict = assay_analyze(j->model, j->args->options, &j->profile, &err);
    if (j->verdict == ASSAY_OK)
        return ASSAY_OK;
    cli_complain(&err);
    return j->profile && j->verdict != ASSAY_ERR_SYSTEM ? ASSAY_OK : (int)j->verdict;
}

int cli_job_show(cli_job *j)
{
    assay_error err;
    char *text;
    size_t n;
    if (!j->stdout_format)
        return ASSAY_OK;
    assay_options_set(j->args->options, "color",
                      cli_color(j->args->output.color) ? "true" : "false", NULL);
    if (assay_result_write(j->profile, j->stdout_format, j->args->options, &text, &n, &err) !=
        ASSAY_OK)
        return cli_complain(&err);
    int code = cli_print(text, n);
    assay_free(text);
    return code;
}

/* ---- the history ---- */

/* A check of limits on counts runs nothing, and a history need not know of it. */
static bool is_to_measure(const cli_args *a)
{
    return cli_keep_measures(a) && strcmp(a->command->name, "check") != 0 &&
           strcmp(a->command->name, "watch") != 0;
}

int cli_job_open_store(cli_job *j)
{
    return cli_keep_open(j->args, &j->store);
}

static bool anything_ran(const assay_result *p)
{
    for (size_t i = 0; i < assay_result_count(p, "configurations"); i++)
        if (cli_number(p, "configurations.%zu.runs", i) > 0)
            return true;
    return false;
}

/* A command that failed to measure stores nothing. An interrupted result is stored only with --save. */
int cli_job_keep(cli_job *j)
{
    const cli_args *a = j->args;
    if (!j->store)
        return ASSAY_OK;
    bool ran = (anything_ran(j->profile) || strcmp(a->command->name, "watch") == 0) &&
               (a->history.save || !j->interrupted);
    if (!ran && is_to_measure(a))
        fputs("assay: no measurement was completed; nothing is stored in the history\n", stderr);
    if (!ran && (is_to_measure(a) || !a->history.save))
        return ASSAY_OK;
    return cli_keep(a, j->store, j->profile);
}

int cli_job_commit(cli_job *j)
{
    assay_output *outputs[sizeof j->files / sizeof *j->files];
    assay_error err;
    size_t n = 0;
    for (int i = 0; i < j->n_files; i++) {
        if (j->files[i].out)
            outputs[n++] = j->files[i].out;
        j->files[i].out = NULL;
    }
    return assay_output_commit_all(outputs, n, &err) == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

int cli_job_write(cli_job *j)
{
    assay_error err;
    char *text;
    size_t n;
    /* A file is for keeps: no colour in it. */
    assay_options_set(j->args->options, "color", "false", NULL);
    for (int i = 0; i < j->n_files; i++) {
        if (j->failed && j->files[i].replaces) {
            fprintf(stderr, "assay: %s is unchanged: nothing was measured\n", j->files[i].path);
            assay_output_abandon(j->files[i].out);
            j->files[i].out = NULL;
            continue;
        }
        if (assay_result_write(j->profile, j->files[i].format, j->args->options, &text, &n, &err) !=
            ASSAY_OK)
            return cli_complain(&err);
        assay_status s = assay_output_write(j->files[i].out, text, n, &err);
        assay_free(text);
        if (s != ASSAY_OK)
            return cli_complain(&err);
    }
    int code = cli_job_commit(j);
    return code || j->failed ? code : cli_job_keep(j);
}

int cli_job_show_and_write(cli_job *j)
{
    int code = cli_job_show(j);
    return code ? code : cli_job_write(j);
}

int cli_job_open_outputs(cli_job *j)
{
    return open_outputs(j);
}

int cli_job_model(cli_job *j)
{
    return open_model(j);
}

int cli_job_open(cli_job *j)
{
    int code = cli_job_open_outputs(j);
    if (!code)
        code = cli_job_open_store(j);
    return code ? code : open_model(j);
}

/* A .json may also describe a model: a configuration has no schema of ours, a custom model "assay.model". */
int cli_job_result(const char *word, assay_result **out, int *code)
{
    char schema[ASSAY_SCHEMA_BYTES];
    assay_error err;
    if (!ends_in(word, ".json"))
        return 0;
    assay_status s = assay_result_schema(word, schema, &err);
    if (s == ASSAY_ERR_SYSTEM) {
        *code = cli_complain(&err);
        return -1;
    }
    if (s != ASSAY_OK || strncmp(schema, "assay.", 6) != 0 || strcmp(schema, "assay.model") == 0)
        return 0;
    if (assay_result_read(word, CLI_COMPARED_KINDS, out, &err) == ASSAY_OK)
        return 1;
    *code = cli_complain(&err);
    return -1;
}

void cli_job_close(cli_job *j)
{
    for (int i = 0; i < j->n_files; i++)
        assay_output_abandon(j->files[i].out);
    assay_store_close(j->store);
    assay_result_free(j->profile);
    assay_model_free(j->model);
    free(j->bytes);
}

static int make_and_show(cli_job *j, cli_make_fn *make, const char *view)
{
    assay_error err;
    int code = cli_job_open(j);
    if (code)
        return code;
    cli_job_record(j);
    assay_options_set(j->args->options, "view", view, NULL);
    j->verdict = make(j->model, j->args->options, &j->profile, &err);
    if (j->verdict != ASSAY_OK)
        cli_complain(&err);
    if (!j->profile || j->verdict == ASSAY_ERR_SYSTEM)
        return (int)j->verdict;
    cli_describe_screen(j->args);
    code = cli_job_show_and_write(j);
    return code ? code : (int)j->verdict;
}

int cli_job_view(cli_args *args, cli_make_fn *make, const char *view)
{
    cli_job j = {.args = args};
    int code = make_and_show(&j, make, view);
    cli_job_close(&j);
    return code;
}

/* ---- views ---- */

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
    if (s == ASSAY_OK && file)
        s = assay_output_write(file, text, n, &err);
    int code = s != ASSAY_OK ? cli_complain(&err) : file ? ASSAY_OK : cli_print(text, n);
    assay_free(text);
    return code;
}

int cli_views(cli_job *j, const assay_result *const *results, size_t n_results)
{
    const shown what = {results, n_results};
    int code = ASSAY_OK;
    cli_describe_screen(j->args);
    if (j->stdout_format)
        code = write_view(j, &what, j->stdout_format, NULL);
    for (int i = 0; i < j->n_files && !code; i++)
        code = write_view(j, &what, j->files[i].format, j->files[i].out);
    return code ? code : cli_job_commit(j);
}

int cli_view(cli_job *j, const assay_result *result)
{
    return cli_views(j, &result, 1);
}
