/* Models at another precision: graph to graph, in place, on a model that was built or read for it.
 *
 *     fp16, bf16     weights and activations in 16 bits (rewrite/half.c)
 *     int8-dynamic   weights of MatMul and Gemm in 8 bits; activations quantised as they come
 *                    (rewrite/int8_dynamic.c)
 *     int8           QuantizeLinear and DequantizeLinear around contractions and what lies between them,
 *                    with ranges from a calibration (rewrite/qdq.c)
 *
 * docs/precision.md says which operators change and what the formulas are. Element types of values are
 * taken from an inference of the model (value_facts, borrowed for the call). Weights are not touched:
 * the new ones are converted when they are read (rewrite/convert.h), so the model's reader is wrapped and
 * the old one lives on inside. Constants without bytes stay without: give them content first
 * (onnx_fill_model) where scales matter.
 *
 * Functions must have been inlined. Operators that a precision does not cover stay in float32; none makes
 * a rewrite fail. A rewrite that would change nothing does: ASSAY_ERR_UNSUPPORTED.
 */
#ifndef REWRITE_PRECISION_H
#define REWRITE_PRECISION_H

#include "ir/graph.h"
#include "ops/op.h"

typedef enum precision_kind {
    PRECISION_FP32,
    PRECISION_FP16,
    PRECISION_BF16,
    PRECISION_INT8_DYNAMIC,
    PRECISION_INT8,
} precision_kind;

typedef struct precision_row {
    const char *name, *about;
    precision_kind kind;
    ir_dtype dtype; /* of weights */
    int opset;      /* the oldest at which it reaches all that it can; 0: any */
} precision_row;

extern const precision_row precision_table[];
extern const uint32_t precision_table_n;
/* By row name or by a name of its dtype ("float16"); NULL when unknown. */
const precision_row *precision_find(str name);

/* What inference found of the first n values. */
typedef struct value_facts {
    const op_info *info;
    uint32_t n;
} value_facts;

/* ---- 16 bits ---- */

typedef struct half_options {
    ir_dtype dtype; /* IR_FLOAT16 or IR_BFLOAT16 */
    bool
        convert_inputs; /* inputs and outputs of the model too; else they stay, with Casts behind them */
} half_options;
/* ASSAY_ERR_UNSUPPORTED, with the first float32 node and why it stays, when nothing would change. */
assay_status rewrite_half(ir_model *m, value_facts facts, const half_options *opt,
                          assay_error *err);

/* ---- 8 bits ---- */

typedef struct int8_options {
    bool per_tensor; /* one scale per weight; else one per output channel */
    bool seven_bits; /* weights within +-63: processors without VNNI add two products in 16 bits */
} int8_options;

/* opt may be NULL. ASSAY_ERR_UNSUPPORTED when the opset is below 11 or nothing can be quantised. */
assay_status rewrite_int8_dynamic(ir_model *m, value_facts facts, const int8_options *opt,
                                  assay_error *err);

/* BatchNormalization behind a convolution with constant weights goes into these; quantised weights could
 * not take it up later. Values that go away are never calibration points. */
assay_status rewrite_fold_norms(ir_model *m, value_facts facts, assay_error *err);

typedef struct value_range {
    ir_id value;
    float min, max;
} value_range;

/* The values of the main graph whose ranges rewrite_qdq() needs, in `a`, ascending. Nothing changes. */
assay_status rewrite_calibration_points(ir_model *m, value_facts facts, arena *a, const ir_id **ids,
                                        uint32_t *n, assay_error *err);

/* Ranges of all calibration points, in their order: from any number of runs. Those that are not finite
 * or upside down count as empty. opt may be NULL. ASSAY_ERR_UNSUPPORTED when the opset is below 10 or
 * nothing can be quantised. */
assay_status rewrite_qdq(ir_model *m, value_facts facts, const value_range *ranges, uint32_t n,
                         const int8_options *opt, assay_error *err);

#endif
