/* Costs for programs that draw graphs: the structure that Netron and Model Explorer read, names as they are in the
 * file, measured and predicted times, unknown costs, names that several layers have. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/json_tree.h"
#include "report/report.h"

#define BYTES (1 << 20)

static const profile_tensor tensors[] = {{.name = {"a", 1}, .kind = "tensor"},
                                         {.name = {"b\"\x1b<i>", 6}, .kind = "tensor"},
                                         {.name = {"results", 7}, .kind = "tensor"},
                                         {.name = {"d", 1}, .kind = "tensor"}};

static profile *make(const char *const names[4])
{
    profile *p = profile_new(SIZE_MAX);
    assert_non_null(p);
    p->model = STR("m");
    p->lens = STR("assay");
    p->layers = ARENA_ARRAY(p->arena, profile_layer, 4);
    p->n_layers = 4;
    for (uint32_t i = 0; i < 4; i++)
        p->layers[i] = (profile_layer){.name = str_of(names[i]),
                                       .op = STR("Conv"),
                                       .outputs = &tensors[i],
                                       .n_outputs = 1,
                                       .times = i + 1,
                                       .flops = 100 * (uint64_t)(i + 1),
                                       .memory = UINT64_MAX,
                                       .arithmetic_intensity = NAN,
                                       .time_ms = 0.5 * (i + 1),
                                       .percent_of_roof = NAN};
    p->layers[3].certainty = PROFILE_UNKNOWN;
    p->total_flops = 1000;
    return p;
}

static json_value written(const profile *p, const char *format, arena *a)
{
    const report_options o = REPORT_DEFAULTS;
    sbuf out = {0};
    json_value root;
    assert_int_equal(report_find(str_of(format))->write(p, &o, &out, NULL), ASSAY_OK);
    const json_tree_options lenient = {.lenient = true}; /* memory may exceed an int64 */
    assert_int_equal(
        json_tree_parse((str){out.p, (uint32_t)out.n}, format, &lenient, a, &root, NULL), ASSAY_OK);
    sbuf_free(&out);
    return root;
}

/* The value of a metric; json_absent if there is none. */
static const json_value *metric(const json_value *root, const char *kind, const char *target,
                                const char *name)
{
    const json_value *list = json_path(root, "metrics");
    for (uint32_t i = 0; i < list->n; i++) {
        const json_value *e = &list->items[i];
        if (str_is(json_get(e, "kind")->s, kind) && str_is(json_get(e, "target")->s, target) &&
            str_is(json_get(e, "name")->s, name))
            return json_get(e, "value");
    }
    return &json_absent;
}

static void test_attachment(void **state)
{
    const char *const names[] = {"one", "two\nlines", "twice", "twice"};
    arena *a = arena_new(BYTES);
    profile *p = make(names);
    const json_value root = written(p, "netron", a);
    (void)state;
    assert_true(str_is(json_path(&root, "signature")->s, "netron:attachment"));
    assert_int_equal(metric(&root, "model", "", "flops")->i, 1000);
    assert_int_equal(metric(&root, "node", "one", "flops")->i, 100);
    assert_true(str_is(metric(&root, "value", "a", "operator")->s, "Conv"));
    /* Netron compares the first line; names are text. */
    assert_int_equal(metric(&root, "node", "two", "flops")->i, 200);
    assert_int_equal(metric(&root, "value", "b\"\x1b<i>", "times")->i, 2);
    /* Which of two layers a name means is unknown; their outputs differ. */
    assert_int_equal(metric(&root, "node", "twice", "flops")->kind, JSON_NULL);
    assert_int_equal(metric(&root, "value", "results", "flops")->i, 300);
    /* Unknown is not zero, and what was not measured is not there. */
    assert_int_equal(metric(&root, "value", "d", "flops")->kind, JSON_NULL);
    assert_true(str_is(metric(&root, "value", "d", "certainty")->s, "unknown"));
    assert_int_equal(metric(&root, "node", "one", "time_ms")->kind, JSON_NULL);
    assert_int_equal(metric(&root, "node", "one", "arithmetic_intensity")->kind, JSON_NULL);
    profile_free(p);
    arena_free(a);
}

static void test_node_data(void **state)
{
    const char *const names[] = {"one", "two", "three", "four"};
    arena *a = arena_new(BYTES);
    profile *p = make(names);
    const json_value root = written(p, "modelexplorer", a);
    const json_value *results = json_path(&root, "results");
    (void)state;
    assert_true(str_is(json_path(&root, "name")->s, "FLOPs"));
    assert_int_equal(json_path(&root, "gradient.0.stop")->i, 0);
    assert_int_equal(results->n, 4);
    assert_int_equal(json_path(results, "a.value")->i, 100);
    assert_int_equal(json_get(json_get(results, "b\"\x1b<i>"), "value")->i, 200);
    /* A key "results" would make Model Explorer read the file as one with several graphs. */
    assert_null(json_get(results, "results"));
    assert_int_equal(json_path(results, "three.value")->i, 300);
    assert_true(str_is(json_path(results, "d.value")->s, "unknown"));
    profile_free(p);
    arena_free(a);
}

static void test_times(void **state)
{
    const char *const names[] = {"one", "two", "three", "four"};
    arena *a = arena_new(BYTES);
    profile *p = make(names);
    mapping_layer placed[4] = {{.time_ms = 0}};
    profile_mapping mapping = {.layers = placed, .n_layers = 4};
    profile_measured measured = {.ledger = {.present = true}};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        placed[i].name = p->layers[i].name;
        placed[i].time_ms = 7;
    }
    p->mapping = &mapping;
    json_value root = written(p, "modelexplorer", a);
    assert_true(str_starts(json_path(&root, "name")->s, "predicted"));
    assert_true(json_path(&root, "results.a.value")->f == 7);
    /* The device does not execute the last layer, a view. */
    mapping.n_layers = 3;
    root = written(p, "modelexplorer", a);
    assert_true(json_path(&root, "results.a.value")->f == 7);
    assert_true(json_path(&root, "results.d.value")->f == 0);
    p->measured = &measured;
    root = written(p, "modelexplorer", a);
    assert_true(str_starts(json_path(&root, "name")->s, "measured"));
    assert_true(json_path(&root, "results.a.value")->f == 0.5);
    root = written(p, "netron", a);
    assert_true(metric(&root, "node", "two", "time_ms")->f == 1);
    assert_true(metric(&root, "node", "two", "predicted_time_ms")->f == 7);
    p->measured = NULL;
    p->mapping = NULL;
    profile_free(p);
    arena_free(a);
}

int run_test_nodes(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attachment),
        cmocka_unit_test(test_node_data),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
