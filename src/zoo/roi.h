/* Regions of interest over a feature pyramid. */
#ifndef ZOO_ROI_H
#define ZOO_ROI_H

#include "zoo/fpn.h"

/* torchvision's MultiScaleRoIAlign picks the map by the size of each box and pools the boxes of each map
 * for themselves: how many those are is data. Here every map pools all boxes, and a mask takes what
 * belongs to each: the same numbers in tensors of a known size, with as many times the interpolations
 * (and no multiply-accumulate) as there are maps.
 */
typedef struct roi_maps {
    int n;
    nn_t feature[DET_LEVELS];
    int64_t lowest; /* level of the finest map: log2 of its stride; each next one is 1 above */
} roi_maps;

/* The first n maps of the pyramid, as far as their levels differ. */
roi_maps roi_maps_of(const fpn *maps, int n, nn_t image);
/* Boxes [B, N, 4] to [B*N, C, side, side]. */
nn_t roi_align(nn *b, const roi_maps *m, nn_t boxes, int64_t side);

#endif
