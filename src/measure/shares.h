/* Achieved rates as shares of the machine's ceilings. */
#ifndef MEASURE_SHARES_H
#define MEASURE_SHARES_H

#include "profile/measured.h"

/* The shares of a configuration that ran on so many threads (0: all), and once the ceilings themselves, whose texts
 * are copied into `keep`. Nothing when no machine was measured, or the model did not run on the processor (`where` is
 * "cpu"). */
void shares_set(int64_t threads, str where, profile_config *c, arena *keep,
                profile_ceilings *ceilings);

#endif
