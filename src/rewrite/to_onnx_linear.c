/* Linear layers, whose kernel is [out, in], as ONNX; see to_onnx.h. */
#include "ir/made.h"
#include "rewrite/to_onnx_impl.h"

static const int64_t turn[] = {1, 0};

/* ---- stored numbers ---- */

/* sx * sw / sy, one or one for each column, in the order of XNNPACK. */
static ir_id product_scale(exporting *x, const ir_node *n)
{
    const ir_value a = *ir_value_at(x->k.m, n->inputs[0]), w = *ir_value_at(x->k.m, n->inputs[1]),
                   y = *ir_value_at(x->k.m, n->outputs[0]);
    const float *sa = read_scales(x, &a), *sw = read_scales(x, &w), *sy = read_scales(x, &y);
    uint64_t count = w.quant->scale->n_elems;
    float *list = ARENA_ARRAY(x->k.scratch, float, (size_t)count + 1);
    if (!sa || !sw || !sy || !list)
        return IR_NONE;
    for (uint64_t i = 0; i < count; i++)
        list[i] = *sa * sw[i] / *sy;
    ir_t shape = {.dtype = IR_FLOAT32, .rank = count > 1, .d = {(int64_t)count}};
    return kit_bytes(&x->k, x->graph, ir_node_at(x->k.m, x->node)->name, "/step", &shape, list);
}

/* rows [..., K] times kernel [K, N] on stored numbers. */
static assay_status export_integer_linear(exporting *x, const ir_node *n, ir_id rows, ir_id kernel)
{
    const ir_value a = *ir_value_at(x->k.m, n->inputs[0]), w = *ir_value_at(x->k.m, n->inputs[1]);
    ir_dtype wt = stored_type(x, n->inputs[1]);
    int64_t zero;
    if (!read_zero(x, &w, &zero))
        return no_form(x, "its weights have several zero points");
    ir_id a_zero = zero_of(x, &a, stored_type(x, n->inputs[0]));
    ir_id in[] = {rows, kernel, a_zero, step_stored(x, "kernel_zero", wt, zero)};
    ir_id sum = step(x, "MatMul", "MatMulInteger", in, 4, NULL);
    if (kit_in(n, 2) != IR_NONE) {
        ir_id both[] = {sum, n->inputs[2]};
        sum = step(x, "biased", "Add", both, 2, NULL);
    }
    ir_id real = step_cast(x, "sum", sum, IR_FLOAT32);
    ir_id scaled[] = {real, product_scale(x, n)};
    return finish_steps(x, step(x, "scaled", "Mul", scaled, 2, NULL));
}

/* ---- real numbers ---- */

/* [K, N]. Behind DequantizeLinear, ONNX Runtime would round the data in its own way (MatMulNBits): the stored numbers of
 * a dynamic product are cast and multiplied instead. */
static ir_id rows_kernel(exporting *x, const ir_node *n)
{
    if (!is_dynamic_product(x, n))
        return step_transpose(x, "kernel", real_of(x, n->inputs[1]), turn, 2);
    const ir_value w = *ir_value_at(x->k.m, n->inputs[1]);
    ir_id turned = step_transpose(x, "kernel", n->inputs[1], turn, 2);
    return step_two(x, "kernel_real", "Mul", step_cast(x, "cast", turned, IR_FLOAT32),
                    scale_of(x, &w));
}

assay_status export_linear(exporting *x, const ir_node *n)
{
    int rank, w_rank;
    const int64_t *in_dims = known_dims(x, n->inputs[0], &rank);
    const int64_t *w = known_dims(x, n->inputs[1], &w_rank);
    if (!in_dims || !w || w_rank != 2)
        return no_form(x, "its sizes are not known");
    bool integers = is_integer_product(x, n), keep = ir_attr_int(n, "keep_num_dims", 0) && rank > 2;
    ir_id a = integers ? n->inputs[0] : real_of(x, n->inputs[0]);
    if (!keep && (rank != 2 || in_dims[1] != w[1])) {
        const int64_t shape[] = {-1, w[1]};
        ir_id in[] = {a, step_ints(x, "rows_shape", shape, 2)};
        a = step(x, "rows", "Reshape", in, 2, NULL);
    }
    if (integers)
        return export_integer_linear(x, n, a, step_transpose(x, "kernel", n->inputs[1], turn, 2));
    ir_id bias = real_bias(x, kit_in(n, 2));
    a = step_dynamic(x, n, a, keep ? rank - 1 : 1, keep ? rank : 2);
    if (!keep) {
        ir_id in[] = {a, real_of(x, n->inputs[1]), bias};
        const ir_attr_spec attrs[] = {IR_SPEC_INT("transB", 1), STEP_END};
        return finish(x, "Gemm", in, bias == IR_NONE ? 2 : 3, attrs);
    }
    ir_id in[] = {a, rows_kernel(x, n)};
    if (bias == IR_NONE)
        return finish(x, "MatMul", in, 2, NULL);
    ir_id sum[] = {step(x, "MatMul", "MatMul", in, 2, NULL), bias};
    return finish(x, "Add", sum, 2, NULL);
}
