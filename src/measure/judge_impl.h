/* Shared by the judge_*.c files: the state of a check. */
#ifndef MEASURE_JUDGE_IMPL_H
#define MEASURE_JUDGE_IMPL_H

#include "measure/judge.h"

enum { JUDGE_NOTES_MOST = 16 };
#define JUDGE_TOO_BUSY "machine too busy: the interval contains the limit"

typedef struct judging {
    const judge_request *q;
    arena *a;
    verdicts *out;
    bool comparable;             /* the runs of the two */
    str not_comparable;          /* why not */
    bool other_batch;            /* the two are of one model at other batch sizes */
    bool busy;                   /* the machine was, for one of the two */
    double tolerance, allowance; /* shares; the allowance: between two sessions */
} judging;

/* A row of the metric, of which nothing is known yet. */
verdict_row *judge_add_row(judging *j, const metric_row *m);
void judge_add_note(judging *j, str sentence);
/* ASSAY_ERR_USAGE: `whose` has no such metric. */
assay_status judge_absent(const judging *j, const metric_row *m, const char *whose,
                          assay_error *err);

/* judge_limits.c */
assay_status judge_limit(judging *j, const verdict_limit *l, assay_error *err);

/* judge_context.c: whether the two are the same experiment; notes on what differs, and the allowance. */
void judge_contexts(judging *j);
/* Sets out->busy. True: the runs of one of the two were measured on a busy machine. */
bool judge_busy(judging *j);

#endif
