/* Preloaded by a test: the system's time is an hour ahead of what the kernel waits by, as if it had been set back after
 * it was read. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    long code = syscall(SYS_clock_gettime, id, t);
    if (code == 0 && id == CLOCK_REALTIME)
        t->tv_sec += 3600;
    return (int)code;
}
