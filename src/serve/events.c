/* Live updates: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). A client is told the
 * number of records and the newest one when it connects, and again when either changes, whoever wrote it: this server,
 * `bench --save` or a sweep. Changes of tags are not told.
 *
 * The history is looked at once a second for all streams together, and only while there are any. A stream ends after ten
 * minutes, and clients connect again: who does not read keeps no connection for longer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/serve.h"

enum { PAUSE_MS = 100, EVENT_BYTES = 256 };

typedef struct stream {
    server *s;
    int64_t until_ms, said_ms;
    int64_t total, newest; /* as the client knows them; -1: not yet */
    char text[EVENT_BYTES];
    size_t n, at; /* of it, sent up to there */
} stream;

/* ---- the history ---- */

static void look(server *s)
{
    const assay_record_filter newest = {.size = sizeof newest, .limit = 1};
    assay_result *records = NULL;
    assay_error err;
    assay_store *store = stores_take(s, &err);
    if (!store)
        return;
    if (assay_store_list(store, &newest, &records, &err) == ASSAY_OK) {
        double id = assay_result_number(records, "records.0.id");
        s->changes.total = (int64_t)assay_result_number(records, "total");
        s->changes.newest = id > 0 ? (int64_t)id : 0;
        stores_give(s, store);
    } else {
        assay_store_close(store); /* the next look opens another */
    }
    assay_result_free(records);
}

static void read_changes(server *s, int64_t *total, int64_t *newest)
{
    changes *c = &s->changes;
    pthread_mutex_lock(&c->lock);
    int64_t now = serve_now_ms();
    if (!c->looked_ms || now - c->looked_ms >= SERVE_LOOK_MS) {
        look(s);
        c->looked_ms = now;
    }
    *total = c->total;
    *newest = c->newest;
    pthread_mutex_unlock(&c->lock);
}

/* ---- one stream ---- */

static void say(stream *t, int64_t total, int64_t newest)
{
    t->n = (size_t)snprintf(t->text, sizeof t->text,
                            "event: records\ndata: {\"total\": %" PRId64 ", \"newest\": %" PRId64
                            "}\n\n",
                            total, newest);
    t->at = 0;
    t->total = total;
    t->newest = newest;
    t->said_ms = serve_now_ms();
}

/* A comment, so that proxies and the client know that the stream is alive. */
static void say_alive(stream *t)
{
    t->n = (size_t)snprintf(t->text, sizeof t->text, ": alive\n\n");
    t->at = 0;
    t->said_ms = serve_now_ms();
}

/* Waits until there is something to say; false at the end of the stream. */
static bool wait_for_event(stream *t)
{
    for (;;) {
        int64_t total, newest, now = serve_now_ms();
        if (atomic_load(&t->s->closing) || now > t->until_ms)
            return false;
        read_changes(t->s, &total, &newest);
        if (total != t->total || newest != t->newest) {
            say(t, total, newest);
            return true;
        }
        if (now - t->said_ms >= SERVE_ALIVE_MS) {
            say_alive(t);
            return true;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
    }
}

/* The thread is the connection's own and may wait. */
static ssize_t read_stream(void *ctx, uint64_t at, char *buf, size_t cap)
{
    stream *t = ctx;
    (void)at;
    if (t->at == t->n && !wait_for_event(t))
        return MHD_CONTENT_READER_END_OF_STREAM;
    size_t n = t->n - t->at < cap ? t->n - t->at : cap;
    memcpy(buf, t->text + t->at, n);
    t->at += n;
    return (ssize_t)n;
}

static void end_stream(void *ctx)
{
    stream *t = ctx;
    atomic_fetch_sub(&t->s->streams, 1);
    free(t);
}

struct MHD_Response *events_response(server *s)
{
    stream *t = calloc(1, sizeof *t);
    if (!t) {
        atomic_fetch_sub(&s->streams, 1);
        return NULL;
    }
    *t = (stream){.s = s, .until_ms = serve_now_ms() + SERVE_STREAM_MS, .total = -1, .newest = -1};
    struct MHD_Response *m = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, EVENT_BYTES,
                                                               read_stream, t, end_stream);
    if (!m)
        end_stream(t);
    return m;
}

void serve_events(request *r, reply *out)
{
    if (atomic_fetch_add(&r->s->streams, 1) >= SERVE_STREAMS) {
        atomic_fetch_sub(&r->s->streams, 1);
        reply_error(out, MHD_HTTP_SERVICE_UNAVAILABLE, "too many clients wait for events");
        out->retry = true;
        return;
    }
    *out = (reply){.status = MHD_HTTP_OK, .type = "text/event-stream", .stream = true};
}
