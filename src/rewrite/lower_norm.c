/* Normalisations as means and elementwise operators, or as the InstanceNormalization that every opset
 * has. */
#include "rewrite/lower_impl.h"

static int axis_of(const lowering *x, ir_t in)
{
    int64_t axis = low_int(x, "axis", -1);
    return (int)(axis < 0 ? axis + in.rank : axis);
}

/* x / sqrt(mean(x^2) + epsilon) */
static ir_t over_root_mean(lowering *x, ir_t in, int axis)
{
    ir_t t = low_binary(x, "Mul", "square", in, in);
    t = low_mean_from(x, "mean_square", t, axis);
    t = low_scalar(x, "Add", "epsilon", t, low_float(x, "epsilon", 1e-5));
    t = low_unary(x, "Sqrt", "sqrt", t);
    return low_binary(x, "Div", "div", in, t);
}

assay_status lower_rms_norm(lowering *x)
{
    ir_t in = low_input(x, 0), scale = low_value(x, 1);
    if (x->status != ASSAY_OK)
        return x->status;
    ir_t t = over_root_mean(x, in, axis_of(x, in));
    low_into(x, 0);
    low_binary(x, "Mul", "scale", t, scale);
    return x->status;
}

assay_status lower_layer_norm(lowering *x)
{
    ir_t in = low_input(x, 0), scale = low_value(x, 1);
    if (low_more_outputs(x))
        return low_fail(x, "its mean or standard deviation is used");
    if (x->status != ASSAY_OK)
        return x->status;
    int axis = axis_of(x, in);
    ir_t t = low_binary(x, "Sub", "centre", in, low_mean_from(x, "mean", in, axis));
    t = over_root_mean(x, t, axis);
    if (!low_has(x, 2))
        low_into(x, 0);
    t = low_binary(x, "Mul", "scale", t, scale);
    if (!low_has(x, 2))
        return x->status;
    low_into(x, 0);
    low_binary(x, "Add", "bias", t, low_value(x, 2));
    return x->status;
}

/* [C] as [C, 1, 1], to meet the channels of [N, C, H, W]. */
static ir_t per_channel(lowering *x, const char *part, uint32_t i, ir_t in)
{
    ir_t v = low_input(x, i);
    int64_t dims[IR_KIT_RANK] = {in.d[1]};
    for (int k = 1; k < in.rank - 1; k++)
        dims[k] = 1;
    return low_reshape(x, part, v, in.rank - 1, dims);
}

/* Groups are the channels of an instance norm without scale; then the layer's own, per channel. */
assay_status lower_group_norm(lowering *x)
{
    ir_t in = low_input(x, 0);
    int64_t groups = low_int(x, "num_groups", 1), rest = 1;
    if (x->status != ASSAY_OK)
        return x->status;
    if (in.rank < 3 || groups < 1 || in.d[1] % groups)
        return low_fail(x, "its input cannot be split into groups");
    for (int i = 1; i < in.rank; i++)
        rest *= in.d[i];
    const int64_t split[] = {in.d[0], groups, rest / groups};
    ir_t t[3] = {low_reshape(x, "groups", in, 3, split)};
    t[1] = low_float_const(x, "ones", in.dtype, groups, 1.0);
    t[2] = low_float_const(x, "zeros", in.dtype, groups, 0.0);
    ir_t y = low_node(x, "InstanceNormalization", "norm", 3, t, t[0], 1,
                      &IR_SPEC_FLOAT("epsilon", low_float(x, "epsilon", 1e-5)));
    y = low_reshape(x, "ungroup", y, in.rank, in.d);
    y = low_binary(x, "Mul", "scale", y, per_channel(x, "scale_shape", 1, in));
    ir_t bias = per_channel(x, "bias_shape", 2, in);
    low_into(x, 0);
    low_binary(x, "Add", "bias", y, bias);
    return x->status;
}
