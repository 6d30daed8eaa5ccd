/* Between numbers and their quantised form: y = saturate(round(x / scale) + zero_point) and back,
 * y = (x - zero_point) * scale. The scale may be one number, one per slice of an axis or one per
 * block; the shape is the input's in every case.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* The dtype in attribute output_dtype when it is set, else `def`. */
static ir_dtype output_dtype(const op_ctx *c, ir_dtype def)
{
    int64_t t = op_attr_int(c, "output_dtype", IR_UNDEFINED);
    return ir_dtype_valid(t) ? (ir_dtype)t : def;
}

/* The zero point's dtype decides; without one the attribute, else uint8. */
static assay_status quantize(op_ctx *c)
{
    ir_dtype t = op_has(c, 2) ? op_dtype(c, 2) : output_dtype(c, IR_UINT8);
    return op_set_shape_of(c, 0, t, 0);
}

/* Before opset 19 the only type is float32, which is the scale's too. */
static assay_status dequantize(op_ctx *c)
{
    ir_dtype scale = op_dtype(c, 1);
    return op_set_shape_of(c, 0, output_dtype(c, scale != IR_UNDEFINED ? scale : IR_FLOAT32), 0);
}

static assay_status dynamic_quantize(op_ctx *c)
{
    TRY(op_set_shape_of(c, 0, IR_UINT8, 0));
    TRY(op_set_scalar(c, 1, IR_FLOAT32));
    return op_set_scalar(c, 2, IR_UINT8);
}

/* Per-tensor dequantisation of a small known tensor. */
static assay_status dequantize_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0);
    double scale = 0, zero = 0;
    bool one = op_has(c, 1) && op_numel(c->in[1]) == 1;
    if (!in || !one || !op_float_at(c, 1, 0, &scale) ||
        (op_has(c, 2) && !op_float_at(c, 2, 0, &zero)))
        return ASSAY_OK;
    op_val *v = ev_output(c, 0);
    for (int64_t k = 0; v && k < v->n; k++)
        if (op_val_known(in, k))
            ev_store(v, k, c->out[0].dtype,
                     (op_cell){.f = (ev_as_float(in->cells[k], op_dtype(c, 0)) - zero) * scale});
    return ev_finish(c, 0, v);
}

/* ---- costs: the arithmetic is floating-point although one side is integer ---- */

static void add_mix(op_cost *k, op_mix mix, uint64_t n)
{
    k->add = sat_add(k->add, sat_mul(mix.add, n));
    k->mul = sat_add(k->mul, sat_mul(mix.mul, n));
    k->div = sat_add(k->div, sat_mul(mix.div, n));
    k->special = sat_add(k->special, sat_mul(mix.special, n));
    k->cmp = sat_add(k->cmp, sat_mul(mix.cmp, n));
}

static void quantize_cost(const op_ctx *c, op_cost *k)
{
    op_mix mix = {.div = 1, .special = 1, .cmp = 2, .add = op_has(c, 2)};
    add_mix(k, mix, op_out_elems(c, 0));
}

static void dequantize_cost(const op_ctx *c, op_cost *k)
{
    add_mix(k, (op_mix){.mul = 1, .add = op_has(c, 2)}, op_out_elems(c, 0));
}

static void dynamic_quantize_cost(const op_ctx *c, op_cost *k)
{
    add_mix(k, (op_mix){.div = 1, .special = 1, .cmp = 4, .add = 1}, op_out_elems(c, 0));
}

static const op_row rows[] = {
    {OP_ROW("", "QuantizeLinear", "quantize", "10,13,19,21,23,24,25",
            "per element: 1 div + 1 special (round) + 2 cmp, + 1 add with a zero point", quantize,
            quantize_cost),
     OP_SLOTS(2, 3, 1, 1), .weights = 0, .aux = 6, .flags = OPF_PASS, .backward = OP_BW_ELEMENTWISE,
     .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "DequantizeLinear", "dequantize", "10,13,19,21,23,24,25",
            "per element: 1 mul, + 1 add with a zero point", dequantize, dequantize_cost),
     OP_SLOTS(2, 3, 1, 1), .value = dequantize_value, .aux = 6, .flags = OPF_PASS,
     .backward = OP_BW_ELEMENTWISE, .saves = OP_SAVE_NOTHING},
    {OP_ROW("", "DynamicQuantizeLinear", "quantize", "11",
            "per element: 1 div + 1 special (round) + 4 cmp + 1 add", dynamic_quantize,
            dynamic_quantize_cost),
     OP_SLOTS(1, 1, 3, 3), .backward = OP_BW_NONE, .saves = OP_SAVE_NOTHING},
};

const op_rows op_quantize_rows = OP_ROWS(rows);
