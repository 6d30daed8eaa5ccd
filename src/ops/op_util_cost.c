/* The cost rules that many elementwise rows share. */
#include "ops/op_util_cost.h"

void op_count_mix(const op_ctx *c, op_cost *k, op_mix mix, uint64_t n)
{
    op_count(c, k, &k->add, sat_mul(mix.add, n));
    op_count(c, k, &k->mul, sat_mul(mix.mul, n));
    op_count(c, k, &k->div, sat_mul(mix.div, n));
    op_count(c, k, &k->special, sat_mul(mix.special, n));
    op_count(c, k, &k->cmp, sat_mul(mix.cmp, n));
}

#define ONE_PER_ELEMENT(name, kind, elems)          \
    void name(const op_ctx *c, op_cost *k)          \
    {                                               \
        op_count(c, k, &k->kind, op_##elems(c, 0)); \
    }
ONE_PER_ELEMENT(op_cost_add1, add, out_elems)
ONE_PER_ELEMENT(op_cost_mul1, mul, out_elems)
ONE_PER_ELEMENT(op_cost_div1, div, out_elems)
ONE_PER_ELEMENT(op_cost_special1, special, out_elems)
ONE_PER_ELEMENT(op_cost_cmp1, cmp, out_elems)
ONE_PER_ELEMENT(op_cost_add_in, add, in_elems)
ONE_PER_ELEMENT(op_cost_mul_in, mul, in_elems)
ONE_PER_ELEMENT(op_cost_cmp_in, cmp, in_elems)

void op_cost_mean(const op_ctx *c, op_cost *k)
{
    op_cost_add_in(c, k);
    op_cost_div1(c, k);
}

void op_cost_taken(const op_ctx *c, op_cost *k)
{
    op_read_elems(c, k, 0, op_out_elems(c, 0));
}

void op_cost_write_only(const op_ctx *c, op_cost *k)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        k->read[i] = 0;
}

void op_cost_as_read(const op_ctx *c, op_cost *k)
{
    if (c->n_out)
        k->written[0] = k->read[0];
}

void op_count_kept(const op_ctx *c, op_cost *k, uint64_t scores, uint64_t kept)
{
    op_count(c, k, &k->cmp, sat_add(scores, sat_mul(kept, 7)));
    op_count(c, k, &k->add, sat_mul(kept, 4));
    op_count(c, k, &k->mul, kept);
    op_count(c, k, &k->div, kept);
}
