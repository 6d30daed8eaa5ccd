/* The memory that llama.cpp allocates for a context, planned from the sizes of a model's tensors: KV cache, buffer of
 * activations ("compute buffer"), buffer of logits ("output buffer").
 *
 * The library reserves the compute buffer once, for a worst case: a micro-batch of min(context, n_ubatch) tokens that
 * fill the cache, with the logits of every token. The same graph is built here, operator by operator in the library's
 * order, and laid out as its allocator does (llama_alloc.h). What an operator is follows from the tensors of a block
 * (whether there is a gate, a router, a norm after attention, one matrix for queries, keys and values, ...); what does
 * not is a row of `families` in llama_plan.c. Tensors of less than a hidden state (weights of experts, sums, scales) are
 * left out. With flash attention no scores are stored; without it they are n_kv x tokens x heads of float32.
 *
 * Not planned: weights (they are in the file), what kernels use as scratch memory, and models whose blocks have
 * different numbers of heads.
 */
#ifndef ENGINE_LLAMA_PLAN_H
#define ENGINE_LLAMA_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { LLAMA_MICRO_BATCH = 512, LLAMA_CONTEXT_STEP = 256 };

/* A block: features of a token behind each of its tensors; 0: it has none. */
typedef struct llama_layer {
    uint64_t attn_norm, q, k, v, qkv, q_norm, k_norm;
    uint64_t q_a, q_b, kv_a, k_b, kv_b; /* attention by latents (DeepSeek) */
    uint64_t attn_post_norm, ffn_norm, ffn_post_norm;
    uint64_t up, gate, down_in; /* down_in: what the last matrix reads */
    uint64_t router, up_experts, gate_experts, up_shared;
} llama_layer;

typedef struct llama_shape {
    str architecture; /* general.architecture */
    uint64_t hidden, vocab, heads, heads_kv, head_k, head_v;
    uint64_t latent, rope, head_v_latent; /* of attention by latents, or 0 */
    uint64_t experts_used;
    uint64_t window; /* tokens that a layer with a sliding window sees, or 0 */
    uint64_t period; /* every so many layers one has none; 0: the family's */
    bool layer_norm, embedding_norm,
        positions; /* LayerNorm; a norm, a table behind the embedding */
    bool parallel; /* attention and feed-forward read the same */
    const llama_layer *layers;
    uint32_t n_layers;
} llama_shape;

typedef struct llama_sizes {
    uint64_t context;     /* tokens of all sequences */
    uint64_t micro_batch; /* 0: LLAMA_MICRO_BATCH */
    uint64_t sequences;
    uint64_t outputs; /* tokens of a call whose logits are kept; at least one per sequence */
    int cache_type;   /* of ggml */
    bool flash;       /* the CPU has it for every model, so that "auto" is on */
} llama_sizes;

typedef struct llama_memory_plan {
    uint64_t cache, compute, output; /* bytes */
} llama_memory_plan;

/* The arena is for work. ASSAY_ERR_UNSUPPORTED: an architecture whose graph is not known. */
assay_status llama_plan_memory(const llama_shape *m, const llama_sizes *s, arena *work,
                               llama_memory_plan *out, assay_error *err);

#endif
