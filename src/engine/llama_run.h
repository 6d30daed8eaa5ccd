/* The part of llama.c that runs in a process of its own: loads the library, a model, a context, and times calls. */
#ifndef ENGINE_LLAMA_RUN_H
#define ENGINE_LLAMA_RUN_H

#include "base/json_write.h"
#include "base/rng.h"
#include "base/sbuf.h"
#include "engine/generate.h"
#include "engine/llama_api.h"

typedef struct llama_run_request {
    const generate_request *q; /* NULL: the library alone */
    const char *library;       /* or NULL: look for one */
    bool as_stored;            /* weights only in the layout of the file */
    bool aborted;              /* set when the library did */
    int words; /* a file in memory: gets what the library writes to its streams, such as the reason of an abort */
} llama_run_request;

/* Writes a JSON object: the answer, or {"error": ...}. */
void llama_run(void *request, sbuf *out);

/* ---- between its files ---- */

typedef struct llama_part { /* a buffer of weights */
    char name[64];
    double bytes;
} llama_part;

typedef struct llama_buffers { /* bytes */
    llama_part parts[GENERATE_PARTS];
    uint32_t n_parts;
    double cache, compute, output;
} llama_buffers;

struct llama_operators;

typedef struct llama_running {
    const generate_request *q;
    bool as_stored;
    llama_api api;
    llama_model *model;
    llama_context *context;
    llama_batch batch; /* room for LLAMA_CALL_TOKENS */
    int32_t vocab;
    rng rng;
    llama_buffers buffers;
    char complaint[512];               /* the first error that the library logged in this step */
    struct llama_operators *operators; /* or NULL: not timed */
    json_writer *out;
    assay_error *err;
} llama_running;

enum { LLAMA_CALL_TOKENS = 2048 };

/* An empty cache. */
void llama_clear(llama_running *r);
/* `n` tokens of every sequence after those at `from`, in as few calls as there may be. */
assay_status llama_put_tokens(llama_running *r, uint64_t from, uint64_t n);
/* Whether another repeat follows `done` of them, the first of which began at that time. */
bool llama_goes_on(const llama_running *r, uint64_t done, uint64_t begun_ns);

/* Sums over the calls of a series, and readings before the present ones. */
typedef struct llama_timing {
    double wall_s, cpu_s, waited_s, energy_j; /* the last two: NaN when not reported */
    double cpu_before_s, waited_before_s;
    uint64_t energy_before_uj;
} llama_timing;
void llama_series_begin(llama_running *r, uint64_t depth, llama_timing *t);
/* Between these two, calls count. */
void llama_calls_begin(llama_running *r, llama_timing *t);
void llama_calls_end(llama_running *r, llama_timing *t);
void llama_series_end(llama_running *r, const llama_timing *t);
/* Times llama_put_tokens() and adds it to the series. */
assay_status llama_time_tokens(llama_running *r, uint64_t from, uint64_t n, llama_timing *t);

/* ---- operators (llama_operators.c) ---- */

/* To be made before the context, which calls it. False: no memory. */
bool llama_operators_make(llama_running *r, llama_context_params *p);
/* Plain runs ("prefill") and runs with times of operators ("operators"). */
assay_status llama_operators_time(llama_running *r);

#endif
