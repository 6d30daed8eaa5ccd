/* Softmax and its family, and the losses over it. Softmax is 5 per element (op_util_norm.h). The
 * change of meaning at version 13 (flattening to a matrix before it) moves neither shape nor count.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_norm.h"

static assay_status softmax_infer(op_ctx *c)
{
    int place, rank = op_rank(c, 0);
    int64_t axis = op_attr_int(c, "axis", c->version < 13 ? 1 : -1);
    /* Flattening allows axis == rank, and the default 1 must not fail a vector. */
    if (rank > 0 && c->version >= 13)
        TRY(op_axis(c, axis, rank, &place));
    return op_set_like(c, 0, 0);
}

static void softmax_cost(const op_ctx *c, op_cost *k)
{
    op_softmax_cost(c, k, op_in_elems(c, 0));
}

/* ---- losses: scores [N,C,d...], labels [N,d...] ---- */

static assay_status check_labels(op_ctx *c)
{
    int64_t unused;
    if (op_rank(c, 0) < 0 || op_rank(c, 1) < 0)
        return ASSAY_OK;
    if (op_rank(c, 0) < 2 || op_rank(c, 1) != op_rank(c, 0) - 1)
        return op_fail(c, "scores %s and labels %s do not match", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    TRY(op_same_dim(c, op_dim(c, 0, 0), op_dim(c, 1, 0), "The batch", &unused));
    for (int d = 1; d < op_rank(c, 1); d++)
        TRY(op_same_dim(c, op_dim(c, 0, d + 1), op_dim(c, 1, d), "a size of the labels", &unused));
    return ASSAY_OK;
}

static assay_status loss_infer(op_ctx *c)
{
    TRY(check_labels(c));
    TRY(op_set_like(c, 1, 0)); /* log_prob of SoftmaxCrossEntropyLoss */
    if (str_is(op_attr_str(c, "reduction", "mean"), "none"))
        return op_set_shape_of(c, 0, op_dtype(c, 0), 1);
    return op_set_scalar(c, 0, op_dtype(c, 0));
}

static void likelihood_cost(const op_ctx *c, op_cost *k)
{
    uint64_t labels = op_in_elems(c, 1);
    op_count(c, k, &k->mul, sat_mul(labels, op_has(c, 2) ? 2 : 1));
    if (!str_is(op_attr_str(c, "reduction", "mean"), "none"))
        op_count(c, k, &k->add, labels);
}

static void cross_entropy_cost(const op_ctx *c, op_cost *k)
{
    op_softmax_cost(c, k, op_in_elems(c, 0));
    likelihood_cost(c, k);
}

#define SOFTMAX(op, family, words, arithmetic)                                                     \
    {                                                                                              \
        OP_ROW("", op, family, "1,11,13", words, softmax_infer, arithmetic), OP_SLOTS(1, 1, 1, 1), \
            .backward = OP_BW_SAME, .saves = OP_SAVE_OUTPUT                                        \
    }

static const op_row rows[] = {
    SOFTMAX("Softmax", "softmax", "per element: 1 cmp + 2 add + 1 special + 1 div", softmax_cost),
    SOFTMAX("LogSoftmax", "logsoftmax", "per element: 1 cmp + 2 add + 1 special + 1 div",
            softmax_cost),
    SOFTMAX("Hardmax", "hardmax", "1 cmp per element", op_cost_cmp_in),
    {OP_ROW("", "NegativeLogLikelihoodLoss", "nllloss", "12,13,22",
            "per label: 1 mul (negation), 1 mul with weights, 1 add when reduced", loss_infer,
            likelihood_cost),
     OP_SLOTS(2, 3, 1, 1), .aux = 1 << 2, .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "SoftmaxCrossEntropyLoss", "crossentropyloss", "12,13",
            "5 per score (log softmax); per label: 1 mul, 1 mul with weights, 1 add when reduced",
            loss_infer, cross_entropy_cost),
     OP_SLOTS(2, 3, 1, 2), .aux = 1 << 2, .backward = OP_BW_SAME, .saves = OP_SAVE_BOTH},
};

const op_rows op_softmax_rows = OP_ROWS(rows);
