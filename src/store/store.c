/* The backends, by the name of a history; opening, and transactions. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "store/store_impl.h"

/* The last takes every name. */
static const store_backend *const backends[] = {&store_postgres, &store_sqlite};

static const store_backend *backend_of(const char *name)
{
    size_t i = 0;
    while (!backends[i]->takes(name))
        i++;
    return backends[i];
}

bool store_is_remote(const char *name)
{
    return name && backend_of(name) == &store_postgres;
}

/* "mysql://user:password@host" is no file. The name may hold a password: only its scheme is shown. */
static assay_status refuse_other_urls(const char *name, assay_error *err)
{
    size_t n = name ? strcspn(name, ":/") : 0;
    bool url = name && n &&
               (strncmp(name + n, "://", 3) == 0 ||
                (strncmp(name, "postgres", 8) == 0 && name[n] == ':'));
    if (!url || store_is_remote(name))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "a history is a file, or a database such as postgresql://user@host/db, not "
                    "'%.*s:...'",
                    (int)(n < 40 ? n : 40), name);
}

assay_status store_open(const char *name, bool create, store **out, assay_error *err)
{
    assert(out);
    TRY(refuse_other_urls(name, err));
    return backend_of(name)->open(name, create ? STORE_WRITES : STORE_READS, out, err);
}

void store_close(store *s)
{
    if (s)
        s->backend->close(s);
}

assay_status store_init(const char *name, bool *changed, char version[32], assay_error *err)
{
    store *s = NULL;
    TRY(refuse_other_urls(name, err));
    TRY(backend_of(name)->open(name, STORE_MAKES_SCHEMA, &s, err));
    *changed = s->schema_changed;
    snprintf(version, 32, "%s", s->version);
    store_close(s);
    return ASSAY_OK;
}

int64_t store_now(const store *s)
{
    return clock_epoch() + s->clock_ahead_s;
}

int64_t store_wait_s(void)
{
    enum { WAIT_S = 30, WAIT_MOST_S = 86400 };
    const char *given = getenv("ASSAY_DB_WAIT");
    uint64_t s;
    return given && str_to_u64(str_of(given), &s) && s <= WAIT_MOST_S ? (int64_t)s : WAIT_S;
}

/* ---- transactions ---- */

assay_status store_run_sql(store *s, const char *sql, assay_error *err)
{
    return s->backend->exec(s, sql, err);
}

/* A beginning of several statements may fail behind the first one: the transaction is then open, and of no use. */
static assay_status begin_with(store *s, const char *sql, assay_error *err)
{
    assay_status status = store_run_sql(s, sql, err);
    if (status != ASSAY_OK && s->backend->in_transaction(s))
        store_run_sql(s, "ROLLBACK", NULL);
    return status;
}

static assay_status begin_writing(store *s, const char *sql, assay_error *err)
{
    assert(!s->backend->in_transaction(s)); /* transactions do not nest */
    TRY(store_may_write(s, err));
    return begin_with(s, sql, err);
}

assay_status store_may_write(const store *s, assay_error *err)
{
    return s->newer_schema ? err_fail(err, ASSAY_ERR_UNSUPPORTED,
                                      "%s: the schema of the history is of a newer assay (version "
                                      "%s): this one can read it only. Use that version.",
                                      s->shown, s->version)
                           : ASSAY_OK;
}

assay_status store_begin(store *s, assay_error *err)
{
    return begin_writing(s, s->backend->dialect.write, err);
}

assay_status store_begin_taking(store *s, assay_error *err)
{
    return begin_writing(s, s->backend->dialect.take, err);
}

assay_status store_end(store *s, assay_status so_far, assay_error *err)
{
    if (so_far == ASSAY_OK && memory_lacked())
        so_far = err_no_memory(err);
    if (so_far == ASSAY_OK)
        so_far = store_run_sql(s, "COMMIT", err);
    /* A rollback that cannot be made is made when the history is closed. */
    if (so_far != ASSAY_OK && s->backend->in_transaction(s))
        store_run_sql(s, "ROLLBACK", NULL);
    return so_far;
}

assay_status store_read_begin(store *s, assay_error *err)
{
    assert(s->reading || !s->backend->in_transaction(s)); /* not inside one that writes */
    if (!s->reading)
        TRY(begin_with(s, s->backend->dialect.read, err));
    s->reading++;
    return ASSAY_OK;
}

assay_status store_read_end(store *s, assay_status so_far, assay_error *err)
{
    assert(s->reading > 0);
    return --s->reading ? so_far : store_end(s, so_far, err);
}
