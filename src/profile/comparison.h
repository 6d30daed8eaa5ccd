/* What differs between profiles, as plain data: filled by study/compare.c, read by reports. The profiles
 * are borrowed and outlive it. The first one is what the others are measured against.
 */
#ifndef PROFILE_COMPARISON_H
#define PROFILE_COMPARISON_H

#include "profile/profile.h"

#define COMPARISON_MAX 12 /* profiles */

typedef struct comparison_type { /* one operator type in all of them */
    str type;
    uint64_t count[COMPARISON_MAX], flops[COMPARISON_MAX], macs[COMPARISON_MAX];
} comparison_type;

typedef enum comparison_change {
    CHANGE_REMOVED, /* only in the first */
    CHANGE_ADDED,   /* only in the second */
    CHANGE_CHANGED  /* in both, with other figures */
} comparison_change;

typedef struct comparison_layer { /* a layer behind the difference of two */
    comparison_change change;
    const profile_layer *before, *after; /* NULL where it is missing */
    uint64_t difference;                 /* of FLOPs, without its sign */
} comparison_layer;

typedef struct comparison {
    arena *arena;
    const profile *const *profiles;
    uint32_t n;
    const comparison_type *types; /* by the largest FLOPs, descending */
    uint32_t n_types;
    /* of two profiles alone: */
    const comparison_layer *layers; /* by difference, descending */
    uint32_t n_layers;
    uint32_t same, renamed; /* layers with equal figures: under the same name, under another */
} comparison;

#endif
