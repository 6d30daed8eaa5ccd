/* Comparisons, boolean and bitwise operations and the choice between two tensors, with numpy
 * broadcasting (below opset 7: alignment by `axis`). One compare or integer operation per output
 * element. Their constants are masks and limits, never parameters, except what Where chooses from.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

static assay_status broadcast_to(op_ctx *c, ir_dtype t)
{
    int tail = ev_legacy_tail(c, 1);
    if (tail > 0)
        return op_set_shape_of(c, 0, t, 0);
    return op_broadcast_inputs(c, 0, 1, 0, t);
}

static assay_status to_bool(op_ctx *c)
{
    return broadcast_to(c, IR_BOOL);
}

static assay_status to_same(op_ctx *c)
{
    return broadcast_to(c, op_dtype(c, 0) != IR_UNDEFINED ? op_dtype(c, 0) : op_dtype(c, 1));
}

static assay_status where(op_ctx *c)
{
    ir_dtype t = op_dtype(c, 1) != IR_UNDEFINED ? op_dtype(c, 1) : op_dtype(c, 2);
    return op_broadcast_inputs(c, 0, 2, 0, t);
}

/* ---- values ---- */

/* Which of less, equal, greater make the comparison true. */
typedef struct order {
    bool less, equal, greater;
} order;

static bool compare(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    const order *o = how;
    (void)c;
    if (!a->known[0] || !a->known[1] || ir_is_float(a->dtype[0]) != ir_is_float(a->dtype[1]))
        return false;
    bool real = ir_is_float(a->dtype[0]);
    bool less = real ? a->cell[0].f < a->cell[1].f : a->cell[0].i < a->cell[1].i;
    bool equal = real ? a->cell[0].f == a->cell[1].f : a->cell[0].i == a->cell[1].i;
    bool greater = real ? a->cell[0].f > a->cell[1].f : a->cell[0].i > a->cell[1].i;
    r->i = (less && o->less) || (equal && o->equal) || (greater && o->greater);
    return true;
}

/* A known operand may decide alone: false And ?, true Or ?. */
static bool decided(const ev_args *a, bool by, op_cell *r)
{
    r->i = by;
    return (a->known[0] && (a->cell[0].i != 0) == by) || (a->known[1] && (a->cell[1].i != 0) == by);
}

static bool and_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)c, (void)how;
    if (decided(a, false, r))
        return true;
    r->i = 1;
    return a->known[0] && a->known[1];
}

static bool or_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)c, (void)how;
    if (decided(a, true, r))
        return true;
    r->i = 0;
    return a->known[0] && a->known[1];
}

static bool xor_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)c, (void)how;
    r->i = (a->cell[0].i != 0) != (a->cell[1].i != 0);
    return a->known[0] && a->known[1];
}

typedef enum bitwise { BIT_AND, BIT_OR, BIT_XOR } bitwise;

static bool bitwise_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    uint64_t x = (uint64_t)a->cell[0].i, y = (uint64_t)a->cell[1].i;
    bitwise kind = *(const bitwise *)how;
    uint64_t bits = kind == BIT_AND ? (x & y) : kind == BIT_OR ? (x | y) : (x ^ y);
    r->i = ev_wrap(c->out[0].dtype, (int64_t)bits);
    return a->known[0] && a->known[1] && ir_is_integer(a->dtype[0]);
}

static bool shift_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)how;
    int64_t by = a->cell[1].i;
    if (!a->known[0] || !a->known[1] || by < 0)
        return false;
    uint64_t x = by > 63 ? 0 : (uint64_t)a->cell[0].i;
    bool left = str_is(op_attr_str(c, "direction", "RIGHT"), "LEFT");
    r->i = ev_wrap(c->out[0].dtype, (int64_t)(left ? x << (by & 63) : x >> (by & 63)));
    return true;
}

/* Known where the condition is, or where both choices agree. */
static bool where_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)c, (void)how;
    if (a->known[0]) {
        int side = a->cell[0].i ? 1 : 2;
        *r = a->cell[side];
        return a->known[side];
    }
    *r = a->cell[1];
    return a->known[1] && a->known[2] && a->cell[1].i == a->cell[2].i;
}

/* The choice is an operation on what is chosen, not on the condition's bool. */
static void where_cost(const op_ctx *c, op_cost *k)
{
    uint64_t *kind = ir_is_float(op_dtype(c, 1)) ? &k->cmp : &k->int_ops;
    *kind = sat_add(*kind, op_out_elems(c, 0));
}

/* ---- rows ---- */

#define COMPARE(name_, type_, versions_, ...)                                                  \
    {                                                                                          \
        OP_ROW("", name_, type_, versions_, "per element: 1 cmp", to_bool, op_cost_cmp1),      \
            OP_SLOTS(2, 2, 1, 1), EV_CELLS(2, __VA_ARGS__), .aux = 3, .flags = OPF_ELEMENTWISE \
    }
#define ORDER(name_, type_, versions_, ...) \
    COMPARE(name_, type_, versions_, compare, (&(const order){__VA_ARGS__}))
#define BITS(name_, type_, versions_, ...)                                                         \
    {                                                                                              \
        OP_ROW("", name_, type_, versions_, "per element: 1 integer operation", to_same,           \
               op_cost_cmp1),                                                                      \
            OP_SLOTS(2, 2, 1, 1), EV_CELLS(2, __VA_ARGS__), .aux = 3,                              \
                                                            .flags = OPF_ELEMENTWISE | OPF_INPLACE \
    }

static const op_row rows[] = {
    ORDER("Equal", "equal", "1,7,11,13,19", .equal = true),
    ORDER("Greater", "greater", "1,7,9,13", .greater = true),
    ORDER("Less", "less", "1,7,9,13", .less = true),
    ORDER("GreaterOrEqual", "greaterorequal", "12,16", .greater = true, .equal = true),
    ORDER("LessOrEqual", "lessorequal", "12,16", .less = true, .equal = true),
    COMPARE("And", "and", "1,7", and_cell, NULL),
    COMPARE("Or", "or", "1,7", or_cell, NULL),
    COMPARE("Xor", "xor", "1,7", xor_cell, NULL),
    BITS("BitwiseAnd", "bitwiseand", "18", bitwise_cell, &(const bitwise){BIT_AND}),
    BITS("BitwiseOr", "bitwiseor", "18", bitwise_cell, &(const bitwise){BIT_OR}),
    BITS("BitwiseXor", "bitwisexor", "18", bitwise_cell, &(const bitwise){BIT_XOR}),
    BITS("BitShift", "bitshift", "11", shift_cell, NULL),
    {OP_ROW("", "Where", "where", "9,16", "per element: 1 cmp", where, where_cost),
     OP_SLOTS(3, 3, 1, 1), EV_CELLS(3, where_cell, NULL), .aux = 1,
     .flags = OPF_ELEMENTWISE | OPF_INPLACE, .backward = OP_BW_ELEMENTWISE,
     .saves = OP_SAVE_INPUTS},
};

const op_rows op_logic_rows = OP_ROWS(rows);
