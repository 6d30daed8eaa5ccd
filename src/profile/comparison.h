/* Differences between profiles: the result "assay.comparison/1" (comparison_fields.c), filled by study/compare.c.
 * Texts, shapes and attributes are borrowed from the profiles, which outlive it. The others are compared with the
 * first profile.
 */
#ifndef PROFILE_COMPARISON_H
#define PROFILE_COMPARISON_H

#include "base/result.h"
#include "profile/attribute.h"
#include "profile/metrics.h"
#include "profile/shape.h"

#define COMPARISON_MAX 12 /* profiles */

/* Totals of a model over those of the first; 0 where those are 0, NaN where either is unknown. */
typedef struct comparison_ratios {
    double parameters, weight_bytes, operators, macs, flops, flops_per_param, memory;
    double arithmetic_intensity, activations_peak_bytes, peak_bytes;
    double p50_ms, samples_per_second, memory_used_bytes;
} comparison_ratios;

typedef struct comparison_model {
    str model;
    str label;                 /* as outputs call it: the model, unless several have the name */
    uint64_t assumed, unknown; /* operators */
    uint64_t parameters, weight_bytes, operators, macs, flops;
    double flops_per_param;
    uint64_t memory; /* traffic, bytes */
    double arithmetic_intensity;
    uint64_t activations_peak_bytes, peak_bytes;
    double p50_ms, samples_per_second; /* NaN: not measured */
    uint64_t memory_used_bytes;        /* FIELD_UNKNOWN: not measured */
    comparison_ratios ratios;
} comparison_model;

typedef struct comparison_type { /* one operator type in all of them */
    str type;
    uint64_t count[COMPARISON_MAX], flops[COMPARISON_MAX], macs[COMPARISON_MAX];
    uint32_t n; /* models */
} comparison_type;

typedef enum comparison_change {
    CHANGE_REMOVED,  /* only in the first */
    CHANGE_ADDED,    /* only in the second */
    CHANGE_CHANGED,  /* in both, on the same shapes, with other figures */
    CHANGE_RESHAPED, /* in both, on other shapes */
    CHANGE_NONE      /* the same in both */
} comparison_change;
extern const char *const comparison_change_words[]; /* "removed", ... */

/* A layer in one of two profiles. */
typedef struct comparison_side {
    str name;
    const profile_shape *output_shapes;
    uint32_t n_output_shapes;
    uint64_t flops, macs, parameters, memory;
    uint64_t peak_bytes; /* of its outputs that are live at the peak */
    double time_ms;      /* NaN: not measured */
} comparison_side;

typedef struct comparison_attribute {
    str name;
    const profile_attribute *before, *after; /* NULL: the operator's default */
} comparison_attribute;

/* What a layer adds to the totals: its figures in the second less those in the first, 0 where it is missing. */
typedef struct comparison_difference {
    int64_t macs, flops, parameters, memory, peak_bytes;
    double time_ms; /* NaN: not measured */
} comparison_difference;

/* A layer of two profiles that differs. */
typedef struct comparison_layer {
    comparison_change change;
    str name; /* in the second, or in the first where it was removed */
    str type, op;
    str shapes;  /* of the first output: "1×64×56×56 → 1×128×56×56", or one of them */
    str changes; /* of attributes: "strides [1,1] → [2,2], epsilon default → 0.001"; or empty */
    comparison_difference difference;
    const comparison_side *before, *after;  /* NULL where it is missing */
    const comparison_attribute *attributes; /* that differ */
    uint32_t n_attributes;
} comparison_layer;

/* Instructions of a run over those of the first: of medians, and at worst. */
typedef struct comparison_instructions {
    bool present;
    double ratio, low, high;
} comparison_instructions;

/* Time compared with the first. */
typedef struct comparison_timing {
    str model, label;
    const char *verdict; /* "faster", "slower", "no difference", "inconclusive", "not run" (why) */
    bool interleaved;    /* run turn by turn; else by runs that were saved */
    double ratio;        /* of time: above 1 is slower than the first; NaN: not run */
    double low, high;    /* the 99 % interval; NaN: not tested */
    uint32_t runs;
    str why; /* reasons for an inconclusive verdict, and differences of the contexts, as sentences; or empty */
    comparison_instructions instructions; /* a second opinion */
    str opinion;                          /* what that means, a sentence; or empty */
} comparison_timing;

/* A model on a device, predicted at the fastest precision that fits there. */
typedef struct comparison_place {
    str model, label, device;
    const char *precision;
    int64_t batch; /* the smallest that was looked at */
    double latency_ms, throughput;
    uint64_t memory_bytes;
    bool fits;
    const char *verdict, *bound;
    int64_t best_batch; /* with most samples per second */
    double best_throughput;
    double latency_low_ms, latency_high_ms, limit_ms; /* 80 % interval, roofline; 0: none */
    bool imprecise, tie; /* tie: the interval overlaps that of the fastest model on the device */
} comparison_place;

/* A limit of the budget. */
typedef struct comparison_limit {
    const metric_row *row; /* NULL when it was read from a file */
    const char *metric, *title;
    metric_unit unit;
    const char *op; /* "<=" or ">=" */
    double limit;
} comparison_limit;

/* What a model uses of a limit. */
typedef struct comparison_use {
    const char *metric; /* that was read: "plan" where memory was not measured */
    metric_unit unit;
    metric_value value; /* unknown: NaN */
    double share;       /* of the limit; above 1: missed; NaN: unknown */
} comparison_use;

typedef struct comparison_rank {
    uint32_t index; /* in the list of models */
    str model, label;
    const char *verdict;  /* of comparison_fit_words */
    const char *tightest; /* metric of which it uses most; or NULL */
    double share;         /* of that limit */
    str why;              /* it is unknown; or empty */
    const comparison_use *uses;
    uint32_t n_uses; /* one for each limit */
} comparison_rank;

/* Limits, and the models by how they meet them: what fits first. */
typedef struct comparison_budget {
    const comparison_limit *limits;
    uint32_t n_limits;
    uint32_t fits; /* models that do */
    bool planned;  /* memory, where it was not measured */
    const comparison_rank *ranking;
    uint32_t n_ranking;
} comparison_budget;
extern const char *const comparison_fit_words[]; /* "fits", "unknown", "over" */

typedef struct comparison {
    str conclusion; /* one or two sentences: result_conclude() */
    str lens;
    const comparison_model *models;
    uint32_t n_models;
    const comparison_budget *budget; /* NULL: none was set */
    const comparison_place *places;  /* of models that were mapped */
    uint32_t n_places;
    const comparison_timing *measured; /* of those but the first that have runs */
    uint32_t n_measured;
    str busy; /* the machine was too busy while they ran: of which model, and the evidence; empty: it was not */
    const comparison_type *types; /* by the largest FLOPs, descending */
    uint32_t n_types;
    bool is_pair;           /* of two profiles alone: */
    uint32_t same, renamed; /* layers with equal figures: under the same name, under another */
    const comparison_layer *layers; /* that differ; by difference of FLOPs, descending */
    uint32_t n_layers;
    const comparison_layer *peak; /* whose outputs make the peaks differ; by how much, descending */
    uint32_t n_peak;
    const comparison_layer *timed; /* by difference of measured time; none unless both have it */
    uint32_t n_timed;
} comparison;

extern const result_kind comparison_kind;

#endif
