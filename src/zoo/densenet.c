/* DenseNet-BC: every layer of a block reads what all layers before it gave; a transition halves
 * channels and image between blocks.
 */
#include "zoo/blocks.h"

enum { BLOCKS = 8, LAYERS_MAX = 200 };

typedef struct growth {
    int64_t rate, bottleneck;
} growth;

static nn_t norm_relu(nn *b, const char *norm, const char *relu, nn_t x)
{
    return nn_act(b, "Relu", relu, nn_batchnorm(b, norm, x));
}

static nn_t dense_layer(nn *b, int index, const nn_t *before, int n, const growth *g)
{
    nn_push(b, "denselayer%d", index);
    nn_t x = nn_concat(b, "concat", n, before, 1);
    x = norm_relu(b, "norm1", "relu1", x);
    x = NN_CONV(b, "conv1", x, .out = g->bottleneck * g->rate, .k = 1, .no_bias = true);
    x = norm_relu(b, "norm2", "relu2", x);
    return nn_leave(b, NN_CONV(b, "conv2", x, .out = g->rate, .k = 3, .pad = 1, .no_bias = true));
}

static nn_t dense_block(nn *b, int index, nn_t x, int64_t layers, const growth *g)
{
    nn_t all[LAYERS_MAX + 1] = {x};
    nn_push(b, "denseblock%d", index);
    for (int i = 0; i < layers; i++)
        all[i + 1] = dense_layer(b, i + 1, all, i + 1, g);
    return nn_leave(b, nn_concat(b, "concat", (int)layers + 1, all, 1));
}

static nn_t transition(nn *b, int index, nn_t x)
{
    nn_push(b, "transition%d", index);
    x = norm_relu(b, "norm", "relu", x);
    x = NN_CONV(b, "conv", x, .out = x.d[1] / 2, .k = 1, .no_bias = true);
    return nn_leave(b, nn_avgpool(b, "pool", x, &(nn_pool){.k = 2, .stride = 2}));
}

static nn_t features(nn *b, nn_t x)
{
    int64_t layers[BLOCKS];
    int n = zoo_stages(b, "block_config", layers, BLOCKS, LAYERS_MAX);
    growth g = {.rate = nn_int_in(b, "growth_rate", 32, 1, 65536),
                .bottleneck = nn_int_in(b, "bn_size", 4, 1, 1024)};
    int64_t stem = nn_int(b, "num_init_features", 64);
    nn_push(b, "features");
    x = NN_CONV(b, "conv0", x, .out = stem, .k = 7, .stride = 2, .pad = 3, .no_bias = true);
    x = norm_relu(b, "norm0", "relu0", x);
    x = nn_maxpool(b, "pool0", x, &(nn_pool){.k = 3, .stride = 2, .pad = 1});
    for (int i = 0; i < n && nn_ok(b); i++) {
        x = dense_block(b, i + 1, x, layers[i], &g);
        if (i + 1 < n)
            x = transition(b, i + 1, x);
    }
    return nn_leave(b, nn_batchnorm(b, "norm5", x));
}

static void build(nn *b)
{
    nn_t x = features(b, nn_image(b, 224));
    x = nn_one(b, "Relu", "relu", 1, &x, x, 0, NULL);
    x = nn_mark(b, nn_global_avgpool(b, "avgpool", x), IR_NODE_FUNCTION);
    x = nn_flatten(b, "flatten", x, 1);
    x = nn_linear(b, "classifier", x, nn_int(b, "num_classes", 1000), true);
    nn_output(b, x, "output");
}

#define ROW(name_, set) ZOO_ROW(name_, NULL, "densenet", "classification", build, set)

static const zoo_row rows[] = {
    ROW("densenet121", "block_config=6,12,24,16"),
    ROW("densenet161", "block_config=6,12,36,24 growth_rate=48 num_init_features=96"),
    ROW("densenet169", "block_config=6,12,32,32"),
    ROW("densenet201", "block_config=6,12,48,32"),
};

const zoo_rows zoo_densenet_rows = ZOO_ROWS(rows);
