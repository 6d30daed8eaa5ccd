/* Attention geometry and cost; see op_util_ms_attn.h. */
#include "ops/op_util_ms_attn.h"

void ms_attn_init(ms_attn *a)
{
    *a = (ms_attn){.batch = -1,
                   .heads = -1,
                   .kv_heads = -1,
                   .queries = -1,
                   .fresh = -1,
                   .past = -1,
                   .total = -1,
                   .head = -1,
                   .v_head = -1,
                   .buffer = -1,
                   .window = -1};
}

void ms_attn_cache(const op_ctx *c, ms_attn *a, int64_t cached, bool shared, uint32_t length)
{
    a->past = cached;
    a->buffer = shared ? cached : -1;
    int64_t used;
    if (shared && length != UINT32_MAX && op_int_at(c, length, 0, &used) && used >= 0) {
        a->past = used;
    } else if (shared && cached >= 0) {
        /* The most that fits: the new keys fill the buffer. */
        a->past = a->fresh >= 0 && cached > a->fresh ? cached - a->fresh : 0;
        a->assumed =
            "the used length of the shared key/value cache is unknown; a full cache was assumed";
    }
    a->total = ms_dim_add(a->past, a->fresh);
}

int64_t ms_attn_present(const ms_attn *a)
{
    return a->buffer >= 0 ? a->buffer : a->total;
}

void ms_attn_book(op_ctx *c, const ms_attn *a)
{
    if (a->assumed)
        op_assume(c, "%s", a->assumed);
}

void ms_attn_cost(const op_ctx *c, op_cost *k, const ms_attn *a)
{
    op_ctx real = ms_real(c);
    op_attn attn = {.batch = ms_u(a->batch),
                    .heads = ms_u(a->heads),
                    .sq = ms_u(a->queries),
                    .sk = ms_u(a->total),
                    .dk = ms_u(a->head),
                    .dv = ms_u(a->v_head),
                    .offset = ms_u(a->past),
                    .left = a->window > 0 ? a->window - 1 : -1,
                    .right = -1,
                    .causal = a->causal,
                    .mask = a->per_score > 0,
                    .softcap = a->softcap};
    op_attention_cost(&real, k, &attn);
    if (a->per_score > 1) {
        uint64_t scores = attn.dk ? k->mac_qk / attn.dk : 0;
        ms_add(&k->add, sat_mul(scores, (uint64_t)a->per_score - 1));
    }
}

uint64_t ms_attn_q_elems(const ms_attn *a)
{
    return ms_product(4, (const int64_t[]){a->batch, a->queries, a->heads, a->head});
}

uint64_t ms_attn_k_elems(const ms_attn *a)
{
    return ms_product(4, (const int64_t[]){a->batch, a->fresh, a->kv_heads, a->head});
}

uint64_t ms_attn_v_elems(const ms_attn *a)
{
    return ms_product(4, (const int64_t[]){a->batch, a->fresh, a->kv_heads, a->v_head});
}

void ms_attn_cache_bytes(const op_ctx *c, op_cost *k, const ms_attn *a, uint32_t past_in,
                         uint32_t present_out, uint64_t per_token)
{
    if (a->buffer < 0)
        return;
    op_read_elems(c, k, past_in, sat_mul(ms_u(a->past), per_token));
    ms_written_elems(c, k, present_out, sat_mul(ms_u(a->fresh), per_token));
}
