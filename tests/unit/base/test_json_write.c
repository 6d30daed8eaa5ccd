/* The JSON writer: layouts, exact numbers, and strings that stay valid JSON whatever is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "base/rng.h"
#include "base/text.h"

static void write_sample(json_writer *w)
{
    json_object(w);
    json_key(w, "a");
    json_u64(w, 1);
    json_key(w, "list");
    json_array(w);
    json_bool(w, true);
    json_null(w);
    json_end(w);
    json_key(w, "none");
    json_array(w);
    json_end(w);
    json_key(w, "shape");
    json_flat_array(w);
    json_i64(w, -1);
    json_flat_object(w);
    json_key(w, "x");
    json_cstr(w, "y");
    json_end(w);
    json_array(w);
    json_u64(w, 2);
    json_u64(w, 3);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void layouts(void **state)
{
    sbuf b = {0};
    json_writer w;
    (void)state;
    json_begin(&w, &b, 0);
    write_sample(&w);
    assert_string_equal(sbuf_cstr(&b), "{\"a\":1,\"list\":[true,null],\"none\":[],"
                                       "\"shape\":[-1,{\"x\":\"y\"},[2,3]]}");
    sbuf_free(&b);
    json_begin(&w, &b, 2);
    write_sample(&w);
    assert_string_equal(
        sbuf_cstr(&b), "{\n  \"a\": 1,\n  \"list\": [\n    true,\n    null\n  ],\n  \"none\": [],\n"
                       "  \"shape\": [-1, {\"x\": \"y\"}, [2, 3]]\n}");
    assert_int_equal(w.depth, 0);
    sbuf_free(&b);
}

static const char *number(sbuf *b, double v)
{
    json_writer w;
    b->n = 0;
    json_begin(&w, b, 0);
    json_f64(&w, v);
    return sbuf_cstr(b);
}

static const char *fixed(sbuf *b, double v, int decimals)
{
    json_writer w;
    b->n = 0;
    json_begin(&w, b, 0);
    json_fixed(&w, v, decimals);
    return sbuf_cstr(b);
}

static void numbers(void **state)
{
    sbuf b = {0};
    json_writer w;
    (void)state;
    assert_string_equal(number(&b, 0.1), "0.1");
    assert_string_equal(number(&b, -0.0), "0");
    assert_string_equal(number(&b, 3), "3");
    assert_string_equal(number(&b, 1.0 / 3), "0.3333333333333333");
    assert_string_equal(number(&b, 1e300), "1e+300");
    assert_string_equal(number(&b, NAN), "null");
    assert_string_equal(number(&b, -INFINITY), "null");
    assert_string_equal(fixed(&b, 4.0891, 2), "4.09");
    assert_string_equal(fixed(&b, 4.0, 3), "4");
    assert_string_equal(fixed(&b, 10.0, 0), "10");
    assert_string_equal(fixed(&b, 100.0, 2), "100");
    assert_string_equal(fixed(&b, -0.001, 2), "0");
    assert_string_equal(fixed(&b, NAN, 2), "null");
    assert_string_equal(fixed(&b, 1e300, 2), "1e+300");
    b.n = 0;
    json_begin(&w, &b, 0);
    json_array(&w);
    json_u64(&w, UINT64_MAX);
    json_u64(&w, 0);
    json_i64(&w, INT64_MIN);
    json_end(&w);
    assert_string_equal(sbuf_cstr(&b), "[18446744073709551615,0,-9223372036854775808]");
    sbuf_free(&b);
}

static void doubles_read_back_as_they_were(void **state)
{
    sbuf b = {0};
    rng r;
    (void)state;
    rng_seed(&r, 7);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&r);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            assert_true(strtod(number(&b, v), NULL) == v);
    }
    assert_true(strtod(number(&b, DBL_MIN / 2), NULL) == DBL_MIN / 2);
    assert_true(strtod(number(&b, DBL_MAX), NULL) == DBL_MAX);
    sbuf_free(&b);
}

static const char *string(sbuf *b, str s)
{
    json_writer w;
    b->n = 0;
    json_begin(&w, b, 0);
    json_str(&w, s);
    return sbuf_cstr(b);
}

static void strings(void **state)
{
    sbuf b = {0};
    (void)state;
    assert_string_equal(string(&b, STR("plain")), "\"plain\"");
    assert_string_equal(string(&b, STR("a\"b\\c/")), "\"a\\\"b\\\\c/\"");
    assert_string_equal(string(&b, STR("\b\f\n\r\t")), "\"\\b\\f\\n\\r\\t\"");
    assert_string_equal(string(&b, STR("\0\x1b")), "\"\\u0000\\u001b\"");
    assert_string_equal(string(&b, STR("\xc3\xa9")), "\"\xc3\xa9\"");
    assert_string_equal(string(&b, STR("\xff"
                                       "a\xc3")),
                        "\"\xef\xbf\xbd"
                        "a\xef\xbf\xbd\"");
    assert_string_equal(string(&b, (str){NULL, 0}), "\"\"");
    sbuf_free(&b);
}

static void any_bytes_become_a_valid_string(void **state)
{
    sbuf b = {0};
    rng r;
    char raw[64];
    (void)state;
    rng_seed(&r, 3);
    for (int i = 0; i < 5000; i++) {
        for (size_t j = 0; j < sizeof raw; j++)
            raw[j] = (char)rng_next(&r);
        string(&b, (str){raw, sizeof raw});
        assert_true(text_is_utf8((str){b.p, (uint32_t)b.n}));
        for (size_t j = 0; j < b.n; j++)
            assert_true((unsigned char)b.p[j] >= 0x20);
    }
    sbuf_free(&b);
}

static void keys_may_be_hostile_too(void **state)
{
    sbuf b = {0};
    json_writer w;
    (void)state;
    json_begin(&w, &b, 0);
    json_object(&w);
    json_key_str(&w, STR("a\":1,\"b\n"));
    json_cstr(&w, NULL);
    json_end(&w);
    assert_string_equal(sbuf_cstr(&b), "{\"a\\\":1,\\\"b\\n\":null}");
    sbuf_free(&b);
}

int run_test_json_write(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),
        cmocka_unit_test(numbers),
        cmocka_unit_test(doubles_read_back_as_they_were),
        cmocka_unit_test(strings),
        cmocka_unit_test(any_bytes_become_a_valid_string),
        cmocka_unit_test(keys_may_be_hostile_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
