/* Large histories: what a trend, a list by tag and the overview of models cost, and how many saves a server takes.
 *
 *   history [--postgres N] [--sqlite N] [--seconds S]      5000000, 500000 and 10; 0 leaves a part out
 *
 * N records are made by SQL from one that was saved through the public API (2 kB compressed); PostgreSQL gets them in bulk,
 * without its indexes and triggers, which are made again before anything is asked. One model has 50000 of them,
 * so that its trend has 5000 points with a tenth of the records, too; the rest is spread over 499 others. Every tenth is
 * tagged. Each question is asked through the public API with a tenth of
 * the records and with all of them; the medians and their ratio are printed. Then 16 connections of this program save
 * through the public API, and 16 write the same rows with libpq alone, on the same server (fsync and synchronous_commit
 * on). Exit 1: a median above 300 ms, a ratio above 2, or fewer than 500 saves per second and half of libpq's.
 * When the disk has no room, fewer records are made, and the program says so. */
#include <assay/history.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/history.h"
#include "base/clock.h"
#include "base/file.h"
#include "store/postgres_library.h"
#include "store/store_impl.h"

enum {
    CONNECTIONS = 16,
    ASKED = 15,
    CHUNK = 5000,
    SECRET = 4000,
    LIMIT_MS = 300,
    WANTED = 500,
    HOT = 50000
};

typedef struct backend_row {
    const char *name;
    const char *series;  /* the numbers from %lld to %lld, as s(i) */
    const char *digest;  /* 64 characters that no other record has */
    const char *whole;   /* a column of figures that only one of them has */
    double record_bytes; /* on disk, with indexes and journal */
} backend_row;

static const backend_row of_sqlite = {
    "sqlite", "WITH RECURSIVE s(i) AS (SELECT %lld UNION ALL SELECT i + 1 FROM s WHERE i < %lld)",
    "printf('%064d', i)", "", 6000};
static const backend_row of_postgres = {
    "postgres", "WITH s(i) AS (SELECT generate_series(%lld::int8, %lld::int8))",
    "lpad(i::text, 64, '0')", ", whole", 8500};

static void must(assay_status s, const assay_error *err)
{
    if (s == ASSAY_OK)
        return;
    fprintf(stderr, "history: %s\n", err->message);
    exit(1);
}

/* ---- a record ---- */

/* What a bench of a small model stores; hex digits deflate by half. */
static char *make_result(unsigned seed)
{
    static const char digits[] = "0123456789abcdef";
    char noise[SECRET + 1], *text;
    for (int i = 0; i < SECRET; i++)
        noise[i] = digits[rand_r(&seed) % 16];
    noise[SECRET] = '\0';
    if (asprintf(&text,
                 "{\"schema\": \"assay.profile/1\", \"model\": \"net0.onnx\", \"context\": "
                 "{\"timestamp\": \"2025-01-01T00:00:00Z\", \"tool_version\": \"0.1.0\", "
                 "\"command\": \"assay bench\", \"host\": {\"cpu\": \"Test CPU\", \"cores\": 8}, "
                 "\"engine\": {\"name\": \"ort\", \"device\": \"cpu\", \"concurrency\": 1}}, "
                 "\"total_parameters\": 1000, \"total_macs\": 2000, \"total_operators\": 3, "
                 "\"latency\": {\"mean\": 5, \"p50\": 5, \"p95\": 6, \"runs\": 3, \"samples_ms\": "
                 "[5, 5, 6]}, \"configurations\": [{\"batch\": 1, \"precision\": \"fp32\", "
                 "\"runs\": 3}], \"noise\": \"%s\"}",
                 noise) < 0)
        exit(1);
    return text;
}

static const char *const nightly[] = {"nightly"};
static const assay_record_options tagged = {
    .size = sizeof tagged, .tags = nightly, .n_tags = 1, .machine = "n1"};

/* ---- many records ---- */

/* One INSERT of the numbers from..to; PostgreSQL and SQLite both take WITH before it. */
static void put_part(sbuf *sql, const backend_row *b, int64_t from, int64_t to, const char *insert)
{
    sbuf_printf(sql, b->series, (long long)from, (long long)to);
    sbuf_printf(sql, " %s;\n", insert);
}

#define MODEL "'net' || (CASE WHEN i %% %lld = 0 THEN 0 ELSE 1 + i %% 499 END) || '.onnx'"
#define WHEN  "1735689600 + i * 10"

static void put_records(sbuf *sql, const backend_row *b, int64_t from, int64_t to, long long hot)
{
    char insert[2048];
    snprintf(insert, sizeof insert,
             "INSERT INTO runs(id, model, base, created, kind, command, host, precision, "
             "device, batch, shape, setup, machine, tool_version, setup_key, shape_key%s) "
             "SELECT i, " MODEL ", " MODEL ", " WHEN ", t.kind, t.command, t.host, "
             "t.precision, t.device, t.batch, t.shape, t.setup, 'n' || (i %% 20), "
             "t.tool_version, t.setup_key, t.shape_key%s FROM s CROSS JOIN runs t WHERE "
             "t.id = 1",
             b == &of_sqlite ? ", stored" : "", hot, hot, b == &of_sqlite ? ", t.stored" : "");
    put_part(sql, b, from, to, insert);
    snprintf(insert, sizeof insert,
             "INSERT INTO documents(run, digest, encoding, size, body) SELECT i, %s, t.encoding, "
             "t.size, t.body FROM s CROSS JOIN documents t WHERE t.run = 1",
             b->digest);
    put_part(sql, b, from, to, insert);
    snprintf(insert, sizeof insert,
             "INSERT INTO figures(run, metric, value, base, likeness, created%s) SELECT i, "
             "t.metric, t.value * (1 + (i * 7919 %% 100) / 10000.0), " MODEL ", t.likeness, " WHEN
             "%s FROM s CROSS JOIN figures t WHERE t.run = 1",
             b->whole, hot, b == &of_sqlite ? "" : ", t.whole");
    put_part(sql, b, from, to, insert);
    snprintf(insert, sizeof insert,
             "INSERT INTO tags(run, tag, created) SELECT i, 'nightly', " WHEN
             " FROM s WHERE i %% 10 = 0");
    put_part(sql, b, from, to, insert);
}

/* A statement of SQLite has a time limit, and the machine may stand still for a while: tried again. */
static void load_chunk(store *s, const char *sql)
{
    assay_error err = {0};
    assay_status is = ASSAY_ERR_SYSTEM;
    for (int tries = 0; is != ASSAY_OK && tries < 5; tries++) {
        err.code = ASSAY_OK;
        must(store_begin(s, &err), &err);
        is = store_end(s, store_run_sql(s, sql, &err), &err);
    }
    must(is, &err);
}

static void load_sqlite(store *s, const backend_row *b, int64_t from, int64_t to, int64_t hot)
{
    for (int64_t at = from; at <= to; at += CHUNK) {
        sbuf sql = {0};
        put_records(&sql, b, at, at + CHUNK - 1 < to ? at + CHUNK - 1 : to, (long long)hot);
        load_chunk(s, sbuf_cstr(&sql));
        sbuf_free(&sql);
    }
}

/* What a bulk load leaves out and makes again: psql has no time limit. */
static const char without_indexes[] =
    "SET search_path = assay; SET synchronous_commit = off; SET maintenance_work_mem = '256MB';\n"
    "ALTER TABLE runs DISABLE TRIGGER USER; ALTER TABLE tags DISABLE TRIGGER USER;\n"
    "CREATE TABLE kept AS SELECT t.relname AS tab, x.relname AS name, pg_get_indexdef(x.oid) AS def,"
    " pg_get_constraintdef(c.oid) AS rule FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid"
    " JOIN pg_class x ON x.oid = i.indexrelid LEFT JOIN pg_constraint c ON c.conindid = x.oid"
    " WHERE t.relnamespace = 'assay'::regnamespace AND t.relname IN"
    " ('runs', 'documents', 'figures', 'tags');\n"
    "DO $$ DECLARE k kept; BEGIN FOR k IN SELECT * FROM kept LOOP EXECUTE CASE WHEN k.rule IS NULL"
    " THEN 'DROP INDEX ' || k.name ELSE 'ALTER TABLE ' || k.tab || ' DROP CONSTRAINT ' || k.name END;"
    " END LOOP; END $$;\n";
static const char with_indexes[] =
    "DO $$ DECLARE k kept; BEGIN FOR k IN SELECT * FROM kept LOOP EXECUTE CASE WHEN k.rule IS NULL"
    " THEN k.def ELSE 'ALTER TABLE ' || k.tab || ' ADD ' || k.rule END; END LOOP; END $$;\n"
    "DROP TABLE kept; ALTER TABLE runs ENABLE TRIGGER USER; ALTER TABLE tags ENABLE TRIGGER USER;\n"
    "SELECT setval('run_numbers', (SELECT max(id) FROM runs));\n"
    "VACUUM ANALYZE; CHECKPOINT;\n";

static char *server_folder; /* of the server, which ends with the program */

static void load_postgres(const backend_row *b, int64_t from, int64_t to, int64_t hot)
{
    sbuf sql = {0};
    char path[600], line[1400];
    sbuf_puts(&sql, without_indexes);
    put_records(&sql, b, from, to, (long long)hot);
    sbuf_printf(&sql,
                "INSERT INTO tallies SELECT 'model', model, base, count(*) FROM runs WHERE id "
                "BETWEEN %lld AND %lld GROUP BY 2, 3;\n"
                "INSERT INTO tallies SELECT 'tag', tag, '', count(*) FROM tags WHERE run BETWEEN "
                "%lld AND %lld GROUP BY 2;\n",
                (long long)from, (long long)to, (long long)from, (long long)to);
    sbuf_puts(&sql, with_indexes);
    snprintf(path, sizeof path, "%s/load.sql", server_folder);
    FILE *f = fopen(path, "w");
    if (!f || fputs(sbuf_cstr(&sql), f) < 0 || fclose(f) != 0)
        exit(1);
    sbuf_free(&sql);
    snprintf(line, sizeof line, "tests/support/postgres.sh file '%s' bench '%s' > /dev/null",
             server_folder, path);
    if (system(line) != 0)
        exit(1);
}

static void load(store *s, const backend_row *b, int64_t from, int64_t to, int64_t hot)
{
    uint64_t since = clock_mono_ns();
    if (b == &of_postgres)
        load_postgres(b, from, to, hot);
    else
        load_sqlite(s, b, from, to, hot);
    printf("%-9s %lld records loaded in %.0f s\n", b->name, (long long)(to - from + 1),
           (double)(clock_mono_ns() - since) / 1e9);
    fflush(stdout);
}

/* Fewer, if the disk of the folder has no room. */
static int64_t what_fits(const backend_row *b, const char *folder, int64_t wanted)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0)
        return wanted;
    double room = 0.8 * (double)disk.f_bavail * (double)disk.f_frsize;
    int64_t fits = (int64_t)(room / b->record_bytes);
    if (fits < wanted)
        printf("%-9s the disk has room for %lld of %lld records: scaled down\n", b->name,
               (long long)fits, (long long)wanted);
    return fits < wanted ? fits : wanted;
}

/* ---- questions ---- */

static void ask_trend(assay_store *s, assay_result **out, assay_error *err)
{
    const assay_trend_request q = {.size = sizeof q, .model = "net0.onnx", .metric = "p50"};
    must(assay_store_trend(s, &q, out, err), err);
}

static void ask_tag(assay_store *s, assay_result **out, assay_error *err)
{
    const assay_record_filter f = {.size = sizeof f, .tag = "nightly", .limit = 20};
    must(assay_store_list(s, &f, out, err), err);
}

static void ask_models(assay_store *s, assay_result **out, assay_error *err)
{
    must(assay_store_models(s, out, err), err);
}

static const struct {
    const char *name;
    void (*ask)(assay_store *s, assay_result **out, assay_error *err);
} questions[] = {{"trend of a model", ask_trend}, {"list by tag", ask_tag}, {"models", ask_models}};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ms(assay_store *s, int question)
{
    double ms[ASKED];
    for (int i = -1; i < ASKED; i++) { /* the first is not counted */
        assay_result *result = NULL;
        assay_error err = {0};
        uint64_t since = clock_mono_ns();
        questions[question].ask(s, &result, &err);
        ms[i < 0 ? 0 : i] = (double)(clock_mono_ns() - since) / 1e6;
        assay_result_free(result);
    }
    qsort(ms, ASKED, sizeof *ms, by_value);
    return ms[ASKED / 2];
}

/* Returns whether all are fast enough. */
static bool ask_all(const backend_row *b, assay_store *s, int64_t n)
{
    double tenth[QUESTIONS], all;
    bool good = true;
    const int64_t hot = n > HOT ? n / HOT : 1;
    load(s->s, b, 2, n / 10, hot);
    for (int i = 0; i < QUESTIONS; i++)
        tenth[i] = median_ms(s, i);
    load(s->s, b, n / 10 + 1, n, hot);
    for (int i = 0; i < QUESTIONS; i++) {
        all = median_ms(s, i);
        bool fast = all <= LIMIT_MS && all <= 2 * tenth[i];
        printf("%-9s %-17s %9.2f ms of %lld, %9.2f ms of %lld: %.2fx  %s\n", b->name,
               questions[i].name, tenth[i], (long long)(n / 10), all, (long long)n, all / tenth[i],
               fast ? "ok" : "TOO SLOW");
        good = good && fast;
    }
    fflush(stdout);
    return good;
}

static bool bench_backend(const backend_row *b, const char *name, const char *folder, int64_t n)
{
    assay_store *s = NULL;
    assay_error err = {0};
    char *text = make_result(1), *version = NULL;
    n = what_fits(b, folder, n);
    must(assay_store_init(name, NULL, &version, &err), &err);
    assay_free(version);
    must(assay_store_open(name, true, &s, &err), &err);
    must(assay_store_add(s, text, strlen(text), &tagged, NULL, &err), &err);
    free(text);
    bool good = n < 20 || ask_all(b, s, n);
    assay_store_close(s);
    return good;
}

/* ---- saves ---- */

typedef struct saving {
    pthread_t thread;
    const char *name;
    int number;
    uint64_t until_ns, done;
} saving;

static void *save_by_api(void *arg)
{
    saving *x = arg;
    assay_store *s = NULL;
    assay_error err = {0};
    char *text = make_result((unsigned)x->number);
    must(assay_store_open(x->name, true, &s, &err), &err);
    for (; clock_mono_ns() < x->until_ns; x->done++)
        must(assay_store_add(s, text, strlen(text), &tagged, NULL, &err), &err);
    assay_store_close(s);
    free(text);
    return NULL;
}

/* The rows of the first record, again, by one prepared statement per record: no faster way has been found. */
static const char bare_sql[] =
    "WITH d AS (INSERT INTO documents SELECT $1::int8, $6::text, 1, $3::int8, $2::bytea),"
    " f AS (INSERT INTO figures(run, metric, value, whole, base, likeness, created) SELECT $1::int8, m, "
    "v, NULL, 'net0.onnx', 1, 1735689600 FROM unnest($4::text[], $5::float8[]) x(m, v)),"
    " t AS (INSERT INTO tags(run, tag, created) VALUES($1::int8, 'nightly', 1735689600))"
    " INSERT INTO runs(id, model, base, created, kind, command, host, precision, device, batch,"
    " shape, setup, machine, tool_version, setup_key, shape_key) VALUES($1::int8, 'net0.onnx',"
    " 'net0.onnx', 1735689600, 'profile', 'assay bench', 'Test CPU, 8 cores', 'fp32', 'cpu', 1, '',"
    " 'Test CPU, 8 cores', 'n1', '0.1.0', 1, 1)";

/* The arrays of the figures of record 1, and its document. */
static struct {
    char metrics[2048], values[2048];
    str body;
} bare;

static void read_bare(const char *name, arena *a)
{
    assay_store *s = NULL;
    assay_error err = {0};
    store_query q;
    sbuf m = {0}, v = {0};
    must(assay_store_open(name, false, &s, &err), &err);
    store_ask(&q, s->s, "SELECT metric FROM figures WHERE run = 1", &err);
    while (store_next(&q)) {
        str metric = store_column_str(&q, 0, a);
        sbuf_printf(&m, "%c" STR_FMT, m.n ? ',' : '{', STR_ARG(metric));
        sbuf_printf(&v, "%c5", v.n ? ',' : '{');
    }
    must(store_done(&q), &err);
    snprintf(bare.metrics, sizeof bare.metrics, "%s}", sbuf_cstr(&m));
    snprintf(bare.values, sizeof bare.values, "%s}", sbuf_cstr(&v));
    store_ask(&q, s->s, "SELECT body FROM documents WHERE run = 1", &err);
    if (store_next(&q))
        bare.body = store_column_str(&q, 0, a);
    must(store_done(&q), &err);
    sbuf_free(&m);
    sbuf_free(&v);
    assay_store_close(s);
}

static void take_results(const pg_library *pq, pg_conn *c)
{
    for (pg_result *r; (r = pq->getResult(c)); pq->clear(r)) {
        int is = pq->resultStatus(r);
        if (is == PG_COMMAND_OK || is == PG_TUPLES_OK)
            continue;
        fprintf(stderr, "history: %s\n", pq->errorMessage(c));
        exit(1);
    }
}

static void save_bare(const pg_library *pq, pg_conn *c, int64_t id)
{
    char number[32], size[32], digest[65];
    snprintf(number, sizeof number, "%lld", (long long)id);
    snprintf(size, sizeof size, "%u", bare.body.n);
    snprintf(digest, sizeof digest, "%064lld", (long long)id);
    const char *values[] = {number, bare.body.p, size, bare.metrics, bare.values, digest};
    const int lengths[] = {0, (int)bare.body.n, 0, 0, 0, 0}, formats[] = {0, 1, 0, 0, 0, 0};
    pq->sendQueryPrepared(c, "bare", 6, values, lengths, formats, 0);
    take_results(pq, c);
}

static void *save_by_libpq(void *arg)
{
    saving *x = arg;
    pg_library pq;
    assay_error err = {0};
    const char *const keys[] = {"dbname", NULL}, *const values[] = {x->name, NULL};
    must(postgres_load(&pq, &err), &err);
    pg_conn *c = pq.connectdbParams(keys, values, 1);
    pq.sendQuery(c, "SET search_path = assay");
    take_results(&pq, c);
    pq.sendPrepare(c, "bare", bare_sql, 0, NULL);
    take_results(&pq, c);
    for (; clock_mono_ns() < x->until_ns; x->done++)
        save_bare(&pq, c,
                  (int64_t)1000000000000 + x->number * (int64_t)1000000000 + (int64_t)x->done);
    pq.finish(c);
    return NULL;
}

static double saves_per_second(const char *name, int seconds, void *(*run)(void *))
{
    static saving all[CONNECTIONS];
    uint64_t since = clock_mono_ns(), done = 0;
    for (int i = 0; i < CONNECTIONS; i++) {
        all[i] = (saving){
            .name = name, .number = i, .until_ns = since + (uint64_t)seconds * 1000000000u};
        pthread_create(&all[i].thread, NULL, run, &all[i]);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        pthread_join(all[i].thread, NULL);
        done += all[i].done;
    }
    return (double)done / ((double)(clock_mono_ns() - since) / 1e9);
}

static bool bench_saves(const char *name, int seconds)
{
    arena *a = arena_new((size_t)16 << 20);
    read_bare(name, a);
    double api = saves_per_second(name, seconds, save_by_api);
    double alone = saves_per_second(name, seconds, save_by_libpq);
    bool good = api >= WANTED || api >= alone / 2;
    printf(
        "postgres  %d connections: %.0f saves/s through the API, %.0f with libpq alone: %.0f %%  "
        "%s\n",
        CONNECTIONS, api, alone, 100 * api / alone, good ? "ok" : "TOO SLOW");
    arena_free(a);
    return good;
}

/* ---- the server ---- */

static bool run_script(const char *what, const char *folder, char out[512])
{
    char line[1024];
    snprintf(line, sizeof line,
             "OPTIONS='-c fsync=on -c shared_buffers=256MB -c max_wal_size=4GB' "
             "tests/support/postgres.sh %s",
             what);
    setenv("FOLDER", folder, 1);
    FILE *f = popen(line, "r");
    size_t n = f ? fread(out, 1, 511, f) : 0;
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return f && pclose(f) == 0;
}

static void end_server(void)
{
    char out[512];
    run_script("end \"$FOLDER\"", server_folder, out);
    free(server_folder);
}

static bool bench_postgres(int64_t n, int seconds)
{
    char out[512];
    assay_error err = {0};
    must(file_temp_folder(&server_folder, &err), &err);
    atexit(end_server);
    if (!run_script("start \"$FOLDER\"", server_folder, out)) {
        puts(*out ? out : "skipped: the server did not start");
        return true;
    }
    bool good = run_script("database \"$FOLDER\" bench", server_folder, out) &&
                bench_backend(&of_postgres, out, server_folder, n);
    return bench_saves(out, seconds) && good;
}

static bool bench_sqlite(int64_t n)
{
    char *own, path[512];
    assay_error err = {0};
    must(file_temp_folder(&own, &err), &err);
    snprintf(path, sizeof path, "%s/history.db", own);
    bool good = bench_backend(&of_sqlite, path, own, n);
    file_remove_folder(own);
    free(own);
    return good;
}

static int64_t number_after(int argc, char **argv, const char *option, int64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], option) == 0)
            return atoll(argv[i + 1]);
    return otherwise;
}

int main(int argc, char **argv)
{
    int64_t postgres = number_after(argc, argv, "--postgres", 5000000),
            sqlite = number_after(argc, argv, "--sqlite", 500000);
    bool good = !sqlite || bench_sqlite(sqlite);
    good = (!postgres ||
            bench_postgres(postgres, (int)number_after(argc, argv, "--seconds", 10))) &&
           good;
    return !good;
}
