/* Between qdq_plan.c and qdq.c: what will be quantised. */
#ifndef REWRITE_QDQ_H
#define REWRITE_QDQ_H

#include "rewrite/kit.h"

typedef struct qdq_plan {
    uint8_t *marked; /* [values] it becomes uint8 */
    ir_id
        *range_of; /* [values] whose range holds for it: its own, or that of what it is a view of */
    uint8_t *weighted; /* [nodes] its constant weights become int8 */
    uint32_t n_values, n_weighted;
} qdq_plan;

assay_status qdq_plan_make(kit *k, qdq_plan *p);

/* Which dimension of its weights are the output channels of a Conv, Gemm or MatMul. */
int qdq_channel_axis(const ir_node *n);

#endif
