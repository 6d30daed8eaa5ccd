/* Re-batching: a model whose batch size is fixed becomes the same model for another.
 *
 * The first dimension of every input of two dimensions or more is set; declared shapes of all other
 * values are forgotten, for they would contradict. Constant targets of Reshape and Expand that name the
 * old batch are changed: the first number becomes the new batch, or "what is left" when none is. This is
 * right where the batch comes first throughout, as exporters write it; where it is not, inference on the
 * result finds shapes that contradict, and the caller says so.
 *
 * It works in place, on a model that was read for it. */
#ifndef REWRITE_REBATCH_H
#define REWRITE_REBATCH_H

#include "ir/graph.h"

assay_status rewrite_rebatch(ir_model *m, int64_t batch, assay_error *err);

#endif
