/* Functions of one number: output shape and dtype are the input's (bool for the predicates). Every
 * one counts a single operation per element: arithmetic in its own class, rounding and
 * transcendentals as one special function.
 */
#include <math.h>

#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

static assay_status predicate(op_ctx *c)
{
    return op_set_shape_of(c, 0, IR_BOOL, 0);
}

/* ---- values ---- */

static bool abs_i(int64_t a, int64_t *r)
{
    return a >= 0 ? (*r = a, true) : num_sub(0, a, r);
}
static bool neg_i(int64_t a, int64_t *r)
{
    return num_sub(0, a, r);
}
static bool sign_i(int64_t a, int64_t *r)
{
    *r = (a > 0) - (a < 0);
    return true;
}
static bool not_i(int64_t a, int64_t *r)
{
    *r = !a;
    return true;
}
static double neg_f(double a)
{
    return -a;
}
static double sign_f(double a)
{
    return isnan(a) ? a : (double)((a > 0) - (a < 0));
}
static double reciprocal_f(double a)
{
    return 1 / a;
}

#define VALUE1(name, int_fn, float_fn)                  \
    static assay_status name##_value(op_ctx *c)         \
    {                                                   \
        static const ev_fn1 f = {(int_fn), (float_fn)}; \
        return ev_unary(c, &f);                         \
    }

VALUE1(abs, abs_i, fabs)
VALUE1(neg, neg_i, neg_f)
VALUE1(sign, sign_i, sign_f)
VALUE1(ceil, NULL, ceil)
VALUE1(floor, NULL, floor)
VALUE1(round, NULL, nearbyint)
VALUE1(sqrt, NULL, sqrt)
VALUE1(exp, NULL, exp)
VALUE1(log, NULL, log)
VALUE1(reciprocal, NULL, reciprocal_f)
VALUE1(erf, NULL, erf)
VALUE1(sin, NULL, sin)
VALUE1(cos, NULL, cos)
VALUE1(tan, NULL, tan)
VALUE1(tanh, NULL, tanh)
VALUE1(not, not_i, NULL)

/* The dtype has to be known to the bit: ~x of an unsigned number depends on its width. */
static bool bitwise_not(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)how;
    r->i = ev_wrap(c->out[0].dtype, ~a->cell[0].i);
    return a->known[0] && ir_is_integer(a->dtype[0]);
}

static assay_status bitwise_not_value(op_ctx *c)
{
    return ev_broadcast(c, 1, bitwise_not, NULL);
}

static bool is_nan(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)c, (void)how;
    r->i = ir_is_float(a->dtype[0]) && isnan(a->cell[0].f);
    return a->known[0];
}

static bool is_inf(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)how;
    double x = ir_is_float(a->dtype[0]) ? a->cell[0].f : 0;
    const char *side = x < 0 ? "detect_negative" : "detect_positive";
    r->i = isinf(x) && op_attr_int(c, side, 1) != 0;
    return a->known[0];
}

static assay_status is_nan_value(op_ctx *c)
{
    return ev_broadcast(c, 1, is_nan, NULL);
}

static assay_status is_inf_value(op_ctx *c)
{
    return ev_broadcast(c, 1, is_inf, NULL);
}

/* ---- rows ---- */

#define UNARY(name_, type_, versions_, kind_, value_, backward_, saves_)                   \
    {                                                                                      \
        OP_ROW("", name_, type_, versions_, "per element: 1 " #kind_, op_infer_like,       \
               op_cost_##kind_##1),                                                        \
            OP_SLOTS(1, 1, 1, 1), .value = value_, .flags = OPF_ELEMENTWISE | OPF_INPLACE, \
                                  .backward = backward_, .saves = saves_                   \
    }
#define SMOOTH(name_, type_, versions_, value_) \
    UNARY(name_, type_, versions_, special, value_, OP_BW_ELEMENTWISE, OP_SAVE_INPUTS)
#define STEP(name_, type_, versions_, kind_, value_) \
    UNARY(name_, type_, versions_, kind_, value_, OP_BW_NONE, OP_SAVE_NOTHING)
#define PREDICATE(name_, type_, versions_, value_)                                          \
    {                                                                                       \
        OP_ROW("", name_, type_, versions_, "per element: 1 cmp", predicate, op_cost_cmp1), \
            OP_SLOTS(1, 1, 1, 1), .value = value_, .flags = OPF_ELEMENTWISE                 \
    }

static const op_row rows[] = {
    UNARY("Abs", "abs", "1,6,13", cmp, abs_value, OP_BW_ELEMENTWISE, OP_SAVE_INPUTS),
    SMOOTH("Acos", "acos", "7,22", NULL),
    SMOOTH("Acosh", "acosh", "9,22", NULL),
    SMOOTH("Asin", "asin", "7,22", NULL),
    SMOOTH("Asinh", "asinh", "9,22", NULL),
    SMOOTH("Atan", "atan", "7,22", NULL),
    SMOOTH("Atanh", "atanh", "9,22", NULL),
    STEP("BitwiseNot", "bitwisenot", "18", cmp, bitwise_not_value),
    STEP("Ceil", "ceil", "1,6,13", special, ceil_value),
    SMOOTH("Cos", "cos", "7,22", cos_value),
    SMOOTH("Cosh", "cosh", "9,22", NULL),
    SMOOTH("Erf", "erf", "9,13", erf_value),
    UNARY("Exp", "exp", "1,6,13", special, exp_value, OP_BW_ELEMENTWISE, OP_SAVE_OUTPUT),
    STEP("Floor", "floor", "1,6,13", special, floor_value),
    PREDICATE("IsInf", "isinf", "10,20", is_inf_value),
    PREDICATE("IsNaN", "isnan", "9,13,20", is_nan_value),
    SMOOTH("Log", "log", "1,6,13", log_value),
    UNARY("Neg", "neg", "1,6,13", add, neg_value, OP_BW_ELEMENTWISE, OP_SAVE_NOTHING),
    STEP("Not", "not", "1", cmp, not_value),
    UNARY("Reciprocal", "reciprocal", "1,6,13", div, reciprocal_value, OP_BW_ELEMENTWISE,
          OP_SAVE_OUTPUT),
    STEP("Round", "round", "11,22", special, round_value),
    STEP("Sign", "sign", "9,13", cmp, sign_value),
    SMOOTH("Sin", "sin", "7,22", sin_value),
    SMOOTH("Sinh", "sinh", "9,22", NULL),
    UNARY("Sqrt", "sqrt", "1,6,13", special, sqrt_value, OP_BW_ELEMENTWISE, OP_SAVE_OUTPUT),
    SMOOTH("Tan", "tan", "7,22", tan_value),
    UNARY("Tanh", "tanh", "1,6,13", special, tanh_value, OP_BW_ELEMENTWISE, OP_SAVE_OUTPUT),
};

const op_rows op_unary_rows = OP_ROWS(rows);
