/* Faster, Mask and Keypoint R-CNN (torchvision/models/detection).
 *
 *   backbone   a trunk and its feature pyramid
 *   rpn        on every map: `rpn_convs` 3x3, an objectness and four deltas per anchor; the best
 *              `pre_nms` of each map, suppressed above an overlap of 0.7, the best `proposals` of all
 *   roi_heads  7x7 of each proposal, box_head, class scores and deltas by class; suppressed inside each
 *              class above 0.5; the best `detections` of all. Then masks (28x28 of the found class) or
 *              keypoints (the maximum of a 56x56 heat map) of these.
 *
 * The input is what the model's own transform gives: a normalised image of min_size 800 (320). A
 * 512x512 photograph becomes 800x800 (320x320), the default. `proposals` and `detections` are upper
 * bounds in PyTorch and exact numbers here: what is not there has the score -1 (zoo/detect.h). Published
 * counts have 1000 proposals, and as many detections as that image gave: none for Mask R-CNN v1 and the
 * legacy keypoints, 1 for the newer keypoints, 100 for Mask R-CNN v2. The default is 100.
 * Over MobileNet the RPN drops proposals with a score below 0.05; how many are left is data too, and
 * there `proposals` is by default what `detections` is (-1), at most pre_nms. The published counts of
 * these two have no proposal at all: detections=0.
 * Boxes stay in the input's pixels; PyTorch enlarges heat maps to each box's size before it looks for
 * the maximum, and pastes masks into the image; neither is in the graph.
 */
#include <stdio.h>

#include "zoo/roi.h"

typedef struct proposals {
    nn_t boxes, scores; /* [B, P, 4], [B, P] */
} proposals;

static const float ratios[] = {0.5F, 1.0F, 2.0F};

/* ---- region proposals ---- */

static det_map rpn_map(nn_t feature, nn_t image, int level, bool all_sizes)
{
    static const float sizes[] = {32, 64, 128, 256, 512, 1024, 2048, 4096};
    det_map m = det_map_of(feature, image);
    if (all_sizes)
        det_shapes(&m, 5, sizes, 3, ratios);
    else
        det_shapes(&m, 1, &sizes[level], 3, ratios);
    return m;
}

/* Objectness [B, n] and deltas [B, n, 4] of one map. */
static void rpn_head(nn *b, nn_t x, int64_t convs, int anchors, nn_t *scores, nn_t *deltas)
{
    char name[24];
    nn_push(b, "head");
    for (int64_t i = 0; i < convs; i++) {
        snprintf(name, sizeof name, "conv.%d", (int)i);
        x = conv_block_layers(
            b, name, x, &(conv_block){.conv = {.out = x.d[1], .k = 3}, .bias = true, .relu = true});
    }
    nn_t logits = NN_CONV(b, "cls_logits", x, .out = anchors, .k = 1);
    nn_t moves = NN_CONV(b, "bbox_pred", x, .out = (int64_t)anchors * 4, .k = 1);
    nn_pop(b);
    *scores = nn_squeeze(b, "objectness", det_columns(b, "objectness", logits, 1), 2);
    *deltas = det_columns(b, "deltas", moves, 4);
}

/* Which map each of the chosen boxes is from, for keeping them apart. */
static nn_t level_numbers(nn *b, int n, const int64_t *counts, int64_t total)
{
    float *level = total > 0 ? ARENA_ARRAY(nn_arena(b), float, (size_t)total) : NULL;
    float *to = level;
    for (int i = 0; level && i < n; i++)
        for (int64_t k = 0; k < counts[i]; k++)
            *to++ = (float)i;
    return nn_table_of(b, "levels", IR_FLOAT32, 1, &total, level);
}

typedef struct rpn_heads { /* of all maps */
    nn_t scores[DET_LEVELS], deltas[DET_LEVELS];
    det_map maps[DET_LEVELS];
} rpn_heads;

/* The best of every map: scores [B, K], indices [B, K] among all anchors. */
static det_top rpn_best(nn *b, const rpn_heads *h, int n, int64_t most, int64_t *counts)
{
    nn_t scores[DET_LEVELS], index[DET_LEVELS];
    int64_t offset = 0;
    for (int i = 0; i < n; i++) {
        det_top top = det_best(b, h->scores[i], most);
        scores[i] = top.scores;
        index[i] = offset ? det_integer(b, "Add", top.index, offset) : top.index;
        counts[i] = top.index.d[1];
        offset += h->scores[i].d[1];
    }
    return (det_top){.scores = nn_concat(b, "scores", n, scores, 1),
                     .index = nn_concat(b, "index", n, index, 1)};
}

/* A threshold on objectness leaves a number that is data: as many as there are detections then. */
static int64_t proposals_of(nn *b, int64_t pre)
{
    int64_t n = nn_int_in(b, "proposals", 1000, -1, 1000000);
    if (n >= 0)
        return n;
    n = det_limit(b, 100);
    return n < pre ? n : pre;
}

static proposals rpn_filter(nn *b, const rpn_heads *h, int n, nn_t boxes, nn_t image)
{
    int64_t counts[DET_LEVELS], pre = nn_int_in(b, "pre_nms", 1000, 1, 1000000);
    int64_t most = proposals_of(b, pre);
    det_top best = rpn_best(b, h, n, pre, counts);
    boxes = det_clip(b, det_rows(b, boxes, best.index), image); /* [B, K, 4] */
    nn_t scores = nn_act(b, "Sigmoid", "sigmoid", best.scores);
    scores = det_drop_small(b, boxes, scores, 1e-3);
    nn_t apart = det_apart(b, boxes, level_numbers(b, n, counts, scores.d[1]), image);
    scores = det_suppress(
        b, apart, scores,
        &(det_nms){.overlap = 0.7, .score = nn_real(b, "rpn_score_thresh", 0.0), .most = most});
    best = det_best(b, scores, most);
    return (proposals){.boxes = det_rows(b, boxes, best.index), .scores = best.scores};
}

static proposals propose(nn *b, const fpn *maps, nn_t image)
{
    rpn_heads h;
    int64_t convs = nn_int_in(b, "rpn_convs", 1, 1, 64);
    bool all_sizes = nn_bool(b, "all_sizes", false);
    nn_push(b, "rpn");
    for (int i = 0; i < maps->n; i++) {
        h.maps[i] = rpn_map(maps->map[i], image, i, all_sizes);
        rpn_head(b, maps->map[i], convs, h.maps[i].n, &h.scores[i], &h.deltas[i]);
    }
    nn_t deltas = nn_concat(b, "deltas", maps->n, h.deltas, 1); /* [B, N, 4] */
    nn_t boxes = det_decode(b, deltas, det_anchors(b, maps->n, h.maps), 1.0, 1.0);
    proposals p = rpn_filter(b, &h, maps->n, boxes, image);
    nn_pop(b);
    return p;
}

/* ---- boxes of the regions ---- */

static nn_t mlp_head(nn *b, nn_t x)
{
    x = nn_flatten(b, "flatten", x, 1);
    x = nn_linear(b, "fc6", x, 1024, true);
    x = nn_one(b, "Relu", "relu6", 1, &x, x, 0, NULL);
    x = nn_linear(b, "fc7", x, 1024, true);
    return nn_one(b, "Relu", "relu7", 1, &x, x, 0, NULL);
}

static nn_t four_convs(nn *b, nn_t x, bool norm)
{
    static const char *const names[] = {"0", "1", "2", "3"};
    for (int i = 0; i < 4; i++)
        x = conv_block_layers(b, names[i], x,
                              &(conv_block){.conv = {.out = 256, .k = 3},
                                            .norm = norm ? NORM_BATCH : NORM_NONE,
                                            .bias = !norm,
                                            .relu = true});
    return x;
}

static nn_t box_head(nn *b, nn_t x, bool convs)
{
    nn_push(b, "box_head");
    if (convs) {
        x = nn_flatten(b, "4", four_convs(b, x, true), 1);
        x = nn_act(b, "Relu", "6", nn_linear(b, "5", x, 1024, true));
    } else {
        x = mlp_head(b, x);
    }
    return nn_leave(b, x);
}

/* [B*P, C, k] to [B*(C-1), P, k], the background left out. */
static nn_t by_class(nn *b, const char *name, nn_t x, int64_t batch)
{
    int64_t p = x.d[0] / (batch ? batch : 1), classes = x.d[1], k = x.d[2];
    x = det_reshape(b, name, x, 4, (const int64_t[]){batch, p, classes, k});
    x = nn_slice(b, name, x, 2, 1, classes);
    x = nn_transpose(b, name, x, (const int64_t[]){0, 2, 1, 3}); /* [B, C-1, P, k] */
    return det_reshape(b, name, x, 3, (const int64_t[]){batch * (classes - 1), p, k});
}

/* Scores [B, C-1, P], -1 for what is no proposal. */
static nn_t class_scores(nn *b, nn_t logits, const proposals *from)
{
    int64_t batch = from->boxes.d[0], p = from->boxes.d[1], classes = logits.d[1];
    nn_t x = nn_unsqueeze(b, "scores", nn_softmax(b, "softmax", logits, -1), 2);
    x = by_class(b, "scores", x, batch); /* [B*(C-1), P, 1] */
    x = det_reshape(b, "scores", x, 3, (const int64_t[]){batch, classes - 1, p});
    nn_t real = det_compare(b, "GreaterOrEqual", from->scores, 0.0);
    return det_where(b, nn_unsqueeze(b, "real", real, 1), x);
}

static nn_t class_boxes(nn *b, nn_t deltas, const proposals *from, nn_t image)
{
    int64_t batch = from->boxes.d[0], rois = batch * from->boxes.d[1];
    deltas = det_reshape(b, "deltas", deltas, 3, (const int64_t[]){rois, deltas.d[1] / 4, 4});
    nn_t rows = det_reshape(b, "proposals", from->boxes, 3, (const int64_t[]){rois, 1, 4});
    nn_t boxes = det_decode(b, deltas, det_split(b, rows), 10.0, 5.0); /* [B*P, C, 4] */
    return by_class(b, "boxes", det_clip(b, boxes, image), batch);
}

static det_found select_boxes(nn *b, nn_t logits, nn_t deltas, const proposals *from, nn_t image)
{
    int64_t batch = from->boxes.d[0], p = from->boxes.d[1], groups = batch * (logits.d[1] - 1);
    int64_t most = det_limit(b, 100);
    nn_t boxes = class_boxes(b, deltas, from, image); /* [B*(C-1), P, 4] */
    nn_t scores = class_scores(b, logits, from);
    scores = det_reshape(b, "scores", scores, 2, (const int64_t[]){groups, p});
    scores = det_drop_small(b, boxes, scores, 1e-2);
    scores = det_suppress(b, boxes, scores,
                          &(det_nms){.overlap = nn_real(b, "nms_thresh", 0.5),
                                     .score = nn_real(b, "score_thresh", 0.05),
                                     .most = most});
    scores = det_reshape(b, "scores", scores, 2, (const int64_t[]){batch, groups / batch * p});
    boxes = det_reshape(b, "boxes", boxes, 3, (const int64_t[]){batch, groups / batch * p, 4});
    det_top best = det_best(b, scores, most);
    nn_t labels = det_integer(b, "Add", det_integer(b, "Div", best.index, p), 1);
    return (det_found){
        .boxes = det_rows(b, boxes, best.index), .labels = labels, .scores = best.scores};
}

static det_found detect(nn *b, const roi_maps *maps, const proposals *from, nn_t image)
{
    int64_t classes = nn_int_in(b, "num_classes", 91, 2, 100000);
    bool convs = nn_bool(b, "conv_head", false);
    nn_t x = NN_UNDER(b, roi_align(b, maps, from->boxes, 7), "box_roi_pool");
    if (!nn_ok(b))
        return (det_found){NN_ABSENT, NN_ABSENT, NN_ABSENT};
    x = box_head(b, x, convs);
    nn_push(b, "box_predictor");
    nn_t logits = nn_linear(b, "cls_score", x, classes, true);
    nn_t deltas = nn_linear(b, "bbox_pred", x, classes * 4, true);
    nn_pop(b);
    return select_boxes(b, logits, deltas, from, image);
}

/* ---- masks and keypoints ---- */

static void masks(nn *b, const roi_maps *maps, const det_found *f)
{
    int64_t batch = f->boxes.d[0], n = f->boxes.d[1], rois = batch * n;
    bool norm = nn_bool(b, "conv_head", false);
    nn_t x = NN_UNDER(b, roi_align(b, maps, f->boxes, 14), "mask_roi_pool");
    nn_push(b, "mask_head");
    x = four_convs(b, x, norm);
    nn_pop(b);
    nn_push(b, "mask_predictor");
    x = nn_act(b, "Relu", "relu", nn_deconv(b, "conv5_mask", x, 256, 2, 2, 0, true));
    x = NN_CONV(b, "mask_fcn_logits", x, .out = nn_int_in(b, "num_classes", 91, 2, 100000), .k = 1);
    nn_pop(b);
    x = nn_one(b, "Sigmoid", "mask_prob", 1, &x, x, 0, NULL); /* [R, C, 28, 28] */
    nn_t label = det_reshape(b, "label", f->labels, 2, (const int64_t[]){rois, 1});
    x = det_rows(b, x, label); /* [R, 1, 28, 28] */
    const int64_t dims[] = {batch, n, 1, x.d[2], x.d[3]};
    nn_output(b, det_reshape(b, "masks", x, 5, dims), "masks");
}

/* Places of the maxima [B, N, K] of heat maps in the boxes: x, y and 1 [B, N, K, 3]. */
static nn_t places(nn *b, nn_t index, const det_found *f, int64_t side)
{
    nn_t corner[2], at[3];
    nn_split(b, "corners", f->boxes, -1, 2, corner); /* [B, N, 2] */
    nn_t size = nn_binary(b, "Sub", "size", corner[1], corner[0]);
    size = nn_binary(b, "Max", "size", size, nn_float_const(b, "least", 1.0));
    for (int k = 0; k < 2; k++) {
        nn_t cell = det_integer(b, k ? "Div" : "Mod", index, side), x = cell;
        x.dtype = IR_FLOAT32;
        x = nn_one(b, "Cast", "cell", 1, &cell, x, 1, &NN_INT("to", 1 /* ONNX's FLOAT */));
        x = nn_add(b, "middle", x, nn_float_const(b, "half", 0.5));
        x = nn_scale(b, "relative", x, 1.0 / (double)side);
        x = nn_mul(b, "inside", x, nn_slice(b, "side", size, 2, k, k + 1));
        x = nn_add(b, "place", x, nn_slice(b, "corner", corner[0], 2, k, k + 1));
        at[k] = nn_unsqueeze(b, "place", x, 3);
    }
    at[2] = nn_expand(b, "visible", nn_float_const(b, "one", 1.0), 4, at[0].d);
    return nn_concat(b, "keypoints", 3, at, 3);
}

static nn_t keypoint_head(nn *b, nn_t x)
{
    char name[16];
    nn_push(b, "keypoint_head");
    for (int i = 0; i < 16; i += 2) {
        snprintf(name, sizeof name, "%d", i);
        x = NN_CONV(b, name, x, .out = 512, .k = 3, .pad = 1);
        snprintf(name, sizeof name, "%d", i + 1);
        x = nn_act(b, "Relu", name, x);
    }
    nn_pop(b);
    nn_push(b, "keypoint_predictor");
    int64_t points = nn_int_in(b, "num_keypoints", 17, 1, 10000);
    x = nn_deconv(b, "kps_score_lowres", x, points, 4, 2, 1, true);
    return nn_leave(b, nn_resize(b, "interpolate", x, x.d[2] * 2, x.d[3] * 2, "linear", false));
}

static void keypoints(nn *b, const roi_maps *maps, const det_found *f)
{
    int64_t batch = f->boxes.d[0], n = f->boxes.d[1];
    nn_t x = NN_UNDER(b, roi_align(b, maps, f->boxes, 14), "keypoint_roi_pool");
    x = keypoint_head(b, x); /* [R, K, 56, 56] */
    int64_t points = x.d[1], side = x.d[3];
    x = det_reshape(b, "heat", x, 4, (const int64_t[]){batch, n, points, x.d[2] * side});
    det_top best = det_best(b, x, 1);
    nn_t index = nn_squeeze(b, "maximum", best.index, 3);
    nn_output(b, places(b, index, f, side), "keypoints");
    nn_output(b, nn_squeeze(b, "heat", best.scores, 3), "keypoints_scores");
}

/* ---- the models ---- */

static fpn_plan plan(nn *b)
{
    return (fpn_plan){.first = 1,
                      .frozen = nn_bool(b, "frozen_norm", true),
                      .norm = nn_bool(b, "fpn_norm", false),
                      .extra = FPN_POOL};
}

static void build(nn *b)
{
    fpn maps;
    fpn_plan p = plan(b);
    nn_t image = nn_image(b, 800);
    str trunk = nn_word(b, "backbone", "resnet"), extra = nn_word(b, "head", "box");
    if (str_is(trunk, "mobilenet_v3_large"))
        fpn_mobilenet(b, image, &p, &maps);
    else
        fpn_resnet(b, image, &p, &maps);
    if (!nn_ok(b))
        return;
    proposals from = propose(b, &maps, image);
    if (!nn_ok(b))
        return;
    nn_push(b, "roi_heads");
    roi_maps regions = roi_maps_of(&maps, maps.n - 1, image);
    det_found found = detect(b, &regions, &from, image);
    det_output(b, &found);
    if (nn_ok(b) && str_is(extra, "mask"))
        masks(b, &regions, &found);
    if (nn_ok(b) && str_is(extra, "keypoint"))
        keypoints(b, &regions, &found);
    nn_pop(b);
}

#define V2                              "frozen_norm=false fpn_norm=true rpn_convs=2 conv_head=true"
#define MOBILENET                       "backbone=mobilenet_v3_large all_sizes=true rpn_score_thresh=0.05 proposals=-1"
#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "detection", build, set)

static const zoo_row rows[] = {
    ROW("fasterrcnn_resnet50_fpn", "fasterrcnn faster_rcnn", "faster_rcnn", "layers=3,4,6,3"),
    ROW("fasterrcnn_resnet50_fpn_v2", "fasterrcnn_v2", "faster_rcnn", "layers=3,4,6,3 " V2),
    ROW("fasterrcnn_mobilenet_v3_large_fpn", NULL, "faster_rcnn", MOBILENET),
    ROW("fasterrcnn_mobilenet_v3_large_320_fpn", NULL, "faster_rcnn",
        "image_size=320 pre_nms=150 " MOBILENET),
    ROW("maskrcnn_resnet50_fpn", "maskrcnn mask_rcnn", "mask_rcnn", "layers=3,4,6,3 head=mask"),
    ROW("maskrcnn_resnet50_fpn_v2", "maskrcnn_v2", "mask_rcnn", "layers=3,4,6,3 head=mask " V2),
    ROW("keypointrcnn_resnet50_fpn", "keypointrcnn keypoint_rcnn", "keypoint_rcnn",
        "layers=3,4,6,3 head=keypoint num_classes=2"),
};

const zoo_rows zoo_rcnn_rows = ZOO_ROWS(rows);
