/* com.microsoft matrix products in floating point with something fused: transposes, a factor, a
 * bias, an activation. MACs are output elements times K throughout.
 *
 * FusedMatMul's transBatchA takes [m, batch..., k]; the sparse product counts as if it were dense
 * when the number of stored values is not known.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"

static op_matmul fused_operands(const op_ctx *c)
{
    return (op_matmul){.a = 0,
                       .b = 1,
                       .trans_a = op_attr_int(c, "transA", 0) != 0,
                       .trans_b = op_attr_int(c, "transB", 0) != 0,
                       .trans_batch_a = op_attr_int(c, "transBatchA", 0) != 0,
                       .trans_batch_b = op_attr_int(c, "transBatchB", 0) != 0};
}

static assay_status fused_infer(op_ctx *c)
{
    op_matmul m = fused_operands(c);
    return op_matmul_infer(c, &m, 0, op_dtype(c, 0) ? op_dtype(c, 0) : op_dtype(c, 1));
}

static void fused_cost(const op_ctx *c, op_cost *k)
{
    op_matmul m = fused_operands(c);
    op_add_mac(k, op_matmul_macs(c, &m, 0));
    if (op_attr_float(c, "alpha", 1.0) != 1.0)
        op_count(c, k, &k->mul, op_out_elems(c, 0));
}

static void fused_activation_cost(const op_ctx *c, op_cost *k)
{
    fused_cost(c, k);
    ms_act_cost(k, ms_act_find(op_attr_str(c, "activation", "")), op_out_elems(c, 0));
}

static assay_status fused_activation_infer(op_ctx *c)
{
    TRY(fused_infer(c));
    return ms_known_activation(c);
}

/* ---- Gemm and its kin: A [M,K], B [K,N], C ---- */

static assay_status gemm_shape(op_ctx *c, ir_dtype t)
{
    op_matmul m = fused_operands(c);
    TRY(ms_want_rank(c, 0, 2));
    TRY(ms_want_rank(c, 1, 2));
    return op_matmul_infer(c, &m, 0, t);
}

static assay_status gemm_infer(op_ctx *c)
{
    TRY(gemm_shape(c, op_dtype(c, 0) ? op_dtype(c, 0) : op_dtype(c, 1)));
    return ms_known_activation(c);
}

static void gemm_cost(const op_ctx *c, op_cost *k)
{
    double beta = op_attr_float(c, "beta", 1.0);
    fused_activation_cost(c, k);
    if (op_has(c, 2) && beta != 0.0)
        op_count(c, k, &k->add, op_out_elems(c, 0));
    if (op_has(c, 2) && beta != 0.0 && beta != 1.0)
        op_count(c, k, &k->mul, op_in_elems(c, 2));
}

static assay_status gemm_float8_infer(op_ctx *c)
{
    int64_t t = op_attr_int(c, "dtype", IR_FLOAT32);
    TRY(gemm_shape(c, ir_dtype_valid(t) ? (ir_dtype)t : IR_FLOAT32));
    return ms_known_activation(c);
}

/* beta is 0 unless said otherwise; scales are one multiply per output. */
static void gemm_float8_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    fused_activation_cost(c, k);
    if (op_has(c, 2))
        ms_add(&k->add, n);
    if (op_has(c, 3) || op_has(c, 4) || op_has(c, 5))
        ms_add(&k->mul, n);
}

static void gemm_fast_gelu_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    fused_cost(c, k);
    if (op_has(c, 2))
        ms_add(&k->add, n);
    ms_act_cost(k, ms_act_find(STR("fastgelu")), n);
}

/* ---- sparse A ---- */

static assay_status sparse_infer(op_ctx *c)
{
    op_matmul m = fused_operands(c);
    TRY(op_matmul_infer(c, &m, 0, op_dtype(c, 1)));
    op_assume(c, "the sparse operand was counted as dense");
    return ASSAY_OK;
}

/* ---- 16-bit integers ---- */

static assay_status integer16_infer(op_ctx *c)
{
    op_matmul m = {.a = 0, .b = 1};
    bool both_unsigned = op_dtype(c, 0) == IR_UINT16 && op_dtype(c, 1) == IR_UINT16;
    return op_matmul_infer(c, &m, 0, both_unsigned ? IR_UINT32 : IR_INT32);
}

#define PRODUCT      .weights = 3u << 0
#define MATMUL_WORDS "M*N*K MACs per matrix of the broadcast batch; 1 mul per output with alpha"

static const op_row rows[] = {
    {MS_ROW("FusedMatMul", "matmul", MATMUL_WORDS, fused_infer, fused_cost), OP_SLOTS(2, 2, 1, 1),
     .needs = op_need_matrix, PRODUCT, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {MS_ROW("TransposeMatMul", "matmul", MATMUL_WORDS, fused_infer, fused_cost),
     OP_SLOTS(2, 2, 1, 1), .needs = op_need_matrix, PRODUCT, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_INPUTS},
    {MS_ROW("FusedMatMulActivation", "matmul", MATMUL_WORDS " + the activation",
            fused_activation_infer, fused_activation_cost),
     OP_SLOTS(2, 2, 1, 1), .needs = op_need_matrix, PRODUCT, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_INPUTS},
    {MS_ROW("DistributedMatMul", "matmul", "M*N*K MACs of the shard", fused_infer, fused_cost),
     OP_SLOTS(2, 2, 1, 1), .needs = op_need_matrix, PRODUCT, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_INPUTS},
    {MS_ROW("SparseToDenseMatMul", "matmul", "M*N*K MACs as if dense; 1 mul per output with alpha",
            sparse_infer, fused_cost),
     OP_SLOTS(2, 2, 1, 1), PRODUCT, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {MS_ROW("MatMulInteger16", "matmul", "M*N*K MACs per matrix of the broadcast batch",
            integer16_infer, fused_cost),
     OP_SLOTS(2, 2, 1, 1), PRODUCT, .backward = OP_BW_NONE},
    {MS_ROW("FusedGemm", "linear",
            "M*N*K MACs; per output: 1 add with C, 1 mul with alpha, the activation; 1 mul per "
            "element of C with beta",
            gemm_infer, gemm_cost),
     OP_SLOTS(2, 3, 1, 1), .weights = 7u << 0, .needs = op_need_matrix,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {MS_ROW("GemmFloat8", "linear",
            "M*N*K MACs; per output: 1 add with C, 1 mul with alpha, 1 mul with scales, the "
            "activation",
            gemm_float8_infer, gemm_float8_cost),
     OP_SLOTS(2, 6, 1, 1), .weights = 7u << 0, .aux = 7u << 3, .needs = op_need_matrix,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {MS_ROW("GemmFastGelu", "linear",
            "M*N*K MACs; per output: 6 mul + 2 add + 1 special, 1 add with a bias", fused_infer,
            gemm_fast_gelu_cost),
     OP_SLOTS(2, 3, 1, 1), .weights = 7u << 0, .needs = op_need_matrix,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
};
const op_rows op_ms_matmul_rows = OP_ROWS(rows);
