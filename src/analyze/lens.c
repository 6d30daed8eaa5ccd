/* Lenses: what other tools would print for the same architecture, by their own counting rules.
 *
 * A lens is a table of rules, one per operator type (the op row's family). A rule adds up multiples of
 * the multiply-accumulates, of the biases, and of the elements of the first input and the first output;
 * types without a rule count nothing. Sources: the peers' counting code, checked against counts they
 * really gave (tests/data/peer_counts.csv). What a peer is known to miss because of how its users' code
 * calls an operator (thop does not see the projections inside nn.MultiheadAttention) is stated in
 * docs/lenses.md and not imitated.
 */
#include "analyze/lens_einsum.h"

/* Multiples that one rule adds up. */
typedef struct lens_rule {
    const char *types; /* op_row.type of each, blanks between */
    uint8_t mac, bias, in, out;
    bool weight_only; /* only when the second operand is a constant: what PyTorch calls nn.Linear */
    bool module_only; /* not where PyTorch code calls a function or a separate class */
    uint64_t (*more)(const op_ctx *c, const op_cost *k); /* what multiples cannot say; or NULL */
} lens_rule;

static bool second_is_constant(const op_ctx *c)
{
    return c->n_in > 1 && c->in_ids[1] != IR_NONE && ir_value_at(c->model, c->in_ids[1])->constant;
}

static uint64_t apply(const lens_rule *r, const op_ctx *c, const op_cost *k)
{
    if (r->weight_only && !second_is_constant(c))
        return 0;
    if (r->module_only && c->node->flags & IR_NODE_FUNCTION)
        return 0;
    uint64_t sum = sat_add(sat_mul(r->mac, k->mac), sat_mul(r->bias, k->add));
    sum = sat_add(sum, sat_mul(r->in, op_in_elems(c, 0)));
    sum = sat_add(sum, sat_mul(r->out, op_out_elems(c, 0)));
    return r->more ? sat_add(sum, r->more(c, k)) : sum;
}

static uint64_t by_rules(const lens_rule *rules, size_t n, const op_ctx *c, const op_cost *k)
{
    for (size_t r = 0; c->row && r < n; r++)
        if (str_in_list(str_of(c->row->type), rules[r].types, ' '))
            return apply(&rules[r], c, k);
    return 0;
}
#define BY_RULES(rules, c, k) by_rules((rules), sizeof(rules) / sizeof *(rules), (c), (k))

static uint64_t rows_of(const op_ctx *c)
{
    int64_t last = op_dim(c, 0, -1);
    return last > 0 ? op_in_elems(c, 0) / (uint64_t)last : 0;
}

static bool is_linear_resize(const op_ctx *c)
{
    return str_is(op_attr_str(c, "mode", "nearest"), "linear");
}

static bool is_adaptive(const op_ctx *c)
{
    return (c->node->flags & IR_NODE_ADAPTIVE) != 0;
}

/* Attention scores of one operator: one per head, query and key. */
static uint64_t scores_of(const op_ctx *c, const op_cost *k)
{
    int64_t width = op_dim(c, 0, -1);
    return width > 0 ? k->mac_qk / (uint64_t)width : 0;
}

/* ---- assay ---- */

static uint64_t lens_assay(const op_ctx *c, const op_cost *k)
{
    (void)c;
    uint64_t flops = sat_add(sat_mul(2, k->mac), sat_add(k->add, k->mul));
    return sat_add(sat_add(flops, sat_add(k->div, k->special)), k->cmp);
}

/* ---- torchvision and torch: contractions only ---- */

static uint64_t lens_torchvision(const op_ctx *c, const op_cost *k)
{
    (void)c;
    return k->mac;
}

static uint64_t lens_torch(const op_ctx *c, const op_cost *k)
{
    (void)c;
    return sat_mul(2, k->mac);
}

/* ---- fvcore: MACs called flops; norms 5 per element (4 without scale), pooling to one 1 ---- */

static uint64_t norm_scale(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return op_has(c, 1) ? op_in_elems(c, 0) : 0;
}

static uint64_t fvcore_resize(const op_ctx *c, const op_cost *k)
{
    (void)k;
    bool cubic = str_is(op_attr_str(c, "mode", "nearest"), "cubic");
    if (cubic || op_rank(c, 0) != 4)
        return 0;
    return sat_mul(is_linear_resize(c) ? 4 : 1, op_out_elems(c, 0));
}

/* FrozenBatchNorm2d is arithmetic that fvcore does not count. */
static uint64_t fvcore_batchnorm(const op_ctx *c, const op_cost *k)
{
    (void)k;
    bool frozen = c->n_in > 1 && c->in_ids[1] != IR_NONE &&
                  ir_value_at(c->model, c->in_ids[1])->flags & IR_VALUE_BUFFER;
    return frozen ? 0 : sat_mul(2, op_in_elems(c, 0));
}

/* Of poolings only aten::adaptive_avg_pool2d has a handle. */
static uint64_t fvcore_avgpool(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return is_adaptive(c) ? op_in_elems(c, 0) : 0;
}

static uint64_t fvcore_globalavgpool(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return op_rank(c, 0) == 4 ? op_in_elems(c, 0) : 0;
}

static const lens_rule fvcore_rules[] = {
    {"conv#d convtranspose#d linear matmul attention", .mac = 1},
    {"einsum", .more = lens_einsum_fvcore},
    {"batchnorm", .more = fvcore_batchnorm},
    {"layernorm groupnorm instancenorm", .in = 4, .more = norm_scale},
    {"avgpool", .more = fvcore_avgpool},
    {"globalavgpool", .more = fvcore_globalavgpool},
    {"resize", .more = fvcore_resize},
    {"gridsample", .out = 4},
};

static uint64_t lens_fvcore(const op_ctx *c, const op_cost *k)
{
    return BY_RULES(fvcore_rules, c, k);
}

/* ---- thop: MACs of modules; norms 4 per element ---- */

/* As for a convolution: per element of the output, though the input's elements are what is multiplied. */
static uint64_t thop_transposed(const op_ctx *c, const op_cost *k)
{
    uint64_t groups = (uint64_t)op_attr_int(c, "group", 1);
    uint64_t out = op_dim(c, 1, 1) > 0 ? sat_mul((uint64_t)op_dim(c, 1, 1), groups) : 0;
    (void)k;
    return out ? sat_mul(op_out_elems(c, 0), op_in_elems(c, 1) / out) : 0;
}

static uint64_t thop_softmax(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return sat_mul(3, op_in_elems(c, 0)) - rows_of(c);
}

static uint64_t thop_resize(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return is_linear_resize(c) ? sat_mul(11, op_out_elems(c, 0)) : 0;
}

static uint64_t thop_avgpool(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return sat_add(op_out_elems(c, 0), is_adaptive(c) ? op_in_elems(c, 0) : 0);
}

static const lens_rule thop_rules[] = {
    {"conv#d", .mac = 1},
    {"convtranspose#d", .more = thop_transposed},
    {"linear matmul", .mac = 1, .weight_only = true},
    {"batchnorm instancenorm groupnorm", .in = 4},
    {"layernorm", .in = 4, .module_only = true},
    {"softmax", .more = thop_softmax},
    {"avgpool", .module_only = true, .more = thop_avgpool},
    {"globalavgpool", .in = 1, .out = 1, .module_only = true},
    {"resize", .module_only = true, .more = thop_resize},
};

static uint64_t lens_thop(const op_ctx *c, const op_cost *k)
{
    return BY_RULES(thop_rules, c, k);
}

/* ---- calflops: 2 per MAC, a bias for convolutions, 1 per element of activations and pools ---- */

static const lens_rule calflops_rules[] = {
    {"conv#d convtranspose#d", .mac = 2, .bias = 1},
    {"linear matmul einsum", .mac = 2},
    {"batchnorm", .in = 2},
    {"layernorm groupnorm instancenorm", .in = 4, .more = norm_scale},
    {"relu prelu elu leakyrelu gelu swish softmax maxpool avgpool globalavgpool globalmaxpool",
     .in = 1},
    {"attention", .more = scores_of},
};

static uint64_t lens_calflops(const op_ctx *c, const op_cost *k)
{
    return BY_RULES(calflops_rules, c, k);
}

/* ---- onnx-tool: "instructions", with prices per function; it sees exported graphs, in which a
 * BatchNormalization behind a convolution is folded into the convolution's bias ---- */

static bool follows_convolution(const op_ctx *c)
{
    ir_id producer = c->n_in && c->in_ids[0] != IR_NONE
                         ? ir_value_at(c->model, c->in_ids[0])->producer
                         : IR_NONE;
    return producer != IR_NONE && str_is(ir_node_at(c->model, producer)->op, "Conv");
}

static uint64_t onnx_tool_batchnorm(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return sat_mul(follows_convolution(c) ? 1 : 31, op_out_elems(c, 0));
}

static uint64_t onnx_tool_layernorm(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return sat_add(sat_mul(7, op_out_elems(c, 0)), sat_mul(29, rows_of(c)));
}

/* Window elements per output: our own rule counts one comparison or addition for each. */
static uint64_t pool_windows(const op_ctx *c, const op_cost *k)
{
    (void)c;
    return k->cmp ? k->cmp : k->add;
}

static uint64_t onnx_tool_resize(const op_ctx *c, const op_cost *k)
{
    (void)k;
    return is_linear_resize(c) ? sat_mul(4, op_out_elems(c, 0)) : 0;
}

/* In an exported graph the queries are divided by a root and the scores go through a softmax. */
static uint64_t onnx_tool_attention(const op_ctx *c, const op_cost *k)
{
    return sat_add(sat_mul(36, scores_of(c, k)), sat_mul(4, op_in_elems(c, 0)));
}

static const lens_rule onnx_tool_rules[] = {
    {"conv#d convtranspose#d linear", .mac = 1, .bias = 1},
    {"matmul einsum", .mac = 1},
    {"attention", .mac = 1, .more = onnx_tool_attention},
    {"batchnorm", .more = onnx_tool_batchnorm},
    {"layernorm", .more = onnx_tool_layernorm},
    {"relu add sub mul", .out = 1},
    {"clip", .out = 2},
    {"sigmoid exp pow", .out = 32},
    {"swish", .out = 33},
    {"tanh", .out = 38},
    {"gelu", .out = 7},
    {"hardswish", .out = 5},
    {"hardsigmoid div", .out = 4},
    {"softmax", .out = 36},
    {"maxpool avgpool", .more = pool_windows},
    {"globalavgpool", .in = 1, .out = 4},
    {"reducemean", .in = 1},
    {"resize", .more = onnx_tool_resize},
    {"sqrt", .out = 24},
};

static uint64_t lens_onnx_tool(const op_ctx *c, const op_cost *k)
{
    return BY_RULES(onnx_tool_rules, c, k);
}

/* ---- the table ---- */

const lens lens_table[] = {
    {.name = "assay",
     .unit = "FLOP",
     .about = "2 per multiply-accumulate, 1 per other add, mul, div, compare and special function",
     .flops = lens_assay},
    {.name = "fvcore",
     .unit = "MAC",
     .about = "fvcore's FlopCountAnalysis: MACs, 2 per BatchNorm and 5 per LayerNorm element",
     .flops = lens_fvcore,
     .eager = true},
    {.name = "torchvision",
     .unit = "MAC",
     .about = "torchvision's published GFLOPS column: multiply-accumulates of conv and matmul",
     .flops = lens_torchvision,
     .eager = true},
    {.name = "torch",
     .unit = "FLOP",
     .about = "torch.utils.flop_counter.FlopCounterMode: twice the multiply-accumulates",
     .flops = lens_torch,
     .eager = true},
    {.name = "thop",
     .unit = "MAC",
     .about = "thop.profile: MACs of modules, 4 per norm element; ignores functional matmul",
     .flops = lens_thop,
     .eager = true},
    {.name = "calflops",
     .unit = "FLOP",
     .about = "calflops: 2 per MAC, 1 per element of activations and pools",
     .flops = lens_calflops,
     .eager = true},
    {.name = "onnx-tool",
     .unit = "instruction",
     .about = "onnx-tool: MACs plus priced functions (exp 32, softmax 36), BatchNorm folded",
     .flops = lens_onnx_tool,
     .eager = true},
};
const uint32_t lens_table_n = sizeof lens_table / sizeof *lens_table;

const lens *lens_find(str name)
{
    for (uint32_t k = 0; k < lens_table_n; k++)
        if (str_is(name, lens_table[k].name))
            return &lens_table[k];
    return NULL;
}
