/* See load_arrivals.h. Gaps of a Poisson process are exponential; the first request is one gap after the beginning, so
 * that the rate is right from the start. */
#include "measure/load_arrivals.h"

#include <math.h>

static double next_gap_ns(load_arrivals *a)
{
    double mean = 1e9 / a->rate;
    return a->poisson ? -mean * log(1 - rng_uniform(&a->random)) : mean;
}

void load_arrivals_begin(load_arrivals *a, double rate, bool poisson, uint64_t seed)
{
    *a = (load_arrivals){.rate = rate, .poisson = poisson};
    rng_seed(&a->random, seed);
    a->next_ns = poisson ? next_gap_ns(a) : 0;
}

uint64_t load_arrivals_peek(const load_arrivals *a)
{
    if (a->at_ns)
        return a->n < a->n_at ? a->at_ns[a->n] : UINT64_MAX;
    return a->next_ns < 0x1p63 ? (uint64_t)a->next_ns : UINT64_MAX;
}

void load_arrivals_take(load_arrivals *a)
{
    a->n++;
    if (a->at_ns)
        return;
    /* Equal distances do not add up rounding errors. */
    a->next_ns = a->poisson ? a->next_ns + next_gap_ns(a) : (double)a->n * (1e9 / a->rate);
}
