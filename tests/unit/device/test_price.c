/* Prices of machines: what is given, what a device row lists, and what is said about them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "device/price.h"

static arena *a;
static device_list rows;

static price_list prices_of(const char *given)
{
    price_list list = {.devices = &rows, .arena = a};
    assay_error err = {0};
    if (given)
        assert_int_equal(price_read(&list, str_of(given), &err), ASSAY_OK);
    return list;
}

static void given_prices_come_first(void **state)
{
    (void)state;
    assay_error err = {0};
    price_list list = prices_of("1.5,L4=0.25\nGraviton=0");
    const device *l4 = devices_called(&rows, STR("l4")), *t4 = devices_called(&rows, STR("t4"));
    assert_true(price_of_device(&list, l4).per_hour == 0.25);
    assert_int_equal(price_check_used(&list, &err), ASSAY_ERR_USAGE);
    assert_true(price_of_device(&list, t4).per_hour == 1.5);
    assert_true(price_of_name(&list, STR("AWS Graviton4 \xc2\xb7 cpu")).per_hour == 0);
    assert_true(str_is(price_of_device(&list, t4).basis, "given"));
    assert_int_equal(price_check_used(&list, &err), ASSAY_OK);
}

static void rows_have_list_prices(void **state)
{
    (void)state;
    price_list list = prices_of(NULL);
    const price l4 = price_of_name(&list, STR("NVIDIA L4"));
    assert_true(l4.per_hour > 0 && str_starts(l4.basis, "list price of 20"));
    assert_true(price_of_name(&list, STR("Xeon \xc2\xb7 l4")).per_hour == l4.per_hour);
    assert_true(isnan(price_of_name(&list, STR("l4-like")).per_hour));
    assert_true(isnan(price_of_name(&list, STR("")).per_hour));
    assert_true(isnan(price_of_device(&list, devices_called(&rows, STR("gtx1080"))).per_hour));
}

/* A price of our own rows has a date and a source. */
static void list_prices_have_a_source(void **state)
{
    (void)state;
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows.rows.n; i++) {
        const device *d = &rows.rows.items[i];
        n += d->price_usd > 0;
        assert_int_equal(d->price_usd > 0, d->price_date.n == 10);
        assert_int_equal(d->price_usd > 0, d->price_source.n > 0);
    }
    assert_true(n > 20);
}

static void refuses_what_is_no_price(void **state)
{
    (void)state;
    static const char *const bad[] = {"l4",     "=1",     "l4=",    "l4=-1", "l4=nan",
                                      "l4=1e9", "l4=1,,", "l4=1 2", "1,l4",  "inf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        price_list list = {.arena = a};
        assay_error err = {0};
        if (price_read(&list, str_of(bad[i]), &err) != ASSAY_ERR_USAGE)
            fail_msg("'%s' is taken for a price", bad[i]);
    }
}

static void dates_are_named(void **state)
{
    (void)state;
    const str day = STR("2026-08-03"), later = STR("2026-08-22");
    assert_true(
        str_is(price_say_all(false, day, later, a), "list prices of 2026-08-03 to 2026-08-22"));
    assert_true(str_is(price_say_all(true, day, day, a), "given, else list price of 2026-08-03"));
    assert_true(str_is(price_say_all(true, (str){0}, (str){0}, a), "given"));
    assert_int_equal(price_say_all(false, (str){0}, (str){0}, a).n, 0);
    assert_true(fabs(price_per_million(3.6, 1000) - 1) < 1e-12 && isnan(price_per_million(1, 0)));
}

static void rows_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"1e6,2026-08-22,x", "1,22.8.2026,x", ",2026-08-22,x", ",,x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        device_list list = {.arena = a};
        assay_error err = {0};
        str text = str_printf(a,
                              "id,fp32_tflops,memory_gib,bandwidth_gbs,price_usd,price_date,"
                              "price_source\nx,1,8,100,%s\n",
                              bad[i]);
        if (devices_csv(text, "x.csv", &list, &err) != ASSAY_ERR_MALFORMED)
            fail_msg("'%s' is taken for a price", bad[i]);
    }
}

static int open_rows(void **state)
{
    (void)state;
    assay_error err = {0};
    a = arena_new((size_t)16 << 20);
    rows = (device_list){.arena = a};
    return devices_builtin(&rows, &err) != ASSAY_OK;
}

static int close_rows(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

int run_test_price(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_prices_come_first),   cmocka_unit_test(rows_have_list_prices),
        cmocka_unit_test(list_prices_have_a_source), cmocka_unit_test(refuses_what_is_no_price),
        cmocka_unit_test(dates_are_named),           cmocka_unit_test(rows_are_checked),
    };
    return cmocka_run_group_tests(tests, open_rows, close_rows);
}
