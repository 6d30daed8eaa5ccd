/* Arithmetic on two or more tensors with numpy broadcasting: one operation per output element and
 * operand pair. Below opset 7 the second operand is aligned by `axis` instead (ev_legacy_tail).
 *
 * Integer results that overflow, and divisions by zero, stay unknown; integer division truncates.
 */
#include <math.h>

#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* The dtype of the first operand that has one. */
static ir_dtype common_dtype(const op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (op_dtype(c, i) != IR_UNDEFINED)
            return op_dtype(c, i);
    return IR_UNDEFINED;
}

static assay_status binary(op_ctx *c)
{
    int tail = ev_legacy_tail(c, 1);
    if (tail == 0)
        return op_broadcast_inputs(c, 0, 1, 0, common_dtype(c));
    int rank = op_rank(c, 0), rank2 = op_rank(c, 1);
    int64_t dims[IR_MAX_RANK], dims2[IR_MAX_RANK];
    for (int d = 0; d < rank; d++)
        dims[d] = op_dims(c, 0)[d];
    for (int d = 0; d < rank2 + tail; d++)
        dims2[d] = d < rank2 ? op_dims(c, 1)[d] : 1;
    TRY(op_broadcast(c, &rank, dims, rank2 + tail, dims2));
    return op_set(c, 0, common_dtype(c), rank, dims);
}

static assay_status variadic(op_ctx *c)
{
    return op_broadcast_inputs(c, 0, c->n_in ? c->n_in - 1 : 0, 0, common_dtype(c));
}

/* ---- values ---- */

static double sub_f(double a, double b)
{
    return a - b;
}
static double div_f(double a, double b)
{
    return a / b;
}
static bool div_i(int64_t a, int64_t b, int64_t *r)
{
    if (b == 0 || (b == -1 && a == INT64_MIN))
        return false;
    *r = a / b;
    return true;
}

static const ev_fn2 sub_fn = {num_sub, sub_f};
static const ev_fn2 div_fn = {div_i, div_f};

static bool pow_int(int64_t base, int64_t e, int64_t *r)
{
    *r = 1;
    for (; e > 0; e >>= 1) {
        if ((e & 1) && !num_mul(*r, base, r))
            return false;
        if (e > 1 && !num_mul(base, base, &base))
            return false;
    }
    return e == 0;
}

/* Base and exponent may differ in dtype; the result has the base's. */
static bool pow_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)how;
    if (!a->known[0] || !a->known[1])
        return false;
    if (!ir_is_float(a->dtype[0]) && !ir_is_float(a->dtype[1]))
        return pow_int(a->cell[0].i, a->cell[1].i, &r->i);
    op_cell x = {
        .f = pow(ev_as_float(a->cell[0], a->dtype[0]), ev_as_float(a->cell[1], a->dtype[1]))};
    return ev_convert(x, IR_FLOAT64, c->out[0].dtype, r);
}

/* With fmod the sign follows the dividend (C), without it the divisor (Python). */
static bool mod_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)how;
    if (!a->known[0] || !a->known[1] || a->dtype[0] != a->dtype[1])
        return false;
    if (ir_is_float(a->dtype[0])) {
        r->f = fmod(a->cell[0].f, a->cell[1].f);
        return true;
    }
    int64_t x = a->cell[0].i, y = a->cell[1].i;
    if (y == 0)
        return false;
    r->i = y == -1 ? 0 : x % y;
    if (r->i != 0 && (r->i < 0) != (y < 0) && op_attr_int(c, "fmod", 0) == 0)
        r->i += y;
    return true;
}

/* Folds input i into the accumulated cells; a cell unknown on either side becomes unknown. */
static bool fold_input(op_ctx *c, op_val *acc, uint32_t i, const ev_fn2 *f)
{
    ev_operand x;
    const op_info *out = &c->out[0];
    if (!ev_operand_of(c, i, out, &x) || !x.v || x.dtype != out->dtype)
        return false;
    for (int64_t k = 0; k < acc->n; k++) {
        int64_t at = ev_place(out->rank, out->dims, x.strides, k);
        op_cell r = x.v->cells[at];
        bool ok = op_val_known(x.v, at) &&
                  (i == 0 || (acc->known[k] && ev_apply2(f, x.dtype, acc->cells[k], r, &r)));
        acc->known[k] = 0;
        if (ok)
            ev_store(acc, k, x.dtype, r);
    }
    return true;
}

static op_val *fold(op_ctx *c, const ev_fn2 *f)
{
    op_val *acc = ev_input(c, 0) ? ev_output(c, 0) : NULL;
    for (uint32_t i = 0; acc && i < c->n_in; i++)
        if (!fold_input(c, acc, i, f))
            return NULL;
    return acc;
}

static assay_status fold_value(op_ctx *c)
{
    return ev_finish(c, 0, fold(c, c->row->with));
}

static assay_status mean_value(op_ctx *c)
{
    op_val *v = fold(c, &ev_add);
    if (v && !ir_is_float(c->out[0].dtype))
        return ASSAY_OK;
    for (int64_t k = 0; v && k < v->n; k++)
        if (v->known[k])
            ev_store(v, k, c->out[0].dtype, (op_cell){.f = v->cells[k].f / (double)c->n_in});
    return ev_finish(c, 0, v);
}

/* ---- costs ---- */

static uint64_t pairs(const op_ctx *c)
{
    return sat_mul(op_out_elems(c, 0), c->n_in > 1 ? c->n_in - 1 : 0);
}

static void extremum_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, pairs(c));
}

static void sum_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, pairs(c));
}

static void mean_cost(const op_ctx *c, op_cost *k)
{
    sum_cost(c, k);
    op_count(c, k, &k->div, op_out_elems(c, 0));
}

/* ---- rows ---- */

#define EACH          .flags = OPF_ELEMENTWISE | OPF_INPLACE
#define VALUE(pairs_) .value = ev_by_pairs, .with = &(pairs_)
#define FOLD(pairs_)  .value = fold_value, .with = &(pairs_)
#define BINARY(name_, type_, versions_, kind_, ...)                                                \
    {                                                                                              \
        OP_ROW("", name_, type_, versions_, "per element: 1 " #kind_, binary, op_cost_##kind_##1), \
            OP_SLOTS(2, 2, 1, 1), EACH, __VA_ARGS__                                                \
    }
#define VARIADIC(name_, type_, versions_, formula_, cost_, ...)                                 \
    {                                                                                           \
        OP_ROW("", name_, type_, versions_, formula_, variadic, cost_), OP_SLOTS(1, 255, 1, 1), \
            EACH, __VA_ARGS__                                                                   \
    }
#define ADDS   .backward = OP_BW_ADD
#define SCALES .backward = OP_BW_ELEMENTWISE, .saves = OP_SAVE_INPUTS

static const op_row rows[] = {
    BINARY("Add", "add", "1,6,7,13,14", add, VALUE(ev_add), ADDS),
    BINARY("Sub", "sub", "1,6,7,13,14", add, VALUE(sub_fn), ADDS),
    BINARY("Mul", "mul", "1,6,7,13,14", mul, VALUE(ev_mul), SCALES),
    BINARY("Div", "div", "1,6,7,13,14", div, VALUE(div_fn), SCALES),
    BINARY("Mod", "mod", "10,13", div, EV_CELLS(2, mod_cell, NULL)),
    {OP_ROW("", "Pow", "pow", "1,7,12,13,15", "per element: 1 special", binary, op_cost_special1),
     OP_SLOTS(2, 2, 1, 1), EV_CELLS(2, pow_cell, NULL), .aux = 1u << 1, EACH, SCALES},
    VARIADIC("Max", "max", "1,6,8,12,13", "per output element: 1 cmp per further input",
             extremum_cost, FOLD(ev_max), SCALES),
    VARIADIC("Min", "min", "1,6,8,12,13", "per output element: 1 cmp per further input",
             extremum_cost, FOLD(ev_min), SCALES),
    VARIADIC("Sum", "sum", "1,6,8,13", "per output element: 1 add per further input", sum_cost,
             FOLD(ev_add), ADDS),
    VARIADIC("Mean", "mean", "1,6,8,13", "per output element: 1 add per further input + 1 div",
             mean_cost, .value = mean_value, ADDS),
};

const op_rows op_binary_rows = OP_ROWS(rows);
