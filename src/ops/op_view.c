/* Operators that look at a tensor's shape or give it another one without touching an element: no arithmetic, no
 * bytes. Dropout is here because at inference it is the identity.
 */
#include "ops/op_util_eval.h"

/* ---- Shape, Size ---- */

/* Clamps a start or end that may be negative into [0, rank]. */
static int clamp_axis(int64_t at, int rank)
{
    if (at < 0)
        at = at < -rank ? 0 : at + rank;
    return at > rank ? rank : (int)at;
}

/* The half-open range of dims that Shape-15 asks for; whole before. */
static void shape_range(const op_ctx *c, int rank, int *first, int *last)
{
    *first = clamp_axis(op_attr_int(c, "start", 0), rank);
    *last = clamp_axis(op_attr_int(c, "end", rank), rank);
    if (*last < *first)
        *last = *first;
}

static assay_status shape(op_ctx *c)
{
    int rank = op_rank(c, 0), first = 0, last = 0;
    if (rank < 0)
        return op_set(c, 0, IR_INT64, 1, &(const int64_t){-1});
    shape_range(c, rank, &first, &last);
    return op_set(c, 0, IR_INT64, 1, &(const int64_t){last - first});
}

static assay_status shape_value(op_ctx *c)
{
    int rank = op_rank(c, 0), first = 0, last = 0;
    op_val *v = rank < 0 ? NULL : ev_output(c, 0);
    if (rank >= 0)
        shape_range(c, rank, &first, &last);
    for (int d = first; v && d < last; d++) {
        v->cells[d - first].i = op_dim(c, 0, d);
        v->known[d - first] = op_dim(c, 0, d) >= 0;
    }
    return ev_finish(c, 0, v);
}

static assay_status size(op_ctx *c)
{
    return op_set_scalar(c, 0, IR_INT64);
}

static assay_status size_value(op_ctx *c)
{
    int64_t n = op_has(c, 0) ? op_numel(c->in[0]) : -1;
    op_val *v = n < 0 || n == INT64_MAX ? NULL : ev_output(c, 0);
    if (v)
        ev_store(v, 0, IR_INT64, (op_cell){.i = n});
    return ev_finish(c, 0, v);
}

/* ---- Reshape ---- */

/* What a target shape asks for, and what of the input it does not simply copy. */
typedef struct reshape_plan {
    int64_t dims[IR_MAX_RANK];
    int n_open, open; /* dims to be found by counting, and the last of them */
    int64_t taken;    /* product of the known dims that were not copied */
    bool copied[IR_MAX_RANK];
} reshape_plan;

static assay_status plan_dim(op_ctx *c, const ev_list *to, int k, reshape_plan *p)
{
    bool zero_copies = op_attr_int(c, "allowzero", 0) == 0;
    int rank = op_rank(c, 0);
    int64_t want = to->v[k];
    p->dims[k] = -1;
    if (to->known[k] && want < -1)
        return op_fail(c, "the target shape contains %lld", (long long)want);
    if (!to->known[k] || want == -1) {
        p->n_open++;
        p->open = k;
    } else if (want == 0 && zero_copies) {
        if (rank >= 0 && k >= rank)
            return op_fail(
                c,
                "dimension %d of the target shape copies a dimension that input %s does not have",
                k, op_shape_text(c, 0));
        p->dims[k] = op_dim(c, 0, k);
        p->copied[k] = rank >= 0;
        p->n_open += rank < 0;
    } else {
        p->dims[k] = want;
        if (!num_mul(p->taken, want, &p->taken))
            return op_fail(c, "the target shape has too many elements to count");
    }
    return ASSAY_OK;
}

/* Product of the input's dims that are not copied one to one; -1 when unknown. */
static int64_t left_over(const op_ctx *c, const reshape_plan *p)
{
    int64_t rest[IR_MAX_RANK];
    int n = 0, rank = op_rank(c, 0);
    for (int d = 0; d < rank; d++)
        if (!p->copied[d])
            rest[n++] = op_dims(c, 0)[d];
    return rank < 0 ? -1 : op_product(rest, 0, n);
}

static assay_status reshape_mismatch(op_ctx *c, const ev_list *to)
{
    return op_fail(c, "cannot reshape input %s to %s", op_shape_text(c, 0),
                   op_dims_text(c, to->n, to->v));
}

static assay_status fill_open(op_ctx *c, const ev_list *to, reshape_plan *p)
{
    int64_t rest = left_over(c, p);
    if (rest < 0 || rest == INT64_MAX || p->n_open > 1)
        return ASSAY_OK;
    if (p->n_open == 0)
        return rest == p->taken ? ASSAY_OK : reshape_mismatch(c, to);
    if (p->taken == 0)
        return rest == 0 ? ASSAY_OK : reshape_mismatch(c, to);
    if (rest % p->taken != 0)
        return reshape_mismatch(c, to);
    p->dims[p->open] = rest / p->taken;
    return ASSAY_OK;
}

static assay_status reshape(op_ctx *c)
{
    ev_list to;
    reshape_plan p = {.taken = 1};
    if (!ev_list_get(c, 1, "shape", &to) || to.n < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (to.n > IR_MAX_RANK)
        return op_fail(c, "target rank %d exceeds the limit of %d", to.n, IR_MAX_RANK);
    for (int k = 0; k < to.n; k++)
        TRY(plan_dim(c, &to, k, &p));
    TRY(fill_open(c, &to, &p));
    return op_set(c, 0, op_dtype(c, 0), to.n, p.dims);
}

/* ---- Squeeze, Unsqueeze, Flatten ---- */

/* Marks the axes of a list in `marked`, negative ones counted from `rank`. */
static assay_status mark_axes(op_ctx *c, const int64_t *axes, int n, int rank, bool *marked)
{
    for (int k = 0; k < n; k++) {
        int axis = 0;
        TRY(op_axis(c, axes[k], rank, &axis));
        marked[axis] = true;
    }
    return ASSAY_OK;
}

/* Without axes every dim of 1 goes, so an unknown dim leaves the rank open. */
static assay_status squeeze_all(op_ctx *c)
{
    int64_t dims[IR_MAX_RANK];
    int n = 0;
    for (int d = 0; d < op_rank(c, 0); d++) {
        if (op_dim(c, 0, d) < 0)
            return op_set_unknown(c, 0, op_dtype(c, 0));
        if (op_dim(c, 0, d) != 1)
            dims[n++] = op_dim(c, 0, d);
    }
    return op_set(c, 0, op_dtype(c, 0), n, dims);
}

static assay_status squeeze_axes(op_ctx *c, const int64_t *axes, int n_axes)
{
    int64_t dims[IR_MAX_RANK];
    bool gone[IR_MAX_RANK] = {false};
    int n = 0, rank = op_rank(c, 0);
    TRY(mark_axes(c, axes, n_axes, rank, gone));
    for (int d = 0; d < rank; d++) {
        if (!gone[d])
            dims[n++] = op_dim(c, 0, d);
        else if (op_dim(c, 0, d) > 1 || op_dim(c, 0, d) == 0)
            return op_fail(c, "cannot remove axis %d of %s: its size is not 1", d,
                           op_shape_text(c, 0));
    }
    return op_set(c, 0, op_dtype(c, 0), n, dims);
}

/* The rank when only the number of axes is known. */
static assay_status set_rank(op_ctx *c, int rank)
{
    int64_t dims[IR_MAX_RANK];
    for (int d = 0; d < rank && d < IR_MAX_RANK; d++)
        dims[d] = -1;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status squeeze(op_ctx *c)
{
    ev_list axes;
    int rank = op_rank(c, 0);
    bool given = ev_list_get(c, 1, "axes", &axes);
    if (rank < 0 || (given && axes.n < 0))
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (!given)
        return squeeze_all(c);
    if (!ev_list_full(&axes))
        return set_rank(c, axes.n > rank ? -1 : rank - axes.n);
    return squeeze_axes(c, axes.v, axes.n);
}

static assay_status unsqueeze(op_ctx *c)
{
    ev_list axes;
    int rank = op_rank(c, 0);
    if (!ev_list_get(c, 1, "axes", &axes) || rank < 0 || axes.n < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    int wide = rank + axes.n, from = 0;
    int64_t dims[IR_MAX_RANK];
    bool fresh[IR_MAX_RANK] = {false};
    if (wide > IR_MAX_RANK || !ev_list_full(&axes))
        return set_rank(c, wide);
    TRY(mark_axes(c, axes.v, axes.n, wide, fresh));
    for (int d = 0; d < wide; d++) {
        if (!fresh[d] && from >= rank)
            return op_fail(c, "duplicate axis");
        dims[d] = fresh[d] ? 1 : op_dim(c, 0, from++);
    }
    return op_set(c, 0, op_dtype(c, 0), wide, dims);
}

static assay_status flatten(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t axis = op_attr_int(c, "axis", 1), dims[2] = {-1, -1};
    if (rank < 0)
        return op_set(c, 0, op_dtype(c, 0), 2, dims);
    if (rank == 0 && axis == 1)
        axis = 0;
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at > rank)
        return op_fail(c, "axis %lld is out of range for input %s", (long long)axis,
                       op_shape_text(c, 0));
    dims[0] = op_product(op_dims(c, 0), 0, (int)at);
    dims[1] = op_product(op_dims(c, 0), (int)at, rank);
    return op_set(c, 0, op_dtype(c, 0), 2, dims);
}

/* ---- Identity, Dropout ---- */

static assay_status dropout(op_ctx *c)
{
    TRY(op_set_like(c, 0, 0));
    return op_set_shape_of(c, 1, c->version >= 10 ? IR_BOOL : op_dtype(c, 0), 0);
}

/* Dropout-12 drops only when told so; before, a model that runs inference never does. */
static bool training(const op_ctx *c)
{
    int64_t on = 0;
    return op_int_at(c, 2, 0, &on) && on != 0;
}

static assay_status dropout_value(op_ctx *c)
{
    return training(c) ? ASSAY_OK : ev_same(c);
}

static void dropout_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    if (training(c)) {
        op_count(c, k, &k->cmp, n);
        op_count(c, k, &k->mul, n);
        return;
    }
    uint64_t mask = c->n_out > 1 ? k->written[1] : 0;
    op_cost_free(c, k);
    if (c->n_out > 1)
        k->written[1] = mask;
}

/* ---- rows ---- */

#define VIEW(name_, type_, versions_, infer_, max_in_, aux_, more_)                             \
    {                                                                                           \
        OP_ROW("", name_, type_, versions_, "0 (a view)", infer_, op_cost_free),                \
            OP_SLOTS(1, max_in_, 1, 1), .value = ev_same, .aux = aux_,                          \
                                        .flags = OPF_VIEW | OPF_PASS | OPF_DATA_MOVE | (more_), \
                                        .backward = OP_BW_MOVE                                  \
    }
#define QUERY(name_, type_, versions_, infer_, value_)                                     \
    {                                                                                      \
        OP_ROW("", name_, type_, versions_, "0 (a shape query)", infer_, op_cost_free),    \
            OP_SLOTS(1, 1, 1, 1), .value = value_, .flags = OPF_SHAPE_ONLY | OPF_DATA_MOVE \
    }

static const op_row rows[] = {
    QUERY("Shape", "shape", "1,13,15,19,21,23,24,25", shape, shape_value),
    QUERY("Size", "size", "1,13,19,21,23,24,25", size, size_value),
    VIEW("Reshape", "reshape", "1,5,13,14,19,21,23,24,25", reshape, 2, 1u << 1, 0),
    VIEW("Squeeze", "squeeze", "1,11,13,21,23,24,25", squeeze, 2, 1u << 1, 0),
    VIEW("Unsqueeze", "unsqueeze", "1,11,13,21,23,24,25", unsqueeze, 2, 1u << 1, 0),
    VIEW("Flatten", "flatten", "1,9,11,13,21,23,24,25", flatten, 1, 0, 0),
    VIEW("Identity", "identity", "1,13,14,16,19,21,23,24,25", op_infer_like, 1, 0, OPF_IDENTITY),
    {OP_ROW("", "Dropout", "dropout", "1,6,7,10,12,13,22",
            "0 at inference; in training mode per element: 1 cmp + 1 mul", dropout, dropout_cost),
     OP_SLOTS(1, 3, 1, 2), .value = dropout_value, .aux = 3u << 1, .flags = OPF_VIEW | OPF_PASS,
     .backward = OP_BW_ELEMENTWISE, .saves = OP_SAVE_NOTHING},
};

const op_rows op_view_rows = OP_ROWS(rows);
