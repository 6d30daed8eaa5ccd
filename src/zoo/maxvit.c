/* MaxViT (torchvision's maxvit.py): convolution, attention inside windows, attention across a grid.
 *
 *   stem: two 3x3 convolutions, the first halves the image
 *   blocks: block_layers layers each, the first of them halves; a layer is
 *     MBconv: 1x1 to four times the channels, 3x3 per channel, squeeze-excitation, 1x1, residual
 *     window_attention: windows of partition_size, attention with a bias by relative position, MLP
 *     grid_attention: the same over partition_size x partition_size places spread over the map
 *   classifier: mean, norm, linear, tanh, linear
 */
#include <math.h>

#include "zoo/nn_windows.h"
#include "zoo/zoo.h"

enum { BLOCKS = 8 };

typedef struct maxvit {
    int64_t stem, partition, head_dim, mlp_ratio;
    double squeeze, expansion;
    int blocks;
    int64_t channels[BLOCKS], layers[BLOCKS];
    nn_window_tables tables;
} maxvit;

static const double bn_eps = 1e-3, ln_eps = 1e-5;

static maxvit read_maxvit(nn *b)
{
    static const int64_t channels[] = {64, 128, 256, 512}, layers[] = {2, 2, 5, 2};
    maxvit m = {.stem = nn_int_in(b, "stem_channels", 64, 1, 1 << 16),
                .partition = nn_int_in(b, "partition_size", 7, 1, NN_WINDOW_SIDE),
                .head_dim = nn_int_in(b, "head_dim", 32, 1, 1 << 16),
                .mlp_ratio = nn_int_in(b, "mlp_ratio", 4, 1, 1024),
                .squeeze = nn_real_in(b, "squeeze_ratio", 0.25, 1e-3, 1024.0),
                .expansion = nn_real_in(b, "expansion_ratio", 4.0, 1e-3, 1024.0)};
    m.blocks = nn_ints_in(b, "block_channels", channels, 4, m.channels, BLOCKS, 1, 1 << 16);
    int n = nn_ints_in(b, "block_layers", layers, 4, m.layers, BLOCKS, 1, 1000);
    if (n != m.blocks)
        nn_fail(b, "block_channels has %d items but block_layers has %d", m.blocks, n);
    return m;
}

/* ---- MBconv ---- */

static nn_t conv_norm(nn *b, const char *name, nn_t x, nn_conv c)
{
    c.no_bias = true;
    return NN_UNDER(
        b, nn_gelu(b, "2", nn_batchnorm_eps(b, "1", nn_convolve(b, "0", x, &c), bn_eps), false),
        "%s", name);
}

static nn_t squeeze_excite(nn *b, nn_t x, int64_t narrow)
{
    nn_push(b, "squeeze_excitation");
    nn_t s = nn_global_avgpool(b, "avgpool", x);
    s = nn_act(b, "Swish", "activation", NN_CONV(b, "fc1", s, .out = narrow, .k = 1));
    s = NN_CONV(b, "fc2", s, .out = x.d[1], .k = 1);
    s = nn_act(b, "Sigmoid", "scale_activation", s);
    return nn_leave(b, nn_mul(b, "scale", s, x));
}

static nn_t shortcut(nn *b, nn_t x, int64_t out, int64_t stride)
{
    if (stride == 1 && x.d[1] == out)
        return x;
    if (stride == 1)
        return NN_CONV(b, "proj.0", x, .out = out, .k = 1);
    x = nn_avgpool(b, "proj.0", x, &(nn_pool){.k = 3, .stride = stride, .pad = 1});
    return NN_CONV(b, "proj.1", x, .out = out, .k = 1);
}

static nn_t mbconv(nn *b, const maxvit *m, nn_t x, int64_t out, int64_t stride)
{
    int64_t mid = nn_times(out, m->expansion);
    nn_push(b, "MBconv");
    nn_t skip = shortcut(b, x, out, stride);
    nn_push(b, "layers");
    x = nn_batchnorm_eps(b, "pre_norm", x, bn_eps);
    x = conv_norm(b, "conv_a", x, (nn_conv){.out = mid, .k = 1});
    x = conv_norm(b, "conv_b", x,
                  (nn_conv){.out = mid, .k = 3, .stride = stride, .pad = 1, .groups = mid});
    x = squeeze_excite(b, x, nn_times(out, m->squeeze));
    x = NN_CONV(b, "conv_c", x, .out = out, .k = 1);
    nn_pop(b);
    return nn_leave(b, nn_add(b, "add", skip, x));
}

/* ---- attention on [B, G, P, C]: G groups of P places ---- */

static nn_t heads_of(nn *b, const char *name, nn_t x, int64_t heads)
{
    const int64_t dims[] = {x.d[0], x.d[1], x.d[2], heads, x.d[3] / heads};
    x = nn_reshape(b, name, x, 5, dims);
    return nn_transpose(b, name, x, (const int64_t[]){0, 1, 3, 2, 4});
}

static nn_t einsum(nn *b, const char *name, const char *equation, nn_t x, nn_t y, int64_t last)
{
    nn_t out = x;
    out.d[out.rank - 1] = last;
    return nn_one(b, "Einsum", name, 2, (const nn_t[]){x, y}, out, 1,
                  &NN_TEXT("equation", equation));
}

static nn_t attention(nn *b, maxvit *m, nn_t x)
{
    int64_t dim = x.d[3], heads = dim / m->head_dim;
    const nn_windows w = {
        .n = 2, .size = {m->partition, m->partition}, .whole = {m->partition, m->partition}};
    nn_t part[3];
    nn_push(b, "1");
    nn_split(b, "chunk", nn_linear(b, "to_qkv", x, 3 * dim, true), -1, 3, part);
    nn_t q = heads_of(b, "q", part[0], heads), k = heads_of(b, "k", part[1], heads);
    nn_t v = heads_of(b, "v", part[2], heads);
    k = nn_scale(b, "k/scale", k, 1.0 / sqrt((double)dim));
    nn_t table = nn_param(b, "relative_position_bias_table", 2,
                          (const int64_t[]){nn_windows_offsets(&w), heads});
    nn_t bias = nn_windows_bias(b, table, &w, &m->tables);
    nn_t scores = einsum(b, "scores", "bghid,bghjd->bghij", q, k, x.d[2]);
    scores = nn_add(b, "add_bias", scores, bias);
    scores = nn_one(b, "Softmax", "softmax", 1, &scores, scores, 1, &NN_INT("axis", -1));
    v = einsum(b, "attend", "bghij,bghjd->bghid", scores, v, v.d[4]);
    v = nn_transpose(b, "heads/transpose", v, (const int64_t[]){0, 1, 3, 2, 4});
    v = nn_reshape(b, "heads/reshape", v, 4, x.d);
    return nn_leave(b, nn_linear(b, "merge", v, dim, true));
}

/* [B, C, H, W] to [B, (H/p)*(W/p), p*p, C]. */
static nn_t partition(nn *b, nn_t x, int64_t p)
{
    const int64_t dims[] = {x.d[0], x.d[1], x.d[2] / p, p, x.d[3] / p, p};
    const int64_t flat[] = {x.d[0], dims[2] * dims[4], p * p, x.d[1]};
    x = nn_reshape(b, "partition_op", x, 6, dims);
    x = nn_transpose(b, "partition_op", x, (const int64_t[]){0, 2, 4, 3, 5, 1});
    return nn_reshape(b, "partition_op", x, 4, flat);
}

static nn_t departition(nn *b, nn_t x, int64_t p, nn_t like)
{
    const int64_t dims[] = {x.d[0], like.d[2] / p, like.d[3] / p, p, p, x.d[3]};
    x = nn_reshape(b, "departition_op", x, 6, dims);
    x = nn_transpose(b, "departition_op", x, (const int64_t[]){0, 5, 1, 3, 2, 4});
    return nn_reshape(b, "departition_op", x, 4, like.d);
}

static nn_t swap_axes(nn *b, const char *name, nn_t x)
{
    return nn_transpose(b, name, x, (const int64_t[]){0, 2, 1, 3});
}

static nn_t attention_layer(nn *b, maxvit *m, nn_t x, bool grid)
{
    nn_t like = x;
    int64_t p = grid ? x.d[2] / m->partition : m->partition, dim = x.d[1];
    nn_push(b, grid ? "grid_attention" : "window_attention");
    x = partition(b, x, p);
    if (grid)
        x = swap_axes(b, "partition_swap", x);
    nn_t y = NN_UNDER(b, attention(b, m, nn_layernorm(b, "0", x, ln_eps)), "attn_layer");
    x = nn_add(b, "add_1", x, y);
    nn_push(b, "mlp_layer");
    y = nn_linear(b, "1", nn_layernorm(b, "0", x, ln_eps), dim * m->mlp_ratio, true);
    y = nn_linear(b, "3", nn_gelu(b, "2", y, false), dim, true);
    nn_pop(b);
    x = nn_add(b, "add_2", x, y);
    if (grid)
        x = swap_axes(b, "departition_swap", x);
    return nn_leave(b, departition(b, x, p, like));
}

static bool fits(nn *b, const maxvit *m, nn_t x)
{
    if (!nn_ok(b))
        return false;
    if (x.d[2] != x.d[3] || x.d[2] % m->partition)
        nn_fail(b,
                "a %lldx%lld map is not divisible into partitions of %lld. Use a square image "
                "whose map in each block is a multiple.",
                (long long)x.d[2], (long long)x.d[3], (long long)m->partition);
    else if (x.d[1] % m->head_dim)
        nn_fail(b, "%lld channels are not divisible into heads of %lld", (long long)x.d[1],
                (long long)m->head_dim);
    return nn_ok(b);
}

static nn_t layer(nn *b, maxvit *m, nn_t x, int64_t out, int64_t stride)
{
    nn_push(b, "layers");
    x = mbconv(b, m, x, out, stride);
    if (fits(b, m, x))
        x = attention_layer(b, m, attention_layer(b, m, x, false), true);
    return nn_leave(b, x);
}

static nn_t classifier(nn *b, nn_t x)
{
    int64_t dim = x.d[1];
    nn_push(b, "classifier");
    x = nn_flatten(b, "1", nn_global_avgpool(b, "0", x), 1);
    x = nn_linear(b, "3", nn_layernorm(b, "2", x, ln_eps), dim, true);
    return nn_leave(
        b, nn_linear(b, "5", nn_act(b, "Tanh", "4", x), nn_int(b, "num_classes", 1000), false));
}

static void build(nn *b)
{
    maxvit m = read_maxvit(b);
    nn_t x = nn_image(b, 224);
    x = conv_norm(b, "stem.0", x, (nn_conv){.out = m.stem, .k = 3, .stride = 2, .pad = 1});
    x = NN_CONV(b, "stem.1.0", x, .out = m.stem, .k = 3, .pad = 1);
    for (int i = 0; i < m.blocks; i++)
        for (int64_t k = 0; k < m.layers[i]; k++)
            x = NN_UNDER(b, layer(b, &m, x, m.channels[i], k == 0 ? 2 : 1), "blocks.%d.layers.%d",
                         i, (int)k);
    nn_output(b, classifier(b, x), "output");
}

static const zoo_row rows[] = {
    ZOO_ROW("maxvit_t", "maxvit_tiny maxvit", "maxvit", "classification", build,
            "block_channels=64,128,256,512 block_layers=2,2,5,2"),
};

const zoo_rows zoo_maxvit_rows = ZOO_ROWS(rows);
