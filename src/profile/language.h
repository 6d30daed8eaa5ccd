/* The cost of serving a language model: the result "assay.pipeline/1" of kind "language" (language_fields.c), filled
 * by study/language.c. MACs, FLOPs and bytes of prefill and decode are of the whole batch; decode figures are of one
 * step, in which every sequence gets one token. Members that end in _str are formatted numbers; language_settle()
 * computes them and the other derived members.
 */
#ifndef PROFILE_LANGUAGE_H
#define PROFILE_LANGUAGE_H

#include "base/notes.h"
#include "base/result.h"
#include "ir/dtype.h"

enum {
    LANGUAGE_FORMATS = 24,
    LANGUAGE_ATTENTIONS = 4,
    LANGUAGE_USERS = 32,
    LANGUAGE_SWEEPS = 8,
    LANGUAGE_VALUES = 32
};

/* Layers of one kind: MACs of QK and AV per query and key, and how many keys are seen at most. */
typedef struct language_attention {
    uint64_t layers;
    int64_t window;                     /* 0: all */
    uint64_t prefill_macs, decode_macs; /* per query and key, of one layer */
    uint64_t cache_elements;            /* per token, of one layer */
    uint64_t kv_heads;                  /* of the cache */
} language_attention;

typedef struct language_phase {
    uint64_t tokens; /* processed per sequence */
    int64_t context; /* tokens that are cached when it ends */
    uint64_t macs, flops, causal_macs, linear_macs, attention_macs;
    uint64_t weight_bytes, cache_bytes, activation_bytes, bytes;
    str macs_str, flops_str, bytes_str;
    double arithmetic_intensity; /* FLOPs per byte */
    double experts_per_layer;    /* expected distinct ones; 0 without experts */
} language_phase;

typedef struct language_format {
    const char *name, *about;
    double bits; /* per weight, scales included */
    uint64_t bytes;
} language_format;

/* Limits on percentiles of what users see. */
typedef struct language_limit {
    const char *metric; /* "latency", "ttft", "itl" */
    double percentile;  /* 99 */
    double limit_ms;
} language_limit;

enum { LANGUAGE_LIMITS = 8 };
typedef struct language_slo {
    bool present;
    str text; /* as given */
    language_limit limits[LANGUAGE_LIMITS];
    uint32_t n_limits;
} language_slo;

/* Requests of so many users at once, each sending the next when one ends (device/serving.h). */
typedef struct language_users {
    int64_t users, running; /* running: the others wait for memory */
    double ttft_ms, ttft_low_ms, ttft_high_ms;
    double itl_ms, itl_low_ms, itl_high_ms; /* between tokens */
    double latency_ms;                      /* of a whole request */
    double ttft_p99_ms, itl_p99_ms, latency_p99_ms;
    double tokens_per_s, requests_per_s, tokens_per_s_user;
    bool has_slo, within_slo;
} language_users;

/* On a device: the time that servers are expected to need, its 80 % interval, and the roofline as the limit. A phase of
 * the roofline is the longer of the linear layers' arithmetic and the bytes of weights and activations, and the longer of
 * attention's arithmetic and the bytes of the cache. */
typedef struct language_device {
    str id, name;
    bool fits;
    const char *verdict; /* map_verdict() */
    uint64_t memory_bytes;
    int64_t largest_context, largest_batch; /* as in language_result */
    const char *precision; /* whose peak is meant; NULL: the device has none, and no times */
    const char *basis;     /* "measured", "class" */
    str engine;            /* whose rows the expectation rests on */
    double first_token_ms, first_token_low_ms, first_token_high_ms; /* logits of the last token */
    double average_ms, average_low_ms, average_high_ms;             /* of decoding */
    double first_step_ms, last_step_ms;
    double first_token_limit_ms, average_limit_ms;
    double launch_ms; /* of a step more, when every operator is a separate kernel */
    double total_s;
    double tokens_per_s, prefill_tokens_per_s; /* of the whole batch; while decoding */
    const char *prefill_bound, *decode_bound;  /* "compute" or "memory" */
    bool imprecise, tie; /* the interval spans more than a factor of two; overlaps the best one's */
    int64_t most_running; /* sequences of this length that the memory holds at once */
    language_users *users;
    uint32_t n_users;
    language_users best; /* the most users within the objectives */
    bool has_best;
} language_device;

typedef struct language_point {
    int64_t value;
    str device; /* empty: none was named */
    int64_t prompt_tokens, generate, batch;
    uint64_t prefill_macs, total_macs, cache_bytes, serve_bytes;
    double relative;     /* total MACs over those of the first value */
    const char *verdict; /* NULL: no memory is known */
    double ttft_ms, ttft_low_ms, ttft_high_ms, itl_ms, itl_low_ms, itl_high_ms, tokens_per_s;
} language_point;

typedef struct language_sweep {
    const char *over; /* "batch", "context", "prompt", "generate" */
    language_point *points;
    uint32_t n;
} language_sweep;

/* Times on the engine. */
typedef struct language_measured {
    bool present;
    double prefill_ms, first_step_ms, last_step_ms;
    double step_ms; /* the mean of the two */
    double total_s; /* the prefill and all steps, from these three */
    double tokens_per_s, prefill_tokens_per_s;
    double prefill_tflops, decode_tflops; /* per second */
} language_measured;

typedef struct language_result {
    str conclusion;   /* one or two sentences: result_conclude() */
    const char *kind; /* "language" */
    bool enabled;     /* false: profiling was switched off and nothing but the model is filled */
    str model, family;
    int64_t prompt_tokens, generate, batch;
    int64_t tokens; /* of a sequence in the end */
    const char *weight_dtype, *cache_dtype;
    const char *compute_dtype; /* of activations */
    double linear_weight_bits, expert_weight_bits;
    uint64_t parameters, active_parameters, expert_parameters;
    str parameters_str, active_parameters_str;
    uint64_t
        embedding_parameters; /* of which a token reads one row; 0 when the logits use them too */
    bool has_experts;
    int64_t experts, experts_active;
    uint64_t head_macs;                               /* of the logits, per token */
    uint64_t prefill_linear_macs, decode_linear_macs; /* per token */
    language_attention attention[LANGUAGE_ATTENTIONS];
    uint32_t n_attention;
    language_phase prefill, first, last, average;     /* steps of decoding */
    uint64_t decode_macs, decode_flops, decode_bytes; /* all steps */
    str decode_macs_str, decode_flops_str, decode_bytes_str;
    uint64_t total_macs, total_flops; /* prefill and decode */
    str total_macs_str, total_flops_str;
    uint64_t prefill_macs_last_logits;           /* when only the last token's logits are made */
    uint64_t cache_elements_per_token;           /* while no window is full */
    uint64_t cache_bytes_per_token, cache_bytes; /* all: batch, at the end */
    uint64_t cache_bytes_without_windows;
    str cache_bytes_per_token_str, cache_bytes_str;
    uint64_t weight_bytes, activation_peak_bytes, serve_bytes;
    str weight_bytes_str, activation_peak_bytes_str, serve_bytes_str;
    double crossing_tokens, crossing_causal_tokens;       /* attention equals linear; 0: never */
    uint64_t attention_exceeds, attention_exceeds_causal; /* the same as whole tokens, rounded up */
    uint64_t memory_limit;                                /* 0: not asked */
    bool has_limit, fits;
    const char *verdict; /* map_verdict() on the limit; NULL: not asked */
    /* The most tokens per sequence and sequences that the limit holds. INT64_MIN: any number where it fits, none where it
     * does not. */
    int64_t largest_context, largest_batch;
    language_format formats[LANGUAGE_FORMATS];
    uint32_t n_formats;
    const char *form_variables;
    str prefill_form, decode_form, cache_form; /* closed forms in B and S */
    uint64_t kernels;                          /* operators of a step that are no views */
    language_device *devices;
    uint32_t n_devices;
    language_slo slo;
    language_sweep *sweeps;
    uint32_t n_sweeps;
    language_measured measured;
    notes warnings;
} language_result;

/* Fills what follows from other members; false if out of memory (pipeline_settle.c). */
bool language_settle(language_result *r, arena *a);

extern const result_kind language_kind;

#endif
