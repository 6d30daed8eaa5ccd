/* Picking elements by index. Each reads as many elements of the data as it writes (an embedding
 * reads the rows it takes, not its table) and all of its indices. A table in a constant is a
 * parameter.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* ---- Gather: data[:axis] + indices + data[axis+1:] ---- */

static assay_status gather(op_ctx *c)
{
    int rank = op_rank(c, 0), n_idx = op_rank(c, 1), axis = 0, n = 0;
    int64_t dims[2 * IR_MAX_RANK];
    if (rank < 0 || n_idx < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank == 0)
        return op_fail(c, "a scalar has no axis to gather from");
    TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &axis));
    for (int d = 0; d < axis; d++)
        dims[n++] = op_dim(c, 0, d);
    for (int d = 0; d < n_idx; d++)
        dims[n++] = op_dim(c, 1, d);
    for (int d = axis + 1; d < rank; d++)
        dims[n++] = op_dim(c, 0, d);
    return op_set(c, 0, op_dtype(c, 0), n, dims);
}

/* The index in cell k, made non-negative; -1 when unknown or outside. */
static int64_t index_at(const op_val *idx, int64_t k, int64_t dim)
{
    if (!op_val_known(idx, k))
        return -1;
    int64_t at = idx->cells[k].i;
    if (at < 0)
        at = at < -dim ? -1 : at + dim;
    return at < dim ? at : -1;
}

static assay_status gather_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0), *idx = ev_input(c, 1);
    op_val *v = in && idx ? ev_output(c, 0) : NULL;
    int axis = 0;
    if (!v)
        return ASSAY_OK;
    TRY(op_axis(c, op_attr_int(c, "axis", 0), op_rank(c, 0), &axis));
    int64_t dim = op_dim(c, 0, axis), inner = op_product(op_dims(c, 0), axis + 1, op_rank(c, 0));
    for (int64_t k = 0; k < v->n; k++) {
        int64_t row = k / inner, at = index_at(idx, row % idx->n, dim);
        if (at >= 0)
            ev_copy(v, k, in, (row / idx->n * dim + at) * inner + k % inner);
    }
    return ev_finish(c, 0, v);
}

/* ---- GatherElements: the shape of the indices ---- */

static assay_status gather_elements(op_ctx *c)
{
    TRY(op_check_elements(c));
    return op_set_shape_of(c, 0, op_dtype(c, 0), 1);
}

static assay_status gather_elements_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0), *idx = ev_input(c, 1);
    op_val *v = in && idx ? ev_output(c, 0) : NULL;
    int axis = 0, rank = op_rank(c, 0);
    int64_t strides[IR_MAX_RANK];
    if (!v)
        return ASSAY_OK;
    TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &axis));
    ev_strides(rank, op_dims(c, 0), strides);
    int64_t step = strides[axis];
    strides[axis] = 0;
    for (int64_t k = 0; k < v->n; k++) {
        int64_t at = index_at(idx, k, op_dim(c, 0, axis));
        int64_t from = ev_place(rank, op_dims(c, 1), strides, k) + at * step;
        if (at >= 0 && from < in->n)
            ev_copy(v, k, in, from);
    }
    return ev_finish(c, 0, v);
}

/* ---- GatherND: indices[:-1] + data[batch + depth:] ---- */

/* Checks the ranks and gives batch_dims and the length of an index tuple (-1 unknown). */
static assay_status nd_depth(op_ctx *c, int *batch, int64_t *depth)
{
    int rank = op_rank(c, 0), n_idx = op_rank(c, 1);
    int64_t b = op_attr_int(c, "batch_dims", 0);
    *depth = op_dim(c, 1, -1);
    if (rank < 1 || n_idx < 1 || b < 0 || b >= n_idx || b > rank || *depth > rank - b)
        return op_fail(c, "data %s and indices %s do not match with batch_dims %lld",
                       op_shape_text(c, 0), op_shape_text(c, 1), (long long)b);
    *batch = (int)b;
    return ASSAY_OK;
}

static assay_status gather_nd(op_ctx *c)
{
    int rank = op_rank(c, 0), n_idx = op_rank(c, 1), batch = 0, n = 0;
    int64_t dims[2 * IR_MAX_RANK], depth = -1;
    if (rank < 0 || n_idx < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(nd_depth(c, &batch, &depth));
    if (depth < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < n_idx - 1; d++)
        dims[n++] = op_dim(c, 1, d);
    for (int d = batch + (int)depth; d < rank; d++)
        dims[n++] = op_dim(c, 0, d);
    return op_set(c, 0, op_dtype(c, 0), n, dims);
}

/* Offset of the tuple number t of the indices within one batch of the data; -1 when unknown. */
static int64_t nd_offset(const op_ctx *c, const op_val *idx, int64_t t, int batch, int depth)
{
    int64_t strides[IR_MAX_RANK], at = 0;
    ev_strides(op_rank(c, 0), op_dims(c, 0), strides);
    for (int d = 0; d < depth; d++) {
        int64_t k = index_at(idx, t * depth + d, op_dim(c, 0, batch + d));
        if (k < 0)
            return -1;
        at += k * strides[batch + d];
    }
    return at;
}

static assay_status gather_nd_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0), *idx = ev_input(c, 1);
    op_val *v = in && idx && op_rank(c, 1) > 0 ? ev_output(c, 0) : NULL;
    int batch = 0;
    int64_t depth = -1;
    if (!v)
        return ASSAY_OK;
    TRY(nd_depth(c, &batch, &depth));
    int64_t inner = op_product(op_dims(c, 0), batch + (int)depth, op_rank(c, 0));
    int64_t per_batch = op_product(op_dims(c, 1), batch, op_rank(c, 1) - 1);
    int64_t span = op_product(op_dims(c, 0), batch, op_rank(c, 0));
    for (int64_t k = 0; k < v->n; k++) {
        int64_t t = k / inner, at = nd_offset(c, idx, t, batch, (int)depth);
        if (at >= 0 && t / per_batch * span + at + k % inner < in->n)
            ev_copy(v, k, in, t / per_batch * span + at + k % inner);
    }
    return ev_finish(c, 0, v);
}

/* ---- rows ---- */

#define GATHER(name_, type_, versions_, infer_, value_, ...)                                  \
    {                                                                                         \
        OP_ROW("", name_, type_, versions_, "0 (data movement); reads the selected elements", \
               infer_, op_cost_taken),                                                        \
            OP_SLOTS(2, 2, 1, 1), .value = value_, .weights = 1, .aux = 1u << 1,              \
                                  .flags = OPF_DATA_MOVE, .backward = OP_BW_ADD, __VA_ARGS__  \
    }
#define BY_INDEX .lookups = {{1, 0}}

static const op_row rows[] = {
    GATHER("Gather", "gather", "1,11,13", gather, gather_value, BY_INDEX),
    GATHER("GatherElements", "gather", "11,13", gather_elements, gather_elements_value, BY_INDEX),
    GATHER("GatherND", "gather", "11,12,13", gather_nd, gather_nd_value, .lookups = {{0}}),
};

const op_rows op_gather_rows = OP_ROWS(rows);
