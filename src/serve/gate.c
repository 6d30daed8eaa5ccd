/* The gate: every head of every request is checked before libmicrohttpd reads it.
 *
 * The library accepts what two programs could read in two ways: lines that go on in the next one, lines that end with
 * LF alone, blanks before a colon. The listener (listener.c) checks the head of a connection's first request. Later
 * ones are read by the library's threads, by recv(). This file defines recv() for the whole program, so that the
 * library's calls come here: a head is looked at (MSG_PEEK) until it is complete and good, and then given to the library
 * with as many bytes of body as it announces, never more. So the library's buffer never holds a head that was not
 * checked, whatever a client sends ahead.
 *
 * A head that is larger than SERVE_HEAD_BYTES is the library's to refuse.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/serve.h"

enum { GATES = 4096 }; /* descriptors that can have one */

typedef struct gate {
    atomic_bool on;
    uint64_t left; /* bytes of the checked request that the library has not read */
} gate;

/* By descriptor. One thread at a time uses a connection: the listener until it hands it over, then its own. `on` orders
 * the last use of a descriptor before the first of the connection that gets the same number. */
static gate gates[GATES];

bool gate_open(int fd)
{
    if (fd < 0 || fd >= GATES)
        return false;
    atomic_exchange(&gates[fd].on, false);
    gates[fd].left = 0;
    atomic_store(&gates[fd].on, true);
    return true;
}

void gate_close(int fd)
{
    if (fd >= 0 && fd < GATES)
        atomic_store(&gates[fd].on, false);
}

static ssize_t receive(int fd, void *buf, size_t n, int flags)
{
    return (ssize_t)syscall(SYS_recvfrom, fd, buf, n, flags, NULL, NULL);
}

/* Wakes poll() when there are more bytes than that. */
static void wait_for_more(int fd, size_t have)
{
    const int low = (int)have + 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof low);
}

static ssize_t refuse_head(int fd)
{
    static const char bad[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
                              "Content-Type: text/plain\r\nContent-Length: 25\r\n\r\n"
                              "not a valid HTTP request\n";
    char rest[4096];
    (void)!send(fd, bad, sizeof bad - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
    /* Unread bytes would make the system reset the connection before the client reads the reply. */
    for (int i = 0; i < 16 && receive(fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++)
        continue;
    return 0; /* as if the client had closed it */
}

/* The bytes of the body that a head announces. What has none, or another coding, is refused and closed later. */
static uint64_t body_bytes(const char *head, size_t n)
{
    char value[32], *end;
    if (head_field(head, n, "Transfer-Encoding", value, sizeof value))
        return UINT64_MAX;
    if (!head_field(head, n, "Content-Length", value, sizeof value))
        return 0;
    errno = 0;
    uint64_t bytes = strtoull(value, &end, 10);
    return errno || *end || *value < '0' || *value > '9' ? UINT64_MAX : bytes;
}

static bool has_hung_up(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* 1: gate->left is set; else what recv() returns. */
static ssize_t check_next_head(gate *g, int fd)
{
    char head[SERVE_HEAD_BYTES];
    ssize_t n = receive(fd, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0)
        return n;
    head_state state = head_check(head, (size_t)n);
    if (state == HEAD_BAD)
        return refuse_head(fd);
    if (state == HEAD_INCOMPLETE && n < (ssize_t)sizeof head) {
        if (has_hung_up(fd))
            return 0;
        wait_for_more(fd, (size_t)n);
        errno = EAGAIN;
        return -1;
    }
    size_t length = state == HEAD_GOOD ? head_length(head, (size_t)n) : SIZE_MAX;
    uint64_t body = state == HEAD_GOOD ? body_bytes(head, length) : UINT64_MAX;
    wait_for_more(fd, 0);
    g->left = body > UINT64_MAX - length ? UINT64_MAX : length + body;
    return 1;
}

/* In place of the C library's. */
__attribute__((visibility("default"))) ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    gate *g = fd >= 0 && fd < GATES ? &gates[fd] : NULL;
    if (!g || flags & MSG_PEEK || !atomic_load(&g->on))
        return receive(fd, buf, n, flags);
    if (!g->left) {
        ssize_t checked = check_next_head(g, fd);
        if (checked <= 0)
            return checked;
    }
    ssize_t got = receive(fd, buf, g->left < n ? (size_t)g->left : n, flags);
    if (got > 0 && g->left != UINT64_MAX)
        g->left -= (uint64_t)got;
    return got;
}
