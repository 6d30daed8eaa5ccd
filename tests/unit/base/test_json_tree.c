/* JSON read: single values by the scanner, documents as a tree. Values and paths, what is strict and what is
 * lenient, where a mistake is reported, limits, hostile documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/json_items.h"
#include "base/json_scan.h"
#include "base/json_tree.h"
#include "base/json_write.h"

#define LIMIT ((size_t)64 << 20)

static const json_tree_options lenient = {.lenient = true};

static json_value tree_of(const char *text, const json_tree_options *how, arena *a)
{
    assay_error err = {0};
    json_value d;
    if (json_tree_parse(str_of(text), "t.json", how, a, &d, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    return d;
}

static assay_error error_of(str text, const json_tree_options *how, assay_status code)
{
    arena *a = arena_new(LIMIT);
    assay_error err = {0};
    json_value d;
    assert_int_equal(json_tree_parse(text, "t.json", how, a, &d, &err), code);
    arena_free(a);
    return err;
}

/* ---- values ---- */

static void values_are_found_by_path(void **state)
{
    arena *a = arena_new(LIMIT);
    json_value d = tree_of("\xef\xbb\xbf{\"n\": -12, \"t\": \"a\\u0062\", \"b\": true, \"r\": 1e3, "
                           "\"z\": null, \"l\": [1, {\"k\": [\"x\"]}]}",
                           NULL, a);
    (void)state;
    assert_int_equal(d.n, 6);
    assert_int_equal(json_path(&d, "n")->kind, JSON_INT);
    assert_int_equal(json_path(&d, "n")->i, -12);
    assert_true(json_path(&d, "n")->f == -12);
    assert_int_equal(json_path(&d, "r")->kind, JSON_REAL);
    assert_true(json_path(&d, "r")->f == 1000);
    assert_true(str_is(json_path(&d, "t")->s, "ab"));
    assert_true(json_is_true(json_path(&d, "b")));
    assert_int_equal(json_path(&d, "z")->kind, JSON_NULL);
    assert_true(str_is(json_path(&d, "l.1.k.0")->s, "x"));
    assert_ptr_equal(json_get(&d, "l"), &d.items[5]);
    const char *const absent[] = {"x",   "n.x", "l.2", "l.01x", "l.-1", "l.99999999999999",
                                  "t.0", "l..k"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_ptr_equal(json_path(&d, absent[i]), &json_absent);
    assert_null(json_get(&d, "x"));
    assert_null(json_get(NULL, "x"));
    assert_null(json_get(json_get(&d, "l"), "x"));
    arena_free(a);
}

/* The text may go; keys and texts are C strings. */
static void a_tree_owns_what_it_holds(void **state)
{
    arena *a = arena_new(LIMIT);
    char text[] = "{\"key\": [\"plain\", \"esc\\naped\", 1.50, \"\"]}";
    json_value d = tree_of(text, NULL, a);
    (void)state;
    memset(text, 'x', sizeof text);
    assert_string_equal(d.items[0].key.p, "key");
    assert_string_equal(json_path(&d, "key.0")->s.p, "plain");
    assert_string_equal(json_path(&d, "key.1")->s.p, "esc\naped");
    assert_string_equal(json_path(&d, "key.2")->s.p, "1.50");
    assert_string_equal(json_path(&d, "key.3")->s.p, "");
    arena_free(a);
}

static void counted_lists_keep_no_items(void **state)
{
    static const char *const names[] = {"layers", NULL};
    const json_tree_options how = {.count_only = names};
    arena *a = arena_new(LIMIT);
    json_value d = tree_of("{\"layers\": [1, {\"layers\": 2}, 3], \"x\": {\"layers\": [4]}}", &how,
                           a);
    (void)state;
    assert_int_equal(json_path(&d, "layers")->n, 3);
    assert_null(json_path(&d, "layers")->items);
    assert_ptr_equal(json_path(&d, "layers.0"), &json_absent);
    assert_int_equal(json_path(&d, "x.layers.0")->i, 4);
    arena_free(a);
}

/* ---- numbers ---- */

static void whole_numbers_stay_exact(void **state)
{
    arena *a = arena_new(LIMIT);
    json_value d = tree_of("[9223372036854775807, -9223372036854775808, -0]", NULL, a);
    (void)state;
    assert_true(d.items[0].i == INT64_MAX);
    assert_true(d.items[1].i == INT64_MIN);
    assert_int_equal(d.items[2].kind, JSON_INT);
    json_value wide = tree_of("[18446744073709551615, -9223372036854775809]", &lenient, a);
    assert_int_equal(wide.items[0].kind, JSON_REAL);
    assert_true(str_is(wide.items[0].s, "18446744073709551615"));
    assert_int_equal(wide.items[1].kind, JSON_REAL);
    assert_int_equal(error_of(STR("[1, 9223372036854775808]"), NULL, ASSAY_ERR_MALFORMED).offset,
                     23);
    arena_free(a);
}

static bool scan_one(const char *text, int64_t *out)
{
    assay_error err = {0};
    json_scan s = scan_text(str_of(text), 0, "t", NULL, &err);
    return scan_i64(&s, out) && scan_end(&s);
}

/* What the writer writes can be read: both ends of int64. */
static void every_int64_is_read_back(void **state)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    static const char *const wrong[] = {
        "-9223372036854775809", "9223372036854775808", "--1", "-", "- 1", "-01", "1.0", "1e2"};
    int64_t v = 7;
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sbuf b = {0};
        json_writer w;
        json_begin(&w, &b, 0);
        json_i64(&w, ends[i]);
        assert_true(scan_one(sbuf_cstr(&b), &v));
        assert_true(v == ends[i]);
        sbuf_free(&b);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(scan_one(wrong[i], &v));
}

/* ---- mistakes ---- */

static void mistakes_have_line_column_and_byte(void **state)
{
    static const struct {
        const char *text, *place;
        uint64_t offset;
    } cases[] = {
        {"", "line 1, column 1 ", 0},
        {"{\n \"a\": }", "line 2, column 7 ", 8},
        {"{\"a\": 1}x", "line 1, column 9 ", 8},
        {"{\"a\": tru}", "line 1, column 7 ", 6},
        {"{\"\xc3\xa4\": [1, }", "line 1, column 11 ", 11},
        {"\xef\xbb\xbf[\n\n1 2]", "line 3, column 3 ", 8},
        {"{\"a\": 1,\n\"b\": 2, \"a\": 3}", "line 2, column 9 ", 17},
        {"[\"a\\u0000\"]", "line 1", 9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error err = error_of(str_of(cases[i].text), NULL, ASSAY_ERR_MALFORMED);
        assert_non_null(strstr(err.message, "t.json"));
        if (!strstr(err.message, cases[i].place))
            fail_msg("%s is not in: %s", cases[i].place, err.message);
        assert_int_equal(err.offset, cases[i].offset);
    }
}

/* The same in a small object, where the map takes over, and far behind that. */
static void repeated_keys_are_refused_at_any_size(void **state)
{
    static const int sizes[] = {1, 2, 15, 16, 17, 18, 1000};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int twice = 0; twice < sizes[k]; twice += 1 + sizes[k] / 7) {
            sbuf b = {0};
            for (int i = 0; i < sizes[k]; i++)
                sbuf_printf(&b, "%s\"key%d\": {\"key%d\": 0}", i ? ", " : "{", i, i);
            size_t unique = b.n;
            sbuf_putc(&b, '}');
            arena *a = arena_new(LIMIT);
            assert_int_equal(tree_of(sbuf_cstr(&b), NULL, a).n, sizes[k]);
            b.n = unique;
            sbuf_printf(&b, ", \"key%d\": 0}", twice);
            assay_error err = error_of(str_of(sbuf_cstr(&b)), NULL, ASSAY_ERR_MALFORMED);
            assert_non_null(strstr(err.message, "duplicate"));
            assert_int_equal(err.offset, unique + 2);
            assert_int_equal(tree_of(sbuf_cstr(&b), &lenient, a).n, sizes[k] + 1);
            arena_free(a);
            sbuf_free(&b);
        }
}

/* ---- limits ---- */

static void depth_is_limited(void **state)
{
    char text[200];
    (void)state;
    for (int depth = 63; depth <= 65; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        str s = {text, (uint32_t)(2 * depth)};
        error_of(s, NULL, depth <= 64 ? ASSAY_OK : ASSAY_ERR_MALFORMED);
        error_of(s, &lenient, depth <= 64 ? ASSAY_OK : ASSAY_ERR_MALFORMED);
    }
}

/* Whatever the limit, the outcome is a tree or "out of memory". */
static void memory_is_limited(void **state)
{
    sbuf b = {0};
    bool read = false;
    (void)state;
    for (int i = 0; i < 40; i++)
        sbuf_printf(&b, "%s\"key%d\": [1, \"a\\n\", {\"x\": \"y\"}]", i ? ", " : "{", i);
    sbuf_putc(&b, '}');
    for (size_t limit = 64; !read; limit += 64) {
        arena *a = arena_new(limit);
        assay_error err = {0};
        json_value d;
        assay_status s = json_tree_parse(str_of(sbuf_cstr(&b)), "t", NULL, a, &d, &err);
        assert_true(s == ASSAY_OK || s == ASSAY_ERR_SYSTEM);
        read = s == ASSAY_OK;
        arena_free(a);
    }
    sbuf_free(&b);
}

/* ---- items of a list ---- */

static cursor cursor_of(source **s, const char *text, assay_error *err)
{
    assert_int_equal(source_memory(text, strlen(text), s, err), ASSAY_OK);
    return cursor_at(*s, 0, strlen(text), err);
}

static void items_come_one_by_one(void **state)
{
    static const char text[] = " [1 ,\"a]\\\"\", {\"b\": [\"}\"]},[ ] ,true] ";
    static const char *const want[] = {"1", "\"a]\\\"\"", "{\"b\": [\"}\"]}", "[ ]", "true"};
    arena *a = arena_new(LIMIT);
    assay_error err = {0};
    source *s;
    json_items it = json_items_of(cursor_of(&s, text, &err), a);
    uint64_t offset;
    str item;
    uint32_t n = 0;
    (void)state;
    for (; json_items_next(&it, &item, &offset); n++) {
        assert_true(n < 5 && str_is(item, want[n]));
        assert_memory_equal(text + offset, item.p, item.n);
    }
    assert_true(cursor_ok(&it.c));
    assert_int_equal(n, 5);
    source_close(s);
    arena_free(a);
}

static void broken_lists_fail_with_an_offset(void **state)
{
    static const struct {
        const char *text;
        uint64_t offset;
    } cases[] = {{"", 0},    {"{}", 1},  {"[", 1},    {"[1 2]", 4},
                 {"[1,", 3}, {"[{]", 3}, {"[] x", 4}, {"[\"a", 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arena *a = arena_new(LIMIT);
        assay_error err = {0};
        source *s;
        json_items it = json_items_of(cursor_of(&s, cases[i].text, &err), a);
        uint64_t offset;
        str item;
        while (json_items_next(&it, &item, &offset))
            continue;
        assert_false(cursor_ok(&it.c));
        assert_int_equal(err.code, ASSAY_ERR_MALFORMED);
        assert_int_equal(err.offset, cases[i].offset);
        source_close(s);
        arena_free(a);
    }
}

int run_test_json_tree(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_path),
        cmocka_unit_test(a_tree_owns_what_it_holds),
        cmocka_unit_test(counted_lists_keep_no_items),
        cmocka_unit_test(whole_numbers_stay_exact),
        cmocka_unit_test(every_int64_is_read_back),
        cmocka_unit_test(mistakes_have_line_column_and_byte),
        cmocka_unit_test(repeated_keys_are_refused_at_any_size),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(items_come_one_by_one),
        cmocka_unit_test(broken_lists_fail_with_an_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
