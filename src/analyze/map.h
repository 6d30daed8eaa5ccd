/* A model on devices: every device, precision and batch timed and judged, and those of them that nothing
 * beats in both of two figures.
 *
 * Two verdicts, for inference and for training (AdamW), by the share of the device's memory that is needed:
 *   OOM                    above 1
 *   risk of OOM            above 0.8: less than 20 % free
 *   maximum throughput     inference: the batch with the most throughput of those that leave 20 % free
 *   optimal for training   training: from 0.4 to 0.8, twice the batch would not leave 20 % free
 *   good                   from 0.2
 *   safe                   up to 0.2
 * A precision that is not one that is trained at (fp8, int8) has no verdict for training.
 */
#ifndef ANALYZE_MAP_H
#define ANALYZE_MAP_H

#include "analyze/roofline.h"
#include "device/price.h"
#include "profile/bands.h"
#include "profile/mapping.h"

#define MAP_HEAD_ROOM 0.8 /* of the memory may be used */
#define MAP_PRECISE   2.0 /* an interval that spans a larger factor is imprecise */

typedef struct map_goal_row map_goal_row;

/* Times of one device at DEVICE_FP32 that are known better than by its peaks. */
typedef struct map_calibrated {
    uint32_t hardware;     /* index of the device */
    const double *seconds; /* [n_batches] of a run */
    double low, high;      /* factors of the interval */
    const double *layers;  /* [n_layers of the profile] seconds at the first batch; 0: folded */
    uint32_t n_layers;
} map_calibrated;

typedef struct map_options {
    const device_list *devices;
    bool precisions[DEVICE_PRECISIONS]; /* none: all that a device has */
    const int64_t *batches;
    uint32_t n_batches;
    const map_goal_row *goal;
    double limit;
    const map_calibrated *calibrated; /* or NULL */
    const runtime_table *runtimes;    /* or NULL: times are the roofline's */
    const runtime *runtime;           /* NULL: the default of each device */
    price_list *prices;               /* or NULL: devices have none */
} map_options;

/* "latency", "throughput:1000", "memory:8GiB", "power:75W", "energy:2J", "cost:0.5". */
assay_status map_goal_parse(str text, const map_goal_row **goal, double *limit, assay_error *err);

/* The verdict on a share of the device's memory alone. */
const char *map_verdict(double share, bool training);

/* Fills p->mapping. */
assay_status map_run(const roofline_model *m, const map_options *o, arena *scratch, profile *p,
                     assay_error *err);

/* ---- between map.c and map_pareto.c ---- */
assay_status map_pareto(profile_mapping *m, const map_options *o, arena *scratch, arena *keep,
                        assay_error *err);

#endif
