/* When requests are due. */
#ifndef MEASURE_LOAD_ARRIVALS_H
#define MEASURE_LOAD_ARRIVALS_H

#include "base/rng.h"
#include "base/str.h"

typedef enum load_client_mode { LOAD_CLOSED, LOAD_OPEN, LOAD_REPLAY } load_client_mode;

typedef struct load_arrivals {
    double rate;  /* per second; of an open loop */
    bool poisson; /* else at equal distances */
    rng random;
    const uint64_t *at_ns; /* of a replay: ascending */
    uint32_t n_at;
    uint64_t n;     /* so far */
    double next_ns; /* since the beginning */
} load_arrivals;

void load_arrivals_begin(load_arrivals *a, double rate, bool poisson, uint64_t seed);
/* The next one, in nanoseconds since the beginning; UINT64_MAX: there is none. */
uint64_t load_arrivals_peek(const load_arrivals *a);
void load_arrivals_take(load_arrivals *a);

#endif
