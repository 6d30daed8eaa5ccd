/* How the cost of a model grows with its sizes, as plain data: filled by study/scaling.c, read by reports.
 *
 * An axis is a size that was varied; its values are whole numbers of 10^-decimals. A closed form is a sum of
 * terms c·∏ u_k^powers[k] with u_k = value of axis k divided by its granule. All pointers live in one arena.
 */
#ifndef PROFILE_SCALING_H
#define PROFILE_SCALING_H

#include "base/str.h"

enum { SCALING_AXES = 4, SCALING_QUESTIONS = 8 };

typedef enum scaling_metric_id {
    SCALING_MACS,
    SCALING_FLOPS,
    SCALING_TRAFFIC,
    SCALING_PARAMETERS,
    SCALING_ACTIVATIONS,
    SCALING_PEAK,
    SCALING_TRAINING, /* memory of a training step with AdamW; only when asked for */
    SCALING_METRICS
} scaling_metric_id;

typedef struct scaling_metric {
    const char *key, *title;
    const char *aliases; /* in a question, space separated; or "" */
    bool bytes;
} scaling_metric;
extern const scaling_metric scaling_metrics[SCALING_METRICS];

typedef struct scaling_figures {
    uint64_t v[SCALING_METRICS];
} scaling_figures;

typedef struct scaling_axis {
    str name;
    const char *kind; /* "batch", "input", "dimension", "parameter" */
    char symbol[8];   /* in closed forms: "b", "h", "x2" */
    int decimals;
    int64_t from, to;
    const int64_t *values; /* of the grid, ascending */
    uint32_t n_values;
    int64_t granule;  /* closed forms hold at its multiples */
    int64_t accepted; /* the model takes multiples of this; 1: any */
} scaling_axis;

typedef struct scaling_point {
    int64_t at[SCALING_AXES];
    scaling_figures figures;
    str refused; /* why the model does not take these sizes; empty: it does */
} scaling_point;

typedef struct scaling_term {
    int64_t numerator, denominator; /* of an exact form */
    double value;                   /* of either */
    uint8_t powers[SCALING_AXES];
} scaling_term;

typedef struct scaling_fit {
    bool wanted;         /* the metric was asked for */
    bool exact;          /* equal to the count at every multiple of the granules that was tried */
    scaling_term *terms; /* highest powers first; NULL: no form was found */
    uint32_t n_terms;
    uint32_t
        n_checked; /* evaluations that the form was compared with, those it was made of left out */
    double error_percent; /* the largest there; 0 when exact */
    uint32_t n_between;   /* compared at sizes that are no multiple of a granule */
    double between_percent;
    double exponent[SCALING_AXES]; /* slope of log y over log x along the axis */
    double exponent_first[SCALING_AXES], exponent_last[SCALING_AXES]; /* at the two ends of it */
} scaling_fit;

typedef struct scaling_question {
    str text; /* as asked */
    str axis; /* empty: every axis that is varied */
    scaling_metric_id metric;
    bool at_least; /* >=: the smallest; else <=: the largest */
    uint64_t limit;
} scaling_question;

typedef enum scaling_outcome {
    SCALING_FOUND,
    SCALING_NONE,  /* not even the smallest (largest) size tried */
    SCALING_ALWAYS /* nor does any size tried break the limit */
} scaling_outcome;

typedef struct scaling_answer {
    uint32_t question, axis;
    int64_t at[SCALING_AXES]; /* of the other axes; at[axis] is the answer */
    scaling_outcome outcome;
    uint64_t figure; /* at the answer; of the last size tried when there is none */
    int64_t next;    /* the nearest size that breaks the limit; 0: none was found */
    uint64_t next_figure;
    str next_refused; /* the model does not take the next size; next_figure is 0 then */
    bool outside;     /* of the range that was given */
} scaling_answer;

typedef struct scaling {
    arena *arena;
    str model;
    str precision;        /* that bytes are counted in; "" when the model has no weights */
    const char *kv_cache; /* profile_memory_plan's, of all evaluations; "mixed" where they differ */
    scaling_axis axes[SCALING_AXES];
    uint32_t n_axes;
    bool metrics[SCALING_METRICS]; /* those that were asked for */
    scaling_point *points;
    uint32_t n_points, n_refused;
    scaling_fit fits[SCALING_METRICS];
    scaling_question questions[SCALING_QUESTIONS];
    uint32_t n_questions;
    scaling_answer *answers;
    uint32_t n_answers;
    uint64_t evaluations; /* of the model */
    uint64_t assumed;     /* of them with something assumed or unknown in the graph */
} scaling;

#endif
