/* See steer.h. Each rule gives back what the output's shape says: a Reshape to what the file declares, pads that lead
 * there. Values that no shape determines are chosen to keep most of the data: first axes, full lengths, a medium
 * threshold. */
#include "ops/steer.h"

static const op_info *out_of(const op_ctx *c, uint32_t o)
{
    return o < c->n_out ? &c->out[o] : NULL;
}

/* Dimension `axis` of x, counted from the end when negative; 1 when it is not known. */
static double dim_or_one(const op_info *x, int64_t axis)
{
    if (!x || x->rank < 1)
        return 1;
    axis = axis < 0 ? axis + x->rank : axis;
    return axis >= 0 && axis < x->rank && x->dims[axis] >= 0 ? (double)x->dims[axis] : 1;
}

static int64_t elements(const op_ctx *c, uint32_t slot)
{
    int64_t n = op_numel(c->in[slot]);
    return n < 1 ? 1 : n;
}

/* ---- axes ---- */

typedef struct axis_list {
    int n;
    int64_t axes[IR_MAX_RANK];
} axis_list;

/* Axes of the longer shape that the shorter one has not: what a Squeeze takes away and an Unsqueeze adds. */
static void put_extra(const op_info *longer, const op_info *shorter, axis_list *l)
{
    for (int d = 0, k = 0; d < longer->rank; d++)
        if (k < shorter->rank && longer->dims[d] == shorter->dims[k])
            k++;
        else
            l->axes[l->n++] = d;
}

/* Those that change come first: what a Slice cuts, what a reduction reduces. */
static void put_changed(const op_info *x, const op_info *y, axis_list *l)
{
    for (int same = 0; same < 2; same++)
        for (int d = 0; d < x->rank; d++)
            if ((y->rank != x->rank || x->dims[d] == y->dims[d]) == same)
                l->axes[l->n++] = d;
}

static double axis_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    const op_info *x = c->in[0], *y = out_of(c, 0);
    axis_list l = {0};
    (void)slot;
    if (!x || !y || x->rank < 0 || y->rank < 0)
        return (double)i;
    if (x->rank != y->rank)
        put_extra(x->rank > y->rank ? x : y, x->rank > y->rank ? y : x, &l);
    else
        put_changed(x, y, &l);
    return i < l.n ? (double)l.axes[i] : 0;
}

/* The axis that element i of a list is about: the attribute's, the input's, or simply the i-th. */
static int64_t axis_meant(const op_ctx *c, uint32_t axes_slot, int64_t i)
{
    const int64_t *axes;
    int64_t axis;
    int n = op_attr_ints(c, "axes", &axes);
    if (n > 0)
        return i < n ? axes[i] : i;
    if (axes_slot == 0 || !op_has(c, axes_slot))
        return i;
    return op_int_at(c, axes_slot, i, &axis) ? axis : (int64_t)axis_at(c, axes_slot, i);
}

/* ---- what the shape of the output says ---- */

static double size_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)slot;
    return dim_or_one(out_of(c, 0), axis_meant(c, 0, i));
}

static double ratio_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    int64_t axis = axis_meant(c, 0, i);
    double from = dim_or_one(c->in[0], axis);
    (void)slot;
    return from > 0 ? dim_or_one(out_of(c, 0), axis) / from : 1;
}

/* Slot 1 of Resize holds the scales in opset 10, and a region (the whole) since. */
static double region_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    if (c->version < 11)
        return ratio_at(c, slot, i);
    return i < elements(c, slot) / 2 ? 0 : 1;
}

static double part_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)slot;
    return dim_or_one(out_of(c, (uint32_t)i), op_attr_int(c, "axis", 0));
}

/* Equal parts of the axis, the first of them with what is left over. */
static double share_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    int64_t n = elements(c, slot), all = (int64_t)dim_or_one(c->in[0], op_attr_int(c, "axis", 0));
    return (double)(all / n + (i == 0 ? all % n : 0));
}

static double pad_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    int64_t half = elements(c, slot) / 2;
    if (i < half)
        return 0;
    int64_t axis = axis_meant(c, 3, i - half);
    return dim_or_one(out_of(c, 0), axis) - dim_or_one(c->in[0], axis);
}

static double end_at(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)slot;
    return dim_or_one(out_of(c, 0), axis_meant(c, 3, i));
}

static double last_axis_size(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)slot, (void)i;
    return dim_or_one(out_of(c, 0), op_attr_int(c, "axis", -1));
}

static double time_steps(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)slot, (void)i;
    return dim_or_one(c->in[0], op_attr_int(c, "layout", 0));
}

static double boxes(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)slot, (void)i;
    return dim_or_one(c->in[0], 1);
}

/* A mel filter bank is [dft_length / 2 + 1, bins]. */
static double mel_bins(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)slot, (void)i;
    return dim_or_one(out_of(c, 0), 1);
}

static double dft_length(const op_ctx *c, uint32_t slot, int64_t i)
{
    double bins = dim_or_one(out_of(c, 0), 0);
    (void)slot, (void)i;
    return bins > 1 ? 2 * (bins - 1) : 1;
}

/* ---- what no shape says ---- */

static double sample_rate(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)c, (void)slot, (void)i;
    return 16000;
}

static double highest_hertz(const op_ctx *c, uint32_t slot, int64_t i)
{
    return sample_rate(c, slot, i) / 2;
}

static double zero(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)c, (void)slot, (void)i;
    return 0;
}

static double one(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)c, (void)slot, (void)i;
    return 1;
}

static double half(const op_ctx *c, uint32_t slot, int64_t i)
{
    (void)c, (void)slot, (void)i;
    return 0.5;
}

static const struct steer {
    const char *ops; /* blanks between */
    uint32_t slot;
    op_steer_fn *at;
} steers[] = {
    {"CenterCropPad Expand Reshape", 1, size_at},
    {"ConstantOfShape", 0, size_at},
    {"CumProd CumSum", 1, zero},
    {"Dropout", 1, half},
    {"GRU LSTM RNN", 4, time_steps},
    {"MaxUnpool", 2, size_at},
    {"MelWeightMatrix", 0, mel_bins},
    {"MelWeightMatrix", 1, dft_length},
    {"MelWeightMatrix", 2, sample_rate},
    {"MelWeightMatrix", 3, zero},
    {"MelWeightMatrix", 4, highest_hertz},
    {"NonMaxSuppression", 2, boxes},
    {"NonMaxSuppression", 3, half},
    {"NonMaxSuppression", 4, zero},
    {"OneHot TopK", 1, last_axis_size},
    {"Pad", 1, pad_at},
    {"Pad", 3, axis_at},
    {"Range", 0, zero},
    {"Range", 1, size_at},
    {"Range", 2, one},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare Squeeze Unsqueeze",
     1, axis_at},
    {"Resize", 1, region_at},
    {"Resize", 2, ratio_at},
    {"Resize", 3, size_at},
    {"RoiAlign", 2, zero},
    {"Slice", 1, zero},
    {"Slice", 2, end_at},
    {"Slice", 3, axis_at},
    {"Slice", 4, one},
    {"Split", 1, part_at},
    {"SplitToSequence", 1, share_at},
    {"Tile Upsample", 1, ratio_at},
};

op_steer_fn *op_steer_find(const op_ctx *c, uint32_t slot)
{
    for (size_t i = 0; !c->node->domain.n && i < sizeof steers / sizeof *steers; i++)
        if (steers[i].slot == slot && str_in_list(c->node->op, steers[i].ops, ' '))
            return steers[i].at;
    return NULL;
}
