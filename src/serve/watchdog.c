/* The watchdog: deadlines of connections. A request that arrives byte by byte is never idle, so the library's own
 * timeout does not catch it. Every connection has a deadline for its phase: reading a request, or sending a reply.
 * A connection that misses it while reading gets a 408 on its socket (nothing was sent on it yet) and is shut down,
 * which the library treats as closed by the client.
 *
 * A client that reads a reply must read SERVE_READ_PER_S on average over every SERVE_READ_WINDOW_S: what it does not read
 * is held for it.
 *
 * The library calls watchdog_remove() before it closes the socket, and both it and the shutdown are under the
 * lock: a socket that was closed, and its number used again, is never touched.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "serve/serve.h"

enum { LOOK_MS = 250 };

static void end_connection(connection *c)
{
    static const char late[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
                               "Content-Type: text/plain\r\nContent-Length: 18\r\n\r\n"
                               "request timed out\n";
    c->ended = true;
    if (c->now == PHASE_READING)
        (void)!send(c->fd, late, sizeof late - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(c->fd, SHUT_RDWR);
}

/* Whether the client reads too slowly. Begins a new window at the end of one. */
static bool reads_slowly(connection *c, int64_t window_s, int64_t now)
{
    if (c->now != PHASE_SENDING || now - c->since_ms < 1000 * window_s)
        return false;
    bool slow = c->sent - c->sent_before < SERVE_READ_PER_S * (uint64_t)window_s;
    c->sent_before = c->sent;
    c->since_ms = now;
    return slow;
}

static void *watch(void *ctx)
{
    watchdog *w = ctx;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t now = serve_now_ms();
        for (connection *c = w->first; c; c = c->next)
            if (!c->ended && c->now != PHASE_WORKING &&
                (now > c->until_ms || reads_slowly(c, w->window_s, now)))
                end_connection(c);
        serve_wait(&w->wake, &w->lock, now + LOOK_MS);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool watchdog_start(watchdog *w, int64_t window_s)
{
    w->window_s = window_s;
    pthread_mutex_init(&w->lock, NULL);
    serve_cond_init(&w->wake);
    w->running = pthread_create(&w->thread, NULL, watch, w) == 0;
    return w->running;
}

void watchdog_stop(watchdog *w)
{
    if (!w->running)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    w->running = false;
}

/* Connections are added in front and their deadlines are alike: the first to end is idle the longest. */
void watchdog_end_idle(watchdog *w)
{
    connection *oldest = NULL;
    pthread_mutex_lock(&w->lock);
    for (connection *c = w->first; c; c = c->next)
        if (c->idle && !c->ended && (!oldest || c->until_ms <= oldest->until_ms))
            oldest = c;
    if (oldest) {
        oldest->ended = true;
        shutdown(oldest->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&w->lock);
}

void watchdog_idle(watchdog *w, connection *c, bool idle)
{
    if (!c)
        return;
    pthread_mutex_lock(&w->lock);
    c->idle = idle;
    pthread_mutex_unlock(&w->lock);
}

connection *watchdog_add(watchdog *w, int fd, int64_t allowed_ms)
{
    connection *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->fd = fd;
    c->until_ms = serve_now_ms() + allowed_ms;
    pthread_mutex_lock(&w->lock);
    c->next = w->first;
    if (c->next)
        c->next->before = c;
    w->first = c;
    pthread_mutex_unlock(&w->lock);
    return c;
}

void watchdog_remove(watchdog *w, connection *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&w->lock);
    if (c->before)
        c->before->next = c->next;
    else
        w->first = c->next;
    if (c->next)
        c->next->before = c->before;
    pthread_mutex_unlock(&w->lock);
    free(c);
}

void watchdog_phase(watchdog *w, connection *c, phase now, int64_t allowed_ms)
{
    if (!c)
        return;
    pthread_mutex_lock(&w->lock);
    c->now = now;
    c->sent = c->sent_before = 0;
    c->since_ms = serve_now_ms();
    c->until_ms = c->since_ms + allowed_ms;
    pthread_mutex_unlock(&w->lock);
}

void watchdog_sent(watchdog *w, connection *c, uint64_t bytes)
{
    if (!c)
        return;
    pthread_mutex_lock(&w->lock);
    c->sent = bytes;
    pthread_mutex_unlock(&w->lock);
}
