/* com.microsoft operators that move, make or look up data: the contrib forms of Pad, Range,
 * GatherND, Trilu and Unique, ExpandDims, UnfoldTensor, embeddings, hashing, and what passes
 * tensors between devices.
 */
#include <math.h>

#include "ops/op_util_cost.h"
#include "ops/op_util_ms.h"

/* ---- Pad: data, pads [2·rank] or [1, 2·rank], value ---- */

static assay_status pad_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK], pads[2 * IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    int n = op_ints(c, 1, pads, 2 * IR_MAX_RANK);
    if (n >= 0 && n != 2 * rank)
        return op_fail(c, "%d pads for %s", n, op_shape_text(c, 0));
    for (int d = 0; d < rank; d++) {
        int64_t size = op_dim(c, 0, d), grown;
        dims[d] = -1;
        if (n < 0 || size < 0)
            continue;
        if (!num_add(size, pads[d], &grown) || !num_add(grown, pads[d + rank], &grown) || grown < 0)
            return op_fail(c, "pads %lld and %lld do not fit dimension %d of %s",
                           (long long)pads[d], (long long)pads[d + rank], d, op_shape_text(c, 0));
        dims[d] = grown;
    }
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- Range: start, limit, delta (1) ---- */

static assay_status range_infer(op_ctx *c)
{
    double start, limit, delta = 1;
    int64_t n = -1;
    bool known = op_float_at(c, 0, 0, &start) && op_float_at(c, 1, 0, &limit) &&
                 (!op_has(c, 2) || op_float_at(c, 2, 0, &delta));
    if (known && delta == 0)
        return op_fail(c, "the step of the range is 0");
    if (known) {
        double count = ceil((limit - start) / delta);
        n = count > 0 && count < 9e15 ? (int64_t)count : count > 0 ? -1 : 0;
    }
    return op_set(c, 0, op_dtype(c, 0), 1, &n);
}

/* ---- GatherND without batch dims; embeddings ---- */

static assay_status gather_nd_infer(op_ctx *c)
{
    int r = op_rank(c, 0), q = op_rank(c, 1), n = 0;
    int64_t depth = op_dim(c, 1, -1), dims[2 * IR_MAX_RANK];
    if (r < 0 || q < 0 || (q > 0 && depth < 0))
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (q == 0 || depth < 1 || depth > r)
        return op_fail(c, "indices %s do not match %s", op_shape_text(c, 1), op_shape_text(c, 0));
    for (int d = 0; d < q - 1; d++)
        dims[n++] = op_dim(c, 1, d);
    for (int d = (int)depth; d < r; d++)
        dims[n++] = op_dim(c, 0, d);
    return op_set(c, 0, op_dtype(c, 0), n, dims);
}

/* Rows of input 0 along `axis`, one per element of input 1. */
static assay_status lookup(op_ctx *c, int64_t axis)
{
    int r = op_rank(c, 0), q = op_rank(c, 1), place, n = 0;
    int64_t dims[2 * IR_MAX_RANK];
    if (r < 0 || q < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(op_axis(c, axis, r, &place));
    for (int d = 0; d < place; d++)
        dims[n++] = op_dim(c, 0, d);
    for (int d = 0; d < q; d++)
        dims[n++] = op_dim(c, 1, d);
    for (int d = place + 1; d < r; d++)
        dims[n++] = op_dim(c, 0, d);
    return op_set(c, 0, op_dtype(c, 0), n, dims);
}

static assay_status torch_embedding_infer(op_ctx *c)
{
    return lookup(c, 0);
}

static assay_status shrunken_gather_infer(op_ctx *c)
{
    return lookup(c, op_attr_int(c, "axis", 0));
}

/* ---- ExpandDims: X, axis ---- */

static assay_status expand_dims_infer(op_ctx *c)
{
    int rank = op_rank(c, 0), place;
    int64_t axis, dims[IR_MAX_RANK + 1];
    if (rank < 0 || !op_int_at(c, 1, 0, &axis))
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(op_axis(c, axis, rank + 1, &place));
    for (int d = 0; d <= rank; d++)
        dims[d] = d == place ? 1 : op_dim(c, 0, d < place ? d : d - 1);
    return op_set(c, 0, op_dtype(c, 0), rank + 1, dims);
}

static assay_status expand_dims_value(op_ctx *c)
{
    op_set_val(c, 0, op_value(c, 0));
    return ASSAY_OK;
}

/* ---- UnfoldTensor: windows of `size` along `dim`, appended as a new last dim ---- */

static assay_status unfold_infer(op_ctx *c)
{
    int rank = op_rank(c, 0), place;
    int64_t dims[IR_MAX_RANK + 1], size = op_attr_int(c, "size", 0),
                                   step = op_attr_int(c, "step", 1);
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(op_axis(c, op_attr_int(c, "dim", -1), rank, &place));
    int64_t length = op_dim(c, 0, place);
    if (size <= 0 || step <= 0 || (length >= 0 && size > length))
        return op_fail(c, "windows of %lld with step %lld do not fit %s", (long long)size,
                       (long long)step, op_shape_text(c, 0));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, d);
    dims[place] = length < 0 ? -1 : (length - size) / step + 1;
    dims[rank] = size;
    return op_set(c, 0, op_dtype(c, 0), rank + 1, dims);
}

/* ---- Unique: x [n] -> values, index of each, counts ---- */

static assay_status unique_infer(op_ctx *c)
{
    int64_t n = op_dim(c, 0, 0);
    TRY(ms_want_rank(c, 0, 1));
    TRY(op_set(c, 0, op_dtype(c, 0), 1, &n));
    TRY(op_set(c, 1, IR_INT64, 1, &n));
    TRY(op_set(c, 2, IR_INT64, 1, &n));
    op_assume(c, "the number of unique values depends on data; all were assumed distinct");
    return ASSAY_OK;
}

/* ---- MurmurHash3 ---- */

static assay_status hash_infer(op_ctx *c)
{
    ir_dtype t = op_attr_int(c, "positive", 1) != 0 ? IR_UINT32 : IR_INT32;
    return op_set_shape_of(c, 0, t, 0);
}

/* About 5 multiplications and 10 shifts and exclusive ors per 32-bit word. */
static void hash_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->int_ops, sat_mul(op_in_elems(c, 0), 15));
}

/* ---- between devices: one output per input ---- */

static assay_status each_like_infer(op_ctx *c)
{
    for (uint32_t o = 0; o < c->n_out; o++)
        TRY(op_set_like(c, o, o));
    return ASSAY_OK;
}

static assay_status all_gather_infer(op_ctx *c)
{
    int rank = op_rank(c, 0), place;
    int64_t dims[IR_MAX_RANK], group = op_attr_int(c, "group_size", 1);
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &place));
    if (group < 1)
        return op_fail(c, "group_size %lld must be positive", (long long)group);
    for (int d = 0; d < rank; d++)
        dims[d] = d == place ? ms_dim_mul(op_dim(c, 0, d), group) : op_dim(c, 0, d);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- IsAllFinite ---- */

static assay_status all_finite_infer(op_ctx *c)
{
    return op_set_scalar(c, 0, IR_BOOL);
}

static void all_finite_cost(const op_ctx *c, op_cost *k)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        ms_add(&k->cmp, op_in_elems(c, i));
}

#define MOVES "0 (data movement)"

static const op_row rows[] = {
    {MS_ROW("Pad", "pad", MOVES, pad_infer, NULL), OP_SLOTS(2, 3, 1, 1), .aux = 3u << 1,
     .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {MS_ROW("Range", "range", MOVES, range_infer, op_cost_write_only), OP_SLOTS(2, 3, 1, 1),
     .aux = 7u << 0, .flags = OPF_DATA_MOVE},
    {MS_ROW("GatherND", "gather", MOVES, gather_nd_infer, op_cost_taken), OP_SLOTS(2, 2, 1, 1),
     .weights = 1u << 0, .aux = 1u << 1, .flags = OPF_DATA_MOVE, .backward = OP_BW_ADD},
    {MS_ROW("TorchEmbedding", "embedding", MOVES, torch_embedding_infer, op_cost_taken),
     OP_SLOTS(2, 4, 1, 1), .weights = 1u << 0, .aux = 7u << 1, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_ADD},
    {MS_ROW("ShrunkenGather", "gather", MOVES, shrunken_gather_infer, op_cost_taken),
     OP_SLOTS(2, 2, 1, 1), .weights = 1u << 0, .aux = 1u << 1, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_ADD},
    {MS_ROW("ExpandDims", "unsqueeze", "0 (view)", expand_dims_infer, op_cost_free),
     OP_SLOTS(2, 2, 1, 1), .value = expand_dims_value, .aux = 1u << 1, .flags = OPF_VIEW | OPF_PASS,
     .backward = OP_BW_MOVE},
    {MS_ROW("UnfoldTensor", "unfold", MOVES, unfold_infer, NULL), OP_SLOTS(1, 1, 1, 1),
     .flags = OPF_DATA_MOVE, .backward = OP_BW_ADD},
    {MS_ROW("Trilu", "trilu", MOVES, op_infer_like, NULL), OP_SLOTS(1, 2, 1, 1), .aux = 1u << 1,
     .flags = OPF_DATA_MOVE | OPF_INPLACE, .backward = OP_BW_MOVE},
    {MS_ROW("Unique", "unique", "1 cmp per input element", unique_infer, op_cost_cmp_in),
     OP_SLOTS(1, 1, 1, 3)},
    {MS_ROW("SampleOp", "identity", MOVES, op_infer_like, NULL), OP_SLOTS(1, 1, 1, 1),
     .flags = OPF_DATA_MOVE | OPF_INPLACE, .backward = OP_BW_MOVE},
    {MS_ROW("MurmurHash3", "hash", "15 integer operations per element", hash_infer, hash_cost),
     OP_SLOTS(1, 1, 1, 1)},
    {MS_ROW("AllReduce", "collective", "1 add per element; the network is not modelled",
            each_like_infer, op_cost_add1),
     OP_SLOTS(1, 255, 1, 255), .flags = OPF_INPLACE, .backward = OP_BW_ADD},
    {MS_ROW("AllGather", "collective", MOVES, all_gather_infer, NULL), OP_SLOTS(1, 255, 1, 255),
     .flags = OPF_DATA_MOVE, .backward = OP_BW_ADD},
    {MS_ROW("AllToAll", "collective", MOVES, each_like_infer, NULL), OP_SLOTS(1, 255, 1, 255),
     .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {MS_ROW("IsAllFinite", "isallfinite", "1 cmp per input element", all_finite_infer,
            all_finite_cost),
     OP_SLOTS(1, 255, 1, 1)},
};
const op_rows op_ms_tensor_rows = OP_ROWS(rows);
