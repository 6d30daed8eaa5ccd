/* com.microsoft products of quantised matrices that give floats or 8-bit results, and the LSTM with
 * quantised weights. Integer multiply-accumulates are MACs like any other; what is float around
 * them (scaling, bias, gates) is counted as float.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"

static const op_matmul plain = {.a = 0, .b = 1};

/* ---- A int8, B int8, scales at 2, 3, zero points at 4, 5, bias at 6 ---- */

static assay_status integer_to_float_infer(op_ctx *c)
{
    return op_matmul_infer(c, &plain, 0, op_has(c, 2) ? op_dtype(c, 2) : IR_FLOAT32);
}

static void integer_to_float_cost(const op_ctx *c, op_cost *k)
{
    op_add_mac(k, op_matmul_macs(c, &plain, 0));
    ms_add(&k->mul, op_out_elems(c, 0));
    if (op_has(c, 6))
        ms_add(&k->add, op_out_elems(c, 0));
}

/* ---- A float, quantised on the way; B int8, scale, zero point, bias at 4 ---- */

static assay_status dynamic_infer(op_ctx *c)
{
    return op_matmul_infer(c, &plain, 0, op_dtype(c, 0));
}

/* Quantising A as DynamicQuantizeLinear: 1 div + 1 special (round) + 4 cmp + 1 add. */
static void dynamic_cost(const op_ctx *c, op_cost *k)
{
    uint64_t a = op_in_elems(c, 0), n = op_out_elems(c, 0);
    op_add_mac(k, op_matmul_macs(c, &plain, 0));
    ms_add(&k->cmp, sat_mul(a, 4));
    ms_add(&k->special, a);
    ms_add(&k->div, a);
    ms_add(&k->add, a);
    ms_add(&k->mul, n);
    if (op_has(c, 4))
        ms_add(&k->add, n);
}

/* ---- QGemm: A, scale, zero point, B, scale, zero point, C, y scale, y zero point ---- */

static op_matmul qgemm_operands(const op_ctx *c)
{
    return (op_matmul){.a = 0,
                       .b = 3,
                       .trans_a = op_attr_int(c, "transA", 0) != 0,
                       .trans_b = op_attr_int(c, "transB", 0) != 0};
}

static assay_status qgemm_infer(op_ctx *c)
{
    op_matmul m = qgemm_operands(c);
    TRY(ms_want_rank(c, 0, 2));
    TRY(ms_want_rank(c, 3, 2));
    return op_matmul_infer(c, &m, 0, op_has(c, 8) ? op_dtype(c, 8) : IR_FLOAT32);
}

static void qgemm_cost(const op_ctx *c, op_cost *k)
{
    op_matmul m = qgemm_operands(c);
    uint64_t n = op_out_elems(c, 0);
    op_add_mac(k, op_matmul_macs(c, &m, 0));
    if (op_has(c, 6))
        ms_add(&k->int_ops, n);
    ms_add(op_has(c, 7) ? &k->int_ops : &k->mul, op_has(c, 7) ? sat_mul(n, 2) : n);
}

/* ---- QOrderedMatMul: A, scale, B, scale, Y scale, bias, C, scale ---- */

static const op_matmul ordered = {.a = 0, .b = 2};

static assay_status qordered_infer(op_ctx *c)
{
    return op_matmul_infer(c, &ordered, 0, op_dtype(c, 0));
}

static void qordered_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    op_add_mac(k, op_matmul_macs(c, &ordered, 0));
    ms_add(&k->mul, n);
    ms_add(&k->add, sat_mul(n, (uint64_t)op_has(c, 5) + op_has(c, 6)));
}

/* ---- DynamicQuantizeLSTM: X [T,B,I], W [dirs,I,4H], R [dirs,H,4H], B, lengths, h0, c0, P ---- */

static assay_status lstm_infer(op_ctx *c)
{
    return ms_lstm_infer(c, 1);
}

/* As LSTM: per unit and step 5 special + 3 mul + 1 add; what bias and peepholes add. */
static void lstm_cost(const op_ctx *c, op_cost *k)
{
    int64_t cells[] = {op_dim(c, 0, 0), op_dim(c, 0, 1), ms_lstm_directions(c),
                       ms_lstm_hidden(c, 1)};
    uint64_t n = ms_product(4, cells);
    uint64_t width = sat_add(ms_u(op_dim(c, 0, 2)), ms_u(ms_lstm_hidden(c, 1)));
    op_add_mac(k, sat_mul(sat_mul(n, 4), width));
    ms_add(&k->special, sat_mul(n, 5));
    ms_add(&k->mul, sat_mul(n, op_has(c, 7) ? 6 : 3));
    uint64_t adds = 1 + (op_has(c, 3) ? 8u : 0u) + (op_has(c, 7) ? 3u : 0u);
    ms_add(&k->add, sat_mul(n, adds));
}

static const op_row rows[] = {
    {MS_ROW("MatMulIntegerToFloat", "matmul",
            "M*N*K MACs; per output: 1 mul to scale, 1 add with a bias", integer_to_float_infer,
            integer_to_float_cost),
     OP_SLOTS(4, 7, 1, 1), .weights = 3u << 0 | 1u << 6, .aux = 15u << 2},
    {MS_ROW("DynamicQuantizeMatMul", "matmul",
            "M*N*K MACs; per element of A: 4 cmp + 1 special + 1 div + 1 add; per output: 1 "
            "mul, 1 add with a bias",
            dynamic_infer, dynamic_cost),
     OP_SLOTS(3, 5, 1, 1), .weights = 3u << 0 | 1u << 4, .aux = 3u << 2},
    {MS_ROW("QGemm", "linear",
            "M*N*K MACs; per output: 1 add with C, 2 to requantise or 1 mul to scale", qgemm_infer,
            qgemm_cost),
     OP_SLOTS(6, 9, 1, 1), .weights = 1u << 0 | 1u << 3 | 1u << 6,
     .aux = 3u << 1 | 3u << 4 | 3u << 7},
    {MS_ROW("QOrderedMatMul", "matmul",
            "M*N*K MACs; per output: 1 mul, 1 add with a bias, 1 add with C", qordered_infer,
            qordered_cost),
     OP_SLOTS(5, 8, 1, 1), .weights = 1u << 0 | 1u << 2 | 1u << 5,
     .aux = 1u << 1 | 3u << 3 | 1u << 7},
    {MS_ROW("DynamicQuantizeLSTM", "lstm",
            "T*B*dirs*4H*(I+H) MACs; per unit and step: 5 special + 3 mul + 1 add, 8 add "
            "with a bias, 3 mul + 3 add with peepholes",
            lstm_infer, lstm_cost),
     OP_SLOTS(12, 12, 1, 3), .weights = 15u << 0 | 1u << 7, .aux = 1u << 4 | 15u << 8},
};
const op_rows op_ms_qmatmul_rows = OP_ROWS(rows);
