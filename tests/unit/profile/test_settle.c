/* What profile_settle() derives from other members: traffic, what limits the model, what fusing saves, shares. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile_fields.h"

static field_value at(const profile *p, const char *path)
{
    field_value root = fields_root(profile_kind.of, p);
    return fields_get(&root, path);
}

static void traffic_is_read_and_written(void **state)
{
    profile_layer layers[] = {{.read_bytes = 100, .weight_bytes = 20, .written_bytes = 7},
                              {.read_bytes = 1, .weight_bytes = UINT64_MAX, .written_bytes = 3}};
    profile *p = profile_new(1 << 20);
    (void)state;
    p->layers = layers;
    p->n_layers = 1;
    assert_true(profile_settle(p));
    assert_int_equal(at(p, "total_read").u, 120);
    assert_int_equal(at(p, "total_written").u, 7);
    p->n_layers = 2;
    assert_true(profile_settle(p));
    assert_true(p->total_read > UINT64_MAX / 4); /* no wrapping */
    assert_int_equal(at(p, "total_written").u, 10);
    profile_free(p);
}

static void limits_have_words(void **state)
{
    static const struct {
        double flops, layers;
        const char *limit;
        bool many_small;
    } rows[] = {{60, 59, "compute", false}, {60, 60, "compute", true}, {59.9, 90, "both", false},
                {40.1, 90, "both", false},  {40, 90, "memory", false}, {0, 100, "memory", false}};
    profile_layer layer = {0};
    profile *p = profile_new(1 << 20);
    (void)state;
    assert_true(profile_settle(p));
    assert_null(p->bottlenecks.limit); /* no layers */
    p->layers = &layer;
    p->n_layers = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        p->bottlenecks.compute_bound_percent = rows[i].flops;
        p->bottlenecks.memory_bound_layers_percent = rows[i].layers;
        assert_true(profile_settle(p));
        assert_string_equal(p->bottlenecks.limit, rows[i].limit);
        assert_int_equal(p->bottlenecks.many_small, rows[i].many_small);
    }
    profile_free(p);
}

static void most_flops_have_a_family(void **state)
{
    profile_operation list[] = {{.type = STR("conv2d"), .percent = 60},
                                {.type = STR("deformconv"), .percent = 11},
                                {.type = STR("matmul"), .percent = 29}};
    profile *p = profile_new(1 << 20);
    (void)state;
    p->operations = list;
    p->n_operations = 3;
    assert_true(profile_settle(p));
    assert_string_equal(p->bottlenecks.family, "convolution");
    assert_true(p->bottlenecks.family_percent == 71);
    list[1].type = STR("linear");
    list[0].percent = 40;
    list[2].percent = 40;
    assert_true(profile_settle(p));
    assert_string_equal(p->bottlenecks.family, "matmul");
    assert_true(p->bottlenecks.family_percent == 51);
    list[2].percent = 30;
    assert_true(profile_settle(p));
    assert_int_equal(at(p, "bottlenecks.family").type, VALUE_NONE);
    assert_int_equal(at(p, "bottlenecks.family_percent").type, VALUE_NONE);
    profile_free(p);
}

static void fusing_saves_or_does_not(void **state)
{
    fusion_group groups[] = {{.memory = 30, .boundary_bytes = 10},
                             {.memory = 10, .boundary_bytes = 30}};
    fusion_kind kind = {.memory = 40, .boundary_bytes = 25};
    profile_fusion f = {.groups = groups,
                        .n_groups = 2,
                        .kinds = &kind,
                        .n_kinds = 1,
                        .launches_before = 9,
                        .launches_after = 4,
                        .bytes_before = 10,
                        .bytes_after = 11};
    profile *p = profile_new(1 << 20);
    (void)state;
    p->fusion = &f;
    assert_true(profile_settle(p));
    assert_int_equal(at(p, "groups.0.saved_bytes").u, 20);
    assert_int_equal(at(p, "groups.1.saved_bytes").u, 0);
    assert_int_equal(at(p, "fusion.kinds.0.saved_bytes").u, 15);
    assert_int_equal(at(p, "fusion.launches_saved").u, 5);
    assert_int_equal(at(p, "fusion.bytes_saved").u, 0);
    profile_free(p);
}

static void devices_have_a_share_of_memory(void **state)
{
    mapping_hardware hardware[] = {{.id = STR("a"), .memory_bytes = 1000}, {.id = STR("b")}};
    mapping_row rows[] = {{.hardware = 0, .memory_bytes = 250}, {.hardware = 1, .memory_bytes = 5}};
    profile_mapping m = {.hardware = hardware, .n_hardware = 2, .rows = rows, .n_rows = 2};
    profile *p = profile_new(1 << 20);
    (void)state;
    p->mapping = &m;
    assert_true(profile_settle(p));
    assert_true(at(p, "devices.0.percent_of_memory").d == 25);
    assert_true(at(p, "devices.1.percent_of_memory").d == 0); /* memory that is not known */
    profile_free(p);
}

static void a_run_exceeds_its_plan(void **state)
{
    profile_measured m = {.plan = {.present = true, .planned_peak = 200, .measured_peak = 250}};
    profile *p = profile_new(1 << 20);
    (void)state;
    p->measured = &m;
    assert_true(profile_settle(p));
    assert_true(m.plan.excess_percent == 25);
    m.plan.planned_peak = 0;
    assert_true(profile_settle(p));
    assert_true(isnan(m.plan.excess_percent));
    profile_free(p);
}

int run_test_settle(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_is_read_and_written),
        cmocka_unit_test(limits_have_words),
        cmocka_unit_test(most_flops_have_a_family),
        cmocka_unit_test(fusing_saves_or_does_not),
        cmocka_unit_test(devices_have_a_share_of_memory),
        cmocka_unit_test(a_run_exceeds_its_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
