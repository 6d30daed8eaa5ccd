/* Matrix products: MatMul and its integer and quantised kin, Gemm, and the determinant.
 *
 * MACs: M * N * K, times the broadcast batch.
 */
#include "ops/op_util_contract.h"

static const op_matmul plain = {.a = 0, .b = 1};
static const op_matmul qlinear = {.a = 0, .b = 3};

static assay_status matmul_infer(op_ctx *c)
{
    return op_matmul_infer(c, &plain, 0, op_dtype(c, 0) ? op_dtype(c, 0) : op_dtype(c, 1));
}

static void matmul_cost(const op_ctx *c, op_cost *k)
{
    op_add_mac(k, op_matmul_macs(c, &plain, 0));
}

static assay_status matmul_integer_infer(op_ctx *c)
{
    return op_matmul_infer(c, &plain, 0, IR_INT32);
}

/* Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point. */
static assay_status qlinear_matmul_infer(op_ctx *c)
{
    return op_matmul_infer(c, &qlinear, 0, op_dtype(c, 7) ? op_dtype(c, 7) : op_dtype(c, 0));
}

static void qlinear_matmul_cost(const op_ctx *c, op_cost *k)
{
    op_add_mac(k, op_matmul_macs(c, &qlinear, 0));
    op_count(c, k, &k->mul, sat_mul(op_out_elems(c, 0), 2));
}

/* ---- Gemm: alpha * A' * B' + beta * C ---- */

static op_matmul gemm_operands(const op_ctx *c)
{
    return (op_matmul){.a = 0,
                       .b = 1,
                       .trans_a = op_attr_int(c, "transA", 0) != 0,
                       .trans_b = op_attr_int(c, "transB", 0) != 0};
}

/* C must broadcast to the product one way; before opset 7 an attribute ruled, and files are lax. */
static assay_status check_addend(op_ctx *c, const int64_t *dims)
{
    int rank = op_rank(c, 2);
    if (rank < 0 || c->version < 7)
        return ASSAY_OK;
    for (int d = 1; d <= rank; d++) {
        int64_t have = op_dim(c, 2, -d), room = d <= 2 ? dims[2 - d] : 1;
        if (have != 1 && have >= 0 && room >= 0 && have != room)
            return op_fail(c, "C %s cannot be broadcast to the product %s", op_shape_text(c, 2),
                           op_dims_text(c, 2, dims));
    }
    return ASSAY_OK;
}

static assay_status gemm_infer(op_ctx *c)
{
    op_matmul m = gemm_operands(c);
    int64_t dims[2], rows, cols, inner;
    for (uint32_t i = 0; i < 2; i++)
        if (op_rank(c, i) >= 0 && op_rank(c, i) != 2)
            return op_fail(c, "A %s and B %s must be matrices", op_shape_text(c, 0),
                           op_shape_text(c, 1));
    rows = op_dim(c, 0, m.trans_a);
    cols = op_dim(c, 1, !m.trans_b);
    inner = op_dim(c, 0, !m.trans_a);
    if (inner >= 0 && op_dim(c, 1, m.trans_b) >= 0 && inner != op_dim(c, 1, m.trans_b))
        return op_fail(c, "the inner sizes of A %s%s and B %s%s differ", op_shape_text(c, 0),
                       m.trans_a ? " (transposed)" : "", op_shape_text(c, 1),
                       m.trans_b ? " (transposed)" : "");
    dims[0] = rows;
    dims[1] = cols;
    TRY(check_addend(c, dims));
    return op_set(c, 0, op_dtype(c, 0) ? op_dtype(c, 0) : op_dtype(c, 1), 2, dims);
}

static void gemm_cost(const op_ctx *c, op_cost *k)
{
    op_matmul m = gemm_operands(c);
    uint64_t out = op_out_elems(c, 0);
    double beta = op_attr_float(c, "beta", 1.0);
    op_add_mac(k, op_matmul_macs(c, &m, 0));
    if (op_attr_float(c, "alpha", 1.0) != 1.0)
        op_count(c, k, &k->mul, out);
    if (op_has(c, 2) && beta != 0.0)
        op_count(c, k, &k->add, out);
    if (op_has(c, 2) && beta != 0.0 && beta != 1.0)
        op_count(c, k, &k->mul, op_in_elems(c, 2));
}

/* ---- Det ---- */

static assay_status det_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t side;
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 2)
        return op_fail(c, "input %s is not a matrix", op_shape_text(c, 0));
    TRY(op_same_dim(c, op_dim(c, 0, -1), op_dim(c, 0, -2), "the side of a square matrix", &side));
    return op_set(c, 0, op_dtype(c, 0), rank - 2, op_dims(c, 0));
}

/* LU decomposition: n^3/3 multiply-subtracts and n^2/2 divisions per matrix. */
static void det_cost(const op_ctx *c, op_cost *k)
{
    int64_t side = op_dim(c, 0, -1);
    uint64_t n = side < 0 ? 0 : (uint64_t)side, count = op_out_elems(c, 0);
    uint64_t steps = sat_mul(op_mul3(n, n, n) / 3, count);
    op_count(c, k, &k->mul, steps);
    op_count(c, k, &k->add, steps);
    op_count(c, k, &k->div, sat_mul(sat_mul(n, n) / 2, count));
}

static const op_row rows[] = {
    {OP_ROW("", "MatMul", "matmul", "1,9,13", "M*N*K MACs per matrix of the broadcast batch",
            matmul_infer, matmul_cost),
     OP_SLOTS(2, 2, 1, 1), .weights = 1 << 0 | 1 << 1, .needs = op_need_matrix,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "MatMulInteger", "matmul", "10", "M*N*K MACs per matrix of the broadcast batch",
            matmul_integer_infer, matmul_cost),
     OP_SLOTS(2, 4, 1, 1), .weights = 1 << 0 | 1 << 1, .aux = 1 << 2 | 1 << 3,
     .needs = op_need_matrix},
    {OP_ROW("", "QLinearMatMul", "matmul", "10,21",
            "M*N*K MACs per matrix of the broadcast batch; 2 per output to requantise",
            qlinear_matmul_infer, qlinear_matmul_cost),
     OP_SLOTS(8, 8, 1, 1), .weights = 1 << 0 | 1 << 3,
     .aux = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7},
    {OP_ROW(
         "", "Gemm", "linear", "1,6,7,9,11,13",
         "M*N*K MACs; per output: 1 add with C, 1 mul with alpha; 1 mul per element of C with beta",
         gemm_infer, gemm_cost),
     OP_SLOTS(2, 3, 1, 1), .weights = 1 << 0 | 1 << 1 | 1 << 2, .needs = op_need_matrix,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "Det", "det", "11,22", "per n*n matrix: n^3/3 mul + n^3/3 add + n^2/2 div",
            det_infer, det_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME, .saves = OP_SAVE_BOTH},
};

const op_rows op_matmul_rows = OP_ROWS(rows);
