/* Slots: which addresses the library's connections come from. A slot is taken when a connection is handed over, and
 * given back when the library closes it; in between the library may not have looked at it yet. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "serve/serve.h"

address address_of(const struct sockaddr *a)
{
    address out = {0};
    if (a && a->sa_family == AF_INET)
        memcpy(out.bytes + 12, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
    if (a && a->sa_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
        bool four = IN6_IS_ADDR_V4MAPPED(six);
        memcpy(out.bytes + (four ? 12 : 0), six->s6_addr + (four ? 12 : 0), four ? 4 : 8);
    }
    return out;
}

bool address_same(const address *a, const address *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool slot_take(slots *t, address from, int reserved)
{
    int own = 0;
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < t->n; i++)
        own += address_same(&t->from[i], &from);
    bool free = t->n < SERVE_CONNECTIONS - reserved && own < SERVE_PER_ADDRESS;
    if (free)
        t->from[t->n++] = from;
    pthread_mutex_unlock(&t->lock);
    return free;
}

void slot_give(slots *t, address from)
{
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < t->n; i++)
        if (address_same(&t->from[i], &from)) {
            t->from[i] = t->from[--t->n];
            break;
        }
    pthread_mutex_unlock(&t->lock);
}
