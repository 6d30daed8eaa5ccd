/* The listener: accepts connections and checks the head of their first request (head.c) before libmicrohttpd sees it.
 * The library closes a connection without a reply if its first line has no blank, waits forever for a line that never
 * ends (zeros, a TLS hello on the wrong port), and has a thread for each connection. The listener peeks at the bytes,
 * hands a connection to the library when the head is there, answers what is no HTTP with 400, and silent clients with
 * 408. A head that is too large is the library's to refuse.
 *
 * A client without a complete head costs no thread. SERVE_WAITING of them wait here; one more takes the place of the
 * oldest. A client with a complete head waits until the library may have it: at most SERVE_CONNECTIONS, of which an
 * address has SERVE_PER_ADDRESS and SERVE_RESERVED are for clients with the token. Connections that are idle between
 * two requests are closed for it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve.h"

enum { WAKE_MS = 100, READY_MS = 5 };

typedef struct client { /* accepted, not yet handed to the library */
    int fd;
    int64_t until_ms;
    struct sockaddr_storage from;
    socklen_t n_from;
    bool ready; /* its head is complete */
    bool has_token;
} client;

typedef struct listener {
    server *s;
    client clients[SERVE_WAITING];
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

static void count_refusal(server *s, int class)
{
    atomic_fetch_add(&s->by_class[class], 1);
}

/* ---- one client ---- */

static void hand_to_library(server *s, client *c, address from)
{
    const int one = 1, held = SERVE_SOCKET_BYTES;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
    setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &held, sizeof held);
    if (!gate_open(c->fd)) {
        close(c->fd);
        slot_give(&s->slots, from);
        return;
    }
    if (MHD_add_connection(s->daemon, c->fd, (struct sockaddr *)&c->from, c->n_from) != MHD_YES)
        slot_give(&s->slots, from); /* the library has closed it */
}

static bool brings_token(const server *s, const char *head, size_t n)
{
    char value[160];
    return head_field(head, n, "Authorization", value, sizeof value) &&
           strncasecmp(value, "Bearer ", 7) == 0 && guard_token(s, value + 7);
}

/* False: the client goes on waiting. */
static bool pass_on(server *s, client *c)
{
    const address from = address_of((const struct sockaddr *)&c->from);
    if (!slot_take(&s->slots, from, s->token[0] && !c->has_token ? SERVE_RESERVED : 0)) {
        watchdog_end_idle(&s->dog);
        return false;
    }
    hand_to_library(s, c, from);
    return true;
}

static void refuse_client(server *s, client *c)
{
    reply_and_close(c, "400 Bad Request", "not a valid HTTP request\n");
    count_refusal(s, 4);
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
        return false;
    }
    int more = (int)n + 1;
    head_state state = head_check(head, (size_t)n);
    if (state == HEAD_INCOMPLETE && n < (ssize_t)sizeof head && !over) {
        /* Wake up when there are more bytes. */
        setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof more);
        return true;
    }
    if (state != HEAD_GOOD && n < (ssize_t)sizeof head) {
        refuse_client(s, c);
        return false;
    }
    c->ready = true;
    c->has_token = brings_token(s, head, (size_t)n);
    return !pass_on(s, c);
}

/* ---- the listener ---- */

static void drop_client(listener *l, int i)
{
    l->clients[i] = l->clients[--l->n];
}

static bool is_of(const client *c, const address *from)
{
    const address own = address_of((const struct sockaddr *)&c->from);
    return address_same(&own, from);
}

/* Closes the oldest client: of the newcomer's own address if that has half of all places, else of all. */
static void make_place(listener *l, address from)
{
    int own = 0, oldest = -1;
    for (int i = 0; i < l->n; i++)
        own += is_of(&l->clients[i], &from);
    for (int i = 0; i < l->n; i++)
        if ((own < SERVE_WAITING / 2 || is_of(&l->clients[i], &from)) &&
            (oldest < 0 || l->clients[i].until_ms < l->clients[oldest].until_ms))
            oldest = i;
    reply_and_close(&l->clients[oldest], "503 Service Unavailable", "too many connections\n");
    count_refusal(l->s, 5);
    drop_client(l, oldest);
}

/* A connection that cannot be accepted for lack of descriptors or memory stays in the queue
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
    if (l->n == SERVE_WAITING)
        make_place(l, address_of((const struct sockaddr *)&c.from));
    l->clients[l->n++] = c;
}

static void check_clients(listener *l, const struct pollfd *fds)
{
    int64_t now = serve_now_ms();
    for (int i = l->n; i-- > 0;) { /* backwards: drop_client() moves the last one */
        client *c = &l->clients[i];
        bool taken = c->ready
                         ? pass_on(l->s, c)
                         : fds[i].revents && !check_client(l->s, c, fds[i].revents & CLIENT_CLOSED);
        if (taken) {
            drop_client(l, i);
        } else if (now > c->until_ms) {
            reply_and_close(c, c->ready ? "503 Service Unavailable" : "408 Request Timeout",
                            c->ready ? "too many connections\n" : "request timed out\n");
            count_refusal(l->s, c->ready ? 5 : 4);
            drop_client(l, i);
        }
    }
}

static void *run_listener(void *ctx)
{
    server *s = ctx;
    listener *l = calloc(1, sizeof *l);
    struct pollfd *fds = calloc(SERVE_WAITING + 1, sizeof *fds);
    if (l)
        l->s = s;
    while (l && fds && !atomic_load(&s->closing)) {
        int waiting = l->n;
        bool ready = false;
        for (int i = 0; i < waiting; i++) {
            ready = ready || l->clients[i].ready; /* not polled: its bytes are there already */
            fds[i] = (struct pollfd){.fd = l->clients[i].ready ? -1 : l->clients[i].fd,
                                     .events = POLLIN | POLLRDHUP};
        }
        fds[waiting] = (struct pollfd){.fd = s->listening, .events = POLLIN};
        if (poll(fds, (nfds_t)waiting + 1, ready ? READY_MS : WAKE_MS) < 0)
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
