/* The part of llama.c that runs in the process of its own. */
#ifndef ENGINE_LLAMA_RUN_H
#define ENGINE_LLAMA_RUN_H

#include "base/sbuf.h"
#include "engine/llama.h"

typedef struct llama_run_request {
    const llama_request *q;
    int words; /* a file in memory: gets what the library writes to its streams, such as the reason of an abort */
} llama_run_request;

/* Writes a JSON object: the answer, or {"error": ...}. */
void llama_run(void *request, sbuf *out);

#endif
