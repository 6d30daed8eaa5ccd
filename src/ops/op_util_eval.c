/* The shared evaluator behind the value rules; see the header for the promises. */
#include "ops/op_util_eval.h"

#include <math.h>

/* Dtypes whose content is followed. */
static bool ev_has_cells(ir_dtype t)
{
    ir_dtype_class cls = ir_dtype_get(t)->cls;
    return cls == IR_CLASS_FLOAT || cls == IR_CLASS_INT || cls == IR_CLASS_UINT ||
           cls == IR_CLASS_BOOL;
}

/* ---- lists ---- */

static void list_from_attr(const int64_t *v, int n, ev_list *out)
{
    out->n = n > EV_LIST_MAX ? -1 : n;
    for (int k = 0; k < out->n; k++) {
        out->v[k] = v[k];
        out->known[k] = true;
    }
}

static void list_from_input(const op_ctx *c, uint32_t i, ev_list *out)
{
    const op_val *v = ev_has_cells(op_dtype(c, i)) ? op_value(c, i) : NULL;
    int64_t n = v ? v->n : op_numel(c->in[i]);
    bool ints = !ir_is_float(op_dtype(c, i));
    out->n = n > EV_LIST_MAX ? -1 : (int)n;
    for (int k = 0; k < out->n; k++) {
        out->known[k] = v && ints && op_val_known(v, k);
        out->v[k] = out->known[k] ? v->cells[k].i : -1;
    }
}

bool ev_list_get(const op_ctx *c, uint32_t i, const char *attr, ev_list *out)
{
    const int64_t *ints = NULL;
    int n = -1;
    out->n = -1;
    if (op_has(c, i))
        list_from_input(c, i, out);
    else if (attr && (n = op_attr_ints(c, attr, &ints)) >= 0)
        list_from_attr(ints, n, out);
    else
        return false;
    return true;
}

bool ev_list_full(const ev_list *l)
{
    for (int k = 0; k < l->n; k++)
        if (!l->known[k])
            return false;
    return l->n >= 0;
}

/* ---- numbers ---- */

static bool ev_fits(ir_dtype t, int64_t v)
{
    const ir_dtype_row *row = ir_dtype_get(t);
    switch (row->cls) {
    case IR_CLASS_BOOL:
        return v == 0 || v == 1;
    case IR_CLASS_UINT:
        return v >= 0 && (row->bits >= 63 || v < (INT64_C(1) << row->bits));
    case IR_CLASS_INT:
        return row->bits >= 64 ||
               (v >= -(INT64_C(1) << (row->bits - 1)) && v < (INT64_C(1) << (row->bits - 1)));
    default:
        return false;
    }
}

int64_t ev_wrap(ir_dtype t, int64_t v)
{
    const ir_dtype_row *row = ir_dtype_get(t);
    if (row->cls == IR_CLASS_BOOL)
        return v != 0;
    if (row->bits >= 64 || row->bits == 0)
        return v;
    uint64_t mask = (UINT64_C(1) << row->bits) - 1;
    uint64_t low = (uint64_t)v & mask;
    bool negative = row->cls == IR_CLASS_INT && (low >> (row->bits - 1)) != 0;
    return negative ? (int64_t)(low | ~mask) : (int64_t)low;
}

/* Rounds to `digits` binary digits, half to even; `lowest` is the exponent of the smallest
 * subnormal. nearbyint() works in the default rounding mode, which is that one. */
static double round_binary(double v, int digits, int lowest, double largest)
{
    int e;
    if (v == 0 || !isfinite(v))
        return v;
    frexp(v, &e);
    int unit = e - digits > lowest ? e - digits : lowest;
    double r = ldexp(nearbyint(ldexp(v, -unit)), unit);
    return fabs(r) > largest ? copysign(INFINITY, r) : r;
}

/* Nearest value of the float type; false for those narrower than 16 bits. */
static bool ev_round_float(ir_dtype t, double v, double *out)
{
    switch (t) {
    case IR_FLOAT64:
        *out = v;
        return true;
    case IR_FLOAT32:
        *out = (double)(float)v;
        return true;
    case IR_FLOAT16:
        *out = round_binary(v, 11, -24, 65504.0);
        return true;
    case IR_BFLOAT16:
        *out = round_binary(v, 8, -133, 3.3895313892515355e38);
        return true;
    default:
        return false;
    }
}

/* 2^63 as a double: the first value that an int64_t cannot hold. */
#define TWO_63 9223372036854775808.0

static bool float_to_int(double v, ir_dtype t, op_cell *out)
{
    if (ir_dtype_get(t)->cls == IR_CLASS_BOOL) {
        out->i = v != 0;
        return true;
    }
    double whole = trunc(v);
    if (!(whole >= -TWO_63 && whole < TWO_63))
        return false;
    out->i = (int64_t)whole;
    return ev_fits(t, out->i);
}

bool ev_convert(op_cell from, ir_dtype from_t, ir_dtype to_t, op_cell *out)
{
    if (!ev_has_cells(from_t) || !ev_has_cells(to_t))
        return false;
    if (ir_is_float(to_t))
        return ev_round_float(to_t, ev_as_float(from, from_t), &out->f);
    if (ir_is_float(from_t))
        return float_to_int(from.f, to_t, out);
    out->i = ev_wrap(to_t, from.i);
    return true;
}

/* ---- contents ---- */

const op_val *ev_input(const op_ctx *c, uint32_t i)
{
    if (!op_has(c, i) || !ev_has_cells(op_dtype(c, i)) || !op_shape_full(c->in[i]))
        return NULL;
    int64_t n = op_numel(c->in[i]);
    if (n > OP_VALUE_MAX)
        return NULL;
    const op_val *v = op_value(c, i);
    return v && v->n == n ? v : NULL;
}

op_val *ev_output(op_ctx *c, uint32_t o)
{
    if (o >= c->n_out || !ev_has_cells(c->out[o].dtype) || !op_shape_full(&c->out[o]))
        return NULL;
    return op_new_val(c, op_numel(&c->out[o]), true);
}

assay_status ev_finish(op_ctx *c, uint32_t o, op_val *v)
{
    if (!v)
        return ASSAY_OK;
    if (v->known && !memchr(v->known, 0, (size_t)v->n))
        v->known = NULL;
    if (!v->known || memchr(v->known, 1, (size_t)v->n))
        op_set_val(c, o, v);
    return ASSAY_OK;
}

enum { RUN_MIN = 8 }; /* fewer cells are not worth two calls */

void ev_copy_run(op_val *to, int64_t k, const op_val *from, int64_t j, int64_t n)
{
    if (!from || n <= 0)
        return;
    if (n < RUN_MIN) {
        for (int64_t end = j + n; j < end; j++)
            ev_copy(to, k++, from, j);
        return;
    }
    memcpy(to->cells + k, from->cells + j, (size_t)n * sizeof *to->cells);
    if (from->known)
        memcpy(to->known + k, from->known + j, (size_t)n);
    else
        memset(to->known + k, 1, (size_t)n);
}

static inline void store_cell(op_val *to, int64_t k, ir_dtype t, op_cell cell)
{
    bool ok = t == IR_INT64 ||
              (ir_is_float(t) ? ev_round_float(t, cell.f, &cell.f) : ev_fits(t, cell.i));
    to->cells[k] = cell;
    to->known[k] = ok;
}

void ev_store(op_val *to, int64_t k, ir_dtype t, op_cell cell)
{
    store_cell(to, k, t, cell);
}

assay_status ev_same(op_ctx *c)
{
    if (c->n_out > 0 && c->out[0].kind == IR_KIND_TENSOR)
        op_set_val(c, 0, ev_input(c, 0));
    return ASSAY_OK;
}

/* Of 1, 2, 4 or 8 bytes. */
static uint64_t little_endian(const uint8_t *p, unsigned n)
{
    uint64_t v = p[0];
    if (n >= 2)
        v |= (uint64_t)p[1] << 8;
    if (n >= 4)
        v |= (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
    if (n >= 8)
        v |= (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
             (uint64_t)p[7] << 56;
    return v;
}

bool ev_decode(ir_dtype t, const uint8_t *bytes, op_cell *out)
{
    if (t == IR_INT64) { /* nearly all */
        out->i = (int64_t)little_endian(bytes, 8);
        return true;
    }
    unsigned width = ir_dtype_get(t)->bits;
    if (!ev_has_cells(t) || width < 8)
        return false;
    if (t == IR_FLOAT64 || t == IR_FLOAT32 || t == IR_FLOAT16 || t == IR_BFLOAT16) {
        out->f = ir_load_float(t, bytes);
        return true;
    }
    uint64_t bits = little_endian(bytes, width / 8);
    out->i = ev_wrap(t, (int64_t)bits);
    return !ir_is_float(t) && (t != IR_UINT64 || bits <= INT64_MAX);
}

bool ev_tensor_cell(const op_ctx *c, const ir_tensor *t, int64_t k, op_cell *out)
{
    uint8_t buf[256];
    const uint8_t *bytes = t->bytes;
    unsigned width = ir_dtype_get(t->dtype)->bits;
    if (!ev_has_cells(t->dtype) || t->sparse || width < 8 || k < 0 || (uint64_t)k >= t->n_elems ||
        ir_dtype_bytes(t->dtype, t->n_elems) != t->size_bytes)
        return false;
    if (t->storage != IR_DATA_INLINE) {
        const ir_reader *r = &c->model->reader;
        if (t->storage == IR_DATA_NONE || !r->read || t->size_bytes > sizeof buf ||
            r->read(r->ctx, t, buf, NULL) != ASSAY_OK)
            return false;
        bytes = buf;
    }
    return bytes && ev_decode(t->dtype, bytes + (size_t)k * (width / 8), out);
}

/* ---- walking ---- */

void ev_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t step = 1;
    for (int d = rank; d-- > 0;) {
        strides[d] = step;
        if (!num_mul(step, dims[d], &step))
            step = 0;
    }
}

int64_t ev_place(int rank, const int64_t *dims, const int64_t *strides, int64_t k)
{
    int64_t at = 0;
    for (int d = rank; d-- > 0; k /= dims[d])
        at += k % dims[d] * strides[d];
    return at;
}

/* A walk over the cells of x in their order, without a division per cell. hops[d] is how far the next cell is in a
 * tensor with these strides when dim d is the outermost whose index changes. */
static void find_hops(const op_info *x, const int64_t *strides, int64_t *hops)
{
    int64_t back = 0;
    for (int d = x->rank; d-- > 0;) {
        int64_t stride = x->dims[d] > 1 ? strides[d] : 0;
        hops[d] = stride - back;
        back += stride * (x->dims[d] - 1);
    }
}

/* Cells come in rows along the last dim: a scalar is one of one cell. */
typedef struct row_walk {
    const op_info *x;
    int last; /* dim */
    int64_t width;
    int64_t index[IR_MAX_RANK];
} row_walk;

static row_walk rows_of(const op_info *x)
{
    int last = x->rank > 0 ? x->rank - 1 : 0;
    return (row_walk){.x = x, .last = last, .width = x->rank > 0 ? x->dims[last] : 1};
}

/* The outermost dim whose index changes on the way to the next row; 0 after the last. */
static int next_row(row_walk *w)
{
    int d = w->last - 1;
    for (; d > 0 && w->index[d] == w->x->dims[d] - 1; d--)
        w->index[d] = 0;
    w->index[d > 0 ? d : 0]++;
    return d > 0 ? d : 0;
}

/* `n` cells from `at` on, `step` apart; those outside of the tensor stay unknown. */
static void copy_row(op_val *to, int64_t k, const op_val *from, int64_t at, int64_t step, int64_t n)
{
    if (step == 1 && at >= 0 && at + n <= from->n) {
        ev_copy_run(to, k, from, at, n);
        return;
    }
    for (int64_t j = 0; j < n; j++, at += step)
        if (at >= 0 && at < from->n)
            ev_copy(to, k + j, from, at);
}

assay_status ev_strided(op_ctx *c, uint32_t o, uint32_t i, int64_t base, const int64_t *strides)
{
    const op_val *in = ev_input(c, i);
    op_val *v = in ? ev_output(c, o) : NULL;
    if (!v || v->n == 0)
        return ev_finish(c, o, v);
    row_walk w = rows_of(&c->out[o]);
    int64_t hops[IR_MAX_RANK] = {0}, at = base;
    find_hops(&c->out[o], strides, hops);
    for (int64_t k = 0; k < v->n; k += w.width) {
        copy_row(v, k, in, at, hops[w.last], w.width);
        at += hops[w.last] * (w.width - 1) + hops[next_row(&w)];
    }
    return ev_finish(c, o, v);
}

int ev_legacy_tail(const op_ctx *c, uint32_t i)
{
    int64_t axis = op_attr_int(c, "axis", -1);
    int wide = op_rank(c, 0), rank = op_rank(c, i);
    if (i != 1 || c->version >= 7 || axis < 0 || rank < 0 || wide < rank || axis > wide - rank)
        return 0;
    return wide - rank - (int)axis;
}

bool ev_operand_of(const op_ctx *c, uint32_t i, const op_info *out, ev_operand *x)
{
    x->v = NULL;
    x->dtype = op_dtype(c, i);
    if (!op_has(c, i) || !op_shape_full(c->in[i]) || !op_shape_full(out))
        return false;
    const op_info *in = c->in[i];
    int64_t strides[IR_MAX_RANK];
    int shift = out->rank - in->rank - ev_legacy_tail(c, i);
    if (shift < 0)
        return false;
    ev_strides(in->rank, in->dims, strides);
    memset(x->strides, 0, (size_t)out->rank * sizeof *x->strides);
    for (int d = 0; d < in->rank; d++)
        x->strides[d + shift] = in->dims[d] == 1 ? 0 : strides[d];
    x->v = ev_input(c, i);
    return true;
}

/* ---- elementwise ---- */

static inline void gather_args(const ev_operand *x, uint32_t n, const int64_t *at, ev_args *a)
{
    for (uint32_t i = 0; i < n; i++) {
        a->known[i] = x[i].v && at[i] < x[i].v->n && op_val_known(x[i].v, at[i]);
        a->cell[i] = a->known[i] ? x[i].v->cells[at[i]] : (op_cell){0};
    }
}

static void fill_cells(op_ctx *c, const ev_operand *x, uint32_t n, ev_cell_fn *f, const void *how,
                       op_val *v)
{
    row_walk w = rows_of(&c->out[0]);
    int64_t at[EV_MAX_ARGS] = {0}, hops[EV_MAX_ARGS][IR_MAX_RANK];
    ev_args a;
    op_cell r;
    for (uint32_t i = 0; i < n; i++) {
        hops[i][0] = 0;
        find_hops(w.x, x[i].strides, hops[i]);
        a.dtype[i] = x[i].dtype;
    }
    for (int64_t k = 0; k < v->n;) {
        for (int64_t end = k + w.width; k < end; k++) {
            gather_args(x, n, at, &a);
            if (f(c, how, &a, &r))
                store_cell(v, k, w.x->dtype, r);
            for (uint32_t i = 0; i < n; i++)
                at[i] += hops[i][w.last];
        }
        int d = next_row(&w);
        for (uint32_t i = 0; i < n; i++)
            at[i] += hops[i][d] - hops[i][w.last];
    }
}

assay_status ev_broadcast(op_ctx *c, uint32_t n, ev_cell_fn *f, const void *how)
{
    ev_operand x[EV_MAX_ARGS];
    bool any = false;
    if (n > EV_MAX_ARGS || c->n_out == 0)
        return ASSAY_OK;
    for (uint32_t i = 0; i < n; i++) {
        if (!ev_operand_of(c, i, &c->out[0], &x[i]))
            return ASSAY_OK;
        any |= x[i].v != NULL;
    }
    op_val *v = any ? ev_output(c, 0) : NULL;
    if (v && v->n > 0)
        fill_cells(c, x, n, f, how, v);
    return ev_finish(c, 0, v);
}

static bool apply_unary(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    const ev_fn1 *f = how;
    (void)c;
    if (!a->known[0])
        return false;
    if (!ir_is_float(a->dtype[0]))
        return f->i && f->i(a->cell[0].i, &r->i);
    if (f->f)
        r->f = f->f(a->cell[0].f);
    return f->f != NULL;
}

assay_status ev_unary(op_ctx *c, const ev_fn1 *f)
{
    return ev_broadcast(c, 1, apply_unary, f);
}

bool ev_apply2(const ev_fn2 *f, ir_dtype t, op_cell a, op_cell b, op_cell *r)
{
    if (!ir_is_float(t))
        return f->i && f->i(a.i, b.i, &r->i);
    if (f->f)
        r->f = f->f(a.f, b.f);
    return f->f != NULL;
}

static bool apply_binary(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)c;
    return a->known[0] && a->known[1] && a->dtype[0] == a->dtype[1] &&
           ev_apply2(how, a->dtype[0], a->cell[0], a->cell[1], r);
}

/* Whether an operand can have content at all, without reading any: an addition of an activation and a
 * bias must not fetch the bias from the file to find out that the sum is unknown. */
static bool may_have_content(const op_ctx *c, uint32_t i)
{
    ir_id id = c->in_ids && i < c->n_in ? c->in_ids[i] : IR_NONE;
    return op_has(c, i) &&
           (c->in[i]->val || (id != IR_NONE && ir_value_at(c->model, id)->constant));
}

assay_status ev_binary(op_ctx *c, const ev_fn2 *f)
{
    if (!may_have_content(c, 0) || !may_have_content(c, 1))
        return ASSAY_OK;
    return ev_broadcast(c, 2, apply_binary, f);
}

/* ---- arithmetic shared by files ---- */

static double add_f(double a, double b)
{
    return a + b;
}
static double mul_f(double a, double b)
{
    return a * b;
}
/* NaN wins, as it does in every runtime's maximum and minimum. */
static double max_f(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}
static double min_f(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}
static bool max_i(int64_t a, int64_t b, int64_t *r)
{
    *r = a > b ? a : b;
    return true;
}
static bool min_i(int64_t a, int64_t b, int64_t *r)
{
    *r = a < b ? a : b;
    return true;
}

const ev_fn2 ev_add = {num_add, add_f};
const ev_fn2 ev_mul = {num_mul, mul_f};
const ev_fn2 ev_max = {max_i, max_f};
const ev_fn2 ev_min = {min_i, min_f};

assay_status ev_by_cells(op_ctx *c)
{
    const ev_cells *x = c->row->with;
    return ev_broadcast(c, x->n, x->cell, x->how);
}

assay_status ev_by_pairs(op_ctx *c)
{
    return ev_binary(c, c->row->with);
}
