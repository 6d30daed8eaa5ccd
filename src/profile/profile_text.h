/* Names and shapes of layers in the form that all outputs use. */
#ifndef PROFILE_PROFILE_TEXT_H
#define PROFILE_PROFILE_TEXT_H

#include "base/sbuf.h"
#include "profile/profile.h"

/* A shape as people write it: "1×3×224×224", "?" for what is not known, "scalar" for rank 0. */
void profile_put_shape(sbuf *b, const profile_shape *s, const char *times);
/* A layer's or node's name as people know it: "/layer1/layer1.0/conv1/Conv" of an exporter that repeats
 * the path at every level is "layer1.0.conv1/Conv". Any other name stays as it is. */
void profile_put_name(sbuf *b, str name);

#endif
