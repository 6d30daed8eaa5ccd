/* assay load: requests to a live endpoint, measured. Exit code: 5 if no request succeeded, 6 if --slo was missed (without
 * --curve), 130 after Ctrl-C with what was measured. */
#include <time.h>
#include <unistd.h>

#include "cli/job.h"
#include "cli/keep.h"
#include "cli/run.h"

typedef struct live {
    bool tty, shown;
    struct timespec drawn;
} live;

static bool progress(void *ctx, const assay_progress *p)
{
    live *l = ctx;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - l->drawn.tv_sec) +
                   (double)(now.tv_nsec - l->drawn.tv_nsec) / 1e9;
    if (cli_interrupted(NULL))
        return false;
    if (!l->tty || (l->shown && since < 0.2))
        return true;
    l->drawn = now;
    l->shown = true;
    fprintf(stderr, "\r\033[K  %s: %llu done, %.0f %%", p->what, (unsigned long long)p->done,
            100 * p->fraction);
    fflush(stderr);
    return true;
}

/* Options of the program that the library knows by other names. */
static int pass_options(cli_args *a)
{
    char pid[32];
    assay_error err;
    assay_status s = ASSAY_OK;
    if (a->model.names.n > 1)
        return cli_complain_text(ASSAY_ERR_USAGE, "load takes one --model");
    if (a->model.names.n)
        s = assay_options_set(a->options, "served-model", a->model.names.items[0], &err);
    snprintf(pid, sizeof pid, "%ld", a->pid);
    if (s == ASSAY_OK && a->pid)
        s = assay_options_set(a->options, "server-pid", pid, &err);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static assay_status send_load(cli_args *a, assay_result **out, assay_error *err)
{
    live l = {.tty = isatty(STDERR_FILENO) && !a->output.quiet};
    const assay_hooks hooks = {
        .size = sizeof hooks, .ctx = &l, .progress = progress, .cancelled = cli_interrupted};
    cli_catch_interrupt();
    assay_status s = assay_load(a->words[0], a->options, &hooks, out, err);
    if (l.shown)
        fputs("\r\033[K", stderr);
    return s;
}

/* A load without a good request, and one that was interrupted without --save, are not stored. */
static int keep(const cli_args *a, assay_store *store, const assay_result *r, assay_status s)
{
    bool whole = s == ASSAY_OK || s == ASSAY_ERR_THRESHOLD ||
                 (s == ASSAY_ERR_INTERRUPTED && a->history.save);
    return store && whole ? cli_keep(a, store, r) : ASSAY_OK;
}

static int run(cli_job *j, assay_store **store, assay_result **r)
{
    cli_args *a = j->args;
    assay_error err;
    int code = cli_job_open_outputs(j);
    if (!code)
        code = cli_keep_open(a, store);
    if (!code)
        code = pass_options(a);
    if (code)
        return code;
    cli_record_command(a);
    assay_status s = send_load(a, r, &err);
    if (!*r)
        return cli_complain(&err);
    code = cli_view(j, *r);
    if (!code)
        code = keep(a, *store, *r, s);
    return code ? code : s ? cli_complain(&err) : ASSAY_OK;
}

static int run_load(cli_args *args)
{
    cli_job j = {.args = args};
    assay_store *store = NULL;
    assay_result *r = NULL;
    int code = run(&j, &store, &r);
    assay_store_close(store);
    assay_result_free(r);
    cli_job_close(&j);
    return code;
}

static const char *const load_examples[] = {
    "assay load http://127.0.0.1:8000/ --concurrency 64 --duration 10s",
    "64 connections, each with one request at a time",
    "assay load http://127.0.0.1:8000/ --rate 500 --slo p99:50ms",
    "500 requests per second, whether or not the server keeps up",
    "assay load http://[::1]:8000/v1/chat/completions --rate 4 --prompt-tokens 512",
    "a language model: time to first token, gaps, tokens per second",
    "assay load http://[::1]:8000/v2/models/m/infer --curve --slo p99:100ms",
    "the whole curve, and the highest rate within the SLO",
    "assay load URL --trace t.jsonl --header-file keys.txt --pid 4711 --save",
    "replay a trace, watch the server, store the result",
    NULL,
};

const cli_command command_load = {
    CLI_COMMAND("load", "URL", 1, 1, run_load),
    .classes = "screen page result save measures",
    .formats = CLI_VIEW_FORMATS,
    .examples = load_examples,
    .about = "Load a live endpoint: latency, time to first token, throughput, SLO, load curve.",
    .more =
        "URL is http:// or https://; only its address is contacted, and redirects are not "
        "followed. The protocol follows from its path: OpenAI chat and completions, KServe v2, "
        "TorchServe, TensorFlow Serving, else plain HTTP. Without --rate, --trace or --curve it is "
        "a closed loop of --concurrency connections. Exit 5 if no request succeeded, 6 if --slo "
        "is missed. See docs/load.md."};
