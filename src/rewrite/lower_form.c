/* Operators that keep their meaning and change their form: lists as inputs or attributes, words that
 * were renamed. */
#include "ir/constant.h"
#include "rewrite/lower_impl.h"

/* Reduce*, Squeeze, Unsqueeze: input 1 becomes the attribute `axes`. */
assay_status lower_axes(lowering *x)
{
    int64_t axes[IR_MAX_RANK];
    int n = low_ints(x, 1, axes, IR_MAX_RANK);
    bool noop = low_int(x, "noop_with_empty_axes", 0) != 0;
    if (n == -2)
        return low_fail(x, "its axes are not constant");
    if (n <= 0 && noop)
        return low_fail(x, "its older form cannot express empty axes as a no-op");
    if (n > 0)
        low_set_attr(x, &IR_SPEC_INTS("axes", n, axes));
    low_drop_attr(x, "noop_with_empty_axes");
    return low_keep_inputs(x, 1);
}

/* How much of the input each output takes, by the declared shapes. */
static bool split_sizes(const lowering *x, int64_t *sizes, bool *equal)
{
    int64_t axis = low_int(x, "axis", 0);
    *equal = true;
    for (uint32_t i = 0; i < x->node.n_outputs; i++) {
        ir_t out = low_output(x, i);
        int64_t at = axis < 0 ? axis + out.rank : axis;
        if (out.rank < 0 || at < 0 || at >= out.rank)
            return false;
        sizes[i] = out.d[at];
        *equal = *equal && sizes[i] == sizes[0];
    }
    return true;
}

enum { SPLIT_MAX = 256 };

/* Before num_outputs parts were equal, or their sizes were given. */
assay_status lower_split_18(lowering *x)
{
    int64_t sizes[SPLIT_MAX];
    bool equal = true;
    if (!ir_attr_find(&x->node, "num_outputs"))
        return ASSAY_OK;
    low_drop_attr(x, "num_outputs");
    if (low_has(x, 1))
        return ASSAY_OK;
    if (x->node.n_outputs > SPLIT_MAX || !split_sizes(x, sizes, &equal))
        return low_fail(x, "the sizes of its parts are unknown");
    if (equal)
        return ASSAY_OK;
    return low_set_input(x, 1, low_ints_const(x, "split", (int)x->node.n_outputs, sizes));
}

assay_status lower_split_13(lowering *x)
{
    int64_t sizes[SPLIT_MAX];
    int n = low_ints(x, 1, sizes, SPLIT_MAX);
    if (n == -2)
        return low_fail(x, "the sizes of its parts are not constant");
    if (n >= 0)
        low_set_attr(x, &IR_SPEC_INTS("split", n, sizes));
    return low_keep_inputs(x, 1);
}

/* Pads of some axes become pads of all. */
assay_status lower_pad_axes(lowering *x)
{
    int64_t axes[IR_KIT_RANK], some[2 * IR_KIT_RANK], all[2 * IR_KIT_RANK] = {0};
    if (str_is(low_word(x, "mode", "constant"), "wrap"))
        return low_fail(x, "wrap padding is new in opset 19");
    if (!low_has(x, 3))
        return low_keep_inputs(x, 3);
    ir_t in = low_input(x, 0);
    int n = low_ints(x, 3, axes, IR_KIT_RANK), n_pads = low_ints(x, 1, some, 2 * IR_KIT_RANK);
    if (x->status != ASSAY_OK || n < 0 || n_pads != 2 * n)
        return low_fail(x, "its axes or pads are not constant");
    for (int i = 0; i < n; i++) {
        int64_t at = axes[i] < 0 ? axes[i] + in.rank : axes[i];
        if (at < 0 || at >= in.rank)
            return low_fail(x, "its axes are out of range");
        all[at] = some[i];
        all[at + in.rank] = some[n + i];
    }
    low_set_input(x, 1, low_ints_const(x, "pads", 2 * in.rank, all));
    return low_keep_inputs(x, 3);
}

/* Region and scales could not be left out. */
assay_status lower_resize_13(lowering *x)
{
    static const char *const names[] = {"", "roi", "scales"};
    for (uint32_t i = 1; i <= 2; i++)
        if (!low_has(x, i))
            low_set_input(x, i, low_float_const(x, names[i], IR_FLOAT32, 0, 0.0));
    return x->status;
}

/* Before 13 everything behind the axis was one dimension, so only the last axis means the same. */
assay_status lower_softmax(lowering *x)
{
    int rank = low_rank(x, 0);
    int64_t axis = low_int(x, "axis", -1);
    if (rank < 0)
        return low_fail(x, "the rank of its input is unknown");
    axis = axis < 0 ? axis + rank : axis;
    return axis == rank - 1 ? low_set_attr(x, &IR_SPEC_INT("axis", axis))
                            : low_fail(x, "its axis is not the last one");
}

assay_status lower_grid_sample(lowering *x)
{
    str mode = low_word(x, "mode", "linear");
    ir_t in = low_value(x, 0);
    if (in.rank >= 0 && in.rank != 4)
        return low_fail(x, "its older form samples images only");
    const char *word = str_is(mode, "linear")  ? "bilinear"
                       : str_is(mode, "cubic") ? "bicubic"
                                               : NULL;
    if (!word)
        return ASSAY_OK;
    return low_set_attr(x, &(ir_attr_spec){.name = "mode", .kind = IR_ATTR_STRING, .s = word});
}

assay_status lower_roi_align(lowering *x)
{
    if (!str_is(low_word(x, "coordinate_transformation_mode", "half_pixel"), "output_half_pixel"))
        return low_fail(x, "boxes are shifted by half a pixel before opset 16");
    return low_drop_attr(x, "coordinate_transformation_mode");
}

/* Lists and single numbers as attributes become a tensor. */
assay_status lower_constant(lowering *x)
{
    const ir_tensor *t;
    if (ir_attr_find(&x->node, "value") || ir_attr_find(&x->node, "sparse_value"))
        return ASSAY_OK;
    TRY(ir_node_constant(x->m, &x->node, &t, x->err));
    ir_attr *a = ARENA_NEW(x->m->arena, ir_attr);
    if (!t || t->dtype == IR_STRING || !a)
        return low_fail(x, "its value cannot be expressed as a tensor");
    *a = (ir_attr){.name = STR("value"), .kind = IR_ATTR_TENSOR, .n = 1};
    a->v.tensor = t;
    x->node.attrs = a;
    x->node.n_attrs = 1;
    return ASSAY_OK;
}
