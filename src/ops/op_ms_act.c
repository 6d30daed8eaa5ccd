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
        return op_fail(c, "the bias %s does not fit %s.", op_shape_text(c, 1), op_shape_text(c, 0));
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
        return op_fail(c, "the last dim of %s cannot be split into halves.", op_shape_text(c, 0));
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

#define UNARY  .flags = OPF_ELEMENTWISE | OPF_INPLACE, .min_out = 1, .backward = OP_BW_SAME
#define BIASED .weights = 1u << 1, .flags = OPF_INPLACE, .min_out = 1, .backward = OP_BW_SAME

static const op_row rows[] = {
    {.domain = MS_DOMAIN,
     .name = "Gelu",
     .type = "gelu",
     .versions = "1",
     .formula = "per element: 3 mul + 1 add + 1 special",
     .infer = ms_infer_like,
     .cost = gelu_cost,
     UNARY,
     .min_in = 1,
     .max_in = 1,
     .max_out = 1,
     .saves = OP_SAVE_INPUTS},
    {.domain = MS_DOMAIN,
     .name = "BiasGelu",
     .type = "gelu",
     .versions = "1",
     .formula = "per element: 3 mul + 2 add + 1 special",
     .infer = bias_infer,
     .cost = gelu_cost,
     BIASED,
     .min_in = 2,
     .max_in = 2,
     .max_out = 1,
     .saves = OP_SAVE_INPUTS},
    {.domain = MS_DOMAIN,
     .name = "FastGelu",
     .type = "gelu",
     .versions = "1",
     .formula = "per element: 6 mul + 2 add + 1 special; 1 add more with a bias",
     .infer = bias_infer,
     .cost = fast_gelu_cost,
     BIASED,
     .min_in = 1,
     .max_in = 2,
     .max_out = 1,
     .saves = OP_SAVE_INPUTS},
    {.domain = MS_DOMAIN,
     .name = "QuickGelu",
     .type = "gelu",
     .versions = "1",
     .formula = "per element: 2 mul + 1 special; 1 mul when alpha is 1",
     .infer = ms_infer_like,
     .cost = quick_gelu_cost,
     UNARY,
     .min_in = 1,
     .max_in = 1,
     .max_out = 1,
     .saves = OP_SAVE_INPUTS},
    {.domain = MS_DOMAIN,
     .name = "QOrderedGelu",
     .type = "gelu",
     .versions = "1",
     .formula = "per element: 3 mul + 1 add + 1 special",
     .infer = ms_infer_like,
     .cost = qordered_gelu_cost,
     .aux = 3u << 1,
     .flags = OPF_INPLACE,
     .min_in = 3,
     .max_in = 3,
     .min_out = 1,
     .max_out = 1,
     .backward = OP_BW_NONE},
    {.domain = MS_DOMAIN,
     .name = "BiasSplitGelu",
     .type = "gelu",
     .versions = "1",
     .formula = "per output: 4 mul + 1 add + 1 special; 1 add per input",
     .infer = split_gelu_infer,
     .cost = split_gelu_cost,
     .weights = 1u << 1,
     .min_in = 2,
     .max_in = 2,
     .min_out = 1,
     .max_out = 1,
     .backward = OP_BW_SAME,
     .saves = OP_SAVE_INPUTS},
    {.domain = MS_DOMAIN,
     .name = "BiasAdd",
     .type = "add",
     .versions = "1",
     .formula = "per element: 2 add",
     .infer = bias_infer,
     .cost = bias_add_cost,
     .weights = 1u << 1,
     .flags = OPF_INPLACE,
     .min_in = 3,
     .max_in = 3,
     .min_out = 1,
     .max_out = 1,
     .backward = OP_BW_ADD},
    {.domain = MS_DOMAIN,
     .name = "BiasSoftmax",
     .type = "softmax",
     .versions = "1",
     .formula = "per element: 1 add + softmax 5",
     .infer = ms_infer_like,
     .cost = bias_softmax_cost,
     .flags = OPF_INPLACE,
     .min_in = 2,
     .max_in = 2,
     .min_out = 1,
     .max_out = 1,
     .backward = OP_BW_SAME,
     .saves = OP_SAVE_OUTPUT},
    {.domain = MS_DOMAIN,
     .name = "GatedAdd",
     .type = "add",
     .versions = "1",
     .formula = "per element: 1 mul + 1 add",
     .infer = ms_infer_like,
     .cost = gated_add_cost,
     UNARY,
     .min_in = 3,
     .max_in = 3,
     .max_out = 1,
     .saves = OP_SAVE_INPUTS},
    {.domain = MS_DOMAIN,
     .name = "BiasDropout",
     .type = "dropout",
     .versions = "1",
     .formula = "at inference, per element: 1 add + 1 add with a residual",
     .infer = bias_dropout_infer,
     .cost = bias_dropout_cost,
     .weights = 1u << 1,
     .aux = 3u << 3,
     .flags = OPF_INPLACE | OPF_RANDOM,
     .min_in = 2,
     .max_in = 5,
     .min_out = 1,
     .max_out = 2,
     .backward = OP_BW_ELEMENTWISE},
    {.domain = MS_DOMAIN,
     .name = "BitmaskBiasDropout",
     .type = "dropout",
     .versions = "1",
     .formula = "at inference, per element: 1 add + 1 add with a residual",
     .infer = bitmask_infer,
     .cost = bias_dropout_cost,
     .weights = 1u << 1,
     .aux = 3u << 3,
     .flags = OPF_INPLACE | OPF_RANDOM,
     .min_in = 2,
     .max_in = 5,
     .min_out = 1,
     .max_out = 2,
     .backward = OP_BW_ELEMENTWISE},
    {.domain = MS_DOMAIN,
     .name = "BitmaskDropout",
     .type = "dropout",
     .versions = "1",
     .formula = "0 at inference",
     .infer = bitmask_infer,
     .aux = 3u << 1,
     .flags = OPF_INPLACE | OPF_RANDOM,
     .min_in = 1,
     .max_in = 3,
     .min_out = 1,
     .max_out = 2,
     .backward = OP_BW_ELEMENTWISE},
};
const op_rows op_ms_act_rows = OP_ROWS(rows);
