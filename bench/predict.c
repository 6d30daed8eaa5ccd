/* What predictions on `this` are worth: calibrates on the models that `assay machine --calibrate` runs, then
 * predicts and measures models that are not among them, at batch 1 and 4. The reference kernel of the calibration runs
 * between them, and a prediction is for the machine as it is then (measure/drift.h).
 *
 *   predict [--busy N] [--threads N] [--seconds N] [MODEL ...]      about four minutes on a quiet machine
 *
 * After --seconds (270) no further model is begun: the verdict is of the rows until then, and says how many they are.
 * --busy N starts N loops first, which take a CPU each, and stops them at the end. Targets: median error at most 10 %
 * (18 % with busy loops), 75 % of rows or more inside the 80 % interval, 90 % within a factor of two. An interval wider
 * than a factor of two is what `assay map` marks imprecise and leaves out of rankings: it is said, not a miss.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/map.h"
#include "base/clock.h"
#include "jobs/calibration.h"
#include "measure/stats.h"

static const char *const held_out[] = {
    "resnet18",           "resnet50",
    "wide_resnet50_2",    "vgg11",
    "densenet169",        "squeezenet1_1",
    "inception_v3",       "shufflenet_v2_x0_5",
    "shufflenet_v2_x2_0", "mnasnet1_0",
    "mobilenet_v2",       "mobilenet_v3_small",
    "efficientnet_b1",    "regnet_x_400mf",
    "regnet_y_1_6gf",     "convnext_small",
    "vit_b_16",           "swin_v2_t",
    "maxvit_t",           "bert-base-uncased",
    "distilgpt2",         "lraspp_mobilenet_v3_large",
};
enum {
    N_HELD_OUT = sizeof held_out / sizeof *held_out,
    ERRORS_MAX = 256,
    LOOPS_MAX = 64,
    SECONDS_MOST = 270
};

typedef struct results {
    double errors[ERRORS_MAX];
    uint32_t n, within_2, inside;
} results;

/* ---- busy loops ---- */

typedef struct loops {
    pid_t pid[LOOPS_MAX];
    int n;
} loops;

static void loops_start(loops *l, int n)
{
    for (; l->n < n && l->n < LOOPS_MAX; l->n++) {
        l->pid[l->n] = fork();
        if (l->pid[l->n] != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned i = 0;; i++)
            ;
    }
}

static void loops_stop(loops *l)
{
    for (; l->n > 0; l->n--)
        if (l->pid[l->n - 1] > 0 && kill(l->pid[l->n - 1], SIGKILL) == 0)
            waitpid(l->pid[l->n - 1], NULL, 0);
}

/* ---- checks ---- */

static bool say_progress(void *ctx, const char *what, double done, double planned)
{
    (void)ctx;
    fprintf(stderr, "\r\033[K  calibrating: %.0f of %.0f s, %s", done, planned, what);
    return true;
}

/* How many times slower than when it was calibrated the machine is around the runs without the profiler. */
static double speed_now(const job_reference *r, const job_kernels *k, const calibration *c)
{
    const drift *d = job_reference_drift(r);
    return drift_ratio((d->seconds[k->reference[1]] + d->seconds[k->reference[2]]) / 2,
                       c->reference_s);
}

static assay_status check(const job_kernels_request *q, const calibration *c, results *r,
                          assay_error *err)
{
    arena *a = arena_new((size_t)512 << 20);
    job_kernels k = {0};
    predict_time t = {0};
    assay_status s = a ? job_kernels_measure(q, a, &k, err) : err_no_memory(err);
    if (s == ASSAY_OK && !predict_run(k.p, c, a, &t))
        s = err_no_memory(err);
    if (s == ASSAY_OK && r->n < ERRORS_MAX) {
        double now = speed_now(q->reference, &k, c);
        double expected = t.seconds * now, e = expected / k.latency_s - 1;
        bool inside = k.latency_s >= expected * c->low && k.latency_s <= expected * c->high;
        printf("  %-28s %5lld %9.2f %9.2f..%-9.2f %9.2f %+7.1f %%  reference %.2f%s\n", q->model,
               (long long)q->batch, expected * 1e3, expected * c->low * 1e3,
               expected * c->high * 1e3, k.latency_s * 1e3, e * 100, now,
               inside ? "" : "  outside");
        fflush(stdout);
        r->errors[r->n++] = fabs(e);
        r->within_2 += e < 1 && e > -0.5;
        r->inside += inside;
    }
    job_kernels_free(&k);
    arena_free(a);
    return s;
}

static bool verdict(const char *what, double value, double limit, bool at_least)
{
    bool met = at_least ? value >= limit : value <= limit;
    printf("  %-34s %9.1f %%  target %s %g %%  %s\n", what, value * 100,
           at_least ? "at least" : "below", limit * 100, met ? "met" : "MISSED");
    return met;
}

static void say_calibration(const calibration *c)
{
    printf(
        "\rCalibrated in %.0f s on %u runs with %s: %u families, %u folds, scale %.3f, %.2f us a kernel.\n",
        c->seconds, c->n_runs, c->engine, c->n_families, c->n_folds, c->scale, c->kernel_s * 1e6);
    printf(
        "The reference took %.2f ms, its slowest tenth %.2f times the fastest.\n"
        "Of models left out one by one: median error %.1f %%, 80 %% of measured over predicted within "
        "%.2f to %.2f.\n\n",
        c->reference_s * 1e3, c->drift, c->error * 100, c->low, c->high);
    if (c->high > MAP_PRECISE * c->low)
        puts("The interval spans more than a factor of two: predictions are marked imprecise.\n");
    for (uint32_t i = 0; i < c->n_runs; i++)
        printf("  left out: %-28s %3u %9.2f ms predicted %9.2f measured %+7.1f %%\n",
               c->runs[i].model, c->runs[i].batch, c->runs[i].predicted_s * 1e3,
               c->runs[i].measured_s * 1e3,
               (c->runs[i].predicted_s / c->runs[i].measured_s - 1) * 100);
}

static bool judge(results *r, bool busy)
{
    stats_sort(r->errors, r->n);
    puts("");
    bool met = verdict("median error", stats_quantile(r->errors, r->n, 0.5), busy ? 0.18 : 0.1,
                       false);
    met &= verdict("within a factor of two", r->n ? (double)r->within_2 / r->n : 0, 0.9, true);
    met &= verdict("inside the 80 % interval", r->n ? (double)r->inside / r->n : 0, 0.75, true);
    return met;
}

static int take_number(int *argc, char ***argv, const char *name)
{
    if (*argc < 3 || strcmp((*argv)[1], name) != 0)
        return 0;
    int n = atoi((*argv)[2]);
    *argc -= 2;
    *argv += 2;
    return n;
}

int main(int argc, char **argv)
{
    assay_options *o = assay_options_new();
    calibration *c = calloc(1, sizeof *c);
    engine *e = NULL;
    assay_error err = {0};
    results r = {0};
    const char *const *models = held_out;
    uint32_t n = N_HELD_OUT;
    const char *folders[] = {"build/engine", NULL};
    const engine_config config = {.folders = folders};
    loops busy = {0};
    job_reference *reference = NULL;
    int n_busy = take_number(&argc, &argv, "--busy");
    int threads = take_number(&argc, &argv, "--threads");
    int most = take_number(&argc, &argv, "--seconds");
    uint64_t until = clock_mono_ns() + (uint64_t)(most > 0 ? most : SECONDS_MOST) * 1000000000;
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    if (threads)
        assay_options_set(o, "threads", text, &err);
    if (argc > 1) {
        models = (const char *const *)(argv + 1);
        n = (uint32_t)argc - 1;
    }
    if (engine_open("ort", &config, &e, &err) != ASSAY_OK) {
        printf("  skipped: %s\n", err.message);
        return 0;
    }
    loops_start(&busy, n_busy);
    const job_calibration_request q = {.engine = e, .o = o, .progress = say_progress};
    assay_status s = job_calibrate_machine(&q, c, &err);
    if (s == ASSAY_OK) {
        fputs("\r\033[K", stderr);
        say_calibration(c);
        printf("\nHeld out:\n  %-28s %5s %9s %20s %9s %9s\n", "model", "batch", "predicted",
               "80 % interval", "measured", "error");
    }
    if (s == ASSAY_OK)
        s = job_reference_open(e, o, &reference, &err);
    for (uint32_t i = 0; s == ASSAY_OK && i < 2 * n && clock_mono_ns() < until; i++) {
        const job_kernels_request one = {.engine = e,
                                         .o = o,
                                         .model = models[i / 2],
                                         .batch = i % 2 ? 4 : 1,
                                         .budget_s = 0.35,
                                         .reference = reference};
        s = check(&one, c, &r, &err);
    }
    if (s == ASSAY_OK && r.n < 2 * n)
        printf("\nThe time was up after %u of %u rows.\n", r.n, 2 * n);
    bool met = s == ASSAY_OK && judge(&r, n_busy > 0);
    loops_stop(&busy);
    job_reference_close(reference);
    if (s != ASSAY_OK)
        printf("%s\n", err.message);
    engine_close(e);
    assay_options_free(o);
    free(c);
    return met ? 0 : 1;
}
