/* Time: all deadlines and waits are by the monotonic clock. Setting the system's time does not change them. */
#include <time.h>

#include "serve/serve.h"

int64_t serve_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void serve_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

bool serve_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ms)
{
    const struct timespec t = {.tv_sec = (time_t)(until_ms / 1000),
                               .tv_nsec = (long)(until_ms % 1000) * 1000000};
    return pthread_cond_timedwait(c, lock, &t) == 0;
}
