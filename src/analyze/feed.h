/* Requirements on the content of inputs, found by following each through the graph to the operator that reads it.
 * Used to generate inputs.
 */
#ifndef ANALYZE_FEED_H
#define ANALYZE_FEED_H

#include "analyze/infer.h"

typedef enum feed_kind {
    FEED_ANY,      /* nothing special */
    FEED_INDEX,    /* looks up a table: whole numbers below bound */
    FEED_POSITION, /* the same, and its name says that it counts up */
    FEED_MASK,     /* ones */
    FEED_LENGTH,   /* a length: bound */
    FEED_SWITCH,   /* true: a decoder that may use its cache does */
    FEED_STEER,    /* tells an operator a shape, axes, scales, …: the numbers */
} feed_kind;

typedef struct feed_hint {
    feed_kind kind;
    uint64_t bound; /* 0: not known */
    uint64_t from;  /* of positions: the first, as many as are cached */
    bool looks_up;  /* reaches a table of vectors: token ids and the like */
    const double
        *numbers; /* of FEED_STEER: one for each element of the input; in the result's arena */
} feed_hint;

/* Of an input of the main graph. */
feed_hint feed_of(infer_result *r, ir_id input);

#endif
