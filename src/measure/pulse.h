/* Current speed of the machine: the time of a fixed loop, independent of any model. Taken
 * beside a measurement, it tells later whether a difference was the machine's: another clock, a neighbour on the
 * same core, a host that takes time away. Of memory's speed it says nothing.
 */
#ifndef MEASURE_PULSE_H
#define MEASURE_PULSE_H

#include <stdint.h>

enum { PULSE_BEATS = 15 };

/* Appends PULSE_BEATS durations in microseconds to beats; some 2 ms in all. */
void pulse_take(double *beats, uint32_t *n);
/* Their median; changes the order. 0 when there are none. */
double pulse_median(double *beats, uint32_t n);

#endif
