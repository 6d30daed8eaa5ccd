/* The schema of the database as a list of migrations.
 *
 * A released migration never changes, because it has created files that users have. A schema change is a new row. The
 * table `versions` lists the migrations of a file; the highest is its version. PRAGMA application_id ("assy") marks our
 * files.
 *
 *   version 1   runs (one row per record), documents, tags
 *   version 2   figures: every metric of every record, so that a trend reads no documents
 *   version 3   the kind of a record: profile, pipeline, machine or watch
 *   version 4   columns for fleets (digest, machine, version, sweep, task); an index for trends; counts in `tallies`
 *
 * What the columns of older records lack is filled from their documents, after the last migration.
 */
#include <stdio.h>

#include "base/clock.h"
#include "profile/profile_read.h"
#include "store/sqlite_impl.h"

#define APPLICATION_ID 0x61737379 /* "assy" */

typedef struct migration_row {
    int version;
    const char *sql;
} migration_row;

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
     "CREATE INDEX tags_by_tag ON tags(tag, run);"},
    {2, "CREATE TABLE figures(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
        " metric TEXT NOT NULL, value NOT NULL, PRIMARY KEY(run, metric)) WITHOUT ROWID;"},
    {3, "ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'profile';"},
    {4,
     "ALTER TABLE runs ADD COLUMN base TEXT NOT NULL DEFAULT '';" /* of model: behind its last '/' */
     "ALTER TABLE runs ADD COLUMN model_sha256 TEXT;"
     "ALTER TABLE runs ADD COLUMN machine TEXT;"
     "ALTER TABLE runs ADD COLUMN tool_version TEXT;"
     "ALTER TABLE runs ADD COLUMN sweep TEXT;"
     "ALTER TABLE runs ADD COLUMN task INTEGER;"
     "ALTER TABLE runs ADD COLUMN setup_key INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE runs ADD COLUMN shape_key INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE runs ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;"
     "CREATE INDEX runs_by_base ON runs(base, created, id);"
     "CREATE UNIQUE INDEX runs_by_task ON runs(sweep, task) WHERE sweep IS NOT NULL;"
     "ALTER TABLE tags ADD COLUMN created INTEGER NOT NULL DEFAULT 0;"
     "UPDATE tags SET created = (SELECT created FROM runs WHERE id = run);"
     "DROP INDEX IF EXISTS tags_by_tag;"
     "CREATE INDEX tags_by_tag ON tags(tag, created, run);"
     "DROP TABLE figures;"
     "CREATE TABLE figures(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
     " metric TEXT NOT NULL, value NOT NULL, base TEXT NOT NULL, likeness INTEGER NOT NULL,"
     " created INTEGER NOT NULL, PRIMARY KEY(run, metric)) WITHOUT ROWID;"
     "CREATE INDEX figures_by_trend ON figures(base, metric, likeness, created, run, value);"
     "CREATE TABLE tallies(what TEXT NOT NULL, name TEXT NOT NULL, base TEXT NOT NULL,"
     " records INTEGER NOT NULL, PRIMARY KEY(what, name)) WITHOUT ROWID;"
     "INSERT INTO tallies SELECT 'tag', tag, '', count(*) FROM tags GROUP BY tag;"},
};
enum { N_MIGRATIONS = sizeof migrations / sizeof *migrations };
#define NEWEST (migrations[N_MIGRATIONS - 1].version)

/* ---- asking ---- */

/* 0: an empty file. */
static assay_status version_of(sqlite_store *s, int64_t *version, assay_error *err)
{
    int64_t tables, id, ours;
    *version = 0;
    TRY(store_ask_number(&s->is, "SELECT count(*) FROM sqlite_master", &tables, err));
    if (!tables)
        return ASSAY_OK;
    TRY(store_ask_number(&s->is, "PRAGMA application_id", &id, err));
    TRY(store_ask_number(
        &s->is, "SELECT count(*) FROM sqlite_master WHERE type='table' AND name='versions'", &ours,
        err));
    if (id != APPLICATION_ID || !ours)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "%s: not an assay history but a database of another program. Name another "
                        "file with --db or ASSAY_DB.",
                        s->is.shown);
    TRY(store_ask_number(&s->is, "SELECT max(version) FROM versions", version, err));
    if (*version > NEWEST)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "%s: history of a newer assay (schema version %lld; this version supports "
                        "up to %d). Use that version, or another file.",
                        s->is.shown, (long long)*version, NEWEST);
    return ASSAY_OK;
}

/* ---- filling from documents ---- */

static assay_status update_row(sqlite_store *s, const store_row *row, assay_error *err)
{
    store_query q;
    store_ask(&q, &s->is,
              "UPDATE runs SET kind = :kind, base = :base, model_sha256 = :digest,"
              " tool_version = :tool, setup_key = :setup, shape_key = :shape, stored = created"
              " WHERE id = :id",
              err);
    store_set_text(&q, "kind", row->kind);
    store_set_text(&q, "base", row->base);
    store_set_name(&q, "digest", row->model_sha256);
    store_set_name(&q, "tool", row->tool_version);
    store_set_int(&q, "setup", row->setup_key);
    store_set_int(&q, "shape", row->shape_key);
    store_set_int(&q, "id", row->id);
    TRY(store_run(&q));
    return store_insert_figures(&s->is, row, err);
}

static assay_status fill_from(sqlite_store *s, int64_t id, int64_t created, arena *a,
                              assay_error *err)
{
    profile *p = NULL;
    store_row row = {0};
    str text = {0};
    TRY(store_document(&s->is, id, a, &text, err));
    TRY(profile_read_kept(text, s->is.shown, STORE_PROFILE_BYTES, &p, err));
    assay_status status = store_row_of(p, text, &(store_label){.created_s = created}, a, &row, err);
    row.id = id;
    row.created_s = created;
    if (status == ASSAY_OK)
        status = update_row(s, &row, err);
    profile_free(p);
    return status;
}

static assay_status fill_one(sqlite_store *s, int64_t id, int64_t created, assay_error *err)
{
    arena *a = arena_new(2 * STORE_DOCUMENT_BYTES + STORE_ROW_BYTES);
    assay_status status = a ? fill_from(s, id, created, a, err) : err_no_memory(err);
    arena_free(a);
    return status;
}

static assay_status fill_all(sqlite_store *s, assay_error *err)
{
    store_query q;
    for (int64_t id = 0, created;;) {
        store_ask(&q, &s->is, "SELECT id, created FROM runs WHERE id > :id ORDER BY id LIMIT 1",
                  err);
        store_set_int(&q, "id", id);
        bool more = store_next(&q);
        id = more ? store_column_int(&q, 0) : 0;
        created = more ? store_column_int(&q, 1) : 0;
        TRY(store_done(&q));
        if (!more)
            return store_run_sql(&s->is,
                                 "INSERT INTO tallies SELECT 'model', model, base, count(*) FROM"
                                 " runs GROUP BY model, base",
                                 err);
        TRY(fill_one(s, id, created, err));
    }
}

/* ---- counts ---- */

#define COUNT(name_, when_, table_, row_, what_, base_, by_)                           \
    "CREATE TEMP TRIGGER " name_ " AFTER " when_ " ON main." table_ " BEGIN"           \
    " INSERT INTO tallies VALUES('" what_ "', " row_ "." what_ ", " base_ ", " by_ ")" \
    " ON CONFLICT(what, name) DO UPDATE SET records = records + " by_ ";"              \
    " DELETE FROM tallies WHERE what = '" what_ "' AND name = " row_ "." what_         \
    " AND records <= 0; END;"

/* Of this connection: those of a file are not run. */
static const char triggers[] = "PRAGMA temp_store = MEMORY;" /* clang-format off */
    COUNT("run_added", "INSERT", "runs", "new", "model", "new.base", "1")
    COUNT("run_deleted", "DELETE", "runs", "old", "model", "old.base", "-1")
    COUNT("tag_added", "INSERT", "tags", "new", "tag", "''", "1")
    COUNT("tag_deleted", "DELETE", "tags", "old", "tag", "''", "-1"); /* clang-format on */

/* ---- going forward ---- */

static assay_status record(sqlite_store *s, const migration_row *m, assay_error *err)
{
    char now[32];
    store_query q;
    clock_timestamp(now);
    store_ask(&q, &s->is, "INSERT INTO versions(version, applied, tool) VALUES(:n, :now, :tool)",
              err);
    store_set_int(&q, "n", m->version);
    store_set_text(&q, "now", str_of(now));
    store_set_text(&q, "tool", str_of(assay_version()));
    return store_run(&q);
}

static assay_status begin_schema(sqlite_store *s, assay_error *err)
{
    char id[64];
    snprintf(id, sizeof id, "PRAGMA application_id = %d", APPLICATION_ID);
    TRY(store_run_sql(&s->is, id, err));
    return store_run_sql(&s->is,
                         "CREATE TABLE versions(version INTEGER PRIMARY KEY, applied TEXT NOT NULL,"
                         " tool TEXT NOT NULL)",
                         err);
}

/* Another process may have been here first: the version is asked again inside the transaction. */
static assay_status apply(sqlite_store *s, assay_error *err)
{
    int64_t version;
    TRY(version_of(s, &version, err));
    if (version == 0)
        TRY(begin_schema(s, err));
    for (int i = 0; i < N_MIGRATIONS; i++) {
        const migration_row *m = &migrations[i];
        if (m->version <= version)
            continue;
        TRY(store_run_sql(&s->is, m->sql, err));
        TRY(record(s, m, err));
    }
    s->is.schema_changed = version < NEWEST;
    return version && version < NEWEST ? fill_all(s, err) : ASSAY_OK;
}

/* A view in the place of a table could compute for ever. */
static assay_status check_tables(sqlite_store *s, assay_error *err)
{
    int64_t n;
    TRY(store_ask_number(
        &s->is,
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('versions',"
        " 'runs', 'documents', 'tags', 'figures', 'tallies') AND sql NOT LIKE 'CREATE VIRTUAL%'",
        &n, err));
    return n == 6 ? ASSAY_OK : sqlite_fail(s, SQLITE_ERROR, err);
}

assay_status sqlite_migrate(sqlite_store *s, assay_error *err)
{
    int64_t version;
    TRY(version_of(s, &version, err));
    if (version != NEWEST) {
        TRY(store_begin(&s->is, err));
        TRY(store_end(&s->is, apply(s, err), err));
    }
    snprintf(s->is.version, sizeof s->is.version, "%d", NEWEST);
    TRY(check_tables(s, err));
    return store_run_sql(&s->is, triggers, err);
}
