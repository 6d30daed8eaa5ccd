/* assay-serve: the dashboard of a history. A separate program and a client of <assay/assay.h>; the only code that
 * uses HTTP (libmicrohttpd, one thread per connection).
 *
 * Everything that clients can do has a limit: connections, bytes of a request's header and body, seconds until it is
 * complete, bodies in memory, models analysed at the same time (each in a separate process with limits on memory and
 * time). No request names a file; only the database is accessible.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <assay/history.h>
#include <assay/sandbox.h>
#include <assay/study.h>
#include <assay/sweep.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define SERVE_CONNECTIONS 128         /* with a thread: their first request's head is complete */
#define SERVE_PER_ADDRESS 96          /* of these */
#define SERVE_RESERVED    16          /* of these, for clients with the token */
#define SERVE_WAITING     512         /* accepted, without a complete head */
#define SERVE_HEAD_BYTES  (32u << 10) /* of a connection: head and buffers */
/* Limits of memory are rows of the library's table: assay_limit_at(), "serve-replies". */
#define SERVE_WORK_WAIT_MS  10000              /* that a request waits for them */
#define SERVE_BLOCK_BYTES   ((size_t)32 << 10) /* of a reply, at a time */
#define SERVE_SOCKET_BYTES  (256 << 10)        /* that the kernel holds of a reply */
#define SERVE_READ_WINDOW_S 10 /* or --timeout, if that is less: in which a client must read ... */
#define SERVE_READ_PER_S    ((uint64_t)4 << 10) /* ... as many bytes per second */
#define SERVE_TIMEOUT_S     20                  /* unless --timeout says otherwise */
#define SERVE_BYTES_PER_S   ((uint64_t)64 << 10) /* that a body must come, and a reply go, at least */
#define SERVE_WORKERS       2
#define SERVE_WORKER_MS     30000
#define SERVE_WORKER_WAIT_S 10
#define SERVE_HOSTS         16
#define SERVE_SWEEPS        64
#define SERVE_STORES        16
#define SERVE_STREAMS       48     /* clients that are told of changes */
#define SERVE_STREAM_MS     600000 /* of one stream; clients ask again */
#define SERVE_ALIVE_MS      10000  /* between two lines of a stream */
#define SERVE_LOOK_MS       1000   /* between two looks at the history for them */
#define SERVE_PREDICTED     16     /* devices of a request */

typedef struct server server;

/* ---- time (time.c) ---- */

int64_t serve_now_ms(void); /* by the monotonic clock */
void serve_cond_init(pthread_cond_t *c);
bool serve_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ms); /* false: too late */

/* ---- configuration (options.c) ---- */

typedef struct serve_options {
    long port, timeout_s; /* 0: a free one; for a request's head, and beside its body's bytes */
    const char *host, *db, *token, *token_file;
    const char *allowed[SERVE_HOSTS]; /* --allow-host */
    int n_allowed;
    const char *sweeps[SERVE_SWEEPS]; /* --sweep-plan: files of plans */
    int n_sweeps;
    bool read_only;
    bool no_sandbox; /* for uploaded models */
} serve_options;

/* A limit of the library's table, by its name; and the text behind "too large", which the caller frees. */
uint64_t limit_named(const char *name);
char *limit_refusal(const char *what, const char *name);

/* -1, or the exit code. */
int options_read(int argc, char **argv, serve_options *o);

/* ---- memory (budget.c) ---- */

typedef struct budget {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    uint64_t used, most;
    uint64_t peak; /* the most that was in use at once */
} budget;

void budget_init(budget *b, uint64_t most);
bool budget_take(budget *b, uint64_t bytes, int64_t wait_ms); /* false: there is no room */
void budget_give(budget *b, uint64_t bytes);
uint64_t budget_used(budget *b);
uint64_t budget_peak(budget *b);

/* ---- how many connections, and whose (slots.c) ---- */

/* Addresses of one client are equal: an IPv4 address, or the network (64 bits) of an IPv6 one. */
typedef struct address {
    unsigned char bytes[16];
} address;

address address_of(const struct sockaddr *a);
bool address_same(const address *a, const address *b);

typedef struct slots {
    pthread_mutex_t lock;
    address from[SERVE_CONNECTIONS];
    int n;
} slots;

/* False: there is none for that address. `reserved` are left for others. */
bool slot_take(slots *t, address from, int reserved);
void slot_give(slots *t, address from);

/* ---- connections that take too long (watchdog.c) ---- */

typedef enum phase { PHASE_READING, PHASE_WORKING, PHASE_SENDING } phase;

typedef struct connection {
    struct connection *next, *before;
    int fd;
    bool idle; /* between two requests */
    phase now;
    int64_t until_ms; /* by the monotonic clock */
    uint64_t sent;    /* bytes of the reply that the kernel has taken */
    uint64_t sent_before;
    int64_t since_ms; /* when it was sent_before */
    bool ended;
} connection;

typedef struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    connection *first;
    int64_t window_s; /* of reading */
    bool stop, running;
} watchdog;

bool watchdog_start(watchdog *w, int64_t window_s);
void watchdog_stop(watchdog *w);
connection *watchdog_add(watchdog *w, int fd, int64_t allowed_ms);
void watchdog_remove(watchdog *w, connection *c);
void watchdog_idle(watchdog *w, connection *c, bool idle);
void watchdog_end_idle(watchdog *w); /* the one that is idle the longest */
/* Of a reply: how much of it the client has read, but for what the kernel holds. */
void watchdog_sent(watchdog *w, connection *c, uint64_t bytes);
void watchdog_phase(watchdog *w, connection *c, phase now, int64_t allowed_ms);

/* ---- stores, one for each request at work (stores.c) ---- */

typedef struct store_pool {
    pthread_mutex_t lock;
    assay_store *idle[SERVE_STORES];
    int n_idle;
} store_pool;

assay_store *stores_take(server *s, assay_error *err); /* NULL: err says why */
void stores_give(server *s, assay_store *store);
void stores_close(server *s);

/* ---- what changes in the history (events.c) ---- */

typedef struct changes {
    pthread_mutex_t lock;
    int64_t looked_ms;
    int64_t total, newest; /* records, and the number of the newest; as they were then */
} changes;

struct MHD_Response *events_response(server *s);

/* ---- the server ---- */

struct server {
    serve_options options;
    char token[129]; /* "" when there is none */
    bool refused;    /* to start: the options would be unsafe */
    bool loopback;
    bool any_address; /* bound to 0.0.0.0 or :: */
    char url[512];    /* "http://127.0.0.1:8080/" */
    char hostname[256];
    char port[16];
    char bound[256]; /* the address it is bound to, as in a Host header, without port */
    struct MHD_Daemon *daemon;
    int listening; /* the socket; -1: none */
    pthread_t listener;
    bool listening_thread;
    atomic_bool closing;
    slots slots;
    watchdog dog;
    store_pool stores;
    changes changes;
    atomic_int streams;
    pthread_mutex_t worker_lock;
    pthread_cond_t worker_free;
    int workers;
    budget bodies;                /* of requests */
    budget replies;               /* bodies that are being sent */
    budget work;                  /* documents that are being parsed */
    _Atomic uint64_t by_class[6]; /* replies: 1xx to 5xx */
    _Atomic uint64_t active;      /* requests at work */
    int64_t started_s;
    char *page;
    size_t n_page;
    char *policy; /* Content-Security-Policy of the page */
    char *sweeps
        [SERVE_SWEEPS]; /* documents of plans: a request reads its own result from them (fleet.c) */
    size_t sweep_bytes[SERVE_SWEEPS];
    int n_sweeps;
};

bool server_start(server *s);
void server_stop(server *s);

/* ---- the bytes of a head (head.c) ---- */

typedef enum head_state { HEAD_INCOMPLETE, HEAD_GOOD, HEAD_BAD } head_state;
head_state head_check(const char *p, size_t n);
/* The value of a field of a complete head, in `out`; false if it is not there or too long. */
bool head_field(const char *p, size_t n, const char *name, char *out, size_t cap);
size_t head_length(const char *p, size_t n);     /* of a complete head */
bool head_is_name(const char *text);             /* of a header field */
bool head_has_nul(const char *target, size_t n); /* "%00" */

/* ---- the heads of later requests (gate.c) ---- */

bool gate_open(int fd); /* false: the descriptor's number is too large */
void gate_close(int fd);

/* ---- accepting connections (listener.c) ---- */

bool listener_start(server *s);
void listener_stop(server *s);

/* ---- one request ---- */

typedef struct reply {
    unsigned status;
    const char *type; /* Content-Type; NULL: application/json */
    char *body;       /* taken: freed by assay_free() */
    size_t n;
    assay_document *document; /* in place of a body; taken */
    uint64_t memory;          /* that the document takes of the budget of replies; taken */
    bool constant;            /* the body is not freed */
    char location[64];
    const char *allow;  /* of a 405 */
    const char *policy; /* Content-Security-Policy; NULL: nothing may be loaded */
    const char *cookie; /* of Set-Cookie */
    bool retry;         /* Retry-After */
    bool stream;        /* events, as they come, in place of a body */
    bool close;         /* the connection, because its next bytes may be anything */
} reply;

typedef struct request {
    server *s;
    struct MHD_Connection *mhd;
    const char *path;
    int64_t id; /* of the path; 0: none */
    char *body;
    uint64_t n_body, cap_body, length;
    const struct route *route;
    char *said; /* of a refusal; freed with the request */
    bool refused;
    bool nul;  /* in its address */
    bool full; /* the body found no room; said once it is read */
} request;

typedef void handler_fn(request *r, reply *out);
typedef struct route {
    const char *method, *path; /* '*' in a path stands for a number */
    handler_fn *handle;
    const char *limit; /* of its body; NULL: takes none */
    bool writes, open; /* changes the history; needs no token */
} route;
extern const route routes[];
extern const size_t n_routes;

/* Finds the route; NULL with *allow set ("GET, HEAD") when only the method does not fit. */
const route *route_find(const char *method, const char *path, int64_t *id, char allow[64]);

/* {"error": {"status": 404, "message": "..."}} */
void reply_error(reply *out, unsigned status, const char *message);
void reply_failure(reply *out, assay_status status, const assay_error *err);
void reply_json(reply *out, char *text, size_t n); /* takes */
/* "x": as JSON text into a buffer that is grown; used for sentences. */
char *json_quoted(const char *text);
const char *query_of(const request *r, const char *name); /* NULL: not given */
bool query_flag(const request *r, const char *name);      /* given, and neither "0" nor "false" */
/* The body becomes {"document": it, "view": VIEW}. */
void reply_join_view(reply *out, const char *view);
/* What a stream in memory holds is the reply; closes it. */
void reply_stream(reply *out, FILE *f, char **text, size_t *n);

/* Whether the request may come in: 0, or the status of a refusal with its sentence (guard.c). */
unsigned guard_check(request *r, const route *route, const char **why);
bool guard_token(const server *s, const char *given);

/* Runs `work` with a store; its failure is the reply, in place of what the reply held. After a failure of the
 * machine or of the file the store is not used again. */
typedef assay_status store_fn(request *r, assay_store *store, reply *out, assay_error *err);
void with_store(request *r, reply *out, store_fn *work);
/* Room for work on so many bytes of documents, which the caller gives back to s->work; false with a reply when there is
 * none within SERVE_WORK_WAIT_MS. */
bool take_work(const request *r, uint64_t bytes, reply *out);

handler_fn serve_page, serve_records, serve_record, serve_models, serve_trend, serve_compare,
    serve_add, serve_profile, serve_tags, serve_delete, serve_openapi, serve_metrics, serve_health,
    serve_events, serve_devices, serve_predict, serve_changes, serve_drift, serve_cheapest,
    serve_sweeps, serve_sweep;

/* The plans of --sweep-plan (fleet.c). False: err says which one cannot be read. */
bool sweeps_open(server *s, assay_error *err);
void sweeps_close(server *s);

/* ---- models of strangers (worker.c) ---- */

#define PARTS_PATH 1000 /* bytes of a file's name */
#define PARTS_MOST 256  /* files of a model */

typedef struct upload {
    const void *bytes;
    size_t n;
    bool files; /* `bytes` is a packet of parts.c, and `name` is one of its files or folders */
    char name[PARTS_PATH + 1];
} upload;

/* The static profile as JSON, made by a separate process. 200 and the text (the caller's), or another status with a
 * sentence in *out. */
unsigned worker_profile(server *s, const upload *u, char **out, size_t *n_out);
/* What that process does; `sandbox`: confined. */
int worker_main(const char *name, bool sandbox);
/* The same for a packet of files. */
int files_worker_main(const char *name);

/* ---- models of several files (parts.c) ---- */

bool parts_are(const request *r); /* whether the body holds some */
/* The files of the body as an upload, whose name is the first file's; parts_free() frees it. False with a refusal. */
bool parts_take(request *r, upload *out, reply *refusal);
void parts_free(request *r, const upload *u);
/* The files of a packet, which they are parts of; 0: it is not one. */
size_t parts_read(const char *bytes, size_t n, assay_memory_file files[PARTS_MOST]);

extern const char serve_openapi_text[];
extern const size_t serve_openapi_size;

#endif
