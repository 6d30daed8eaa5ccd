/* Which batch size is recommended: the rule that takes two sizes for equally fast is said whenever it decided, and
 * so is a faster size that does not fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "measure/stats.h"
#include "profile/batch_choice.h"
#include "profile/metrics.h"

#define MIB ((uint64_t)1 << 20)

static profile_config ran(uint64_t batch, const char *precision, double per_second, uint64_t used)
{
    return (profile_config){.batch = batch,
                            .precision = str_of(precision),
                            .latency = {.runs = 50, .mean = (double)batch * 1000 / per_second},
                            .samples_per_second = per_second,
                            .memory = {.before_session = 10 * MIB, .peak = 10 * MIB + used}};
}

static void choose(profile_measured *m, profile_config *list, uint32_t n, uint64_t room, arena *a)
{
    *m = (profile_measured){
        .unit = "images", .units_per_sample = 1, .configs = list, .n_configs = n};
    profile_choose_batch(m, room, a);
}

/* The reason holds these figures. */
static void figures_in_why(const profile_measured *m, const char *const *figures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strstr(m->choice.why.p, figures[i]))
            fail_msg("'%s' is not in '%s'", figures[i], m->choice.why.p);
}
#define why_holds(m, ...)                                 \
    figures_in_why(m, (const char *const[]){__VA_ARGS__}, \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void a_tie_is_said(void **state)
{
    arena *a = arena_new(1 << 16);
    profile_measured m;
    (void)state;
    profile_config list[] = {ran(1, "fp32", 12, 100 * MIB), ran(2, "fp32", 15.0, 150 * MIB),
                             ran(4, "fp32", 15.1, 300 * MIB), ran(8, "fp32", 14.9, 600 * MIB)};
    choose(&m, list, 4, 0, a);
    assert_int_equal(m.choice.batch, 2);
    assert_int_equal(m.choice.fastest_batch, 4);
    why_holds(&m, "Batch 2", "15.00 images/s", "2 %", "batch 4", "15.10 images/s", "50 %");
    assert_ptr_equal(profile_chosen(&m), &list[1]);
    list[1].samples_per_second = 14.8; /* 2.03 % behind */
    choose(&m, list, 3, 0, a);
    why_holds(&m, "Batch 4", "15.10 images/s");
    arena_free(a);
}

/* Each within 2 % of the one before it, and the last 4 % above the first: no chain of ties. */
static void ties_are_with_the_fastest(void **state)
{
    arena *a = arena_new(1 << 16);
    profile_measured m;
    (void)state;
    profile_config list[] = {ran(1, "fp32", 100, 0), ran(2, "fp32", 101.9, 0),
                             ran(4, "fp32", 103.9, 0)};
    choose(&m, list, 3, 0, a);
    assert_int_equal(m.choice.batch, 2);
    assert_null(strstr(m.choice.why.p, "memory"));
    arena_free(a);
}

static void memory_is_looked_at(void **state)
{
    arena *a = arena_new(1 << 16);
    profile_measured m;
    (void)state;
    profile_config list[] = {ran(1, "fp32", 12, 100 * MIB), ran(8, "fp16", 30, 900 * MIB),
                             ran(2, "fp32", 0, 0)};
    list[2].error = STR("It failed.");
    choose(&m, list, 3, 1000 * MIB, a);
    assert_int_equal(m.choice.batch, 1);
    why_holds(&m, "Batch 1", "fp32", "12.00 images/s", "Batch 8", "fp16", "30.00 images/s",
              "900.00 MiB", "1000.00 MiB");
    assert_ptr_equal(profile_pick_batch(&m, "fp16", 0).chosen, &list[1]);
    choose(&m, list, 3, 100 * MIB, a);
    assert_int_equal(m.choice.batch, 0);
    assert_null(profile_chosen(&m));
    arena_free(a);
}

/* ---- no interval is better than one that starts at nothing ---- */

static void an_interval_needs_runs(void **state)
{
    static const double one[] = {5}, apart[] = {1, 9}, close[] = {5, 5.1, 4.9, 5}, same[] = {2, 2};
    static const struct {
        const double *x;
        uint32_t n;
        const char *why;
    } rows[] = {{one, 1, "few-runs"}, {apart, 2, "scattered"}, {close, 4, NULL}, {same, 2, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        profile_stats s;
        double work[8];
        stats_describe(rows[i].x, rows[i].n, work, &s);
        const char *why = profile_no_interval(&s);
        assert_int_equal(why != NULL, rows[i].why != NULL);
        assert_int_equal(isnan(s.ci95_low), rows[i].why != NULL);
        if (why)
            assert_string_equal(why, rows[i].why);
        else
            assert_true(0 < s.ci95_low && s.ci95_low <= s.mean && s.mean <= s.ci95_high);
    }
}

int run_test_batch_choice(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tie_is_said),
        cmocka_unit_test(ties_are_with_the_fastest),
        cmocka_unit_test(memory_is_looked_at),
        cmocka_unit_test(an_interval_needs_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
