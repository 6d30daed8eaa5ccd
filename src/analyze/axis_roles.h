/* Roles of the dimensions of an input: batch, channels, height, width, frames, sequence, cache. Used by inference,
 * batch detection, scaling, units of throughput and image inputs.
 *
 * An image is an input of floats or bytes in one of these layouts, and of 1 to 4 channels:
 *
 *   rank 4   N×C×H×W, else N×H×W×C
 *   rank 5   N×C×T×H×W, else N×T×H×W×C: a video
 *   rank 3   C×H×W, else H×W×C, where the input has no batch: 1, 3 or 4 channels, sides of 9 or more. Where nobody
 *            knows the batch yet, 3×H×W alone.
 *
 * With more channels, ranks 4 and 5 are feature maps, channels first. Caches and masks are neither, whatever their
 * shape. A sequence of ids is an integer input [N,S], or [S,N] where the batch is second.
 */
#ifndef ANALYZE_AXIS_ROLES_H
#define ANALYZE_AXIS_ROLES_H

#include "ir/graph.h"

/* ---- roles and their usual sizes ---- */

typedef enum axis_role {
    AXIS_BATCH,
    AXIS_PAST,
    AXIS_SEQUENCE,
    AXIS_SIDE, /* of an image */
    AXIS_CHANNELS,
    AXIS_SAMPLES, /* of audio */
    AXIS_STEP,    /* of ids beside a cache: one new token */
    AXIS_FRAMES,
    AXIS_VIDEO_SIDE,
    AXIS_SIZE, /* nothing is known of it */
    AXIS_NONE
} axis_role;

#define AXIS_SIZES 6
/* A clause for display: "sequence length". */
const char *axis_role_name(axis_role r);
/* Sizes to try for a dimension that nothing gives, the usual one first; attempt < AXIS_SIZES. */
int64_t axis_role_size(axis_role r, int attempt);

/* What the name of a dimension says, or AXIS_NONE. */
axis_role axis_role_by_name(str symbol);
/* "batch", "decoder_batch_size"; not a product of it with something else. */
bool axis_names_batch(str symbol);
/* That it is something else than the batch. */
bool axis_names_other(str symbol);

/* What a dimension of an input of this rank usually is, by type, place and the sizes that the file declares. */
axis_role axis_role_by_place(const ir_value *input, int rank, int axis);

/* ---- inputs ---- */

typedef struct axis_input {
    str name;
    ir_dtype dtype;
    int rank;
    const int64_t *dims; /* -1: open */
} axis_input;

/* Keys and values of earlier tokens by name: "past_key_values.0.key". */
bool axis_names_cache(str input);
bool axis_names_mask(str input);
/* The tokens in the cache of a decoder's own attention [batch, heads, tokens, size]; -1: it is no such input. */
int64_t axis_cached_tokens(const axis_input *in);

/* The dimension of the ids' sequence; -1: the input holds none. `batch`: its batch dimension or -1. */
int axis_of_ids(ir_dtype dtype, int rank, int batch);

enum {
    AXIS_NO_BATCH = -1,
    AXIS_BATCH_UNKNOWN = -2 /* nobody has looked for it */
};

typedef struct image_axes {
    bool picture; /* of 1 to 4 channels; else a feature map */
    int channels, height, width;
    int frames; /* -1: no video */
} image_axes;

/* False when it is no image. `batch`: its batch dimension, or one of the above. */
bool axis_image(const axis_input *in, int batch, image_axes *out);
/* The same as the file declares it. */
bool axis_image_declared(const ir_value *input, int batch, image_axes *out);

#endif
