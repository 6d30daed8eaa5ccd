/* The schema of a PostgreSQL history as a list of migrations, made by `assay history init` alone.
 *
 * A released migration never changes; a schema change is a new row that leaves what is there readable: an older client
 * reads a newer schema, and does not write. Texts are compared by bytes (COLLATE "C"), as SQLite does.
 *
 *   version 1   runs (one row per record), documents, figures, tags, tallies
 *
 * `tallies` counts the records of models and tags. A writer adds a row and waits for nobody; now and then the rows of a
 * name are summed up, which leaves alone what another transaction holds. Triggers do that with the privileges of the
 * owner, so that a writer needs INSERT only. There are no foreign keys: a record is inserted by one statement, and a
 * trigger deletes what belongs to it.
 */
#include <stdio.h>
#include <time.h>

#include "store/postgres_impl.h"

const char postgres_settings[] =
    "SET search_path = assay, pg_temp; SET statement_timeout = '60s';"
    " SET client_min_messages = error; SET jit = off;" /* it costs more than our questions */
    " SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') IN ('off', 'local')";

typedef struct migration_row {
    int version;
    const char *sql;
} migration_row;

#define TRIGGER(table, when, which)                                                    \
    "CREATE TRIGGER " table "_" when " AFTER " when " ON " table " REFERENCING " which \
    " TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_" table "();"
#define FUNCTION(name, body)                                     \
    "CREATE FUNCTION " name " LANGUAGE plpgsql SECURITY DEFINER" \
    " SET search_path = assay, pg_temp AS $$ BEGIN " body " END $$;"

static const migration_row migrations[] = {
    {
        1,
        "CREATE SCHEMA IF NOT EXISTS assay;"
        "CREATE TABLE versions(version int8 PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now(),"
        " tool text NOT NULL);"
        "CREATE SEQUENCE run_numbers;"
        "CREATE TABLE runs(id int8 PRIMARY KEY, created int8 NOT NULL,"
        " stored timestamptz NOT NULL DEFAULT now(), kind text NOT NULL, model text NOT NULL COLLATE"
        " \"C\", base text NOT NULL COLLATE \"C\", model_sha256 text, machine text COLLATE \"C\","
        " tool_version text, sweep text COLLATE \"C\", task int8, command text, host text,"
        " precision text, device text, batch int8, shape text, setup text,"
        " setup_key int8 NOT NULL, shape_key int8 NOT NULL);"
        "CREATE INDEX runs_by_time ON runs(created, id);"
        "CREATE INDEX runs_by_base ON runs(base, created, id);"
        "CREATE UNIQUE INDEX runs_by_task ON runs(sweep, task) WHERE sweep IS NOT NULL;"
        "CREATE TABLE documents(run int8 PRIMARY KEY, digest text NOT NULL COLLATE \"C\","
        " encoding int8 NOT NULL, size int8 NOT NULL, body bytea NOT NULL);"
        "ALTER TABLE documents ALTER body SET STORAGE EXTERNAL;" /* it is deflated already */
        "CREATE INDEX documents_by_digest ON documents(digest, run);"
        "CREATE TABLE figures(run int8 NOT NULL, likeness int8 NOT NULL, created int8 NOT NULL,"
        " value float8 NOT NULL, whole int8, metric text NOT NULL COLLATE \"C\","
        " base text NOT NULL COLLATE \"C\", PRIMARY KEY(run, metric));"
        "CREATE INDEX figures_by_trend ON figures(base, metric, likeness, created, run)"
        " INCLUDE (value, whole);"
        "CREATE TABLE tags(run int8 NOT NULL, created int8 NOT NULL, tag text NOT NULL COLLATE \"C\","
        " PRIMARY KEY(run, tag));"
        "CREATE INDEX tags_by_tag ON tags(tag, created, run);"
        "CREATE TABLE tallies(what text NOT NULL, name text NOT NULL COLLATE \"C\","
        " base text NOT NULL COLLATE \"C\", records int8 NOT NULL);"
        /* clang-format off */
     FUNCTION("sum_tallies() RETURNS void",
         "WITH gone AS (DELETE FROM tallies WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM tallies t"
         " JOIN (SELECT what, name FROM tallies GROUP BY 1, 2 HAVING count(*) > 16) n"
         " USING (what, name) FOR UPDATE OF t SKIP LOCKED)) RETURNING *)"
         " INSERT INTO tallies SELECT what, name, base, sum(records) FROM gone"
         " GROUP BY what, name, base HAVING sum(records) <> 0;")
     FUNCTION("tally(what text, name text, base text, records int8) RETURNS void",
         "INSERT INTO tallies VALUES(what, name, base, records);"
         "IF random() < 0.005 THEN PERFORM sum_tallies(); END IF;")
     FUNCTION("tally_runs() RETURNS trigger",
         "IF TG_OP = 'DELETE' THEN"
         " DELETE FROM documents d USING changed c WHERE d.run = c.id;"
         " DELETE FROM figures f USING changed c WHERE f.run = c.id;"
         " DELETE FROM tags t USING changed c WHERE t.run = c.id; END IF;"
         "PERFORM tally('model', model, base, CASE TG_OP WHEN 'DELETE' THEN -count(*)"
         " ELSE count(*) END) FROM changed GROUP BY model, base; RETURN NULL;")
     FUNCTION("tally_tags() RETURNS trigger",
         "PERFORM tally('tag', tag, '', CASE TG_OP WHEN 'DELETE' THEN -count(*)"
         " ELSE count(*) END) FROM changed GROUP BY tag; RETURN NULL;")
     "REVOKE EXECUTE ON FUNCTION sum_tallies(), tally(text, text, text, int8) FROM PUBLIC;"
     TRIGGER("runs", "INSERT", "NEW") TRIGGER("runs", "DELETE", "OLD")
     TRIGGER("tags", "INSERT", "NEW") TRIGGER("tags", "DELETE", "OLD")
        /* clang-format on */
    },
};
enum { N_MIGRATIONS = sizeof migrations / sizeof *migrations };
#define NEWEST (migrations[N_MIGRATIONS - 1].version)

/* ---- looking ---- */

enum { CLOCK_SLACK_S = 2 };

/* Both clocks, at the same moment up to the time of a question. */
static void compare_clocks(store *s, int64_t server_s)
{
    int64_t ahead = server_s - (int64_t)time(NULL);
    s->clock_ahead_s = ahead > CLOCK_SLACK_S || ahead < -CLOCK_SLACK_S ? ahead : 0;
}

static assay_status compare_version(pg_store *s, int64_t version, assay_error *err)
{
    snprintf(s->is.version, sizeof s->is.version, "%lld", (long long)version);
    s->is.newer_schema = version > NEWEST;
    if (version < NEWEST)
        return err_fail(err, ASSAY_ERR_SYSTEM,
                        "%s: the schema of the history is of an older assay (version %lld, needed "
                        "is %d). Run `assay history init` to migrate it.",
                        s->is.shown, (long long)version, NEWEST);
    return ASSAY_OK;
}

static assay_status look(pg_store *s, assay_error *err)
{
    store_query q;
    store_ask(&q, &s->is,
              "SELECT max(version), CAST(extract(epoch FROM clock_timestamp()) AS int8) FROM"
              " versions",
              err);
    int64_t version = 0;
    if (store_next(&q)) {
        version = store_column_int(&q, 0);
        compare_clocks(&s->is, store_column_int(&q, 1));
    }
    TRY(store_done(&q));
    return compare_version(s, version, err);
}

/* ---- going forward ---- */

static assay_status record(pg_store *s, int version, assay_error *err)
{
    store_query q;
    store_ask(&q, &s->is, "INSERT INTO versions(version, tool) VALUES(:n, :tool)", err);
    store_set_int(&q, "n", version);
    store_set_text(&q, "tool", str_of(assay_version()));
    return store_run(&q);
}

static assay_status apply(pg_store *s, assay_error *err)
{
    int64_t there, version = 0;
    TRY(store_ask_number(&s->is,
                         "SELECT CASE WHEN to_regclass('assay.versions') IS NULL"
                         " THEN 0 ELSE 1 END",
                         &there, err));
    if (there)
        TRY(store_ask_number(&s->is, "SELECT max(version) FROM versions", &version, err));
    for (int i = 0; i < N_MIGRATIONS; i++) {
        if (migrations[i].version <= version)
            continue;
        TRY(store_run_sql(&s->is, migrations[i].sql, err));
        TRY(record(s, migrations[i].version, err));
        s->is.schema_changed = true;
    }
    return ASSAY_OK;
}

/* One at a time: the second finds the work done. */
static assay_status migrate(pg_store *s, assay_error *err)
{
    TRY(store_run_sql(&s->is,
                      "BEGIN; SET LOCAL statement_timeout = 0;"
                      " SELECT pg_advisory_xact_lock(1634956153, 2)",
                      err));
    return store_end(&s->is, apply(s, err), err);
}

assay_status postgres_check_schema(pg_store *s, assay_error *err)
{
    if (s->mode == STORE_MAKES_SCHEMA)
        TRY(migrate(s, err));
    return look(s, err);
}
