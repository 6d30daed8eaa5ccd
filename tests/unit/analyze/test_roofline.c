/* The roofline: lines over the batch against real inference, bounds, verdicts, largest batches, the Pareto
 * table, and the whole through the public functions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include <assay/study.h>

#include "analyze/map.h"
#include "support/values.h"

static const double GIB = 1024.0 * 1024 * 1024;

static void near_to(double a, double b)
{
    if (fabs(a - b) > 1e-9 * (fabs(a) + fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* ---- by hand ---- */

/* 10 TFLOP/s and 100 GB/s: ridge 100. */
static const device plain = {.peak = {[DEVICE_FP32] = 10e12, [DEVICE_FP16] = 40e12},
                             .memory_bytes = 1e9,
                             .bandwidth = 100e9,
                             .overhead_s = 1e-6};

static roofline_model by_hand(arena *a)
{
    static roofline_layer layers[3];
    roofline_layer made[3] = {
        {.launches = 1, .contraction = {2e9, 3e9, 4e9, 5e9}, .bytes = {{2e6, 3e6, 4e6, 5e6}}},
        {.launches = 1, .other = {2e6, 3e6, 4e6, 5e6}, .bytes = {{16e6, 24e6, 32e6, 40e6}}},
        {.launches = 1, .other = {20, 30, 40, 50}, .bytes = {{160, 240, 320, 400}}},
    };
    memcpy(layers, made, sizeof made);
    roofline_model m = {.layers = layers,
                        .n_layers = 3,
                        .n_steps = 2,
                        .weights_bytes = {100e6, 50e6, 25e6},
                        .saved_bytes = {40e6, 60e6, 80e6, 100e6},
                        .parameters = 25e6};
    for (int w = 0; w < 2; w++) {
        double scale = w ? 0.5 : 1;
        m.live[w] = arena_alloc(a, 2 * sizeof *m.live[w]);
        roofline_line live[2] = {{60e6 * scale, 60e6 * scale, 60e6 * scale, 60e6 * scale},
                                 {20e6 * scale, 30e6 * scale, 40e6 * scale, 50e6 * scale}};
        memcpy(m.live[w], live, sizeof live);
    }
    assert_true(roofline_group(&m, a));
    return m;
}

/* Of many steps those that can be a peak are kept, and the peak of every batch stays the same. */
static void test_peaks(void **state)
{
    (void)state;
    enum { STEPS = 500 };
    arena *a = arena_new((size_t)4 << 20);
    roofline_model m = {.n_steps = STEPS};
    roofline_line *copy = arena_alloc(a, STEPS * sizeof *copy);
    m.live[0] = arena_alloc(a, STEPS * sizeof *m.live[0]);
    m.layers = arena_alloc(a, sizeof *m.layers);
    for (int s = 0; s < STEPS; s++)
        for (int k = 0; k < ROOFLINE_POINTS; k++) /* a line, one of three a parabola */
            copy[s][k] = m.live[0][s][k] = s * 37 % 101 * 1000.0 + (s * 53 % 97) * (k + 2) +
                                           (s % 3 ? 0 : s * 7 % 11 * (k + 2) * (k + 2));
    assert_true(roofline_group(&m, a));
    assert_true(m.n_tops[0] > 1 && m.n_tops[0] < STEPS / 4);
    roofline_model all = {.n_steps = STEPS, .live = {copy}};
    for (int64_t batch = 2; batch < 100000; batch += 1 + batch / 3)
        assert_true(fabs(roofline_inference_bytes(&m, batch, 0) -
                         roofline_inference_bytes(&all, batch, 0)) < 0.5);
    arena_free(a);
}

static void test_bounds(void **state)
{
    arena *a = arena_new(1 << 20);
    roofline_model m = by_hand(a);
    roofline_slice s;
    roofline_time t;
    (void)state;
    assert_true(roofline_slice_make(&m, 2, 0, a, &s));
    roofline_run(&s, &plain, DEVICE_FP32, &t);
    /* 2e9 / 10e12 = 200 µs of compute; 16e6 / 100e9 = 160 µs of memory; and next to nothing. */
    near_to(t.by_bound[BOUND_COMPUTE], 201e-6);
    near_to(t.by_bound[BOUND_MEMORY], 161e-6);
    near_to(t.by_bound[BOUND_OVERHEAD], 1e-6 + 160 / 100e9);
    near_to(t.seconds - t.more_flops, 200e-6 - 200e-6 / 1.1);
    near_to(t.seconds - t.more_bandwidth, 160e-6 - 160e-6 / 1.1 + (160 - 160 / 1.1) / 100e9);
    assert_int_equal(roofline_one(&s, 0, &plain, DEVICE_FP32).bound, BOUND_COMPUTE);
    assert_int_equal(roofline_one(&s, 1, &plain, DEVICE_FP32).bound, BOUND_MEMORY);
    assert_int_equal(roofline_one(&s, 2, &plain, DEVICE_FP32).bound, BOUND_OVERHEAD);
    near_to(roofline_one(&s, 0, &plain, DEVICE_FP32).share_of_peak, 2e9 / (201e-6 * 10e12));
    near_to(device_ridge(&plain, DEVICE_FP32), 100);
    arena_free(a);
}

static void test_memory(void **state)
{
    arena *a = arena_new(1 << 20);
    roofline_model m = by_hand(a), single = by_hand(a);
    (void)state;
    roofline_fix(&single, 1);
    m.single = &single;
    near_to(roofline_inference_bytes(&m, 1, 0), 160e6);
    near_to(roofline_inference_bytes(&m, 10, 0), 200e6);
    near_to(roofline_inference_bytes(&m, 10, 1), 100e6);
    near_to(roofline_training_bytes(&m, 3, 0), 400e6 + 60e6);
    near_to(roofline_training_bytes(&m, 3, 1), 400e6 + 30e6);
    assert_int_equal(roofline_largest(&m, 0, false, 800e6), 70);
    assert_int_equal(roofline_largest(&m, 0, false, 799e6), 69);
    assert_int_equal(roofline_largest(&m, 0, true, 800e6), 20);
    assert_int_equal(roofline_largest(&m, 0, false, 159e6), 0);
    roofline_fix(&m, 4);
    assert_int_equal(roofline_largest(&m, 0, false, 800e6), 4);
    near_to(roofline_inference_bytes(&m, 100, 0), 160e6);
    arena_free(a);
}

/* (b + 1)^2 bytes at batch b; and what is neither straight nor a parabola: batch 2 is another. */
static void test_bent_lines(void **state)
{
    arena *a = arena_new(1 << 20);
    roofline_model m = by_hand(a), single = by_hand(a);
    const roofline_line bent = {9e6, 16e6, 25e6, 36e6}, broken = {70e6, 70e6, 75e6, 80e6};
    (void)state;
    roofline_fix(&single, 1);
    m.single = &single;
    memcpy(m.live[0][1], bent, sizeof bent);
    assert_true(roofline_grows(&m));
    near_to(roofline_inference_bytes(&m, 10, 0), 100e6 + 121e6);
    near_to(roofline_inference_bytes(&m, 1000, 0), 100e6 + 1001e3 * 1001e3);
    assert_int_equal(roofline_largest(&m, 0, false, 100e6 + 121e6), 10);
    assert_int_equal(roofline_largest(&m, 0, false, 100e6 + 120e6), 9);
    memcpy(m.live[0][1], broken, sizeof bent);
    assert_true(roofline_grows(&m));
    near_to(roofline_inference_bytes(&m, 105, 0), 100e6 + 80e6 + 100 * 5e6);
    arena_free(a);
}

/* An output whose size is unknown at another batch has no bytes there. */
static void test_falling_lines(void **state)
{
    arena *a = arena_new(1 << 20);
    roofline_model m = by_hand(a);
    (void)state;
    assert_true(roofline_grows(&m));
    m.live[0][1][1] = 0;
    assert_false(roofline_grows(&m));
    m = by_hand(a);
    m.layers[2].bytes[0][2] = 0;
    assert_false(roofline_grows(&m));
    arena_free(a);
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *inference, *training;
    } rows[] = {{0.2, "safe", "safe"},
                {0.3, "good", "good"},
                {0.41, "good", "optimal for training"},
                {0.8, "good", "optimal for training"},
                {0.81, "risk of OOM", "risk of OOM"},
                {1.01, "OOM", "OOM"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(map_verdict(rows[i].share, false), rows[i].inference);
        assert_string_equal(map_verdict(rows[i].share, true), rows[i].training);
    }
}

static void test_goals(void **state)
{
    static const char *const good[] = {
        "",          "latency",     "latency:10ms",    "latency:0.5s",  "memory:8GiB",
        "power:75W", "energy:20mJ", "throughput:1000", "throughput:5/s"};
    static const char *const bad[] = {"speed",        "latency:",    "latency:ms", "latency:0",
                                      "latency:1GiB", "memory:1..2", "power:-1W"};
    const map_goal_row *g;
    double limit;
    assay_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(map_goal_parse(str_of(good[i]), &g, &limit, &err), ASSAY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err_clear(&err);
        if (map_goal_parse(str_of(bad[i]), &g, &limit, &err) != ASSAY_ERR_USAGE)
            fail_msg("%s was taken", bad[i]);
    }
}

/* ---- models ---- */

static assay_options *asked(const char *const *pairs)
{
    assay_options *o = assay_options_new();
    assay_error err;
    for (; *pairs; pairs += 2)
        if (assay_options_set(o, pairs[0], pairs[1], &err) != ASSAY_OK)
            fail_msg("%s: %s", pairs[0], err.message);
    return o;
}

static assay_result *mapped(const char *model, const char *const *pairs)
{
    assay_options *o = asked(pairs);
    assay_model *m;
    assay_result *p;
    assay_error err;
    assert_int_equal(assay_model_open(model, &m, &err), ASSAY_OK);
    if (assay_map(m, o, &p, &err) != ASSAY_OK)
        fail_msg("%s: %s", model, err.message);
    assay_model_free(m);
    assay_options_free(o);
    return p;
}

static const char *const models[] = {"resnet18",    "mobilenet_v2", "vit_b_16",     "swin_t",
                                     "densenet121", "googlenet",    "convnext_tiny"};

/* Lines through batch 2 and 3 give batch 7 as inferring at batch 7 does. */
static void test_lines_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        assay_result *p = mapped(models[i],
                                 (const char *const[]){"hardware", "a100-80", "precision", "fp16",
                                                       "batch-sizes", "7", NULL});
        assay_options *o = asked((const char *const[]){"batch", "7", "precision", "fp16", NULL});
        placed place;
        totals t;
        assay_model *m;
        assay_result *real;
        assay_error err;
        assert_true(placed_at(p, 0, &place));
        assert_int_equal(assay_model_open(models[i], &m, &err), ASSAY_OK);
        assert_int_equal(assay_analyze(m, o, &real, &err), ASSAY_OK);
        t = totals_of(real);
        if (place.memory_bytes != t.peak_bytes)
            fail_msg("%s: %llu is not %llu", models[i], (unsigned long long)place.memory_bytes,
                     (unsigned long long)t.peak_bytes);
        assay_model_free(m);
        assay_result_free(real);
        assay_result_free(p);
        assay_options_free(o);
    }
}

/* More of anything is never slower, and time never falls below what the totals allow. */
static void test_floors(void **state)
{
    assay_result *p = mapped("resnet50", (const char *const[]){"hardware", "all", NULL});
    placed place;
    size_t n = count_at(p, "devices"), front = 0;
    (void)state;
    assert_true(n > 34 * 6);
    for (size_t i = 0; i < n; i++) {
        assert_true(placed_at(p, i, &place));
        assert_true(place.latency_ms > 0 && place.throughput > 0 && place.memory_bytes > 0);
        near_to(place.throughput, (double)place.batch * 1e3 / place.latency_ms);
        front += place.pareto;
        if (strcmp(place.verdict, "OOM") == 0)
            assert_false(place.fits);
    }
    assert_true(front > 1);
    assay_result_free(p);
}

static bool ties_at(const assay_result *p, size_t i)
{
    char path[64];
    snprintf(path, sizeof path, "devices.%zu.tie", i);
    return assay_result_number(p, path) == 1;
}

/* At batch 1 the host's launches decide on either GPU: the intervals overlap, and one row of the two says so. At batch 256
 * one is far behind. */
static void test_ties(void **state)
{
    assay_result *p = mapped("mobilenet_v2",
                             (const char *const[]){"hardware", "rtx4090,rtx2060", "precision",
                                                   "fp16", "batch-sizes", "1,256", NULL});
    placed place;
    size_t n = count_at(p, "devices"), small = 0, large = 0;
    (void)state;
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        assert_true(placed_at(p, i, &place));
        *(place.batch == 1 ? &small : &large) += ties_at(p, i);
    }
    assert_int_equal(small, 1);
    assert_int_equal(large, 0);
    assay_result_free(p);
}

static void test_rtx3090(void **state)
{
    assay_result *p = mapped("resnet50",
                             (const char *const[]){"hardware", "rtx3090", "precision", "fp32",
                                                   "batch-sizes", "1,32", NULL});
    placed place;
    (void)state;
    assert_int_equal(count_at(p, "devices"), 2);
    assert_true(placed_at(p, 1, &place));
    assert_int_equal(place.batch, 32);
    /* 2 * 4.089e9 * 32 / 35.6e12 is 7.35 ms */
    assert_true(place.latency_ms > 7.35 && place.latency_ms < 40);
    /* AdamW keeps 16 bytes for each of 25.6 million parameters */
    assert_true((double)place.training_memory_bytes > 16 * 25.557e6 &&
                (double)place.training_memory_bytes < 24 * GIB);
    assay_result_free(p);
}

static uint64_t memory_at(const char *model, const char *card, const char *precision, int64_t batch)
{
    char size[32];
    snprintf(size, sizeof size, "%lld", (long long)batch);
    assay_result *p = mapped(model, (const char *const[]){"hardware", card, "precision", precision,
                                                          "batch-sizes", size, NULL});
    placed place;
    assert_true(placed_at(p, 0, &place));
    assay_result_free(p);
    return place.memory_bytes;
}

#define FIT "map.hardware.0.precisions.%zu."

static void leaves_a_fifth(const assay_result *p, const char *model, size_t k)
{
    const double room = 0.8 * 6 * GIB;
    const char *precision = text_at(p, FIT "precision", k);
    int64_t most = (int64_t)whole_at(p, FIT "largest_batch", k);
    assert_true(number_at(p, FIT "ridge", k) > 1 && most > 0);
    assert_true(memory_at(model, "rtx2060", precision, most) <= room);
    assert_true(memory_at(model, "rtx2060", precision, most + 1) > room);
    assert_false(number_at(p, FIT "largest_training_batch", k) >= (double)most);
}

/* One batch of a precision has the most throughput; training is judged by itself. */
static void test_verdicts_apart(void **state)
{
    static const char *const ask[] = {"hardware",  "rtx2060",   "batch-sizes", "1,8,64,512,4096",
                                      "precision", "fp32,int8", NULL};
    (void)state;
    assay_result *p = mapped("resnet50", ask);
    uint32_t most = 0, apart = 0;
    for (size_t i = 0; i < assay_result_count(p, "devices"); i++) {
        const char *verdict = text_at(p, "devices.%zu.verdict", i);
        bool trains = strcmp(text_at(p, "devices.%zu.precision", i), "int8") != 0;
        most += strcmp(verdict, "maximum throughput") == 0;
        if (!trains)
            continue;
        const char *training = text_at(p, "devices.%zu.training_verdict", i);
        bool fits = number_at(p, "devices.%zu.training_fits", i) == 1;
        assert_int_equal(fits, strcmp(training, "OOM") != 0);
        apart += !fits && number_at(p, "devices.%zu.fits", i) == 1;
    }
    assert_true(apart > 0);
    assert_int_equal(most, 2);
    assay_result_free(p);
}

/* The largest batch leaves a fifth of the memory free, and one more does not. */
static void test_head_room(void **state)
{
    static const char *const tried[] = {"resnet18", "vit_b_16", "gpt2"};
    (void)state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        assay_result *p = mapped(tried[i], (const char *const[]){"hardware", "rtx2060", NULL});
        assert_string_equal(text_at(p, "map.hardware.0.id"), "rtx2060");
        assert_true(*text_at(p, "map.hardware.0.widest_precision_that_fits"));
        assert_true(*text_at(p, "map.hardware.0.cheapest_precision_that_fits"));
        size_t n = count_at(p, "map.hardware.0.precisions");
        assert_true(n > 1);
        for (size_t k = 0; k < n; k++)
            leaves_a_fifth(p, tried[i], k);
        assay_result_free(p);
    }
}

/* At fp16 the RTX 2060 and 3060 have the same rate with fp32 accumulation and about the same bandwidth, the 3090
 * almost three times both. */
static void test_fp16_ranking(void **state)
{
    assay_result *p = mapped("resnet50",
                             (const char *const[]){"hardware", "rtx2060,rtx3060,rtx3090",
                                                   "precision", "fp16", "batch-sizes", "64", NULL});
    placed places[3];
    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_true(placed_at(p, i, &places[i]));
    assert_true(places[0].latency_ms > 0.9 * places[1].latency_ms);
    assert_true(places[0].latency_ms < 1.1 * places[1].latency_ms);
    assert_true(places[0].latency_ms > 2 * places[2].latency_ms);
    assay_result_free(p);
}

/* Layers of each of a few devices add up to its first place; of many there are none. */
static void test_layers_of_devices(void **state)
{
    assay_result *p = mapped(
        "resnet18", (const char *const[]){"hardware", "t4,a100-80", "batch-sizes", "4", NULL});
    double sum[2] = {0};
    size_t n = 0, of_first = 0;
    (void)state;
    for (; n < count_at(p, "map.layers"); n++) {
        bool first = strcmp(text_at(p, "map.layers.%zu.device", n), "t4") == 0;
        double ms = number_at(p, "map.layers.%zu.time_ms", n);
        double percent = number_at(p, "map.layers.%zu.percent_of_peak", n);
        sum[!first] += ms;
        of_first += first;
        assert_true(ms > 0 && percent >= 0 && percent <= 100);
    }
    assert_int_equal(n, 2 * of_first);
    for (size_t i = 0, card = 0; card < 2; i++) {
        placed place;
        assert_true(placed_at(p, i, &place));
        if (strcmp(place.device, card ? "a100-80" : "t4") != 0)
            continue;
        if (fabs(place.latency_ms - sum[card]) > 1e-9 * place.latency_ms)
            fail_msg("%s: %g is not %g", place.device, sum[card], place.latency_ms);
        near_to(place.bound_percent, 100);
        card++;
    }
    assay_result_free(p);
    p = mapped("resnet18", (const char *const[]){"hardware", "all", NULL});
    assert_int_equal(count_at(p, "map.layers"), 0);
    assay_result_free(p);
}

static assay_status map_fails(const char *const *pairs, assay_error *err)
{
    assay_options *o = asked(pairs);
    assay_model *m;
    assay_result *p;
    assert_int_equal(assay_model_open("resnet18", &m, err), ASSAY_OK);
    assay_status s = assay_map(m, o, &p, err);
    assay_result_free(s == ASSAY_OK ? p : NULL);
    assay_model_free(m);
    assay_options_free(o);
    return s;
}

static void test_refusals(void **state)
{
    assay_error err;
    (void)state;
    assert_int_equal(map_fails((const char *const[]){NULL}, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "--hardware"));
    setenv("ASSAY_MACHINE", "/nowhere/machine.json", 1);
    assert_int_equal(map_fails((const char *const[]){"hardware", "this", NULL}, &err),
                     ASSAY_ERR_SYSTEM);
    assert_non_null(strstr(err.message, "machine"));
    unsetenv("ASSAY_MACHINE");
    assert_int_equal(
        map_fails((const char *const[]){"hardware", "t4", "precision", "bf16", NULL}, &err),
        ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(
        map_fails((const char *const[]){"hardware", "t4", "goal", "speed", NULL}, &err),
        ASSAY_ERR_USAGE);
    assert_int_equal(
        map_fails((const char *const[]){"hardware", "t4", "precision", "int4", NULL}, &err),
        ASSAY_ERR_USAGE);
    assert_int_equal(map_fails((const char *const[]){"hardware", "/nowhere/x.json", NULL}, &err),
                     ASSAY_ERR_SYSTEM);
}

static assay_status analyze_on(const char *hardware, const char *precision, assay_result **p,
                               assay_error *err)
{
    assay_options *o = asked(
        (const char *const[]){"hardware", hardware, "precision", precision, NULL});
    assay_model *m;
    assert_int_equal(assay_model_open("resnet18", &m, err), ASSAY_OK);
    assay_status s = assay_analyze(m, o, p, err);
    assay_model_free(m);
    assay_options_free(o);
    return s;
}

static void test_ridge_is_the_threshold(void **state)
{
    assay_result *p;
    assay_error err;
    char *text;
    size_t n;
    (void)state;
    assert_int_equal(analyze_on("a100-80", "fp16", &p, &err), ASSAY_OK);
    assert_int_equal(assay_result_write(p, "json", NULL, &text, &n, &err), ASSAY_OK);
    assert_non_null(strstr(text, "\"threshold\": 153.01"));
    assert_non_null(strstr(text, "\"hardware\": \"a100-80\""));
    assay_free(text);
    assay_result_free(p);
    assert_int_equal(analyze_on("tpu-v4", "fp32", &p, &err), ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(analyze_on("t4,l4", "fp32", &p, &err), ASSAY_ERR_USAGE);
    assert_int_equal(analyze_on("t4", "fp32,fp16", &p, &err), ASSAY_ERR_USAGE);
}

int run_test_roofline(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_bent_lines),
        cmocka_unit_test(test_falling_lines),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_verdicts_apart),
        cmocka_unit_test(test_goals),
        cmocka_unit_test(test_lines_are_exact),
        cmocka_unit_test(test_floors),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_rtx3090),
        cmocka_unit_test(test_head_room),
        cmocka_unit_test(test_fp16_ranking),
        cmocka_unit_test(test_layers_of_devices),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_ridge_is_the_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
