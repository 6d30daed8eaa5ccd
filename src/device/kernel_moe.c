/* Terms of a mixture of experts (three products per expert: gate, up, down) and of collectives.
 *
 * Of E experts, tokens that choose topk each reach E (1 - (1 - topk/E)^tokens) on average, or as many as there are rows
 * when the choice is balanced; their weights are read once.
 * Rows of an expert are padded to tiles. Collectives: the bytes that cross one link, and a latency that grows with the
 * number of devices.
 */
#include <math.h>

#include "device/kernel.h"

#define LAUNCH_S     20e-6 /* of routing and several kernels */
#define LINK_START_S 6e-6
#define TILE         16.0

/* Of sums. */
#define SUM_KERNEL_S  1e-6 /* of a launch, and cycles */
#define SUM_KERNEL    3e3
#define SUM_KERNELS   10.0 /* routing, sorting, products, activation, adding up */
#define FUSED_KERNELS 4.0  /* with most of it inside the products */
#define SUM_REACHES   0.4  /* of the peak, by many small products */
#define SUM_EXPERT    65.0 /* cycles */

typedef struct routed {
    double rows, held, reached, each; /* each: rows of an expert that is reached */
} routed;

static routed route(const kernel_call *c)
{
    double shares = c->shares > 1 ? c->shares : 1;
    routed r = {.rows = fmax(c->tokens * c->topk / shares, 1),
                .held = fmax(c->experts / shares, 1)};
    double chosen = 1 - pow(fmax(1 - c->topk / c->experts, 0), c->tokens);
    r.reached = fmin(fmax(c->skewed ? r.held * chosen : r.held, 1), fmin(r.held, r.rows));
    r.each = r.rows / r.reached;
    return r;
}

/* TensorRT-LLM has fused kernels for tensor cores with memory of their own, but for 4-bit weights beside wider
 * activations. */
static double kernels_of(const kernel_call *c, const kernel_machine *m)
{
    bool weights_only = c->dtype->weight_bytes < 1 && c->dtype->activation_bytes >= 2;
    return m->tensor_rate > KERNEL_TENSOR_MEMORY && !weights_only ? FUSED_KERNELS : SUM_KERNELS;
}

static void moe_parts(const kernel_call *c, const kernel_machine *m, const routed *r,
                      kernel_terms *t)
{
    double tile = r->each <= 16 ? 16 : r->each <= 32 ? 32 : r->each <= 64 ? 64 : 128;
    double weights = 3 * r->reached * c->hidden * c->inner * c->dtype->weight_bytes;
    kernel_part(t, kernels_of(c, m) * (SUM_KERNEL_S + SUM_KERNEL / m->clock));
    kernel_part(t, t->flops / m->peak / SUM_REACHES * ceil(r->each / tile) * tile / r->each);
    kernel_part(t, kernel_moving(m, weights));
    kernel_part(t, kernel_moving(m, r->rows * (2 * c->hidden + 3 * c->inner) * 2));
    kernel_part(t, r->reached * SUM_EXPERT / m->clock);
}

void kernel_moe(const kernel_call *c, const kernel_machine *m, kernel_terms *t)
{
    const kernel_dtype *d = c->dtype;
    routed r = route(c);
    double padded = ceil(r.each / TILE) * TILE / r.each;
    t->flops = 6 * r.rows * c->hidden * c->inner;
    t->bytes = 3 * r.reached * c->hidden * c->inner * d->weight_bytes +
               r.rows * (2 * c->hidden + 3 * c->inner) * d->activation_bytes;
    moe_parts(c, m, &r, t);
    double arithmetic = t->flops / m->peak * fmin(padded, TILE),
           moving = kernel_moving(m, t->bytes);
    double tiles = r.reached * ceil(r.each / 64) * ceil(c->inner / 64);
    kernel_begin(t, m, LAUNCH_S, arithmetic);
    KERNEL_HINGES(t, log2((arithmetic + moving) / LAUNCH_S), -3, -1, 0, 1, 2, 4);
    KERNEL_HINGES(t, log2(arithmetic / moving), -4, -2, 0, 2);
    KERNEL_HINGES(t, log2(tiles / m->units), -2, 0, 1, 2, 4);
    t->n_ratios = t->n;
    KERNEL_HINGES(t, log2(t->bytes / m->cache_bytes), -3, -1, 0, 1);
    kernel_put(t, log2(c->tokens));
    KERNEL_HINGES(t, log2(c->tokens), 3, 5, 7, 9, 11, 13);
    kernel_put(t, log2(r.each));
    KERNEL_HINGES(t, log2(r.each), 2, 4, 6);
    kernel_put(t, log2(c->hidden / 4096));
    kernel_put(t, log2(c->inner / 2048));
    KERNEL_HINGES(t, log2(c->inner / 256), 0);
    kernel_put(t, log2(r.held / 64));
    kernel_put(t, log2(c->topk / 8));
    kernel_put(t, c->skewed ? 1 : 0);
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
