/* One thread: what the library takes of POSIX threads where there are none. A lock is always free, a condition that is
 * waited for never comes, and no thread can be started. */
#ifndef WASM_PTHREAD_H
#define WASM_PTHREAD_H

#include <errno.h>
#include <signal.h>
#include <time.h>

/* The C library has the types. */
#define __NEED_pthread_t
#define __NEED_pthread_attr_t
#define __NEED_pthread_cond_t
#define __NEED_pthread_condattr_t
#define __NEED_pthread_mutex_t
#define __NEED_pthread_mutexattr_t
#define __NEED_pthread_once_t
#include <bits/alltypes.h>

#define PTHREAD_MUTEX_INITIALIZER \
    {                             \
        {                         \
            {                     \
                0                 \
            }                     \
        }                         \
    }
#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    (void)a;
    (void)m;
    return 0;
}
static inline int pthread_mutex_destroy(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}
static inline int pthread_mutex_unlock(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}
static inline int pthread_condattr_init(pthread_condattr_t *a)
{
    (void)a;
    return 0;
}
static inline int pthread_condattr_setclock(pthread_condattr_t *a, clockid_t clock)
{
    (void)a;
    (void)clock;
    return 0;
}
static inline int pthread_condattr_destroy(pthread_condattr_t *a)
{
    (void)a;
    return 0;
}
static inline int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
    (void)a;
    (void)c;
    return 0;
}
static inline int pthread_cond_destroy(pthread_cond_t *c)
{
    (void)c;
    return 0;
}
static inline int pthread_cond_signal(pthread_cond_t *c)
{
    (void)c;
    return 0;
}
static inline int pthread_cond_broadcast(pthread_cond_t *c)
{
    (void)c;
    return 0;
}
static inline int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                         const struct timespec *t)
{
    (void)c;
    (void)m;
    (void)t;
    return ETIMEDOUT;
}
static inline int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *),
                                 void *ctx)
{
    (void)a;
    (void)run;
    (void)ctx;
    *t = 0;
    return EAGAIN;
}
static inline int pthread_join(pthread_t t, void **result)
{
    (void)t;
    (void)result;
    return 0;
}

#endif
