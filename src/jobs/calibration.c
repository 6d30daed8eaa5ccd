/* Calibration of the predictor: a fixed set of built-in models that covers all ways to compute layers (dense,
 * grouped, depthwise and 1×1 convolutions, few and many channels, large and small products, attention, windows,
 * channel shuffles, squeeze-and-excite, token models) and takes about a minute. bench/predict checks predictions on
 * other models. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "jobs/calibration.h"
#include "measure/busy.h"

static const char *const models[] = {
    "squeezenet1_0",
    "shufflenet_v2_x1_0",
    "mnasnet0_5",
    "regnet_y_400mf",
    "mobilenet_v3_large",
    "efficientnet_b0",
    "googlenet",
    "densenet121",
    "resnet34",
    "resnext50_32x4d",
    "alexnet",
    "vit_b_32",
    "swin_t",
    "convnext_tiny",
    "distilbert-base-uncased",
    "pythia-70m",
};
enum { N_MODELS = sizeof models / sizeof *models, N_BATCHES = 2 };
static const int64_t batches[N_BATCHES] = {1, 4};

#define BUDGET_SECONDS \
    0.35 /* of profiled runs of one model and batch, and as much without the profiler */
#define PROBE_SECONDS 0.5
#define STUDY_BYTES   ((size_t)512 << 20)
#define KEPT_BYTES    ((size_t)64 << 20)

typedef struct calibrating {
    const job_calibration_request *q;
    arena *kept; /* what the studies point to */
    job_reference *reference;
    predict_study studies[N_MODELS * N_BATCHES];
    double *seconds[N_MODELS * N_BATCHES]; /* of the studies */
    uint32_t references[N_MODELS * N_BATCHES][3];
    uint32_t n;
} calibrating;

/* Texts of the profile go with it: families of ours are literals, others are copied. */
static bool keep_layers(predict_layer *l, uint32_t n, arena *kept)
{
    for (uint32_t i = 0; i < n; i++) {
        l[i].family = str_copy(kept, l[i].family);
        if (!l[i].family.p)
            return false;
    }
    return true;
}

static assay_status keep_study(calibrating *c, const char *model, int64_t batch,
                               const job_kernels *k, assay_error *err)
{
    arena *a = c->kept;
    assert(k->p && c->n < N_MODELS * N_BATCHES);
    uint32_t n = k->p->n_layers;
    predict_layer *layers = predict_facts(k->p, a);
    double *seconds = arena_copy(a, k->seconds, sizeof *k->seconds * n);
    predict_study s = {.model = str_of(model),
                       .batch = (uint32_t)batch,
                       .layers = layers,
                       .seconds = seconds,
                       .led = arena_copy(a, k->led, sizeof *k->led * n),
                       .n_layers = n,
                       .kernels = k->kernels,
                       .kernels_s = k->kernels_s,
                       .latency_s = k->latency_s};
    TRY_MEMORY(layers && s.seconds && s.led && keep_layers(layers, n, a), err);
    c->seconds[c->n] = seconds;
    memcpy(c->references[c->n], k->reference, sizeof k->reference);
    c->studies[c->n++] = s;
    return ASSAY_OK;
}

static assay_status study_one(calibrating *c, const char *model, int64_t batch, assay_error *err)
{
    const job_kernels_request q = {.engine = c->q->engine,
                                   .o = c->q->o,
                                   .model = model,
                                   .batch = batch,
                                   .budget_s = BUDGET_SECONDS,
                                   .reference = c->reference};
    arena *a = arena_new(STUDY_BYTES);
    job_kernels k = {0};
    assay_status s = a ? job_kernels_measure(&q, a, &k, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = keep_study(c, model, batch, &k, err);
    job_kernels_free(&k);
    arena_free(a);
    return s;
}

static assay_status study_all(calibrating *c, assay_error *err)
{
    uint64_t began = clock_mono_ns();
    for (uint32_t i = 0; i < N_MODELS * N_BATCHES; i++) {
        double done = (double)(clock_mono_ns() - began) / 1e9;
        double planned = i ? done / i * N_MODELS * N_BATCHES : 60;
        if (c->q->progress && !c->q->progress(c->q->ctx, models[i / N_BATCHES], done, planned))
            return err_fail(err, ASSAY_ERR_INTERRUPTED,
                            "interrupted: the calibration was not stored");
        TRY(study_one(c, models[i / N_BATCHES], batches[i % N_BATCHES], err));
    }
    return ASSAY_OK;
}

/* All times as they are in the machine's usual state. */
static void correct_drift(calibrating *c, calibration *out)
{
    const drift *d = job_reference_drift(c->reference);
    for (uint32_t i = 0; i < c->n; i++) {
        predict_study *s = &c->studies[i];
        double profiled = drift_factor(d, c->references[i][0], c->references[i][1]);
        for (uint32_t k = 0; k < s->n_layers; k++)
            c->seconds[i][k] /= profiled;
        s->kernels_s /= profiled;
        s->latency_s /= drift_factor(d, c->references[i][1], c->references[i][2]);
    }
    out->reference_s = drift_usual(d);
    out->drift = drift_range(d);
}

static assay_status calibrate(calibrating *c, calibration *out, assay_error *err)
{
    TRY(job_reference_open(c->q->engine, c->q->o, &c->reference, err));
    TRY(study_all(c, err));
    correct_drift(c, out);
    return predict_learn(c->studies, c->n, out, err);
}

/* Kernels that wait for a CPU most of the time say nothing of the machine. */
static assay_status refuse_busy(assay_error *err)
{
    double share = busy_probe("", PROBE_SECONDS);
    if (!busy_for_calibration(share))
        return ASSAY_OK;
    return err_fail(
        err, ASSAY_ERR_ENGINE,
        "the machine is too busy to calibrate: a thread waited %.0f %% of the time for a "
        "CPU. Stop other programs and try again.",
        100 * share);
}

assay_status job_calibrate_machine(const job_calibration_request *q, calibration *out,
                                   assay_error *err)
{
    TRY(refuse_busy(err));
    calibrating *c = memory_zeroed(1, sizeof *c);
    uint64_t began = clock_mono_ns();
    TRY_MEMORY(c, err);
    c->q = q;
    c->kept = arena_new(KEPT_BYTES);
    memset(out, 0, sizeof *out);
    assay_status s = c->kept ? calibrate(c, out, err) : err_no_memory(err);
    job_reference_close(c->reference);
    snprintf(out->engine, sizeof out->engine, "%.30s %.30s", engine_about(q->engine)->title,
             engine_about(q->engine)->version);
    out->threads = (uint32_t)q->o->engine.threads;
    out->seconds = (double)(clock_mono_ns() - began) / 1e9;
    arena_free(c->kept);
    free(c);
    return s;
}
