/* Starts and stops the server: socket, page, limits of the library. */
#include "serve/server.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "assay-serve: %s%s%s\n", what, *why ? ": " : "", why);
    return false;
}

/* ---- the address ---- */

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static bool is_any(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr == htonl(INADDR_ANY);
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static void describe(server *s, int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "0";
    if (getsockname(fd, (struct sockaddr *)&a, &n) == 0)
        getnameinfo((struct sockaddr *)&a, n, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    bool six = strchr(host, ':') != NULL;
    snprintf(s->bound, sizeof s->bound, "%s%.200s%s", six ? "[" : "", host, six ? "]" : "");
    snprintf(s->url, sizeof s->url, "http://%s:%s/", s->any_address ? "localhost" : s->bound, port);
    snprintf(s->port, sizeof s->port, "%.15s", port);
    if (gethostname(s->hostname, sizeof s->hostname - 1) != 0)
        s->hostname[0] = '\0';
}

static int bind_to(server *s, const struct addrinfo *a)
{
    const int on = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 256) == 0) {
        s->loopback = is_loopback(a->ai_addr);
        s->any_address = is_any(a->ai_addr);
        return fd;
    }
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Refuses before the socket is open to anybody. */
static bool may_listen(server *s, const struct addrinfo *a)
{
    for (; a; a = a->ai_next)
        s->refused = s->refused || (!is_loopback(a->ai_addr) && !s->token[0]);
    return !s->refused || complain("an address that other machines can reach needs a token. Use "
                                   "--token-file FILE, --token auto or ASSAY_TOKEN.",
                                   "");
}

static int open_socket(server *s)
{
    const struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    char port[16];
    snprintf(port, sizeof port, "%ld", s->options.port);
    int code = getaddrinfo(s->options.host, port, &want, &list), fd = -1;
    if (code) {
        complain(s->options.host, gai_strerror(code));
        return -1;
    }
    if (may_listen(s, list)) {
        for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
            fd = bind_to(s, a);
        if (fd < 0)
            fprintf(stderr, "assay-serve: cannot listen on %s port %s: %s\n", s->options.host, port,
                    strerror(errno));
    }
    freeaddrinfo(list);
    if (fd >= 0)
        describe(s, fd);
    return fd;
}

/* ---- the page ---- */

/* For a library that was built without its page. */
static const char plain_page[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>assay</title>\n"
    "<h1>assay</h1>\n<p>This server was built without its page (node was missing). Its API "
    "works:</p>\n"
    "<ul><li><a href=\"api/v1/records\">api/v1/records</a><li><a href=\"api/v1/models\">api/v1/models</a>"
    "<li><a href=\"metrics\">metrics</a><li><a "
    "href=\"openapi.json\">openapi.json</a></ul></html>\n";

/* The page says what it may run and load; a header can say one thing more. */
static char *policy_of(const char *page)
{
    static const char mark[] = "http-equiv=\"Content-Security-Policy\" content=\"";
    const char *at = strstr(page, mark);
    const char *from = at ? at + strlen(mark) : "default-src 'none'\"";
    char *out = NULL;
    int n = asprintf(&out, "%.*s; frame-ancestors 'none'", (int)strcspn(from, "\""), from);
    return n > 0 ? out : NULL;
}

static bool make_page(server *s)
{
    assay_error err;
    assay_status made = assay_dashboard(&s->page, &s->n_page, &err);
    if (made != ASSAY_OK && made != ASSAY_ERR_UNSUPPORTED)
        return complain(err.message, "");
    if (made != ASSAY_OK) {
        s->page = strdup(plain_page);
        s->n_page = s->page ? strlen(s->page) : 0;
    }
    s->policy = s->page ? policy_of(s->page) : NULL;
    return s->policy || complain("out of memory", "");
}

/* ---- the whole ---- */

/* The library's own complaints are of clients that misbehave; they have their replies. */
static void ignore_log(void *ctx, const char *fmt, va_list ap)
{
    (void)ctx;
    (void)fmt;
    (void)ap;
}

/* No timeout of the library's: it would run while a handler works, and hang up on a request that waits for a
 * busy history or a large model instead of answering it. The watchdog knows who is late.
 * The listener keeps the limit. The library still counts those whose thread is not joined yet, and drops what is above
 * its own limit without telling us: so that one is never reached. */
static bool start_daemon(server *s)
{
    s->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ERROR_LOG | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, request_take, s, MHD_OPTION_CONNECTION_LIMIT, 2u * SERVE_CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVE_HEAD_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
        (size_t)1 << 20, MHD_OPTION_URI_LOG_CALLBACK, request_address, s,
        MHD_OPTION_NOTIFY_COMPLETED, request_done, s, MHD_OPTION_NOTIFY_CONNECTION,
        request_connection, s, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_END);
    return s->daemon || complain("cannot start the server", strerror(errno));
}

bool server_start(server *s)
{
    assay_error err;
    pthread_mutex_init(&s->stores.lock, NULL);
    pthread_mutex_init(&s->worker_lock, NULL);
    pthread_mutex_init(&s->changes.lock, NULL);
    pthread_mutex_init(&s->slots.lock, NULL);
    serve_cond_init(&s->worker_free);
    budget_init(&s->bodies, limit_named("serve-bodies"));
    budget_init(&s->replies, limit_named("serve-replies"));
    budget_init(&s->work, limit_named("serve-work"));
    s->started_s = (int64_t)time(NULL);
    s->listening = -1;
    /* A history that cannot be opened is said now, not with the first request. */
    assay_store *store = stores_take(s, &err);
    if (!store)
        return complain(err.message, "");
    stores_give(s, store);
    if (!make_page(s))
        return false;
    s->listening = open_socket(s);
    if (s->listening < 0)
        return false;
    const int64_t window_s = s->options.timeout_s < SERVE_READ_WINDOW_S ? s->options.timeout_s
                                                                        : SERVE_READ_WINDOW_S;
    return watchdog_start(&s->dog, window_s) && start_daemon(s) && listener_start(s);
}

/* No new connections; what is at work may end, for a few seconds. */
void server_stop(server *s)
{
    listener_stop(s);
    if (s->daemon) {
        int64_t until = serve_now_ms() + 5000;
        while (atomic_load(&s->active) && serve_now_ms() < until)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        MHD_stop_daemon(s->daemon);
    }
    watchdog_stop(&s->dog);
    stores_close(s);
    sweeps_close(s);
    assay_free(s->page);
    assay_free(s->policy);
}
