/* SSD300 over VGG16 and SSDlite320 over MobileNet v3 (torchvision/models/detection).
 *
 *   backbone  two maps of the trunk, four more by strided blocks (extra)
 *   head      class scores and deltas of 4 or 6 default boxes at every cell of the six maps
 *   then      of each class the best `topk_candidates` (400, SSDlite 300), suppressed, the best
 *             `detections` (200, SSDlite 300) of all
 *
 * The input is what the model's own transform gives: every image is 300x300 (320x320). `detections` is
 * an upper bound in PyTorch and an exact number here: what did not survive has the score -1
 * (zoo/detect.h). It changes no multiplication.
 */
#include <math.h>

#include "zoo/detect.h"
#include "zoo/mobilenet.h"

enum { MAPS = 6 };

static const double lite_eps = 0.001;

/* ---- VGG16 ---- */

static nn_t conv_relu(nn *b, int number, nn_t x, nn_conv c)
{
    char name[16];
    snprintf(name, sizeof name, "%d", number);
    x = nn_convolve(b, name, x, &c);
    snprintf(name, sizeof name, "%d", number + 1);
    return nn_act(b, "Relu", name, x);
}

/* `n` 3x3 convolutions and their ReLUs, from module number `from` on. */
static nn_t vgg_stage(nn *b, int from, nn_t x, int n, int64_t out)
{
    for (int i = 0; i < n; i++)
        x = conv_relu(b, from + 2 * i, x, (nn_conv){.out = out, .k = 3, .pad = 1});
    return x;
}

static nn_t vgg_features(nn *b, nn_t x)
{
    const nn_pool half = {.k = 2, .stride = 2}, half_up = {.k = 2, .stride = 2, .ceil = true};
    nn_push(b, "features");
    x = nn_maxpool(b, "4", vgg_stage(b, 0, x, 2, 64), &half);
    x = nn_maxpool(b, "9", vgg_stage(b, 5, x, 2, 128), &half);
    x = nn_maxpool(b, "16", vgg_stage(b, 10, x, 3, 256), &half_up); /* 75 to 38 */
    return nn_leave(b, vgg_stage(b, 17, x, 3, 512));
}

/* The last stage with its dilated replacement of the linear layers. */
static nn_t vgg_tail(nn *b, nn_t x)
{
    nn_push(b, "0");
    x = nn_maxpool(b, "0", x, &(nn_pool){.k = 2, .stride = 2});
    x = vgg_stage(b, 1, x, 3, 512);
    nn_push(b, "7");
    x = nn_maxpool(b, "0", x, &(nn_pool){.k = 3, .stride = 1, .pad = 1});
    x = conv_relu(b, 1, x, (nn_conv){.out = 1024, .k = 3, .pad = 6, .dilation = 6});
    x = conv_relu(b, 3, x, (nn_conv){.out = 1024, .k = 1});
    nn_pop(b);
    return nn_leave(b, x);
}

/* Each place divided by its length over the channels, times a learnt scale of each channel. */
static nn_t rescaled(nn *b, nn_t x)
{
    nn_t length = x;
    length.d[1] = 1;
    nn_t weight = nn_param(b, "scale_weight", 1, &x.d[1]);
    weight = nn_reshape(b, "scale", weight, 4, (const int64_t[]){1, x.d[1], 1, 1});
    nn_push(b, "normalize");
    const nn_t in[] = {x, nn_ints_const(b, "axes", 1, &(int64_t){1})};
    length = nn_one(b, "ReduceL2", "norm", 2, in, length, 1, &NN_INT("keepdims", 1));
    length = nn_binary(b, "Max", "max", length, nn_float_const(b, "eps", 1e-12));
    x = nn_binary(b, "Div", "div", x, length);
    nn_pop(b);
    return nn_mul(b, "rescale", weight, x);
}

static void vgg_maps(nn *b, nn_t image, nn_t *out)
{
    static const int64_t extra[][4] = {/* squeeze, out, stride, pad */
                                       {256, 512, 2, 1},
                                       {128, 256, 2, 1},
                                       {128, 256, 1, 0},
                                       {128, 256, 1, 0}};
    nn_push(b, "backbone");
    nn_t x = vgg_features(b, image);
    out[0] = rescaled(b, x);
    nn_push(b, "extra");
    out[1] = x = vgg_tail(b, x);
    for (int i = 0; i < MAPS - 2; i++) {
        const int64_t *e = extra[i];
        nn_push(b, "%d", i + 1);
        x = conv_relu(b, 0, x, (nn_conv){.out = e[0], .k = 1});
        x = conv_relu(b, 2, x, (nn_conv){.out = e[1], .k = 3, .stride = e[2], .pad = e[3]});
        nn_pop(b);
        out[2 + i] = x;
    }
    nn_pop(b);
    nn_pop(b);
}

/* ---- MobileNet v3 ---- */

static nn_t lite_extra(nn *b, int index, nn_t x, int64_t out)
{
    int64_t narrow = out / 2;
    nn_push(b, "extra.%d", index);
    x = zoo_conv_norm_act(b, "0", x, (nn_conv){.out = narrow, .k = 1}, "Relu6", lite_eps);
    x = zoo_conv_norm_act(b, "1", x,
                          (nn_conv){.out = narrow, .k = 3, .stride = 2, .groups = narrow}, "Relu6",
                          lite_eps);
    return nn_leave(b,
                    zoo_conv_norm_act(b, "2", x, (nn_conv){.out = out, .k = 1}, "Relu6", lite_eps));
}

static void lite_maps(nn *b, nn_t image, nn_t *out)
{
    enum { C4 = 13 };
    static const int64_t extra[] = {512, 256, 256, 128};
    nn_t map_of[MOBILENET_V3_BLOCKS], wide[MOBILENET_V3_BLOCKS];
    mobilenet_v3_trunk t = {.large = true,
                            .reduced_tail = nn_bool(b, "reduced_tail", true),
                            .width = nn_real_in(b, "width_mult", 1.0, 0.01, 100.0),
                            .cut = C4};
    nn_push(b, "backbone");
    nn_push(b, "features");
    int n = mobilenet_v3_features(b, image, &t, map_of, wide);
    nn_pop(b);
    out[0] = wide[C4];
    out[1] = map_of[n - 1];
    for (int i = 0; i < MAPS - 2; i++)
        out[2 + i] = lite_extra(b, i, out[1 + i], extra[i]);
    nn_pop(b);
}

/* ---- default boxes ---- */

typedef struct ssd {
    bool lite;
    int64_t classes, candidates, most;
    double score, overlap;
} ssd;

static void add_shape(det_map *m, double w, double h, nn_t image)
{
    m->shape[m->n][0] = (float)(fmin(w, 1.0) * (double)image.d[3]);
    m->shape[m->n][1] = (float)(fmin(h, 1.0) * (double)image.d[2]);
    m->n++;
}

/* Squares of two sizes, and each ratio lying and standing. */
static det_map default_boxes(const ssd *s, int k, nn_t feature, nn_t image)
{
    static const double full[] = {0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05};
    static const double lite[] = {0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0};
    static const double steps[] = {8, 16, 32, 64, 100, 300};
    static const int ratios[] = {1, 2, 2, 2, 1, 1}; /* how many of 2, 3 */
    const double *scale = s->lite ? lite : full;
    double between = sqrt(scale[k] * scale[k + 1]);
    det_map m = {.h = feature.d[2], .w = feature.d[3], .offset = 0.5};
    m.step_x = s->lite ? (double)image.d[3] / (double)m.w : steps[k];
    m.step_y = s->lite ? (double)image.d[2] / (double)m.h : steps[k];
    add_shape(&m, scale[k], scale[k], image);
    add_shape(&m, between, between, image);
    for (int r = 0; r < (s->lite ? 2 : ratios[k]); r++) {
        double root = sqrt(2.0 + r);
        add_shape(&m, scale[k] * root, scale[k] / root, image);
        add_shape(&m, scale[k] / root, scale[k] * root, image);
    }
    return m;
}

/* ---- heads ---- */

static nn_t predict(nn *b, const ssd *s, const char *list, int i, nn_t x, int64_t out)
{
    char name[16];
    nn_push(b, "head.%s.module_list", list);
    snprintf(name, sizeof name, "%d", i);
    if (s->lite) {
        nn_push(b, "%s", name);
        x = zoo_conv_norm_act(b, "0", x, (nn_conv){.out = x.d[1], .k = 3, .groups = x.d[1]},
                              "Relu6", lite_eps);
        x = NN_CONV(b, "1", x, .out = out, .k = 1);
        nn_pop(b);
    } else {
        x = NN_CONV(b, name, x, .out = out, .k = 3, .pad = 1);
    }
    return nn_leave(b, x);
}

/* Boxes [B, N, 4] and class scores [B, C-1, N]. */
static void heads(nn *b, const ssd *s, const nn_t *maps, nn_t image, nn_t *boxes, nn_t *scores)
{
    nn_t logits[MAPS], deltas[MAPS];
    det_map m[MAPS];
    for (int i = 0; i < MAPS; i++) {
        m[i] = default_boxes(s, i, maps[i], image);
        nn_t x = predict(b, s, "classification_head", i, maps[i], m[i].n * s->classes);
        logits[i] = det_columns(b, "logits", x, s->classes);
        x = predict(b, s, "regression_head", i, maps[i], (int64_t)m[i].n * 4);
        deltas[i] = det_columns(b, "deltas", x, 4);
    }
    nn_push(b, "detections");
    nn_t moves = nn_concat(b, "deltas", MAPS, deltas, 1);
    *boxes = det_clip(b, det_decode(b, moves, det_anchors(b, MAPS, m), 10.0, 5.0), image);
    nn_t x = nn_softmax(b, "softmax", nn_concat(b, "logits", MAPS, logits, 1), -1);
    x = nn_slice(b, "scores", x, 2, 1, s->classes); /* without the background */
    *scores = nn_transpose(b, "scores", x, (const int64_t[]){0, 2, 1});
    nn_pop(b);
}

static void select_boxes(nn *b, const ssd *s, nn_t boxes, nn_t scores)
{
    int64_t batch = scores.d[0], classes = scores.d[1];
    nn_push(b, "detections");
    det_top best = det_best(b, scores, s->candidates); /* [B, C-1, k] */
    int64_t k = best.index.d[2], groups = batch * classes, all = classes * k;
    nn_t index = nn_reshape(b, "index", best.index, 2, (const int64_t[]){batch, all});
    boxes = det_rows(b, boxes, index); /* [B, (C-1)*k, 4] */
    scores = nn_reshape(b, "scores", best.scores, 2, (const int64_t[]){groups, k});
    nn_t kept = det_suppress(b, nn_reshape(b, "boxes", boxes, 3, (const int64_t[]){groups, k, 4}),
                             scores,
                             &(det_nms){.overlap = s->overlap, .score = s->score, .most = s->most});
    best = det_best(b, nn_reshape(b, "scores", kept, 2, (const int64_t[]){batch, all}), s->most);
    nn_t labels = det_integer(b, "Add", det_integer(b, "Div", best.index, k), 1);
    det_output(b, &(det_found){.boxes = det_rows(b, boxes, best.index),
                               .labels = labels,
                               .scores = best.scores});
    nn_pop(b);
}

static void build(nn *b, ssd s, int64_t size)
{
    nn_t maps[MAPS], boxes, scores, image = nn_image(b, size);
    s.classes = nn_int_in(b, "num_classes", 91, 2, 100000);
    if (s.lite)
        lite_maps(b, image, maps);
    else
        vgg_maps(b, image, maps);
    if (!nn_ok(b))
        return;
    heads(b, &s, maps, image, &boxes, &scores);
    if (nn_ok(b))
        select_boxes(b, &s, boxes, scores);
}

static ssd common(nn *b, double score, double overlap, int64_t candidates, int64_t detections)
{
    return (ssd){.candidates = nn_int_in(b, "topk_candidates", candidates, 1, 1000000),
                 .most = det_limit(b, detections),
                 .score = nn_real(b, "score_thresh", score),
                 .overlap = nn_real(b, "nms_thresh", overlap)};
}

static void build_ssd(nn *b)
{
    build(b, common(b, 0.01, 0.45, 400, 200), 300);
}

static void build_lite(nn *b)
{
    ssd s = common(b, 0.001, 0.55, 300, 300);
    s.lite = true;
    build(b, s, 320);
}

static const zoo_row rows[] = {
    ZOO_ROW("ssd300_vgg16", "ssd ssd300", "ssd", "detection", build_ssd, NULL),
    ZOO_ROW("ssdlite320_mobilenet_v3_large", "ssdlite ssdlite320", "ssdlite", "detection",
            build_lite, NULL),
};

const zoo_rows zoo_ssd_rows = ZOO_ROWS(rows);
