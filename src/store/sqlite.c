/* The backend `sqlite`: a history in one file.
 *
 * A value that could not be bound fails the statement. A statement that runs longer than SQLITE_QUERY_S is stopped. A
 * file may come from a stranger: what it says of itself runs no code. The counts in `tallies` are kept by triggers of the
 * connection (TEMP), which are ours.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "store/sqlite_impl.h"

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
static int system_error(const sqlite_store *s, int code)
{
    if (code == SQLITE_CORRUPT)
        return errno == EIO ? EIO : 0;
    if (code != SQLITE_IOERR)
        return 0;
    return s->db && sqlite3_system_errno(s->db) ? sqlite3_system_errno(s->db) : errno;
}

assay_status sqlite_fail(sqlite_store *s, int code, assay_error *err)
{
    bool lacks = s->db && sqlite3_extended_errcode(s->db) == SQLITE_IOERR_NOMEM;
    s->code = code & 0xff;
    if (s->code == SQLITE_NOMEM || (s->code == SQLITE_IOERR && lacks))
        return err_no_memory(err);
    int error = system_error(s, s->code);
    if (error)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot use the history: %s",
                              s->is.shown, strerror(error));
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == s->code)
            return err_fail(err, failures[i].status, "%s: %s", s->is.shown, failures[i].what);
    return err_fail(err, ASSAY_ERR_SYSTEM, "%s: history error: %s", s->is.shown,
                    s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code));
}

/* ---- statements ---- */

static sqlite_store *of(store *s)
{
    assert(s->backend == &store_sqlite);
    return (sqlite_store *)s;
}

static int is_late(void *store_)
{
    const sqlite_store *s = store_;
    return clock_mono_ns() > s->until_ns;
}

static void begin_statement(sqlite_store *s)
{
    s->until_ns = clock_mono_ns() + (uint64_t)SQLITE_QUERY_S * 1000000000u;
    errno = 0;
}

static int exec_code(sqlite_store *s, const char *sql)
{
    begin_statement(s);
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

static assay_status sqlite_exec(store *base, const char *sql, assay_error *err)
{
    sqlite_store *s = of(base);
    int code = exec_code(s, sql);
    return code == SQLITE_OK ? ASSAY_OK : sqlite_fail(s, code, err);
}

static bool sqlite_in_transaction(store *s)
{
    return !sqlite3_get_autocommit(of(s)->db);
}

/* What is bound lives until the statement is finished. */
static int bind_value(sqlite3_stmt *q, int at, const store_value *v)
{
    switch (v->type) {
    case STORE_TEXT:
        return sqlite3_bind_text(q, at, v->text.p, (int)v->text.n, SQLITE_STATIC);
    case STORE_BYTES:
        return sqlite3_bind_blob64(q, at, v->text.p, v->text.n, SQLITE_STATIC);
    case STORE_INT:
        return sqlite3_bind_int64(q, at, v->whole);
    case STORE_REAL:
        return sqlite3_bind_double(q, at, v->real);
    default:
        return sqlite3_bind_null(q, at);
    }
}

static assay_status sqlite_start(store_query *q)
{
    sqlite_store *s = of(q->s);
    sqlite3_stmt *made = NULL;
    begin_statement(s);
    int code = sqlite3_prepare_v2(s->db, sbuf_cstr(&q->sql), -1, &made, NULL);
    for (int i = 0; i < q->n && code == SQLITE_OK; i++)
        code = bind_value(made, i + 1, &q->values[i]);
    q->running = made;
    return code == SQLITE_OK ? ASSAY_OK : sqlite_fail(s, code, q->err);
}

static int sqlite_next(store_query *q)
{
    sqlite_store *s = of(q->s);
    int code = sqlite3_step(q->running);
    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        q->changes = sqlite3_changes64(s->db);
    else
        q->status = sqlite_fail(s, code, q->err);
    return code == SQLITE_DONE ? 0 : -1;
}

static store_value sqlite_column(const store_query *query, int at)
{
    sqlite3_stmt *q = query->running;
    assert(at >= 0 && at < sqlite3_column_count(q));
    switch (sqlite3_column_type(q, at)) {
    case SQLITE_INTEGER:
        return (store_value){.type = STORE_INT, .whole = sqlite3_column_int64(q, at)};
    case SQLITE_FLOAT:
        return (store_value){.type = STORE_REAL, .real = sqlite3_column_double(q, at)};
    case SQLITE_NULL:
        return (store_value){.type = STORE_NULL};
    default:
        break;
    }
    const void *p = sqlite3_column_blob(q, at);
    int n = sqlite3_column_bytes(q, at);
    if (!p && sqlite3_errcode(of(query->s)->db) == SQLITE_NOMEM)
        memory_note_lack();
    return (store_value){.type = STORE_BYTES, .text = {p ? p : "", p ? (uint32_t)n : 0}};
}

static void sqlite_finish(store_query *q)
{
    sqlite3_finalize(q->running);
}

/* ---- inserting ---- */

static assay_status sqlite_insert(store *s, store_row *row, bool *known, assay_error *err)
{
    int64_t id = 0;
    if (row->sweep.n)
        TRY(store_task_record(s, row->sweep, row->task, &id, err));
    *known = id != 0;
    row->id = id;
    return id ? ASSAY_OK : store_insert_rows(s, row, err);
}

static assay_status sqlite_add(store *s, store_row *row, bool *known, assay_error *err)
{
    TRY(store_begin(s, err));
    return store_end(s, sqlite_insert(s, row, known, err), err);
}

/* ---- opening ---- */

/* The change to WAL needs the file for itself for a moment, and SQLite does not wait for that as it waits for
 * other locks: two processes that make the same file at the same time meet here. */
static assay_status set_journal(sqlite_store *s, assay_error *err)
{
    uint64_t until = clock_mono_ns() + (uint64_t)STORE_BUSY_MS * 1000000u;
    for (;;) {
        int code = exec_code(s, "PRAGMA journal_mode = WAL");
        if (code == SQLITE_OK)
            return ASSAY_OK;
        if ((code & 0xff) != SQLITE_BUSY || clock_mono_ns() > until)
            return sqlite_fail(s, code, err);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* Views and triggers of a file are not run; functions in its schema are those that cannot do harm. */
static void distrust(sqlite_store *s)
{
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_progress_handler(s->db, SQLITE_STEPS, is_late, s);
}

static assay_status prepare_file(sqlite_store *s, bool in_memory, assay_error *err)
{
    sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
    distrust(s);
    TRY(store_run_sql(&s->is, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;", err));
    TRY(sqlite_migrate(s, err));
    if (in_memory || sqlite3_db_readonly(s->db, "main"))
        return ASSAY_OK;
    TRY(set_journal(s, err));
    return store_run_sql(&s->is, "SELECT count(*) FROM versions", err); /* opens the journal, too */
}

/* A file that could not be opened for writing is opened by SQLite for reading. When the file allows writing,
 * something else stood in the way. */
static assay_status open_database(sqlite_store *s, const char *path, int flags, assay_error *err)
{
    errno = 0;
    int code = sqlite3_open_v2(path, &s->db, flags, NULL);
    if (code == SQLITE_OK && sqlite3_db_readonly(s->db, "main") > 0 && access(path, W_OK) == 0)
        code = SQLITE_CANTOPEN;
    return code == SQLITE_OK ? ASSAY_OK : sqlite_fail(s, code, err);
}

static assay_status open_file(sqlite_store *s, const char *path, bool create, assay_error *err)
{
    char plain[4096];
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (path && !*path)
        return err_fail(err, ASSAY_ERR_USAGE, "empty history file name");
    if (path && !create && !file_stat(path).exists)
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s: no such history. Create one with --save.",
                        s->is.shown);
    if (path && create)
        TRY(file_make_parents(path, err));
    /* Names that begin with a colon are SQLite's own. */
    int n = snprintf(plain, sizeof plain, "%s%s", path && *path == ':' ? "./" : "",
                     path ? path : ":memory:");
    if (n < 0 || (size_t)n >= sizeof plain)
        return err_fail(err, ASSAY_ERR_USAGE, "history file name is too long");
    flags |= create || !path ? SQLITE_OPEN_CREATE : 0;
    TRY(open_database(s, plain, flags, err));
    return prepare_file(s, !path, err);
}

/* SQLite does not tell why a file could not be opened: it tries in other ways, and only the last errno is left.
 * So it is tried again; what stands in the way for good is found by opening the file. */
static assay_status open_again(sqlite_store *s, const char *path, bool create, assay_error *err)
{
    sqlite3_close(s->db);
    s->db = NULL;
    err_clear(err);
    assay_status status = open_file(s, path, create, err);
    int error = status != ASSAY_OK && s->code == SQLITE_CANTOPEN ? file_open_error(path) : 0;
    if (!error)
        return status;
    err_clear(err);
    return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot open the history: %s",
                          s->is.shown, strerror(error));
}

static void sqlite_close(store *base)
{
    sqlite3_close(of(base)->db);
    free(base);
}

static assay_status sqlite_open(const char *path, store_mode mode, store **out, assay_error *err)
{
    sqlite_store *s = memory_zeroed(1, sizeof *s);
    const bool create = mode != STORE_READS;
    *out = NULL;
    TRY_MEMORY(s, err);
    s->is.backend = &store_sqlite;
    if (path)
        file_shown(path, s->is.shown);
    assay_status status = open_file(s, path, create, err);
    if (status != ASSAY_OK && path && s->code == SQLITE_CANTOPEN)
        status = open_again(s, path, create, err);
    if (status == ASSAY_OK)
        *out = &s->is;
    else
        sqlite_close(&s->is);
    return status;
}

static bool sqlite_takes(const char *name)
{
    (void)name;
    return true;
}

const store_backend store_sqlite = {
    .name = "sqlite",
    .takes = sqlite_takes,
    .dialect = {.parameter = '?',
                .contains = "instr(lower(%s), lower(:q)) > 0",
                .tags = "(SELECT group_concat(tag, ',') FROM"
                        " (SELECT tag FROM tags WHERE run = r.id ORDER BY tag))",
                .figure = "value",
                .read = "BEGIN",
                .write = "BEGIN IMMEDIATE",
                .take = "BEGIN IMMEDIATE"},
    .open = sqlite_open,
    .close = sqlite_close,
    .exec = sqlite_exec,
    .in_transaction = sqlite_in_transaction,
    .start = sqlite_start,
    .next = sqlite_next,
    .column = sqlite_column,
    .finish = sqlite_finish,
    .insert = sqlite_insert,
    .add = sqlite_add,
};
