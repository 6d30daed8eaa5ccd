/* See run.h. The flag is the only mutable variable of the program: set by a signal handler, read by several threads. */
#include "cli/run.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int interrupted;

static void on_interrupt(int sig)
{
    (void)sig;
    interrupted = 1;
}

void cli_catch_interrupt(void)
{
    struct sigaction a = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

bool cli_interrupted(void *ctx)
{
    (void)ctx;
    return interrupted != 0;
}

/* ---- the progress line ---- */

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

void cli_run_clear(cli_run *r)
{
    if (r->line_shown)
        fputs("\r\033[K", stderr);
    r->line_shown = false;
}

static void draw(cli_run *r, const assay_progress *p)
{
    double passed = seconds_since(&r->began);
    fprintf(stderr, "\r\033[K  batch %llu %s (%zu of %zu): %s", (unsigned long long)p->batch,
            p->precision ? p->precision : "", p->index + 1, p->count, p->what);
    if (p->planned)
        fprintf(stderr, " %llu of %llu", (unsigned long long)p->done,
                (unsigned long long)p->planned);
    else if (p->done)
        fprintf(stderr, " %llu", (unsigned long long)p->done);
    if (p->fraction > 0.05 && p->fraction < 1) {
        double left = passed / p->fraction * (1 - p->fraction);
        double whole = seconds_since(&r->config_began) + left;
        fprintf(stderr, ", about %.0f s left", left + whole * p->work_after + 0.5);
    }
    fflush(stderr);
    r->line_shown = true;
}

static bool progress(void *ctx, const assay_progress *p)
{
    cli_run *r = ctx;
    if (interrupted)
        return false;
    if (!r->tty)
        return true;
    bool other = p->index + 1 != r->config;
    if (other)
        clock_gettime(CLOCK_MONOTONIC, &r->config_began);
    if (p->done <= 1 || other) {
        clock_gettime(CLOCK_MONOTONIC, &r->began);
        r->config = p->index + 1;
    } else if (seconds_since(&r->drawn) < 0.1) {
        return true;
    }
    clock_gettime(CLOCK_MONOTONIC, &r->drawn);
    draw(r, p);
    return true;
}

assay_hooks cli_run_hooks(cli_run *r)
{
    r->tty = isatty(STDERR_FILENO);
    return (assay_hooks){
        .size = sizeof(assay_hooks), .ctx = r, .progress = progress, .cancelled = cli_interrupted};
}

int cli_run_measure(cli_run *r, unsigned what)
{
    const assay_hooks hooks = cli_run_hooks(r);
    assay_error err;
    cli_catch_interrupt();
    assay_status s = assay_measure(r->job->model, r->job->args->options, what, &hooks,
                                   r->job->profile, &err);
    cli_run_clear(r);
    r->job->interrupted = s == ASSAY_ERR_INTERRUPTED;
    r->job->failed = s != ASSAY_OK && s != ASSAY_ERR_INTERRUPTED;
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}
