/* Predictions for a model on devices, as plain data: filled by analyze/map.c, read by reports. All pointers are in
 * the profile's arena. The limit is the roofline; the latency is what a runtime is expected to need, with an interval
 * (device/runtime.h); on a calibrated machine it is predicted from its own measured kernels.
 */
#ifndef PROFILE_MAPPING_H
#define PROFILE_MAPPING_H

#include "base/str.h"

enum { MAPPING_PRECISIONS = 6 };

typedef struct mapping_precision { /* one that a device has */
    const char *name;
    double peak;  /* operations per second */
    double ridge; /* FLOPs per byte */
    int64_t largest_batch,
        largest_training_batch; /* that leave 20 % free; 0: none, INT64_MIN: not asked */
} mapping_precision;

typedef struct mapping_hardware {
    str id, name, kind, certainty, source;
    double memory_bytes, bandwidth, power_w, overhead_s; /* power_w 0: not known */
    double overhead_us;                                  /* profile_settle() */
    double price_per_hour;                               /* USD; NaN: not known */
    str price_basis; /* "given", "list price of 2026-08-22 (...)"; empty: not known */
    mapping_precision precisions[MAPPING_PRECISIONS];
    uint32_t n_precisions;
    const char *widest,
        *cheapest;       /* precision that fits with head-room at the smallest batch; or NULL */
    const char *runtime; /* that the times are for; NULL: they are the limit */
    const char *basis;   /* "measured", "class", "not validated", "calibrated", "roofline" */
    str software;        /* behind the coefficients */
    uint64_t basis_rows; /* measured models behind them */
    double basis_error;  /* median, of families of models or devices left out: a share */
} mapping_hardware;

typedef struct mapping_row {
    uint32_t hardware;
    str device; /* profile_settle(): the id of the hardware */
    const char *precision;
    int64_t batch;
    double latency_ms, throughput, energy_j; /* energy of a sample; 0: power is not known */
    double latency_low_ms, latency_high_ms;  /* 80 % interval; 0: there is none */
    double cost_per_million;                 /* USD for samples; NaN: no price */
    double limit_ms;                         /* the roofline: no kernel is faster */
    bool imprecise; /* the interval spans more than a factor of two: left out of rankings */
    bool tie; /* its interval overlaps that of the fastest of its batch on another device, or on
                     * the Pareto front that of the row before it */
    uint64_t memory_bytes, weights_bytes, activations_bytes;
    double percent_of_memory;       /* profile_settle(): memory_bytes of the device's */
    bool trains;                    /* the precision is one that is trained at */
    uint64_t training_memory_bytes; /* with AdamW */
    double training_step_ms;
    bool fits, training_fits; /* into the memory, head-room or not */
    const char *verdict, *bound, *speed, *memory_class;
    const char *training_verdict; /* NULL: the precision is not one that is trained at */
    double compute_percent, memory_percent,
        overhead_percent; /* of the time, by what binds each layer */
    double percent_of_peak;
    double gain_flops_percent, gain_bandwidth_percent; /* less time with 10 % more of it */
    bool pareto;
} mapping_row;

typedef struct mapping_layer { /* in the first row of its device */
    str device;
    str name, type;
    double time_ms, percent_of_peak;
    const char *bound;
} mapping_layer;

typedef struct mapping_skipped {
    str device;
    const char *precision;
} mapping_skipped;

/* Basis of calibrated times. */
typedef struct mapping_calibration {
    bool present;
    str device; /* whose times they are: the first that was calibrated */
    str engine;
    double median_error;  /* of models left out, a share */
    double low, high;     /* measured over predicted: 80 % of them lie between */
    uint64_t runs;        /* models and batches that were measured */
    double known_percent; /* of the first row's time in operators that were measured */
} mapping_calibration;

typedef struct profile_mapping {
    mapping_hardware *hardware;
    uint32_t n_hardware;
    mapping_row *rows;
    uint32_t n_rows;
    mapping_layer *layers;    /* of the first device, then of the others, when few were requested */
    uint32_t n_layers;        /* of the first */
    uint32_t n_all_layers;    /* of all */
    mapping_skipped *skipped; /* pairs that do not exist */
    uint32_t n_skipped;
    mapping_calibration calibration;
    int64_t fixed_batch;                    /* the model takes no other; 0: any */
    const char *goal, *against, *goal_unit; /* of the Pareto table */
    double limit;                           /* in the unit of the goal; 0: none */
    uint32_t n_pareto;
    const uint32_t *pareto; /* rows, best first */
    const char *prediction; /* profile_settle(): how times were predicted */
    uint32_t n_no_power;    /* rows that fit and are left out: their power or price is not known */
    str price_basis;        /* of all prices: "list prices of D to D"; empty: there are none */
} profile_mapping;

/* The first row of a device at a precision (NULL: any), or with `best` the one with the most throughput that fits. NULL:
 * there is none. */
const mapping_row *mapping_row_on(const profile_mapping *m, uint32_t device, const char *precision,
                                  bool best);

#endif
