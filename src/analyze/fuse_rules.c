/* Which kernels exist, one row per kind of fusion, and what a layer is to the partitioner, by its family
 * (ops/family.h) and its operands. docs/fusion.md explains them.
 */
#include "analyze/fuse.h"

#define BIT(role) (1u << (role))

/* Elementwise with one result element per element of the tensor that matters. */
#define EPILOGUE (BIT(ROLE_AFFINE) | BIT(ROLE_ACT) | BIT(ROLE_BIAS) | BIT(ROLE_POINT))
#define RESIDUAL (BIT(ROLE_ADD) | BIT(ROLE_BINARY))
#define CORE     (BIT(ROLE_CONV) | BIT(ROLE_MATMUL))
#define NORMS    (BIT(ROLE_NORM) | BIT(ROLE_ROW_NORM))

const fuse_rule fuse_rules[] = {
    {.about = "A convolution or matrix product with the elementwise operators after it: batch "
              "norm, bias, activation, scaling, casts.",
     .group = CORE,
     .next = EPILOGUE,
     .from = FUSE_CONVENTIONAL},
    {.about = "Quantisation of its result.",
     .group = CORE,
     .next = BIT(ROLE_QUANT),
     .from = FUSE_CONVENTIONAL},
    {.about = "Quantised operands, which the kernel reads directly.",
     .group = BIT(ROLE_DEQUANT),
     .next = CORE,
     .before = true,
     .from = FUSE_CONVENTIONAL},
    {.about = "Padding done by the convolution or pooling after it.",
     .group = BIT(ROLE_PAD),
     .next = BIT(ROLE_CONV) | BIT(ROLE_POOL),
     .before = true,
     .from = FUSE_CONVENTIONAL},
    {.about = "A chain of elementwise operators, with their other operands.",
     .group = EPILOGUE | RESIDUAL | BIT(ROLE_DEQUANT),
     .next = EPILOGUE | RESIDUAL | BIT(ROLE_QUANT),
     .from = FUSE_CONVENTIONAL},
    {.about = "Head transposes, which the attention kernel avoids by strided reads.",
     .group = BIT(ROLE_LAYOUT),
     .next = BIT(ROLE_ATTENTION),
     .before = true,
     .from = FUSE_CONVENTIONAL},
    {.about = "A residual addition, done while the layer or RMS norm after it loads its row. The "
              "sum is also stored if others read it.",
     .group = BIT(ROLE_ADD),
     .next = BIT(ROLE_ROW_NORM),
     .before = true,
     .forks = true,
     .from = FUSE_CONVENTIONAL},
    {.about = "A residual addition or multiplication, done on the result of the convolution, "
              "matrix product or block before it is stored.",
     .group = CORE | BIT(ROLE_ATTENTION) | BIT(ROLE_BLOCK),
     .next = RESIDUAL,
     .from = FUSE_AGGRESSIVE},
    {.about = "Elementwise operators after a normalisation, pooling, attention or block.",
     .group = NORMS | BIT(ROLE_POOL) | BIT(ROLE_ATTENTION) | BIT(ROLE_BLOCK),
     .next = EPILOGUE | BIT(ROLE_QUANT),
     .from = FUSE_AGGRESSIVE},
    {.about = "Elementwise operators computed while the convolution, matrix product, normalisation "
              "or pooling after them loads its operand.",
     .group = EPILOGUE | RESIDUAL,
     .next = CORE | NORMS | BIT(ROLE_POOL),
     .before = true,
     .from = FUSE_AGGRESSIVE},
    {.about = "A result stored in another layout.",
     .group = CORE | EPILOGUE | RESIDUAL | NORMS | BIT(ROLE_ATTENTION),
     .next = BIT(ROLE_LAYOUT),
     .from = FUSE_AGGRESSIVE},
    {.about = "An operand loaded in another layout.",
     .group = BIT(ROLE_LAYOUT),
     .next = BIT(ROLE_MATMUL) | EPILOGUE | RESIDUAL | NORMS,
     .before = true,
     .from = FUSE_AGGRESSIVE},
};
const uint32_t fuse_rules_n = sizeof fuse_rules / sizeof *fuse_rules;

static const char *const strategy_names[FUSE_STRATEGIES] = {"none", "conventional", "aggressive"};

const char *fuse_strategy_name(fuse_strategy s)
{
    return strategy_names[s];
}

static const char *const role_names[ROLE_COUNT] = {
    [ROLE_CONV] = "conv",
    [ROLE_MATMUL] = "matmul",
    [ROLE_ATTENTION] = "attention",
    [ROLE_AFFINE] = "bn",
    [ROLE_ACT] = "act",
    [ROLE_BIAS] = "bias",
    [ROLE_ADD] = "add",
    [ROLE_BINARY] = "elementwise",
    [ROLE_POINT] = "elementwise",
    [ROLE_LAYOUT] = "transpose",
    [ROLE_PAD] = "pad",
    [ROLE_DEQUANT] = "dequantize",
    [ROLE_QUANT] = "quantize",
};

const char *fuse_role_name(fuse_role role)
{
    return role_names[role];
}

/* ---- roles ---- */

static const fuse_role roles[OPR_COUNT] = {
    [OPR_NONE] = ROLE_ALONE,    [OPR_CONV] = ROLE_CONV,
    [OPR_MATMUL] = ROLE_MATMUL, [OPR_ATTENTION] = ROLE_ATTENTION,
    [OPR_NORM] = ROLE_NORM,     [OPR_POOL] = ROLE_POOL,
    [OPR_AFFINE] = ROLE_AFFINE, [OPR_ACT] = ROLE_ACT,
    [OPR_POINT] = ROLE_POINT,   [OPR_PAD] = ROLE_PAD,
    [OPR_LAYOUT] = ROLE_LAYOUT, [OPR_DEQUANT] = ROLE_DEQUANT,
    [OPR_QUANT] = ROLE_QUANT,
};

/* Inputs that are no smaller than the result: two of them make it binary. */
static uint32_t full_operands(const flow *f, uint32_t layer)
{
    const ir_node *n = flow_node(f, layer);
    int64_t out = n->n_outputs && n->outputs[0] != IR_NONE ? op_numel(&f->r->info[n->outputs[0]])
                                                           : -1;
    uint32_t full = 0;
    for (uint32_t i = 0; i < n->n_inputs && full < 2; i++) {
        ir_id v = n->inputs[i];
        if (v == IR_NONE || f->r->origin[v] != IR_NONE || ir_value_at(f->r->model, v)->constant)
            continue;
        int64_t in = op_numel(&f->r->info[v]);
        full += in < 0 || out < 0 || in >= out;
    }
    return full;
}

static fuse_role elementwise_role(const flow *f, uint32_t layer)
{
    op_algebra a = flow_family(f, layer)->algebra;
    bool adds = a == OPA_ADD || a == OPA_SUM;
    if (full_operands(f, layer) > 1)
        return adds ? ROLE_ADD : ROLE_BINARY;
    return adds ? ROLE_BIAS : ROLE_POINT;
}

fuse_role fuse_role_of(const flow *f, uint32_t layer)
{
    const op_row *row = flow_row(f, layer);
    if (!row || (row->flags & (OPF_CONTROL | OPF_SHAPE_ONLY | OPF_RANDOM)))
        return ROLE_ALONE;
    if (row->flags & OPF_VIEW)
        return ROLE_VIEW;
    op_role role = flow_family(f, layer)->role;
    if (role == OPR_POINT && full_operands(f, layer) > 1)
        return ROLE_BINARY;
    if (role == OPR_NORM && (flow_family(f, layer)->is & OPS_ROW_NORM))
        return ROLE_ROW_NORM;
    if (role != OPR_NONE)
        return roles[role];
    return row->flags & OPF_ELEMENTWISE ? elementwise_role(f, layer) : ROLE_ALONE;
}
