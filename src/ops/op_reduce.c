/* The ten reductions. Axes are an attribute in old versions and input 1 in new ones; without axes
 * everything is reduced, or nothing when noop_with_empty_axes says so.
 *
 * Contents are followed for all but the logarithmic ones: exporters reduce shapes to sizes.
 */
#include <math.h>

#include "ops/op.h"
#include "ops/op_util_cost.h"

/* Which axes go: mask[d], or false when that is not known. */
typedef struct reduction {
    bool known;
    bool keep;
    int n_axes; /* -1 when not even their number is known */
    bool mask[IR_MAX_RANK];
} reduction;

static assay_status mark_axes(op_ctx *c, int n, const int64_t *axes, int rank, reduction *r)
{
    int place;
    for (int k = 0; k < n; k++) {
        if (rank == 0 && (axes[k] == 0 || axes[k] == -1))
            continue; /* engines take a scalar for a vector of one */
        TRY(op_axis(c, axes[k], rank, &place));
        r->mask[place] = true;
    }
    r->known = true;
    return ASSAY_OK;
}

/* An axes input whose content is unknown still tells by its length how many axes go. */
static void unknown_axes(const op_ctx *c, reduction *r)
{
    int64_t n = op_has(c, 1) ? op_numel(c->in[1]) : -1;
    r->known = false;
    r->n_axes = n > 0 && n <= IR_MAX_RANK ? (int)n : -1;
}

static assay_status read_axes(op_ctx *c, int rank, reduction *r)
{
    int64_t axes[IR_MAX_RANK];
    *r = (reduction){.known = true, .keep = op_attr_int(c, "keepdims", 1) != 0};
    int n = op_list(c, 1, "axes", axes, IR_MAX_RANK);
    if (n > 0)
        return mark_axes(c, n, axes, rank, r);
    if (n == -2 && op_numel(c->in[1]) != 0)
        unknown_axes(c, r);
    else if (op_attr_int(c, "noop_with_empty_axes", 0) == 0)
        for (int d = 0; d < rank; d++)
            r->mask[d] = true;
    return ASSAY_OK;
}

static assay_status set_unknown_axes(op_ctx *c, int rank, const reduction *r)
{
    int64_t dims[IR_MAX_RANK];
    int left = r->keep ? rank : rank - r->n_axes;
    if ((!r->keep && r->n_axes < 0) || left < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < left; d++)
        dims[d] = -1;
    return op_set(c, 0, op_dtype(c, 0), left, dims);
}

static assay_status reduce_infer(op_ctx *c)
{
    int rank = op_rank(c, 0), left = 0;
    int64_t dims[IR_MAX_RANK];
    reduction r;
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(read_axes(c, rank, &r));
    if (!r.known)
        return set_unknown_axes(c, rank, &r);
    for (int d = 0; d < rank; d++)
        if (!r.mask[d])
            dims[left++] = op_dim(c, 0, d);
        else if (r.keep)
            dims[left++] = 1;
    return op_set(c, 0, op_dtype(c, 0), left, dims);
}

/* ---- contents ---- */

/* Folds one element into the accumulator; false when the result is no longer known. */
typedef struct fold {
    const char *op;
    bool (*ints)(int64_t *acc, int64_t x);
    double (*floats)(double acc, double x);
    int64_t start; /* of a sum or product; extremes take their first element */
    bool extreme;
} fold;

static bool int_sum(int64_t *acc, int64_t x)
{
    return num_add(*acc, x, acc);
}
static bool int_prod(int64_t *acc, int64_t x)
{
    return num_mul(*acc, x, acc);
}
static bool int_max(int64_t *acc, int64_t x)
{
    return (*acc = x > *acc ? x : *acc, true);
}
static bool int_min(int64_t *acc, int64_t x)
{
    return (*acc = x < *acc ? x : *acc, true);
}
static bool int_l1(int64_t *acc, int64_t x)
{
    return x != INT64_MIN && num_add(*acc, x < 0 ? -x : x, acc);
}
static bool int_squares(int64_t *acc, int64_t x)
{
    return num_mul(x, x, &x) && num_add(*acc, x, acc);
}
static double float_sum(double acc, double x)
{
    return acc + x;
}
static double float_prod(double acc, double x)
{
    return acc * x;
}
static double float_max(double acc, double x)
{
    return x > acc ? x : acc;
}
static double float_min(double acc, double x)
{
    return x < acc ? x : acc;
}
static double float_l1(double acc, double x)
{
    return acc + fabs(x);
}
static double float_squares(double acc, double x)
{
    return acc + x * x;
}

static const fold folds[] = {
    {.op = "ReduceSum", .ints = int_sum, .floats = float_sum},
    {.op = "ReduceMean", .ints = int_sum, .floats = float_sum},
    {.op = "ReduceProd", .ints = int_prod, .floats = float_prod, .start = 1},
    {.op = "ReduceMax", .ints = int_max, .floats = float_max, .extreme = true},
    {.op = "ReduceMin", .ints = int_min, .floats = float_min, .extreme = true},
    {.op = "ReduceL1", .ints = int_l1, .floats = float_l1},
    {.op = "ReduceSumSquare", .ints = int_squares, .floats = float_squares},
};

static const fold *fold_of(const op_ctx *c)
{
    for (size_t k = 0; k < sizeof folds / sizeof *folds; k++)
        if (!strcmp(folds[k].op, c->row->name))
            return &folds[k];
    return NULL;
}

/* Flat index in the output of the input's element `at`. */
static int64_t place_of(const op_ctx *c, const reduction *r, int64_t at)
{
    int64_t place = 0, step = 1;
    for (int d = op_rank(c, 0) - 1; d >= 0; d--) {
        int64_t size = op_dim(c, 0, d), index = at % size;
        at /= size;
        if (r->mask[d])
            continue;
        place += index * step;
        step *= size;
    }
    return place;
}

static void fold_in(const fold *f, bool real, op_val *out, int64_t to, op_cell x, bool first)
{
    op_cell *acc = &out->cells[to];
    if (f->extreme && first)
        *acc = x;
    else if (real)
        acc->f = f->floats(acc->f, x.f);
    else if (!f->ints(&acc->i, x.i))
        out->known[to] = 0;
}

static void start_cells(const fold *f, bool real, bool empty, op_val *out)
{
    for (int64_t k = 0; k < out->n; k++) {
        out->known[k] = !(empty && f->extreme);
        if (real)
            out->cells[k].f = (double)f->start;
        else
            out->cells[k].i = f->start;
    }
}

/* Elements of one output are visited in order, so its first one is where its count is still 0. */
static bool fold_all(op_ctx *c, const fold *f, const op_val *v, const reduction *r, op_val *out)
{
    bool real = ir_is_float(op_dtype(c, 0));
    uint8_t *seen = ARENA_ARRAY(c->arena, uint8_t, (size_t)out->n + 1);
    if (!seen)
        return false;
    start_cells(f, real, v->n == 0, out);
    for (int64_t k = 0; k < v->n; k++) {
        int64_t to = place_of(c, r, k);
        if (!op_val_known(v, k))
            out->known[to] = 0;
        else
            fold_in(f, real, out, to, v->cells[k], !seen[to]);
        seen[to] = 1;
    }
    return true;
}

static void divide(const op_ctx *c, op_val *out, int64_t per)
{
    for (int64_t k = 0; k < out->n; k++) {
        if (ir_is_float(op_dtype(c, 0)))
            out->cells[k].f /= (double)per;
        else
            out->cells[k].i /= per;
    }
}

static assay_status reduce_value(op_ctx *c)
{
    const op_val *v = op_value(c, 0);
    const fold *f = fold_of(c);
    reduction r;
    if (!v || !f || !op_shape_full(c->in[0]) || op_numel(c->in[0]) != v->n)
        return ASSAY_OK;
    TRY(read_axes(c, op_rank(c, 0), &r));
    op_val *out = r.known ? op_new_val(c, op_numel(&c->out[0]), true) : NULL;
    if (!out || !fold_all(c, f, v, &r, out))
        return ASSAY_OK;
    bool mean = !strcmp(f->op, "ReduceMean");
    if (mean && (out->n == 0 || v->n == 0))
        return ASSAY_OK;
    if (mean)
        divide(c, out, v->n / out->n);
    op_set_val(c, 0, out);
    return ASSAY_OK;
}

/* ---- cost ---- */

static void l1_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, op_in_elems(c, 0));
    op_count(c, k, &k->add, op_in_elems(c, 0));
}

static void squares_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->mul, op_in_elems(c, 0));
    op_count(c, k, &k->add, op_in_elems(c, 0));
}

static void l2_cost(const op_ctx *c, op_cost *k)
{
    squares_cost(c, k);
    op_count(c, k, &k->special, op_out_elems(c, 0));
}

static void log_sum_cost(const op_ctx *c, op_cost *k)
{
    op_cost_add_in(c, k);
    op_count(c, k, &k->special, op_out_elems(c, 0));
}

static void log_sum_exp_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->special, op_in_elems(c, 0));
    log_sum_cost(c, k);
}

#define REDUCE(op, family, since, words, arithmetic, save)                                    \
    {                                                                                         \
        OP_ROW("", op, family, since, words, reduce_infer, arithmetic), OP_SLOTS(1, 2, 1, 1), \
            .value = reduce_value, .aux = 1 << 1, .backward = OP_BW_SAME, .saves = save       \
    }

static const op_row rows[] = {
    REDUCE("ReduceSum", "reducesum", "1,11,13", "1 add per input element", op_cost_add_in,
           OP_SAVE_NOTHING),
    REDUCE("ReduceMean", "reducemean", "1,11,13,18", "1 add per input element + 1 div per output",
           op_cost_mean, OP_SAVE_NOTHING),
    REDUCE("ReduceProd", "reduceprod", "1,11,13,18", "1 mul per input element", op_cost_mul_in,
           OP_SAVE_BOTH),
    REDUCE("ReduceMax", "reducemax", "1,11,12,13,18,20", "1 cmp per input element", op_cost_cmp_in,
           OP_SAVE_BOTH),
    REDUCE("ReduceMin", "reducemin", "1,11,12,13,18,20", "1 cmp per input element", op_cost_cmp_in,
           OP_SAVE_BOTH),
    REDUCE("ReduceL1", "reducel1", "1,11,13,18", "per input element: 1 cmp + 1 add", l1_cost,
           OP_SAVE_INPUTS),
    REDUCE("ReduceL2", "reducel2", "1,11,13,18",
           "per input element: 1 mul + 1 add; 1 special per output", l2_cost, OP_SAVE_BOTH),
    REDUCE("ReduceSumSquare", "reducesumsquare", "1,11,13,18", "per input element: 1 mul + 1 add",
           squares_cost, OP_SAVE_INPUTS),
    REDUCE("ReduceLogSum", "reducelogsum", "1,11,13,18",
           "1 add per input element; 1 special per output", log_sum_cost, OP_SAVE_BOTH),
    REDUCE("ReduceLogSumExp", "reducelogsumexp", "1,11,13,18",
           "per input element: 1 special + 1 add; 1 special per output", log_sum_exp_cost,
           OP_SAVE_BOTH),
};

const op_rows op_reduce_rows = OP_ROWS(rows);
