/* The time of a whole model on a device: a sum of physical terms over its kernels, with coefficients per runtime.
 *
 *   work      = sum_j c_j x_j / rate_j      x_j: FLOPs, bytes or kernels of one kind; rate_j: the data sheet's
 *   time      = max(work, kernels gap)      gap: what the host needs to start one kernel
 *
 * A runtime joins layers to kernels ("eager": each layer is a kernel; "compiled", "tensorrt", "onnxruntime": chains)
 * and has rows in data/runtimes.csv: coefficients for a device that was measured, and for classes of devices. Each
 * row says how many measured models it is fitted to, with which software, and how far off it is on families of models
 * that were left out; the 80 % interval comes from there. "tensorrt" has no public rows and is marked not validated.
 */
#ifndef DEVICE_RUNTIME_H
#define DEVICE_RUNTIME_H

#include "device/devices.h"
#include "device/fit.h"

typedef enum runtime_term {
    TERM_CONV,      /* FLOPs of convolutions larger than 1x1 */
    TERM_POINTWISE, /* 1x1 */
    TERM_GROUPED,
    TERM_IMAGE, /* with fewer than eight input channels */
    TERM_MATMUL,
    TERM_BATCHED,   /* products of two activations, attention */
    TERM_DEPTHWISE, /* at the vector rate */
    TERM_NARROW,    /* FLOPs times 64 / columns: tiles that columns do not fill */
    TERM_SHALLOW,   /* FLOPs times 64 / depth */
    TERM_WAVE,      /* FLOPs of one tile of each product: on one unit of the device */
    TERM_CORE_BYTES,
    TERM_DEPTHWISE_BYTES,
    TERM_GROUPED_BYTES,
    TERM_BATCHED_BYTES,
    TERM_ELEMENTWISE_BYTES,
    TERM_NORM_BYTES,
    TERM_MOVE_BYTES,   /* transposes, slices, joins, gathers */
    TERM_POOL_BYTES,   /* pooling, reductions, everything else */
    TERM_JOINED_BYTES, /* that joining saves behind products */
    TERM_JOINED_SMALL_BYTES, /* behind depthwise and grouped convolutions, which have kernels of their own */
    TERM_KERNELS,
    RUNTIME_TERMS
} runtime_term;

const char *runtime_term_name(runtime_term t);

/* How layers become kernels. */
typedef enum runtime_way { RUNTIME_LAYERS, RUNTIME_CHAINS, RUNTIME_WAYS } runtime_way;

typedef struct runtime {
    const char *name;
    runtime_way way;
    double gap_s;     /* of the host, per kernel: assumed */
    bool validated;   /* there are measured rows */
    const char *rows; /* runtime whose coefficients it takes */
} runtime;

const runtime *runtime_find(str name); /* NULL: unknown */
const runtime *runtime_at(uint32_t i); /* NULL behind the last */
/* What a device runs unless told otherwise. */
const runtime *runtime_default(const device *d);

typedef struct runtime_row {
    str runtime, device, kind, software, source;
    uint32_t rows, groups;
    double mean_error, median_error, low, high;
    double c[RUNTIME_TERMS]; /* factors, not logarithms */
    bool own;                /* of the device itself, not of its class */
} runtime_row;

typedef struct runtime_table {
    VEC(runtime_row) rows;
} runtime_table;

assay_status runtime_table_read(arena *a, runtime_table *out, assay_error *err);
assay_status runtime_table_csv(str text, arena *a, runtime_table *out, assay_error *err);
/* The row of the device, of its class, or of all devices; NULL when the table has none. */
const runtime_row *runtime_row_for(const runtime_table *t, const device *d, const runtime *r);

/* Seconds per unit of each term at the rates of the data sheet. */
void runtime_rates(const device *d, device_precision p, double out[RUNTIME_TERMS]);

/* The roofline of a runtime's kernels together: all products at the peak, or all bytes that its kernels move at the
 * bandwidth, whichever is longer. Launches may be hidden and are no part of it. */
double runtime_limit(const double rates[RUNTIME_TERMS], const double x[RUNTIME_TERMS]);

typedef struct runtime_time {
    double seconds, low_s, high_s;
} runtime_time;
/* Of a model whose terms are x: never below `limit`. */
runtime_time runtime_predict(const runtime_row *row, const runtime *r,
                             const double rates[RUNTIME_TERMS], const double x[RUNTIME_TERMS],
                             double limit);

/* Physical values for a fit to start from: logarithms. */
void runtime_prior(const char *runtime_name, double out[RUNTIME_TERMS]);

#endif
