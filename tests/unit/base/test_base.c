/* Clock, generator and hash: known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/sha256.h"

static void hash_is(const char *text, size_t n, const char *expected)
{
    for (size_t part = 1; part < 200; part += 13) {
        char hex[65];
        sha256 s;
        sha256_begin(&s);
        for (size_t i = 0; i < n; i += part)
            sha256_add(&s, text + i, n - i < part ? n - i : part);
        sha256_end(&s, hex);
        assert_string_equal(hex, expected);
    }
}

/* The examples of FIPS 180-2 and the edges of the padding (55, 56 and 64 bytes). */
static void sha256_known_answers(void **state)
{
    static char as[1000000];
    (void)state;
    memset(as, 'a', sizeof as);
    hash_is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    hash_is(as, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    hash_is(as, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    hash_is(as, sizeof as, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void timestamps_can_be_fixed(void **state)
{
    char buf[32];
    (void)state;
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    clock_timestamp(buf);
    assert_string_equal(buf, "2023-11-14T22:13:20Z");
    setenv("SOURCE_DATE_EPOCH", "soon", 1);
    clock_timestamp(buf);
    assert_int_equal(strlen(buf), 20);
    assert_string_not_equal(buf, "1970-01-01T00:00:00Z");
    setenv("SOURCE_DATE_EPOCH", "9223372036854775807", 1);
    clock_timestamp(buf);
    assert_true(strlen(buf) < 32);
    unsetenv("SOURCE_DATE_EPOCH");
    assert_true(clock_mono_ns() <= clock_mono_ns());
}

static void generator_is_reproducible(void **state)
{
    rng a, b;
    (void)state;
    rng_seed(&a, 42);
    rng_seed(&b, 42);
    for (int i = 0; i < 1000; i++)
        assert_true(rng_next(&a) == rng_next(&b));
    rng_seed(&b, 43);
    assert_true(rng_next(&a) != rng_next(&b));
    /* the state 1, 2, 3, 4 is the one that the algorithm's authors give first outputs for */
    rng c = {{1, 2, 3, 4}};
    assert_true(rng_next(&c) == 11520);
    assert_true(rng_next(&c) == 0);
    assert_true(rng_next(&c) == 1509978240);
}

static void generator_has_the_right_moments(void **state)
{
    enum { N = 200000 };
    double sum = 0, squares = 0, uniform = 0;
    rng r;
    (void)state;
    rng_seed(&r, 0);
    for (int i = 0; i < N; i++) {
        double x = rng_normal(&r), u = rng_uniform(&r);
        assert_true(isfinite(x) && u >= 0 && u < 1);
        sum += x;
        squares += x * x;
        uniform += u;
    }
    assert_true(fabs(sum / N) < 0.02);
    assert_true(fabs(squares / N - 1) < 0.02);
    assert_true(fabs(uniform / N - 0.5) < 0.01);
}

static void checked_arithmetic(void **state)
{
    int64_t s;
    uint64_t u;
    (void)state;
    assert_true(num_add(1, 2, &s) && s == 3);
    assert_false(num_add(INT64_MAX, 1, &s));
    assert_false(num_sub(INT64_MIN, 1, &s));
    assert_false(num_mul(INT64_MIN, -1, &s));
    assert_false(num_addu(UINT64_MAX, 1, &u));
    assert_false(num_mulu(UINT64_C(1) << 32, UINT64_C(1) << 32, &u));
    assert_true(sat_add(NUM_SATURATED, NUM_SATURATED) == NUM_SATURATED);
    assert_true(sat_mul(UINT64_MAX, 2) == NUM_SATURATED);
    assert_true(sat_mul(UINT64_MAX, 0) == 0);
    assert_int_equal(num_ceil_div(7, 2), 4);
    assert_int_equal(num_ceil_div(8, 2), 4);
    assert_int_equal(num_ceil_div(INT64_MAX, 1), INT64_MAX);
}

int run_test_base(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_known_answers),
        cmocka_unit_test(timestamps_can_be_fixed),
        cmocka_unit_test(generator_is_reproducible),
        cmocka_unit_test(generator_has_the_right_moments),
        cmocka_unit_test(checked_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
