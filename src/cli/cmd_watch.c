/* assay watch: resources of a running process over time. A command keeps its stdout, so the console view goes to
 * stderr; stdout is used for requested formats.
 *
 * Exit code: that of the command, 128 + signal if a signal ended it, 130 if watching was interrupted, 0 with --pid.
 * Errors of assay have their usual codes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run.h"

typedef struct live {
    bool tty, shown;
    char processor[24];
} live;

static bool on_sample(void *ctx, const assay_watch_sample *s)
{
    live *l = ctx;
    if (!l->tty)
        return true;
    char text[200] = "", disk[64] = "";
    if (s->read_bytes != UINT64_MAX)
        snprintf(disk, sizeof disk, "  disk %.1f/%.1f MiB", (double)s->read_bytes / 1048576,
                 (double)s->written_bytes / 1048576);
    if (s->cpu_percent >= 0) /* else the last value stays */
        snprintf(l->processor, sizeof l->processor, "%.0f %%", s->cpu_percent);
    snprintf(text, sizeof text,
             "  %.1f s  processor %5s  memory %.1f MiB  %llu thread%s%s  faults %llu", s->time_s,
             *l->processor ? l->processor : "-", (double)s->resident / 1048576,
             (unsigned long long)s->threads, s->threads == 1 ? "" : "s", disk,
             (unsigned long long)(s->minor_faults + s->major_faults));
    /* A line that wraps could not be written over. */
    fprintf(stderr, "\r\033[K%.*s", (int)cli_width() - 1, text);
    fflush(stderr);
    l->shown = true;
    return true;
}

static int show(cli_job *j, bool command)
{
    assay_error err;
    char *text;
    size_t n;
    if (!command || !j->stdout_format || strcmp(j->stdout_format, "console") != 0)
        return cli_job_show(j);
    assay_options_set(j->args->options, "color",
                      cli_color(j->args->output.color) ? "true" : "false", NULL);
    if (assay_result_write(j->profile, "console", j->args->options, &text, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    fwrite(text, 1, n, stderr);
    assay_free(text);
    return ASSAY_OK;
}

static int child_code(const assay_result *p)
{
    double code = assay_result_number(p, "watch.exit_code");
    return code > 0 ? (int)code : 0;
}

static int run(cli_job *j)
{
    cli_args *a = j->args;
    live l = {.tty = isatty(STDERR_FILENO) && !a->output.quiet};
    const assay_watch_hooks hooks = {
        .size = sizeof hooks, .ctx = &l, .sample = on_sample, .cancelled = cli_interrupted};
    const char *words[CLI_MAX_WORDS + 1] = {0};
    const char *const *argv = a->rest ? (const char *const *)a->rest : words;
    assay_error err;
    memcpy(words, a->words, sizeof *words * (size_t)a->n_words);
    if (!*argv == !a->pid || (a->rest && a->n_words))
        return cli_complain_text(
            ASSAY_ERR_USAGE,
            "watch needs either a command or a process. Use `-- COMMAND` or `--pid N`.");
    int code = cli_job_open_outputs(j);
    if (!code)
        code = cli_job_open_store(j);
    if (code)
        return code;
    cli_job_record(j);
    cli_catch_interrupt();
    assay_status s = assay_watch(*argv ? argv : NULL, a->pid, a->options, &hooks, &j->profile,
                                 &err);
    if (l.shown)
        fputs("\r\033[K", stderr);
    if (!j->profile)
        return cli_complain(&err);
    cli_describe_screen(a);
    code = cli_job_write(j);
    int shown = show(j, *argv != NULL);
    code = code ? code : shown;
    return code ? code : s ? cli_complain(&err) : child_code(j->profile);
}

static int run_watch(cli_args *args)
{
    cli_job j = {.args = args};
    int code = run(&j);
    cli_job_close(&j);
    return code;
}

static const char *const watch_examples[] = {
    "assay watch -o run.json -- python3 serve.py",
    "a command from start to end",
    "assay watch --pid 4711 --duration 60 --interval 500",
    "one minute of a running process",
    NULL,
};

const cli_command command_watch = {
    CLI_COMMAND("watch", "[-- COMMAND ...]", 0, CLI_MAX_WORDS, run_watch),
    .classes = "screen page result save measures rest",
    .formats = CLI_REPORT_FORMATS,
    .examples = watch_examples,
    .about = "Watch a process over time: CPU, memory, disk, page faults.",
    .more = "Starts COMMAND, or attaches to a process with --pid, and watches it and its "
            "descendants until it ends, --duration is over, or Ctrl-C. The result is always "
            "written. The exit code is that of the command, 128 + signal if a signal ended it, 130 "
            "after Ctrl-C. stdout is the command's; the console view goes to stderr."};
