/* Making tensors larger or smaller at their edges and by repetition: bytes move, nothing is
 * computed. A pad, repeat or size that is not known makes only its own axis unknown.
 */
#include "ops/op_util_eval.h"

/* ---- Pad ---- */

/* Cells added (or cut, when negative) before and after each axis. */
typedef struct pad_plan {
    int64_t before[IR_MAX_RANK], after[IR_MAX_RANK];
    bool known[IR_MAX_RANK];
} pad_plan;

/* Pad-1 calls the attribute `paddings`. */
static bool pads_of(const op_ctx *c, ev_list *pads)
{
    return ev_list_get(c, 1, "pads", pads) || ev_list_get(c, 1, "paddings", pads);
}

static void pad_nothing(int rank, bool known, pad_plan *p)
{
    for (int d = 0; d < rank; d++) {
        p->before[d] = p->after[d] = 0;
        p->known[d] = known;
    }
}

static assay_status pad_plan_of(op_ctx *c, int rank, pad_plan *p)
{
    ev_list pads, axes;
    bool named = ev_list_get(c, 3, NULL, &axes);
    bool given = pads_of(c, &pads);
    int n = named ? axes.n : rank;
    pad_nothing(rank, given && pads.n >= 0 && (!named || ev_list_full(&axes)), p);
    if (!given || pads.n < 0 || n < 0 || (named && !ev_list_full(&axes)))
        return ASSAY_OK;
    if (pads.n != 2 * n)
        return op_fail(c, "%d pads for %d axes of %s", pads.n, n, op_shape_text(c, 0));
    for (int k = 0; k < n; k++) {
        int d = 0;
        TRY(op_axis(c, named ? axes.v[k] : k, rank, &d));
        p->known[d] = pads.known[k] && pads.known[k + n];
        p->before[d] = pads.v[k];
        p->after[d] = pads.v[k + n];
    }
    return ASSAY_OK;
}

static assay_status pad(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    pad_plan p;
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(pad_plan_of(c, rank, &p));
    for (int d = 0; d < rank; d++) {
        dims[d] = p.known[d] ? op_dim(c, 0, d) : -1;
        if (dims[d] < 0)
            continue;
        if (!num_add(dims[d], p.before[d], &dims[d]) || !num_add(dims[d], p.after[d], &dims[d]) ||
            dims[d] < 0)
            return op_fail(c, "cannot pad axis %d of %s by %lld and %lld", d, op_shape_text(c, 0),
                           (long long)p.before[d], (long long)p.after[d]);
    }
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* Where the output index `at` - before comes from in an axis of length n; -1: from the fill. */
static int64_t pad_source(str mode, int64_t at, int64_t n)
{
    if (at >= 0 && at < n)
        return at;
    if (n == 0)
        return -1;
    if (str_is(mode, "edge"))
        return at < 0 ? 0 : n - 1;
    if (str_is(mode, "wrap"))
        return (at % n + n) % n;
    if (!str_is(mode, "reflect"))
        return -1;
    int64_t period = n > 1 ? 2 * (n - 1) : 1;
    at = (at % period + period) % period;
    return at < n ? at : period - at;
}

/* Offset in the input of the output's k-th cell; -1: the fill. */
static int64_t pad_offset(const op_ctx *c, const pad_plan *p, str mode, int64_t k)
{
    int64_t strides[IR_MAX_RANK], from = 0;
    const op_info *out = &c->out[0];
    ev_strides(out->rank, op_dims(c, 0), strides);
    for (int d = out->rank; d-- > 0; k /= out->dims[d]) {
        int64_t at = pad_source(mode, k % out->dims[d] - p->before[d], op_dim(c, 0, d));
        if (at < 0)
            return -1;
        from += at * strides[d];
    }
    return from;
}

/* What constant mode fills with; false when not known. */
static bool pad_fill(const op_ctx *c, op_cell *cell)
{
    const op_val *given = ev_input(c, 2);
    double value = op_attr_float(c, "value", 0);
    if (op_has(c, 2)) {
        if (!given || given->n != 1 || !op_val_known(given, 0))
            return false;
        *cell = given->cells[0];
        return true;
    }
    return ev_convert((op_cell){.f = value}, IR_FLOAT64, op_dtype(c, 0), cell);
}

static assay_status pad_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0);
    op_val *v = in ? ev_output(c, 0) : NULL;
    pad_plan p;
    op_cell cell = {.i = 0};
    str mode = op_attr_str(c, "mode", "constant");
    bool filled = pad_fill(c, &cell);
    if (!v)
        return ASSAY_OK;
    TRY(pad_plan_of(c, op_rank(c, 0), &p));
    for (int64_t k = 0; k < v->n; k++) {
        int64_t from = pad_offset(c, &p, mode, k);
        if (from >= 0 && from < in->n)
            ev_copy(v, k, in, from);
        else if (filled)
            ev_store(v, k, c->out[0].dtype, cell);
    }
    return ev_finish(c, 0, v);
}

/* ---- Tile ---- */

/* Tile-1 repeats one axis: a count and an axis of the data's own type instead of a list. */
static assay_status tile_one(op_ctx *c, int rank, ev_list *repeats)
{
    double times = -1, axis = 0;
    int at = 0;
    repeats->n = rank;
    bool known = op_float_at(c, 1, 0, &times) && op_float_at(c, 2, 0, &axis);
    if (known && !(times >= 0 && times < 9e15 && axis >= -rank && axis < rank))
        return op_fail(c, "invalid repeat %g along axis %g of %s", times, axis,
                       op_shape_text(c, 0));
    if (known)
        TRY(op_axis(c, (int64_t)axis, rank, &at));
    for (int d = 0; d < rank; d++) {
        repeats->known[d] = known;
        repeats->v[d] = known ? (d == at ? (int64_t)times : 1) : -1;
    }
    return ASSAY_OK;
}

static assay_status tile(op_ctx *c)
{
    ev_list repeats;
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    bool given = ev_list_get(c, 1, NULL, &repeats);
    if (rank < 0 || !given)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (op_has(c, 2))
        TRY(tile_one(c, rank, &repeats));
    if (repeats.n >= 0 && repeats.n != rank)
        return op_fail(c, "%d repeats for input %s", repeats.n, op_shape_text(c, 0));
    for (int d = 0; d < rank; d++) {
        bool known = repeats.n >= 0 && repeats.known[d] && op_dim(c, 0, d) >= 0;
        dims[d] = -1;
        if (known && (repeats.v[d] < 0 || !num_mul(op_dim(c, 0, d), repeats.v[d], &dims[d])))
            return op_fail(c, "cannot repeat axis %d of %s %lld times", d, op_shape_text(c, 0),
                           (long long)repeats.v[d]);
    }
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status tile_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0);
    op_val *v = in ? ev_output(c, 0) : NULL;
    int64_t strides[IR_MAX_RANK];
    if (!v)
        return ASSAY_OK;
    ev_strides(op_rank(c, 0), op_dims(c, 0), strides);
    for (int64_t k = 0; k < v->n; k++) {
        int64_t from = 0, rest = k;
        for (int d = c->out[0].rank; d-- > 0; rest /= c->out[0].dims[d])
            from += rest % c->out[0].dims[d] % op_dim(c, 0, d) * strides[d];
        ev_copy(v, k, in, from);
    }
    return ev_finish(c, 0, v);
}

/* ---- Expand ---- */

static assay_status expand(op_ctx *c)
{
    ev_list to;
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    if (!ev_list_get(c, 1, NULL, &to) || to.n < 0 || rank < 0 || to.n > IR_MAX_RANK)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int k = 0; k < to.n; k++)
        if (to.known[k] && to.v[k] < 0)
            return op_fail(c, "the target shape %s has a negative dimension",
                           op_dims_text(c, to.n, to.v));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, d);
    TRY(op_broadcast(c, &rank, dims, to.n, to.v));
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status expand_value(op_ctx *c)
{
    ev_operand x;
    if (c->n_out == 0 || !ev_operand_of(c, 0, &c->out[0], &x))
        return ASSAY_OK;
    return ev_strided(c, 0, 0, 0, x.strides);
}

/* ---- CenterCropPad ---- */

static assay_status center_crop_pad(op_ctx *c)
{
    ev_list to;
    const int64_t *axes = NULL;
    int rank = op_rank(c, 0), n = op_attr_ints(c, "axes", &axes);
    int64_t dims[IR_MAX_RANK];
    if (rank < 0 || !ev_list_get(c, 1, NULL, &to))
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (to.n >= 0 && to.n != (n < 0 ? rank : n))
        return op_fail(c, "%d sizes for %d axes of %s", to.n, n < 0 ? rank : n,
                       op_shape_text(c, 0));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, d);
    for (int k = 0; k < (n < 0 ? rank : n); k++) {
        int d = 0;
        TRY(op_axis(c, n < 0 ? k : axes[k], rank, &d));
        dims[d] = to.n >= 0 ? to.v[k] : -1;
        if (dims[d] < -1)
            return op_fail(c, "invalid size %lld", (long long)dims[d]);
    }
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- rows ---- */

#define MOVE(name_, type_, versions_, infer_, value_, aux_, min_in_, max_in_)               \
    {                                                                                       \
        OP_ROW("", name_, type_, versions_, "0 (data movement)", infer_, NULL),             \
            OP_SLOTS(min_in_, max_in_, 1, 1), .value = value_, .aux = aux_,                 \
                                              .flags = OPF_DATA_MOVE, .backward = OP_BW_ADD \
    }

static const op_row rows[] = {
    MOVE("Pad", "pad", "1,2,11,13,18,19,21,23,24,25", pad, pad_value, 0xe, 1, 4),
    MOVE("Tile", "tile", "1,6,13", tile, tile_value, 6, 2, 3),
    MOVE("Expand", "expand", "8,13", expand, expand_value, 2, 2, 2),
    MOVE("CenterCropPad", "centercroppad", "18", center_crop_pad, NULL, 2, 2, 2),
};

const op_rows op_pad_rows = OP_ROWS(rows);
