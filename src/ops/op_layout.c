/* Rearranging the elements of a tensor: bytes move, nothing is computed (Col2Im sums overlaps). */
#include "ops/op_util_cost.h"

#include <assert.h>

#include "ops/op_util_eval.h"

/* ---- Transpose ---- */

/* perm[d] is the input axis that becomes output axis d; reversed by default. */
static assay_status permutation(op_ctx *c, int rank, int *perm)
{
    const int64_t *given = NULL;
    bool used[IR_MAX_RANK] = {false};
    int n = op_attr_ints(c, "perm", &given);
    if (n >= 0 && n != rank)
        return op_fail(c, "perm has %d axes, but the input %s has rank %d", n, op_shape_text(c, 0),
                       rank);
    for (int d = 0; d < rank; d++) {
        TRY(op_axis(c, n >= 0 ? given[d] : rank - 1 - d, rank, &perm[d]));
        if (used[perm[d]])
            return op_fail(c, "perm has axis %d twice", perm[d]);
        used[perm[d]] = true;
    }
    return ASSAY_OK;
}

/* Without the input's rank the permutation still tells the output's. */
static assay_status transpose_unknown(op_ctx *c)
{
    const int64_t *given = NULL;
    int64_t dims[IR_MAX_RANK];
    int n = op_attr_ints(c, "perm", &given);
    for (int d = 0; d < n && d < IR_MAX_RANK; d++)
        dims[d] = -1;
    return op_set(c, 0, op_dtype(c, 0), n, dims);
}

static assay_status transpose(op_ctx *c)
{
    int rank = op_rank(c, 0), perm[IR_MAX_RANK] = {0};
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return transpose_unknown(c);
    TRY(permutation(c, rank, perm));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, perm[d]);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status transpose_value(op_ctx *c)
{
    int rank = op_rank(c, 0), perm[IR_MAX_RANK] = {0};
    int64_t strides[IR_MAX_RANK], moved[IR_MAX_RANK];
    if (!ev_input(c, 0))
        return ASSAY_OK;
    TRY(permutation(c, rank, perm));
    ev_strides(rank, op_dims(c, 0), strides);
    for (int d = 0; d < rank; d++)
        moved[d] = strides[perm[d]];
    return ev_strided(c, 0, 0, 0, moved);
}

/* ---- DepthToSpace, SpaceToDepth: blocks between channels and the plane ---- */

static assay_status block_size(op_ctx *c, int64_t *b, int64_t *area)
{
    *b = op_attr_int(c, "blocksize", 0);
    if (*b <= 0 || !num_mul(*b, *b, area))
        return op_fail(c, "invalid block size %lld", (long long)*b);
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 4)
        return op_fail(c, "the input must have rank 4, not %s", op_shape_text(c, 0));
    return ASSAY_OK;
}

static assay_status grow(op_ctx *c, int64_t dim, int64_t by, int64_t *out)
{
    *out = -1;
    if (dim >= 0 && !num_mul(dim, by, out))
        return op_fail(c, "%lld x %lld elements are too many to count", (long long)dim,
                       (long long)by);
    return ASSAY_OK;
}

static assay_status shrink(op_ctx *c, int64_t dim, int64_t by, int64_t *out)
{
    assert(by > 0);
    *out = dim < 0 ? -1 : dim / by;
    if (dim >= 0 && dim % by != 0)
        return op_fail(c, "a dimension of %s is not a multiple of %lld", op_shape_text(c, 0),
                       (long long)by);
    return ASSAY_OK;
}

static assay_status depth_to_space(op_ctx *c)
{
    int64_t b = 0, area = 0, dims[4] = {op_dim(c, 0, 0), -1, -1, -1};
    TRY(block_size(c, &b, &area));
    TRY(shrink(c, op_dim(c, 0, 1), area, &dims[1]));
    TRY(grow(c, op_dim(c, 0, 2), b, &dims[2]));
    TRY(grow(c, op_dim(c, 0, 3), b, &dims[3]));
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

static assay_status space_to_depth(op_ctx *c)
{
    int64_t b = 0, area = 0, dims[4] = {op_dim(c, 0, 0), -1, -1, -1};
    TRY(block_size(c, &b, &area));
    TRY(grow(c, op_dim(c, 0, 1), area, &dims[1]));
    TRY(shrink(c, op_dim(c, 0, 2), b, &dims[2]));
    TRY(shrink(c, op_dim(c, 0, 3), b, &dims[3]));
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* ---- Col2Im: [N, C * prod(block), L] to [N, C, image...] ---- */

static assay_status col2im(op_ctx *c)
{
    ev_list image, block;
    int64_t dims[IR_MAX_RANK], area = -1;
    if (!ev_list_get(c, 1, NULL, &image) || image.n < 0 || image.n > IR_MAX_RANK - 2)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (ev_list_get(c, 2, NULL, &block) && ev_list_full(&block))
        area = op_product(block.v, 0, block.n);
    dims[0] = op_dim(c, 0, 0);
    dims[1] = -1;
    if (area == 0)
        return op_fail(c, "empty block");
    if (area > 0)
        TRY(shrink(c, op_dim(c, 0, 1), area, &dims[1]));
    for (int d = 0; d < image.n; d++) {
        if (image.known[d] && image.v[d] < 0)
            return op_fail(c, "the image shape %s has a negative dimension",
                           op_dims_text(c, image.n, image.v));
        dims[d + 2] = image.v[d];
    }
    return op_set(c, 0, op_dtype(c, 0), image.n + 2, dims);
}

/* ---- ReverseSequence ---- */

#define MOVE(name_, type_, versions_, infer_, value_, flags_, n_in_)                          \
    {                                                                                         \
        OP_ROW("", name_, type_, versions_, "0 (data movement)", infer_, NULL),               \
            OP_SLOTS(n_in_, n_in_, 1, 1), .value = value_, .flags = OPF_DATA_MOVE | (flags_), \
                                          .backward = OP_BW_MOVE                              \
    }

static const op_row rows[] = {
    MOVE("Transpose", "transpose", "1,13,21,23,24,25", transpose, transpose_value, OPF_PASS, 1),
    MOVE("DepthToSpace", "depthtospace", "1,11,13", depth_to_space, NULL, 0, 1),
    MOVE("SpaceToDepth", "spacetodepth", "1,13", space_to_depth, NULL, 0, 1),
    MOVE("ReverseSequence", "reversesequence", "10", op_infer_like, NULL, 0, 2),
    /* between host and device, which ONNX Runtime puts into the graphs that it optimises */
    MOVE("MemcpyFromHost", "memcpy", "1", op_infer_like, ev_same, 0, 1),
    MOVE("MemcpyToHost", "memcpy", "1", op_infer_like, ev_same, 0, 1),
    {OP_ROW("", "Col2Im", "col2im", "18", "per input element: 1 add", col2im, op_cost_add_in),
     OP_SLOTS(3, 3, 1, 1), .aux = 6, .backward = OP_BW_MOVE, .saves = OP_SAVE_NOTHING},
};

const op_rows op_layout_rows = OP_ROWS(rows);
