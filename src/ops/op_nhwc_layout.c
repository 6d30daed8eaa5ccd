/* Operators with channels last that move or scale data: resizing, blocks of space, normalisation, and the change of
 * quantisation parameters. Domain "assay.nhwc"; see op_nhwc.c. */
#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

static assay_status need_rank(op_ctx *c, int rank)
{
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != rank)
        return op_fail(c, "input %s must have rank %d", op_shape_text(c, 0), rank);
    return ASSAY_OK;
}

/* ---- Resize: X [N,H,W,C], sizes [2] ---- */

static assay_status resize_infer(op_ctx *c)
{
    ev_list sizes;
    int64_t dims[4] = {op_dim(c, 0, 0), -1, -1, op_dim(c, 0, 3)};
    TRY(need_rank(c, 4));
    if (ev_list_get(c, 1, NULL, &sizes) && sizes.n == 2)
        for (int d = 0; d < 2; d++)
            if (sizes.known[d] && sizes.v[d] >= 0)
                dims[d + 1] = sizes.v[d];
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* As ONNX's Resize: axes that keep their size cost nothing. */
static void resize_cost(const op_ctx *c, op_cost *k)
{
    uint64_t taps = 1;
    for (int d = 1; d < 3 && op_rank(c, 0) == 4 && c->out[0].rank == 4; d++)
        taps *= op_dim(c, 0, d) != c->out[0].dims[d] ? 2 : 1;
    if (taps == 1 || str_is(op_attr_str(c, "mode", "nearest"), "nearest"))
        return;
    op_count(c, k, &k->mul, sat_mul(taps, op_out_elems(c, 0)));
    op_count(c, k, &k->add, sat_mul(taps, op_out_elems(c, 0)));
}

/* ---- blocks ---- */

/* a * times / by; -1 when unknown or not whole. */
static int64_t scaled(int64_t a, int64_t times, int64_t by)
{
    int64_t v;
    return a < 0 || by < 1 || !num_mul(a, times, &v) || v % by ? -1 : v / by;
}

static assay_status move_depth(op_ctx *c, bool to_depth)
{
    int64_t b = op_attr_int(c, "blocksize", 0);
    TRY(need_rank(c, 4));
    if (b < 1 || b > 1 << 15)
        return op_fail(c, "attribute blocksize must be at least 1, got %lld", (long long)b);
    int64_t times = to_depth ? 1 : b, by = to_depth ? b : 1;
    int64_t dims[4] = {op_dim(c, 0, 0), scaled(op_dim(c, 0, 1), times, by),
                       scaled(op_dim(c, 0, 2), times, by),
                       scaled(op_dim(c, 0, 3), by * by, times * times)};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

static assay_status space_to_depth(op_ctx *c)
{
    return move_depth(c, true);
}

static assay_status depth_to_space(op_ctx *c)
{
    return move_depth(c, false);
}

/* X, block [m], paddings or crops [m,2]: m axes behind the batch. */
static assay_status move_batch(op_ctx *c, bool to_batch)
{
    ev_list block, edge;
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK], area = 1;
    if (rank < 1 || !ev_list_get(c, 1, NULL, &block) || !ev_list_get(c, 2, NULL, &edge) ||
        !ev_list_full(&block) || !ev_list_full(&edge) || block.n >= rank || edge.n != 2 * block.n)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    for (int d = 0; d < block.n; d++) {
        int64_t b = block.v[d], sides = edge.v[2 * d] + edge.v[2 * d + 1], *at = &dims[d + 1];
        if (b < 1 || !num_mul(area, b, &area))
            return op_fail(c, "block of size %lld", (long long)b);
        if (to_batch)
            *at = *at < 0 ? -1 : scaled(*at + sides, 1, b);
        else
            *at = scaled(*at, b, 1) < 0 ? -1 : scaled(*at, b, 1) - sides;
    }
    dims[0] = to_batch ? scaled(dims[0], area, 1) : scaled(dims[0], 1, area);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status space_to_batch(op_ctx *c)
{
    return move_batch(c, true);
}

static assay_status batch_to_space(op_ctx *c)
{
    return move_batch(c, false);
}

/* ---- elementwise ---- */

static void lrn_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0), size = (uint64_t)op_attr_int(c, "size", 1);
    op_count(c, k, &k->mul, sat_mul(2, n));
    op_count(c, k, &k->add, sat_mul(sat_add(size, 1), n));
    op_count(c, k, &k->special, n);
    op_count(c, k, &k->div, n);
}

/* Both scales are the values' own, outside the graph: one multiply by their quotient. */
static assay_status requantize_infer(op_ctx *c)
{
    return op_set_shape_of(c, 0, (ir_dtype)op_attr_int(c, "to", op_dtype(c, 0)), 0);
}

/* ---- BatchNormalization: X [N,...,C], scale, bias, mean, variance [C] ---- */

static assay_status batch_norm_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t channels = rank > 0 ? op_dim(c, 0, rank - 1) : -1;
    for (uint32_t i = 1; i < 5; i++)
        if (channels >= 0 && op_rank(c, i) == 1 && op_dim(c, i, 0) >= 0 &&
            op_dim(c, i, 0) != channels)
            return op_fail(c, "input %s does not have the channels of %s", op_shape_text(c, 0),
                           op_shape_text(c, i));
    return op_infer_like(c);
}

static void batch_norm_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->mul, op_in_elems(c, 0));
    op_count(c, k, &k->add, op_in_elems(c, 0));
}

#define NHWC(name_, type_, formula_, infer_, cost_) \
    OP_ROW("assay.nhwc", name_, type_, "1", formula_, infer_, cost_)
#define MOVES .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE

static const op_row rows[] = {
    {NHWC("Resize", "resize", "nearest: 0; linear: 2^d mul + 2^d add per output element",
          resize_infer, resize_cost),
     OP_SLOTS(2, 2, 1, 1), .aux = 1 << 1, .backward = OP_BW_SAME, .batch_axis = op_batch_first},
    {NHWC("SpaceToDepth", "spacetodepth", "0 (data movement)", space_to_depth, NULL),
     OP_SLOTS(1, 1, 1, 1), MOVES},
    {NHWC("DepthToSpace", "depthtospace", "0 (data movement)", depth_to_space, NULL),
     OP_SLOTS(1, 1, 1, 1), MOVES},
    {NHWC("SpaceToBatch", "spacetobatch", "0 (data movement)", space_to_batch, NULL),
     OP_SLOTS(3, 3, 1, 1), .aux = 3 << 1, MOVES},
    {NHWC("BatchToSpace", "batchtospace", "0 (data movement)", batch_to_space, NULL),
     OP_SLOTS(3, 3, 1, 1), .aux = 3 << 1, MOVES},
    {NHWC("BatchNormalization", "batchnorm", "per element: 1 mul + 1 add", batch_norm_infer,
          batch_norm_cost),
     OP_SLOTS(5, 5, 1, 1), .weights = 1 << 1 | 1 << 2, .buffers = 1 << 3 | 1 << 4,
     .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS, .batch_axis = op_batch_first},
    {NHWC("LRN", "lrn", "per element: 2 mul + (size + 1) add + 1 special + 1 div", op_infer_like,
          lrn_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {NHWC("Requantize", "quantize", "1 mul per element", requantize_infer, op_cost_mul1),
     OP_SLOTS(1, 1, 1, 1), .flags = OPF_INPLACE},
};
const op_rows op_nhwc_layout_rows = OP_ROWS(rows);
