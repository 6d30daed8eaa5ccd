/* The cost of a model as a function of its sizes: the result "assay.scaling/1" (scaling_fields.c), filled by
 * study/scaling_result.c from the analysis of study/scaling.c.
 *
 * An axis is a size that was varied. A closed form is a sum of terms c·∏ u^power over the axes, with u = size divided
 * by the axis' granule. All pointers are in one arena.
 */
#ifndef PROFILE_SCALING_H
#define PROFILE_SCALING_H

#include "base/result.h"

enum { SCALING_AXES = 4, SCALING_QUESTIONS = 8 };

typedef enum scaling_metric_id {
    SCALING_MACS,
    SCALING_FLOPS,
    SCALING_TRAFFIC,
    SCALING_PARAMETERS,
    SCALING_ACTIVATIONS,
    SCALING_PEAK,
    SCALING_TRAINING, /* memory of a training step with AdamW; only on request */
    SCALING_METRICS
} scaling_metric_id;

typedef struct scaling_metric {
    const char *key, *title;
    const char *aliases; /* in a question, space separated; or "" */
    bool bytes;
} scaling_metric;
extern const scaling_metric scaling_metrics[SCALING_METRICS];

typedef struct scaling_question {
    str text; /* as asked */
    str axis; /* empty: every axis that is varied */
    scaling_metric_id metric;
    bool at_least; /* >=: the smallest; else <=: the largest */
    uint64_t limit;
} scaling_question;

typedef struct scaling_axis {
    str name;
    const char *kind; /* "batch", "input", "dimension", "parameter" */
    char symbol[8];   /* in closed forms: "b", "h", "x2" */
    double from, to;
    int64_t granule;      /* closed forms hold at its multiples */
    int64_t accepted;     /* the model takes multiples of this; 1: any */
    const double *values; /* of the grid, ascending */
    uint32_t n_values;
} scaling_axis;

typedef struct scaling_size {
    str axis;
    double size;
} scaling_size;

typedef struct scaling_point {
    const scaling_size *sizes; /* one per axis */
    uint32_t n_sizes;
    uint64_t figures[SCALING_METRICS]; /* FIELD_UNKNOWN: not asked for, or refused */
    str refused;                       /* why the model does not take these sizes; empty: it does */
} scaling_point;

typedef struct scaling_power {
    str axis;
    uint32_t power;
} scaling_power;

typedef struct scaling_term {
    double coefficient;
    int64_t numerator, denominator; /* the same exactly; INT64_MIN: of a form that is not exact */
    const scaling_power *powers;    /* one per axis */
    uint32_t n_powers;
} scaling_term;

typedef struct scaling_exponent { /* slope of log y over log x along the axis */
    str axis;
    double fitted, first, last; /* over all of it, and at its two ends */
} scaling_exponent;

typedef struct scaling_between { /* compared at sizes that are no multiple of a granule */
    uint32_t checked;
    double error_percent;
} scaling_between;

typedef struct scaling_form {
    str metric;           /* key of scaling_metrics */
    str title;            /* of the metric: "peak memory" */
    str form;             /* "81674240*b*h^2 + 2048000*b"; empty: none was found */
    bool exact;           /* equal to the count at every multiple of the granules that was tried */
    uint32_t checked;     /* evaluations that it was compared with, those it was made of left out */
    double error_percent; /* the largest there; 0 when exact */
    scaling_between between;
    const scaling_exponent *exponents; /* one per axis */
    uint32_t n_exponents;
    const scaling_term *terms; /* highest powers first */
    uint32_t n_terms;
} scaling_form;

typedef enum scaling_outcome {
    SCALING_FOUND,
    SCALING_NONE,  /* not even the smallest (largest) size tried */
    SCALING_ALWAYS /* nor does any size tried break the limit */
} scaling_outcome;
extern const char *const scaling_outcome_words[]; /* "found", "none", "always" */

typedef struct scaling_answer {
    str question;       /* as asked */
    const char *metric; /* key of scaling_metrics */
    const char *unit;   /* "bytes" or "count", of the limit and the figures */
    uint64_t limit;
    str axis;                  /* whose size is requested */
    const scaling_size *sizes; /* of the other axes */
    uint32_t n_sizes;
    scaling_outcome outcome;
    double value;         /* the answer; NaN: none */
    double tried;         /* the answer, or the last size tried */
    uint64_t figure;      /* there */
    double next;          /* the nearest size that breaks the limit; NaN: none was found */
    uint64_t next_figure; /* there; FIELD_UNKNOWN: the model does not take it */
    bool outside;         /* of the range that was given */
} scaling_answer;

typedef struct scaling {
    str conclusion; /* one or two sentences: result_conclude() */
    str model;
    str precision;        /* that bytes are counted in; empty when the model has no weights */
    const char *kv_cache; /* profile_memory_plan's, of all evaluations; "mixed" where they differ */
    uint64_t evaluations; /* of the model */
    uint64_t assumed;     /* of them with something assumed or unknown in the graph */
    const scaling_axis *axes;
    uint32_t n_axes;
    const scaling_point *points;
    uint32_t n_points;
    const scaling_form *forms; /* one per metric that was requested */
    uint32_t n_forms;
    const scaling_answer *answers;
    uint32_t n_answers;
} scaling;

extern const result_kind scaling_kind;

#endif
