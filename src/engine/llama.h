/* llama.cpp as an engine for language models: a GGUF file is loaded, prompts are processed and tokens generated, and
 * each call is timed.
 *
 * It does not share the vtable of engine.h: its models are no graphs with tensors as inputs, but sequences of tokens
 * with a cache between the calls. The library runs in a process of its own, because ggml aborts on failed checks; an
 * abort is an error with ggml's words.
 *
 *     prefill    all prompt tokens of all sequences at once, with an empty cache; logits of the last token of each
 *     decode     one token of each sequence, with `depth` tokens in the cache of each before the first step
 *
 * Tokens are random. Nothing is sampled: the logits are computed and stay in the library's memory.
 */
#ifndef ENGINE_LLAMA_H
#define ENGINE_LLAMA_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { LLAMA_DEPTHS = 16 };

typedef struct llama_request {
    const char *library; /* or NULL: look for one */
    const char *model;   /* path */
    uint64_t prompt, generate, batch;
    int threads;
    uint64_t depths[LLAMA_DEPTHS]; /* tokens in the cache before decoding */
    uint32_t n_depths;
    int cache_type;            /* of ggml */
    int flash;                 /* LLAMA_FLASH_* */
    uint64_t warmups, repeats; /* of prefill, and of decoding at each depth */
    double duration_s;         /* repeats go on for at least so long */
    uint64_t seed;
    bool (*cancelled)(void *asks); /* may be NULL */
    void *asks;
} llama_request;

typedef struct llama_resident {
    uint64_t total, anon, file;
} llama_resident;

typedef struct llama_series {
    uint64_t depth; /* of decoding */
    const double *ms;
    uint32_t n;
    double wall_s, cpu_s; /* of all timed calls */
} llama_series;

typedef struct llama_answer {
    str version, library, system, description;
    uint64_t parameters, model_bytes, context;
    double library_ms, load_ms, context_ms;
    llama_resident before, loaded, ready, after; /* the library in use; the model; the context */
    uint64_t peak;
    /* As the library states its buffers; 0: not stated. */
    uint64_t model_buffer, cache_buffer, compute_buffer, output_buffer;
    uint64_t voluntary, involuntary, minor_faults, major_faults; /* of the whole process */
    llama_series prefill;
    llama_series decode[LLAMA_DEPTHS];
    uint32_t n_decode;
} llama_answer;

/* Everything is in the arena. ASSAY_ERR_ENGINE: no library, a file that it refuses, or an abort. For callers that have
 * no other threads. */
assay_status llama_measure(const llama_request *q, arena *a, llama_answer *out, assay_error *err);

#endif
