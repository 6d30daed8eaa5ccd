/* Blocks that several convolutional families share. */
#ifndef ZOO_BLOCKS_H
#define ZOO_BLOCKS_H

#include <stdio.h>

#include "zoo/zoo.h"

/* Channels times a width, to the nearest multiple of `by` that loses no more than a tenth. */
int64_t zoo_divisible(double channels, int64_t by);

/* torchvision's Conv2dNormActivation: name.0 convolution without bias, name.1 batch norm, name.2
 * activation (the ONNX name, or "Relu6"; NULL: none). A pad of 0 is taken as (k - 1) / 2 * dilation. */
nn_t zoo_conv_norm_act(nn *b, const char *name, nn_t x, nn_conv c, const char *act, double eps);

/* The same two without activation in a Sequential of the caller's: numbers `index` and `index` + 1, the pad as
 * given. */
nn_t zoo_conv_norm(nn *b, int index, nn_t x, nn_conv c);

/* An activation module by name, "Relu6" included. */
nn_t zoo_act(nn *b, const char *op, const char *name, nn_t x);

/* torchvision's SqueezeExcitation: avgpool, fc1, activation, fc2, scale_activation, times the input. */
nn_t zoo_squeeze_excite(nn *b, const char *name, nn_t x, int64_t squeeze, const char *act,
                        const char *gate);

/* BasicConv2d of the Inception networks: name.conv, name.bn (eps 0.001), relu. */
nn_t zoo_basic_conv(nn *b, const char *name, nn_t x, nn_conv c);

/* Per-channel affine of an image in [0, 1] normalised for ImageNet, as Inception wants it. */
nn_t zoo_transform_input(nn *b, nn_t x);

/* Blocks per stage: at most max values, each within [1, limit]; their count, 0 after a failure. */
int zoo_stages(nn *b, const char *key, int64_t *out, int max, int64_t limit);

#endif
