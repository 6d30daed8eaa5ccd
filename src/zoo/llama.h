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

typedef enum lm_experts { LM_DENSE, LM_MIXTRAL, LM_QWEN_MOE, LM_OLMOE, LM_GPT_OSS } lm_experts;
typedef enum lm_norms {
    LM_RMS,
    LM_RMS_PLUS_ONE, /* by 1 + weight; embeddings are multiplied by sqrt(width) */
    LM_LN,           /* LayerNorm with weight and bias */
    LM_LN_WEIGHT,    /* without bias */
    LM_LN_PLUS_ONE,  /* by 1 + weight, with bias */
    LM_LN_BARE,      /* without weights */
} lm_norms;
typedef enum lm_mlp {
    LM_GATED,
    LM_FUSED, /* gate_up_proj */
    LM_PLAIN, /* up, activation, down */
} lm_mlp;

enum { HF_EACH_HEAD = 256 };

typedef struct lm_trait {
    const char *model_type;
    lm_windows windows;
    int64_t pattern; /* of LM_MOSTLY_WINDOWS: every so many-th layer sees all */
    lm_experts experts;
    lm_norms norms;
    lm_mlp mlp;
    const char *up, *down;       /* names of a plain MLP */
    const char *qkv_bias;        /* the key of a bias of q, k and v that the output has not */
    const char *all_bias;        /* the key of the biases of everything */
    bool biased;                 /* its default */
    bool shared;                 /* an expert that all tokens take */
    bool head_norms;             /* q_norm and k_norm over a head */
    bool wide_norms;             /* q_norm and k_norm over all heads */
    const char *each_head_norms; /* the key of norms with a weight per head */
    bool sandwich;               /* norms before and after each half of a layer */
    bool after_only;             /* norms only after */
    bool glm_norms;              /* the sandwich under other names */
    bool parallel;               /* attention and MLP side by side */
    bool maybe_parallel;         /* by use_parallel_residual */
    bool fused;                  /* qkv_proj */
    bool sinks;
    bool tied;
    bool local_rope;      /* windows turn with a separate frequency */
    bool rope_in_windows; /* and full layers do not turn */
    bool skips_rope;      /* some layers do not turn: no_rope_layers */
    bool interleaved;     /* neighbours turn together */
    double rope_part;     /* of a head; 0: all */
    bool multipliers;     /* Granite: of embeddings, scores, residuals and logits */
    bool logit_scale;
    bool images; /* the text is in text_config, and an image may stand before it (gemma3.c) */
} lm_trait;

typedef struct lm {
    const lm_trait *is;
    int64_t vocab, width, layers, heads, kv_heads, head, inner, window;
    double eps, scale, softcap, residual;
    bool qkv_bias, out_bias, mlp_bias, parallel;
    str act;
    hf_rope rope, local_rope;
} lm;

void lm_build(nn *b);
/* The tokens of an image [B, tokens, width]; put in place of the first of x; and how many tokens a prompt
 * with one has unless given (gemma3.c). */
nn_t gemma3_images(nn *b, int64_t width);
nn_t gemma3_join(nn *b, nn_t x, nn_t images);
int64_t gemma3_seq_len(nn *b);
/* The MLP of layer i: dense or experts, in the scope of the layer (llama_moe.c). */
nn_t lm_feed_forward(nn *b, nn_t x, const lm *m, int64_t i);

#endif
