/* ShuffleNet v2: a unit works on half of the channels and shuffles the halves; the first unit of a
 * stage halves the image and works on all of them twice.
 */
#include "zoo/blocks.h"

static nn_t depthwise(nn *b, int index, nn_t x, int64_t stride)
{
    return zoo_conv_norm(
        b, index, x,
        (nn_conv){.out = x.d[1], .k = 3, .stride = stride, .pad = 1, .groups = x.d[1]});
}

static nn_t branch1(nn *b, nn_t x, int64_t half, int64_t stride)
{
    nn_push(b, "branch1");
    x = zoo_conv_norm(b, 2, depthwise(b, 0, x, stride), (nn_conv){.out = half, .k = 1});
    return nn_leave(b, nn_act(b, "Relu", "4", x));
}

static nn_t branch2(nn *b, nn_t x, int64_t half, int64_t stride)
{
    nn_push(b, "branch2");
    x = nn_act(b, "Relu", "2", zoo_conv_norm(b, 0, x, (nn_conv){.out = half, .k = 1}));
    x = zoo_conv_norm(b, 5, depthwise(b, 3, x, stride), (nn_conv){.out = half, .k = 1});
    return nn_leave(b, nn_act(b, "Relu", "7", x));
}

/* [N, 2, C/2, H, W] with the groups and their channels swapped. */
static nn_t shuffle(nn *b, nn_t x)
{
    const int64_t split[] = {x.d[0], 2, x.d[1] / 2, x.d[2], x.d[3]};
    nn_t y = nn_reshape(b, "channel_shuffle.view", x, 5, split);
    y = nn_transpose(b, "channel_shuffle.transpose", y, (const int64_t[]){0, 2, 1, 3, 4});
    return nn_reshape(b, "channel_shuffle.flatten", y, 4, x.d);
}

static nn_t unit(nn *b, int index, nn_t x, int64_t out, int64_t stride)
{
    nn_t halves[2];
    nn_push(b, "%d", index);
    if (stride == 1) {
        nn_split(b, "chunk", x, 1, 2, halves);
    } else {
        halves[0] = branch1(b, x, out / 2, stride);
        halves[1] = x;
    }
    halves[1] = branch2(b, halves[1], out / 2, stride);
    return nn_leave(b, shuffle(b, nn_concat(b, "concat", 2, halves, 1)));
}

static nn_t conv_bn_relu(nn *b, const char *name, nn_t x, nn_conv c)
{
    return NN_UNDER(b, nn_act(b, "Relu", "2", zoo_conv_norm(b, 0, x, c)), "%s", name);
}

enum { STAGES = 3 };

static void build(nn *b)
{
    static const int64_t repeats[] = {4, 8, 4}, def[] = {24, 116, 232, 464, 1024};
    int64_t units[STAGES] = {0}, width[STAGES + 2] = {0};
    if (nn_ints(b, "stages_repeats", repeats, STAGES, units, STAGES) != STAGES ||
        nn_ints(b, "stages_out_channels", def, STAGES + 2, width, STAGES + 2) != STAGES + 2)
        nn_fail(b, "stages_repeats must be 3 numbers and stages_out_channels 5");
    nn_t x = nn_image(b, 224);
    x = conv_bn_relu(b, "conv1", x, (nn_conv){.out = width[0], .k = 3, .stride = 2, .pad = 1});
    x = nn_maxpool(b, "maxpool", x, &(nn_pool){.k = 3, .stride = 2, .pad = 1});
    for (int s = 0; s < STAGES && nn_ok(b); s++) {
        if (units[s] < 1 || units[s] > 1000)
            nn_fail(b, "parameter 'stages_repeats' contains %lld; values must be 1 to 1000",
                    (long long)units[s]);
        nn_push(b, "stage%d", s + 2);
        for (int i = 0; nn_ok(b) && i < units[s]; i++)
            x = unit(b, i, x, width[s + 1], i ? 1 : 2);
        nn_pop(b);
    }
    x = conv_bn_relu(b, "conv5", x, (nn_conv){.out = width[STAGES + 1], .k = 1});
    x = nn_mean(b, "mean", x, 2, (const int64_t[]){2, 3}, false);
    nn_output(b, nn_linear(b, "fc", x, nn_int(b, "num_classes", 1000), true), "output");
}

#define ROW(name_, set) ZOO_ROW(name_, NULL, "shufflenet_v2", "classification", build, set)
#define X0_5            "stages_out_channels=24,48,96,192,1024"
#define X1_0            "stages_out_channels=24,116,232,464,1024"
#define X1_5            "stages_out_channels=24,176,352,704,1024"
#define X2_0            "stages_out_channels=24,244,488,976,2048"

static const zoo_row rows[] = {
    ROW("shufflenet_v2_x0_5", X0_5),
    ROW("shufflenet_v2_x1_0", X1_0),
    ROW("shufflenet_v2_x1_5", X1_5),
    ROW("shufflenet_v2_x2_0", X2_0),
    ROW("quantized_shufflenet_v2_x0_5", X0_5 " quantize=true"),
    ROW("quantized_shufflenet_v2_x1_0", X1_0 " quantize=true"),
    ROW("quantized_shufflenet_v2_x1_5", X1_5 " quantize=true"),
    ROW("quantized_shufflenet_v2_x2_0", X2_0 " quantize=true"),
};

const zoo_rows zoo_shufflenet_rows = ZOO_ROWS(rows);
