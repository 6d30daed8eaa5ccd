/* Normalisation and quantisation of OpenVINO as operators of ONNX 17; see to_onnx.h.
 *
 *   MVN                   (x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps)
 *   GroupNormalization    InstanceNormalization of the groups, then scale and shift of the channels
 *   FakeQuantize          x within its range, rounded to one of the levels, in the range of the output */
#include "rewrite/to_onnx_impl.h"

static ir_id step_number(exporting *x, const char *part, double v)
{
    float f = (float)v;
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("value_float", f), STEP_END};
    return step(x, part, "Constant", NULL, 0, attrs);
}

/* Twice the axes and whether they are kept, of ReduceMean. */
static assay_status export_mvn(exporting *x, const ir_node *n)
{
    const ir_attr *axes = ir_attr_find(n, "axes");
    double eps = ir_attr_float(n, "eps", 1e-9);
    if (!axes || axes->kind != IR_ATTR_INTS || !axes->n)
        return no_form(x, "its axes are not known");
    const ir_attr_spec mean[] = {IR_SPEC_INTS("axes", (int)axes->n, axes->v.ints),
                                 IR_SPEC_INT("keepdims", 1), STEP_END};
    ir_id m = step(x, "mean", "ReduceMean", n->inputs, 1, mean);
    ir_id in[] = {n->inputs[0], m};
    if (!ir_attr_int(n, "normalize_variance", 1))
        return finish(x, "Sub", in, 2, NULL);
    ir_id d = step(x, "centred", "Sub", in, 2, NULL);
    ir_id square = step_two(x, "square", "Mul", d, d);
    ir_id v = step(x, "variance", "ReduceMean", &square, 1, mean), e = step_number(x, "eps", eps);
    bool inside = ir_attr_int(n, "inside", 1) != 0;
    v = inside ? step_two(x, "sum", "Add", v, e) : v;
    ir_id root = step(x, "root", "Sqrt", &v, 1, NULL);
    ir_id by[] = {d, inside ? root : step_two(x, "sum", "Add", root, e)};
    return finish(x, "Div", by, 2, NULL);
}

static ir_id step_shape(exporting *x, const char *part, ir_id in, const int64_t *dims, int n)
{
    ir_id both[] = {in, step_ints(x, "shape", dims, (uint32_t)n)};
    return step(x, part, "Reshape", both, 2, NULL);
}

/* [n] of one number. */
static ir_id step_filled(exporting *x, const char *part, int64_t n, double v)
{
    ir_id one = step_number(x, part, v);
    return step_two(x, part, "Expand", one, step_ints(x, "size", &n, 1));
}

static assay_status export_group_norm(exporting *x, const ir_node *n)
{
    int rank;
    const int64_t *dims = known_dims(x, n->inputs[0], &rank);
    int64_t groups = ir_attr_int(n, "num_groups", 1), channels[IR_KIT_RANK],
            flat[] = {0, groups, -1};
    if (!dims || rank < 2 || groups < 1)
        return no_form(x, "its sizes are not known");
    for (int d = 0; d < rank; d++)
        channels[d] = d == 1 ? -1 : 1;
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", ir_attr_float(n, "epsilon", 1e-5)),
                                  STEP_END};
    ir_id in[] = {step_shape(x, "groups", n->inputs[0], flat, 3), step_filled(x, "ones", groups, 1),
                  step_filled(x, "zeros", groups, 0)};
    ir_id unit = step(x, "unit", "InstanceNormalization", in, 3, attrs);
    unit = step_shape(x, "whole", unit, dims, rank);
    ir_id scaled = step_two(x, "scaled", "Mul", unit,
                            step_shape(x, "scale", n->inputs[1], channels, rank));
    ir_id sum[] = {scaled, step_shape(x, "shift", n->inputs[2], channels, rank)};
    return finish(x, "Add", sum, 2, NULL);
}

/* in: x, low, high, then low and high of the output. */
static assay_status export_fake_quantize(exporting *x, const ir_node *n)
{
    int64_t levels = ir_attr_int(n, "levels", 256);
    if (n->n_inputs < 5 || levels < 2)
        return no_form(x, "its ranges are missing");
    ir_id steps = step_number(x, "steps", (double)(levels - 1));
    ir_id low = n->inputs[1], out_low = n->inputs[3];
    ir_id width = step_two(x, "width", "Sub", n->inputs[2], low);
    ir_id out_width = step_two(x, "out_width", "Sub", n->inputs[4], out_low);
    ir_id within = step_two(x, "below", "Min", n->inputs[0], n->inputs[2]);
    within = step_two(x, "within", "Max", within, low);
    ir_id part = step_two(x, "part", "Div", step_two(x, "above", "Sub", within, low), width);
    ir_id level = step_two(x, "scaled", "Mul", part, steps);
    level = step(x, "level", "Round", &level, 1, NULL);
    ir_id of = step_two(x, "of", "Mul", step_two(x, "share", "Div", level, steps), out_width);
    ir_id sum[] = {of, out_low};
    return finish(x, "Add", sum, 2, NULL);
}

assay_status export_openvino(exporting *x, const ir_node *n)
{
    if (str_is(n->op, "MVN"))
        return export_mvn(x, n);
    if (str_is(n->op, "GroupNormalization"))
        return export_group_norm(x, n);
    if (str_is(n->op, "FakeQuantize"))
        return export_fake_quantize(x, n);
    return no_form(x, "unknown operator");
}
