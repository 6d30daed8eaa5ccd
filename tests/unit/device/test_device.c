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

/* Sentences for a reader: no file names, arrows or notes to ourselves. */
static void check_prose(str source)
{
    static const char *const notes[] = {"->",   "CONFLICT", "wrong",  ".py",
                                        ".csv", ".json",    "branes", "_"};
    char text[600];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(source));
    assert_true(strlen(text) == source.n && text[source.n - 1] == '.');
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (strstr(text, notes[i]))
            fail_msg("'%s' in: %s", notes[i], text);
}

static void test_builtin(void **state)
{
    device_list list = {.arena = arena_new(BYTES)};
    assay_error err = {0};
    (void)state;
    if (devices_builtin(&list, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assert_true(list.rows.n >= 70);
    for (uint32_t i = 0; i < list.rows.n; i++) {
        const device *d = &list.rows.items[i];
        assert_true(d->source.n > 0 && d->certainty.n > 0 && d->id.n > 0);
        check_prose(d->source);
        for (uint32_t k = 0; k < i; k++)
            assert_false(str_eq(d->id, list.rows.items[k].id));
    }
    arena_free(list.arena);
}

/* One rule per column: what the rate with fp16 accumulation is to the one with fp32, and int8 to that. Rows that
 * are not listed have no rate with fp16 accumulation. */
static const struct {
    const char *id;
    double acc16, int8;
} accumulation[] = {
    {"gtx1080", 1.0 / 64, 256},
    {"rtx2060", 2, 2},
    {"rtx3060", 2, 2},
    {"rtx3090", 2, 2},
    {"rtx4090", 2, 2},
    {"rtx5090", 2, 2},
    {"a100-40-pcie", 1, 2},
    {"a100-40", 1, 2},
    {"a100-80-pcie", 1, 2},
    {"a100-80", 1, 2},
    {"h100-pcie", 1, 2},
    {"h100-sxm", 1, 2},
    {"h200", 1, 2},
    {"b200", 1, 2},
    {"l4", 1, 2},
    {"l40s", 1, 2},
    {"t4", 1, 2},
    {"v100", 1, 0.5},
    {"a10", 1, 2},
    {"pi5", 2, 2},
    {"m1-max", 1, 0},
    {"m2-max", 1, 0},
    {"m3-max", 1, 0},
    {"m4-max", 1, 0},
    {"rtx3080", 2, 2},
    {"rtx3080ti", 2, 2},
    {"rtx4060", 2, 2},
    {"rtx4060ti", 2, 2},
    {"rtx4070", 2, 2},
    {"rtx4080", 2, 2},
    {"rtx5070", 2, 2},
    {"rtx5080", 2, 2},
    {"rtx-a6000", 1, 2},
    {"rtx6000-ada", 1, 2},
    {"rtx-pro-6000", 1, 2},
    {"gb200", 1, 2},
    {"b300", 1, 0}, /* int8 is slow there */
    {"m4", 1, 0},
    {"m4-pro", 1, 0},
    {"m5", 1, 0},
    {"a17-pro", 1, 0},
    {"a18-pro", 1, 0},
    {"snapdragon-8-elite", 2, 0},
    {"dimensity-9400", 2, 0},
    {"tensor-g4", 2, 0},
    {"snapdragon-8-gen3", 2, 0}, /* int8: 0 is another unit */
};

static bool about(double a, double b)
{
    return a > 0.97 * b && a < 1.03 * b;
}

static void check_accumulation(const device *d)
{
    size_t i = 0;
    while (i < sizeof accumulation / sizeof *accumulation && !str_is(d->id, accumulation[i].id))
        i++;
    if (i == sizeof accumulation / sizeof *accumulation) {
        assert_true(d->fp16_acc16 == 0);
        return;
    }
    if (!about(d->fp16_acc16, accumulation[i].acc16 * d->peak[DEVICE_FP16]) ||
        (accumulation[i].int8 > 0 &&
         !about(d->peak[DEVICE_INT8], accumulation[i].int8 * d->fp16_acc16)))
        fail_msg("%s: fp16 %g and %g, int8 %g", accumulation[i].id, d->peak[DEVICE_FP16],
                 d->fp16_acc16, d->peak[DEVICE_INT8]);
}

static void test_columns(void **state)
{
    device_list list = chosen("all");
    (void)state;
    for (uint32_t i = 0; i < list.rows.n; i++) {
        const device *d = &list.rows.items[i];
        check_accumulation(d);
        if (d->peak[DEVICE_FP16] > 0 && d->peak[DEVICE_BF16] > 0)
            assert_true(about(d->peak[DEVICE_FP16], d->peak[DEVICE_BF16]));
        if (d->peak[DEVICE_FP16] > 0 && d->peak[DEVICE_TF32] > 0)
            assert_true(about(d->peak[DEVICE_FP16], 2 * d->peak[DEVICE_TF32]));
        if (d->peak[DEVICE_FP16] > 0 && d->peak[DEVICE_FP8] > 0)
            assert_true(about(d->peak[DEVICE_FP8], 2 * d->peak[DEVICE_FP16]) ||
                        str_is(d->id, "gaudi3")); /* whose matrix engines have one rate */
    }
    arena_free(list.arena);
}

/* By fp16 a card of 2019 is not above its successors of the same rate, nor above a T4. */
static void test_ranking(void **state)
{
    device_list list = chosen("gtx1080,rtx2060,t4,rtx3090,a10,rtx4090,rtx5090,a100-80,h100");
    (void)state;
    for (uint32_t i = 1; i < list.rows.n; i++)
        assert_true(list.rows.items[i - 1].peak[DEVICE_FP16] <
                    list.rows.items[i].peak[DEVICE_FP16]);
    arena_free(list.arena);
    list = chosen("rtx2060,rtx3060");
    assert_true(about(list.rows.items[0].peak[DEVICE_FP16], list.rows.items[1].peak[DEVICE_FP16]));
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
    assert_int_equal(list.rows.n, 3); /* rtx3090 once */
    assert_true(str_is(list.rows.items[0].id, "rtx3090"));
    assert_true(str_is(list.rows.items[1].id, "t4"));
    assert_true(str_is(list.rows.items[2].id, "h100-sxm"));
    near_to(list.rows.items[0].bandwidth, 936e9);
    near_to(list.rows.items[0].memory_bytes, 24.0 * 1024 * 1024 * 1024);
    arena_free(list.arena);
}

static void test_classes(void **state)
{
    static const struct {
        const char *words;
        uint32_t n;
        const char *first;
    } rows[] = {{"jetson", 5, "orin-nano"},
                {"edge", 6, "orin-nano"},
                {"TPU", 3, "tpu-v4"},
                {"apple,jetson", 14, "m1-max"},
                {"jetson,edge", 6, "orin-nano"},
                {"agx-orin,edge", 6, "agx-orin"},
                {"gpu", 37, "gtx1080"},
                {"nvidia,amd", 47, "gtx1080"},
                {"cpu,epyc-9654", 13, "epyc-9654"},
                {"all,jetson", 73, "gtx1080"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        device_list list = chosen(rows[i].words);
        assert_int_equal(list.rows.n, rows[i].n);
        assert_true(str_is(list.rows.items[0].id, rows[i].first));
        arena_free(list.arena);
    }
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
            assert_non_null(strstr(err.message, "mean rtx3090"));
        if (i == 1)
            assert_non_null(strstr(err.message, "assay devices"));
        arena_free(list.arena);
    }
}

static void test_own_json(void **state)
{
    static const char text[] =
        "{\"devices\": [{\"name\": \"Mine\", \"class\": \"gpu\", \"fp32_tflops\": 10, "
        "\"fp16_tflops\": "
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
    const char *row; /* class,fp32,tf32,fp16,fp8,int8,memory,bandwidth,tdp; and acc16,bf16 */
    const char *why; /* a word of the message; NULL: accepted */
} refused;

static const refused rows[] = {
    {"gpu,35.6,35.6,71,,284,24,936,350", NULL},
    {"gpu,35.6,35.6,71,,284,24,7488,350", "gigabits"},          /* 936 GB/s in bits */
    {"gpu,35.6,35.6,71,,284,24,117,350", "8"},                  /* divided once too often */
    {"gpu,35.6,35.6,142,,284,24,936,350", "sparsity"},          /* fp16 alone sparse */
    {"gpu,104.8,104.8,209.5,419,1676,32,1792,575", "sparsity"}, /* as onnx-tool has the 5090 */
    {"gpu,51.2,378,1600,1513,1513,80,2000,350", "sparsity"},    /* as onnx-tool has the H100 */
    {"gpu,19.5,312,624,,1248,80,2039,400", "sparsity"},         /* an A100 sparse all over */
    {"gpu,66.9,989,1979,3958,3958,80,3350,700", "sparsity"},    /* an H100 sparse all over */
    {"gpu,35.6,35.6,71,,284,24576,936,350", "MiB"},
    {"gpu,35.6,35.6,71,,284,25769803776,936,350", "memory_gib"},
    {"gpu,35.6,35.6,71,,284,24,936000000000,350", "bandwidth_gbs"},
    {"gpu,35600000000000,,,,,24,936,350", "10^12"},
    {"gpu,0,,71,,284,24,936,350", "fp32_tflops"},
    {"gpu,35.6,,71,,284,24,-936,350", "bandwidth_gbs"},
    {"gpu,35.6,,71,,284,24,nan,350", "bandwidth_gbs"},
    {"gpu,35.6,,71,,284,24,1e999,350", "bandwidth_gbs"},
    {"gpu,,,,,,24,936,350", ""},
    {"gpu,35.6,,,,,24,,350", "bandwidth_gbs"},
    {"gpu,35.6,,71,,284,24,936,350000", "tdp_w"},
    {"cpu,7.37,,,,29.5,6144,460.8,360", NULL},
    {"cpu,7.37,,,,29.5,6144,3686,360", "gigabits"},
    {"edge,0.154,,0.307,,0.614,16,136.8,12", "gigabits"},
    {"edge,0.154,,0.307,,0.614,16,2.14,12", "8"},
    {"other,1,,500,,1,1,1000,1", NULL},
    {"gpu,35.6,,71,,284,24,936,350,142,71", NULL},
    {"gpu,35.6,,142,,284,24,936,350,,71", "fp16 accumulation"}, /* beside bf16 */
    {"gpu,35.6,35.6,142,,284,24,936,350", "fp16 accumulation"}, /* beside tf32 */
    {"gpu,35.6,,71,,284,24,936,350,284,71", "sparsity"},        /* acc16 alone sparse */
    {"gpu,35.6,,71,,310,24,936,350,71,", "sparsity"},           /* int8 alone sparse */
    {"gpu,8.87,,8.87,,35.5,8,320,180,0.139,", NULL},            /* no tensor cores */
    {"gpu,23.1,,184.6,,184.6,32,1229,300,,92.3", NULL},         /* the MI100 */
    {"box,1,,,,,1,10,", "class"},
    {"gpu,1", ""},
    {"gpu,\"1", ""},
};

static int fields_of(const char *row)
{
    int n = 1;
    for (; *row; row++)
        n += *row == ',';
    return n;
}

static void test_lint(void **state)
{
    char text[400];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        device_list list = {.arena = arena_new(BYTES)};
        assay_error err = {0};
        snprintf(text, sizeof text,
                 "# mine\nname,class,fp32_tflops,tf32_tflops,fp16_tflops,fp8_tflops,int8_tops,"
                 "memory_gib,bandwidth_gbs,tdp_w%s\r\n\"My \"\"card\"\"\",%s\r\n",
                 fields_of(rows[i].row) > 9 ? ",fp16_acc16_tflops,bf16_tflops" : "", rows[i].row);
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

int run_test_device(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin), cmocka_unit_test(test_ridges),
        cmocka_unit_test(test_columns), cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_classes),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_own_json),
        cmocka_unit_test(test_lint),    cmocka_unit_test(test_broken_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
