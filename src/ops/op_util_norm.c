/* Arithmetic of normalisations and softmax; the per-element counts are in the header. */
#include "ops/op_util_norm.h"

void op_norm_cost(const op_ctx *c, op_cost *k, uint64_t elems, bool gamma, bool beta)
{
    op_count(c, k, &k->add, sat_mul(elems, beta ? 4 : 3));
    op_count(c, k, &k->mul, sat_mul(elems, gamma ? 3 : 2));
}

void op_rms_cost(const op_ctx *c, op_cost *k, uint64_t elems, bool gamma)
{
    op_count(c, k, &k->add, elems);
    op_count(c, k, &k->mul, sat_mul(elems, gamma ? 3 : 2));
}

void op_softmax_cost(const op_ctx *c, op_cost *k, uint64_t elems)
{
    op_count(c, k, &k->cmp, elems);
    op_count(c, k, &k->add, sat_mul(elems, 2));
    op_count(c, k, &k->special, elems);
    op_count(c, k, &k->div, elems);
}

assay_status op_set_stats(op_ctx *c, uint32_t o, ir_dtype t, int64_t axis)
{
    int rank = op_rank(c, 0), place;
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, o, t);
    TRY(op_axis(c, axis, rank, &place));
    for (int d = 0; d < rank; d++)
        dims[d] = d < place ? op_dim(c, 0, d) : 1;
    return op_set(c, o, t, rank, dims);
}

ir_dtype op_stash_type(const op_ctx *c)
{
    int64_t t = op_attr_int(c, "stash_type", IR_FLOAT32);
    return ir_dtype_valid(t) ? (ir_dtype)t : IR_FLOAT32;
}
