/* ATen operators element by element. */
#include <math.h>
#include <string.h>

#include "formats/aten/aten.h"

/* ---- one operand ---- */

/* Whole numbers become float32, as PyTorch does it for functions of real numbers. */
static ir_id real_input(aten_call *c)
{
    ir_dtype t = aten_dtype(c, 0);
    bool whole = t != IR_UNDEFINED && !ir_is_float(t);
    return whole ? aten_cast(c, aten_tensor(c, 0), IR_FLOAT32) : aten_tensor(c, 0);
}

static bool keeps_whole(const char *op)
{
    static const char *const names[] = {"Abs", "Neg", "Sign", "Relu", "Floor", "Ceil", "Round"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op, names[i]) == 0)
            return true;
    return false;
}

bool aten_unary(aten_call *c)
{
    ir_id x = keeps_whole(c->row->op) ? aten_tensor(c, 0) : real_input(c);
    return x != IR_NONE && aten_node(c, c->row->op, &x, 1, NULL);
}

bool aten_rsqrt(aten_call *c)
{
    ir_id x = real_input(c);
    if (x == IR_NONE)
        return false;
    ir_id root = aten_step(c, "Sqrt", &x, 1, NULL);
    return aten_node(c, "Reciprocal", &root, 1, NULL);
}

bool aten_square(aten_call *c)
{
    return aten_node2(c, "Mul", aten_tensor(c, 0), aten_tensor(c, 0));
}

/* log2, log10: row->op is the base. */
bool aten_log_base(aten_call *c)
{
    ir_id x = real_input(c);
    double base = c->row->op[0] == '2' ? 2 : 10;
    if (x == IR_NONE)
        return false;
    ir_id log_x = aten_step(c, "Log", &x, 1, NULL);
    return aten_node2(c, "Div", log_x, aten_like(c, log(base), aten_dtype_of(c->t, x)));
}

bool aten_log1p(aten_call *c)
{
    ir_id x = real_input(c);
    if (x == IR_NONE)
        return false;
    ir_id sum = aten_step2(c, "Add", x, aten_like(c, 1, aten_dtype_of(c->t, x)));
    return aten_node(c, "Log", &sum, 1, NULL);
}

bool aten_expm1(aten_call *c)
{
    ir_id x = real_input(c);
    if (x == IR_NONE)
        return false;
    ir_id e = aten_step(c, "Exp", &x, 1, NULL);
    return aten_node2(c, "Sub", e, aten_like(c, 1, aten_dtype_of(c->t, x)));
}

bool aten_silu(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    return x != IR_NONE && aten_out(c) != IR_NONE && layer_swish(&c->l, x);
}

bool aten_mish(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    return x != IR_NONE && aten_out(c) != IR_NONE && layer_mish(&c->l, x);
}

/* 0.5 x (1 + erf(x / sqrt 2)), or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)). */
bool aten_gelu(aten_call *c)
{
    ir_id x = aten_tensor(c, 0), inner;
    ir_dtype t = aten_dtype(c, 0);
    if (x == IR_NONE)
        return false;
    if (aten_is_text(c, 1, "tanh")) {
        ir_id cube = aten_step2(c, "Mul", aten_step2(c, "Mul", x, x), x);
        ir_id bent = aten_step2(c, "Add", x, aten_step2(c, "Mul", cube, aten_like(c, 0.044715, t)));
        ir_id scaled = aten_step2(c, "Mul", bent, aten_like(c, 0.7978845608028654, t));
        inner = aten_step(c, "Tanh", &scaled, 1, NULL);
    } else {
        ir_id scaled = aten_step2(c, "Div", x, aten_like(c, 1.4142135623730951, t));
        inner = aten_step(c, "Erf", &scaled, 1, NULL);
    }
    ir_id half = aten_step2(c, "Mul", x, aten_like(c, 0.5, t));
    return aten_node2(c, "Mul", half, aten_step2(c, "Add", inner, aten_like(c, 1, t)));
}

bool aten_leaky_relu(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", aten_float(c, 1, 0.01)), LAYER_END};
    return x != IR_NONE && aten_node(c, "LeakyRelu", &x, 1, attrs);
}

bool aten_elu(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", aten_float(c, 1, 1)), LAYER_END};
    if (x == IR_NONE || aten_float(c, 2, 1) != 1 || aten_float(c, 3, 1) != 1)
        return false;
    return aten_node(c, "Elu", &x, 1, attrs);
}

bool aten_celu(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", aten_float(c, 1, 1)), LAYER_END};
    return x != IR_NONE && aten_node(c, "Celu", &x, 1, attrs);
}

/* The slope has one item per channel, which is axis 1. */
bool aten_prelu(aten_call *c)
{
    ir_id x = aten_tensor(c, 0), slope = aten_tensor(c, 1);
    int rank = aten_rank(c, 0);
    if (x == IR_NONE || slope == IR_NONE || rank < 0)
        return false;
    int64_t dims[IR_MAX_RANK];
    const op_info *s = aten_info(c->t, slope);
    if (rank > 2 && s->rank == 1) {
        for (int i = 0; i < rank - 1; i++)
            dims[i] = i ? 1 : -1;
        slope = layer_step_reshape(&c->l, slope, dims, rank - 1);
    }
    return aten_node2(c, "PRelu", x, slope);
}

static bool clip(aten_call *c, ir_id x, double low, double high)
{
    return x != IR_NONE && aten_out(c) != IR_NONE &&
           layer_clip(&c->l, x, aten_dtype(c, 0) == IR_UNDEFINED ? IR_FLOAT32 : aten_dtype(c, 0),
                      low, high);
}

/* clamp(x, min, max), clamp_min(x, min), clamp_max(x, max), hardtanh(x, -1, 1); bounds may be tensors. */
bool aten_clamp(aten_call *c)
{
    const char *how = c->row->op;
    bool tanh_like = strcmp(how, "hardtanh") == 0;
    int low = strcmp(how, "max") == 0 ? -1 : 1;
    int high = strcmp(how, "max") == 0 ? 1 : strcmp(how, "min") == 0 ? -1 : 2;
    ir_id x = aten_tensor(c, 0);
    ir_dtype t = aten_dtype(c, 0);
    bool low_tensor = low > 0 && c->arg[low].kind == ATEN_TENSOR,
         high_tensor = high > 0 && c->arg[high].kind == ATEN_TENSOR;
    if (low_tensor || high_tensor) {
        ir_id y = low_tensor ? aten_step2(c, "Max", x, aten_operand(c, low, t)) : x;
        return high_tensor ? aten_node2(c, "Min", y, aten_operand(c, high, t))
                           : aten_node2(c, "Max", x, aten_operand(c, low, t));
    }
    return clip(c, x, low > 0 ? aten_float(c, low, tanh_like ? -1 : (double)NAN) : (double)NAN,
                high > 0 ? aten_float(c, high, tanh_like ? 1 : (double)NAN) : (double)NAN);
}

bool aten_relu6(aten_call *c)
{
    return clip(c, aten_tensor(c, 0), 0, 6);
}

bool aten_hardswish(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    return x != IR_NONE && aten_node(c, "HardSwish", &x, 1, NULL);
}

bool aten_hardsigmoid(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", 1.0 / 6), IR_SPEC_FLOAT("beta", 0.5),
                                  LAYER_END};
    return x != IR_NONE && aten_node(c, "HardSigmoid", &x, 1, attrs);
}

/* softplus(beta x) / beta; above the threshold the function is its argument to the last bit of float32. */
bool aten_softplus(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    double beta = aten_float(c, 1, 1);
    if (x == IR_NONE)
        return false;
    if (beta == 1)
        return aten_node(c, "Softplus", &x, 1, NULL);
    ir_id b = aten_like(c, beta, aten_dtype(c, 0)), scaled = aten_step2(c, "Mul", x, b);
    return aten_node2(c, "Div", aten_step(c, "Softplus", &scaled, 1, NULL), b);
}

bool aten_log_sigmoid(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE)
        return false;
    ir_id s = aten_step(c, "Sigmoid", &x, 1, NULL);
    return aten_node(c, "Log", &s, 1, NULL);
}

bool aten_threshold(aten_call *c)
{
    ir_dtype t = aten_dtype(c, 0);
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE)
        return false;
    ir_id in[] = {aten_step2(c, "Greater", x, aten_operand(c, 1, t)), x, aten_operand(c, 2, t)};
    return aten_node(c, "Where", in, 3, NULL);
}

bool aten_shrink(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    bool soft = strcmp(c->row->op, "soft") == 0;
    double lambda = aten_float(c, 1, 0.5);
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("lambd", lambda),
                                  IR_SPEC_FLOAT("bias", soft ? lambda : 0), LAYER_END};
    return x != IR_NONE && aten_node(c, "Shrink", &x, 1, attrs);
}

/* softmax(x, dim, dtype); _softmax(x, dim, half_to_float) */
bool aten_softmax(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    int64_t axis;
    if (x == IR_NONE || !aten_axis(c, 0, aten_int(c, 1, -1), &axis))
        return false;
    if (c->arg[2].kind == ATEN_INT)
        x = aten_cast(c, x, aten_scalar_type(c->arg[2].i));
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return aten_node(c, c->row->op, &x, 1, attrs);
}

bool aten_glu(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    int64_t axis;
    if (x == IR_NONE || !aten_axis(c, 0, aten_int(c, 1, -1), &axis))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    ir_id halves[] = {foreign_inner(c->t->f, c->l.name, "first"),
                      foreign_inner(c->t->f, c->l.name, "second")};
    foreign_layer split = c->l;
    split.out = halves;
    split.n_out = 2;
    layer_node_of(&split, NULL, "Split", &x, 1, attrs, 2);
    return aten_node2(c, "Mul", halves[0], aten_step(c, "Sigmoid", &halves[1], 1, NULL));
}

/* ---- two operands ---- */

bool aten_binary(aten_call *c)
{
    ir_id in[2];
    aten_promote(c, 0, 1, in);
    return aten_node2(c, c->row->op, in[0], in[1]);
}

bool aten_compare(aten_call *c)
{
    return aten_binary(c);
}

bool aten_not_equal(aten_call *c)
{
    ir_id in[2];
    aten_promote(c, 0, 1, in);
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    ir_id same = aten_step2(c, "Equal", in[0], in[1]);
    return aten_node(c, "Not", &same, 1, NULL);
}

static ir_id scaled(aten_call *c, ir_id x, int alpha, ir_dtype t)
{
    double by = aten_float(c, alpha, 1);
    return by == 1 ? x : aten_step2(c, "Mul", x, aten_like(c, by, t));
}

/* add(self, other, alpha), sub. */
bool aten_add(aten_call *c)
{
    ir_id in[2];
    if (c->arg[0].kind != ATEN_TENSOR && c->arg[1].kind != ATEN_TENSOR)
        return false;
    ir_dtype t = aten_promote(c, 0, 1, in);
    if (t == IR_BOOL && strcmp(c->row->op, "Add") == 0)
        return aten_node2(c, "Or", in[0], in[1]);
    return in[0] != IR_NONE && in[1] != IR_NONE &&
           aten_node2(c, c->row->op, in[0], scaled(c, in[1], 2, t));
}

bool aten_rsub(aten_call *c)
{
    ir_id in[2];
    ir_dtype t = aten_promote(c, 0, 1, in);
    return in[0] != IR_NONE && in[1] != IR_NONE &&
           aten_node2(c, "Sub", in[1], scaled(c, in[0], 2, t));
}

/* In PyTorch the quotient of whole numbers is a float; rounding_mode is "floor" or "trunc". */
bool aten_div(aten_call *c)
{
    ir_id in[2];
    ir_dtype t = aten_promote(c, 0, 1, in);
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    bool whole = t != IR_UNDEFINED && !ir_is_float(t), rounded = c->arg[2].kind == ATEN_TEXT;
    if (whole && rounded)
        return aten_is_text(c, 2, "trunc") ? aten_node2(c, "Div", in[0], in[1])
                                           : aten_floor_divide(c);
    if (whole) {
        in[0] = aten_cast(c, in[0], IR_FLOAT32);
        in[1] = aten_cast(c, in[1], IR_FLOAT32);
    }
    if (!rounded)
        return aten_node2(c, "Div", in[0], in[1]);
    ir_id q = aten_step2(c, "Div", in[0], in[1]);
    if (aten_is_text(c, 2, "floor"))
        return aten_node(c, "Floor", &q, 1, NULL);
    ir_id sign = aten_step(c, "Sign", &q, 1, NULL), size = aten_step(c, "Abs", &q, 1, NULL);
    return aten_node2(c, "Mul", sign, aten_step(c, "Floor", &size, 1, NULL));
}

/* Of whole numbers: (a - mod(a, b)) / b, where mod has the sign of b. */
bool aten_floor_divide(aten_call *c)
{
    ir_id in[2];
    ir_dtype t = aten_promote(c, 0, 1, in);
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    if (ir_is_float(t)) {
        ir_id q = aten_step2(c, "Div", in[0], in[1]);
        return aten_node(c, "Floor", &q, 1, NULL);
    }
    ir_id rest = aten_step2(c, "Mod", in[0], in[1]);
    return aten_node2(c, "Div", aten_step2(c, "Sub", in[0], rest), in[1]);
}

/* remainder has the sign of the divisor, fmod that of the dividend. */
bool aten_remainder(aten_call *c)
{
    ir_id in[2];
    ir_dtype t = aten_promote(c, 0, 1, in);
    bool like_c = strcmp(c->row->op, "fmod") == 0;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("fmod", 1), LAYER_END};
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    if (!ir_is_float(t) || like_c)
        return aten_node(c, "Mod", in, 2, like_c ? attrs : NULL);
    ir_id q = aten_step2(c, "Div", in[0], in[1]), whole = aten_step(c, "Floor", &q, 1, NULL);
    return aten_node2(c, "Sub", in[0], aten_step2(c, "Mul", whole, in[1]));
}

bool aten_pow(aten_call *c)
{
    ir_id in[2];
    aten_promote(c, 0, 1, in);
    return aten_node2(c, "Pow", in[0], in[1]);
}

/* And, Or, Xor of truth values; of whole numbers where the operator is a bitwise one. */
bool aten_logical(aten_call *c)
{
    bool bitwise = str_contains(c->op, "bitwise") || str_starts(c->op, "__");
    ir_dtype t = aten_dtype(c, 0);
    if (bitwise && t != IR_BOOL && t != IR_UNDEFINED) {
        const char *op = strcmp(c->row->op, "And") == 0  ? "BitwiseAnd"
                         : strcmp(c->row->op, "Or") == 0 ? "BitwiseOr"
                                                         : "BitwiseXor";
        ir_id in[2];
        aten_promote(c, 0, 1, in);
        return aten_node2(c, op, in[0], in[1]);
    }
    return aten_node2(c, c->row->op, aten_operand(c, 0, IR_BOOL), aten_operand(c, 1, IR_BOOL));
}

bool aten_logical_not(aten_call *c)
{
    ir_id x = aten_operand(c, 0, IR_BOOL);
    return x != IR_NONE && aten_node(c, "Not", &x, 1, NULL);
}

bool aten_bitwise_not(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    return x != IR_NONE &&
           aten_node(c, aten_dtype(c, 0) == IR_BOOL ? "Not" : "BitwiseNot", &x, 1, NULL);
}

/* ---- three operands ---- */

bool aten_where(aten_call *c)
{
    ir_id pair[2];
    if (!aten_given(c, 1) || !aten_given(c, 2))
        return false;
    aten_promote(c, 1, 2, pair);
    ir_id in[] = {aten_operand(c, 0, IR_BOOL), pair[0], pair[1]};
    return in[0] != IR_NONE && in[1] != IR_NONE && in[2] != IR_NONE &&
           aten_node(c, "Where", in, 3, NULL);
}

bool aten_masked_fill(aten_call *c)
{
    ir_id in[] = {aten_operand(c, 1, IR_BOOL), aten_operand(c, 2, aten_dtype(c, 0)),
                  aten_tensor(c, 0)};
    return in[0] != IR_NONE && in[1] != IR_NONE && in[2] != IR_NONE &&
           aten_node(c, "Where", in, 3, NULL);
}

/* self + value * a * b, or a / b. */
bool aten_addcmul(aten_call *c)
{
    ir_id x = aten_tensor(c, 0), a = aten_tensor(c, 1), b = aten_tensor(c, 2);
    if (x == IR_NONE || a == IR_NONE || b == IR_NONE)
        return false;
    ir_id product = aten_step2(c, c->row->op, a, b);
    return aten_node2(c, "Add", x, scaled(c, product, 3, aten_dtype(c, 0)));
}

bool aten_lerp(aten_call *c)
{
    ir_id x = aten_tensor(c, 0), end = aten_tensor(c, 1),
          weight = aten_operand(c, 2, aten_dtype(c, 0));
    if (x == IR_NONE || end == IR_NONE || weight == IR_NONE)
        return false;
    ir_id way = aten_step2(c, "Sub", end, x);
    return aten_node2(c, "Add", x, aten_step2(c, "Mul", weight, way));
}
