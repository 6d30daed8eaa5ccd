/* Peaks of the built-in devices against units x clock x operations of a unit in a cycle, which is fixed for an
 * architecture: a typing error in a peak, a clock or a number of units shows, and so does a sparse figure.
 *
 * Dense rates with fp32 (int32) accumulation. 0: the architecture has none, or the row has the rate of another part of
 * the chip (the neural engine of a phone). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "device/devices.h"

#define WITHIN 0.05

typedef struct architecture {
    const char *ids; /* separated by blanks */
    double fp32, tf32, fp16, acc16, bf16, fp8, int8, fp4;
} architecture;

static const architecture architectures[] = {
    {"gtx1080", .fp32 = 256, .fp16 = 256, .acc16 = 4, .int8 = 1024},
    {"v100", .fp32 = 128, .fp16 = 1024, .acc16 = 1024, .int8 = 512},
    {"rtx2060", .fp32 = 128, .fp16 = 512, .acc16 = 1024, .int8 = 2048},
    {"t4", .fp32 = 128, .fp16 = 1024, .acc16 = 1024, .int8 = 2048},
    {"rtx3060 rtx3080 rtx3080ti rtx3090", 256, 256, 512, 1024, 512, 0, 2048, 0},
    {"a10 rtx-a6000", 256, 512, 1024, 1024, 1024, 0, 2048, 0},
    {"rtx4060 rtx4060ti rtx4070 rtx4080 rtx4090", 256, 256, 512, 1024, 512, 1024, 2048, 0},
    {"l4 l40s rtx6000-ada", 256, 512, 1024, 1024, 1024, 2048, 2048, 0},
    {"rtx5070 rtx5080 rtx5090", 256, 256, 512, 1024, 512, 1024, 2048, 4096},
    {"rtx-pro-6000", 256, 512, 1024, 1024, 1024, 2048, 2048, 4096},
    {"a100-40-pcie a100-40 a100-80-pcie a100-80", 128, 1024, 2048, 2048, 2048, 0, 4096, 0},
    {"h100-sxm h200", 256, 2048, 4096, 4096, 4096, 8192, 8192, 0},
    {"h100-pcie", 256, 2048, 4096, 4096, 4096, 8192, 8192, 0},
    {"b200 gb200", 256, 4096, 8192, 8192, 8192, 16384, 16384, 32768},
    {"b300", 256, 4096, 8192, 8192, 8192, 16384, 0, 49152}, /* int8: not a power of two */
    {"orin-nano orin-nano-super orin-nx agx-orin", .fp32 = 256, .fp16 = 2048, .int8 = 4096},
    {"thor", 256, 0, 8192, 0, 8192, 16384, 16384, 32768},
    {"mi250x", .fp32 = 128, .fp16 = 1024, .bf16 = 1024, .int8 = 1024},
    {"mi300x mi325x", 256, 1024, 2048, 0, 2048, 4096, 4096, 0},
    {"mi355x", 256, 0, 4096, 0, 4096, 8192, 8192, 16384},
    {"arc-pro-b60", .fp32 = 256, .fp16 = 2048, .bf16 = 2048, .int8 = 4096},
    {"m1-max m2-max m3-max m4-max m4-pro m4 m5 a17-pro a18-pro", .fp32 = 256, .fp16 = 256},
    {"epyc-9654 ryzen-7950x", .fp32 = 32, .bf16 = 64, .int8 = 128},
    {"epyc-9965 epyc-9755 epyc-9555 ryzen-9950x", .fp32 = 64, .bf16 = 128, .int8 = 256},
    {"xeon-8480 xeon-8592 xeon-6980p", .fp32 = 64, .bf16 = 1024, .int8 = 2048},
    {"graviton4", .fp32 = 32, .bf16 = 128, .int8 = 256},
    {"i9-14900k core-ultra-285k", .fp32 = 32, .int8 = 128},
    {"i9-10940x", .fp32 = 64, .int8 = 256},
    {"pi5", .fp32 = 16, .fp16 = 16, .acc16 = 32, .int8 = 64},
};

/* Data sheets that give a peak at another clock than the row's. */
typedef struct other_clock {
    const char *id;
    bool vector; /* of fp32; else of the tensor cores */
    double mhz;
} other_clock;
static const other_clock clocks[] = {
    {"h100-pcie", false, 1620}, {"h100-sxm", true, 1980}, {"h200", true, 1980},
    {"b200", true, 1980},       {"b300", true, 1980},     {"gb200", true, 2140},
};

static bool names(const char *ids, str id)
{
    const char *at = strstr(ids, id.p);
    for (; at; at = strstr(at + 1, id.p))
        if ((at == ids || at[-1] == ' ') && (at[id.n] == ' ' || !at[id.n]))
            return true;
    return false;
}

static double clock_of(const device *d, bool vector)
{
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (str_is(d->id, clocks[i].id) && clocks[i].vector == vector)
            return clocks[i].mhz * 1e6;
    return d->clock_hz;
}

static int differs(const device *d, const char *what, double peak, double rate)
{
    double expected = rate * d->units * clock_of(d, strcmp(what, "fp32") == 0);
    if (!(peak > 0) || !(rate > 0) || fabs(peak / expected - 1) <= WITHIN)
        return 0;
    print_error("%.*s: %s is %.4g, but units x clock x %g are %.4g\n", (int)d->id.n, d->id.p, what,
                peak / 1e12, rate, expected / 1e12);
    return 1;
}

static int differences(const device *d, const architecture *a)
{
    return differs(d, "fp32", d->peak[DEVICE_FP32], a->fp32) +
           differs(d, "tf32", d->peak[DEVICE_TF32], a->tf32) +
           differs(d, "fp16", d->peak[DEVICE_FP16], a->fp16) +
           differs(d, "fp16_acc16", d->fp16_acc16, a->acc16) +
           differs(d, "bf16", d->peak[DEVICE_BF16], a->bf16) +
           differs(d, "fp8", d->peak[DEVICE_FP8], a->fp8) +
           differs(d, "int8", d->peak[DEVICE_INT8], a->int8) + differs(d, "fp4", d->fp4, a->fp4);
}

static const architecture *architecture_of(str id)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (names(architectures[i].ids, id))
            return &architectures[i];
    return NULL;
}

static void peaks_follow_from_units_and_clock(void **state)
{
    device_list l = {.arena = arena_new((size_t)4 << 20)};
    assay_error err = {0};
    int wrong = 0;
    (void)state;
    assert_int_equal(devices_builtin(&l, &err), ASSAY_OK);
    for (uint32_t i = 0; i < l.rows.n; i++) {
        const device *d = &l.rows.items[i];
        const architecture *a = architecture_of(d->id);
        if (d->units > 0 && d->clock_hz > 0 && !a)
            fail_msg("%.*s has units and a clock, but no architecture here", (int)d->id.n, d->id.p);
        wrong += a ? differences(d, a) : 0;
    }
    assert_int_equal(wrong, 0);
    arena_free(l.arena);
}

/* What a new row must say: where it is from and how sure that is. */
static void rows_have_a_source(void **state)
{
    static const char *const words[] = {"measured", "cross-checked",   "read",     "computed",
                                        "recalled", "partly-recalled", "estimated"};
    device_list l = {.arena = arena_new((size_t)4 << 20)};
    assay_error err = {0};
    (void)state;
    assert_int_equal(devices_builtin(&l, &err), ASSAY_OK);
    for (uint32_t i = 0; i < l.rows.n; i++) {
        const device *d = &l.rows.items[i];
        bool known = false;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            known |= str_is(d->certainty, words[k]);
        assert_true(known && d->source.n > 20);
    }
    arena_free(l.arena);
}

int run_test_device_peaks(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_follow_from_units_and_clock),
        cmocka_unit_test(rows_have_a_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
