/* Does measuring change what is measured? `assay bench` measures through measure/sample; a bare loop calls
 * the engine and reads the clock, nothing else. Both run the same session, interleaved in pairs of short
 * blocks, so that what the machine does meanwhile hits both. Beside each ratio stands the A/A ratio: the
 * bare loop against itself, split by even and odd pairs, which is what chance alone gives.
 *
 *   overhead [MODEL ...] [--pairs N]      within 1 % from 5 ms on, within 2 us below; 150 pairs
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jobs/measure.h"
#include "measure/stats.h"
#include "options/rows.h"

enum { PAIRS = 150, PAIRS_MAX = 2000 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Median milliseconds of a block of bare runs. */
static double bare(engine_job *job, uint32_t runs)
{
    double x[64];
    assay_error err = {0};
    for (uint32_t i = 0; i < runs; i++) {
        uint64_t start = now_ns();
        if (engine_job_run(job, &err) != ASSAY_OK)
            exit(1);
        x[i] = (double)(now_ns() - start) / 1e6;
        engine_job_drop(job);
    }
    stats_sort(x, runs);
    return stats_quantile(x, runs, 0.5);
}

static double ours(engine *e, engine_job *job, uint32_t runs)
{
    double x[64];
    assay_error err = {0};
    sample_runs got;
    const sample_rule rule = {.runs = runs};
    const sample_load load = {.concurrency = 1};
    if (sample_measure(e, &job, &rule, &load, NULL, &got, &err) != ASSAY_OK)
        exit(1);
    for (uint32_t i = 0; i < got.n && i < 64; i++)
        x[i] = sample_ms(&got.items[i]);
    uint32_t n = got.n;
    sample_runs_free(&got);
    stats_sort(x, n);
    return stats_quantile(x, n, 0.5);
}

static double median(double *x, uint32_t n)
{
    stats_sort(x, n);
    return stats_quantile(x, n, 0.5);
}

/* One per cent of a run of 5 ms is 50 us: for shorter ones only the difference itself can be held. */
static bool far_from_bare(double bare_ms, double ratio, double apart_us)
{
    return bare_ms >= 5 ? fabs(ratio - 1) > 0.01 : fabs(apart_us) > 2;
}

/* Medians over pairs of ours/bare and ours-bare, and of a bare block against the bare block before it. */
static int compare(const char *name, engine *e, engine_job *job, uint32_t pairs)
{
    static double ab[PAIRS_MAX], aa[PAIRS_MAX], a[PAIRS_MAX], b[PAIRS_MAX];
    static double ab_us[PAIRS_MAX], aa_us[PAIRS_MAX];
    double once = bare(job, 20);
    uint32_t runs = once > 5 ? 3 : once > 0.5 ? 9 : 51;
    for (uint32_t i = 0; i < pairs; i++) {
        double first = bare(job, runs), second, mine;
        if (i % 2) {
            mine = ours(e, job, runs);
            second = bare(job, runs);
        } else {
            second = bare(job, runs);
            mine = ours(e, job, runs);
        }
        ab[i] = mine / second;
        aa[i] = first / second;
        ab_us[i] = (mine - second) * 1000;
        aa_us[i] = (first - second) * 1000;
        a[i] = second;
        b[i] = mine;
    }
    double bare_ms = median(a, pairs), ours_ms = median(b, pairs);
    double ratio = median(ab, pairs), chance = median(aa, pairs);
    double apart_us = median(ab_us, pairs), chance_us = median(aa_us, pairs);
    bool good = !far_from_bare(bare_ms, ratio, apart_us);
    bool noisy = far_from_bare(bare_ms, chance, chance_us); /* then the difference says nothing */
    printf(
        "%-24s %9.4f ms bare  %9.4f ms measured  ratio %.4f  A/A %.4f  apart %+.2f us  A/A %+.2f us  %s\n",
        name, bare_ms, ours_ms, ratio, chance, apart_us, chance_us,
        good    ? "ok"
        : noisy ? "inconclusive: the machine is busy"
                : "TOO FAR");
    return good ? 0 : noisy ? ASSAY_ERR_INCONCLUSIVE : 1;
}

static int try_model(const char *name, engine *e, uint32_t pairs)
{
    assay_model *m = NULL;
    job_runnable x = {0};
    assay_options o = options_default();
    assay_error err = {0};
    engine_session *s = NULL;
    engine_job *job = NULL;
    input_set in = {0};
    watch *w = NULL;
    int bad = 1;
    o.engine.threads = 1;
    assay_status status = assay_model_open(name, &m, &err);
    if (status == ASSAY_OK)
        status = job_runnable_make(m, &o, 0, &x, &err);
    if (status == ASSAY_OK)
        status = job_runnable_export(m, &o, &x, &err);
    engine_options options = x.work ? job_engine_options(&o, x.work) : ENGINE_OPTIONS;
    if (status == ASSAY_OK)
        status = engine_session_open(e, &x.model, &options, &s, &err);
    if (status == ASSAY_OK)
        status = inputs_make(x.wants, x.n_wants, engine_session_about(s), 0, &in, &err);
    if (status == ASSAY_OK)
        status = engine_job_open(s, in.tensors, in.n, &job, &err);
    /* The watching thread belongs to what is measured. */
    if (status == ASSAY_OK)
        status = watch_start(&(watch_options){0}, &w, &err);
    if (status == ASSAY_OK)
        bad = compare(name, e, job, pairs);
    else
        fprintf(stderr, "%s: %s\n", name, err.message);
    watch_free(w);
    engine_job_close(job);
    inputs_free(&in);
    engine_session_close(s);
    job_runnable_free(&x);
    assay_model_free(m);
    return bad;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"mobilenet_v2", "squeezenet1_1", "lenet", NULL};
    const char *names[32];
    uint32_t pairs = PAIRS, n = 0;
    int bad = 0;
    assay_error err = {0};
    engine *e = NULL;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--pairs") == 0 && i + 1 < argc)
            pairs = (uint32_t)atoi(argv[++i]);
        else if (n < 31)
            names[n++] = argv[i];
    if (pairs < 1 || pairs > PAIRS_MAX)
        pairs = PAIRS;
    if (engine_open("ort", NULL, &e, &err) != ASSAY_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 0;
    }
    for (uint32_t i = 0; n == 0 && usual[i]; i++)
        names[i] = usual[i], names[i + 1] = NULL;
    for (uint32_t i = 0; n ? i < n : names[i] != NULL; i++)
        bad |= try_model(names[i], e, pairs);
    engine_close(e);
    return bad;
}
