/* Hardware rows: those built in, those of a user, and those that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "device/devices.h"

#define BYTES ((size_t)16 << 20)

static device_list chosen(const char *words)
{
    device_list list = {.arena = arena_new(BYTES)};
    assay_error err = {0};
    if (devices_choose(str_of(words), &list, &err) != ASSAY_OK)
        fail_msg("%s: %s", words, err.message);
    return list;
}

static void near_to(double a, double b)
{
    double d = a > b ? a - b : b - a;
    if (d > 1e-9 * (a > 0 ? a : 1))
        fail_msg("%.17g is not %.17g", a, b);
}

static void test_builtin(void **state)
{
    device_list list = {.arena = arena_new(BYTES)};
    assay_error err = {0};
    (void)state;
    if (devices_builtin(&list, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assert_int_equal(list.rows.n, 34);
    for (uint32_t i = 0; i < list.rows.n; i++) {
        const device *d = &list.rows.items[i];
        assert_true(d->source.n > 0 && d->certainty.n > 0 && d->id.n > 0);
        for (uint32_t k = 0; k < i; k++)
            assert_false(str_eq(d->id, list.rows.items[k].id));
    }
    arena_free(list.arena);
}

/* The ridges that CHECKLIST 003-E7 names. */
static void test_ridges(void **state)
{
    device_list list = chosen("a100-40,a100-80,rtx4090,epyc-9654,pi5");
    (void)state;
    assert_int_equal((int)(device_ridge(&list.rows.items[0], DEVICE_FP16) + 0.5), 201);
    assert_int_equal((int)(device_ridge(&list.rows.items[1], DEVICE_FP16) + 0.5), 153);
    assert_int_equal((int)(device_ridge(&list.rows.items[2], DEVICE_FP16) + 0.5), 164);
    assert_int_equal((int)(device_ridge(&list.rows.items[3], DEVICE_FP32) + 0.5), 16);
    assert_int_equal((int)(device_ridge(&list.rows.items[4], DEVICE_FP32) + 0.5), 9);
    arena_free(list.arena);
}

static void test_names(void **state)
{
    device_list list = chosen("RTX_3090,NVIDIA T4,h100,rtx3090");
    (void)state;
    assert_int_equal(list.rows.n, 4);
    assert_true(str_is(list.rows.items[0].id, "rtx3090"));
    assert_true(str_is(list.rows.items[1].id, "t4"));
    assert_true(str_is(list.rows.items[2].id, "h100-sxm"));
    near_to(list.rows.items[0].bandwidth, 936e9);
    near_to(list.rows.items[0].memory_bytes, 24.0 * 1024 * 1024 * 1024);
    arena_free(list.arena);
}

static void test_unknown(void **state)
{
    static const char *const words[] = {"rtx3909", "nobody", "", ",", "rtx3090,nothing"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        device_list list = {.arena = arena_new(BYTES)};
        assay_error err = {0};
        assert_int_equal(devices_choose(str_of(words[i]), &list, &err), ASSAY_ERR_USAGE);
        if (i == 0)
            assert_non_null(strstr(err.message, "Did you mean 'rtx3090'?"));
        if (i == 1)
            assert_non_null(strstr(err.message, "There are: rtx2060,"));
        arena_free(list.arena);
    }
}

static void test_own_json(void **state)
{
    static const char text[] =
        "{\"devices\": [{\"name\": \"Mine\", \"class\": \"gpu\", \"fp32_tflops\": 10, \"fp16_tflops\": "
        "20.5, \"tf32_tflops\": null, \"memory_gib\": 16, \"bandwidth_gbs\": 500}]}";
    device_list list = {.arena = arena_new(BYTES)};
    assay_error err = {0};
    (void)state;
    if (devices_json(STR(text), "x.json", &list, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assert_int_equal(list.rows.n, 1);
    assert_true(str_is(list.rows.items[0].id, "Mine"));
    assert_true(str_is(list.rows.items[0].certainty, "yours"));
    near_to(list.rows.items[0].peak[DEVICE_FP16], 20.5e12);
    near_to(list.rows.items[0].peak[DEVICE_TF32], 0);
    arena_free(list.arena);
}

typedef struct refused {
    const char *row; /* class,fp32,tf32,fp16,fp8,int8,memory,bandwidth,tdp */
    const char *why; /* a part of the sentence; NULL: accepted */
} refused;

static const refused rows[] = {
    {"gpu,35.6,35.6,71,,284,24,936,350", NULL},
    {"gpu,35.6,35.6,71,,284,24,7488,350", "gigabits"},          /* 936 GB/s in bits */
    {"gpu,35.6,35.6,71,,284,24,117,350", "by 8"},               /* divided once too often */
    {"gpu,35.6,35.6,142,,284,24,936,350", "sparsity"},          /* fp16 alone sparse */
    {"gpu,104.8,104.8,209.5,419,1676,32,1792,575", "sparsity"}, /* as onnx-tool has the 5090 */
    {"gpu,51.2,378,1600,1513,1513,80,2000,350", "sparsity"},    /* as onnx-tool has the H100 */
    {"gpu,19.5,312,624,,1248,80,2039,400", "sparsity"},         /* an A100 sparse all over */
    {"gpu,66.9,989,1979,3958,3958,80,3350,700", "sparsity"},    /* an H100 sparse all over */
    {"gpu,35.6,35.6,71,,284,24576,936,350", "MiB"},
    {"gpu,35.6,35.6,71,,284,25769803776,936,350", "look like bytes"},
    {"gpu,35.6,35.6,71,,284,24,936000000000,350", "bytes a second"},
    {"gpu,35600000000000,,,,,24,936,350", "10^12"},
    {"gpu,0,,71,,284,24,936,350", "above zero"},
    {"gpu,35.6,,71,,284,24,-936,350", "above zero"},
    {"gpu,35.6,,71,,284,24,nan,350", "above zero"},
    {"gpu,35.6,,71,,284,24,1e999,350", "above zero"},
    {"gpu,,,,,,24,936,350", "no peak"},
    {"gpu,35.6,,,,,24,,350", "must both"},
    {"gpu,35.6,,71,,284,24,936,350000", "watts"},
    {"cpu,7.37,,,,29.5,6144,460.8,360", NULL},
    {"cpu,7.37,,,,29.5,6144,3686,360", "gigabits"},
    {"edge,0.154,,0.307,,0.614,16,136.8,12", "gigabits"},
    {"edge,0.154,,0.307,,0.614,16,2.14,12", "by 8"},
    {"other,1,,500,,1,1,1000,1", NULL},
    {"box,1,,,,,1,10,", "class is"},
    {"gpu,1", "as many fields"},
    {"gpu,\"1", "as many fields"},
};

static void test_lint(void **state)
{
    char text[400];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        device_list list = {.arena = arena_new(BYTES)};
        assay_error err = {0};
        snprintf(text, sizeof text,
                 "# mine\nname,class,fp32_tflops,tf32_tflops,fp16_tflops,fp8_tflops,int8_tops,"
                 "memory_gib,bandwidth_gbs,tdp_w\r\n\"My \"\"card\"\"\",%s\r\n",
                 rows[i].row);
        assay_status s = devices_csv(str_of(text), "x.csv", &list, &err);
        if (!rows[i].why && s != ASSAY_OK)
            fail_msg("%s: %s", rows[i].row, err.message);
        if (!rows[i].why)
            assert_true(str_is(list.rows.items[0].name, "My \"card\""));
        else if (s != ASSAY_ERR_MALFORMED || !strstr(err.message, rows[i].why))
            fail_msg("%s: %d %s", rows[i].row, s, err.message);
        arena_free(list.arena);
    }
}

static void test_broken_json(void **state)
{
    static const char *const texts[] = {
        "",     "{",         "[1]",   "{\"name\": [1]}",  "{\"devices\": 3}",
        "null", "{\"x\":1}", "\"a\"", "{\"name\": \"x\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        device_list list = {.arena = arena_new(BYTES)};
        assay_error err = {0};
        assert_int_equal(devices_json(str_of(texts[i]), "x.json", &list, &err),
                         ASSAY_ERR_MALFORMED);
        arena_free(list.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),     cmocka_unit_test(test_ridges),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_own_json),    cmocka_unit_test(test_lint),
        cmocka_unit_test(test_broken_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
