/* Slice in all its forms: attributes (opset 1) or inputs (10 and later), negative indices counted
 * from the end, clamped to the tensor, steps of either sign. A bound that is not known makes only
 * its own axis unknown. It reads what it takes.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* One axis of a slice: where it starts, how far it steps, how many it takes (-1 unknown). */
typedef struct slice_axis {
    int64_t start, step, length;
} slice_axis;

typedef struct slice_lists {
    ev_list starts, ends, axes, steps;
    bool has_axes, has_steps;
} slice_lists;

static bool slice_lists_of(const op_ctx *c, slice_lists *l)
{
    l->has_axes = ev_list_get(c, 3, "axes", &l->axes);
    l->has_steps = ev_list_get(c, 4, NULL, &l->steps);
    bool starts = ev_list_get(c, 1, "starts", &l->starts);
    return ev_list_get(c, 2, "ends", &l->ends) && starts;
}

/* Adds the length to a negative index once and clamps into [low, high]. */
static int64_t place(int64_t at, int64_t dim, int64_t low, int64_t high)
{
    if (at < 0)
        at += dim;
    return at < low ? low : at > high ? high : at;
}

static slice_axis cut(int64_t start, int64_t end, int64_t step, int64_t dim)
{
    slice_axis a = {.step = step, .length = 0};
    bool back = step < 0;
    a.start = back ? place(start, dim, 0, dim - 1) : place(start, dim, 0, dim);
    int64_t stop = back ? place(end, dim, -1, dim - 1) : place(end, dim, 0, dim);
    if (back && dim > 0 && a.start > stop)
        a.length = step == INT64_MIN ? 1 : num_ceil_div(a.start - stop, -step);
    else if (!back && stop > a.start)
        a.length = num_ceil_div(stop - a.start, step);
    return a;
}

static slice_axis cut_axis(const slice_lists *l, int k, int64_t dim)
{
    bool stepped = l->has_steps && l->steps.n >= 0 && k < l->steps.n;
    bool known = k < l->starts.n && k < l->ends.n && l->starts.known[k] && l->ends.known[k] &&
                 (!l->has_steps || (stepped && l->steps.known[k]));
    int64_t step = stepped ? l->steps.v[k] : 1;
    if (!known || dim < 0)
        return (slice_axis){.step = step, .length = -1};
    return cut(l->starts.v[k], l->ends.v[k], step, dim);
}

/* How many axes the slice names; -1 when not known. */
static int n_axes(const slice_lists *l)
{
    return l->has_axes ? l->axes.n : l->starts.n >= 0 ? l->starts.n : l->ends.n;
}

/* Fills one slice_axis per dim of the input. */
static assay_status slice_axes(op_ctx *c, const slice_lists *l, slice_axis *axes)
{
    int rank = op_rank(c, 0), n = n_axes(l);
    bool named = n >= 0 && (!l->has_axes || ev_list_full(&l->axes));
    for (int d = 0; d < rank; d++)
        axes[d] = (slice_axis){.step = 1, .length = named ? op_dim(c, 0, d) : -1};
    for (int k = 0; named && k < n; k++) {
        int d = 0;
        TRY(op_axis(c, l->has_axes ? l->axes.v[k] : k, rank, &d));
        if (l->has_steps && k < l->steps.n && l->steps.known[k] && l->steps.v[k] == 0)
            return op_fail(c, "the step on axis %d is 0", d);
        axes[d] = cut_axis(l, k, op_dim(c, 0, d));
    }
    return ASSAY_OK;
}

static assay_status slice(op_ctx *c)
{
    slice_lists l;
    slice_axis axes[IR_MAX_RANK];
    int64_t dims[IR_MAX_RANK];
    int rank = op_rank(c, 0);
    bool given = slice_lists_of(c, &l);
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (!given)
        return op_fail(c, "no starts or no ends");
    TRY(slice_axes(c, &l, axes));
    for (int d = 0; d < rank; d++)
        dims[d] = axes[d].length;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status slice_value(op_ctx *c)
{
    slice_lists l;
    slice_axis axes[IR_MAX_RANK] = {0};
    int64_t strides[IR_MAX_RANK], base = 0;
    int rank = op_rank(c, 0);
    if (!ev_input(c, 0) || c->n_out == 0 || !op_shape_full(&c->out[0]) ||
        op_numel(&c->out[0]) == 0 || !slice_lists_of(c, &l))
        return ASSAY_OK;
    TRY(slice_axes(c, &l, axes));
    ev_strides(rank, op_dims(c, 0), strides);
    for (int d = 0; d < rank; d++) {
        base += axes[d].start * strides[d];
        strides[d] = axes[d].length > 1 ? strides[d] * axes[d].step : 0;
    }
    return ev_strided(c, 0, 0, base, strides);
}

static const op_row rows[] = {
    {OP_ROW("", "Slice", "slice", "1,10,11,13", "0 (data movement); reads the selected elements",
            slice, op_cost_taken),
     OP_SLOTS(1, 5, 1, 1), .value = slice_value, .aux = 0x1e, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_MOVE, .saves = OP_SAVE_NOTHING},
    {OP_ROW("", "DynamicSlice", "slice", "1", "0 (data movement); reads the selected elements",
            slice, op_cost_taken),
     OP_SLOTS(3, 4, 1, 1), .value = slice_value, .aux = 0x1e, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_MOVE, .saves = OP_SAVE_NOTHING},
};

const op_rows op_slice_rows = OP_ROWS(rows);
