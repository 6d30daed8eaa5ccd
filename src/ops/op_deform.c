/* Deformable convolution: a convolution whose samples are interpolated at offset positions.
 *
 * MACs as a convolution of the same sizes; each of the N*C*kernel*out samples costs a linear
 * interpolation of its 2^n corners (2^n mul, 2^n - 1 add) and one mul when there is a mask.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_spatial.h"

/* Inputs: X, W, offset, B, mask. */
static const op_conv deformed = {.w = 1, .b = 3};

static assay_status deform_infer(op_ctx *c)
{
    int64_t unused;
    TRY(op_conv_infer(c));
    if (c->n_out < 1 || op_rank(c, 2) < 0 || c->out[0].rank != op_rank(c, 2))
        return ASSAY_OK;
    for (int d = 2; d < op_rank(c, 2); d++)
        TRY(op_same_dim(c, c->out[0].dims[d], op_dim(c, 2, d), "a spatial size of the offsets",
                        &unused));
    return ASSAY_OK;
}

static uint64_t samples(const op_ctx *c)
{
    int64_t batch = op_dim(c, 0, 0), channels = op_dim(c, 0, 1), out = 0;
    if (c->n_out > 0 && c->out[0].rank > 2)
        out = op_product(c->out[0].dims, 2, c->out[0].rank);
    if (op_rank(c, 0) < 2 || batch < 0 || channels < 0 || out < 0)
        return 0;
    return sat_mul(op_mul3((uint64_t)batch, (uint64_t)channels, (uint64_t)out),
                   op_in_product(c, 1, 2));
}

static void deform_cost(const op_ctx *c, op_cost *k)
{
    int axes = op_rank(c, 0) - 2;
    uint64_t corners = axes > 0 && axes < 63 ? 1ULL << axes : 0, taken = samples(c);
    op_conv_cost(c, k);
    op_count(c, k, &k->mul, sat_mul(taken, corners));
    op_count(c, k, &k->add, sat_mul(taken, corners ? corners - 1 : 0));
    if (op_has(c, 4))
        op_count(c, k, &k->mul, taken);
}

static const op_row rows[] = {
    {OP_ROW(
         "", "DeformConv", "deformconv#d", "19,22",
         "N*M*out*(C/group)*kernel MACs; per sample (N*C*kernel*out): 2^n mul + (2^n - 1) add, 1 "
         "mul with mask; 1 add per output with bias",
         deform_infer, deform_cost),
     .with = &deformed, OP_SLOTS(3, 5, 1, 1), .weights = 1 << 1 | 1 << 3,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
};

const op_rows op_deform_rows = OP_ROWS(rows);
