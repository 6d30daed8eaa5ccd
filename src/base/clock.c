/* Time: a monotonic counter for durations, and the wall-clock time for reports. */
#include "base/clock.h"

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

void clock_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

bool clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t ns)
{
    uint64_t until = clock_mono_ns() + ns;
    const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
                               .tv_nsec = (long)(until % 1000000000u)};
    return pthread_cond_timedwait(c, lock, &t) == 0;
}

/* A SOURCE_DATE_EPOCH that is no number is ignored: a wrong date is worse than today's. */
static time_t now(void)
{
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    int64_t v;
    return fixed && str_to_i64(str_of(fixed), &v) && v >= 0 ? (time_t)v : time(NULL);
}

int64_t clock_epoch(void)
{
    return (int64_t)now();
}

void clock_format(int64_t epoch_s, char buf[32])
{
    struct tm tm;
    time_t t = (time_t)epoch_s;
    if (!gmtime_r(&t, &tm) || strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        memcpy(buf, "1970-01-01T00:00:00Z", sizeof "1970-01-01T00:00:00Z");
}

void clock_timestamp(char buf[32])
{
    clock_format(clock_epoch(), buf);
}

/* ---- reading ---- */

/* n digits at *at, which moves past them. */
static bool digits(str s, uint32_t *at, uint32_t n, int *out)
{
    uint64_t v;
    if (s.n - *at < n || !str_to_u64((str){s.p + *at, n}, &v))
        return false;
    *out = (int)v;
    *at += n;
    return true;
}

static bool mark(str s, uint32_t *at, char c)
{
    return *at < s.n && s.p[(*at)++] == c;
}

bool clock_parse(str s, int64_t *epoch_s)
{
    struct tm tm = {0}, again;
    uint32_t at = 0;
    if (!digits(s, &at, 4, &tm.tm_year) || !mark(s, &at, '-') || !digits(s, &at, 2, &tm.tm_mon) ||
        !mark(s, &at, '-') || !digits(s, &at, 2, &tm.tm_mday))
        return false;
    if (at < s.n) {
        if (!mark(s, &at, 'T') || !digits(s, &at, 2, &tm.tm_hour) || !mark(s, &at, ':') ||
            !digits(s, &at, 2, &tm.tm_min) || !mark(s, &at, ':') || !digits(s, &at, 2, &tm.tm_sec))
            return false;
        if (at < s.n && s.p[at] == 'Z')
            at++;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    struct tm asked = tm;
    time_t t = timegm(&tm);
    /* timegm() takes the 31st of February for a day of March. */
    if (at != s.n || !gmtime_r(&t, &again) || again.tm_mon != asked.tm_mon ||
        again.tm_mday != asked.tm_mday || again.tm_hour != asked.tm_hour ||
        again.tm_min != asked.tm_min || again.tm_sec != asked.tm_sec)
        return false;
    *epoch_s = (int64_t)t;
    return true;
}

enum { DURATION_MAX = 1000000000, DAY_S = 86400 };

bool clock_duration(str s, int64_t *seconds)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", DAY_S}, {"w", 7 * DAY_S}};
    uint64_t v;
    if (!str_take_u64(&s, &v) || v >= DURATION_MAX)
        return false;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        if (str_is(s, units[u].name)) {
            *seconds = (int64_t)v * units[u].seconds;
            return true;
        }
    return false;
}

/* Days since the last such day of the week, today included; -1 for another word. 1970 began on a Thursday. */
static int days_since_weekday(str s, int64_t day)
{
    static const char *const names[] = {"thursday", "friday",  "saturday", "sunday",
                                        "monday",   "tuesday", "wednesday"};
    for (int w = 0; w < 7; w++)
        if (str_is(s, names[w]))
            return (int)((day + 7 - w) % 7);
    return str_is(s, "today") ? 0 : str_is(s, "yesterday") ? 1 : -1;
}

bool clock_since(str s, int64_t now_s, int64_t *epoch_s)
{
    int64_t age, day = now_s / DAY_S;
    int back = days_since_weekday(s, day);
    if (back >= 0)
        *epoch_s = (day - back) * DAY_S;
    else if (clock_duration(s, &age))
        *epoch_s = now_s - age > 0 ? now_s - age : 1;
    else
        return clock_parse(s, epoch_s);
    return true;
}
