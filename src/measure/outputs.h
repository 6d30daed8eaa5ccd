/* Outputs of a run, kept for saving or for comparison with another run: the error of a model at another precision.
 * Only floating-point outputs are compared; integers (classes, counts of boxes) have no distance. */
#ifndef MEASURE_OUTPUTS_H
#define MEASURE_OUTPUTS_H

#include "base/error.h"
#include "engine/engine.h"
#include "profile/measured.h"

typedef struct output_copy {
    char *name;
    ir_dtype dtype;
    uint64_t n, size_bytes;
    void *data; /* NULL: not kept, as it is no tensor of numbers */
    int rank;
    int64_t *dims;
} output_copy;

typedef struct output_set {
    output_copy *items; /* in the session's order */
    uint32_t n;
} output_set;

/* Runs the job once and copies its outputs. *out is freed by outputs_free() in any case. */
assay_status outputs_take(engine_session *s, engine_job *job, output_set *out, assay_error *err);
void outputs_free(output_set *s);

/* Of all outputs that both have with as many elements, taken as one vector. Elements that are not finite
 * on either side are counted apart and left out. out->present is false when nothing could be compared. */
void outputs_compare(const output_set *reference, const output_set *other,
                     profile_output_error *out);

/* What an application does with the answer of a classifier: softmax, and the five classes that it gives
 * most. False when the first output is none: floating point, batch × classes. */
#define OUTPUTS_TOP 5
typedef struct output_class {
    uint64_t index;
    double probability;
} output_class;
bool outputs_classify(const output_set *s, uint64_t batch, uint64_t sample,
                      output_class top[OUTPUTS_TOP]);

/* Milliseconds that it takes for the whole batch, the shortest of some times; negative when it is no classifier. */
double outputs_time_classify(const output_set *s, uint64_t batch);

#endif
