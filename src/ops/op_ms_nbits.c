/* com.microsoft products with packed weights of few bits: MatMulNBits and its fusions, MatMulBnb4,
 * MatMulFpQ4, block-quantised FP4 and FP8 weights; and the lookup GatherBlockQuantized.
 *
 * The packed tensor says little about the matrix: N and K come from attributes (or from a shape input), and
 * weight_elems says that N·K parameters follow it. Dequantisation is not counted as arithmetic: engines do it in
 * registers beside the product.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"
#include "ops/op_util_norm.h"

static int64_t size_attr(const op_ctx *c, const char *name)
{
    int64_t v = op_attr_int(c, name, -1);
    return v > 0 ? v : -1;
}

static assay_status want_sizes(op_ctx *c, const char *a, const char *b)
{
    if (size_attr(c, a) < 0 || size_attr(c, b) < 0)
        return op_fail(c, "attributes %s and %s must be positive", a, b);
    return ASSAY_OK;
}

/* Rows of activations: everything before the last dim. */
static uint64_t rows_of(const op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t rows = rank > 0 ? op_product(op_dims(c, 0), 0, rank - 1) : -1;
    return ms_u(rows);
}

static void linear_cost(const op_ctx *c, op_cost *k, int64_t inner, int64_t outer, bool bias)
{
    uint64_t outputs = sat_mul(rows_of(c), ms_u(outer));
    op_add_mac(k, sat_mul(outputs, ms_u(inner)));
    if (bias)
        ms_add(&k->add, outputs);
}

static uint64_t matrix_elems(const op_ctx *c, const char *inner, const char *outer)
{
    return sat_mul(ms_u(size_attr(c, inner)), ms_u(size_attr(c, outer)));
}

/* ---- MatMulNBits: A, B, scales, zero points, group indices, bias ---- */

static assay_status nbits_infer(op_ctx *c)
{
    TRY(want_sizes(c, "K", "N"));
    return ms_linear_infer(c, 0, size_attr(c, "K"), size_attr(c, "N"), op_dtype(c, 0));
}

static void nbits_cost(const op_ctx *c, op_cost *k)
{
    linear_cost(c, k, size_attr(c, "K"), size_attr(c, "N"), op_has(c, 5));
}

static uint64_t nbits_elems(const op_ctx *c, uint32_t input, const ir_tensor *t)
{
    return input == 1 ? matrix_elems(c, "K", "N") : t->n_elems;
}

/* ---- MatMulNBitsMlp: A, skip, gamma, gate (B, scales, bias), up (B, scales, bias) ---- */

static assay_status mlp_infer(op_ctx *c)
{
    TRY(nbits_infer(c));
    return op_set_like(c, 1, 0);
}

/* What may be fused before the projections: a skip connection and an RMS norm. */
static void norm_before_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    if (op_has(c, 1))
        ms_add(&k->add, n);
    if (op_has(c, 2))
        op_rms_cost(c, k, n, true);
}

static void mlp_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    norm_before_cost(c, k);
    linear_cost(c, k, size_attr(c, "K"), size_attr(c, "N"), op_has(c, 5));
    linear_cost(c, k, size_attr(c, "K"), size_attr(c, "N"), op_has(c, 8));
    ms_act_cost(k, ms_act_find(op_attr_str(c, "activation", "silu")), n);
    ms_add(&k->mul, n);
}

static uint64_t mlp_elems(const op_ctx *c, uint32_t input, const ir_tensor *t)
{
    return input == 3 || input == 6 ? matrix_elems(c, "K", "N") : t->n_elems;
}

/* ---- MatMulNBitsQkv: A, skip, gamma, then B, scales, bias of Q, K and V ---- */

static assay_status qkv_infer(op_ctx *c)
{
    int64_t inner = size_attr(c, "K"), kv = size_attr(c, "Nkv");
    TRY(want_sizes(c, "K", "Nq"));
    TRY(want_sizes(c, "K", "Nkv"));
    TRY(ms_linear_infer(c, 0, inner, size_attr(c, "Nq"), op_dtype(c, 0)));
    TRY(ms_linear_infer(c, 1, inner, kv, op_dtype(c, 0)));
    TRY(ms_linear_infer(c, 2, inner, kv, op_dtype(c, 0)));
    return op_set_like(c, 3, 0);
}

static void qkv_cost(const op_ctx *c, op_cost *k)
{
    norm_before_cost(c, k);
    linear_cost(c, k, size_attr(c, "K"), size_attr(c, "Nq"), op_has(c, 5));
    linear_cost(c, k, size_attr(c, "K"), size_attr(c, "Nkv"), op_has(c, 8));
    linear_cost(c, k, size_attr(c, "K"), size_attr(c, "Nkv"), op_has(c, 11));
}

static uint64_t qkv_elems(const op_ctx *c, uint32_t input, const ir_tensor *t)
{
    if (input == 3)
        return matrix_elems(c, "K", "Nq");
    return input == 6 || input == 9 ? matrix_elems(c, "K", "Nkv") : t->n_elems;
}

/* ---- MatMulBnb4: with transB 0 the product goes the other way ---- */

static bool bnb_transposed(const op_ctx *c)
{
    return op_attr_int(c, "transB", 1) != 0;
}

static int64_t bnb_inner(const op_ctx *c)
{
    return size_attr(c, bnb_transposed(c) ? "K" : "N");
}

static int64_t bnb_outer(const op_ctx *c)
{
    return size_attr(c, bnb_transposed(c) ? "N" : "K");
}

static assay_status bnb4_infer(op_ctx *c)
{
    TRY(want_sizes(c, "K", "N"));
    return ms_linear_infer(c, 0, bnb_inner(c), bnb_outer(c), op_dtype(c, 0));
}

static void bnb4_cost(const op_ctx *c, op_cost *k)
{
    linear_cost(c, k, bnb_inner(c), bnb_outer(c), false);
}

/* ---- MatMulFpQ4: A, blob, shape [K,N] ---- */

static void fpq4_sizes(const op_ctx *c, int64_t size[2])
{
    size[0] = size[1] = -1;
    for (int i = 0; i < 2; i++)
        if (!op_int_at(c, 2, i, &size[i]) || size[i] < 0)
            size[i] = -1;
}

static assay_status fpq4_infer(op_ctx *c)
{
    int64_t size[2];
    fpq4_sizes(c, size);
    return ms_linear_infer(c, 0, size[0], size[1], op_dtype(c, 0));
}

static void fpq4_cost(const op_ctx *c, op_cost *k)
{
    int64_t size[2];
    fpq4_sizes(c, size);
    linear_cost(c, k, size[0], size[1], false);
}

static uint64_t fpq4_elems(const op_ctx *c, uint32_t input, const ir_tensor *t)
{
    int64_t size[2];
    fpq4_sizes(c, size);
    return input == 1 && size[0] >= 0 && size[1] >= 0 ? ms_product(2, size) : t->n_elems;
}

/* ---- FP4: B [N,K/2] of pairs; FP8: B [N,K] ---- */

static assay_status fp4_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 1, 2));
    int64_t inner = ms_dim_mul(op_dim(c, 1, 1), 2);
    return ms_linear_infer(c, 0, inner, op_dim(c, 1, 0), op_dtype(c, 0));
}

static void fp4_cost(const op_ctx *c, op_cost *k)
{
    linear_cost(c, k, ms_dim_mul(op_dim(c, 1, 1), 2), op_dim(c, 1, 0), op_has(c, 5));
}

static uint64_t fp4_elems(const op_ctx *c, uint32_t input, const ir_tensor *t)
{
    (void)c;
    return input == 1 ? sat_mul(t->n_elems, 2) : t->n_elems;
}

static assay_status fp8_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 1, 2));
    return ms_linear_infer(c, 0, op_dim(c, 1, 1), op_dim(c, 1, 0), op_dtype(c, 0));
}

static void fp8_cost(const op_ctx *c, op_cost *k)
{
    linear_cost(c, k, op_dim(c, 1, 1), op_dim(c, 1, 0), op_has(c, 4));
}

/* ---- GatherBlockQuantized: data, indices, scales, zero points ---- */

/* Values in one element of the data: bytes hold several, 4-bit types one. */
static int64_t values_per_elem(const op_ctx *c, ir_dtype t)
{
    int64_t bits = op_attr_int(c, "bits", 4);
    return t == IR_UINT8 && (bits == 2 || bits == 4) ? 8 / bits : 1;
}

static assay_status gather_infer(op_ctx *c)
{
    int r = op_rank(c, 0), q = op_rank(c, 1), gather, quant, n = 0;
    int64_t dims[2 * IR_MAX_RANK];
    if (r < 0 || q < 0)
        return op_set_unknown(c, 0, op_dtype(c, 2));
    TRY(op_axis(c, op_attr_int(c, "gather_axis", 0), r, &gather));
    TRY(op_axis(c, op_attr_int(c, "quantize_axis", 1), r, &quant));
    int64_t factor = values_per_elem(c, op_dtype(c, 0));
    for (int d = 0; d < r; d++) {
        for (int i = 0; d == gather && i < q; i++)
            dims[n++] = op_dim(c, 1, i);
        if (d != gather)
            dims[n++] = d == quant ? ms_dim_mul(op_dim(c, 0, d), factor) : op_dim(c, 0, d);
    }
    return op_set(c, 0, op_dtype(c, 2), n, dims);
}

/* A subtraction and a multiplication per value that is taken; only the rows taken are read. */
static void gather_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0), block = ms_u(op_attr_int(c, "block_size", 128));
    uint64_t factor = (uint64_t)values_per_elem(c, op_dtype(c, 0));
    ms_add(&k->mul, n);
    ms_add(&k->add, n);
    op_read_elems(c, k, 0, n / factor);
    if (block > 0) {
        op_read_elems(c, k, 2, n / block);
        op_read_elems(c, k, 3, n / block / factor);
    }
}

static uint64_t gather_elems(const op_ctx *c, uint32_t input, const ir_tensor *t)
{
    return input == 0 ? sat_mul(t->n_elems, (uint64_t)values_per_elem(c, t->dtype)) : t->n_elems;
}

#define NBITS .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS

static const op_row rows[] = {
    {MS_ROW("MatMulNBits", "linear", "M*N*K MACs; 1 add per output with a bias", nbits_infer,
            nbits_cost),
     OP_SLOTS(3, 6, 1, 1), NBITS, .weights = 1u << 1 | 1u << 5, .aux = 7u << 2,
     .weight_elems = nbits_elems},
    {MS_ROW("MatMulNBitsMlp", "linear",
            "2*M*N*K MACs; per output: the activation + 1 mul, 1 add per bias; per input: 1 add "
            "with a skip, 4 with a norm",
            mlp_infer, mlp_cost),
     OP_SLOTS(8, 9, 1, 2), NBITS, .weights = 3u << 2 | 3u << 5 | 1u << 8, .aux = 1u << 4 | 1u << 7,
     .weight_elems = mlp_elems},
    {MS_ROW("MatMulNBitsQkv", "linear",
            "M*K*(Nq+2*Nkv) MACs; 1 add per output with a bias; per input: 1 add with a skip, 4 of "
            "the norm",
            qkv_infer, qkv_cost),
     OP_SLOTS(11, 12, 1, 4), NBITS, .weights = 3u << 2 | 3u << 5 | 3u << 8 | 1u << 11,
     .aux = 1u << 4 | 1u << 7 | 1u << 10, .weight_elems = qkv_elems},
    {MS_ROW("MatMulBnb4", "linear", "M*N*K MACs", bnb4_infer, bnb4_cost), OP_SLOTS(3, 3, 1, 1),
     NBITS, .weights = 1u << 1, .aux = 1u << 2, .weight_elems = nbits_elems},
    {MS_ROW("MatMulFpQ4", "linear", "M*N*K MACs", fpq4_infer, fpq4_cost), OP_SLOTS(3, 3, 1, 1),
     NBITS, .weights = 1u << 1, .aux = 1u << 2, .weight_elems = fpq4_elems},
    {MS_ROW("MatMulBlockQuantizedFp4Weight", "linear", "M*N*K MACs; 1 add per output with a bias",
            fp4_infer, fp4_cost),
     OP_SLOTS(4, 6, 1, 1), NBITS, .weights = 1u << 1 | 1u << 5, .aux = 7u << 2,
     .weight_elems = fp4_elems},
    {MS_ROW("MatMulBlockQuantizedFp8Weight", "linear", "M*N*K MACs; 1 add per output with a bias",
            fp8_infer, fp8_cost),
     OP_SLOTS(3, 5, 1, 1), NBITS, .weights = 1u << 1 | 1u << 4, .aux = 3u << 2},
    {MS_ROW("GatherBlockQuantized", "embedding",
            "per output: 1 add + 1 mul to dequantise; only the rows taken are read", gather_infer,
            gather_cost),
     OP_SLOTS(3, 4, 1, 1), .weights = 1u << 0, .aux = 7u << 1, .lookups = {{1, 0}},
     .backward = OP_BW_MOVE, .weight_elems = gather_elems},
};
const op_rows op_ms_nbits_rows = OP_ROWS(rows);
