/* Operators that only Keras has: a recurrent layer whose products are convolutions, and vocabularies. Domain "keras".
 * The table of TensorFlow is looked up in the same way.
 *
 *     ConvLSTM   X [N,T,spatial...,C], kernel [k...,C,4F], recurrent kernel [r...,F,4F], bias [4F]
 *
 * Each step convolves its data (strides, auto_pad and dilations are those of ONNX's Conv) and the state, which keeps its
 * size. Counting: N*T*out*4F*(C*k + F*r) MACs, and per unit and step the arithmetic of an LSTM: 3 mul, 1 add, 5 special,
 * 4 add for the sum of both products, 4 with a bias.
 *
 *     StringLookup, IntegerLookup   items of any shape; one whole number for each
 *     LookupTableFindV2             keys of any shape, value for those that are absent; its type is "to"
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"
#include "ops/op_util_spatial.h"

enum { X, W, R, B };

static bool gives_sequence(const op_ctx *c)
{
    return op_attr_int(c, "return_sequences", 0) != 0;
}

static assay_status conv_lstm_infer(op_ctx *c)
{
    int rank = op_rank(c, X), n = rank - 3, at = 0;
    op_window w;
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, X));
    if (rank < 4 || rank > 6 || (op_rank(c, W) >= 0 && op_rank(c, W) != n + 2) ||
        (op_rank(c, R) >= 0 && op_rank(c, R) != n + 2))
        return op_fail(c, "input %s and kernels %s, %s do not match", op_shape_text(c, X),
                       op_shape_text(c, W), op_shape_text(c, R));
    TRY(op_window_read(c, n, &w));
    dims[at++] = op_dim(c, X, 0);
    if (gives_sequence(c))
        dims[at++] = op_dim(c, X, 1);
    for (int d = 0; d < n; d++) {
        w.kernel[d] = op_rank(c, W) < 0 ? -1 : op_dim(c, W, d);
        TRY(op_window_out(c, &w, d, op_dim(c, X, d + 2), &dims[at++]));
    }
    dims[at++] = op_rank(c, R) < 0 ? -1 : op_dim(c, R, n);
    return op_set(c, 0, op_dtype(c, X), at, dims);
}

/* Products of one gate's unit: a kernel without its last axis. */
static uint64_t taps(const op_ctx *c, uint32_t slot)
{
    int rank = op_rank(c, slot);
    int64_t n = rank < 2 ? -1 : op_product(op_dims(c, slot), 0, rank - 1);
    return n < 0 ? 0 : (uint64_t)n;
}

static void conv_lstm_cost(const op_ctx *c, op_cost *k)
{
    int64_t steps = op_rank(c, X) < 0 ? -1 : op_dim(c, X, 1);
    uint64_t units = op_out_elems(c, 0);
    if (steps < 0)
        return;
    if (!gives_sequence(c))
        units = sat_mul(units, (uint64_t)steps);
    op_add_mac(k, op_mul3(units, 4, sat_add(taps(c, W), taps(c, R))));
    op_count(c, k, &k->add, sat_mul(units, op_has(c, B) ? 9 : 5));
    op_count(c, k, &k->mul, sat_mul(units, 3));
    op_count(c, k, &k->special, sat_mul(units, 5));
}

static assay_status lookup_infer(op_ctx *c)
{
    int64_t type = op_attr_int(c, "to", IR_INT64);
    return op_set_shape_of(c, 0, ir_dtype_valid(type) ? (ir_dtype)type : IR_UNDEFINED, 0);
}

#define LOOKUP(domain_, name_)                                                            \
    {                                                                                     \
        OP_ROW(domain_, name_, "encoder", "1", "1 cmp per element: a table is looked up", \
               lookup_infer, op_cost_cmp_in),                                             \
            OP_SLOTS(1, 2, 1, 1), .aux = 2, .batch_axis = op_batch_first                  \
    }

static const op_row rows[] = {
    LOOKUP("keras", "StringLookup"),
    LOOKUP("keras", "IntegerLookup"),
    LOOKUP("tensorflow", "LookupTableFindV2"),
    {OP_ROW("keras", "ConvLSTM", "convlstm", "1",
            "N*T*out*4F*(C*kernel + F*recurrent kernel) MACs; per unit and step 5 add + 3 mul + 5 "
            "special, 4 add more with bias",
            conv_lstm_infer, conv_lstm_cost),
     OP_SLOTS(3, 4, 1, 1), .batch_axis = op_batch_first, .weights = 1 << W | 1 << R | 1 << B,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
};
const op_rows op_keras_rows = OP_ROWS(rows);
