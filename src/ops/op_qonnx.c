/* Simulated quantisation, as brevitas and qonnx export it: values are rounded to what a narrow integer could hold and
 * stay floating-point.
 *
 *   Quant         y = (clip(round(x / scale + zero)) - zero) * scale, to `bitwidth` bits (input 3)
 *   BipolarQuant  y = scale where x >= 0, else -scale
 *   Trunc         y = (trunc(round(x / scale + zero) / 2^(in - out)) - zero) * scale; with six inputs it is clipped too
 *
 * Reference: the operator descriptions of qonnx. The shape is that of x in every case.
 */
#include "ops/op_util_cost.h"

static void quant_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    k->div = k->special = k->mul = n;
    k->add = k->cmp = sat_mul(2, n);
}

static void bipolar_cost(const op_ctx *c, op_cost *k)
{
    k->cmp = k->mul = op_out_elems(c, 0);
}

static void trunc_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    k->mul = n;
    k->div = k->special = k->add = sat_mul(2, n);
    k->cmp = op_has(c, 5) ? sat_mul(2, n) : 0;
}

#define QONNX_ROW(domain_, name_, formula_, cost_, inputs_, more_)                                \
    {                                                                                             \
        OP_ROW(domain_, name_, "fakequant", "1,2", formula_, op_infer_like, cost_),               \
            OP_SLOTS(inputs_, (inputs_) + (more_), 1, 1),                                         \
            .aux = ~1u, .flags = OPF_PASS, .backward = OP_BW_ELEMENTWISE, .saves = OP_SAVE_INPUTS \
    }
/* The same operators under the names that the domain had over time. */
#define QONNX_DOMAIN(domain)                                                                     \
    QONNX_ROW(domain, "Quant", "per element: 1 div + 2 add + 1 special (round) + 2 cmp + 1 mul", \
              quant_cost, 4, 0),                                                                 \
        QONNX_ROW(domain, "BipolarQuant", "per element: 1 cmp + 1 mul", bipolar_cost, 2, 0),     \
        QONNX_ROW(domain, "Trunc",                                                               \
                  "per element: 2 div + 2 add + 2 special + 1 mul, + 2 cmp with six inputs",     \
                  trunc_cost, 5, 1)

static const op_row rows[] = {
    QONNX_DOMAIN("qonnx.custom_op.general"),
    QONNX_DOMAIN("finn.custom_op.general"),
    QONNX_DOMAIN("onnx.brevitas"),
};

const op_rows op_qonnx_rows = OP_ROWS(rows);
