/* Choosing: order, budget and front of assay_choose(). */
#include <assay/study.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static assay_choices *chosen(const char *task, const char *hardware, const char *budget)
{
    assay_options *o = assay_options_new();
    assay_choices *c = NULL;
    assay_error err;
    assert_int_equal(assay_options_set(o, "hardware", hardware, &err), ASSAY_OK);
    if (budget)
        assert_int_equal(assay_options_set(o, "budget", budget, &err), ASSAY_OK);
    if (assay_choose(task, o, &c, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assay_options_free(o);
    return c;
}

/* What fits comes first, by accuracy; the front gets faster as accuracy falls. */
static void choices_are_ordered(void **state)
{
    assay_choices *all = chosen("segmentation", "a100-80", "params:45M");
    assay_choice c = {.size = sizeof c}, before = {.size = sizeof before};
    size_t fits = 0;
    double fastest = 1e300;
    (void)state;
    for (size_t i = 0; assay_choice_at(all, i, &c); i++) {
        assert_true(strlen(c.source) > 10 && c.accuracy > 0 && c.accuracy < 100);
        assert_true(c.latency_low_ms <= c.latency_ms && c.latency_ms <= c.latency_high_ms);
        assert_int_equal(c.fits, c.parameters <= 45000000);
        if (i && assay_choice_at(all, i - 1, &before))
            assert_true(before.fits >= c.fits &&
                        (before.fits > c.fits || before.accuracy >= c.accuracy));
        if (c.pareto) {
            assert_true(c.fits && c.latency_ms < fastest);
            fastest = c.latency_ms;
        }
        fits += c.fits;
    }
    assert_true(fits > 0 && fits < assay_choices_count(all));
    assay_choices_free(all);
}

static void a_wrong_task_is_refused(void **state)
{
    assay_options *o = assay_options_new();
    assay_choices *c = NULL;
    assay_error err;
    (void)state;
    assert_int_equal(assay_choose("detection", o, &c, &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "hardware", "t4", &err), ASSAY_OK);
    assert_int_equal(assay_choose("juggling", o, &c, &err), ASSAY_ERR_USAGE);
    assert_null(c);
    assay_options_free(o);
}

int run_test_choose(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_ordered),
        cmocka_unit_test(a_wrong_task_is_refused),
    };
    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
