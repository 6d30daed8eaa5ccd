/* Part of re-batching: exporters write the state that a recurrence begins with as a constant of the batch that they
 * saw. Where it is the same for every sample it is made again for another batch. */
#ifndef REWRITE_REBATCH_STATE_H
#define REWRITE_REBATCH_STATE_H

#include "ir/graph.h"

/* From `old` to `batch` samples, in every recurrent node. What cannot be changed stays, and contradicts. */
assay_status rebatch_states(ir_model *m, int64_t old, int64_t batch, assay_error *err);

#endif
