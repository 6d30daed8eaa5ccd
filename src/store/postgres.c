/* The backend `postgres`: a history in the schema `assay` of a PostgreSQL database, through libpq.
 *
 * Values and rows travel in binary (network byte order). Rows come one at a time, so that a list needs no more memory
 * than what is kept of it. A statement has a deadline: what does not answer by then is lost, and the connection is
 * closed. A statement that only reads, and the beginning of a transaction, are sent again once when the connection turns
 * out to be broken: a server may have been restarted since the last one.
 */
#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "store/postgres_impl.h"

enum { /* of pg_type */
       TYPE_BOOL = 16,
       TYPE_BYTES = 17,
       TYPE_INT8 = 20,
       TYPE_INT2 = 21,
       TYPE_INT4 = 23,
       TYPE_TEXT = 25,
       TYPE_FLOAT8 = 701,
       LATE_S = LIMIT_QUERY_S + 5 /* the server stops a statement after LIMIT_QUERY_S by itself */
};

pg_store *postgres_of(store *s)
{
    assert(s->backend == &store_postgres);
    return (pg_store *)s;
}

/* ---- errors ---- */

typedef struct state_row {
    const char *state; /* an SQLSTATE, or its class */
    assay_status status;
    bool lost; /* trying again may help */
    const char *what;
} state_row;

/* The first that fits. https://www.postgresql.org/docs/15/errcodes-appendix.html */
static const state_row states[] = {
    {"42501", ASSAY_ERR_SYSTEM, false,
     "permission denied. Grant the privileges of a reader or writer (docs/history.md)."},
    {"42P01", ASSAY_ERR_SYSTEM, false, "no history in this database. Run `assay history init`."},
    {"3F000", ASSAY_ERR_SYSTEM, false, "no history in this database. Run `assay history init`."},
    {"25006", ASSAY_ERR_SYSTEM, false, "the history is read-only"},
    {"57014", ASSAY_ERR_UNSUPPORTED, false, "a query took longer than the limit of 60 s"},
    {"53100", ASSAY_ERR_SYSTEM, false, "No space left on the server; the history is unchanged"},
    {"53300", ASSAY_ERR_SYSTEM, true, "the server has too many connections. Try again."},
    {"40", ASSAY_ERR_SYSTEM, true, "the history was changed at the same time. Try again."},
    {"57P", ASSAY_ERR_SYSTEM, true, "the server is shutting down or starting. Try again."},
    {"08", ASSAY_ERR_SYSTEM, true, "the connection to the server broke. Try again."},
    {"22021", ASSAY_ERR_MALFORMED, false, "a name is not UTF-8"},
};

#define BROKEN "the connection to the server broke"

static assay_status fail_lost(pg_store *s, const char *what, assay_error *err)
{
    s->is.lost = true;
    s->sqlstate[0] = '\0';
    postgres_drop(s);
    return err_fail(err, ASSAY_ERR_SYSTEM, "%s: %s", s->is.shown, what);
}

static assay_status fail_other(pg_store *s, const char *message, assay_error *err)
{
    sbuf why = {0};
    postgres_put_clean(s, message, &why);
    assay_status status = err_fail(err, ASSAY_ERR_SYSTEM, "%s: history error: %.400s", s->is.shown,
                                   why.n ? sbuf_cstr(&why) : "unknown");
    sbuf_free(&why);
    return status;
}

static assay_status fail_result(pg_store *s, const pg_result *r, assay_error *err)
{
    const char *state = s->pq.resultErrorField(r, PG_DIAG_SQLSTATE),
               *constraint = s->pq.resultErrorField(r, PG_DIAG_CONSTRAINT);
    if (!state) /* libpq's own: it lacks memory, or the server is gone */
        return fail_lost(s, BROKEN, err);
    s->is.lost = false;
    snprintf(s->sqlstate, sizeof s->sqlstate, "%s", state);
    snprintf(s->constraint, sizeof s->constraint, "%s", constraint ? constraint : "");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0) {
            s->is.lost = states[i].lost;
            return err_fail(err, states[i].status, "%s: %s", s->is.shown, states[i].what);
        }
    return fail_other(s, s->pq.resultErrorField(r, PG_DIAG_MESSAGE), err);
}

/* ---- answers ---- */

static bool wait_for_input(pg_store *s)
{
    uint64_t now = clock_mono_ns();
    struct pollfd p = {.fd = s->pq.socket(s->conn), .events = POLLIN};
    int ms = now < s->until_ns ? (int)((s->until_ns - now) / 1000000u) + 1 : 0;
    return p.fd >= 0 && poll(&p, 1, ms) != 0 && postgres_received(&s->pq, s->conn);
}

/* The next result; NULL: there is none, or the connection is lost. */
static pg_result *next_result(pg_store *s)
{
    bool waiting = true;
    while (waiting && s->conn && s->pq.isBusy(s->conn))
        waiting = wait_for_input(s);
    if (s->conn && !waiting)
        postgres_drop(s);
    return s->conn ? s->pq.getResult(s->conn) : NULL;
}

/* Reads what is left of a statement. One that has many rows left is stopped. */
static void drain(pg_store *s)
{
    bool stopped = false;
    for (pg_result *r; (r = next_result(s));) {
        bool row = s->pq.resultStatus(r) == PG_SINGLE_TUPLE;
        pg_cancel *c = row && !stopped ? s->pq.getCancel(s->conn) : NULL;
        char why[256];
        if (c)
            s->pq.cancel(c, why, sizeof why);
        stopped = stopped || c;
        s->pq.freeCancel(c);
        s->pq.clear(r);
    }
}

/* Every result of what was sent; the first failure. */
static assay_status finish_all(pg_store *s, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (pg_result *r; (r = next_result(s));) {
        int is = s->pq.resultStatus(r);
        bool good = is == PG_COMMAND_OK || is == PG_TUPLES_OK || is == PG_EMPTY;
        if (!good && status == ASSAY_OK)
            status = fail_result(s, r, err);
        s->pq.clear(r);
    }
    if (status == ASSAY_OK && !s->conn)
        status = fail_lost(s, BROKEN, err);
    return status;
}

static void begin_statement(pg_store *s)
{
    s->is.lost = false;
    s->sqlstate[0] = s->constraint[0] = '\0';
    s->until_ns = clock_mono_ns() + (uint64_t)LATE_S * 1000000000u;
}

static assay_status exec_once(pg_store *s, const char *sql, assay_error *err)
{
    TRY(postgres_reach(s, err));
    begin_statement(s);
    if (!postgres_sent(&s->pq, s->pq.sendQuery(s->conn, sql)))
        return fail_lost(s, BROKEN, err);
    return finish_all(s, err);
}

static bool in_transaction(store *base)
{
    const pg_store *s = postgres_of(base);
    return s->conn && s->pq.transactionStatus(s->conn) != PG_IDLE;
}

/* Whether sending it again changes nothing. */
static bool may_repeat(const pg_store *s, const char *sql, bool was_connected)
{
    return was_connected && !s->conn && s->is.lost &&
           (strncmp(sql, "SELECT", 6) == 0 || strncmp(sql, "BEGIN", 5) == 0);
}

assay_status postgres_exec(store *base, const char *sql, assay_error *err)
{
    pg_store *s = postgres_of(base);
    bool fresh = s->conn && !in_transaction(base);
    assay_status status = exec_once(s, sql, err);
    if (status == ASSAY_OK || !may_repeat(s, sql, fresh))
        return status;
    err_clear(err);
    return exec_once(s, sql, err);
}

/* ---- values ---- */

typedef struct pg_values {
    pg_oid types[STORE_PARAMETERS];
    const char *values[STORE_PARAMETERS];
    int lengths[STORE_PARAMETERS], formats[STORE_PARAMETERS];
    unsigned char numbers[STORE_PARAMETERS][8];
} pg_values;

static void put_number(unsigned char to[8], uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(v >> (56 - 8 * i));
}

static void set_value(pg_values *to, int i, const store_value *v)
{
    static const pg_oid types[] = {[STORE_NULL] = TYPE_TEXT,
                                   [STORE_TEXT] = TYPE_TEXT,
                                   [STORE_INT] = TYPE_INT8,
                                   [STORE_REAL] = TYPE_FLOAT8,
                                   [STORE_BYTES] = TYPE_BYTES};
    uint64_t bits = (uint64_t)v->whole;
    bool number = v->type == STORE_INT || v->type == STORE_REAL;
    if (v->type == STORE_REAL)
        memcpy(&bits, &v->real, sizeof bits);
    put_number(to->numbers[i], bits);
    to->types[i] = v->type == STORE_NULL && v->number ? (pg_oid)TYPE_INT8 : types[v->type];
    to->formats[i] = 1;
    to->lengths[i] = number ? 8 : (int)v->text.n;
    to->values[i] = number                  ? (const char *)to->numbers[i]
                    : v->type == STORE_NULL ? NULL
                                            : v->text.p;
}

static uint64_t get_number(const unsigned char *p, int n)
{
    uint64_t v = p[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

/* The server may be anybody's: a value has the length of its type, or is none. */
static store_value postgres_column(const store_query *q, int at)
{
    const pg_store *s = postgres_of(q->s);
    const pg_result *r = q->running;
    if (!r || at >= s->pq.nfields(r) || s->pq.getisnull(r, 0, at))
        return (store_value){.type = STORE_NULL};
    const char *p = s->pq.getvalue(r, 0, at);
    int n = s->pq.getlength(r, 0, at);
    pg_oid type = s->pq.ftype(r, at);
    bool whole = (type == TYPE_INT8 && n == 8) || (type == TYPE_INT4 && n == 4) ||
                 (type == TYPE_INT2 && n == 2);
    store_value v = {.type = STORE_NULL};
    if (whole)
        v = (store_value){.type = STORE_INT,
                          .whole = (int64_t)get_number((const unsigned char *)p, n)};
    else if (type == TYPE_BOOL && n == 1)
        v = (store_value){.type = STORE_INT, .whole = *p != 0};
    else if (type == TYPE_TEXT || type == TYPE_BYTES)
        v = (store_value){.type = type == TYPE_TEXT ? STORE_TEXT : STORE_BYTES,
                          .text = {p, (uint32_t)n}};
    return v;
}

/* ---- queries ---- */

/* `sent` is what a function of libpq returned. Rows come one at a time. */
static assay_status sent_query(pg_store *s, store_query *q, int sent)
{
    if (!postgres_sent(&s->pq, sent))
        return fail_lost(s, BROKEN, q->err);
    s->pq.setSingleRowMode(s->conn);
    return ASSAY_OK;
}

static assay_status send_kept(pg_store *s, store_query *q, const pg_values *v)
{
    if (!s->prepared) {
        int sent = s->pq.sendPrepare(s->conn, q->kept, sbuf_cstr(&q->sql), q->n, v->types);
        if (!postgres_sent(&s->pq, sent))
            return fail_lost(s, BROKEN, q->err);
        TRY(finish_all(s, q->err));
        s->prepared = true;
    }
    int sent = s->pq.sendQueryPrepared(s->conn, q->kept, q->n, v->values, v->lengths, v->formats,
                                       1);
    return postgres_sent(&s->pq, sent) ? ASSAY_OK : fail_lost(s, BROKEN, q->err);
}

static assay_status send_query(pg_store *s, store_query *q)
{
    pg_values v;
    TRY(postgres_reach(s, q->err));
    begin_statement(s);
    for (int i = 0; i < q->n; i++)
        set_value(&v, i, &q->values[i]);
    if (q->kept)
        return send_kept(s, q, &v);
    int sent = s->pq.sendQueryParams(s->conn, sbuf_cstr(&q->sql), q->n, v.types, v.values,
                                     v.lengths, v.formats, 1);
    return sent_query(s, q, sent);
}

/* Reads the first result: what is wrong with a statement is known before its first row is asked for. */
static assay_status start_once(pg_store *s, store_query *q)
{
    TRY(send_query(s, q));
    q->running = next_result(s);
    return q->running ? ASSAY_OK : fail_lost(s, BROKEN, q->err);
}

static assay_status postgres_start(store_query *q)
{
    pg_store *s = postgres_of(q->s);
    bool fresh = s->conn && !in_transaction(q->s);
    assay_status status = start_once(s, q);
    if (status != ASSAY_OK && may_repeat(s, sbuf_cstr(&q->sql), fresh)) {
        err_clear(q->err);
        status = start_once(s, q);
    }
    q->fetched = status == ASSAY_OK;
    return status;
}

/* Counts what the statement did, or says why it failed. */
static int end_rows(pg_store *s, store_query *q)
{
    pg_result *r = q->running;
    int is = s->pq.resultStatus(r);
    bool good = is == PG_COMMAND_OK || is == PG_TUPLES_OK;
    q->running = NULL;
    if (good)
        q->changes = strtoll(s->pq.cmdTuples(r), NULL, 10);
    else
        q->status = fail_result(s, r, q->err);
    s->pq.clear(r);
    drain(s);
    if (good && !s->conn)
        q->status = fail_lost(s, BROKEN, q->err);
    return q->status == ASSAY_OK ? 0 : -1;
}

static int postgres_next(store_query *q)
{
    pg_store *s = postgres_of(q->s);
    if (!q->fetched) {
        if (!q->running)
            return 0;
        s->pq.clear(q->running);
        q->running = next_result(s);
    }
    q->fetched = false;
    if (!q->running) {
        q->status = fail_lost(s, BROKEN, q->err);
        return -1;
    }
    return s->pq.resultStatus(q->running) == PG_SINGLE_TUPLE ? 1 : end_rows(s, q);
}

static void postgres_finish(store_query *q)
{
    pg_store *s = postgres_of(q->s);
    s->pq.clear(q->running);
    drain(s);
}

/* ---- opening ---- */

static void postgres_close(store *base)
{
    pg_store *s = postgres_of(base);
    postgres_drop(s);
    free(s->secrets[0]);
    free(s->secrets[1]);
    free(s->name);
    free(s);
}

static assay_status connect_first(pg_store *s, const char *name, assay_error *err)
{
    s->name = memory_strdup(name);
    TRY_MEMORY(s->name, err);
    TRY(postgres_load(&s->pq, err));
    TRY(postgres_describe(s, err));
    return s->mode == STORE_WRITES ? postgres_reach_patiently(s, err) : postgres_reach(s, err);
}

static assay_status postgres_open(const char *name, store_mode mode, store **out, assay_error *err)
{
    pg_store *s = memory_zeroed(1, sizeof *s);
    *out = NULL;
    TRY_MEMORY(s, err);
    s->is.backend = &store_postgres;
    s->mode = mode;
    assay_status status = connect_first(s, name, err);
    if (status == ASSAY_OK)
        *out = &s->is;
    else
        postgres_close(&s->is);
    return status;
}

/* A URL, or a connection string: a keyword of libpq, '=', and a value. */
static bool postgres_takes(const char *name)
{
    static const char keywords[] = "host hostaddr port dbname user password passfile service "
                                   "sslmode options application_name connect_timeout";
    str text = str_of(name), key = str_trim(str_cut(&text, '='));
    if (!name)
        return false;
    if (strncmp(name, "postgresql://", 13) == 0 || strncmp(name, "postgres://", 11) == 0)
        return true;
    return strchr(name, '=') && key.n && str_in_list(key, keywords, ' ');
}

const store_backend store_postgres = {
    .name = "postgres",
    .takes = postgres_takes,
    .dialect = {.parameter = '$',
                .contains = "strpos(lower(%s), lower(:q)) > 0",
                .tags = "(SELECT string_agg(tag, ',' ORDER BY tag) FROM tags WHERE run = r.id)",
                .figure = "coalesce(whole::text, '~' || value::text)",
                .read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                .write = "BEGIN",
                .take = "BEGIN; SELECT pg_advisory_xact_lock(1634956153, 1)"},
    .open = postgres_open,
    .close = postgres_close,
    .exec = postgres_exec,
    .in_transaction = in_transaction,
    .start = postgres_start,
    .next = postgres_next,
    .column = postgres_column,
    .finish = postgres_finish,
    .insert = postgres_insert,
    .add = postgres_add,
};
