/* One GET before a load: metadata and lists of models. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/load_conn.h"
#include "measure/load_run.h"

enum { ANSWER_MOST = 16 << 20, ASK_BUFFER = 16384 };

static void write_nothing(load_call *c, rng *r, sbuf *out)
{
    (void)c;
    (void)r;
    (void)out;
}

/* Keeps the body. */
static void end_nothing(load_call *c)
{
    (void)c;
}

static void wait_for_answer(load_conn *c, load_tls *tls, uint64_t until_ns)
{
    char buf[ASK_BUFFER];
    for (uint64_t now = clock_mono_ns(); c->state != CONN_OVER; now = clock_mono_ns()) {
        struct epoll_event e;
        if (now >= until_ns) {
            load_conn_fail(c, LOAD_TIMEOUT, 0);
            return;
        }
        if (tls)
            load_tls_step(tls);
        if (load_conn_in_handshake(c))
            load_conn_event(c, 0, buf, sizeof buf, now);
        int n = c->state == CONN_OVER ? 0 : epoll_wait(c->epoll, &e, 1, tls ? 1 : 20);
        if (n > 0)
            load_conn_event(c, e.events, buf, sizeof buf, clock_mono_ns());
    }
}

static assay_status take_answer(const load_plan *p, const char *path, load_conn *c, int *status,
                                str *text, assay_error *err)
{
    *status = c->http.status;
    if (c->outcome == LOAD_GOOD || (c->outcome >= LOAD_REDIRECT && c->outcome <= LOAD_HTTP_OTHER)) {
        *text = str_copy(p->arena, (str){c->call.body.p, (uint32_t)c->call.body.n});
        return text->p ? ASSAY_OK : err_no_memory(err);
    }
    return err_fail(err, ASSAY_ERR_ENGINE, STR_FMT ":%u: cannot read %s: %s%s%s",
                    STR_ARG(p->target.host), p->target.port, path, load_outcome_words[c->outcome],
                    c->error ? ": " : "", c->error ? strerror(c->error) : "");
}

assay_status load_ask(const load_plan *p, const char *path, int *status, str *text,
                      assay_error *err)
{
    static const load_protocol plain = {
        .name = "http", .title = "HTTP", .write = write_nothing, .end = end_nothing};
    load_plan ask = *p;
    sbuf head = {0};
    load_conn c;
    rng r;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "epoll: %s", strerror(errno));
    load_put_get(p, path, &head);
    ask.protocol = &plain;
    ask.method = STR("GET");
    ask.expect = (str){0};
    ask.body_most = ANSWER_MOST;
    ask.head = head.n >= 2 ? (str){head.p, (uint32_t)head.n - 2} : (str){0}; /* CR LF is added */
    load_conn_init(&c, &ask, epoll, p->tls);
    rng_seed(&r, 0);
    load_conn_start(&c, 0, &r, clock_mono_ns());
    wait_for_answer(&c, p->tls, clock_mono_ns() + p->timeout_ns);
    assay_status s = head.failed ? err_no_memory(err) : take_answer(p, path, &c, status, text, err);
    load_conn_free(&c);
    close(epoll);
    sbuf_free(&head);
    return s;
}
