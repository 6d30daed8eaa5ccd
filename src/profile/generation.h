/* Prefill and decode of a language model on llama.cpp: the list `generation` of a profile (profile_fields_generation.c),
 * filled by jobs/measure_llama.c. One item per quantisation, batch and context depth. */
#ifndef PROFILE_GENERATION_H
#define PROFILE_GENERATION_H

#include "profile/measured_stats.h"

typedef struct profile_generation {
    uint64_t batch; /* sequences at once */
    str precision;  /* "q4_0"; of a file: the type of most of its bytes */
    uint64_t prompt_tokens, generate, context_depth;
    uint64_t context; /* tokens that the cache was made for, of all sequences */
    str cache_dtype;
    const char *flash_attention; /* "auto", "on", "off" */
    bool random_weights;
    uint64_t parameters, model_bytes; /* of the loaded model, as the library counts them */
    /* Tokens per second of all sequences, with the 95 % interval of the mean time. NaN: not measured */
    double prefill_rate, prefill_low, prefill_high;
    double decode_rate, decode_low, decode_high;
    profile_stats first_token, token; /* ms of a prefill, and of a step of decoding */
    /* Achieved, of the means; shares of this machine's ceilings: NaN without them. */
    double prefill_gflops_per_s, prefill_percent_of_peak;
    double decode_gbytes_per_s, decode_percent_of_bandwidth;
    double predicted_first_token_ms, predicted_token_ms; /* roofline of this machine; NaN: none */
    double prefill_token_j, decode_token_j;              /* energy of a token; NaN: not reported */
    /* 0: not planned */
    uint64_t planned_weight_bytes, planned_cache_bytes, planned_compute_bytes, planned_output_bytes;
    /* Buffers as the library states them; 0: not stated. */
    uint64_t weight_bytes, cache_bytes, compute_bytes, output_bytes;
    uint64_t resident_weight_bytes; /* pages of files in memory, above the loaded library */
    uint64_t
        repacked_bytes; /* of weights that the library stores a second time, in the layout of its kernels */
    uint64_t resident_bytes; /* of the process at its highest, above the loaded library */
} profile_generation;

#endif
