/* ai.onnx.preview.training: one step of an optimiser over groups of tensors, and Gradient.
 *
 * Inputs of the optimisers are R, T, then all X, all G and the accumulators (one kind for Adagrad
 * and Momentum, two for Adam); outputs are the new X and the new accumulators. Operations are
 * counted per element of X from the pseudo code of the specification; the scalar learning rate is
 * not counted.
 */
#include "ops/op.h"

typedef struct step { /* operations per element */
    uint64_t add, mul, div, special;
} step;

/* Tensors per kind, when there are `kinds` kinds of inputs behind R and T. */
static assay_status group_size(op_ctx *c, uint32_t kinds, uint32_t *n)
{
    uint32_t tensors = c->n_in > 2 ? c->n_in - 2 : 0;
    if (!tensors || tensors % kinds)
        return op_fail(c, "%u tensors; expected a multiple of %u", tensors, kinds);
    *n = tensors / kinds;
    return ASSAY_OK;
}

/* Outputs mirror the inputs of the same kind; gradients (kind 1) have no output. */
static assay_status infer_step(op_ctx *c)
{
    uint32_t n = 0, kinds = str_is(c->node->op, "Adam") ? 4 : 3;
    TRY(group_size(c, kinds, &n));
    for (uint32_t o = 0; o < c->n_out && o < n * (kinds - 1); o++)
        TRY(op_set_like(c, o, o < n ? 2 + o : 2 + n + o));
    return ASSAY_OK;
}

static void cost_step(const op_ctx *c, op_cost *k, uint32_t kinds, step per)
{
    uint32_t n = c->n_in > 2 ? (c->n_in - 2) / kinds : 0;
    uint64_t elems = 0;
    for (uint32_t i = 0; i < n; i++)
        elems = sat_add(elems, op_in_elems(c, 2 + i));
    if (op_attr_float(c, "norm_coefficient", 0) != 0) {
        per.mul++;
        per.add++;
    }
    op_count(c, k, &k->add, sat_mul(elems, per.add));
    op_count(c, k, &k->mul, sat_mul(elems, per.mul));
    op_count(c, k, &k->div, sat_mul(elems, per.div));
    op_count(c, k, &k->special, sat_mul(elems, per.special));
}

static void cost_adagrad(const op_ctx *c, op_cost *k)
{
    cost_step(c, k, 3, (step){.add = 3, .mul = 2, .div = 1, .special = 1});
}

static void cost_momentum(const op_ctx *c, op_cost *k)
{
    bool nesterov = str_is(op_attr_str(c, "mode", "standard"), "nesterov");
    cost_step(c, k, 3, nesterov ? (step){.add = 3, .mul = 4} : (step){.add = 2, .mul = 3});
}

static void cost_adam(const op_ctx *c, op_cost *k)
{
    bool post = op_attr_float(c, "norm_coefficient_post", 0) != 0;
    cost_step(c, k, 4, (step){.add = 4, .mul = post ? 7 : 6, .div = 1, .special = 1});
}

/* Outputs are dy/dx for the leading inputs (xs); the inputs behind them (zs) have none. */
static assay_status infer_gradient(op_ctx *c)
{
    for (uint32_t o = 0; o < c->n_out; o++)
        TRY(op_set_like(c, o, o));
    op_assume(c, "the backward pass is not counted; see --training");
    return ASSAY_OK;
}

#define TRAIN "ai.onnx.preview.training"

static const op_row rows[] = {
    {OP_ROW(
         TRAIN, "Adagrad", "optimizer", "1",
         "per element: 3 add + 2 mul + 1 div + 1 special (+ 1 add + 1 mul with norm_coefficient)",
         infer_step, cost_adagrad),
     OP_SLOTS(3, 255, 1, 255), .aux = 3},
    {OP_ROW(
         TRAIN, "Adam", "optimizer", "1",
         "per element: 4 add + 6 mul + 1 div + 1 special (+ 1 add + 1 mul with norm_coefficient, "
         "+ 1 mul with norm_coefficient_post)",
         infer_step, cost_adam),
     OP_SLOTS(3, 255, 1, 255), .aux = 3},
    {OP_ROW(TRAIN, "Gradient", "gradient", "1",
            "not counted: the backward pass of the graph behind it", infer_gradient, op_cost_free),
     OP_SLOTS(1, 255, 1, 255)},
    {OP_ROW(TRAIN, "Momentum", "optimizer", "1",
            "per element: 2 add + 3 mul (nesterov: 3 add + 4 mul), + 1 add + 1 mul with "
            "norm_coefficient",
            infer_step, cost_momentum),
     OP_SLOTS(3, 255, 1, 255), .aux = 3},
};

const op_rows op_training_rows = OP_ROWS(rows);
