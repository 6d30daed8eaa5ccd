/* Lower bound of a model's time: for every layer, the longer of its arithmetic at the device's peak and its bytes at
 * the device's bandwidth, and the cost of starting a kernel.
 *
 *   time   = max(2 MAC / peak + other FLOPs / vector peak, bytes / bandwidth) + overhead
 *   ridge  = peak / bandwidth, in FLOPs per byte
 *
 * From batch 2 on, a value of a layer is linear in the batch size (weights are constant, activations grow), or
 * quadratic where samples of a batch interact; graphs inferred at batch 2 to 5 give both exactly. Values that are
 * neither (they contain a constant of the traced batch) are extrapolated by the last step. A value that falls follows
 * no such rule (roofline_grows() is false). Batch 1 is inferred separately, because a broadcast is a no-op or a view
 * there. Kernels stay below the peak, caches are not modelled, and every layer is one kernel: docs/hardware.md.
 */
#ifndef ANALYZE_ROOFLINE_H
#define ANALYZE_ROOFLINE_H

#include "analyze/terms.h"
#include "base/error.h"
#include "device/devices.h"
#include "profile/profile.h"

enum { ROOFLINE_WIDTHS = 3 }; /* numbers of 4, 2 and 1 bytes */
uint32_t roofline_width_of(device_precision p);

enum { ROOFLINE_POINTS = 4 }; /* batch 2 to 5 */
typedef double roofline_line[ROOFLINE_POINTS];

typedef struct roofline_layer {
    str name, type; /* views are left out */
    uint32_t step;
    /* From here on figures: layers in which all are equal are of one kind. */
    double launches; /* kernels started */
    double passes;   /* of a training step: 3 where a gradient flows through it, else 1 */
    roofline_line contraction, other, back_contraction, back_other;
    roofline_line bytes[ROOFLINE_WIDTHS];
} roofline_layer;

typedef struct roofline_model roofline_model;
struct roofline_model {
    roofline_layer *layers;
    uint32_t n_layers;
    uint32_t *kind_of; /* [n_layers] */
    uint32_t *like;    /* [n_kinds] a layer of the kind */
    uint32_t n_kinds;
    roofline_line *live[ROOFLINE_WIDTHS]; /* [n_steps] bytes of activations at each step */
    uint32_t n_steps;
    uint32_t n_tops[ROOFLINE_WIDTHS]; /* of them, at the front: no other is above; 0: not sorted */
    double weights_bytes[ROOFLINE_WIDTHS];
    roofline_line saved_bytes; /* kept for the backward pass, in float32 */
    roofline_line (*terms)[RUNTIME_WAYS][RUNTIME_TERMS]; /* [ROOFLINE_WIDTHS]; NULL: no plan */
    double parameters;                                   /* trainable */
    int64_t fixed_batch;                                 /* every point is of this one; 0: any */
    const roofline_model *single; /* at batch 1; NULL: it takes no other than fixed_batch */
};

/* The figures that hold at a batch: those of batch 1 are inferred for themselves. */
const roofline_model *roofline_model_at(const roofline_model *m, int64_t batch);
/* Whether no figure falls from one point to the next: only then the points say what comes behind them. */
bool roofline_grows(const roofline_model *m);
/* Numbers of one byte from those of four and two: bytes are a straight line over the width too. */
bool roofline_narrow(roofline_model *m, arena *a);
/* The model at one batch only: every point becomes the first. */
void roofline_fix(roofline_model *m, int64_t batch);
/* When all figures are there: finds the kinds, and the steps that can be a peak. Networks repeat their blocks, so that kinds are far fewer than
 * layers, and devices are asked about kinds. */
bool roofline_group(roofline_model *m, arena *a);

/* One batch and width, ready to be timed on many devices. */
typedef struct roofline_slice {
    const roofline_model *model;
    int64_t batch;
    uint32_t width;
    uint32_t n;                                         /* kinds of layers */
    double *alike;                                      /* [n] layers of the kind */
    double *contraction, *other, *bytes, *launches;     /* [n] of one of them */
    double *step_contraction, *step_other, *step_bytes; /* the same of a training step */
    double step_launches;
    double flops, weights_bytes, activations_bytes;
    term_totals terms; /* of the model; when it has any */
} roofline_slice;
bool roofline_slice_make(const roofline_model *m, int64_t batch, uint32_t width, arena *a,
                         roofline_slice *out);

typedef enum roofline_bound { BOUND_COMPUTE, BOUND_MEMORY, BOUND_OVERHEAD, BOUNDS } roofline_bound;
const char *roofline_bound_name(roofline_bound b);

typedef struct roofline_time {
    double seconds;
    double by_bound[BOUNDS];           /* seconds of the layers that each binds */
    double more_flops, more_bandwidth; /* seconds with 10 % more of it */
} roofline_time;
void roofline_run(const roofline_slice *s, const device *d, device_precision p, roofline_time *out);
typedef struct roofline_layer_time {
    double seconds, share_of_peak;
    roofline_bound bound;
} roofline_layer_time;
roofline_layer_time roofline_one(const roofline_slice *s, uint32_t layer, const device *d,
                                 device_precision p);

/* A step of AdamW: forward, backward (its own FLOPs; twice the bytes and kernels), and 28 bytes moved per
 * parameter. */
double roofline_training(const roofline_slice *s, const device *d, device_precision p);
/* Bytes that all layers move, and what they compute, at a batch. */
double roofline_moved_bytes(const roofline_model *m, int64_t batch, uint32_t width);
double roofline_flops(const roofline_model *m, int64_t batch);
/* Weights, gradients and both moments (16 bytes a parameter), and what the backward pass keeps. */
double roofline_training_bytes(const roofline_model *m, int64_t batch, uint32_t width);
double roofline_inference_bytes(const roofline_model *m, int64_t batch, uint32_t width);
/* The largest batch that stays within so many bytes; 0 when none does. */
int64_t roofline_largest(const roofline_model *m, uint32_t width, bool training, double bytes);

#endif
