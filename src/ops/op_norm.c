/* Normalisations. Per element, per-row terms not counted (see op_util_norm.h): 2 for a batch norm
 * at inference, 7 for layer, group and instance norms less what is absent, 4 for RMS.
 */
#include "ops/op_util_norm.h"

/* ---- BatchNormalization ---- */

static bool wants(const op_ctx *c, uint32_t o)
{
    return o < c->node->n_outputs && c->node->outputs[o] != IR_NONE;
}

/* From 14 on an attribute tells; before, the presence of the statistics outputs does. */
static bool trains(const op_ctx *c)
{
    if (c->version >= 14)
        return op_attr_int(c, "training_mode", 0) != 0;
    return op_attr_int(c, "is_test", 0) == 0 && (wants(c, 1) || wants(c, 3));
}

static assay_status check_per_channel(op_ctx *c, uint32_t i, int64_t channels)
{
    if (op_rank(c, i) == 1 && channels >= 0 && op_dim(c, i, 0) >= 0 && op_dim(c, i, 0) != channels)
        return op_fail(c, "input %u %s does not match the channels of %s", i, op_shape_text(c, i),
                       op_shape_text(c, 0));
    return ASSAY_OK;
}

static assay_status batch_norm_infer(op_ctx *c)
{
    int64_t channels = op_rank(c, 0) == 1 ? 1 : op_dim(c, 0, 1);
    for (uint32_t i = 1; i <= 4; i++)
        TRY(check_per_channel(c, i, channels));
    TRY(op_set_like(c, 0, 0));
    for (uint32_t o = 1; o <= 4; o++) {
        uint32_t statistic = o % 2 ? 3 : 4; /* running or saved mean; running or saved variance */
        TRY(op_set_like(c, o, statistic));
    }
    return ASSAY_OK;
}

static void batch_norm_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    if (trains(c)) {
        op_norm_cost(c, k, n, true, true);
        return;
    }
    op_count(c, k, &k->mul, n);
    op_count(c, k, &k->add, n);
}

/* ---- over rows, groups, images ---- */

static assay_status instance_norm_infer(op_ctx *c)
{
    TRY(check_per_channel(c, 1, op_dim(c, 0, 1)));
    TRY(check_per_channel(c, 2, op_dim(c, 0, 1)));
    return op_set_like(c, 0, 0);
}

/* Until 20 scale and bias had one element per group, from 21 on one per channel. */
static assay_status group_norm_infer(op_ctx *c)
{
    int64_t groups = op_attr_int(c, "num_groups", 0), channels = op_dim(c, 0, 1);
    if (groups < 1 || (channels >= 0 && channels % groups))
        return op_fail(c, "the channels of %s are not divisible into %lld groups",
                       op_shape_text(c, 0), (long long)groups);
    TRY(check_per_channel(c, 1, c->version >= 21 ? channels : -1));
    TRY(check_per_channel(c, 2, c->version >= 21 ? channels : -1));
    return op_set_like(c, 0, 0);
}

static void affine_norm_cost(const op_ctx *c, op_cost *k)
{
    op_norm_cost(c, k, op_in_elems(c, 0), op_has(c, 1), op_has(c, 2));
}

static assay_status check_axis(op_ctx *c, int64_t axis)
{
    int place;
    return op_rank(c, 0) < 0 ? ASSAY_OK : op_axis(c, axis, op_rank(c, 0), &place);
}

/* Scale and bias must broadcast one way into the normalised tensor. */
static assay_status check_affine(op_ctx *c, uint32_t i)
{
    int rank = op_rank(c, 0), wide = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    if (rank < 0 || op_rank(c, i) < 0)
        return ASSAY_OK;
    if (rank > 0)
        memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    return op_broadcast(c, &wide, dims, op_rank(c, i), op_dims(c, i));
}

/* Before opset 17 it is ONNX Runtime's own operator: scale may have another type than X, and Y has that of scale. */
static ir_dtype layer_norm_dtype(const op_ctx *c)
{
    bool own = c->version > 0 && c->version < 17 && op_dtype(c, 1) != IR_UNDEFINED;
    return op_dtype(c, own ? 1 : 0);
}

static assay_status layer_norm_infer(op_ctx *c)
{
    int64_t axis = op_attr_int(c, "axis", -1);
    TRY(check_axis(c, axis));
    TRY(check_affine(c, 1));
    TRY(check_affine(c, 2));
    TRY(op_set_shape_of(c, 0, layer_norm_dtype(c), 0));
    TRY(op_set_stats(c, 1, op_stash_type(c), axis));
    return op_set_stats(c, 2, op_stash_type(c), axis);
}

static assay_status rms_norm_infer(op_ctx *c)
{
    TRY(check_axis(c, op_attr_int(c, "axis", -1)));
    TRY(check_affine(c, 1));
    ir_dtype t = op_dtype(c, 1) ? op_dtype(c, 1) : op_dtype(c, 0);
    return op_set_shape_of(c, 0, t, 0);
}

static void rms_norm_cost(const op_ctx *c, op_cost *k)
{
    op_rms_cost(c, k, op_in_elems(c, 0), op_has(c, 1));
}

/* ---- without parameters ---- */

static assay_status lp_norm_infer(op_ctx *c)
{
    TRY(check_axis(c, op_attr_int(c, "axis", -1)));
    return op_set_like(c, 0, 0);
}

static void lp_norm_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    op_count(c, k, op_attr_int(c, "p", 2) == 1 ? &k->cmp : &k->mul, n);
    op_count(c, k, &k->add, n);
    op_count(c, k, &k->div, n);
}

/* x / (bias + alpha/size * sum of `size` squares)^beta. */
static void lrn_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    int64_t size = op_attr_int(c, "size", 1);
    op_count(c, k, &k->mul, sat_mul(n, 2));
    op_count(c, k, &k->add, sat_mul(n, sat_add(size < 1 ? 0 : (uint64_t)size, 1)));
    op_count(c, k, &k->special, n);
    op_count(c, k, &k->div, n);
}

static void mean_variance_cost(const op_ctx *c, op_cost *k)
{
    op_norm_cost(c, k, op_in_elems(c, 0), false, false);
}

#define NORM(op, family, since, words, shape, arithmetic, slots, few, many, last_out)              \
    {                                                                                              \
        OP_ROW("", op, family, since, words, shape, arithmetic), OP_SLOTS(few, many, 1, last_out), \
            .weights = slots, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS                      \
    }
#define SCALE          1 << 1
#define SCALE_AND_BIAS 1 << 1 | 1 << 2

static const op_row rows[] = {
    {OP_ROW("", "BatchNormalization", "batchnorm", "1,6,7,9,14,15",
            "per element: 1 mul + 1 add; in training mode 4 add + 3 mul", batch_norm_infer,
            batch_norm_cost),
     OP_SLOTS(5, 5, 1, 5), .weights = SCALE_AND_BIAS, .buffers = 1 << 3 | 1 << 4,
     .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    NORM("InstanceNormalization", "instancenorm", "1,6,22", "per element: 4 add + 3 mul",
         instance_norm_infer, affine_norm_cost, SCALE_AND_BIAS, 3, 3, 1),
    NORM("GroupNormalization", "groupnorm", "18,21", "per element: 4 add + 3 mul", group_norm_infer,
         affine_norm_cost, SCALE_AND_BIAS, 3, 3, 1),
    NORM("LayerNormalization", "layernorm", "17",
         "per element: 4 add + 3 mul, 1 add less without bias", layer_norm_infer, affine_norm_cost,
         SCALE_AND_BIAS, 2, 3, 3),
    NORM("RMSNormalization", "rmsnorm", "23", "per element: 3 mul + 1 add", rms_norm_infer,
         rms_norm_cost, SCALE, 2, 2, 1),
    NORM("LpNormalization", "lpnorm", "1,22", "per element: 1 mul (p = 2) or cmp + 1 add + 1 div",
         lp_norm_infer, lp_norm_cost, 0, 1, 1, 1),
    NORM("LRN", "lrn", "1,13", "per element: 2 mul + (size + 1) add + 1 special + 1 div",
         op_infer_like, lrn_cost, 0, 1, 1, 1),
    NORM("MeanVarianceNormalization", "mvn", "9,13", "per element: 3 add + 2 mul", op_infer_like,
         mean_variance_cost, 0, 1, 1, 1),
};

const op_rows op_norm_rows = OP_ROWS(rows);
