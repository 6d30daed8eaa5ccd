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
    CHANGE_REMOVED,  /* only in the first */
    CHANGE_ADDED,    /* only in the second */
    CHANGE_CHANGED,  /* in both, on the same shapes, with other figures */
    CHANGE_RESHAPED, /* in both, on other shapes */
    CHANGE_NONE      /* the same in both */
} comparison_change;
extern const char *const comparison_change_words[]; /* "removed", ... */

/* A layer of two profiles: what stands behind a difference. What it contributes to a total is its figure in the
 * second less that in the first. */
typedef struct comparison_layer {
    comparison_change change;
    const profile_layer *before, *after; /* NULL where it is missing */
    uint64_t difference;                 /* of FLOPs, without its sign */
    uint64_t peak_before, peak_after;    /* bytes of its outputs that are live at the peak */
} comparison_layer;

/* The layer of either. */
static inline const profile_layer *comparison_any(const comparison_layer *l)
{
    return l->after ? l->after : l->before;
}

/* Whether both say which attributes they have. */
static inline bool comparison_attributes_told(const comparison_layer *l)
{
    return l->before && l->after && l->before->attributes_told && l->after->attributes_told;
}

/* How long one takes beside the first. */
typedef struct comparison_timing {
    const char *
        verdict; /* "faster", "slower", "no difference", "cannot tell", "not run" (why); NULL: no runs */
    bool interleaved;        /* run turn by turn; else by runs that were saved */
    bool tested;             /* low and high hold the 99 % interval */
    double ratio, low, high; /* of time: above 1 is slower than the first */
    uint32_t runs;
    str why; /* it cannot be told, and what differs between the two: whole sentences; or empty */
    /* A second opinion: instructions of a run over those of the first, of medians and at worst; 0: not told. */
    double instructions, instructions_low, instructions_high;
    str opinion; /* what that means, a sentence; or empty */
} comparison_timing;

typedef struct comparison {
    arena *arena;
    const profile *const *profiles;
    uint32_t n;
    comparison_timing timings[COMPARISON_MAX]; /* the first one's is empty */
    const comparison_type *types;              /* by the largest FLOPs, descending */
    uint32_t n_types;
    /* of two profiles alone: */
    const comparison_layer *layers; /* that differ; by difference, descending */
    uint32_t n_layers;
    const comparison_layer *peak; /* whose outputs make the peaks differ; by how much, descending */
    uint32_t n_peak;
    const comparison_layer *timed; /* by difference of measured time; none unless both have it */
    uint32_t n_timed;
    double timed_before_ms; /* of all layers of the first */
    uint32_t same, renamed; /* layers with equal figures: under the same name, under another */
} comparison;

#endif
