/* Attention and what stands around it: scaled dot-product attention with caches and windows, rotary
 * position embedding, linear attention with a recurrent state.
 *
 * Q is [B,Hq,Sq,dk] or packed [B,Sq,Hq*dk]; K and V likewise with Hkv heads (grouped queries share
 * them). past_key and past_value [B,Hkv,P,d] are put before K and V: Sk = P + Skv.
 */
#include "ops/op_util_contract.h"

enum { Q, K, V, MASK, PAST_K, PAST_V, NONPAD };

typedef struct shapes {
    bool packed;
    int64_t batch, q_heads, kv_heads, sq, past, total, dk, dv; /* -1 unknown */
} shapes;

/* One of Q, K, V as heads, length and head size. */
typedef struct stream {
    int64_t heads, length, size;
} stream;

static assay_status read_stream(op_ctx *c, uint32_t i, const char *attr, stream *s)
{
    int rank = op_rank(c, i);
    *s = (stream){-1, -1, -1};
    if (rank == 4)
        *s = (stream){op_dim(c, i, 1), op_dim(c, i, 2), op_dim(c, i, 3)};
    if (rank == 4 || rank < 0)
        return ASSAY_OK;
    if (rank != 3)
        return op_fail(c, "input %u %s must have rank 3 or 4", i, op_shape_text(c, i));
    int64_t heads = op_attr_int(c, attr, -1), width = op_dim(c, i, 2);
    if (heads < 1)
        return op_fail(c, "attribute %s is missing for the packed input %s", attr,
                       op_shape_text(c, i));
    if (width >= 0 && width % heads)
        return op_fail(c, "input %s is not divisible into %lld heads", op_shape_text(c, i),
                       (long long)heads);
    *s = (stream){heads, op_dim(c, i, 1), width < 0 ? -1 : width / heads};
    return ASSAY_OK;
}

static int64_t batch_of(const op_ctx *c)
{
    for (uint32_t i = Q; i <= V; i++)
        if (op_rank(c, i) > 0 && op_dim(c, i, 0) >= 0)
            return op_dim(c, i, 0);
    return -1;
}

static assay_status check_heads(op_ctx *c, int64_t q_heads, int64_t kv_heads)
{
    if (q_heads >= 0 && kv_heads >= 0 && (kv_heads == 0 ? q_heads != 0 : q_heads % kv_heads != 0))
        return op_fail(c, "%lld query heads are not a multiple of %lld key and value heads",
                       (long long)q_heads, (long long)kv_heads);
    return ASSAY_OK;
}

static assay_status read_shapes(op_ctx *c, shapes *s)
{
    stream q, k, v;
    int64_t length;
    TRY(read_stream(c, Q, "q_num_heads", &q));
    TRY(read_stream(c, K, "kv_num_heads", &k));
    TRY(read_stream(c, V, "kv_num_heads", &v));
    *s = (shapes){.packed = op_rank(c, Q) == 3,
                  .batch = batch_of(c),
                  .q_heads = q.heads,
                  .sq = q.length,
                  .dv = v.size,
                  .total = -1};
    TRY(op_same_dim(c, k.heads, v.heads, "the number of key and value heads", &s->kv_heads));
    TRY(op_same_dim(c, q.size, k.size, "the head size of queries and keys", &s->dk));
    TRY(op_same_dim(c, k.length, v.length, "the number of keys and values", &length));
    TRY(check_heads(c, s->q_heads, s->kv_heads));
    s->past = op_has(c, PAST_K) ? op_dim(c, PAST_K, 2) : 0;
    if (length >= 0 && s->past >= 0 && !num_add(length, s->past, &s->total))
        return op_fail(c, "the keys of %s and %s overflow", op_shape_text(c, K),
                       op_shape_text(c, PAST_K));
    return ASSAY_OK;
}

static assay_status attention_infer(op_ctx *c)
{
    shapes s;
    int64_t width = -1;
    TRY(read_shapes(c, &s));
    int64_t whole[4] = {s.batch, s.q_heads, s.sq, s.dv};
    int64_t keys[4] = {s.batch, s.kv_heads, s.total, s.dk};
    int64_t values[4] = {s.batch, s.kv_heads, s.total, s.dv};
    int64_t scores[4] = {s.batch, s.q_heads, s.sq, s.total};
    TRY(op_set(c, 1, op_dtype(c, K), 4, keys));
    TRY(op_set(c, 2, op_dtype(c, V), 4, values));
    TRY(op_set(c, 3, op_dtype(c, Q), 4, scores));
    if (op_rank(c, Q) < 0)
        return op_set_unknown(c, 0, op_dtype(c, Q));
    if (!s.packed)
        return op_set(c, 0, op_dtype(c, Q), 4, whole);
    if (s.q_heads >= 0 && s.dv >= 0 && !num_mul(s.q_heads, s.dv, &width))
        return op_fail(c, "%lld heads of %lld overflow", (long long)s.q_heads, (long long)s.dv);
    int64_t packed[3] = {s.batch, s.sq, width};
    return op_set(c, 0, op_dtype(c, Q), 3, packed);
}

/* Valid keys before the first query: the past, or what nonpad_kv_seqlen leaves (a full cache when
 * its content is not known). */
static uint64_t causal_offset(const op_ctx *c, const shapes *s)
{
    int64_t valid = s->total;
    if (!op_has(c, NONPAD))
        return (uint64_t)s->past;
    op_int_at(c, NONPAD, 0, &valid);
    return valid > s->sq ? (uint64_t)(valid - s->sq) : 0;
}

static void attention_cost(const op_ctx *c, op_cost *k)
{
    op_ctx again = *c;
    shapes s;
    again.err = NULL;
    if (read_shapes(&again, &s) != ASSAY_OK || s.batch < 0 || s.q_heads < 0 || s.sq < 0 ||
        s.past < 0 || s.total < 0 || s.dk < 0 || s.dv < 0)
        return;
    op_attn a = {.batch = (uint64_t)s.batch,
                 .heads = (uint64_t)s.q_heads,
                 .sq = (uint64_t)s.sq,
                 .sk = (uint64_t)s.total,
                 .dk = (uint64_t)s.dk,
                 .dv = (uint64_t)s.dv,
                 .offset = causal_offset(c, &s),
                 .left = op_attr_int(c, "left_window_size", -1),
                 .right = op_attr_int(c, "right_window_size", -1),
                 .causal = op_attr_int(c, "is_causal", 0) != 0,
                 .mask = op_has(c, MASK),
                 .softcap = op_attr_float(c, "softcap", 0.0) != 0.0};
    op_attention_cost(c, k, &a);
}

/* ---- FlexAttention: rank 4 only; graphs change the scores and the probabilities ---- */

static ir_dtype softmax_type(const op_ctx *c)
{
    int64_t t = op_attr_int(c, "softmax_precision", 0);
    if (ir_dtype_valid(t))
        return (ir_dtype)t;
    return op_dtype(c, Q) == IR_FLOAT64 ? IR_FLOAT64 : IR_FLOAT32;
}

static assay_status run_modifier(op_ctx *c, const char *attr, const shapes *s)
{
    ir_id graph = op_attr_graph(c, attr);
    int64_t dims[4] = {s->batch, s->q_heads, s->sq, s->total};
    op_info in = {.kind = IR_KIND_TENSOR, .dtype = softmax_type(c), .rank = 4, .length = -1}, out;
    if (graph == IR_NONE)
        return ASSAY_OK;
    if (!(in.dims = arena_copy(c->arena, dims, sizeof dims)))
        return err_no_memory(c->err);
    c->env->times(c->env, graph, 1);
    return c->env->graph(c->env, c, graph, &in, 1, &out, 1, c->err);
}

static assay_status flex_infer(op_ctx *c)
{
    shapes s;
    TRY(read_shapes(c, &s));
    TRY(run_modifier(c, "score_mod", &s));
    TRY(run_modifier(c, "prob_mod", &s));
    return attention_infer(c);
}

/* ---- RotaryEmbedding: X, cos_cache, sin_cache, position_ids ---- */

/* The part of the elements that turns: rotary_embedding_dim of each head, or all. */
static uint64_t rotated(const op_ctx *c)
{
    int64_t part = op_attr_int(c, "rotary_embedding_dim", 0), size = op_dim(c, 0, -1);
    int64_t heads = op_rank(c, 0) == 3 ? op_attr_int(c, "num_heads", 1) : 1;
    uint64_t elems = op_in_elems(c, 0);
    if (part <= 0 || size <= 0 || heads <= 0 || part >= size / heads)
        return elems;
    return sat_mul(elems / (uint64_t)(size / heads), (uint64_t)part);
}

/* One pair: 4 mul, 2 add. With position_ids each token takes its row of the caches. */
static void rotary_cost(const op_ctx *c, op_cost *k)
{
    uint64_t turned = rotated(c);
    op_count(c, k, &k->mul, sat_mul(turned, 2));
    op_count(c, k, &k->add, turned);
    int64_t half = op_dim(c, 1, -1);
    if (!op_has(c, 3) || half < 0)
        return;
    for (uint32_t i = 1; i <= 2; i++) {
        uint64_t rows = sat_mul(op_in_elems(c, 3), (uint64_t)half), all = op_in_elems(c, i);
        op_read_elems(c, k, i, rows < all ? rows : all);
    }
}

/* ---- LinearAttention: query, key, value, past_state, decay, beta ---- */

static assay_status linear_infer(op_ctx *c)
{
    stream q, k, v;
    int64_t dk, steps, width = -1, unused;
    TRY(read_stream(c, 0, "q_num_heads", &q));
    TRY(read_stream(c, 1, "kv_num_heads", &k));
    TRY(read_stream(c, 2, "kv_num_heads", &v));
    TRY(op_same_dim(c, q.size, k.size, "the head size of queries and keys", &dk));
    TRY(op_same_dim(c, q.length, k.length, "the number of queries and keys", &steps));
    TRY(op_same_dim(c, k.length, v.length, "the number of keys and values", &unused));
    int64_t q_heads = op_attr_int(c, "q_num_heads", -1), heads = op_attr_int(c, "kv_num_heads", -1);
    if (q_heads < 1 || heads < 1)
        return op_fail(c, "attributes q_num_heads and kv_num_heads must be at least 1");
    TRY(check_heads(c, q_heads, heads));
    if (v.size >= 0 && !num_mul(q_heads, v.size, &width))
        return op_fail(c, "%lld heads of %lld overflow", (long long)q_heads, (long long)v.size);
    int64_t out[3] = {batch_of(c), steps, width}, state[4] = {batch_of(c), heads, dk, v.size};
    TRY(op_set(c, 0, op_dtype(c, 0), 3, out));
    return op_set(c, 1, op_dtype(c, 3) ? op_dtype(c, 3) : op_dtype(c, 0), 4, state);
}

/* Per step and state element: one MAC to update it, one per query head that reads it, and with a
 * delta rule one more to predict; a decay is a mul. */
static void linear_cost(const op_ctx *c, op_cost *k)
{
    str rule = op_attr_str(c, "update_rule", "gated_delta");
    int64_t steps = op_dim(c, 0, 1);
    if (steps < 0 || c->n_out < 1 || c->out[0].rank != 3)
        return;
    int64_t q_heads = op_attr_int(c, "q_num_heads", 0), width = op_dim(c, 0, 2);
    uint64_t dk = q_heads > 0 && width > 0 ? (uint64_t)(width / q_heads) : 0;
    uint64_t state = sat_mul(op_in_elems(c, 2), dk); /* B*T*Hkv*dv times dk */
    uint64_t out = op_out_elems(c, 0);
    bool delta = str_ends(rule, "delta");
    op_add_mac(k, sat_add(sat_mul(state, delta ? 2 : 1), sat_mul(out, dk)));
    op_count(c, k, &k->mul, out);
    if (delta) {
        op_count(c, k, &k->add, op_in_elems(c, 2));
        op_count(c, k, &k->mul, op_in_elems(c, 2));
    }
    if (str_starts(rule, "gated")) {
        op_count(c, k, &k->special, op_in_elems(c, 4));
        op_count(c, k, &k->mul, state);
    }
}

static const op_row rows[] = {
    {OP_ROW("", "Attention", "attention", "23,24,25",
            "B*H*Sq*Sk*(dk+dv) MACs (a window bounds Sk); per score: softmax 5, 1 mul (scale), 1 "
            "add with mask, 1 div + 1 special + 1 mul with softcap",
            attention_infer, attention_cost),
     OP_SLOTS(3, 7, 1, 4), .batch_axis = op_batch_first, .aux = 1 << NONPAD,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {OP_ROW(
         "ai.onnx.preview", "FlexAttention", "attention", "1",
         "B*H*Sq*Sk*(dk+dv) MACs; per score: softmax 5, 1 mul (scale); the graphs cost their own",
         flex_infer, attention_cost),
     OP_SLOTS(3, 3, 1, 1), .flags = OPF_CONTROL, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_BOTH},
    {OP_ROW("", "RotaryEmbedding", "rotaryembedding", "23", "per rotated element: 2 mul + 1 add",
            op_infer_rotary, rotary_cost),
     OP_SLOTS(3, 4, 1, 1), .aux = 1 << 1 | 1 << 2 | 1 << 3, .backward = OP_BW_SAME},
    {OP_ROW("", "LinearAttention", "linearattention", "27",
            "B*T*dk*dv*(Hkv + Hq) MACs, Hkv more with a delta rule; per output 1 mul; gated: 1 mul "
            "per state element and step + 1 special per decay; delta: 1 add + 1 mul per value",
            linear_infer, linear_cost),
     OP_SLOTS(3, 6, 1, 2), .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
};

const op_rows op_attention_rows = OP_ROWS(rows);
