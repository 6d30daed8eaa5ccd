/* Values of ATen calls: numbers, lists, and sizes that the graph computes; see aten.h. */
#include <string.h>

#include "base/num.h"
#include "formats/aten/aten.h"

aten_value aten_of_int(int64_t i)
{
    return (aten_value){.kind = ATEN_INT, .i = i, .id = IR_NONE};
}

aten_value aten_of_bool(bool yes)
{
    return (aten_value){.kind = ATEN_BOOL, .i = yes, .id = IR_NONE};
}

aten_value aten_of_float(double f)
{
    return (aten_value){.kind = ATEN_FLOAT, .f = f, .id = IR_NONE};
}

aten_value aten_of_text(str s)
{
    return (aten_value){.kind = ATEN_TEXT, .s = s, .id = IR_NONE};
}

aten_value aten_of_tensor(ir_id id)
{
    return (aten_value){.kind = id == IR_NONE ? ATEN_ABSENT : ATEN_TENSOR, .id = id};
}

aten_value aten_none(void)
{
    return (aten_value){.kind = ATEN_NONE, .id = IR_NONE};
}

aten_value aten_new_list(aten *t, bool tuple)
{
    aten_list *list = ARENA_NEW(t->a, aten_list);
    if (list)
        list->tuple = tuple;
    return (aten_value){.kind = list ? ATEN_LIST : ATEN_ABSENT, .list = list, .id = IR_NONE};
}

bool aten_push(aten *t, const aten_value *list, aten_value v)
{
    return list->kind == ATEN_LIST && list->list->v.n < ATEN_LIST_MAX &&
           VEC_ADD(t->a, &list->list->v, v);
}

aten_value aten_size_of(aten *t, ir_id x, int64_t axis)
{
    const op_info *info = aten_info(t, x);
    aten_value v = {.kind = ATEN_SIZE, .id = IR_NONE, .of = x};
    if (info->rank >= 0 && axis < 0)
        axis += info->rank;
    if (info->rank >= 0 && (axis < 0 || axis >= info->rank))
        return (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE};
    v.axis = (int)axis;
    if (info->rank >= 0 && info->dims[axis] >= 0) {
        v.known = true;
        v.i = info->dims[axis];
    }
    return v;
}

bool aten_whole(const aten_value *v, int64_t *out)
{
    bool has = v->kind == ATEN_INT || v->kind == ATEN_BOOL || (v->kind == ATEN_SIZE && v->known);
    if (has)
        *out = v->i;
    return has;
}

bool aten_number(const aten_value *v, double *out)
{
    int64_t whole;
    if (v->kind == ATEN_FLOAT)
        *out = v->f;
    else if (aten_whole(v, &whole))
        *out = (double)whole;
    else
        return false;
    return true;
}

/* ---- sizes ---- */

static ir_id one_output(aten *t, str base, const char *op, const ir_id *in, uint32_t n)
{
    foreign_layer l = {.f = t->f, .name = base};
    return layer_step(&l, op, in, n, NULL);
}

ir_id aten_scalar(aten *t, str base, const aten_value *v)
{
    if (v->kind == ATEN_SIZE && v->id != IR_NONE)
        return v->id;
    if (v->kind == ATEN_INT || v->kind == ATEN_BOOL)
        return foreign_number(t->f, base, "number", IR_INT64, (double)v->i);
    if (v->kind != ATEN_SIZE)
        return IR_NONE;
    ir_id shape = one_output(t, base, "Shape", &v->of, 1);
    ir_id in[] = {shape, foreign_number(t->f, base, "axis", IR_INT64, (double)v->axis)};
    return one_output(t, base, "Gather", in, 2);
}

static bool fold_whole(const char *op, int64_t a, int64_t b, int64_t *out)
{
    if (strcmp(op, "add") == 0)
        return num_add(a, b, out);
    if (strcmp(op, "sub") == 0)
        return num_sub(a, b, out);
    if (strcmp(op, "mul") == 0)
        return num_mul(a, b, out);
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    int64_t q = a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
    *out = strcmp(op, "mod") == 0 ? a - q * b : q;
    return true;
}

/* Whether a number cannot be negative: a size itself, or a constant. */
static bool is_count(const aten_value *v)
{
    return v->kind == ATEN_SIZE ? v->id == IR_NONE : v->i >= 0;
}

/* ONNX divides towards zero. Below zero, what is left over is taken away first: Mod has the sign of the divisor. */
static ir_id floor_quotient(aten *t, const aten_value *a, const aten_value *b, const ir_id *in)
{
    if (is_count(a) && is_count(b))
        return one_output(t, STR("size"), "Div", in, 2);
    const ir_id rest = one_output(t, STR("size"), "Mod", in, 2);
    const ir_id whole[] = {in[0], rest};
    const ir_id parts[] = {one_output(t, STR("size"), "Sub", whole, 2), in[1]};
    return one_output(t, STR("size"), "Div", parts, 2);
}

aten_value aten_size_math(aten *t, const char *op, const aten_value *a, const aten_value *b)
{
    static const char *const names[][2] = {
        {"add", "Add"}, {"sub", "Sub"}, {"mul", "Mul"}, {"floordiv", "Div"}, {"mod", "Mod"}};
    aten_value v = {.kind = ATEN_ABSENT, .id = IR_NONE};
    int64_t x, y;
    bool known = aten_whole(a, &x) && aten_whole(b, &y) && fold_whole(op, x, y, &v.i);
    if (a->kind != ATEN_SIZE && b->kind != ATEN_SIZE) {
        v.kind = known ? ATEN_INT : ATEN_ABSENT;
        return v;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(op, names[i][0]) != 0)
            continue;
        ir_id in[] = {aten_scalar(t, STR("size"), a), aten_scalar(t, STR("size"), b)};
        v.kind = ATEN_SIZE;
        v.known = known;
        v.id = in[0] == IR_NONE || in[1] == IR_NONE ? IR_NONE
               : strcmp(op, "floordiv") == 0        ? floor_quotient(t, a, b, in)
                                             : one_output(t, STR("size"), names[i][1], in, 2);
        if (v.id == IR_NONE)
            v.kind = ATEN_ABSENT;
    }
    return v;
}

/* ---- lists ---- */

static ir_id constant_list(aten *t, str base, const aten_value *list)
{
    uint32_t n = list->list->v.n;
    int64_t *numbers = ARENA_ARRAY(t->a, int64_t, (size_t)n + 1);
    for (uint32_t i = 0; numbers && i < n; i++)
        numbers[i] = list->list->v.items[i].i;
    return numbers ? foreign_ints(t->f, base, "list", numbers, n) : IR_NONE;
}

ir_id aten_list_tensor(aten *t, str base, const aten_value *list)
{
    bool constant = true;
    if (list->kind != ATEN_LIST)
        return IR_NONE;
    uint32_t n = list->list->v.n;
    for (uint32_t i = 0; i < n; i++) {
        aten_kind k = list->list->v.items[i].kind;
        if (k != ATEN_INT && k != ATEN_BOOL && k != ATEN_SIZE)
            return IR_NONE;
        constant &= k != ATEN_SIZE;
    }
    if (constant)
        return constant_list(t, base, list);
    ir_id *parts = ARENA_ARRAY(t->a, ir_id, (size_t)n + 1);
    ir_id one = foreign_ints(t->f, base, "axes", (const int64_t[]){0}, 1);
    for (uint32_t i = 0; parts && i < n; i++) {
        const aten_value *v = &list->list->v.items[i];
        ir_id in[] = {v->kind == ATEN_SIZE ? aten_scalar(t, base, v) : IR_NONE, one};
        parts[i] = v->kind == ATEN_SIZE ? one_output(t, base, "Unsqueeze", in, 2)
                                        : foreign_ints(t->f, base, "number", &v->i, 1);
    }
    foreign_layer l = {.f = t->f, .name = base};
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    return parts ? layer_step(&l, "Concat", parts, n, attrs) : IR_NONE;
}

/* The order of c10::ScalarType, which TorchScript has as a number. */
ir_dtype aten_scalar_type(int64_t number)
{
    static const ir_dtype types[] = {IR_UINT8,     IR_INT8,      IR_INT16,      IR_INT32,
                                     IR_INT64,     IR_FLOAT16,   IR_FLOAT32,    IR_FLOAT64,
                                     IR_UNDEFINED, IR_COMPLEX64, IR_COMPLEX128, IR_BOOL,
                                     IR_INT8,      IR_UINT8,     IR_INT32,      IR_BFLOAT16};
    return number >= 0 && (size_t)number < sizeof types / sizeof *types ? types[number]
                                                                        : IR_UNDEFINED;
}
