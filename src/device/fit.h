/* The one fitting function: coefficients of a time model from measured times, and what leaving groups out shows.
 *
 * Two forms, both fitted to the logarithm of the time, so that every row counts by its relative error:
 *   FIT_FACTORS   log t = log base + sum c_j x_j       base: seconds by the data sheet; c_j corrects them
 *   FIT_SUM       t = sum exp(c_j) x_j                 x_j: seconds by the data sheet; exp(c_j) is never negative
 *
 * Gauss-Newton steps on the normal equations (Cholesky), with weights 1 / |residual| above 3 % (the mean absolute
 * error is minimised, and a disturbed row counts little). A coefficient is drawn to its prior with the strength of
 * prior_rows rows: where nothing was measured, the prior remains.
 *
 * Cross-validation leaves out whole groups (a shape, a head configuration, a family of models) in up to FIT_FOLDS
 * parts; the error and the interval that are reported come from rows that were left out.
 */
#ifndef DEVICE_FIT_H
#define DEVICE_FIT_H

#include "base/arena.h"
#include "base/error.h"

enum { FIT_TERMS = 64, FIT_FOLDS = 12 };

typedef enum fit_form { FIT_FACTORS, FIT_SUM } fit_form;

typedef struct fit_problem {
    fit_form form;
    uint32_t n, n_terms;
    const double *x;       /* [n][n_terms] */
    const double *base;    /* [n] seconds, of FIT_FACTORS */
    const double *seconds; /* [n] measured, above 0 */
    const double *weight;  /* [n], or NULL: all the same */
    const uint32_t *group; /* [n] rows that are left out together: any numbers */
    const double *prior;   /* [n_terms], or NULL: zeros */
    double prior_rows;     /* weight of the prior */
} fit_problem;

typedef struct fit_result {
    double c[FIT_TERMS];
    uint32_t n_terms, rows, groups;
    double mean_error, median_error; /* of rows that were left out: |predicted / measured - 1| */
    double low, high;                /* measured / predicted: 80 % of them lie between */
} fit_result;

/* Seconds by coefficients. */
double fit_seconds(fit_form form, double base, const double *x, const double *c, uint32_t n_terms);
/* Fills *out. ratio, when not NULL, is [n] measured over predicted of each row, predicted without its group.
 * ASSAY_ERR_UNSUPPORTED when there are too few rows or a time is not above zero. */
assay_status fit_run(const fit_problem *p, arena *scratch, fit_result *out, double *ratio,
                     assay_error *err);
/* The value below which a share q of x lies; sorts x. */
double fit_quantile(double *x, uint32_t n, double q);

#endif
