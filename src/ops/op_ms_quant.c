/* com.microsoft operators on 8-bit data: QLinear arithmetic, activations, pooling and reductions,
 * and the contrib forms of quantising and dequantising.
 *
 * A QLinear operator is its float namesake plus 2 per output to bring the result back to 8 bits;
 * being on integers, all of it is counted in int_ops. Scales and zero points are never parameters.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_ms.h"
#include "ops/op_util_norm.h"
#include "ops/op_util_spatial.h"

static void requantise(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->mul, sat_mul(op_out_elems(c, 0), 2));
}

/* ---- binary: A, scale, zero point, B, scale, zero point, C scale, C zero point ---- */

static assay_status broadcast_two(op_ctx *c, uint32_t a, uint32_t b, ir_dtype t)
{
    int rank = 0;
    int64_t dims[IR_MAX_RANK];
    TRY(op_broadcast(c, &rank, dims, op_rank(c, a), op_dims(c, a)));
    TRY(op_broadcast(c, &rank, dims, op_rank(c, b), op_dims(c, b)));
    return op_set(c, 0, t, rank, dims);
}

static assay_status qbinary_infer(op_ctx *c)
{
    return broadcast_two(c, 0, 3, op_dtype(c, 0));
}

static void qbinary_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, op_out_elems(c, 0));
    requantise(c, k);
}

/* A, zero point, B, zero point -> int32. */
static assay_status mul_integer_infer(op_ctx *c)
{
    return broadcast_two(c, 0, 2, IR_INT32);
}

/* condition, X, scale, zero point, Y, scale, zero point, Z scale, Z zero point. */
static assay_status where_infer(op_ctx *c)
{
    int rank = 0;
    int64_t dims[IR_MAX_RANK];
    static const uint32_t operands[] = {0, 1, 4};
    for (int i = 0; i < 3; i++)
        TRY(op_broadcast(c, &rank, dims, op_rank(c, operands[i]), op_dims(c, operands[i])));
    return op_set(c, 0, op_dtype(c, 1), rank, dims);
}

/* ---- unary: X, scale, zero point, Y scale, Y zero point ---- */

static void sigmoid_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->special, op_out_elems(c, 0));
    requantise(c, k);
}

static void leaky_relu_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, op_out_elems(c, 0));
    op_count(c, k, &k->mul, op_out_elems(c, 0));
    requantise(c, k);
}

static void softmax_cost(const op_ctx *c, op_cost *k)
{
    op_softmax_cost(c, k, op_out_elems(c, 0));
    requantise(c, k);
}

/* ---- pooling ---- */

static bool channels_last(const op_ctx *c)
{
    return op_attr_int(c, "channels_last", 0) != 0;
}

static assay_status average_pool_infer(op_ctx *c)
{
    return op_pool_infer(c, IR_INT64, channels_last(c));
}

static void average_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
    op_count(c, k, &k->div, op_out_elems(c, 0));
    requantise(c, k);
}

static assay_status global_pool_infer(op_ctx *c)
{
    return op_global_pool_infer(c, channels_last(c));
}

/* Also a mean over axes: as many adds as inputs, a division per output. */
static void mean_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, op_in_elems(c, 0));
    op_count(c, k, &k->div, op_out_elems(c, 0));
    requantise(c, k);
}

/* ---- reductions over attribute axes ---- */

static assay_status mark_axes(op_ctx *c, int rank, bool *gone)
{
    const int64_t *axes = NULL;
    int n = op_attr_ints(c, "axes", &axes), place;
    for (int d = 0; d < rank; d++)
        gone[d] = n <= 0;
    for (int i = 0; i < n; i++) {
        TRY(op_axis(c, axes[i], rank, &place));
        gone[place] = true;
    }
    return ASSAY_OK;
}

static assay_status reduce(op_ctx *c, ir_dtype t)
{
    int rank = op_rank(c, 0), left = 0;
    bool gone[IR_MAX_RANK], keep = op_attr_int(c, "keepdims", 1) != 0;
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, 0, t);
    TRY(mark_axes(c, rank, gone));
    for (int d = 0; d < rank; d++)
        if (!gone[d] || keep)
            dims[left++] = gone[d] ? 1 : op_dim(c, 0, d);
    return op_set(c, 0, t, left, dims);
}

static assay_status reduce_mean_infer(op_ctx *c)
{
    return reduce(c, op_dtype(c, 0));
}

static assay_status reduce_sum_infer(op_ctx *c)
{
    return reduce(c, op_dtype(c, 0) == IR_UINT8 ? IR_UINT32 : IR_INT32);
}

/* ---- QLinearConcat: Y scale, Y zero point, then (tensor, scale, zero point)... ---- */

/* Joins input i into dims along axis; other dims must agree. */
static assay_status concat_one(op_ctx *c, uint32_t i, int rank, int axis, int64_t *dims)
{
    if (op_rank(c, i) >= 0 && op_rank(c, i) != rank)
        return op_fail(c, "inputs %s and %s differ in rank", op_shape_text(c, 2),
                       op_shape_text(c, i));
    for (int d = 0; d < rank; d++) {
        if (d == axis)
            dims[d] = ms_dim_add(dims[d], op_dim(c, i, d));
        else
            TRY(op_same_dim(c, dims[d], op_dim(c, i, d), "a dim that is not joined", &dims[d]));
    }
    return ASSAY_OK;
}

static assay_status concat_infer(op_ctx *c)
{
    ir_dtype t = op_has(c, 1) ? op_dtype(c, 1) : op_dtype(c, 2);
    int rank = op_rank(c, 2), axis;
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, 0, t);
    TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &axis));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 2, d);
    for (uint32_t i = 5; i < c->n_in; i += 3)
        TRY(concat_one(c, i, rank, axis, dims));
    return op_set(c, 0, t, rank, dims);
}

/* Input 0 is a scale: the kind of data is said here. */
static void concat_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->int_ops, sat_mul(op_out_elems(c, 0), 2));
}

/* ---- quantise and dequantise ---- */

static assay_status quantize_infer(op_ctx *c)
{
    ir_dtype t = op_has(c, 2) ? op_dtype(c, 2) : IR_UINT8;
    return op_set_shape_of(c, 0, t, 0);
}

/* x / scale, rounded, + zero point, bounds. */
static void quantize_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    ms_add(&k->div, n);
    ms_add(&k->special, n);
    ms_add(&k->cmp, sat_mul(n, 2));
    if (op_has(c, 2))
        ms_add(&k->add, n);
}

static assay_status dequantize_infer(op_ctx *c)
{
    return op_set_shape_of(c, 0, op_dtype(c, 1), 0);
}

static void dequantize_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    ms_add(&k->mul, n);
    if (op_has(c, 2))
        ms_add(&k->add, n);
}

static assay_status quantize_order_infer(op_ctx *c)
{
    return op_set_shape_of(c, 0, IR_INT8, 0);
}

static assay_status dequantize_order_infer(op_ctx *c)
{
    int64_t t = op_attr_int(c, "to", IR_FLOAT32);
    return op_set_shape_of(c, 0, ir_dtype_valid(t) ? (ir_dtype)t : IR_FLOAT32, 0);
}

/* Block floating point: how many bytes come out depends on the vendor's format. */
static assay_status quantize_bfp_infer(op_ctx *c)
{
    int64_t rank = op_rank(c, 0);
    TRY(op_set(c, 0, IR_UINT8, 1, (int64_t[]){-1}));
    TRY(op_set(c, 1, IR_INT64, 1, &rank));
    return op_set(c, 2, IR_INT64, 1, &rank);
}

static assay_status dequantize_bfp_infer(op_ctx *c)
{
    int64_t dims[IR_MAX_RANK], t = op_attr_int(c, "dtype", IR_FLOAT32);
    int rank = op_ints(c, 1, dims, IR_MAX_RANK);
    for (int d = 0; d < rank; d++)
        if (dims[d] < 0)
            return op_fail(c, "the shape to restore contains %lld", (long long)dims[d]);
    return op_set(c, 0, ir_dtype_valid(t) ? (ir_dtype)t : IR_FLOAT32, rank, dims);
}

static const op_row rows[] = {
    {MS_ROW("QLinearAdd", "add", "per output: 1 add + 2 to requantise", qbinary_infer,
            qbinary_cost),
     OP_SLOTS(7, 8, 1, 1), .weights = 1u << 0 | 1u << 3, .aux = 3u << 1 | 15u << 4,
     .flags = OPF_ELEMENTWISE | OPF_INPLACE},
    {MS_ROW("QLinearMul", "mul", "per output: 1 mul + 2 to requantise", qbinary_infer,
            qbinary_cost),
     OP_SLOTS(7, 8, 1, 1), .weights = 1u << 0 | 1u << 3, .aux = 3u << 1 | 15u << 4,
     .flags = OPF_ELEMENTWISE | OPF_INPLACE},
    {MS_ROW("MulInteger", "mul", "1 mul per output", mul_integer_infer, op_cost_mul1),
     OP_SLOTS(3, 4, 1, 1), .weights = 1u << 0 | 1u << 2, .aux = 1u << 1 | 1u << 3},
    {MS_ROW("QLinearWhere", "where", "2 per output to requantise", where_infer, requantise),
     OP_SLOTS(9, 9, 1, 1), .aux = 3u << 2 | 15u << 5},
    {MS_ROW("QLinearSigmoid", "sigmoid", "per element: 1 special + 2 to requantise", op_infer_like,
            sigmoid_cost),
     OP_SLOTS(4, 5, 1, 1), .aux = 15u << 1, .flags = OPF_INPLACE},
    {MS_ROW("QLinearLeakyRelu", "leakyrelu", "per element: 1 cmp + 1 mul + 2 to requantise",
            op_infer_like, leaky_relu_cost),
     OP_SLOTS(4, 5, 1, 1), .aux = 15u << 1, .flags = OPF_INPLACE},
    {MS_ROW("QLinearSoftmax", "softmax", "per element: softmax 5 + 2 to requantise", op_infer_like,
            softmax_cost),
     OP_SLOTS(5, 5, 1, 1), .aux = 15u << 1, .flags = OPF_INPLACE},
    {MS_ROW("QLinearAveragePool", "avgpool", "per output: kernel add + 1 div + 2 to requantise",
            average_pool_infer, average_pool_cost),
     OP_SLOTS(4, 5, 1, 1), .aux = 15u << 1},
    {MS_ROW("QLinearGlobalAveragePool", "globalavgpool",
            "1 add per input element; per output: 1 div + 2 to requantise", global_pool_infer,
            mean_cost),
     OP_SLOTS(5, 5, 1, 1), .aux = 15u << 1},
    {MS_ROW("QLinearReduceMean", "reducemean",
            "1 add per input element; per output: 1 div + 2 to requantise", reduce_mean_infer,
            mean_cost),
     OP_SLOTS(4, 5, 1, 1), .aux = 15u << 1},
    {MS_ROW("ReduceSumInteger", "reducesum", "1 add per input element", reduce_sum_infer,
            op_cost_add_in),
     OP_SLOTS(1, 1, 1, 1)},
    {MS_ROW("QLinearConcat", "concat", "2 per output to requantise", concat_infer, concat_cost),
     OP_SLOTS(3, 255, 1, 1),
     .aux = 3u << 0 | 6u << 2 | 6u << 5 | 6u << 8 | 6u << 11 | 6u << 14 | 6u << 17 | 6u << 20 |
            6u << 23 | 6u << 26},
    {MS_ROW("QuantizeLinear", "quantize",
            "per element: 1 div + 1 special (round) + 2 cmp, 1 add with a zero point",
            quantize_infer, quantize_cost),
     OP_SLOTS(2, 3, 1, 1), .aux = 3u << 1},
    {MS_ROW("DequantizeLinear", "dequantize", "per element: 1 mul, 1 add with a zero point",
            dequantize_infer, dequantize_cost),
     OP_SLOTS(2, 3, 1, 1), .aux = 3u << 1, .flags = OPF_PASS},
    {MS_ROW("QuantizeWithOrder", "quantize", "per element: 1 div + 1 special (round) + 2 cmp",
            quantize_order_infer, quantize_cost),
     OP_SLOTS(2, 2, 1, 1), .aux = 1u << 1},
    {MS_ROW("DequantizeWithOrder", "dequantize", "1 mul per element", dequantize_order_infer,
            dequantize_cost),
     OP_SLOTS(2, 2, 1, 1), .aux = 1u << 1, .flags = OPF_PASS},
    {MS_ROW("QuantizeBFP", "quantize", "unknown: the format is the vendor's", quantize_bfp_infer,
            NULL),
     OP_SLOTS(1, 1, 1, 3)},
    {MS_ROW("DequantizeBFP", "dequantize", "1 mul per element", dequantize_bfp_infer,
            dequantize_cost),
     OP_SLOTS(3, 3, 1, 1), .aux = 3u << 1, .flags = OPF_PASS},
};
const op_rows op_ms_quant_rows = OP_ROWS(rows);
