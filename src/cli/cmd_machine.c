/* assay machine: measures this machine, keeps the result where `this` is looked for, and shows it. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/keep.h"
#include "cli/run.h"
#include "cli/views.h"

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

static int measure(cli_args *a, assay_machine **out)
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
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

/* ---- the screen ---- */

static void put_label(const char *label)
{
    printf("  %-13s", label);
}

static void put_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    for (; bytes >= 1024 && u < 4; u++)
        bytes /= 1024;
    printf("%.*f %s", bytes < 10 && bytes != (double)(int)bytes ? 1 : 0, bytes, units[u]);
}

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

/* A number of things, or that it is not known. */
static void put_count(unsigned n, const char *what)
{
    if (n)
        printf("%u %s%s", n, what, plural(n));
    else
        printf("%ss unknown", what);
}

static void put_processors(const assay_machine_info *i)
{
    put_label("Processors");
    printf("%u usable of ", i->usable_processors);
    put_count(i->processors, "processor");
    fputs(": ", stdout);
    put_count(i->sockets, "socket");
    fputs(", ", stdout);
    put_count(i->cores, "core");
    fputs(", ", stdout);
    put_count(i->threads_per_core, "thread");
    puts(i->threads_per_core ? " per core" : "");
    put_label("Memory");
    put_bytes((double)i->memory_bytes);
    fputs(" in ", stdout);
    put_count(i->numa_nodes, "node");
    putchar('\n');
    if (i->quota_processors > 0) {
        put_label("Quota");
        printf("%.3g processors, by the control group\n", i->quota_processors);
    }
}

static void put_caches(const assay_machine *m)
{
    assay_cache c = {.size = sizeof c};
    put_label("Caches");
    for (size_t i = 0; assay_machine_cache(m, i, &c); i++) {
        printf("%sL%u%s ", i ? " · " : "", c.level,
               strcmp(c.kind, "instruction") == 0 ? "i"
               : strcmp(c.kind, "data") == 0      ? "d"
                                                  : "");
        put_bytes((double)c.size_bytes);
        if (c.instances > 1)
            printf(" × %u", c.instances);
    }
    puts(assay_machine_cache(m, 0, &c) ? "" : "unknown");
}

static void put_mhz(const char *what, double mhz)
{
    if (mhz > 0)
        printf("%s%.0f MHz", what, mhz);
    else
        printf("%sunknown", what);
}

static void put_percent(double v, const char *after)
{
    if (!(v >= 0))
        printf("unknown%s", after);
    else
        printf("%.1f %%%s", v, after);
}

static void put_system(const assay_machine_info *i)
{
    put_label("Clock");
    put_mhz("now ", i->mhz);
    put_mhz(" · highest ", i->mhz_max);
    printf(" · governor %s\n", *i->governor ? i->governor : "unknown");
    put_label("Shared");
    printf("hypervisor %s · container %s\n", *i->hypervisor ? i->hypervisor : "unknown",
           *i->container ? i->container : "unknown");
    put_label("Stolen time");
    put_percent(i->steal_percent, " while this was measured, ");
    put_percent(i->steal_percent_since_boot, " since the system started\n");
}

static void put_texts(const assay_machine *m, const char *label,
                      const char *at(const assay_machine *m, size_t i), const char *comma)
{
    char text[600];
    size_t n = 0;
    const char *t;
    for (size_t i = 0; (t = at(m, i)) && n < sizeof text - 64; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? comma : "", t);
    if (n == 0)
        return;
    put_label(label);
    cli_wrap(text, 15, 15, cli_width());
}

/* ---- ceilings ---- */

static void put_figure(const assay_figure *f)
{
    double g = f->value / 1e9;
    printf(" %9.*f", g < 10 ? 2 : g < 1000 ? 1 : 0, g);
    printf(" %5.1f %%", f->spread * 100);
}

static unsigned most_threads(const assay_machine *m)
{
    assay_rate r = {.size = sizeof r};
    unsigned most = 1;
    for (size_t i = 0; assay_machine_rate(m, i, &r); i++)
        most = r.threads > most ? r.threads : most;
    return most;
}

static void put_all_of(const assay_machine *m, const assay_rate *one)
{
    assay_rate r = {.size = sizeof r};
    for (size_t i = 0; assay_machine_rate(m, i, &r); i++)
        if (r.threads > 1 && strcmp(r.dtype, one->dtype) == 0 && strcmp(r.isa, one->isa) == 0)
            put_figure(&r.operations_per_second);
}

static void put_rates(const assay_machine *m)
{
    assay_rate r = {.size = sizeof r};
    unsigned all = most_threads(m);
    puts("\nArithmetic  10⁹ operations a second; a multiply-add is two");
    printf("  %-10s %-14s %9s %7s", "dtype", "instructions", "1 thread", "spread");
    if (all > 1)
        printf(" %3u thread%s %7s", all, plural(all), "spread");
    putchar('\n');
    for (size_t i = 0; assay_machine_rate(m, i, &r); i++) {
        if (r.threads != 1)
            continue;
        printf("  %-10s %-14s", r.dtype, r.isa);
        put_figure(&r.operations_per_second);
        put_all_of(m, &r);
        putchar('\n');
    }
}

static void put_flow_line(const assay_machine *m, const assay_flow *first)
{
    static const char *const kinds[] = {"read", "write", "copy", "triad"};
    assay_flow f = {.size = sizeof f};
    double worst = 0;
    char set[24];
    snprintf(set, sizeof set, "%.4g %s",
             (double)first->set_bytes / (first->set_bytes < 1 << 20 ? 1024 : 1 << 20),
             first->set_bytes < 1 << 20 ? "KiB" : "MiB");
    printf("  %-6s %7u %11s", first->level, first->threads, set);
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; assay_machine_flow(m, i, &f); i++)
            if (f.threads == first->threads && strcmp(f.level, first->level) == 0 &&
                strcmp(f.kind, kinds[k]) == 0) {
                double g = f.bytes_per_second.value / 1e9;
                printf(" %8.*f", g < 100 ? 1 : 0, g);
                worst = f.bytes_per_second.spread > worst ? f.bytes_per_second.spread : worst;
            }
    printf("  %5.1f %%\n", worst * 100);
}

static void put_flows(const assay_machine *m)
{
    assay_flow f = {.size = sizeof f};
    puts("\nBandwidth  10⁹ bytes a second, as the program sees them");
    printf("  %-6s %7s %11s %8s %8s %8s %8s  %7s\n", "level", "threads", "set each", "read",
           "write", "copy", "triad", "spread");
    for (size_t i = 0; assay_machine_flow(m, i, &f); i++)
        if (strcmp(f.kind, "read") == 0)
            put_flow_line(m, &f);
}

static void put_curve(const assay_machine *m)
{
    uint64_t set;
    double read, triad;
    if (!assay_machine_curve(m, 0, &set, &read, &triad))
        return;
    puts("\nBy working set  one thread, 10⁹ bytes a second");
    printf("  %9s %8s %8s\n", "set", "read", "triad");
    for (size_t i = 0; assay_machine_curve(m, i, &set, &read, &triad); i++) {
        char text[24];
        snprintf(text, sizeof text, "%llu %s",
                 (unsigned long long)(set < 1 << 20 ? set >> 10 : set >> 20),
                 set < 1 << 20 ? "KiB" : "MiB");
        printf("  %9s %8.1f %8.1f\n", text, read / 1e9, triad / 1e9);
    }
}

static void put_engine(const assay_machine_info *i)
{
    puts("\nEngine");
    put_label("Dispatch");
    if (i->dispatch_s > 0)
        printf("%.2f µs between kernels (%.2f to %.2f), %s\n", i->dispatch_s * 1e6,
               i->dispatch_low_s * 1e6, i->dispatch_high_s * 1e6, i->engine);
    else
        printf("not measured: %s\n", *i->engine ? i->engine : "there is no engine");
}

static void put_calibration(const assay_machine *m)
{
    assay_calibration c = {.size = sizeof c};
    char text[400];
    put_label("Predictions");
    if (!assay_machine_calibration(m, &c)) {
        puts("a roofline's; `assay machine --calibrate` learns from kernels");
        return;
    }
    snprintf(
        text, sizeof text,
        "calibrated in %.0f s on %zu runs of models with %s; of models left out the median error is "
        "%.0f %%, and four of five take %.2f to %.2f of what is predicted",
        c.seconds, c.n_runs, c.engine, c.median_error * 100, c.interval_low, c.interval_high);
    cli_wrap(text, 15, 15, cli_width());
}

static void put_screen(assay_machine *m)
{
    assay_machine_info i = {.size = sizeof i};
    char text[512];
    assay_machine_about(m, &i);
    printf("%s\n", *i.cpu ? i.cpu : "This machine");
    snprintf(text, sizeof text, "%s%s%s · %s · measured %s in %.0f s%s", i.host,
             *i.host ? " · " : "", i.machine, i.os, i.timestamp, i.seconds,
             i.quick ? ", quickly" : "");
    cli_wrap(text, 2, 2, cli_width());
    putchar('\n');
    puts("Machine");
    put_processors(&i);
    put_caches(m);
    put_system(&i);
    put_texts(m, "Instructions", assay_machine_isa, " ");
    put_texts(m, "Not told", assay_machine_unknown, ", ");
    put_rates(m);
    put_flows(m);
    put_curve(m);
    put_engine(&i);
    put_calibration(m);
    fputs("\n", stdout);
    cli_wrap(
        "A ceiling is the best of short samples taken in turn; of L3 and memory, which others "
        "share, their 90th percentile. Spread is the distance of their quartiles. `--hardware this` is this machine from now on.",
        0, 0, cli_width());
}

/* ---- the whole ---- */

/* Everything but the screen is made of its JSON. */
static assay_status render(const void *ctx, const char *format, const assay_options *o, char **text,
                           size_t *n, assay_error *err)
{
    char *json;
    size_t json_n;
    assay_status s = assay_machine_report(ctx, &json, &json_n, err);
    if (s != ASSAY_OK)
        return s;
    s = assay_document_report(json, json_n, "this machine", format, o, text, n, err);
    assay_free(json);
    return s;
}

static int show(cli_job *j, assay_machine *m)
{
    bool screen = j->stdout_format && strcmp(j->stdout_format, "console") == 0;
    if (screen)
        j->stdout_format = NULL;
    int code = cli_views(j, render, m);
    if (code || !screen)
        return code;
    put_screen(m);
    return cli_flush();
}

static int keep(cli_args *a, const assay_machine *m, assay_store *store)
{
    assay_error err;
    int64_t id = 0;
    if (!store)
        return ASSAY_OK;
    cli_record_command(a);
    assay_status s = assay_store_save_machine(store, m, a->options, a->history.tags.items,
                                              (size_t)a->history.tags.n, &id, &err);
    return cli_kept(a, s, id, &err);
}

static int get(cli_args *a, assay_machine **m)
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
    assay_machine *m = NULL;
    assay_store *store = NULL;
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = cli_keep_open(a, &store);
    if (!code)
        code = get(a, &m);
    if (!code)
        code = keep(a, m, store);
    if (!code)
        code = show(&j, m);
    assay_store_close(store);
    assay_machine_free(m);
    cli_job_close(&j);
    return code;
}

static const char *const machine_examples[] = {
    "assay machine",
    "measures for half a minute and keeps the result",
    "assay machine --show",
    "what was measured last",
    "assay machine --calibrate",
    "a minute or two more, for predicted times with their error",
    "assay machine --quick --json -o machine.json",
    "five seconds, into a file as well",
    "assay map resnet50 --hardware this",
    "what the result is for",
    NULL,
};

const cli_command command_machine = {
    .name = "machine",
    .words = "",
    .about = "Measure this machine: topology, ceilings of arithmetic, memory and engine.",
    .more = "Runs loops of multiply-adds, loads and stores, with one thread and with all. The "
            "result is kept and becomes the device `this`. docs/hardware.md says how each ceiling "
            "is measured.",
    .examples = machine_examples,
    .classes = "page result save",
    .formats = CLI_VIEW_FORMATS,
    .run = run_machine,
};
