/* What serving a language model costs, as plain data: filled by study/language.c, read by reports. MACs,
 * FLOPs and bytes of prefill and decode are of the whole batch; decode figures are of one step, in which
 * every sequence gets one token.
 */
#ifndef PROFILE_LANGUAGE_H
#define PROFILE_LANGUAGE_H

#include "base/notes.h"
#include "ir/dtype.h"

enum { LANGUAGE_FORMATS = 24 };

/* Layers of one kind: MACs of QK and AV per query and key, and how many keys are seen at most. */
typedef struct language_attention {
    uint64_t layers;
    int64_t window;                     /* 0: all */
    uint64_t prefill_macs, decode_macs; /* per query and key, of one layer */
    uint64_t cache_elements;            /* per token, of one layer */
} language_attention;

typedef struct language_phase {
    uint64_t tokens; /* processed per sequence */
    int64_t context; /* tokens that are cached when it ends */
    uint64_t macs, flops, causal_macs, linear_macs, attention_macs;
    uint64_t weight_bytes, cache_bytes, activation_bytes, bytes;
    double arithmetic_intensity; /* FLOPs per byte */
    double experts_per_layer;    /* expected distinct ones; 0 without experts */
} language_phase;

typedef struct language_format {
    const char *name, *about;
    double bits; /* per weight, scales included */
    uint64_t bytes;
} language_format;

/* On a device by its roofline, in seconds. A phase is the longer of the linear layers' arithmetic and the
 * bytes of weights and activations, and the longer of attention's arithmetic and the bytes of the cache. */
typedef struct language_device {
    str id, name;
    const char *precision;                       /* whose peak is meant; "": the device has none */
    double first_token_s;                        /* the prefill, logits of the last token */
    double first_step_s, last_step_s, average_s; /* of decoding */
    double total_s;
    double tokens_per_s, prefill_tokens_per_s; /* of the whole batch; while decoding */
    double launch_s; /* of a step more, when every operator is a kernel of its own */
    const char *prefill_bound, *decode_bound; /* "compute" or "memory" */
    double memory_bytes;
    bool fits;
    int64_t largest_context, largest_batch; /* as in language_result */
} language_device;

/* Times on the engine; negative: not measured. */
typedef struct language_measured {
    bool done;
    double prefill_ms, first_step_ms, last_step_ms;
    double total_s; /* the prefill and all steps, from these three */
    double tokens_per_s, prefill_tokens_per_s;
    double prefill_tflops, decode_tflops; /* per second */
} language_measured;

typedef struct language_result {
    str model, family;
    int64_t prompt_tokens, generate, batch;
    const char *weight_dtype, *cache_dtype;
    uint64_t parameters, active_parameters, expert_parameters;
    uint64_t
        embedding_parameters; /* of which a token reads one row; 0 when the logits use them too */
    int64_t experts, experts_active;
    uint64_t head_macs;                               /* of the logits, per token */
    uint64_t prefill_linear_macs, decode_linear_macs; /* per token */
    language_attention attention[4];
    uint32_t n_attention;
    language_phase prefill, first, last, average;     /* steps of decoding */
    uint64_t decode_macs, decode_flops, decode_bytes; /* all steps */
    uint64_t prefill_macs_last_logits;           /* when only the last token's logits are made */
    uint64_t cache_elements_per_token;           /* while no window is full */
    uint64_t cache_bytes_per_token, cache_bytes; /* all: batch, at the end */
    uint64_t cache_bytes_without_windows;
    uint64_t weight_bytes, activation_peak_bytes, serve_bytes;
    double crossing_tokens, crossing_causal_tokens; /* attention equals linear; 0: never */
    uint64_t memory_limit;                          /* 0: not asked */
    int64_t largest_context, largest_batch;         /* -1: does not fit at all; INT64_MAX: any */
    language_format formats[LANGUAGE_FORMATS];
    uint32_t n_formats;
    str prefill_form, decode_form, cache_form; /* closed forms in B and S */
    uint64_t kernels;                          /* operators of a step that are no views */
    language_device *devices;
    uint32_t n_devices;
    language_measured measured;
    notes warnings;
} language_result;

#endif
