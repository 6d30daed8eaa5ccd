/* How the cost of a model grows with its sizes: a grid of evaluations, closed forms, exponents, and the
 * largest size within a limit. The model is behind a callback, so that this room need not know how one is
 * opened and built.
 */
#ifndef STUDY_SCALING_H
#define STUDY_SCALING_H

#include "base/error.h"
#include "profile/scaling.h"

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
assay_status scaling_run(const scaling_request *q, scaling *out, assay_error *err);

#endif
