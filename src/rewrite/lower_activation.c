/* Activation functions and comparisons as the elementwise operators that define them. */
#include <math.h>

#include "rewrite/lower_impl.h"

/* 0.5 x (1 + erf(x / sqrt 2)) */
static assay_status gelu_erf(lowering *x, ir_t in)
{
    ir_t t = low_scalar(x, "Mul", "inner", in, sqrt(0.5));
    t = low_unary(x, "Erf", "erf", t);
    t = low_scalar(x, "Add", "plus_one", t, 1.0);
    t = low_binary(x, "Mul", "mul", in, t);
    low_into(x, 0);
    low_scalar(x, "Mul", "half", t, 0.5);
    return x->status;
}

/* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
static assay_status gelu_tanh(lowering *x, ir_t in)
{
    ir_t t = low_binary(x, "Mul", "square", in, in);
    t = low_binary(x, "Mul", "cube", t, in);
    t = low_scalar(x, "Mul", "cubic", t, 0.044715);
    t = low_binary(x, "Add", "sum", in, t);
    t = low_scalar(x, "Mul", "inner", t, sqrt(2.0 / acos(-1.0)));
    t = low_unary(x, "Tanh", "tanh", t);
    t = low_scalar(x, "Add", "plus_one", t, 1.0);
    t = low_binary(x, "Mul", "mul", in, t);
    low_into(x, 0);
    low_scalar(x, "Mul", "half", t, 0.5);
    return x->status;
}

assay_status lower_gelu(lowering *x)
{
    ir_t in = low_value(x, 0);
    return str_is(low_word(x, "approximate", "none"), "tanh") ? gelu_tanh(x, in) : gelu_erf(x, in);
}

/* The output is the input times a gate. */
static assay_status gate_by(lowering *x, ir_t in, ir_t gate)
{
    low_into(x, 0);
    low_binary(x, "Mul", "mul", in, gate);
    return x->status;
}

/* x sigmoid(alpha x) */
assay_status lower_swish(lowering *x)
{
    ir_t in = low_value(x, 0), t = in;
    double alpha = low_float(x, "alpha", 1.0);
    if (alpha != 1.0)
        t = low_scalar(x, "Mul", "alpha", in, alpha);
    return gate_by(x, in, low_unary(x, "Sigmoid", "sigmoid", t));
}

/* x tanh(softplus(x)) */
assay_status lower_mish(lowering *x)
{
    ir_t in = low_value(x, 0);
    return gate_by(x, in, low_unary(x, "Tanh", "tanh", low_unary(x, "Softplus", "softplus", in)));
}

/* x max(0, min(1, x / 6 + 0.5)) */
assay_status lower_hard_swish(lowering *x)
{
    ir_t in = low_value(x, 0);
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", 1.0 / 6.0), IR_SPEC_FLOAT("beta", 0.5)};
    return gate_by(x, in, low_node(x, "HardSigmoid", "hardsigmoid", 1, &in, in, 2, attrs));
}

static assay_status negated(lowering *x, const char *op)
{
    ir_t t = low_binary(x, op, "other", low_value(x, 0), low_value(x, 1));
    if (t.id != IR_NONE)
        ir_value_at(x->m, t.id)->declared.dtype = IR_BOOL;
    low_into(x, 0);
    low_unary(x, "Not", "not", t);
    return x->status;
}

assay_status lower_greater_or_equal(lowering *x)
{
    return negated(x, "Less");
}

assay_status lower_less_or_equal(lowering *x)
{
    return negated(x, "Greater");
}
