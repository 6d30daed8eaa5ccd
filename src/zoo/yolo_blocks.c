/* The blocks of the YOLO models: convolution with normalisation, cross-stage blocks, pooling pyramids, attention.
 * Names of weights are those of Ultralytics' modules.
 *
 *   Bottleneck  1x1 or 3x3, 3x3, with a shortcut where sizes agree
 *   C3          two 1x1 branches, bottlenecks on the first, 1x1 over both
 *   C2f, C2     one 1x1, its halves; C2f hands every bottleneck's output to the last 1x1
 *   C3k2        C2f whose inner blocks are bottlenecks or small C3 (C3k)
 *   SPPF, SPP   max pools of growing reach side by side
 *   C2PSA       half of the channels through attention and a feed-forward part
 */
#include <math.h>

#include "zoo/yolo.h"

nn_t yolo_conv_block(const yolo *y, const char *name, nn_t x, yolo_conv c)
{
    int64_t k = c.k ? c.k : 1;
    nn_conv conv = {.out = c.out ? c.out : x.d[1],
                    .k = k,
                    .stride = c.stride,
                    .pad = c.pad < 0 ? 0
                           : c.pad   ? c.pad
                                     : k / 2,
                    .groups = c.groups,
                    .no_bias = !y->fused};
    nn_push(y->b, "%s", name);
    x = nn_convolve(y->b, "conv", x, &conv);
    if (!y->fused)
        x = nn_batchnorm_eps(y->b, "bn", x, 1e-3);
    if (!c.plain)
        x = strcmp(y->activation, "LeakyRelu") == 0 ? nn_leaky(y->b, "act", x, 0.1)
                                                    : nn_act(y->b, y->activation, "act", x);
    return nn_leave(y->b, x);
}

#define CONV(y, name, x, ...) yolo_conv_block((y), (name), (x), (yolo_conv){__VA_ARGS__})

/* ---- bottlenecks ---- */

typedef struct bottleneck {
    int64_t hidden, out, k1, k2, groups;
    bool shortcut;
} bottleneck;

static nn_t build_bottleneck(const yolo *y, nn_t x, const bottleneck *o)
{
    nn_t z = CONV(y, "cv1", x, .out = o->hidden, .k = o->k1);
    z = CONV(y, "cv2", z, .out = o->out, .k = o->k2, .groups = o->groups);
    return o->shortcut && x.d[1] == o->out ? nn_add(y->b, "add", x, z) : z;
}

/* n of them in a row: "m.0", "m.1", ... */
static nn_t bottlenecks(const yolo *y, nn_t x, int64_t n, const bottleneck *o)
{
    for (int64_t i = 0; i < n && nn_ok(y->b); i++)
        x = NN_UNDER(y->b, build_bottleneck(y, x, o), "m.%d", (int)i);
    return x;
}

static int64_t part_of(int64_t channels, double e)
{
    return (int64_t)((double)channels * e);
}

/* ---- C3 ---- */

static nn_t build_c3(const yolo *y, nn_t x, int64_t out, int64_t n, const bottleneck *inner)
{
    nn_t parts[2];
    parts[0] = bottlenecks(y, CONV(y, "cv1", x, .out = inner->out), n, inner);
    parts[1] = CONV(y, "cv2", x, .out = inner->out);
    return CONV(y, "cv3", nn_concat(y->b, "cat", 2, parts, 1), .out = out);
}

static nn_t c3(const yolo_layer *l)
{
    int64_t hidden = part_of(l->channels, yolo_number(l, 3, 0.5));
    const bottleneck inner = {.hidden = hidden,
                              .out = hidden,
                              .k1 = 1,
                              .k2 = 3,
                              .groups = (int64_t)yolo_number(l, 2, 1),
                              .shortcut = yolo_flag(l, 1, true)};
    return build_c3(l->y, l->in[0], l->channels, l->repeats, &inner);
}

/* ---- C2f, C3k2, C2 ---- */

typedef struct c2f {
    int64_t out, half, n;
    const bottleneck *inner;
    bool c3k; /* inner blocks are C3 with 3x3 bottlenecks */
} c2f;

static nn_t c2f_inner(const yolo *y, nn_t x, const c2f *o)
{
    enum { INNER = 2 };
    const bottleneck small = {.hidden = o->half / 2,
                              .out = o->half / 2,
                              .k1 = 3,
                              .k2 = 3,
                              .groups = o->inner->groups,
                              .shortcut = o->inner->shortcut};
    return o->c3k ? build_c3(y, x, o->half, INNER, &small) : build_bottleneck(y, x, o->inner);
}

static nn_t build_c2f(const yolo *y, nn_t x, const c2f *o)
{
    enum { PARTS = 64 };
    nn_t parts[PARTS];
    int n = (int)(o->n < PARTS - 2 ? o->n : PARTS - 2);
    nn_split(y->b, "chunk", CONV(y, "cv1", x, .out = 2 * o->half), 1, 2, parts);
    for (int i = 0; i < n; i++)
        parts[2 + i] = NN_UNDER(y->b, c2f_inner(y, parts[1 + i], o), "m.%d", i);
    return CONV(y, "cv2", nn_concat(y->b, "cat", 2 + n, parts, 1), .out = o->out);
}

static nn_t c2f_block(const yolo_layer *l)
{
    int64_t half = part_of(l->channels, yolo_number(l, 3, 0.5));
    const bottleneck inner = {.hidden = half,
                              .out = half,
                              .k1 = 3,
                              .k2 = 3,
                              .groups = (int64_t)yolo_number(l, 2, 1),
                              .shortcut = yolo_flag(l, 1, false)};
    return build_c2f(l->y, l->in[0], &(c2f){l->channels, half, l->repeats, &inner, false});
}

/* From size m on, all inner blocks are C3k. */
static nn_t c3k2(const yolo_layer *l)
{
    int64_t half = part_of(l->channels, yolo_number(l, 2, 0.5));
    bool large = l->y->scale == 'm' || l->y->scale == 'l' || l->y->scale == 'x';
    const bottleneck inner = {.hidden = half / 2,
                              .out = half,
                              .k1 = 3,
                              .k2 = 3,
                              .groups = (int64_t)yolo_number(l, 3, 1),
                              .shortcut = yolo_flag(l, 4, true)};
    bool c3k = large || yolo_flag(l, 1, false);
    return build_c2f(l->y, l->in[0], &(c2f){l->channels, half, l->repeats, &inner, c3k});
}

static nn_t c2(const yolo_layer *l)
{
    const yolo *y = l->y;
    int64_t half = part_of(l->channels, yolo_number(l, 3, 0.5));
    const bottleneck inner = {.hidden = half,
                              .out = half,
                              .k1 = 3,
                              .k2 = 3,
                              .groups = (int64_t)yolo_number(l, 2, 1),
                              .shortcut = yolo_flag(l, 1, true)};
    nn_t parts[2];
    nn_split(y->b, "chunk", CONV(y, "cv1", l->in[0], .out = 2 * half), 1, 2, parts);
    parts[0] = bottlenecks(y, parts[0], l->repeats, &inner);
    return CONV(y, "cv2", nn_concat(y->b, "cat", 2, parts, 1), .out = l->channels);
}

/* ---- pooling pyramids ---- */

static nn_t pool_same(const yolo *y, nn_t x, int64_t k)
{
    return nn_maxpool(y->b, "m", x, &(nn_pool){.k = k, .stride = 1, .pad = k / 2});
}

static nn_t sppf(const yolo_layer *l)
{
    int64_t k = (int64_t)yolo_number(l, 1, 5);
    nn_t parts[4] = {CONV(l->y, "cv1", l->in[0], .out = l->in[0].d[1] / 2)};
    for (int i = 1; i < 4; i++)
        parts[i] = pool_same(l->y, parts[i - 1], k);
    return CONV(l->y, "cv2", nn_concat(l->y->b, "cat", 4, parts, 1), .out = l->channels);
}

static nn_t spp(const yolo_layer *l)
{
    static const int64_t reach[] = {5, 9, 13};
    nn_t parts[4] = {CONV(l->y, "cv1", l->in[0], .out = l->in[0].d[1] / 2)};
    for (int i = 0; i < 3; i++)
        parts[1 + i] = pool_same(l->y, parts[0], reach[i]);
    return CONV(l->y, "cv2", nn_concat(l->y->b, "cat", 4, parts, 1), .out = l->channels);
}

/* ---- attention ---- */

typedef struct heads {
    int64_t n, size, key;
} heads;

/* [B, C, H, W] of which every head has its queries, keys and values side by side. */
static nn_t attend(const yolo *y, nn_t x, const heads *h)
{
    int64_t batch = x.d[0], height = x.d[2], width = x.d[3], places = height * width;
    nn *b = y->b;
    nn_t qkv = CONV(y, "qkv", x, .out = h->n * (2 * h->key + h->size), .plain = true);
    qkv = nn_reshape(b, "heads", qkv, 4, (int64_t[]){batch, h->n, 2 * h->key + h->size, places});
    nn_t q = nn_slice(b, "q", qkv, 2, 0, h->key);
    nn_t k = nn_slice(b, "k", qkv, 2, h->key, 2 * h->key);
    nn_t v = nn_slice(b, "v", qkv, 2, 2 * h->key, 2 * h->key + h->size);
    nn_t scores = nn_matmul(b, "scores", nn_transpose(b, "qt", q, (int64_t[]){0, 1, 3, 2}), k);
    scores = nn_softmax(b, "softmax", nn_scale(b, "scale", scores, 1 / sqrt((double)h->key)), 3);
    nn_t out = nn_matmul(b, "mix", v, nn_transpose(b, "st", scores, (int64_t[]){0, 1, 3, 2}));
    out = nn_reshape(b, "merge", out, 4, (int64_t[]){batch, x.d[1], height, width});
    v = nn_reshape(b, "values", v, 4, (int64_t[]){batch, x.d[1], height, width});
    v = CONV(y, "pe", v, .k = 3, .groups = x.d[1], .plain = true);
    return CONV(y, "proj", nn_add(b, "add_pe", out, v), .plain = true);
}

static nn_t psa(const yolo *y, nn_t x)
{
    enum { HEAD = 64 };
    int64_t n = x.d[1] / HEAD > 0 ? x.d[1] / HEAD : 1;
    const heads h = {.n = n, .size = x.d[1] / n, .key = x.d[1] / n / 2};
    if (h.key < 1 || x.d[1] % n) {
        nn_fail(y->b, "attention needs a number of channels that its heads divide, not %lld",
                (long long)x.d[1]);
        return x;
    }
    x = nn_add(y->b, "add_attn", x, NN_UNDER(y->b, attend(y, x, &h), "attn"));
    nn_t z = CONV(y, "ffn.0", x, .out = 2 * x.d[1]);
    z = CONV(y, "ffn.1", z, .out = x.d[1], .plain = true);
    return nn_add(y->b, "add_ffn", x, z);
}

static nn_t c2psa(const yolo_layer *l)
{
    const yolo *y = l->y;
    int64_t half = part_of(l->in[0].d[1], yolo_number(l, 1, 0.5));
    nn_t parts[2];
    nn_split(y->b, "split", CONV(y, "cv1", l->in[0], .out = 2 * half), 1, 2, parts);
    for (int64_t i = 0; i < l->repeats && nn_ok(y->b); i++)
        parts[1] = NN_UNDER(y->b, psa(y, parts[1]), "m.%d", (int)i);
    return CONV(y, "cv2", nn_concat(y->b, "cat", 2, parts, 1), .out = l->in[0].d[1]);
}

/* ---- plain layers ---- */

/* The scope of the layer is the block's own. */
static nn_t conv(const yolo_layer *l)
{
    int64_t pad = (int64_t)yolo_number(l, 3, -2);
    return CONV(l->y, "", l->in[0], .out = l->channels, .k = (int64_t)yolo_number(l, 1, 1),
                .stride = (int64_t)yolo_number(l, 2, 1),
                .pad = pad == -2 ? 0
                       : pad     ? pad
                                 : -1,
                .groups = (int64_t)yolo_number(l, 4, 1));
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static nn_t dwconv(const yolo_layer *l)
{
    return CONV(l->y, "", l->in[0], .out = l->channels, .k = (int64_t)yolo_number(l, 1, 1),
                .stride = (int64_t)yolo_number(l, 2, 1),
                .groups = common_divisor(l->in[0].d[1], l->channels));
}

/* Four pixels become channels: the first layer of YOLOv5 before 6.0. */
static nn_t focus(const yolo_layer *l)
{
    nn *b = l->y->b;
    nn_t x = l->in[0], parts[4];
    for (int i = 0; i < 4; i++) {
        nn_t rows = nn_slice_step(b, "rows", x, 2, i % 2, x.d[2], 2);
        parts[i] = nn_slice_step(b, "columns", rows, 3, i / 2, x.d[3], 2);
    }
    return CONV(l->y, "conv", nn_concat(b, "cat", 4, parts, 1), .out = l->channels,
                .k = (int64_t)yolo_number(l, 1, 1), .stride = (int64_t)yolo_number(l, 2, 1));
}

static nn_t bottleneck_block(const yolo_layer *l)
{
    int64_t hidden = part_of(l->channels, yolo_number(l, 4, 0.5));
    const bottleneck o = {.hidden = hidden,
                          .out = l->channels,
                          .k1 = 3,
                          .k2 = 3,
                          .groups = (int64_t)yolo_number(l, 2, 1),
                          .shortcut = yolo_flag(l, 1, true)};
    return build_bottleneck(l->y, l->in[0], &o);
}

static nn_t upsample(const yolo_layer *l)
{
    nn_t x = l->in[0];
    int64_t by = (int64_t)yolo_number(l, 1, 2);
    return nn_resize(l->y->b, "upsample", x, x.d[2] * by, x.d[3] * by, "nearest", false);
}

static nn_t concat(const yolo_layer *l)
{
    return nn_concat(l->y->b, "cat", l->n_in, l->in, (int)yolo_number(l, 0, 1));
}

static nn_t maxpool(const yolo_layer *l)
{
    const nn_pool p = {.k = (int64_t)yolo_number(l, 0, 2),
                       .stride = (int64_t)yolo_number(l, 1, yolo_number(l, 0, 2)),
                       .pad = (int64_t)yolo_number(l, 2, 0)};
    return nn_maxpool(l->y->b, "pool", l->in[0], &p);
}

static nn_t identity(const yolo_layer *l)
{
    return l->in[0];
}

static const yolo_module rows[] = {
    {"Conv", conv, true, false},
    {"DWConv", dwconv, true, false},
    {"Focus", focus, true, false},
    {"Bottleneck", bottleneck_block, true, false},
    {"C3", c3, true, true},
    {"C2f", c2f_block, true, true},
    {"C2", c2, true, true},
    {"C3k2", c3k2, true, true},
    {"C2PSA", c2psa, true, true},
    {"SPPF", sppf, true, false},
    {"SPP", spp, true, false},
    {"nn.Upsample", upsample, false, false},
    {"Concat", concat, false, false},
    {"nn.MaxPool2d", maxpool, false, false},
    {"nn.Identity", identity, false, false},
};
const yolo_modules yolo_block_modules = {rows, sizeof rows / sizeof *rows};
