/* Activation functions: shape and dtype of the input. The operations of each are those of its
 * textbook formula with a transcendental at 1; sigmoid, tanh and erf count as one special function
 * each.
 */
#include <math.h>

#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* Gate and value must agree: no broadcasting. */
static assay_status swiglu(op_ctx *c)
{
    int rank = op_rank(c, 0), rank2 = op_rank(c, 1);
    int64_t dims[IR_MAX_RANK];
    if (rank < 0 || rank2 < 0)
        return op_set_shape_of(c, 0, op_dtype(c, 0), rank < 0);
    if (rank != rank2)
        return op_fail(c, "gate %s and value %s differ in rank", op_shape_text(c, 0),
                       op_shape_text(c, 1));
    for (int d = 0; d < rank; d++)
        TRY(op_same_dim(c, op_dim(c, 0, d), op_dim(c, 1, d), "a dim of gate and value", &dims[d]));
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- values: only of those that occur in shape arithmetic ---- */

static bool relu_i(int64_t a, int64_t *r)
{
    *r = a > 0 ? a : 0;
    return true;
}
static double relu_f(double a)
{
    return a > 0 || isnan(a) ? a : 0;
}
static double sigmoid_f(double a)
{
    return 1 / (1 + exp(-a));
}

static assay_status relu_value(op_ctx *c)
{
    static const ev_fn1 f = {relu_i, relu_f};
    return ev_unary(c, &f);
}

static assay_status sigmoid_value(op_ctx *c)
{
    static const ev_fn1 f = {NULL, sigmoid_f};
    return ev_unary(c, &f);
}

/* A bound of Clip from input i (11 and later) or attribute (before). */
typedef struct clip_bound {
    bool present, known;
    op_cell cell;
} clip_bound;

static clip_bound clip_bound_of(const op_ctx *c, uint32_t i, const char *name)
{
    clip_bound b = {.present = op_has(c, i)};
    const op_val *v = ev_input(c, i);
    if (b.present) {
        b.known = v && v->n == 1 && op_val_known(v, 0);
        b.cell = b.known ? v->cells[0] : (op_cell){0};
    } else if (op_attr_has(c, name)) {
        double value = op_attr_float(c, name, 0);
        b.present = true;
        b.known = ev_convert((op_cell){.f = value}, IR_FLOAT64, op_dtype(c, 0), &b.cell);
    }
    return b;
}

/* min(max(x, low), high): high wins where the bounds cross. */
static assay_status clip_value(op_ctx *c)
{
    const op_val *in = ev_input(c, 0);
    clip_bound low = clip_bound_of(c, 1, "min"), high = clip_bound_of(c, 2, "max");
    if (!in || (low.present && !low.known) || (high.present && !high.known))
        return ASSAY_OK;
    op_val *v = ev_output(c, 0);
    for (int64_t k = 0; v && k < v->n; k++) {
        op_cell x = in->cells[k];
        if (!op_val_known(in, k) ||
            (low.present && !ev_apply2(&ev_max, op_dtype(c, 0), x, low.cell, &x)) ||
            (high.present && !ev_apply2(&ev_min, op_dtype(c, 0), x, high.cell, &x)))
            continue;
        ev_store(v, k, op_dtype(c, 0), x);
    }
    return ev_finish(c, 0, v);
}

/* ---- costs ---- */

#define MIX(name, ...)                                                 \
    static void name##_cost(const op_ctx *c, op_cost *k)               \
    {                                                                  \
        op_count_mix(c, k, (op_mix){__VA_ARGS__}, op_out_elems(c, 0)); \
    }

MIX(leaky_relu, .cmp = 1, .mul = 1)
MIX(elu, .cmp = 1, .special = 1, .add = 1, .mul = 1)
MIX(selu, .cmp = 1, .special = 1, .add = 1, .mul = 2)
MIX(celu, .cmp = 2, .special = 1, .add = 2, .mul = 1, .div = 1)
MIX(gelu_erf, .mul = 3, .add = 1, .special = 1)
MIX(gelu_tanh, .mul = 6, .add = 2, .special = 1)
MIX(hard_sigmoid, .mul = 1, .add = 1, .cmp = 2)
MIX(hard_swish, .mul = 2, .add = 1, .cmp = 2)
MIX(softplus, .special = 2, .add = 1)
MIX(softsign, .cmp = 1, .add = 1, .div = 1)
MIX(mish, .special = 3, .add = 1, .mul = 1)
MIX(shrink, .cmp = 2, .add = 1)

static void gelu_cost(const op_ctx *c, op_cost *k)
{
    if (str_is(op_attr_str(c, "approximate", "none"), "tanh"))
        gelu_tanh_cost(c, k);
    else
        gelu_erf_cost(c, k);
}

/* x * sigmoid(alpha x): the inner multiply vanishes for the usual alpha of 1. */
static void swish_cost(const op_ctx *c, op_cost *k)
{
    uint8_t scaled = op_attr_float(c, "alpha", 1) != 1;
    op_count_mix(c, k, (op_mix){.special = 1, .mul = (uint8_t)(1 + scaled)}, op_out_elems(c, 0));
}

static void swiglu_cost(const op_ctx *c, op_cost *k)
{
    swish_cost(c, k);
    op_count(c, k, &k->mul, op_out_elems(c, 0));
}

/* One compare per bound that is there. */
static void clip_cost(const op_ctx *c, op_cost *k)
{
    uint64_t bounds = (uint64_t)(op_has(c, 1) || op_attr_has(c, "min")) +
                      (uint64_t)(op_has(c, 2) || op_attr_has(c, "max"));
    op_count(c, k, &k->cmp, sat_mul(bounds, op_out_elems(c, 0)));
}

/* ---- rows ---- */

#define ACT(name_, type_, versions_, formula_, value_, cost_, saves_)                        \
    {                                                                                        \
        OP_ROW("", name_, type_, versions_, "per element: " formula_, op_infer_like, cost_), \
            OP_SLOTS(1, 1, 1, 1), .value = value_, .flags = OPF_ELEMENTWISE | OPF_INPLACE,   \
                                  .backward = OP_BW_ELEMENTWISE, .saves = saves_             \
    }

static const op_row rows[] = {
    ACT("Relu", "relu", "1,6,13,14", "1 cmp", relu_value, op_cost_cmp1, OP_SAVE_OUTPUT),
    ACT("LeakyRelu", "leakyrelu", "1,6,16", "1 cmp + 1 mul", NULL, leaky_relu_cost, OP_SAVE_OUTPUT),
    ACT("ThresholdedRelu", "thresholdedrelu", "1,10,22", "1 cmp", NULL, op_cost_cmp1,
        OP_SAVE_OUTPUT),
    ACT("Elu", "elu", "1,6,22", "1 cmp + 1 special + 1 add + 1 mul", NULL, elu_cost,
        OP_SAVE_OUTPUT),
    ACT("Selu", "selu", "1,6,22", "1 cmp + 1 special + 1 add + 2 mul", NULL, selu_cost,
        OP_SAVE_OUTPUT),
    ACT("Celu", "celu", "12,28", "2 cmp + 1 special + 2 add + 1 mul + 1 div", NULL, celu_cost,
        OP_SAVE_OUTPUT),
    ACT("Gelu", "gelu", "20", "1 special + 3 mul + 1 add; tanh form 1 special + 6 mul + 2 add",
        NULL, gelu_cost, OP_SAVE_INPUTS),
    ACT("HardSigmoid", "hardsigmoid", "1,6,22", "1 mul + 1 add + 2 cmp", NULL, hard_sigmoid_cost,
        OP_SAVE_OUTPUT),
    ACT("HardSwish", "hardswish", "14,22", "2 mul + 1 add + 2 cmp", NULL, hard_swish_cost,
        OP_SAVE_INPUTS),
    ACT("Sigmoid", "sigmoid", "1,6,13", "1 special", sigmoid_value, op_cost_special1,
        OP_SAVE_OUTPUT),
    ACT("Softplus", "softplus", "1,22", "2 special + 1 add", NULL, softplus_cost, OP_SAVE_INPUTS),
    ACT("Softsign", "softsign", "1,22", "1 cmp + 1 add + 1 div", NULL, softsign_cost,
        OP_SAVE_INPUTS),
    ACT("Mish", "mish", "18,22", "3 special + 1 add + 1 mul", NULL, mish_cost, OP_SAVE_INPUTS),
    ACT("Swish", "swish", "24", "1 special + 1 mul (+ 1 mul when alpha is not 1)", NULL, swish_cost,
        OP_SAVE_INPUTS),
    ACT("Shrink", "shrink", "9", "2 cmp + 1 add", NULL, shrink_cost, OP_SAVE_INPUTS),
    {OP_ROW("", "SwiGLU", "swiglu", "28",
            "per element: 1 special + 2 mul (+ 1 mul when alpha is not 1)", swiglu, swiglu_cost),
     OP_SLOTS(2, 2, 1, 1), .flags = OPF_ELEMENTWISE | OPF_INPLACE, .backward = OP_BW_ELEMENTWISE,
     .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "PRelu", "prelu", "1,6,7,9,16", "per element: 1 cmp + 1 mul", op_infer_like,
            leaky_relu_cost),
     OP_SLOTS(2, 2, 1, 1), .weights = 1u << 1, .flags = OPF_ELEMENTWISE | OPF_INPLACE,
     .backward = OP_BW_ELEMENTWISE, .saves = OP_SAVE_INPUTS},
    {OP_ROW("", "Clip", "clip", "1,6,11,12,13", "per element: 1 cmp per bound", op_infer_like,
            clip_cost),
     OP_SLOTS(1, 3, 1, 1), .value = clip_value, .aux = 3u << 1,
     .flags = OPF_ELEMENTWISE | OPF_INPLACE, .backward = OP_BW_ELEMENTWISE,
     .saves = OP_SAVE_INPUTS},
};

const op_rows op_activation_rows = OP_ROWS(rows);
