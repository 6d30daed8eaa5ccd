/* Semantic segmentation: FCN, DeepLabV3 and LR-ASPP (torchvision/models/segmentation).
 *
 * A trunk whose last stages dilate instead of halving, a head of classes on its map, and the result
 * enlarged to the image. The auxiliary head on an earlier map is part of the published models: it has
 * weights and runs in inference too (`aux_loss=false` leaves it out). The input is what the weights'
 * transform gives: 520x520.
 */
#include "zoo/mobilenet.h"
#include "zoo/resnet.h"

typedef struct maps {
    nn_t last, early;
} maps;

static int64_t classes_of(nn *b)
{
    return nn_int_in(b, "num_classes", 21, 1, 1000000);
}

/* ---- trunks ---- */

static maps resnet_maps(nn *b, nn_t image)
{
    nn_t stage[RESNET_STAGES];
    int64_t blocks[RESNET_STAGES];
    int n = resnet_depths(b, blocks);
    if (nn_ok(b) && n < 2)
        nn_fail(b, "parameter 'layers' must have at least 2 items");
    if (!nn_ok(b))
        return (maps){image, image};
    nn_push(b, "backbone");
    resnet_features(b, image, 2, stage);
    nn_pop(b);
    return (maps){.last = stage[n - 1], .early = stage[n - 2]};
}

static maps mobilenet_maps(nn *b, nn_t image)
{
    enum { C2 = 4 };
    nn_t out[MOBILENET_V3_BLOCKS];
    mobilenet_v3_trunk t = {
        .large = true, .dilated = true, .width = nn_real_in(b, "width_mult", 1.0, 0.01, 100.0)};
    nn_push(b, "backbone");
    int n = mobilenet_v3_features(b, image, &t, out, NULL);
    nn_pop(b);
    return (maps){.last = out[n - 1], .early = out[C2]};
}

static maps trunk(nn *b, nn_t image)
{
    str name = nn_word(b, "backbone", "resnet");
    return str_is(name, "mobilenet_v3_large") ? mobilenet_maps(b, image) : resnet_maps(b, image);
}

/* ---- heads ---- */

/* Modules `from`, `from`+1 and `from`+2 of a Sequential: convolution, batch norm, ReLU. */
static nn_t conv_bn_relu(nn *b, int from, nn_t x, nn_conv c)
{
    char name[3][16];
    for (int i = 0; i < 3; i++)
        snprintf(name[i], sizeof name[i], "%d", from + i);
    c.no_bias = true;
    x = nn_batchnorm(b, name[1], nn_convolve(b, name[0], x, &c));
    return nn_act(b, "Relu", name[2], x);
}

static nn_t fcn_head(nn *b, const char *name, nn_t x)
{
    int64_t narrow = x.d[1] / 4;
    nn_push(b, "%s", name);
    x = conv_bn_relu(b, 0, x, (nn_conv){.out = narrow, .k = 3, .pad = 1});
    return nn_leave(b, NN_CONV(b, "4", x, .out = classes_of(b), .k = 1));
}

/* The mean of the whole image, everywhere. */
static nn_t aspp_pooling(nn *b, nn_t x)
{
    nn_t y = nn_global_avgpool(b, "0", x);
    y = conv_bn_relu(b, 1, y, (nn_conv){.out = 256, .k = 1});
    return nn_resize(b, "interpolate", y, x.d[2], x.d[3], "linear", false);
}

/* Atrous spatial pyramid pooling: views of five reaches side by side. */
static nn_t aspp(nn *b, nn_t x)
{
    enum { RATES = 3 };
    static const int64_t def[RATES] = {12, 24, 36};
    int64_t rates[RATES];
    nn_t view[RATES + 2];
    if (nn_ints(b, "atrous_rates", def, RATES, rates, RATES) != RATES)
        nn_fail(b, "parameter 'atrous_rates' must be a list of %d numbers", RATES);
    nn_push(b, "convs");
    for (int i = 0; i < RATES + 2; i++) {
        nn_push(b, "%d", i);
        if (i == 0)
            view[i] = conv_bn_relu(b, 0, x, (nn_conv){.out = 256, .k = 1});
        else if (i <= RATES)
            view[i] = conv_bn_relu(
                b, 0, x,
                (nn_conv){.out = 256, .k = 3, .pad = rates[i - 1], .dilation = rates[i - 1]});
        else
            view[i] = aspp_pooling(b, x);
        nn_pop(b);
    }
    nn_pop(b);
    x = nn_concat(b, "cat", RATES + 2, view, 1);
    return NN_UNDER(b, conv_bn_relu(b, 0, x, (nn_conv){.out = 256, .k = 1}), "project");
}

static nn_t deeplab_head(nn *b, const char *name, nn_t x)
{
    nn_push(b, "%s", name);
    x = NN_UNDER(b, aspp(b, x), "0");
    x = conv_bn_relu(b, 1, x, (nn_conv){.out = 256, .k = 3, .pad = 1});
    return nn_leave(b, NN_CONV(b, "4", x, .out = classes_of(b), .k = 1));
}

static nn_t lraspp_head(nn *b, nn_t high, nn_t low)
{
    int64_t inner = nn_int_in(b, "inter_channels", 128, 1, 65536);
    nn_push(b, "classifier");
    nn_t x = NN_UNDER(b, conv_bn_relu(b, 0, high, (nn_conv){.out = inner, .k = 1}), "cbr");
    nn_push(b, "scale");
    nn_t s = NN_CONV(b, "1", nn_global_avgpool(b, "0", high), .out = inner, .k = 1,
                     .no_bias = true);
    s = nn_act(b, "Sigmoid", "2", s);
    nn_pop(b);
    x = nn_mul(b, "mul", x, s);
    x = nn_resize(b, "interpolate", x, low.d[2], low.d[3], "linear", false);
    nn_t fine = NN_CONV(b, "low_classifier", low, .out = classes_of(b), .k = 1);
    return nn_leave(
        b, nn_add(b, "add", fine, NN_CONV(b, "high_classifier", x, .out = classes_of(b), .k = 1)));
}

/* ---- models ---- */

static void to_image_size(nn *b, nn_t x, nn_t image, const char *name)
{
    nn_output(b, nn_resize(b, "interpolate", x, image.d[2], image.d[3], "linear", false), name);
}

static void build(nn *b, nn_t (*head)(nn *, const char *, nn_t))
{
    nn_t image = nn_image(b, 520);
    maps m = trunk(b, image);
    to_image_size(b, head(b, "classifier", m.last), image, "out");
    if (nn_bool(b, "aux_loss", true))
        to_image_size(b, fcn_head(b, "aux_classifier", m.early), image, "aux");
}

static void build_fcn(nn *b)
{
    build(b, fcn_head);
}

static void build_deeplab(nn *b)
{
    build(b, deeplab_head);
}

static void build_lraspp(nn *b)
{
    nn_t image = nn_image(b, 520);
    maps m = mobilenet_maps(b, image);
    to_image_size(b, lraspp_head(b, m.last, m.early), image, "out");
}

#define ROW(name_, alias, family_, build_, set) \
    ZOO_ROW(name_, alias, family_, "segmentation", build_, set)

static const zoo_row rows[] = {
    ROW("fcn_resnet50", NULL, "fcn", build_fcn, "layers=3,4,6,3"),
    ROW("fcn_resnet101", NULL, "fcn", build_fcn, "layers=3,4,23,3"),
    ROW("deeplabv3_resnet50", NULL, "deeplabv3", build_deeplab, "layers=3,4,6,3"),
    ROW("deeplabv3_resnet101", NULL, "deeplabv3", build_deeplab, "layers=3,4,23,3"),
    ROW("deeplabv3_mobilenet_v3_large", NULL, "deeplabv3", build_deeplab,
        "backbone=mobilenet_v3_large"),
    ROW("lraspp_mobilenet_v3_large", "lraspp", "lraspp", build_lraspp, NULL),
};

const zoo_rows zoo_segmentation_rows = ZOO_ROWS(rows);
