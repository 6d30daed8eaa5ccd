/* A machine that was measured and calibrated elsewhere: its calibration read back to the bit, its ceilings as a
 * device, and the times that follow from it. tests/data/machine_calibrated.json is made up: every 3×3 convolution
 * takes 5 µs and 20 µs per million MACs, norms and activations behind one are folded into it. */
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

#include "device/machine.h"
#include "support/values.h"

#define FIXTURE "tests/data/machine_calibrated.json"

static void near_to(double a, double b)
{
    if (fabs(a - b) > 1e-9 * (fabs(a) + fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

static machine *load(arena *a)
{
    machine *m = NULL;
    assay_error err = {0};
    if (machine_load(FIXTURE, a, &m, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    return m;
}

static void the_calibration_is_read_back(void **state)
{
    arena *a = arena_new((size_t)16 << 20);
    machine *m = load(a), *again = ARENA_NEW(a, machine);
    const calibration *c = &m->calibrated;
    assay_error err = {0};
    sbuf text = {0};
    (void)state;
    assert_true(c->present);
    assert_string_equal(c->engine, "ONNX Runtime 1.30.0");
    near_to(c->scale, 1.02);
    near_to(c->kernel_s, -1e-6); /* may be below zero, as no other figure */
    near_to(c->low, 0.83);
    near_to(c->high, 1.48);
    assert_int_equal(c->n_families, 9);
    assert_string_equal(c->families[0].name, "conv");
    assert_int_equal(c->families[0].n_terms, 2);
    near_to(c->families[0].c[1], 2e-5);
    assert_int_equal(c->n_runs, 4);
    assert_string_equal(c->runs[2].model, "vgg13");
    assert_int_equal(c->n_folds, 2);
    assert_true(c->folds[0].pair < c->folds[1].pair); /* they are searched by halving */
    result_write(&machine_kind, m, 2, &text);
    if (result_read_as(&machine_kind, (str){text.p, (uint32_t)text.n}, "text", a, again, &err) !=
        ASSAY_OK)
        fail_msg("%s", err.message);
    assert_memory_equal(&again->calibrated, c, sizeof *c);
    sbuf_free(&text);
    arena_free(a);
}

static void another_machine_is_a_device(void **state)
{
    device_list list = {.arena = arena_new((size_t)16 << 20)};
    assay_error err = {0};
    machine *m = load(list.arena);
    (void)state;
    if (devices_choose(STR("t4," FIXTURE), &list, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assert_int_equal(list.rows.n, 2);
    const device *d = &list.rows.items[1];
    assert_true(str_is(d->id, "bench-7"));
    assert_true(str_is(d->certainty, "measured"));
    near_to(d->peak[DEVICE_FP32], machine_peak(m, STR("float32"), UINT32_MAX));
    near_to(d->bandwidth, machine_bandwidth(m, "DRAM", NULL, UINT32_MAX));
    assert_non_null(d->measured);
    assert_null(list.rows.items[0].measured);
    arena_free(list.arena);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Neither a half-written machine nor one without a bandwidth becomes a device. */
static void a_machine_with_holes_is_refused(void **state)
{
    static const char *const bad[] = {
        "{\"schema\": \"assay.machine/1\"}",
        "{\"schema\": \"assay.machine/1\", \"compute\": 3}",
        "{\"schema\": \"assay.machine/1\", \"topology\": {\"memory_bytes\": -1}}",
        "{\"schema\": \"assay.machine/1\", \"timestamp\": \"",
    };
    char path[] = "/tmp/assay-machine-XXXXXX.json";
    int file = mkstemps(path, 5);
    (void)state;
    assert_true(file >= 0);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        device_list list = {.arena = arena_new((size_t)16 << 20)};
        assay_error err = {0};
        put(path, bad[k]);
        if (devices_choose(str_of(path), &list, &err) != ASSAY_ERR_MALFORMED)
            fail_msg("taken: %s", bad[k]);
        assert_non_null(strstr(err.message, path));
        arena_free(list.arena);
    }
    remove(path);
}

static assay_result *mapped(const char *hardware, const char *precision)
{
    assay_options *o = assay_options_new();
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_error err = {0};
    assert_int_equal(assay_options_set(o, "hardware", hardware, &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "precision", precision, &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "batch-sizes", "1,4", &err), ASSAY_OK);
    assert_int_equal(assay_model_open("resnet18", &m, &err), ASSAY_OK);
    if (assay_map(m, o, &p, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assay_model_free(m);
    assay_options_free(o);
    return p;
}

/* By hand: 16 convolutions of 3×3, three of 1×1, one of three channels, a pooling, the mean, eight sums, the
 * classifier, and Flatten, which nobody saw and which goes by all others together; all else is folded. MACs are
 * ResNet-18's. */
static void times_follow_from_kernels(void **state)
{
    assay_result *p = mapped(FIXTURE, "fp32");
    placed one, four;
    (void)state;
    assert_true(placed_at(p, 0, &one) && placed_at(p, 1, &four));
    assert_string_equal(one.device, "bench-7");
    const double stem = 118.013952, small = 3 * 6.422528, classifier = 0.512,
                 rest = 1814.073344 - stem - small - classifier; /* million MACs */
    double kernels = 16 * 5e-6 + rest * 2e-5 + 3 * 5e-6 + small * 2.5e-5 + 5e-6 + stem * 4e-5 +
                     3e-6 + classifier * 2e-4;
    kernels += 4e-6 + 0.200704 * 2e-3 + 2e-6 + 512e-6 * 1e-2 + 8 * 2e-6 +
               2 * (0.200704 + 0.100352 + 0.050176 + 0.025088) * 5e-4;
    kernels += 3e-6 + 512e-6 * 5e-4;
    near_to(one.latency_ms, (1.02 * kernels + 32 * -1e-6) * 1e3);
    near_to(one.latency_low_ms, one.latency_ms * 0.83);
    near_to(one.latency_high_ms, one.latency_ms * 1.48);
    assert_true(four.latency_ms > 3.5 * one.latency_ms && four.latency_ms < 4 * one.latency_ms);
    assay_result_free(p);
}

/* A precision that was not calibrated is slowed down as fp32 is, and has no interval; beside another device only the
 * machine is calibrated. */
static void other_precisions_have_no_interval(void **state)
{
    assay_result *p = mapped("t4," FIXTURE, "fp32,int8");
    placed x;
    uint32_t with = 0, n = 0;
    (void)state;
    for (; placed_at(p, n, &x); n++) {
        bool calibrated = strcmp(x.device, "bench-7") == 0 && strcmp(x.precision, "fp32") == 0;
        bool own = strcmp(x.device, "bench-7") == 0;
        assert_int_equal(x.latency_high_ms > 0, calibrated || !own);
        with += calibrated;
    }
    assert_true(n > with);
    assert_int_equal(with, 2);
    assay_result_free(p);
}

int run_test_calibrated(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calibration_is_read_back),
        cmocka_unit_test(another_machine_is_a_device),
        cmocka_unit_test(a_machine_with_holes_is_refused),
        cmocka_unit_test(times_follow_from_kernels),
        cmocka_unit_test(other_precisions_have_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
