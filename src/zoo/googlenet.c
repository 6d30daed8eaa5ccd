/* GoogLeNet with batch norm, as torchvision has it (its "5x5" branch is a 3x3). The auxiliary heads
 * serve training only: with aux_logits their weights are counted, and not built.
 */
#include "zoo/blocks.h"

typedef struct block {
    const char *name;
    int64_t ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj;
} block;

static nn_t two_convs(nn *b, const char *name, nn_t x, int64_t reduce, int64_t out)
{
    nn_push(b, "%s", name);
    x = zoo_basic_conv(b, "0", x, (nn_conv){.out = reduce, .k = 1});
    return nn_leave(b, zoo_basic_conv(b, "1", x, (nn_conv){.out = out, .k = 3, .pad = 1}));
}

static nn_t pool_conv(nn *b, nn_t x, int64_t out)
{
    nn_push(b, "branch4");
    x = nn_maxpool(b, "0", x, &(nn_pool){.k = 3, .stride = 1, .pad = 1, .ceil = true});
    return nn_leave(b, zoo_basic_conv(b, "1", x, (nn_conv){.out = out, .k = 1}));
}

static nn_t inception(nn *b, nn_t x, const block *c)
{
    nn_push(b, "%s", c->name);
    const nn_t sides[] = {zoo_basic_conv(b, "branch1", x, (nn_conv){.out = c->ch1x1, .k = 1}),
                          two_convs(b, "branch2", x, c->ch3x3red, c->ch3x3),
                          two_convs(b, "branch3", x, c->ch5x5red, c->ch5x5),
                          pool_conv(b, x, c->pool_proj)};
    return nn_leave(b, nn_concat(b, "concat", 4, sides, 1));
}

static const block blocks[] = {
    {"inception3a", 64, 96, 128, 16, 32, 32},     {"inception3b", 128, 128, 192, 32, 96, 64},
    {"inception4a", 192, 96, 208, 16, 48, 64},    {"inception4b", 160, 112, 224, 24, 64, 64},
    {"inception4c", 128, 128, 256, 24, 64, 64},   {"inception4d", 112, 144, 288, 32, 64, 64},
    {"inception4e", 256, 160, 320, 32, 128, 128}, {"inception5a", 256, 160, 320, 32, 128, 128},
    {"inception5b", 384, 192, 384, 48, 128, 128},
};

static nn_t stem(nn *b, nn_t x, const nn_pool *pool)
{
    x = zoo_basic_conv(b, "conv1", x, (nn_conv){.out = 64, .k = 7, .stride = 2, .pad = 3});
    x = nn_maxpool(b, "maxpool1", x, pool);
    x = zoo_basic_conv(b, "conv2", x, (nn_conv){.out = 64, .k = 1});
    x = zoo_basic_conv(b, "conv3", x, (nn_conv){.out = 192, .k = 3, .pad = 1});
    return nn_maxpool(b, "maxpool2", x, pool);
}

static nn_t trunk(nn *b, nn_t x)
{
    const nn_pool wide = {.k = 3, .stride = 2, .ceil = true},
                  small = {.k = 2, .stride = 2, .ceil = true};
    x = stem(b, x, &wide);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        x = inception(b, x, &blocks[i]);
        if (i == 1)
            x = nn_maxpool(b, "maxpool3", x, &wide);
        if (i == 6)
            x = nn_maxpool(b, "maxpool4", x, &small);
    }
    return x;
}

/* conv 1x1 to 128 with norm, fc 2048 to 1024, fc to the classes. */
static uint64_t aux_params(uint64_t in, uint64_t classes)
{
    return in * 128 + 2 * 128 + 2048 * 1024 + 1024 + 1024 * classes + classes;
}

static void build(nn *b)
{
    int64_t classes = nn_int_in(b, "num_classes", 1000, 1, INT32_MAX);
    nn_t x = trunk(b, zoo_transform_input(b, nn_image(b, 224)));
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "avgpool", x), 1);
    nn_output(b, nn_linear(b, "fc", x, classes, true), "output");
    if (nn_bool(b, "aux_logits", false))
        nn_not_in_graph(b, aux_params(512, (uint64_t)classes) + aux_params(528, (uint64_t)classes));
}

static const zoo_row rows[] = {
    ZOO_ROW("googlenet", "inception_v1", "googlenet", "classification", build, NULL),
    ZOO_ROW("quantized_googlenet", NULL, "googlenet", "classification", build, "quantize=true"),
};

const zoo_rows zoo_googlenet_rows = ZOO_ROWS(rows);
