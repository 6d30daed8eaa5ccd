/* ResNets for video (torchvision's video/resnet.py): R3D, MC3 and R(2+1)D.
 *
 *   stem 3x7x7 / (1,2,2); layer1..4 of basic blocks, planes 64 to 512, halving from layer2 on; fc
 * `convs` says for each layer how a 3x3x3 convolution is made: full; flat (1x3x3, time is left
 * alone); split (1x3x3 to so many planes that the weights are as many, normalisation, then 3x1x1).
 */
#include "zoo/nn_tokens.h"
#include "zoo/zoo.h"

enum { LAYERS = 4 };

typedef enum kind { FULL, FLAT, SPLIT } kind;

static nn_t relu(nn *b, const char *name, nn_t x)
{
    return nn_act(b, "Relu", name, x);
}

/* k places in time and space each, stride t in time and s in space. */
static nn_t conv(nn *b, const char *name, nn_t x, int64_t out, const int64_t kernel[2],
                 const int64_t stride[2])
{
    int64_t t = kernel[0], s = kernel[1];
    return NN_CONV(b, name, x, .out = out, .kernel = {t, s, s},
                   .strides = {stride[0], stride[1], stride[1]}, .pads = {t / 2, s / 2, s / 2},
                   .no_bias = true);
}

static nn_t split_conv(nn *b, nn_t x, int64_t mid, int64_t out, int64_t s)
{
    nn_push(b, "0");
    x = conv(b, "0", x, mid, (const int64_t[]){1, 3}, (const int64_t[]){1, s});
    x = relu(b, "2", nn_batchnorm(b, "1", x));
    return nn_leave(b, conv(b, "3", x, out, (const int64_t[]){3, 1}, (const int64_t[]){s, 1}));
}

static nn_t conv_bn(nn *b, kind k, nn_t x, int64_t mid, int64_t out, int64_t s)
{
    if (k == SPLIT)
        x = split_conv(b, x, mid, out, s);
    else if (k == FLAT)
        x = conv(b, "0", x, out, (const int64_t[]){1, 3}, (const int64_t[]){1, s});
    else
        x = conv(b, "0", x, out, (const int64_t[]){3, 3}, (const int64_t[]){s, s});
    return nn_batchnorm(b, "1", x);
}

static nn_t shortcut(nn *b, kind k, nn_t x, int64_t out, int64_t s)
{
    if (s == 1 && x.d[1] == out)
        return x;
    const int64_t stride[] = {k == FLAT ? 1 : s, s};
    x = conv(b, "downsample.0", x, out, (const int64_t[]){1, 1}, stride);
    return nn_batchnorm(b, "downsample.1", x);
}

static nn_t block(nn *b, kind k, nn_t x, int64_t planes, int64_t s)
{
    int64_t in = x.d[1], mid = in * planes * 27 / (in * 9 + 3 * planes);
    nn_t y = NN_UNDER(b, relu(b, "2", conv_bn(b, k, x, mid, planes, s)), "conv1");
    nn_push(b, "conv2");
    y = conv_bn(b, k, y, mid, planes, 1);
    nn_pop(b);
    return relu(b, "relu", nn_add(b, "add", y, shortcut(b, k, x, planes, s)));
}

static nn_t stem(nn *b, nn_t x, bool split)
{
    const int64_t whole[] = {3, 7}, space[] = {1, 7}, time[] = {3, 1}, half[] = {1, 2},
                  one[] = {1, 1};
    nn_push(b, "stem");
    x = split ? conv(b, "0", x, 45, space, half) : conv(b, "0", x, 64, whole, half);
    x = relu(b, "2", nn_batchnorm(b, "1", x));
    if (split) {
        x = conv(b, "3", x, 64, time, one);
        x = relu(b, "5", nn_batchnorm(b, "4", x));
    }
    return nn_leave(b, x);
}

/* "full", "flat" or "split" per layer; one word is for all. */
static kind kind_of(nn *b, int layer)
{
    static const char *const words[] = {[FULL] = "full", [FLAT] = "flat", [SPLIT] = "split"};
    const json_value *v = nn_raw(b, "convs");
    if (v && v->kind == JSON_LIST)
        v = layer < (int)v->n ? &v->items[layer] : NULL;
    for (int k = FULL; v && v->kind == JSON_TEXT && k <= SPLIT; k++)
        if (str_is(v->s, words[k]))
            return (kind)k;
    nn_fail(b, "parameter 'convs' must be full, flat or split for each of the %d layers", LAYERS);
    return FULL;
}

static void build(nn *b)
{
    static const int64_t two[] = {2, 2, 2, 2};
    int64_t blocks[LAYERS], planes = 64;
    nn_ints_each(b, "layers", two, blocks, LAYERS, 1, 1000);
    nn_t x = stem(b, nn_clip(b, 16, 112), kind_of(b, 0) == SPLIT);
    for (int i = 0; i < LAYERS; i++, planes *= 2) {
        kind k = kind_of(b, i);
        for (int64_t j = 0; j < blocks[i]; j++)
            x = NN_UNDER(b, block(b, k, x, planes, i > 0 && j == 0 ? 2 : 1), "layer%d.%d", i + 1,
                         (int)j);
    }
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "avgpool", x), 1);
    nn_output(b, nn_linear(b, "fc", x, nn_int(b, "num_classes", 400), true), "output");
}

#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "video_resnet", "video", build, set)

static const zoo_row rows[] = {
    ROW("r3d_18", "r3d", "convs=full,full,full,full"),
    ROW("mc3_18", "mc3", "convs=full,flat,flat,flat"),
    ROW("r2plus1d_18", "r2plus1d r(2+1)d_18", "convs=split,split,split,split"),
};

const zoo_rows zoo_video_resnet_rows = ZOO_ROWS(rows);
