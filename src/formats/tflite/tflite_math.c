/* Operators of TFLite that reduce, compare and compute element by element, where one row is not enough. */
#include "formats/tflite/tflite_impl.h"

#include <string.h>

#include "formats/foreign_layer.h"

static assay_status add_cast(tfl_op *o, ir_id from, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("to", tfl_dtype(o, true, 0)), TFL_END};
    *mapped = tfl_node(o, NULL, "Cast", &from, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* Booleans are reduced as whole numbers. */
static assay_status reduce_logic(tfl_op *o, const int64_t *axes, int n, bool keep, bool *mapped)
{
    ir_attr_spec number[] = {IR_SPEC_INT("to", IR_INT32), TFL_END};
    ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", keep), IR_SPEC_INTS("axes", n, axes), TFL_END};
    ir_id x = tfl_step(o, "Cast", o->in, 1, number);
    return add_cast(o, tfl_step(o, o->row->op, &x, 1, attrs), mapped);
}

/* Axes are an attribute of opset 17, but for ReduceSum. */
assay_status tfl_reduce(tfl_op *o, bool *mapped)
{
    int64_t axes[TFL_LIST];
    int n = tfl_ints(o, 1, axes, TFL_LIST);
    bool keep = flat_u8(o->r->flat, o->options, 0, 0) != 0;
    if (n < 0)
        return ASSAY_OK;
    if (n == 0) {
        *mapped = tfl_node(o, NULL, "Identity", o->in, 1, NULL) != IR_NONE;
        return ASSAY_OK;
    }
    if (tfl_dtype(o, false, 0) == IR_BOOL)
        return reduce_logic(o, axes, n, keep, mapped);
    if (strcmp(o->row->op, "ReduceSum") == 0) {
        ir_id in[] = {o->in[0], foreign_ints(o->f, o->name, "axes", axes, (uint32_t)n)};
        ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", keep), TFL_END};
        *mapped = tfl_node(o, NULL, o->row->op, in, 2, attrs) != IR_NONE;
        return ASSAY_OK;
    }
    ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", keep), IR_SPEC_INTS("axes", n, axes), TFL_END};
    *mapped = tfl_node(o, NULL, o->row->op, o->in, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* ONNX has int64 indices. */
assay_status tfl_arg(tfl_op *o, bool *mapped)
{
    int64_t axis;
    if (tfl_ints(o, 1, &axis, 1) != 1)
        return ASSAY_OK;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("keepdims", 0), TFL_END};
    if (tfl_dtype(o, true, 0) == IR_INT64) {
        *mapped = tfl_node(o, NULL, o->row->op, o->in, 1, attrs) != IR_NONE;
        return ASSAY_OK;
    }
    return add_cast(o, tfl_step(o, o->row->op, o->in, 1, attrs), mapped);
}

assay_status tfl_cast(tfl_op *o, bool *mapped)
{
    return tfl_dtype(o, true, 0) == IR_UNDEFINED ? ASSAY_OK : add_cast(o, o->in[0], mapped);
}

assay_status tfl_squared_difference(tfl_op *o, bool *mapped)
{
    ir_id d = tfl_step(o, "Sub", o->in, 2, NULL), in[] = {d, d};
    *mapped = tfl_node(o, NULL, "Mul", in, 2, NULL) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_rsqrt(tfl_op *o, bool *mapped)
{
    ir_id root = tfl_step(o, "Sqrt", o->in, 1, NULL);
    *mapped = tfl_node(o, NULL, "Reciprocal", &root, 1, NULL) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_square(tfl_op *o, bool *mapped)
{
    ir_id in[] = {o->in[0], o->in[0]};
    *mapped = tfl_node(o, NULL, "Mul", in, 2, NULL) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_floor_div(tfl_op *o, bool *mapped)
{
    foreign_layer l = {o->f, o->name, o->in, o->out, o->n_in, o->n_out};
    *mapped = layer_floor_div(&l, o->in[0], o->in[1], tfl_dtype(o, false, 0));
    return ASSAY_OK;
}

assay_status tfl_not_equal(tfl_op *o, bool *mapped)
{
    ir_id same = tfl_step(o, "Equal", o->in, 2, NULL);
    *mapped = tfl_node(o, NULL, "Not", &same, 1, NULL) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_cumsum(tfl_op *o, bool *mapped)
{
    flat *f = o->r->flat;
    ir_attr_spec attrs[] = {IR_SPEC_INT("exclusive", flat_u8(f, o->options, 0, 0) != 0),
                            IR_SPEC_INT("reverse", flat_u8(f, o->options, 1, 0) != 0), TFL_END};
    *mapped = tfl_node(o, NULL, "CumSum", o->in, 2, attrs) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_shift(tfl_op *o, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("direction", "RIGHT"), TFL_END};
    *mapped = tfl_node(o, NULL, "BitShift", o->in, 2, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* ---- selection ---- */

/* A condition of rank 1 is one for each row of the others. */
assay_status tfl_select(tfl_op *o, bool *mapped)
{
    int rank = tfl_rank(o, 1);
    ir_id in[] = {o->in[0], o->in[1], o->in[2]};
    if (str_is(str_of(o->row->name), "SELECT") && tfl_rank(o, 0) == 1 && rank > 1) {
        int64_t axes[IR_MAX_RANK];
        for (int d = 1; d < rank; d++)
            axes[d - 1] = d;
        ir_id list[] = {in[0], foreign_ints(o->f, o->name, "axes", axes, (uint32_t)(rank - 1))};
        in[0] = tfl_step(o, "Unsqueeze", list, 2, NULL);
    }
    *mapped = tfl_node(o, NULL, "Where", in, 3, NULL) != IR_NONE;
    return ASSAY_OK;
}

assay_status tfl_where(tfl_op *o, bool *mapped)
{
    static const int64_t perm[] = {1, 0};
    ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", 2, perm), TFL_END};
    if (o->n_in != 1)
        return ASSAY_OK;
    ir_id found = tfl_step(o, "NonZero", o->in, 1, NULL);
    *mapped = tfl_node(o, NULL, "Transpose", &found, 1, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* off and on in one tensor. */
assay_status tfl_one_hot(tfl_op *o, bool *mapped)
{
    static const int64_t zero;
    ir_id axes = foreign_ints(o->f, o->name, "axes", &zero, 1);
    ir_id off[] = {o->in[3], axes}, on[] = {o->in[2], axes};
    ir_attr_spec first[] = {IR_SPEC_INT("axis", 0), TFL_END};
    ir_id pair[] = {tfl_step(o, "Unsqueeze", off, 2, NULL), tfl_step(o, "Unsqueeze", on, 2, NULL)};
    ir_id in[] = {o->in[0], o->in[1], tfl_step(o, "Concat", pair, 2, first)};
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", flat_i32(o->r->flat, o->options, 0, 0)), TFL_END};
    *mapped = tfl_node(o, NULL, "OneHot", in, 3, attrs) != IR_NONE;
    return ASSAY_OK;
}

/* K is a list of one; indices are int64. */
assay_status tfl_topk(tfl_op *o, bool *mapped)
{
    static const int64_t one = 1;
    int64_t k;
    ir_id list[] = {o->in[1], foreign_ints(o->f, o->name, "shape", &one, 1)};
    ir_id in[] = {o->in[0], tfl_ints(o, 1, &k, 1) == 1 ? foreign_ints(o->f, o->name, "k", &k, 1)
                                                       : tfl_step(o, "Reshape", list, 2, NULL)};
    if (o->n_out != 2)
        return ASSAY_OK;
    ir_id indices = foreign_inner(o->f, o->name, "indices"), out[] = {o->out[0], indices};
    foreign_add(o->f,
                &(foreign_node){
                    .op = "TopK", .name = o->name, .in = in, .n_in = 2, .out = out, .n_out = 2});
    ir_attr_spec to[] = {IR_SPEC_INT("to", tfl_dtype(o, true, 1))};
    *mapped = foreign_add(o->f, &(foreign_node){.op = "Cast",
                                                .name = o->name,
                                                .in = &indices,
                                                .n_in = 1,
                                                .out = &o->out[1],
                                                .n_out = 1,
                                                .attrs = to,
                                                .n_attrs = 1}) != IR_NONE;
    return ASSAY_OK;
}
