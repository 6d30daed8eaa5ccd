/* Layers with weights: convolutions, linear, normalisations, embedding. */
#include <stdio.h>

#include "base/num.h"
#include "zoo/nn_impl.h"

static const char *part(nn *b, const char *layer, const char *what)
{
    const char *name = *layer ? arena_printf(b->scratch, "%s.%s", layer, what) : what;
    return name ? name : what;
}

static nn_t vector(nn *b, const char *layer, const char *what, int64_t n)
{
    return nn_param(b, part(b, layer, what), 1, &n);
}

/* ---- convolutions ---- */

typedef struct window {
    int n; /* spatial dimensions */
    int64_t kernel[3], strides[3], dilations[3], pads[6];
} window;

static int64_t or_one(int64_t v)
{
    return v ? v : 1;
}

static window conv_window(const nn_conv *c, int n)
{
    window w = {.n = n};
    bool each = c->kernel[0] != 0;
    for (int i = 0; i < n && i < 3; i++) {
        w.kernel[i] = or_one(each ? c->kernel[i] : c->k);
        w.strides[i] = or_one(each && c->strides[i] ? c->strides[i] : c->stride);
        w.dilations[i] = or_one(each && c->dilations[i] ? c->dilations[i] : c->dilation);
        w.pads[i] = w.pads[n + i] = each ? c->pads[i] : c->pad;
    }
    return w;
}

/* Sizes come from users: everything is small before it is multiplied. */
static bool window_sane(const window *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->kernel[i] < 1 || w->kernel[i] > INT16_MAX || w->strides[i] < 1 ||
            w->strides[i] > INT16_MAX || w->dilations[i] < 1 || w->dilations[i] > INT16_MAX ||
            w->pads[i] < 0 || w->pads[i] > INT16_MAX)
            return false;
    return true;
}

static bool window_slide(nn *b, const char *name, nn_t x, const window *w, nn_t *out)
{
    for (int i = 0; i < w->n; i++) {
        int64_t reach = (w->kernel[i] - 1) * w->dilations[i] + 1;
        int64_t room = out->d[2 + i] + 2 * w->pads[i] - reach;
        if (room < 0) {
            nn_fail(b, "layer '%s' has a window of %lld, too large for its input %s",
                    nn_full_name(b, name).p, (long long)reach, nn_dims_text(b, x));
            return false;
        }
        out->d[2 + i] = room / w->strides[i] + 1;
    }
    return true;
}

static bool conv_fits(nn *b, const char *name, nn_t x, const nn_conv *c, const window *w)
{
    int64_t groups = or_one(c->groups);
    if (b->failed)
        return false;
    bool fits = x.rank >= 3 && x.rank <= 5 && c->out > 0 && groups > 0 && x.d[1] % groups == 0 &&
                c->out % groups == 0 && window_sane(w);
    if (!fits)
        nn_fail(b, "invalid convolution '%s' of %s to %lld channels in %lld groups",
                nn_full_name(b, name).p, nn_dims_text(b, x), (long long)c->out, (long long)groups);
    return fits;
}

nn_t nn_convolve(nn *b, const char *name, nn_t x, const nn_conv *c)
{
    int n = x.rank >= 3 && x.rank <= 5 ? x.rank - 2 : 1;
    window w = conv_window(c, n);
    nn_t out = x;
    out.d[1] = c->out;
    if (!conv_fits(b, name, x, c, &w) || !window_slide(b, name, x, &w, &out))
        return nn_harmless(out);
    int64_t weight[5] = {c->out, x.d[1] / or_one(c->groups), w.kernel[0], w.kernel[1], w.kernel[2]};
    nn_t in[3] = {nn_activation8(b, name, x),
                  nn_weight8(b, name, part(b, name, "weight"), 2 + n, weight, 0)};
    if (!c->no_bias)
        in[2] = vector(b, name, "bias", c->out);
    const nn_attr attrs[] = {NN_LIST("kernel_shape", n, w.kernel), NN_LIST("strides", n, w.strides),
                             NN_LIST("pads", 2 * n, w.pads), NN_LIST("dilations", n, w.dilations),
                             NN_INT("group", or_one(c->groups))};
    return nn_module(b, "Conv", name, c->no_bias ? 2 : 3, in, out, 5, attrs);
}

nn_t nn_deconv(nn *b, const char *name, nn_t x, int64_t out_channels, int64_t k, int64_t stride,
               int64_t pad, bool bias)
{
    nn_t out = x;
    out.d[1] = out_channels;
    bool sane = x.rank == 4 && k > 0 && k <= INT16_MAX && stride > 0 && stride <= INT16_MAX &&
                pad >= 0 && pad < k && out_channels > 0;
    for (int i = 2; i < 4; i++)
        sane = sane && num_mul(x.d[i] - 1, stride, &out.d[i]) &&
               num_add(out.d[i], k - 2 * pad, &out.d[i]) && out.d[i] > 0;
    if (!sane && !b->failed)
        nn_fail(b, "invalid transposed convolution '%s' of %s", nn_full_name(b, name).p,
                nn_dims_text(b, x));
    if (b->failed)
        return nn_harmless(out);
    nn_t in[3] = {
        x, nn_param(b, part(b, name, "weight"), 4, (const int64_t[]){x.d[1], out_channels, k, k})};
    if (bias)
        in[2] = vector(b, name, "bias", out_channels);
    const int64_t kernel[] = {k, k}, strides[] = {stride, stride}, pads[] = {pad, pad, pad, pad};
    const nn_attr attrs[] = {NN_LIST("kernel_shape", 2, kernel), NN_LIST("strides", 2, strides),
                             NN_LIST("pads", 4, pads)};
    return nn_module(b, "ConvTranspose", name, bias ? 3 : 2, in, out, 3, attrs);
}

/* ---- linear ---- */

/* [N, in] x [out, in]: as PyTorch stores it. */
static nn_t linear_rows(nn *b, const char *name, nn_t x, nn_t out, bool bias)
{
    const int64_t weight[] = {out.d[1], x.d[1]};
    nn_t in[3] = {nn_activation8(b, name, x),
                  nn_weight8(b, name, part(b, name, "weight"), 2, weight, 0)};
    if (bias)
        in[2] = vector(b, name, "bias", out.d[1]);
    return nn_module(b, "Gemm", name, bias ? 3 : 2, in, out, 1, &NN_INT("transB", 1));
}

nn_t nn_linear(nn *b, const char *name, nn_t x, int64_t out_features, bool bias)
{
    nn_t out = x;
    if (x.rank < 1 || out_features < 1) {
        nn_fail(b, "invalid linear layer '%s' of %lld features", nn_full_name(b, name).p,
                (long long)out_features);
        return nn_harmless(x);
    }
    out.d[x.rank - 1] = out_features;
    if (x.rank == 2)
        return linear_rows(b, name, x, out, bias);
    const int64_t weight[] = {x.d[x.rank - 1], out_features};
    nn_t in[2] = {nn_activation8(b, name, x),
                  nn_weight8(b, name, part(b, name, "weight"), 2, weight, 1)};
    if (in[1].id != IR_NONE && ir_value_at(b->model, in[1].id)->constant)
        ir_value_at(b->model, in[1].id)->flags |= IR_VALUE_TRANSPOSED;
    nn_t y = nn_module(b, "MatMul", name, 2, in, out, 0, NULL);
    if (!bias)
        return y;
    in[0] = y;
    in[1] = vector(b, name, "bias", out_features);
    const char *add = arena_printf(b->scratch, "%s/add", name);
    nn_emit(
        b, &(nn_call){
               .op = "Add", .name = add, .of = name, .in = in, .n_in = 2, .out = &out, .n_out = 1});
    return out;
}

nn_t nn_embedding(nn *b, const char *name, nn_t ids, int64_t n, int64_t dim)
{
    nn_t in[2] = {nn_param(b, part(b, name, "weight"), 2, (const int64_t[]){n, dim}), ids};
    nn_t out = ids;
    out.dtype = IR_FLOAT32;
    if (ids.rank >= NN_RANK || n < 1 || dim < 1) {
        nn_fail(b, "invalid embedding '%s': %lld rows of %lld", nn_full_name(b, name).p,
                (long long)n, (long long)dim);
        return nn_harmless(out);
    }
    out.d[out.rank++] = dim;
    return nn_module(b, "Gather", name, 2, in, out, 0, NULL);
}

/* ---- normalisations ---- */

nn_t nn_batchnorm_eps(nn *b, const char *name, nn_t x, double eps)
{
    static const char *const parts[] = {"weight", "bias", "running_mean", "running_var"};
    int64_t n = x.rank > 1 ? x.d[1] : 1;
    nn_t in[5] = {x};
    for (int i = 0; i < 4; i++) {
        bool buffer = i > 1;
        const char *full = part(b, name, parts[i]);
        in[1 + i] = buffer ? nn_buffer(b, full, 1, &n) : nn_param(b, full, 1, &n);
    }
    return nn_module(b, "BatchNormalization", name, 5, in, x, 1, &NN_FLOAT("epsilon", eps));
}

nn_t nn_batchnorm(nn *b, const char *name, nn_t x)
{
    return nn_batchnorm_eps(b, name, x, 1e-5);
}

static int64_t last_dim(nn_t x)
{
    return x.rank > 0 ? x.d[x.rank - 1] : 1;
}

nn_t nn_layernorm(nn *b, const char *name, nn_t x, double eps)
{
    const nn_t in[] = {x, vector(b, name, "weight", last_dim(x)),
                       vector(b, name, "bias", last_dim(x))};
    const nn_attr attrs[] = {NN_INT("axis", -1), NN_FLOAT("epsilon", eps)};
    return nn_module(b, "LayerNormalization", name, 3, in, x, 2, attrs);
}

nn_t nn_groupnorm(nn *b, const char *name, nn_t x, int64_t groups, double eps)
{
    int64_t n = x.rank > 1 ? x.d[1] : 1;
    if (groups < 1 || n % groups) {
        nn_fail(b, "normalisation '%s': %lld channels are not divisible into %lld groups",
                nn_full_name(b, name).p, (long long)n, (long long)groups);
        return nn_harmless(x);
    }
    const nn_t in[] = {x, vector(b, name, "weight", n), vector(b, name, "bias", n)};
    const nn_attr attrs[] = {NN_INT("num_groups", groups), NN_FLOAT("epsilon", eps)};
    return nn_module(b, "GroupNormalization", name, 3, in, x, 2, attrs);
}

nn_t nn_rmsnorm(nn *b, const char *name, nn_t x, double eps)
{
    const nn_t in[] = {x, vector(b, name, "weight", last_dim(x))};
    const nn_attr attrs[] = {NN_INT("axis", -1), NN_FLOAT("epsilon", eps)};
    return nn_module(b, "RMSNormalization", name, 2, in, x, 2, attrs);
}
