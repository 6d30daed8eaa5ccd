/* Predicts the time of a model on a calibrated machine, from measured kernels.
 *
 * Every layer has a family and terms that its time may depend on (predict_facts.c). The time of a family is a
 * sum of terms with coefficients that are not negative, fitted to measured kernels (predict_fit.c),
 *
 *   t = Σ ci·xi      relative errors minimised, outliers weighed down
 *
 * with terms such as MACs/channels, so that efficiency falls smoothly where channels, rows or depths are few.
 * Layers that the engine folds into another kernel (a normalisation into its convolution, an activation into
 * its producer) cost nothing of their own; which pairs those are is learnt from the same measurements. A whole
 * run is  scale · Σ t + kernels · c.
 */
#ifndef ANALYZE_PREDICT_H
#define ANALYZE_PREDICT_H

#include "base/error.h"
#include "device/calibration.h"
#include "profile/profile.h"

#define PREDICT_NONE UINT32_MAX

typedef struct predict_layer {
    str family;
    const char *like; /* the family that stands in when this one was never measured */
    double x[CALIBRATION_TERMS];
    uint32_t n_terms;
    /* Hashes of what decides whether it is folded, from the narrowest to the widest: this family behind that of
     * its producer, behind any, and its kind behind the contraction that the chain began with. 0: it leads. */
    uint32_t pairs[3];
    bool constant; /* of weights alone: computed before the first run */
} predict_layer;

/* One per layer of the profile, in its order, in the arena. NULL if out of memory. */
predict_layer *predict_facts(const profile *p, arena *a);

typedef struct predict_time {
    double *layers; /* [n_layers] seconds; 0: folded into another, or constant */
    double seconds; /* of a run */
    double known;   /* share of it in families that were measured themselves */
    uint32_t kernels;
} predict_time;
bool predict_run(const profile *p, const calibration *c, arena *a, predict_time *out);

/* ---- learning ---- */

/* A model that was run: what its layers are, and the time of the kernels that each leads. */
typedef struct predict_study {
    str model;
    uint32_t batch;
    const predict_layer *layers;
    const double *seconds; /* [n_layers] */
    const bool *led;       /* [n_layers] it leads a kernel */
    uint32_t n_layers, kernels;
    double kernels_s, latency_s; /* the sum of all kernels; a run without the profiler */
} predict_study;

/* Fits everything but `engine`, `threads` and `seconds`; errors are those of models left out, all batches of a
 * model together. */
assay_status predict_learn(const predict_study *studies, uint32_t n, calibration *out,
                           assay_error *err);
/* The same of a layer list, for models left out. */
double predict_layers(const predict_layer *l, uint32_t n, const calibration *c, double *seconds,
                      uint32_t *kernels, double *known);

#endif
