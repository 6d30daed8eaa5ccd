/* Processes by a /proc that is written down here, and a real child followed to its end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"
#include "measure/follow.h"
#include "measure/system.h"

static char root[] = "/tmp/assay_follow_XXXXXX";

static void put(int pid, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/proc/%d", root, pid);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/proc/%d/task", root, pid);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/proc/%d/task/%d", root, pid, pid);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/proc/%d/%s", root, pid, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make_tree(void)
{
    char path[64];
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/proc", root);
    mkdir(path, 0700);
    /* The name holds what looks like fields. */
    put(10, "stat", "10 (a) S 1 (x) S 1 10 10 0 -1 0 100 20 3 1 200 100 50 50 20 0 4 0 1 1 1\n");
    put(10, "statm", "1000 300 100 1 0 1 0\n");
    put(10, "io",
        "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\n");
    put(10, "status", "Name:\ta\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n");
    put(10, "comm", "a) S 1 (x\n");
    put(10, "task/10/children", "11 12 ");
    put(11, "stat", "11 (b) R 10 10 10 0 -1 0 5 0 1 0 10 10 0 0 20 0 1 0 1 1 1\n");
    put(11, "statm", "500 200 50 1 0 1 0\n");
    put(11, "io", "rchar: 1\nwchar: 2\nread_bytes: 1\nwrite_bytes: 2\n");
    put(12, "stat", "12 (z) Z 10 10 10 0 -1 0 5 0 1 0 10 10 0 0 20 0 1 0 1 1 1\n");
}

static void test_tree(void **state)
{
    system_tree t;
    char name[32];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
             tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    (void)state;
    make_tree();
    assert_true(system_tree_now(root, 10, &t));
    assert_int_equal(t.processes, 2); /* what has ended but is not waited for is none */
    assert_int_equal(t.threads, 5);
    assert_int_equal(t.cpu_ns, 420 * tick);
    assert_int_equal(t.minor_faults, 125);
    assert_int_equal(t.major_faults, 5);
    assert_int_equal(t.resident.total, 500 * page);
    assert_int_equal(t.resident.file, 150 * page);
    assert_int_equal(t.resident.anon, 350 * page);
    assert_int_equal(t.voluntary, 7);
    assert_int_equal(t.involuntary, 2);
    assert_int_equal(t.io.read_bytes, 4097);
    assert_int_equal(t.io.written_bytes, 8194);
    assert_int_equal(t.io.read_chars, 11);
    system_process_name(root, 10, name, sizeof name);
    assert_string_equal(name, "a) S 1 (x");
    assert_false(system_tree_now(root, 12, &t));
    assert_false(system_tree_now(root, 99, &t));
}

static void test_child(void **state)
{
    const char *const argv[] = {"sh", "-c",
                                "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exit 5", NULL};
    const char *const none[] = {"/nowhere/program", NULL};
    arena *a = arena_new(1 << 22);
    profile_watch w;
    assay_error err = {0};
    follow_request q = {.ours = true, .interval_ns = 1000000};
    (void)state;
    assert_int_equal(process_start(argv, &q.pid, &err), ASSAY_OK);
    assert_int_equal(follow_process(&q, a, &w, &err), ASSAY_OK);
    assert_int_equal(w.exit_code, 5);
    assert_true(w.cpu_s > 0 && w.wall_s > 0 && w.peak_resident > 0 && w.minor_faults > 0);
    assert_false(w.interrupted);
    assert_int_equal(process_start(none, &q.pid, &err), ASSAY_ERR_SYSTEM);
    q = (follow_request){.pid = 0x7ffffffe};
    assert_int_equal(follow_process(&q, a, &w, &err), ASSAY_ERR_SYSTEM);
    arena_free(a);
}

typedef struct counting {
    uint32_t n;
} counting;

static bool three(void *ctx, const profile_watch_sample *s, const profile_watch *so_far)
{
    (void)s, (void)so_far;
    return ++((counting *)ctx)->n < 3;
}

static bool at_once(void *ctx)
{
    (void)ctx;
    return true;
}

static void test_stopping(void **state)
{
    const char *const argv[] = {"sleep", "600", NULL};
    arena *a = arena_new(1 << 22);
    profile_watch w;
    assay_error err = {0};
    counting c = {0};
    follow_request q = {.pid = getpid(), .interval_ns = 1000000, .sample = three, .ctx = &c};
    (void)state;
    assert_int_equal(follow_process(&q, a, &w, &err), ASSAY_OK);
    assert_int_equal(w.n_samples, 3);
    assert_true(w.exit_code == INT64_MIN);
    q = (follow_request){.pid = getpid(), .interval_ns = 1000000, .duration_ns = 5000000};
    assert_int_equal(follow_process(&q, a, &w, &err), ASSAY_OK);
    assert_true(w.wall_s >= 0.005);
    q = (follow_request){.ours = true, .cancelled = at_once};
    assert_int_equal(process_start(argv, &q.pid, &err), ASSAY_OK);
    assert_int_equal(follow_process(&q, a, &w, &err), ASSAY_OK);
    assert_true(w.interrupted);
    assert_int_equal(w.exit_code, 128 + 15); /* it was asked to end */
    arena_free(a);
}

/* ---- with a clock that is told ---- */

enum { LOOKS = 8 };

typedef struct told_clock {
    uint64_t now, step, last;
    uint32_t looks;
    double percent[LOOKS];
} told_clock;

static uint64_t told_now(void *ctx)
{
    told_clock *c = ctx;
    c->now = c->now + c->step < c->last ? c->now + c->step : c->last;
    return c->now;
}

static void put_ticks(uint32_t ticks)
{
    char stat[128];
    snprintf(stat, sizeof stat, "11 (b) R 10 10 10 0 -1 0 5 0 1 0 %u 0 0 0 20 0 1 0 1 1 1\n",
             ticks);
    put(11, "stat", stat);
}

/* After every look the process takes ten ticks more. */
static bool one_look(void *ctx, const profile_watch_sample *s, const profile_watch *so_far)
{
    told_clock *c = ctx;
    (void)so_far;
    c->percent[c->looks++] = s->cpu_percent;
    put_ticks(10 * c->looks);
    return c->looks < LOOKS;
}

static profile_watch follow_told(told_clock *c)
{
    const follow_request q = {.root = root,
                              .pid = 11,
                              .interval_ns = 1,
                              .sample = one_look,
                              .now_ns = told_now,
                              .ctx = c};
    arena *a = arena_new(1 << 22);
    profile_watch w;
    put_ticks(0);
    assert_int_equal(follow_process(&q, a, &w, NULL), ASSAY_OK);
    assert_int_equal(c->looks, LOOKS);
    assert_true(w.cpu_s > 0 && w.wall_s > 0);
    arena_free(a);
    return w;
}

static void test_share_of_times(void **state)
{
    double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    told_clock c = {.step = 200000000, .last = UINT64_MAX};
    (void)state;
    profile_watch w = follow_told(&c);
    for (uint32_t i = 1; i < LOOKS; i++) /* two steps of the clock between two looks */
        assert_float_equal(c.percent[i], 100 * 10 * tick_s / 0.4, 1e-6);
    assert_float_equal(w.cpu_percent, 100 * w.cpu_s / w.wall_s, 1e-6);
}

static void test_share_of_short_times(void **state)
{
    told_clock c = {.step = 1000, .last = 1u << 20};
    (void)state;
    profile_watch w = follow_told(&c);
    for (uint32_t i = 0; i < LOOKS; i++)
        assert_true(isnan(c.percent[i]));
    assert_true(isnan(w.cpu_percent));
}

/* Looks that follow each other fast share one figure: none of the processor's time is lost. */
static void test_share_over_looks(void **state)
{
    double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    told_clock c = {.step = 25000000, .last = UINT64_MAX}; /* 50 ms between two looks */
    (void)state;
    follow_told(&c);
    for (uint32_t i = 3; i < LOOKS; i++)
        if (isnan(c.percent[i]))
            assert_false(isnan(c.percent[i - 1]));
        else
            assert_float_equal(c.percent[i], 100 * 20 * tick_s / 0.1, 1e-6);
}

/* A command that is over before the clock moved on. */
static void test_short_command(void **state)
{
    const char *const argv[] = {"true", NULL};
    told_clock c = {.step = 1000, .last = 1000000};
    follow_request q = {.ours = true, .interval_ns = 1, .now_ns = told_now, .ctx = &c};
    arena *a = arena_new(1 << 22);
    profile_watch w;
    assay_error err = {0};
    (void)state;
    assert_int_equal(process_start(argv, &q.pid, &err), ASSAY_OK);
    assert_int_equal(follow_process(&q, a, &w, &err), ASSAY_OK);
    assert_int_equal(w.exit_code, 0);
    assert_true(w.cpu_s > 0);
    assert_true(isnan(w.cpu_percent));
    arena_free(a);
}

int run_test_follow(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_child),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_share_of_times),
        cmocka_unit_test(test_share_of_short_times),
        cmocka_unit_test(test_share_over_looks),
        cmocka_unit_test(test_short_command),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? failed : 1;
}
