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

void op_cost_add1(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, op_out_elems(c, 0));
}

void op_cost_mul1(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->mul, op_out_elems(c, 0));
}

void op_cost_div1(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->div, op_out_elems(c, 0));
}

void op_cost_special1(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->special, op_out_elems(c, 0));
}

void op_cost_cmp1(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, op_out_elems(c, 0));
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
