/* The cost of a training step: the backward pass by each operator's rule, the saved activations of the forward pass,
 * and weights, gradients and states of common optimisers.
 *
 * Only what a gradient flows through counts: a value needs one when a parameter feeds it, so the first
 * convolution computes no gradient for the image.
 */
#ifndef ANALYZE_TRAINING_H
#define ANALYZE_TRAINING_H

#include "analyze/count.h"

typedef struct training_back { /* of one layer, all its runs */
    uint64_t macs, flops;
    uint64_t saved_bytes; /* kept from the forward pass, in float32 */
} training_back;

typedef struct trainer {
    infer_result *r;
    const counted *of;
    uint8_t *needs;          /* [n_values] a gradient flows through it */
    uint8_t *kept;           /* [n_values] already counted as saved */
    training_back load_time; /* of the work on weights alone: training repeats it in every step */
} trainer;

/* False if out of memory. */
bool training_begin(trainer *x, infer_result *r, const counted *of);
/* Steps in their order, each with what its forward pass costs. */
training_back training_step(trainer *x, uint32_t step, uint64_t flops, uint64_t macs);

/* The memory of a step with an optimiser of p->training ("adamw"), activations included; 0: not there. */
uint64_t training_bytes(const profile_training *t, const char *optimizer);

/* Fills p->training and the layers' backward_ and saved_ fields. */
assay_status training_run(infer_result *r, const counted *of, profile *p, assay_error *err);

#endif
