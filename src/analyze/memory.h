/* Memory over the execution: live activations at each step, the peak and its tensors, an offset plan, and the lower
 * bound of any plan.
 *
 * Steps are the layers in execution order. Counted: every tensor that is not a weight and not a graph
 * input (the caller's). Graph outputs are there from the first step to the last. Views share the
 * buffer of what they view; an elementwise output takes the buffer of an input of the same size that
 * dies there. Kernel scratch is not counted. What a body of a loop reads from outside lives until the
 * body's last step.
 */
#ifndef ANALYZE_MEMORY_H
#define ANALYZE_MEMORY_H

#include "analyze/count.h"

/* What is listed beside the figures. */
typedef struct memory_detail {
    bool slots;         /* where each tensor goes */
    bool events;        /* the same, and what is done in which order, with snapshots */
    const uint32_t *at; /* steps whose snapshots are requested */
    uint32_t n_at;
} memory_detail;

/* Fills p->memory_plan and the layers' live_bytes. detail may be NULL: the figures alone. */
assay_status memory_run(infer_result *r, const counted *of, ir_dtype precision,
                        const memory_detail *detail, profile *p, assay_error *err);

/* Bytes of activations alive at each step, for floats of each of n types: live[k][step]. In r's arena. */
assay_status memory_live(infer_result *r, const counted *of, const ir_dtype *precisions, uint32_t n,
                         uint64_t **live, assay_error *err);
/* Bytes of all weights, floats at that type unless it is IR_UNDEFINED. */
uint64_t memory_weights(const profile_architecture *a, ir_dtype precision);

/* What engines do differently. */
typedef struct memory_rule {
    /* Whether the kernel of that node writes its first output over a dying input of the same size; NULL: as
     * our own rule has it. */
    bool (*in_place)(const void *ctx, ir_id node);
    /* Whether the node is several kernels, with a tensor of the output's size between them; may be NULL. */
    bool (*taken_apart)(const void *ctx, ir_id node);
    /* A dead buffer waits for the next tensor of its shape, if there will be one, instead of being given back. */
    bool keeps;
    const void *ctx;
} memory_rule;

/* The same under another rule; NULL: our own, every elementwise operator does. */
assay_status memory_run_by(infer_result *r, const counted *of, const memory_rule *rule, profile *p,
                           assay_error *err);

/* The steps at which layers of these names run; ASSAY_ERR_USAGE when there is none (memory_at.c). */
assay_status memory_steps_at(const profile *p, const str *words, uint32_t n, arena *work,
                             uint32_t **out, assay_error *err);

#endif
