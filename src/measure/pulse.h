/* Current speed of the machine: the time of a fixed loop, independent of any model. Recorded with a measurement, it
 * shows later whether the machine caused a difference: another clock frequency, another process on the same core, CPU
 * steal. It does not cover memory speed.
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
