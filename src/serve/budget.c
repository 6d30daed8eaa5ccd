/* Budgets of memory: what is taken is given back; who finds no room waits for a while, or is refused. */
#include "serve/serve.h"

void budget_init(budget *b, uint64_t most)
{
    pthread_mutex_init(&b->lock, NULL);
    serve_cond_init(&b->freed);
    b->used = b->peak = 0;
    b->most = most;
}

bool budget_take(budget *b, uint64_t bytes, int64_t wait_ms)
{
    const int64_t until_ms = serve_now_ms() + wait_ms;
    bool in_time = true;
    pthread_mutex_lock(&b->lock);
    while (in_time && (bytes > b->most || b->used > b->most - bytes))
        in_time = wait_ms > 0 && bytes <= b->most && serve_wait(&b->freed, &b->lock, until_ms);
    if (in_time)
        b->used += bytes;
    if (b->used > b->peak)
        b->peak = b->used;
    pthread_mutex_unlock(&b->lock);
    return in_time;
}

void budget_give(budget *b, uint64_t bytes)
{
    if (!bytes)
        return;
    pthread_mutex_lock(&b->lock);
    b->used -= bytes;
    pthread_cond_broadcast(&b->freed);
    pthread_mutex_unlock(&b->lock);
}

static uint64_t read_locked(budget *b, const uint64_t *figure)
{
    pthread_mutex_lock(&b->lock);
    uint64_t value = *figure;
    pthread_mutex_unlock(&b->lock);
    return value;
}

uint64_t budget_used(budget *b)
{
    return read_locked(b, &b->used);
}

uint64_t budget_peak(budget *b)
{
    return read_locked(b, &b->peak);
}
