/* A model on devices: every device, precision and batch timed and judged, and those of them that nothing
 * beats in both of two figures.
 *
 * Verdicts, with I the inference and T the training memory (AdamW) as a part of the device's:
 *   OOM                    I above 1
 *   risk of OOM            I above 0.8: less than 20 % free
 *   maximum throughput     I up to 0.8, and training does not fit with 20 % free, or is not done there
 *   optimal for training   T from 0.4 to 0.8: twice the batch would not leave 20 % free
 *   good                   T from 0.2 to 0.4
 *   safe                   T up to 0.2
 * Where the precision is not one that is trained at (fp8, int8), I stands for T in the last two.
 */
#ifndef ANALYZE_MAP_H
#define ANALYZE_MAP_H

#include "analyze/roofline.h"
#include "profile/bands.h"
#include "profile/mapping.h"

#define MAP_HEAD_ROOM 0.8 /* of the memory may be used */

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
} map_options;

/* "latency", "throughput:1000", "memory:8GiB", "power:75W", "energy:2J". */
assay_status map_goal_parse(str text, const map_goal_row **goal, double *limit, assay_error *err);

/* The verdict alone; training below 0 where nothing is trained. Parts of the device's memory. */
const char *map_verdict(double inference, double training);

/* Fills p->mapping. */
assay_status map_run(const roofline_model *m, const map_options *o, arena *scratch, profile *p,
                     assay_error *err);

/* ---- between map.c and map_pareto.c ---- */
assay_status map_pareto(profile_mapping *m, const map_options *o, arena *scratch, arena *keep,
                        assay_error *err);

#endif
