/* MobileNet v2 and v3: inverted residuals (expand by 1x1, depthwise, project by 1x1), in v3 with squeeze
 * and excitation and hard activations in places.
 */
#include "zoo/mobilenet.h"

/* ---- v2 ---- */

static nn_t v2_block(nn *b, int index, nn_t x, int64_t out, int64_t stride, int64_t expand)
{
    char name[4][16];
    int k = expand != 1;
    for (int i = 0; i < 4; i++)
        snprintf(name[i], sizeof name[i], "%d", i);
    nn_push(b, "%d", index);
    nn_push(b, "conv");
    nn_t y = x;
    if (expand != 1)
        y = zoo_conv_norm_act(b, "0", y, (nn_conv){.out = x.d[1] * expand, .k = 1}, "Relu6", 1e-5);
    y = zoo_conv_norm_act(b, name[k], y,
                          (nn_conv){.out = y.d[1], .k = 3, .stride = stride, .groups = y.d[1]},
                          "Relu6", 1e-5);
    y = NN_CONV(b, name[k + 1], y, .out = out, .k = 1, .no_bias = true);
    y = nn_batchnorm(b, name[k + 2], y);
    nn_pop(b);
    if (stride == 1 && x.d[1] == out)
        y = nn_add(b, "add", x, y);
    return nn_leave(b, y);
}

static nn_t v2_features(nn *b, nn_t x, double width, int64_t by)
{
    static const int64_t stages[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                        {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    int64_t last = zoo_divisible(1280 * (width > 1.0 ? width : 1.0), by);
    char name[16];
    int index = 1;
    nn_push(b, "features");
    x = zoo_conv_norm_act(b, "0", x,
                          (nn_conv){.out = zoo_divisible(32 * width, by), .k = 3, .stride = 2},
                          "Relu6", 1e-5);
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
        const int64_t *t = stages[s];
        for (int64_t i = 0; i < t[2]; i++)
            x = v2_block(b, index++, x, zoo_divisible((double)t[1] * width, by), i ? 1 : t[3],
                         t[0]);
    }
    snprintf(name, sizeof name, "%d", index);
    return nn_leave(b,
                    zoo_conv_norm_act(b, name, x, (nn_conv){.out = last, .k = 1}, "Relu6", 1e-5));
}

static void build_v2(nn *b)
{
    double width = nn_real_in(b, "width_mult", 1.0, 0.01, 100.0);
    nn_t x = v2_features(b, nn_image(b, 224), width, nn_int_in(b, "round_nearest", 8, 1, 1024));
    x = nn_mark(b, nn_global_avgpool(b, "adaptive_avg_pool2d", x), IR_NODE_FUNCTION);
    x = nn_flatten(b, "flatten", x, 1);
    nn_output(b, nn_linear(b, "classifier.1", x, nn_int(b, "num_classes", 1000), true), "output");
}

/* ---- v3 ---- */

typedef struct v3_block {
    int64_t kernel, expanded, out;
    bool se, hard;
    int64_t stride;
    bool tail; /* of the last stage: dilates and is reduced when asked */
} v3_block;

static const v3_block large[] = {
    {3, 16, 16, false, false, 1, false}, {3, 64, 24, false, false, 2, false},
    {3, 72, 24, false, false, 1, false}, {5, 72, 40, true, false, 2, false},
    {5, 120, 40, true, false, 1, false}, {5, 120, 40, true, false, 1, false},
    {3, 240, 80, false, true, 2, false}, {3, 200, 80, false, true, 1, false},
    {3, 184, 80, false, true, 1, false}, {3, 184, 80, false, true, 1, false},
    {3, 480, 112, true, true, 1, false}, {3, 672, 112, true, true, 1, false},
    {5, 672, 160, true, true, 2, true},  {5, 960, 160, true, true, 1, true},
    {5, 960, 160, true, true, 1, true},
};
static const v3_block small[] = {
    {3, 16, 16, true, false, 2, false},  {3, 72, 24, false, false, 2, false},
    {3, 88, 24, false, false, 1, false}, {5, 96, 40, true, true, 2, false},
    {5, 240, 40, true, true, 1, false},  {5, 240, 40, true, true, 1, false},
    {5, 120, 48, true, true, 1, false},  {5, 144, 48, true, true, 1, false},
    {5, 288, 96, true, true, 2, true},   {5, 576, 96, true, true, 1, true},
    {5, 576, 96, true, true, 1, true},
};

static const double v3_eps = 0.001;

/* Channels as the trunk has them; the first block of the last stage expands what is not reduced. */
static v3_block fitted(v3_block c, const mobilenet_v3_trunk *t)
{
    int64_t divide = c.tail && t->reduced_tail ? 2 : 1;
    c.out = zoo_divisible((double)(c.out / divide) * t->width, 8);
    c.expanded = zoo_divisible((double)(c.expanded / (c.stride == 1 ? divide : 1)) * t->width, 8);
    return c;
}

static nn_t v3_expand(nn *b, const char *name, nn_t x, v3_block c)
{
    return zoo_conv_norm_act(b, name, x, (nn_conv){.out = c.expanded, .k = 1},
                             c.hard ? "HardSwish" : "Relu", v3_eps);
}

/* Everything after the expansion; k is the number of the first module. */
static nn_t v3_project(nn *b, nn_t y, v3_block c, bool dilate, int k)
{
    char name[16];
    snprintf(name, sizeof name, "%d", k++);
    y = zoo_conv_norm_act(b, name, y,
                          (nn_conv){.out = c.expanded,
                                    .k = c.kernel,
                                    .stride = dilate ? 1 : c.stride,
                                    .dilation = dilate ? 2 : 1,
                                    .groups = c.expanded},
                          c.hard ? "HardSwish" : "Relu", v3_eps);
    snprintf(name, sizeof name, "%d", k);
    if (c.se) {
        int64_t squeeze = zoo_divisible((double)(c.expanded / 4), 8);
        y = zoo_squeeze_excite(b, name, y, squeeze, "Relu", "HardSigmoid");
        k++;
    }
    snprintf(name, sizeof name, "%d", k);
    return zoo_conv_norm_act(b, name, y, (nn_conv){.out = c.out, .k = 1}, NULL, v3_eps);
}

static nn_t v3_block_layers(nn *b, nn_t x, v3_block c, bool dilate, nn_t *expanded)
{
    bool expands = c.expanded != x.d[1];
    nn_push(b, "block");
    *expanded = expands ? v3_expand(b, "0", x, c) : x;
    nn_t y = v3_project(b, *expanded, c, dilate, expands);
    nn_pop(b);
    return c.stride == 1 && x.d[1] == c.out ? nn_add(b, "add", y, x) : y;
}

/* The block that SSDlite cuts in two: its expansion ends the first half of the trunk, the rest begins
 * the second. */
static nn_t v3_cut_block(nn *b, int index, nn_t x, v3_block c, nn_t *expanded)
{
    char name[16];
    snprintf(name, sizeof name, "%d", index);
    *expanded = v3_expand(b, name, x, c);
    nn_pop(b);
    nn_push(b, "1");
    return NN_UNDER(b, v3_project(b, *expanded, c, false, 1), "0");
}

static int64_t mobilenet_v3_last_channel(const mobilenet_v3_trunk *t)
{
    int64_t full = t->large ? 1280 : 1024;
    return zoo_divisible((double)(t->reduced_tail ? full / 2 : full) * t->width, 8);
}

int mobilenet_v3_features(nn *b, nn_t x, const mobilenet_v3_trunk *t, nn_t *out, nn_t *expanded)
{
    const v3_block *blocks = t->large ? large : small;
    int n = t->large ? (int)(sizeof large / sizeof *large) : (int)(sizeof small / sizeof *small);
    int64_t stem = zoo_divisible(16 * t->width, 8);
    nn_t wide;
    char name[16];
    if (t->cut)
        nn_push(b, "0");
    x = zoo_conv_norm_act(b, "0", x, (nn_conv){.out = stem, .k = 3, .stride = 2}, "HardSwish",
                          v3_eps);
    if (out)
        out[0] = x;
    for (int i = 1; i <= n; i++) {
        v3_block c = fitted(blocks[i - 1], t);
        if (t->cut && i == t->cut) {
            x = v3_cut_block(b, i, x, c, &wide);
        } else {
            x = NN_UNDER(b, v3_block_layers(b, x, c, c.tail && t->dilated, &wide), "%d",
                         t->cut && i > t->cut ? i - t->cut : i);
        }
        if (out)
            out[i] = x;
        if (expanded)
            expanded[i] = wide;
    }
    snprintf(name, sizeof name, "%d", n + 1 - t->cut);
    x = zoo_conv_norm_act(b, name, x, (nn_conv){.out = x.d[1] * 6, .k = 1}, "HardSwish", v3_eps);
    if (t->cut)
        nn_pop(b);
    if (out)
        out[n + 1] = x;
    return n + 2;
}

static void build_v3(nn *b)
{
    nn_t out[MOBILENET_V3_BLOCKS];
    str variant = nn_word(b, "variant", "large");
    mobilenet_v3_trunk t = {.large = str_is(variant, "large"),
                            .dilated = nn_bool(b, "dilated", false),
                            .reduced_tail = nn_bool(b, "reduced_tail", false),
                            .width = nn_real_in(b, "width_mult", 1.0, 0.01, 100.0)};
    if (!t.large && !str_is(variant, "small"))
        nn_fail(b, "parameter 'variant' must be large or small");
    nn_t x = nn_image(b, 224);
    nn_push(b, "features");
    int n = mobilenet_v3_features(b, x, &t, out, NULL);
    nn_pop(b);
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "avgpool", out[n - 1]), 1);
    nn_push(b, "classifier");
    x = nn_linear(b, "0", x, mobilenet_v3_last_channel(&t), true);
    x = nn_linear(b, "3", nn_act(b, "HardSwish", "1", x), nn_int(b, "num_classes", 1000), true);
    nn_pop(b);
    nn_output(b, x, "output");
}

#define ROW(name_, family_, build_, set) \
    ZOO_ROW(name_, NULL, family_, "classification", build_, set)

static const zoo_row rows[] = {
    ROW("mobilenet_v2", "mobilenet_v2", build_v2, NULL),
    ROW("mobilenet_v3_large", "mobilenet_v3", build_v3, "variant=large"),
    ROW("mobilenet_v3_small", "mobilenet_v3", build_v3, "variant=small"),
    ROW("quantized_mobilenet_v2", "mobilenet_v2", build_v2, "quantize=true"),
    ROW("quantized_mobilenet_v3_large", "mobilenet_v3", build_v3, "variant=large quantize=true"),
};

const zoo_rows zoo_mobilenet_rows = ZOO_ROWS(rows);
