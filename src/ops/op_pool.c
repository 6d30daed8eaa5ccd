/* Pooling: windowed, global, by region, and the inverse of max pooling.
 *
 * Counts per output are of the whole kernel, padding included: kernel compares for a maximum,
 * kernel adds and one division for an average. No MACs.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"
#include "ops/op_util_spatial.h"

static assay_status pool_infer(op_ctx *c)
{
    return op_pool_infer(c, IR_INT64, false);
}

static assay_status global_pool_infer(op_ctx *c)
{
    return op_global_pool_infer(c, false);
}

static void max_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
}

static void average_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
    op_count(c, k, &k->div, op_out_elems(c, 0));
}

/* |x|^p per element (a compare, a multiply or a power), a sum, and one root per output. The
 * attribute was a float in version 1. */
static void lp_cost(const op_ctx *c, op_cost *k, uint64_t terms)
{
    int64_t whole = op_attr_int(c, "p", 2);
    double p = op_attr_float(c, "p", (double)whole);
    op_count(c, k, p == 1.0 ? &k->cmp : p == 2.0 ? &k->mul : &k->special, terms);
    op_count(c, k, &k->add, terms);
    if (p != 1.0)
        op_count(c, k, &k->special, op_out_elems(c, 0));
}

static void lp_pool_cost(const op_ctx *c, op_cost *k)
{
    lp_cost(c, k, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
}

static void global_lp_cost(const op_ctx *c, op_cost *k)
{
    lp_cost(c, k, op_in_elems(c, 0));
}

/* ---- MaxUnpool ---- */

static assay_status unpool_to(op_ctx *c, int rank)
{
    int64_t dims[IR_MAX_RANK], size;
    for (int d = 0; d < rank; d++) {
        bool known = op_int_at(c, 2, d, &size);
        if (known && size < 0)
            return op_fail(c, "output_shape contains %lld", (long long)size);
        dims[d] = known ? size : d < 2 ? op_dim(c, 0, d) : -1;
    }
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status unpool_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    op_window w;
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 3)
        return op_fail(c, "input %s must have at least rank 3", op_shape_text(c, 0));
    if (op_has(c, 2))
        return unpool_to(c, rank);
    TRY(op_window_read(c, rank - 2, &w));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    for (int d = 0; d < w.n; d++)
        TRY(op_window_out_transposed(c, &w, d, dims[d + 2], 0, &dims[d + 2]));
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- MaxRoiPool ---- */

static assay_status roi_pool_infer(op_ctx *c)
{
    const int64_t *pooled = NULL;
    if (op_attr_ints(c, "pooled_shape", &pooled) != 2 || pooled[0] < 0 || pooled[1] < 0)
        return op_fail(c, "attribute pooled_shape must be a height and a width");
    int64_t rois = op_rank(c, 1) < 0 ? -1 : op_dim(c, 1, 0);
    int64_t dims[4] = {rois, op_dim(c, 0, 1), pooled[0], pooled[1]};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* The regions are data: each counts as the whole image, which no region exceeds. */
static void roi_pool_cost(const op_ctx *c, op_cost *k)
{
    int64_t rois = op_rank(c, 1) < 0 ? -1 : op_dim(c, 1, 0);
    op_count(c, k, &k->cmp, sat_mul(rois < 0 ? 0 : (uint64_t)rois, op_in_product(c, 0, 1)));
}

#define POOL(op, family, since, words, shape, arithmetic, last_out, save)                     \
    {                                                                                         \
        OP_ROW("", op, family, since, words, shape, arithmetic), OP_SLOTS(1, 1, 1, last_out), \
            .backward = OP_BW_SAME, .saves = save                                             \
    }

static const op_row rows[] = {
    POOL("MaxPool", "maxpool", "1,8,10,11,12,22", "kernel cmp per output", pool_infer,
         max_pool_cost, 2, OP_SAVE_INPUTS),
    POOL("AveragePool", "avgpool", "1,7,10,11,19,22", "per output: kernel add + 1 div", pool_infer,
         average_pool_cost, 1, OP_SAVE_NOTHING),
    POOL("LpPool", "lppool", "1,2,11,18,22",
         "per output: kernel (mul + add) + 1 special for p = 2; cmp + add for p = 1", pool_infer,
         lp_pool_cost, 1, OP_SAVE_BOTH),
    POOL("GlobalMaxPool", "globalmaxpool", "1,22", "1 cmp per input element", global_pool_infer,
         op_cost_cmp_in, 1, OP_SAVE_INPUTS),
    POOL("GlobalAveragePool", "globalavgpool", "1,22", "1 add per input element + 1 div per output",
         global_pool_infer, op_cost_mean, 1, OP_SAVE_NOTHING),
    POOL("GlobalLpPool", "globallppool", "1,2,22",
         "per input element: mul + add; 1 special per output (p = 2)", global_pool_infer,
         global_lp_cost, 1, OP_SAVE_BOTH),
    {OP_ROW("", "MaxUnpool", "maxunpool", "9,11,22", "none: values are placed", unpool_infer, NULL),
     OP_SLOTS(2, 3, 1, 1), .aux = 1 << 2, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW("", "MaxRoiPool", "maxroipool", "1,22",
            "rois*C*H*W cmp (each region at most the whole image)", roi_pool_infer, roi_pool_cost),
     OP_SLOTS(2, 2, 1, 1), .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
};

const op_rows op_pool_rows = OP_ROWS(rows);
