/* MNASNet B1: stacks of inverted residuals with kernels found by search; alpha scales all widths. */
#include "zoo/blocks.h"

static nn_t conv_bn_relu(nn *b, int index, nn_t x, nn_conv c)
{
    char relu[16];
    snprintf(relu, sizeof relu, "%d", index + 2);
    return nn_act(b, "Relu", relu, zoo_conv_norm(b, index, x, c));
}

typedef struct stack {
    int64_t kernel, stride, expand, repeats;
} stack;

static nn_t residual(nn *b, nn_t x, int64_t out, const stack *s, int64_t stride)
{
    int64_t mid = x.d[1] * s->expand;
    nn_push(b, "layers");
    nn_t y = conv_bn_relu(b, 0, x, (nn_conv){.out = mid, .k = 1});
    y = conv_bn_relu(
        b, 3, y,
        (nn_conv){
            .out = mid, .k = s->kernel, .stride = stride, .pad = s->kernel / 2, .groups = mid});
    y = zoo_conv_norm(b, 6, y, (nn_conv){.out = out, .k = 1});
    nn_pop(b);
    return stride == 1 && x.d[1] == out ? nn_add(b, "add", y, x) : y;
}

static nn_t stack_of(nn *b, int index, nn_t x, int64_t out, const stack *s)
{
    nn_push(b, "%d", index);
    for (int i = 0; i < s->repeats; i++)
        x = NN_UNDER(b, residual(b, x, out, s, i ? 1 : s->stride), "%d", i);
    return nn_leave(b, x);
}

static const int64_t depths[] = {32, 16, 24, 40, 80, 96, 192, 320};
static const stack stacks[] = {{3, 2, 3, 3}, {5, 2, 3, 3}, {5, 2, 6, 3},
                               {3, 1, 6, 2}, {5, 2, 6, 4}, {3, 1, 6, 1}};

static nn_t layers(nn *b, nn_t x, double alpha)
{
    int64_t width[8];
    for (int i = 0; i < 8; i++)
        width[i] = zoo_divisible((double)depths[i] * alpha, 8);
    nn_push(b, "layers");
    x = conv_bn_relu(b, 0, x, (nn_conv){.out = width[0], .k = 3, .stride = 2, .pad = 1});
    x = conv_bn_relu(b, 3, x, (nn_conv){.out = width[0], .k = 3, .pad = 1, .groups = width[0]});
    x = zoo_conv_norm(b, 6, x, (nn_conv){.out = width[1], .k = 1});
    for (int i = 0; i < 6; i++)
        x = stack_of(b, 8 + i, x, width[2 + i], &stacks[i]);
    return nn_leave(b, conv_bn_relu(b, 14, x, (nn_conv){.out = 1280, .k = 1}));
}

static void build(nn *b)
{
    nn_t x = layers(b, nn_image(b, 224), nn_real_in(b, "alpha", 1.0, 0.01, 100.0));
    x = nn_mean(b, "mean", x, 2, (const int64_t[]){2, 3}, false);
    nn_output(b, nn_linear(b, "classifier.1", x, nn_int(b, "num_classes", 1000), true), "output");
}

#define ROW(name_, set) ZOO_ROW(name_, NULL, "mnasnet", "classification", build, set)

static const zoo_row rows[] = {
    ROW("mnasnet0_5", "alpha=0.5"),
    ROW("mnasnet0_75", "alpha=0.75"),
    ROW("mnasnet1_0", "alpha=1.0"),
    ROW("mnasnet1_3", "alpha=1.3"),
};

const zoo_rows zoo_mnasnet_rows = ZOO_ROWS(rows);
