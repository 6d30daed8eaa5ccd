/* The memory plan over the order in which an engine ran a graph. */
#ifndef ANALYZE_PLAN_AS_RUN_H
#define ANALYZE_PLAN_AS_RUN_H

#include "analyze/count.h"

typedef struct plan_kernel { /* that ran */
    str name, op;
    uint32_t index; /* place in the engine's graph */
} plan_kernel;

typedef struct plan_run {
    const plan_kernel *kernels;
    const uint32_t *order; /* of a run, in kernels */
    uint32_t n_kernels, n_order;
    /* Whether the engine's kernels of that operator write over a dying input of the same size. */
    bool (*in_place)(const void *engine, str domain, str op);
    const void *engine;
} plan_run;

/* The graph that the engine was given, which is the model's own or what lowering and conversion made of it,
 * analysed again; and its memory planned over the order in which the engine ran it. */
typedef struct plan_as_run {
    arena *arena; /* holds r and of */
    const plan_run *run;
    profile *p;
    /* Peaks: in the graph's own order, and over the engine's, when all operators work in place that could;
     * when those do that do in the engine; when none does; and when the smaller counts at each kernel of that
     * and of keeping dead buffers, which is how it is measured. */
    uint64_t expanded, in_order, as_run, no_reuse, with_kept;
    infer_result *r;
    counted of;
    const ir_model *model;
    ir_id *node_of;    /* [kernels] or IR_NONE */
    bool *ran;         /* [nodes of the model] as a separate kernel */
    bool strangers;    /* kernels ran that are no nodes of the model */
    uint32_t *step_of; /* [nodes of the model] place in p->memory_plan.timeline, or UINT32_MAX */
} plan_as_run;

/* Freed by plan_as_run_free() in any case. */
assay_status plan_as_run_make(const ir_model *m, const infer_options *shapes, const plan_run *run,
                              plan_as_run *out, assay_error *err);
void plan_as_run_free(plan_as_run *x);

#endif
