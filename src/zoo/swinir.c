/* SwinIR, image restoration (network_swinir.py of its authors), and SwinMR, which is the same
 * network trained on magnetic resonance images.
 *
 *   conv_first: to embed_dim channels
 *   layers: residual groups of `depths` Swin blocks, a convolution (resi_connection: 1conv, 3conv)
 *   and the group's input added; norm, conv_after_body, conv_first's output added
 *   upsampler: pixelshuffle (classical), pixelshuffledirect (light), nearest+conv (real world, x4),
 *   or none: conv_last and the image itself added
 * The picture is padded by reflection to whole windows and cropped at the end. The mean that an RGB
 * image loses before and gets back after has no weights; it is left out where it is zero, as is a
 * range of 1.
 */
#include <math.h>
#include <stdio.h>

#include "zoo/nn_windows.h"
#include "zoo/zoo.h"

enum { GROUPS = 64, FEATURES = 64 };

typedef struct swinir {
    int groups;
    int64_t depths[GROUPS], heads[GROUPS], window, dim, upscale, out;
    double mlp_ratio, range;
    bool three_convs, patch_norm, positions, qkv_bias;
    nn_window_tables tables;
} swinir;

static const double eps = 1e-5;

static swinir read_swinir(nn *b)
{
    static const int64_t six[] = {6, 6, 6, 6, 6, 6};
    swinir s = {.window = nn_int_in(b, "window_size", 8, 1, NN_WINDOW_SIDE),
                .dim = nn_int_in(b, "embed_dim", 180, 1, 1 << 16),
                .upscale = nn_int_in(b, "upscale", 1, 1, 64),
                .mlp_ratio = nn_real_in(b, "mlp_ratio", 2.0, 0.01, 1024.0),
                .range = nn_real_in(b, "img_range", 1.0, 1e-6, 1e6),
                .three_convs = !nn_either(b, "resi_connection", "1conv", "3conv"),
                .patch_norm = nn_bool(b, "patch_norm", true),
                .positions = nn_bool(b, "ape", false),
                .qkv_bias = nn_bool(b, "qkv_bias", true)};
    s.groups = nn_ints_in(b, "depths", six, 6, s.depths, GROUPS, 1, 1000);
    int n_heads = nn_ints_in(b, "num_heads", six, 6, s.heads, GROUPS, 1, 1 << 16);
    if (n_heads != s.groups)
        nn_fail(b, "depths has %d items but num_heads has %d", s.groups, n_heads);
    return s;
}

/* img_size may be one number or height and width. */
static nn_t image(nn *b)
{
    int64_t size[2] = {256, 256}, channels = nn_int(b, "in_chans", 1);
    int n = nn_ints_in(b, "img_size", size, 1, size, 2, 1, 1 << 24);
    const int64_t dims[] = {1, channels, size[0], n == 2 ? size[1] : size[0]};
    return nn_input(b, "input", IR_FLOAT32, 4, dims);
}

/* ---- Swin blocks on [B, H, W, C] ---- */

/* An image no larger than a window is one window. */
static nn_windows plan(const swinir *s, nn_t x, bool shifted)
{
    int64_t least = x.d[1] < x.d[2] ? x.d[1] : x.d[2];
    int64_t size = least <= s->window ? least : s->window;
    int64_t shift = shifted && least > s->window ? size / 2 : 0;
    return (nn_windows){.n = 2,
                        .map = {x.d[1], x.d[2]},
                        .size = {size, size},
                        .whole = {size, size},
                        .shift = {shift, shift}};
}

static nn_t attention(nn *b, swinir *s, nn_t x, int64_t heads, bool shifted)
{
    nn_windows w = plan(s, x, shifted);
    int64_t batch = x.d[0];
    nn_t part[3];
    nn_push(b, "attn");
    x = nn_linear(b, "qkv", nn_windows_cut(b, x, &w), 3 * s->dim, s->qkv_bias);
    nn_heads(b, x, heads, part);
    nn_t q = nn_scale(b, "q/scale", part[0], 1.0 / sqrt((double)part[0].d[3]));
    const int64_t dims[] = {nn_windows_offsets(&w), heads};
    nn_t table = nn_param(b, "relative_position_bias_table", 2, dims);
    nn_t bias = nn_windows_bias(b, table, &w, &s->tables);
    nn_t scores = nn_matmul(b, "scores", q, nn_swap(b, "k/transpose", part[1]));
    scores = nn_add(b, "add_bias", scores, bias);
    scores = nn_windows_masked(b, scores, batch, &w, &s->tables);
    scores = nn_softmax(b, "softmax", scores, -1);
    x = nn_unheads(b, nn_matmul(b, "attend", scores, part[2]));
    return nn_leave(b, nn_windows_join(b, nn_linear(b, "proj", x, s->dim, true), batch, &w));
}

static nn_t block(nn *b, swinir *s, nn_t x, int64_t heads, bool shifted)
{
    static const nn_mlp_names names = {"fc1", "act", "fc2"};
    nn_t y = attention(b, s, nn_layernorm(b, "norm1", x, eps), heads, shifted);
    x = nn_add(b, "add_1", x, y);
    y = nn_layernorm(b, "norm2", x, eps);
    return nn_add(b, "add_2", x, nn_mlp(b, &names, y, nn_times(s->dim, s->mlp_ratio), s->dim));
}

/* ---- convolutions between the groups, on [B, C, H, W] ---- */

static nn_t conv3(nn *b, const char *name, nn_t x, int64_t out)
{
    return NN_CONV(b, name, x, .out = out, .k = 3, .pad = 1);
}

static nn_t body_conv(nn *b, const swinir *s, const char *name, nn_t x)
{
    int64_t narrow = s->dim / 4;
    if (!s->three_convs)
        return conv3(b, name, x, s->dim);
    nn_push(b, "%s", name);
    x = nn_leaky(b, "1", conv3(b, "0", x, narrow), 0.2);
    x = nn_leaky(b, "3", NN_CONV(b, "2", x, .out = narrow, .k = 1), 0.2);
    return nn_leave(b, conv3(b, "4", x, s->dim));
}

static nn_t channels_last(nn *b, nn_t x)
{
    return nn_transpose(b, "patch_embed", x, (const int64_t[]){0, 2, 3, 1});
}

static nn_t channels_first(nn *b, nn_t x)
{
    return nn_transpose(b, "patch_unembed", x, (const int64_t[]){0, 3, 1, 2});
}

static nn_t group(nn *b, swinir *s, nn_t x, int i)
{
    nn_t y = x;
    nn_push(b, "layers.%d", i);
    for (int64_t k = 0; k < s->depths[i]; k++)
        y = NN_UNDER(b, block(b, s, y, s->heads[i], k % 2 == 1), "residual_group.blocks.%d",
                     (int)k);
    y = channels_last(b, body_conv(b, s, "conv", channels_first(b, y)));
    return nn_leave(b, nn_add(b, "add", y, x));
}

static nn_t with_positions(nn *b, const swinir *s, nn_t x)
{
    const int64_t sizes[] = {1, x.d[1], x.d[2], s->dim};
    if (!s->positions)
        return x;
    nn_t p = nn_param(b, "absolute_pos_embed", 3, (const int64_t[]){1, x.d[1] * x.d[2], s->dim});
    return nn_add(b, "add_pos", x, nn_reshape(b, "absolute_pos_embed/reshape", p, 4, sizes));
}

/* conv_after_body(deep features of x) + x. */
static nn_t body(nn *b, swinir *s, nn_t x)
{
    nn_t y = channels_last(b, x);
    if (s->patch_norm)
        y = nn_layernorm(b, "patch_embed.norm", y, eps);
    y = with_positions(b, s, y);
    for (int i = 0; i < s->groups; i++)
        y = group(b, s, y, i);
    y = channels_first(b, nn_layernorm(b, "norm", y, eps));
    return nn_add(b, "add_body", body_conv(b, s, "conv_after_body", y), x);
}

/* ---- the image ---- */

/* x4 by two x2; x3 in one. */
static nn_t shuffle_up(nn *b, nn_t x, int64_t scale)
{
    char conv[16], shuffle[16];
    int64_t factor = scale == 3 ? 3 : 2;
    int at = 0;
    if (scale != 3 && (scale & (scale - 1)))
        nn_fail(b, "parameter 'upscale' is %lld; pixelshuffle needs 3 or a power of two",
                (long long)scale);
    nn_push(b, "upsample");
    for (; scale > 1 && nn_ok(b); scale /= factor) {
        snprintf(conv, sizeof conv, "%d", at++);
        snprintf(shuffle, sizeof shuffle, "%d", at++);
        x = nn_pixel_shuffle(b, shuffle, conv3(b, conv, x, factor * factor * x.d[1]), factor);
    }
    return nn_leave(b, x);
}

static nn_t before_upsample(nn *b, nn_t x)
{
    x = conv3(b, "conv_before_upsample.0", x, FEATURES);
    return nn_leaky(b, "conv_before_upsample.1", x, 0.01);
}

static nn_t classical(nn *b, const swinir *s, nn_t image_in, nn_t x)
{
    (void)image_in;
    return conv3(b, "conv_last", shuffle_up(b, before_upsample(b, x), s->upscale), s->out);
}

static nn_t direct(nn *b, const swinir *s, nn_t image_in, nn_t x)
{
    (void)image_in;
    x = conv3(b, "upsample.0", x, s->upscale * s->upscale * s->out);
    return s->upscale > 1 ? nn_pixel_shuffle(b, "upsample.1", x, s->upscale) : x;
}

static nn_t doubled(nn *b, const char *conv, nn_t x)
{
    x = nn_resize(b, "interpolate", x, 2 * x.d[2], 2 * x.d[3], "nearest", false);
    return nn_leaky(b, "lrelu", conv3(b, conv, x, FEATURES), 0.2);
}

static nn_t real_world(nn *b, const swinir *s, nn_t image_in, nn_t x)
{
    (void)image_in;
    if (s->upscale != 4)
        nn_fail(b, "upsampler nearest+conv needs upscale 4, got %lld", (long long)s->upscale);
    x = doubled(b, "conv_up1", before_upsample(b, x));
    x = doubled(b, "conv_up2", x);
    x = nn_leaky(b, "lrelu", conv3(b, "conv_hr", x, FEATURES), 0.2);
    return conv3(b, "conv_last", x, s->out);
}

static nn_t same_size(nn *b, const swinir *s, nn_t image_in, nn_t x)
{
    if (s->upscale != 1)
        nn_fail(b, "upscale must be 1 without an upsampler, got %lld", (long long)s->upscale);
    return nn_add(b, "add_image", image_in, conv3(b, "conv_last", x, s->out));
}

static const struct {
    const char *name;
    nn_t (*run)(nn *b, const swinir *s, nn_t image_in, nn_t x);
} upsamplers[] = {
    {"", same_size},
    {"none", same_size},
    {"pixelshuffle", classical},
    {"pixelshuffledirect", direct},
    {"nearest+conv", real_world},
};

static nn_t upsample(nn *b, const swinir *s, nn_t image_in, nn_t x)
{
    str name = nn_word(b, "upsampler", "");
    for (size_t i = 0; i < sizeof upsamplers / sizeof *upsamplers; i++)
        if (str_is(name, upsamplers[i].name))
            return upsamplers[i].run(b, s, image_in, x);
    nn_fail(b,
            "parameter 'upsampler' must be empty, pixelshuffle, pixelshuffledirect or "
            "nearest+conv, not '" STR_FMT "'",
            STR_ARG(name));
    return x;
}

/* (x - mean) * range on the way in, x / range + mean on the way out. */
static nn_t level(nn *b, const swinir *s, nn_t x, bool rgb, bool in)
{
    static const float mean[] = {0.4488F, 0.4371F, 0.4040F};
    const int64_t dims[] = {1, 3, 1, 1};
    nn_t by = {.id = IR_NONE};
    if (rgb)
        by = nn_table_of(b, in ? "mean" : "mean_out", IR_FLOAT32, 4, dims, mean);
    if (in && rgb)
        x = nn_binary(b, "Sub", "sub_mean", x, by);
    if (s->range != 1.0)
        x = nn_binary(b, in ? "Mul" : "Div", in ? "range" : "unrange", x,
                      nn_float_const(b, "img_range", s->range));
    return !in && rgb ? nn_add(b, "add_mean", x, by) : x;
}

static nn_t pad_to_windows(nn *b, const swinir *s, nn_t x)
{
    int64_t least = x.d[2] < x.d[3] ? x.d[2] : x.d[3];
    int64_t window = least <= s->window ? least : s->window;
    int64_t down = (window - x.d[2] % window) % window, right = (window - x.d[3] % window) % window;
    if (down == 0 && right == 0)
        return x;
    return nn_pad(b, "pad", x, (const int64_t[]){0, 0, 0, 0, 0, 0, down, right}, "reflect");
}

static nn_t crop(nn *b, nn_t x, nn_t input, int64_t scale)
{
    if (!nn_ok(b))
        return x;
    int64_t height = input.d[2] * scale, width = input.d[3] * scale;
    if (x.d[2] > height)
        x = nn_slice(b, "crop", x, 2, 0, height);
    return x.d[3] > width ? nn_slice(b, "crop", x, 3, 0, width) : x;
}

static void build(nn *b)
{
    swinir s = read_swinir(b);
    nn_t input = image(b);
    bool rgb = input.d[1] == 3;
    s.out = nn_int_in(b, "out_chans", input.d[1], 1, 1 << 20);
    nn_t x = level(b, &s, pad_to_windows(b, &s, input), rgb, true);
    nn_t y = body(b, &s, conv3(b, "conv_first", x, s.dim));
    y = level(b, &s, upsample(b, &s, x, y), rgb, false);
    nn_output(b, crop(b, y, input, s.upscale), "output");
}

#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "swinir", "restoration", build, set)

static const zoo_row rows[] = {
    ROW("swinir", "swinmr", "embed_dim=180"),
    ROW("swinir_small", "swinmr_small", "embed_dim=60"),
    ROW("swinir_classical_x2", NULL, "in_chans=3 img_size=64 upscale=2 upsampler=pixelshuffle"),
    ROW("swinir_classical_x4", NULL, "in_chans=3 img_size=64 upscale=4 upsampler=pixelshuffle"),
    ROW("swinir_lightweight_x2", NULL,
        "in_chans=3 img_size=64 upscale=2 upsampler=pixelshuffledirect embed_dim=60 depths=6,6,6,6 "
        "num_heads=6,6,6,6"),
    ROW("swinir_lightweight_x4", NULL,
        "in_chans=3 img_size=64 upscale=4 upsampler=pixelshuffledirect embed_dim=60 depths=6,6,6,6 "
        "num_heads=6,6,6,6"),
    ROW("swinir_real_x4", NULL, "in_chans=3 img_size=64 upscale=4 upsampler=nearest+conv"),
};

const zoo_rows zoo_swinir_rows = ZOO_ROWS(rows);
