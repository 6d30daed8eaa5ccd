/* Sources and cursors: the same walk over memory and over a file, ends and limits, hostile varints,
 * what a walk reads of a big file, and a file that is cut under the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/source.h"

static char folder[256];
static char path[300];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/assay-source-XXXXXX", P_tmpdir);
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static unsigned char *noise(size_t n)
{
    unsigned char *p = malloc(n);
    rng r;
    rng_seed(&r, 11);
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)rng_next(&r);
    return p;
}

/* Every kind of read at odd places, against the bytes themselves. */
static void walk(source *s, const unsigned char *truth, uint64_t size)
{
    assay_error e = {0};
    cursor c = cursor_at(s, 0, size, &e);
    rng r;
    rng_seed(&r, 5);
    while (cursor_left(&c) > 20000) {
        uint64_t at = c.pos, n = rng_next(&r) % 9000;
        unsigned char buf[9000];
        uint32_t word;
        uint64_t wide;
        switch (rng_next(&r) % 6) {
        case 0:
            assert_int_equal(cursor_u8(&c), truth[at]);
            break;
        case 1:
            memcpy(&word, truth + at, 4);
            assert_int_equal(cursor_u32le(&c), word);
            break;
        case 2:
            memcpy(&wide, truth + at, 8);
            assert_true(cursor_u64le(&c) == wide);
            break;
        case 3:
            cursor_copy(&c, buf, n);
            assert_memory_equal(buf, truth + at, n);
            break;
        case 4:
            cursor_skip(&c, n);
            assert_int_equal(c.pos, at + n);
            break;
        default: {
            cursor sub = cursor_sub(&c, n);
            assert_int_equal(cursor_left(&sub), n);
            while (cursor_more(&sub)) {
                at = sub.pos;
                assert_int_equal(cursor_u8(&sub), truth[at]);
            }
        }
        }
        assert_true(cursor_ok(&c));
    }
    assert_int_equal(e.code, ASSAY_OK);
}

static void file_and_memory_read_alike(void **state)
{
    enum { SIZE = 3000001 };
    unsigned char *truth = noise(SIZE);
    source *s;
    (void)state;
    write_file(truth, SIZE);
    assert_int_equal(source_open(path, &s, NULL), ASSAY_OK);
    assert_int_equal(source_size(s), SIZE);
    assert_string_equal(source_name(s), path);
    walk(s, truth, SIZE);
    source_close(s);
    assert_int_equal(source_memory(truth, SIZE, &s, NULL), ASSAY_OK);
    assert_string_equal(source_name(s), "<memory>");
    walk(s, truth, SIZE);
    assert_int_equal(source_bytes_read(s), 0);
    source_close(s);
    source_close(NULL);
    free(truth);
}

static void views_cross_the_window(void **state)
{
    enum { SIZE = 600000 };
    unsigned char *truth = noise(SIZE);
    assay_error e = {0};
    source *s;
    (void)state;
    write_file(truth, SIZE);
    source_open(path, &s, NULL);
    cursor c = cursor_at(s, 1, SIZE - 1, &e);
    for (uint64_t n = 4090; cursor_left(&c) >= n; n = n % 4096 + 1) {
        uint64_t at = c.pos;
        const uint8_t *p = cursor_view(&c, n);
        assert_non_null(p);
        assert_memory_equal(p, truth + at, n);
    }
    assert_null(cursor_view(&c, SOURCE_VIEW_MAX + 1));
    source_close(s);
    free(truth);
}

static uint64_t varint_of(const void *p, uint64_t n, cursor *c, assay_error *e)
{
    source *s;
    *e = (assay_error){0};
    source_memory(p, n, &s, NULL);
    *c = cursor_at(s, 0, n, e);
    uint64_t v = cursor_varint(c);
    source_close(s);
    return v;
}

static void varints(void **state)
{
    static const struct {
        const char *bytes;
        unsigned n;
        uint64_t value;
        bool ok;
    } rows[] = {
        {"\x00", 1, 0, true},
        {"\x7f", 1, 127, true},
        {"\x80\x01", 2, 128, true},
        {"\xff\x7f", 2, 16383, true},
        {"\x80\x80\x01", 3, 16384, true},
        {"\x80\x00", 2, 0, true},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX, true},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, UINT64_C(1) << 63, true},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0, false},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, 0, false},
        {"", 0, 0, false},
        {"\x80", 1, 0, false},
        {"\x80\x80\x80", 3, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cursor c;
        assay_error e;
        assert_true(varint_of(rows[i].bytes, rows[i].n, &c, &e) == rows[i].value);
        assert_int_equal(cursor_ok(&c), rows[i].ok);
        assert_int_equal(e.code, rows[i].ok ? ASSAY_OK : ASSAY_ERR_MALFORMED);
        if (rows[i].ok)
            assert_int_equal(c.pos, rows[i].n);
    }
}

static void a_varint_stops_at_the_end_of_its_message(void **state)
{
    assay_error e = {0};
    source *s;
    (void)state;
    source_memory("\xff\xff\x01", 3, &s, NULL);
    cursor c = cursor_at(s, 0, 3, &e);
    cursor sub = cursor_sub(&c, 1);
    assert_int_equal(cursor_varint(&sub), 0);
    assert_false(cursor_ok(&sub));
    assert_true(cursor_ok(&c));
    assert_int_equal(c.pos, 1);
    source_close(s);
}

static void failure_is_sticky_and_says_where(void **state)
{
    assay_error e = {0};
    char buf[4] = "abc";
    arena *a = arena_new(1000);
    source *s;
    (void)state;
    source_memory("0123456789", 10, &s, NULL);
    cursor c = cursor_at(s, 2, 6, &e);
    cursor_skip(&c, 1);
    cursor sub = cursor_sub(&c, 600);
    assert_false(cursor_ok(&sub) || cursor_ok(&c) || cursor_more(&c) || cursor_more(&sub));
    assert_int_equal(e.code, ASSAY_ERR_MALFORMED);
    assert_int_equal(e.offset, 3);
    assert_non_null(strstr(e.message, "600"));
    assert_int_equal(cursor_u8(&c), 0);
    assert_int_equal(cursor_u32le(&c), 0);
    assert_int_equal(cursor_u64le(&c), 0);
    assert_int_equal(cursor_varint(&c), 0);
    assert_null(cursor_view(&c, 1));
    assert_int_equal(cursor_str(&c, 1, a, 10).n, 0);
    cursor_copy(&c, buf, 3);
    assert_int_equal(buf[0], 0);
    cursor_skip(&c, UINT64_MAX);
    cursor_fail(&c, "Another sentence.");
    assert_int_equal(cursor_left(&c), 0);
    assert_int_equal(e.offset, 3);
    source_close(s);
    arena_free(a);
}

static void ranges_past_the_end_fail(void **state)
{
    static const uint64_t pairs[][2] = {{0, 11},         {10, 1},         {11, 0},
                                        {UINT64_MAX, 1}, {1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    char buf[16];
    source *s;
    (void)state;
    source_memory("0123456789", 10, &s, NULL);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assay_error e = {0};
        cursor c = cursor_at(s, pairs[i][0], pairs[i][1], &e);
        assert_false(cursor_ok(&c) || cursor_more(&c));
        assert_int_equal(e.code, ASSAY_ERR_MALFORMED);
        e = (assay_error){0};
        assert_int_equal(source_read(s, pairs[i][0], buf, pairs[i][1], &e), ASSAY_ERR_MALFORMED);
    }
    assert_int_equal(source_read(s, 10, buf, 0, NULL), ASSAY_OK);
    assert_int_equal(source_read(s, 7, buf, 3, NULL), ASSAY_OK);
    assert_memory_equal(buf, "789", 3);
    source_close(s);
}

static void texts_are_bounded(void **state)
{
    arena *a = arena_new(100);
    assay_error e = {0};
    static char big[10000];
    source *s;
    (void)state;
    memset(big, 'x', sizeof big);
    source_memory(big, sizeof big, &s, NULL);
    cursor c = cursor_at(s, 0, sizeof big, &e);
    str t = cursor_str(&c, 5, a, 5);
    assert_string_equal(t.p, "xxxxx");
    assert_int_equal(cursor_str(&c, 0, a, 5).n, 0);
    assert_true(cursor_ok(&c));
    cursor_str(&c, 6, a, 5);
    assert_false(cursor_ok(&c));
    assert_int_equal(e.code, ASSAY_ERR_MALFORMED);
    e = (assay_error){0};
    c = cursor_at(s, 0, sizeof big, &e);
    assert_null(cursor_str(&c, 5000, a, 10000).p);
    assert_false(cursor_ok(&c));
    assert_int_equal(e.code, ASSAY_ERR_SYSTEM);
    source_close(s);
    arena_free(a);
}

static void skipping_reads_only_what_is_looked_at(void **state)
{
    enum { WEIGHTS = 160, EACH = 600 << 10 };
    assay_error e = {0};
    source *s;
    (void)state;
    write_file("x", 1);
    assert_int_equal(truncate(path, (off_t)WEIGHTS * EACH), 0);
    source_open(path, &s, NULL);
    cursor c = cursor_at(s, 0, source_size(s), &e);
    for (int i = 0; i < WEIGHTS; i++) {
        cursor_varint(&c);
        cursor_varint(&c);
        cursor_skip(&c, EACH - 2);
    }
    assert_true(cursor_ok(&c) && !cursor_more(&c));
    assert_true(source_bytes_read(s) <= WEIGHTS * 2 * 4096);
    source_close(s);
}

static void straight_reading_reads_each_byte_once(void **state)
{
    enum { SIZE = 2000000 };
    assay_error e = {0};
    source *s;
    (void)state;
    write_file("x", 1);
    assert_int_equal(truncate(path, SIZE), 0);
    source_open(path, &s, NULL);
    cursor c = cursor_at(s, 0, SIZE, &e);
    while (cursor_more(&c))
        cursor_u8(&c);
    assert_true(cursor_ok(&c));
    assert_int_equal(source_bytes_read(s), SIZE);
    source_close(s);
}

static void a_file_that_shrinks_is_an_error(void **state)
{
    enum { SIZE = 1 << 20 };
    unsigned char *bytes = noise(SIZE);
    (void)state;
    for (off_t left = 0; left < SIZE; left += 100000) {
        assay_error e = {0};
        char buf[16];
        source *s;
        write_file(bytes, SIZE);
        assert_int_equal(source_open(path, &s, NULL), ASSAY_OK);
        cursor c = cursor_at(s, 0, SIZE, &e);
        cursor_u8(&c);
        assert_int_equal(truncate(path, left), 0);
        while (cursor_more(&c))
            cursor_u8(&c);
        assert_false(cursor_ok(&c));
        assert_int_equal(e.code, ASSAY_ERR_SYSTEM);
        assert_non_null(strstr(e.message, path));
        e = (assay_error){0};
        assert_int_equal(source_read(s, SIZE - 20, buf, 16, &e), ASSAY_ERR_SYSTEM);
        c = cursor_at(s, SIZE - 20, 20, &e);
        assert_int_equal(cursor_u64le(&c), 0);
        assert_false(cursor_ok(&c));
        source_close(s);
        /* Noted for what hands a result out. */
        assert_true(memory_lacked());
        err_clear(&e);
        err_no_memory(&e);
        assert_non_null(strstr(e.message, path));
        memory_forget_lack();
        assert_string_equal(memory_lack_file(), "");
    }
    free(bytes);
}

static void refused(const char *name, const char *part)
{
    assay_error e = {0};
    source *s = (source *)&e;
    assert_int_equal(source_open(name, &s, &e), ASSAY_ERR_SYSTEM);
    assert_null(s);
    assert_non_null(strstr(e.message, part));
}

static void what_is_no_file_is_refused(void **state)
{
    char other[400];
    (void)state;
    unlink(path);
    refused(path, path);
    refused(folder, folder);
    refused("/dev/null", "/dev/null");
    refused("", "empty");
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(path, path);
    unlink(path);
    write_file("x", 1);
    snprintf(other, sizeof other, "%s/inside", path);
    refused(other, other);
    if (geteuid() != 0) {
        chmod(path, 0);
        refused(path, path);
        chmod(path, 0600);
    }
}

static void names_in_refusals_are_safe_and_short(void **state)
{
    assay_error e = {0};
    char name[3000];
    source *s;
    (void)state;
    memset(name, 'a', sizeof name - 1);
    memcpy(name, "\x1b]0;\xff", 5);
    name[sizeof name - 1] = '\0';
    assert_int_equal(source_open(name, &s, &e), ASSAY_ERR_SYSTEM);
    assert_null(strchr(e.message, '\x1b'));
    assert_non_null(strstr(e.message, "\\x1b]0;\\xff"));
    assert_true(strlen(e.message) < 400);
}

static void an_empty_file_has_nothing_to_read(void **state)
{
    assay_error e = {0};
    source *s;
    (void)state;
    write_file("", 0);
    assert_int_equal(source_open(path, &s, &e), ASSAY_OK);
    cursor c = cursor_at(s, 0, 0, &e);
    assert_false(cursor_more(&c));
    assert_true(cursor_ok(&c));
    cursor_u8(&c);
    assert_false(cursor_ok(&c));
    source_close(s);
    assert_int_equal(source_memory(NULL, 0, &s, &e), ASSAY_OK);
    source_close(s);
}

int run_test_source(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_and_memory_read_alike),
        cmocka_unit_test(views_cross_the_window),
        cmocka_unit_test(varints),
        cmocka_unit_test(a_varint_stops_at_the_end_of_its_message),
        cmocka_unit_test(failure_is_sticky_and_says_where),
        cmocka_unit_test(ranges_past_the_end_fail),
        cmocka_unit_test(texts_are_bounded),
        cmocka_unit_test(skipping_reads_only_what_is_looked_at),
        cmocka_unit_test(straight_reading_reads_each_byte_once),
        cmocka_unit_test(a_file_that_shrinks_is_an_error),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(names_in_refusals_are_safe_and_short),
        cmocka_unit_test(an_empty_file_has_nothing_to_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
