/* EfficientNet (b0 to b7, one table scaled in width and depth) and EfficientNet v2 (s, m, l, a table
 * each, early stages with fused blocks: one 3x3 in the place of 1x1 and depthwise).
 */
#include <math.h>

#include "zoo/blocks.h"

typedef struct stage {
    int64_t expand, kernel, stride, out, layers;
    bool fused;
} stage;

static const stage v1[] = {
    {1, 3, 1, 16, 1, false},  {6, 3, 2, 24, 2, false},  {6, 5, 2, 40, 2, false},
    {6, 3, 2, 80, 3, false},  {6, 5, 1, 112, 3, false}, {6, 5, 2, 192, 4, false},
    {6, 3, 1, 320, 1, false},
};
static const stage v2_s[] = {
    {1, 3, 1, 24, 2, true},   {4, 3, 2, 48, 4, true},   {4, 3, 2, 64, 4, true},
    {4, 3, 2, 128, 6, false}, {6, 3, 1, 160, 9, false}, {6, 3, 2, 256, 15, false},
};
static const stage v2_m[] = {
    {1, 3, 1, 24, 3, true},   {4, 3, 2, 48, 5, true},    {4, 3, 2, 80, 5, true},
    {4, 3, 2, 160, 7, false}, {6, 3, 1, 176, 14, false}, {6, 3, 2, 304, 18, false},
    {6, 3, 1, 512, 5, false},
};
static const stage v2_l[] = {
    {1, 3, 1, 32, 4, true},    {4, 3, 2, 64, 7, true},    {4, 3, 2, 96, 7, true},
    {4, 3, 2, 192, 10, false}, {6, 3, 1, 224, 19, false}, {6, 3, 2, 384, 25, false},
    {6, 3, 1, 640, 7, false},
};

typedef struct variant {
    const char *name;
    const stage *stages;
    int n;
    int64_t stem, last; /* last 0: four times the last stage */
} variant;

#define STAGES(table) table, sizeof(table) / sizeof *(table)
static const variant variants[] = {
    {"v1", STAGES(v1), 32, 0},
    {"v2_s", STAGES(v2_s), 24, 1280},
    {"v2_m", STAGES(v2_m), 24, 1280},
    {"v2_l", STAGES(v2_l), 32, 1280},
};

static const char act[] = "Swish";

static nn_t mbconv(nn *b, nn_t x, const stage *s, int64_t stride, double eps)
{
    int64_t wide = zoo_divisible((double)(x.d[1] * s->expand), 8), squeeze = x.d[1] / 4;
    const char *const names[] = {"0", "1", "2", "3"}, *const *name = names;
    nn_t y = x;
    if (wide != x.d[1])
        y = zoo_conv_norm_act(b, *name++, y, (nn_conv){.out = wide, .k = 1}, act, eps);
    y = zoo_conv_norm_act(b, *name++, y,
                          (nn_conv){.out = wide, .k = s->kernel, .stride = stride, .groups = wide},
                          act, eps);
    y = zoo_squeeze_excite(b, *name++, y, squeeze < 1 ? 1 : squeeze, act, "Sigmoid");
    return zoo_conv_norm_act(b, *name, y, (nn_conv){.out = s->out, .k = 1}, NULL, eps);
}

static nn_t fused_mbconv(nn *b, nn_t x, const stage *s, int64_t stride, double eps)
{
    int64_t wide = zoo_divisible((double)(x.d[1] * s->expand), 8);
    bool expands = wide != x.d[1];
    nn_conv c = {.out = expands ? wide : s->out, .k = s->kernel, .stride = stride};
    nn_t y = zoo_conv_norm_act(b, "0", x, c, act, eps);
    return expands ? zoo_conv_norm_act(b, "1", y, (nn_conv){.out = s->out, .k = 1}, NULL, eps) : y;
}

static nn_t block(nn *b, int index, nn_t x, const stage *s, double eps)
{
    int64_t stride = index ? 1 : s->stride;
    nn_push(b, "%d", index);
    nn_t y = NN_UNDER(
        b, s->fused ? fused_mbconv(b, x, s, stride, eps) : mbconv(b, x, s, stride, eps), "block");
    if (stride == 1 && x.d[1] == s->out)
        y = nn_add(b, "add", y, x);
    return nn_leave(b, y);
}

static const variant *variant_of(nn *b)
{
    str name = nn_word(b, "variant", "v1");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (str_is(name, variants[i].name))
            return &variants[i];
    nn_fail(b, "parameter 'variant' must be v1, v2_s, v2_m or v2_l");
    return &variants[0];
}

static nn_t features(nn *b, nn_t x)
{
    const variant *v = variant_of(b);
    double width = nn_real_in(b, "width_mult", 1.0, 0.01, 100.0);
    double depth = nn_real_in(b, "depth_mult", 1.0, 0.01, 100.0);
    double eps = nn_real(b, "norm_eps", 1e-5);
    char name[16];
    nn_push(b, "features");
    nn_conv stem = {.out = zoo_divisible((double)v->stem * width, 8), .k = 3, .stride = 2};
    x = zoo_conv_norm_act(b, "0", x, stem, act, eps);
    for (int s = 0; s < v->n; s++) {
        stage scaled = v->stages[s];
        scaled.out = zoo_divisible((double)scaled.out * width, 8);
        scaled.layers = (int64_t)ceil((double)scaled.layers * depth);
        nn_push(b, "%d", s + 1);
        for (int i = 0; i < scaled.layers; i++)
            x = block(b, i, x, &scaled, eps);
        nn_pop(b);
    }
    snprintf(name, sizeof name, "%d", v->n + 1);
    return nn_leave(b, zoo_conv_norm_act(b, name, x,
                                         (nn_conv){.out = v->last ? v->last : x.d[1] * 4, .k = 1},
                                         act, eps));
}

static void build(nn *b)
{
    nn_t x = features(b, nn_image(b, 224));
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "avgpool", x), 1);
    nn_output(b, nn_linear(b, "classifier.1", x, nn_int(b, "num_classes", 1000), true), "output");
}

#define ROW(name_, family_, set) ZOO_ROW(name_, NULL, family_, "classification", build, set)

static const zoo_row rows[] = {
    ROW("efficientnet_b0", "efficientnet", "image_size=224"),
    ROW("efficientnet_b1", "efficientnet", "depth_mult=1.1 image_size=240"),
    ROW("efficientnet_b2", "efficientnet", "width_mult=1.1 depth_mult=1.2 image_size=288"),
    ROW("efficientnet_b3", "efficientnet", "width_mult=1.2 depth_mult=1.4 image_size=300"),
    ROW("efficientnet_b4", "efficientnet", "width_mult=1.4 depth_mult=1.8 image_size=380"),
    ROW("efficientnet_b5", "efficientnet",
        "width_mult=1.6 depth_mult=2.2 image_size=456 norm_eps=0.001"),
    ROW("efficientnet_b6", "efficientnet",
        "width_mult=1.8 depth_mult=2.6 image_size=528 norm_eps=0.001"),
    ROW("efficientnet_b7", "efficientnet",
        "width_mult=2.0 depth_mult=3.1 image_size=600 norm_eps=0.001"),
    ROW("efficientnet_v2_s", "efficientnet_v2", "variant=v2_s image_size=384 norm_eps=0.001"),
    ROW("efficientnet_v2_m", "efficientnet_v2", "variant=v2_m image_size=480 norm_eps=0.001"),
    ROW("efficientnet_v2_l", "efficientnet_v2", "variant=v2_l image_size=480 norm_eps=0.001"),
};

const zoo_rows zoo_efficientnet_rows = ZOO_ROWS(rows);
