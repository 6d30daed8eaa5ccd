/* The equation of an Einsum node as sets of labels, for whoever counts it in another way than its row.
 */
#ifndef OPS_EINSUM_H
#define OPS_EINSUM_H

#include "ops/op.h"

enum { EINSUM_OPERANDS = 8, EINSUM_LABELS = 64 };

typedef uint64_t einsum_set; /* bit k: label k */

typedef struct einsum_labels {
    uint32_t n_in, n; /* operands; labels */
    einsum_set in[EINSUM_OPERANDS], out;
    uint64_t size[EINSUM_LABELS];
} einsum_labels;

/* False when a shape is unknown, or it has more operands or labels than fit. */
bool einsum_read_labels(const op_ctx *c, einsum_labels *e);

#endif
