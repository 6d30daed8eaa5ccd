/* Terms of out[m,n] = x[m,k] w[n,k]: the best of sixteen tile shapes, whole waves of tiles on the units, a latency for
 * the depth that one tile walks.
 */
#include <math.h>

#include "device/kernel.h"

static const double tile_rows[] = {16, 32, 64, 128}, tile_columns[] = {32, 64, 128, 256};
#define FULL_TILE     (128.0 * 128.0)
#define SMALL_TILE    0.35   /* exponent: a smaller tile reuses less */
#define DEPTH_SECONDS 1.0    /* cycles for each element of depth */
#define DEPTH_MOST    4096.0 /* deeper products are split */

/* How many times the arithmetic is done by whole waves of whole tiles. */
static double waste(double m, double n, double units)
{
    double best = INFINITY;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double area = tile_rows[i] * tile_columns[j];
            double reuse = area < FULL_TILE ? pow(area / FULL_TILE, SMALL_TILE) : 1;
            double tiles = ceil(m / tile_rows[i]) * ceil(n / tile_columns[j]);
            double w = ceil(tiles / units) * units * area / (m * n) / reuse;
            best = w < best ? w : best;
        }
    return best;
}

void kernel_gemm(const kernel_call *c, const kernel_machine *m, kernel_terms *t)
{
    const kernel_dtype *d = c->dtype;
    t->flops = 2 * c->m * c->n * c->k;
    t->bytes = d->weight_bytes * c->n * c->k + d->activation_bytes * c->m * c->k + 2 * c->m * c->n;
    double arithmetic = t->flops / m->peak * waste(c->m, c->n, m->units);
    double moving = kernel_moving(m, t->bytes);
    double depth = c->k < DEPTH_MOST ? c->k : DEPTH_MOST;
    double idle = fmax(log2(m->units / (ceil(c->m / 64) * ceil(c->n / 64))), 0);
    double rows = c->m / 128 > 0.25 ? c->m / 128 : 0.25;
    double lm = log2(c->m), ln = log2(c->n), lk = log2(c->k);
    double work = log2((arithmetic + moving) / d->launch_s);
    kernel_begin(t, m, d->launch_s + DEPTH_SECONDS * depth / m->clock, arithmetic);
    kernel_put(t, c->m > 64 ? log2(ceil(c->m / 64) * 64 / c->m) : 0);
    KERNEL_HINGES(t, log2(arithmetic / moving), -4, -2, 0, 1);
    KERNEL_HINGES(t, work, -2, 0, 1, 2, 4);
    KERNEL_HINGES(t, log2(rows * c->n / 128 / m->units), -4, -2, -1, 0, 1, 3);
    t->n_ratios = t->n;
    kernel_put(t, idle * (lk - 10) / 4); /* few tiles walk the depth alone, or share it */
    kernel_put(t, idle * fmax(lk - 11, 0) / 4);
    kernel_put(t, (ln - 11) * (lk - 11) / 8);
    kernel_put(t, lm);
    kernel_put(t, ln);
    kernel_put(t, lk);
    KERNEL_HINGES(t, lm, 4, 6, 7);
    KERNEL_HINGES(t, ln, 8, 11);
    KERNEL_HINGES(t, lk, 8, 10, 13);
    KERNEL_HINGES(t, log2(t->bytes / m->cache_bytes), -6, -3, -1, 0, 1);
}
