/* The newer forms of operators that kept their meaning: attributes become inputs, defaults that changed are
 * written out, names that went away are replaced. The mirror of lower_form.c; the steps are rows of raise.c.
 */
#include "rewrite/raise.h"

enum { LIST_MAX = 256 };

/* ---- lists ---- */

/* The attribute becomes input i; absent: the input stays absent too. */
static assay_status list_to_input(lowering *x, const char *attr, uint32_t i)
{
    const ir_attr *a = ir_attr_find(&x->node, attr);
    if (!a)
        return ASSAY_OK;
    if (a->kind != IR_ATTR_INTS || a->n > LIST_MAX)
        return low_fail(x, "one of its lists does not contain whole numbers");
    ir_t list = low_ints_const(x, attr, (int)a->n, a->v.ints);
    TRY(x->status);
    TRY(low_set_input(x, i, list));
    return low_drop_attr(x, attr);
}

/* Squeeze, Unsqueeze, Reduce*. */
assay_status raise_axes(lowering *x)
{
    return list_to_input(x, "axes", 1);
}

assay_status raise_split_13(lowering *x)
{
    return list_to_input(x, "split", 1);
}

/* Equal parts have to be counted since then. */
assay_status raise_split_18(lowering *x)
{
    return low_has(x, 1) ? ASSAY_OK
                         : low_set_attr(x, &IR_SPEC_INT("num_outputs", x->node.n_outputs));
}

assay_status raise_slice(lowering *x)
{
    TRY(list_to_input(x, "starts", 1));
    TRY(list_to_input(x, "ends", 2));
    return list_to_input(x, "axes", 3);
}

assay_status raise_top_k(lowering *x)
{
    const int64_t k = low_int(x, "k", 1);
    ir_t count = low_ints_const(x, "k", 1, &k);
    TRY(x->status);
    TRY(low_set_input(x, 1, count));
    return low_drop_attr(x, "k");
}

/* ---- single numbers ---- */

/* The attribute becomes a scalar input in the element type t. */
static assay_status number_to_input(lowering *x, const char *attr, uint32_t i, ir_dtype t)
{
    const ir_attr *a = ir_attr_find(&x->node, attr);
    if (!a)
        return ASSAY_OK;
    ir_t v = low_float_const(x, attr, t, -1, low_float(x, attr, 0));
    TRY(x->status);
    TRY(low_set_input(x, i, v));
    return low_drop_attr(x, attr);
}

assay_status raise_clip(lowering *x)
{
    ir_dtype t = low_dtype(x, 0);
    if (t == IR_UNDEFINED)
        return low_fail(x, "the element type of its input is unknown");
    TRY(number_to_input(x, "min", 1, t));
    return number_to_input(x, "max", 2, t);
}

assay_status raise_pad_11(lowering *x)
{
    ir_dtype t = low_dtype(x, 0);
    bool filled = str_is(low_word(x, "mode", "constant"), "constant") &&
                  low_float(x, "value", 0) != 0;
    if (filled && t == IR_UNDEFINED)
        return low_fail(x, "the element type of its input is unknown");
    TRY(list_to_input(x, "pads", 1));
    return filled ? number_to_input(x, "value", 2, t) : low_drop_attr(x, "value");
}

/* The mask was of the input's type before 10. */
assay_status raise_dropout_10(lowering *x)
{
    return raise_one_output(x, "its mask is used, and has another type before opset 10");
}

assay_status raise_dropout_12(lowering *x)
{
    return number_to_input(x, "ratio", 1, IR_FLOAT32);
}

/* ---- normalisation ---- */

assay_status raise_batch_norm_9(lowering *x)
{
    if (low_int(x, "spatial", 1) != 1)
        return low_fail(x, "per-element statistics (spatial = 0) were removed in opset 9");
    return low_drop_attr(x, "spatial");
}

assay_status raise_batch_norm_14(lowering *x)
{
    return raise_one_output(x, "its running statistics are used (training only)");
}

/* Before 13 everything from the axis on was one dimension, and the axis was 1 when not said. Over the last
 * axis that is the same; else the input is made flat before and unfolded behind. */
assay_status raise_softmax(lowering *x)
{
    int64_t axis = low_int(x, "axis", 1);
    int rank = low_rank(x, 0);
    if (axis == -1 || (rank > 0 && axis == rank - 1))
        return low_set_attr(x, &IR_SPEC_INT("axis", -1));
    char op[16];
    if (x->node.op.n >= sizeof op)
        return low_fail(x, "its operator is not Softmax, LogSoftmax or Hardmax");
    memcpy(op, x->node.op.p, x->node.op.n);
    op[x->node.op.n] = 0;
    ir_t in = low_value(x, 0), any = {.dtype = low_dtype(x, 0), .rank = -1};
    ir_t size = low_node(x, "Shape", "shape", 1, &in, (ir_t){.dtype = IR_INT64, .rank = -1}, 0,
                         NULL);
    ir_t flat = low_node(x, "Flatten", "flatten", 1, &in, any, 1, &IR_SPEC_INT("axis", axis));
    ir_t soft = low_node(x, op, "rows", 1, &flat, any, 1, &IR_SPEC_INT("axis", -1));
    low_into(x, 0);
    low_node(x, "Reshape", "unfold", 2, (const ir_t[]){soft, size}, any, 0, NULL);
    return x->status;
}

/* ---- images ---- */

assay_status raise_upsample_9(lowering *x)
{
    const ir_attr *a = ir_attr_find(&x->node, "scales");
    if (!a || a->kind != IR_ATTR_FLOATS || a->n > IR_KIT_RANK)
        return low_fail(x, "it has no scales");
    ir_t scales = low_floats_const(x, "scales", (int)a->n, a->v.floats);
    TRY(x->status);
    TRY(low_set_input(x, 1, scales));
    return low_drop_attr(x, "scales");
}

assay_status raise_upsample_10(lowering *x)
{
    x->node.op = STR("Resize");
    return ASSAY_OK;
}

/* Resize of opset 10 took the element at or below when it made more of them, the one at or above when it
 * made fewer. */
static const char *nearest_of(lowering *x)
{
    double scales[IR_KIT_RANK];
    bool more = true, less = true;
    int n = low_floats(x, 1, scales, IR_KIT_RANK);
    for (int i = 0; i < n; i++) {
        more = more && scales[i] >= 1;
        less = less && scales[i] <= 1;
    }
    return n < 0 ? NULL : more ? "floor" : less ? "ceil" : NULL;
}

assay_status raise_resize_11(lowering *x)
{
    bool nearest = str_is(low_word(x, "mode", "nearest"), "nearest");
    const char *rule = nearest ? nearest_of(x) : NULL;
    if (nearest && !rule)
        return low_fail(x, "its scales are unknown, or both larger and smaller than 1");
    ir_t scales = low_value(x, 1), roi = low_float_const(x, "roi", IR_FLOAT32, 0, 0);
    TRY(x->status);
    TRY(low_set_input(x, 2, scales));
    TRY(low_set_input(x, 1, roi));
    if (rule)
        TRY(low_set_attr(
            x, &(ir_attr_spec){.name = "nearest_mode", .kind = IR_ATTR_STRING, .s = rule}));
    return low_set_attr(x, &(ir_attr_spec){.name = "coordinate_transformation_mode",
                                           .kind = IR_ATTR_STRING,
                                           .s = "asymmetric"});
}

/* Region and scales may be left out since then, and must be where sizes are given. */
assay_status raise_resize_13(lowering *x)
{
    for (uint32_t i = 1; i <= 2; i++) {
        const ir_tensor *t = low_has(x, i) ? ir_value_at(x->m, x->node.inputs[i])->constant : NULL;
        if (t && t->n_elems == 0)
            TRY(low_set_input(x, i, (ir_t){.id = IR_NONE}));
    }
    return ASSAY_OK;
}

assay_status raise_roi_align(lowering *x)
{
    return low_set_attr(x, &(ir_attr_spec){.name = "coordinate_transformation_mode",
                                           .kind = IR_ATTR_STRING,
                                           .s = "output_half_pixel"});
}

assay_status raise_grid_sample(lowering *x)
{
    str mode = low_word(x, "mode", "bilinear");
    const char *word = str_is(mode, "bilinear")  ? "linear"
                       : str_is(mode, "bicubic") ? "cubic"
                                                 : NULL;
    if (!word)
        return ASSAY_OK;
    return low_set_attr(x, &(ir_attr_spec){.name = "mode", .kind = IR_ATTR_STRING, .s = word});
}

/* ---- names ---- */

assay_status raise_scatter(lowering *x)
{
    x->node.op = STR("ScatterElements");
    return ASSAY_OK;
}
