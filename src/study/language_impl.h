/* Between language.c, language_graph.c and language_device.c: the facts of one graph of a language model. */
#ifndef STUDY_LANGUAGE_IMPL_H
#define STUDY_LANGUAGE_IMPL_H

#include "device/serving.h"
#include "study/language.h"

/* Tokens of the small prefill and of the past of the long one; layers that are looked at. */
enum { LANGUAGE_NEAR = 16, LANGUAGE_FAR = 1 << 20, LANGUAGE_LAYERS = 4096 };

typedef struct language_layer {
    uint64_t macs;       /* of QK and AV */
    int64_t kept;        /* tokens in its cache */
    uint64_t cache_dims; /* elements of key and value per token */
    uint64_t kv_heads;
} language_layer;

typedef struct language_graph {
    ir_dtype native; /* what the configuration says of numbers */
    uint64_t macs, flops, causal_macs, attention_macs, head_macs;
    uint64_t parameters, expert_parameters, embedding_parameters;
    bool own_head; /* the logits have their own weight */
    uint64_t activation_bytes, activation_peak_bytes, kernels;
    uint64_t native_bytes, native_expert_bytes; /* of the weights as published; experts of them */
    const char *native_type;                    /* of blocks, if most bytes are packed; or NULL */
    serving_pass products;                      /* of one token; those of experts are left out */
    double expert_layers, expert_macs;          /* MACs of one token */
    double vocabulary, hidden;                  /* of the logits */
    language_layer layers[LANGUAGE_LAYERS];
    uint32_t n_layers, n_caches;
} language_graph;

typedef struct language_asking {
    const language_settings *s;
    language_result *out;
    arena *arena;
    assay_error *err;
    ir_dtype weights, cache;
    uint64_t native_bytes, native_expert_bytes; /* 0: weights are in no packed type */
} language_asking;

/* A prefill of `tokens` (past 0), or one step after `past`. */
assay_status language_evaluate(const language_asking *q, int64_t tokens, int64_t past,
                               bool with_memory, language_graph *g);

#endif
