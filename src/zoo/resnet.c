/* ResNet, ResNeXt and Wide ResNet (torchvision's resnet.py: the stride is in the 3x3 convolution).
 *
 *   conv1 7x7/2, bn1, relu, maxpool 3x3/2
 *   layer1..4: `layers` blocks of 64, 128, 256, 512 planes; the first of layer2..4 halves the image
 *   avgpool, fc
 * A basic block is two 3x3; a bottleneck 1x1, 3x3 of planes * width_per_group/64 * groups, 1x1 to four
 * times the planes. Segmentation trades strides for dilation (replace_stride_with_dilation).
 */
#include "zoo/resnet.h"

static nn_t conv_bn(nn *b, const char *n, nn_t x, nn_conv c)
{
    char conv[16], bn[16];
    snprintf(conv, sizeof conv, "conv%s", n);
    snprintf(bn, sizeof bn, "bn%s", n);
    c.no_bias = true;
    return nn_batchnorm(b, bn, nn_convolve(b, conv, x, &c));
}

static nn_t shortcut(nn *b, nn_t x, int64_t out, int64_t stride)
{
    if (stride == 1 && x.d[1] == out)
        return x;
    x = NN_CONV(b, "downsample.0", x, .out = out, .k = 1, .stride = stride, .no_bias = true);
    return nn_batchnorm(b, "downsample.1", x);
}

static nn_t basic(nn *b, nn_t x, const resnet_stage *s)
{
    nn_t y = conv_bn(b, "1", x, (nn_conv){.out = s->planes, .k = 3, .stride = s->stride, .pad = 1});
    y = nn_act(b, "Relu", "relu", y);
    y = conv_bn(b, "2", y, (nn_conv){.out = s->planes, .k = 3, .pad = 1});
    return nn_add(b, "add", y, shortcut(b, x, s->planes, s->stride));
}

static nn_t bottleneck(nn *b, nn_t x, const resnet_stage *s)
{
    int64_t width = s->planes * s->base_width / 64 * s->groups;
    nn_t y = nn_act(b, "Relu", "relu", conv_bn(b, "1", x, (nn_conv){.out = width, .k = 1}));
    y = conv_bn(b, "2", y,
                (nn_conv){.out = width,
                          .k = 3,
                          .stride = s->stride,
                          .pad = s->dilation,
                          .dilation = s->dilation,
                          .groups = s->groups});
    y = nn_act(b, "Relu", "relu", y);
    y = conv_bn(b, "3", y, (nn_conv){.out = s->planes * 4, .k = 1});
    return nn_add(b, "add", y, shortcut(b, x, s->planes * 4, s->stride));
}

nn_t resnet_layer(nn *b, nn_t x, const resnet_stage *s)
{
    resnet_stage block = *s;
    nn_push(b, "%s", s->name);
    for (int64_t i = 0; i < s->blocks; i++) {
        nn_push(b, "%d", (int)i);
        x = s->bottleneck ? bottleneck(b, x, &block) : basic(b, x, &block);
        x = nn_act(b, "Relu", "relu", x);
        nn_pop(b);
        block.stride = 1;
        block.dilation = s->next_dilation;
    }
    return nn_leave(b, x);
}

/* conv1, bn1, relu, maxpool. */
static nn_t resnet_stem(nn *b, nn_t x, int64_t planes)
{
    x = conv_bn(b, "1", x, (nn_conv){.out = planes, .k = 7, .stride = 2, .pad = 3});
    x = nn_act(b, "Relu", "relu", x);
    return nn_maxpool(b, "maxpool", x, &(nn_pool){.k = 3, .stride = 2, .pad = 1});
}

int resnet_depths(nn *b, int64_t *blocks)
{
    static const int64_t def[] = {3, 4, 6, 3};
    int n = nn_ints(b, "layers", def, 4, blocks, RESNET_STAGES);
    for (int i = 0; i < n; i++)
        if (blocks[i] < 1 || blocks[i] > 1000)
            nn_fail(b, "parameter 'layers' contains %lld; values must be 1 to 1000",
                    (long long)blocks[i]);
    return nn_ok(b) ? n : 0;
}

nn_t resnet_features(nn *b, nn_t x, int dilated, nn_t out[RESNET_STAGES])
{
    static const char *const names[] = {"layer1", "layer2", "layer3", "layer4", "layer5", "layer6"};
    int64_t blocks[RESNET_STAGES], dilation = 1;
    int n = resnet_depths(b, blocks);
    bool wide_block = nn_either(b, "block", "bottleneck", "basic");
    int64_t groups = nn_int_in(b, "groups", 1, 1, 4096);
    int64_t base = nn_int_in(b, "width_per_group", 64, 1, 65536);
    int64_t planes = nn_int_in(b, "planes", 64, 1, 65536);
    if (!wide_block && (groups != 1 || base != 64))
        nn_fail(b, "a basic block needs groups=1 and width_per_group=64. Set block=bottleneck.");
    x = resnet_stem(b, x, planes);
    for (int i = 0; i < n; i++, planes *= 2) {
        bool dilate = i >= n - dilated;
        int64_t stride = i == 0 || dilate ? 1 : 2, before = dilation;
        dilation *= dilate ? 2 : 1;
        x = out[i] = resnet_layer(b, x,
                                  &(resnet_stage){.name = names[i],
                                                  .blocks = blocks[i],
                                                  .planes = planes,
                                                  .stride = stride,
                                                  .groups = groups,
                                                  .base_width = base,
                                                  .dilation = before,
                                                  .next_dilation = dilation,
                                                  .bottleneck = wide_block});
    }
    return x;
}

static void build(nn *b)
{
    nn_t stages[RESNET_STAGES];
    nn_t x = resnet_features(b, nn_image(b, 224), 0, stages);
    x = nn_global_avgpool(b, "avgpool", x);
    x = nn_flatten(b, "flatten", x, 1);
    x = nn_linear(b, "fc", x, nn_int(b, "num_classes", 1000), true);
    nn_output(b, x, "output");
}

#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "classification", build, set)

static const zoo_row rows[] = {
    ROW("resnet18", NULL, "resnet", "layers=2,2,2,2 block=basic"),
    ROW("resnet34", NULL, "resnet", "layers=3,4,6,3 block=basic"),
    ROW("resnet50", NULL, "resnet", "layers=3,4,6,3"),
    ROW("resnet101", NULL, "resnet", "layers=3,4,23,3"),
    ROW("resnet152", NULL, "resnet", "layers=3,8,36,3"),
    ROW("resnext50_32x4d", "resnext50", "resnext", "layers=3,4,6,3 groups=32 width_per_group=4"),
    ROW("resnext101_32x8d", "resnext101", "resnext", "layers=3,4,23,3 groups=32 width_per_group=8"),
    ROW("resnext101_64x4d", NULL, "resnext", "layers=3,4,23,3 groups=64 width_per_group=4"),
    ROW("wide_resnet50_2", "wide_resnet50", "wide_resnet", "layers=3,4,6,3 width_per_group=128"),
    ROW("wide_resnet101_2", "wide_resnet101", "wide_resnet", "layers=3,4,23,3 width_per_group=128"),
    ROW("quantized_resnet18", NULL, "resnet", "layers=2,2,2,2 block=basic quantize=true"),
    ROW("quantized_resnet50", NULL, "resnet", "layers=3,4,6,3 quantize=true"),
    ROW("quantized_resnext101_32x8d", NULL, "resnext",
        "layers=3,4,23,3 groups=32 width_per_group=8 quantize=true"),
    ROW("quantized_resnext101_64x4d", NULL, "resnext",
        "layers=3,4,23,3 groups=64 width_per_group=4 quantize=true"),
};

const zoo_rows zoo_resnet_rows = ZOO_ROWS(rows);
