/* assay: measuring models and watching processes.
 *
 *     assay_result *profile;
 *     assay_analyze(model, options, &profile, &err);
 *     assay_measure(model, options, 0, NULL, profile, &err);
 *     printf("%.2f ms\n", assay_result_number(profile, "latency.p50"));
 *
 * The sections "latency", "throughput", "memory", "utilization" and "io" of the profile describe the smallest batch.
 * "configurations" lists every batch size and precision that ran, and "batch_choice" recommends one.
 *
 * Models run on an engine: ONNX Runtime, unless the option "engine" names another. It is loaded when first needed. The
 * other functions of the library need no engine. docs/measuring.md explains the method and the statistics.
 */
#ifndef ASSAY_MEASURE_H
#define ASSAY_MEASURE_H

#include <assay/assay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- measuring ------------------------------------------------------------------------------- */

/* Batch sizes of ASSAY_MEASURE_SWEEP if the option "batch-sizes" is not set. */
#define ASSAY_BATCH_SIZES "1,2,4,8,16"

/* Bits of `what`: measurements in addition to latency, throughput and memory of one configuration. */
enum {
    ASSAY_MEASURE_SWEEP = 1,  /* several batch sizes */
    ASSAY_MEASURE_LAYERS = 2, /* the time of every layer, in separate profiled runs */
    ASSAY_MEASURE_PLAN = 4    /* the memory plan compared with a run without optimisations */
};

/* Runs the model and adds the measurements to a profile that assay_analyze() produced with the same options. If `what`
 * is 0, one configuration runs: the model as it is. The options "batch-sizes" and "configs" select others. Options:
 * "num-runs", "warmup-runs", "duration", "precision", "device", "threads", "engine", "engine-lib", ... `hooks` may be
 * NULL. If a configuration fails, its error is recorded with a warning, and the others run.
 * ASSAY_ERR_ENGINE: no configuration ran, or there is no engine; the profile is unchanged. ASSAY_ERR_INTERRUPTED: a
 * hook ended the call; the profile contains the measurements so far. */
ASSAY_API assay_status assay_measure(assay_model *model, const assay_options *options,
                                     unsigned what, const assay_hooks *hooks, assay_result *profile,
                                     assay_error *err);

typedef struct assay_engine_info {
    size_t size;
    char name[32];     /* "onnxruntime" */
    char title[64];    /* "ONNX Runtime" */
    char version[64];  /* as reported by the library */
    char library[512]; /* path of the shared library */
} assay_engine_info;
/* The engine that assay_measure() would use with these options. Loads it but runs nothing. ASSAY_ERR_ENGINE: there is
 * none; the message says how to install one. */
ASSAY_API assay_status assay_engine_find(const assay_options *options, assay_engine_info *out,
                                         assay_error *err);

/* ---- live endpoints -------------------------------------------------------------------------- */

/* Sends requests to an http:// or https:// URL and measures the answers. Options: "protocol", "concurrency" (closed
 * loop), "rate" and "arrivals" (open loop: latency counts from the time when a request was due), "trace", "curve",
 * "slo", "duration", "num-requests", "request-timeout", "body", "header-file", "served-model", "prompt-tokens",
 * "generate", "server-pid", ... The result has the kind "load", with keys such as "latency.p99", "ttft.p50", "itl.mean"
 * (milliseconds), "throughput.requests_per_second", "errors.timeout", "curve.0.p99". No other address is contacted.
 * `hooks` may be NULL.
 * ASSAY_ERR_ENGINE: no request succeeded; ASSAY_ERR_THRESHOLD: the SLO was missed (without "curve");
 * ASSAY_ERR_INTERRUPTED: a hook ended the call. *out is set in these cases if requests were sent. */
ASSAY_API assay_status assay_load(const char *url, const assay_options *options,
                                  const assay_hooks *hooks, assay_result **out, assay_error *err);

/* ---- watching -------------------------------------------------------------------------------- */

/* One sample of a process and its descendants. Counters are totals since the start. */
typedef struct assay_watch_sample {
    size_t size;
    double time_s;                             /* since the start */
    double cpu_percent;                        /* since the previous sample; 200 is two cores */
    uint64_t resident, anonymous, file_backed; /* bytes of memory */
    uint64_t processes, threads;
    uint64_t read_bytes, written_bytes; /* disk */
    uint64_t minor_faults, major_faults;
} assay_watch_sample;

/* Callbacks of assay_watch(). Each may be NULL. */
typedef struct assay_watch_hooks {
    size_t size;
    void *ctx;
    bool (*sample)(void *ctx, const assay_watch_sample *s); /* false ends the call */
    bool (*cancelled)(void *ctx); /* called every few milliseconds; true ends the call */
    const volatile int *stop;     /* polled as often; a value other than 0 ends the call */
} assay_watch_hooks;

/* Starts a program and watches it, or, if argv is NULL, watches the running process `pid`. `argv` ends with NULL. The
 * program is searched in PATH and started without a shell; it inherits the standard streams. The call ends when the
 * process ends, after the option "duration", or when a hook ends it. A program that this call started and that still
 * runs then receives SIGTERM.
 * Option "interval": milliseconds between samples. The result is a profile without a model, with the section "watch".
 * ASSAY_ERR_INTERRUPTED: a hook ended the call; *out is set. ASSAY_ERR_SYSTEM: no such program or process. */
ASSAY_API assay_status assay_watch(const char *const *argv, int64_t pid,
                                   const assay_options *options, const assay_watch_hooks *hooks,
                                   assay_result **out, assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
