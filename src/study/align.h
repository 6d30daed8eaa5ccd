/* Matches the layers of two profiles by structure: the layer (operator, shapes, numbers) and its neighbours. Names
 * only break ties: a model that was exported twice with different names is matched completely.
 *
 * Files of two formats have other operators (Gemm and FullyConnected) and layouts (N,C,H,W and N,H,W,C) for the same
 * layer. They are matched by type, work and sizes in any order ("across").
 */
#ifndef STUDY_ALIGN_H
#define STUDY_ALIGN_H

#include "base/error.h"
#include "profile/profile.h"

#define ALIGN_NONE UINT32_MAX

typedef struct alignment {
    uint32_t *of_a; /* [a->n_layers] the layer of b, or ALIGN_NONE */
    uint32_t *of_b; /* [b->n_layers] the layer of a, or ALIGN_NONE */
} alignment;

/* The result lives in `keep`; what it takes to get there is freed. Some n log n, and the square of the longest
 * stretch without a partner, which is bounded. */
assay_status align_layers(const profile *a, const profile *b, arena *keep, alignment *out,
                          assay_error *err);

/* The profiles are of files of two formats. */
bool align_is_across(const profile *a, const profile *b);
/* The same operator on the same shapes at the same cost; across: the same type of operator on the same sizes. */
bool align_same(const profile_layer *x, const profile_layer *y, bool across);
/* Inputs or outputs that both have are of other shapes: a bias that was added reshapes nothing. */
bool align_reshaped(const profile_layer *x, const profile_layer *y, bool across);

#endif
