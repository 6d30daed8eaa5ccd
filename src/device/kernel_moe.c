/* Terms of a mixture of experts (three products per expert: gate, up, down) and of collectives.
 *
 * Of E experts, tokens that choose topk each reach E (1 - (1 - topk/E)^tokens) on average; their weights are read once.
 * Rows of an expert are padded to tiles. Collectives: the bytes that cross one link, and a latency that grows with the
 * number of devices.
 */
#include <math.h>

#include "device/kernel.h"

#define LAUNCH_S     20e-6 /* of routing and several kernels */
#define LINK_START_S 6e-6
#define TILE         16.0

void kernel_moe(const kernel_call *c, const kernel_machine *m, kernel_terms *t)
{
    const kernel_dtype *d = c->dtype;
    double shares = c->shares > 1 ? c->shares : 1, held = fmax(c->experts / shares, 1);
    double rows = fmax(c->tokens * c->topk / shares, 1);
    double reached = held * (1 - pow(fmax(1 - c->topk / c->experts, 0), c->tokens));
    reached = fmin(fmax(reached, 1), fmin(held, rows));
    double each = rows / reached, padded = ceil(each / TILE) * TILE / each;
    t->flops = 6 * rows * c->hidden * c->inner;
    t->bytes = 3 * reached * c->hidden * c->inner * d->weight_bytes +
               rows * (2 * c->hidden + 3 * c->inner) * d->activation_bytes;
    double arithmetic = t->flops / m->peak * fmin(padded, TILE),
           moving = kernel_moving(m, t->bytes);
    double tiles = reached * ceil(each / 64) * ceil(c->inner / 64);
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
    kernel_put(t, log2(held / 64));
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
