/* Quantised values of foreign graphs: as real numbers before a node computes on them, and stored again behind it; see
 * to_onnx.h. Nodes that compute on the stored numbers themselves are in to_onnx_integer.c. */
#include <string.h>

#include "ir/made.h"
#include "rewrite/to_onnx_impl.h"

static bool is_quantised_type(ir_dtype t)
{
    return t == IR_INT8 || t == IR_UINT8 || t == IR_INT16 || t == IR_INT4 || t == IR_UINT4;
}

bool is_quantised(const exporting *x, ir_id id)
{
    const ir_value *v = id == IR_NONE ? NULL : ir_value_at(x->k.m, id);
    if (!v || !v->quant)
        return false;
    return is_quantised_type(v->constant ? v->constant->dtype : v->declared.dtype);
}

ir_dtype stored_type(const exporting *x, ir_id id)
{
    const ir_value *v = ir_value_at(x->k.m, id);
    return v->constant ? v->constant->dtype : v->declared.dtype;
}

ir_id scale_of(exporting *x, const ir_value *v)
{
    ir_tensor *t = arena_copy(x->k.m->arena, v->quant->scale, sizeof *t);
    if (!t)
        return IR_NONE;
    if (t->n_elems == 1)
        t->rank = 0;
    t->name = kit_name(&x->k, v->name, "/scale");
    return kit_const(&x->k, x->graph, t->name, t, IR_NONE);
}

ir_id zero_of(exporting *x, const ir_value *v, ir_dtype t)
{
    uint64_t n = v->quant->scale->n_elems;
    unsigned size = ir_dtype_get(t)->bits / 8u;
    int64_t dim = (int64_t)n;
    const uint8_t *from = NULL;
    uint8_t *to = ARENA_ARRAY(x->k.m->arena, uint8_t, (size_t)(n * size) + 1);
    ir_tensor *tensor = ir_make_tensor_borrowed(x->k.m, v->name, t, n > 1, &dim);
    if (!to || !tensor ||
        (v->quant->zero &&
         ir_read_whole(&x->k.m->reader, v->quant->zero, &from, x->k.err) != ASSAY_OK))
        return IR_NONE;
    for (uint64_t i = 0; from && i < n; i++)
        memcpy(to + i * size, from + 8 * i, size);
    tensor->storage = IR_DATA_INLINE;
    tensor->bytes = to;
    tensor->name = kit_name(&x->k, v->name, "/zero_point");
    return kit_const(&x->k, x->graph, tensor->name, tensor, IR_NONE);
}

ir_id step_cast(exporting *x, const char *part, ir_id in, ir_dtype t)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), STEP_END};
    return step(x, part, "Cast", &in, 1, attrs);
}

/* 16 bits and more are not among the types of opset 17, and symmetric: q * scale. */
static ir_id dequantise_wide(exporting *x, ir_id id, ir_id scale)
{
    ir_id in[] = {step_cast(x, "real", id, IR_FLOAT32), scale};
    return step(x, "scaled", "Mul", in, 2, NULL);
}

ir_id real_of(exporting *x, ir_id id)
{
    if (!is_quantised(x, id))
        return id;
    if (id < x->n_real && x->real[id] != IR_NONE)
        return x->real[id];
    ir_value v = *ir_value_at(x->k.m, id);
    ir_dtype t = stored_type(x, id);
    ir_id in[] = {id, scale_of(x, &v), IR_NONE}, made;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", v.quant->axis), STEP_END};
    bool many = v.quant->scale->n_elems > 1;
    if (t == IR_INT16) {
        made = dequantise_wide(x, id, in[1]);
    } else {
        in[2] = zero_of(x, &v, t);
        made = step(x, "real", "DequantizeLinear", in, 3, many ? attrs : NULL);
    }
    if (id < x->n_real)
        x->real[id] = made;
    return made;
}

/* The last part, which makes the value itself. */
static void add_last(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                     const ir_attr_spec *attrs, ir_id out)
{
    ir_id id = add_part(x, "quantised", op, in, n_in, attrs, out);
    if (id != IR_NONE)
        ir_node_at(x->k.m, id)->name = kit_name(&x->k, ir_value_at(x->k.m, out)->name,
                                                "/quantised");
}

ir_id real_bias(exporting *x, ir_id id)
{
    if (id == IR_NONE)
        return id;
    ir_value v = *ir_value_at(x->k.m, id);
    bool wide = v.quant && v.constant && ir_is_integer(v.constant->dtype);
    return wide ? dequantise_wide(x, id, scale_of(x, &v)) : real_of(x, id);
}

static void quantise_wide(exporting *x, ir_id from, ir_id scale, ir_id out)
{
    ir_t scalar = {.dtype = IR_FLOAT32};
    const float low = -32768, high = 32767;
    ir_id in[] = {from, scale};
    ir_id q = step(x, "unscaled", "Div", in, 2, NULL);
    q = step(x, "rounded", "Round", &q, 1, NULL);
    str base = ir_value_at(x->k.m, out)->name;
    ir_id clip[] = {q, kit_bytes(&x->k, x->graph, base, "/low", &scalar, &low),
                    kit_bytes(&x->k, x->graph, base, "/high", &scalar, &high)};
    q = step(x, "clipped", "Clip", clip, 3, NULL);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", IR_INT16), STEP_END};
    add_last(x, "Cast", &q, 1, attrs, out);
}

void store_quantised(exporting *x, ir_id from, ir_id out)
{
    ir_value v = *ir_value_at(x->k.m, out);
    ir_dtype t = stored_type(x, out);
    ir_id scale = scale_of(x, &v);
    if (t == IR_INT16) {
        quantise_wide(x, from, scale, out);
        return;
    }
    ir_id in[] = {from, scale, zero_of(x, &v, t)};
    add_last(x, "QuantizeLinear", in, 3, NULL, out);
}

assay_status finish_stored(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                           const ir_attr_spec *attrs)
{
    const ir_node old = *ir_node_at(x->k.m, x->node);
    ir_id node = add_part(x, op, op, in, n_in, attrs, old.outputs[0]);
    if (node == IR_NONE)
        return err_no_memory(x->k.err);
    ir_node_at(x->k.m, node)->name = old.name;
    return ASSAY_OK;
}

assay_status finish(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                    const ir_attr_spec *attrs)
{
    const ir_node old = *ir_node_at(x->k.m, x->node);
    if (!is_quantised(x, old.outputs[0]))
        return finish_stored(x, op, in, n_in, attrs);
    ir_id out = step_value(x, "real_output"), node = add_part(x, op, op, in, n_in, attrs, out);
    if (node == IR_NONE)
        return err_no_memory(x->k.err);
    ir_node_at(x->k.m, node)->name = old.name;
    store_quantised(x, out, old.outputs[0]);
    return ASSAY_OK;
}

assay_status finish_wide(exporting *x, ir_id real, ir_dtype t)
{
    ir_value v = *ir_value_at(x->k.m, ir_node_at(x->k.m, x->node)->outputs[0]);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), STEP_END};
    if (!v.quant)
        return no_form(x, "its scale is not known");
    ir_id in[] = {real, scale_of(x, &v)};
    ir_id q = step(x, "unscaled", "Div", in, 2, NULL);
    q = step(x, "rounded", "Round", &q, 1, NULL);
    return finish(x, "Cast", &q, 1, attrs);
}
