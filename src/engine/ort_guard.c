/* See ort_guard.h. Optimising a large graph takes the runtime minutes. During that time it polls one flag. */
#include "engine/ort_guard.h"

#include "base/clock.h"

enum { LOOK_NS = 20000000 };

/* With the lock; true when it is over. */
static bool wait_a_little(ort_guard *g)
{
    clock_cond_wait(&g->over, &g->lock, LOOK_NS);
    return g->done;
}

static void cancel(ort_guard *g)
{
    ort_status *status = g->api->set_load_cancelled(g->options, true);
    if (status)
        g->api->release_status(status);
}

static void *watch_cancelled(void *ctx)
{
    ort_guard *g = ctx;
    pthread_mutex_lock(&g->lock);
    while (!g->done && !wait_a_little(g))
        if (g->o->cancelled(g->o->ctx)) {
            cancel(g);
            break;
        }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

void ort_guard_begin(ort_guard *g, const ort_api *api, ort_options *options,
                     const engine_options *o)
{
    *g = (ort_guard){.api = api, .options = options, .o = o};
    if (!o->cancelled || !api->set_load_cancelled)
        return;
    pthread_mutex_init(&g->lock, NULL);
    clock_cond_init(&g->over);
    g->watching = pthread_create(&g->thread, NULL, watch_cancelled, g) == 0;
    if (g->watching)
        return;
    pthread_cond_destroy(&g->over);
    pthread_mutex_destroy(&g->lock);
}

void ort_guard_end(ort_guard *g)
{
    if (!g->watching)
        return;
    pthread_mutex_lock(&g->lock);
    g->done = true;
    pthread_cond_signal(&g->over);
    pthread_mutex_unlock(&g->lock);
    pthread_join(g->thread, NULL);
    pthread_cond_destroy(&g->over);
    pthread_mutex_destroy(&g->lock);
}
