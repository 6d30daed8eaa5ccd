/* Numbers with units: every kind, what a bare number is, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/amount.h"

typedef struct amount_row {
    amount_unit unit;
    const char *text;
    double value;
} amount_row;

static void test_units(void **state)
{
    static const amount_row rows[] = {
        {AMOUNT_MS, "100ms", 100},          {AMOUNT_MS, "1.5s", 1500},
        {AMOUNT_MS, "250us", 0.25},         {AMOUNT_MS, "7", 7},
        {AMOUNT_MS, "2 min", 120000},       {AMOUNT_BYTES, "2GB", 2e9},
        {AMOUNT_BYTES, "2GiB", 0x1p31},     {AMOUNT_BYTES, "512", 512},
        {AMOUNT_BYTES, "100mb", 1e8},       {AMOUNT_BYTES, "32K", 32768},
        {AMOUNT_BYTES, "1T", 0x1p40},       {AMOUNT_COUNT, "5G", 5e9},
        {AMOUNT_COUNT, "30M", 3e7},         {AMOUNT_COUNT, "7B", 7e9},
        {AMOUNT_COUNT, "5GFLOPs", 5e9},     {AMOUNT_COUNT, "4GMACs", 4e9},
        {AMOUNT_COUNT, "1MAC", 1},          {AMOUNT_COUNT, "1e9", 1e9},
        {AMOUNT_COUNT, "12 params", 12},    {AMOUNT_RATE, "1000samples/s", 1000},
        {AMOUNT_RATE, "2k", 2000},          {AMOUNT_RATE, "1.5krps", 1500},
        {AMOUNT_RATE, "30fps", 30},         {AMOUNT_PERCENT, "80%", 80},
        {AMOUNT_PLAIN, "1.25e-3", 0.00125}, {AMOUNT_PLAIN, "2x", 2},
        {AMOUNT_JOULE, "2mJ", 0.002},       {AMOUNT_WATT, "1.2kW", 1200},
    };
    double v;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(amount_parse(rows[i].unit, str_of(rows[i].text), &v));
        assert_true(fabs(v - rows[i].value) <= 1e-9 * rows[i].value);
    }
}

static void test_refused(void **state)
{
    static const amount_row rows[] = {
        {AMOUNT_MS, "100mb", 0},  {AMOUNT_MS, "", 0},           {AMOUNT_MS, "ms", 0},
        {AMOUNT_MS, "-5", 0},     {AMOUNT_BYTES, "3ms", 0},     {AMOUNT_COUNT, "5GB", 0},
        {AMOUNT_RATE, "5ms", 0},  {AMOUNT_PERCENT, "1.2.3", 0}, {AMOUNT_PLAIN, "1e999", 0},
        {AMOUNT_JOULE, "2MJ", 0}, {AMOUNT_JOULE, "2W", 0},      {AMOUNT_WATT, "2J", 0},
    };
    double v;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_false(amount_parse(rows[i].unit, str_of(rows[i].text), &v));
}

/* 4.35 GB is a hair less in binary, and 4,350,000,000 bytes all the same. */
static void test_whole(void **state)
{
    uint64_t v;
    (void)state;
    assert_true(amount_parse_whole(AMOUNT_BYTES, STR("4.35GB"), &v));
    assert_int_equal(v, 4350000000u);
    assert_true(amount_parse_whole(AMOUNT_BYTES, STR("8388607T"), &v));
    assert_false(amount_parse_whole(AMOUNT_BYTES, STR("8388608T"), &v));
    assert_false(amount_parse_whole(AMOUNT_BYTES, STR("1e30"), &v));
}

static void test_numbers(void **state)
{
    double v;
    (void)state;
    assert_true(amount_number(STR("0.5"), &v) && v == 0.5);
    assert_true(amount_number(STR("1e9"), &v) && v == 1e9);
    assert_false(amount_number(STR("5ms"), &v));
    assert_false(amount_number(STR(""), &v));
}

int run_test_amount(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
