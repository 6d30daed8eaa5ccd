/* See load_conn.h. */
#include "measure/load_conn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void take_piece(void *ctx, const char *p, size_t n)
{
    load_conn *c = ctx;
    load_call *call = &c->call;
    bool good = c->http.status >= 200 && c->http.status < 300;
    if (!call->first_ns && !call->plan->protocol->tokens)
        call->first_ns = call->now_ns;
    if (!good)
        return;
    if (call->plan->protocol->piece)
        call->plan->protocol->piece(call, (str){p, (uint32_t)n});
    else if (call->plan->protocol->end || call->plan->expect.n)
        sbuf_put(&call->body, p, n);
}

void load_conn_init(load_conn *c, const load_plan *p, int epoll, load_tls *tls)
{
    *c = (load_conn){.fd = -1, .epoll = epoll, .tls_of = tls};
    c->http = (load_http){.no_body = str_is(p->method, "HEAD"),
                          .body_most = p->body_most,
                          .body = take_piece,
                          .ctx = c};
    c->call.plan = p;
}

void load_conn_free(load_conn *c)
{
    load_conn_drop(c, false);
    sbuf_free(&c->out);
    sbuf_free(&c->call.body);
    sbuf_free(&c->call.gaps);
}

void load_conn_drop(load_conn *c, bool at_once)
{
    if (c->tls)
        load_tls_free(c->tls_of, c->tls);
    else if (c->fd >= 0)
        load_socket_close(c->fd, at_once);
    c->tls = NULL;
    c->fd = -1;
    c->reused = false;
    c->state = CONN_NONE;
}

void load_conn_fail(load_conn *c, load_outcome why, int error)
{
    load_conn_drop(c, true);
    c->state = CONN_OVER;
    c->outcome = why;
    c->error = error;
}

bool load_conn_in_handshake(const load_conn *c)
{
    return c->tls && c->state == CONN_CONNECTING;
}

/* ---- connecting ---- */

static void watch_socket(load_conn *c, uint32_t events, bool is_new)
{
    struct epoll_event e = {.events = events, .data = {.ptr = c}};
    if (is_new || events != c->events)
        epoll_ctl(c->epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, c->fd, &e);
    c->events = events;
}

void load_conn_open(load_conn *c)
{
    c->state = CONN_CONNECTING;
    if (c->tls_of) {
        c->tls = load_tls_connect(c->tls_of);
        if (!c->tls)
            load_conn_fail(c, LOAD_TLS, ENOMEM);
        return;
    }
    c->fd = load_socket_open(&c->call.plan->target);
    if (c->fd < 0)
        load_conn_fail(c, LOAD_CONNECT, errno);
    else
        watch_socket(c, EPOLLOUT | EPOLLIN | EPOLLRDHUP, true);
}

static ssize_t send_some(load_conn *c, const char *p, size_t n)
{
    return c->tls ? load_tls_send(c->tls, p, n) : send(c->fd, p, n, MSG_NOSIGNAL);
}

static ssize_t receive_some(load_conn *c, char *p, size_t n)
{
    return c->tls ? load_tls_receive(c->tls, p, n) : recv(c->fd, p, n, 0);
}

/* A connection that the server had closed while nobody used it: the request is sent once more on a new one. */
static bool send_again(load_conn *c)
{
    if (!c->reused || c->again || c->http.status || c->http.head_bytes)
        return false;
    load_conn_drop(c, false);
    c->again = true;
    c->sent = 0;
    load_conn_open(c);
    return true;
}

static void lose_connection(load_conn *c, load_outcome why, int error)
{
    if (!send_again(c))
        load_conn_fail(c, why, error);
}

static void send_request(load_conn *c)
{
    c->state = CONN_SENDING;
    while (c->sent < c->out.n) {
        ssize_t n = send_some(c, c->out.p + c->sent, c->out.n - c->sent);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            watch_socket(c, EPOLLIN | EPOLLOUT | EPOLLRDHUP, false);
            return;
        }
        if (n < 0) {
            lose_connection(c, LOAD_RESET, errno);
            return;
        }
        c->sent += (size_t)n;
        c->bytes_out += (uint64_t)n;
    }
    c->state = CONN_RECEIVING;
    watch_socket(c, EPOLLIN | EPOLLRDHUP, false);
}

/* ---- a request ---- */

static void write_request(load_conn *c, rng *r)
{
    const load_plan *p = c->call.plan;
    size_t head = p->head.n;
    char text[48];
    c->out.n = 0;
    sbuf_str(&c->out, p->head);
    /* The length is known after the body: room for it stays free, and the body moves by what was too much. */
    bool has_body = !str_is(p->method, "GET") && !str_is(p->method, "HEAD");
    sbuf_repeat(&c->out, " ", has_body ? sizeof text : 0);
    size_t from = c->out.n;
    if (has_body)
        p->protocol->write(&c->call, r, &c->out);
    size_t n = c->out.n - from;
    int wrote = has_body ? snprintf(text, sizeof text, "Content-Length: %zu\r\n\r\n", n)
                         : snprintf(text, sizeof text, "\r\n");
    if (!has_body)
        sbuf_put(&c->out, text, (size_t)wrote);
    else if (!c->out.failed) {
        memcpy(c->out.p + head, text, (size_t)wrote);
        memmove(c->out.p + head + wrote, c->out.p + from, n);
        c->out.n = head + (size_t)wrote + n;
    }
}

static void forget_call(load_conn *c, uint64_t number)
{
    load_call *k = &c->call;
    k->body.n = k->gaps.n = 0;
    *k = (load_call){.plan = k->plan, .number = number, .body = k->body, .gaps = k->gaps};
    load_http_begin(&c->http);
    c->sent = c->bytes_in = c->bytes_out = 0;
    c->again = false;
    c->outcome = LOAD_GOOD;
    c->error = 0;
}

void load_conn_start(load_conn *c, uint64_t number, rng *r, uint64_t now_ns)
{
    forget_call(c, number);
    write_request(c, r);
    c->busy = true;
    c->sent_ns = now_ns;
    if (c->out.failed || c->call.body.failed)
        load_conn_fail(c, LOAD_CONNECT, ENOMEM);
    else if (c->state == CONN_IDLE)
        send_request(c);
    else if (c->state == CONN_NONE)
        load_conn_open(c);
}

static load_outcome outcome_of_status(int status)
{
    return status >= 200 && status < 300   ? LOAD_GOOD
           : status >= 300 && status < 400 ? LOAD_REDIRECT
           : status >= 400 && status < 500 ? LOAD_HTTP_4XX
           : status >= 500 && status < 600 ? LOAD_HTTP_5XX
                                           : LOAD_HTTP_OTHER;
}

static bool body_contains(const load_call *k, str part)
{
    return k->body.n >= part.n && memmem(k->body.p, k->body.n, part.p, part.n) != NULL;
}

/* The answer is there. Judging it takes time that is not the server's: the end is noted before. */
static void end_answer(load_conn *c)
{
    load_call *k = &c->call;
    const load_protocol *p = k->plan->protocol;
    c->state = CONN_OVER;
    c->outcome = outcome_of_status(c->http.status);
    if (c->outcome != LOAD_GOOD)
        return;
    if (k->body.failed || k->gaps.failed)
        load_call_wrong(k, "out of memory");
    if (p->end && !k->wrong)
        p->end(k);
    if (k->plan->expect.n && !body_contains(k, k->plan->expect))
        load_call_wrong(k, "the response does not contain the expected text");
    if (k->wrong)
        c->outcome = LOAD_ANSWER;
    else if (p->tokens && !k->finished)
        c->outcome = LOAD_SHORT;
}

static void receive_answer(load_conn *c, char *buf, size_t cap, uint64_t now_ns)
{
    for (;;) {
        ssize_t n = receive_some(c, buf, cap);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            lose_connection(c, LOAD_RESET, errno);
            return;
        }
        c->call.now_ns = now_ns;
        c->bytes_in += (uint64_t)n;
        size_t used = n ? load_http_feed(&c->http, buf, (size_t)n) : 0;
        bool over = n ? load_http_over(&c->http) : true;
        if (!n && !load_http_close(&c->http)) {
            bool failed = c->http.state == HTTP_BAD || c->http.state == HTTP_TOO_BIG;
            if (!failed) {
                lose_connection(c, LOAD_SHORT, 0);
                return;
            }
        }
        if (!over) {
            if (c->call.wrong) { /* a stream that went wrong is not read to its end */
                load_conn_fail(c, LOAD_ANSWER, 0);
                return;
            }
            if ((size_t)n < cap)
                return; /* the next bytes are reported again */
            continue;
        }
        c->call.last_ns = c->call.plan->protocol->tokens ? c->call.last_ns : now_ns;
        if (c->http.state == HTTP_DONE) {
            end_answer(c);
            if (used <
                (size_t)n) /* bytes that nobody asked for: what follows would not be an answer */
                c->http.keep_alive = false;
        } else
            load_conn_fail(c, c->http.state == HTTP_BAD ? LOAD_PROTOCOL : LOAD_TOO_BIG, 0);
        return;
    }
}

/* ---- events ---- */

static void end_connecting(load_conn *c, uint64_t now_ns)
{
    if (c->tls) {
        int fd = -1;
        load_tls_progress now = load_tls_state(c->tls, &fd);
        if (now == TLS_WAITS)
            return;
        if (now != TLS_READY) {
            load_conn_fail(c, now == TLS_REFUSED ? LOAD_CONNECT : LOAD_TLS, 0);
            return;
        }
        c->fd = fd;
        watch_socket(c, EPOLLIN | EPOLLRDHUP, true);
    } else {
        int error = load_socket_error(c->fd);
        if (error) {
            load_conn_fail(c, LOAD_CONNECT, error);
            return;
        }
    }
    c->state = CONN_IDLE;
    (void)now_ns;
    if (c->busy)
        send_request(c);
    else
        watch_socket(c, EPOLLIN | EPOLLRDHUP, false);
}

void load_conn_event(load_conn *c, uint32_t events, char *buf, size_t cap, uint64_t now_ns)
{
    switch (c->state) {
    case CONN_CONNECTING:
        end_connecting(c, now_ns);
        return;
    case CONN_IDLE: /* the server closed it, or sent what nobody asked for */
        load_conn_drop(c, false);
        return;
    case CONN_SENDING:
        if (events & (EPOLLERR | EPOLLHUP))
            lose_connection(c, LOAD_RESET, load_socket_error(c->fd));
        else if (events &
                 EPOLLIN) /* an answer before the request is whole: read it, send no more */
            receive_answer(c, buf, cap, now_ns);
        else
            send_request(c);
        return;
    case CONN_RECEIVING:
        receive_answer(c, buf, cap, now_ns);
        return;
    default:
        return;
    }
}

void load_conn_rest(load_conn *c)
{
    bool keep = c->outcome != LOAD_PROTOCOL && c->http.state == HTTP_DONE && c->http.keep_alive &&
                c->fd >= 0 && c->sent == c->out.n;
    c->busy = false;
    if (!keep) {
        load_conn_drop(c, false);
        return;
    }
    c->reused = true;
    c->state = CONN_IDLE;
}
