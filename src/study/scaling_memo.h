/* Shared by the scaling_*.c files: the evaluations so far, each made once. */
#ifndef STUDY_SCALING_MEMO_H
#define STUDY_SCALING_MEMO_H

#include "base/map.h"
#include "base/vec.h"
#include "study/scaling.h"

typedef struct scaling_eval { /* one evaluation, remembered */
    int64_t at[SCALING_AXES];
    scaling_figures figures;
    bool ok;
    str why; /* it is not */
} scaling_eval;

struct scaling_memo {
    map at;
    VEC(scaling_eval *) list;
};

typedef struct scaling_job scaling_job;
/* NULL if out of memory, there were too many or the caller ended it; remembers. */
const scaling_eval *scaling_at(scaling_job *j, const int64_t *at);

struct scaling_job {
    const scaling_request *q;
    scale_work *s;
    struct scaling_memo *memo;
    int64_t reference[SCALING_AXES]; /* where an axis stands while another is varied */
    scaling_metric_id gauge;   /* what granules are found by: MACs, or FLOPs where there are none */
    int64_t top[SCALING_AXES]; /* largest size that the model takes, as far as is known */
    int64_t line[SCALING_AXES][8]; /* values along an axis, multiples of its granule */
    uint32_t n_line[SCALING_AXES];
    assay_error first; /* failure */
    bool stopped;      /* by the caller: there are no evaluations any more */
};

/* scale_fit.c: closed forms and exponents of every metric. */
assay_status scaling_fit_all(scaling_job *j, assay_error *err);
/* The degree of the polynomial through n values that is met by all of them with two to spare, else -1. */
int scaling_degree(const int64_t *u, const uint64_t *y, uint32_t n);
/* scaling_solve.c: answers every question. */
assay_status scaling_solve_all(scaling_job *j, assay_error *err);

#endif
