/* Operators of OpenVINO that compute element by element, where one row is not enough. */
#include "formats/openvino/openvino_impl.h"

#include <math.h>

/* ---- activations ---- */

/* in: x, beta. */
bool ov_swish(ov_op *o)
{
    if (layer_input(&o->l, 1) == IR_NONE)
        return layer_swish(&o->l, o->l.in[0]);
    ir_id scaled = layer_step(&o->l, "Mul", o->l.in, 2, NULL);
    ir_id in[] = {o->l.in[0], layer_step(&o->l, "Sigmoid", &scaled, 1, NULL)};
    return layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1) != IR_NONE;
}

bool ov_mish(ov_op *o)
{
    return layer_mish(&o->l, o->l.in[0]);
}

bool ov_gelu(ov_op *o)
{
    bool fast = ov_is(o, "approximation_mode", "tanh", "erf") ||
                ov_is(o, "approximation_mode", "TANH", "erf");
    return layer_node_of(&o->l, FOREIGN_MS, fast ? "FastGelu" : "Gelu", o->l.in, 1, NULL, 1) !=
           IR_NONE;
}

bool ov_clamp(ov_op *o)
{
    ir_dtype t = ov_in_dtype(o, 0);
    return t != IR_UNDEFINED && layer_clip(&o->l, o->l.in[0], t, ov_float(o, "min", (double)NAN),
                                           ov_float(o, "max", (double)NAN));
}

bool ov_elu(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", ov_float(o, "alpha", 1)), LAYER_END};
    return layer_unary(&o->l, "Elu", attrs);
}

/* Two constants as attributes; those that are not there are the usual ones. */
static bool with_constants(ov_op *o, const char *op, const char *const names[2],
                           const double usual[2])
{
    double v[2] = {usual[0], usual[1]};
    for (uint32_t i = 0; i < 2; i++)
        if (!ov_const_number(o, i + 1, &v[i]))
            ov_guessed(o);
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT(names[0], v[0]), IR_SPEC_FLOAT(names[1], v[1]),
                            LAYER_END};
    return layer_unary(&o->l, op, attrs);
}

bool ov_selu(ov_op *o)
{
    static const char *const names[] = {"alpha", "gamma"};
    static const double usual[] = {1.67326319217681884765625, 1.05070102214813232421875};
    return with_constants(o, "Selu", names, usual);
}

bool ov_hard_sigmoid(ov_op *o)
{
    static const char *const names[] = {"alpha", "beta"};
    static const double usual[] = {0.2, 0.5};
    return with_constants(o, "HardSigmoid", names, usual);
}

/* min(max(x + 3, 0), 6) / 6 */
bool ov_h_sigmoid(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", 1.0 / 6), IR_SPEC_FLOAT("beta", 0.5), LAYER_END};
    return layer_unary(&o->l, "HardSigmoid", attrs);
}

/* A slope of rank 1 is one for each channel, which is axis 1. */
bool ov_prelu(ov_op *o)
{
    const ov_port *x = ov_in(o, 0), *slope = ov_in(o, 1);
    ir_id in[] = {o->l.in[0], IR_NONE};
    bool by_channel = x && slope && x->rank > 2 && slope->rank == 1 && slope->dims[0] > 1;
    int64_t dims[IR_MAX_RANK];
    for (int d = 0; by_channel && d < x->rank - 1; d++)
        dims[d] = d ? 1 : slope->dims[0];
    in[1] = by_channel ? ov_reshaped(o, 1, dims, x->rank - 1) : ov_use(o->r, o->net, o->layer, 1);
    return in[1] != IR_NONE && layer_node_of(&o->l, NULL, "PRelu", in, 2, NULL, 1) != IR_NONE;
}

/* ---- arithmetic ---- */

bool ov_squared_difference(ov_op *o)
{
    ir_id d = layer_step(&o->l, "Sub", o->l.in, 2, NULL), in[] = {d, d};
    return layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1) != IR_NONE;
}

bool ov_not_equal(ov_op *o)
{
    ir_id same = layer_step(&o->l, "Equal", o->l.in, 2, NULL);
    return layer_node_of(&o->l, NULL, "Not", &same, 1, NULL, 1) != IR_NONE;
}

/* Mod truncates: the sign is that of x. */
bool ov_mod(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("fmod", 1), LAYER_END};
    return layer_node_of(&o->l, NULL, "Mod", o->l.in, 2, attrs, 1) != IR_NONE;
}

/* ONNX has the floored remainder for whole numbers only: x - floor(x / y) * y. */
bool ov_floor_mod(ov_op *o)
{
    if (!ir_is_float(ov_in_dtype(o, 0)))
        return layer_node_of(&o->l, NULL, "Mod", o->l.in, 2, NULL, 1) != IR_NONE;
    ir_id q = layer_step(&o->l, "Div", o->l.in, 2, NULL);
    ir_id back[] = {layer_step(&o->l, "Floor", &q, 1, NULL), o->l.in[1]};
    ir_id in[] = {o->l.in[0], layer_step(&o->l, "Mul", back, 2, NULL)};
    return layer_node_of(&o->l, NULL, "Sub", in, 2, NULL, 1) != IR_NONE;
}

bool ov_divide(ov_op *o)
{
    return layer_node_of(&o->l, NULL, "Div", o->l.in, 2, NULL, 1) != IR_NONE;
}

bool ov_round(ov_op *o)
{
    return ov_is(o, "mode", "half_to_even", "half_to_even") && layer_unary(&o->l, "Round", NULL);
}

bool ov_select(ov_op *o)
{
    return layer_node_of(&o->l, NULL, "Where", o->l.in, 3, NULL, 1) != IR_NONE;
}

/* ---- types ---- */

bool ov_convert(ov_op *o)
{
    ir_dtype t = ov_dtype(ov_attr(o, "destination_type"));
    if (t == IR_UNDEFINED)
        t = ov_dtype(ov_attr(o, "precision"));
    if (t == IR_UNDEFINED && ov_out(o, 0))
        t = ov_out(o, 0)->dtype;
    return layer_cast(&o->l, o->l.in[0], t);
}

bool ov_convert_like(ov_op *o)
{
    return layer_cast(&o->l, o->l.in[0], ov_in_dtype(o, 1));
}

bool ov_identity(ov_op *o)
{
    return layer_unary(&o->l, "Identity", NULL);
}
