/* Raising: a node at an old opset takes the form that it has at a newer one. The walk, its failures and the
 * parts are those of the lowering (rewrite/lower_impl.h); one row per operator and version in raise.c.
 */
#ifndef REWRITE_RAISE_H
#define REWRITE_RAISE_H

#include "rewrite/lower_impl.h"

/* Older forms are not known: broadcasting was an attribute, and engines promise nothing either. */
#define RAISE_OLDEST 7

/* x->node from its version to x->target, into its graph. versions: of its operator. */
assay_status raise_node(lowering *x, const char *versions, int from);

/* The model as it was, in x->scratch, and back to it: who cannot raise a model can still use it. */
typedef struct raise_copy raise_copy;
raise_copy *raise_keep(lowering *x);
void raise_undo(lowering *x, const raise_copy *c);

/* Leaves the outputs behind the first away; `why` is the failure when one of them is read. */
assay_status raise_one_output(lowering *x, const char *why);

/* ---- steps ---- */
lower_fn raise_axes, raise_split_13, raise_split_18, raise_slice, raise_top_k, raise_clip,
    raise_pad_11, raise_dropout_10, raise_dropout_12, raise_batch_norm_9, raise_batch_norm_14,
    raise_softmax, raise_upsample_9, raise_upsample_10, raise_resize_11, raise_resize_13,
    raise_roi_align, raise_grid_sample, raise_scatter; /* raise_form.c */

#endif
