/* See pulse.h. A dependent chain of multiplications and shifts, which can be neither vectorised nor affected by
 * caches. */
#include "measure/pulse.h"

#include "base/clock.h"
#include "measure/stats.h"

enum { STEPS = 40000 };

static uint64_t beat(uint64_t x)
{
    for (int i = 0; i < STEPS; i++) {
        x ^= x >> 29;
        x *= UINT64_C(0xbf58476d1ce4e5b9);
    }
    return x;
}

void pulse_take(double *beats, uint32_t *n)
{
    volatile uint64_t sink = 1;
    for (int i = 0; i < PULSE_BEATS; i++) {
        uint64_t from = clock_mono_ns();
        sink = beat(sink + 1);
        beats[(*n)++] = (double)(clock_mono_ns() - from) / 1e3;
    }
}

double pulse_median(double *beats, uint32_t n)
{
    stats_sort(beats, n);
    return stats_quantile(beats, n, 0.5);
}
