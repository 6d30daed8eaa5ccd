/* Swin Transformer, first and second version, and its three-dimensional form for video
 * (torchvision's swin_transformer.py and video/swin_transformer.py).
 *
 *   patches of patch_size to embed_dim channels, channels last: [B, h, w, C] or [B, t, h, w, C]
 *   a stage: `depths` blocks of windowed attention and MLP, every second with shifted windows
 *   between stages: 2x2 neighbours joined, 4C to 2C
 *   norm, mean, head
 * The second version normalises after the layer, compares directions (cosine) instead of products,
 * and has its position bias from a small network (cpb_mlp) over log-spaced offsets.
 */
#include <math.h>

#include "zoo/nn_windows.h"
#include "zoo/zoo.h"

enum { STAGES = 8, CPB_WIDTH = 512 };

typedef struct swin {
    int n; /* dimensions of the map */
    bool v2;
    int stages;
    int64_t depths[STAGES], heads[STAGES], patch[3], window[3], dim;
    double mlp_ratio;
    nn_window_tables tables;
    nn_t offsets; /* of v2: [1, 2wh-1, 2ww-1, 2] */
    bool has_offsets;
} swin;

static const double eps = 1e-5;

static swin read_swin(nn *b, int n)
{
    static const int64_t depths[] = {2, 2, 6, 2}, heads[] = {3, 6, 12, 24};
    static const int64_t patch[] = {2, 4, 4}, window[] = {8, 7, 7};
    swin s = {.n = n, .dim = nn_int_in(b, "embed_dim", 96, 1, 1 << 16)};
    s.stages = nn_ints_in(b, "depths", depths, 4, s.depths, STAGES, 1, 1000);
    int n_heads = nn_ints_in(b, "num_heads", heads, 4, s.heads, STAGES, 1, 1 << 16);
    if (n_heads != s.stages)
        nn_fail(b, "depths has %d items but num_heads has %d", s.stages, n_heads);
    nn_ints_each(b, "patch_size", patch + 3 - n, s.patch, n, 1, 4096);
    nn_ints_each(b, "window_size", window + 3 - n, s.window, n, 1, NN_WINDOW_SIDE);
    s.mlp_ratio = nn_real_in(b, "mlp_ratio", 4.0, 0.01, 1024.0);
    return s;
}

/* ---- windows ---- */

/* Two dimensions: the window keeps its size and the map is padded. */
static nn_windows plan_2d(const swin *s, nn_t x, bool shifted)
{
    nn_windows w = {.n = 2};
    for (int i = 0; i < 2; i++) {
        w.map[i] = x.d[1 + i];
        w.size[i] = w.whole[i] = s->window[i];
        w.shift[i] = shifted && w.map[i] > w.size[i] ? w.size[i] / 2 : 0;
    }
    return w;
}

/* Three: a window shrinks to a map that is no larger. */
static nn_windows plan_3d(const swin *s, nn_t x, bool shifted)
{
    nn_windows w = {.n = 3};
    for (int i = 0; i < 3; i++) {
        bool small = x.d[1 + i] <= s->window[i];
        w.map[i] = x.d[1 + i];
        w.whole[i] = s->window[i];
        w.size[i] = small ? w.map[i] : w.whole[i];
        w.shift[i] = shifted && !small ? w.size[i] / 2 : 0;
    }
    return w;
}

/* ---- the second version's parts ---- */

static float log_offset(int64_t i, int64_t window)
{
    float far = window > 1 ? (float)i / (float)(window - 1) * 8.0F : 0.0F;
    float size = log2f(fabsf(far) + 1.0F) / 3.0F;
    return far < 0.0F ? -size : size;
}

static nn_t offsets_table(nn *b, swin *s)
{
    int64_t h = s->window[0], w = s->window[1];
    const int64_t dims[] = {1, 2 * h - 1, 2 * w - 1, 2};
    if (s->has_offsets)
        return s->offsets;
    float *v = ARENA_ARRAY(nn_arena(b), float, (size_t)(dims[1] * dims[2] * 2)), *at = v;
    for (int64_t i = 1 - h; v && i < h; i++)
        for (int64_t k = 1 - w; k < w; k++) {
            *at++ = log_offset(i, h);
            *at++ = log_offset(k, w);
        }
    s->has_offsets = true;
    s->offsets = nn_table_of(b, "relative_coords_table", IR_FLOAT32, 4, dims, v);
    return s->offsets;
}

/* [offsets, heads]. */
static nn_t network_bias(nn *b, swin *s, int64_t heads)
{
    nn_t x = nn_linear(b, "cpb_mlp.0", offsets_table(b, s), CPB_WIDTH, true);
    x = nn_linear(b, "cpb_mlp.2", nn_act(b, "Relu", "cpb_mlp.1", x), heads, false);
    return nn_reshape(b, "cpb_mlp/reshape", x, 2, (const int64_t[]){-1, heads});
}

/* The keys have no bias: their third of it counts as zero. */
static nn_t qkv_without_key_bias(nn *b, nn_t x, int64_t dim)
{
    nn_t y = nn_linear(b, "qkv", x, 3 * dim, false);
    nn_t bias = nn_param(b, "qkv.bias", 1, &(int64_t){3 * dim});
    const nn_t parts[] = {nn_slice(b, "qkv/bias", bias, 0, 0, dim),
                          nn_table(b, "qkv.zero", IR_FLOAT32, 1, &dim),
                          nn_slice(b, "qkv/bias", bias, 0, 2 * dim, 3 * dim)};
    return nn_add(b, "qkv/add", y, nn_concat(b, "qkv/bias", 3, parts, 0));
}

static nn_t normalized(nn *b, const char *name, nn_t x)
{
    nn_t length = x;
    length.d[x.rank - 1] = 1;
    const nn_t in[] = {x, nn_ints_const(b, "normalize.axes", 1, (const int64_t[]){-1})};
    length = nn_one(b, "ReduceL2", name, 2, in, length, 1, &NN_INT("keepdims", 1));
    const nn_t clip[] = {length, nn_float_const(b, "normalize.eps", 1e-12)};
    length = nn_one(b, "Clip", name, 2, clip, length, 0, NULL);
    return nn_binary(b, "Div", name, x, length);
}

/* exp(min(logit_scale, ln 100)). */
static nn_t temperature(nn *b, int64_t heads)
{
    nn_t scale = nn_param(b, "logit_scale", 3, (const int64_t[]){heads, 1, 1});
    const nn_t in[] = {scale, NN_ABSENT, nn_float_const(b, "logit_scale.max", log(100.0))};
    scale = nn_one(b, "Clip", "logit_scale/clip", 3, in, scale, 0, NULL);
    return nn_plain(b, "Exp", "logit_scale/exp", scale);
}

static nn_t cosine_scores(nn *b, nn_t q, nn_t k)
{
    k = nn_swap(b, "k/transpose", normalized(b, "k/normalize", k));
    nn_t scores = nn_matmul(b, "scores", normalized(b, "q/normalize", q), k);
    return nn_mul(b, "scores/scale", scores, temperature(b, q.d[1]));
}

/* ---- blocks ---- */

static nn_t product_scores(nn *b, nn_t q, nn_t k)
{
    q = nn_scale(b, "q/scale", q, 1.0 / sqrt((double)q.d[3]));
    return nn_matmul(b, "scores", q, nn_swap(b, "k/transpose", k));
}

static nn_t position_bias(nn *b, swin *s, const nn_windows *w, int64_t heads)
{
    const int64_t dims[] = {nn_windows_offsets(w), heads};
    if (!s->v2)
        return nn_windows_bias(b, nn_param(b, "relative_position_bias_table", 2, dims), w,
                               &s->tables);
    nn_t x = nn_windows_bias(b, network_bias(b, s, heads), w, &s->tables);
    return nn_scale(b, "bias/scale", nn_plain(b, "Sigmoid", "bias/sigmoid", x), 16.0);
}

static nn_t attention(nn *b, swin *s, nn_t x, int64_t heads, bool shifted)
{
    nn_windows w = s->n == 2 ? plan_2d(s, x, shifted) : plan_3d(s, x, shifted);
    int64_t batch = x.d[0], dim = x.d[x.rank - 1];
    nn_t part[3];
    nn_push(b, "attn");
    x = nn_windows_cut(b, x, &w);
    x = s->v2 ? qkv_without_key_bias(b, x, dim) : nn_linear(b, "qkv", x, 3 * dim, true);
    nn_heads(b, x, heads, part);
    nn_t bias = position_bias(b, s, &w, heads);
    nn_t scores = s->v2 ? cosine_scores(b, part[0], part[1]) : product_scores(b, part[0], part[1]);
    scores = nn_add(b, "add_bias", scores, bias);
    scores = nn_windows_masked(b, scores, batch, &w, &s->tables);
    scores = nn_one(b, "Softmax", "softmax", 1, &scores, scores, 1, &NN_INT("axis", -1));
    x = nn_unheads(b, nn_matmul(b, "attend", scores, part[2]));
    return nn_leave(b, nn_windows_join(b, nn_linear(b, "proj", x, dim, true), batch, &w));
}

static nn_t block(nn *b, swin *s, nn_t x, int64_t heads, bool shifted)
{
    static const nn_mlp_names names = {"0", "1", "3"};
    int64_t dim = x.d[x.rank - 1], hidden = nn_times(dim, s->mlp_ratio);
    nn_t y;
    if (s->v2) {
        y = nn_layernorm(b, "norm1", attention(b, s, x, heads, shifted), eps);
        x = nn_add(b, "add_1", x, y);
        y = nn_layernorm(b, "norm2", nn_mlp(b, &names, x, hidden, dim), eps);
        return nn_add(b, "add_2", x, y);
    }
    y = attention(b, s, nn_layernorm(b, "norm1", x, eps), heads, shifted);
    x = nn_add(b, "add_1", x, y);
    y = nn_mlp(b, &names, nn_layernorm(b, "norm2", x, eps), hidden, dim);
    return nn_add(b, "add_2", x, y);
}

/* The four of each 2x2 neighbours beside each other: columns of rows, in torchvision's order. */
static nn_t neighbours(nn *b, nn_t x)
{
    int h = x.rank - 3, w = x.rank - 2;
    int64_t pads[2 * NN_RANK] = {0};
    pads[x.rank + h] = x.d[h] % 2;
    pads[x.rank + w] = x.d[w] % 2;
    if (x.d[h] % 2 || x.d[w] % 2)
        x = nn_pad(b, "pad", x, pads, "constant");
    nn_t part[4];
    for (int i = 0; i < 2; i++) {
        nn_t rows = nn_slice_step(b, "rows", x, h, i, x.d[h], 2);
        for (int k = 0; k < 2; k++)
            part[2 * k + i] = nn_slice_step(b, "columns", rows, w, k, x.d[w], 2);
    }
    return nn_concat(b, "cat", 4, part, -1);
}

static nn_t merge(nn *b, const swin *s, nn_t x)
{
    int64_t dim = x.d[x.rank - 1];
    x = neighbours(b, x);
    if (!s->v2)
        x = nn_layernorm(b, "norm", x, eps);
    x = nn_linear(b, "reduction", x, 2 * dim, false);
    return s->v2 ? nn_layernorm(b, "norm", x, eps) : x;
}

/* `first` is the number of the first stage in features. */
static nn_t features(nn *b, swin *s, nn_t x, int first)
{
    nn_push(b, "features");
    for (int i = 0; i < s->stages; i++) {
        for (int64_t k = 0; k < s->depths[i]; k++)
            x = NN_UNDER(b, block(b, s, x, s->heads[i], k % 2 == 1), "%d.%d", first + 2 * i,
                         (int)k);
        x = NN_UNDER(b, i + 1 < s->stages ? merge(b, s, x) : x, "%d", first + 2 * i + 1);
    }
    nn_pop(b);
    return nn_layernorm(b, "norm", x, eps);
}

static void finish(nn *b, nn_t x, int64_t classes)
{
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "avgpool", x), 1);
    nn_output(b, nn_linear(b, "head", x, nn_int(b, "num_classes", classes), true), "output");
}

static void build(nn *b)
{
    swin s = read_swin(b, 2);
    s.v2 = nn_int_in(b, "version", 1, 1, 2) == 2;
    nn_t x = nn_image(b, s.v2 ? 256 : 224);
    nn_conv patches = {
        .out = s.dim, .kernel = {s.patch[0], s.patch[1]}, .strides = {s.patch[0], s.patch[1]}};
    x = nn_convolve(b, "features.0.0", x, &patches);
    x = nn_transpose(b, "features.0.1", x, (const int64_t[]){0, 2, 3, 1});
    x = features(b, &s, nn_layernorm(b, "features.0.2", x, eps), 1);
    x = nn_transpose(b, "permute", x, (const int64_t[]){0, 3, 1, 2});
    finish(b, x, 1000);
}

static nn_t patch_embed_3d(nn *b, const swin *s, nn_t x)
{
    nn_conv patches = {.out = s->dim,
                       .kernel = {s->patch[0], s->patch[1], s->patch[2]},
                       .strides = {s->patch[0], s->patch[1], s->patch[2]}};
    int64_t pads[2 * NN_RANK] = {0};
    bool any = false;
    for (int i = 0; i < 3; i++) {
        int64_t over = x.d[2 + i] % s->patch[i];
        pads[x.rank + 2 + i] = over ? s->patch[i] - over : 0;
        any = any || over;
    }
    nn_push(b, "patch_embed");
    if (any)
        x = nn_pad(b, "pad", x, pads, "constant");
    x = nn_convolve(b, "proj", x, &patches);
    x = nn_transpose(b, "permute", x, (const int64_t[]){0, 2, 3, 4, 1});
    return nn_leave(b, nn_layernorm(b, "norm", x, eps));
}

static void build_3d(nn *b)
{
    swin s = read_swin(b, 3);
    nn_t x = features(b, &s, patch_embed_3d(b, &s, nn_clip(b, 16, 224)), 0);
    x = nn_transpose(b, "permute", x, (const int64_t[]){0, 4, 1, 2, 3});
    finish(b, x, 400);
}

#define ROW(name_, alias, family_, task_, build_, set) \
    ZOO_ROW(name_, alias, family_, task_, build_, set)
#define IMAGE(name_, alias, set) ROW(name_, alias, "swin", "classification", build, set)
#define IMAGE2(name_, alias, set) \
    ROW(name_, alias, "swin_v2", "classification", build, set " version=2 window_size=8,8")
#define VIDEO(name_, alias, set) ROW(name_, alias, "swin3d", "video", build_3d, set)
#define TINY                     "embed_dim=96 depths=2,2,6,2 num_heads=3,6,12,24"
#define SMALL                    "embed_dim=96 depths=2,2,18,2 num_heads=3,6,12,24"
#define BASE                     "embed_dim=128 depths=2,2,18,2 num_heads=4,8,16,32"

static const zoo_row rows[] = {
    IMAGE("swin_t", "swin_tiny_patch4_window7_224 swin_tiny", TINY),
    IMAGE("swin_s", "swin_small_patch4_window7_224 swin_small", SMALL),
    IMAGE("swin_b", "swin_base_patch4_window7_224 swin_base", BASE),
    IMAGE2("swin_v2_t", "swinv2_t swinv2_tiny_window8_256", TINY),
    IMAGE2("swin_v2_s", "swinv2_s swinv2_small_window8_256", SMALL),
    IMAGE2("swin_v2_b", "swinv2_b swinv2_base_window8_256", BASE),
    VIDEO("swin3d_t", NULL, TINY),
    VIDEO("swin3d_s", NULL, SMALL),
    VIDEO("swin3d_b", NULL, BASE),
};

const zoo_rows zoo_swin_rows = ZOO_ROWS(rows);
