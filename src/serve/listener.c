/* The listener: accepts connections and checks the head of their first request (head.c) before libmicrohttpd sees it.
 * The library closes a connection without a reply if its first line has no blank, waits forever for a line that never
 * ends (zeros, a TLS hello on the wrong port), and has a thread for each connection. The listener peeks at the bytes,
 * hands a connection to the library when the head is there, answers what is no HTTP with 400, and silent clients with
 * 408. A head that is too large is the library's to refuse.
 *
 * At most SERVE_CONNECTIONS are open; the others wait in the system's queue.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve.h"

enum { WAKE_MS = 100 };

typedef struct client { /* accepted, not yet handed to the library */
    int fd;
    int64_t until_ms;
    struct sockaddr_storage from;
    socklen_t n_from;
} client;

typedef struct listener {
    server *s;
    client clients[SERVE_CONNECTIONS];
    int n;
} listener;

enum { CLIENT_CLOSED = POLLRDHUP | POLLHUP | POLLERR };

/* ---- refusing ---- */

static void reply_and_close(client *c, const char *status, const char *why)
{
    char text[256], rest[4096];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     status, strlen(why), why);
    (void)!send(c->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(c->fd, SHUT_WR);
    /* Unread bytes would make the system reset the connection before the client reads the reply. */
    for (int i = 0; i < 16 && recv(c->fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++)
        continue;
    close(c->fd);
}

static void count_refusal(server *s)
{
    atomic_fetch_add(&s->by_class[4], 1);
    atomic_fetch_sub(&s->connections, 1);
}

/* ---- one client ---- */

static void hand_to_library(server *s, client *c)
{
    const int one = 1;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
    if (MHD_add_connection(s->daemon, c->fd, (struct sockaddr *)&c->from, c->n_from) != MHD_YES)
        atomic_fetch_sub(&s->connections, 1); /* the library has closed it */
}

static void refuse_client(server *s, client *c)
{
    reply_and_close(c, "400 Bad Request", "not a valid HTTP request\n");
    count_refusal(s);
}

/* `over`: the client sends no more bytes. False: the client is no longer the listener's. */
static bool check_client(server *s, client *c, bool over)
{
    char head[SERVE_HEAD_BYTES];
    ssize_t n = recv(c->fd, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0) {
        close(c->fd);
        atomic_fetch_sub(&s->connections, 1);
        return false;
    }
    int more = (int)n + 1;
    head_state state = head_check(head, (size_t)n);
    if (state == HEAD_INCOMPLETE && n < (ssize_t)sizeof head && !over) {
        setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &more,
                   sizeof more); /* wakes up for more bytes */
        return true;
    }
    if (state == HEAD_GOOD || n == (ssize_t)sizeof head)
        hand_to_library(s, c);
    else
        refuse_client(s, c);
    return false;
}

/* ---- the listener ---- */

static bool has_room(const listener *l)
{
    return atomic_load(&l->s->connections) < SERVE_CONNECTIONS && l->n < SERVE_CONNECTIONS;
}

/* Only if there is room. A connection that cannot be accepted for lack of descriptors or memory stays in the queue
 * and would wake the loop again at once, hence the pause. */
static void accept_client(listener *l, int listening)
{
    client c = {.n_from = sizeof c.from,
                .until_ms = serve_now_ms() + 1000 * (int64_t)l->s->options.timeout_s};
    c.fd = accept4(listening, (struct sockaddr *)&c.from, &c.n_from, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (c.fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            poll(NULL, 0, WAKE_MS);
        return;
    }
    atomic_fetch_add(&l->s->connections, 1);
    l->clients[l->n++] = c;
}

static void drop_client(listener *l, int i)
{
    l->clients[i] = l->clients[--l->n];
}

static void check_clients(listener *l, const struct pollfd *fds)
{
    int64_t now = serve_now_ms();
    for (int i = l->n; i-- > 0;) { /* backwards: drop_client() moves the last one */
        client *c = &l->clients[i];
        if (fds[i].revents && !check_client(l->s, c, fds[i].revents & CLIENT_CLOSED)) {
            drop_client(l, i);
        } else if (now > c->until_ms) {
            reply_and_close(c, "408 Request Timeout", "request timed out\n");
            count_refusal(l->s);
            drop_client(l, i);
        }
    }
}

static void *run_listener(void *ctx)
{
    server *s = ctx;
    listener *l = calloc(1, sizeof *l);
    struct pollfd *fds = calloc(SERVE_CONNECTIONS + 1, sizeof *fds);
    if (l)
        l->s = s;
    while (l && fds && !atomic_load(&s->closing)) {
        int waiting = l->n;
        for (int i = 0; i < waiting; i++)
            fds[i] = (struct pollfd){.fd = l->clients[i].fd, .events = POLLIN | POLLRDHUP};
        fds[waiting] = (struct pollfd){.fd = has_room(l) ? s->listening : -1, .events = POLLIN};
        if (poll(fds, (nfds_t)waiting + 1, WAKE_MS) < 0)
            continue;
        check_clients(l, fds);
        if (fds[waiting].revents)
            accept_client(l, s->listening);
    }
    for (int i = 0; l && i < l->n; i++)
        close(l->clients[i].fd);
    free(l);
    free(fds);
    return NULL;
}

bool listener_start(server *s)
{
    s->listening_thread = pthread_create(&s->listener, NULL, run_listener, s) == 0;
    return s->listening_thread;
}

void listener_stop(server *s)
{
    atomic_store(&s->closing, true);
    if (s->listening_thread)
        pthread_join(s->listener, NULL);
    s->listening_thread = false;
    if (s->listening >= 0)
        close(s->listening);
    s->listening = -1;
}
