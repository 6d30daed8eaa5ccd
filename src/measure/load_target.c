/* See load_target.h. */
#include "measure/load_target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the URL ---- */

static assay_status refuse_url(str url, const char *why, assay_error *err)
{
    (void)url; /* it may hold a password */
    return err_fail(err, ASSAY_ERR_USAGE,
                    "the URL %s. Use for example http://127.0.0.1:8000/v1/chat/completions.", why);
}

/* "[::1]:80" and "host:80". */
static bool split_port(str authority, str *host, str *port)
{
    *port = (str){0};
    if (authority.n && authority.p[0] == '[') {
        str rest = {authority.p + 1, authority.n - 1};
        *host = str_cut(&rest, ']');
        if (host->n + 2 > authority.n || (rest.n && rest.p[0] != ':'))
            return false;
        *port = rest.n ? (str){rest.p + 1, rest.n - 1} : (str){0};
        return true;
    }
    *port = authority;
    *host = str_cut(port, ':');
    return true;
}

static bool is_printable(str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    return true;
}

static str take_user(str *authority)
{
    str user = {0};
    for (uint32_t i = 0; i < authority->n; i++)
        if (authority->p[i] == '@')
            user.n = i + 1;
    user.p = authority->p;
    *authority = (str){authority->p + user.n, authority->n - user.n};
    return user.n ? (str){user.p, user.n - 1} : (str){0};
}

static assay_status split_url(str url, load_target *out, str *authority, assay_error *err)
{
    bool plain = str_starts(url, "http://");
    out->tls = str_starts(url, "https://");
    if (!plain && !out->tls)
        return refuse_url(url, "must begin with http:// or https://", err);
    if (!is_printable(url) || url.n > 4096)
        return refuse_url(url, "has blanks or control characters, or is too long", err);
    uint32_t skip = out->tls ? 8 : 7, end = skip;
    while (end < url.n && !strchr("/?#", url.p[end]))
        end++;
    *authority = (str){url.p + skip, end - skip};
    str path = {url.p + end, url.n - end};
    out->path = str_cut(&path, '#');
    return ASSAY_OK;
}

assay_status load_target_parse(str url, arena *a, load_target *out, assay_error *err)
{
    str authority = {0}, port = {0};
    uint64_t n = 0;
    *out = (load_target){0};
    TRY(split_url(url, out, &authority, err));
    str user = take_user(&authority);
    if (!split_port(authority, &out->host, &port) || !out->host.n)
        return refuse_url(url, "has no host", err);
    if (port.n && (!str_to_u64(port, &n) || n == 0 || n > 65535))
        return refuse_url(url, "has an invalid port", err);
    out->port = n ? (uint16_t)n : out->tls ? 443 : 80;
    out->bare = !out->path.n || str_is(out->path, "/");
    bool slash = out->path.n && out->path.p[0] == '/';
    out->url = str_printf(a, "%s://" STR_FMT STR_FMT, out->tls ? "https" : "http",
                          STR_ARG(authority), STR_ARG(out->path));
    out->path = str_printf(a, "%s" STR_FMT, slash ? "" : "/", STR_ARG(out->path));
    out->host = str_copy(a, out->host);
    out->user = str_copy(a, user);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

/* ---- the address ---- */

static bool is_loopback(const struct sockaddr_storage *s)
{
    if (s->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)s)->sin_addr.s_addr) >> 24 == 127;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)s)->sin6_addr;
    return s->ss_family == AF_INET6 &&
           (IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127));
}

/* The first address that takes a connection, else the first: "localhost" is often ::1 and 127.0.0.1. */
static const struct addrinfo *choose_address(const struct addrinfo *list)
{
    for (const struct addrinfo *i = list; i && i->ai_next; i = i->ai_next) {
        int fd = socket(i->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const struct timeval most = {.tv_sec = 3};
        bool there = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) == 0 &&
                     connect(fd, i->ai_addr, i->ai_addrlen) == 0;
        if (fd >= 0)
            close(fd);
        if (there)
            return i;
    }
    return list;
}

assay_status load_target_resolve(load_target *t, assay_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char port[8], host[256];
    snprintf(port, sizeof port, "%u", t->port);
    snprintf(host, sizeof host, STR_FMT, STR_ARG(t->host));
    int code = getaddrinfo(host, port, &hints, &list);
    if (code || !list)
        return err_fail(err, ASSAY_ERR_ENGINE, STR_FMT ": no address: %s", STR_ARG(t->host),
                        gai_strerror(code));
    const struct addrinfo *best = choose_address(list);
    memcpy(&t->to, best->ai_addr, best->ai_addrlen);
    t->n_to = best->ai_addrlen;
    t->loopback = is_loopback(&t->to);
    if (getnameinfo(best->ai_addr, best->ai_addrlen, t->address, sizeof t->address, NULL, 0,
                    NI_NUMERICHOST) != 0)
        *t->address = 0;
    freeaddrinfo(list);
    return ASSAY_OK;
}

/* ---- sockets ---- */

int load_socket_open(const load_target *t)
{
    int one = 1, fd = socket(t->to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (const struct sockaddr *)&t->to, t->n_to) == 0 || errno == EINPROGRESS)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

int load_socket_error(int fd)
{
    int error = 0;
    socklen_t n = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 ? error : errno;
}

void load_socket_close(int fd, bool at_once)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    if (at_once)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
}
