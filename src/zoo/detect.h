/* What detectors share: anchors, box decoding, suppression, and the choice of the best boxes.
 *
 * How many boxes survive a non-maximum suppression is data, but every tensor here has a fixed size: the
 * survivors' scores are written into a field of -1 that is as large as what went in, and TopK takes the
 * best of it. Rows past the survivors are boxes with the score -1. Only the list that NonMaxSuppression
 * itself gives has an open size.
 *
 * Boxes are x1, y1, x2, y2 in pixels of the input.
 */
#ifndef ZOO_DETECT_H
#define ZOO_DETECT_H

#include "zoo/zoo.h"

enum { DET_SHAPES = 32, DET_LEVELS = 8 };

typedef struct det_boxes { /* [..., 2] each: (x, y) and (width, height) */
    nn_t center, size;
} det_boxes;

typedef struct det_map { /* the anchors of one feature map: n at each of h*w cells */
    int64_t h, w;
    double step_x, step_y, offset; /* cell (i, j) is centred at ((j, i) + offset) * step */
    int n;
    float shape[DET_SHAPES][2]; /* width, height */
} det_map;

/* torchvision's AnchorGenerator: every size at every ratio (height / width), rounded. */
void det_shapes(det_map *m, int n_sizes, const float *sizes, int n_ratios, const float *ratios);
/* Cells of a feature map of an image, as AnchorGenerator lays them. */
det_map det_map_of(nn_t feature, nn_t image);
/* The anchors of all maps, one after the other, as two tables [N, 2]. */
det_boxes det_anchors(nn *b, int n, const det_map *maps);

/* nn_reshape for tensors that may be empty (no detections): there a size of 0 means 0. All sizes are
 * given. */
nn_t det_reshape(nn *b, const char *name, nn_t x, int rank, const int64_t *dims);
/* [B, A*k, H, W], as heads give it, to [B, H*W*A, k]. */
nn_t det_columns(nn *b, const char *name, nn_t x, int64_t k);
/* Centres and sizes of boxes [..., 4]. */
det_boxes det_split(nn *b, nn_t boxes);
/* Deltas [..., 4] over boxes: shifts in units of size/weight_xy, logarithms of scales times
 * weight_wh. */
nn_t det_decode(nn *b, nn_t deltas, det_boxes from, double weight_xy, double weight_wh);
/* Boxes [..., 4] cut to the image. */
nn_t det_clip(nn *b, nn_t boxes, nn_t image);
/* Scores [...] of boxes [..., 4], those of boxes with a side below min being -1. */
nn_t det_drop_small(nn *b, nn_t boxes, nn_t scores, double min);
/* Scores where the condition (of the same or a broadcast shape) holds, -1 elsewhere. */
nn_t det_where(nn *b, nn_t condition, nn_t scores);
/* x [...] compared with a number: Greater, GreaterOrEqual, Less, ... */
nn_t det_compare(nn *b, const char *op, nn_t x, double with);
/* x [...] of int64 with an integer: Add, Div, Mod. */
nn_t det_integer(nn *b, const char *op, nn_t x, int64_t with);

typedef struct det_top {
    nn_t scores, index; /* [B, k], best first */
} det_top;
/* The best k (or as many as there are) of scores [B, N]. */
det_top det_best(nn *b, nn_t scores, int64_t k);
/* Rows index [B, k] of x [B, N, ...]: [B, k, ...]. */
nn_t det_rows(nn *b, nn_t x, nn_t index);

typedef struct det_nms {
    double overlap, score; /* boxes above the one with a better box, or not above the other, go */
    int64_t most;          /* survivors in each group */
} det_nms;
/* The scores [G, N] of the boxes [G, N, 4] that survive inside each of G groups, -1 for the others. */
nn_t det_suppress(nn *b, nn_t boxes, nn_t scores, const det_nms *p);
/* Boxes [B, N, 4] moved apart by their class [N] or [B, N] (float32), so that one group holds all
 * classes. */
nn_t det_apart(nn *b, nn_t boxes, nn_t classes, nn_t image);

/* The outputs boxes [B, n, 4], labels [B, n], scores [B, n]. */
typedef struct det_found {
    nn_t boxes, labels, scores;
} det_found;
void det_output(nn *b, const det_found *f);

/* The parameter `detections`: boxes that the model gives for an image, survivors or not. */
int64_t det_limit(nn *b, int64_t def);

#endif
