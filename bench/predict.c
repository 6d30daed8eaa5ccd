/* What predictions on `this` are worth: calibrates on the models that `assay machine --calibrate` runs, then
 * predicts and measures models that are not among them, at batch 1 and 4.
 *
 *   predict [--threads N] [MODEL ...]      median error under 15 %, 80 % within 30 %; about four minutes
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
enum { N_HELD_OUT = sizeof held_out / sizeof *held_out, ERRORS_MAX = 256 };

typedef struct results {
    double errors[ERRORS_MAX];
    uint32_t n, within_30, inside;
} results;

static bool say_progress(void *ctx, const char *what, double done, double planned)
{
    (void)ctx;
    fprintf(stderr, "\r\033[K  calibrating: %.0f of %.0f s, %s", done, planned, what);
    return true;
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
        double e = t.seconds / k.latency_s - 1;
        bool inside = k.latency_s >= t.seconds * c->low && k.latency_s <= t.seconds * c->high;
        printf("  %-28s %5lld %9.2f %9.2f..%-9.2f %9.2f %+7.1f %%%s\n", q->model,
               (long long)q->batch, t.seconds * 1e3, t.seconds * c->low * 1e3,
               t.seconds * c->high * 1e3, k.latency_s * 1e3, e * 100, inside ? "" : "  outside");
        fflush(stdout);
        r->errors[r->n++] = fabs(e);
        r->within_30 += fabs(e) < 0.3;
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
        "Of models left out one by one: median error %.1f %%, 80 %% of measured over predicted within "
        "%.2f to %.2f.\n\n",
        c->error * 100, c->low, c->high);
    for (uint32_t i = 0; i < c->n_runs; i++)
        printf("  left out: %-28s %3u %9.2f ms predicted %9.2f measured %+7.1f %%\n",
               c->runs[i].model, c->runs[i].batch, c->runs[i].predicted_s * 1e3,
               c->runs[i].measured_s * 1e3,
               (c->runs[i].predicted_s / c->runs[i].measured_s - 1) * 100);
}

static bool judge(results *r)
{
    stats_sort(r->errors, r->n);
    puts("");
    bool met = verdict("median error", stats_quantile(r->errors, r->n, 0.5), 0.15, false);
    met &= verdict("within 30 %", r->n ? (double)r->within_30 / r->n : 0, 0.8, true);
    printf("  %-34s %9.1f %%  of %u, where 80 %% were promised\n", "inside the interval shown",
           r->n ? 100.0 * r->inside / r->n : 0, r->n);
    return met;
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
    if (argc > 2 && strcmp(argv[1], "--threads") == 0) {
        assay_options_set(o, "threads", argv[2], &err);
        argc -= 2, argv += 2;
    }
    if (argc > 1) {
        models = (const char *const *)(argv + 1);
        n = (uint32_t)argc - 1;
    }
    if (engine_open("ort", &config, &e, &err) != ASSAY_OK) {
        printf("  skipped: %s\n", err.message);
        return 0;
    }
    const job_calibration_request q = {.engine = e, .o = o, .progress = say_progress};
    assay_status s = job_calibrate_machine(&q, c, &err);
    if (s == ASSAY_OK) {
        fputs("\r\033[K", stderr);
        say_calibration(c);
        printf("\nHeld out:\n  %-28s %5s %9s %20s %9s %9s\n", "model", "batch", "predicted",
               "80 % interval", "measured", "error");
    }
    for (uint32_t i = 0; s == ASSAY_OK && i < 2 * n; i++) {
        const job_kernels_request one = {
            .engine = e, .o = o, .model = models[i / 2], .batch = i % 2 ? 4 : 1, .budget_s = 0.35};
        s = check(&one, c, &r, &err);
    }
    bool met = s == ASSAY_OK && judge(&r);
    if (s != ASSAY_OK)
        printf("%s\n", err.message);
    engine_close(e);
    assay_options_free(o);
    free(c);
    return met ? 0 : 1;
}
