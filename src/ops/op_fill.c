/* Tensors made from nothing but a shape or a few numbers. They write and hardly read; windows are
 * counted by their formula, filling is not arithmetic.
 */
#include <math.h>

#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* ---- Constant: its content is the tensor that the reader put on the value ---- */

static assay_status constant_list(op_ctx *c, ir_dtype t, const char *name)
{
    const ir_attr *a = ir_attr_find(c->node, name);
    return op_set(c, 0, t, 1, &(const int64_t){a ? (int64_t)a->n : -1});
}

/* Its dims stay where they are: in the model. */
static assay_status set_shape_of_tensor(op_ctx *c, const ir_tensor *t)
{
    TRY(op_set_unknown(c, 0, t->dtype));
    if (c->n_out > 0) {
        c->out[0].rank = t->rank;
        c->out[0].dims = t->dims;
    }
    return ASSAY_OK;
}

static assay_status constant(op_ctx *c)
{
    const ir_attr *a = ir_attr_find(c->node, "value");
    if (!a || a->kind != IR_ATTR_TENSOR)
        a = ir_attr_find(c->node, "sparse_value");
    if (a && (a->kind == IR_ATTR_TENSOR || a->kind == IR_ATTR_SPARSE) && a->v.tensor)
        return set_shape_of_tensor(c, a->v.tensor);
    if (op_attr_has(c, "value_int"))
        return op_set_scalar(c, 0, IR_INT64);
    if (op_attr_has(c, "value_float"))
        return op_set_scalar(c, 0, IR_FLOAT32);
    if (op_attr_has(c, "value_string"))
        return op_set_scalar(c, 0, IR_STRING);
    if (op_attr_has(c, "value_ints"))
        return constant_list(c, IR_INT64, "value_ints");
    if (op_attr_has(c, "value_floats"))
        return constant_list(c, IR_FLOAT32, "value_floats");
    if (op_attr_has(c, "value_strings"))
        return constant_list(c, IR_STRING, "value_strings");
    return op_set_unknown(c, 0, IR_UNDEFINED);
}

/* The numbers of the list attributes, for a reader that puts no tensor on the value. */
static bool constant_cell(const ir_attr *a, uint32_t k, op_cell *r)
{
    switch (a->kind) {
    case IR_ATTR_INT:
        r->i = a->v.i;
        return true;
    case IR_ATTR_INTS:
        r->i = a->v.ints[k];
        return true;
    case IR_ATTR_FLOAT:
        r->f = a->v.f;
        return true;
    case IR_ATTR_FLOATS:
        r->f = a->v.floats[k];
        return true;
    default:
        return false;
    }
}

static const ir_attr *constant_numbers(const op_ctx *c)
{
    for (uint32_t k = 0; k < c->node->n_attrs; k++) {
        const ir_attr *a = &c->node->attrs[k];
        bool number = a->kind == IR_ATTR_INT || a->kind == IR_ATTR_INTS ||
                      a->kind == IR_ATTR_FLOAT || a->kind == IR_ATTR_FLOATS;
        if (number && str_starts(a->name, "value_"))
            return a;
    }
    return NULL;
}

static assay_status constant_value(op_ctx *c)
{
    const ir_attr *a = constant_numbers(c);
    op_val *v = a ? ev_output(c, 0) : NULL;
    for (int64_t k = 0; v && k < v->n; k++) {
        op_cell cell;
        if (constant_cell(a, (uint32_t)k, &cell))
            ev_store(v, k, c->out[0].dtype, cell);
    }
    return ev_finish(c, 0, v);
}

/* ---- ConstantOfShape ---- */

static assay_status check_dims(op_ctx *c, const ev_list *l)
{
    for (int k = 0; k < l->n; k++)
        if (l->known[k] && l->v[k] < 0)
            return op_fail(c, "the requested shape %s has a negative dimension",
                           op_dims_text(c, l->n, l->v));
    return ASSAY_OK;
}

static const ir_tensor *fill_tensor(const op_ctx *c)
{
    const ir_attr *a = ir_attr_find(c->node, "value");
    return a && a->kind == IR_ATTR_TENSOR ? a->v.tensor : NULL;
}

static assay_status constant_of_shape(op_ctx *c)
{
    const ir_tensor *t = fill_tensor(c);
    ir_dtype dtype = t ? t->dtype : IR_FLOAT32;
    ev_list l;
    if (!ev_list_get(c, 0, NULL, &l) || l.n < 0)
        return op_set_unknown(c, 0, dtype);
    TRY(check_dims(c, &l));
    return op_set(c, 0, dtype, l.n, l.v);
}

static assay_status fill(op_ctx *c, op_cell cell)
{
    op_val *v = ev_output(c, 0);
    for (int64_t k = 0; v && k < v->n; k++)
        ev_store(v, k, c->out[0].dtype, cell);
    return ev_finish(c, 0, v);
}

static assay_status constant_of_shape_value(op_ctx *c)
{
    const ir_tensor *t = fill_tensor(c);
    op_cell cell = {.i = 0};
    if (t ? !ev_tensor_cell(c, t, 0, &cell) : false)
        return ASSAY_OK;
    if (!t)
        cell.f = 0;
    return fill(c, cell);
}

/* ---- Range: max(ceil((limit - start) / delta), 0) elements ---- */

static int64_t range_ints(int64_t start, int64_t limit, int64_t delta)
{
    int64_t span;
    if (delta == 0 || delta == INT64_MIN || !num_sub(limit, start, &span) || span == INT64_MIN)
        return -1;
    if (span == 0 || (span < 0) != (delta < 0))
        return 0;
    return num_ceil_div(span < 0 ? -span : span, delta < 0 ? -delta : delta);
}

static int64_t range_length(const op_ctx *c)
{
    int64_t i[3];
    double f[3];
    if (op_int_at(c, 0, 0, &i[0]) && op_int_at(c, 1, 0, &i[1]) && op_int_at(c, 2, 0, &i[2]))
        return range_ints(i[0], i[1], i[2]);
    if (!op_float_at(c, 0, 0, &f[0]) || !op_float_at(c, 1, 0, &f[1]) ||
        !op_float_at(c, 2, 0, &f[2]))
        return -1;
    double n = ceil((f[1] - f[0]) / f[2]);
    return !(n > 0) ? (isnan(n) ? -1 : 0) : n < 9e18 ? (int64_t)n : -1;
}

static assay_status range(op_ctx *c)
{
    return op_set(c, 0, op_dtype(c, 0), 1, &(const int64_t){range_length(c)});
}

static assay_status range_value(op_ctx *c)
{
    int64_t i0 = 0, di = 0;
    double f0 = 0, df = 0;
    bool real = ir_is_float(op_dtype(c, 0));
    if (real ? !op_float_at(c, 0, 0, &f0) || !op_float_at(c, 2, 0, &df)
             : !op_int_at(c, 0, 0, &i0) || !op_int_at(c, 2, 0, &di))
        return ASSAY_OK;
    op_val *v = ev_output(c, 0);
    for (int64_t k = 0; v && k < v->n; k++) {
        op_cell cell = {.i = 0};
        if (real)
            cell.f = f0 + (double)k * df;
        else if (!num_mul(k, di, &cell.i) || !num_add(cell.i, i0, &cell.i))
            continue;
        ev_store(v, k, c->out[0].dtype, cell);
    }
    return ev_finish(c, 0, v);
}

/* ---- EyeLike ---- */

static assay_status eye_like(op_ctx *c)
{
    int64_t t = op_attr_int(c, "dtype", op_dtype(c, 0));
    return op_set_shape_of(c, 0, ir_dtype_valid(t) ? (ir_dtype)t : IR_UNDEFINED, 0);
}

static assay_status eye_like_value(op_ctx *c)
{
    int64_t diagonal = op_attr_int(c, "k", 0);
    bool real = c->n_out && ir_is_float(c->out[0].dtype);
    op_val *v = op_rank(c, 0) == 2 ? ev_output(c, 0) : NULL;
    int64_t width = op_dim(c, 0, 1);
    for (int64_t k = 0; v && k < v->n; k++) {
        bool one = k % width - k / width == diagonal;
        ev_store(v, k, c->out[0].dtype, real ? (op_cell){.f = one} : (op_cell){.i = one});
    }
    return ev_finish(c, 0, v);
}

/* ---- OneHot: a new axis of length depth in the indices' shape ---- */

static assay_status one_hot(op_ctx *c)
{
    int rank = op_rank(c, 0), axis = 0, from = 0;
    int64_t dims[IR_MAX_RANK + 1];
    double depth = -1;
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 2));
    TRY(op_axis(c, op_attr_int(c, "axis", -1), rank + 1, &axis));
    if (op_float_at(c, 1, 0, &depth) && !(depth >= 0 && depth < 9e18))
        return op_fail(c, "invalid depth %g", depth);
    for (int d = 0; d <= rank; d++)
        dims[d] = d == axis ? (int64_t)depth : op_dim(c, 0, from++);
    return op_set(c, 0, op_dtype(c, 2), rank + 1, dims);
}

static assay_status one_hot_value(op_ctx *c)
{
    const op_val *idx = ev_input(c, 0), *values = ev_input(c, 2);
    op_val *v = idx && values && values->n == 2 ? ev_output(c, 0) : NULL;
    int axis = 0;
    if (!v)
        return ASSAY_OK;
    TRY(op_axis(c, op_attr_int(c, "axis", -1), c->out[0].rank, &axis));
    int64_t depth = c->out[0].dims[axis];
    int64_t inner = op_product(c->out[0].dims, axis + 1, c->out[0].rank);
    for (int64_t k = 0; k < v->n; k++) {
        int64_t from = k / (inner * depth) * inner + k % inner;
        double at = from < idx->n ? ev_as_float(idx->cells[from], op_dtype(c, 0)) : 0;
        if (from >= idx->n || !op_val_known(idx, from))
            continue;
        at += at < 0 ? (double)depth : 0;
        ev_copy(v, k, values, at == (double)(k / inner % depth));
    }
    return ev_finish(c, 0, v);
}

/* ---- windows ---- */

static assay_status window(op_ctx *c)
{
    int64_t size = -1, t = op_attr_int(c, "output_datatype", IR_FLOAT32);
    if (op_int_at(c, 0, 0, &size) && size < 0)
        return op_fail(c, "invalid window length %lld", (long long)size);
    return op_set(c, 0, ir_dtype_valid(t) ? (ir_dtype)t : IR_UNDEFINED, 1, &size);
}

/* w(n) = a0 - a1 cos(2 pi n / N) [+ a2 cos(4 pi n / N)], so many cosines per element. */
static void cosines(const op_ctx *c, op_cost *k, uint64_t terms)
{
    uint64_t n = sat_mul(op_out_elems(c, 0), terms);
    k->special = sat_add(k->special, n);
    k->mul = sat_add(k->mul, sat_mul(n, 2));
    k->add = sat_add(k->add, n);
}

static void window_cost(const op_ctx *c, op_cost *k)
{
    cosines(c, k, 1);
}

static void blackman_cost(const op_ctx *c, op_cost *k)
{
    cosines(c, k, 2);
}

/* ---- rows ---- */

#define WINDOW(name_, formula_, cost_)                                                             \
    {                                                                                              \
        OP_ROW("", name_, "window", "17", formula_, window, cost_), OP_SLOTS(1, 1, 1, 1), .aux = 1 \
    }
#define FILL(name_, type_, versions_, infer_, value_, aux_, flags_, n_in_)              \
    {                                                                                   \
        OP_ROW("", name_, type_, versions_, "0 (fills)", infer_, op_cost_write_only),   \
            OP_SLOTS(n_in_, n_in_, 1, 1), .value = value_, .aux = aux_, .flags = flags_ \
    }

static const op_row rows[] = {
    {OP_ROW("", "Constant", "constant", "1,9,11,12,13,19,21,23,24,25", "0 (known before the run)",
            constant, op_cost_free),
     .value = constant_value, .flags = OPF_CONSTANT | OPF_DATA_MOVE, .min_out = 1, .max_out = 1,
     .backward = OP_BW_NONE, .saves = OP_SAVE_NOTHING},
    FILL("ConstantOfShape", "fill", "9,20,21,23,24,25", constant_of_shape, constant_of_shape_value,
         1, OPF_DATA_MOVE, 1),
    FILL("Range", "range", "11,27", range, range_value, 7, OPF_DATA_MOVE, 3),
    FILL("EyeLike", "fill", "9,22", eye_like, eye_like_value, 1, OPF_DATA_MOVE | OPF_SHAPE_ONLY, 1),
    {OP_ROW("", "OneHot", "onehot", "9,11", "0 (data movement)", one_hot, NULL),
     OP_SLOTS(3, 3, 1, 1), .value = one_hot_value, .aux = 7, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_NONE, .saves = OP_SAVE_NOTHING},
    WINDOW("HannWindow", "per element: 1 special + 2 mul + 1 add", window_cost),
    WINDOW("HammingWindow", "per element: 1 special + 2 mul + 1 add", window_cost),
    WINDOW("BlackmanWindow", "per element: 2 special + 4 mul + 2 add", blackman_cost),
};

const op_rows op_fill_rows = OP_ROWS(rows);
