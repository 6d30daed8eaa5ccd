/* Measured kernels of models, from which the predictor is fitted. */
#ifndef JOBS_CALIBRATION_H
#define JOBS_CALIBRATION_H

#include "analyze/predict.h"
#include "jobs/reference.h"

/* One model at one batch size, run under the engine's profiler and without it. All in the arena. */
typedef struct job_kernels {
    const profile *p; /* static; of `x` */
    double *seconds;  /* [layers] of the kernels that each leads; 0: it leads none */
    bool *led;        /* [layers] a separate kernel, or several */
    uint32_t kernels; /* of a run */
    double latency_s; /* of a run without the profiler, the median */
    double kernels_s; /* the sum of seconds */
    uint32_t
        reference[3]; /* samples before, between and after the runs with and without the profiler */
    job_runnable x;
} job_kernels;

typedef struct job_kernels_request {
    engine *engine;
    const assay_options *o;
    const char *model; /* name or path */
    int64_t batch;
    double budget_s;          /* of runs; at least three of each kind are made */
    job_reference *reference; /* runs in between; NULL: none */
} job_kernels_request;

/* Freed by job_kernels_free() in any case. */
assay_status job_kernels_measure(const job_kernels_request *q, arena *a, job_kernels *out,
                                 assay_error *err);
void job_kernels_free(job_kernels *k);

/* Runs the calibration set and learns from it. */
typedef struct job_calibration_request {
    engine *engine;
    const assay_options *o;
    void *ctx;
    bool (*progress)(void *ctx, const char *what, double done, double planned); /* may be NULL */
} job_calibration_request;
assay_status job_calibrate_machine(const job_calibration_request *q, calibration *out,
                                   assay_error *err);

#endif
