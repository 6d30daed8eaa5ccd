/* ATen operators that make tensors, and changes of type. */
#include <string.h>

#include "formats/aten/aten.h"

/* The type that argument i names, or def. */
static ir_dtype type_arg(const aten_call *c, int i, ir_dtype def)
{
    return c->arg[i].kind == ATEN_INT ? aten_scalar_type(c->arg[i].i) : def;
}

static bool filled(aten_call *c, ir_id shape, double v, ir_dtype t)
{
    ir_id value = aten_like(c, v, t);
    return shape != IR_NONE && value != IR_NONE && aten_node2(c, "Expand", value, shape);
}

/* zeros(sizes, dtype), ones, empty; full(sizes, value, dtype); new_zeros(x, sizes, dtype), new_full(x, sizes, value, dtype).
 * row->op: the value, or "full"; "new..." */
bool aten_fill(aten_call *c)
{
    bool own = strncmp(c->row->op, "new", 3) == 0, full = strstr(c->row->op, "full") != NULL;
    int sizes = own ? 1 : 0, value = sizes + 1, type = full ? value + 1 : value;
    ir_dtype def = own ? aten_dtype(c, 0) : IR_FLOAT32;
    if (full && !own && (c->arg[value].kind == ATEN_INT || c->arg[value].kind == ATEN_SIZE))
        def = IR_INT64;
    if (full && !own && c->arg[value].kind == ATEN_BOOL)
        def = IR_BOOL;
    double v = full ? aten_float(c, value, 0) : strstr(c->row->op, "1") ? 1 : 0;
    return filled(c, aten_list_tensor(c->t, c->l.name, &c->arg[sizes]), v, type_arg(c, type, def));
}

/* zeros_like(x, dtype), full_like(x, value, dtype) */
bool aten_fill_like(aten_call *c)
{
    bool full = strcmp(c->row->op, "full") == 0;
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE)
        return false;
    double v = full ? aten_float(c, 1, 0) : c->row->op[0] - '0';
    return filled(c, aten_step(c, "Shape", &x, 1, NULL), v,
                  type_arg(c, full ? 2 : 1, aten_dtype(c, 0)));
}

/* fill_(x, value), zero_: as a tensor of the same shape. */
bool aten_fill_value(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE)
        return false;
    if (c->arg[1].kind == ATEN_TENSOR)
        return aten_node2(c, "Expand", aten_cast(c, c->arg[1].id, aten_dtype(c, 0)),
                          aten_step(c, "Shape", &x, 1, NULL));
    return filled(c, aten_step(c, "Shape", &x, 1, NULL), aten_float(c, 1, 0), aten_dtype(c, 0));
}

/* arange(end), arange(start, end), arange(start, end, step): numbers by position, or `end` by name. */
bool aten_arange(aten_call *c)
{
    aten_value zero = aten_of_int(0), one = aten_of_int(1);
    bool named = c->arg[8].kind != ATEN_ABSENT, second = aten_given(c, 1);
    const aten_value *from = (named || second) && aten_given(c, 0) ? &c->arg[0] : &zero;
    const aten_value *to = named ? &c->arg[8] : second ? &c->arg[1] : &c->arg[0];
    const aten_value *step = aten_given(c, 2) ? &c->arg[2] : &one;
    bool real = from->kind == ATEN_FLOAT || to->kind == ATEN_FLOAT || step->kind == ATEN_FLOAT;
    ir_dtype t = type_arg(c, 7, real ? IR_FLOAT32 : IR_INT64), made = real ? IR_FLOAT32 : IR_INT64;
    const aten_value *const three[] = {from, to, step};
    ir_id in[3];
    for (int i = 0; i < 3; i++) {
        c->arg[10] = *three[i];
        in[i] = aten_operand(c, 10, made);
        if (in[i] == IR_NONE)
            return false;
    }
    c->arg[10].kind = ATEN_ABSENT;
    if (t == made)
        return aten_node(c, "Range", in, 3, NULL);
    ir_id x = aten_step(c, "Range", in, 3, NULL);
    return aten_out(c) != IR_NONE && layer_cast(&c->l, x, t);
}

/* tensor(number, dtype), scalar_tensor, NumToTensor. */
bool aten_scalar_tensor(aten_call *c)
{
    const aten_value *v = &c->arg[0];
    ir_dtype t = v->kind == ATEN_FLOAT ? IR_FLOAT32 : v->kind == ATEN_BOOL ? IR_BOOL : IR_INT64;
    t = type_arg(c, 1, t);
    if (v->kind == ATEN_TENSOR)
        return aten_same(c);
    ir_id x = aten_operand(c, 0, t);
    c->result = aten_of_tensor(x);
    return x != IR_NONE;
}

static bool cast_to(aten_call *c, ir_dtype t)
{
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE)
        return false;
    if (t == IR_UNDEFINED || t == aten_dtype(c, 0))
        return aten_same(c);
    return aten_out(c) != IR_NONE && layer_cast(&c->l, x, t);
}

/* to(x, dtype, ...), to(x, device, dtype, ...), to(x, other): the first number among the arguments is the type. */
bool aten_to(aten_call *c)
{
    for (int i = 1; i < 4; i++) {
        if (c->arg[i].kind == ATEN_INT)
            return cast_to(c, aten_scalar_type(c->arg[i].i));
        if (c->arg[i].kind == ATEN_TENSOR)
            return cast_to(c, aten_dtype(c, i));
    }
    return aten_same(c);
}

bool aten_to_copy(aten_call *c)
{
    return cast_to(c, type_arg(c, 1, IR_UNDEFINED));
}

bool aten_type_as(aten_call *c)
{
    return cast_to(c, aten_dtype(c, 1));
}

/* one_hot(x, classes) */
bool aten_one_hot(aten_call *c)
{
    int64_t classes = aten_int(c, 1, -1), values[] = {0, 1};
    if (aten_tensor(c, 0) == IR_NONE || classes < 1)
        return false;
    ir_id in[] = {aten_tensor(c, 0), aten_like(c, (double)classes, IR_INT64),
                  layer_ints(&c->l, "values", values, 2)};
    return aten_node(c, "OneHot", in, 3, NULL);
}

/* rand(sizes), randn(sizes), rand_like(x): row->op. */
bool aten_random(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    const char *op = strcmp(c->row->op, "normal") == 0 ? "RandomNormalLike" : "RandomUniformLike";
    if (x == IR_NONE) {
        ir_id shape = aten_list_tensor(c->t, c->l.name, &c->arg[0]);
        if (shape == IR_NONE)
            return false;
        x = aten_step2(c, "Expand", aten_like(c, 0, IR_FLOAT32), shape);
    }
    return aten_node(c, op, &x, 1, NULL);
}
