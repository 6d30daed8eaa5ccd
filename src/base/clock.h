/* Time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

uint64_t clock_mono_ns(void);

/* A condition that is waited for by the monotonic clock: setting the system's time does not change how long. */
void clock_cond_init(pthread_cond_t *c);
/* False if `ns` have passed without a signal. */
bool clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t ns);

/* "2026-11-15T19:06:00Z"; honours SOURCE_DATE_EPOCH so that reports can be reproduced. */
void clock_timestamp(char buf[32]);

/* Seconds since 1970 in UTC; honours SOURCE_DATE_EPOCH too. */
int64_t clock_epoch(void);
void clock_format(int64_t epoch_s, char buf[32]); /* "2026-11-15T19:06:00Z" */
/* "2026-11-15" or "2026-11-15T19:06:00Z" (the Z may be left out: all times are UTC). False when it is neither. */
bool clock_parse(str text, int64_t *epoch_s);
/* "30d", "12h", "2w", "90min", "45s": seconds. False when it is no such duration. */
bool clock_duration(str text, int64_t *seconds);
/* The start of a period up to `now_s`: an age ("30d"), "today", "yesterday", the last such day of the week ("tuesday",
 * today included), or a time that clock_parse() reads. False when it is none of these. */
bool clock_since(str text, int64_t now_s, int64_t *epoch_s);
#endif
