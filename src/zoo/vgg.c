/* AlexNet and VGG: plain stacks of convolutions, then three large linear layers. Modules are numbered
 * as in PyTorch's Sequential, where ReLU, pooling and dropout take a number too.
 */
#include "zoo/blocks.h"

static nn_t linear_relu(nn *b, const char *linear, const char *relu, nn_t x, int64_t out)
{
    return nn_act(b, "Relu", relu, nn_linear(b, linear, x, out, true));
}

/* ---- AlexNet ---- */

static nn_t alex_conv(nn *b, const char *conv, const char *relu, nn_t x, nn_conv c)
{
    return nn_act(b, "Relu", relu, nn_convolve(b, conv, x, &c));
}

static nn_t alex_features(nn *b, nn_t x)
{
    const nn_pool pool = {.k = 3, .stride = 2};
    nn_push(b, "features");
    x = alex_conv(b, "0", "1", x, (nn_conv){.out = 64, .k = 11, .stride = 4, .pad = 2});
    x = nn_maxpool(b, "2", x, &pool);
    x = alex_conv(b, "3", "4", x, (nn_conv){.out = 192, .k = 5, .pad = 2});
    x = nn_maxpool(b, "5", x, &pool);
    x = alex_conv(b, "6", "7", x, (nn_conv){.out = 384, .k = 3, .pad = 1});
    x = alex_conv(b, "8", "9", x, (nn_conv){.out = 256, .k = 3, .pad = 1});
    x = alex_conv(b, "10", "11", x, (nn_conv){.out = 256, .k = 3, .pad = 1});
    return nn_leave(b, nn_maxpool(b, "12", x, &pool));
}

static void classifier(nn *b, nn_t x, int64_t side, const char *const names[4])
{
    x = nn_flatten(b, "flatten", nn_adaptive_avgpool(b, "avgpool", x, side, side), 1);
    nn_push(b, "classifier");
    x = linear_relu(b, names[0], names[1], x, 4096);
    x = linear_relu(b, names[2], names[3], x, 4096);
    x = nn_linear(b, "6", x, nn_int(b, "num_classes", 1000), true);
    nn_pop(b);
    nn_output(b, x, "output");
}

static void build_alexnet(nn *b)
{
    classifier(b, alex_features(b, nn_image(b, 224)), 6, (const char *const[]){"1", "2", "4", "5"});
}

/* ---- VGG ---- */

enum { STAGES = 5 };

typedef struct numbered {
    nn *b;
    int next; /* number of the next module */
    char name[16];
} numbered;

static const char *number(numbered *s)
{
    snprintf(s->name, sizeof s->name, "%d", s->next++);
    return s->name;
}

static nn_t vgg_conv(numbered *s, nn_t x, int64_t out, bool norm)
{
    x = NN_CONV(s->b, number(s), x, .out = out, .k = 3, .pad = 1);
    if (norm)
        x = nn_batchnorm(s->b, number(s), x);
    return nn_act(s->b, "Relu", number(s), x);
}

static nn_t vgg_features(nn *b, nn_t x)
{
    static const int64_t def[] = {64, 128, 256, 512, 512};
    int64_t convs[STAGES], widths[STAGES];
    int n = zoo_stages(b, "layers", convs, STAGES, 100);
    bool norm = nn_bool(b, "batch_norm", false);
    numbered s = {.b = b};
    if (nn_ints(b, "widths", def, STAGES, widths, STAGES) < n)
        nn_fail(b, "parameter 'widths' needs as many numbers as 'layers'");
    nn_push(b, "features");
    for (int i = 0; i < n && nn_ok(b); i++) {
        for (int64_t k = 0; k < convs[i]; k++)
            x = vgg_conv(&s, x, widths[i], norm);
        x = nn_maxpool(b, number(&s), x, &(nn_pool){.k = 2, .stride = 2});
    }
    return nn_leave(b, x);
}

static void build_vgg(nn *b)
{
    classifier(b, vgg_features(b, nn_image(b, 224)), 7, (const char *const[]){"0", "1", "3", "4"});
}

#define VGG(name_, set)                                                               \
    {                                                                                 \
        .name = name_, .family = "vgg", .task = "classification", .build = build_vgg, \
        .defaults = set                                                               \
    }

static const zoo_row rows[] = {
    ZOO_ROW("alexnet", NULL, "alexnet", "classification", build_alexnet, NULL),
    VGG("vgg11", "layers=1,1,2,2,2"),
    VGG("vgg11_bn", "layers=1,1,2,2,2 batch_norm=true"),
    VGG("vgg13", "layers=2,2,2,2,2"),
    VGG("vgg13_bn", "layers=2,2,2,2,2 batch_norm=true"),
    VGG("vgg16", "layers=2,2,3,3,3"),
    VGG("vgg16_bn", "layers=2,2,3,3,3 batch_norm=true"),
    VGG("vgg19", "layers=2,2,4,4,4"),
    VGG("vgg19_bn", "layers=2,2,4,4,4 batch_norm=true"),
};

const zoo_rows zoo_vgg_rows = ZOO_ROWS(rows);
