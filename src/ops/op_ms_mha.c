/* com.microsoft attention over projected Q, K and V: MultiHeadAttention,
 * DecoderMaskedMultiHeadAttention, PackedMultiHeadAttention.
 *
 * Layouts of query, key and value:
 *   [B,S,D] [B,L,D] [B,L,Dv]           plain
 *   [B,S,H,3,d]                        packed QKV; the decoder form packs as [B,1,2·D+Dv]
 *   [B,S,D] [B,L,H,2,d]                packed KV
 *   [B,S,D] [B,H,L,d] [B,H,L,d]        cross attention with cached keys and values
 * past and present are [B,H,P,d] and [B,H,P+L,d], or both a shared buffer of fixed length.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms_attn.h"

/* Where an operator keeps its inputs. */
typedef struct mha_slots {
    uint32_t bias, mask, score_bias, past, length;
    bool decoder;
} mha_slots;

static const mha_slots mha_at = {3, 4, 5, 6, 8, false};
static const mha_slots decoder_at = {10, 3, 4, 5, 7, true};

static void packed_qkv(const op_ctx *c, ms_attn *a)
{
    a->fresh = a->queries;
    if (op_rank(c, 0) == 5)
        a->head = a->v_head = op_dim(c, 0, 4);
    else
        a->head = a->v_head = ms_dim_div(ms_dim_div(op_dim(c, 0, 2), 3), a->heads);
}

static void separate_qkv(const op_ctx *c, ms_attn *a)
{
    a->head = ms_dim_div(op_dim(c, 0, 2), a->heads);
    switch (op_rank(c, 1)) {
    case 3:
        a->fresh = op_dim(c, 1, 1);
        break;
    case 4:
        a->fresh = op_dim(c, 1, 2);
        break;
    case 5:
        a->fresh = op_dim(c, 1, 1);
        break;
    default:
        break;
    }
    if (op_rank(c, 1) == 5)
        a->v_head = op_dim(c, 1, 4);
    else if (op_rank(c, 2) == 4)
        a->v_head = op_dim(c, 2, 3);
    else
        a->v_head = ms_dim_div(op_dim(c, 2, 2), a->heads);
}

/* A decoder's cache is shared when the attribute says so; MultiHeadAttention has no attribute: it
 * shares when the length in use is given. */
static bool cache_shared(const op_ctx *c, const mha_slots *at)
{
    if (at->decoder)
        return op_attr_int(c, "past_present_share_buffer", 0) != 0;
    return op_has(c, at->length);
}

static void mha_geometry(const op_ctx *c, const mha_slots *at, ms_attn *a)
{
    ms_attn_init(a);
    a->heads = a->kv_heads = op_attr_int(c, "num_heads", -1);
    a->batch = op_dim(c, 0, 0);
    a->queries = op_dim(c, 0, 1);
    a->causal = op_attr_int(c, "unidirectional", 0) != 0;
    a->per_score = op_has(c, at->mask) + op_has(c, at->score_bias);
    if (op_has(c, 1))
        separate_qkv(c, a);
    else
        packed_qkv(c, a);
    bool cached = op_has(c, at->past) && op_rank(c, 1) != 4;
    ms_attn_cache(c, a, cached ? op_dim(c, at->past, 2) : 0, cached && cache_shared(c, at),
                  at->length);
}

static assay_status mha_check(op_ctx *c, const mha_slots *at)
{
    int rank = op_rank(c, 0);
    if (op_attr_int(c, "num_heads", 0) <= 0)
        return op_fail(c, "attribute num_heads must be positive");
    if (rank >= 0 && rank != 3 && rank != 5)
        return op_fail(c, "the query must have rank 3 or 5 but its shape is %s",
                       op_shape_text(c, 0));
    return op_has(c, at->past) ? ms_want_rank(c, at->past, 4) : ASSAY_OK;
}

static assay_status mha_infer(op_ctx *c)
{
    const mha_slots *at = c->row->with;
    ms_attn a;
    TRY(mha_check(c, at));
    mha_geometry(c, at, &a);
    ir_dtype t = op_dtype(c, 0), cache = op_has(c, at->past) ? op_dtype(c, at->past) : t;
    int64_t length = ms_attn_present(&a);
    TRY(op_set(c, 0, t, 3, (int64_t[]){a.batch, a.queries, ms_dim_mul(a.heads, a.v_head)}));
    TRY(op_set(c, 1, cache, 4, (int64_t[]){a.batch, a.heads, length, a.head}));
    TRY(op_set(c, 2, cache, 4, (int64_t[]){a.batch, a.heads, length, a.v_head}));
    TRY(op_set(c, 3, t, 4, (int64_t[]){a.batch, a.heads, a.queries, a.total}));
    ms_attn_book(c, &a);
    return ASSAY_OK;
}

static void mha_cost(const op_ctx *c, op_cost *k)
{
    const mha_slots *at = c->row->with;
    ms_attn a;
    mha_geometry(c, at, &a);
    if (op_has(c, at->bias))
        ms_add(&k->add,
               sat_add(ms_attn_q_elems(&a), sat_add(ms_attn_k_elems(&a), ms_attn_v_elems(&a))));
    ms_attn_cost(c, k, &a);
    uint64_t rows = sat_mul(ms_u(a.batch), ms_u(a.heads));
    ms_attn_cache_bytes(c, k, &a, at->past, 1, sat_mul(rows, ms_u(a.head)));
    ms_attn_cache_bytes(c, k, &a, at->past + 1, 2, sat_mul(rows, ms_u(a.v_head)));
}

/* ---- PackedMultiHeadAttention: [T,D] or [T,H,3,d]; token_offset [B,S] at 4 ---- */

static void packed_geometry(const op_ctx *c, ms_attn *a)
{
    ms_attn_init(a);
    a->batch = 1;
    a->heads = a->kv_heads = op_attr_int(c, "num_heads", -1);
    a->queries = a->fresh = op_dim(c, 0, 0);
    a->total = op_dim(c, 4, 1);
    bool packed = op_rank(c, 0) == 4;
    a->head = packed ? op_dim(c, 0, 3) : ms_dim_div(op_dim(c, 0, 1), a->heads);
    a->v_head = packed ? a->head : ms_dim_div(op_dim(c, 2, 1), a->heads);
    a->per_score = op_has(c, 6);
}

static assay_status packed_infer(op_ctx *c)
{
    ms_attn a;
    if (op_attr_int(c, "num_heads", 0) <= 0)
        return op_fail(c, "attribute num_heads must be positive");
    packed_geometry(c, &a);
    int64_t width = ms_dim_mul(a.heads, a.v_head);
    TRY(op_set(c, 0, op_dtype(c, 0), 2, (int64_t[]){a.queries, width}));
    op_assume(c, "every packed token was assumed to attend to the longest sequence");
    return ASSAY_OK;
}

static void packed_cost(const op_ctx *c, op_cost *k)
{
    ms_attn a;
    packed_geometry(c, &a);
    if (op_has(c, 3))
        ms_add(&k->add,
               sat_add(ms_attn_q_elems(&a), sat_add(ms_attn_k_elems(&a), ms_attn_v_elems(&a))));
    ms_attn_cost(c, k, &a);
}

#define MHA_FORMULA                                                                               \
    "B*H*Sq*Sk*(dk+dv) MACs, Sk with the past; per score 1 mul + softmax 5 + 1 add per mask and " \
    "bias; 1 add per element of Q, K and V with a bias"

static const op_row rows[] = {
    {MS_ROW("MultiHeadAttention", "attention", MHA_FORMULA, mha_infer, mha_cost), .with = &mha_at,
     OP_SLOTS(1, 10, 1, 4), .batch_axis = op_batch_first, .weights = 1u << 3,
     .aux = 1u << 4 | 1u << 8 | 1u << 9, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("DecoderMaskedMultiHeadAttention", "attention", MHA_FORMULA, mha_infer, mha_cost),
     .with = &decoder_at, OP_SLOTS(1, 11, 1, 4), .weights = 1u << 10, .aux = 1u << 3 | 7u << 7,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW(
         "PackedMultiHeadAttention", "attention",
         "T*S*H*(dk+dv) MACs (T tokens, S the longest sequence); per score 1 mul + softmax 5 + 1 "
         "add with a bias",
         packed_infer, packed_cost),
     OP_SLOTS(6, 7, 1, 1), .weights = 1u << 3, .aux = 3u << 4, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_BOTH},
};
const op_rows op_ms_mha_rows = OP_ROWS(rows);
