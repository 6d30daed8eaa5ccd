/* The inputs of a roofline from an inferred graph: operations and bytes of each layer, live activations, and a
 * training step. One pass gives the values for four and for two bytes per number. */
#ifndef ANALYZE_ROOFLINE_TAKE_H
#define ANALYZE_ROOFLINE_TAKE_H

#include "analyze/count.h"
#include "analyze/roofline.h"

/* Takes a graph that was inferred at batch point + 2 (or, of a model for one batch, at that one). Point 0 comes
 * first. `of` and `about` are of the same inference. ASSAY_ERR_UNSUPPORTED when its layers are not those of the
 * first. Everything that stays is in the arena. */
typedef struct roofline_about {
    const profile_architecture *arch;
    const term_plan *plan; /* or NULL: terms are not wanted */
} roofline_about;
assay_status roofline_take(roofline_model *m, infer_result *r, const counted *of,
                           const roofline_about *about, uint32_t point, arena *a, assay_error *err);

#endif
