/* A question about the history is answered from one snapshot, whatever others write meanwhile: before each statement of
 * the reader, another store adds a record. */
#include <assay/history.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "api/history.h"
#include "base/file.h"
#include "store/store_impl.h"
#include "support/values.h"
#include "unit/store/both.h"

static history_place *place; /* NULL: a file */

typedef struct beside {
    char *folder;
    assay_store *reader, *writer;
    int added;
} beside;

static void add_record(beside *b)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "{\"schema\": \"assay.profile/1\", \"model\": \"net\", \"context\": "
                     "{\"timestamp\": \"2026-11-01T00:00:00Z\"}, \"total_parameters\": %d, "
                     "\"total_macs\": 20, \"total_operators\": 2}",
                     ++b->added);
    assert_int_equal(assay_store_add(b->writer, text, (size_t)n, NULL, NULL, NULL), ASSAY_OK);
}

static void add_before_select(void *ctx, const char *sql)
{
    if (strncmp(sql, "SELECT", 6) == 0)
        add_record(ctx);
}

static int set_up(void **state)
{
    beside *b = calloc(1, sizeof *b);
    char path[512];
    assert_non_null(b);
    assert_int_equal(file_temp_folder(&b->folder, NULL), ASSAY_OK);
    snprintf(path, sizeof path, "%s/beside.db", b->folder);
    if (place)
        place(path, "beside.db");
    assert_int_equal(assay_store_open(path, true, &b->writer, NULL), ASSAY_OK);
    assert_int_equal(assay_store_open(path, true, &b->reader, NULL), ASSAY_OK);
    add_record(b);
    b->reader->s->watch = add_before_select;
    b->reader->s->watch_ctx = b;
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    beside *b = *state;
    assay_store_close(b->reader);
    assay_store_close(b->writer);
    file_remove_folder(b->folder);
    free(b->folder);
    free(b);
    return 0;
}

static void test_trend(void **state)
{
    beside *b = *state;
    const char *alert = "parameters > 0";
    const assay_trend_request q = {
        .size = sizeof q, .model = "net", .metric = "parameters", .alerts = &alert, .n_alerts = 1};
    assay_result *trend = NULL;
    assert_int_equal(assay_store_trend(b->reader, &q, &trend, NULL), ASSAY_ERR_THRESHOLD);
    assert_true(b->added > 4); /* the writer did not wait */
    assert_true(number_at(trend, "left_out") == 0);
    assert_true(number_at(trend, "older") == 0);
    /* The alert saw the same newest record as the series. */
    assert_true(number_at(trend, "alerts.0.value") == number_at(trend, "newest"));
    assay_result_free(trend);
}

static void test_list(void **state)
{
    beside *b = *state;
    assay_result *records = NULL;
    assert_int_equal(assay_store_list(b->reader, NULL, &records, NULL), ASSAY_OK);
    assert_true(b->added > 2);
    assert_int_equal(whole_at(records, "total"), count_at(records, "records"));
    assay_result_free(records);
    /* The next question is another one. */
    assert_int_equal(assay_store_list(b->reader, NULL, &records, NULL), ASSAY_OK);
    assert_true(whole_at(records, "total") > 2);
    assay_result_free(records);
}

int run_snapshot_on(history_place *on)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trend, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
    };
    place = on;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int run_test_snapshot(void)
{
    return run_snapshot_on(NULL);
}
