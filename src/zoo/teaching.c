/* Two networks small enough to count by hand. */
#include "zoo/blocks.h"

/* LeNet-5 with ReLU and max pooling, as the PyTorch tutorial writes it: 61,706 parameters. */
static void build_lenet(nn *b)
{
    int64_t side = nn_int(b, "image_size", 32);
    const int64_t dims[] = {1, nn_int(b, "in_chans", 1), side, side};
    nn_t x = nn_input(b, "input", IR_FLOAT32, 4, dims);
    x = nn_act(b, "Relu", "relu1", NN_CONV(b, "conv1", x, .out = 6, .k = 5));
    x = nn_maxpool(b, "pool1", x, &(nn_pool){.k = 2});
    x = nn_act(b, "Relu", "relu2", NN_CONV(b, "conv2", x, .out = 16, .k = 5));
    x = nn_maxpool(b, "pool2", x, &(nn_pool){.k = 2});
    x = nn_flatten(b, "flatten", x, 1);
    x = nn_act(b, "Relu", "relu3", nn_linear(b, "fc1", x, 120, true));
    x = nn_act(b, "Relu", "relu4", nn_linear(b, "fc2", x, 84, true));
    nn_output(b, nn_linear(b, "fc3", x, nn_int(b, "num_classes", 10), true), "output");
}

enum { HIDDEN_MAX = 256 };

/* Linear and ReLU by turns: layers.0, layers.1, ... */
static void build_mlp(nn *b)
{
    int64_t hidden[HIDDEN_MAX];
    char name[16];
    int n = zoo_stages(b, "hidden", hidden, HIDDEN_MAX, INT32_MAX), k = 0;
    const int64_t dims[] = {1, nn_int(b, "in_features", 784)};
    nn_t x = nn_input(b, "input", IR_FLOAT32, 2, dims);
    nn_push(b, "layers");
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%d", k++);
        x = nn_linear(b, name, x, hidden[i], true);
        snprintf(name, sizeof name, "%d", k++);
        x = nn_act(b, "Relu", name, x);
    }
    snprintf(name, sizeof name, "%d", k);
    x = nn_linear(b, name, x, nn_int(b, "num_classes", 10), true);
    nn_pop(b);
    nn_output(b, x, "output");
}

static const zoo_row rows[] = {
    ZOO_ROW("lenet", "lenet5 lenet_5", "lenet", "classification", build_lenet, ""),
    ZOO_ROW("mlp", NULL, "mlp", "classification", build_mlp, "hidden=512,256"),
};

const zoo_rows zoo_teaching_rows = ZOO_ROWS(rows);
