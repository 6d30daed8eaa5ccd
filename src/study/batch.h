/* The batch dimension of a model's inputs: one rule for all code that reads, changes or divides by a batch size.
 *
 * Names come first: a dimension that is called "batch" is one. Without a name the model is tried: the first
 * dimension of its inputs is set to a prime that the model has nowhere else, and where the prime turns up tells
 * what the dimension is (analyze/batch_trace.h). A channel contradicts a weight at once, time is walked along by a
 * recurrence or squared by attention: then the second dimension is tried in its place. What is left has no batch:
 * a run is one sample.
 */
#ifndef STUDY_BATCH_H
#define STUDY_BATCH_H

#include "analyze/infer.h"
#include "profile/profile.h"

typedef enum batch_certainty {
    BATCH_ASSUMED, /* nothing speaks for or against it: by place */
    BATCH_LIKELY,  /* by the layout; the graph takes no other size, so that it cannot be tried */
    BATCH_TRIED,   /* another size was followed through the graph */
    BATCH_NAMED,   /* the file calls it so */
    BATCH_BUILT,   /* the architecture is built here, with the batch first */
} batch_certainty;
const char *batch_certainty_name(batch_certainty c);

typedef struct batch_rule {
    const int *axes; /* [inputs] as infer_options.batch_axes; NULL: the first dimension of all */
    uint32_t n;
    bool present;  /* some input has one */
    bool image;    /* there is none, and the input is one image */
    int64_t fixed; /* the size that the file fixes; -1: it is open, or there is none */
    batch_certainty certainty;
    str why; /* a clause: "dimension 0 of 'x' is called 'batch'" */
} batch_rule;

typedef struct batch_question {
    const ir_model *model;
    infer_options shapes; /* the other sizes */
    /* A second copy of the model, which is changed; NULL: there is none to be had. */
    assay_status (*again)(void *ctx, ir_model **out, assay_error *err);
    void *ctx;
} batch_question;

/* Into the arena. Fails only where memory or a file does. */
assay_status batch_find(const batch_question *q, arena *a, batch_rule *out, assay_error *err);

/* The dimension of an input, of this rank, that is the batch; -1: it has none. */
int batch_axis(const batch_rule *b, uint32_t input, int rank);

/* Sets the profile, whose inputs are known. */
void batch_describe(const batch_rule *rule, profile *p);

#endif
