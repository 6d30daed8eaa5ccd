/* Regions of interest over a feature pyramid. */
#ifndef ZOO_ROI_H
#define ZOO_ROI_H

#include "zoo/fpn.h"

/* torchvision's MultiScaleRoIAlign picks the map by the size of each box, then pools the boxes of each
 * map for itself: as many as data has it. Here the maps stand below each other in one atlas, every one
 * with its last row and column once more (what bilinear sampling at the border would see), and every
 * box is scaled and moved to its map: the same numbers from one RoiAlign of a known size.
 */
typedef struct roi_atlas {
    nn_t maps; /* [B, C, sum of heights + 1, largest width + 1] */
    int n;
    int64_t lowest; /* level of the finest map: log2 of its stride */
    float scale[DET_LEVELS], top[DET_LEVELS];
} roi_atlas;

/* Of the first n maps of the pyramid. */
void roi_gather_maps(nn *b, const fpn *maps, int n, nn_t image, roi_atlas *out);
/* Boxes [B, N, 4] to [B*N, C, side, side]. */
nn_t roi_align(nn *b, const roi_atlas *a, nn_t boxes, int64_t side);

#endif
