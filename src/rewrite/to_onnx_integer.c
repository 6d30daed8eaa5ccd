/* Products of quantised graphs as arithmetic on the stored whole numbers, as integer kernels do it; see to_onnx.h.
 *
 * A product of x and w is sum((x - zx) * (w - zw)) + bias, exact in 32 bits. It is stored as
 *     saturate(round(float(sum) * (sx * sw / sy)) + zy),
 * rounded to the nearest, ties to even. QLinearConv of ONNX Runtime and the kernels of XNNPACK, which LiteRT runs, both
 * compute this. Real numbers between the operators (DequantizeLinear, Conv, QuantizeLinear) give other sums: deep models
 * then differ by several steps.
 */
#include <string.h>

#include "ir/made.h"
#include "rewrite/to_onnx_impl.h"

/* ---- parameters ---- */

const float *read_scales(exporting *x, const ir_value *v)
{
    const uint8_t *bytes = NULL;
    if (ir_read_whole(&x->k.m->reader, v->quant->scale, &bytes, x->k.err) != ASSAY_OK)
        return NULL;
    float *list = arena_copy(x->k.scratch, bytes, (size_t)v->quant->scale->n_elems * sizeof *list);
    return list;
}

bool read_zero(exporting *x, const ir_value *v, int64_t *zero)
{
    const ir_tensor *t = v->quant->zero;
    const uint8_t *bytes = NULL;
    *zero = 0;
    if (!t)
        return true;
    if (t->n_elems == 0 || ir_read_whole(&x->k.m->reader, t, &bytes, x->k.err) != ASSAY_OK)
        return false;
    memcpy(zero, bytes, sizeof *zero);
    for (uint64_t i = 1; i < t->n_elems; i++)
        if (memcmp(bytes, bytes + 8 * i, 8) != 0)
            return false;
    return true;
}

bool has_eight_bits(const exporting *x, ir_id id)
{
    return is_quantised(x, id) && ir_dtype_get(stored_type(x, id))->bits == 8;
}

bool has_one_scale(const exporting *x, ir_id id)
{
    return ir_value_at(x->k.m, id)->quant->scale->n_elems == 1;
}

bool is_integer_product(exporting *x, const ir_node *n)
{
    ir_id a = n->inputs[0], w = n->inputs[1], b = kit_in(n, 2), y = n->outputs[0];
    int64_t zero;
    if (!has_eight_bits(x, a) || !has_eight_bits(x, w) || !has_eight_bits(x, y))
        return false;
    if (b != IR_NONE && stored_type(x, b) != IR_INT32)
        return false;
    if (stored_type(x, a) != stored_type(x, y) ||
        (stored_type(x, a) == IR_INT8 && stored_type(x, w) != IR_INT8))
        return false;
    return has_one_scale(x, a) && has_one_scale(x, y) &&
           read_zero(x, ir_value_at(x->k.m, w), &zero);
}

ir_id step_scalar(exporting *x, const char *part, ir_dtype t, const void *bytes)
{
    ir_t scalar = {.dtype = t};
    str base = ir_node_at(x->k.m, x->node)->name;
    return kit_bytes(&x->k, x->graph, str_printf(x->k.scratch, STR_FMT "/", STR_ARG(base)), part,
                     &scalar, bytes);
}

ir_id step_stored(exporting *x, const char *part, ir_dtype t, int64_t v)
{
    uint8_t byte = (uint8_t)v;
    return step_scalar(x, part, t, &byte);
}

/* ---- products ---- */

ir_id step_integer_conv(exporting *x, const ir_node *n, ir_id data, ir_id kernel,
                        const ir_attr_spec *attrs)
{
    const ir_value a = *ir_value_at(x->k.m, n->inputs[0]), w = *ir_value_at(x->k.m, n->inputs[1]),
                   y = *ir_value_at(x->k.m, n->outputs[0]);
    ir_dtype t = stored_type(x, n->inputs[0]), wt = stored_type(x, n->inputs[1]);
    ir_id a_scale = scale_of(x, &a), a_zero = zero_of(x, &a, t);
    ir_id w_scale = scale_of(x, &w), w_zero = zero_of(x, &w, wt);
    ir_id y_scale = scale_of(x, &y), y_zero = zero_of(x, &y, t);
    ir_id in[] = {data, a_scale, a_zero, kernel, w_scale, w_zero, y_scale, y_zero, kit_in(n, 2)};
    return step(x, "Conv", "QLinearConv", in, in[8] == IR_NONE ? 8 : 9, attrs);
}

assay_status finish_steps(exporting *x, ir_id steps)
{
    static const float one = 1;
    ir_id out = ir_node_at(x->k.m, x->node)->outputs[0];
    const ir_value y = *ir_value_at(x->k.m, out);
    ir_id unit = step_scalar(x, "unit", IR_FLOAT32, &one);
    ir_id in[] = {steps, unit, zero_of(x, &y, stored_type(x, out))};
    return finish_stored(x, "QuantizeLinear", in, 3, NULL);
}
