/* Opening, closing, transactions, and error messages for SQLite's codes. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
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
    {SQLITE_FULL, ASSAY_ERR_SYSTEM, "disk full; the history is unchanged"},
    {SQLITE_READONLY, ASSAY_ERR_SYSTEM, "the history is read-only"},
    {SQLITE_CANTOPEN, ASSAY_ERR_SYSTEM,
     "cannot open the history: it is a folder, or permission is denied"},
    {SQLITE_PERM, ASSAY_ERR_SYSTEM, "cannot open the history: permission denied"},
    {SQLITE_NOMEM, ASSAY_ERR_SYSTEM, "out of memory"},
    {SQLITE_TOOBIG, ASSAY_ERR_UNSUPPORTED, "the result is too large for the history"},
};

assay_status store_fail(store *s, int code, assay_error *err)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == (code & 0xff))
            return err_fail(err, failures[i].status, "%s: %s", s->shown, failures[i].what);
    return err_fail(err, ASSAY_ERR_SYSTEM, "%s: history error: %s", s->shown,
                    s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code));
}

/* ---- statements ---- */

assay_status store_run_sql(store *s, const char *sql, assay_error *err)
{
    int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? ASSAY_OK : store_fail(s, code, err);
}

assay_status store_prepare(store *s, const char *sql, sqlite3_stmt **out, assay_error *err)
{
    int code = sqlite3_prepare_v2(s->db, sql, -1, out, NULL);
    return code == SQLITE_OK ? ASSAY_OK : store_fail(s, code, err);
}

assay_status store_finish(store *s, sqlite3_stmt *q, assay_error *err)
{
    int code = sqlite3_step(q);
    assert(q);
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
    if (so_far == ASSAY_OK)
        so_far = store_run_sql(s, "COMMIT", err);
    if (so_far != ASSAY_OK && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    assert(sqlite3_get_autocommit(s->db));
    return so_far;
}

void store_bind_str(sqlite3_stmt *q, int at, str text)
{
    assert(at >= 1 && at <= sqlite3_bind_parameter_count(q));
    if (text.n)
        sqlite3_bind_text(q, at, text.p, (int)text.n, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(q, at);
}

str store_column_str(sqlite3_stmt *q, int column, arena *a)
{
    assert(column >= 0 && column < sqlite3_column_count(q));
    const char *text = (const char *)sqlite3_column_text(q, column);
    int n = sqlite3_column_bytes(q, column);
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

/* ---- opening ---- */

/* The change to WAL needs the file for itself for a moment, and SQLite does not wait for that as it waits for
 * other locks: two processes that make the same file at the same time meet here. */
static assay_status set_journal(store *s, assay_error *err)
{
    uint64_t until = clock_mono_ns() + (uint64_t)STORE_BUSY_MS * 1000000u;
    for (;;) {
        int code = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            return ASSAY_OK;
        if ((code & 0xff) != SQLITE_BUSY || clock_mono_ns() > until)
            return store_fail(s, code, err);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

static assay_status prepare_file(store *s, bool in_memory, assay_error *err)
{
    sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
    /* What a file says of itself is not trusted to run code. */
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    TRY(store_run_sql(s, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;", err));
    TRY(store_migrate(s, err));
    return in_memory || sqlite3_db_readonly(s->db, "main") ? ASSAY_OK : set_journal(s, err);
}

static assay_status open_file(store *s, const char *path, bool create, assay_error *err)
{
    char plain[4096];
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (path && !*path)
        return err_fail(err, ASSAY_ERR_USAGE, "empty history file name");
    if (path && !create && !file_stat(path).exists)
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s: no such history. Create one with --save.",
                        s->shown);
    if (path && create)
        TRY(file_make_parents(path, err));
    /* Names that begin with a colon are SQLite's own. */
    int n = snprintf(plain, sizeof plain, "%s%s", path && *path == ':' ? "./" : "",
                     path ? path : ":memory:");
    if (n < 0 || (size_t)n >= sizeof plain)
        return err_fail(err, ASSAY_ERR_USAGE, "history file name is too long");
    flags |= create || !path ? SQLITE_OPEN_CREATE : 0;
    int code = sqlite3_open_v2(plain, &s->db, flags, NULL);
    return code == SQLITE_OK ? prepare_file(s, !path, err) : store_fail(s, code, err);
}

assay_status store_open(const char *path, bool create, store **out, assay_error *err)
{
    store *s = calloc(1, sizeof *s);
    assert(out);
    *out = NULL;
    if (!s)
        return err_no_memory(err);
    if (path)
        file_shown(path, s->shown);
    assay_status status = open_file(s, path, create, err);
    if (status == ASSAY_OK)
        *out = s;
    else
        store_close(s);
    return status;
}

void store_close(store *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    free(s);
}
