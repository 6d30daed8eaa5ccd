/* A store is used by one thread at a time. A request takes an idle one or opens another. */
#include "serve/serve.h"

assay_store *stores_take(server *s, assay_error *err)
{
    assay_store *store = NULL;
    pthread_mutex_lock(&s->stores.lock);
    if (s->stores.n_idle)
        store = s->stores.idle[--s->stores.n_idle];
    pthread_mutex_unlock(&s->stores.lock);
    if (store)
        return store;
    return assay_store_open(s->options.db, !s->options.read_only, &store, err) == ASSAY_OK ? store
                                                                                           : NULL;
}

void stores_give(server *s, assay_store *store)
{
    pthread_mutex_lock(&s->stores.lock);
    if (store && s->stores.n_idle < SERVE_STORES) {
        s->stores.idle[s->stores.n_idle++] = store;
        store = NULL;
    }
    pthread_mutex_unlock(&s->stores.lock);
    assay_store_close(store);
}

void stores_close(server *s)
{
    while (s->stores.n_idle)
        assay_store_close(s->stores.idle[--s->stores.n_idle]);
}
