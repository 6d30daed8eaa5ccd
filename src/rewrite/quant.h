/* 8-bit weights: symmetric int8 steps with a scale for the whole tensor or for each output channel.
 *
 *     scale = max |w| / 127 (63 with seven bits),  q = round(w / scale),  zero point 0
 */
#ifndef REWRITE_QUANT_H
#define REWRITE_QUANT_H

#include "rewrite/kit.h"

typedef struct quant_request {
    ir_id graph, weight; /* a dense float32 constant of at least one dimension */
    int axis;            /* of its channels, in the source */
    bool turn;           /* [n, k] becomes [k, n] */
    bool per_channel;
    int limit;
    double factor;      /* on the scale that is stored: a Gemm's alpha */
    const float *least; /* [channels] scales may not be below; or NULL */
} quant_request;

typedef struct quant_weight {
    ir_id q, scale, zero;
    const float *scales; /* [channels], one when not per channel; without the factor */
    uint64_t channels;
} quant_weight;

/* Weights that several nodes share are quantised once per graph. */
typedef struct quant_entry {
    quant_request request;
    quant_weight made;
    uint32_t next; /* of the same weight; UINT32_MAX: none */
} quant_entry;
typedef struct quant_memo {
    uint32_t *first; /* [n_values] */
    VEC(quant_entry) list;
} quant_memo;
bool quant_memo_init(quant_memo *memo, kit *k);

int quant_limit(const int8_options *opt);
assay_status quant_make(kit *k, quant_memo *memo, const quant_request *r, quant_weight *out);

typedef struct quant_source {
    ir_id value; /* the constant */
    bool turned; /* read through a Transpose of two dimensions */
} quant_source;
/* The constant behind a value, through Identity and Transpose; value IR_NONE when there is none. */
quant_source quant_find(const kit *k, ir_id value);

/* ASSAY_ERR_UNSUPPORTED for opsets that have not the operators. */
assay_status quant_check_opset(const ir_model *m, int oldest, assay_error *err);
/* That no operator was found to quantise; `dynamic` says which were looked for. */
assay_status quant_nothing(bool dynamic, assay_error *err);

#endif
