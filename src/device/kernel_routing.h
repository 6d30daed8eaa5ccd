/* How many rows the experts of one device get, without drawing them.
 *
 * Even routing gives each expert tokens * topk / experts rows. Skewed routing draws the experts' shares from a power
 * law x^-skew on [1, 0.8 tokens] (on [0.01, 2] where there are fewer rows than experts), as the collector of
 * AIConfigurator does. With experts on several devices, the device with the most rows decides. Here the law is
 * evaluated at up to 64 quantiles. The largest of `shares` sums is the mean plus the deviations of the highest of as
 * many normal variables, corrected for the skewness of the law.
 */
#ifndef DEVICE_KERNEL_ROUTING_H
#define DEVICE_KERNEL_ROUTING_H

#include "device/kernel.h"

enum { ROUTING_POINTS = 64 };

typedef struct expert_loads {
    double held, rows, reached;  /* experts of the device, rows of all, experts with a row */
    double load[ROUTING_POINTS]; /* rows of an expert at quantiles, those of at least one */
    uint32_t n;
    double experts_each; /* that one quantile stands for */
    double single;       /* further experts with one row */
} expert_loads;

void kernel_route(const kernel_call *c, expert_loads *out);
/* Tiles of so many rows that the experts' rows fill. */
double expert_tiles(const expert_loads *l, double tile_rows);

#endif
