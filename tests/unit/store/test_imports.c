/* Damaged and hostile lines, imported into a history of every backend and into a SQLite file: the same verdict, the same
 * records. The lines are the corpus of the fuzz target fuzz_history, as they are and with bytes changed, removed and doubled. */
#include <assay/history.h>

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/file.h"
#include "store/store.h"
#include "support/folder.h"
#include "unit/store/both.h"

#define CORPUS "tests/fuzz/corpus/fuzz_history"

enum { VARIANTS = 40, LINES_MAX = 4096 };

static history_place *place;

static const char *file_place(char buf[512], const char *name)
{
    snprintf(buf, 512, "%s", in_test_folder(name));
    return buf;
}

/* Changes a byte, or leaves a piece out, or puts it there twice; which one follows from the seed alone. */
static size_t vary_lines(char *text, size_t n, unsigned seed)
{
    static const char bytes[] = "\"{}[],:\\\0\n\x80 9e-";
    const size_t at = (size_t)rand_r(&seed) % n, length = 1 + (size_t)rand_r(&seed) % 16;
    const size_t end = at + length < n ? at + length : n;
    switch (rand_r(&seed) % 3) {
    case 0:
        text[at] = bytes[(size_t)rand_r(&seed) % (sizeof bytes - 1)];
        return n;
    case 1:
        memmove(text + at, text + end, n - end);
        return n - (end - at);
    default:
        if (n + (end - at) > LINES_MAX)
            return n;
        memmove(text + end, text + at, n - at);
        return n + (end - at);
    }
}

/* Accepted by both or by neither, with the same number of new records. */
static bool import_into_both(store *a, store *b, const char *text, size_t n)
{
    const str lines = {text, (uint32_t)n};
    store_imported in_a = {0}, in_b = {0};
    assay_error err_a = {0}, err_b = {0};
    assay_status of_a = store_import(a, lines, "lines", NULL, &in_a, &err_a);
    assay_status of_b = store_import(b, lines, "lines", NULL, &in_b, &err_b);
    if (of_a != of_b || in_a.added != in_b.added || strcmp(err_a.message, err_b.message) != 0)
        fail_msg("%d '%s' in one, %d '%s' in the other", of_a, err_a.message, of_b, err_b.message);
    return of_a == ASSAY_OK && in_a.added;
}

static int import_variants(store *a, store *b, const char *name)
{
    char path[512], text[LINES_MAX + 1];
    int taken = 0;
    snprintf(path, sizeof path, CORPUS "/%s", name);
    for (unsigned i = 0; i <= VARIANTS; i++) {
        int64_t n = file_read_small(path, text, sizeof text);
        assert_true(n > 0);
        size_t size = i ? vary_lines(text, (size_t)n, i) : (size_t)n;
        taken += size && import_into_both(a, b, text, size);
    }
    return taken;
}

/* A result without a time of its own gets that of the import, which differs between the two. */
static void forget_import_times(char *records)
{
    static const char key[] = "\"created\":\"";
    for (char *at = records; (at = strstr(at, key));) {
        at += sizeof key - 1;
        memset(at, '0', strcspn(at, "\""));
    }
}

/* The records behind the header, which has a time. */
static char *exported_records(store *s)
{
    const store_filter all = {0};
    sbuf text = {0};
    uint64_t n;
    assert_int_equal(store_export(s, &all, &text, &n, NULL), ASSAY_OK);
    char *records = strndup(text.p, text.n);
    sbuf_free(&text);
    memmove(records, strchr(records, '\n'), strlen(strchr(records, '\n')) + 1);
    forget_import_times(records);
    return records;
}

static void test_hostile_lines(void **state)
{
    char path[512];
    store *a, *b;
    int taken = 0;
    (void)state;
    assert_int_equal(store_open(file_place(path, "reference.db"), true, &a, NULL), ASSAY_OK);
    assert_int_equal(store_open(place(path, "imported.db"), true, &b, NULL), ASSAY_OK);
    DIR *corpus = opendir(CORPUS);
    assert_non_null(corpus);
    for (struct dirent *e; (e = readdir(corpus));)
        if (e->d_name[0] != '.')
            taken += import_variants(a, b, e->d_name);
    closedir(corpus);
    assert_true(taken > 20);
    char *of_a = exported_records(a), *of_b = exported_records(b);
    assert_string_equal(of_a, of_b);
    free(of_a);
    free(of_b);
    store_close(a);
    store_close(b);
}

int run_imports_on(history_place *on)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hostile_lines)};
    place = on ? on : file_place;
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}

int run_test_imports(void)
{
    return run_imports_on(NULL);
}
