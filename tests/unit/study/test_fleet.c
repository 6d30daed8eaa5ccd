/* Questions about a fleet: changes of level by model, machine and version, drift of ceilings, the cheapest class. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "study/fleet.h"

enum { DAYS = 20, CHANGE = 10 };
static assay_error err;

/* Three machines: n1 gets slower on day 10, n2 faster, n3 stays. The version changes on day 10. */
static fleet_points make_points(arena *a)
{
    static const char *const machines[] = {"n1", "n2", "n3"};
    static const double after[] = {1.3, 0.8, 1.0};
    fleet_points p = {ARENA_ARRAY(a, fleet_point, 3 * DAYS), 0, 0};
    for (int day = DAYS - 1; day >= 0; day--) /* newest first, as the store hands them */
        for (int m = 0; m < 3; m++)
            p.items[p.n++] = (fleet_point){.id = 100 * m + day,
                                           .created_s = 86400 * (int64_t)day,
                                           .model = STR("net"),
                                           .machine = str_of(machines[m]),
                                           .version = day < CHANGE ? STR("1.0") : STR("1.1"),
                                           .value = 10 * (day < CHANGE ? 1 : after[m]) *
                                                    (1 + 0.01 * ((day * 7) % 5))};
    return p;
}

static void changes_are_found_and_grouped(void **state)
{
    (void)state;
    arena *a = arena_new((size_t)64 << 20);
    fleet_points p = make_points(a);
    fleet_changes c;
    assert_int_equal(
        fleet_find_changes(&p, metric_find(STR("p50")), FLEET_BY_MACHINE, INT64_MIN, a, &c, &err),
        ASSAY_OK);
    assert_int_equal(c.series, 3);
    assert_int_equal(c.n_changes, 2);
    assert_int_equal(c.n_worse, 1);
    assert_true(str_is(c.changes[0].machine, "n1") && c.changes[0].is.worse);
    assert_int_equal(c.changes[0].is.id, CHANGE);
    assert_true(fabs(c.changes[0].is.ratio - 1.3) < 0.02);
    assert_true(str_is(c.changes[0].version, "1.1") && str_is(c.changes[0].version_before, "1.0"));
    assert_int_equal(c.n_groups, 2);
    assert_true(str_is(c.groups[0].key, "n1") && c.groups[0].worse == 1);
    fleet_keep_worse(&c);
    assert_int_equal(c.n_changes, 1);
    assert_int_equal(c.n_groups, 1);
    arena_free(a);
}

static void time_limits_changes_and_what_is_new(void **state)
{
    (void)state;
    arena *a = arena_new((size_t)64 << 20);
    fleet_points p = make_points(a);
    fleet_changes c;
    assert_int_equal(fleet_find_changes(&p, metric_find(STR("p50")), FLEET_BY_VERSION,
                                        (CHANGE - 1) * 86400, a, &c, &err),
                     ASSAY_OK);
    assert_int_equal(c.n_changes, 2);
    assert_int_equal(c.n_groups, 1); /* both came with 1.1 */
    assert_int_equal(c.n_new_versions, 1);
    assert_true(str_is(c.new_versions[0], "1.1"));
    assert_int_equal(c.n_new_models + c.n_new_machines, 0);
    p = make_points(a);
    assert_int_equal(fleet_find_changes(&p, metric_find(STR("throughput")), FLEET_BY_MODEL,
                                        (CHANGE + 1) * 86400, a, &c, &err),
                     ASSAY_OK);
    assert_int_equal(c.n_changes, 0);
    /* More is better: the same figures are worse on n2. */
    p = make_points(a);
    assert_int_equal(fleet_find_changes(&p, metric_find(STR("throughput")), FLEET_BY_MODEL,
                                        INT64_MIN, a, &c, &err),
                     ASSAY_OK);
    assert_true(str_is(c.changes[0].machine, "n2") && c.changes[0].is.worse);
    arena_free(a);
}

static void ceilings_drift(void **state)
{
    (void)state;
    arena *a = arena_new((size_t)1 << 20);
    fleet_ceiling list[] = {
        {.machine = STR("n1"), .name = STR("DRAM"), .created_s = 3, .value = 80},
        {.machine = STR("n1"), .name = STR("DRAM"), .created_s = 1, .value = 100},
        {.machine = STR("n1"), .name = STR("DRAM"), .created_s = 2, .value = 102},
        {.machine = STR("n1"), .name = STR("fp32"), .created_s = 1, .value = 7},
        {.machine = STR("n2"), .name = STR("fp32"), .created_s = 1, .value = 7},
        {.machine = STR("n2"), .name = STR("fp32"), .created_s = 2, .value = 7.1},
    };
    fleet_drifts d;
    assert_int_equal(fleet_find_drift(list, 6, a, &d, &err), ASSAY_OK);
    assert_int_equal(d.n, 3);
    assert_int_equal(d.n_machines, 2);
    assert_int_equal(d.ceilings[0].course, COURSE_LOWER);
    assert_true(fabs(d.ceilings[0].ratio - 80.0 / 101) < 1e-9);
    assert_int_equal(d.ceilings[1].course, COURSE_UNKNOWN);
    assert_int_equal(d.ceilings[2].course, COURSE_STEADY);
    assert_int_equal(fleet_find_drift(NULL, 0, a, &d, &err), ASSAY_OK);
    assert_int_equal(d.n, 0);
    arena_free(a);
}

static void the_cheapest_meets_the_limit(void **state)
{
    (void)state;
    arena *a = arena_new((size_t)1 << 20);
    /* The fast class is dear, the slow one misses the limit, one has no price. */
    fleet_point latency[] = {
        {.id = 1, .value = 5, .tags = STR("class:fast,noisy"), .setup = STR("batch 1")},
        {.id = 2, .value = 9, .tags = STR("class:fast"), .setup = STR("batch 8")},
        {.id = 3, .value = 8, .host = STR("ARM"), .device = STR("cpu")},
        {.id = 4, .value = 30, .tags = STR("class:slow")},
        {.id = 5, .value = 7, .tags = STR("class:odd")},
    };
    fleet_point rate[] = {
        {.id = 5, .value = 500}, {.id = 4, .value = 900}, {.id = 3, .value = 100},
        {.id = 2, .value = 800}, {.id = 1, .value = 200},
    };
    const fleet_points l = {latency, 5, 0}, r = {rate, 5, 0};
    price_list prices = {.arena = a};
    assert_int_equal(price_read(&prices, STR("FAST=4,arm=0.36\nslow=0.01"), &err), ASSAY_OK);
    fleet_cheapest c = {.limit_ms = 10};
    assert_int_equal(fleet_find_cheapest(&l, &r, &prices, a, &c, &err), ASSAY_OK);
    assert_int_equal(c.n, 4);
    assert_true(str_is(c.classes[0].name, "ARM · cpu") && c.classes[0].cheapest);
    assert_true(fabs(c.classes[0].cost_per_million - 1.0) < 1e-9);
    assert_true(str_is(c.classes[1].name, "fast") && c.classes[1].record == 2);
    assert_int_equal(c.classes[1].records, 2);
    assert_true(str_is(c.classes[2].name, "odd") && isnan(c.classes[2].cost_per_million));
    assert_true(str_is(c.classes[3].name, "slow") && !c.classes[3].meets);
    arena_free(a);
}

int run_test_fleet(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_found_and_grouped),
        cmocka_unit_test(time_limits_changes_and_what_is_new),
        cmocka_unit_test(ceilings_drift),
        cmocka_unit_test(the_cheapest_meets_the_limit),
    };
    return cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
}
