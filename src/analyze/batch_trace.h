/* Where a size of the inputs goes: after an inference in which it was a prime that the model has nowhere else, the
 * dimensions that it divides are the ones that follow it. A batch lies beside what is computed: every result has
 * it once, operators that know which axis samples lie on find it there, and nothing is summed over it. Time and
 * channels do not behave so: a recurrence walks along them, attention makes squares of them, a pooling takes
 * them away.
 */
#ifndef ANALYZE_BATCH_TRACE_H
#define ANALYZE_BATCH_TRACE_H

#include "analyze/infer.h"

typedef struct batch_trace {
    uint32_t proofs; /* operators that have it on their batch axis */
    ir_id mixed_at;  /* one that has it on another; IR_NONE */
    bool steps;      /* that is a recurrence, walking along it */
    ir_id lost_at; /* a contraction of what had it, without it: a size was written down; IR_NONE */
    ir_id squared_at;                                  /* one whose result has it twice; IR_NONE */
    uint32_t n_outputs, n_follow, n_squared, n_opaque; /* outputs: all, with it, twice, not known */
    bool first_follows;                                /* the first output that is known */
} batch_trace;

/* A prime that divides no size of a constant or a declared input. */
int64_t batch_prime(const ir_model *m);
/* `work` is for the walk. */
batch_trace batch_follow(const infer_result *r, int64_t prime, arena *work);

#endif
