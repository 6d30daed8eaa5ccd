/* The operators of StableHLO (and of MHLO, which has the same names), and what they become. Operators that are not here are
 * unknown: their results have the sizes that the text states, and their cost is not counted. */
#include <stdlib.h>

#include "formats/stablehlo/hlo_impl.h"

#define SIMPLE(name, onnx, least)     \
    {                                 \
        name, NULL, onnx, NULL, least \
    }
#define LOGIC(name, onnx, logic, least) \
    {                                   \
        name, NULL, onnx, logic, least  \
    }
#define MAPPED(name, map, least)     \
    {                                \
        name, map, NULL, NULL, least \
    }

/* In the order of strcmp(). */
static const hlo_row rows[] = {
    MAPPED("@call", hlo_func_call, 0),
    SIMPLE("abs", "Abs", 1),
    SIMPLE("acos", "Acos", 1),
    SIMPLE("acosh", "Acosh", 1),
    LOGIC("add", "Add", "Or", 2),
    LOGIC("and", "BitwiseAnd", "And", 2),
    SIMPLE("asin", "Asin", 1),
    SIMPLE("asinh", "Asinh", 1),
    SIMPLE("atan", "Atan", 1),
    SIMPLE("atanh", "Atanh", 1),
    MAPPED("batch_norm_inference", hlo_batch_norm, 5),
    MAPPED("broadcast", hlo_broadcast_old, 1),
    MAPPED("broadcast_in_dim", hlo_broadcast, 1),
    MAPPED("case", hlo_case, 1),
    MAPPED("cbrt", hlo_cbrt, 1),
    SIMPLE("ceil", "Ceil", 1),
    MAPPED("clamp", hlo_clamp, 3),
    MAPPED("compare", hlo_compare, 2),
    MAPPED("composite", hlo_composite, 0),
    MAPPED("concatenate", hlo_concat, 1),
    MAPPED("constant", hlo_constant, 0),
    MAPPED("convert", hlo_convert, 1),
    MAPPED("convolution", hlo_convolution, 2),
    SIMPLE("cosh", "Cosh", 1),
    SIMPLE("cosine", "Cos", 1),
    MAPPED("custom_call", hlo_custom_call, 0),
    SIMPLE("divide", "Div", 2),
    MAPPED("dot", hlo_dot, 2),
    MAPPED("dot_general", hlo_dot_general, 2),
    MAPPED("dynamic_slice", hlo_dynamic_slice, 1),
    MAPPED("dynamic_update_slice", hlo_dynamic_update, 2),
    MAPPED("einsum", hlo_einsum, 2),
    SIMPLE("erf", "Erf", 1),
    SIMPLE("exponential", "Exp", 1),
    MAPPED("exponential_minus_one", hlo_expm1, 1),
    SIMPLE("floor", "Floor", 1),
    MAPPED("gather", hlo_gather, 2),
    MAPPED("get_dimension_size", hlo_size, 1),
    MAPPED("if", hlo_if, 1),
    MAPPED("iota", hlo_iota, 0),
    MAPPED("is_finite", hlo_is_finite, 1),
    SIMPLE("log", "Log", 1),
    MAPPED("log_plus_one", hlo_log1p, 1),
    SIMPLE("logistic", "Sigmoid", 1),
    LOGIC("maximum", "Max", "Or", 2),
    LOGIC("minimum", "Min", "And", 2),
    LOGIC("multiply", "Mul", "And", 2),
    SIMPLE("negate", "Neg", 1),
    LOGIC("not", "BitwiseNot", "Not", 1),
    MAPPED("optimization_barrier", hlo_barrier, 0),
    LOGIC("or", "BitwiseOr", "Or", 2),
    MAPPED("pad", hlo_pad, 2),
    SIMPLE("power", "Pow", 2),
    MAPPED("reduce", hlo_reduce, 2),
    MAPPED("reduce_window", hlo_reduce_window, 2),
    MAPPED("remainder", hlo_remainder, 2),
    MAPPED("reshape", hlo_reshape, 1),
    MAPPED("reverse", hlo_reverse, 1),
    MAPPED("round_nearest_afz", hlo_round_away, 1),
    SIMPLE("round_nearest_even", "Round", 1),
    MAPPED("rsqrt", hlo_rsqrt, 1),
    MAPPED("scatter", hlo_scatter, 3),
    SIMPLE("select", "Where", 3),
    {"shift_left", hlo_shift, "LEFT", NULL, 2},
    {"shift_right_logical", hlo_shift, "RIGHT", NULL, 2},
    SIMPLE("sign", "Sign", 1),
    SIMPLE("sine", "Sin", 1),
    SIMPLE("sinh", "Sinh", 1),
    MAPPED("slice", hlo_slice, 1),
    MAPPED("sort", hlo_sort, 1),
    SIMPLE("sqrt", "Sqrt", 1),
    SIMPLE("subtract", "Sub", 2),
    SIMPLE("tan", "Tan", 1),
    SIMPLE("tanh", "Tanh", 1),
    MAPPED("transpose", hlo_transpose, 1),
    MAPPED("uniform_dequantize", hlo_dequantize, 1),
    MAPPED("uniform_quantize", hlo_quantize, 1),
    MAPPED("while", hlo_while, 0),
    LOGIC("xor", "BitwiseXor", "Xor", 2),
};

const hlo_row *hlo_row_of(str name)
{
    str own = hlo_short(name);
    bool ours = str_starts(name, "stablehlo.") || str_starts(name, "mhlo.");
    if (str_starts(name, "chlo."))
        ours = str_is(own, "erf") || str_is(own, "tan") || str_is(own, "constant") ||
               str_starts(own, "a") || str_is(own, "sinh") || str_is(own, "cosh");
    if (str_is(name, "func.call") || str_is(name, "call") ||
        str_ends(name, ".unfoldable_constant") || str_is(name, "arith.constant") ||
        str_is(name, "sdy.constant"))
        return hlo_row_of(str_ends(name, "call") ? STR("stablehlo.@call")
                                                 : STR("stablehlo.constant"));
    return ours ? bsearch(&own, rows, sizeof rows / sizeof *rows, sizeof *rows, str_order_row)
                : NULL;
}
