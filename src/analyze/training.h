/* What a training step costs: the backward pass by each operator's own rule, what it must keep from
 * the forward pass, and weights + gradients + optimiser states for the usual optimisers.
 *
 * Only what a gradient flows through counts: a value needs one when a parameter feeds it, so the first
 * convolution computes no gradient for the image.
 */
#ifndef ANALYZE_TRAINING_H
#define ANALYZE_TRAINING_H

#include "analyze/count.h"

/* Fills p->training and the layers' backward_ and saved_ fields. */
assay_status training_run(infer_result *r, const counted *of, profile *p, assay_error *err);

#endif
