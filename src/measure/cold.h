/* Cold starts: the engine is loaded, a session made and the model run once, each time in a separate process, which is
 * a copy of this one from before it loaded the engine. Files stay in the system's cache: what is cold is the process. */
#ifndef MEASURE_COLD_H
#define MEASURE_COLD_H

#include "measure/inputs.h"
#include "profile/profile.h"

typedef struct cold_request {
    engine_model model;
    engine_options options;
    const input_want *wants;
    uint32_t n_wants;
    uint64_t seed;
    uint32_t starts;
    assay_status (*open)(void *ctx, engine **out, assay_error *err); /* in the new process */
    bool (*cancelled)(void *ctx);
    void *ctx;
} cold_request;

/* Fills the parts of *out; texts and samples are in the arena of p. */
assay_status cold_measure(const cold_request *q, profile *p, profile_cold *out, assay_error *err);

#endif
