/* Measuring without a clock: the null engine's times are scripted, so every number is known. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/stat.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "engine/null.h"
#include "measure/cause.h"
#include "measure/measure.h"
#include "measure/stats.h"

/* ---- statistics against known distributions ---- */

static void test_quantiles(void **state)
{
    (void)state;
    double x[101], work[202];
    profile_stats s;
    for (int i = 0; i < 101; i++)
        x[i] = 100 - i;
    stats_describe(x, 101, work, &s);
    assert_true(s.mean == 50 && s.median == 50 && s.p50 == 50 && s.p90 == 90 && s.p95 == 95);
    assert_true(s.p99 == 99 && s.min == 0 && s.max == 100 && s.runs == 101);
    assert_true(fabs(s.std - 29.300170647967224) < 1e-9);
    double two[2] = {1, 2};
    assert_true(stats_quantile(two, 2, 0.25) == 1.25);
    assert_true(stats_quantile(NULL, 0, 0.5) == 0);
}

static void test_runs_needed(void **state)
{
    (void)state;
    assert_int_equal(stats_runs_needed(0.99, 0.99), 459);
    assert_int_equal(stats_runs_needed(0.99, 0.95), 299);
    assert_int_equal(stats_runs_needed(0.95, 0.95), 59);
    assert_int_equal(stats_runs_needed(0.5, 0.5), 1);
    assert_int_equal(stats_runs_needed(1, 0.5), 0);
}

static void test_t(void **state)
{
    (void)state;
    static const double known[][2] = {{1, 12.706}, {2, 4.303},  {4, 2.776},  {5, 2.571},
                                      {9, 2.262},  {29, 2.045}, {99, 1.984}, {1e9, 1.960}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fabs(stats_t95(known[i][0]) - known[i][1]) < 0.006);
}

/* Share of intervals that hold the true mean. AR(1) with coefficient phi; skewed: exponential noise. */
static double coverage(double phi, uint32_t n, bool skewed, uint64_t seed)
{
    enum { TRIALS = 2000 };
    rng r;
    int hits = 0;
    double *x = malloc(sizeof *x * n), *work = malloc(sizeof *work * 2 * n);
    rng_seed(&r, seed);
    for (int t = 0; t < TRIALS; t++) {
        double v = rng_normal(&r);
        for (uint32_t i = 0; i < n; i++) {
            double e = skewed ? -log(1 - rng_uniform(&r)) - 1 : rng_normal(&r);
            v = phi * v + sqrt(1 - phi * phi) * e;
            x[i] = 100 + v;
        }
        profile_stats s;
        stats_describe(x, n, work, &s);
        hits += s.ci95_low <= 100 && 100 <= s.ci95_high;
    }
    free(x);
    free(work);
    return (double)hits / TRIALS;
}

static void test_coverage(void **state)
{
    (void)state;
    static const struct {
        double phi;
        uint32_t n;
        bool skewed;
        double low, high;
    } rows[] = {
        {0, 50, false, 0.935, 0.995},  {0, 500, false, 0.935, 0.985},
        {0, 50, true, 0.91, 0.99},     {0.5, 100, false, 0.91, 0.99},
        {0.8, 500, false, 0.91, 0.99}, {0.9, 1000, false, 0.91, 0.99},
        {-0.5, 100, false, 0.94, 1.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got = coverage(rows[i].phi, rows[i].n, rows[i].skewed, 100 + i);
        if (got < rows[i].low || got > rows[i].high)
            fail_msg("row %zu: coverage %.3f", i, got);
    }
}

static void test_autocorrelation(void **state)
{
    (void)state;
    enum { N = 100000 };
    double *x = malloc(sizeof *x * N), v = 0;
    rng r;
    rng_seed(&r, 5);
    for (int i = 0; i < N; i++)
        x[i] = v = 0.8 * v + rng_normal(&r);
    /* tau of AR(1) is (1 + phi) / (1 - phi) = 9 */
    assert_true(fabs(stats_autocorrelation_time(x, N) - 9) < 0.7);
    for (int i = 0; i < N; i++)
        x[i] = 3;
    assert_true(stats_autocorrelation_time(x, N) == 1);
    free(x);
}

static void test_drift(void **state)
{
    (void)state;
    double x[300], work[300];
    rng r;
    int alarms = 0;
    rng_seed(&r, 1);
    for (int t = 0; t < 200; t++) {
        for (int i = 0; i < 300; i++)
            x[i] = 10 + rng_normal(&r);
        alarms += stats_drift(x, 300, work) != 0;
    }
    assert_true(alarms <= 2);
    for (int i = 0; i < 300; i++)
        x[i] = 10 + 0.1 * rng_normal(&r) + (i > 150 ? 2 : 0);
    assert_true(fabs(stats_drift(x, 300, work) - 0.2) < 0.02);
}

/* ---- loops on the null engine ---- */

typedef struct rig {
    engine *e;
    engine_session *s;
    engine_job *jobs[8];
    engine_script script;
} rig;

static void rig_open(rig *g)
{
    assay_error err = {0};
    const engine_config c = {.script = &g->script};
    const engine_model m = {.path = "x"};
    assert_int_equal(engine_open("null", &c, &g->e, &err), ASSAY_OK);
    assert_int_equal(engine_session_open(g->e, &m, NULL, &g->s, &err), ASSAY_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(engine_job_open(g->s, NULL, 0, &g->jobs[i], &err), ASSAY_OK);
}

static void rig_close(rig *g)
{
    for (int i = 0; i < 8; i++)
        engine_job_close(g->jobs[i]);
    engine_session_close(g->s);
    engine_close(g->e);
}

/* Starts at 5 ms and comes down to 2 ms with the twentieth run. */
static uint64_t settling(void *ctx, uint64_t run)
{
    (void)ctx;
    return run < 20 ? 5000000 - run * 150000 : 2000000 + run % 3 * 1000;
}

static uint64_t never_steady(void *ctx, uint64_t run)
{
    (void)ctx;
    return (uint64_t)(1e6 * pow(1.05, (double)run));
}

static warmup_result warm(rig *g, warmup_rule rule)
{
    assay_error err = {0};
    warmup_result r;
    rig_open(g);
    assert_int_equal(warmup_run(g->e, g->jobs[0], &rule, NULL, &r, &err), 0);
    rig_close(g);
    return r;
}

static void test_warmup(void **state)
{
    (void)state;
    rig g = {.script = {.duration = settling}};
    warmup_result r = warm(&g, (warmup_rule){.min_runs = 3});
    assert_true(r.steady && r.runs >= 20 && r.runs <= 30);
    assert_true(r.first_ms == 5 && r.steady_after == r.runs);
    for (uint32_t i = 0; i < r.runs; i++)
        assert_true(r.ms[i] == (double)settling(NULL, i) / 1e6);
    warmup_result_free(&r);
    /* Steady long before the least number: where that began is told. */
    g = (rig){.script = {.duration = settling}};
    r = warm(&g, (warmup_rule){.min_runs = 60});
    assert_true(r.steady && r.runs == 60 && r.steady_after >= 20 && r.steady_after <= 30);
    warmup_result_free(&r);
    const uint64_t flat[] = {1000000};
    g = (rig){.script = {.run_ns = flat, .n_run_ns = 1}};
    r = warm(&g, (warmup_rule){.min_runs = 25});
    assert_true(r.steady && r.runs == 25 && r.steady_after == 10);
    warmup_result_free(&r);
    /* More than any array on a stack would hold are made when they are asked for. */
    g = (rig){.script = {.run_ns = flat, .n_run_ns = 1}};
    r = warm(&g, (warmup_rule){.min_runs = 20000});
    assert_true(r.runs == 20000 && r.ms[19999] == 1);
    warmup_result_free(&r);
    g = (rig){.script = {.duration = never_steady}};
    r = warm(&g, (warmup_rule){.min_runs = 3, .max_runs = 60});
    assert_true(!r.steady && r.runs == 60 && r.steady_after == 0);
    warmup_result_free(&r);
}

static void test_rules(void **state)
{
    (void)state;
    assay_error err = {0};
    sample_runs got;
    const uint64_t ns[] = {1000000, 3000000};
    const sample_load one = {0};
    rig g = {.script = {.run_ns = ns, .n_run_ns = 2}};
    rig_open(&g);
    assert_int_equal(sample_measure(g.e, g.jobs, &(sample_rule){.runs = 7}, &one, NULL, &got, &err),
                     0);
    assert_int_equal(got.n, 7);
    assert_true(sample_ms(&got.items[0]) == 1 && sample_ms(&got.items[1]) == 3);
    sample_runs_free(&got);
    sample_rule by_time = {.runs = 2, .duration_ns = 100000000};
    assert_int_equal(sample_measure(g.e, g.jobs, &by_time, &one, NULL, &got, &err), 0);
    assert_in_range(got.n, 49, 52);
    assert_true(got.end_ns - got.begin_ns >= 100000000);
    sample_runs_free(&got);
    /* mean 2, deviation 1, alternating: a narrow interval needs some hundred runs */
    sample_rule narrow = {.runs = 5, .precision = 0.1};
    assert_int_equal(sample_measure(g.e, g.jobs, &narrow, &one, NULL, &got, &err), 0);
    assert_true(got.precise && got.n >= 40 && got.n < 400);
    sample_runs_free(&got);
    narrow = (sample_rule){.runs = 5, .precision = 1e-9, .max_ns = 50000000};
    assert_int_equal(sample_measure(g.e, g.jobs, &narrow, &one, NULL, &got, &err), 0);
    assert_true(!got.precise && got.n >= 25 && got.n < 30);
    sample_runs_free(&got);
    rig_close(&g);
}

static bool stop_at_five(void *ctx, uint64_t done, uint64_t planned, double fraction)
{
    (void)ctx;
    assert_true(planned == 100 && fraction > 0 && fraction <= 1);
    return done < 5;
}

static void test_stopping_and_failing(void **state)
{
    (void)state;
    assay_error err = {0};
    sample_runs got;
    const uint64_t ns[] = {1000000};
    const engine_script_failure bad[] = {{.run = 8, .message = "The kernel is on fire."}};
    const sample_hook hook = {.go_on = stop_at_five};
    const sample_rule rule = {.runs = 100};
    rig g = {.script = {.run_ns = ns, .n_run_ns = 1, .failures = bad, .n_failures = 1}};
    rig_open(&g);
    assert_int_equal(sample_measure(g.e, g.jobs, &rule, &(sample_load){0}, &hook, &got, &err), 0);
    assert_true(got.n == 5 && got.interrupted);
    sample_runs_free(&got);
    assert_int_equal(sample_measure(g.e, g.jobs, &rule, &(sample_load){0}, NULL, &got, &err),
                     ASSAY_ERR_ENGINE);
    assert_true(got.n == 3);
    assert_non_null(strstr(err.message, "on fire"));
    sample_runs_free(&got);
    rig_close(&g);
}

static void test_concurrency(void **state)
{
    (void)state;
    assay_error err = {0};
    sample_runs got;
    const uint64_t ns[] = {1000000};
    rig g = {.script = {.run_ns = ns, .n_run_ns = 1}};
    rig_open(&g);
    const sample_load four = {.concurrency = 4};
    assert_int_equal(
        sample_measure(g.e, g.jobs, &(sample_rule){.runs = 1000}, &four, NULL, &got, &err), 0);
    assert_int_equal(got.n, 1000);
    assert_int_equal(engine_null_runs(g.e), 1000);
    for (uint32_t i = 1; i < got.n; i++)
        assert_true(got.items[i - 1].start_ns <= got.items[i].start_ns);
    sample_runs_free(&got);
    rig_close(&g);
}

/* One run in a thousand takes a second, all others a millisecond. */
static uint64_t hiccup(void *ctx, uint64_t run)
{
    (void)ctx;
    return run % 1000 == 500 ? 1000000000 : 1000000;
}

static profile_stats stats_of(const sample_runs *runs)
{
    profile_stats s;
    double *x = malloc(sizeof *x * 3 * runs->n);
    for (uint32_t i = 0; i < runs->n; i++)
        x[i] = sample_ms(&runs->items[i]);
    stats_describe(x, runs->n, x + runs->n, &s);
    free(x);
    return s;
}

static void test_coordinated_omission(void **state)
{
    (void)state;
    assay_error err = {0};
    sample_runs got;
    const sample_rule rule = {.runs = 2000};
    rig g = {.script = {.duration = hiccup}};
    rig_open(&g);
    assert_int_equal(sample_measure(g.e, g.jobs, &rule, &(sample_load){0}, NULL, &got, &err), 0);
    profile_stats closed = stats_of(&got);
    sample_runs_free(&got);
    /* The closed loop asked nobody to come while it hung: its P99 sees nothing. */
    assert_true(closed.p99 == 1 && closed.max == 1000);
    const sample_load open = {.rate = 100, .seed = 3};
    assert_int_equal(sample_measure(g.e, g.jobs, &rule, &open, NULL, &got, &err), 0);
    profile_stats due = stats_of(&got);
    double rate = got.n / ((double)(got.end_ns - got.begin_ns) / 1e9);
    sample_runs_free(&got);
    /* About a hundred requests fell due in each second of silence. */
    assert_true(due.p90 > 50 && due.p99 > 800 && due.max >= 1000 && due.median < 10);
    assert_true(fabs(rate - 100) < 8);
    rig_close(&g);
}

/* ---- causes ---- */

static void test_causes(void **state)
{
    (void)state;
    const cause_usual u = {.ms = 1, .cpu_share = 1, .mhz = 3000};
    const sample_run calm = {.start_ns = 0, .end_ns = 2000000, .cpu_ns = 2000000};
    sample_run r = calm;
    assert_string_equal(cause_of(&r, &u, false, 3000), "unknown");
    assert_string_equal(cause_of(&r, &u, true, 3000), "CPU steal");
    assert_string_equal(cause_of(&r, &u, false, 2000), "lower clock frequency");
    r.major_faults = 1;
    assert_string_equal(cause_of(&r, &u, false, -1), "page faults with disk reads");
    r = calm;
    r.involuntary = 2;
    assert_string_equal(cause_of(&r, &u, false, -1), "preempted by other processes");
    r = calm;
    r.minor_faults = 500;
    assert_string_equal(cause_of(&r, &u, false, -1), "page faults");
    r = calm;
    r.cpu_ns = 1000000;
    assert_string_equal(cause_of(&r, &u, false, -1), "less CPU time than usual");
    r = calm;
    r.start_ns = 1500000;
    assert_string_equal(cause_of(&r, &u, true, -1), "queued behind other requests");
}

/* Late behind another request, and late with nothing in the way. */
static void test_late(void **state)
{
    (void)state;
    assay_error err = {0};
    sample_run items[60] = {0};
    for (uint64_t i = 0; i < 60; i++)
        items[i] = (sample_run){.due_ns = i * 10000000,
                                .start_ns = i * 10000000,
                                .end_ns = i * 10000000 + 1000000 + i % 5 * 1000};
    items[20].end_ns += 15000000; /* until 6 ms after the next is due */
    items[21].start_ns = items[20].end_ns;
    items[21].end_ns = items[21].start_ns + 1000000;
    items[40].start_ns += 8000000;
    items[40].end_ns += 8000000;
    const sample_runs runs = {.items = items, .n = 60, .end_ns = 600000000};
    arena *a = arena_new(1 << 20);
    profile_config c = {0};
    assert_int_equal(cause_outliers(&runs, NULL, 0, a, &c, &err), ASSAY_OK);
    assert_int_equal(c.n_outliers, 3);
    assert_string_equal(c.outliers[1].cause, "queued behind other requests");
    assert_string_equal(c.outliers[2].cause, "sent late");
    arena_free(a);
}

static void test_outliers(void **state)
{
    (void)state;
    assay_error err = {0};
    sample_run items[100] = {0};
    for (uint64_t i = 0; i < 100; i++)
        items[i] = (sample_run){.due_ns = i * 10000000,
                                .start_ns = i * 10000000,
                                .end_ns = i * 10000000 + 1000000 + i % 5 * 1000};
    items[40].end_ns += 3000000;
    items[40].major_faults = 2;
    items[70].end_ns += 5000000;
    const sample_runs runs = {.items = items, .n = 100, .end_ns = 1000000000};
    watch_tick ticks[100] = {0};
    for (uint64_t i = 0; i < 100; i++)
        ticks[i] = (watch_tick){.time_ns = i * 10000000 - (i ? 500000 : 0),
                                .ticks = {.all = i, .steal = i > 70 ? 1 : 0},
                                .mhz = -1};
    arena *a = arena_new(1 << 20);
    profile_config c = {0};
    assert_int_equal(cause_outliers(&runs, ticks, 100, a, &c, &err), ASSAY_OK);
    assert_int_equal(c.n_outliers, 2);
    assert_true(c.outliers[0].run == 41 && c.outliers[1].run == 71);
    assert_string_equal(c.outliers[0].cause, "page faults with disk reads");
    assert_string_equal(c.outliers[1].cause, "CPU steal");
    arena_free(a);
}

/* ---- a machine that tells everything: a fake /proc and /sys ---- */

static void put_file(const char *root, const char *path, const char *text)
{
    char full[512];
    file_out *f;
    assay_error err = {0};
    snprintf(full, sizeof full, "%s%s", root, path);
    assert_int_equal(file_out_open(full, &f, &err), ASSAY_OK);
    assert_int_equal(file_out_write(f, text, strlen(text), &err), ASSAY_OK);
    assert_int_equal(file_out_commit(f, &err), ASSAY_OK);
}

static bool file_holds(const char *root, const char *path, const char *text)
{
    char full[256], buf[64];
    snprintf(full, sizeof full, "%s%s", root, path);
    int64_t n = file_read_small(full, buf, sizeof buf);
    return n >= 0 && (size_t)n == strlen(text) && memcmp(buf, text, (size_t)n) == 0;
}

static void test_fake_machine(void **state)
{
    (void)state;
    char root[] = "/tmp/assay-test-XXXXXX", name[32], command[64];
    system_resident m;
    system_ticks t;
    profile_io io;
    assert_non_null(mkdtemp(root));
    put_file(root, "/proc/self/statm", "1000 500 200 1 0 100 0\n");
    put_file(root, "/proc/stat", "cpu  10 20 30 40 50 60 70 80 0 0\ncpu0 1 2 3\n");
    put_file(root, "/proc/meminfo", "MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable:  50 kB\n");
    put_file(root, "/proc/self/io",
             "rchar: 11\nwchar: 12\nsyscr: 1\nread_bytes: 4096\nwrite_bytes: 8192\n");
    put_file(root, "/sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
    put_file(root, "/sys/class/powercap/intel-rapl:1/energy_uj", "500000\n");
    put_file(root, "/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "2000000\n");
    put_file(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
    put_file(root, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
    put_file(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put_file(root, "/proc/self/status", "Name:\tassay\nVmPeak:\t 900 kB\nVmHWM:\t 700 kB\n");
    put_file(root, "/proc/self/clear_refs", "");
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(system_resident_peak(root), 700 * 1024);
    system_resident_peak_reset(root);
    assert_true(file_holds(root, "/proc/self/clear_refs", "5"));
    assert_true(system_resident_now(root, &m));
    assert_true(m.total == 500 * page && m.file == 200 * page && m.anon == 300 * page);
    assert_true(system_ticks_now(root, &t) && t.all == 360 && t.steal == 80);
    assert_int_equal(system_available(root), 50 * 1024);
    put_file(root, "/sys/fs/cgroup/memory.max", "30000\n");
    put_file(root, "/sys/fs/cgroup/memory.current", "10000\n");
    assert_int_equal(system_available(root), 20000);
    put_file(root, "/sys/fs/cgroup/memory.max", "max\n");
    assert_int_equal(system_available(root), 50 * 1024);
    system_io_now(root, &io);
    assert_true(io.network_rx_bytes == UINT64_MAX && io.network_tx_bytes == UINT64_MAX);
    put_file(root, "/proc/self/net/dev",
             "Inter-|   Receive                            |  Transmit\n"
             " face |bytes    packets errs drop fifo frame compressed multicast|bytes packets\n"
             "    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n"
             "  eth0: 1000 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
             "wlan0:30 1 0 0 0 0 0 0 4 1 0 0 0 0 0 0\n");
    profile_io before = io;
    system_io_now(root, &io);
    assert_true(io.network_rx_bytes == 1030 && io.network_tx_bytes == 24);
    before.network_rx_bytes = 1000;
    profile_io grown = profile_io_between(&before, &io);
    assert_true(grown.network_rx_bytes == 30 && grown.network_tx_bytes == UINT64_MAX);
    assert_true(grown.read_bytes == 0);
    assert_true(io.read_bytes == 4096 && io.written_bytes == 8192 && io.read_chars == 11);
    assert_int_equal(system_energy_uj(root), 1500000);
    assert_true(system_energy_between(root, 1500000, 1750000) == 0.25);
    assert_true(system_energy_between(root, 1500000, 500000) == 1.0);
    assert_true(system_frequency_mhz(root) == 2500);
    system_governor(root, name, sizeof name);
    assert_string_equal(name, "performance");
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
    /* A machine that tells nothing. */
    assert_false(system_resident_now(root, &m));
    assert_true(system_energy_uj(root) == PROFILE_NOT_TOLD && isnan(system_frequency_mhz(root)));
    assert_true(system_available(root) == PROFILE_NOT_TOLD && system_resident_peak(root) == 0);
    assert_true(isnan(system_energy_between(root, PROFILE_NOT_TOLD, 5)));
    system_governor(root, name, sizeof name);
    assert_string_equal(name, "");
}

typedef struct onlooker {
    atomic_int looks;
    atomic_bool aimed, told;
} onlooker;

static bool after_two_looks(void *ctx)
{
    onlooker *o = ctx;
    return atomic_fetch_add(&o->looks, 1) >= 2 && atomic_load(&o->aimed);
}

static void note_it(void *target)
{
    atomic_store((atomic_bool *)target, true);
}

static void test_watch(void **state)
{
    (void)state;
    assay_error err = {0};
    watch *w;
    uint32_t n;
    onlooker me = {0};
    const watch_options o = {
        .interval_ns = 1000000, .cancelled = after_two_looks, .on_cancel = note_it, .ctx = &me};
    assert_int_equal(watch_start(&o, &w, &err), ASSAY_OK);
    watch_aim(w, &me.told);
    atomic_store(&me.aimed, true);
    while (!atomic_load(&me.told))
        sched_yield();
    watch_stop(w);
    const watch_tick *t = watch_ticks(w, &n);
    assert_true(n >= 3 && t[0].resident.total > 0);
    for (uint32_t i = 1; i < n; i++)
        assert_true(t[i].time_ns >= t[i - 1].time_ns);
    watch_free(w);
}

/* ---- inputs, and a whole configuration ---- */

static void test_inputs(void **state)
{
    (void)state;
    int64_t ids[64], dims[] = {4, 16};
    float x[64];
    uint16_t h[64];
    input_want w = {.dtype = IR_INT64, .rank = 2, .dims = dims, .role = INPUT_INDEX, .bound = 10};
    inputs_fill(&w, 64, 1, ids);
    for (int i = 0; i < 64; i++)
        assert_in_range(ids[i], 0, 9);
    w.role = INPUT_POSITION;
    inputs_fill(&w, 64, 1, ids);
    assert_true(ids[0] == 0 && ids[9] == 9 && ids[16] == 0 && ids[17] == 1);
    w.role = INPUT_MASK;
    inputs_fill(&w, 64, 1, ids);
    assert_true(ids[0] == 1 && ids[63] == 1);
    w.role = INPUT_LENGTH;
    inputs_fill(&w, 64, 1, ids);
    assert_true(ids[5] == 10);
    w = (input_want){.dtype = IR_FLOAT32, .rank = 2, .dims = dims};
    inputs_fill(&w, 64, 1, x);
    double sum = 0;
    for (int i = 0; i < 64; i++) {
        assert_true(fabsf(x[i]) < 6);
        sum += x[i];
    }
    assert_true(fabs(sum / 64) < 0.6 && x[0] != x[1]);
    w.dtype = IR_FLOAT16;
    inputs_fill(&w, 64, 1, h);
    for (int i = 0; i < 64; i++)
        assert_true((h[i] & 0x7c00) != 0x7c00);
}

static output_copy floats(const void *data, ir_dtype dtype, uint64_t n)
{
    return (output_copy){.dtype = dtype, .n = n, .data = (void *)(uintptr_t)data};
}

static void test_output_error(void **state)
{
    (void)state;
    const float a[] = {3, 4, 0, 5}, b[] = {3, 4.5F, 0, NAN}, zero[4] = {0},
                minus[] = {-3, -4, 0, -5};
    const uint16_t half[] = {0x4200, 0x4400, 0x0001, 0x4500}, brain[] = {0x4040, 0x4080, 0, 0x40a0};
    output_copy x[] = {floats(a, IR_FLOAT32, 4), {0}};
    output_copy y[] = {floats(b, IR_FLOAT32, 4), {0}};
    const output_set reference = {x, 2}, other = {y, 2};
    profile_output_error e;
    outputs_compare(&reference, &other, &e);
    assert_true(e.present && e.elements == 3 && e.not_finite == 1 && e.left_out == 1);
    assert_true(e.max_abs == 0.5 && fabs(e.mean_abs - 0.5 / 3) < 1e-12);
    assert_true(fabs(e.relative - 0.1) < 1e-12);
    assert_true(fabs(e.cosine - 27 / (5 * sqrt(29.25))) < 1e-12);
    y[0] = floats(half, IR_FLOAT16, 4);
    outputs_compare(&reference, &other, &e);
    assert_true(e.max_abs == ldexp(1, -24) && e.not_finite == 0 && e.cosine <= 1);
    y[0] = floats(brain, IR_BFLOAT16, 4);
    outputs_compare(&reference, &other, &e);
    assert_true(e.max_abs == 0 && e.relative == 0 && fabs(e.cosine - 1) < 1e-12);
    y[0] = floats(minus, IR_FLOAT32, 4);
    outputs_compare(&reference, &other, &e);
    assert_true(e.relative == 2 && fabs(e.cosine + 1) < 1e-12);
    y[0] = floats(zero, IR_FLOAT32, 4);
    outputs_compare(&reference, &other, &e);
    assert_true(e.relative == 1 && isnan(e.cosine));
    outputs_compare(&other, &reference, &e);
    assert_true(isnan(e.relative) && e.max_abs == 5);
    y[0] = floats(a, IR_FLOAT32, 3);
    outputs_compare(&reference, &other, &e);
    assert_true(!e.present && e.left_out == 2);
}

static void test_classify(void **state)
{
    (void)state;
    const float a[] = {0, 1, 0, 3, 2, 1, 9, 9};
    output_copy x[] = {floats(a, IR_FLOAT32, 8)};
    const output_set s = {x, 1};
    output_class top[OUTPUTS_TOP];
    assert_false(outputs_classify(&s, 2, 0, top));
    int64_t dims[] = {2, 4}, boxes[] = {4, 2};
    x[0].rank = 2;
    x[0].dims = dims;
    assert_true(outputs_classify(&s, 2, 0, top));
    assert_true(top[0].index == 3 && top[1].index == 1);
    assert_true(fabs(top[0].probability - exp(3) / (exp(3) + exp(1) + 2)) < 1e-9);
    assert_true(outputs_classify(&s, 2, 1, top));
    assert_true(top[0].index == 2 && top[1].index == 3);
    assert_false(outputs_classify(&s, 3, 0, top));
    assert_false(outputs_classify(&s, 8, 0, top));
    x[0].dims = boxes; /* four of one image */
    assert_false(outputs_classify(&s, 1, 0, top));
    assert_false(outputs_classify(&(output_set){0}, 1, 0, top));
}

static void test_outputs_taken(void **state)
{
    (void)state;
    assay_error err = {0};
    float data[] = {1, 2, 3};
    int64_t whole[] = {7};
    const int64_t dims[] = {3}, one[] = {1};
    const engine_io out[] = {
        {.name = "y", .is_tensor = true, .dtype = IR_FLOAT32, .rank = 1, .dims = dims},
        {.name = "k", .is_tensor = true, .dtype = IR_INT64, .rank = 1, .dims = one}};
    const engine_tensor tensors[] = {{IR_FLOAT32, 1, dims, data, sizeof data},
                                     {IR_INT64, 1, one, whole, sizeof whole}};
    engine_script script = {.outputs = out, .n_outputs = 2, .output_data = tensors};
    const engine_config config = {.script = &script};
    measure_request q = {.model = {.path = "x"}, .options = ENGINE_OPTIONS};
    output_set got;
    assert_int_equal(engine_open("null", &config, &q.engine, &err), ASSAY_OK);
    assert_int_equal(measure_outputs(&q, &got, &err), ASSAY_OK);
    assert_true(got.n == 2 && got.items[0].n == 3 && got.items[1].n == 1);
    assert_true(*(int64_t *)got.items[1].data == 7 && got.items[1].dtype == IR_INT64);
    assert_string_equal(got.items[1].name, "k");
    assert_memory_equal(got.items[0].data, data, sizeof data);
    outputs_free(&got);
    const engine_script_failure fails = {.run = 1, .message = "No."};
    script.failures = &fails;
    script.n_failures = 1;
    assert_int_equal(measure_outputs(&q, &got, &err), ASSAY_ERR_ENGINE);
    outputs_free(&got);
    engine_close(q.engine);
}

static void test_config(void **state)
{
    (void)state;
    assay_error err = {0};
    const uint64_t ns[] = {2000000, 2000000, 2000000, 6000000};
    const int64_t dims[] = {-1, 3};
    static const char *const symbols[] = {"batch", ""};
    const engine_io in[] = {{.name = "x",
                             .is_tensor = true,
                             .dtype = IR_FLOAT32,
                             .rank = 2,
                             .dims = dims,
                             .symbols = symbols}};
    const engine_memory memory[] = {
        {.in_use = 90, .requested = 80, .max_in_use = 100, .held = 400}};
    engine_script script = {.session_ns = 5000000,
                            .run_ns = ns,
                            .n_run_ns = 4,
                            .inputs = in,
                            .n_inputs = 1,
                            .memory = memory,
                            .n_memory = 1};
    const engine_config config = {.script = &script};
    const int64_t shape[] = {8, 3};
    const input_want want = {.name = STR("x"), .dtype = IR_FLOAT32, .rank = 2, .dims = shape};
    measure_request q = {.model = {.path = "x"},
                         .options = ENGINE_OPTIONS,
                         .wants = &want,
                         .n_wants = 1,
                         .warmup = {.min_runs = 4, .max_runs = 4},
                         .rule = {.runs = 40},
                         .batch = 8,
                         .flops = 4000000};
    arena *a = arena_new(1 << 24);
    profile_config c = {0};
    assert_int_equal(engine_open("null", &config, &q.engine, &err), ASSAY_OK);
    assert_int_equal(measure_config(&q, a, &c, NULL, NULL, &err), ASSAY_OK);
    assert_true(c.latency.runs == 40 && c.latency.mean == 3 && c.latency.median == 2);
    assert_true(fabs(c.samples_per_second - 8 * 1000 / 3.0) < 1e-9);
    assert_true(c.gflops_per_s == 2 && c.session_ms == 5 && c.first_run_ms == 2);
    assert_true(c.warmup_runs == 4 && !c.partial && c.n_samples == 40);
    assert_true(c.memory.fragmentation == 0.75 && c.memory.arena_peak == 100);
    assert_true(c.memory.peak >= c.memory.before && c.memory.peak > 0 && c.memory.average > 0);
    assert_true(c.use.frequency_mhz != 0 && c.n_curve > 0);
    assert_true(c.n_warmup_ms == 4 && c.warmup_ms[0] == 2 && c.warmup_ms[3] == 6);
    engine_close(q.engine);
    arena_free(a);
}

/* What the null engine was asked for. */
static void note_options(void *context, const engine_model *model, const engine_options *o)
{
    assert_string_equal(model->path, "x");
    *(engine_options *)context = *o;
}

/* Options go to the session as they are; of an empty batch, and of an open loop, there is no such number. */
static void test_config_asked(void **state)
{
    (void)state;
    assay_error err = {0};
    engine_options seen = {0};
    const uint64_t ns[] = {2000000};
    const engine_setting setting = {"session.disable_prepacking", "1"};
    engine_script script = {.run_ns = ns, .n_run_ns = 1, .opened = note_options, .context = &seen};
    const engine_config config = {.script = &script};
    measure_request q = {.model = {.path = "x"},
                         .options = ENGINE_OPTIONS,
                         .warmup = {.min_runs = 1, .max_runs = 1},
                         .rule = {.runs = 5},
                         .flops = 4000000,
                         .bytes = 8000000};
    arena *a = arena_new(1 << 24);
    profile_config c = {0};
    q.options.threads = 3;
    q.options.opt_level = ENGINE_OPT_BASIC;
    q.options.spin = false;
    q.options.provider_options = &setting;
    q.options.n_provider_options = 1;
    assert_int_equal(engine_open("null", &config, &q.engine, &err), ASSAY_OK);
    assert_int_equal(measure_config(&q, a, &c, NULL, NULL, &err), ASSAY_OK);
    assert_true(seen.threads == 3 && seen.opt_level == ENGINE_OPT_BASIC && !seen.spin);
    assert_ptr_equal(seen.provider_options, &setting);
    assert_true(c.latency.runs == 5 && isnan(c.samples_per_second) && c.gflops_per_s == 2);
    assert_true(c.gbytes_per_s == 4);
    q.batch = 4;
    q.load.rate = 100;
    c = (profile_config){0};
    assert_int_equal(measure_config(&q, a, &c, NULL, NULL, &err), ASSAY_OK);
    assert_true(c.samples_per_second > 0 && isnan(c.gflops_per_s) && isnan(c.gbytes_per_s));
    /* Memory that ran out is known by its errno. */
    script.session_failure = "No room for the model.";
    script.out_of_memory = true;
    assert_int_equal(measure_config(&q, a, &c, NULL, NULL, &err), ASSAY_ERR_ENGINE);
    assert_int_equal(err.os_error, ENOMEM);
    engine_close(q.engine);
    arena_free(a);
}

int run_test_measure(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_runs_needed),
        cmocka_unit_test(test_t),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_autocorrelation),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_stopping_and_failing),
        cmocka_unit_test(test_concurrency),
        cmocka_unit_test(test_coordinated_omission),
        cmocka_unit_test(test_causes),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_fake_machine),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_output_error),
        cmocka_unit_test(test_outputs_taken),
        cmocka_unit_test(test_classify),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_config_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
