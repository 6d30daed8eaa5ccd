/* Terms of a mixture of experts (three products per expert: gate, up, down) and of collectives.
 *
 * Weights of the experts that tokens reach are read once; rows of an expert are padded to tiles; which experts get how
 * many rows: kernel_routing.h. Collectives: the bytes that cross one link, and a latency that grows with the number of
 * devices.
 */
#include <math.h>

#include "device/kernel_routing.h"

#define LAUNCH_S     20e-6 /* of routing and several kernels */
#define LINK_START_S 6e-6
#define TILE         16.0

/* Of sums. */
#define SUM_KERNEL_S  1e-6 /* of a launch, and cycles */
#define SUM_KERNEL    3e3
#define SUM_KERNELS   10.0 /* routing, sorting, products, activation, adding up */
#define FUSED_KERNELS 4.0  /* with most of it inside the products */
#define SUM_EXPERT    65.0 /* cycles */

static double rows_each(const expert_loads *l)
{
    return l->rows / fmax(l->reached, 1);
}

/* TensorRT-LLM has fused kernels for tensor cores with memory of their own, but for 4-bit weights beside wider
 * activations. */
static double kernels_of(const kernel_call *c, const kernel_machine *m)
{
    bool weights_only = c->dtype->weight_bytes < 1 && c->dtype->activation_bytes >= 2;
    return m->tensor_rate > KERNEL_TENSOR_MEMORY && !weights_only ? FUSED_KERNELS : SUM_KERNELS;
}

/* Without 4-bit tensor cores, vLLM runs experts of unquantised weights in Triton: tiles of 16 rows while there are fewer
 * tokens than experts, else of 64, and the steps between the products pass over the rows of all experts, also of those
 * that other devices hold. */
static bool runs_in_triton(const kernel_call *c, const kernel_machine *m)
{
    return !m->fp4 && c->dtype->weight_bytes >= 2;
}

static double tile_of(const kernel_call *c, const kernel_machine *m, double each)
{
    if (runs_in_triton(c, m))
        return c->tokens <= c->experts ? 16 : 64;
    return each <= 16 ? 16 : each <= 32 ? 32 : each <= 64 ? 64 : 128;
}

static void moe_parts(const kernel_call *c, const kernel_machine *m, const expert_loads *l,
                      kernel_terms *t)
{
    double tile = tile_of(c, m, rows_each(l)), padded = expert_tiles(l, tile) * tile;
    double weights = 3 * l->reached * c->hidden * c->inner * c->dtype->weight_bytes;
    double passed = runs_in_triton(c, m) ? c->tokens * c->topk : l->rows;
    kernel_part(t, kernels_of(c, m) * (SUM_KERNEL_S + SUM_KERNEL / m->clock));
    kernel_part(t, 6 * padded * c->hidden * c->inner / m->peak);
    kernel_part(t, kernel_moving(m, weights));
    kernel_part(t, kernel_moving(m, passed * (2 * c->hidden + 3 * c->inner) * 2));
    kernel_part(t, l->reached * SUM_EXPERT / m->clock);
    kernel_part(t, kernel_moving(m, c->tokens * c->hidden * 4));
}

void kernel_moe(const kernel_call *c, const kernel_machine *m, kernel_terms *t)
{
    const kernel_dtype *d = c->dtype;
    expert_loads l;
    kernel_route(c, &l);
    double each = rows_each(&l), tiles = l.reached * ceil(each / 64) * ceil(c->inner / 64);
    t->flops = 6 * l.rows * c->hidden * c->inner;
    t->bytes = 3 * l.reached * c->hidden * c->inner * d->weight_bytes +
               l.rows * (2 * c->hidden + 3 * c->inner) * d->activation_bytes;
    moe_parts(c, m, &l, t);
    double arithmetic = 6 * expert_tiles(&l, TILE) * TILE * c->hidden * c->inner / m->peak,
           moving = kernel_moving(m, t->bytes);
    kernel_begin(t, m, LAUNCH_S, arithmetic);
    KERNEL_HINGES(t, log2((arithmetic + moving) / LAUNCH_S), -3, -1, 0, 1, 2, 4);
    KERNEL_HINGES(t, log2(arithmetic / moving), -4, -2, 0, 2);
    KERNEL_HINGES(t, log2(tiles / m->units), -2, 0, 1, 2, 4);
    t->n_ratios = t->n;
    KERNEL_HINGES(t, log2(t->bytes / m->cache_bytes), -3, -1, 0, 1);
    kernel_put(t, log2(c->tokens));
    KERNEL_HINGES(t, log2(c->tokens), 3, 5, 7, 9, 11, 13);
    kernel_put(t, log2(each));
    KERNEL_HINGES(t, log2(each), 2, 4, 6);
    kernel_put(t, log2(c->hidden / 4096));
    kernel_put(t, log2(c->inner / 2048));
    KERNEL_HINGES(t, log2(c->inner / 256), 0);
    kernel_put(t, log2(l.held / 64));
    kernel_put(t, log2(c->topk / 8));
    kernel_put(t, c->skew > 0 ? 1 : 0);
}

void kernel_collective(const kernel_call *c, const kernel_machine *m, kernel_terms *t)
{
    double n = c->devices > 1 ? c->devices : 2,
           crossing = c->message_bytes * c->passes * (n - 1) / n;
    double lb = log2(c->message_bytes / 1024);
    t->bytes = crossing;
    t->base = LINK_START_S + crossing / m->link;
    t->limit = 0;
    kernel_put(t, 1);
    kernel_put(t, log2(n / 4));
    KERNEL_HINGES(t, log2(crossing / m->link / LINK_START_S), -4, -2, -1, 0, 1, 2, 4);
    t->n_ratios = t->n;
    kernel_put(t, lb);
    KERNEL_HINGES(t, lb, 4, 6, 8, 10, 12, 14);
    kernel_put(t, log2(n / 4) * lb);
}
