/* Decoders with RMS norms, rotary positions and gated MLPs: what a member of the family differs
 * in. */
#ifndef ZOO_LLAMA_H
#define ZOO_LLAMA_H

#include "zoo/lm_head.h"

typedef enum lm_windows { /* which layers have the sliding window */
                          LM_NO_WINDOW,
                          LM_ALL_WINDOWS,
                          LM_LATE_WINDOWS, /* from max_window_layers on, with use_sliding_window */
                          LM_EVEN_WINDOWS, /* every second, beginning with the first */
                          LM_MOSTLY_WINDOWS, /* all but every sliding_window_pattern-th */
} lm_windows;

typedef enum lm_experts { LM_DENSE, LM_MIXTRAL, LM_QWEN_MOE, LM_GPT_OSS } lm_experts;

typedef struct lm_trait {
    const char *model_type;
    lm_windows windows;
    lm_experts experts;
    bool qkv_bias;   /* q, k and v have a bias, the output has none */
    bool head_norms; /* q_norm and k_norm over a head */
    bool wide_norms; /* q_norm and k_norm over all heads */
    bool plus_one;   /* norms multiply by 1 + weight; embeddings by sqrt(width) */
    bool sandwich;   /* norms before and after each half of a layer */
    bool after_only; /* norms only after */
    bool no_weights; /* LayerNorm without weights */
    bool fused;      /* qkv_proj and gate_up_proj */
    bool sinks;
    bool tied;
} lm_trait;

typedef struct lm {
    const lm_trait *is;
    int64_t vocab, width, layers, heads, kv_heads, head, inner, window;
    double eps, scale, softcap;
    bool attention_bias, mlp_bias;
    str act;
    hf_rope rope, local_rope;
} lm;

/* The MLP of layer i: dense or experts, in the scope of the layer (llama_moe.c). */
nn_t lm_feed_forward(nn *b, nn_t x, const lm *m, int64_t i);

#endif
