/* The history in PostgreSQL, with a private server: the tests of every backend, and what only a server can do. Skipped
 * when PostgreSQL is not installed. ASSAY_TEST_SAVES=200 makes more of the test that stops the server. */
#include <assay/history.h>

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

#include "api/history.h"
#include "store/store_impl.h"
#include "support/cluster.h"
#include "support/values.h"
#include "unit/store/both.h"

static cluster server;

static const char *database(char buf[512], const char *name)
{
    static int n; /* a test may ask for the same twice */
    char unique[64], *version = NULL;
    assay_error err;
    snprintf(unique, sizeof unique, "d%d_%s", ++n, name);
    cluster_database(&server, unique, buf);
    if (assay_store_init(buf, NULL, &version, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assay_free(version);
    return buf;
}

static char *result_of(int i)
{
    char *text;
    assert_true(asprintf(&text,
                         "{\"schema\": \"assay.profile/1\", \"model\": \"net\", \"context\": "
                         "{\"timestamp\": \"2026-11-01T00:00:00Z\"}, \"total_parameters\": %d}",
                         i) > 0);
    return text;
}

static assay_status add(assay_store *s, int i, int64_t *id, assay_error *err)
{
    char *text = result_of(i);
    assay_status status = assay_store_add(s, text, strlen(text), NULL, id, err);
    free(text);
    return status;
}

static uint64_t total(assay_store *s)
{
    assay_result *records;
    assert_int_equal(assay_store_list(s, NULL, &records, NULL), ASSAY_OK);
    uint64_t n = whole_at(records, "total");
    assert_int_equal(n, count_at(records, "records"));
    assay_result_free(records);
    return n;
}

static void test_names(void **state)
{
    (void)state;
    assert_true(store_is_remote("postgresql://h/d") && store_is_remote("postgres://"));
    assert_true(store_is_remote("service=team") && store_is_remote("host = h dbname=d"));
    assert_false(store_is_remote("history.db") || store_is_remote("a=b.db") ||
                 store_is_remote("/x/service=team") || store_is_remote("") ||
                 store_is_remote("postgresql") || store_is_remote("host"));
}

/* Made by init alone; a newer one is read, an older one is named. */
static void test_schema(void **state)
{
    char url[512], *version = NULL;
    assay_store *s = NULL;
    assay_error err;
    bool changed = false;
    (void)state;
    cluster_database(&server, "schema", url);
    assert_int_equal(assay_store_open(url, true, &s, &err), ASSAY_ERR_SYSTEM);
    assert_non_null(strstr(err.message, "assay history init"));
    assert_int_equal(assay_store_init(url, &changed, &version, &err), ASSAY_OK);
    assert_true(changed);
    assay_free(version);
    assert_int_equal(assay_store_init(url, &changed, &version, &err), ASSAY_OK);
    assert_false(changed);
    assay_free(version);
    assert_int_equal(assay_store_open(url, true, &s, &err), ASSAY_OK);
    assert_int_equal(add(s, 1, NULL, &err), ASSAY_OK);
    assay_store_close(s);
    cluster_sql(&server, "schema", "INSERT INTO assay.versions VALUES (99, now(), 'later')", NULL);
    assert_int_equal(assay_store_open(url, true, &s, &err), ASSAY_OK);
    assert_int_equal(total(s), 1);
    assert_int_equal(add(s, 2, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(assay_store_delete(s, 1, &err), ASSAY_ERR_UNSUPPORTED);
    assay_store_close(s);
    cluster_sql(&server, "schema", "UPDATE assay.versions SET version = version - 99", NULL);
    assert_int_equal(assay_store_open(url, false, &s, &err), ASSAY_ERR_SYSTEM);
    assert_non_null(strstr(err.message, "assay history init"));
}

/* The time of a result is by the clock of its machine: a history has one clock. */
static void test_clock(void **state)
{
    char url[512];
    assay_store *s = NULL;
    assay_result *records;
    assay_error err;
    (void)state;
    database(url, "clock");
    assert_int_equal(assay_store_open(url, true, &s, &err), ASSAY_OK);
    assert_int_equal(s->s->clock_ahead_s, 0); /* the same machine */
    s->s->clock_ahead_s = 86400;              /* a clock that is a day late */
    assert_int_equal(add(s, 1, NULL, &err), ASSAY_OK);
    assert_int_equal(assay_store_list(s, NULL, &records, NULL), ASSAY_OK);
    assert_string_equal(text_at(records, "records.0.created"), "2026-11-02T00:00:00Z");
    assay_result_free(records);
    assay_store_close(s);
}

/* A pooled connection meets a server that was restarted since. */
static void test_restarted(void **state)
{
    char url[512];
    assay_store *s = NULL;
    assay_error err;
    (void)state;
    database(url, "restarted");
    assert_int_equal(assay_store_open(url, true, &s, &err), ASSAY_OK);
    assert_int_equal(add(s, 1, NULL, &err), ASSAY_OK);
    cluster_stop(&server, "immediate");
    cluster_again(&server);
    assert_int_equal(total(s), 1);
    assert_int_equal(add(s, 2, NULL, &err), ASSAY_OK);
    assay_store_close(s);
}

/* After the deadline it is an error, and nothing else. */
static void test_gone(void **state)
{
    char url[512];
    assay_store *s = NULL;
    assay_error err;
    (void)state;
    database(url, "gone");
    assert_int_equal(assay_store_open(url, true, &s, &err), ASSAY_OK);
    cluster_stop(&server, "immediate");
    setenv("ASSAY_DB_WAIT", "0", 1);
    assert_int_equal(add(s, 1, NULL, &err), ASSAY_ERR_SYSTEM);
    unsetenv("ASSAY_DB_WAIT");
    cluster_again(&server);
    assert_int_equal(total(s), 0);
    assert_int_equal(add(s, 1, NULL, &err), ASSAY_OK);
    assay_store_close(s);
}

/* ---- a server that stops in the middle of saves ---- */

static void save_and_tell(const char *url, int fd, int n)
{
    assay_store *s = NULL;
    bool good = assay_store_open(url, true, &s, NULL) == ASSAY_OK;
    for (int i = 0; i < n && good; i++) {
        int64_t id = 0;
        good = add(s, i, &id, NULL) == ASSAY_OK && write(fd, &id, sizeof id) == sizeof id;
    }
    assay_store_close(s);
    _exit(good ? 0 : 1);
}

static void test_stopped(void **state)
{
    const char *wish = getenv("ASSAY_TEST_SAVES");
    int saves = wish ? atoi(wish) : 200, rounds = 2, ends[2], status, told = 0;
    int64_t id, last = 0;
    char url[512];
    assay_store *s = NULL;
    (void)state;
    database(url, "stopped");
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        save_and_tell(url, ends[1], saves);
    close(ends[1]);
    while (read(ends[0], &id, sizeof id) == sizeof id) {
        assert_true(id > last); /* numbers are not used again, through a crash neither */
        last = id;
        if (++told % (saves / (rounds + 1)) == 0 && told < saves) {
            cluster_stop(&server, "immediate");
            cluster_again(&server);
        }
    }
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(told, saves);
    assert_int_equal(assay_store_open(url, false, &s, NULL), ASSAY_OK);
    assert_int_equal(total(s), saves); /* nothing lost, nothing twice */
    assay_store_close(s);
}

static int run_own(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names), cmocka_unit_test(test_schema),
        cmocka_unit_test(test_clock), cmocka_unit_test(test_restarted),
        cmocka_unit_test(test_gone),  cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int run_test_postgres(void)
{
    if (!cluster_start(&server))
        return 77;
    int failed = run_own() + run_store_on(database) + run_snapshot_on(database) +
                 run_imports_on(database);
    cluster_end(&server);
    return failed;
}
