/* Budgets of memory: what is taken is given back; who finds no room waits for a while, or is refused. */
#include "serve/serve.h"

void budget_init(budget *b, uint64_t most)
{
    pthread_mutex_init(&b->lock, NULL);
    serve_cond_init(&b->freed);
    b->used = 0;
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

uint64_t budget_used(budget *b)
{
    pthread_mutex_lock(&b->lock);
    uint64_t used = b->used;
    pthread_mutex_unlock(&b->lock);
    return used;
}
