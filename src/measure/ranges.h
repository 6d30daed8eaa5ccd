/* Ranges of values in runs of a model that has them as outputs or inputs, for quantisation. The model is run on the
 * given or generated inputs, without optimisations that would fuse the values away. */
#ifndef MEASURE_RANGES_H
#define MEASURE_RANGES_H

#include "measure/inputs.h"

typedef struct named_range {
    str name;
    float min, max; /* of the finite numbers; min above max: there were none */
} named_range;

typedef struct ranges_request {
    engine *engine;
    const char *path; /* of the model */
    const input_want *wants;
    uint32_t n_wants;
    uint64_t seed;
    uint32_t runs; /* each with other random inputs; one if all are given */
    named_range *ranges;
    uint32_t n;
} ranges_request;

assay_status ranges_measure(const ranges_request *q, assay_error *err);

#endif
