/* The ResNet trunk, for the families that grow on it (segmentation, detection). */
#ifndef ZOO_RESNET_H
#define ZOO_RESNET_H

#include <stdio.h>

#include "zoo/zoo.h"

enum { RESNET_STAGES = 6 };

typedef struct resnet_stage {
    const char *name; /* "layer1" */
    int64_t blocks, planes, stride, groups, base_width;
    int64_t dilation, next_dilation; /* of the first block, of the others */
    bool bottleneck;
} resnet_stage;

nn_t resnet_layer(nn *b, nn_t x, const resnet_stage *s);
/* The parameter `layers`; 0 after a failure. */
int resnet_depths(nn *b, int64_t *blocks);
/* The whole trunk by the parameters layers, block, groups, width_per_group and planes, under the names
 * conv1, bn1, layer1, ...; the last `dilated` stages keep their size and dilate instead. out gets what
 * each stage gives. */
nn_t resnet_features(nn *b, nn_t x, int dilated, nn_t out[RESNET_STAGES]);

#endif
