/* Re-batching: a model whose batch size is fixed becomes the same model for another.
 *
 * The batch dimension of every input that has one is set; declared shapes of all other values are removed, because
 * they would contradict it. Constant targets of Reshape and Expand that name the old batch are changed: the number
 * where the inputs have it, else the first, becomes the new batch, or "what is left" when none is; so are constant
 * states that a recurrence begins with. This is right where the batch keeps its place, as exporters write it; where
 * it does not, inference on the result finds shapes that contradict, and the caller says so.
 *
 * It works in place, on a model that was read for it. */
#ifndef REWRITE_REBATCH_H
#define REWRITE_REBATCH_H

#include "ir/graph.h"

enum { REBATCH_FIRST = -2 }; /* the first dimension of what has two or more */

/* axes: [inputs] the dimension that is the batch, REBATCH_FIRST, or -1 where there is none; NULL: REBATCH_FIRST of
 * all. */
assay_status rewrite_rebatch(ir_model *m, const int *axes, int64_t batch, assay_error *err);

#endif
