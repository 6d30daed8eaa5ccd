/* The dimensions of a value in results. */
#ifndef PROFILE_SHAPE_H
#define PROFILE_SHAPE_H

#include <stdint.h>

typedef struct profile_shape {
    int rank;            /* -1: unknown */
    const int64_t *dims; /* -1: unknown */
} profile_shape;

#endif
