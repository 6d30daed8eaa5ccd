/* Backbones of detectors: a trunk, its stages' maps, and a feature pyramid over them. */
#ifndef ZOO_FPN_H
#define ZOO_FPN_H

#include "zoo/detect.h"

typedef enum fpn_extra { FPN_POOL, FPN_P6P7 } fpn_extra; /* what comes above the pyramid */

typedef struct fpn {
    int n; /* maps, finest first; the extra ones included */
    nn_t map[DET_LEVELS];
} fpn;

typedef struct fpn_plan {
    int first;       /* ResNet's stage that the pyramid begins with: 1 or 2 */
    bool frozen;     /* the trunk's normalisations are FrozenBatchNorm2d: buffers, no parameters */
    bool norm;       /* the pyramid's convolutions have batch normalisation */
    bool p6_from_c5; /* P6 sees the trunk's last map and not the pyramid's */
    fpn_extra extra;
} fpn_plan;

/* backbone.body and backbone.fpn over a ResNet of the parameters of zoo/resnet.h; the parameter
 * fpn_channels is 256. */
void fpn_resnet(nn *b, nn_t image, const fpn_plan *p, fpn *out);
/* The same over the last two stages of MobileNet v3 large. */
void fpn_mobilenet(nn *b, nn_t image, const fpn_plan *p, fpn *out);

/* torchvision's Conv2dNormActivation in its other forms: name.0 convolution, name.1 norm if any, then
 * a ReLU if asked. */
typedef enum norm_kind { NORM_NONE, NORM_BATCH, NORM_GROUP32, NORM_INSTANCE } norm_kind;
typedef struct conv_block {
    nn_conv conv; /* pad is k/2 */
    norm_kind norm;
    bool bias, relu;
} conv_block;
nn_t conv_block_layers(nn *b, const char *name, nn_t x, const conv_block *c);

#endif
