/* com.microsoft activations and the small elementwise fusions around them: Gelu and its forms, bias
 * + something, dropout, gates.
 *
 *   Gelu      0.5x(1 + erf(x/sqrt 2))                         3 mul + 1 add + 1 special
 *   FastGelu  0.5x(1 + tanh(0.797885x + 0.035677x^3))         6 mul + 2 add + 1 special
 *   QuickGelu x·sigmoid(alpha·x)                              2 mul + 1 special; alpha 1: 1 mul
 */
#include "ops/op_util_ms.h"
#include "ops/op_util_norm.h"

static void with_bias(const op_ctx *c, op_cost *k, uint64_t n)
{
    if (op_has(c, 1))
        ms_add(&k->add, n);
}

static void gelu_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    with_bias(c, k, n);
    ms_act_cost(k, ms_act_find(STR("gelu")), n);
}

/* Its inputs 1 and 2 are scales. */
static void qordered_gelu_cost(const op_ctx *c, op_cost *k)
{
    ms_act_cost(k, ms_act_find(STR("gelu")), op_out_elems(c, 0));
}

static void fast_gelu_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    with_bias(c, k, n);
    ms_act_cost(k, ms_act_find(STR("fastgelu")), n);
}

static void quick_gelu_cost(const op_ctx *c, op_cost *k)
{
    bool plain = op_attr_float(c, "alpha", 1.702) == 1.0;
    ms_act_cost(k, ms_act_find(plain ? STR("silu") : STR("quickgelu")), op_out_elems(c, 0));
}

static assay_status bias_infer(op_ctx *c)
{
    int64_t width = op_dim(c, 0, -1), got = op_dim(c, 1, -1);
    if (width >= 0 && got >= 0 && width != got && got != 1)
        return op_fail(c, "bias %s does not match %s", op_shape_text(c, 1), op_shape_text(c, 0));
    return op_set_like(c, 0, 0);
}

/* X [N,S,D] + bias, left half times Gelu of the right half: [N,S,D/2]. */
static assay_status split_gelu_infer(op_ctx *c)
{
    int64_t dims[IR_MAX_RANK];
    int rank = op_rank(c, 0);
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank == 0 || (op_dim(c, 0, -1) >= 0 && op_dim(c, 0, -1) % 2 != 0))
        return op_fail(c, "the last dimension of %s is odd", op_shape_text(c, 0));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    dims[rank - 1] = ms_dim_div(dims[rank - 1], 2);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static void split_gelu_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    with_bias(c, k, op_in_elems(c, 0));
    ms_act_cost(k, ms_act_find(STR("gelu")), n);
    ms_add(&k->mul, n);
}

static void bias_add_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->add, sat_mul(op_out_elems(c, 0), 2));
}

static void bias_softmax_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    ms_add(&k->add, n);
    op_softmax_cost(c, k, n);
}

/* X + Y·gate. */
static void gated_add_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    ms_add(&k->mul, n);
    ms_add(&k->add, n);
}

/* ---- dropout: an identity at inference; masks as bools, or 32 in a word ---- */

static assay_status bias_dropout_infer(op_ctx *c)
{
    TRY(op_set_like(c, 0, 0));
    return op_set_shape_of(c, 1, IR_BOOL, 0);
}

static assay_status bitmask_infer(op_ctx *c)
{
    int64_t n = op_has(c, 0) ? op_numel(c->in[0]) : -1;
    TRY(op_set_like(c, 0, 0));
    return op_set(c, 1, IR_UINT32, 1, (int64_t[]){n < 0 ? -1 : num_ceil_div(n, 32)});
}

static void bias_dropout_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->add, sat_mul(op_out_elems(c, 0), op_has(c, 2) ? 2 : 1));
}

#define UNARY  .flags = OPF_ELEMENTWISE | OPF_INPLACE, .backward = OP_BW_SAME
#define BIASED .weights = 1u << 1, .flags = OPF_INPLACE, .backward = OP_BW_SAME

static const op_row rows[] = {
    {MS_ROW("Gelu", "gelu", "per element: 3 mul + 1 add + 1 special", op_infer_like, gelu_cost),
     OP_SLOTS(1, 1, 1, 1), UNARY, .saves = OP_SAVE_INPUTS},
    {MS_ROW("BiasGelu", "gelu", "per element: 3 mul + 2 add + 1 special", bias_infer, gelu_cost),
     OP_SLOTS(2, 2, 1, 1), BIASED, .saves = OP_SAVE_INPUTS},
    {MS_ROW("FastGelu", "gelu", "per element: 6 mul + 2 add + 1 special; 1 add more with a bias",
            bias_infer, fast_gelu_cost),
     OP_SLOTS(1, 2, 1, 1), BIASED, .saves = OP_SAVE_INPUTS},
    {MS_ROW("QuickGelu", "gelu", "per element: 2 mul + 1 special; 1 mul when alpha is 1",
            op_infer_like, quick_gelu_cost),
     OP_SLOTS(1, 1, 1, 1), UNARY, .saves = OP_SAVE_INPUTS},
    {MS_ROW("QOrderedGelu", "gelu", "per element: 3 mul + 1 add + 1 special", op_infer_like,
            qordered_gelu_cost),
     OP_SLOTS(3, 3, 1, 1), .aux = 3u << 1, .flags = OPF_INPLACE, .backward = OP_BW_NONE},
    {MS_ROW("BiasSplitGelu", "gelu", "per output: 4 mul + 1 add + 1 special; 1 add per input",
            split_gelu_infer, split_gelu_cost),
     OP_SLOTS(2, 2, 1, 1), .weights = 1u << 1, .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {MS_ROW("BiasAdd", "add", "per element: 2 add", bias_infer, bias_add_cost),
     OP_SLOTS(3, 3, 1, 1), .weights = 1u << 1, .flags = OPF_INPLACE, .backward = OP_BW_ADD},
    {MS_ROW("BiasSoftmax", "softmax", "per element: 1 add + softmax 5", op_infer_like,
            bias_softmax_cost),
     OP_SLOTS(2, 2, 1, 1), .flags = OPF_INPLACE, .backward = OP_BW_SAME, .saves = OP_SAVE_OUTPUT},
    {MS_ROW("GatedAdd", "add", "per element: 1 mul + 1 add", op_infer_like, gated_add_cost),
     OP_SLOTS(3, 3, 1, 1), UNARY, .saves = OP_SAVE_INPUTS},
    {MS_ROW("BiasDropout", "dropout", "at inference, per element: 1 add + 1 add with a residual",
            bias_dropout_infer, bias_dropout_cost),
     OP_SLOTS(2, 5, 1, 2), .weights = 1u << 1, .aux = 3u << 3, .flags = OPF_INPLACE | OPF_RANDOM,
     .backward = OP_BW_ELEMENTWISE},
    {MS_ROW("BitmaskBiasDropout", "dropout",
            "at inference, per element: 1 add + 1 add with a residual", bitmask_infer,
            bias_dropout_cost),
     OP_SLOTS(2, 5, 1, 2), .weights = 1u << 1, .aux = 3u << 3, .flags = OPF_INPLACE | OPF_RANDOM,
     .backward = OP_BW_ELEMENTWISE},
    {MS_ROW("BitmaskDropout", "dropout", "0 at inference", bitmask_infer, NULL),
     OP_SLOTS(1, 3, 1, 2), .aux = 3u << 1, .flags = OPF_INPLACE | OPF_RANDOM,
     .backward = OP_BW_ELEMENTWISE},
};
const op_rows op_ms_act_rows = OP_ROWS(rows);
