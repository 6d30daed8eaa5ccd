/* Suppression of boxes in OpenVINO. Domain "openvino".
 *
 * How many boxes survive is data. Operators of the first versions fill the rest with -1: their sizes are exact. Later ones
 * give as many rows as there are boxes: the bound is assumed.
 *
 *   NonMaxSuppression  boxes [N,B,4], scores [N,C,B], most per class -> indices [n,3], scores [n,3], number [1]
 *   MulticlassNms, MatrixNms  boxes [N,B,4], scores [N,C,B] -> boxes [n,6], indices [n,1], numbers [N]
 *   GenerateProposals  image [N,3], anchors [H,W,A,4], deltas, scores [N,A,H,W] -> regions [n,4], scores [n], numbers [N]
 */
#include "ops/op_util_cost.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void assume_kept(op_ctx *c, int64_t n)
{
    if (n > 0)
        op_assume(c, "the number of boxes kept depends on data; all %lld were assumed",
                  (long long)n);
}

/* ---- NonMaxSuppression, NMSRotated ---- */

/* "i32" or "i64" of attribute output_type. */
static ir_dtype index_type(const op_ctx *c)
{
    return str_is(op_attr_str(c, "output_type", "i64"), "i32") ? IR_INT32 : IR_INT64;
}

static assay_status suppression_infer(op_ctx *c)
{
    int64_t opset = op_attr_int(c, "opset", 5), most = 0;
    int64_t batch = op_dim(c, 1, 0), classes = op_dim(c, 1, 1), boxes = op_dim(c, 1, 2);
    if (op_rank(c, 1) >= 0 && op_rank(c, 1) != 3)
        return op_fail(c, "scores %s must be [N,C,boxes]", op_shape_text(c, 1));
    bool limited = !op_has(c, 2) || op_int_at(c, 2, 0, &most);
    int64_t kept = limited ? least(boxes, most < 0 ? 0 : most) : opset < 5 ? -1 : boxes;
    const int64_t sizes[] = {opset < 4 ? 1 : batch, classes, kept}, one = 1;
    const int64_t dims[] = {op_product(sizes, 0, 3), 3};
    TRY(op_set(c, 0, index_type(c), 2, dims));
    TRY(op_set(c, 1, op_dtype(c, 1), 2, dims));
    TRY(op_set(c, 2, index_type(c), 1, &one));
    if (opset >= 5)
        assume_kept(c, dims[0]);
    return ASSAY_OK;
}

static void suppression_cost(const op_ctx *c, op_cost *k)
{
    op_count_kept(c, k, op_in_elems(c, 1), op_out_elems(c, 0) / 3);
}

/* ---- MulticlassNms, MatrixNms ---- */

static assay_status classes_infer(op_ctx *c)
{
    int64_t batch = op_dim(c, 1, 0), classes = op_dim(c, 1, 1), boxes = op_dim(c, 1, 2);
    int64_t background = op_attr_int(c, "background_class", -1);
    if (op_rank(c, 1) == 2) { /* [C, boxes]: samples are in input 2 */
        classes = op_dim(c, 1, 0);
        boxes = op_dim(c, 1, 1);
        batch = op_rank(c, 2) == 1 ? op_dim(c, 2, 0) : -1;
    }
    if (classes > 0 && background >= 0 && background < classes)
        classes--;
    int64_t each[] = {least(boxes, op_attr_int(c, "nms_top_k", -1)), classes};
    int64_t most = op_attr_int(c, "keep_top_k", -1), all = op_product(each, 0, 2);
    int64_t rows[] = {batch, all < 0 ? -1 : least(all, most)};
    int64_t dims[] = {op_product(rows, 0, 2), 6};
    TRY(op_set(c, 0, op_dtype(c, 0), 2, dims));
    assume_kept(c, dims[0]);
    dims[1] = 1;
    TRY(op_set(c, 1, index_type(c), 2, dims));
    return op_set(c, 2, index_type(c), 1, &batch);
}

static void classes_cost(const op_ctx *c, op_cost *k)
{
    op_count_kept(c, k, op_in_elems(c, 1), op_out_elems(c, 0) / 6);
}

/* ---- GenerateProposals ---- */

static assay_status proposals_infer(op_ctx *c)
{
    int64_t batch = op_rank(c, 0) < 0 ? -1 : op_dim(c, 0, 0);
    int64_t most = op_attr_int(c, "post_nms_count", -1), boxes = op_numel(c->in[3]);
    int64_t each = boxes < 0 || batch < 1 ? most : least(boxes / batch, most);
    const int64_t sizes[] = {batch, each < 0 ? -1 : each};
    const int64_t dims[] = {op_product(sizes, 0, 2), 4};
    bool narrow = str_is(op_attr_str(c, "roi_num_type", "i64"), "i32");
    TRY(op_set(c, 0, op_dtype(c, 0), 2, dims));
    TRY(op_set(c, 1, op_dtype(c, 0), 1, dims));
    assume_kept(c, dims[0]);
    return op_set(c, 2, narrow ? IR_INT32 : IR_INT64, 1, &batch);
}

static void proposals_cost(const op_ctx *c, op_cost *k)
{
    op_count_kept(c, k, op_in_elems(c, 3), op_out_elems(c, 0) / 4);
}

#define OV(name_, type_, infer_, cost_)                                                           \
    OP_ROW("openvino", name_, type_, "1",                                                         \
           "1 cmp per score; per kept box: 7 cmp + 4 add + 1 mul + 1 div (one overlap each, the " \
           "least there can be)",                                                                 \
           infer_, cost_)

static const op_row rows[] = {
    {OV("NonMaxSuppression", "nonmaxsuppression", suppression_infer, suppression_cost),
     OP_SLOTS(2, 6, 1, 3), .aux = 0x3c},
    {OV("NMSRotated", "nonmaxsuppression", suppression_infer, suppression_cost),
     OP_SLOTS(2, 5, 1, 3), .aux = 0x1c},
    {OV("MulticlassNms", "nonmaxsuppression", classes_infer, classes_cost), OP_SLOTS(2, 3, 1, 3)},
    {OV("MatrixNms", "nonmaxsuppression", classes_infer, classes_cost), OP_SLOTS(2, 2, 1, 3)},
    {OV("GenerateProposals", "proposal", proposals_infer, proposals_cost), OP_SLOTS(4, 4, 1, 3),
     .aux = 3},
};
const op_rows op_openvino_nms_rows = OP_ROWS(rows);
