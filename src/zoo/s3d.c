/* S3D (torchvision's video/s3d.py): GoogLeNet's shape, its convolutions split into space and time.
 *
 *   features: separable 7 and 3, then nine inception blocks with poolings between them
 *   avgpool 2x7x7, a 1x1x1 classifier, the mean of what remains
 */
#include <stdio.h>

#include "zoo/nn_tokens.h"
#include "zoo/zoo.h"

static nn_t conv_bn(nn *b, nn_t x, nn_conv c)
{
    c.no_bias = true;
    x = nn_batchnorm_eps(b, "1", nn_convolve(b, "0", x, &c), 1e-3);
    return nn_act(b, "Relu", "2", x);
}

static nn_t point(nn *b, const char *name, nn_t x, int64_t out)
{
    return NN_UNDER(b, conv_bn(b, x, (nn_conv){.out = out, .k = 1}), "%s", name);
}

/* kxk in space, then k in time. */
static nn_t separable(nn *b, const char *name, nn_t x, int64_t out, int64_t k, int64_t s)
{
    x = NN_UNDER(b,
                 conv_bn(b, x,
                         (nn_conv){.out = out,
                                   .kernel = {1, k, k},
                                   .strides = {1, s, s},
                                   .pads = {0, k / 2, k / 2}}),
                 "%s.0", name);
    nn_push(b, "%s.1", name);
    return nn_leave(
        b,
        conv_bn(b, x,
                (nn_conv){
                    .out = out, .kernel = {k, 1, 1}, .strides = {s, 1, 1}, .pads = {k / 2, 0, 0}}));
}

static nn_t inception(nn *b, nn_t x, const int64_t out[6])
{
    nn_t y[4];
    y[0] = point(b, "branch0", x, out[0]);
    y[1] = separable(b, "branch1.1", point(b, "branch1.0", x, out[1]), out[2], 3, 1);
    y[2] = separable(b, "branch2.1", point(b, "branch2.0", x, out[3]), out[4], 3, 1);
    y[3] = nn_maxpool(b, "branch3.0", x, &(nn_pool){.k = 3, .stride = 1, .pad = 1});
    y[3] = point(b, "branch3.1", y[3], out[5]);
    return nn_concat(b, "cat", 4, y, 1);
}

static nn_t pool(nn *b, const char *name, nn_t x, int64_t t, int64_t s)
{
    return nn_maxpool(b, name, x,
                      &(nn_pool){.kernel = {t, s, s},
                                 .strides = {t == 1 ? 1 : 2, 2, 2},
                                 .pads = {t / 2 * (s == 3), s == 3, s == 3}});
}

/* features.5 to features.15: an inception block's six widths, or a pooling of t x s x s. */
static const struct {
    int64_t out[6], t, s;
} parts[] = {
    {.out = {64, 96, 128, 16, 32, 32}},
    {.out = {128, 128, 192, 32, 96, 64}},
    {.t = 3, .s = 3},
    {.out = {192, 96, 208, 16, 48, 64}},
    {.out = {160, 112, 224, 24, 64, 64}},
    {.out = {128, 128, 256, 24, 64, 64}},
    {.out = {112, 144, 288, 32, 64, 64}},
    {.out = {256, 160, 320, 32, 128, 128}},
    {.t = 2, .s = 2},
    {.out = {256, 160, 320, 32, 128, 128}},
    {.out = {384, 192, 384, 48, 128, 128}},
};

static nn_t part(nn *b, nn_t x, size_t i)
{
    char name[16];
    snprintf(name, sizeof name, "%zu", 5 + i);
    if (parts[i].t)
        return pool(b, name, x, parts[i].t, parts[i].s);
    return NN_UNDER(b, inception(b, x, parts[i].out), "%s", name);
}

static void build(nn *b)
{
    nn_t x = nn_clip(b, 16, 224);
    nn_push(b, "features");
    x = pool(b, "1", separable(b, "0", x, 64, 7, 2), 1, 3);
    x = point(b, "2", x, 64);
    x = pool(b, "4", separable(b, "3", x, 192, 3, 1), 1, 3);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        x = part(b, x, i);
    nn_pop(b);
    x = nn_avgpool(b, "avgpool", x, &(nn_pool){.kernel = {2, 7, 7}, .strides = {1, 1, 1}});
    x = NN_CONV(b, "classifier.1", x, .out = nn_int(b, "num_classes", 400), .k = 1);
    nn_output(b, nn_mean(b, "mean", x, 3, (const int64_t[]){2, 3, 4}, false), "output");
}

static const zoo_row rows[] = {
    ZOO_ROW("s3d", NULL, "s3d", "video", build, NULL),
};

const zoo_rows zoo_s3d_rows = ZOO_ROWS(rows);
