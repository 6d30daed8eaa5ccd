/* SqueezeNet 1.0 and 1.1: fire modules (squeeze to few channels, expand by 1x1 and 3x3 side by side);
 * the classifier is a convolution. The versions differ in the stem and in where the pooling stands.
 */
#include "zoo/blocks.h"

static nn_t fire(nn *b, const char *name, nn_t x, int64_t squeeze, int64_t expand)
{
    nn_push(b, "%s", name);
    x = nn_act(b, "Relu", "squeeze_activation", NN_CONV(b, "squeeze", x, .out = squeeze, .k = 1));
    nn_t sides[2] = {NN_CONV(b, "expand1x1", x, .out = expand, .k = 1),
                     NN_CONV(b, "expand3x3", x, .out = expand, .k = 3, .pad = 1)};
    sides[0] = nn_act(b, "Relu", "expand1x1_activation", sides[0]);
    sides[1] = nn_act(b, "Relu", "expand3x3_activation", sides[1]);
    return nn_leave(b, nn_concat(b, "concat", 2, sides, 1));
}

typedef struct version {
    int64_t stem, stem_kernel;
    uint32_t pools; /* bit i: features.i is a pooling */
} version;

static const version versions[] = {
    {96, 7, 1U << 2 | 1U << 6 | 1U << 11},
    {64, 3, 1U << 2 | 1U << 5 | 1U << 8},
};

static nn_t features(nn *b, nn_t x, const version *v)
{
    static const int64_t squeeze[] = {16, 16, 32, 32, 48, 48, 64, 64};
    char name[16];
    nn_push(b, "features");
    x = NN_CONV(b, "0", x, .out = v->stem, .k = v->stem_kernel, .stride = 2);
    x = nn_act(b, "Relu", "1", x);
    for (int i = 2, k = 0; i <= 12; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (v->pools >> i & 1) {
            x = nn_maxpool(b, name, x, &(nn_pool){.k = 3, .stride = 2, .ceil = true});
        } else {
            x = fire(b, name, x, squeeze[k], squeeze[k] * 4);
            k++;
        }
    }
    return nn_leave(b, x);
}

static void build(nn *b)
{
    bool later = nn_real_in(b, "version", 1.0, 1.0, 1.1) > 1.05;
    nn_t x = features(b, nn_image(b, 224), &versions[later]);
    nn_push(b, "classifier");
    x = NN_CONV(b, "1", x, .out = nn_int(b, "num_classes", 1000), .k = 1);
    x = nn_global_avgpool(b, "3", nn_act(b, "Relu", "2", x));
    nn_pop(b);
    nn_output(b, nn_flatten(b, "flatten", x, 1), "output");
}

static const zoo_row rows[] = {
    ZOO_ROW("squeezenet1_0", "squeezenet", "squeezenet", "classification", build, "version=1.0"),
    ZOO_ROW("squeezenet1_1", NULL, "squeezenet", "classification", build, "version=1.1"),
};

const zoo_rows zoo_squeezenet_rows = ZOO_ROWS(rows);
