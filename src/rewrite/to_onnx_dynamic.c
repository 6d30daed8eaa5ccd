/* Products of real data and int8 weights (dynamic range); see to_onnx.h.
 *
 * The kernels of LiteRT (XNNPACK) round the data of each batch element, or of each row of a linear layer, to 256 steps
 * between its least and its greatest number, zero included:
 *     s = 255 / (high - low),  z = round(-128 - low * s),  q = clip(round(x * s) + z, -128, 127)
 * and multiply (q - z) / s by the weights. The exported graph rounds the data in the same way.
 */
#include "ir/made.h"
#include "rewrite/to_onnx_impl.h"

/* Below this, all data of a row count as zero: 255 / span stays finite. */
static const float least_span = 1e-30F;

bool is_dynamic_product(exporting *x, const ir_node *n)
{
    ir_id w = n->inputs[1];
    int64_t zero;
    return is_quantised(x, w) && stored_type(x, w) == IR_INT8 && ir_value_at(x->k.m, w)->constant &&
           !is_quantised(x, n->outputs[0]) && !is_quantised(x, n->inputs[0]) &&
           read_zero(x, ir_value_at(x->k.m, w), &zero) && zero == 0;
}

/* The least or the greatest number of each element, and zero. */
static ir_id step_bound(exporting *x, const char *reduce, const char *pick, ir_id data,
                        const ir_attr_spec *attrs)
{
    ir_id bound = step(x, reduce, reduce, &data, 1, attrs);
    return step_two(x, pick, pick, bound, step_float(x, "none", 0));
}

/* The zero point: from the bound that is closer to its end of the range, as XNNPACK takes it. */
static ir_id step_zero(exporting *x, ir_id low, ir_id high)
{
    ir_id sum = step_two(x, "balance", "Add", low, high);
    ir_id upper = step_two(x, "upper", "Greater", sum, step_float(x, "one", 1));
    ir_id pick[] = {upper, step_two(x, "from_low", "Sub", step_float(x, "first", -128), low),
                    step_two(x, "from_high", "Sub", step_float(x, "last", 127), high)};
    ir_id zero = step(x, "zero_point", "Where", pick, 3, NULL);
    return step(x, "zero_step", "Round", &zero, 1, NULL);
}

ir_id step_dynamic(exporting *x, const ir_node *n, ir_id data, int from, int rank)
{
    int64_t axes[IR_KIT_RANK];
    if (!is_dynamic_product(x, n))
        return data;
    for (int d = from; d < rank; d++)
        axes[d - from] = d;
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("axes", rank - from, axes), STEP_END};
    ir_id low = step_bound(x, "ReduceMin", "Min", data, attrs),
          high = step_bound(x, "ReduceMax", "Max", data, attrs);
    ir_id span = step_two(x, "span", "Sub", high, low);
    span = step_two(x, "finite", "Max", span, step_float(x, "least", least_span));
    ir_id scale = step_two(x, "scale", "Div", step_float(x, "steps", 255), span);
    ir_id zero = step_zero(x, step_two(x, "low", "Mul", low, scale),
                           step_two(x, "high", "Mul", high, scale));
    ir_id q = step_two(x, "scaled", "Mul", data, scale);
    q = step(x, "rounded", "Round", &q, 1, NULL);
    q = step_two(x, "above", "Max", q,
                 step_two(x, "least_step", "Sub", step_float(x, "first", -128), zero));
    q = step_two(x, "below", "Min", q,
                 step_two(x, "last_step", "Sub", step_float(x, "last", 127), zero));
    return step_two(x, "dynamic", "Div", q, scale);
}
