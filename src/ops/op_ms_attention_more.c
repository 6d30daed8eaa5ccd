/* com.microsoft around attention: LongformerAttention and its quantised kin, DecoderAttention,
 * relative position biases, removing and restoring padding.
 *
 *   Longformer: each token sees `window` tokens on both sides; which tokens are global is data, so
 *   their cost (and the global projections) is left out and booked as an assumption.
 */
#include "ops/op_util_ms_attn.h"

/* ---- LongformerAttention: weight, bias at 1, 2 (QOrdered: 2, 4) ---- */

static void longformer_geometry(const op_ctx *c, ms_attn *a)
{
    int64_t window = op_attr_int(c, "window", -1);
    ms_attn_init(a);
    a->heads = a->kv_heads = op_attr_int(c, "num_heads", -1);
    a->batch = op_dim(c, 0, 0);
    a->queries = a->fresh = op_dim(c, 0, 1);
    a->head = a->v_head = ms_dim_div(op_dim(c, 0, 2), a->heads);
    a->total = ms_dim_min(a->queries, ms_dim_add(ms_dim_mul(window, 2), 1));
    a->per_score = 1;
}

static assay_status longformer_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 0, 3));
    if (op_attr_int(c, "num_heads", 0) <= 0 || op_attr_int(c, "window", 0) <= 0)
        return op_fail(c, "attributes num_heads and window must be positive");
    TRY(op_set_like(c, 0, 0));
    op_assume(c, "global tokens depend on data; none was assumed");
    return ASSAY_OK;
}

static void longformer_cost(const op_ctx *c, op_cost *k)
{
    ms_attn a;
    longformer_geometry(c, &a);
    uint64_t outputs = sat_mul(op_in_elems(c, 0), 3);
    op_add_mac(k, sat_mul(outputs, ms_u(op_dim(c, 0, 2))));
    ms_add(&k->add, outputs);
    ms_attn_cost(c, k, &a);
}

/* ---- DecoderAttention: query [S,B,D], key [T,B,D], q and kv weights, bias; caches at 6, 7 ---- */

static bool flag_of(const op_ctx *c, uint32_t i, bool otherwise)
{
    int64_t v;
    return op_int_at(c, i, 0, &v) ? v != 0 : otherwise;
}

typedef struct decoder_attn {
    ms_attn a;
    int64_t projected; /* tokens whose keys and values are calculated */
} decoder_attn;

static void decoder_geometry(const op_ctx *c, decoder_attn *d)
{
    ms_attn *a = &d->a;
    bool cross = flag_of(c, 8, false), cached = flag_of(c, 9, op_has(c, 6)) && op_has(c, 6);
    ms_attn_init(a);
    a->heads = a->kv_heads = op_attr_int(c, "num_heads", -1);
    a->queries = op_dim(c, 0, 0);
    a->batch = op_dim(c, 0, 1);
    a->head = a->v_head = ms_dim_div(op_dim(c, 0, 2), a->heads);
    d->projected = cross ? (cached ? 0 : op_dim(c, 1, 0)) : a->queries;
    a->past = cached ? op_dim(c, 6, 2) : 0;
    a->total = ms_dim_add(a->past, d->projected);
    a->per_score = flag_of(c, 11, op_has(c, 5));
}

static assay_status decoder_infer(op_ctx *c)
{
    decoder_attn d;
    int64_t known;
    TRY(ms_want_rank(c, 0, 3));
    if (op_attr_int(c, "num_heads", 0) <= 0)
        return op_fail(c, "attribute num_heads must be positive");
    decoder_geometry(c, &d);
    int64_t dims[] = {d.a.batch, d.a.heads, d.a.total, d.a.head};
    TRY(op_set_like(c, 0, 0));
    TRY(op_set(c, 1, op_dtype(c, 0), 4, dims));
    TRY(op_set(c, 2, op_dtype(c, 0), 4, dims));
    if (!op_int_at(c, 8, 0, &known) || !op_int_at(c, 9, 0, &known))
        op_assume(c, "the flags are unknown; self-attention, with the cache if given, was assumed");
    return ASSAY_OK;
}

static void decoder_cost(const op_ctx *c, op_cost *k)
{
    decoder_attn d;
    decoder_geometry(c, &d);
    uint64_t width = ms_u(op_dim(c, 0, 2)), batch = ms_u(d.a.batch);
    uint64_t tokens = sat_add(ms_u(d.a.queries), sat_mul(ms_u(d.projected), 2));
    uint64_t outputs = op_mul3(batch, tokens, width);
    op_add_mac(k, sat_mul(outputs, width));
    ms_add(&k->add, outputs);
    ms_attn_cost(c, k, &d.a);
}

/* ---- RelativePositionBias: table [buckets,H], lengths -> [1,H,Sq,Sk] ---- */

static int64_t length_at(const op_ctx *c, uint32_t i)
{
    int64_t v;
    return op_int_at(c, i, 0, &v) && v >= 0 ? v : -1;
}

static assay_status position_bias_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 0, 2));
    int64_t dims[] = {1, op_dim(c, 0, 1), length_at(c, 1), length_at(c, 2)};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* ---- GatedRelativePositionBias ---- */

static int64_t gated_heads(const op_ctx *c)
{
    return op_attr_int(c, "num_heads", -1);
}

/* query [B,S,H·d], or [T,H·d] with token_offset [B,S] at 6. */
static assay_status gated_bias_infer(op_ctx *c)
{
    bool packed = op_has(c, 6);
    int64_t batch = op_dim(c, packed ? 6 : 0, 0), seq = op_dim(c, packed ? 6 : 0, 1);
    if (gated_heads(c) <= 0)
        return op_fail(c, "attribute num_heads must be positive");
    return op_set(c, 0, op_dtype(c, 0), 4, (int64_t[]){batch, gated_heads(c), seq, seq});
}

static void gated_bias_cost(const op_ctx *c, op_cost *k)
{
    uint64_t query = op_in_elems(c, 0), out = op_out_elems(c, 0), width = ms_u(op_dim(c, 3, 1));
    uint64_t head = ms_u(op_dim(c, 3, 0)), tokens = head ? query / head : 0;
    ms_add(&k->add, query);
    op_add_mac(k, op_mul3(tokens, head, width));
    ms_add(&k->add, sat_mul(sat_mul(tokens, width), 2)); /* bias, and the sum of each half */
    ms_add(&k->special, sat_mul(tokens, 2));
    ms_add(&k->mul, sat_add(sat_mul(tokens, 2), out));
    ms_add(&k->add, sat_mul(tokens, 2));
}

/* ---- padding ---- */

static assay_status remove_padding_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 0, 3));
    int64_t batch = op_dim(c, 0, 0), seq = op_dim(c, 0, 1);
    int64_t tokens = ms_dim_mul(batch, seq);
    ir_dtype m = op_has(c, 1) ? op_dtype(c, 1) : IR_INT32;
    TRY(op_set(c, 0, op_dtype(c, 0), 2, (int64_t[]){tokens, op_dim(c, 0, 2)}));
    TRY(op_set(c, 1, m, 2, (int64_t[]){batch, seq}));
    TRY(op_set(c, 2, m, 1, (int64_t[]){ms_dim_add(batch, 1)}));
    TRY(op_set(c, 3, m, 1, (int64_t[]){1}));
    op_assume(c, "padding depends on data; none was assumed");
    return ASSAY_OK;
}

static assay_status restore_padding_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 0, 2));
    TRY(ms_want_rank(c, 1, 2));
    int64_t dims[] = {op_dim(c, 1, 0), op_dim(c, 1, 1), op_dim(c, 0, 1)};
    return op_set(c, 0, op_dtype(c, 0), 3, dims);
}

#define LONGFORMER_FORMULA                                                               \
    "B*S*D*3D MACs of the projections + B*H*S*min(S,2W+1)*2d MACs; per score 1 mul + 1 " \
    "add + softmax 5; "                                                                  \
    "global tokens are not counted"

static const op_row rows[] = {
    {MS_ROW("LongformerAttention", "attention", LONGFORMER_FORMULA, longformer_infer,
            longformer_cost),
     OP_SLOTS(7, 7, 1, 1), .weights = 3u << 1 | 3u << 4, .aux = 1u << 3 | 1u << 6,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("QOrderedLongformerAttention", "attention", LONGFORMER_FORMULA, longformer_infer,
            longformer_cost),
     OP_SLOTS(14, 14, 1, 1), .weights = 1u << 2 | 1u << 4 | 1u << 8 | 1u << 10,
     .aux = 1u << 1 | 1u << 3 | 7u << 5 | 1u << 9 | 7u << 11, .backward = OP_BW_NONE},
    {MS_ROW("DecoderAttention", "attention",
            "(Sq+2*Snew)*B*D*D MACs of the projections + B*H*Sq*Sk*2d MACs; per score 1 mul + "
            "softmax 5 + 1 add with a mask",
            decoder_infer, decoder_cost),
     OP_SLOTS(12, 12, 1, 3), .weights = 7u << 2, .aux = 1u << 5 | 15u << 8,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("RelativePositionBias", "gather", "0: a table lookup per output", position_bias_infer,
            NULL),
     OP_SLOTS(3, 3, 1, 1), .weights = 1u << 0, .aux = 3u << 1, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_ADD},
    {MS_ROW(
         "GatedRelativePositionBias", "attention",
         "B*S*H*d*D MACs of the gate + 1 add per query element + 2*D add, 2 special, 2 mul and 2 "
         "add per token and head + 1 mul per output",
         gated_bias_infer, gated_bias_cost),
     OP_SLOTS(6, 7, 1, 1), .weights = 1u << 1 | 15u << 2, .aux = 1u << 6,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("RemovePadding", "gather", "0: data movement", remove_padding_infer, NULL),
     OP_SLOTS(2, 2, 1, 4), .aux = 1u << 1, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {MS_ROW("RestorePadding", "scatter", "0: data movement", restore_padding_infer, NULL),
     OP_SLOTS(2, 2, 1, 1), .aux = 1u << 1, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
};
const op_rows op_ms_attention_more_rows = OP_ROWS(rows);
