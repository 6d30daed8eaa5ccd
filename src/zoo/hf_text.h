/* What text transformers share: ids, masks and key/value caches, rotary positions, attention in
 * all its forms, gated MLPs, mixtures of experts, heads.
 *
 * A decoder is built for a prefill of seq_len tokens (128); with past=N it is one step after N
 * tokens: inputs past_key_values.L.key and .value of [B, kv heads, N, head size], outputs
 * present.L.key and .value, as optimum exports them. A sliding window keeps at most window-1
 * tokens in its cache.
 *
 * Weights bear the names of the checkpoint. Those of linear layers on [B, S, F] are [in, out] and
 * marked IR_VALUE_TRANSPOSED; experts are stacked under "experts.*.gate_proj.weight" of
 * [experts, in, out], where the star stands for the number of the expert.
 */
#ifndef ZOO_HF_TEXT_H
#define ZOO_HF_TEXT_H

#include "zoo/hf.h"
#include "zoo/nn_tokens.h"

enum { HF_BIASES = 4 };

typedef struct hf_text {
    nn *b;
    nn_t ids, mask; /* [B, S]; [B, past + S], id IR_NONE: all are seen */
    int64_t batch, seq, past;
    bool causal;
    bool written_out; /* attention is not one operator: the mask must hide later tokens too */
    struct {
        int64_t window, keys;
        nn_t bias;
    } biases[HF_BIASES];
    int n_biases;
} hf_text;

/* input_ids and attention_mask: seq_len tokens, 128 unless the model knows fewer positions (`most`, 0:
 * any). */
hf_text hf_text_input(nn *b, bool causal, int64_t most);
/* The same of a decoder, seq_len being `usual` unless given. */
hf_text hf_text_prompt(nn *b, int64_t usual);
/* decoder_input_ids of decoder_seq_len tokens, as many as the source's; one input_ids after a
 * past. */
hf_text hf_text_target(nn *b, const hf_text *source);
/* 0 .. n-1 plus `from`, as int64 [n]: rows of a position embedding of `rows` rows. */
nn_t hf_positions(nn *b, int64_t from, int64_t n, int64_t rows);
/* The values of an embedding, and its weight for a tied head. */
nn_t hf_embed(nn *b, const char *name, nn_t ids, int64_t n, int64_t dim, nn_t *weight);
/* x * W^T (+ bias) with a weight of [out, in] that exists already. */
nn_t hf_tied(nn *b, const char *name, nn_t x, nn_t weight, nn_t bias);
/* A linear layer whose checkpoint holds [in, out] (GPT-2's Conv1D). */
nn_t hf_conv1d(nn *b, const char *name, nn_t x, int64_t out);
/* "gelu", "gelu_new", "quick_gelu", "silu", "relu", "tanh", ... */
nn_t hf_act(nn *b, const char *name, nn_t x, str word);
/* [B, S, kv * (heads/kv + 2) * dim], where the queries of a group stand before its key and value,
 * to q of [B, heads, S, dim], k and v of [B, kv, S, dim]. */
void hf_fused_heads(nn *b, nn_t x, int64_t heads, int64_t kv_heads, nn_t out[3]);
/* Splits the last dim into parts of these sizes. */
void hf_parts(nn *b, const char *name, nn_t x, int n, const int64_t *sizes, nn_t *out);
/* RMSNormalization by 1 + weight (Gemma). */
nn_t hf_rms_plus_one(nn *b, const char *name, nn_t x, double eps);
/* gate_proj, up_proj, down_proj. */
nn_t hf_gated_mlp(nn *b, nn_t x, int64_t inner, bool bias, str act);

/* ForQuestionAnswering: scores of every token to be the first and the last of the answer, as outputs. */
void hf_answers(nn *b, nn_t x);

/* ---- attention ---- */

typedef struct hf_attention {
    int layer;
    int64_t window; /* 0: none */
    double scale;   /* 0: 1/sqrt(head size) */
    double softcap; /* 0: none */
    nn_t bias;  /* added to the scores instead of the mask (which it holds); id IR_NONE: the mask */
    nn_t sinks; /* [heads]: one more score in every softmax; id IR_NONE: none */
} hf_attention;
#define HF_ATTENTION(...) (&(hf_attention){.bias = NN_ABSENT, .sinks = NN_ABSENT, __VA_ARGS__})

/* What is added to the scores, [B, 1, 1 or S, keys]: made once, where it is first asked for. */
nn_t hf_mask(hf_text *t, int64_t window);
/* x [B, kv, S, D] behind the cached ones; `what` is "key" or "value". */
nn_t hf_cache(hf_text *t, int layer, const char *what, nn_t x, int64_t window);
/* What a step of a decoder has kept of the encoder: past_key_values.L.encoder.key of [B, heads, S,
 * size], S being the source's. */
nn_t hf_kept_heads(hf_text *t, int layer, const char *what, int64_t heads, int64_t size);
/* q of [B, H, S, D], k and v with their past: [B, H, S, Dv], and the same as [B, S, H*Dv]. */
nn_t hf_attend_heads(hf_text *t, nn_t q, nn_t k, nn_t v, const hf_attention *a);
nn_t hf_attend(hf_text *t, nn_t q, nn_t k, nn_t v, const hf_attention *a);

/* A bias of the scores by how far a key is, from a table of a row per bucket of distances: [1, heads, S, past + S].
 * Near distances have a bucket each, far ones share them by their logarithm. */
typedef struct hf_buckets {
    const char *table;
    int64_t buckets, farthest, heads;
    bool both_ways; /* later keys have buckets of their own */
} hf_buckets;
nn_t hf_relative_bias(const hf_text *t, const hf_buckets *by);

/* ---- rotary positions (hf_rope.c) ---- */

typedef struct hf_rope {
    nn_t cos, sin; /* [B, S, dim/2] */
    int64_t dim, head;
    bool interleaved;
} hf_rope;
/* `head` is the size of a head, `dim` the part that turns; theta and scaling are read from the
 * config (rope_parameters, or rope_theta and rope_scaling). */
hf_rope hf_rope_make(const hf_text *t, int64_t head, int64_t dim, double theta, bool scaled);
nn_t hf_rope_turn(nn *b, const char *name, nn_t x, const hf_rope *r);
/* The object that says how rotation is scaled, as a place to look up. */
hf hf_rope_scaling(nn *b);
/* 0.1 * mscale * ln(factor) + 1, 1 for factors of at most 1. */
double hf_rope_mscale(double factor, double mscale);

/* ---- mixtures of experts (hf_moe.c) ---- */

typedef struct hf_moe {
    int64_t experts, active, inner;
    const char *router;           /* "gate" */
    const char *gate, *up, *down; /* "experts.*.gate_proj.weight" */
    bool router_bias;
    bool normalize;    /* the chosen weights add up to 1 */
    bool softmax_last; /* softmax over the chosen ones only */
    bool sigmoid;      /* DeepSeek-V3: sigmoid, chosen with e_score_correction_bias */
    bool interleaved;  /* gpt-oss: gate and up in turn in one weight with a bias, clamped */
    int64_t groups, top_groups; /* experts are chosen from the best groups; 0: from all */
    double scale;               /* of the chosen weights; 0: 1 */
    str act;
} hf_moe;
/* x [B, S, H]: every token takes the weights of its `active` experts, so MACs are those of the
 * active. */
nn_t hf_mixture(nn *b, nn_t x, const hf_moe *m);

#endif
