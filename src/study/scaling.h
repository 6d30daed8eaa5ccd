/* Cost of a model as a function of its sizes: a grid of evaluations, closed forms, exponents, and the largest size
 * within a limit. The model is evaluated through a callback.
 */
#ifndef STUDY_SCALING_H
#define STUDY_SCALING_H

#include "base/error.h"
#include "profile/scaling.h"

/* ---- what is found on the way; scaling_result() makes the result of it ---- */

typedef struct scaling_figures {
    uint64_t v[SCALING_METRICS];
} scaling_figures;

typedef struct scale_axis {
    str name;
    const char *kind; /* "batch", "input", "dimension", "parameter" */
    char symbol[8];   /* in closed forms: "b", "h", "x2" */
    int decimals;
    int64_t from, to;
    const int64_t *values; /* of the grid, ascending */
    uint32_t n_values;
    int64_t granule;  /* closed forms hold at its multiples */
    int64_t accepted; /* the model takes multiples of this; 1: any */
} scale_axis;

typedef struct scale_point {
    int64_t at[SCALING_AXES];
    scaling_figures figures;
    str refused; /* why the model does not take these sizes; empty: it does */
} scale_point;

typedef struct scale_term {
    int64_t numerator, denominator; /* of an exact form */
    double value;                   /* of either */
    uint8_t powers[SCALING_AXES];
} scale_term;

typedef struct scale_fit {
    bool wanted;       /* the metric was requested */
    bool exact;        /* equal to the count at every multiple of the granules that was tried */
    scale_term *terms; /* highest powers first; NULL: no form was found */
    uint32_t n_terms;
    uint32_t
        n_checked; /* evaluations that the form was compared with, those it was made of left out */
    double error_percent; /* the largest there; 0 when exact */
    uint32_t n_between;   /* compared at sizes that are no multiple of a granule */
    double between_percent;
    double exponent[SCALING_AXES]; /* slope of log y over log x along the axis */
    double exponent_first[SCALING_AXES], exponent_last[SCALING_AXES]; /* at the two ends of it */
} scale_fit;

typedef struct scale_answer {
    uint32_t question, axis;
    int64_t at[SCALING_AXES]; /* of the other axes; at[axis] is the answer */
    scaling_outcome outcome;
    uint64_t figure; /* at the answer; of the last size tried when there is none */
    int64_t next;    /* the nearest size that breaks the limit; 0: none was found */
    uint64_t next_figure;
    str next_refused; /* the model does not take the next size; next_figure is 0 then */
    bool outside;     /* of the range that was given */
} scale_answer;

typedef struct scale_work {
    arena *arena;
    str model;
    str precision;        /* that bytes are counted in; "" when the model has no weights */
    const char *kv_cache; /* profile_memory_plan's, of all evaluations; "mixed" where they differ */
    scale_axis axes[SCALING_AXES];
    uint32_t n_axes;
    bool metrics[SCALING_METRICS]; /* those that were requested */
    scale_point *points;
    uint32_t n_points, n_refused;
    scale_fit fits[SCALING_METRICS];
    scaling_question questions[SCALING_QUESTIONS];
    uint32_t n_questions;
    scale_answer *answers;
    uint32_t n_answers;
    uint64_t evaluations; /* of the model */
    uint64_t assumed;     /* of them with something assumed or unknown in the graph */
} scale_work;

/* ---- the work ---- */

/* Figures of the model at the given values of the axes. A failure is a size that the model does not take. */
typedef assay_status scaling_evaluate_fn(void *ctx, const int64_t *at, scaling_figures *out,
                                         bool *assumed, assay_error *err);

typedef struct scaling_request {
    scaling_evaluate_fn *evaluate;
    void *ctx;
    /* In *out, filled by the caller: model, precision, axes (name, kind, decimals, from, to, and values when
     * they were given one by one), metrics, questions. */
    int64_t step[SCALING_AXES];  /* of the values; 0: none was given */
    int64_t count[SCALING_AXES]; /* of values; 0: chosen here */
} scaling_request;

#define SCALING_POINTS_MAX      4096
#define SCALING_EVALUATIONS_MAX 20000

/* Everything goes into out->arena. ASSAY_ERR_USAGE when the grid is too large; the evaluation's own failure
 * when the model takes no size at all. */
assay_status scaling_run(const scaling_request *q, scale_work *out, assay_error *err);

/* The result, in the same arena; false if out of memory (scaling_result.c). */
bool scaling_result(const scale_work *s, scaling *out);

#endif
