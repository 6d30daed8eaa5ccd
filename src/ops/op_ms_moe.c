/* com.microsoft mixtures of experts: MoE, QMoE, ShardedMoE.
 *
 * Each of T tokens goes through k of E experts: T·k·(elements of one expert's matrices) MACs. The
 * layout of the weights has changed between releases; elements / E holds for all of them. At most
 * min(E, T·k) experts are touched, and only so much of the weights is read.
 *
 * Routing: softmax 5 and 1 cmp per router output, 1 mul + 1 add per element to join the experts.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"
#include "ops/op_util_norm.h"

/* Input slots of the three layers: weights and biases. */
typedef struct moe_slots {
    uint32_t weight[3], bias[3];
} moe_slots;

static const moe_slots plain_at = {{2, 4, 6}, {3, 5, 7}};
static const moe_slots quant_at = {{2, 5, 8}, {4, 7, 10}};

static assay_status moe_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    if (rank >= 0 && rank != 2 && rank != 3)
        return op_fail(c, "input %s must have rank 2 or 3", op_shape_text(c, 0));
    if (op_attr_int(c, "k", 1) <= 0)
        return op_fail(c, "attribute k must be positive");
    return op_set_like(c, 0, 0);
}

/* Values packed into one stored element. */
static uint64_t packed(const op_ctx *c, ir_dtype t)
{
    str kind = op_attr_str(c, "quant_type", "int");
    int64_t bits = op_attr_int(c, "expert_weight_bits", 4);
    if (!str_is(c->node->op, "QMoE") || t != IR_UINT8)
        return 1;
    if (!str_is(kind, "int"))
        return str_contains(kind, "fp4") ? 2 : 1;
    return bits == 2 || bits == 4 ? (uint64_t)(8 / bits) : 1;
}

static uint64_t tokens_of(const op_ctx *c)
{
    uint64_t width = ms_u(op_dim(c, 0, -1));
    return width ? op_in_elems(c, 0) / width : 0;
}

static uint64_t expert_elems(const op_ctx *c, uint32_t i)
{
    uint64_t experts = ms_u(op_dim(c, i, 0));
    return experts ? sat_mul(op_in_elems(c, i) / experts, packed(c, op_dtype(c, i))) : 0;
}

/* One layer of the chosen experts; the outputs of its bias. */
static void layer_cost(const op_ctx *c, op_cost *k, uint32_t w, uint32_t bias, uint64_t visits)
{
    if (!op_has(c, w))
        return;
    uint64_t experts = ms_u(op_dim(c, w, 0)), touched = visits < experts ? visits : experts;
    op_add_mac(k, sat_mul(visits, expert_elems(c, w)));
    if (experts)
        op_read_elems(c, k, w, sat_mul(op_in_elems(c, w) / experts, touched));
    if (op_has(c, bias))
        ms_add(&k->add, sat_mul(visits, ms_u(op_dim(c, bias, 1))));
}

/* G·sigmoid(alpha·G)·(L + beta) for swiglu, after the fused or the separate second matrix. */
static void gate_cost(const op_ctx *c, op_cost *k, uint64_t n, bool gated)
{
    str name = op_attr_str(c, "activation_type", "relu");
    if (str_is(name, "swiglu")) {
        ms_add(&k->mul, sat_mul(n, 3));
        ms_add(&k->add, n);
        ms_add(&k->special, n);
        return;
    }
    ms_act_cost(k, ms_act_find(name), n);
    if (gated)
        ms_add(&k->mul, n);
}

static void moe_cost(const op_ctx *c, op_cost *k)
{
    const moe_slots *at = c->row->with;
    uint64_t tokens = tokens_of(c), visits = sat_mul(tokens, ms_u(op_attr_int(c, "k", 1)));
    uint64_t width = ms_u(op_dim(c, 0, -1));
    uint64_t inner = width ? expert_elems(c, at->weight[1]) / width : 0;
    for (int i = 0; i < 3; i++)
        layer_cost(c, k, at->weight[i], at->bias[i], visits);
    gate_cost(c, k, sat_mul(visits, inner), op_has(c, at->weight[2]));
    op_softmax_cost(c, k, op_in_elems(c, 1));
    ms_add(&k->cmp, op_in_elems(c, 1));
    ms_add(&k->mul, sat_mul(visits, width));
    ms_add(&k->add, sat_mul(visits, width));
}

static uint64_t qmoe_elems(const op_ctx *c, uint32_t input, const ir_tensor *t)
{
    bool weight = input == 2 || input == 5 || input == 8;
    return weight ? sat_mul(t->n_elems, packed(c, t->dtype)) : t->n_elems;
}

#define MOE_WORDS                                                                          \
    "T*k*(elements of one expert) MACs; softmax 5 + 1 cmp per router output; per visited " \
    "expert: 1 "                                                                           \
    "add per bias, the activation, 1 mul + 1 add per element to join"

static const op_row rows[] = {
    {MS_ROW("MoE", "moe", MOE_WORDS, moe_infer, moe_cost), .with = &plain_at, OP_SLOTS(5, 8, 1, 1),
     .weights = 63u << 2, .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("ShardedMoE", "moe", MOE_WORDS, moe_infer, moe_cost), .with = &plain_at,
     OP_SLOTS(5, 8, 1, 1), .weights = 63u << 2, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_BOTH},
    {MS_ROW("QMoE", "moe", MOE_WORDS, moe_infer, moe_cost), .with = &quant_at,
     OP_SLOTS(6, 21, 1, 1), .weights = 1u << 2 | 3u << 4 | 3u << 7 | 1u << 10,
     .aux = 1u << 3 | 1u << 6 | 1u << 9 | 7u << 11 | 63u << 15, .backward = OP_BW_NONE,
     .weight_elems = qmoe_elems},
};
const op_rows op_ms_moe_rows = OP_ROWS(rows);
