/* The table of families; see family.h. tests/unit/ops/test_ops_family.c walks it. */
#include "ops/family.h"

#include <ctype.h>

#define ROLE(type_, role_)              \
    {                                   \
        type_, role_, OPA_NONE, 0, NULL \
    }
#define NAMED(type_, role_, name_)       \
    {                                    \
        type_, role_, OPA_NONE, 0, name_ \
    }
#define ALGEBRA(type_, algebra_)           \
    {                                      \
        type_, OPR_NONE, algebra_, 0, NULL \
    }

enum { VIEW_OF = OPS_SAME_VALUE | OPS_MOVES_NUMBERS };

const op_family op_families[] = {
    ALGEBRA("add", OPA_ADD),
    ROLE("affine", OPR_AFFINE),
    NAMED("attention", OPR_ATTENTION, "attention"),
    ROLE("avgpool", OPR_POOL),
    ROLE("batchnorm", OPR_AFFINE),
    {"cast", OPR_POINT, OPA_NONE, VIEW_OF | OPS_CONVERTS, NULL},
    ROLE("celu", OPR_ACT),
    ROLE("clip", OPR_ACT),
    {"concat", OPR_NONE, OPA_NONE, OPS_MOVES_NUMBERS, NULL},
    {"conv#d", OPR_CONV, OPA_NONE, OPS_CONVOLVES | OPS_USUAL_LOOPS, NULL},
    ROLE("convtranspose#d", OPR_CONV),
    ROLE("deformconv#d", OPR_CONV),
    ROLE("depthtospace", OPR_LAYOUT),
    ROLE("dequantize", OPR_DEQUANT),
    ALGEBRA("div", OPA_DIV),
    {"dropout", OPR_POINT, OPA_NONE, OPS_SAME_VALUE, NULL},
    ROLE("einsum", OPR_MATMUL),
    ROLE("elu", OPR_ACT),
    {"expand", OPR_NONE, OPA_NONE, VIEW_OF | OPS_REPEATS, NULL},
    {"flatten", OPR_NONE, OPA_NONE, VIEW_OF, NULL},
    {"gather", OPR_NONE, OPA_NONE, OPS_PICKS, NULL},
    NAMED("gelu", OPR_ACT, "gelu"),
    {"globalavgpool", OPR_POOL, OPA_NONE, OPS_AVERAGES, NULL},
    ROLE("globallppool", OPR_POOL),
    ROLE("globalmaxpool", OPR_POOL),
    NAMED("groupnorm", OPR_NORM, "groupnorm"),
    ROLE("hardsigmoid", OPR_ACT),
    NAMED("hardswish", OPR_ACT, "hardswish"),
    {"identity", OPR_POINT, OPA_NONE, VIEW_OF, NULL},
    ROLE("instancenorm", OPR_NORM),
    {"layernorm", OPR_NORM, OPA_NONE, OPS_ROW_NORM, "layernorm"},
    ROLE("leakyrelu", OPR_ACT),
    {"linear", OPR_MATMUL, OPA_NONE, OPS_USUAL_LOOPS, NULL},
    ROLE("linearattention", OPR_ATTENTION),
    ROLE("logsoftmax", OPR_NORM),
    ROLE("lpnorm", OPR_NORM),
    ROLE("lppool", OPR_POOL),
    ROLE("lrn", OPR_NORM),
    {"matmul", OPR_MATMUL, OPA_NONE, OPS_USUAL_LOOPS, NULL},
    ROLE("maxpool", OPR_POOL),
    NAMED("mish", OPR_ACT, "mish"),
    ALGEBRA("mul", OPA_MUL),
    ROLE("mvn", OPR_NORM),
    ALGEBRA("neg", OPA_NEG),
    ROLE("pad", OPR_PAD),
    ALGEBRA("pow", OPA_POW),
    ROLE("prelu", OPR_ACT),
    ROLE("quantize", OPR_QUANT),
    ALGEBRA("reciprocal", OPA_RECIPROCAL),
    ROLE("reducel2", OPR_POOL),
    ROLE("reducemax", OPR_POOL),
    {"reducemean", OPR_POOL, OPA_NONE, OPS_AVERAGES, NULL},
    ROLE("reducemin", OPR_POOL),
    ROLE("reducesum", OPR_POOL),
    ROLE("reducesumsquare", OPR_POOL),
    ROLE("relu", OPR_ACT),
    {"reshape", OPR_NONE, OPA_NONE, VIEW_OF, NULL},
    {"rmsnorm", OPR_NORM, OPA_NONE, OPS_ROW_NORM, "rmsnorm"},
    NAMED("rotaryembedding", OPR_POINT, "rotary"),
    ROLE("scale", OPR_AFFINE),
    ROLE("selu", OPR_ACT),
    ROLE("sigmoid", OPR_ACT),
    {"slice", OPR_NONE, OPA_NONE, OPS_MOVES_NUMBERS | OPS_CUTS, NULL},
    {"softmax", OPR_NORM, OPA_NONE, OPS_WEIGHS, NULL},
    ROLE("softplus", OPR_ACT),
    ROLE("softsign", OPR_ACT),
    ROLE("spacetodepth", OPR_LAYOUT),
    {"split", OPR_NONE, OPA_NONE, OPS_MOVES_NUMBERS | OPS_CUTS, NULL},
    ALGEBRA("sqrt", OPA_SQRT),
    {"squeeze", OPR_NONE, OPA_NONE, VIEW_OF, NULL},
    ALGEBRA("sub", OPA_SUB),
    ALGEBRA("sum", OPA_SUM),
    NAMED("swish", OPR_ACT, "silu"),
    ROLE("tanh", OPR_ACT),
    ROLE("thresholdedrelu", OPR_ACT),
    {"tile", OPR_NONE, OPA_NONE, OPS_REPEATS, NULL},
    {"transpose", OPR_LAYOUT, OPA_NONE, OPS_MOVES_NUMBERS | OPS_REORDERS, NULL},
    {"unsqueeze", OPR_NONE, OPA_NONE, VIEW_OF, NULL},
    {"where", OPR_POINT, OPA_NONE, OPS_MOVES_NUMBERS, NULL},
};
const uint32_t op_families_n = sizeof op_families / sizeof *op_families;

/* "conv2d" is of "conv#d". */
static char at(str type, uint32_t i)
{
    bool rank = i + 2 == type.n && type.p[i + 1] == 'd' && isdigit((unsigned char)type.p[i]);
    return rank ? '#' : type.p[i];
}

static int compare(str type, const char *with)
{
    for (uint32_t i = 0; i < type.n; i++) {
        int d = (unsigned char)at(type, i) - (unsigned char)with[i];
        if (d || !with[i])
            return d ? d : 1;
    }
    return with[type.n] ? -1 : 0;
}

const op_family *op_family_find(str type)
{
    static const op_family nothing = {.type = ""};
    uint32_t low = 0, high = op_families_n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int d = compare(type, op_families[mid].type);
        if (d == 0)
            return &op_families[mid];
        if (d > 0)
            low = mid + 1;
        else
            high = mid;
    }
    return &nothing;
}
