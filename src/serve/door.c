/* Who comes in at all. The library hangs up without a word on what does not even look like a request (a line
 * without a blank), and waits for the end of a line that never comes (zeros, a TLS hello on the wrong port). So
 * connections are accepted here, their first bytes looked at without taking them, and only what begins like
 * HTTP is handed on; everything else has its 400 at once, and whoever says nothing a 408.
 *
 * At most SERVE_CONNECTIONS are inside or before the door; the others wait in the system's queue.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve.h"

enum { FIRST_BYTES = 64, WAKE_MS = 100 };

typedef struct guest {
    int fd;
    int64_t until_ms;
    struct sockaddr_storage from;
    socklen_t n_from;
} guest;

typedef struct hall { /* those before the door */
    server *s;
    guest guests[SERVE_CONNECTIONS];
    int n;
} hall;

enum { SAYS_NO_MORE = POLLRDHUP | POLLHUP | POLLERR };

/* ---- what the first bytes say ---- */

typedef enum verdict { WAIT, GOOD, BAD } verdict;

static bool is_token(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* A method and a blank; empty lines before it are to be overlooked (RFC 9112, 2.2). A method that is longer than
 * all this is the library's to refuse. */
static verdict judge(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && (p[i] == '\r' || p[i] == '\n'))
        i++;
    for (size_t from = i; i < n; i++) {
        if (p[i] == ' ')
            return i > from ? GOOD : BAD;
        if (!is_token(p[i]))
            return BAD;
    }
    return n == FIRST_BYTES ? GOOD : WAIT;
}

/* ---- sending away ---- */

static void send_away(guest *g, const char *status, const char *why)
{
    char text[256], rest[4096];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     status, strlen(why), why);
    (void)!send(g->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(g->fd, SHUT_WR);
    /* What lies there unread would make the system break the connection before the answer is read. */
    for (int i = 0; i < 16 && recv(g->fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++)
        continue;
    close(g->fd);
}

static void count_refusal(server *s)
{
    atomic_fetch_add(&s->by_class[4], 1);
    atomic_fetch_sub(&s->connections, 1);
}

/* ---- one guest ---- */

static void hand_on(server *s, guest *g)
{
    const int one = 1;
    setsockopt(g->fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
    if (MHD_add_connection(s->daemon, g->fd, (struct sockaddr *)&g->from, g->n_from) != MHD_YES)
        atomic_fetch_sub(&s->connections, 1); /* the library has closed it */
}

static void refuse(server *s, guest *g)
{
    send_away(g, "400 Bad Request", "That is no HTTP request.\n");
    count_refusal(s);
}

/* `over`: no more bytes come than those that are there. False: it is not before the door any more. */
static bool look_at(server *s, guest *g, bool over)
{
    char first[FIRST_BYTES];
    ssize_t n = recv(g->fd, first, sizeof first, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0) {
        close(g->fd);
        atomic_fetch_sub(&s->connections, 1);
        return false;
    }
    int more = (int)n + 1;
    switch (judge(first, (size_t)n)) {
    case WAIT: /* to be woken by more than what is there */
        if (over)
            break;
        setsockopt(g->fd, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof more);
        return true;
    case GOOD:
        hand_on(s, g);
        return false;
    case BAD:
        break;
    }
    refuse(s, g);
    return false;
}

/* ---- the door ---- */

static bool has_room(const hall *h)
{
    return atomic_load(&h->s->connections) < SERVE_CONNECTIONS && h->n < SERVE_CONNECTIONS;
}

/* Only when there is room. One that cannot be let in for want of descriptors or memory stays in the queue and would
 * wake us at once, again and again. */
static void let_in(hall *h, int listening)
{
    guest g = {.n_from = sizeof g.from,
               .until_ms = serve_now_ms() + 1000 * (int64_t)h->s->options.timeout_s};
    g.fd = accept4(listening, (struct sockaddr *)&g.from, &g.n_from, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (g.fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            poll(NULL, 0, WAKE_MS);
        return;
    }
    atomic_fetch_add(&h->s->connections, 1);
    h->guests[h->n++] = g;
}

static void drop_guest(hall *h, int i)
{
    h->guests[i] = h->guests[--h->n];
}

static void look_at_all(hall *h, const struct pollfd *fds)
{
    int64_t now = serve_now_ms();
    for (int i = h->n; i-- > 0;) { /* backwards: the last one takes the place of one that goes */
        guest *g = &h->guests[i];
        if (fds[i].revents && !look_at(h->s, g, fds[i].revents & SAYS_NO_MORE)) {
            drop_guest(h, i);
        } else if (now > g->until_ms) {
            send_away(g, "408 Request Timeout", "The request took far too long.\n");
            count_refusal(h->s);
            drop_guest(h, i);
        }
    }
}

static void *keep_door(void *ctx)
{
    server *s = ctx;
    hall *h = calloc(1, sizeof *h);
    struct pollfd *fds = calloc(SERVE_CONNECTIONS + 1, sizeof *fds);
    if (h)
        h->s = s;
    while (h && fds && !atomic_load(&s->closing)) {
        int waiting = h->n;
        for (int i = 0; i < waiting; i++)
            fds[i] = (struct pollfd){.fd = h->guests[i].fd, .events = POLLIN | POLLRDHUP};
        fds[waiting] = (struct pollfd){.fd = has_room(h) ? s->listening : -1, .events = POLLIN};
        if (poll(fds, (nfds_t)waiting + 1, WAKE_MS) < 0)
            continue;
        look_at_all(h, fds);
        if (fds[waiting].revents)
            let_in(h, s->listening);
    }
    for (int i = 0; h && i < h->n; i++)
        close(h->guests[i].fd);
    free(h);
    free(fds);
    return NULL;
}

bool door_open(server *s)
{
    s->door_open = pthread_create(&s->door, NULL, keep_door, s) == 0;
    return s->door_open;
}

void door_close(server *s)
{
    atomic_store(&s->closing, true);
    if (s->door_open)
        pthread_join(s->door, NULL);
    s->door_open = false;
    if (s->listening >= 0)
        close(s->listening);
    s->listening = -1;
}
