/* assay: running models, and watching processes.
 *
 *     assay_result *profile;
 *     assay_analyze(model, options, &profile, &err);
 *     assay_measure(model, options, 0, NULL, profile, &err);
 *     printf("%.2f ms\n", assay_result_number(profile, "latency.p50"));
 *
 * The sections "latency", "throughput", "memory", "utilization" and "io" of the profile are those of the smallest batch.
 * "configurations" lists every batch size and precision that ran, and "batch_choice" says which to use.
 *
 * Models run on an engine, ONNX Runtime unless the option "engine" names another. It is loaded when it is first needed;
 * nothing else of the library needs one. docs/measuring.md has the method and the statistics.
 */
#ifndef ASSAY_MEASURE_H
#define ASSAY_MEASURE_H

#include <assay/assay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- measuring ------------------------------------------------------------------------------- */

/* Batch sizes of a sweep, unless the option "batch-sizes" names others. */
#define ASSAY_BATCH_SIZES "1,2,4,8,16"

/* What to measure beside the latency, throughput and memory of one configuration. Bits of `what`. */
enum {
    ASSAY_MEASURE_SWEEP = 1,  /* several batch sizes */
    ASSAY_MEASURE_LAYERS = 2, /* the time of every layer, from profiled runs of their own */
    ASSAY_MEASURE_PLAN = 4    /* the memory plan against a run without optimisations */
};

/* Runs the model and adds what was measured to a profile that assay_analyze() made with the same options. Without bits
 * in `what` one configuration runs, the model as it is; the options "batch-sizes" and "configs" name others. Options:
 * "num-runs", "warmup-runs", "duration", "precision", "device", "threads", "engine", "engine-lib", ... `hooks` may be
 * NULL. A configuration that fails is recorded with its reason and a warning, and the others go on.
 * ASSAY_ERR_ENGINE: no configuration ran, or there is no engine; the profile stays as it was. ASSAY_ERR_INTERRUPTED:
 * a hook ended it; the profile has what was measured until then. */
ASSAY_API assay_status assay_measure(assay_model *model, const assay_options *options,
                                     unsigned what, const assay_hooks *hooks, assay_result *profile,
                                     assay_error *err);

typedef struct assay_engine_info {
    size_t size;
    char name[32];     /* "onnxruntime" */
    char title[64];    /* "ONNX Runtime" */
    char version[64];  /* as the library reports it */
    char library[512]; /* path of the shared library */
} assay_engine_info;
/* The engine that assay_measure() would use with these options. Loads it and runs nothing. ASSAY_ERR_ENGINE: there is
 * none; the message says how to install one. */
ASSAY_API assay_status assay_engine_find(const assay_options *options, assay_engine_info *out,
                                         assay_error *err);

/* ---- watching -------------------------------------------------------------------------------- */

/* One sample of a process with its descendants. Counters are totals since it was first seen. */
typedef struct assay_watch_sample {
    size_t size;
    double time_s;                             /* since the start */
    double cpu_percent;                        /* since the sample before: 200 is two whole cores */
    uint64_t resident, anonymous, file_backed; /* bytes of memory */
    uint64_t processes, threads;
    uint64_t read_bytes, written_bytes; /* of the disk */
    uint64_t minor_faults, major_faults;
} assay_watch_sample;

/* Functions of the caller's that assay_watch() asks. Each may be NULL. */
typedef struct assay_watch_hooks {
    size_t size;
    void *ctx;
    bool (*sample)(void *ctx, const assay_watch_sample *s); /* false ends the watching */
    bool (*cancelled)(void *ctx); /* called every few milliseconds; true ends it */
    const volatile int *stop;     /* looked at as often: another value than 0 ends it */
} assay_watch_hooks;

/* Starts a program (argv ends with NULL; it is found along PATH, without a shell, and has this process's streams), or,
 * when argv is NULL, watches the running process `pid`. Ends when the process ends, when the option "duration" is
 * over, or when a hook says so; a program that was started and still runs is then asked to end. Option "interval":
 * milliseconds between samples. The result is a profile without a model; its section is "watch".
 * ASSAY_ERR_INTERRUPTED: a hook ended it, and *out is set. ASSAY_ERR_SYSTEM: there is no such program or process. */
ASSAY_API assay_status assay_watch(const char *const *argv, int64_t pid,
                                   const assay_options *options, const assay_watch_hooks *hooks,
                                   assay_result **out, assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
