/* Numbers and lists in text: what is a number and what is not, both ends of the ranges, any locale, the items
 * of lists. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/str.h"

static void whole_numbers_are_strict(void **state)
{
    static const char *const wrong[] = {"",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "0x1",
                                        "1.0",
                                        "1e3",
                                        "١",
                                        "18446744073709551616",
                                        "99999999999999999999999"};
    uint64_t u = 7;
    int64_t i = 7;
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_false(str_to_u64(str_of(wrong[k]), &u));
        assert_false(str_to_i64(str_of(wrong[k]), &i));
    }
    assert_false(str_to_u64(STR("-1"), &u));
    assert_false(str_to_i64(STR("9223372036854775808"), &i));
    assert_false(str_to_i64(STR("-9223372036854775809"), &i));
    assert_false(str_to_i64(STR("--1"), &i));
    assert_false(str_to_u64((str){0}, &u));
    assert_true(u == 7 && i == 7);
    assert_true(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_true(str_to_i64(STR("9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(str_to_u64(STR("007"), &u) && u == 7);
    assert_true(str_to_i64(STR("-0"), &i) && i == 0);
}

static void decimals_are_strict(void **state)
{
    static const char *const wrong[] = {"",    "-",   ".",     "-.",    "+1",   " 1",
                                        "1 ",  "1e",  "1e+",   "1.e.",  "1..2", "e5",
                                        "nan", "inf", "1e999", "0x1p3", "1,5"};
    static const struct {
        const char *text;
        double is;
    } right[] = {{"0", 0},
                 {"-0.5", -0.5},
                 {".5", 0.5},
                 {"5.", 5},
                 {"1e-3", 1e-3},
                 {"1.E+2", 100},
                 {"0.1", 0.1},
                 {"1e22", 1e22},
                 {"123456789012345678901234567890", 1.2345678901234568e29},
                 {"1e-400", 0.0},
                 {"5e-324", 5e-324}};
    double v = 7;
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_false(str_to_f64(str_of(wrong[k]), &v));
    assert_true(v == 7);
    for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
        assert_true(str_to_f64(str_of(right[k].text), &v));
        assert_true(v == right[k].is);
    }
    char long_one[500];
    memset(long_one, '1', sizeof long_one);
    assert_false(str_to_f64((str){long_one, 401}, &v));
}

/* As strtod rounds in the C locale, whatever the locale of the program is. */
static void decimals_know_no_locale(void **state)
{
    char text[64];
    double v;
    unsigned seed = 1;
    (void)state;
    static const char *const names[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8"};
    for (int k = 0; k < 3000; k++) {
        setlocale(LC_ALL, "C");
        seed = seed * 1103515245u + 12345u;
        snprintf(text, sizeof text, "%u.%ue%d", seed >> 20, seed >> (seed % 23),
                 (int)(seed % 60) - 30);
        double is = strtod(text, NULL);
        setlocale(LC_ALL, names[k % 3]); /* those that are not installed change nothing */
        assert_true(str_to_f64(str_of(text), &v));
        assert_true(v == is);
    }
    setlocale(LC_ALL, "C");
}

static void numbers_at_the_beginning_are_taken(void **state)
{
    str s = STR("12-34.5e6ms");
    uint64_t u;
    double v;
    (void)state;
    assert_true(str_take_u64(&s, &u) && u == 12);
    assert_true(str_is(s, "-34.5e6ms"));
    assert_false(str_take_u64(&s, &u));
    assert_true(str_take_f64(&s, &v) && v == -34.5e6);
    assert_true(str_is(s, "ms"));
    assert_false(str_take_f64(&s, &v));
    s = STR("5em");
    assert_true(str_take_f64(&s, &v) && v == 5 && str_is(s, "em"));
}

static void expect_items(str list, const char *joined)
{
    char text[100] = "";
    for (str item; str_split(&list, ',', &item);)
        snprintf(text + strlen(text), sizeof text - strlen(text), "[" STR_FMT "]", STR_ARG(item));
    assert_string_equal(text, joined);
}

static void lists_are_split(void **state)
{
    (void)state;
    expect_items(STR("a,bc,d"), "[a][bc][d]");
    expect_items(STR("a,,b"), "[a][][b]");
    expect_items(STR(",a,"), "[][a][]");
    expect_items(STR(""), "[]");
    expect_items((str){0}, "");
    str rest = STR("key=va=lue"), key = str_cut(&rest, '=');
    assert_true(str_is(key, "key") && str_is(rest, "va=lue"));
    str all = STR("none");
    assert_true(str_is(str_cut(&all, '='), "none") && all.n == 0);
    assert_true(str_is(str_trim(STR(" \t a b\r\n")), "a b"));
    assert_int_equal(str_trim(STR(" \n")).n, 0);
}

int run_test_str_parse(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_strict),
        cmocka_unit_test(decimals_are_strict),
        cmocka_unit_test(decimals_know_no_locale),
        cmocka_unit_test(numbers_at_the_beginning_are_taken),
        cmocka_unit_test(lists_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
