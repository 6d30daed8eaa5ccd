/* One-stage detectors over a feature pyramid: RetinaNet and FCOS (torchvision/models/detection).
 *
 *   backbone  ResNet stages 2 to 4, a pyramid, P6 and P7
 *   head      on every map: four 3x3 convolutions and class scores of every anchor (9 shapes a cell in
 *             RetinaNet, the cell itself in FCOS), four more and the box; FCOS adds a centre-ness
 *   then      the best `topk_candidates` pairs of anchor and class of each map, suppressed inside each
 *             class, the best `detections` of all: 300 in RetinaNet, 100 in FCOS
 *
 * The input is what the model's own transform gives: a 512x512 photograph becomes 800x800, the default.
 * `detections` is an upper bound in PyTorch and an exact number here: what did not survive has the score
 * -1 (zoo/detect.h). It changes no multiplication.
 */
#include <math.h>
#include <stdio.h>

#include "zoo/fpn.h"

typedef struct dense {
    bool centerness; /* FCOS */
    norm_kind norm;
    int64_t classes, candidates, most;
    double score, overlap;
} dense;

typedef struct level {
    nn_t boxes, scores, labels; /* [B, k, 4], [B, k], [B, k] */
} level;

/* ---- heads ---- */

static nn_t tower(nn *b, const dense *d, nn_t x)
{
    char name[16];
    nn_push(b, "conv");
    for (int i = 0; i < 4 && !d->centerness; i++) {
        snprintf(name, sizeof name, "%d", i);
        x = conv_block_layers(b, name, x,
                              &(conv_block){.conv = {.out = x.d[1], .k = 3},
                                            .norm = d->norm,
                                            .bias = d->norm == NORM_NONE,
                                            .relu = true});
    }
    for (int i = 0; i < 12 && d->centerness; i += 3) { /* the same, as one flat Sequential */
        snprintf(name, sizeof name, "%d", i);
        x = NN_CONV(b, name, x, .out = x.d[1], .k = 3, .pad = 1);
        snprintf(name, sizeof name, "%d", i + 1);
        x = nn_groupnorm(b, name, x, 32, 1e-5);
        snprintf(name, sizeof name, "%d", i + 2);
        x = nn_act(b, "Relu", name, x);
    }
    return nn_leave(b, x);
}

static nn_t sigmoid(nn *b, nn_t x)
{
    return nn_one(b, "Sigmoid", "sigmoid", 1, &x, x, 0, NULL);
}

/* Scores [B, HWA, C] and deltas [B, HWA, 4] of one map. */
static void head(nn *b, const dense *d, nn_t x, int anchors, nn_t *scores, nn_t *deltas)
{
    nn_t center = NN_ABSENT;
    nn_push(b, "head");
    nn_push(b, "classification_head");
    nn_t y = tower(b, d, x);
    y = NN_CONV(b, "cls_logits", y, .out = d->classes * anchors, .k = 3, .pad = 1);
    *scores = sigmoid(b, det_columns(b, "logits", y, d->classes));
    nn_pop(b);
    nn_push(b, "regression_head");
    x = tower(b, d, x);
    y = NN_CONV(b, "bbox_reg", x, .out = (int64_t)anchors * 4, .k = 3, .pad = 1);
    if (d->centerness) {
        y = nn_one(b, "Relu", "relu", 1, &y, y, 0, NULL);
        center = NN_CONV(b, "bbox_ctrness", x, .out = anchors, .k = 3, .pad = 1);
        center = sigmoid(b, det_columns(b, "ctrness", center, 1));
    }
    *deltas = det_columns(b, "deltas", y, 4);
    nn_pop(b);
    if (d->centerness) {
        *scores = nn_mul(b, "scores", *scores, center);
        *scores = nn_one(b, "Sqrt", "sqrt", 1, scores, *scores, 0, NULL);
    }
    nn_pop(b);
}

/* ---- boxes ---- */

/* Distances from the centre of the cell to the four sides, in sizes of the cell. */
static nn_t decode_sides(nn *b, nn_t sides, det_boxes from)
{
    nn_t part[2];
    nn_push(b, "decode");
    nn_split(b, "sides", sides, -1, 2, part);
    nn_t before = nn_mul(b, "before", part[0], from.size);
    nn_t after = nn_mul(b, "after", part[1], from.size);
    const nn_t corner[] = {nn_binary(b, "Sub", "from", from.center, before),
                           nn_add(b, "to", from.center, after)};
    return nn_leave(b, nn_concat(b, "boxes", 2, corner, -1));
}

static det_map anchors_of(const dense *d, nn_t feature, nn_t image, int index)
{
    static const float ratios[] = {0.5F, 1.0F, 2.0F}, square[] = {1.0F};
    float base = (float)((d->centerness ? 8 : 32) << index);
    const float sizes[] = {base, floorf(base * (float)exp2(1.0 / 3)),
                           floorf(base * (float)exp2(2.0 / 3))};
    det_map m = det_map_of(feature, image);
    if (d->centerness)
        det_shapes(&m, 1, sizes, 1, square);
    else
        det_shapes(&m, 3, sizes, 3, ratios);
    return m;
}

static level best_of_map(nn *b, const dense *d, nn_t feature, nn_t image, int index)
{
    nn_t scores, deltas;
    det_map m = anchors_of(d, feature, image, index);
    head(b, d, feature, m.n, &scores, &deltas);
    nn_push(b, "detections");
    det_boxes from = det_anchors(b, 1, &m);
    scores = nn_reshape(b, "scores", scores, 2, (const int64_t[]){scores.d[0], -1});
    det_top best = det_best(b, scores, d->candidates);
    nn_t anchor = det_integer(b, "Div", best.index, d->classes);
    deltas = det_rows(b, deltas, anchor); /* [B, k, 4] */
    from.center = nn_gather(b, "center", from.center, anchor, 0);
    from.size = nn_gather(b, "size", from.size, anchor, 0);
    nn_t boxes = d->centerness ? decode_sides(b, deltas, from)
                               : det_decode(b, deltas, from, 1.0, 1.0);
    level out = {.boxes = det_clip(b, boxes, image),
                 .scores = best.scores,
                 .labels = det_integer(b, "Mod", best.index, d->classes)};
    nn_pop(b);
    return out;
}

static level best_of_all(nn *b, const dense *d, const fpn *maps, nn_t image)
{
    nn_t boxes[DET_LEVELS], scores[DET_LEVELS], labels[DET_LEVELS];
    for (int i = 0; i < maps->n; i++) {
        level l = best_of_map(b, d, maps->map[i], image, i);
        boxes[i] = l.boxes;
        scores[i] = l.scores;
        labels[i] = l.labels;
    }
    nn_push(b, "detections");
    level all = {.boxes = nn_concat(b, "boxes", maps->n, boxes, 1),
                 .scores = nn_concat(b, "scores", maps->n, scores, 1),
                 .labels = nn_concat(b, "labels", maps->n, labels, 1)};
    nn_pop(b);
    return all;
}

static void build(nn *b, const dense *d, const fpn_plan *p)
{
    fpn maps;
    nn_t image = nn_image(b, 800);
    fpn_resnet(b, image, p, &maps);
    if (!nn_ok(b))
        return;
    level all = best_of_all(b, d, &maps, image);
    nn_push(b, "detections");
    nn_t class = all.labels;
    class.dtype = IR_FLOAT32;
    class = nn_one(b, "Cast", "class", 1, &all.labels, class, 1,
                   &NN_INT("to", 1 /* ONNX's FLOAT */));
    nn_t scores = det_suppress(
        b, det_apart(b, all.boxes, class, image), all.scores,
        &(det_nms){.overlap = d->overlap, .score = d->score, .most = d->most});
    det_top best = det_best(b, scores, d->most);
    det_output(b, &(det_found){.boxes = det_rows(b, all.boxes, best.index),
                               .labels = det_rows(b, all.labels, best.index),
                               .scores = best.scores});
    nn_pop(b);
}

static dense common(nn *b, double score, double overlap, int64_t detections)
{
    return (dense){.classes = nn_int_in(b, "num_classes", 91, 1, 100000),
                   .candidates = nn_int_in(b, "topk_candidates", 1000, 1, 1000000),
                   .most = det_limit(b, detections),
                   .score = nn_real(b, "score_thresh", score),
                   .overlap = nn_real(b, "nms_thresh", overlap)};
}

static void build_retinanet(nn *b)
{
    bool v2 = nn_bool(b, "v2", false);
    dense d = common(b, 0.05, 0.5, 300);
    d.norm = v2 ? NORM_GROUP32 : NORM_NONE;
    build(b, &d, &(fpn_plan){.first = 2, .frozen = !v2, .p6_from_c5 = v2, .extra = FPN_P6P7});
}

static void build_fcos(nn *b)
{
    dense d = common(b, 0.2, 0.6, 100);
    d.centerness = true;
    build(b, &d, &(fpn_plan){.first = 2, .frozen = true, .extra = FPN_P6P7});
}

static const zoo_row rows[] = {
    ZOO_ROW("retinanet_resnet50_fpn", "retinanet", "retinanet", "detection", build_retinanet,
            "layers=3,4,6,3"),
    ZOO_ROW("retinanet_resnet50_fpn_v2", "retinanet_v2", "retinanet", "detection", build_retinanet,
            "layers=3,4,6,3 v2=true"),
    ZOO_ROW("fcos_resnet50_fpn", "fcos", "fcos", "detection", build_fcos, "layers=3,4,6,3"),
};

const zoo_rows zoo_dense_rows = ZOO_ROWS(rows);
