/* Corrects times for a machine whose speed changes while it is measured: a neighbour that comes and goes, a clock that
 * falls as the package warms up.
 *
 * The same short work, the reference, runs before and after every measured piece. The middle of its times is the
 * machine's usual state. A piece that ran while the reference took 1.2 times as long is divided by 1.2, so that all
 * pieces are times of the usual state. A difference below DRIFT_NOISE is what repeated runs differ by anyway and is
 * left alone.
 */
#ifndef MEASURE_DRIFT_H
#define MEASURE_DRIFT_H

#include <stdint.h>

enum { DRIFT_SAMPLES = 160 };
#define DRIFT_NOISE 0.03

typedef struct drift {
    double seconds[DRIFT_SAMPLES]; /* of the reference, in the order of time */
    uint32_t n;
} drift;

/* Returns the sample's position; the last place is written again when there are too many. */
uint32_t drift_add(drift *d, double seconds);
/* The median of all samples; 0: there are none. */
double drift_usual(const drift *d);
/* How many times slower than usual the machine was between the samples at `first` and `last`; 1: unknown. */
double drift_factor(const drift *d, uint32_t first, uint32_t last);
/* The slowest tenth over the fastest tenth of the samples; 1: fewer than two. */
double drift_range(const drift *d);
/* Of a time against another one of the same work: 1 where the two differ by noise alone. */
double drift_ratio(double seconds, double usual);

#endif
