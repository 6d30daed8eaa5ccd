/* Files: whole reads with a limit, outputs that appear whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/folder.h"
#include "support/skip.h"

typedef struct name {
    char s[400];
} name;

static name in_folder(const char *file)
{
    name n;
    snprintf(n.s, sizeof n.s, "%s/%s", test_folder, file);
    return n;
}

static void put(const char *file, const char *text)
{
    FILE *f = fopen(in_folder(file).s, "wb");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void expect(const char *file, const char *text)
{
    arena *a = arena_new(1 << 20);
    str s;
    assert_int_equal(file_read_all(in_folder(file).s, 1 << 20, a, &s, NULL), ASSAY_OK);
    assert_string_equal(s.p, text);
    assert_int_equal(s.n, strlen(text));
    arena_free(a);
}

static int entries(void)
{
    DIR *d = opendir(test_folder);
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void whole_files_have_a_limit(void **state)
{
    arena *a = arena_new(1 << 20);
    assay_error e = {0};
    str s;
    (void)state;
    put("ten", "0123456789");
    assert_int_equal(file_read_all(in_folder("ten").s, 10, a, &s, &e), ASSAY_OK);
    assert_string_equal(s.p, "0123456789");
    assert_int_equal(file_read_all(in_folder("ten").s, 9, a, &s, &e), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(e.message, "9"));
    e = (assay_error){0};
    assert_int_equal(file_read_all(in_folder("ten").s, 0, a, &s, &e), ASSAY_ERR_MALFORMED);
    e = (assay_error){0};
    assert_int_equal(file_read_all("/dev/zero", 100000, a, &s, &e), ASSAY_ERR_MALFORMED);
    e = (assay_error){0};
    assert_int_equal(file_read_all(test_folder, 100, a, &s, &e), ASSAY_ERR_SYSTEM);
    assert_non_null(strstr(e.message, test_folder));
    e = (assay_error){0};
    assert_int_equal(file_read_all(in_folder("none").s, 100, a, &s, &e), ASSAY_ERR_SYSTEM);
    assert_non_null(strstr(e.message, "none"));
    put("empty", "");
    assert_int_equal(file_read_all(in_folder("empty").s, 0, a, &s, NULL), ASSAY_OK);
    assert_string_equal(s.p, "");
    arena_free(a);
}

static void an_arena_without_room_is_a_system_error(void **state)
{
    arena *a = arena_new(4);
    assay_error e = {0};
    str s;
    (void)state;
    put("ten", "0123456789");
    assert_int_equal(file_read_all(in_folder("ten").s, 10, a, &s, &e), ASSAY_ERR_SYSTEM);
    arena_free(a);
}

static void stat_never_fails(void **state)
{
    (void)state;
    put("ten", "0123456789");
    file_info i = file_stat(in_folder("ten").s);
    assert_true(i.exists && i.is_regular && !i.is_dir && i.size == 10 && i.mtime_ns > 0);
    i = file_stat(test_folder);
    assert_true(i.exists && i.is_dir);
    assert_false(file_stat(in_folder("none").s).exists);
    assert_false(file_stat("").exists);
}

static void output_appears_only_when_committed(void **state)
{
    file_out *f;
    (void)state;
    put("out", "old");
    int before = entries();
    assert_int_equal(file_out_open(in_folder("out").s, &f, NULL), ASSAY_OK);
    assert_int_equal(file_out_write(f, "new text", 8, NULL), ASSAY_OK);
    expect("out", "old");
    assert_int_equal(file_out_commit(f, NULL), ASSAY_OK);
    expect("out", "new text");
    assert_int_equal(entries(), before);
}

static void an_abandoned_output_leaves_nothing(void **state)
{
    file_out *f;
    (void)state;
    put("out", "old");
    int before = entries();
    assert_int_equal(file_out_open(in_folder("out").s, &f, NULL), ASSAY_OK);
    file_out_write(f, "new", 3, NULL);
    file_out_abandon(f);
    file_out_abandon(NULL);
    assert_int_equal(file_out_open(in_folder("never").s, &f, NULL), ASSAY_OK);
    file_out_abandon(f);
    expect("out", "old");
    assert_int_equal(entries(), before);
}

static file_out *write_output(const char *file)
{
    file_out *f = NULL;
    assert_int_equal(file_out_open(in_folder(file).s, &f, NULL), ASSAY_OK);
    assert_int_equal(file_out_write(f, "new", 3, NULL), ASSAY_OK);
    return f;
}

/* A target that became a directory since it was opened cannot be replaced. */
static void several_outputs_appear_together_or_not_at_all(void **state)
{
    assay_error err = {0};
    (void)state;
    put("one", "old");
    for (int hinder = 0; hinder < 2; hinder++) {
        file_out *three[] = {write_output("one"), write_output("two"), write_output("three")};
        if (hinder == 0)
            assert_int_equal(mkdir(in_folder("three").s, 0700), 0);
        const int before = entries();
        assay_status s = file_out_commit_all(three, 3, &err);
        assert_int_equal(s, hinder == 0 ? ASSAY_ERR_SYSTEM : ASSAY_OK);
        expect("one", hinder == 0 ? "old" : "new");
        assert_int_equal(file_stat(in_folder("two").s).exists, hinder == 1);
        /* Three temporary files went; "two" and "three" came. */
        assert_int_equal(entries(), before - (hinder == 0 ? 3 : 1));
        rmdir(in_folder("three").s);
    }
    expect("three", "new");
}

static void modes_and_links_are_kept(void **state)
{
    file_out *f;
    struct stat st;
    (void)state;
    put("real", "old");
    assert_int_equal(chmod(in_folder("real").s, 0640), 0);
    assert_int_equal(symlink("real", in_folder("link").s), 0);
    assert_int_equal(file_out_open(in_folder("link").s, &f, NULL), ASSAY_OK);
    file_out_write(f, "new", 3, NULL);
    assert_int_equal(file_out_commit(f, NULL), ASSAY_OK);
    assert_int_equal(lstat(in_folder("link").s, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(in_folder("real").s, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    expect("real", "new");
}

static void parents_are_created(void **state)
{
    file_out *f;
    (void)state;
    assert_int_equal(file_out_open(in_folder("a//b/c/out").s, &f, NULL), ASSAY_OK);
    file_out_write(f, "deep", 4, NULL);
    assert_int_equal(file_out_commit(f, NULL), ASSAY_OK);
    expect("a/b/c/out", "deep");
}

static void large_outputs_and_holes(void **state)
{
    static char chunk[100000];
    file_out *f;
    arena *a = arena_new(4 << 20);
    str s;
    (void)state;
    memset(chunk, 'z', sizeof chunk);
    assert_int_equal(file_out_open(in_folder("holes").s, &f, NULL), ASSAY_OK);
    for (int i = 0; i < 1000; i++)
        file_out_write(f, "0123456789", 10, NULL);
    file_out_write(f, chunk, sizeof chunk, NULL);
    file_out_hole(f, 1000000, NULL);
    file_out_write(f, "x", 1, NULL);
    file_out_hole(f, 500000, NULL);
    assert_int_equal(file_out_commit(f, NULL), ASSAY_OK);
    assert_int_equal(file_read_all(in_folder("holes").s, 4 << 20, a, &s, NULL), ASSAY_OK);
    assert_int_equal(s.n, 10000 + 100000 + 1000000 + 1 + 500000);
    assert_memory_equal(s.p + 9990, "0123456789z", 11);
    assert_int_equal(s.p[110000], 0);
    assert_int_equal(s.p[1110000], 'x');
    assert_int_equal(s.p[s.n - 1], 0);
    arena_free(a);
}

static void refuse(const char *path, const char *part)
{
    assay_error e = {0};
    file_out *f;
    assert_int_equal(file_out_open(path, &f, &e), ASSAY_ERR_SYSTEM);
    assert_null(f);
    assert_non_null(strstr(e.message, part));
}

static void impossible_outputs_are_refused_at_once(void **state)
{
    (void)state;
    put("ten", "0123456789");
    refuse(test_folder, test_folder);
    refuse(in_folder("new/").s, "new/");
    refuse("", "");
    refuse(in_folder("ten/under").s, "ten/under");
    assert_false(file_stat(in_folder("new").s).exists);
}

static void a_full_device_is_an_error(void **state)
{
    assay_error e = {0};
    file_out *f;
    (void)state;
    if (!file_stat("/dev/full").exists)
        SKIP_BECAUSE("no /dev/full");
    assert_int_equal(file_out_open("/dev/full", &f, &e), ASSAY_OK);
    assert_int_equal(file_out_write(f, "x", 1, &e), ASSAY_OK);
    assert_int_equal(file_out_commit(f, &e), ASSAY_ERR_SYSTEM);
    assert_int_equal(e.os_error, ENOSPC);
    assert_true(file_stat("/dev/full").exists);
}

static void descriptors_are_written_straight(void **state)
{
    int ends[2];
    char device[32], got[16];
    file_out *f;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    snprintf(device, sizeof device, "/dev/fd/%d", ends[1]);
    assert_int_equal(file_out_open(device, &f, NULL), ASSAY_OK);
    file_out_write(f, "ab", 2, NULL);
    file_out_hole(f, 3, NULL);
    assert_int_equal(file_out_commit(f, NULL), ASSAY_OK);
    assert_int_equal(read(ends[0], got, sizeof got), 5);
    assert_memory_equal(got, "ab\0\0\0", 5);
    assert_int_equal(write(ends[1], "c", 1), 1); /* ours is still open */
    close(ends[0]);
    close(ends[1]);
}

static void long_paths_are_cut_in_the_middle(void **state)
{
    char shown[FILE_SHOWN], path[1001];
    (void)state;
    memset(path, 'p', 1000);
    path[1000] = '\0';
    memcpy(path, "start", 5);
    memcpy(path + 997, "end", 3);
    file_shown(path, shown);
    assert_true(strlen(shown) < FILE_SHOWN);
    assert_true(str_starts(str_of(shown), "start") && str_ends(str_of(shown), "end"));
    for (int i = 0; i < 1000; i += 2)
        memcpy(path + i, "\xc3\xa9", 2);
    file_shown(path + 1, shown);
    assert_true(strlen(shown) < FILE_SHOWN);
}

int run_test_file(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_have_a_limit),
        cmocka_unit_test(an_arena_without_room_is_a_system_error),
        cmocka_unit_test(stat_never_fails),
        cmocka_unit_test(output_appears_only_when_committed),
        cmocka_unit_test(an_abandoned_output_leaves_nothing),
        cmocka_unit_test(several_outputs_appear_together_or_not_at_all),
        cmocka_unit_test(modes_and_links_are_kept),
        cmocka_unit_test(parents_are_created),
        cmocka_unit_test(large_outputs_and_holes),
        cmocka_unit_test(impossible_outputs_are_refused_at_once),
        cmocka_unit_test(a_full_device_is_an_error),
        cmocka_unit_test(descriptors_are_written_straight),
        cmocka_unit_test(long_paths_are_cut_in_the_middle),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
