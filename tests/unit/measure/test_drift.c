/* Correction of times by a reference that ran in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "measure/drift.h"

static void add_all(drift *d, const double *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(drift_add(d, s[i]), i);
}

static void test_steady_machine_is_left_alone(void **state)
{
    (void)state;
    drift d = {0};
    const double s[] = {0.010, 0.0101, 0.0099, 0.010, 0.0102};
    add_all(&d, s, 5);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(drift_factor(&d, i, i + 1) == 1);
    assert_true(drift_range(&d) < 1.05);
}

/* A piece that ran while the machine was twice as slow has half its time in the usual state. */
static void test_slow_piece(void **state)
{
    (void)state;
    drift d = {0};
    const double s[] = {0.010, 0.010, 0.020, 0.020, 0.010, 0.010, 0.010};
    add_all(&d, s, 7);
    assert_float_equal(drift_usual(&d), 0.010, 1e-12);
    assert_float_equal(drift_factor(&d, 2, 3), 2, 1e-12);
    assert_float_equal(drift_factor(&d, 1, 2), 1.5, 1e-12);
    assert_float_equal(drift_factor(&d, 5, 6), 1, 1e-12);
    assert_true(drift_range(&d) > 1.5);
}

static void test_nothing_known(void **state)
{
    (void)state;
    drift d = {0};
    assert_true(drift_usual(&d) == 0);
    assert_true(drift_factor(&d, 0, 1) == 1);
    assert_true(drift_range(&d) == 1);
    assert_true(drift_ratio(0.01, 0) == 1);
    assert_float_equal(drift_ratio(0.03, 0.01), 3, 1e-12);
}

static void test_more_samples_than_places(void **state)
{
    (void)state;
    drift d = {0};
    for (uint32_t i = 0; i < DRIFT_SAMPLES + 10; i++)
        assert_true(drift_add(&d, 0.01) < DRIFT_SAMPLES);
    assert_int_equal(d.n, DRIFT_SAMPLES);
}

int run_test_drift(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_machine_is_left_alone),
        cmocka_unit_test(test_slow_piece),
        cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_more_samples_than_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
