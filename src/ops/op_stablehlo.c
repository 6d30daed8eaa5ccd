/* Operators that move data in ways that only StableHLO has: slices at computed places, general gathers and scatters, padding
 * between elements. Domain "stablehlo". The attribute "shape" has the size of the result, which the text states. */
#include "ops/op_util_cost.h"

static assay_status stated_infer(op_ctx *c)
{
    const int64_t *dims;
    int rank = op_attr_ints(c, "shape", &dims);
    if (rank < 0 || rank > IR_MAX_RANK)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < rank; d++)
        if (dims[d] < 0)
            return op_fail(c, "axis %d of its shape is negative", d);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* One add for each update. */
static void scatter_add_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, op_in_elems(c, 2));
}

#define HLO(name_, type_, formula_, cost_) \
    OP_ROW("stablehlo", name_, type_, "1", formula_, stated_infer, cost_)
#define MOVES "0 (data movement)"
#define MOVE  .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE

static const op_row rows[] = {
    {HLO("DynamicSlice", "slice", MOVES, NULL), OP_SLOTS(1, 32, 1, 1), MOVE},
    {HLO("DynamicUpdateSlice", "scatter", MOVES, NULL), OP_SLOTS(2, 32, 1, 1), MOVE},
    {HLO("Gather", "gather", MOVES, NULL), OP_SLOTS(2, 2, 1, 1), MOVE},
    {HLO("Scatter", "scatter", MOVES, NULL), OP_SLOTS(3, 3, 1, 1), MOVE},
    {HLO("ScatterAdd", "scatter", "1 add per update", scatter_add_cost), OP_SLOTS(3, 3, 1, 1)},
    {HLO("Pad", "pad", MOVES, NULL), OP_SLOTS(2, 2, 1, 1), MOVE},
};
const op_rows op_stablehlo_rows = OP_ROWS(rows);
