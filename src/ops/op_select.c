/* Operators whose output depends on what the data is: searching, sorting, filtering. Where the
 * content is known the size is exact; else it is the upper bound and booked as an assumption.
 */
#include <stdlib.h>

#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

static bool cell_true(op_cell x, ir_dtype t)
{
    return ir_is_float(t) ? x.f != 0 : x.i != 0;
}

static int compare_cells(op_cell a, op_cell b, ir_dtype t)
{
    if (ir_is_float(t))
        return (a.f > b.f) - (a.f < b.f);
    return (a.i > b.i) - (a.i < b.i);
}

/* Content of input i when every cell is known. */
static const op_val *full_input(const op_ctx *c, uint32_t i)
{
    const op_val *v = ev_input(c, i);
    return op_val_full(v) ? v : NULL;
}

static int64_t count_true(const op_val *v, ir_dtype t)
{
    int64_t n = 0;
    for (int64_t k = 0; k < v->n; k++)
        n += cell_true(v->cells[k], t);
    return n;
}

/* ---- NonZero: [rank, n] ---- */

static assay_status non_zero(op_ctx *c)
{
    const op_val *v = full_input(c, 0);
    int64_t bound = op_has(c, 0) ? op_numel(c->in[0]) : -1;
    int64_t dims[2] = {op_rank(c, 0), v ? count_true(v, op_dtype(c, 0)) : bound};
    TRY(op_set(c, 0, IR_INT64, 2, dims));
    if (!v && bound > 0)
        op_assume(c, "the number of non-zero elements depends on data; all %lld were assumed",
                  (long long)bound);
    return ASSAY_OK;
}

static assay_status non_zero_value(op_ctx *c)
{
    const op_val *in = full_input(c, 0);
    op_val *v = in ? ev_output(c, 0) : NULL;
    int64_t found = 0, n = v ? c->out[0].dims[1] : 0, strides[IR_MAX_RANK];
    int rank = op_rank(c, 0);
    if (!v)
        return ASSAY_OK;
    ev_strides(rank, op_dims(c, 0), strides);
    for (int64_t k = 0; k < in->n && found < n; k++) {
        if (!cell_true(in->cells[k], op_dtype(c, 0)))
            continue;
        for (int d = 0; d < rank; d++)
            ev_store(v, d * n + found, IR_INT64, (op_cell){.i = k / strides[d] % op_dim(c, 0, d)});
        found++;
    }
    return ev_finish(c, 0, v);
}

/* ---- Compress ---- */

/* How many slices of an axis of length dim pass; *exact when the condition is known. */
static int64_t passing(const op_ctx *c, int64_t dim, bool *exact)
{
    const op_val *cond = full_input(c, 1);
    int64_t n = op_dim(c, 1, 0);
    *exact = cond != NULL;
    if (cond)
        return count_true(cond, op_dtype(c, 1));
    return n >= 0 && (dim < 0 || n < dim) ? n : dim;
}

static assay_status compress(op_ctx *c)
{
    int rank = op_rank(c, 0), axis = 0;
    bool flat = !op_attr_has(c, "axis"), exact = false;
    int64_t dims[IR_MAX_RANK];
    if (flat) {
        dims[0] = passing(c, op_has(c, 0) ? op_numel(c->in[0]) : -1, &exact);
        rank = 1;
    } else if (rank >= 0) {
        TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &axis));
        for (int d = 0; d < rank; d++)
            dims[d] = op_dim(c, 0, d);
        dims[axis] = passing(c, dims[axis], &exact);
    }
    TRY(op_set(c, 0, op_dtype(c, 0), rank, dims));
    if (!exact && rank > 0 && dims[axis] > 0)
        op_assume(c, "the number of slices selected depends on data; all %lld were assumed",
                  (long long)dims[axis]);
    return ASSAY_OK;
}

/* ---- Unique ---- */

static int by_int(const void *a, const void *b)
{
    return compare_cells(*(const op_cell *)a, *(const op_cell *)b, IR_INT64);
}

static int by_float(const void *a, const void *b)
{
    return compare_cells(*(const op_cell *)a, *(const op_cell *)b, IR_FLOAT64);
}

/* The distinct cells in ascending order in the arena; NULL when the content is not known. */
static op_cell *distinct(const op_ctx *c, int64_t *n)
{
    const op_val *v = op_attr_has(c, "axis") ? NULL : full_input(c, 0);
    bool real = ir_is_float(op_dtype(c, 0));
    op_cell *sorted = NULL;
    *n = 0;
    if (!v || v->n == 0 || !(sorted = ARENA_ARRAY(c->arena, op_cell, (size_t)v->n)))
        return NULL;
    memcpy(sorted, v->cells, (size_t)v->n * sizeof *sorted);
    qsort(sorted, (size_t)v->n, sizeof *sorted, real ? by_float : by_int);
    for (int64_t k = 0; k < v->n; k++)
        if (k == 0 || compare_cells(sorted[k], sorted[*n - 1], op_dtype(c, 0)) != 0)
            sorted[(*n)++] = sorted[k];
    return sorted;
}

static assay_status unique(op_ctx *c)
{
    int rank = op_rank(c, 0), axis = 0;
    bool flat = !op_attr_has(c, "axis");
    int64_t n = 0, all = op_has(c, 0) ? op_numel(c->in[0]) : -1, dims[IR_MAX_RANK] = {-1};
    bool exact = distinct(c, &n) != NULL;
    for (int d = 0; d < rank && !flat; d++)
        dims[d] = op_dim(c, 0, d);
    if (!flat && rank >= 0) {
        TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &axis));
        all = dims[axis];
    }
    dims[axis] = n = exact ? n : all;
    TRY(op_set(c, 0, op_dtype(c, 0), flat ? 1 : rank, dims));
    TRY(op_set(c, 1, IR_INT64, 1, &n));
    TRY(op_set(c, 2, IR_INT64, 1, &all));
    TRY(op_set(c, 3, IR_INT64, 1, &n));
    if (!exact && all > 1)
        op_assume(c, "the number of distinct elements depends on data; all %lld were assumed",
                  (long long)all);
    return ASSAY_OK;
}

static assay_status unique_value(op_ctx *c)
{
    int64_t n = 0;
    op_cell *cells = op_attr_int(c, "sorted", 1) ? distinct(c, &n) : NULL;
    op_val *v = cells ? ev_output(c, 0) : NULL;
    for (int64_t k = 0; v && k < v->n && k < n; k++)
        ev_store(v, k, c->out[0].dtype, cells[k]);
    return ev_finish(c, 0, v);
}

/* ---- TopK ---- */

static assay_status top_k(op_ctx *c)
{
    int rank = op_rank(c, 0), axis = 0;
    int64_t dims[IR_MAX_RANK], k = op_attr_int(c, "k", -1);
    bool known = op_int_at(c, 1, 0, &k) || k >= 0;
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, d);
    if (rank >= 0) {
        TRY(op_axis(c, op_attr_int(c, "axis", -1), rank, &axis));
        bool sure = !c->in[0]->assumed;
        if (known && (k < 0 || (sure && dims[axis] >= 0 && k > dims[axis])))
            return op_fail(c, "k is %lld, but axis %d of %s has %lld", (long long)k, axis,
                           op_shape_text(c, 0), (long long)dims[axis]);
        dims[axis] = known ? k : dims[axis];
    }
    TRY(op_set(c, 0, op_dtype(c, 0), rank, dims));
    TRY(op_set(c, 1, IR_INT64, rank, dims));
    if (!known && rank >= 0 && dims[axis] > 0)
        op_assume(c, "k is unknown; the whole axis (%lld) was assumed", (long long)dims[axis]);
    return ASSAY_OK;
}

/* One row of a tensor along an axis: cell j is at base + j * step. */
typedef struct cell_row {
    const op_val *v;
    ir_dtype t;
    int64_t base, step, n;
} cell_row;

static cell_row row_at(const op_ctx *c, const op_val *v, int axis, int64_t r)
{
    int64_t n = op_dim(c, 0, axis), inner = op_product(op_dims(c, 0), axis + 1, op_rank(c, 0));
    return (cell_row){v, op_dtype(c, 0), r / inner * n * inner + r % inner, inner, n};
}

/* Place in [0, n) that comes after `last` in order (value, then index); -1 starts. */
static int64_t next_in_order(const cell_row *row, int64_t last, bool largest)
{
    int64_t best = -1;
    for (int64_t j = 0; j < row->n; j++) {
        op_cell x = row->v->cells[row->base + j * row->step];
        int after = 1, before = -1;
        if (last >= 0) {
            after = compare_cells(x, row->v->cells[row->base + last * row->step], row->t);
            after = (largest ? -after : after) * 2 + (j > last ? 1 : -1);
        }
        if (best >= 0) {
            before = compare_cells(x, row->v->cells[row->base + best * row->step], row->t);
            before = largest ? -before : before;
        }
        if (after > 0 && (best < 0 || before < 0))
            best = j;
    }
    return best;
}

/* Sorting small contents by repeated search: k * n steps per row, bounded here. */
#define TOP_K_WORK 1000000

static assay_status top_k_value(op_ctx *c)
{
    const op_val *in = full_input(c, 0);
    int axis = 0;
    if (!in || c->n_out == 0 || op_rank(c, 0) < 1 || !op_shape_full(&c->out[0]))
        return ASSAY_OK;
    TRY(op_axis(c, op_attr_int(c, "axis", -1), op_rank(c, 0), &axis));
    int64_t k = c->out[0].dims[axis];
    op_val *values = k > 0 && in->n * k <= TOP_K_WORK ? ev_output(c, 0) : NULL;
    op_val *places = values && c->n_out > 1 ? ev_output(c, 1) : NULL;
    bool largest = op_attr_int(c, "largest", 1) != 0;
    for (int64_t r = 0; values && r < values->n / k; r++) {
        cell_row row = row_at(c, in, axis, r);
        int64_t last = -1, to = r / row.step * k * row.step + r % row.step;
        for (int64_t j = 0; j < k && (last = next_in_order(&row, last, largest)) >= 0; j++) {
            ev_copy(values, to + j * row.step, in, row.base + last * row.step);
            if (places)
                ev_store(places, to + j * row.step, IR_INT64, (op_cell){.i = last});
        }
    }
    TRY(ev_finish(c, 0, values));
    return ev_finish(c, 1, places);
}

/* ---- ArgMax, ArgMin ---- */

static assay_status arg_extremum(op_ctx *c)
{
    int rank = op_rank(c, 0), axis = 0, n = 0;
    int64_t dims[IR_MAX_RANK];
    bool keep = op_attr_int(c, "keepdims", 1) != 0;
    if (rank < 0)
        return op_set_unknown(c, 0, IR_INT64);
    if (rank == 0)
        return op_set_scalar(c, 0, IR_INT64);
    TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &axis));
    for (int d = 0; d < rank; d++)
        if (d != axis || keep)
            dims[n++] = d == axis ? 1 : op_dim(c, 0, d);
    return op_set(c, 0, IR_INT64, n, dims);
}

static int64_t row_extremum(const cell_row *row, bool largest, bool last)
{
    int64_t best = 0;
    for (int64_t j = 1; j < row->n; j++) {
        int order = compare_cells(row->v->cells[row->base + j * row->step],
                                  row->v->cells[row->base + best * row->step], row->t);
        order = largest ? order : -order;
        if (order > 0 || (order == 0 && last))
            best = j;
    }
    return best;
}

static assay_status arg_value(op_ctx *c)
{
    bool largest = str_is(c->node->op, "ArgMax");
    const op_val *in = full_input(c, 0);
    op_val *v = in && in->n > 0 && op_rank(c, 0) > 0 ? ev_output(c, 0) : NULL;
    bool last = op_attr_int(c, "select_last_index", 0) != 0;
    int axis = 0;
    if (!v)
        return ASSAY_OK;
    TRY(op_axis(c, op_attr_int(c, "axis", 0), op_rank(c, 0), &axis));
    for (int64_t r = 0; r < v->n; r++) {
        cell_row row = row_at(c, in, axis, r);
        ev_store(v, r, IR_INT64, (op_cell){.i = row_extremum(&row, largest, last)});
    }
    return ev_finish(c, 0, v);
}

/* ---- rows ---- */

#define SELECT(name_, type_, versions_, formula_, infer_, value_, cost_, n_in_, n_out_)            \
    {                                                                                              \
        OP_ROW("", name_, type_, versions_, formula_, infer_, cost_),                              \
            OP_SLOTS(1, n_in_, 1, n_out_), .value = value_, .aux = 1u << 1, .backward = OP_BW_MOVE \
    }

static const op_row rows[] = {
    SELECT("NonZero", "nonzero", "9,13", "per input element: 1 cmp", non_zero, non_zero_value,
           op_cost_cmp_in, 1, 1),
    SELECT("Compress", "compress", "9,11", "0 (data movement)", compress, NULL, op_cost_taken, 2,
           1),
    SELECT("Unique", "unique", "11", "per input element: 1 cmp", unique, unique_value,
           op_cost_cmp_in, 1, 4),
    SELECT("TopK", "topk", "1,10,11,24", "per input element: 1 cmp", top_k, top_k_value,
           op_cost_cmp_in, 2, 2),
    SELECT("ArgMax", "argmax", "1,11,12,13", "per input element: 1 cmp", arg_extremum, arg_value,
           op_cost_cmp_in, 1, 1),
    SELECT("ArgMin", "argmin", "1,11,12,13", "per input element: 1 cmp", arg_extremum, arg_value,
           op_cost_cmp_in, 1, 1),
};

const op_rows op_select_rows = OP_ROWS(rows);
