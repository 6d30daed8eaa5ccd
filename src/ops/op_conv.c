/* Convolutions, their transposed, integer and quantised kin, and the stateful causal one.
 *
 * MACs: N * M * out positions * (C / group) * kernel; a transposed convolution scatters, so its
 * MACs go over the input positions. Weights are M,C/group,k... (transposed: C,M/group,k...).
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_spatial.h"

static const op_conv plain = {.w = 1, .b = 2};
/* Inputs: x, w, x_zero_point, w_zero_point. */
static const op_conv integer = {.w = 1, .b = UINT32_MAX, .t = IR_INT32};
/* Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B. */
static const op_conv quantised = {.w = 3, .b = 8, .type_slot = 7};

/* ---- transposed ---- */

static assay_status transposed_channels(op_ctx *c, int64_t *maps)
{
    int64_t group = op_attr_int(c, "group", 1), per = op_dim(c, 1, 1), unused;
    if (group < 1)
        return op_fail(c, "attribute group must be at least 1, got %lld", (long long)group);
    if (op_rank(c, 0) > 1 && op_rank(c, 1) > 1 && op_dim(c, 0, 1) >= 0 && op_dim(c, 1, 0) >= 0 &&
        op_dim(c, 0, 1) != op_dim(c, 1, 0))
        return op_fail(c, "input %s and weight %s differ in channels", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    *maps = -1;
    if (per >= 0 && !num_mul(per, group, maps))
        return op_fail(c, "%lld groups of weight %s overflow", (long long)group,
                       op_shape_text(c, 1));
    if (op_rank(c, 2) == 1)
        return op_same_dim(c, op_dim(c, 2, 0), *maps, "the number of output channels", &unused);
    return ASSAY_OK;
}

/* output_shape may be given with or without the leading batch and channel sizes. */
static const int64_t *wanted_shape(const op_ctx *c, int n)
{
    const int64_t *list = NULL;
    int count = op_attr_ints(c, "output_shape", &list);
    if (count == n + 2)
        return list + 2;
    return count == n && n > 0 ? list : NULL;
}

static assay_status transposed_axis(op_ctx *c, const op_window *w, int d, int64_t *out)
{
    const int64_t *wanted = wanted_shape(c, w->n), *extra = NULL;
    int n_extra = op_attr_ints(c, "output_padding", &extra);
    if (wanted && wanted[d] < 0)
        return op_fail(c, "attribute output_shape contains %lld", (long long)wanted[d]);
    if (wanted) {
        *out = wanted[d];
        return ASSAY_OK;
    }
    if (n_extra > 0 && n_extra != w->n)
        return op_fail(c, "attribute output_padding has %d values for %d spatial axes", n_extra,
                       w->n);
    return op_window_out_transposed(c, w, d, op_dim(c, 0, d + 2), n_extra > 0 ? extra[d] : 0, out);
}

static assay_status conv_transpose_infer(op_ctx *c)
{
    int rank = op_rank(c, 0) >= 0 ? op_rank(c, 0) : op_rank(c, 1);
    int64_t dims[IR_MAX_RANK];
    op_window w;
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 3)
        return op_fail(c, "input %s and weight %s must have at least rank 3", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    TRY(op_window_read(c, rank - 2, &w));
    TRY(op_window_from_weight(c, &w, 1, 2));
    dims[0] = op_dim(c, 0, 0);
    TRY(transposed_channels(c, &dims[1]));
    for (int d = 0; d < w.n; d++)
        TRY(transposed_axis(c, &w, d, &dims[d + 2]));
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static void conv_transpose_cost(const op_ctx *c, op_cost *k)
{
    op_add_mac(k, sat_mul(op_in_elems(c, 0), op_in_product(c, 1, 1)));
    if (op_has(c, 2))
        op_count(c, k, &k->add, op_out_elems(c, 0));
}

/* ---- causal, with the last k - 1 positions carried over ---- */

static assay_status causal_conv_infer(op_ctx *c)
{
    int64_t taps = op_dim(c, 1, 2), dims[3], channels;
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 3)
        return op_fail(c, "input %s must be [batch,channels,length]", op_shape_text(c, 0));
    if (op_rank(c, 1) >= 0 && (op_rank(c, 1) != 3 || taps == 0))
        return op_fail(c, "weight %s must be [channels,1,k]", op_shape_text(c, 1));
    int64_t declared = op_rank(c, 1) < 0 ? -1 : op_dim(c, 1, 0);
    TRY(op_same_dim(c, op_dim(c, 0, 1), declared, "the number of channels", &channels));
    dims[0] = op_dim(c, 0, 0);
    dims[1] = channels;
    dims[2] = op_dim(c, 0, 2);
    TRY(op_set(c, 0, op_dtype(c, 0), 3, dims));
    dims[2] = taps > 0 ? taps - 1 : op_dim(c, 3, 2);
    return op_set(c, 1, op_dtype(c, 0), 3, dims);
}

static void causal_conv_cost(const op_ctx *c, op_cost *k)
{
    uint64_t out = op_out_elems(c, 0);
    op_add_mac(k, sat_mul(out, op_in_product(c, 1, 1)));
    if (op_has(c, 2))
        op_count(c, k, &k->add, out);
    if (!str_is(op_attr_str(c, "activation", "none"), "none")) {
        op_count(c, k, &k->special, out);
        op_count(c, k, &k->mul, out);
    }
}

static const op_row rows[] = {
    {OP_ROW("", "Conv", "conv#d", "1,11,22",
            "N*M*out*(C/group)*kernel MACs; 1 add per output with bias", op_conv_infer,
            op_conv_cost),
     .with = &plain, OP_SLOTS(2, 3, 1, 1), .batch_axis = op_batch_first, .weights = 1 << 1 | 1 << 2,
     .needs = op_need_conv, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "ConvInteger", "conv#d", "10", "N*M*out*(C/group)*kernel MACs", op_conv_infer,
            op_conv_cost),
     .with = &integer, OP_SLOTS(2, 4, 1, 1), .batch_axis = op_batch_first, .weights = 1 << 1,
     .aux = 1 << 2 | 1 << 3, .needs = op_need_conv},
    {OP_ROW("", "QLinearConv", "conv#d", "10",
            "N*M*out*(C/group)*kernel MACs; per output: 1 add with bias, 2 to requantise",
            op_conv_infer, op_conv_cost_requantised),
     .with = &quantised, OP_SLOTS(8, 9, 1, 1), .batch_axis = op_batch_first,
     .weights = 1 << 3 | 1 << 8, .aux = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7},
    {OP_ROW("", "ConvTranspose", "convtranspose#d", "1,11,22",
            "N*C*in*(M/group)*kernel MACs (over input positions); 1 add per output with bias",
            conv_transpose_infer, conv_transpose_cost),
     OP_SLOTS(2, 3, 1, 1), .batch_axis = op_batch_first, .weights = 1 << 1 | 1 << 2,
     .needs = op_need_conv_transpose, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "CausalConvWithState", "conv#d", "27",
            "N*C*length*k MACs; per output: 1 add with bias, 1 special + 1 mul with silu",
            causal_conv_infer, causal_conv_cost),
     OP_SLOTS(2, 4, 1, 2), .batch_axis = op_batch_first, .weights = 1 << 1 | 1 << 2,
     .needs = op_need_conv_transpose, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
};

const op_rows op_conv_rows = OP_ROWS(rows);
