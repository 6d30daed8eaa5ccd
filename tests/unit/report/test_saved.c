/* Results filled at random: what is shown of one and what is shown of it after it was written as JSON and read back
 * are the same bytes, in every format of views. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "profile/capacity.h"
#include "profile/comparison.h"
#include "profile/result_kinds.h"
#include "profile/scaling.h"
#include "profile/validation.h"
#include "profile/verdicts.h"
#include "report/report.h"
#include "support/fill.h"

#define LIMIT ((size_t)64 << 20)
enum { ROUNDS = 30 };

/* A kind without rows may have no CSV; then neither has. */
static void write_as(const result_kind *kind, const void *data, const char *format, int width,
                     sbuf *out)
{
    report_options o = REPORT_DEFAULTS;
    assay_error err = {0};
    o.width = width;
    o.verbose = width == 160;
    if (report_result(kind, data, str_of(format), &o, out, &err) != ASSAY_OK)
        sbuf_printf(out, "refused: %s", err.message);
}

static void check_same(const result_kind *kind, const char *format, const sbuf *live,
                       const sbuf *saved)
{
    if (live->n != saved->n || memcmp(live->p, saved->p, live->n) != 0)
        fail_msg("%s as %s: %.*s\nsaved: %.*s", kind->name, format, (int)live->n, live->p,
                 (int)saved->n, saved->p);
}

static void same_when_saved(const result_kind *kind, const void *data)
{
    static const struct {
        const char *format;
        int width;
    } cases[] = {{"console", 80}, {"console", 160}, {"md", 80}, {"csv", 80}, {"summary-html", 80}};
    sbuf json = {0};
    result saved = {0};
    assay_error err = {0};
    result_write(kind, data, 0, &json);
    if (result_read((str){json.p, (uint32_t)json.n}, "t.json", LIMIT, &saved, &err) != ASSAY_OK)
        fail_msg("%s: %s", kind->name, err.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sbuf live = {0}, again = {0};
        write_as(kind, data, cases[i].format, cases[i].width, &live);
        write_as(kind, saved.data, cases[i].format, cases[i].width, &again);
        assert_true(live.n > 0);
        check_same(kind, cases[i].format, &live, &again);
        sbuf_free(&live);
        sbuf_free(&again);
    }
    result_free(&saved);
    sbuf_free(&json);
}

static void check_filled(const result_kind *kind)
{
    rng random;
    rng_seed(&random, 14);
    for (int i = 0; i < ROUNDS; i++) {
        arena *a = arena_new(LIMIT);
        void *data = arena_alloc(a, kind->of->size);
        assert_non_null(data);
        fill_struct(kind->of, data, a, &random);
        if (i % 2) /* else a random text */
            assert_true(result_conclude(kind, data, a));
        same_when_saved(kind, data);
        arena_free(a);
    }
}

static void test_capacity(void **state)
{
    (void)state;
    check_filled(&capacity_kind);
}

static void test_check(void **state)
{
    (void)state;
    check_filled(&check_kind);
}

static void test_comparison(void **state)
{
    (void)state;
    check_filled(&comparison_kind);
}

static void test_scaling(void **state)
{
    (void)state;
    check_filled(&scaling_kind);
}

static void test_validation(void **state)
{
    (void)state;
    check_filled(&validation_kind);
}

int run_test_saved(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacity),   cmocka_unit_test(test_check),
        cmocka_unit_test(test_comparison), cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_validation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
