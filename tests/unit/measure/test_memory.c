/* Peak memory of a configuration: from the kernel's high-water mark, reset for it, above what the engine took. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "engine/null.h"
#include "measure/measure.h"
#include "profile/profile.h"

#define MIB ((uint64_t)1 << 20)

static void put_file(const char *root, const char *path, const char *text)
{
    char full[256];
    file_out *f;
    assay_error err;
    snprintf(full, sizeof full, "%s%s", root, path);
    assert_int_equal(file_out_open(full, &f, &err), ASSAY_OK);
    assert_int_equal(file_out_write(f, text, strlen(text), &err), ASSAY_OK);
    assert_int_equal(file_out_commit(f, &err), ASSAY_OK);
}

/* The mark rises while the session is warmed up. */
static bool raise_mark(void *root, bool warming, uint64_t done, uint64_t planned, double fraction)
{
    (void)done;
    (void)planned;
    (void)fraction;
    if (warming)
        put_file(root, "/proc/self/status", "VmHWM:\t  9216 kB\n");
    return true;
}

static void test_peak_of_configuration(void **state)
{
    (void)state;
    char root[] = "/tmp/assay-test-XXXXXX", full[256], text[16], command[64];
    assay_error err = {0};
    const uint64_t ns[] = {1000000};
    engine_script script = {.run_ns = ns, .n_run_ns = 1};
    const engine_config config = {.script = &script};
    profile_measured m = {0};
    profile_config c = {.batch = 2};
    assert_non_null(mkdtemp(root));
    put_file(root, "/proc/self/statm", "1000 256 0 1 0 100 0\n");
    put_file(root, "/proc/self/status", "VmHWM:\t  1024 kB\n");
    put_file(root, "/proc/self/clear_refs", "");
    measure_request q = {.model = {.path = "x"},
                         .options = ENGINE_OPTIONS,
                         .warmup = {.min_runs = 1, .max_runs = 1},
                         .rule = {.runs = 3},
                         .hooks = {.go_on = raise_mark, .ctx = root},
                         .root = root,
                         .engine_bytes = 5 * MIB,
                         .batch = 2};
    arena *a = arena_new(1 << 24);
    assert_int_equal(engine_open("null", &config, &q.engine, &err), ASSAY_OK);
    assert_int_equal(measure_config(&q, a, &c, NULL, NULL, &err), ASSAY_OK);
    uint64_t before = 256 * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(c.memory.before_session == before && c.memory.engine_bytes == 5 * MIB);
    assert_true(c.memory.run_peak == 9 * MIB && c.memory.peak == 9 * MIB);
    /* Reset before the session and before the runs. */
    snprintf(full, sizeof full, "%s/proc/self/clear_refs", root);
    assert_int_equal(file_read_small(full, text, sizeof text), 2);
    assert_memory_equal(text, "55", 2);
    assert_true(profile_settle_config(&c, &m, a));
    assert_true(c.memory.peak_mb == 9 && c.memory.before_mb == (double)before / (double)MIB);
    assert_true(c.memory.used_peak == 9 * MIB - before);
    assert_true(c.memory.per_sample == (9 * MIB - before) / 2);
    engine_close(q.engine);
    arena_free(a);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

/* What one configuration took and gave back is no part of the next one's peak. */
static void test_mark_is_reset(void **state)
{
    (void)state;
    size_t n = 64 * MIB;
    volatile char *block = malloc(n);
    assert_non_null(block);
    for (size_t i = 0; i < n; i += 4096)
        block[i] = 1;
    uint64_t high = system_resident_peak("");
    free((void *)(uintptr_t)block);
    system_resident_peak_reset("");
    uint64_t now = system_resident_peak("");
    if (!high || now == high)
        skip(); /* the system does not allow it */
    assert_true(high - now > 32 * MIB);
}

int run_test_memory(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak_of_configuration),
        cmocka_unit_test(test_mark_is_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
