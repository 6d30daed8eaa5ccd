/* See load_run.h. */
#include "measure/load_run.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "measure/load_conn.h"

enum { EVENTS = 256, BUFFER = 256 * 1024, LATE_KEPT = 100000 };
#define ASK_NS    50000000u  /* between two questions whether to go on */
#define EXPIRE_NS 5000000u   /* between two looks for requests that have timed out */
#define SPIN_NS   40000u     /* a sleep ends later than asked for by about as much */
#define REST_NS   100000000u /* after a refused connection, in a closed loop */
#define GIVE_UP   64         /* refused connections without any other outcome */

struct load_client {
    const load_plan *plan;
    load_tls *tls;
    int epoll;
    load_conn **conns;
    uint32_t n_conns, cap_conns;
    load_conn **idle; /* kept connections, the one used last on top */
    uint32_t n_idle;
    char *buf;
};

typedef struct load_running {
    load_client *c;
    load_run_request q;
    load_run_result *out;
    rng random;
    uint64_t begin_ns, ready_ns; /* ready: epoll returned */
    uint64_t number;             /* of the next request */
    uint64_t asked_ns, expired_ns;
    uint64_t *backlog; /* a ring: due, and not sent */
    uint32_t backlog_n, backlog_at, backlog_cap;
    uint32_t in_flight, handshakes;
    uint64_t good, refused;
    uint64_t over_ns; /* when the last request was due; 0: not yet */
    double handling_sum;
    uint64_t handled;
    float *late;
    uint32_t n_late;
    bool failed; /* out of memory */
} load_running;

/* ---- the client ---- */

assay_status load_client_open(const load_plan *p, load_tls *tls, load_client **out,
                              assay_error *err)
{
    load_client *c = memory_zeroed(1, sizeof *c);
    *out = c;
    TRY_MEMORY(c, err);
    *c = (load_client){.plan = p, .tls = tls, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    c->buf = memory_alloc(BUFFER);
    if (c->epoll < 0)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "epoll: %s", strerror(errno));
    return c->buf ? ASSAY_OK : err_no_memory(err);
}

void load_client_close(load_client *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_conns; i++) {
        load_conn_free(c->conns[i]);
        free(c->conns[i]);
    }
    if (c->epoll >= 0)
        close(c->epoll);
    free(c->conns);
    free(c->idle);
    free(c->buf);
    free(c);
}

static bool grow_conns(load_client *c)
{
    uint32_t cap = c->cap_conns ? 2 * c->cap_conns : 64;
    load_conn **conns = memory_resize(c->conns, sizeof(load_conn *) * cap);
    c->conns = conns ? conns : c->conns;
    load_conn **idle = conns ? memory_resize(c->idle, sizeof(load_conn *) * cap) : NULL;
    c->idle = idle ? idle : c->idle;
    c->cap_conns = idle ? cap : c->cap_conns;
    return idle != NULL;
}

static load_conn *add_conn(load_client *c)
{
    if (c->n_conns == c->cap_conns && !grow_conns(c))
        return NULL;
    load_conn *conn = memory_zeroed(1, sizeof *conn);
    if (!conn)
        return NULL;
    load_conn_init(conn, c->plan, c->epoll, c->tls);
    return c->conns[c->n_conns++] = conn;
}

/* ---- records ---- */

void load_run_free(load_run_result *r)
{
    free(r->items);
    free(r->gaps);
    r->items = NULL;
    r->gaps = NULL;
}

static load_record *add_record(load_run_result *r)
{
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 4096;
        load_record *items = memory_resize(r->items, sizeof *items * cap);
        if (!items)
            return NULL;
        r->items = items;
        r->cap = cap;
    }
    return &r->items[r->n++];
}

static bool add_gaps(load_run_result *r, const sbuf *gaps)
{
    uint32_t n = (uint32_t)(gaps->n / sizeof(float));
    if (n > LOAD_GAPS_MOST - r->n_gaps)
        n = LOAD_GAPS_MOST - r->n_gaps;
    while (r->cap_gaps - r->n_gaps < n) {
        uint32_t cap = r->cap_gaps ? 2 * r->cap_gaps : 4096;
        float *grown = memory_resize(r->gaps, sizeof *grown * cap);
        if (!grown)
            return false;
        r->gaps = grown;
        r->cap_gaps = cap;
    }
    if (n)
        memcpy(r->gaps + r->n_gaps, gaps->p, n * sizeof(float));
    r->n_gaps += n;
    return true;
}

static float since_ms(uint64_t ns, uint64_t due_ns)
{
    return ns <= due_ns ? 0 : (float)((double)(ns - due_ns) / 1e6);
}

static void note_cause(load_running *r, const load_conn *c)
{
    char *why = r->out->why[c->outcome];
    if (*why)
        return;
    if (c->call.why)
        snprintf(why, sizeof *r->out->why, "%s", c->call.why);
    else if (c->http.why && (c->outcome == LOAD_PROTOCOL || c->outcome == LOAD_TOO_BIG))
        snprintf(why, sizeof *r->out->why, "%s", c->http.why);
    else if (c->error)
        snprintf(why, sizeof *r->out->why, "%s", strerror(c->error));
    else if (c->outcome == LOAD_TIMEOUT)
        snprintf(why, sizeof *r->out->why, "%s",
                 c->http.status ? "the response did not end" : "no answer");
    else if (c->outcome == LOAD_SHORT)
        snprintf(why, sizeof *r->out->why, "%s",
                 c->http.status ? "the response was cut off" : "the connection was closed");
    else if (c->http.status)
        snprintf(why, sizeof *r->out->why, "status %d", c->http.status);
}

static void count_call(load_record *x, const load_call *k)
{
    uint32_t n_gaps = (uint32_t)(k->gaps.n / sizeof(float));
    bool good = x->outcome == LOAD_GOOD;
    x->has_usage = k->has_usage;
    x->in_tokens = k->has_usage ? (uint32_t)k->in_tokens : 0;
    x->out_tokens = !good ? 0 : k->has_usage ? (uint32_t)k->out_tokens : k->chunks;
    x->itl_ms = n_gaps ? (float)((double)(k->last_ns - k->first_ns) / 1e6 / n_gaps) : -1;
}

static void record_end(load_running *r, load_conn *c, uint64_t now_ns)
{
    load_record *x = add_record(r->out);
    if (!x) {
        r->failed = true;
        return;
    }
    const load_call *k = &c->call;
    *x = (load_record){.due_ns = c->due_ns > r->begin_ns ? c->due_ns - r->begin_ns : 0,
                       .sent_ms = since_ms(c->sent_ns, c->due_ns),
                       .first_ms = k->first_ns ? since_ms(k->first_ns, c->due_ns) : -1,
                       .end_ms = since_ms(now_ns, c->due_ns),
                       .outcome = (uint8_t)c->outcome};
    count_call(x, k);
    if (c->outcome == LOAD_GOOD) {
        r->good++;
        r->failed = r->failed || !add_gaps(r->out, &k->gaps);
    } else {
        note_cause(r, c);
        r->refused += c->outcome == LOAD_CONNECT;
    }
    r->out->bytes_in += c->bytes_in;
    r->out->bytes_out += c->bytes_out;
    r->out->reconnects += c->again;
    r->out->connections += c->again;
    r->in_flight--;
}

static void record_unsent(load_running *r, uint64_t due_ns, uint64_t now_ns)
{
    load_record *x = add_record(r->out);
    uint64_t limit = r->c->plan->timeout_ns;
    if (!x) {
        r->failed = true;
        return;
    }
    *x = (load_record){.due_ns = due_ns - r->begin_ns,
                       .sent_ms = -1,
                       .first_ms = -1,
                       .end_ms = since_ms(now_ns, due_ns),
                       .itl_ms = -1,
                       .outcome = now_ns - due_ns >= limit ? LOAD_TIMEOUT : LOAD_UNSENT};
}

/* ---- sending ---- */

static void settle_conn(load_running *r, load_conn *c, uint64_t now_ns)
{
    if (c->state != CONN_OVER)
        return;
    if (!c->busy) { /* connected for nothing */
        load_conn_drop(c, true);
        c->retry_ns = now_ns + REST_NS;
        return;
    }
    record_end(r, c, now_ns);
    bool refused = c->outcome == LOAD_CONNECT || c->outcome == LOAD_TLS;
    c->retry_ns = refused && r->q.mode == LOAD_CLOSED ? now_ns + REST_NS : 0;
    load_conn_rest(c);
    if (r->q.mode != LOAD_CLOSED)
        r->c->idle[r->c->n_idle++] = c;
}

static void note_lateness(load_running *r, uint64_t due_ns, uint64_t now_ns, bool waited)
{
    uint64_t by = now_ns > due_ns ? now_ns - due_ns : 0;
    r->out->waited += waited;
    r->out->late += !waited && by > LOAD_LATE_NS;
    if (!waited && r->n_late < LATE_KEPT)
        r->late[r->n_late++] = (float)((double)by / 1e3);
}

static void send_on(load_running *r, load_conn *c, uint64_t due_ns, uint64_t now_ns)
{
    c->due_ns = due_ns;
    c->deadline_ns = due_ns + r->c->plan->timeout_ns;
    r->in_flight++;
    if (r->in_flight > r->out->in_flight_most)
        r->out->in_flight_most = r->in_flight;
    bool fresh = c->state == CONN_NONE;
    load_conn_start(c, r->number++, &r->random, now_ns);
    r->out->connections += fresh;
    settle_conn(r, c, clock_mono_ns());
}

/* ---- closed loop ---- */

static bool is_at_end(const load_running *r, uint64_t now_ns)
{
    return r->out->full || (r->q.requests && r->number >= r->q.requests) ||
           (r->q.duration_ns && now_ns - r->begin_ns >= r->q.duration_ns);
}

static void drive_closed(load_running *r, uint64_t now_ns)
{
    while (r->c->n_conns < r->q.concurrency && !r->failed)
        r->failed = !add_conn(r->c);
    for (uint32_t i = 0; i < r->c->n_conns && i < r->q.concurrency; i++) {
        load_conn *c = r->c->conns[i];
        if (c->busy || now_ns < c->retry_ns)
            continue;
        if (is_at_end(r, now_ns)) {
            r->over_ns = r->over_ns ? r->over_ns : now_ns;
            return;
        }
        if (c->state == CONN_IDLE || c->state == CONN_NONE)
            send_on(r, c, now_ns, now_ns);
    }
}

/* ---- open loop and replay ---- */

static bool push_backlog(load_running *r, uint64_t due_ns)
{
    if (r->backlog_n == r->backlog_cap) {
        uint32_t cap = r->backlog_cap ? 2 * r->backlog_cap : 1024;
        uint64_t *grown = memory_alloc(sizeof *grown * cap);
        for (uint32_t i = 0; grown && i < r->backlog_n; i++)
            grown[i] = r->backlog[(r->backlog_at + i) % r->backlog_cap];
        if (!grown)
            return false;
        free(r->backlog);
        r->backlog = grown;
        r->backlog_cap = cap;
        r->backlog_at = 0;
    }
    r->backlog[(r->backlog_at + r->backlog_n++) % r->backlog_cap] = due_ns;
    return true;
}

static uint64_t pop_backlog(load_running *r)
{
    uint64_t due = r->backlog[r->backlog_at];
    r->backlog_at = (r->backlog_at + 1) % r->backlog_cap;
    r->backlog_n--;
    return due;
}

static void admit_due(load_running *r, uint64_t now_ns)
{
    load_arrivals *a = &r->q.arrivals;
    for (;;) {
        uint64_t at = load_arrivals_peek(a);
        bool over = at == UINT64_MAX || (r->q.duration_ns && at >= r->q.duration_ns) ||
                    (r->q.requests && a->n >= r->q.requests) || r->out->full;
        if (over && !r->over_ns)
            r->over_ns = at == UINT64_MAX || r->q.requests ? now_ns
                                                           : r->begin_ns + r->q.duration_ns;
        if (over || r->begin_ns + at > now_ns)
            return;
        load_arrivals_take(a);
        if (!push_backlog(r, r->begin_ns + at)) {
            r->failed = true;
            return;
        }
        r->out->full = r->out->n + r->backlog_n + r->in_flight >= LOAD_RECORDS_MOST;
    }
}

static load_conn *free_conn(load_running *r)
{
    load_client *c = r->c;
    if (c->n_idle)
        return c->idle[--c->n_idle];
    if (c->n_conns >= r->q.concurrency)
        return NULL;
    load_conn *conn = add_conn(c);
    r->failed = r->failed || !conn;
    return conn;
}

static void drive_open(load_running *r, uint64_t now_ns)
{
    uint32_t before = r->backlog_n;
    admit_due(r, now_ns);
    while (r->backlog_n) {
        uint64_t due = r->backlog[r->backlog_at];
        if (now_ns - due >= r->c->plan->timeout_ns) { /* it waited too long for a connection */
            record_unsent(r, pop_backlog(r), now_ns);
            continue;
        }
        load_conn *c = free_conn(r);
        if (!c)
            return;
        pop_backlog(r);
        note_lateness(r, due, now_ns, before > 0);
        before -= before > 0;
        send_on(r, c, due, now_ns);
        now_ns = clock_mono_ns();
    }
}

/* ---- time-outs, the end ---- */

static void expire_requests(load_running *r, uint64_t now_ns)
{
    for (uint32_t i = 0; i < r->c->n_conns; i++) {
        load_conn *c = r->c->conns[i];
        if (c->busy && now_ns >= c->deadline_ns)
            load_conn_fail(c, LOAD_TIMEOUT, 0);
        settle_conn(r, c, now_ns);
    }
    r->expired_ns = now_ns;
}

static void step_handshakes(load_running *r, uint64_t now_ns)
{
    r->handshakes = 0;
    if (!r->c->tls)
        return;
    load_tls_step(r->c->tls);
    for (uint32_t i = 0; i < r->c->n_conns; i++) {
        load_conn *c = r->c->conns[i];
        if (!load_conn_in_handshake(c))
            continue;
        load_conn_event(c, 0, r->c->buf, BUFFER, now_ns);
        settle_conn(r, c, now_ns);
        r->handshakes += load_conn_in_handshake(c);
    }
}

static bool ask_to_go_on(load_running *r, uint64_t now_ns)
{
    if (now_ns - r->asked_ns < ASK_NS)
        return true;
    r->asked_ns = now_ns;
    if (!r->q.go_on || r->q.go_on(r->q.ctx, r->out->n, (double)(now_ns - r->begin_ns) / 1e9))
        return true;
    r->out->interrupted = true;
    return false;
}

static bool is_finished(load_running *r, uint64_t now_ns)
{
    bool drained = r->over_ns && !r->in_flight && !r->backlog_n;
    bool waited = r->over_ns && r->q.drain_ns && now_ns >= r->over_ns + r->q.drain_ns;
    r->out->gave_up = r->refused >= GIVE_UP && r->refused == r->out->n &&
                      now_ns - r->begin_ns > 500000000u;
    return drained || waited || r->failed || r->out->gave_up || !ask_to_go_on(r, now_ns);
}

/* What is still under way has not been answered: it counts, as a failure, unless the user ended the run. */
static void abandon_rest(load_running *r, uint64_t now_ns)
{
    for (uint32_t i = 0; i < r->c->n_conns; i++) {
        load_conn *c = r->c->conns[i];
        if (!c->busy)
            continue;
        if (r->out->interrupted || r->out->gave_up) {
            r->in_flight--;
            load_conn_drop(c, true);
            c->busy = false;
            continue;
        }
        load_conn_fail(c, LOAD_UNSENT, 0);
        record_end(r, c, now_ns);
        load_conn_rest(c);
    }
    while (r->backlog_n && !r->out->interrupted && !r->out->gave_up)
        record_unsent(r, pop_backlog(r), now_ns);
}

/* ---- waiting ---- */

static uint64_t next_wake(const load_running *r, uint64_t now_ns)
{
    uint64_t wake = now_ns + EXPIRE_NS;
    if (r->handshakes)
        wake = now_ns + 500000;
    if (r->q.mode != LOAD_CLOSED && !r->over_ns) {
        uint64_t at = load_arrivals_peek(&r->q.arrivals);
        if (at != UINT64_MAX && r->begin_ns + at < wake)
            wake = r->begin_ns + at;
    }
    return wake;
}

/* Sleeps until shortly before `wake`, then looks again and again: a timer is some 50 us late. */
static int wait_events(load_running *r, struct epoll_event *events)
{
    uint64_t now = clock_mono_ns(), wake = next_wake(r, now);
    int n = epoll_wait(r->c->epoll, events, EVENTS, 0);
    if (n || wake <= now)
        return n;
    if (wake - now > SPIN_NS) {
        uint64_t ns = wake - now - SPIN_NS;
        struct pollfd p = {.fd = r->c->epoll, .events = POLLIN};
        ppoll(&p, 1, &(struct timespec){.tv_sec = 0, .tv_nsec = (long)ns}, NULL);
        return epoll_wait(r->c->epoll, events, EVENTS, 0);
    }
    while (!n && clock_mono_ns() < wake)
        n = epoll_wait(r->c->epoll, events, EVENTS, 0);
    return n;
}

static void handle_events(load_running *r)
{
    struct epoll_event events[EVENTS];
    int n = wait_events(r, events);
    r->ready_ns = clock_mono_ns();
    for (int i = 0; i < n; i++) {
        load_conn *c = events[i].data.ptr;
        uint64_t now = i ? clock_mono_ns() : r->ready_ns;
        bool was_idle = c->state == CONN_IDLE;
        load_conn_event(c, events[i].events, r->c->buf, BUFFER, now);
        r->handling_sum += (double)(now - r->ready_ns);
        r->handled += !was_idle;
        settle_conn(r, c, now);
        if (r->q.mode == LOAD_CLOSED && !c->busy && !is_at_end(r, now) && now >= c->retry_ns &&
            (c->state == CONN_IDLE || c->state == CONN_NONE))
            send_on(r, c, now, now);
    }
}

/* ---- the run ---- */

static void loop(load_running *r)
{
    for (;;) {
        uint64_t now = clock_mono_ns();
        if (r->q.mode == LOAD_CLOSED)
            drive_closed(r, now);
        else
            drive_open(r, now);
        if (r->handshakes || r->c->tls)
            step_handshakes(r, now);
        now = clock_mono_ns();
        if (now - r->expired_ns >= EXPIRE_NS)
            expire_requests(r, now);
        r->out->full = r->out->full || r->out->n >= LOAD_RECORDS_MOST;
        if (is_finished(r, now))
            return;
        handle_events(r);
    }
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int order_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void sum_up_lateness(load_running *r)
{
    uint32_t n = r->n_late;
    load_run_result *out = r->out;
    out->handling_us = r->handled ? r->handling_sum / (double)r->handled / 1e3 : NAN;
    out->late_p50_us = out->late_p99_us = out->late_max_us = NAN;
    if (!n)
        return;
    qsort(r->late, n, sizeof *r->late, order_floats);
    out->late_p50_us = (double)r->late[n / 2];
    out->late_p99_us = (double)r->late[(uint32_t)((n - 1) * 0.99)];
    out->late_max_us = (double)r->late[n - 1];
}

/* Kept connections of the last run; those of a closed loop are not on the stack. */
static void collect_idle(load_client *c)
{
    c->n_idle = 0;
    for (uint32_t i = c->n_conns; i-- > 0;)
        c->idle[c->n_idle++] = c->conns[i];
}

assay_status load_run(load_client *c, const load_run_request *q, load_run_result *out,
                      assay_error *err)
{
    load_running r = {.c = c, .q = *q, .out = out};
    sigset_t pipe, before;
    *out = (load_run_result){0};
    r.late = memory_alloc(sizeof *r.late * LATE_KEPT);
    TRY_MEMORY(r.late, err);
    rng_seed(&r.random, c->plan->seed + 1);
    collect_idle(c);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE); /* TLS libraries may write without MSG_NOSIGNAL */
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    int slack = prctl(PR_GET_TIMERSLACK);
    prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
    uint64_t cpu = thread_cpu_ns();
    r.begin_ns = r.asked_ns = r.expired_ns = clock_mono_ns();
    loop(&r);
    uint64_t now = clock_mono_ns();
    out->cpu_ns = thread_cpu_ns() - cpu;
    out->wall_ns = now - r.begin_ns;
    out->sending_ns = r.over_ns ? r.over_ns - r.begin_ns : out->wall_ns;
    abandon_rest(&r, now);
    prctl(PR_SET_TIMERSLACK, slack > 0 ? (long)slack : 0L, 0L, 0L, 0L);
    sigtimedwait(&pipe, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sum_up_lateness(&r);
    free(r.backlog);
    free(r.late);
    return r.failed ? err_no_memory(err) : ASSAY_OK;
}
