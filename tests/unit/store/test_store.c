/* The history: kept and found again, by several processes at once, through kill -9, from older schemas, and
 * refused when it is not ours. What is not about SQLite files runs on PostgreSQL, too (test_postgres.c). */
#include <assay/history.h>

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include <sqlite3.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/store_impl.h"
#include "support/values.h"
#include "unit/store/both.h"

static char *folder;

static int set_up(void **state)
{
    (void)state;
    return file_temp_folder(&folder, NULL) != ASSAY_OK;
}

static int tear_down(void **state)
{
    (void)state;
    file_remove_folder(folder);
    free(folder);
    return 0;
}

static const char *path_of(char buf[512], const char *name)
{
    snprintf(buf, 512, "%s/%s", folder, name);
    return buf;
}

/* Where the histories of the tests are that run on every backend. */
static history_place *place = path_of;

static bool is_file(void)
{
    return place == path_of;
}

/* ---- results ---- */

static char *result_text(const char *model, const char *when, double p50_ms)
{
    char *text;
    assert_true(
        asprintf(
            &text,
            "{\"schema\": \"assay.profile/1\", \"model\": \"%s\", \"context\": {\"timestamp\": "
            "\"%s\", \"command\": \"assay bench\", \"host\": {\"cpu\": \"Test CPU\", \"cores\": 4}},"
            " \"total_parameters\": 10, \"total_macs\": 9007199254740993, \"total_operators\": 2,"
            " \"something new\": [1, \" two  blanks \\\" \"],"
            " \"latency\": {\"mean\": %g, \"p50\": %g, \"p95\": %g, \"runs\": 3, \"samples_ms\": "
            "[%g, %g, %g]}, \"configurations\": [{\"batch\": 1, \"precision\": \"fp32\", \"runs\": "
            "3}]}",
            model, when, p50_ms, p50_ms, p50_ms, p50_ms, p50_ms, p50_ms) > 0);
    return text;
}

static assay_status add_text(assay_store *s, const char *text, int64_t *id, assay_error *err)
{
    return assay_store_add(s, text, strlen(text), NULL, id, err);
}

static assay_status add_tags(assay_store *s, int64_t id, const char *const *tags, size_t n,
                             assay_error *err)
{
    const assay_tag_change change = {.size = sizeof change, .add = tags, .n_add = n};
    return assay_store_tag(s, id, &change, err);
}

static int64_t save(assay_store *s, const char *model, const char *when, double p50_ms)
{
    char *text = result_text(model, when, p50_ms);
    assay_error err;
    int64_t id = 0;
    if (add_text(s, text, &id, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    free(text);
    return id;
}

static assay_store *open_new(const char *path)
{
    assay_store *s;
    assay_error err;
    if (assay_store_open(path, true, &s, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    return s;
}

static uint64_t count(assay_store *s, const assay_record_filter *f)
{
    assay_result *records;
    assert_int_equal(assay_store_list(s, f, &records, NULL), ASSAY_OK);
    uint64_t n = whole_at(records, "total");
    assay_result_free(records);
    return n;
}

static void test_kept(void **state)
{
    char path[512];
    assay_store *s = open_new(place(path, "sub/kept.db"));
    assay_error err;
    assay_result *records;
    char *text;
    size_t n;
    (void)state;
    int64_t a = save(s, "dir/net.onnx", "2026-11-01T00:00:00Z", 5);
    int64_t b = save(s, "other", "2026-11-02T00:00:00Z", 7);
    assert_int_equal(add_tags(s, a, (const char *[]){"x", "y z"}, 2, &err), ASSAY_OK);
    assert_int_equal(assay_store_list(s, NULL, &records, &err), ASSAY_OK);
    assert_int_equal(whole_at(records, "records.0.id"), b); /* newest first */
    assert_string_equal(text_at(records, "records.1.model"), "dir/net.onnx");
    assert_string_equal(text_at(records, "records.1.created"), "2026-11-01T00:00:00Z");
    assert_string_equal(text_at(records, "records.1.host"), "Test CPU, 4 cores");
    assert_true(number_at(records, "records.1.p50_ms") == 5);
    assert_int_equal(count_at(records, "records.1.tags"), 2);
    assert_string_equal(text_at(records, "records.1.tags.1"), "y z");
    assert_int_equal(count_at(records, "records"), 2);
    /* Whole numbers stay whole, beyond what a double holds. */
    assert_int_equal(assay_result_write(records, "json", NULL, &text, &n, &err), ASSAY_OK);
    assert_non_null(strstr(text, "\"macs\": 9007199254740993"));
    assay_free(text);
    assay_result_free(records);
    /* What this version does not know is kept; blanks in strings are, between words they are not. */
    assert_int_equal(assay_store_document(s, a, &text, &n, &err), ASSAY_OK);
    assert_non_null(strstr(text, "\"something new\":[1,\" two  blanks \\\" \"]"));
    assay_free(text);
    assay_store_close(s);
}

/* Neither the document nor the columns for searching hold a password. */
static void test_redacted(void **state)
{
    char path[512];
    assay_store *s = open_new(place(path, "redacted.db"));
    assay_result *records;
    char *text;
    size_t n;
    (void)state;
    int64_t id = save(s, "https://me:hunter2@host/net.onnx", "2026-11-01T00:00:00Z", 5);
    assert_int_equal(assay_store_document(s, id, &text, &n, NULL), ASSAY_OK);
    assert_null(strstr(text, "hunter2"));
    assert_non_null(strstr(text, "https://me:***@host/net.onnx"));
    assay_free(text);
    assert_int_equal(assay_store_list(s, NULL, &records, NULL), ASSAY_OK);
    assert_string_equal(text_at(records, "records.0.model"), "https://me:***@host/net.onnx");
    assay_result_free(records);
    assay_store_close(s);
}

/* A name of a stranger is in every list: it has a limit. */
static void test_names(void **state)
{
    char path[512], name[STORE_NAME_BYTES + 2];
    assay_store *s = open_new(place(path, "names.db"));
    assay_error err;
    (void)state;
    memset(name, 'n', sizeof name);
    name[STORE_NAME_BYTES] = '\0';
    save(s, name, "2026-11-01T00:00:00Z", 5);
    name[STORE_NAME_BYTES] = 'n';
    name[STORE_NAME_BYTES + 1] = '\0';
    char *text = result_text(name, "2026-11-01T00:00:00Z", 5);
    assert_int_equal(add_text(s, text, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    free(text);
    text = result_text("net\\u0000x", "2026-11-01T00:00:00Z", 5);
    assert_int_equal(add_text(s, text, NULL, &err), ASSAY_ERR_MALFORMED);
    free(text);
    assert_int_equal(count(s, NULL), 1);
    assay_store_close(s);
}

static void test_filters(void **state)
{
    char path[512];
    assay_store *s = open_new(place(path, "filters.db"));
    (void)state;
    for (int i = 0; i < 6; i++) {
        char when[32];
        snprintf(when, sizeof when, "2026-11-%02dT00:00:00Z", i + 1);
        int64_t id = save(s, i % 2 ? "a/net.onnx" : "net.onnx", when, 1);
        if (i == 3)
            add_tags(s, id, (const char *[]){"Nightly"}, 1, NULL);
    }
    save(s, "internet.onnx", "2026-10-01T00:00:00Z", 1);
#define COUNT(...) \
    count(s, &(assay_record_filter){.size = sizeof(assay_record_filter), __VA_ARGS__})
    assert_int_equal(COUNT(.model = "net.onnx"), 6);
    assert_int_equal(COUNT(.model = "a/net.onnx"), 3);
    assert_int_equal(COUNT(.tag = "Nightly"), 1);
    assert_int_equal(COUNT(.query = "nightly"), 1);
    assert_int_equal(COUNT(.query = "INTER"), 1);
    assert_int_equal(COUNT(.query = "%"), 0); /* no wildcard */
    assert_int_equal(COUNT(.since = "2026-11-04"), 3);
    assert_int_equal(COUNT(.since = "2026-11-04T00:00:01Z"), 2);
    assert_int_equal(COUNT(.limit = 2), 7); /* the total does not depend on it */
    assert_int_equal(COUNT(.model = "' OR 1 --"), 0);
    assay_result *records;
    assay_error err;
    const assay_record_filter bad = {.size = sizeof bad, .since = "someday"};
    assert_int_equal(assay_store_list(s, &bad, &records, &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_store_models(s, &records, NULL), ASSAY_OK);
    assert_int_equal(count_at(records, "models"), 3);
    assert_int_equal(whole_at(records, "models.0.records"), 3);
    assert_string_equal(text_at(records, "models.0.newest.created"), "2026-11-06T00:00:00Z");
    assay_result_free(records);
    assay_store_close(s);
}

static void test_changed(void **state)
{
    char path[512];
    assay_store *s = open_new(place(path, "changed.db"));
    assay_error err;
    (void)state;
    int64_t a = save(s, "net", "2026-11-01T00:00:00Z", 5);
    const char tags[] = "{\"add\": [\"a\", \"b\"], \"remove\": [\"c\"]}";
    assert_int_equal(assay_store_tag_json(s, a, tags, strlen(tags), &err), ASSAY_OK);
    assert_int_equal(assay_store_tag_json(s, a, "{\"add\": 1}", 10, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(assay_store_tag_json(s, a, "[", 1, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(add_tags(s, a, (const char *[]){"a,b"}, 1, &err), ASSAY_ERR_USAGE);
    assert_int_equal(add_tags(s, a, (const char *[]){"\x1b[2J"}, 1, &err), ASSAY_ERR_USAGE);
    assert_int_equal(add_tags(s, a, (const char *[]){""}, 1, &err), ASSAY_ERR_USAGE);
    assert_int_equal(add_tags(s, 77, (const char *[]){"a"}, 1, &err), ASSAY_ERR_USAGE);
    assert_int_equal(COUNT(.tag = "b"), 1);
    assert_int_equal(assay_store_delete(s, a, &err), ASSAY_OK);
    assert_int_equal(assay_store_delete(s, a, &err), ASSAY_ERR_USAGE);
    assert_int_equal(COUNT(.tag = "b"), 0);
    assert_true(save(s, "net", "2026-11-01T00:00:00Z", 5) > a); /* numbers are not used again */
    const char bad[] = "{\"schema\": \"assay.profile/1\", \"model\": 7}";
    assert_int_equal(add_text(s, bad, NULL, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(count(s, NULL), 1);
    assay_store_close(s);
}

enum { MANY = 40 };

/* 32 tags are the most: more are refused whole, wherever they come from. */
static void test_many_tags(void **state)
{
    char path[512], file[512], names[MANY][8];
    const char *tags[MANY];
    assay_store *s = open_new(place(path, "tags.db"));
    assay_error err;
    sbuf lines = {0};
    (void)state;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        tags[i] = names[i];
    }
    int64_t id = save(s, "net", "2026-11-01T00:00:00Z", 5);
    assert_int_equal(add_tags(s, id, tags, 32, &err), ASSAY_OK);
    assert_int_equal(add_tags(s, id, tags, 32, &err), ASSAY_OK); /* the same */
    assert_int_equal(add_tags(s, id, tags + 32, 1, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "32"));
    assert_int_equal(COUNT(.tag = "t32"), 0);
    const assay_tag_change exchange = {sizeof exchange, tags + 32, 1, tags, 1};
    assert_int_equal(assay_store_tag(s, id, &exchange, &err), ASSAY_OK);
    assert_int_equal(COUNT(.tag = "t32"), 1);
    char *text = result_text("other", "2026-11-01T00:00:00Z", 5);
    const assay_record_options too_many = {.size = sizeof too_many, .tags = tags, .n_tags = 33};
    assert_int_equal(assay_store_add(s, text, strlen(text), &too_many, NULL, &err),
                     ASSAY_ERR_USAGE);
    assert_int_equal(assay_tags_check(tags, 32, &err), ASSAY_OK);
    assert_int_equal(assay_tags_check(tags, 33, &err), ASSAY_ERR_USAGE);
    sbuf_puts(&lines, "{\"schema\": \"assay.history/1\"}\n{\"tags\": [");
    for (int i = 0; i < 33; i++)
        sbuf_printf(&lines, "%s\"%s\"", i ? ", " : "", tags[i]);
    sbuf_printf(&lines, "], \"document\": %s}\n", text);
    assert_int_equal(assay_output_append(path_of(file, "tags.jsonl"), lines.p, lines.n, &err),
                     ASSAY_OK);
    assert_int_equal(assay_store_import(s, file, NULL, NULL, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "32"));
    assert_int_equal(COUNT(.model = "other"), 0);
    sbuf_free(&lines);
    free(text);
    assay_store_close(s);
}

static assay_result *only(assay_store *s, const char *model)
{
    assay_result *records;
    const assay_record_filter f = {.size = sizeof f, .model = model};
    assert_int_equal(assay_store_list(s, &f, &records, NULL), ASSAY_OK);
    assert_true(count_at(records, "records") > 0);
    return records;
}

/* What is no profile is kept whole, and listed by what it holds: nothing of it is a zero that nobody told. */
static void test_kinds(void **state)
{
    static const char pipeline[] =
        "{\"schema\": \"assay.pipeline/1\", \"kind\": \"diffusion\", \"model\": \"sd21\", "
        "\"pipeline_params\": 5, \"total_params\": 3, \"total_macs\": 100, \"total_flops\": 200, "
        "\"batch\": 2, \"height\": 64, \"width\": 64, \"steps_run\": 3, "
        "\"inference_time_seconds\": 0.5, \"context\": {\"timestamp\": \"2026-11-01T00:00:00Z\"}}";
    static const char machine[] =
        "{\"schema\": \"assay.machine/1\", \"timestamp\": \"2026-11-01T00:00:00Z\", \"topology\": "
        "{\"cpu\": \"Test CPU\", \"usable_processors\": 2}, \"compute\": [{\"dtype\": \"float32\", "
        "\"operations_per_second\": {\"value\": 2e9}}]}";
    char path[512];
    assay_store *s = open_new(place(path, "kinds.db"));
    assay_error err;
    assay_result *records;
    assay_result *trend;
    char *text;
    size_t n;
    int64_t id;
    (void)state;
    assert_int_equal(add_text(s, pipeline, &id, &err), ASSAY_OK);
    assert_int_equal(add_text(s, machine, NULL, &err), ASSAY_OK);
    records = only(s, "sd21");
    assert_string_equal(text_at(records, "records.0.kind"), "pipeline");
    assert_string_equal(text_at(records, "records.0.created"), "2026-11-01T00:00:00Z");
    assert_true(number_at(records, "records.0.mean_ms") == 500);
    assert_true(number_at(records, "records.0.throughput") == 4);
    assert_true(number_at(records, "records.0.macs") == 100);
    assert_true(number_at(records, "records.0.parameters") == 5);
    assert_true(isnan(number_at(records, "records.0.p50_ms")));
    assert_true(isnan(number_at(records, "records.0.memory_bytes")));
    assert_int_equal(whole_at(records, "records.0.batch"), 2);
    assay_result_free(records);
    records = only(s, "machine");
    assert_string_equal(text_at(records, "records.0.kind"), "machine");
    assert_string_equal(text_at(records, "records.0.host"), "Test CPU, 2 cores");
    assert_true(isnan(number_at(records, "records.0.mean_ms")));
    assert_true(isnan(number_at(records, "records.0.throughput")));
    assert_true(isnan(number_at(records, "records.0.macs")));
    assay_result_free(records);
    const assay_trend_request q = {
        .size = sizeof q, .model = "machine", .metric = "flops-per-second"};
    assert_int_equal(assay_store_trend(s, &q, &trend, &err), ASSAY_OK);
    assert_true(number_at(trend, "newest") == 2e9);
    assay_result_free(trend);
    assay_result *kept;
    assert_int_equal(assay_store_get(s, id, NULL, &kept, &err), ASSAY_OK);
    assert_string_equal(assay_result_kind(kept), "pipeline");
    assert_int_equal(assay_result_write(kept, "json", NULL, &text, &n, &err), ASSAY_OK);
    assert_non_null(strstr(text, "\"steps_run\":3"));
    assay_free(text);
    assert_int_equal(assay_result_write(kept, "console", NULL, &text, &n, &err), ASSAY_OK);
    assert_true(n > 0);
    assay_free(text);
    assay_result_free(kept);
    assert_int_equal(assay_store_get(s, id, "machine", &kept, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(assay_store_get(s, 77, NULL, &kept, &err), ASSAY_ERR_USAGE);
    const char bad[] = "{\"schema\": \"assay.pipeline/1\", \"model\": 5}";
    assert_int_equal(add_text(s, bad, NULL, &err), ASSAY_ERR_MALFORMED);
    const char other[] = "{\"schema\": \"assay.check/1\"}";
    assert_int_equal(add_text(s, other, NULL, &err), ASSAY_ERR_MALFORMED);
    assay_store_close(s);
}

static void test_travel(void **state)
{
    char path[512], file[512];
    assay_store *s = open_new(place(path, "from.db"));
    char *text;
    size_t n;
    uint64_t added, known, records;
    assay_error err;
    (void)state;
    int64_t a = save(s, "net", "2026-11-02T00:00:00Z", 5);
    save(s, "net", "2026-11-01T00:00:00Z", 6);
    add_tags(s, a, (const char *[]){"kept"}, 1, NULL);
    assert_int_equal(assay_store_export(s, NULL, &text, &n, &records, &err), ASSAY_OK);
    assert_int_equal(records, 2);
    assert_int_equal(assay_output_append(path_of(file, "records.jsonl"), text, n, &err), ASSAY_OK);
    assay_store_close(s);
    s = open_new(place(path, "to.db"));
    assert_int_equal(assay_store_import(s, file, &added, &known, &err), ASSAY_OK);
    assert_int_equal(added, 2);
    assert_int_equal(assay_store_import(s, file, &added, &known, &err), ASSAY_OK);
    assert_int_equal(added, 0);
    assert_int_equal(known, 2);
    assert_int_equal(COUNT(.tag = "kept"), 1);
    /* All or nothing: the last line is broken. */
    assay_store *other = open_new(place(path, "other.db"));
    text[n - 3] = '!';
    assert_int_equal(assay_output_append(path_of(file, "broken.jsonl"), text, n, &err), ASSAY_OK);
    assert_int_equal(assay_store_import(other, file, &added, &known, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(count(other, NULL), 0);
    char *left_out;
    assert_int_equal(assay_store_import_good(other, file, &added, &known, &left_out, &err),
                     ASSAY_OK);
    assert_int_equal(added, 1);
    assert_int_equal(count(other, NULL), 1);
    assert_non_null(strstr(left_out, "line 3 "));
    assay_free(left_out);
    assert_int_equal(assay_store_import_good(s, file, &added, &known, &left_out, &err), ASSAY_OK);
    assert_int_equal(known, 1);
    assay_free(left_out);
    assay_free(text);
    assay_store_close(other);
    assay_store_close(s);
}

/* ---- files that are not ours, or of another time ---- */

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    sqlite3_close(db);
}

static assay_status open_status(const char *path, assay_error *err)
{
    assay_store *s = NULL;
    assay_status status = assay_store_open(path, true, &s, err);
    assay_store_close(s);
    return status;
}

static void test_refused(void **state)
{
    char path[512], junk[8192];
    assay_error err;
    assay_store *s;
    (void)state;
    memset(junk, 'x', sizeof junk);
    assert_int_equal(assay_output_append(path_of(path, "text.db"), junk, sizeof junk, &err),
                     ASSAY_OK);
    assert_int_equal(open_status(path, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "SQLite"));
    run_sql(path_of(path, "other_program.db"), "CREATE TABLE t(x)");
    assert_int_equal(open_status(path, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "other_program.db"));
    assay_store_close(open_new(path_of(path, "newer.db")));
    run_sql(path, "INSERT INTO versions VALUES(99, 'then', '9.9')");
    assert_int_equal(open_status(path, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "newer.db"));
    assert_int_equal(assay_store_open(folder, true, &s, &err), ASSAY_ERR_SYSTEM);
    assert_int_equal(assay_store_open(path_of(path, "missing.db"), false, &s, &err),
                     ASSAY_ERR_SYSTEM);
    assert_int_equal(assay_store_open("", true, &s, &err), ASSAY_ERR_USAGE);
}

/* Pages overwritten in the middle of the file: every question is answered or refused, nothing crashes. */
static void test_damaged(void **state)
{
    char path[512], junk[4096];
    assay_error err;
    (void)state;
    memset(junk, 0x5a, sizeof junk);
    for (int page = 1; page < 12; page++) {
        assay_store *s = open_new(path_of(path, "damaged.db"));
        for (int i = 0; i < 20; i++)
            save(s, "net", "2026-11-01T00:00:00Z", i);
        assay_store_close(s);
        FILE *f = fopen(path, "r+");
        assert_non_null(f);
        fseek(f, page * 4096L, SEEK_SET);
        fwrite(junk, 1, sizeof junk, f);
        fclose(f);
        s = NULL;
        assay_result *records = NULL;
        assay_status status = assay_store_open(path, true, &s, &err);
        if (status == ASSAY_OK)
            status = assay_store_list(s, NULL, &records, &err);
        assert_true(status == ASSAY_OK || status == ASSAY_ERR_MALFORMED);
        for (int64_t id = 1; s && id <= 20; id++) {
            char *text = NULL;
            size_t n;
            status = assay_store_document(s, id, &text, &n, &err);
            assert_true(status == ASSAY_OK || status == ASSAY_ERR_MALFORMED ||
                        status == ASSAY_ERR_USAGE);
            assay_free(text);
        }
        assay_result_free(records);
        assay_store_close(s);
        unlink(path);
    }
}

/* A file of version 1, as that version made it. */
static void test_migrated(void **state)
{
    char path[512];
    const char *watched = "{\"schema\": \"assay.profile/1\", \"model\": \"sleep\", "
                          "\"watch\": {\"wall_s\": 1}}";
    char *text = result_text("old", "2026-01-01T00:00:00Z", 4);
    char *sql = sqlite3_mprintf(
        "PRAGMA application_id = 1634956153;"
        "CREATE TABLE versions(version INTEGER PRIMARY KEY, applied TEXT NOT NULL, tool TEXT NOT NULL);"
        "INSERT INTO versions VALUES(1, '2026-01-01T00:00:00Z', '0.0.9');"
        "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, created INTEGER "
        "NOT NULL, command TEXT, host TEXT, precision TEXT, device TEXT, batch INTEGER, shape TEXT, "
        "setup TEXT);"
        "CREATE TABLE documents(run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, digest "
        "TEXT NOT NULL, encoding INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL);"
        "CREATE TABLE tags(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, tag TEXT NOT "
        "NULL, PRIMARY KEY(run, tag)) WITHOUT ROWID;"
        "INSERT INTO runs(id, model, created) VALUES(7, 'old', 1767225600);"
        "INSERT INTO tags VALUES(7, 'aged');"
        "INSERT INTO documents VALUES(7, 'd', 0, %d, CAST(%Q AS BLOB));"
        "INSERT INTO runs(id, model, created) VALUES(9, 'sleep', 1767225700);"
        "INSERT INTO documents VALUES(9, 'e', 0, %d, CAST(%Q AS BLOB));",
        (int)strlen(text), text, (int)strlen(watched), watched);
    (void)state;
    run_sql(path_of(path, "v1.db"), sql);
    assay_store *s = open_new(path);
    assay_result *records;
    assert_int_equal(assay_store_list(s, NULL, &records, NULL), ASSAY_OK);
    assert_int_equal(whole_at(records, "records.0.id"), 9);
    assert_string_equal(text_at(records, "records.0.kind"), "watch"); /* from the document */
    assert_int_equal(whole_at(records, "records.1.id"), 7);
    assert_true(number_at(records, "records.1.p50_ms") == 4); /* from the document */
    assert_string_equal(text_at(records, "records.1.kind"), "profile");
    assert_string_equal(text_at(records, "records.1.tags.0"), "aged");
    assay_result_free(records);
    save(s, "new", "2026-11-01T00:00:00Z", 5);
    assay_store_close(s);
    assay_store_close(open_new(path)); /* a second time there is nothing to do */
    sqlite3_free(sql);
    free(text);
}

/* ---- several processes ---- */

enum { WRITERS = 4, EACH = 25 };

static void test_many_writers(void **state)
{
    char path[512];
    pid_t children[WRITERS];
    (void)state;
    place(path, "many.db"); /* a file is made by whoever is first */
    for (int w = 0; w < WRITERS; w++) {
        children[w] = fork();
        if (children[w] == 0) {
            assay_store *s = NULL;
            assay_error err;
            bool good = assay_store_open(path, true, &s, &err) == ASSAY_OK;
            for (int i = 0; i < EACH && good; i++) {
                char *text = result_text("net", "2026-11-01T00:00:00Z", w * 1000 + i);
                good = add_text(s, text, NULL, &err) == ASSAY_OK;
                free(text);
            }
            if (!good)
                fprintf(stderr, "%s\n", err.message);
            _exit(good ? 0 : 1);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    assay_store *s = open_new(path);
    assert_int_equal(count(s, NULL), WRITERS * EACH);
    assay_store_close(s);
}

static void write_and_tell(const char *path, int fd)
{
    assay_store *s = NULL;
    if (assay_store_open(path, true, &s, NULL) != ASSAY_OK)
        _exit(1);
    for (int i = 0;; i++) {
        char *text = result_text("net", "2026-11-01T00:00:00Z", i);
        int64_t id;
        if (add_text(s, text, &id, NULL) != ASSAY_OK)
            _exit(1);
        free(text);
        if (write(fd, &id, sizeof id) != sizeof id)
            _exit(0);
    }
}

static void check_whole(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(q, 0), "ok");
    sqlite3_finalize(q);
    sqlite3_close(db);
}

static void test_killed(void **state)
{
    char path[512];
    int64_t id, told = 0;
    uint64_t acknowledged = 0;
    (void)state;
    place(path, "killed.db");
    for (int round = 0; round < 6; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            write_and_tell(path, ends[1]);
        close(ends[1]);
        for (int i = 0; i < 5 + 3 * round; i++)
            assert_int_equal(read(ends[0], &id, sizeof id), sizeof id);
        for (int i = 0; i < 40 * round; i++) /* in the middle of whatever comes next */
            sched_yield();
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        acknowledged += (uint64_t)(5 + 3 * round);
        while (read(ends[0], &told, sizeof told) == sizeof told) {
            id = told;
            acknowledged++;
        }
        close(ends[0]);
        assay_store *s = open_new(path);
        char *text = NULL;
        size_t n;
        assert_int_equal(assay_store_document(s, id, &text, &n, NULL), ASSAY_OK);
        assay_free(text);
        uint64_t there = count(s, NULL);
        assert_true(there >= acknowledged);
        acknowledged = there; /* a run that was written but not yet told */
        assay_store_close(s);
        if (is_file())
            check_whole(path);
    }
}

static void test_where(void **state)
{
    char *path;
    (void)state;
    setenv("XDG_DATA_HOME", "/x", 1);
    unsetenv("ASSAY_DB");
    assert_int_equal(assay_store_path(NULL, &path, NULL), ASSAY_OK);
    assert_string_equal(path, "/x/assay/history.db");
    assay_free(path);
    setenv("XDG_DATA_HOME", "relative", 1);
    setenv("HOME", "/h", 1);
    assert_int_equal(assay_store_path(NULL, &path, NULL), ASSAY_OK);
    assert_string_equal(path, "/h/.local/share/assay/history.db");
    assay_free(path);
    setenv("ASSAY_DB", "/e.db", 1);
    assert_int_equal(assay_store_path(NULL, &path, NULL), ASSAY_OK);
    assert_string_equal(path, "/e.db");
    assay_free(path);
    assert_int_equal(assay_store_path("given", &path, NULL), ASSAY_OK);
    assert_string_equal(path, "given");
    assay_free(path);
    unsetenv("ASSAY_DB");
}

static void test_times(void **state)
{
    static const struct {
        const char *text;
        int64_t epoch_s; /* -1: no time */
    } rows[] = {{"1970-01-01", 0},
                {"2026-11-15T19:06:00Z", 1794769560},
                {"2026-11-15T19:06:00", 1794769560},
                {"2024-02-29", 1709164800},
                {"2026-02-29", -1},
                {"2026-13-01", -1},
                {"2026-11-15 19:06", -1},
                {"2026-11-15T25:00:00Z", -1},
                {"", -1},
                {"2026", -1}};
    int64_t v;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool good = clock_parse(str_of(rows[i].text), &v);
        assert_int_equal(good, rows[i].epoch_s >= 0);
        if (good)
            assert_int_equal(v, rows[i].epoch_s);
    }
    assert_true(clock_duration(STR("30d"), &v) && v == 30 * 86400);
    assert_true(clock_duration(STR("90min"), &v) && v == 5400);
    assert_false(clock_duration(STR("30"), &v) || clock_duration(STR("d"), &v) ||
                 clock_duration(STR("3dd"), &v) || clock_duration(STR("-1d"), &v));
    const int64_t sunday = 1794769560, midnight = 1794700800; /* 2026-11-15T19:06:00Z */
    assert_true(clock_since(STR("sunday"), sunday, &v) && v == midnight);
    assert_true(clock_since(STR("today"), sunday, &v) && v == midnight);
    assert_true(clock_since(STR("yesterday"), sunday, &v) && v == midnight - 86400);
    assert_true(clock_since(STR("tuesday"), sunday, &v) && v == midnight - 5 * 86400);
    assert_true(clock_since(STR("monday"), sunday, &v) && v == midnight - 6 * 86400);
    assert_true(clock_since(STR("12h"), sunday, &v) && v == sunday - 43200);
    assert_true(clock_since(STR("2026-11-15"), sunday, &v) && v == midnight);
    assert_false(clock_since(STR("someday"), sunday, &v) || clock_since(STR(""), sunday, &v));
}

/* Both would compute for ever: a view in the place of a table, and a trigger. */
#define FOR_EVER "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) "

static void test_hostile_files(void **state)
{
    char path[512], view[512];
    assay_store *s = open_new(path_of(path, "trigger.db"));
    assay_error err;
    (void)state;
    save(s, "net", "2026-11-01T00:00:00Z", 5);
    assay_store_close(s);
    run_sql(path, "CREATE TRIGGER t AFTER INSERT ON runs BEGIN"
                  " INSERT INTO tags SELECT 1, n FROM (" FOR_EVER "SELECT n FROM x); END");
    assert_int_equal(assay_store_open(path, false, &s, &err), ASSAY_OK);
    save(s, "net", "2026-11-02T00:00:00Z", 6);
    assert_int_equal(count(s, NULL), 2);
    assay_store_close(s);
    s = open_new(path_of(view, "view.db"));
    assay_store_close(s);
    run_sql(view, "PRAGMA writable_schema = 1; DROP TABLE figures; CREATE VIEW figures AS " FOR_EVER
                  "SELECT n AS run, 'flops' AS metric, n AS value FROM x");
    assert_int_equal(open_status(view, &err), ASSAY_ERR_MALFORMED);
    run_sql(view, "DROP VIEW figures");
    assert_int_equal(open_status(view, &err), ASSAY_ERR_MALFORMED);
}

/* A document in pieces of every size is the document. */
static void test_pieces(void **state)
{
    char path[512];
    assay_store *s = open_new(place(path, "pieces.db"));
    assay_document *d = NULL;
    uint64_t size, memory;
    size_t n, got, whole_n;
    int64_t id;
    char filler[20000], text[21000], *whole, buf[3000];
    (void)state;
    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    n = (size_t)snprintf(text, sizeof text,
                         "{\"schema\": \"assay.profile/1\", \"model\": \"net\", \"note\": \"%s\", "
                         "\"total_parameters\": 1, \"total_macs\": 20, \"total_operators\": 2}",
                         filler);
    assert_int_equal(assay_store_add(s, text, n, NULL, &id, NULL), ASSAY_OK);
    assert_int_equal(assay_store_document(s, id, &whole, &whole_n, NULL), ASSAY_OK);
    assert_int_equal(assay_document_size(s, id, &size, &memory, NULL), ASSAY_OK);
    assert_int_equal(size, whole_n);
    assert_true(memory > 0);
    for (size_t step = 1; step <= sizeof buf; step = step * 7 + 3) {
        size_t at = 0;
        assert_int_equal(assay_document_open(s, id, &d, NULL), ASSAY_OK);
        while (assay_document_read(d, buf, step, &got, NULL) == ASSAY_OK && got) {
            assert_true(got <= step && at + got <= whole_n);
            assert_memory_equal(buf, whole + at, got);
            at += got;
        }
        assert_int_equal(at, whole_n);
        assay_document_close(d);
    }
    assert_int_equal(assay_document_open(s, id + 1, &d, NULL), ASSAY_ERR_USAGE);
    assert_null(d);
    assay_free(whole);
    assay_store_close(s);
}

/* ---- sweeps ---- */

static assay_status add_task(assay_store *s, const char *sweep, int64_t task, int64_t *id,
                             bool *known)
{
    char *text = result_text("net", "2026-11-01T00:00:00Z", task > 0 ? (double)task : 1);
    const assay_record_options o = {
        .size = sizeof o, .sweep = sweep, .task = task, .machine = "n1", .known = known};
    assay_status status = assay_store_add(s, text, strlen(text), &o, id, NULL);
    free(text);
    return status;
}

/* A task has one record, whoever stores it. */
static void test_tasks(void **state)
{
    char path[512];
    assay_store *s = open_new(place(path, "tasks.db")), *other = open_new(path);
    int64_t id, again;
    bool known = true;
    assay_result *records;
    (void)state;
    assert_int_equal(add_task(s, "a", 0, &id, &known), ASSAY_OK);
    assert_false(known);
    assert_int_equal(add_task(other, "a", 0, &again, &known), ASSAY_OK);
    assert_true(known && again == id);
    assert_int_equal(add_task(other, "a", 1, &again, &known), ASSAY_OK);
    assert_false(known || again == id);
    assert_int_equal(add_task(s, "b", 0, NULL, &known), ASSAY_OK);
    assert_false(known);
    assert_int_equal(add_task(s, "b", -1, NULL, NULL), ASSAY_ERR_USAGE);
    assert_int_equal(COUNT(.sweep = "a"), 2);
    assert_int_equal(COUNT(.machine = "n1"), 3);
    assert_int_equal(COUNT(.machine = "n2"), 0);
    const assay_record_filter f = {.size = sizeof f, .sweep = "b"};
    assert_int_equal(assay_store_list(s, &f, &records, NULL), ASSAY_OK);
    assert_string_equal(text_at(records, "records.0.machine"), "n1");
    assert_int_equal(whole_at(records, "records.0.task"), 0);
    assay_result_free(records);
    assay_store_close(other);
    assay_store_close(s);
}

/* ---- whole histories ---- */

static void fill(assay_store *s, int n)
{
    for (int i = 0; i < n; i++) {
        char when[32];
        snprintf(when, sizeof when, "2026-10-%02dT00:00:00Z", i % 28 + 1);
        int64_t id = save(s, i % 3 ? "net" : "dir/other", when, i / 2); /* some twice */
        if (i % 5 == 0)
            add_tags(s, id, (const char *[]){"kept"}, 1, NULL);
    }
    add_task(s, "sweep", 7, NULL, NULL);
}

/* What a history holds, in an order that does not depend on it. */
static char *export_of(assay_store *s)
{
    char *text = NULL;
    size_t n;
    assert_int_equal(assay_store_export(s, NULL, &text, &n, NULL, NULL), ASSAY_OK);
    char *records = strdup(strchr(text, '\n')); /* behind the header, which has a time */
    assay_free(text);
    return records;
}

static void check_same(assay_store *a, assay_store *b)
{
    char *of_a = export_of(a), *of_b = export_of(b);
    assert_string_equal(of_a, of_b);
    free(of_a);
    free(of_b);
}

/* There and back, to a file. The second time there is nothing to do. */
static void test_copied(void **state)
{
    enum { SOME = 30 };
    char path[512];
    assay_store *from = open_new(place(path, "source.db"));
    assay_store *file = open_new(path_of(path, is_file() ? "file.db" : "from_server.db"));
    assay_store *to = open_new(place(path, "target.db"));
    uint64_t added, known;
    (void)state;
    fill(from, SOME);
    assert_int_equal(assay_store_copy(from, file, &added, &known, NULL), ASSAY_OK);
    assert_int_equal(added, SOME + 1);
    assert_int_equal(assay_store_copy(from, file, &added, &known, NULL), ASSAY_OK);
    assert_int_equal(added, 0);
    assert_int_equal(known, SOME + 1);
    check_same(from, file);
    assert_int_equal(assay_store_copy(file, to, &added, &known, NULL), ASSAY_OK);
    assert_int_equal(added, SOME + 1);
    check_same(from, to);
    assay_store_close(to);
    assay_store_close(file);
    assay_store_close(from);
}

/* Killed half-way and continued, between a file and a history of this backend. */
static void check_copy_continued(const char *from_path, const char *to_path)
{
    enum { MANY_RECORDS = 450 }; /* more than two batches */
    assay_store *from = open_new(from_path), *to = open_new(to_path);
    uint64_t added, known;
    fill(from, MANY_RECORDS);
    pid_t child = fork();
    if (child == 0) {
        assay_store *a = NULL, *b = NULL;
        bool good = assay_store_open(from_path, false, &a, NULL) == ASSAY_OK &&
                    assay_store_open(to_path, true, &b, NULL) == ASSAY_OK &&
                    assay_store_copy(a, b, NULL, NULL, NULL) == ASSAY_OK;
        _exit(!good);
    }
    while (count(to, NULL) == 0 && waitpid(child, NULL, WNOHANG) == 0)
        sched_yield(); /* until the first batch is there */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(assay_store_copy(from, to, &added, &known, NULL), ASSAY_OK);
    assert_int_equal(added + known, MANY_RECORDS + 1);
    check_same(from, to);
    assay_store_close(to);
    assay_store_close(from);
}

static void test_copy_continued(void **state)
{
    char file[512], other[512];
    (void)state;
    check_copy_continued(path_of(file, "there.db"), place(other, "there_target.db"));
    check_copy_continued(place(other, "back.db"), path_of(file, "back_target.db"));
}

static int64_t days_ago(assay_store *s, int days)
{
    char when[32];
    clock_format(clock_epoch() - 86400 * days, when);
    return save(s, "net", when, days);
}

static void test_pruned(void **state)
{
    char path[512];
    assay_store *s = open_new(place(path, "pruned.db"));
    uint64_t deleted;
    assay_prune_options o = {.size = sizeof o, .keep = "90d", .keep_tagged = true};
    (void)state;
    for (int i = 0; i < 450; i++)
        days_ago(s, i % 2 ? 100 : 80);
    add_tags(s, days_ago(s, 120), (const char *[]){"release"}, 1, NULL);
    pid_t child = fork(); /* others write meanwhile */
    if (child == 0) {
        assay_store *w = NULL;
        bool good = assay_store_open(path, true, &w, NULL) == ASSAY_OK;
        for (int i = 0; i < 20 && good; i++)
            days_ago(w, 1);
        _exit(!good);
    }
    assert_int_equal(assay_store_prune(s, &o, &deleted, NULL), ASSAY_OK);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(deleted, 225);
    assert_int_equal(count(s, NULL), 225 + 1 + 20);
    assert_int_equal(COUNT(.since = "1970-01-02"), 225 + 1 + 20); /* counted, not looked up */
    o.keep_tagged = false;
    assert_int_equal(assay_store_prune(s, &o, &deleted, NULL), ASSAY_OK);
    assert_int_equal(deleted, 1);
    assert_int_equal(COUNT(.tag = "release"), 0);
    o.keep = "soon";
    assert_int_equal(assay_store_prune(s, &o, &deleted, NULL), ASSAY_ERR_USAGE);
    assay_store_close(s);
}

int run_store_on(history_place *on)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),         cmocka_unit_test(test_filters),
        cmocka_unit_test(test_changed),      cmocka_unit_test(test_travel),
        cmocka_unit_test(test_many_tags),    cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_many_writers), cmocka_unit_test(test_killed),
        cmocka_unit_test(test_redacted),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_tasks),        cmocka_unit_test(test_copied),
        cmocka_unit_test(test_pruned),       cmocka_unit_test(test_copy_continued),
        cmocka_unit_test(test_pieces),
    };
    place = on ? on : path_of;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

int run_test_store(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_migrated), cmocka_unit_test(test_where),
        cmocka_unit_test(test_times),    cmocka_unit_test(test_hostile_files),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    return failed + run_store_on(NULL);
}
