/* Nodes of a layer, with the shapes of what they make. */
#include <string.h>

#include "base/num.h"
#include "formats/keras/keras_impl.h"

/* ---- shapes ---- */

ir_t keras_unknown_shape(ir_dtype t)
{
    return (ir_t){.id = IR_NONE, .dtype = t, .rank = -1};
}

ir_t keras_shape(ir_dtype t, int rank, const int64_t *dims)
{
    ir_t x = keras_unknown_shape(t);
    if (rank > IR_KIT_RANK)
        return x;
    x.rank = rank;
    for (int d = 0; d < rank; d++)
        x.d[d] = dims[d] > KERAS_MAX_SIZE ? -1 : dims[d];
    return x;
}

ir_t keras_broadcast(ir_t a, ir_t b)
{
    ir_t x = a;
    x.id = IR_NONE;
    if (a.rank < 0 || b.rank < 0)
        return keras_unknown_shape(a.dtype);
    x.rank = a.rank > b.rank ? a.rank : b.rank;
    for (int d = 0; d < x.rank; d++) {
        int at = d - (x.rank - a.rank), bt = d - (x.rank - b.rank);
        int64_t p = at < 0 ? 1 : a.d[at], q = bt < 0 ? 1 : b.d[bt];
        x.d[d] = p == 1 ? q : q == 1 || q < 0 ? p : p < 0 ? q : p;
    }
    return x;
}

/* ---- nodes ---- */

ir_t keras_step_in(keras_call *c, const char *domain, const char *part, const char *op,
                   const ir_id *in, uint32_t n_in, const ir_attr_spec *attrs, ir_t shape)
{
    bool own = !part && !c->main_made;
    for (int d = 0; d < shape.rank; d++)
        if (shape.d[d] > KERAS_MAX_SIZE || shape.d[d] < -1)
            shape.d[d] = -1;
    shape.id = foreign_inner(c->f, c->name, part ? part : op);
    if (shape.id == IR_NONE)
        return shape;
    for (uint32_t i = 0; i < n_in; i++)
        if (in[i] == IR_NONE && i == 0) /* memory is out: sticky */
            return keras_unknown_shape(shape.dtype);
    foreign_add(c->f, &(foreign_node){.op = op,
                                      .domain = domain,
                                      .name = own ? c->name : ir_value_at(c->f->m, shape.id)->name,
                                      .in = in,
                                      .n_in = n_in,
                                      .out = &shape.id,
                                      .n_out = 1,
                                      .attrs = attrs,
                                      .n_attrs = ir_attr_specs(attrs)});
    c->main_made |= own;
    return shape;
}

ir_t keras_step(keras_call *c, const char *part, const char *op, const ir_id *in, uint32_t n_in,
                const ir_attr_spec *attrs, ir_t shape)
{
    return keras_step_in(c, NULL, part, op, in, n_in, attrs, shape);
}

ir_t keras_unary(keras_call *c, const char *part, const char *op, ir_t x)
{
    return keras_step(c, part, op, &x.id, 1, NULL, x);
}

ir_t keras_binary(keras_call *c, const char *part, const char *op, ir_t a, ir_t b)
{
    return keras_step(c, part, op, KERAS_IDS(a.id, b.id), NULL, keras_broadcast(a, b));
}

/* ---- constants ---- */

ir_id keras_consts(keras_call *c, const char *part, const int64_t *list, int n)
{
    return foreign_ints(c->f, c->name, part, list, n < 0 ? 0 : (uint32_t)n);
}

ir_t keras_scalar(keras_call *c, const char *part, ir_dtype t, double v)
{
    ir_t x = {.dtype = t, .rank = 0};
    x.id = foreign_number(c->f, c->name, part, t, v);
    return x;
}

static ir_t list_constant(keras_call *c, const char *part, ir_dtype t, int64_t n,
                          const double *list, double same)
{
    enum { LARGEST = 1 << 20 };
    ir_t x = {.id = IR_NONE, .dtype = t, .rank = 1, .d = {n}};
    unsigned size = t == IR_FLOAT64 ? 8 : t == IR_FLOAT32 ? 4 : 2;
    uint8_t *p = n >= 0 && n <= LARGEST ? arena_alloc(c->r->a, (size_t)n * size + 1) : NULL;
    str base = str_printf(c->f->m->arena, STR_FMT "/%s", STR_ARG(c->name), part);
    if (!p || !base.p)
        return x;
    for (int64_t i = 0; i < n; i++) {
        double v = list ? list[i] : same;
        float f = (float)v;
        uint16_t half = t == IR_BFLOAT16 ? ir_bfloat_of(f) : ir_half_of(f);
        const void *from = size == 8 ? (const void *)&v : size == 4 ? (const void *)&f : &half;
        memcpy(p + (size_t)i * size, from, size);
    }
    x.id = ir_kit_const(c->f->m, c->f->graph, ir_kit_name(&c->f->kit, base), &x, p,
                        IR_VALUE_NOT_PARAM);
    return x;
}

ir_t keras_floats(keras_call *c, const char *part, ir_dtype t, const double *list, int n)
{
    return list_constant(c, part, t, n, list, 0);
}

ir_t keras_filled(keras_call *c, const char *part, ir_dtype t, int64_t n, double v)
{
    return list_constant(c, part, t, n, NULL, v);
}

/* ---- shapes of data ---- */

ir_t keras_cast(keras_call *c, ir_t x, ir_dtype t)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), KERAS_END};
    ir_t to = x;
    to.dtype = t;
    return x.dtype == t ? x : keras_step(c, "Cast", "Cast", &x.id, 1, attrs, to);
}

ir_t keras_transpose(keras_call *c, const char *part, ir_t x, const int64_t *perm)
{
    ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", x.rank, perm), KERAS_END};
    ir_t to = x;
    for (int d = 0; d < x.rank; d++)
        to.d[d] = x.d[perm[d]];
    return keras_step(c, part, "Transpose", &x.id, 1, attrs, to);
}

/* The size of -1 is known if all others are. */
static void fill_rest(ir_t *to, ir_t x)
{
    int64_t have = 1, used = 1;
    int rest = -1;
    for (int d = 0; d < x.rank; d++)
        if (x.d[d] < 0 || !num_mul(have, x.d[d], &have))
            return;
    for (int d = 0; d < to->rank; d++) {
        if (to->d[d] == -1)
            rest = d;
        else if (to->d[d] < 0 || !num_mul(used, to->d[d], &used))
            return;
    }
    if (rest >= 0 && used > 0 && have % used == 0)
        to->d[rest] = have / used;
}

ir_t keras_reshape(keras_call *c, const char *part, ir_t x, const int64_t *dims, int n)
{
    ir_t to = keras_shape(x.dtype, n, dims), plain_in = x, plain_to;
    ir_id in[] = {x.id, keras_consts(c, "shape", dims, n)};
    for (int d = 0; d < n; d++)
        if (dims[d] == 0)
            to.d[d] = d < x.rank ? x.d[d] : -2;
    /* A batch that is copied cancels out. */
    plain_to = to;
    if (n && x.rank > 0 && dims[0] == 0)
        plain_in.d[0] = plain_to.d[0] = 1;
    fill_rest(&plain_to, plain_in);
    for (int d = n && dims[0] == 0; d < n; d++)
        to.d[d] = plain_to.d[d] < 0 ? -1 : plain_to.d[d];
    return keras_step(c, part, "Reshape", in, 2, NULL, to);
}

ir_t keras_expand_dims(keras_call *c, const char *part, ir_t x, int64_t axis)
{
    ir_t to = x;
    int at = (int)(axis < 0 ? axis + x.rank + 1 : axis);
    if (x.rank < 0 || x.rank >= IR_KIT_RANK || at < 0 || at > x.rank)
        return keras_unknown_shape(x.dtype);
    to.rank = x.rank + 1;
    for (int d = x.rank; d > at; d--)
        to.d[d] = x.d[d - 1];
    to.d[at] = 1;
    const int64_t axes = at;
    return keras_step(c, part, "Unsqueeze", KERAS_IDS(x.id, keras_consts(c, "axes", &axes, 1)),
                      NULL, to);
}

ir_t keras_squeeze(keras_call *c, const char *part, ir_t x, int64_t axis)
{
    ir_t to = x;
    int at = (int)(axis < 0 ? axis + x.rank : axis);
    if (at < 0 || at >= x.rank)
        return keras_unknown_shape(x.dtype);
    to.rank = x.rank - 1;
    for (int d = at; d < to.rank; d++)
        to.d[d] = x.d[d + 1];
    const int64_t axes = at;
    return keras_step(c, part, "Squeeze", KERAS_IDS(x.id, keras_consts(c, "axes", &axes, 1)), NULL,
                      to);
}

/* Where an index of Python falls in n. */
static int64_t clamp_index(int64_t i, int64_t n)
{
    i = i < 0 ? i + n : i;
    return i < 0 ? 0 : i > n ? n : i;
}

static int64_t sliced_size(int64_t n, const int64_t range[3])
{
    int64_t from = range[0], to = range[1], step = range[2];
    if (n < 0)
        return -1;
    if (step > 0) {
        int64_t size = clamp_index(to, n) - clamp_index(from, n);
        return size <= 0 ? 0 : (size + step - 1) / step;
    }
    from = from < -n ? -1 : from < 0 ? from + n : from >= n ? n - 1 : from;
    to = to < -n ? -1 : to < 0 ? to + n : to;
    return from <= to ? 0 : (from - to - step - 1) / -step;
}

ir_t keras_slice(keras_call *c, const char *part, ir_t x, int axis, const int64_t range[3])
{
    ir_t to = x;
    const int64_t at = axis;
    if (axis < 0 || axis >= x.rank || range[2] == 0 || range[2] < -INT32_MAX ||
        range[2] > INT32_MAX)
        return keras_unknown_shape(x.dtype);
    to.d[axis] = sliced_size(x.d[axis], range);
    ir_id in[] = {x.id, keras_consts(c, "starts", &range[0], 1),
                  keras_consts(c, "ends", &range[1], 1), keras_consts(c, "axes", &at, 1),
                  keras_consts(c, "steps", &range[2], 1)};
    return keras_step(c, part, "Slice", in, 5, NULL, to);
}

ir_t keras_reduce(keras_call *c, const char *part, const char *op, ir_t x, const int64_t *axes,
                  int n, bool keep)
{
    ir_t to = x;
    bool gone[IR_KIT_RANK] = {false};
    for (int i = 0; i < n; i++) {
        int64_t at = axes[i] < 0 ? axes[i] + x.rank : axes[i];
        if (at < 0 || at >= x.rank)
            return keras_unknown_shape(x.dtype);
        gone[at] = true;
    }
    to.rank = 0;
    for (int d = 0; d < x.rank; d++)
        if (!gone[d] || keep)
            to.d[to.rank++] = gone[d] ? 1 : x.d[d];
    if (strcmp(op, "ReduceSum") == 0) { /* its axes are an input of opset 17 */
        ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", keep), KERAS_END};
        return keras_step(c, part, op, KERAS_IDS(x.id, keras_consts(c, "axes", axes, n)), attrs,
                          to);
    }
    ir_attr_spec attrs[] = {IR_SPEC_INTS("axes", n, axes), IR_SPEC_INT("keepdims", keep),
                            KERAS_END};
    return keras_step(c, part, op, &x.id, 1, attrs, to);
}

ir_t keras_concat(keras_call *c, const char *part, const ir_t *list, uint32_t n, int axis)
{
    ir_t to = list[0];
    ir_id *in = ARENA_ARRAY(c->r->a, ir_id, n);
    int at = axis < 0 ? axis + to.rank : axis;
    if (!in || at < 0 || at >= to.rank)
        return keras_unknown_shape(to.dtype);
    for (uint32_t i = 0; i < n; i++) {
        in[i] = list[i].id;
        if (list[i].rank != to.rank)
            return keras_unknown_shape(to.dtype);
        for (int d = 0; d < to.rank; d++)
            if (d != at && to.d[d] < 0)
                to.d[d] = list[i].d[d];
        if (i > 0 &&
            (to.d[at] < 0 || list[i].d[at] < 0 || !num_add(to.d[at], list[i].d[at], &to.d[at])))
            to.d[at] = -1;
    }
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", at), KERAS_END};
    return keras_step(c, part, "Concat", in, n, attrs, to);
}

/* ---- the rest ---- */

const ir_t *keras_arg(const keras_call *c, const char *key)
{
    for (uint32_t i = 0; c->keys && i < c->n_in; i++)
        if (str_is(c->keys[i], key))
            return &c->in[i];
    return NULL;
}

void keras_note(keras_call *c, const char *code, const char *sentence)
{
    notes_add(&c->f->m->notes, code, c->name, NULL, "%s", sentence);
}

bool keras_give(keras_call *c, ir_t x)
{
    c->out[0] = x;
    c->n_out = 1;
    return x.id != IR_NONE;
}
