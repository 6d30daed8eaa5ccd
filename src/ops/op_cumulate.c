/* Running sums and products along an axis, and the triangle of a matrix: shaped as the input. */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

static assay_status cumulate(op_ctx *c)
{
    int64_t axis = 0;
    int place = 0;
    if (op_rank(c, 0) >= 0 && op_int_at(c, 1, 0, &axis))
        TRY(op_axis(c, axis, op_rank(c, 0), &place));
    return op_set_like(c, 0, 0);
}

/* Runs along one row that starts at base. An unknown cell makes everything after it unknown. */
static void run_row(const op_ctx *c, const op_val *in, op_val *v, const ev_fn2 *f, op_cell start,
                    int64_t base, int64_t step, int64_t n)
{
    bool reverse = op_attr_int(c, "reverse", 0) != 0, known = true;
    bool exclusive = op_attr_int(c, "exclusive", 0) != 0;
    ir_dtype t = op_dtype(c, 0);
    op_cell acc = start;
    for (int64_t j = 0; j < n; j++) {
        int64_t at = base + (reverse ? n - 1 - j : j) * step;
        if (exclusive && known)
            ev_store(v, at, t, acc);
        known = known && op_val_known(in, at) && ev_apply2(f, t, acc, in->cells[at], &acc);
        if (!exclusive && known)
            ev_store(v, at, t, acc);
    }
}

static assay_status accumulate(op_ctx *c, const ev_fn2 *f, int start)
{
    const op_val *in = ev_input(c, 0);
    int64_t axis = 0;
    int place = 0;
    bool real = ir_is_float(op_dtype(c, 0));
    op_val *v = in && op_int_at(c, 1, 0, &axis) && op_rank(c, 0) > 0 ? ev_output(c, 0) : NULL;
    if (!v || v->n == 0)
        return ev_finish(c, 0, v);
    TRY(op_axis(c, axis, op_rank(c, 0), &place));
    int64_t n = op_dim(c, 0, place), step = op_product(op_dims(c, 0), place + 1, op_rank(c, 0));
    op_cell first = real ? (op_cell){.f = start} : (op_cell){.i = start};
    for (int64_t r = 0; r < v->n / n; r++)
        run_row(c, in, v, f, first, r / step * n * step + r % step, step, n);
    return ev_finish(c, 0, v);
}

static assay_status cum_sum_value(op_ctx *c)
{
    return accumulate(c, &ev_add, 0);
}

static assay_status cum_prod_value(op_ctx *c)
{
    return accumulate(c, &ev_mul, 1);
}

/* ---- Trilu ---- */

/* Upper keeps column - row >= k, lower keeps column - row <= k; the rest is 0 in any case. */
static assay_status trilu_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0);
    int64_t diagonal = 0, rows = op_dim(c, 0, -2), columns = op_dim(c, 0, -1);
    bool upper = op_attr_int(c, "upper", 1) != 0;
    if (op_rank(c, 0) < 2 || !in || (op_has(c, 1) && !op_int_at(c, 1, 0, &diagonal)))
        return ASSAY_OK;
    op_val *v = ev_output(c, 0);
    bool real = ir_is_float(op_dtype(c, 0));
    for (int64_t k = 0; v && k < v->n; k++) {
        int64_t off = k % columns - k / columns % rows;
        if (upper ? off >= diagonal : off <= diagonal)
            ev_copy(v, k, in, k);
        else
            ev_store(v, k, c->out[0].dtype, real ? (op_cell){.f = 0} : (op_cell){.i = 0});
    }
    return ev_finish(c, 0, v);
}

#define CUMULATE(name_, type_, versions_, kind_, value_, saves_)                           \
    {                                                                                      \
        OP_ROW("", name_, type_, versions_, "per element: 1 " #kind_, cumulate,            \
               op_cost_##kind_##1),                                                        \
            OP_SLOTS(2, 2, 1, 1), .value = value_, .aux = 1u << 1, .backward = OP_BW_SAME, \
                                  .saves = saves_                                          \
    }

static const op_row rows[] = {
    CUMULATE("CumSum", "cumsum", "11,14", add, cum_sum_value, OP_SAVE_NOTHING),
    CUMULATE("CumProd", "cumprod", "26", mul, cum_prod_value, OP_SAVE_BOTH),
    {OP_ROW("", "Trilu", "trilu", "14", "0 (data movement)", op_infer_like, NULL),
     OP_SLOTS(1, 2, 1, 1), .value = trilu_value, .aux = 1u << 1, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_MOVE, .saves = OP_SAVE_NOTHING},
};

const op_rows op_cumulate_rows = OP_ROWS(rows);
