/* RegNet x and y (y: with squeeze and excitation). Four numbers make all widths:
 *
 *   u_j = w_0 + w_a * j                       for block j of `depth`
 *   s_j = round(log(u_j / w_0) / log(w_m))
 *   w_j = round(w_0 * w_m^s_j / 8) * 8
 * Blocks of equal width are a stage; widths are then made divisible by the group width.
 */
#include <math.h>

#include "zoo/blocks.h"

enum { DEPTH_MAX = 500 };

typedef struct plan {
    int n;                                                           /* stages */
    int64_t widths[DEPTH_MAX], depths[DEPTH_MAX], groups[DEPTH_MAX]; /* groups: their width */
} plan;

static void plan_stages(plan *p, int64_t depth, double w0, double wa, double wm)
{
    for (int64_t j = 0; j < depth; j++) {
        double power = rint(log((w0 + wa * (double)j) / w0) / log(wm));
        int64_t width = (int64_t)rint(w0 * pow(wm, power) / 8) * 8;
        if (p->n == 0 || p->widths[p->n - 1] != width)
            p->widths[p->n++] = width;
        p->depths[p->n - 1]++;
    }
}

/* The bottleneck ratio of all published sizes is 1. */
static void fit_groups(plan *p, int64_t group_width)
{
    for (int i = 0; i < p->n; i++) {
        p->groups[i] = group_width < p->widths[i] ? group_width : p->widths[i];
        p->widths[i] = zoo_divisible((double)p->widths[i], p->groups[i]);
    }
}

static bool read_plan(nn *b, plan *p)
{
    int64_t depth = nn_int_in(b, "depth", 16, 1, DEPTH_MAX);
    int64_t w0 = nn_int_in(b, "w_0", 48, 8, 1 << 20);
    double wa = nn_real_in(b, "w_a", 28.0, 0.0, 1e6), wm = nn_real_in(b, "w_m", 2.0, 1.001, 100.0);
    int64_t group_width = nn_int_in(b, "group_width", 8, 1, 1 << 20);
    if (w0 % 8)
        nn_fail(b, "parameter 'w_0' is %lld; it must be a multiple of 8", (long long)w0);
    if (!nn_ok(b))
        return false;
    plan_stages(p, depth, (double)w0, wa, wm);
    fit_groups(p, group_width);
    return true;
}

static nn_t transform(nn *b, nn_t x, int64_t out, int64_t stride, int64_t group_width,
                      double se_ratio)
{
    int64_t squeeze = (int64_t)rint(se_ratio * (double)x.d[1]);
    nn_push(b, "f");
    nn_conv grouped = {.out = out, .k = 3, .stride = stride, .groups = out / group_width};
    nn_t y = zoo_conv_norm_act(b, "a", x, (nn_conv){.out = out, .k = 1}, "Relu", 1e-5);
    y = zoo_conv_norm_act(b, "b", y, grouped, "Relu", 1e-5);
    if (se_ratio > 0.0)
        y = zoo_squeeze_excite(b, "se", y, squeeze, "Relu", "Sigmoid");
    return nn_leave(b, zoo_conv_norm_act(b, "c", y, (nn_conv){.out = out, .k = 1}, NULL, 1e-5));
}

static nn_t block(nn *b, nn_t x, int64_t out, int64_t stride, int64_t group_width, double se_ratio)
{
    nn_t skip = x;
    if (x.d[1] != out || stride != 1)
        skip = zoo_conv_norm_act(b, "proj", x, (nn_conv){.out = out, .k = 1, .stride = stride},
                                 NULL, 1e-5);
    nn_t y = transform(b, x, out, stride, group_width, se_ratio);
    return nn_act(b, "Relu", "activation", nn_add(b, "add", skip, y));
}

static nn_t trunk(nn *b, nn_t x, const plan *p)
{
    double se_ratio = nn_real_in(b, "se_ratio", 0.0, 0.0, 16.0);
    nn_push(b, "trunk_output");
    for (int s = 0; s < p->n; s++) {
        nn_push(b, "block%d", s + 1);
        for (int i = 0; i < p->depths[s]; i++)
            x = NN_UNDER(b, block(b, x, p->widths[s], i ? 1 : 2, p->groups[s], se_ratio),
                         "block%d-%d", s + 1, i);
        nn_pop(b);
    }
    return nn_leave(b, x);
}

static void build(nn *b)
{
    plan p = {0};
    nn_conv stem = {.out = nn_int(b, "stem_width", 32), .k = 3, .stride = 2};
    nn_t x = zoo_conv_norm_act(b, "stem", nn_image(b, 224), stem, "Relu", 1e-5);
    if (read_plan(b, &p))
        x = trunk(b, x, &p);
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "avgpool", x), 1);
    nn_output(b, nn_linear(b, "fc", x, nn_int(b, "num_classes", 1000), true), "output");
}

#define X(size, set)                                                                              \
    {                                                                                             \
        .name = "regnet_x_" size, .family = "regnet_x", .task = "classification", .build = build, \
        .defaults = set                                                                           \
    }
#define Y(size, set)                                                                              \
    {                                                                                             \
        .name = "regnet_y_" size, .family = "regnet_y", .task = "classification", .build = build, \
        .defaults = set " se_ratio=0.25"                                                          \
    }

static const zoo_row rows[] = {
    Y("400mf", "depth=16 w_0=48 w_a=27.89 w_m=2.09 group_width=8"),
    Y("800mf", "depth=14 w_0=56 w_a=38.84 w_m=2.4 group_width=16"),
    Y("1_6gf", "depth=27 w_0=48 w_a=20.71 w_m=2.65 group_width=24"),
    Y("3_2gf", "depth=21 w_0=80 w_a=42.63 w_m=2.66 group_width=24"),
    Y("8gf", "depth=17 w_0=192 w_a=76.82 w_m=2.19 group_width=56"),
    Y("16gf", "depth=18 w_0=200 w_a=106.23 w_m=2.48 group_width=112"),
    Y("32gf", "depth=20 w_0=232 w_a=115.89 w_m=2.53 group_width=232"),
    Y("128gf", "depth=27 w_0=456 w_a=160.83 w_m=2.52 group_width=264"),
    X("400mf", "depth=22 w_0=24 w_a=24.48 w_m=2.54 group_width=16"),
    X("800mf", "depth=16 w_0=56 w_a=35.73 w_m=2.28 group_width=16"),
    X("1_6gf", "depth=18 w_0=80 w_a=34.01 w_m=2.25 group_width=24"),
    X("3_2gf", "depth=25 w_0=88 w_a=26.31 w_m=2.25 group_width=48"),
    X("8gf", "depth=23 w_0=80 w_a=49.56 w_m=2.88 group_width=120"),
    X("16gf", "depth=22 w_0=216 w_a=55.59 w_m=2.1 group_width=128"),
    X("32gf", "depth=23 w_0=320 w_a=69.86 w_m=2.0 group_width=168"),
};

const zoo_rows zoo_regnet_rows = ZOO_ROWS(rows);
