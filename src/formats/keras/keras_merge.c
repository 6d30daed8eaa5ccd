/* Layers that join several tensors. */
#include "formats/keras/keras_impl.h"

/* Keras broadcasts tensors of a lower rank from behind the batch: [N,C] and [N,T,C]. */
static ir_t lift(keras_call *c, ir_t x, int rank)
{
    while (x.rank >= 1 && x.rank < rank && x.id != IR_NONE)
        x = keras_expand_dims(c, "lifted", x, 1);
    return x;
}

static bool ranks_known(const keras_call *c)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (c->in[i].rank < 0)
            return false;
    return c->n_in > 0;
}

static ir_t merge_all(keras_call *c, const char *op)
{
    int rank = 0;
    for (uint32_t i = 0; i < c->n_in; i++)
        rank = c->in[i].rank > rank ? c->in[i].rank : rank;
    ir_t y = lift(c, c->in[0], rank);
    if (c->n_in == 1)
        return keras_unary(c, NULL, "Identity", y);
    for (uint32_t i = 1; i < c->n_in; i++) {
        ir_t x = lift(c, c->in[i], rank);
        y = keras_binary(c, i + 1 == c->n_in ? NULL : "partial", op, y, x);
    }
    return y;
}

bool keras_merge(keras_call *c)
{
    if (!ranks_known(c))
        return false;
    bool average = str_is(str_of(c->l->row->op), "Mean");
    if (!average)
        return keras_give(c, merge_all(c, c->l->row->op));
    ir_t sum = merge_all(c, "Add");
    return keras_give(
        c, keras_binary(c, "Mean", "Div", sum, keras_scalar(c, "count", sum.dtype, c->n_in)));
}

bool keras_subtract(keras_call *c)
{
    return ranks_known(c) && c->n_in == 2 && keras_give(c, merge_all(c, "Sub"));
}

bool keras_concatenate(keras_call *c)
{
    int64_t axis = keras_int(c->config, "axis|concat_axis", -1);
    if (!ranks_known(c) || axis < -IR_KIT_RANK || axis > IR_KIT_RANK)
        return false;
    if (c->n_in == 1)
        return keras_identity(c);
    return keras_give(c, keras_concat(c, NULL, c->in, c->n_in, (int)axis));
}

/* ---- dot products ---- */

static ir_t with_axis_last(keras_call *c, const char *part, ir_t x, int axis, bool last)
{
    int64_t perm[IR_KIT_RANK];
    int n = 0, to = last ? x.rank - 1 : 1;
    if (axis == to)
        return x;
    for (int d = 0; d < x.rank; d++)
        if (d != axis) {
            if (n == to)
                perm[n++] = axis;
            perm[n++] = d;
        }
    if (n < x.rank)
        perm[n] = axis;
    return keras_transpose(c, part, x, perm);
}

static ir_t unit(keras_call *c, const char *part, ir_t x, int axis)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("p", 2), KERAS_END};
    return keras_step(c, part, "LpNormalization", &x.id, 1, attrs, x);
}

/* [N,a] and [N,a] give [N,1]; of higher rank: a batched product over the axes. */
bool keras_dot(keras_call *c)
{
    int64_t axes[2] = {-1, -1};
    if (c->n_in != 2 || !ranks_known(c) || !keras_ints(c->config, "axes|dot_axes", axes, 2))
        return false;
    ir_t a = c->in[0], b = c->in[1];
    int p = (int)(axes[0] < 0 ? axes[0] + a.rank : axes[0]),
        q = (int)(axes[1] < 0 ? axes[1] + b.rank : axes[1]);
    if (a.rank < 2 || b.rank < 2 || a.rank > 3 || b.rank > 3 || p < 1 || p >= a.rank || q < 1 ||
        q >= b.rank)
        return false;
    if (keras_bool(c->config, "normalize", false)) {
        a = unit(c, "unit_a", a, p);
        b = unit(c, "unit_b", b, q);
    }
    if (a.rank == 2 && b.rank == 2) {
        const int64_t last = 1;
        ir_t product = keras_binary(c, "product", "Mul", a, b);
        return keras_give(c, keras_reduce(c, NULL, "ReduceSum", product, &last, 1, true));
    }
    bool flat_a = a.rank == 2, flat_b = b.rank == 2;
    a = flat_a ? keras_expand_dims(c, "row", a, 1) : with_axis_last(c, "turned_a", a, p, true);
    b = flat_b ? keras_expand_dims(c, "column", b, 2) : with_axis_last(c, "turned_b", b, q, false);
    ir_t y = a;
    y.d[2] = b.d[2];
    y = keras_step(c, NULL, "MatMul", KERAS_IDS(a.id, b.id), NULL, y);
    if (flat_a)
        y = keras_squeeze(c, "flat", y, 1);
    return keras_give(c, flat_b ? keras_squeeze(c, "flat", y, -1) : y);
}

/* Keras 1: one layer with a mode. */
bool keras_old_merge(keras_call *c)
{
    static const struct {
        const char *mode, *op;
    } modes[] = {{"sum", "Add"}, {"mul", "Mul"}, {"max", "Max"}, {"min", "Min"}};
    str mode = keras_word(c->config, "mode", "");
    if (!ranks_known(c))
        return false;
    if (str_is(mode, "concat"))
        return keras_concatenate(c);
    if (str_is(mode, "dot"))
        return keras_dot(c);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (str_is(mode, modes[i].mode))
            return keras_give(c, merge_all(c, modes[i].op));
    if (!str_is(mode, "ave"))
        return false;
    ir_t sum = merge_all(c, "Add");
    return keras_give(
        c, keras_binary(c, "Mean", "Div", sum, keras_scalar(c, "count", sum.dtype, c->n_in)));
}
