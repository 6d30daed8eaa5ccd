/* The simple layers of custom models: one row each, wrappers of zoo/nn.h. */
#include "zoo/blocks.h"
#include "zoo/custom_impl.h"

/* ---- convolutions and products ---- */

static nn_t build_conv(const custom_layer *l, nn_t x)
{
    nn_conv c = {.out = custom_int(l, "out", CUSTOM_NEEDED, 1, CUSTOM_MAX)};
    if (!custom_rank(l, x, 3, 5))
        return x;
    int n = x.rank - 2;
    custom_ints(l, "kernel", 1, n, c.kernel, 1, 4096);
    custom_ints(l, "stride", 1, n, c.strides, 1, 4096);
    custom_ints(l, "dilation", 1, n, c.dilations, 1, 4096);
    const json_value *padding = custom_get(l, "padding");
    bool same = padding && padding->kind == JSON_TEXT && str_is(padding->s, "same");
    if (!same)
        custom_ints(l, "padding", 0, n, c.pads, 0, 65536);
    for (int i = 0; same && i < n; i++)
        c.pads[i] = (c.kernel[i] - 1) / 2 * c.dilations[i];
    c.groups = custom_int(l, "groups", 1, 1, CUSTOM_MAX);
    c.no_bias = !custom_bool(l, "bias", true);
    return nn_ok(l->c->b) ? nn_convolve(l->c->b, l->name, x, &c) : x;
}

static nn_t build_deconv(const custom_layer *l, nn_t x)
{
    int64_t out = custom_int(l, "out", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    int64_t k = custom_int(l, "kernel", 2, 1, 4096), stride = custom_int(l, "stride", 1, 1, 4096);
    int64_t pad = custom_int(l, "padding", 0, 0, 65536);
    bool bias = custom_bool(l, "bias", true);
    return custom_rank(l, x, 4, 4) ? nn_deconv(l->c->b, l->name, x, out, k, stride, pad, bias) : x;
}

static nn_t build_linear(const custom_layer *l, nn_t x)
{
    int64_t out = custom_int(l, "out", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    bool bias = custom_bool(l, "bias", true);
    return custom_rank(l, x, 1, NN_RANK) ? nn_linear(l->c->b, l->name, x, out, bias) : x;
}

static nn_t build_embedding(const custom_layer *l, nn_t x)
{
    int64_t n = custom_int(l, "count", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    int64_t dim = custom_int(l, "dim", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    if (x.dtype != IR_INT64 && x.dtype != IR_INT32)
        custom_fail(l->c, "embedding needs whole numbers. Set the input dtype to int64.");
    return nn_ok(l->c->b) ? nn_embedding(l->c->b, l->name, x, n, dim) : x;
}

/* ---- norms ---- */

static nn_t build_batchnorm(const custom_layer *l, nn_t x)
{
    double eps = custom_real(l, "eps", 1e-5);
    return custom_rank(l, x, 2, 5) ? nn_batchnorm_eps(l->c->b, l->name, x, eps) : x;
}

static nn_t build_layernorm(const custom_layer *l, nn_t x)
{
    double eps = custom_real(l, "eps", 1e-5);
    return custom_rank(l, x, 1, NN_RANK) ? nn_layernorm(l->c->b, l->name, x, eps) : x;
}

static nn_t build_rmsnorm(const custom_layer *l, nn_t x)
{
    double eps = custom_real(l, "eps", 1e-6);
    return custom_rank(l, x, 1, NN_RANK) ? nn_rmsnorm(l->c->b, l->name, x, eps) : x;
}

static nn_t build_groupnorm(const custom_layer *l, nn_t x)
{
    int64_t groups = custom_int(l, "groups", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    double eps = custom_real(l, "eps", 1e-5);
    if (!custom_rank(l, x, 3, 5))
        return x;
    if (x.d[1] % groups != 0)
        custom_fail(l->c, "%lld channels are not divisible into %lld groups", (long long)x.d[1],
                    (long long)groups);
    return nn_ok(l->c->b) ? nn_groupnorm(l->c->b, l->name, x, groups, eps) : x;
}

/* ---- activations ---- */

static nn_t build_act(const custom_layer *l, nn_t x)
{
    return zoo_act(l->c->b, l->row->op, l->name, x);
}

static nn_t build_gelu(const custom_layer *l, nn_t x)
{
    return nn_gelu(l->c->b, l->name, x, custom_bool(l, "tanh", false));
}

static nn_t build_leaky(const custom_layer *l, nn_t x)
{
    return nn_leaky(l->c->b, l->name, x, custom_real(l, "slope", 0.01));
}

static nn_t build_softmax(const custom_layer *l, nn_t x)
{
    int64_t axis = custom_int(l, "axis", -1, -x.rank, x.rank - 1);
    return nn_ok(l->c->b) ? nn_softmax(l->c->b, l->name, x, (int)axis) : x;
}

/* Nothing at inference. */
static nn_t build_dropout(const custom_layer *l, nn_t x)
{
    (void)custom_real(l, "p", 0.5);
    return x;
}

/* ---- pooling ---- */

static nn_t pool(const custom_layer *l, nn_t x,
                 nn_t (*make)(nn *b, const char *name, nn_t x, const nn_pool *p))
{
    nn_pool p = {0};
    if (!custom_rank(l, x, 3, 5))
        return x;
    int n = x.rank - 2;
    custom_ints(l, "kernel", 2, n, p.kernel, 1, 65536);
    for (int i = 0; i < n; i++)
        p.strides[i] = p.kernel[i];
    if (custom_get(l, "stride"))
        custom_ints(l, "stride", 1, n, p.strides, 1, 65536);
    custom_ints(l, "padding", 0, n, p.pads, 0, 65536);
    p.ceil = custom_bool(l, "ceil", false);
    return nn_ok(l->c->b) ? make(l->c->b, l->name, x, &p) : x;
}

static nn_t build_maxpool(const custom_layer *l, nn_t x)
{
    return pool(l, x, nn_maxpool);
}

static nn_t build_avgpool(const custom_layer *l, nn_t x)
{
    return pool(l, x, nn_avgpool);
}

static nn_t build_globalavgpool(const custom_layer *l, nn_t x)
{
    return custom_rank(l, x, 3, 5) ? nn_global_avgpool(l->c->b, l->name, x) : x;
}

static nn_t build_adaptive(const custom_layer *l, nn_t x)
{
    int64_t size[2];
    custom_ints(l, "size", 1, 2, size, 1, 65536);
    return custom_rank(l, x, 4, 4) ? nn_adaptive_avgpool(l->c->b, l->name, x, size[0], size[1]) : x;
}

static nn_t build_mean(const custom_layer *l, nn_t x)
{
    int64_t axes[NN_RANK];
    int n = custom_list(l, "axes", axes, NN_RANK);
    bool keep = custom_bool(l, "keepdims", false);
    if (n == 0)
        custom_fail(l->c, "mean needs 'axes'");
    for (int i = 0; i < n; i++)
        if (axes[i] < -x.rank || axes[i] >= x.rank)
            custom_fail(l->c, "a tensor of %d dimensions has no axis %lld", x.rank,
                        (long long)axes[i]);
    return nn_ok(l->c->b) ? nn_mean(l->c->b, l->name, x, n, axes, keep) : x;
}

/* ---- shapes ---- */

static nn_t build_flatten(const custom_layer *l, nn_t x)
{
    int64_t axis = custom_int(l, "axis", 1, 0, x.rank);
    return nn_ok(l->c->b) ? nn_flatten(l->c->b, l->name, x, (int)axis) : x;
}

static nn_t build_reshape(const custom_layer *l, nn_t x)
{
    int64_t dims[NN_RANK];
    int n = custom_list(l, "shape", dims, NN_RANK);
    if (n == 0)
        custom_fail(l->c, "reshape needs 'shape'");
    return nn_ok(l->c->b) ? nn_reshape(l->c->b, l->name, x, n, dims) : x;
}

static nn_t build_transpose(const custom_layer *l, nn_t x)
{
    int64_t perm[NN_RANK];
    int n = custom_list(l, "perm", perm, NN_RANK);
    unsigned seen = 0;
    for (int i = 0; i < n; i++)
        if (perm[i] >= 0 && perm[i] < x.rank)
            seen |= 1U << perm[i];
    if (n != x.rank || seen != (1U << x.rank) - 1)
        custom_fail(l->c, "perm must contain each of 0 to %d once", x.rank - 1);
    return nn_ok(l->c->b) ? nn_transpose(l->c->b, l->name, x, perm) : x;
}

static nn_t build_slice(const custom_layer *l, nn_t x)
{
    int64_t axis = custom_int(l, "axis", 1, 0, x.rank - 1);
    int64_t size = nn_ok(l->c->b) ? x.d[axis] : 1;
    int64_t from = custom_int(l, "from", 0, 0, size - 1);
    int64_t to = custom_int(l, "to", size, from + 1, size);
    return nn_ok(l->c->b) ? nn_slice(l->c->b, l->name, x, (int)axis, from, to) : x;
}

static nn_t build_resize(const custom_layer *l, nn_t x)
{
    int64_t size[2] = {0, 0}, scale = custom_int(l, "scale", 0, 1, 64);
    str mode = custom_word(l, "mode", "nearest");
    bool linear = str_is(mode, "linear"), cubic = str_is(mode, "cubic");
    if (!custom_rank(l, x, 4, 4))
        return x;
    if (!linear && !cubic && !str_is(mode, "nearest"))
        custom_fail(l->c, "mode must be nearest, linear or cubic");
    if (custom_get(l, "size"))
        custom_ints(l, "size", 1, 2, size, 1, 65536);
    else if (scale == 0)
        custom_fail(l->c, "resize needs 'scale' or 'size'");
    for (int i = 0; scale && !size[i == 0 ? 0 : 1] && i < 2; i++)
        size[i] = x.d[2 + i] * scale;
    return nn_ok(l->c->b) ? nn_resize(l->c->b, l->name, x, size[0], size[1],
                                      linear  ? "linear"
                                      : cubic ? "cubic"
                                              : "nearest",
                                      false)
                          : x;
}

static nn_t build_pixelshuffle(const custom_layer *l, nn_t x)
{
    int64_t r = custom_int(l, "factor", CUSTOM_NEEDED, 1, 64);
    if (custom_rank(l, x, 4, 4) && x.d[1] % (r * r) != 0)
        custom_fail(l->c, "%lld channels are not divisible by the shuffle factor %lld",
                    (long long)x.d[1], (long long)r);
    return nn_ok(l->c->b) ? nn_pixel_shuffle(l->c->b, l->name, x, r) : x;
}

static nn_t build_scale(const custom_layer *l, nn_t x)
{
    return nn_scale(l->c->b, l->name, x, custom_real(l, "by", 1.0));
}

static const custom_row rows[] = {
    {.name = "conv", .keys = "out kernel stride padding dilation groups bias", .build = build_conv},
    {.name = "deconv", .keys = "out kernel stride padding bias", .build = build_deconv},
    {.name = "linear", .keys = "out bias", .build = build_linear},
    {.name = "embedding", .keys = "count dim", .build = build_embedding},
    {.name = "batchnorm", .keys = "eps", .build = build_batchnorm},
    {.name = "layernorm", .keys = "eps", .build = build_layernorm},
    {.name = "rmsnorm", .keys = "eps", .build = build_rmsnorm},
    {.name = "groupnorm", .keys = "groups eps", .build = build_groupnorm},
    {.name = "relu", .keys = "", .build = build_act, .op = "Relu"},
    {.name = "relu6", .keys = "", .build = build_act, .op = "Relu6"},
    {.name = "silu", .keys = "", .build = build_act, .op = "Swish"},
    {.name = "sigmoid", .keys = "", .build = build_act, .op = "Sigmoid"},
    {.name = "tanh", .keys = "", .build = build_act, .op = "Tanh"},
    {.name = "hardswish", .keys = "", .build = build_act, .op = "HardSwish"},
    {.name = "hardsigmoid", .keys = "", .build = build_act, .op = "HardSigmoid"},
    {.name = "elu", .keys = "", .build = build_act, .op = "Elu"},
    {.name = "selu", .keys = "", .build = build_act, .op = "Selu"},
    {.name = "softplus", .keys = "", .build = build_act, .op = "Softplus"},
    {.name = "mish", .keys = "", .build = build_act, .op = "Mish"},
    {.name = "gelu", .keys = "tanh", .build = build_gelu},
    {.name = "leakyrelu", .keys = "slope", .build = build_leaky},
    {.name = "softmax", .keys = "axis", .build = build_softmax},
    {.name = "dropout", .keys = "p", .build = build_dropout},
    {.name = "maxpool", .keys = "kernel stride padding ceil", .build = build_maxpool},
    {.name = "avgpool", .keys = "kernel stride padding ceil", .build = build_avgpool},
    {.name = "globalavgpool", .keys = "", .build = build_globalavgpool},
    {.name = "adaptiveavgpool", .keys = "size", .build = build_adaptive},
    {.name = "mean", .keys = "axes keepdims", .build = build_mean},
    {.name = "flatten", .keys = "axis", .build = build_flatten},
    {.name = "reshape", .keys = "shape", .build = build_reshape},
    {.name = "transpose", .keys = "perm", .build = build_transpose},
    {.name = "slice", .keys = "axis from to", .build = build_slice},
    {.name = "resize", .keys = "scale size mode", .build = build_resize},
    {.name = "pixelshuffle", .keys = "factor", .build = build_pixelshuffle},
    {.name = "scale", .keys = "by", .build = build_scale},
};
const custom_rows custom_plain_rows = {rows, sizeof rows / sizeof *rows};
