/* The MobileNet v3 trunk, for the families that grow on it (segmentation, detection). */
#ifndef ZOO_MOBILENET_H
#define ZOO_MOBILENET_H

#include "zoo/blocks.h"

enum { MOBILENET_V3_BLOCKS = 24 };

typedef struct mobilenet_v3_trunk {
    bool large;        /* else small */
    bool dilated;      /* the last stage keeps its size and dilates */
    bool reduced_tail; /* half of the channels from the last stage on */
    double width;
    int cut; /* a block after whose expansion the trunk is cut into the scopes "0" and "1"; 0: not */
} mobilenet_v3_trunk;

/* features.0 ... features.N in the present scope, named "0", "1", ...; out[i] gets what features.i
 * gives and expanded[i] what its expansion gives (either may be NULL). Returns N + 1, the last one's
 * result being out[N]. */
int mobilenet_v3_features(nn *b, nn_t x, const mobilenet_v3_trunk *t, nn_t *out, nn_t *expanded);

#endif
