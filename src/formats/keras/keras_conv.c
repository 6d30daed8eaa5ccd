/* Convolutions, pooling, padding and sizes of images and sequences, of 1 to 3 spatial axes.
 *
 * Data is [N,spatial...,C] ("assay.nhwc") or, with data_format channels_first, [N,C,spatial...] (ai.onnx). Kernels are
 * HWIO, depthwise HWIM, transposed HWOI in both.
 */
#include <string.h>

#include "formats/keras/keras_impl.h"

typedef struct window {
    int n; /* spatial axes */
    bool first, same, causal;
    int64_t kernel[3], stride[3], dilation[3];
    int channel; /* axis */
} window;

static int spatial_axis(const window *w, int d)
{
    return w->first ? d + 2 : d + 1;
}

/* kernel: key of its size, with that of Keras 1. */
static bool read_window(keras_call *c, const char *kernel, const char *stride, window *w)
{
    w->n = c->l->row->arg;
    w->first = keras_channels_first(c->config);
    str padding = keras_word(c->config, "padding|border_mode", "valid");
    w->same = str_is(padding, "same");
    w->causal = str_is(padding, "causal");
    if (!c->n_in || c->in[0].rank != w->n + 2 || !keras_ints(c->config, kernel, w->kernel, w->n))
        return false;
    w->channel = w->first ? 1 : w->n + 1;
    for (int d = 0; d < w->n; d++)
        w->stride[d] = w->dilation[d] = 1;
    keras_ints(c->config, stride, w->stride, w->n);
    keras_ints(c->config, "dilation_rate|atrous_rate", w->dilation, w->n);
    for (int d = 0; d < w->n; d++)
        if (w->kernel[d] < 1 || w->stride[d] < 1 || w->dilation[d] < 1 ||
            w->kernel[d] > KERAS_MAX_WINDOW || w->stride[d] > KERAS_MAX_WINDOW ||
            w->dilation[d] > KERAS_MAX_WINDOW)
            return false;
    return true;
}

static int64_t window_out(const window *w, int d, int64_t in)
{
    int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1, s = w->stride[d];
    if (in < 0)
        return -1;
    if (w->same || w->causal)
        return (in + s - 1) / s;
    return in < reach ? 0 : (in - reach) / s + 1;
}

static ir_t window_shape(const window *w, ir_t x, int64_t channels)
{
    for (int d = 0; d < w->n; d++)
        x.d[spatial_axis(w, d)] = window_out(w, d, x.d[spatial_axis(w, d)]);
    x.d[w->channel] = channels;
    return x;
}

/* "WIO", "HWIO", "DHWIO". */
static const char *layout_of(int n, const char *ends, char text[8])
{
    static const char *const axes[] = {"", "W", "HW", "DHW"};
    strcpy(text, axes[n]);
    strcat(text, ends);
    return text;
}

/* ---- convolutions ---- */

/* What stands before the data of a causal convolution. */
static ir_t pad_causal(keras_call *c, const window *w, ir_t x)
{
    int64_t pads[2 * IR_KIT_RANK] = {0}, before = (w->kernel[0] - 1) * w->dilation[0];
    int axis = spatial_axis(w, 0);
    pads[axis] = before;
    ir_t to = x;
    to.d[axis] = x.d[axis] < 0 ? -1 : x.d[axis] + before;
    ir_id in[] = {x.id, keras_consts(c, "pads", pads, 2 * x.rank)};
    return keras_step(c, "causal", "Pad", in, 2, NULL, to);
}

/* HWIO (or HWOI) as ONNX has it: the axes i and j of the end first. */
static ir_t kernel_first(keras_call *c, ir_t k, int n, int i, int j)
{
    int64_t perm[IR_KIT_RANK] = {i, j};
    for (int d = 0; d < n; d++)
        perm[d + 2] = d;
    return keras_transpose(c, "kernel", k, perm);
}

/* Depthwise kernels are [C*M,1,H,W] there. */
static ir_t depthwise_first(keras_call *c, ir_t k, int n)
{
    ir_t turned = kernel_first(c, k, n, n, n + 1);
    int64_t dims[IR_KIT_RANK] = {k.d[n] * k.d[n + 1], 1};
    for (int d = 0; d < n; d++)
        dims[d + 2] = k.d[d];
    return keras_reshape(c, "kernel_flat", turned, dims, n + 2);
}

typedef struct weights {
    ir_t kernel, bias; /* bias.id IR_NONE: none */
    const char *ends;  /* of the layout */
    int64_t channels, groups;
} weights;

static ir_t add_conv(keras_call *c, const char *part, const window *w, ir_t x, const weights *k)
{
    char layout[8];
    x = keras_cast(c, x, k->kernel.dtype);
    ir_t y = window_shape(w, x, k->channels);
    if (w->causal)
        x = pad_causal(c, w, x);
    const char *pad = w->same ? "SAME_UPPER" : "VALID";
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("auto_pad", pad), IR_SPEC_INTS("strides", w->n, w->stride),
                            IR_SPEC_INTS("dilations", w->n, w->dilation),
                            w->first
                                ? IR_SPEC_INT("group", k->groups)
                                : IR_SPEC_TEXT("kernel_layout", layout_of(w->n, k->ends, layout)),
                            KERAS_END};
    ir_t kernel = k->kernel;
    if (w->first)
        kernel = k->ends[1] == 'M' ? depthwise_first(c, kernel, w->n)
                                   : kernel_first(c, kernel, w->n, w->n + 1, w->n);
    ir_id in[] = {x.id, kernel.id, k->bias.id};
    return keras_step_in(c, w->first ? NULL : FOREIGN_NHWC, part, "Conv", in,
                         k->bias.id == IR_NONE ? 2 : 3, attrs, y);
}

/* [kernel..., a, b] */
static ir_t kernel_weight(keras_call *c, const char *name, const window *w, int64_t a, int64_t b)
{
    int64_t dims[IR_KIT_RANK];
    for (int d = 0; d < w->n; d++)
        dims[d] = w->kernel[d];
    dims[w->n] = a;
    dims[w->n + 1] = b;
    return keras_weight(c, name, KERAS_TRAINED, w->n + 2, dims);
}

/* False: it is asked for and cannot be had. */
static bool take_bias(keras_call *c, weights *k)
{
    k->bias = (ir_t){.id = IR_NONE};
    if (!keras_bool(c->config, "use_bias|bias", true))
        return true;
    k->bias = keras_weight(c, "bias", KERAS_TRAINED, 1, &k->channels);
    return k->bias.id != IR_NONE;
}

static bool usable(ir_t kernel, const window *w)
{
    return kernel.id != IR_NONE && kernel.rank == w->n + 2 && ir_is_float(kernel.dtype);
}

/* Keras 1 has nb_row and nb_col. */
static bool read_conv_window(keras_call *c, window *w)
{
    if (read_window(c, "kernel_size|filter_length", "strides|subsample|subsample_length", w))
        return true;
    w->kernel[0] = keras_int(c->config, "nb_row", 0);
    w->kernel[1] = keras_int(c->config, "nb_col", 0);
    if (w->n != 2 || w->kernel[0] < 1 || w->kernel[1] < 1 || !c->n_in || c->in[0].rank != 4)
        return false;
    w->channel = w->first ? 1 : 3;
    w->dilation[0] = w->dilation[1] = w->stride[0] = w->stride[1] = 1;
    keras_ints(c->config, "subsample", w->stride, 2);
    return w->stride[0] > 0 && w->stride[1] > 0 && w->stride[0] <= KERAS_MAX_WINDOW &&
           w->stride[1] <= KERAS_MAX_WINDOW && w->kernel[0] <= KERAS_MAX_WINDOW &&
           w->kernel[1] <= KERAS_MAX_WINDOW;
}

/* Outputs per input of a depthwise kernel; 0: not a number that can be. */
static int64_t multiplier(const keras_call *c)
{
    int64_t n = keras_int(c->config, "depth_multiplier", 1);
    return n < 1 || n > KERAS_MAX_WINDOW ? 0 : n;
}

bool keras_conv(keras_call *c)
{
    window w = {0};
    if (!read_conv_window(c, &w))
        return false;
    weights k = {.ends = "IO",
                 .channels = keras_int(c->config, "filters|nb_filter", -1),
                 .groups = keras_int(c->config, "groups", 1)};
    int64_t in = c->in[0].d[w.channel];
    if (k.groups < 1)
        return false;
    k.kernel = kernel_weight(c, "kernel", &w, in < 0 ? -1 : in / k.groups, k.channels);
    if (!take_bias(c, &k) || !usable(k.kernel, &w))
        return false;
    k.channels = k.kernel.d[w.n + 1];
    ir_t y = add_conv(c, NULL, &w, c->in[0], &k);
    return keras_give(c, keras_activate(c, "activation", "linear", y));
}

bool keras_depthwise(keras_call *c)
{
    window w = {0};
    int64_t times = multiplier(c);
    if (!read_conv_window(c, &w) || !times)
        return false;
    int64_t in = c->in[0].d[w.channel];
    weights k = {.ends = "IM", .channels = -1, .groups = in};
    k.kernel = kernel_weight(c, "depthwise_kernel", &w, in, times);
    if (!usable(k.kernel, &w))
        return false;
    k.groups = k.kernel.d[w.n];
    k.channels = k.kernel.d[w.n] * k.kernel.d[w.n + 1];
    if (!take_bias(c, &k))
        return false;
    ir_t y = add_conv(c, NULL, &w, c->in[0], &k);
    return keras_give(c, keras_activate(c, "activation", "linear", y));
}

/* Depthwise, then a kernel of size 1 over the channels. */
bool keras_separable(keras_call *c)
{
    window w = {0}, point;
    int64_t times = multiplier(c);
    if (!read_conv_window(c, &w) || !times)
        return false;
    int64_t in = c->in[0].d[w.channel];
    weights deep = {.ends = "IM", .bias = {.id = IR_NONE}, .groups = in},
            wide = {.ends = "IO",
                    .channels = keras_int(c->config, "filters|nb_filter", -1),
                    .groups = 1};
    deep.kernel = kernel_weight(c, "depthwise_kernel", &w, in, times);
    point = w;
    point.same = point.causal = false;
    for (int d = 0; d < w.n; d++)
        point.kernel[d] = point.stride[d] = point.dilation[d] = 1;
    wide.kernel = kernel_weight(c, "pointwise_kernel", &point, in < 0 ? -1 : in * times,
                                wide.channels);
    if (!take_bias(c, &wide) || !usable(deep.kernel, &w) || !usable(wide.kernel, &w))
        return false;
    deep.groups = deep.kernel.d[w.n];
    deep.channels = deep.kernel.d[w.n] * deep.kernel.d[w.n + 1];
    wide.channels = wide.kernel.d[w.n + 1];
    ir_t y = add_conv(c, "depthwise", &w, c->in[0], &deep);
    y = add_conv(c, NULL, &point, y, &wide);
    return keras_give(c, keras_activate(c, "activation", "linear", y));
}

/* ---- transposed ---- */

/* Keras: VALID gives in * stride + max(kernel - stride, 0); SAME in * stride; output_padding sets both apart. */
static int64_t transposed_out(const window *w, int d, int64_t in, const int64_t *extra)
{
    int64_t k = (w->kernel[d] - 1) * w->dilation[d] + 1, s = w->stride[d];
    if (in < 0)
        return -1;
    if (extra)
        return (in - 1) * s + k - (w->same ? 2 * (k / 2) : 0) + extra[d];
    return in * s + (w->same || k < s ? 0 : k - s);
}

static ir_t add_transposed_first(keras_call *c, const window *w, ir_t x, const weights *k, ir_t y)
{
    int64_t pads[6] = {0}, more[3] = {0};
    for (int d = 0; d < w->n; d++) {
        int64_t in = x.d[d + 2], reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
        int64_t all = in < 0 ? 0 : (in - 1) * w->stride[d] + reach - y.d[d + 2];
        pads[d] = all > 0 && w->same ? all / 2 : 0;
        pads[d + w->n] = all > 0 ? all - pads[d] : 0;
        more[d] = all < 0 ? -all : 0;
    }
    ir_attr_spec attrs[] = {IR_SPEC_INTS("strides", w->n, w->stride),
                            IR_SPEC_INTS("dilations", w->n, w->dilation),
                            IR_SPEC_INTS("pads", 2 * w->n, pads),
                            IR_SPEC_INTS("output_padding", w->n, more), KERAS_END};
    ir_id in[] = {x.id, kernel_first(c, k->kernel, w->n, w->n + 1, w->n).id, k->bias.id};
    return keras_step(c, NULL, "ConvTranspose", in, k->bias.id == IR_NONE ? 2 : 3, attrs, y);
}

static ir_t add_transposed_last(keras_call *c, const window *w, ir_t x, const weights *k, ir_t y)
{
    char layout[8];
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("kernel_layout", layout_of(w->n, "OI", layout)),
                            IR_SPEC_TEXT("auto_pad", w->same ? "SAME_UPPER" : "VALID"),
                            IR_SPEC_INTS("strides", w->n, w->stride),
                            IR_SPEC_INTS("dilations", w->n, w->dilation), KERAS_END};
    bool sized = true;
    for (int d = 1; d < y.rank; d++)
        sized = sized && y.d[d] >= 0;
    int64_t out[IR_KIT_RANK];
    for (int d = 0; d < y.rank; d++)
        out[d] = d == 0 ? -1 : y.d[d];
    ir_id in[] = {x.id, k->kernel.id, k->bias.id,
                  sized ? keras_consts(c, "output_shape", out, y.rank) : IR_NONE};
    uint32_t n = sized ? 4 : k->bias.id == IR_NONE ? 2 : 3;
    return keras_step_in(c, FOREIGN_NHWC, NULL, "ConvTranspose", in, n, attrs, y);
}

bool keras_conv_transpose(keras_call *c)
{
    window w = {0};
    int64_t extra[3];
    if (!read_conv_window(c, &w))
        return false;
    bool padded = keras_ints(c->config, "output_padding", extra, w.n);
    for (int d = 0; padded && d < w.n; d++)
        if (extra[d] < 0 || extra[d] > KERAS_MAX_WINDOW)
            return false;
    weights k = {.ends = "OI", .channels = keras_int(c->config, "filters|nb_filter", -1)};
    k.kernel = kernel_weight(c, "kernel", &w, k.channels, c->in[0].d[w.channel]);
    if (!take_bias(c, &k) || !usable(k.kernel, &w))
        return false;
    ir_t x = keras_cast(c, c->in[0], k.kernel.dtype), y = x;
    for (int d = 0; d < w.n; d++)
        y.d[spatial_axis(&w, d)] = transposed_out(&w, d, x.d[spatial_axis(&w, d)],
                                                  padded ? extra : NULL);
    y.d[w.channel] = k.kernel.d[w.n];
    y = w.first ? add_transposed_first(c, &w, x, &k, y) : add_transposed_last(c, &w, x, &k, y);
    return keras_give(c, keras_activate(c, "activation", "linear", y));
}

/* ---- pooling ---- */

bool keras_pool(keras_call *c)
{
    window w = {0};
    if (!read_window(c, "pool_size|pool_length", "strides|stride", &w))
        return false;
    const json_value *stride = keras_get(c->config, "strides|stride");
    for (int d = 0; !stride && d < w.n; d++)
        w.stride[d] = w.kernel[d];
    for (int d = 0; d < w.n; d++)
        w.dilation[d] = 1;
    ir_t x = c->in[0], y = window_shape(&w, x, x.d[w.channel]);
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("auto_pad", w.same ? "SAME_UPPER" : "VALID"),
                            IR_SPEC_INTS("kernel_shape", w.n, w.kernel),
                            IR_SPEC_INTS("strides", w.n, w.stride), KERAS_END};
    return keras_give(c, keras_step_in(c, w.first ? NULL : FOREIGN_NHWC, NULL, c->l->row->op, &x.id,
                                       1, attrs, y));
}

bool keras_global_pool(keras_call *c)
{
    int n = c->l->row->arg;
    int64_t axes[3];
    bool first = keras_channels_first(c->config);
    if (!c->n_in || c->in[0].rank != n + 2)
        return false;
    for (int d = 0; d < n; d++)
        axes[d] = first ? d + 2 : d + 1;
    bool keep = keras_bool(c->config, "keepdims", false);
    return keras_give(c, keras_reduce(c, NULL, c->l->row->op, c->in[0], axes, n, keep));
}

/* Windows of one size where the sizes divide; else they overlap, which no row has. */
/* A pool of one axis: `kernel` wide, `stride` apart. */
static ir_t pool_axis(keras_call *c, const char *part, const window *like, int axis, ir_t x)
{
    window w = *like;
    for (int d = 0; d < w.n; d++)
        if (d != axis)
            w.kernel[d] = w.stride[d] = 1;
    ir_t y = window_shape(&w, x, x.d[w.channel]);
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("auto_pad", "VALID"),
                            IR_SPEC_INTS("kernel_shape", w.n, w.kernel),
                            IR_SPEC_INTS("strides", w.n, w.stride), KERAS_END};
    return keras_step_in(c, w.first ? NULL : FOREIGN_NHWC, part, c->l->row->op, &x.id, 1, attrs, y);
}

/* Windows i * in / out to (i + 1) * in / out, rounded outwards: their widths differ by at most 2, so that up to three
 * pools have all of them. Averages of axes one after another are those of both, since a window is a rectangle. */
static ir_t pool_uneven(keras_call *c, window *w, int d, int64_t size, ir_t x)
{
    int axis = spatial_axis(w, d);
    int64_t in = x.d[axis], narrow = 0, *at = ARENA_ARRAY(c->r->a, int64_t, (size_t)size);
    ir_t pools[3];
    int n = 0;
    int64_t widest = 0;
    for (int64_t i = 0; i < size; i++) {
        int64_t width = ((i + 1) * in + size - 1) / size - i * in / size;
        narrow = i == 0 || width < narrow ? width : narrow;
        widest = width > widest ? width : widest;
    }
    for (int64_t i = 0; at && i < size; i++) {
        int64_t start = i * in / size, end = ((i + 1) * in + size - 1) / size;
        at[i] = start;
        for (int64_t k = narrow; k < end - start; k++) /* behind the windows that are narrower */
            at[i] += in - k + 1;
    }
    for (int64_t k = narrow; k <= widest && n < 3; k++) {
        w->kernel[d] = k;
        w->stride[d] = 1;
        pools[n++] = pool_axis(c, "axis", w, d, x);
    }
    if (!at || !n)
        return keras_unknown_shape(x.dtype);
    ir_t all = keras_concat(c, "windows", pools, (uint32_t)n, axis), y = all;
    y.d[axis] = size;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), KERAS_END};
    ir_id in_ids[] = {all.id, keras_consts(c, "at", at, (int)size)};
    return keras_step(c, "taken", "Gather", in_ids, 2, attrs, y);
}

bool keras_adaptive_pool(keras_call *c)
{
    int n = c->l->row->arg;
    window w = {.n = n, .first = keras_channels_first(c->config)};
    int64_t size[3];
    bool even = true;
    if (!c->n_in || c->in[0].rank != n + 2 || !keras_ints(c->config, "output_size", size, n))
        return false;
    w.channel = w.first ? 1 : n + 1;
    ir_t x = c->in[0];
    for (int d = 0; d < n; d++) {
        int64_t in = x.d[spatial_axis(&w, d)];
        if (in < 1 || size[d] < 1 || size[d] > in || in > KERAS_MAX_WINDOW)
            return false;
        w.kernel[d] = w.stride[d] = in / size[d];
        w.dilation[d] = 1;
        even = even && in % size[d] == 0;
    }
    for (int d = 0; d < n && !even; d++)
        x = pool_uneven(c, &w, d, size[d], x);
    if (!even)
        return x.id != IR_NONE && keras_give(c, x);
    ir_t y = window_shape(&w, x, x.d[w.channel]);
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("auto_pad", "VALID"),
                            IR_SPEC_INTS("kernel_shape", n, w.kernel),
                            IR_SPEC_INTS("strides", n, w.stride), KERAS_END};
    return keras_give(c, keras_step_in(c, w.first ? NULL : FOREIGN_NHWC, NULL, c->l->row->op, &x.id,
                                       1, attrs, y));
}

/* ---- sizes ---- */

static const char *resize_mode(str interpolation)
{
    return str_is(interpolation, "nearest")    ? "nearest"
           : str_is(interpolation, "bilinear") ? "linear"
           : str_is(interpolation, "bicubic")  ? "cubic"
                                               : NULL;
}

bool keras_upsample(keras_call *c)
{
    int n = c->l->row->arg;
    int64_t size[3] = {2, 2, 2};
    double scales[IR_KIT_RANK];
    const char *mode = resize_mode(keras_word(c->config, "interpolation", "nearest"));
    window w = {.n = n, .first = keras_channels_first(c->config)};
    if (!c->n_in || c->in[0].rank != n + 2 || !mode)
        return false;
    keras_ints(c->config, "size|length", size, n);
    ir_t x = c->in[0], y = x;
    for (int d = 0; d < x.rank; d++)
        scales[d] = 1;
    for (int d = 0; d < n; d++) {
        int at = spatial_axis(&w, d);
        if (size[d] < 1 || size[d] > 1 << 20)
            return false;
        scales[at] = (double)size[d];
        y.d[at] = x.d[at] < 0 ? -1 : x.d[at] * size[d];
    }
    bool nearest = strcmp(mode, "nearest") == 0;
    ir_attr_spec attrs[] = {
        IR_SPEC_TEXT("mode", mode),
        IR_SPEC_TEXT("coordinate_transformation_mode", nearest ? "asymmetric" : "half_pixel"),
        IR_SPEC_TEXT("nearest_mode", "floor"), KERAS_END};
    ir_id in[] = {x.id, IR_NONE, keras_floats(c, "scales", IR_FLOAT32, scales, x.rank).id};
    return keras_give(c, keras_step(c, NULL, "Resize", in, 3, attrs, y));
}

/* Pairs for each axis: 1; [1, 2] for each axis, or both ends of the only one; [[1, 1], [2, 2]]. */
static bool read_pairs(const json_value *v, int n, int64_t pairs[6])
{
    uint32_t count;
    const json_value *items = keras_items(v, &count);
    int64_t one;
    if (v && !items && keras_list(v, &one, 1) == 1) {
        for (int i = 0; i < 2 * n; i++)
            pairs[i] = one;
        return true;
    }
    if (n == 1 && items && count == 2)
        return keras_list(v, pairs, 2) == 2;
    for (uint32_t i = 0; items && i < count && count == (uint32_t)n; i++) {
        int got = keras_list(&items[i], &pairs[2 * i], 2);
        if (got == 1)
            pairs[2 * i + 1] = pairs[2 * i];
        else if (got != 2)
            return false;
    }
    return items && count == (uint32_t)n;
}

bool keras_pad(keras_call *c)
{
    int n = c->l->row->arg;
    int64_t pairs[6], pads[2 * IR_KIT_RANK] = {0};
    window w = {.n = n, .first = keras_channels_first(c->config)};
    if (!c->n_in || c->in[0].rank != n + 2 ||
        !read_pairs(keras_get(c->config, "padding"), n, pairs))
        return false;
    ir_t x = c->in[0], y = x;
    for (int d = 0; d < n; d++) {
        int at = n == 1 ? 1 : spatial_axis(&w, d);
        if (pairs[2 * d] < 0 || pairs[2 * d + 1] < 0 || pairs[2 * d] > INT32_MAX ||
            pairs[2 * d + 1] > INT32_MAX)
            return false;
        pads[at] = pairs[2 * d];
        pads[at + x.rank] = pairs[2 * d + 1];
        y.d[at] = x.d[at] < 0 ? -1 : x.d[at] + pairs[2 * d] + pairs[2 * d + 1];
    }
    ir_id in[] = {x.id, keras_consts(c, "pads", pads, 2 * x.rank)};
    return keras_give(c, keras_step(c, NULL, "Pad", in, 2, NULL, y));
}

bool keras_crop(keras_call *c)
{
    int n = c->l->row->arg;
    int64_t pairs[6], starts[3], ends[3], axes[3];
    window w = {.n = n, .first = keras_channels_first(c->config)};
    if (!c->n_in || c->in[0].rank != n + 2 ||
        !read_pairs(keras_get(c->config, "cropping"), n, pairs))
        return false;
    ir_t x = c->in[0], y = x;
    for (int d = 0; d < n; d++) {
        int at = n == 1 ? 1 : spatial_axis(&w, d);
        axes[d] = at;
        starts[d] = pairs[2 * d];
        ends[d] = pairs[2 * d + 1] ? -pairs[2 * d + 1] : INT64_MAX;
        y.d[at] = x.d[at] < 0 ? -1 : x.d[at] - pairs[2 * d] - pairs[2 * d + 1];
        if (pairs[2 * d] < 0 || pairs[2 * d + 1] < 0 || (x.d[at] >= 0 && y.d[at] < 0))
            return false;
    }
    ir_id in[] = {x.id, keras_consts(c, "starts", starts, n), keras_consts(c, "ends", ends, n),
                  keras_consts(c, "axes", axes, n)};
    return keras_give(c, keras_step(c, NULL, "Slice", in, 4, NULL, y));
}
