/* The geometry that every attention operator comes down to, and its cost. The arithmetic is that of
 * op_attention_cost(); here are the lengths: what is new, what comes from a cache, and what must be
 * assumed when a cache is a buffer of fixed size.
 */
#ifndef OPS_OP_UTIL_MS_ATTN_H
#define OPS_OP_UTIL_MS_ATTN_H

#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"

/* Any of the sizes may be -1: unknown. */
typedef struct ms_attn {
    int64_t batch, heads, kv_heads;
    int64_t queries; /* tokens that ask, per sequence */
    int64_t fresh;   /* keys that are new in this call */
    int64_t past;    /* keys that come from the cache */
    int64_t total;   /* keys there are: past + fresh */
    int64_t head, v_head;
    int64_t buffer; /* length of a cache that past and present share; -1: they are separate */
    int64_t window; /* keys a query sees at most; -1: all */
    bool causal, softcap;
    int per_score;       /* masks and biases added to each score */
    const char *assumed; /* what had to be assumed about the lengths, or NULL */
} ms_attn;

/* Everything unknown, nothing masked. */
void ms_attn_init(ms_attn *a);
/* Sets past, total (and buffer) from the cache's length `cached` (0: no cache). With `shared` the
 * cache is a buffer of fixed size and input `length` says how much of it is in use (UINT32_MAX: no
 * input does). */
void ms_attn_cache(const op_ctx *c, ms_attn *a, int64_t cached, bool shared, uint32_t length);
/* Length of the present key and value: the shared buffer's, or total. */
int64_t ms_attn_present(const ms_attn *a);
/* Books a->assumed, if anything was. */
void ms_attn_book(op_ctx *c, const ms_attn *a);

void ms_attn_cost(const op_ctx *c, op_cost *k, const ms_attn *a);
/* Elements of queries, of new keys and of new values. */
uint64_t ms_attn_q_elems(const ms_attn *a);
uint64_t ms_attn_k_elems(const ms_attn *a);
uint64_t ms_attn_v_elems(const ms_attn *a);
/* Of a shared cache only what is in use is read and only what is new is written. */
void ms_attn_cache_bytes(const op_ctx *c, op_cost *k, const ms_attn *a, uint32_t past_in,
                         uint32_t present_out, uint64_t per_token);

#endif
