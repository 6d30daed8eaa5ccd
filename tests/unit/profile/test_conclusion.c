/* Conclusions: the numbers that the sentences hold are those of the result, and what is unknown is called so. Wording
 * is free; numbers, names and units are not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/capacity.h"
#include "profile/comparison.h"
#include "profile/conclusion.h"
#include "profile/profile_fields.h"
#include "profile/verdicts.h"

static void says(str text, const char *const *parts)
{
    for (; *parts; parts++)
        if (!str_contains(text, *parts))
            fail_msg("'%s' is not in: " STR_FMT, *parts, STR_ARG(text));
}
#define SAYS(text, ...) says(text, (const char *const[]){__VA_ARGS__, NULL})

static profile_config config_of(const char *precision, uint64_t batch, double ms)
{
    profile_config c = PROFILE_CONFIG_UNKNOWN;
    c.batch = batch;
    c.precision = str_of(precision);
    c.latency.runs = 10;
    c.latency.mean = c.latency.median = ms;
    c.samples_per_second = (double)batch * 1000 / ms;
    c.ran = true;
    return c;
}

static profile *measured_model(profile_measured *m, profile_config *configs, uint32_t n)
{
    profile *p = profile_new(1 << 20);
    assert_non_null(p);
    p->model = STR("resnet50");
    p->measured = m;
    m->engine.title = STR("ONNX Runtime");
    m->engine.device = STR("cpu");
    m->unit = "images";
    m->units_per_sample = 1;
    m->configs = configs;
    m->n_configs = n;
    return p;
}

static str conclude(profile *p)
{
    assert_true(profile_settle(p));
    assert_true(result_conclude(&profile_kind, p, p->arena));
    return p->conclusion;
}

static void speed_share_peak_and_precision(void **state)
{
    profile_config configs[] = {config_of("fp32", 1, 40), config_of("int8", 1, 20)};
    profile_time_group groups[] = {
        {.by = "type", .name = STR("conv2d"), .layers = 53, .time_ms = 30, .flops = 3000000000}};
    profile_measured m = {.ledger = {.present = true, .run_ms = 40, .layers_ms = 40},
                          .ceilings = {.present = true, .ops_per_s = 200e9}};
    (void)state;
    configs[1].output_error = (profile_output_error){.present = true, .relative = 0.008};
    m.ledger.groups = groups;
    m.ledger.n_groups = 1;
    profile *p = measured_model(&m, configs, 2);
    str text = conclude(p);
    SAYS(text, "resnet50", "25.0 images/s", "ONNX Runtime on cpu", "40.00 ms", "batch 1", "fp32",
         "53 conv2d layers", "75.0 %", "50.0 % of the machine's peak", "int8 is 2.00×", "0.80 %");
    profile_free(p);
}

static void a_larger_batch(void **state)
{
    profile_config configs[] = {config_of("fp32", 1, 40), config_of("fp32", 8, 160)};
    profile_measured m = {0};
    (void)state;
    m.choice.batch = 8;
    m.choice.precision = STR("fp32");
    m.choice.why = STR("it is the fastest");
    profile *p = measured_model(&m, configs, 2);
    SAYS(conclude(p), "25.0 images/s", "Batch 8 gives 2.00× the throughput");
    profile_free(p);
}

static void what_did_not_run_says_why(void **state)
{
    profile_config configs[] = {{.batch = 1, .error = STR("out of memory. Use less.")}};
    profile_measured m = {0};
    (void)state;
    profile *p = measured_model(&m, configs, 1);
    SAYS(conclude(p), "resnet50 did not run: out of memory.");
    profile_free(p);
}

static void unknown_operators_are_told(void **state)
{
    profile_layer layer = {.name = STR("x")};
    profile_operation operation = {.type = STR("conv2d"), .count = 1, .flops = 10, .percent = 100};
    profile *p = profile_new(1 << 20);
    (void)state;
    p->model = STR("a\x1b[31m"); /* a terminal's escape stays text */
    p->layers = &layer;
    p->n_layers = 1;
    p->operations = &operation;
    p->n_operations = 1;
    p->total_flops = 10;
    p->accounting.unknown = 2;
    str text = conclude(p);
    SAYS(text, "at least 10 FLOPs", "2 operators are unknown", "1 conv2d layer");
    assert_false(str_contains(text, "\x1b"));
    profile_free(p);
}

static void comparisons_hold_ratios(void **state)
{
    comparison_model models[] = {{.label = STR("a"), .flops = 100, .parameters = 10},
                                 {.label = STR("b"),
                                  .flops = 200,
                                  .parameters = 5,
                                  .ratios = {.flops = 2, .parameters = 0.5, .peak_bytes = 1.5}}};
    comparison_timing timing = {
        .label = STR("b"), .verdict = "slower", .ratio = 1.8, .low = 1.75, .high = 1.85};
    comparison c = {.models = models, .n_models = 2, .measured = &timing, .n_measured = 1};
    arena *a = arena_new(1 << 16);
    (void)state;
    assert_true(result_conclude(&comparison_kind, &c, a));
    SAYS(c.conclusion, "b takes 1.80× the time of a", "1.75 to 1.85", "slower", "2.00× the FLOPs",
         "0.50× the parameters", "1.50× the peak memory");
    c = (comparison){.models = models, .n_models = 1};
    assert_true(result_conclude(&comparison_kind, &c, a));
    assert_int_equal(c.conclusion.n, 0);
    arena_free(a);
}

static void checks_hold_the_deciding_metric(void **state)
{
    verdict_row rows[] = {{.metric = "macs", .title = "MACs", .verdict = VERDICT_PASS},
                          {.metric = "p50",
                           .title = "Median latency",
                           .unit = METRIC_MS,
                           .verdict = VERDICT_REGRESSION,
                           .now = {.v = 12},
                           .limit = NAN,
                           .ratio = 1.2}};
    verdicts v = {.model = STR("m"), .overall = VERDICT_REGRESSION, .rows = rows, .n = 2};
    arena *a = arena_new(1 << 16);
    (void)state;
    assert_true(result_conclude(&check_kind, &v, a));
    SAYS(v.conclusion, "m: regression", "1 of 2 metrics", "Median latency is 12.00 ms",
         "20.0 % above the baseline");
    arena_free(a);
}

static void a_conclusion_that_was_read_stays(void **state)
{
    capacity c = {.model = STR("m"), .target = 5, .best = UINT32_MAX};
    arena *a = arena_new(1 << 16);
    (void)state;
    c.conclusion = STR("as it was");
    assert_true(result_conclude_read(&capacity_kind, &c, a));
    assert_true(str_is(c.conclusion, "as it was"));
    c.conclusion = (str){0};
    assert_true(result_conclude_read(&capacity_kind, &c, a));
    SAYS(c.conclusion, "5.00 requests/s");
    arena_free(a);
}

static void is_named(const char *name, const char *in_sentences)
{
    sbuf b = {0};
    conclude_name(&b, str_of(name));
    assert_string_equal(sbuf_cstr(&b), in_sentences);
    sbuf_free(&b);
}

static void a_long_path_is_its_file(void **state)
{
    (void)state;
    is_named("models/net.onnx", "models/net.onnx");
    is_named("/home/somebody/projects/vision/models/net.onnx", "net.onnx");
    is_named("/home/somebody/projects/vision/models/folder/", "folder/");
    is_named("", "the model");
}

int run_test_conclusion(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_share_peak_and_precision),
        cmocka_unit_test(a_larger_batch),
        cmocka_unit_test(what_did_not_run_says_why),
        cmocka_unit_test(unknown_operators_are_told),
        cmocka_unit_test(comparisons_hold_ratios),
        cmocka_unit_test(checks_hold_the_deciding_metric),
        cmocka_unit_test(a_conclusion_that_was_read_stays),
        cmocka_unit_test(a_long_path_is_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
