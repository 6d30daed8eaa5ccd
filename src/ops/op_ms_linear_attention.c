/* com.microsoft rotary embeddings and linear attention with its gate.
 *
 *   rotary   per rotated element 2 mul + 1 add: x·cos + turned(x)·sin; tables are read one row per
 *            position; they are sines, not parameters
 *   linear   state [B,Hkv,dk,dv] updated token by token; per token and state element one MAC to
 *            update, one per output head to read, one more with a delta rule; a decay is a mul
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"

/* ---- RotaryEmbedding, MRotaryEmbedding: X, position ids, cosines, sines ---- */

/* rotary_embedding_dim elements of every head, or all of them. */
static uint64_t rotated(const op_ctx *c)
{
    uint64_t elems = op_in_elems(c, 0);
    int64_t part = op_attr_int(c, "rotary_embedding_dim", 0),
            heads = op_attr_int(c, "num_heads", 0);
    int64_t head = op_rank(c, 0) == 4 ? op_dim(c, 0, 3) : ms_dim_div(op_dim(c, 0, 2), heads);
    if (part <= 0 || head <= 0 || part >= head)
        return elems;
    return sat_mul(elems / (uint64_t)head, (uint64_t)part);
}

static void rotary_cost(const op_ctx *c, op_cost *k)
{
    int64_t seq = op_dim(c, 0, op_rank(c, 0) == 4 ? 2 : 1);
    int64_t positions = op_in_elems(c, 1) > 1 ? (int64_t)op_in_elems(c, 1) : seq;
    ms_rotary_cost(k, rotated(c));
    ms_read_rows(c, k, 2, positions);
    ms_read_rows(c, k, 3, positions);
}

/* ---- GemmaRotaryEmbedding: angles [B,S,d], q, turned q, k, turned k ---- */

static assay_status gemma_infer(op_ctx *c)
{
    TRY(op_set_like(c, 0, 1));
    return op_set_like(c, 1, 3);
}

static void gemma_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->special, sat_mul(op_in_elems(c, 0), 2));
    ms_rotary_cost(k, sat_add(op_out_elems(c, 0), op_out_elems(c, 1)));
}

/* ---- LinearAttention: query, key, value, state, decay, beta ---- */

static int64_t head_size(const op_ctx *c, uint32_t i, const char *heads)
{
    return ms_dim_div(op_dim(c, i, 2), op_attr_int(c, heads, 0));
}

static int64_t out_heads(const op_ctx *c)
{
    int64_t q = op_attr_int(c, "q_num_heads", 0), kv = op_attr_int(c, "kv_num_heads", 0);
    return q > kv ? q : kv;
}

static assay_status linear_infer(op_ctx *c)
{
    int64_t kv = op_attr_int(c, "kv_num_heads", 0), window = op_attr_int(c, "state_window", 0);
    for (uint32_t i = 0; i < 3; i++)
        TRY(ms_want_rank(c, i, 3));
    if (kv <= 0 || op_attr_int(c, "q_num_heads", 0) <= 0 || window < 0)
        return op_fail(c, "q_num_heads and kv_num_heads must be positive");
    int64_t dv = head_size(c, 2, "kv_num_heads"), batch = op_dim(c, 0, 0);
    int64_t out[] = {batch, op_dim(c, 0, 1), ms_dim_mul(out_heads(c), dv)};
    int64_t state[] = {window, batch, kv, head_size(c, 0, "q_num_heads"), dv};
    ir_dtype t = op_has(c, 3) ? op_dtype(c, 3) : op_dtype(c, 0);
    TRY(op_set(c, 0, op_dtype(c, 0), 3, out));
    return window > 0 ? op_set(c, 1, t, 5, state) : op_set(c, 1, t, 4, state + 1);
}

static void linear_cost(const op_ctx *c, op_cost *k)
{
    str rule = op_attr_str(c, "update_rule", "gated_delta");
    bool delta = str_ends(rule, "delta"), gated = str_starts(rule, "gated");
    uint64_t dk = ms_u(head_size(c, 0, "q_num_heads")), values = op_in_elems(c, 2);
    uint64_t state = sat_mul(values, dk), out = op_out_elems(c, 0); /* B·T·Hkv·dv·dk; B·T·H·dv */
    op_add_mac(k, sat_add(sat_mul(state, delta ? 2 : 1), sat_mul(out, dk)));
    ms_add(&k->mul, out);
    if (delta) {
        ms_add(&k->add, values);
        ms_add(&k->mul, values);
    }
    if (gated) {
        ms_add(&k->special, op_in_elems(c, 4));
        ms_add(&k->mul, state);
    }
}

/* ---- LinearAttentionGate: a, bias, scale, b -> scale·softplus(a + bias), sigmoid(b) ---- */

static assay_status gate_infer(op_ctx *c)
{
    TRY(op_set_like(c, 0, 0));
    return op_set_like(c, 1, op_has(c, 3) ? 3 : 0);
}

static void gate_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    ms_add(&k->add, sat_mul(n, 2));
    ms_add(&k->special, sat_mul(n, 2));
    ms_add(&k->mul, n);
    if (op_has(c, 3))
        ms_add(&k->special, op_in_elems(c, 3));
}

#define ROTARY(op)                                                                          \
    {                                                                                       \
        OP_ROW(MS_DOMAIN, op, "rotaryembedding", "1", "per rotated element: 2 mul + 1 add", \
               op_infer_rotary, rotary_cost),                                               \
            OP_SLOTS(4, 4, 1, 1), .aux = 7u << 1, .backward = OP_BW_SAME                    \
    }

static const op_row rows[] = {
    ROTARY("RotaryEmbedding"),
    ROTARY("MRotaryEmbedding"),
    {MS_ROW("GemmaRotaryEmbedding", "rotaryembedding",
            "2 special per angle; per element of q and k: 2 mul + 1 add", gemma_infer, gemma_cost),
     OP_SLOTS(5, 5, 1, 2), .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {MS_ROW("LinearAttention", "linearattention",
            "B*T*dk*dv*(Hkv + H) MACs, Hkv more with a delta rule; per output 1 mul; gated: 1 mul "
            "per state element and step + 1 special per decay; delta: 1 add + 1 mul per value",
            linear_infer, linear_cost),
     OP_SLOTS(3, 6, 1, 2), .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("LinearAttentionGate", "linearattention",
            "per element: 2 add + 2 special + 1 mul; 1 special per element of b", gate_infer,
            gate_cost),
     OP_SLOTS(3, 4, 1, 2), .weights = 3u << 1, .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
};
const op_rows op_ms_linear_attention_rows = OP_ROWS(rows);
