/* See drift.h. */
#include "measure/drift.h"

#include <math.h>
#include <string.h>

#include "measure/stats.h"

uint32_t drift_add(drift *d, double seconds)
{
    uint32_t at = d->n < DRIFT_SAMPLES ? d->n++ : DRIFT_SAMPLES - 1;
    d->seconds[at] = seconds;
    return at;
}

static double drift_quantile(const drift *d, double q)
{
    double sorted[DRIFT_SAMPLES];
    if (!d->n)
        return 0;
    memcpy(sorted, d->seconds, sizeof *sorted * d->n);
    stats_sort(sorted, d->n);
    return stats_quantile(sorted, d->n, q);
}

double drift_usual(const drift *d)
{
    return drift_quantile(d, 0.5);
}

double drift_range(const drift *d)
{
    double fast = drift_quantile(d, 0.1);
    return d->n > 1 && fast > 0 ? drift_quantile(d, 0.9) / fast : 1;
}

double drift_ratio(double seconds, double usual)
{
    double r = usual > 0 && seconds > 0 ? seconds / usual : 1;
    return fabs(r - 1) < DRIFT_NOISE ? 1 : r;
}

double drift_factor(const drift *d, uint32_t first, uint32_t last)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = first; i <= last && i < d->n; i++, n++)
        sum += d->seconds[i];
    return n ? drift_ratio(sum / n, drift_usual(d)) : 1;
}
