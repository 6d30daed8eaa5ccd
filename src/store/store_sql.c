/* Statements, transactions, and what to say of SQLite's codes.
 *
 * A value that could not be bound fails the statement when it is run: store_bind_*() keep the first code, and
 * store_step() returns it. A statement that runs longer than STORE_QUERY_S is stopped.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "store/store_impl.h"

/* ---- errors ---- */

typedef struct failure_row {
    int code; /* the primary code of SQLite */
    assay_status status;
    const char *what;
} failure_row;

static const failure_row failures[] = {
    {SQLITE_NOTADB, ASSAY_ERR_MALFORMED,
     "not a history: not an SQLite database. Name another file with --db or ASSAY_DB."},
    {SQLITE_CORRUPT, ASSAY_ERR_MALFORMED,
     "the history is damaged. Try `sqlite3 FILE .recover`, or name another file with --db."},
    {SQLITE_BUSY, ASSAY_ERR_SYSTEM, "the history is locked by another program. Try again."},
    {SQLITE_LOCKED, ASSAY_ERR_SYSTEM, "the history is locked by another program. Try again."},
    {SQLITE_FULL, ASSAY_ERR_SYSTEM, "No space left on device; the history is unchanged"},
    {SQLITE_READONLY, ASSAY_ERR_SYSTEM, "the history is read-only"},
    {SQLITE_CANTOPEN, ASSAY_ERR_SYSTEM,
     "cannot open the history: it is a folder, or a file beside it is in the way"},
    {SQLITE_PERM, ASSAY_ERR_SYSTEM, "cannot open the history: permission denied"},
    {SQLITE_NOMEM, ASSAY_ERR_SYSTEM, "out of memory"},
    {SQLITE_INTERRUPT, ASSAY_ERR_UNSUPPORTED, "a query took longer than the limit of 60 s"},
    {SQLITE_ERROR, ASSAY_ERR_MALFORMED,
     "the tables are not those of a history. Name another file with --db or ASSAY_DB."},
    {SQLITE_TOOBIG, ASSAY_ERR_UNSUPPORTED, "the result is too large for the history"},
};

/* The error of the system behind a code; 0 if there is none. SQLite calls a file damaged when the disk fails. */
static int system_error(const store *s, int code)
{
    if (code == SQLITE_CORRUPT)
        return errno == EIO ? EIO : 0;
    if (code != SQLITE_IOERR)
        return 0;
    return s->db && sqlite3_system_errno(s->db) ? sqlite3_system_errno(s->db) : errno;
}

assay_status store_fail(store *s, int code, assay_error *err)
{
    bool lacks = s->db && sqlite3_extended_errcode(s->db) == SQLITE_IOERR_NOMEM;
    s->code = code & 0xff;
    if (s->code == SQLITE_NOMEM || (s->code == SQLITE_IOERR && lacks))
        return err_no_memory(err);
    int error = system_error(s, s->code);
    if (error)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot use the history: %s",
                              s->shown, strerror(error));
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == s->code)
            return err_fail(err, failures[i].status, "%s: %s", s->shown, failures[i].what);
    return err_fail(err, ASSAY_ERR_SYSTEM, "%s: history error: %s", s->shown,
                    s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code));
}

/* ---- statements ---- */

int store_is_late(void *store_)
{
    const store *s = store_;
    return clock_mono_ns() > s->until_ns;
}

static void begin_statement(store *s)
{
    s->bind_code = SQLITE_OK;
    s->until_ns = clock_mono_ns() + (uint64_t)STORE_QUERY_S * 1000000000u;
    errno = 0;
}

int store_exec(store *s, const char *sql)
{
    begin_statement(s);
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

assay_status store_run_sql(store *s, const char *sql, assay_error *err)
{
    int code = store_exec(s, sql);
    return code == SQLITE_OK ? ASSAY_OK : store_fail(s, code, err);
}

assay_status store_prepare(store *s, const char *sql, sqlite3_stmt **out, assay_error *err)
{
    begin_statement(s);
    int code = sqlite3_prepare_v2(s->db, sql, -1, out, NULL);
    return code == SQLITE_OK ? ASSAY_OK : store_fail(s, code, err);
}

int store_step(store *s, sqlite3_stmt *q)
{
    assert(q);
    return s->bind_code == SQLITE_OK ? sqlite3_step(q) : s->bind_code;
}

assay_status store_finish(store *s, sqlite3_stmt *q, assay_error *err)
{
    int code = store_step(s, q);
    assay_status status = code == SQLITE_DONE || code == SQLITE_ROW ? ASSAY_OK
                                                                    : store_fail(s, code, err);
    sqlite3_finalize(q);
    return status;
}

assay_status store_begin(store *s, assay_error *err)
{
    assert(sqlite3_get_autocommit(s->db)); /* transactions do not nest */
    return store_run_sql(s, "BEGIN IMMEDIATE", err);
}

assay_status store_end(store *s, assay_status so_far, assay_error *err)
{
    if (so_far == ASSAY_OK && memory_lacked())
        so_far = err_no_memory(err);
    if (so_far == ASSAY_OK)
        so_far = store_run_sql(s, "COMMIT", err);
    /* A rollback that cannot be made is created if the file is closed. */
    if (so_far != ASSAY_OK && !sqlite3_get_autocommit(s->db))
        store_exec(s, "ROLLBACK");
    return so_far;
}

assay_status store_read_begin(store *s, assay_error *err)
{
    assert(s->reading || sqlite3_get_autocommit(s->db)); /* not inside one that writes */
    if (!s->reading)
        TRY(store_run_sql(s, "BEGIN", err));
    s->reading++;
    return ASSAY_OK;
}

assay_status store_read_end(store *s, assay_status so_far, assay_error *err)
{
    assert(s->reading > 0);
    return --s->reading ? so_far : store_end(s, so_far, err);
}

static void keep_code(store *s, int code)
{
    s->bind_code = s->bind_code == SQLITE_OK ? code : s->bind_code;
}

void store_bind_str(store *s, sqlite3_stmt *q, int at, str text)
{
    assert(at >= 1 && at <= sqlite3_bind_parameter_count(q));
    keep_code(s, text.n ? sqlite3_bind_text(q, at, text.p, (int)text.n, SQLITE_TRANSIENT)
                        : sqlite3_bind_null(q, at));
}

void store_bind_text(store *s, sqlite3_stmt *q, int at, str text)
{
    keep_code(s, sqlite3_bind_text(q, at, text.n ? text.p : "", (int)text.n, SQLITE_TRANSIENT));
}

void store_bind_int(store *s, sqlite3_stmt *q, int at, int64_t v)
{
    keep_code(s, sqlite3_bind_int64(q, at, v));
}

void store_bind_real(store *s, sqlite3_stmt *q, int at, double v)
{
    keep_code(s, sqlite3_bind_double(q, at, v));
}

void store_bind_bytes(store *s, sqlite3_stmt *q, int at, const void *p, size_t n)
{
    keep_code(s, sqlite3_bind_blob64(q, at, p, n, SQLITE_TRANSIENT));
}

str store_column_str(sqlite3_stmt *q, int column, arena *a)
{
    assert(column >= 0 && column < sqlite3_column_count(q));
    const char *text = (const char *)sqlite3_column_text(q, column);
    int n = sqlite3_column_bytes(q, column);
    if (!text && sqlite3_errcode(sqlite3_db_handle(q)) == SQLITE_NOMEM)
        arena_alloc(a, SIZE_MAX); /* fails it, as every other lack of memory does */
    return text ? str_copy(a, (str){text, (uint32_t)n}) : (str){"", 0};
}

metric_value store_column_value(sqlite3_stmt *q, int column)
{
    int type = sqlite3_column_type(q, column);
    uint64_t n = (uint64_t)sqlite3_column_int64(q, column);
    if (type == SQLITE_INTEGER)
        return (metric_value){.v = (double)n, .whole = true, .n = n};
    return (metric_value){.v = type == SQLITE_FLOAT ? sqlite3_column_double(q, column) : NAN};
}
