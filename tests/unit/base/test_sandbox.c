/* What a confined process can and cannot do, and which files its broker hands out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/confined.h"
#include "base/file.h"
#include "base/sandbox.h"

static bool is_missing(void)
{
    assay_error err = {0};
    if (sandbox_check(&err) == ASSAY_OK)
        return false;
    assert_int_equal(err.code, ASSAY_ERR_UNSUPPORTED);
    return true;
}

/* ---- system calls ---- */

typedef void attempt_fn(void);

static void try_open(void)
{
    close(open("/etc/passwd", O_RDONLY));
}

static void try_create(void)
{
    close(open("/tmp/assay-sandbox-made", O_WRONLY | O_CREAT, 0600));
}

static void try_socket(void)
{
    close(socket(AF_INET, SOCK_STREAM, 0));
}

static void try_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void try_fork(void)
{
    if (fork() == 0)
        _exit(0);
}

static void try_kill(void)
{
    kill(getppid(), 0);
}

static void try_executable_memory(void)
{
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void try_mapped_file(void)
{
    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
}

static void try_made_executable(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void try_link(void)
{
    symlink("/etc/passwd", "/tmp/assay-sandbox-link");
}

#ifndef ASSAY_SANITIZED
static void try_write_elsewhere(void)
{
    (void)!write(1, "", 1);
}
#endif

static assay_status attempt(void *ctx, sbuf *out, assay_error *err)
{
    (void)err;
    attempt_fn *const *what = ctx;
    (*what)();
    sbuf_puts(out, "alive");
    return ASSAY_OK;
}

static void test_forbidden(void **state)
{
    static attempt_fn *const attempts[] = {
        try_open,
        try_create,
        try_socket,
        try_exec,
        try_fork,
        try_kill,
        try_link,
        try_executable_memory,
        try_mapped_file,
        try_made_executable,
#ifndef ASSAY_SANITIZED
        try_write_elsewhere,
#endif
    };
    (void)state;
    if (is_missing())
        skip();
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        confined_call call = {.run = attempt, .ctx = (void *)(uintptr_t)&attempts[i], .most = 100};
        sbuf out = {0};
        assay_error err = {0};
        assert_int_equal(confined_run(&call, &out, &err), ASSAY_ERR_MALFORMED);
        assert_non_null(strstr(err.message, "sandbox"));
        assert_int_equal(out.n, 0);
        sbuf_free(&out);
    }
}

/* Memory small and large, sorting, time, floating point: what an analysis does. */
static assay_status compute(void *ctx, sbuf *out, assay_error *err)
{
    const size_t sizes[] = {100, 10000, (size_t)1 << 20, (size_t)64 << 20};
    (void)ctx;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = malloc(sizes[i]);
        if (!p)
            return err_no_memory(err);
        memset(p, 1, sizes[i]);
        p = realloc(p, sizes[i] * 2);
        free(p);
    }
    sbuf_printf(out, "%.3f", 1.5);
    sbuf_repeat(out, "x", 200000); /* more than a pipe holds */
    return ASSAY_OK;
}

static void test_allowed(void **state)
{
    confined_call call = {.run = compute, .most = 1 << 20};
    sbuf out = {0};
    assay_error err = {0};
    (void)state;
    if (is_missing())
        skip();
    assert_int_equal(confined_run(&call, &out, &err), ASSAY_OK);
    assert_int_equal(out.n, 200005);
    assert_memory_equal(out.p, "1.500xx", 7);
    sbuf_free(&out);
}

static assay_status fail_oddly(void *ctx, sbuf *out, assay_error *err)
{
    (void)ctx;
    sbuf_puts(out, "part");
    return err_fail_at(err, ASSAY_ERR_UNSUPPORTED, 17, "an odd \x1b[31m thing");
}

/* A failure comes back with what was written, and no control characters. */
static void test_failure(void **state)
{
    confined_call call = {.run = fail_oddly, .most = 100};
    sbuf out = {0};
    assay_error err = {0};
    (void)state;
    if (is_missing())
        skip();
    assert_int_equal(confined_run(&call, &out, &err), ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(err.offset, 17);
    assert_null(strchr(err.message, '\x1b'));
    assert_int_equal(out.n, 4);
    sbuf_free(&out);
}

static void test_too_much(void **state)
{
    confined_call call = {.run = compute, .most = 1000};
    sbuf out = {0};
    assay_error err = {0};
    (void)state;
    if (is_missing())
        skip();
    assert_int_equal(confined_run(&call, &out, &err), ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(out.n, 0);
}

static assay_status crash(void *ctx, sbuf *out, assay_error *err)
{
    (void)ctx;
    (void)out;
    (void)err;
    abort();
}

static void test_crash(void **state)
{
    confined_call call = {.run = crash, .most = 1000};
    sbuf out = {0};
    assay_error err = {0};
    (void)state;
    if (is_missing())
        skip();
    assert_int_equal(confined_run(&call, &out, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "crashed"));
}

/* ---- files ---- */

typedef struct folder {
    char root[64], model[96];
} folder;

static void put_file(const folder *f, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state)
{
    folder *f = calloc(1, sizeof *f);
    char path[256], target[256];
    strcpy(f->root, "/tmp/assay-sandbox-XXXXXX");
    if (!mkdtemp(f->root))
        return -1;
    snprintf(path, sizeof path, "%s/models", f->root);
    mkdir(path, 0700);
    snprintf(f->model, sizeof f->model, "%s/models/m.onnx", f->root);
    put_file(f, "models/m.onnx", "model");
    put_file(f, "models/m.data", "weights");
    put_file(f, "models/.secret", "hidden");
    put_file(f, "outside", "private");
    snprintf(path, sizeof path, "%s/models/link", f->root);
    snprintf(target, sizeof target, "%s/outside", f->root);
    *state = f;
    return symlink(target, path);
}

static int remove_folder(void **state)
{
    folder *f = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/models", f->root);
    file_remove_folder(path);
    file_remove_folder(f->root);
    free(f);
    return 0;
}

typedef struct wish {
    const folder *f;
    const char *name;
} wish;

static assay_status read_wish(void *ctx, sbuf *out, assay_error *err)
{
    const wish *w = ctx;
    char path[256];
    str text;
    arena *a = arena_new(1 << 20);
    snprintf(path, sizeof path, "%s/%s", w->f->root, w->name);
    TRY(file_read_all(path, 1000, a, &text, err));
    sbuf_str(out, text);
    return ASSAY_OK;
}

static assay_status ask_for(const folder *f, const char *name, sbuf *out)
{
    wish w = {f, name};
    assay_error err = {0};
    confined_call call = {.run = read_wish, .ctx = &w, .most = 1000, .policy = {.model = f->model}};
    return confined_run(&call, out, &err);
}

static void test_files(void **state)
{
    static const struct {
        const char *name, *text;
        assay_status status;
    } rows[] = {
        {"models/m.onnx", "model", ASSAY_OK},
        {"models/m.data", "weights", ASSAY_OK},
        {"models/../models/m.data", "weights", ASSAY_OK},
        {"models/missing", "", ASSAY_ERR_SYSTEM}, /* no secret */
        {"models/.secret", "", ASSAY_ERR_USAGE},
        {"models/link", "", ASSAY_ERR_USAGE},
        {"outside", "", ASSAY_ERR_USAGE},
        {"models/../outside", "", ASSAY_ERR_USAGE},
    };
    if (is_missing())
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sbuf out = {0};
        assert_int_equal(ask_for(*state, rows[i].name, &out), rows[i].status);
        assert_string_equal(sbuf_cstr(&out), rows[i].text);
        sbuf_free(&out);
    }
}

static assay_status look_around(void *ctx, sbuf *out, assay_error *err)
{
    const folder *f = ctx;
    arena *a = arena_new(1 << 20);
    char path[256];
    str *names;
    uint32_t n;
    snprintf(path, sizeof path, "%s/models", f->root);
    TRY(file_list(path, a, &names, &n, err));
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(out, "%.*s ", (int)names[i].n, names[i].p);
    snprintf(path, sizeof path, "%s/models/m.data", f->root);
    sbuf_printf(out, "%d ", (int)file_stat(path).size);
    snprintf(path, sizeof path, "%s/models", f->root);
    char link[256];
    snprintf(link, sizeof link, "%s/models/link", f->root);
    sbuf_printf(out, "%d", file_leaves_folder(path, link));
    return ASSAY_OK;
}

static void test_folder(void **state)
{
    folder *f = *state;
    char path[128];
    sbuf out = {0};
    assay_error err = {0};
    if (is_missing())
        skip();
    snprintf(path, sizeof path, "%s/models", f->root);
    confined_call call = {.run = look_around, .ctx = f, .most = 1000, .policy = {.model = path}};
    assert_int_equal(confined_run(&call, &out, &err), ASSAY_OK);
    assert_string_equal(sbuf_cstr(&out), "link m.data m.onnx 7 1");
    sbuf_free(&out);
}

/* ---- files in memory ---- */

static assay_status read_memory(void *ctx, sbuf *out, assay_error *err)
{
    static const char *const folders[] = {".", "m", "m/Data/"};
    arena *a = arena_new(1 << 20);
    str *names, text;
    uint32_t n;
    (void)ctx;
    for (size_t k = 0; k < 3; k++) {
        TRY(file_list(folders[k], a, &names, &n, err));
        for (uint32_t i = 0; i < n; i++)
            sbuf_printf(out, "%.*s ", (int)names[i].n, names[i].p);
    }
    TRY(file_read_all("./m//Data/w.bin", 1000, a, &text, err));
    sbuf_str(out, text);
    sbuf_printf(out, " %d%d%d%d", file_stat("m/Data").is_dir, (int)file_stat("m/empty").size,
                file_stat("m/Dat").exists, file_stat("/etc/passwd").exists);
    sbuf_printf(out, " %d", file_leaves_folder("m", "m/Data/w.bin"));
    return file_read_all("/etc/passwd", 100000, a, &text, err);
}

static void test_memory(void **state)
{
    static const broker_file files[] = {
        {"m/Data/w.bin", "weights", 7}, {"m/empty", "", 0}, {"m/.hidden", "x", 1}, {"b", "y", 1}};
    sbuf out = {0};
    assay_error err = {0};
    (void)state;
    if (is_missing())
        skip();
    confined_call call = {
        .run = read_memory, .most = 1000, .policy = {.model = "m", .memory = files, .n_memory = 4}};
    assert_int_equal(confined_run(&call, &out, &err), ASSAY_ERR_SYSTEM); /* no such file */
    assert_string_equal(sbuf_cstr(&out), "b m Data empty w.bin weights 1000 0");
    sbuf_free(&out);
}

int run_test_sandbox(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_crash),
        cmocka_unit_test_setup_teardown(test_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_folder, make_folder, remove_folder),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
