/* com.microsoft attention with the projections fused in: Attention, QAttention,
 * DecoderMaskedSelfAttention, PackedAttention, QOrderedAttention.
 *
 *   input [B,S,D] · weight [D, 2·hidden + v_hidden] + bias -> Q, K, V of num_heads heads
 *   past [2,B,H,P,d]  present [2,B,H,P+S,d]  output [B,S,v_hidden]
 *
 * Packed operators carry the tokens of all sequences in one list [T,D] beside token_offset [B,S].
 * Reference: ContribOperators.md of ONNX Runtime.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms_attn.h"

#define NO_SLOT UINT32_MAX

/* Where an operator keeps its inputs. */
typedef struct fused_slots {
    uint32_t mask, past, length, score_bias;
} fused_slots;

static const fused_slots attention_slots = {3, 4, 6, 5};
static const fused_slots qattention_slots = {5, 8, NO_SLOT, NO_SLOT};

/* Widths of Q, K and V: the attribute, or thirds of the fused weight (or bias). */
static void hidden_sizes(const op_ctx *c, int64_t sizes[3])
{
    const int64_t *list;
    int64_t third = ms_dim_div(ms_dim_or(op_dim(c, 1, 1), op_dim(c, 2, 0)), 3);
    bool given = op_attr_ints(c, "qkv_hidden_sizes", &list) == 3;
    for (int i = 0; i < 3; i++)
        sizes[i] = given && list[i] >= 0 ? list[i] : third;
}

static void fused_heads(const op_ctx *c, ms_attn *a)
{
    int64_t sizes[3];
    hidden_sizes(c, sizes);
    a->heads = a->kv_heads = op_attr_int(c, "num_heads", -1);
    a->head = ms_dim_div(sizes[0], a->heads);
    a->v_head = ms_dim_div(sizes[2], a->heads);
    a->causal = op_attr_int(c, "unidirectional", 0) != 0;
}

static void fused_geometry(const op_ctx *c, const fused_slots *at, ms_attn *a)
{
    ms_attn_init(a);
    fused_heads(c, a);
    a->batch = op_dim(c, 0, 0);
    a->queries = a->fresh = op_dim(c, 0, 1);
    bool shared = op_attr_int(c, "past_present_share_buffer", 0) != 0;
    ms_attn_cache(c, a, op_has(c, at->past) ? op_dim(c, at->past, 3) : 0,
                  shared && op_has(c, at->past), at->length);
    a->per_score = op_has(c, at->mask) + op_has(c, at->score_bias);
}

/* The checks that all fused operators share. */
static assay_status fused_check(op_ctx *c, int input_rank)
{
    int64_t inner;
    TRY(ms_want_rank(c, 0, input_rank));
    TRY(ms_want_rank(c, 1, 2));
    if (op_attr_int(c, "num_heads", 0) <= 0)
        return op_fail(c, "attribute num_heads must be positive");
    int64_t width = op_dim(c, 0, -1), rows = op_dim(c, 1, 0);
    if (width >= 0 && rows >= 0 && width != rows)
        return op_fail(c, "input %s does not match weight %s", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    return op_same_dim(c, width, rows, "the input's width", &inner);
}

static assay_status fused_infer(op_ctx *c)
{
    const fused_slots *at = c->row->with;
    int64_t sizes[3];
    ms_attn a;
    TRY(fused_check(c, 3));
    if (op_has(c, at->past))
        TRY(ms_want_rank(c, at->past, 5));
    hidden_sizes(c, sizes);
    fused_geometry(c, at, &a);
    ir_dtype t = op_has(c, 2) ? op_dtype(c, 2) : op_dtype(c, 0);
    TRY(op_set(c, 0, t, 3, (int64_t[]){a.batch, a.queries, sizes[2]}));
    TRY(op_set(c, 1, t, 5, (int64_t[]){2, a.batch, a.heads, ms_attn_present(&a), a.head}));
    ms_attn_book(c, &a);
    return ASSAY_OK;
}

/* Projections: every token times the fused weight, and its bias. */
static void project_cost(const op_ctx *c, op_cost *k, uint64_t tokens)
{
    uint64_t width = ms_u(ms_dim_or(op_dim(c, 1, 1), op_dim(c, 2, 0)));
    uint64_t outputs = sat_mul(tokens, width);
    op_add_mac(k, sat_mul(outputs, ms_u(op_dim(c, 0, -1))));
    if (op_has(c, 2))
        ms_add(&k->add, outputs);
}

static void fused_cost(const op_ctx *c, op_cost *k)
{
    const fused_slots *at = c->row->with;
    ms_attn a;
    fused_geometry(c, at, &a);
    project_cost(c, k, sat_mul(ms_u(a.batch), ms_u(a.queries)));
    if (op_attr_int(c, "do_rotary", 0) != 0)
        ms_rotary_cost(k, sat_add(ms_attn_q_elems(&a), ms_attn_k_elems(&a)));
    ms_attn_cost(c, k, &a);
    uint64_t per_token = ms_product(3, (const int64_t[]){a.batch, a.heads, a.head});
    ms_attn_cache_bytes(c, k, &a, at->past, 1, sat_mul(per_token, 2));
}

/* ---- PackedAttention: input [T,D], token_offset [B,S] at 3, cumulative lengths [B+1] at 4 ---- */

static assay_status packed_infer(op_ctx *c)
{
    int64_t sizes[3];
    TRY(fused_check(c, 2));
    hidden_sizes(c, sizes);
    TRY(op_set(c, 0, op_dtype(c, 0), 2, (int64_t[]){op_dim(c, 0, 0), sizes[2]}));
    op_assume(c, "every packed token was assumed to attend to the longest sequence");
    return ASSAY_OK;
}

static void packed_cost(const op_ctx *c, op_cost *k)
{
    ms_attn a;
    ms_attn_init(&a);
    fused_heads(c, &a);
    a.per_score = op_has(c, 5);
    uint64_t tokens = ms_u(op_dim(c, 0, 0));
    project_cost(c, k, tokens);
    a.batch = 1;
    a.queries = op_dim(c, 0, 0);
    a.total = op_dim(c, 3, 1);
    ms_attn_cost(c, k, &a);
}

/* ---- QOrderedAttention: separate int8 weights at 5, 6, 7 and biases at 11, 12, 13 ---- */

static void qordered_geometry(const op_ctx *c, ms_attn *a)
{
    ms_attn_init(a);
    a->heads = a->kv_heads = op_attr_int(c, "num_heads", -1);
    a->head = ms_dim_div(op_dim(c, 5, 1), a->heads);
    a->v_head = ms_dim_div(op_dim(c, 7, 1), a->heads);
    a->causal = op_attr_int(c, "unidirectional", 0) != 0;
    a->batch = op_dim(c, 0, 0);
    a->queries = a->fresh = op_dim(c, 0, 1);
    ms_attn_cache(c, a, op_has(c, 18) ? op_dim(c, 18, 3) : 0, false, NO_SLOT);
    a->per_score = op_has(c, 17) + op_has(c, 19);
}

static assay_status qordered_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 0, 3));
    int64_t dims[] = {op_dim(c, 0, 0), op_dim(c, 0, 1), op_dim(c, 7, 1)};
    return op_set(c, 0, op_dtype(c, 0), 3, dims);
}

static void qordered_cost(const op_ctx *c, op_cost *k)
{
    ms_attn a;
    qordered_geometry(c, &a);
    uint64_t tokens = sat_mul(ms_u(a.batch), ms_u(a.queries));
    for (uint32_t w = 5; w <= 7; w++) {
        uint64_t outputs = sat_mul(tokens, ms_u(op_dim(c, w, 1)));
        op_add_mac(k, sat_mul(outputs, ms_u(op_dim(c, 0, 2))));
        ms_add(&k->add, outputs);
    }
    ms_attn_cost(c, k, &a);
}

#define FUSED_FORMULA                                                                     \
    "B*S*D*(dq+dk+dv) MACs of the projections + B*H*Sq*Sk*(dk+dv) MACs; per score 1 mul " \
    "+ softmax "                                                                          \
    "5 + 1 add per mask and bias; 1 add per projected element with a bias"

static const op_row rows[] = {
    {MS_ROW("Attention", "attention", FUSED_FORMULA, fused_infer, fused_cost),
     .with = &attention_slots, OP_SLOTS(2, 7, 1, 2), .batch_axis = op_batch_first,
     .weights = 1u << 1 | 1u << 2, .aux = 1u << 3 | 1u << 6, .needs = op_need_matrix,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("DecoderMaskedSelfAttention", "attention", FUSED_FORMULA, fused_infer, fused_cost),
     .with = &attention_slots, OP_SLOTS(7, 9, 1, 2), .weights = 1u << 1 | 1u << 2,
     .aux = 1u << 3 | 1u << 6 | 1u << 7 | 1u << 8, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_BOTH},
    {MS_ROW("QAttention", "attention", FUSED_FORMULA, fused_infer, fused_cost),
     .with = &qattention_slots, OP_SLOTS(5, 9, 1, 2), .weights = 1u << 1 | 1u << 2,
     .aux = 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7, .backward = OP_BW_NONE},
    {MS_ROW("PackedAttention", "attention",
            "T*D*(dq+dk+dv) MACs of the projections + T*S*H*(dk+dv) MACs (T tokens, S the longest "
            "sequence); per score 1 mul + softmax 5 + 1 add with a bias",
            packed_infer, packed_cost),
     OP_SLOTS(5, 6, 1, 1), .weights = 1u << 1 | 1u << 2, .aux = 1u << 3 | 1u << 4,
     .needs = op_need_matrix, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("QOrderedAttention", "attention", FUSED_FORMULA, qordered_infer, qordered_cost),
     OP_SLOTS(17, 20, 1, 1), .weights = 7u << 5 | 7u << 11, .aux = 15u << 1 | 7u << 8 | 15u << 14,
     .backward = OP_BW_NONE},
};
const op_rows op_ms_attention_rows = OP_ROWS(rows);
