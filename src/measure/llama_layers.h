/* Times of layers from the operators that llama.cpp timed; see llama_layers.c. */
#ifndef MEASURE_LLAMA_LAYERS_H
#define MEASURE_LLAMA_LAYERS_H

#include "base/vec.h"
#include "engine/generate.h"
#include "profile/profile.h"

typedef struct llama_layers_request {
    const generate_answer *answer;
    str patterns; /* of layers, or empty */
    /* The name that a tensor of the file has in the checkpoint, which layers are named by; empty: unknown. */
    str (*checkpoint)(const void *ctx, str tensor);
    const void *ctx;
    arena *work;
} llama_layers_request;

/* Fills time_ms of the layers of p, and the ledger of p->measured. */
assay_status llama_layers_fill(const llama_layers_request *of, profile *p, assay_error *err);

#endif
