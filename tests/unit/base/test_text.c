/* Text for people: numbers as they are read, and names that a terminal shows and never obeys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/notes.h"
#include "base/text.h"
#include "base/utf8.h"

#define CHECK(expected, call)                         \
    do {                                              \
        sbuf b = {0};                                 \
        call;                                         \
        assert_string_equal(sbuf_cstr(&b), expected); \
        sbuf_free(&b);                                \
    } while (0)

static void thousands(void **state)
{
    (void)state;
    CHECK("0", text_thousands(&b, 0));
    CHECK("999", text_thousands(&b, 999));
    CHECK("1,000", text_thousands(&b, 1000));
    CHECK("1,234,567", text_thousands(&b, 1234567));
    CHECK("18,446,744,073,709,551,615", text_thousands(&b, UINT64_MAX));
}

static void si(void **state)
{
    (void)state;
    CHECK("0", text_si(&b, 0, 2));
    CHECK("0", text_si(&b, -0.0, 2));
    CHECK("512", text_si(&b, 512, 2));
    CHECK("999", text_si(&b, 999, 2));
    CHECK("1.00 k", text_si(&b, 1000, 2));
    CHECK("4.09 G", text_si(&b, 4089184256.0, 2));
    CHECK("4.09 G", text_si(&b, 4089184256.0, -1));
    CHECK("818.92 M", text_si(&b, 818921312.0, 2));
    CHECK("819 M", text_si(&b, 818921312.0, -1));
    CHECK("40.9 G", text_si(&b, 40891842560.0, -1));
    CHECK("865.91 M", text_si(&b, 865910724.0, 2));
    CHECK("1.00 M", text_si(&b, 999999, 2));
    CHECK("1.00 M", text_si(&b, 999999, -1));
    CHECK("999.99 k", text_si(&b, 999990, 2));
    CHECK("-1.50 k", text_si(&b, -1500, 2));
    CHECK("0.25", text_si(&b, 0.25, 2));
    CHECK("12.5", text_si(&b, 12.5, -1));
    CHECK("9.22 E", text_si(&b, 9.223372e18, 2));
    CHECK("n/a", text_si(&b, 0.0 / 0.0, 2));
    CHECK("123.46 GFLOPs", text_si_unit(&b, 123456789012.0, 2, "FLOPs"));
    CHECK("12 FLOPs", text_si_unit(&b, 12, 2, "FLOPs"));
}

static void bytes(void **state)
{
    (void)state;
    CHECK("0 B", text_bytes(&b, 0));
    CHECK("1023 B", text_bytes(&b, 1023));
    CHECK("1.00 KiB", text_bytes(&b, 1024));
    CHECK("97.49 MiB", text_bytes(&b, 102228128));
    CHECK("6.13 MiB", text_bytes(&b, 6422528)); /* 6.125: as the page rounds it */
    CHECK("-0.13", text_fixed(&b, -0.125, 2));
    CHECK("0.00", text_fixed(&b, -0.004, 2));
    CHECK("2.67", text_fixed(&b, 2.675, 2)); /* the double is below the half */
    CHECK("3", text_fixed(&b, 2.5, 0));
    CHECK("1.00 MiB", text_bytes(&b, 1048575));
    CHECK("16.00 EiB", text_bytes(&b, UINT64_MAX));
}

static void hostile_names_become_visible(void **state)
{
    (void)state;
    CHECK("conv1", text_safe(&b, STR("conv1")));
    CHECK("", text_safe(&b, (str){NULL, 0}));
    CHECK("\\x1b[2J\\x07", text_safe(&b, STR("\x1b[2J\a")));
    CHECK("a\\x00b\\x0a\\x0d\\x7f", text_safe(&b, STR("a\0b\n\r\x7f")));
    CHECK("\\x9b"
          "31m",
          text_safe(&b, STR("\x9b"
                            "31m")));                 /* a bare CSI byte */
    CHECK("\\u009b", text_safe(&b, STR("\xc2\x9b"))); /* CSI as valid UTF-8 */
    CHECK("\\u202egnp", text_safe(&b, STR("\xe2\x80\xae"
                                          "gnp")));               /* right-to-left override */
    CHECK("\\U000e0041", text_safe(&b, STR("\xf3\xa0\x81\x81"))); /* an invisible tag */
    CHECK("\xc3\xa9\xe5\xb1\x82", text_safe(&b, STR("\xc3\xa9\xe5\xb1\x82")));
    CHECK("\\xc3", text_safe(&b, STR("\xc3")));                   /* cut off */
    CHECK("\\xc0\\xaf", text_safe(&b, STR("\xc0\xaf")));          /* overlong */
    CHECK("\\xed\\xa0\\x80", text_safe(&b, STR("\xed\xa0\x80"))); /* surrogate */
    CHECK("\\xf4\\x90\\x80\\x80", text_safe(&b, STR("\xf4\x90\x80\x80")));
}

static void every_byte_is_harmless(void **state)
{
    (void)state;
    for (unsigned lead = 0; lead < 256; lead++) {
        for (unsigned next = 0; next < 256; next++) {
            char raw[2] = {(char)lead, (char)next};
            sbuf b = {0};
            text_safe(&b, (str){raw, 2});
            str safe = {b.p, (uint32_t)b.n};
            assert_true(text_is_utf8(safe));
            for (size_t i = 0; i < b.n; i++)
                assert_true((unsigned char)b.p[i] >= 0x20 && b.p[i] != 0x7f);
            assert_int_equal(text_width((str){raw, 2}), text_width(safe));
            sbuf_free(&b);
        }
    }
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(text_width(STR("")), 0);
    assert_int_equal(text_width(STR("abc")), 3);
    assert_int_equal(text_width(STR("\xe5\xb1\x82")), 2);     /* a Chinese character */
    assert_int_equal(text_width(STR("\xf0\x9f\x98\x80")), 2); /* an emoji */
    assert_int_equal(text_width(STR("e\xcc\x81")), 1);        /* e and a combining accent */
    assert_int_equal(text_width(STR("\xea\xb0\x80")), 2);     /* Hangul */
    assert_int_equal(text_width(STR("\x1b")), 4);
}

static void fitting(void **state)
{
    (void)state;
    CHECK("abc  ", text_fit(&b, STR("abc"), 5));
    CHECK("abc", text_fit(&b, STR("abc"), 3));
    CHECK("a\xe2\x80\xa6"
          "d",
          text_fit(&b, STR("abcd"), 3));
    CHECK("lay\xe2\x80\xa6nv1", text_fit(&b, STR("layer1.0.conv1"), 7));
    CHECK("\xe2\x80\xa6", text_fit(&b, STR("abcd"), 1));
    CHECK("", text_fit(&b, STR("abcd"), 0));
    CHECK("   ", text_fit(&b, STR(""), 3));
}

static void fitting_always_gives_the_width(void **state)
{
    static const char *const names[] = {
        "\xe5\xb1\x82\xe5\xb1\x82\xe5\xb1\x82\xe5\xb1\x82",
        "\x1b[31mred\x1b[0m",
        "a\xcc\x81"
        "b\xcc\x81"
        "c\xcc\x81",
        "mixed\xe5\xb1\x82\x80\xff\xf0\x9f\x98\x80 end",
        "plain.name.of.a.layer",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (unsigned width = 0; width < 40; width++) {
            sbuf b = {0};
            text_fit(&b, str_of(names[i]), width);
            assert_int_equal(text_width((str){b.p, (uint32_t)b.n}), width);
            sbuf_free(&b);
        }
    }
}

static void cutting_into_a_buffer(void **state)
{
    char buf[8];
    (void)state;
    text_safe_into(buf, sizeof buf, STR("abcdefg"));
    assert_string_equal(buf, "abcdefg");
    text_safe_into(buf, sizeof buf, STR("abcdefgh"));
    assert_string_equal(buf, "abcd\xe2\x80\xa6");
    text_safe_into(buf, sizeof buf, STR("ab\x1b\x1b"));
    assert_string_equal(buf, "ab\xe2\x80\xa6");
    text_safe_into(buf, 3, STR("abcdefgh"));
    assert_string_equal(buf, "");
    text_safe_into(buf, 1, STR("a"));
    assert_string_equal(buf, "");
    text_safe_into(buf, 0, STR("a"));
}

static void utf8_of_every_character(void **state)
{
    (void)state;
    for (uint32_t cp = 0x80; cp < 0x110000; cp++) {
        char s[4];
        unsigned n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
        uint32_t got, rest = cp;
        for (unsigned i = n - 1; i > 0; i--, rest >>= 6)
            s[i] = (char)(0x80 | (rest & 0x3f));
        s[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | rest);
        if (cp >= 0xd800 && cp <= 0xdfff) {
            assert_int_equal(utf8_next(s, n, &got), 0);
            continue;
        }
        assert_int_equal(utf8_next(s, n, &got), n);
        assert_int_equal(got, cp);
        assert_int_equal(utf8_next(s, n - 1, &got), 0);
    }
}

static void errors_are_sentences_of_the_first_cause(void **state)
{
    assay_error e;
    (void)state;
    err_clear(&e);
    assert_int_equal(err_fail_at(&e, ASSAY_ERR_MALFORMED, 17, "The name '%s' is bad.", "\x1b[2J"),
                     3);
    assert_string_equal(e.message, "The name '\\x1b[2J' is bad.");
    assert_int_equal(e.offset, 17);
    assert_int_equal(err_no_memory(&e), ASSAY_ERR_MALFORMED);
    assert_string_equal(e.message, "The name '\\x1b[2J' is bad.");
    err_clear(&e);
    assert_int_equal(err_fail_node(&e, ASSAY_ERR_UNSUPPORTED, "n\xff", "No."), 4);
    assert_string_equal(e.node, "n\\xff");
    assert_true(e.offset == ASSAY_NO_OFFSET);
    assert_int_equal(err_fail(NULL, ASSAY_ERR_USAGE, "x"), ASSAY_ERR_USAGE);
    err_clear(NULL);
}

static void long_errors_are_cut_between_characters(void **state)
{
    assay_error e;
    char name[4000];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[sizeof name - 1] = '\0';
    err_clear(&e);
    err_fail_node(&e, ASSAY_ERR_MALFORMED, name, "%s", name);
    assert_true(text_is_utf8(str_of(e.message)) && text_is_utf8(str_of(e.node)));
    assert_true(strlen(e.message) > 700 && str_ends(str_of(e.message), "\xe2\x80\xa6"));
}

static void notes_are_bounded_and_said_once(void **state)
{
    arena *a = arena_new(1 << 24);
    notes n;
    (void)state;
    notes_init(&n, a);
    for (int twice = 0; twice < 2; twice++)
        notes_add(&n, "assumed-dim", STR("x"), "Use --dim.", "The size of %s is %d.", "N", 1);
    assert_int_equal(n.list.n, 1);
    assert_string_equal(n.list.items[0].text.p, "The size of N is 1.");
    assert_string_equal(n.list.items[0].advice.p, "Use --dim.");
    notes_add(&n, "other", STR("x"), NULL, "The size of N is 1.");
    notes_add(&n, "assumed-dim", STR("y"), NULL, "The size of N is 1.");
    assert_int_equal(n.list.n, 3);
    for (int i = 0; i < 100000; i++)
        notes_add(&n, "unknown-op", STR("\x1b"), NULL, "Operator \x1b%d.", i);
    assert_int_equal(n.list.n, 3 + NOTES_MAX_PER_CODE);
    assert_int_equal(n.dropped, 100000 - NOTES_MAX_PER_CODE);
    assert_string_equal(n.list.items[3].text.p, "Operator \\x1b0.");
    assert_true(arena_used(a) < 1 << 18);
    arena_free(a);
}

static void notes_without_memory_are_quiet(void **state)
{
    arena *a = arena_new(700);
    notes n;
    (void)state;
    notes_init(&n, a);
    for (int i = 0; i < 100; i++)
        notes_add(&n, "code", STR("node"), "advice", "Sentence %d.", i);
    assert_true(arena_failed(a));
    assert_true(n.list.n < 100);
    arena_free(a);
}

static void sbuf_fails_for_good(void **state)
{
    sbuf b = {0};
    char big[1000];
    (void)state;
    assert_string_equal(sbuf_cstr(&b), "");
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    sbuf_printf(&b, "%s%d", big, 42);
    assert_int_equal(b.n, 1001);
    assert_true(str_ends(str_of(sbuf_cstr(&b)), "xx42"));
    sbuf_put(&b, big, SIZE_MAX / 2);
    assert_true(b.failed);
    sbuf_puts(&b, "more");
    assert_int_equal(b.n, 1001);
    assert_string_equal(sbuf_cstr(&b), "");
    sbuf_free(&b);
    assert_false(b.failed);
}

int run_test_text(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands),
        cmocka_unit_test(si),
        cmocka_unit_test(bytes),
        cmocka_unit_test(hostile_names_become_visible),
        cmocka_unit_test(every_byte_is_harmless),
        cmocka_unit_test(widths),
        cmocka_unit_test(fitting),
        cmocka_unit_test(fitting_always_gives_the_width),
        cmocka_unit_test(cutting_into_a_buffer),
        cmocka_unit_test(utf8_of_every_character),
        cmocka_unit_test(errors_are_sentences_of_the_first_cause),
        cmocka_unit_test(long_errors_are_cut_between_characters),
        cmocka_unit_test(notes_are_bounded_and_said_once),
        cmocka_unit_test(notes_without_memory_are_quiet),
        cmocka_unit_test(sbuf_fails_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
