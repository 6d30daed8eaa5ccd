/* Lenses: what others would print for the same cost vector. */
#include "analyze/count.h"

static uint64_t lens_assay(const op_ctx *c, const op_cost *k)
{
    (void)c;
    uint64_t flops = sat_mul(2, k->mac);
    flops = sat_add(flops, sat_add(k->add, k->mul));
    flops = sat_add(flops, sat_add(k->div, k->special));
    return sat_add(flops, k->cmp);
}

static uint64_t lens_macs(const op_ctx *c, const op_cost *k)
{
    (void)c;
    return k->mac;
}

static uint64_t lens_torch(const op_ctx *c, const op_cost *k)
{
    (void)c;
    return sat_mul(2, k->mac);
}

const lens lens_table[] = {
    {.name = "assay",
     .unit = "FLOP",
     .about = "2 per multiply-accumulate, 1 per other add, mul, div, compare and special function",
     .flops = lens_assay},
    {.name = "torchvision",
     .unit = "MAC",
     .about = "torchvision's published GFLOPS column: multiply-accumulates of conv and matmul",
     .flops = lens_macs},
    {.name = "torch",
     .unit = "FLOP",
     .about = "torch.utils.flop_counter.FlopCounterMode: twice the multiply-accumulates",
     .flops = lens_torch},
};
const uint32_t lens_table_n = sizeof lens_table / sizeof *lens_table;

const lens *lens_find(str name)
{
    for (uint32_t k = 0; k < lens_table_n; k++)
        if (str_is(name, lens_table[k].name))
            return &lens_table[k];
    return NULL;
}
