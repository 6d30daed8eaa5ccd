/* Opening and closing a history. A file may come from a stranger: what it says of itself runs no code. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "store/store_impl.h"

/* ---- opening ---- */

/* The change to WAL needs the file for itself for a moment, and SQLite does not wait for that as it waits for
 * other locks: two processes that make the same file at the same time meet here. */
static assay_status set_journal(store *s, assay_error *err)
{
    uint64_t until = clock_mono_ns() + (uint64_t)STORE_BUSY_MS * 1000000u;
    for (;;) {
        int code = store_exec(s, "PRAGMA journal_mode = WAL");
        if (code == SQLITE_OK)
            return ASSAY_OK;
        if ((code & 0xff) != SQLITE_BUSY || clock_mono_ns() > until)
            return store_fail(s, code, err);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* Views and triggers of a file are not run; functions in its schema are those that cannot do harm. */
static void distrust(store *s)
{
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_progress_handler(s->db, STORE_STEPS, store_is_late, s);
}

static assay_status prepare_file(store *s, bool in_memory, assay_error *err)
{
    sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
    distrust(s);
    TRY(store_run_sql(s, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;", err));
    TRY(store_migrate(s, err));
    if (in_memory || sqlite3_db_readonly(s->db, "main"))
        return ASSAY_OK;
    TRY(set_journal(s, err));
    return store_run_sql(s, "SELECT count(*) FROM versions", err); /* opens the journal, too */
}

/* A file that could not be opened for writing is opened by SQLite for reading. When the file allows writing,
 * something else stood in the way. */
static assay_status open_database(store *s, const char *path, int flags, assay_error *err)
{
    errno = 0;
    int code = sqlite3_open_v2(path, &s->db, flags, NULL);
    if (code == SQLITE_OK && sqlite3_db_readonly(s->db, "main") > 0 && access(path, W_OK) == 0)
        code = SQLITE_CANTOPEN;
    return code == SQLITE_OK ? ASSAY_OK : store_fail(s, code, err);
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
    TRY(open_database(s, plain, flags, err));
    return prepare_file(s, !path, err);
}

/* SQLite does not tell why a file could not be opened: it tries in other ways, and only the last errno is left.
 * So it is tried again; what stands in the way for good is found by opening the file. */
static assay_status open_again(store *s, const char *path, bool create, assay_error *err)
{
    sqlite3_close(s->db);
    s->db = NULL;
    err_clear(err);
    assay_status status = open_file(s, path, create, err);
    int error = status != ASSAY_OK && s->code == SQLITE_CANTOPEN ? file_open_error(path) : 0;
    if (!error)
        return status;
    err_clear(err);
    return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot open the history: %s", s->shown,
                          strerror(error));
}

assay_status store_open(const char *path, bool create, store **out, assay_error *err)
{
    store *s = memory_zeroed(1, sizeof *s);
    assert(out);
    *out = NULL;
    if (!s)
        return err_no_memory(err);
    if (path)
        file_shown(path, s->shown);
    assay_status status = open_file(s, path, create, err);
    if (status != ASSAY_OK && path && s->code == SQLITE_CANTOPEN)
        status = open_again(s, path, create, err);
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
