/* Time: a monotonic counter for durations, and the one wall-clock stamp that reports carry. */
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t clock_mono_ns(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A SOURCE_DATE_EPOCH that is no number is ignored: a wrong date is worse than today's. */
static time_t now(void)
{
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    if (fixed && *fixed) {
        char *end;
        errno = 0;
        long long v = strtoll(fixed, &end, 10);
        if (*end == '\0' && errno == 0 && v >= 0)
            return (time_t)v;
    }
    return time(NULL);
}

void clock_timestamp(char buf[32])
{
    struct tm tm;
    time_t t = now();
    if (!gmtime_r(&t, &tm) || strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        strcpy(buf, "1970-01-01T00:00:00Z");
}
