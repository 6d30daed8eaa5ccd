/* Interleaved runs of several models in one process, so that changes of the machine affect all of them.
 *
 * Each model has a turn in every round, and the order alternates: A B, B A, A B, ... A slow change of the machine's
 * speed therefore affects all models equally. A turn is one run that is not counted (the caches contain the other
 * model's data) and at least INTERLEAVE_BLOCK that are, more of a model whose runs are short, so that a turn is
 * longer than an interrupt; of a round the medians of the turns are compared, not single runs.
 */
#ifndef MEASURE_INTERLEAVE_H
#define MEASURE_INTERLEAVE_H

#include "base/arena.h"
#include "base/vec.h"
#include "measure/gate.h"
#include "measure/measure.h"
#include "measure/system.h"

enum { INTERLEAVE_BLOCK = 4, INTERLEAVE_BLOCK_MOST = 64 };

typedef struct interleave_request {
    const measure_request *subjects; /* engine, model, options, wants, seed and warm-up of each */
    uint32_t n;
    uint32_t runs;                 /* of each, at least */
    const counter_source *counter; /* of instructions; NULL: the kernel's */
    measure_hooks hooks;
} interleave_request;

typedef struct interleave_series {
    VEC(double) ms;    /* counted runs, in the order they were made */
    VEC(double) turns; /* their medians, round by round */
    uint32_t block;
    warmup_result warmup; /* its durations are in the arena too */
    double session_ms;
    VEC(double) counts;           /* instructions of the counted runs, where somebody tells */
    counter_summary instructions; /* of a run; zeros unless every one was told */
    uint64_t wall_ns;             /* of the counted runs */
    system_usage used;            /* in them */
    double wait_s;                /* for a CPU, in them; NaN: not reported */
} interleave_series;

/* Fills out[q->n]; lists are in the arena. ASSAY_ERR_INTERRUPTED when a hook said no: nothing can be said. */
assay_status interleave_measure(const interleave_request *q, arena *a, interleave_series *out,
                                measure_session_fn *seen, void *ctx, assay_error *err);

/* How much longer `now` takes than `base`, by the rounds of both: a 99 % interval of the mean of the logarithms of
 * their ratios (Student's t, as many degrees of freedom as rounds are independent). VERDICT_PASS here means that
 * neither is slower by more than the tolerance. */
void interleave_judge(const interleave_series *base, const interleave_series *now, double tolerance,
                      gate_answer *out);

#endif
