/* assay machine: measures this machine, saves the result as the device `this`, and shows it. */
#include <time.h>
#include <unistd.h>

#include "cli/job.h"
#include "cli/keep.h"
#include "cli/run.h"

/* ---- while it runs ---- */

typedef struct measuring {
    bool tty, shown;
    struct timespec drawn;
} measuring;

static bool progress(void *ctx, const assay_progress *p)
{
    measuring *x = ctx;
    struct timespec now;
    if (cli_interrupted(NULL))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - x->drawn.tv_sec) +
                   (double)(now.tv_nsec - x->drawn.tv_nsec) / 1e9;
    if (!x->tty || (x->shown && since < 0.1))
        return true;
    x->drawn = now;
    x->shown = true;
    fprintf(stderr, "\r\033[K  measuring: %llu of %llu s, %.40s",
            (unsigned long long)p->done / 1000, (unsigned long long)(p->planned + 999) / 1000,
            p->what);
    fflush(stderr);
    return true;
}

static int measure(cli_args *a, assay_result **out)
{
    measuring x = {.tty = isatty(STDERR_FILENO)};
    const assay_hooks hooks = {
        .size = sizeof hooks, .ctx = &x, .progress = progress, .cancelled = cli_interrupted};
    assay_error err;
    cli_catch_interrupt();
    assay_status s = assay_machine_measure(a->options, &hooks, out, &err);
    if (x.shown)
        fputs("\r\033[K", stderr);
    if (s == ASSAY_OK)
        s = assay_machine_save(*out, NULL, &err);
    if (s == ASSAY_OK && !a->output.quiet)
        fprintf(stderr, "assay: saved to %s as the device 'this'\n", assay_machine_path(*out));
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

/* ---- the whole ---- */

static int keep(cli_args *a, const assay_result *m, assay_store *store)
{
    if (!store)
        return ASSAY_OK;
    cli_record_command(a);
    return cli_keep(a, store, m);
}

static int get(cli_args *a, assay_result **m)
{
    assay_error err;
    if (!a->machine_show)
        return measure(a, m);
    int code = cli_refuse_options(a, "quick calibrate threads engine-lib",
                                  "--show does not measure");
    if (code)
        return code;
    return assay_machine_open(NULL, m, &err) == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static int run_machine(cli_args *a)
{
    cli_job j = {.args = a};
    assay_result *m = NULL;
    assay_store *store = NULL;
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = cli_keep_open(a, &store);
    if (!code)
        code = get(a, &m);
    if (!code)
        code = keep(a, m, store);
    if (!code)
        code = cli_view(&j, m);
    assay_store_close(store);
    assay_result_free(m);
    cli_job_close(&j);
    return code;
}

static const char *const machine_examples[] = {
    "assay machine",
    "measure for half a minute and save the result",
    "assay machine --show",
    "show the saved result",
    "assay machine --calibrate",
    "a minute or two more, for better predictions",
    "assay machine --quick --json -o machine.json",
    "five seconds, with the result in a file",
    "assay map resnet50 --hardware this",
    "use the result",
    NULL,
};

const cli_command command_machine = {
    CLI_COMMAND("machine", "", 0, 0, run_machine),
    .classes = "screen page result save",
    .formats = CLI_VIEW_FORMATS,
    .examples = machine_examples,
    .about = "Measure this machine: topology, peak arithmetic, memory bandwidth, engine overhead.",
    .more = "Runs loops of multiply-adds, loads and stores, with one thread and with all. The "
            "result is saved as the device `this`. See docs/hardware.md for the method."};
