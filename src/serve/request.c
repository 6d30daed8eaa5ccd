/* One request from its header to its reply. libmicrohttpd calls it once for the header, once for each piece of the
 * body, and once at the end. A request that the header allows to refuse is refused before its body is read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/server.h"

static int64_t allowed_ms(const server *s, uint64_t bytes)
{
    return 1000 * ((int64_t)s->options.timeout_s + (int64_t)(bytes / SERVE_BYTES_PER_S));
}

/* ---- replies on the wire ---- */

static void put_header(struct MHD_Response *m, const char *name, const char *value)
{
    if (value && *value)
        MHD_add_response_header(m, name, value);
}

static void put_headers(struct MHD_Response *m, const reply *a)
{
    static const char nothing[] = "default-src 'none'; frame-ancestors 'none'";
    put_header(m, "Content-Type", a->type ? a->type : "application/json");
    put_header(m, "Content-Security-Policy", a->policy ? a->policy : nothing);
    put_header(m, "X-Content-Type-Options", "nosniff");
    put_header(m, "X-Frame-Options", "DENY");
    put_header(m, "Referrer-Policy", "no-referrer");
    put_header(m, "Cross-Origin-Resource-Policy", "same-origin");
    put_header(m, "Cross-Origin-Opener-Policy", "same-origin");
    put_header(m, "Cache-Control", "no-store");
    put_header(m, "Location", a->location);
    put_header(m, "Allow", a->allow);
    put_header(m, "Set-Cookie", a->cookie);
    if (a->status == MHD_HTTP_UNAUTHORIZED)
        put_header(m, "WWW-Authenticate", "Bearer realm=\"assay\"");
    if (a->retry)
        put_header(m, "Retry-After", "5");
    if (a->close)
        put_header(m, "Connection", "close");
}

static connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *i = MHD_get_connection_info(mhd,
                                                                MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return i ? i->socket_context : NULL;
}

/* A body that is being sent, until the library is done with it: bytes, or a document that is unpacked on the way. */
typedef struct sent_body {
    server *s;
    connection *to;
    char *bytes;
    size_t n;
    assay_document *document;
    uint64_t memory; /* of the budget */
} sent_body;

static void free_body(void *ctx)
{
    sent_body *b = ctx;
    budget_give(&b->s->replies, b->memory);
    assay_document_close(b->document);
    assay_free(b->bytes);
    free(b);
}

/* The library asks for the next bytes when the kernel has taken those before. */
static ssize_t read_body(void *ctx, uint64_t at, char *buf, size_t cap)
{
    sent_body *b = ctx;
    size_t n = at < b->n ? b->n - (size_t)at : 0;
    watchdog_sent(&b->s->dog, b->to, at);
    n = n < cap ? n : cap;
    if (b->bytes)
        memcpy(buf, b->bytes + at, n);
    else if (assay_document_read(b->document, buf, n, &n, NULL) != ASSAY_OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return n ? (ssize_t)n : MHD_CONTENT_READER_END_OF_STREAM;
}

/* Takes the body into the budget; a document is in it already. Small ones have room always: they say what is wrong. */
static bool count_body(server *s, reply *a)
{
    if (!a->body || a->constant || a->document || a->n <= SERVE_HEAD_BYTES)
        return true;
    a->memory = a->n;
    if (budget_take(&s->replies, a->n, 0))
        return true;
    a->memory = 0;
    return false;
}

static void drop_reply(server *s, const reply *a)
{
    budget_give(&s->replies, a->memory);
    assay_document_close(a->document);
    if (!a->constant)
        assay_free(a->body);
}

/* The body, which is counted, goes to the library, which frees it. */
static struct MHD_Response *make_response(request *r, const reply *a)
{
    if (a->stream)
        return events_response(r->s);
    if (a->constant || !(a->body || a->document))
        return MHD_create_response_from_buffer(a->n, a->body ? a->body : (char *)(uintptr_t) "",
                                               MHD_RESPMEM_PERSISTENT);
    sent_body *b = calloc(1, sizeof *b);
    if (!b) {
        drop_reply(r->s, a);
        return NULL;
    }
    *b = (sent_body){.s = r->s,
                     .to = connection_of(r->mhd),
                     .bytes = a->document ? NULL : a->body,
                     .n = a->n,
                     .document = a->document,
                     .memory = a->memory};
    struct MHD_Response *m = MHD_create_response_from_callback(a->n, SERVE_BLOCK_BYTES, read_body,
                                                               b, free_body);
    if (!m)
        free_body(b);
    return m;
}

static enum MHD_Result send_reply(request *r, reply *a)
{
    server *s = r->s;
    if (!count_body(s, a)) {
        drop_reply(s, a);
        reply_error(a, MHD_HTTP_SERVICE_UNAVAILABLE,
                    "too many large replies are being sent. Try again later.");
        a->retry = true;
    }
    struct MHD_Response *m = make_response(r, a);
    if (!m)
        return MHD_NO;
    put_headers(m, a);
    atomic_fetch_add(&s->by_class[a->status / 100 % 6], 1);
    /* A stream is slow because nothing happens. */
    watchdog_phase(&s->dog, connection_of(r->mhd), a->stream ? PHASE_WORKING : PHASE_SENDING,
                   allowed_ms(s, a->n));
    enum MHD_Result done = MHD_queue_response(r->mhd, a->status, m);
    MHD_destroy_response(m);
    return done;
}

static enum MHD_Result refuse(request *r, unsigned status, const char *why)
{
    reply a;
    reply_error(&a, status, why);
    a.retry = status == MHD_HTTP_SERVICE_UNAVAILABLE;
    a.close = status == MHD_HTTP_BAD_REQUEST || status == MHD_HTTP_LENGTH_REQUIRED;
    r->refused = true;
    return send_reply(r, &a);
}

/* ---- the head ---- */

static enum MHD_Result not_routed(request *r, const char *allow)
{
    reply a;
    reply_error(&a, *allow ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND,
                *allow ? "method not allowed for this path" : "not found");
    a.allow = allow;
    r->refused = true;
    return send_reply(r, &a);
}

/* 0, or the status of a refusal. */
static unsigned check_length(request *r, const char **why)
{
    const char *text = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, "Content-Length");
    char *end = NULL;
    errno = 0;
    r->length = text ? strtoull(text, &end, 10) : 0;
    if (text && (errno || *end || *text < '0' || *text > '9')) {
        *why = "Content-Length is not a number";
        return MHD_HTTP_BAD_REQUEST;
    }
    if (MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, "Transfer-Encoding") ||
        (!text && r->route->limit)) {
        *why = "Content-Length is required";
        return MHD_HTTP_LENGTH_REQUIRED;
    }
    if (r->length > 0 && !r->route->limit)
        *why = "this path does not accept a body";
    else if (r->length > 0 && r->length > limit_named(r->route->limit))
        *why = r->said = limit_refusal("the body is too large", r->route->limit);
    else
        return 0;
    *why = *why ? *why : "the body is too large";
    return MHD_HTTP_CONTENT_TOO_LARGE;
}

typedef struct repeated {
    int hosts, lengths, bad_names;
} repeated;

static enum MHD_Result count_header(void *ctx, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    repeated *n = ctx;
    (void)kind;
    (void)value;
    n->hosts += strcasecmp(key, "Host") == 0;
    n->lengths += strcasecmp(key, "Content-Length") == 0;
    n->bad_names += !head_is_name(key);
    return MHD_YES;
}

/* Two answers to where a request is for, or where it ends, are none (RFC 9112, 3.2 and 6.3); a name with a blank behind
 * it may be one of these to others. 0, or the status of a refusal. */
static unsigned check_fields(request *r, const char **why)
{
    repeated n = {0};
    MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, count_header, &n);
    if (n.hosts <= 1 && n.lengths <= 1 && !n.bad_names)
        return 0;
    *why = n.bad_names   ? "invalid header name"
           : n.hosts > 1 ? "more than one Host header"
                         : "more than one Content-Length";
    return MHD_HTTP_BAD_REQUEST;
}

/* "http://host/path" is a path too (RFC 9112, 3.2.2). */
static const char *path_of(const char *target)
{
    const char *slash = strncasecmp(target, "http://", 7) == 0 ? strchr(target + 7, '/') : NULL;
    return slash ? slash : target;
}

static enum MHD_Result take_head(request *r, const char *method)
{
    const char *why = NULL, *encoding;
    char allow[64];
    unsigned bad = check_fields(r, &why);
    if (bad)
        return refuse(r, bad, why);
    if (r->nul)
        return refuse(r, MHD_HTTP_BAD_REQUEST, "NUL in the address");
    r->route = route_find(method, path_of(r->path), &r->id, allow);
    if (!r->route)
        return not_routed(r, allow);
    unsigned status = guard_check(r, r->route, &why);
    if (!status)
        status = check_length(r, &why);
    encoding = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, "Content-Encoding");
    if (!status && encoding && strcmp(encoding, "identity") != 0) {
        status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
        why = "encoded bodies are not supported";
    }
    if (status)
        return refuse(r, status, why);
    watchdog_phase(&r->s->dog, connection_of(r->mhd), PHASE_READING, allowed_ms(r->s, r->length));
    return MHD_YES;
}

/* ---- the body ---- */

/* Room grows as bytes come: what a header claims costs nothing. */
static bool make_room(request *r, size_t more)
{
    uint64_t cap = r->cap_body ? r->cap_body : 16384;
    while (cap < r->n_body + more)
        cap *= 2;
    cap = cap > r->length ? r->length : cap;
    if (cap <= r->cap_body)
        return r->n_body + more <= r->cap_body;
    uint64_t grown = cap - r->cap_body;
    if (!budget_take(&r->s->bodies, grown, 0))
        return false;
    char *p = realloc(r->body, cap);
    if (!p) {
        budget_give(&r->s->bodies, grown);
        return false;
    }
    r->body = p;
    r->cap_body = cap;
    return true;
}

static void drop_body(request *r)
{
    free(r->body);
    budget_give(&r->s->bodies, r->cap_body);
    r->body = NULL;
    r->n_body = r->cap_body = 0;
}

static enum MHD_Result take_piece(request *r, const char *piece, size_t n)
{
    if (r->refused || r->full)
        return MHD_YES;
    if (!make_room(r, n)) {
        r->full = true; /* no answer can be queued while the body comes */
        drop_body(r);
        return MHD_YES;
    }
    memcpy(r->body + r->n_body, piece, n);
    r->n_body += n;
    return MHD_YES;
}

static enum MHD_Result answer(request *r)
{
    reply a = {0};
    watchdog_phase(&r->s->dog, connection_of(r->mhd), PHASE_WORKING, 0);
    r->route->handle(r, &a);
    drop_body(r);
    return send_reply(r, &a);
}

/* ---- what the library calls ---- */

static request with_nul; /* stands for a request whose address contains a NUL */

/* The library decodes the address and cuts it at the NUL, so it is looked for before. */
void *request_address(void *ctx, const char *target, struct MHD_Connection *mhd)
{
    server *s = ctx;
    watchdog_idle(&s->dog, connection_of(mhd), false);
    return head_has_nul(target, strlen(target)) ? &with_nul : NULL;
}

enum MHD_Result request_take(void *ctx, struct MHD_Connection *mhd, const char *path,
                             const char *method, const char *version, const char *piece,
                             size_t *n_piece, void **state)
{
    request *r = *state;
    (void)version;
    if (!r || r == &with_nul) {
        r = calloc(1, sizeof *r);
        if (!r)
            return MHD_NO;
        *r = (request){.s = ctx, .mhd = mhd, .path = path, .nul = *state == &with_nul};
        *state = r;
        atomic_fetch_add(&r->s->active, 1);
        return take_head(r, method);
    }
    r->path = path;
    if (*n_piece) {
        enum MHD_Result done = take_piece(r, piece, *n_piece);
        *n_piece = 0;
        return done;
    }
    if (r->full && !r->refused)
        return refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "too many request bodies in memory. Try again later.");
    return r->refused ? MHD_YES : answer(r);
}

void request_done(void *ctx, struct MHD_Connection *mhd, void **state,
                  enum MHD_RequestTerminationCode how)
{
    request *r = *state;
    server *s = ctx;
    (void)how;
    /* From here on the next request of the same connection is waited for. */
    watchdog_phase(&s->dog, connection_of(mhd), PHASE_READING, allowed_ms(s, 0));
    watchdog_idle(&s->dog, connection_of(mhd), true);
    if (!r || r == &with_nul)
        return;
    drop_body(r);
    atomic_fetch_sub(&s->active, 1);
    free(r->said);
    free(r);
    *state = NULL;
}

void request_connection(void *ctx, struct MHD_Connection *mhd, void **state,
                        enum MHD_ConnectionNotificationCode how)
{
    server *s = ctx;
    const union MHD_ConnectionInfo *i = MHD_get_connection_info(mhd,
                                                                MHD_CONNECTION_INFO_CONNECTION_FD);
    if (how == MHD_CONNECTION_NOTIFY_CLOSED) {
        gate_close(i ? i->connect_fd : -1);
        watchdog_remove(&s->dog, *state);
        *state = NULL;
        const union MHD_ConnectionInfo *from = MHD_get_connection_info(
            mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        slot_give(&s->slots, address_of(from ? from->client_addr : NULL));
        return;
    }
    *state = i ? watchdog_add(&s->dog, i->connect_fd, allowed_ms(s, 0)) : NULL;
}
