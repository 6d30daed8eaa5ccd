/* Detection and sampling: boxes, regions of interest, grids.
 *
 * How many boxes survive a non-maximum suppression is data: the bound batch * classes *
 * min(max_output_boxes_per_class, boxes) is assumed.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"

/* ---- NonMaxSuppression: boxes [B,N,4], scores [B,C,N], max_output_boxes_per_class, ... ---- */

static assay_status suppression_sizes(op_ctx *c, int64_t *batch, int64_t *classes, int64_t *boxes)
{
    if ((op_rank(c, 0) >= 0 && op_rank(c, 0) != 3) || (op_rank(c, 1) >= 0 && op_rank(c, 1) != 3))
        return op_fail(c, "boxes %s and scores %s must have rank 3", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    *classes = op_dim(c, 1, 1);
    TRY(op_same_dim(c, op_dim(c, 0, 0), op_dim(c, 1, 0), "The batch", batch));
    return op_same_dim(c, op_dim(c, 0, 1), op_dim(c, 1, 2), "the number of boxes", boxes);
}

static assay_status suppression_infer(op_ctx *c)
{
    int64_t batch = -1, classes = -1, boxes = -1, most = 0, dims[2] = {-1, 3};
    TRY(suppression_sizes(c, &batch, &classes, &boxes));
    bool limited = !op_has(c, 2) || op_int_at(c, 2, 0, &most);
    most = limited && most < 0 ? 0 : most;
    if (limited && most == 0) {
        dims[0] = 0;
        return op_set(c, 0, IR_INT64, 2, dims);
    }
    int64_t kept = limited && (boxes < 0 || most < boxes) ? most : boxes;
    int64_t sizes[3] = {batch, classes, kept};
    dims[0] = op_product(sizes, 0, 3);
    TRY(op_set(c, 0, IR_INT64, 2, dims));
    if (dims[0] > 0)
        op_assume(c, "the number of boxes kept depends on data; all %lld were assumed",
                  (long long)dims[0]);
    return ASSAY_OK;
}

static void suppression_cost(const op_ctx *c, op_cost *k)
{
    op_count_kept(c, k, op_in_elems(c, 1), op_out_elems(c, 0) / 3);
}

/* ---- RoiAlign: X [N,C,H,W], rois [R,4], batch_indices [R] ---- */

static assay_status roi_align_infer(op_ctx *c)
{
    int64_t rois, dims[4] = {-1, op_dim(c, 0, 1), op_attr_int(c, "output_height", 1),
                             op_attr_int(c, "output_width", 1)};
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 4)
        return op_fail(c, "input %s must be [N,C,H,W]", op_shape_text(c, 0));
    if (dims[2] < 0 || dims[3] < 0)
        return op_fail(c, "invalid output size %lld x %lld", (long long)dims[2],
                       (long long)dims[3]);
    rois = op_rank(c, 1) == 2 ? op_dim(c, 1, 0) : -1;
    int64_t indices = op_rank(c, 2) == 1 ? op_dim(c, 2, 0) : -1;
    TRY(op_same_dim(c, rois, indices, "the number of regions", &dims[0]));
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* An adaptive ratio (0) depends on the regions: 2 is what detection models are trained with. */
static void roi_align_cost(const op_ctx *c, op_cost *k)
{
    int64_t ratio = op_attr_int(c, "sampling_ratio", 0);
    uint64_t side = ratio > 0 ? (uint64_t)ratio : 2;
    uint64_t points = op_mul3(op_out_elems(c, 0), side, side);
    bool max = str_is(op_attr_str(c, "mode", "avg"), "max");
    op_count(c, k, &k->mul, sat_mul(points, 4));
    op_count(c, k, &k->add, sat_mul(points, max ? 3 : 4));
    if (max)
        op_count(c, k, &k->cmp, points);
    else
        op_count(c, k, &k->div, op_out_elems(c, 0));
}

/* ---- GridSample: X [N,C,d...], grid [N,o...,r] ---- */

static assay_status grid_sample_infer(op_ctx *c)
{
    int rank = op_rank(c, 0) >= 0 ? op_rank(c, 0) : op_rank(c, 1);
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 3 || (op_rank(c, 1) >= 0 && op_rank(c, 1) != rank))
        return op_fail(c, "input %s and grid %s do not match", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    int64_t grid_batch = op_rank(c, 1) < 0 ? -1 : op_dim(c, 1, 0);
    TRY(op_same_dim(c, op_rank(c, 0) < 0 ? -1 : op_dim(c, 0, 0), grid_batch, "The batch",
                    &dims[0]));
    dims[1] = op_dim(c, 0, 1);
    for (int d = 2; d < rank; d++)
        dims[d] = op_dim(c, 1, d - 1);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* Taps along one axis: 1 nearest, 2 linear, 4 cubic. */
static uint64_t taps(const op_ctx *c)
{
    str mode = op_attr_str(c, "mode", "linear");
    if (str_is(mode, "nearest"))
        return 1;
    return str_is(mode, "cubic") || str_is(mode, "bicubic") ? 4 : 2;
}

static void grid_sample_cost(const op_ctx *c, op_cost *k)
{
    uint64_t corners = 1, per_axis = taps(c);
    for (int d = 2; d < op_rank(c, 0); d++)
        corners = sat_mul(corners, per_axis);
    if (corners <= 1)
        return;
    op_count(c, k, &k->mul, sat_mul(op_out_elems(c, 0), corners));
    op_count(c, k, &k->add, sat_mul(op_out_elems(c, 0), corners - 1));
}

/* ---- AffineGrid: theta [N,r,r+1], size [N,C,d...] ---- */

/* 2 or 3 axes; -1 when neither input tells. */
static int64_t grid_axes(const op_ctx *c)
{
    int64_t n = op_rank(c, 1) == 1 ? op_dim(c, 1, 0) : -1;
    return n >= 2 && n - 2 < IR_MAX_RANK - 2 ? n - 2 : op_dim(c, 0, 1);
}

static assay_status affine_grid_infer(op_ctx *c)
{
    int64_t axes = grid_axes(c), dims[IR_MAX_RANK], size;
    if (axes < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (axes != 2 && axes != 3)
        return op_fail(c, "theta %s and size %s do not describe a 2D or 3D grid",
                       op_shape_text(c, 0), op_shape_text(c, 1));
    int64_t batch = op_int_at(c, 1, 0, &size) && size >= 0 ? size : -1;
    TRY(op_same_dim(c, op_rank(c, 0) < 0 ? -1 : op_dim(c, 0, 0), batch, "The batch", &dims[0]));
    for (int d = 1; d <= axes; d++)
        dims[d] = op_int_at(c, 1, d + 1, &size) && size >= 0 ? size : -1;
    dims[axes + 1] = axes;
    return op_set(c, 0, op_dtype(c, 0), (int)axes + 2, dims);
}

static void affine_grid_cost(const op_ctx *c, op_cost *k)
{
    int64_t axes = grid_axes(c);
    op_add_mac(k, sat_mul(op_out_elems(c, 0), axes < 0 ? 0 : (uint64_t)axes + 1));
}

static const op_row rows[] = {
    {OP_ROW("", "NonMaxSuppression", "nonmaxsuppression", "10,11",
            "1 cmp per score; per kept box: 7 cmp + 4 add + 1 mul + 1 div (one overlap each, the "
            "least there can be)",
            suppression_infer, suppression_cost),
     OP_SLOTS(2, 5, 1, 1), .aux = 1 << 2 | 1 << 3 | 1 << 4},
    {OP_ROW(
         "", "RoiAlign", "roialign", "10,16,22",
         "per output: ratio^2 * (4 mul + 4 add) + 1 div; max: ratio^2 * (4 mul + 3 add + 1 cmp); "
         "an adaptive ratio counts as 2",
         roi_align_infer, roi_align_cost),
     OP_SLOTS(3, 3, 1, 1), .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "GridSample", "gridsample", "16,20,22",
            "per output with t taps on each of r axes (linear 2, cubic 4, nearest none): t^r mul + "
            "(t^r - 1) add",
            grid_sample_infer, grid_sample_cost),
     OP_SLOTS(2, 2, 1, 1), .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "AffineGrid", "affinegrid", "20", "N*positions*r*(r+1) MACs", affine_grid_infer,
            affine_grid_cost),
     OP_SLOTS(2, 2, 1, 1), .aux = 1 << 1, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
};

const op_rows op_detect_rows = OP_ROWS(rows);
