/* Writing updates into a copy of the data. The output is the data's shape; a reduction costs one
 * operation per update, plain writing none. The copy is made in place where the data dies.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

static assay_status scatter_elements(op_ctx *c)
{
    TRY(op_check_elements(c));
    return op_set_like(c, 0, 0);
}

static assay_status scatter_nd(op_ctx *c)
{
    if (op_rank(c, 0) >= 0 && op_rank(c, 1) > 0 && op_dim(c, 1, -1) > op_rank(c, 0))
        return op_fail(c, "indices %s exceed the rank of data %s", op_shape_text(c, 1),
                       op_shape_text(c, 0));
    return op_set_like(c, 0, 0);
}

static assay_status tensor_scatter(op_ctx *c)
{
    int rank = op_rank(c, 0), axis = 0;
    if (rank >= 0 && op_rank(c, 1) >= 0 && rank != op_rank(c, 1))
        return op_fail(c, "cache %s and update %s differ in rank", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    if (rank >= 0)
        TRY(op_axis(c, op_attr_int(c, "axis", -2), rank, &axis));
    return op_set_like(c, 0, 0);
}

/* ---- values ---- */

/* NULL for plain writing. *known is false for a word we do not know. */
static const ev_fn2 *reduction(const op_ctx *c, bool *known)
{
    static const struct {
        const char *name;
        const ev_fn2 *f;
    } kinds[] = {
        {"none", NULL}, {"add", &ev_add}, {"mul", &ev_mul}, {"max", &ev_max}, {"min", &ev_min}};
    str name = op_attr_str(c, "reduction", "none");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if ((*known = str_is(name, kinds[k].name)))
            return kinds[k].f;
    return NULL;
}

static void write_cell(op_val *v, int64_t at, const ev_fn2 *f, ir_dtype t, const op_val *updates,
                       int64_t k)
{
    bool known = updates && k < updates->n && op_val_known(updates, k) && (!f || v->known[at]);
    op_cell cell = known ? updates->cells[k] : (op_cell){0};
    if (known && f)
        known = ev_apply2(f, t, v->cells[at], cell, &cell);
    v->known[at] = 0;
    if (known)
        ev_store(v, at, t, cell);
}

/* The output as a copy of the data, for updating; NULL when something is not known well enough. */
static op_val *data_copy(op_ctx *c, const op_val **idx, const ev_fn2 **f)
{
    bool known = false;
    const op_val *in = ev_input(c, 0);
    *idx = ev_input(c, 1);
    *f = reduction(c, &known);
    if (!known || !op_val_full(*idx) || !op_has(c, 2) || !op_shape_full(c->in[2]))
        return NULL;
    op_val *v = in || ev_input(c, 2) ? ev_output(c, 0) : NULL;
    if (v && in && in->n == v->n)
        ev_copy_run(v, 0, in, 0, v->n);
    return v;
}

static assay_status scatter_elements_value(op_ctx *c)
{
    const op_val *idx = NULL, *updates = ev_input(c, 2);
    const ev_fn2 *f = NULL;
    op_val *v = data_copy(c, &idx, &f);
    int rank = op_rank(c, 0), axis = 0;
    int64_t strides[IR_MAX_RANK];
    if (!v)
        return ASSAY_OK;
    TRY(op_axis(c, op_attr_int(c, "axis", 0), rank, &axis));
    ev_strides(rank, op_dims(c, 0), strides);
    int64_t step = strides[axis], dim = op_dim(c, 0, axis);
    strides[axis] = 0;
    for (int64_t k = 0; k < idx->n; k++) {
        int64_t j = idx->cells[k].i;
        j += j < 0 ? dim : 0;
        int64_t at = ev_place(rank, op_dims(c, 1), strides, k);
        if (j < 0 || j >= dim || at + j * step >= v->n)
            return ASSAY_OK;
        write_cell(v, at + j * step, f, op_dtype(c, 0), updates, k);
    }
    return ev_finish(c, 0, v);
}

/* Offset that index tuple number t names; -1 when it is outside. */
static int64_t tuple_offset(const op_ctx *c, const op_val *idx, int64_t t, int depth)
{
    int64_t strides[IR_MAX_RANK], at = 0;
    ev_strides(op_rank(c, 0), op_dims(c, 0), strides);
    for (int d = 0; d < depth; d++) {
        int64_t j = idx->cells[t * depth + d].i, dim = op_dim(c, 0, d);
        j += j < 0 ? dim : 0;
        if (j < 0 || j >= dim)
            return -1;
        at += j * strides[d];
    }
    return at;
}

static assay_status scatter_nd_value(op_ctx *c)
{
    const op_val *idx = NULL, *updates = ev_input(c, 2);
    const ev_fn2 *f = NULL;
    op_val *v = op_rank(c, 1) > 0 ? data_copy(c, &idx, &f) : NULL;
    int64_t depth = op_dim(c, 1, -1);
    if (!v || depth < 1 || depth > op_rank(c, 0))
        return ASSAY_OK;
    int64_t inner = op_product(op_dims(c, 0), (int)depth, op_rank(c, 0));
    for (int64_t t = 0; t < idx->n / depth; t++) {
        int64_t at = tuple_offset(c, idx, t, (int)depth);
        if (at < 0)
            return ASSAY_OK;
        for (int64_t k = 0; k < inner && at + k < v->n; k++)
            write_cell(v, at + k, f, op_dtype(c, 0), updates, t * inner + k);
    }
    return ev_finish(c, 0, v);
}

/* ---- cost ---- */

static void scatter_cost(const op_ctx *c, op_cost *k)
{
    str how = op_attr_str(c, "reduction", "none");
    uint64_t n = op_in_elems(c, 2);
    if (str_is(how, "add"))
        op_count(c, k, &k->add, n);
    else if (str_is(how, "mul"))
        op_count(c, k, &k->mul, n);
    else if (!str_is(how, "none"))
        op_count(c, k, &k->cmp, n);
}

#define SCATTER(name_, versions_, formula_, infer_, value_, cost_, aux_, min_in_)            \
    {                                                                                        \
        OP_ROW("", name_, "scatter", versions_, formula_, infer_, cost_),                    \
            OP_SLOTS(min_in_, 3, 1, 1), .value = value_, .aux = aux_, .backward = OP_BW_MOVE \
    }
#define REDUCED "0 (data movement); with a reduction 1 operation per update"

static const op_row rows[] = {
    SCATTER("Scatter", "9,11", "0 (data movement)", scatter_elements, scatter_elements_value, NULL,
            2, 3),
    SCATTER("ScatterElements", "11,13,16,18", REDUCED, scatter_elements, scatter_elements_value,
            scatter_cost, 2, 3),
    SCATTER("ScatterND", "11,13,16,18", REDUCED, scatter_nd, scatter_nd_value, scatter_cost, 2, 3),
    SCATTER("TensorScatter", "24", "0 (data movement)", tensor_scatter, NULL, NULL, 4, 2),
};

const op_rows op_scatter_rows = OP_ROWS(rows);
