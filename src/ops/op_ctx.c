/* The helpers that every rule uses: looking at inputs and attributes, setting outputs, broadcasting,
 * failing with a sentence. Nothing here knows an operator by name.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/sbuf.h"
#include "base/text.h"
#include "ops/op.h"

/* ---- inputs ---- */

const int64_t *op_dims(const op_ctx *c, uint32_t i)
{
    return op_rank(c, i) > 0 ? c->in[i]->dims : NULL;
}

int64_t op_product(const int64_t *dims, int from, int to)
{
    int64_t product = 1;
    bool unknown = false;
    for (int d = from; d < to; d++) {
        if (dims[d] == 0)
            return 0;
        if (dims[d] < 0)
            unknown = true;
        else if (!num_mul(product, dims[d], &product))
            product = INT64_MAX;
    }
    return unknown ? -1 : product;
}

/* ---- contents ---- */

const op_val *op_value(const op_ctx *c, uint32_t i)
{
    return op_has(c, i) ? c->env->value(c->env, c, i) : NULL;
}

bool op_val_full(const op_val *v)
{
    if (!v)
        return false;
    for (int64_t k = 0; v->known && k < v->n; k++)
        if (!v->known[k])
            return false;
    return true;
}

int op_ints(const op_ctx *c, uint32_t i, int64_t *buf, int max)
{
    const op_val *v = op_value(c, i);
    if (!op_val_full(v) || ir_is_float(op_dtype(c, i)) || v->n > max)
        return -1;
    for (int64_t k = 0; k < v->n; k++)
        buf[k] = v->cells[k].i;
    return (int)v->n;
}

bool op_int_at(const op_ctx *c, uint32_t i, int64_t k, int64_t *out)
{
    const op_val *v = op_value(c, i);
    if (!v || k >= v->n || !op_val_known(v, k) || ir_is_float(op_dtype(c, i)))
        return false;
    *out = v->cells[k].i;
    return true;
}

bool op_float_at(const op_ctx *c, uint32_t i, int64_t k, double *out)
{
    const op_val *v = op_value(c, i);
    if (!v || k >= v->n || !op_val_known(v, k))
        return false;
    *out = ir_is_float(op_dtype(c, i)) ? v->cells[k].f : (double)v->cells[k].i;
    return true;
}

/* ---- attributes ---- */

static const ir_attr *attr_of(const op_ctx *c, const char *name, ir_attr_kind kind)
{
    /* One that refers to a caller's attribute, outside of any function, has no value. */
    const ir_attr *a = ir_attr_find(c->node, name);
    return a && a->kind == kind && !a->ref.n ? a : NULL;
}

bool op_attr_has(const op_ctx *c, const char *name)
{
    return ir_attr_find(c->node, name) != NULL;
}

int64_t op_attr_int(const op_ctx *c, const char *name, int64_t def)
{
    const ir_attr *a = attr_of(c, name, IR_ATTR_INT);
    return a ? a->v.i : def;
}

double op_attr_float(const op_ctx *c, const char *name, double def)
{
    const ir_attr *a = attr_of(c, name, IR_ATTR_FLOAT);
    return a ? a->v.f : def;
}

str op_attr_str(const op_ctx *c, const char *name, const char *def)
{
    const ir_attr *a = attr_of(c, name, IR_ATTR_STRING);
    return a ? a->v.s : str_of(def);
}

int op_attr_ints(const op_ctx *c, const char *name, const int64_t **out)
{
    const ir_attr *a = attr_of(c, name, IR_ATTR_INTS);
    if (!a || a->n > INT32_MAX)
        return -1;
    *out = a->v.ints;
    return (int)a->n;
}

int op_attr_count(const op_ctx *c, const char *name)
{
    const ir_attr *a = ir_attr_find(c->node, name);
    bool list = a && (a->kind == IR_ATTR_INTS || a->kind == IR_ATTR_FLOATS);
    bool single = a && (a->kind == IR_ATTR_INT || a->kind == IR_ATTR_FLOAT);
    if (!a || a->ref.n || a->n > INT32_MAX)
        return 0;
    return list ? (int)a->n : single;
}

double op_attr_number(const op_ctx *c, const char *name, int i, double def)
{
    if (i < 0 || i >= op_attr_count(c, name))
        return def;
    const ir_attr *a = ir_attr_find(c->node, name);
    switch (a->kind) {
    case IR_ATTR_INT:
        return (double)a->v.i;
    case IR_ATTR_FLOAT:
        return a->v.f;
    case IR_ATTR_INTS:
        return (double)a->v.ints[i];
    default:
        return a->v.floats[i];
    }
}

ir_id op_attr_graph(const op_ctx *c, const char *name)
{
    const ir_attr *a = attr_of(c, name, IR_ATTR_GRAPH);
    return a ? a->v.graph : IR_NONE;
}

int op_list(const op_ctx *c, uint32_t i, const char *name, int64_t *buf, int max)
{
    if (op_has(c, i)) {
        int n = op_ints(c, i, buf, max);
        return n < 0 ? -2 : n;
    }
    const int64_t *list = NULL;
    int n = name ? op_attr_ints(c, name, &list) : -1;
    if (n > max)
        return -2;
    for (int k = 0; k < n; k++)
        buf[k] = list[k];
    return n;
}

/* ---- outputs ---- */

/* The output to fill, reset to an unknown tensor; NULL when nobody wants it. */
static op_info *fresh_out(op_ctx *c, uint32_t o, ir_dtype t)
{
    if (o >= c->n_out)
        return NULL;
    op_info *x = &c->out[o];
    bool assumed = x->assumed;
    *x = (op_info){
        .kind = IR_KIND_TENSOR, .dtype = t, .rank = -1, .length = -1, .assumed = assumed};
    return x;
}

assay_status op_set(op_ctx *c, uint32_t o, ir_dtype t, int rank, const int64_t *dims)
{
    op_info *x = fresh_out(c, o, t);
    if (!x || rank < 0)
        return ASSAY_OK;
    if (rank > IR_MAX_RANK)
        return op_fail(c, "output rank %d exceeds the limit of %d", rank, IR_MAX_RANK);
    if (rank > 0 && !(x->dims = arena_copy(c->arena, dims, (size_t)rank * sizeof *dims)))
        return err_no_memory(c->err);
    x->rank = rank;
    return ASSAY_OK;
}

assay_status op_set_scalar(op_ctx *c, uint32_t o, ir_dtype t)
{
    return op_set(c, o, t, 0, NULL);
}

assay_status op_set_unknown(op_ctx *c, uint32_t o, ir_dtype t)
{
    fresh_out(c, o, t);
    return ASSAY_OK;
}

assay_status op_set_shape_of(op_ctx *c, uint32_t o, ir_dtype t, uint32_t i)
{
    op_info *x = fresh_out(c, o, t);
    if (!x || !op_has(c, i))
        return ASSAY_OK;
    x->rank = c->in[i]->rank;
    x->dims = c->in[i]->dims;
    return ASSAY_OK;
}

assay_status op_set_like(op_ctx *c, uint32_t o, uint32_t i)
{
    if (o >= c->n_out || !op_has(c, i))
        return ASSAY_OK;
    if (c->in[i]->kind == IR_KIND_TENSOR || c->in[i]->kind == IR_KIND_NONE)
        return op_set_shape_of(c, o, op_dtype(c, i), i);
    bool assumed = c->out[o].assumed;
    c->out[o] = *c->in[i];
    c->out[o].assumed |= assumed;
    return ASSAY_OK;
}

static assay_status set_container(op_ctx *c, uint32_t o, ir_kind kind, const op_info *elem,
                                  int64_t length)
{
    op_info *x = fresh_out(c, o, elem ? elem->dtype : IR_UNDEFINED);
    if (!x)
        return ASSAY_OK;
    x->kind = kind;
    x->length = length;
    if (elem && !(x->elem = arena_copy(c->arena, elem, sizeof *elem)))
        return err_no_memory(c->err);
    return ASSAY_OK;
}

assay_status op_set_sequence(op_ctx *c, uint32_t o, const op_info *elem, int64_t length)
{
    return set_container(c, o, IR_KIND_SEQUENCE, elem, length);
}

assay_status op_set_optional(op_ctx *c, uint32_t o, const op_info *elem)
{
    return set_container(c, o, IR_KIND_OPTIONAL, elem, -1);
}

op_val *op_new_val(op_ctx *c, int64_t n, bool with_known)
{
    if (n < 0 || n > OP_VALUE_MAX || !c->env->spend(c->env, (uint64_t)n))
        return NULL;
    op_val *v = ARENA_NEW(c->arena, op_val);
    if (!v)
        return NULL;
    v->n = n;
    v->cells = ARENA_ARRAY(c->arena, op_cell, (size_t)n);
    if (with_known)
        v->known = ARENA_ARRAY(c->arena, uint8_t, (size_t)n);
    return v->cells && (!with_known || v->known) ? v : NULL;
}

void op_set_val(op_ctx *c, uint32_t o, const op_val *v)
{
    if (o < c->n_out && v && op_numel(&c->out[o]) == v->n)
        c->out[o].val = v;
}

/* ---- shape arithmetic ---- */

assay_status op_axis(op_ctx *c, int64_t axis, int rank, int *out)
{
    int64_t place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank)
        return op_fail(c, "axis %lld is out of range for rank %d", (long long)axis, rank);
    *out = (int)place;
    return ASSAY_OK;
}

assay_status op_check_elements(op_ctx *c)
{
    int rank = op_rank(c, 0), n = op_rank(c, 1), axis = 0;
    if (rank >= 0 && n >= 0 && rank != n)
        return op_fail(c, "data %s and indices %s differ in rank", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    return rank >= 0 ? op_axis(c, op_attr_int(c, "axis", 0), rank, &axis) : ASSAY_OK;
}

/* One broadcast dim of a and b; false when they conflict. An unknown against 1 stays unknown. */
static bool broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
    if (a == b || b == 1)
        *out = a;
    else if (a == 1)
        *out = b;
    else if (a < 0 || b < 0)
        *out = a < 0 ? b : a;
    else
        return false;
    return true;
}

assay_status op_broadcast(op_ctx *c, int *rank, int64_t *acc, int rank2, const int64_t *dims2)
{
    if (*rank < 0 || rank2 < 0) {
        *rank = -1;
        return ASSAY_OK;
    }
    int wide = *rank > rank2 ? *rank : rank2;
    int64_t merged[IR_MAX_RANK];
    for (int d = 0; d < wide; d++) {
        int64_t a = d < *rank ? acc[*rank - 1 - d] : 1;
        int64_t b = d < rank2 ? dims2[rank2 - 1 - d] : 1;
        if (!broadcast_dim(a, b, &merged[wide - 1 - d]))
            return op_fail(c, "shapes %s and %s cannot be broadcast together",
                           op_dims_text(c, *rank, acc), op_dims_text(c, rank2, dims2));
    }
    memcpy(acc, merged, (size_t)wide * sizeof *acc);
    *rank = wide;
    return ASSAY_OK;
}

assay_status op_broadcast_inputs(op_ctx *c, uint32_t first, uint32_t last, uint32_t o, ir_dtype t)
{
    int rank = 0;
    int64_t dims[IR_MAX_RANK];
    for (uint32_t i = first; i <= last && i < c->n_in; i++)
        if (op_has(c, i))
            TRY(op_broadcast(c, &rank, dims, op_rank(c, i), op_dims(c, i)));
    return op_set(c, o, t, rank, dims);
}

assay_status op_same_dim(op_ctx *c, int64_t a, int64_t b, const char *what, int64_t *out)
{
    if (a >= 0 && b >= 0 && a != b)
        return op_fail(c, "%s differs: %lld and %lld", what, (long long)a, (long long)b);
    *out = a >= 0 ? a : b;
    return ASSAY_OK;
}

/* ---- failure and assumption ---- */

assay_status op_fail(op_ctx *c, const char *fmt, ...)
{
    char what[512], name[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    sbuf safe = {0};
    text_safe(&safe, c->node->name);
    snprintf(name, sizeof name, "%s", sbuf_cstr(&safe));
    sbuf_free(&safe);
    return err_fail_node(c->err, ASSAY_ERR_UNSUPPORTED, name, "node '%s' (" STR_FMT "): %s", name,
                         STR_ARG(c->node->op), what);
}

void op_assume(op_ctx *c, const char *fmt, ...)
{
    char reason[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    for (uint32_t o = 0; o < c->n_out; o++)
        c->out[o].assumed = true;
    c->env->assume(c->env, c, reason);
}

const char *op_dims_text(const op_ctx *c, int rank, const int64_t *dims)
{
    if (rank < 0)
        return "[unknown rank]";
    sbuf b = {0};
    sbuf_putc(&b, '[');
    for (int d = 0; d < rank; d++) {
        if (dims[d] < 0)
            sbuf_puts(&b, d ? ",?" : "?");
        else
            sbuf_printf(&b, d ? ",%lld" : "%lld", (long long)dims[d]);
    }
    sbuf_putc(&b, ']');
    const char *text = arena_strdup(c->arena, sbuf_cstr(&b));
    sbuf_free(&b);
    return text ? text : "[...]";
}

const char *op_shape_text(const op_ctx *c, uint32_t i)
{
    return op_dims_text(c, op_rank(c, i), op_dims(c, i));
}

/* ---- cost ---- */

static uint64_t elems(const op_info *x)
{
    int64_t n = op_numel(x);
    return n < 0 ? 0 : (uint64_t)n;
}

uint64_t op_in_elems(const op_ctx *c, uint32_t i)
{
    return op_has(c, i) ? elems(c->in[i]) : 0;
}

uint64_t op_out_elems(const op_ctx *c, uint32_t o)
{
    return o < c->n_out ? elems(&c->out[o]) : 0;
}

void op_count(const op_ctx *c, op_cost *k, uint64_t *kind, uint64_t n)
{
    ir_dtype_class cls = ir_dtype_get(op_dtype(c, 0))->cls;
    bool real = cls == IR_CLASS_FLOAT || cls == IR_CLASS_COMPLEX || cls == IR_CLASS_NONE;
    uint64_t *slot = real ? kind : &k->int_ops;
    *slot = sat_add(*slot, n);
}

void op_cost_free(const op_ctx *c, op_cost *k)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        k->read[i] = 0;
    for (uint32_t o = 0; o < c->n_out; o++)
        k->written[o] = 0;
}

void op_read_elems(const op_ctx *c, op_cost *k, uint32_t i, uint64_t n)
{
    if (i < c->n_in)
        k->read[i] = ir_dtype_bytes(op_dtype(c, i), n);
}

assay_status op_infer_like(op_ctx *c)
{
    return op_set_like(c, 0, 0);
}
