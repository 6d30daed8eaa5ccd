/* The figures that a roofline stands on, straight from an inferred graph: what each layer computes and moves, what is
 * alive while it runs, what a training step adds. One walk gives numbers of four and of two bytes. */
#ifndef ANALYZE_ROOFLINE_TAKE_H
#define ANALYZE_ROOFLINE_TAKE_H

#include "analyze/count.h"
#include "analyze/roofline.h"

/* Takes a graph that was inferred at batch point + 2 (or, of a model for one batch, at that one). Point 0 comes
 * first. `of` and `arch` are of the same inference. ASSAY_ERR_UNSUPPORTED when its layers are not those of the
 * first. Everything that stays is in the arena. */
assay_status roofline_take(roofline_model *m, infer_result *r, const counted *of,
                           const profile_architecture *arch, uint32_t point, arena *a,
                           assay_error *err);

#endif
