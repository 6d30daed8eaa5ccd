/* ATen pooling and resampling. */
#include <string.h>

#include "formats/aten/aten.h"

static bool spread(aten_call *c, int i, int n, const int64_t *def, int64_t *out)
{
    int64_t list[LAYER_LIST];
    int have = aten_ints(c, i, list);
    if (have == -2 || (have > 1 && have != n))
        return false;
    for (int k = 0; k < n; k++)
        out[k] = have <= 0 ? def[k] : have == 1 ? list[0] : list[k];
    return true;
}

/* The digit of "max_pool2d": spatial axes. */
static int axes_of_name(const aten_call *c)
{
    for (uint32_t i = 0; i + 1 < c->op.n; i++)
        if (c->op.p[i + 1] == 'd' && c->op.p[i] >= '1' && c->op.p[i] <= '3')
            return c->op.p[i] - '0';
    return 0;
}

/* Pooling of data without a batch. */
static ir_id pool_input(aten_call *c, int n, bool *added)
{
    ir_id x = aten_tensor(c, 0);
    *added = aten_rank(c, 0) == n + 1;
    return *added
               ? aten_step2(c, "Unsqueeze", x, layer_ints(&c->l, "axes", (const int64_t[]){0}, 1))
               : x;
}

static bool pool_output(aten_call *c, const char *op, ir_id x, const ir_attr_spec *attrs,
                        bool added)
{
    if (!added)
        return aten_node(c, op, &x, 1, attrs);
    ir_id y = aten_step(c, op, &x, 1, attrs);
    return aten_node2(c, "Squeeze", y, layer_ints(&c->l, "axes", (const int64_t[]){0}, 1));
}

typedef struct window {
    int n;
    int64_t kernel[3], stride[3], pads[6], dilation[3];
} window;

static bool read_window(aten_call *c, int dilation, window *w)
{
    static const int64_t ones[] = {1, 1, 1}, none[] = {0, 0, 0};
    int64_t pad[3];
    w->n = axes_of_name(c);
    if (!w->n || aten_tensor(c, 0) == IR_NONE || !spread(c, 1, w->n, ones, w->kernel) ||
        !spread(c, 2, w->n, w->kernel, w->stride) || !spread(c, 3, w->n, none, pad))
        return false;
    memcpy(w->dilation, ones, sizeof ones);
    for (int i = 0; i < w->n; i++)
        w->pads[i] = w->pads[w->n + i] = pad[i];
    return dilation < 0 || spread(c, dilation, w->n, ones, w->dilation);
}

/* max_pool2d(x, kernel, stride, padding, dilation, ceil_mode); with_indices has two outputs. */
bool aten_max_pool(aten_call *c)
{
    window w;
    bool added, two = str_contains(c->op, "with_indices");
    if (!read_window(c, 4, &w))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("kernel_shape", w.n, w.kernel),
                                  IR_SPEC_INTS("strides", w.n, w.stride),
                                  IR_SPEC_INTS("pads", 2 * w.n, w.pads),
                                  IR_SPEC_INTS("dilations", w.n, w.dilation),
                                  IR_SPEC_INT("ceil_mode", aten_flag(c, 5, false)),
                                  LAYER_END};
    ir_id x = pool_input(c, w.n, &added);
    if (!two)
        return pool_output(c, "MaxPool", x, attrs, added);
    return !added && aten_outs(c, 2) &&
           layer_node_of(&c->l, NULL, "MaxPool", &x, 1, attrs, 2) != IR_NONE;
}

/* avg_pool2d(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override) */
bool aten_avg_pool(aten_call *c)
{
    window w;
    bool added;
    if (!read_window(c, -1, &w) || aten_given(c, 6))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("kernel_shape", w.n, w.kernel),
                                  IR_SPEC_INTS("strides", w.n, w.stride),
                                  IR_SPEC_INTS("pads", 2 * w.n, w.pads),
                                  IR_SPEC_INT("ceil_mode", aten_flag(c, 4, false)),
                                  IR_SPEC_INT("count_include_pad", aten_flag(c, 5, true)),
                                  LAYER_END};
    ir_id x = pool_input(c, w.n, &added);
    return pool_output(c, "AveragePool", x, attrs, added);
}

/* One window per output, of equal sizes where the input is a multiple of the output. row->op: "Average" or "Max". */
static bool regular_windows(aten_call *c, int n, const int64_t *want, window *w)
{
    const op_info *x = aten_info(c->t, aten_tensor(c, 0));
    for (int i = 0; i < n; i++) {
        int64_t size = x->dims[x->rank - n + i];
        if (want[i] < 1 || size < 1 || size % want[i])
            return false;
        w->kernel[i] = w->stride[i] = size / want[i];
        c->t->fixed |= want[i] > 1;
    }
    return true;
}

/* adaptive_avg_pool2d(x, size): a size of 1 is the mean of all; None keeps the size. */
bool aten_adaptive_pool(aten_call *c)
{
    int n = axes_of_name(c), rank = aten_rank(c, 0);
    bool average = strcmp(c->row->op, "Average") == 0, all = true, added = rank == n + 1;
    int64_t want[LAYER_LIST], axes[3];
    window w = {0};
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || rank < n + 1 || !n || !spread(c, 1, n, (const int64_t[]){1, 1, 1}, want))
        return false;
    for (int i = 0; i < n; i++) {
        all &= want[i] == 1;
        axes[i] = rank - n + i;
    }
    if (all && aten_out(c) != IR_NONE)
        return added ? layer_reduce(&c->l, average ? "ReduceMean" : "ReduceMax", x, axes, n, true)
                     : aten_node(c, average ? "GlobalAveragePool" : "GlobalMaxPool", &x, 1, NULL);
    if (!regular_windows(c, n, want, &w))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("kernel_shape", n, w.kernel),
                                  IR_SPEC_INTS("strides", n, w.stride), LAYER_END};
    return pool_output(c, average ? "AveragePool" : "MaxPool", pool_input(c, n, &added), attrs,
                       added);
}

/* ---- resampling ---- */

/* Factors of the spatial axes, behind two ones for batch and channels. */
static ir_id scales_of(aten_call *c, int n, int from)
{
    float list[5] = {1, 1};
    const aten_value *v = &c->arg[from];
    bool many = v->kind == ATEN_LIST && v->list->v.n == (uint32_t)n;
    for (int i = 0; i < n; i++) {
        double factor;
        const aten_value *one = many ? &v->list->v.items[i] : &c->arg[from + i];
        if (!aten_number(one, &factor) || !(factor > 0))
            return IR_NONE;
        list[2 + i] = (float)factor;
    }
    return foreign_floats(c->t->f, c->l.name, "scales", list, (uint32_t)n + 2);
}

static ir_id sizes_of(aten_call *c, int n)
{
    aten_value list = aten_new_list(c->t, false);
    if (c->arg[1].kind != ATEN_LIST || c->arg[1].list->v.n != (uint32_t)n)
        return IR_NONE;
    bool made = aten_push(c->t, &list, aten_size_of(c->t, aten_tensor(c, 0), 0)) &&
                aten_push(c->t, &list, aten_size_of(c->t, aten_tensor(c, 0), 1));
    for (int i = 0; made && i < n; i++)
        made = aten_push(c->t, &list, c->arg[1].list->v.items[i]);
    return made ? aten_list_tensor(c->t, c->l.name, &list) : IR_NONE;
}

/* upsample_nearest2d(x, size, scales...), upsample_bilinear2d(x, size, align_corners, scales...); .vec has a list of factors.
 * row->op is the mode of Resize. */
bool aten_upsample(aten_call *c)
{
    int n = axes_of_name(c);
    bool nearest = strcmp(c->row->op, "nearest") == 0, aligned = !nearest && aten_flag(c, 2, false);
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || aten_rank(c, 0) != n + 2)
        return false;
    ir_id sizes = aten_given(c, 1) ? sizes_of(c, n) : IR_NONE;
    ir_id scales = sizes == IR_NONE ? scales_of(c, n, nearest ? 2 : 3) : IR_NONE;
    if (sizes == IR_NONE && scales == IR_NONE)
        return false;
    const ir_attr_spec attrs[] = {
        IR_SPEC_TEXT("mode", c->row->op),
        IR_SPEC_TEXT("coordinate_transformation_mode", nearest   ? "asymmetric"
                                                       : aligned ? "align_corners"
                                                                 : "pytorch_half_pixel"),
        IR_SPEC_FLOAT("cubic_coeff_a", -0.75),
        nearest ? IR_SPEC_TEXT("nearest_mode", "floor") : LAYER_END, LAYER_END};
    ir_id in[] = {x, IR_NONE, scales, sizes};
    return aten_node(c, "Resize", in, sizes == IR_NONE ? 3 : 4, attrs);
}

/* grid_sampler(x, grid, mode, padding_mode, align_corners), numbers by the order of PyTorch. */
bool aten_grid(aten_call *c)
{
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
    static const char *const pads[] = {"zeros", "border", "reflection"};
    int64_t mode = aten_int(c, 2, 0), pad = aten_int(c, 3, 0);
    ir_id in[] = {aten_tensor(c, 0), aten_tensor(c, 1)};
    if (mode < 0 || mode > 2 || pad < 0 || pad > 2 || in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", modes[mode]),
                                  IR_SPEC_TEXT("padding_mode", pads[pad]),
                                  IR_SPEC_INT("align_corners", aten_flag(c, 4, false)), LAYER_END};
    return aten_node(c, "GridSample", in, 2, attrs);
}
