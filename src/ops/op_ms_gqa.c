/* com.microsoft attention with fewer key heads than query heads and a cache: GroupQueryAttention,
 * SparseAttention, PagedAttention.
 *
 *   query [B,S,H·d] or packed QKV [B,S,(H+2·Hkv)·d], past and present [B,Hkv,len,d]
 *   GroupQueryAttention: present length = max(past length, total_sequence_length)
 *   SparseAttention: the cache is a shared buffer; the block mask is not followed
 *   PagedAttention: tokens of all sequences in one list [T,·]; cache in blocks
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms_attn.h"
#include "ops/op_util_norm.h"

static void grouped_heads(const op_ctx *c, ms_attn *a)
{
    a->heads = op_attr_int(c, "num_heads", -1);
    a->kv_heads = op_attr_int(c, "kv_num_heads", -1);
    int64_t kv_parts = ms_dim_mul(a->kv_heads, 2);
    int64_t parts = op_has(c, 1) ? a->heads : ms_dim_add(a->heads, kv_parts);
    a->head = a->v_head = ms_dim_div(op_dim(c, 0, -1), parts);
}

static assay_status grouped_check(op_ctx *c)
{
    int64_t heads = op_attr_int(c, "num_heads", 0), kv = op_attr_int(c, "kv_num_heads", 0);
    if (heads <= 0 || kv <= 0 || heads % kv != 0)
        return op_fail(c, "num_heads %lld must be a positive multiple of kv_num_heads %lld",
                       (long long)heads, (long long)kv);
    return ASSAY_OK;
}

/* ---- GroupQueryAttention ---- */

/* total_sequence_length counts past and new keys; a cache at least that long is a shared buffer. */
static void gqa_lengths(const op_ctx *c, ms_attn *a)
{
    int64_t cached = op_has(c, 3) ? op_dim(c, 3, 2) : 0, total;
    if (op_int_at(c, 6, 0, &total) && total >= 0) {
        a->total = total;
        a->past = a->fresh >= 0 && total > a->fresh ? total - a->fresh : 0;
    } else {
        ms_attn_cache(c, a, cached, false, UINT32_MAX);
        if (op_has(c, 3))
            a->assumed = "the total sequence length is unknown; past + new tokens was assumed";
    }
    bool windowed = op_attr_int(c, "sliding_window_cache", 0) != 0;
    if (op_has(c, 3) && cached >= 0 && (windowed || (a->total >= 0 && cached >= a->total)))
        a->buffer = cached;
}

static void gqa_geometry(const op_ctx *c, ms_attn *a)
{
    ms_attn_init(a);
    grouped_heads(c, a);
    a->batch = op_dim(c, 0, 0);
    a->queries = op_dim(c, 0, 1);
    a->fresh = op_has(c, 1) ? op_dim(c, 1, op_rank(c, 1) == 4 ? 2 : 1) : a->queries;
    a->causal = op_attr_int(c, "causal", 1) != 0;
    a->window = op_attr_int(c, "local_window_size", -1);
    a->softcap = op_attr_float(c, "softcap", 0) > 0;
    a->per_score = op_has(c, 10);
    gqa_lengths(c, a);
}

static assay_status gqa_present(op_ctx *c, uint32_t o, uint32_t past, const ms_attn *a)
{
    ir_dtype t = op_has(c, past) ? op_dtype(c, past) : op_dtype(c, 0);
    /* A 4-bit cache packs two values into one byte: its own width holds. */
    int64_t width = op_has(c, past) ? op_dim(c, past, 3) : a->head;
    int64_t dims[] = {a->batch, a->kv_heads, ms_attn_present(a), width};
    return op_set(c, o, t, 4, dims);
}

static assay_status gqa_infer(op_ctx *c)
{
    ms_attn a;
    TRY(grouped_check(c));
    TRY(ms_want_rank(c, 0, 3));
    if (op_has(c, 3))
        TRY(ms_want_rank(c, 3, 4));
    gqa_geometry(c, &a);
    ir_dtype t = op_dtype(c, 0);
    TRY(op_set(c, 0, t, 3, (int64_t[]){a.batch, a.queries, ms_dim_mul(a.heads, a.head)}));
    TRY(gqa_present(c, 1, 3, &a));
    TRY(gqa_present(c, 2, 4, &a));
    TRY(op_set(c, 3, t, 4, (int64_t[]){a.batch, a.heads, a.queries, a.total}));
    ms_attn_book(c, &a);
    return ASSAY_OK;
}

static void rotary(const op_ctx *c, op_cost *k, const ms_attn *a, uint32_t cos_table)
{
    if (op_attr_int(c, "do_rotary", 0) == 0)
        return;
    /* The table is half as wide as what is rotated, which may be a part of the head. */
    int64_t width = ms_dim_mul(op_dim(c, cos_table, 1), 2);
    uint64_t part = width > 0 && width < a->head ? ms_u(width) : ms_u(a->head);
    uint64_t q = ms_product(3, (const int64_t[]){a->batch, a->queries, a->heads});
    uint64_t keys = ms_product(3, (const int64_t[]){a->batch, a->fresh, a->kv_heads});
    ms_rotary_cost(k, sat_mul(sat_add(q, keys), part));
    ms_read_rows(c, k, cos_table, a->queries);
    ms_read_rows(c, k, cos_table + 1, a->queries);
}

static void qk_norm(const op_ctx *c, op_cost *k, const ms_attn *a, uint32_t gamma)
{
    if (op_has(c, gamma))
        op_rms_cost(c, k, sat_add(ms_attn_q_elems(a), ms_attn_k_elems(a)), true);
}

static void gqa_cost(const op_ctx *c, op_cost *k)
{
    ms_attn a;
    gqa_geometry(c, &a);
    qk_norm(c, k, &a, 14);
    rotary(c, k, &a, 7);
    ms_attn_cost(c, k, &a);
    uint64_t rows = sat_mul(ms_u(a.batch), ms_u(a.kv_heads));
    ms_attn_cache_bytes(c, k, &a, 3, 1, sat_mul(rows, ms_u(op_dim(c, 3, 3))));
    ms_attn_cache_bytes(c, k, &a, 4, 2, sat_mul(rows, ms_u(op_dim(c, 4, 3))));
}

/* ---- SparseAttention: total_sequence_length at 7, tables at 9 and 10 ---- */

static void sparse_geometry(const op_ctx *c, ms_attn *a)
{
    ms_attn_init(a);
    grouped_heads(c, a);
    a->batch = op_dim(c, 0, 0);
    a->queries = a->fresh = op_dim(c, 0, 1);
    a->causal = true;
    int64_t total;
    ms_attn_cache(c, a, op_dim(c, 3, 2), true, UINT32_MAX);
    a->assumed = NULL;
    if (op_int_at(c, 7, 0, &total) && total >= 0) {
        a->total = total;
        a->past = a->fresh >= 0 && total > a->fresh ? total - a->fresh : 0;
    }
}

static assay_status sparse_infer(op_ctx *c)
{
    ms_attn a;
    TRY(grouped_check(c));
    TRY(ms_want_rank(c, 0, 3));
    TRY(ms_want_rank(c, 3, 4));
    sparse_geometry(c, &a);
    int64_t dims[] = {a.batch, a.queries, ms_dim_mul(a.heads, a.head)};
    TRY(op_set(c, 0, op_dtype(c, 0), 3, dims));
    TRY(op_set_like(c, 1, 3));
    TRY(op_set_like(c, 2, 4));
    op_assume(c, "all blocks of the sparse mask were counted (an upper bound)");
    return ASSAY_OK;
}

static void sparse_cost(const op_ctx *c, op_cost *k)
{
    ms_attn a;
    sparse_geometry(c, &a);
    rotary(c, k, &a, 9);
    ms_attn_cost(c, k, &a);
    uint64_t per_token = ms_product(3, (const int64_t[]){a.batch, a.kv_heads, a.head});
    ms_attn_cache_bytes(c, k, &a, 3, 1, per_token);
    ms_attn_cache_bytes(c, k, &a, 4, 2, per_token);
}

/* ---- PagedAttention: caches [blocks,block,Hkv,d] at 3 and 4, table [B,max blocks] at 7 ---- */

static void paged_geometry(const op_ctx *c, ms_attn *a)
{
    ms_attn_init(a);
    grouped_heads(c, a);
    a->batch = 1;
    a->queries = a->fresh = op_dim(c, 0, 0);
    a->total = ms_dim_mul(op_dim(c, 7, 1), op_dim(c, 3, 1));
    int64_t v_head = op_attr_int(c, "v_head_size", 0);
    if (v_head > 0)
        a->v_head = v_head;
    if (str_is(op_attr_str(c, "kv_cache_layout", "SEPARATE"), "LATENT"))
        a->head = ms_dim_div(op_dim(c, 0, 1), a->heads);
    int64_t window = op_attr_int(c, "local_window_size", -1);
    if (window > 0 && a->total > window)
        a->total = window;
    a->softcap = op_attr_float(c, "softcap", 0) > 0;
}

static assay_status paged_infer(op_ctx *c)
{
    ms_attn a;
    TRY(grouped_check(c));
    TRY(ms_want_rank(c, 0, 2));
    paged_geometry(c, &a);
    int64_t dims[] = {a.queries, ms_dim_mul(a.heads, a.v_head)};
    TRY(op_set(c, 0, op_dtype(c, 0), 2, dims));
    TRY(op_set_like(c, 1, 3));
    TRY(op_set_like(c, 2, 4));
    op_assume(c, "every token was assumed to attend to a full block table");
    return ASSAY_OK;
}

static void paged_cost(const op_ctx *c, op_cost *k)
{
    ms_attn a;
    paged_geometry(c, &a);
    qk_norm(c, k, &a, 12);
    rotary(c, k, &a, 8);
    ms_attn_cost(c, k, &a);
    uint64_t fresh = ms_product(3, (const int64_t[]){a.fresh, a.kv_heads, a.head});
    ms_written_elems(c, k, 1, fresh);
    ms_written_elems(c, k, 2, fresh);
}

static const op_row rows[] = {
    {MS_ROW("GroupQueryAttention", "attention",
            "B*H*Sq*Sk*(dk+dv) MACs, Sk with the past, bounded by local_window_size; per score 1 "
            "mul + softmax 5 + 1 add with a bias + 3 with softcap; 2 mul + 1 add per rotated "
            "element; 4 per element of Q and K with their norms",
            gqa_infer, gqa_cost),
     OP_SLOTS(7, 16, 1, 4), .batch_axis = op_batch_first, .weights = 1u << 11 | 3u << 14,
     .aux = 31u << 5 | 3u << 12, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW(
         "SparseAttention", "attention",
         "B*H*Sq*Sk*(dk+dv) MACs as if the mask were dense; per score 1 mul + softmax 5; 2 mul + "
         "1 add per rotated element",
         sparse_infer, sparse_cost),
     OP_SLOTS(9, 11, 1, 3), .aux = 63u << 5, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("PagedAttention", "attention",
            "T*H*Sk*(dk+dv) MACs, Sk what the block table can hold, bounded by local_window_size; "
            "per score 1 mul + softmax 5 + 3 with softcap; 2 mul + 1 add per rotated element",
            paged_infer, paged_cost),
     OP_SLOTS(8, 17, 1, 3), .weights = 7u << 11, .aux = 63u << 5 | 7u << 14,
     .backward = OP_BW_NONE},
};
const op_rows op_ms_gqa_rows = OP_ROWS(rows);
