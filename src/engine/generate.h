/* Language models that an engine runs by tokens: prompts are processed, tokens generated, and each call is timed. The
 * part of the vtable (engine_impl.h) for engines whose models are no graphs with tensors as inputs, but sequences of
 * tokens with a cache between the calls.
 *
 *     prefill    all prompt tokens of all sequences at once, with an empty cache; logits of the last token of each
 *     decode     one token of each sequence, with `depth` tokens in the cache of each before the first step
 *     operators  as prefill, with the logits of every token: plain runs (prefill) and runs in which the engine times
 *                each operator, in turn
 *
 * Tokens are random. Nothing is sampled: the logits are computed and stay in the engine's memory.
 */
#ifndef ENGINE_GENERATE_H
#define ENGINE_GENERATE_H

#include "engine/engine.h"
#include "engine/trace.h"

enum { GENERATE_DEPTHS = 16, GENERATE_PARTS = 8 };

/* Readings of the machine, taken in the process that runs the model; all may be NULL. */
typedef struct generate_probes {
    uint64_t (*energy_uj)(const char *root);                                      /* a counter */
    double (*energy_between)(const char *root, uint64_t from_uj, uint64_t to_uj); /* J */
    double (*waited_s)(const char *root); /* ready, and without a CPU */
    const char *root;                     /* of both: "", or a folder that stands for "/" */
} generate_probes;

typedef struct generate_request {
    const char *model; /* path */
    uint64_t prompt, generate, batch;
    int threads;
    uint64_t depths[GENERATE_DEPTHS]; /* tokens in the cache before decoding */
    uint32_t n_depths;
    int cache_type;            /* of ggml */
    int flash;                 /* LLAMA_FLASH_* */
    uint64_t warmups, repeats; /* of prefill, and of decoding at each depth */
    double duration_s;         /* repeats go on for at least so long */
    uint64_t seed;
    bool operators; /* prefill and operators, no decoding */
    generate_probes probes;
    bool (*cancelled)(void *asks); /* may be NULL */
    void *asks;
} generate_request;

typedef struct generate_resident {
    uint64_t total, anon, file;
} generate_resident;

typedef struct generate_series {
    uint64_t depth; /* of decoding */
    const double *ms;
    uint32_t n;
    double wall_s, cpu_s;      /* of all timed calls */
    double waited_s, energy_j; /* of the same; NaN: not reported */
} generate_series;

/* A buffer of weights, by the engine's own name. */
typedef struct generate_part {
    str name;
    uint64_t bytes;
    bool copy; /* of weights that another buffer has already, in another layout */
} generate_part;

typedef struct generate_answer {
    str system, description;
    uint64_t parameters, model_bytes, context;
    double load_ms, context_ms;
    generate_resident before, loaded, ready, after; /* the library in use; the model; the context */
    uint64_t peak;
    /* As the engine states its buffers; 0: not stated. */
    generate_part parts[GENERATE_PARTS]; /* of the weights */
    uint32_t n_parts;
    bool as_stored; /* no copies, because the engine aborted with them */
    uint64_t cache_buffer, compute_buffer, output_buffer;
    uint64_t voluntary, involuntary, minor_faults, major_faults; /* of the whole process */
    generate_series prefill;
    generate_series decode[GENERATE_DEPTHS];
    uint32_t n_decode;
    trace operators;
    const str *weights; /* [nodes of operators] the tensor of weights that each reads, or empty */
} generate_answer;

/* Tokens that the cache must have room for, of all sequences. */
uint64_t generate_context(const generate_request *q);

/* Everything is in the arena. ASSAY_ERR_UNSUPPORTED: the engine has no such models; ASSAY_ERR_ENGINE: a file that it
 * refuses, or an abort. For callers that have no other threads. */
assay_status engine_generate(engine *e, const generate_request *q, arena *a, generate_answer *out,
                             assay_error *err);

#endif
