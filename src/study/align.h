/* Matches the layers of two profiles by structure: the layer (operator, shapes, numbers) and its neighbours. Names
 * only break ties: a model that was exported twice with different names is matched completely.
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

/* The same operator on the same shapes at the same cost. */
bool align_same(const profile_layer *x, const profile_layer *y);
/* Inputs or outputs that both have are of other shapes: a bias that was added reshapes nothing. */
bool align_reshaped(const profile_layer *x, const profile_layer *y);

#endif
