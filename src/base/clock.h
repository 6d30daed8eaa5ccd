/* Time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include <stddef.h>
#include <stdint.h>

uint64_t clock_mono_ns(void);
/* "2026-11-15T19:06:00Z"; honours SOURCE_DATE_EPOCH so that reports can be reproduced. */
void clock_timestamp(char buf[32]);
#endif
