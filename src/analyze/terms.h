/* The terms of a model's time (device/runtime.h) from its graph: FLOPs, bytes and kernels by kind, once with every
 * layer as a kernel of its own and once with chains as compilers join them (fuse.h, conventional).
 *
 * The plan is made once from the analysed graph: what each layer is, which chain it is in, and which of its operands
 * never leave the chain. Graphs of the same model at other batch sizes have the same layers in the same order, so
 * that the plan holds for them; only figures are taken again.
 */
#ifndef ANALYZE_TERMS_H
#define ANALYZE_TERMS_H

#include "analyze/count.h"
#include "device/runtime.h"

typedef enum term_kind {
    KIND_CORE, /* convolution or product: which one depends on its operands */
    KIND_BATCHED,
    KIND_ELEMENTWISE,
    KIND_NORM,
    KIND_MOVE,
    KIND_POOL,
    KIND_FREE, /* moves and computes nothing */
} term_kind;

typedef struct term_step {
    uint8_t kind;    /* term_kind */
    uint8_t chain;   /* runtime_term that the bytes of its chain count in */
    bool core;       /* a product leads the chain */
    bool lead;       /* of its chain */
    bool leaves;     /* what it makes is read outside the chain */
    bool bias;       /* that a library's product adds itself */
    uint64_t inside; /* operands that another layer of the chain made, as bits */
} term_step;

typedef struct term_plan {
    term_step *steps;
    uint32_t n;
} term_plan;

assay_status term_plan_make(infer_result *r, const counted *of, const profile *p, arena *a,
                            term_plan *out, assay_error *err);

typedef double term_totals[RUNTIME_WAYS][RUNTIME_TERMS];

/* One layer of an inferred graph, `times` runs of it, at a width: its part of the totals. k: as count_cost() says. */
typedef struct term_layer {
    const infer_result *r;
    const op_ctx *c;
    const op_cost *k;
    double times;
    ir_dtype width;
    uint64_t moved; /* bytes in all at the width, as count_moved() says */
} term_layer;
void terms_add(const term_plan *plan, uint32_t step, const term_layer *l, term_totals out);

#endif
