/* Operators that only OpenVINO has: quantisation by ranges, recurrent layers with the batch first, normalisation over any
 * axes, deformable convolutions with the offsets before the kernel, attention, adaptive pooling. Domain "openvino".
 *
 * A recurrent layer multiplies its two matrices with one vector per step and sample: MACs are batch * steps * (elements of
 * W + elements of R), where both have one matrix for each direction.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"

/* ---- recurrent layers ---- */

/* Slots of W, R and the bias; states are the outputs behind the first of a sequence. */
typedef struct ov_recurrent {
    uint8_t w, r, b;
    uint8_t states;
    bool sequence; /* X is [batch,steps,n], states are [batch,directions,n]; else [batch,n] */
} ov_recurrent;

static const ov_recurrent lstm = {4, 5, 6, 2, true}, gru = {3, 4, 5, 1, true},
                          lstm_cell = {3, 4, 5, 2, false}, gru_cell = {2, 3, 4, 1, false};

static assay_status recurrent_infer(op_ctx *c)
{
    const ov_recurrent *v = c->row->with;
    int64_t hidden = op_attr_int(c, "hidden_size", 0), both = op_attr_int(c, "directions", 1);
    int64_t batch = op_dim(c, 0, 0), steps = v->sequence ? op_dim(c, 0, 1) : -1;
    int rank = v->sequence ? 3 : 2;
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != rank)
        return op_fail(c, "input %s must have rank %d", op_shape_text(c, 0), rank);
    if (hidden <= 0)
        hidden = op_dim(c, v->r, -1);
    const int64_t all[] = {batch, both, steps, hidden}, state[] = {batch, both, hidden},
                  cell[] = {batch, hidden};
    if (v->sequence)
        TRY(op_set(c, 0, op_dtype(c, 0), 4, all));
    for (uint32_t i = 0; i < v->states; i++)
        TRY(op_set(c, i + v->sequence, op_dtype(c, 0), v->sequence ? 3 : 2,
                   v->sequence ? state : cell));
    return ASSAY_OK;
}

static void recurrent_cost(const op_ctx *c, op_cost *k)
{
    const ov_recurrent *v = c->row->with;
    int64_t n = op_rank(c, 0) > 1 ? op_product(op_dims(c, 0), 0, v->sequence ? 2 : 1) : 0;
    uint64_t steps = n < 0 ? 0 : (uint64_t)n;
    uint64_t weights = sat_add(op_in_elems(c, v->w), op_in_elems(c, v->r));
    op_add_mac(k, sat_mul(steps, weights));
    op_count(c, k, &k->add, sat_mul(steps, op_in_elems(c, v->b)));
    op_count(c, k, &k->special, sat_mul(steps, op_in_elems(c, v->b)));
}

/* ---- deformable convolutions: x, offsets, kernel, mask ---- */

static assay_status deformable_infer(op_ctx *c)
{
    int rank = op_rank(c, 1);
    int64_t dims[IR_MAX_RANK];
    if (rank < 3)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 1, d);
    dims[0] = op_dim(c, 0, 0);
    dims[1] = op_dim(c, 2, 0);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static void deformable_cost(const op_ctx *c, op_cost *k)
{
    op_add_mac(k, sat_mul(op_out_elems(c, 0), op_in_product(c, 2, 1)));
}

/* ---- attention: q [..., heads, queries, n], k, v, mask, scale ---- */

static assay_status attention_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    if (rank < 2)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < rank - 1; d++)
        dims[d] = op_dim(c, 0, d);
    dims[rank - 1] = op_dim(c, 2, -1);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static void attention_cost(const op_ctx *c, op_cost *k)
{
    int rank = op_rank(c, 0);
    int64_t outer = rank > 2 ? op_product(op_dims(c, 0), 0, rank - 2) : 1;
    const int64_t sizes[] = {outer, op_dim(c, 0, -2), op_dim(c, 1, -2), op_dim(c, 0, -1),
                             op_dim(c, 2, -1)};
    if (rank < 2 || op_product(sizes, 0, 5) < 0)
        return;
    op_attn a = {.batch = 1,
                 .heads = (uint64_t)sizes[0],
                 .sq = (uint64_t)sizes[1],
                 .sk = (uint64_t)sizes[2],
                 .dk = (uint64_t)sizes[3],
                 .dv = (uint64_t)sizes[4],
                 .left = -1,
                 .right = -1,
                 .causal = op_attr_int(c, "causal", 0) != 0,
                 .mask = op_has(c, 3)};
    op_attention_cost(c, k, &a);
}

/* ---- pooling to given sizes (input 1), with windows that need not be equal ---- */

static assay_status adaptive_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK], n;
    if (rank < 3)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < rank; d++)
        dims[d] = d < 2 ? op_dim(c, 0, d) : op_int_at(c, 1, d - 2, &n) && n >= 0 ? n : -1;
    TRY(op_set(c, 0, op_dtype(c, 0), rank, dims));
    return op_set(c, 1, IR_INT64, rank, dims);
}

/* ---- normalisation ---- */

static void norm_cost(const op_ctx *c, op_cost *k)
{
    op_count_mix(c, k, (op_mix){.add = 3, .mul = 2, .div = 1}, op_out_elems(c, 0));
}

static void quantize_cost(const op_ctx *c, op_cost *k)
{
    op_count_mix(c, k, (op_mix){.add = 2, .mul = 2, .cmp = 3}, op_out_elems(c, 0));
}

#define OV(name_, type_, formula_, infer_, cost_) \
    OP_ROW("openvino", name_, type_, "1", formula_, infer_, cost_)
#define RECURRENT(with_, weights_)                                                                \
    .with = &(with_), OP_SLOTS(5, 7, 1, 3), .weights = (weights_), .backward = OP_BW_CONTRACTION, \
    .saves = OP_SAVE_INPUTS
#define STEPS "batch*steps*(elements of W + R) MACs; per step and gate 1 add + 1 special"
#define NORM  "per element: 3 add + 2 mul + 1 div"

static const op_row rows[] = {
    {OV("LSTMSequence", "lstm", STEPS, recurrent_infer, recurrent_cost), RECURRENT(lstm, 7u << 4)},
    {OV("GRUSequence", "gru", STEPS, recurrent_infer, recurrent_cost), RECURRENT(gru, 7u << 3)},
    {OV("RNNSequence", "rnn", STEPS, recurrent_infer, recurrent_cost), RECURRENT(gru, 7u << 3)},
    {OV("LSTMCell", "lstm", STEPS, recurrent_infer, recurrent_cost), RECURRENT(lstm_cell, 7u << 3)},
    {OV("GRUCell", "gru", STEPS, recurrent_infer, recurrent_cost), RECURRENT(gru_cell, 7u << 2)},
    {OV("RNNCell", "rnn", STEPS, recurrent_infer, recurrent_cost), RECURRENT(gru_cell, 7u << 2)},
    {OV("DeformableConvolution", "deformconv", "outputs*(inputs of one group)*kernel MACs",
        deformable_infer, deformable_cost),
     OP_SLOTS(3, 4, 1, 1), .weights = 4u, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OV("ScaledDotProductAttention", "attention",
        "batch*heads*queries*keys*(2 head sizes) MACs; per score: 1 mul + softmax, 1 add with a mask",
        attention_infer, attention_cost),
     OP_SLOTS(3, 5, 1, 1), .aux = 16, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OV("AdaptiveAvgPool", "avgpool", "1 add per input at least; 1 div per output", adaptive_infer,
        op_cost_mean),
     OP_SLOTS(2, 2, 1, 1), .aux = 2, .backward = OP_BW_SAME},
    {OV("AdaptiveMaxPool", "maxpool", "1 cmp per input at least", adaptive_infer, op_cost_cmp_in),
     OP_SLOTS(2, 2, 1, 2), .aux = 2, .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {OV("MVN", "normalization", NORM, op_infer_like, norm_cost), OP_SLOTS(1, 2, 1, 1), .aux = 2u,
     .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {OV("GroupNormalization", "groupnorm", NORM, op_infer_like, norm_cost), OP_SLOTS(3, 3, 1, 1),
     .weights = 6u, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {OV("RMS", "rmsnorm", NORM, op_infer_like, norm_cost), OP_SLOTS(1, 2, 1, 1), .weights = 2u,
     .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {OV("FakeQuantize", "fakequantize", "per element: 2 add + 2 mul + 3 cmp", op_infer_like,
        quantize_cost),
     OP_SLOTS(5, 5, 1, 1), .aux = 30u, .flags = OPF_PASS, .backward = OP_BW_ELEMENTWISE,
     .saves = OP_SAVE_INPUTS},
    {OV("ScatterUpdate", "scatter", "0 (data movement)", op_infer_like, NULL), OP_SLOTS(4, 4, 1, 1),
     .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
};
const op_rows op_openvino_rows = OP_ROWS(rows);
