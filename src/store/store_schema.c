/* The schema of the database as a list of migrations.
 *
 * A released migration never changes, because it has created files that users have. A schema change is a new row. The
 * table `versions` lists the migrations of a file; the highest is its version. PRAGMA application_id ("assy") marks our
 * files.
 *
 *   version 1   runs (one row per record), documents, tags
 *   version 2   figures: every metric of every record, so that a trend reads no documents. Filled from the documents
 *   version 3   the kind of a record: profile, pipeline, machine or watch. Filled from the documents
 */
#include <stdio.h>

#include "base/clock.h"
#include "profile/profile_read.h"
#include "store/store_impl.h"

#define APPLICATION_ID 0x61737379 /* "assy" */

typedef struct migration_row {
    int version;
    const char *sql;
    assay_status (*then)(store *s, assay_error *err); /* or NULL */
} migration_row;

static assay_status fill_figures(store *s, assay_error *err);
static assay_status fill_kinds(store *s, assay_error *err);

static const migration_row migrations[] = {
    {1,
     "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL,"
     " created INTEGER NOT NULL, command TEXT, host TEXT, precision TEXT, device TEXT,"
     " batch INTEGER, shape TEXT, setup TEXT);"
     "CREATE INDEX runs_by_model ON runs(model, created, id);"
     "CREATE INDEX runs_by_time ON runs(created, id);"
     "CREATE TABLE documents(run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,"
     " digest TEXT NOT NULL, encoding INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL);"
     "CREATE INDEX documents_by_digest ON documents(digest);"
     "CREATE TABLE tags(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
     " tag TEXT NOT NULL, PRIMARY KEY(run, tag)) WITHOUT ROWID;"
     "CREATE INDEX tags_by_tag ON tags(tag, run);",
     NULL},
    {2,
     "CREATE TABLE figures(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
     " metric TEXT NOT NULL, value NOT NULL, PRIMARY KEY(run, metric)) WITHOUT ROWID;",
     fill_figures},
    {3, "ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'profile';", fill_kinds},
};
enum { N_MIGRATIONS = sizeof migrations / sizeof *migrations };
#define NEWEST (migrations[N_MIGRATIONS - 1].version)

/* ---- asking ---- */

static assay_status ask_number(store *s, const char *sql, int64_t *out, assay_error *err)
{
    sqlite3_stmt *q;
    TRY(store_prepare(s, sql, &q, err));
    int code = store_step(s, q);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    assay_status status = code == SQLITE_ROW || code == SQLITE_DONE ? ASSAY_OK
                                                                    : store_fail(s, code, err);
    sqlite3_finalize(q);
    return status;
}

/* 0: an empty file. */
static assay_status version_of(store *s, int64_t *version, assay_error *err)
{
    int64_t tables, id, ours;
    *version = 0;
    TRY(ask_number(s, "SELECT count(*) FROM sqlite_master", &tables, err));
    if (!tables)
        return ASSAY_OK;
    TRY(ask_number(s, "PRAGMA application_id", &id, err));
    TRY(ask_number(s, "SELECT count(*) FROM sqlite_master WHERE type='table' AND name='versions'",
                   &ours, err));
    if (id != APPLICATION_ID || !ours)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "%s: not an assay history but a database of another program. Name another "
                        "file with --db or ASSAY_DB.",
                        s->shown);
    TRY(ask_number(s, "SELECT max(version) FROM versions", version, err));
    if (*version > NEWEST)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "%s: history of a newer assay (schema version %lld; this version supports "
                        "up to %d). Use that version, or another file.",
                        s->shown, (long long)*version, NEWEST);
    return ASSAY_OK;
}

/* ---- going forward ---- */

static assay_status record(store *s, const migration_row *m, assay_error *err)
{
    char now[32];
    sqlite3_stmt *q;
    clock_timestamp(now);
    TRY(store_prepare(s, "INSERT INTO versions(version, applied, tool) VALUES(?, ?, ?)", &q, err));
    store_bind_int(s, q, 1, m->version);
    store_bind_str(s, q, 2, str_of(now));
    store_bind_str(s, q, 3, str_of(assay_version()));
    return store_finish(s, q, err);
}

static assay_status begin_schema(store *s, assay_error *err)
{
    char id[64];
    snprintf(id, sizeof id, "PRAGMA application_id = %d", APPLICATION_ID);
    TRY(store_run_sql(s, id, err));
    return store_run_sql(s,
                         "CREATE TABLE versions(version INTEGER PRIMARY KEY, applied TEXT NOT NULL,"
                         " tool TEXT NOT NULL)",
                         err);
}

/* Another process may have been here first: the version is asked again inside the transaction. */
static assay_status apply(store *s, assay_error *err)
{
    int64_t version;
    TRY(version_of(s, &version, err));
    if (version == 0)
        TRY(begin_schema(s, err));
    for (int i = 0; i < N_MIGRATIONS; i++) {
        const migration_row *m = &migrations[i];
        if (m->version <= version)
            continue;
        TRY(store_run_sql(s, m->sql, err));
        if (m->then)
            TRY(m->then(s, err));
        TRY(record(s, m, err));
    }
    return ASSAY_OK;
}

/* A view in the place of a table could compute for ever. */
static assay_status check_tables(store *s, assay_error *err)
{
    int64_t n;
    TRY(ask_number(
        s,
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('versions',"
        " 'runs', 'documents', 'tags', 'figures') AND sql NOT LIKE 'CREATE VIRTUAL%'",
        &n, err));
    return n == 5 ? ASSAY_OK : store_fail(s, SQLITE_ERROR, err);
}

assay_status store_migrate(store *s, assay_error *err)
{
    int64_t version;
    TRY(version_of(s, &version, err));
    if (version != NEWEST) {
        TRY(store_begin(s, err));
        TRY(store_end(s, apply(s, err), err));
    }
    return check_tables(s, err);
}

/* ---- filling from documents ---- */

typedef assay_status fill_record(store *s, int64_t id, const profile *p, assay_error *err);

static assay_status fill_one(store *s, int64_t id, fill_record *fill, assay_error *err)
{
    arena *a = arena_new(STORE_DOCUMENT_BYTES + ((size_t)1 << 20));
    profile *p = NULL;
    str text = {0};
    assay_status status = a ? store_document(s, id, a, &text, err) : err_no_memory(err);
    if (status == ASSAY_OK)
        status = profile_read(text, s->shown, STORE_PROFILE_BYTES, &p, err);
    if (status == ASSAY_OK) {
        status = fill(s, id, p, err);
        profile_free(p);
    }
    arena_free(a);
    return status;
}

static assay_status fill_all(store *s, fill_record *fill, assay_error *err)
{
    int64_t id = 0;
    sqlite3_stmt *q;
    for (;;) {
        TRY(store_prepare(s, "SELECT id FROM runs WHERE id > ? ORDER BY id LIMIT 1", &q, err));
        store_bind_int(s, q, 1, id);
        int code = store_step(s, q);
        id = code == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
        sqlite3_finalize(q);
        if (code == SQLITE_DONE)
            return ASSAY_OK;
        if (code != SQLITE_ROW)
            return store_fail(s, code, err);
        TRY(fill_one(s, id, fill, err));
    }
}

static assay_status fill_figures(store *s, assay_error *err)
{
    return fill_all(s, store_insert_figures, err);
}

static assay_status fill_kind(store *s, int64_t id, const profile *p, assay_error *err)
{
    sqlite3_stmt *q;
    TRY(store_prepare(s, "UPDATE runs SET kind = ? WHERE id = ?", &q, err));
    store_bind_str(s, q, 1, store_kind(p));
    store_bind_int(s, q, 2, id);
    return store_finish(s, q, err);
}

static assay_status fill_kinds(store *s, assay_error *err)
{
    return fill_all(s, fill_kind, err);
}
