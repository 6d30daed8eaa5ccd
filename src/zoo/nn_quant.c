/* Eight bits: the QuantizeLinear/DequantizeLinear form of a network. Inputs of convolutions and linear
 * layers are seen through uint8 (one scale), their weights are stored as int8 (one scale per output
 * channel); normalisations and activations stay in float, so the parameters are those of the float
 * architecture. Scales and zero points stand for a calibration that was not run.
 */
#include "zoo/nn_impl.h"

static nn_t scales(nn *b, const char *of, const char *what, int64_t n)
{
    const char *name = arena_printf(b->scratch, "%s.%s", of, what);
    const float value = 0.02f;
    if (n == 0)
        return nn_table_of(b, name, IR_FLOAT32, 0, NULL, &value);
    float *list = n <= 1 << 20 ? ARENA_ARRAY(b->scratch, float, (size_t)n) : NULL;
    for (int64_t i = 0; list && i < n; i++)
        list[i] = value;
    return nn_table_of(b, name, IR_FLOAT32, 1, &n, list);
}

nn_t nn_activation8(nn *b, const char *of, nn_t x)
{
    const uint8_t middle = 128;
    if (!b->quantized || !nn_ok(b) || x.id == IR_NONE)
        return x;
    str key = ir_value_at(b->model, x.id)->name;
    uint32_t known = map_get(&b->dequantized, key);
    if (known != MAP_NONE) {
        x.id = known;
        return x;
    }
    nn_t in[3] = {x, scales(b, of, "input_scale", 0),
                  nn_table_of(b, arena_printf(b->scratch, "%s.input_zero_point", of), IR_UINT8, 0,
                              NULL, &middle)};
    nn_t q = x, f = x;
    q.dtype = IR_UINT8;
    nn_emit(b, &(nn_call){.op = "QuantizeLinear",
                          .of = of,
                          .in = in,
                          .n_in = 3,
                          .out = &q,
                          .n_out = 1,
                          .name = arena_printf(b->scratch, "%s.quant", of)});
    in[0] = q;
    nn_emit(b, &(nn_call){.op = "DequantizeLinear",
                          .of = of,
                          .in = in,
                          .n_in = 3,
                          .out = &f,
                          .n_out = 1,
                          .name = arena_printf(b->scratch, "%s.dequant", of)});
    if (f.id != IR_NONE)
        map_put(&b->dequantized, key, f.id);
    return f;
}

nn_t nn_weight8(nn *b, const char *of, const char *name, int rank, const int64_t *dims, int axis)
{
    if (!b->quantized || !nn_ok(b))
        return nn_param(b, name, rank, dims);
    nn_t in[2] = {nn_param_of(b, name, IR_INT8, rank, dims),
                  scales(b, of, "weight_scale", dims[axis])};
    nn_t f = nn_shape(IR_FLOAT32, rank, dims);
    nn_emit(b, &(nn_call){.op = "DequantizeLinear",
                          .of = of,
                          .in = in,
                          .n_in = 2,
                          .out = &f,
                          .n_out = 1,
                          .attrs = &NN_INT("axis", axis),
                          .n_attrs = 1,
                          .name = arena_printf(b->scratch, "%s.weight_dequant", of)});
    return f;
}
