/* Contractions that more than one operator performs: matrix products and attention.
 *
 * MACs of masks are not deducted; causal_mac holds the exact number of visible (query, key) pairs
 * when a causal mask is there. A sliding window bounds the keys per query in both.
 */
#ifndef OPS_OP_UTIL_CONTRACT_H
#define OPS_OP_UTIL_CONTRACT_H

#include "ops/op.h"

/* Adds n multiply-accumulates without a causal mask: to mac and to causal_mac. */
void op_add_mac(op_cost *k, uint64_t n);
/* Product of dims of input i from axis `from` on; 0 when unknown. */
uint64_t op_in_product(const op_ctx *c, uint32_t i, int from);
uint64_t op_mul3(uint64_t a, uint64_t b, uint64_t c); /* saturating */

/* A matrix product of two input slots with numpy's rules for rank 1 and batch axes. trans: the last
 * two axes are swapped first (ignored for rank 1); trans_batch (FusedMatMul's transBatchA/B): the
 * axes are [m, batch..., k] before it. */
typedef struct op_matmul {
    uint32_t a, b; /* input slots */
    bool trans_a, trans_b;
    bool trans_batch_a, trans_batch_b;
} op_matmul;
assay_status op_matmul_infer(op_ctx *c, const op_matmul *m, uint32_t o, ir_dtype t);
/* Output elements times K. */
uint64_t op_matmul_macs(const op_ctx *c, const op_matmul *m, uint32_t o);

/* op_row.needs: a weight [out, in/group, kernel...], one [in, ...], and a matrix [in, out] ([out, in] with
 * transB). */
op_need op_need_conv(const ir_node *n, const ir_tensor *weight);
op_need op_need_conv_transpose(const ir_node *n, const ir_tensor *weight);
op_need op_need_matrix(const ir_node *n, const ir_tensor *weight);

/* op_row.batch_axis: 0. */
int op_batch_first(const ir_node *n);

/* Scaled dot-product attention. */
typedef struct op_attn {
    uint64_t batch, heads; /* heads of the queries */
    uint64_t sq, sk;       /* queries; keys with the past */
    uint64_t dk, dv;       /* head sizes */
    uint64_t offset;       /* keys before the first query (the past), for the causal count */
    int64_t left, right;   /* window beside the query's own position; -1: unbounded */
    bool causal, mask, softcap, no_scale;
} op_attn;
/* mac, causal_mac, mac_qk, mac_av; per score: 1 mul (scale), 1 add (mask), softcap div+special+mul,
 * softmax 5. Does not touch bytes. */
void op_attention_cost(const op_ctx *c, op_cost *k, const op_attn *a);

/* RotaryEmbedding of every domain: input 0 of rank 3 or 4 keeps its shape. */
assay_status op_infer_rotary(op_ctx *c);

#endif
