/* A busy machine: what is evidence of it, and what follows for warnings and verdicts. All evidence is scripted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "engine/null.h"
#include "measure/busy.h"
#include "measure/compare_times.h"
#include "measure/judge.h"
#include "measure/measure.h"
#include "profile/profile.h"

enum { RUNS = 120 };

static bool is_busy(busy_evidence e)
{
    sbuf why = {0};
    bool busy = busy_judge(&e, &why);
    assert_int_equal(busy, why.n > 0);
    sbuf_free(&why);
    return busy;
}

static void test_evidence(void **state)
{
    (void)state;
    const busy_evidence quiet = {
        .wall_s = 10, .cpu_s = 20, .wait_s = 0.1, .load = 2, .forced = 50, .cpus = 2};
    busy_evidence e = quiet;
    assert_false(is_busy(e));
    e.wait_s = 0.6; /* 6 % */
    assert_true(is_busy(e));
    e = quiet;
    e.load = 4; /* two of it are the runs themselves */
    assert_false(is_busy(e));
    e.load = 4.1;
    assert_true(is_busy(e));
    /* Forced switches decide only where the wait is not told. */
    e = quiet;
    e.forced = 1000000;
    assert_false(is_busy(e));
    e.wait_s = NAN;
    assert_true(is_busy(e));
    e.forced = 100;
    assert_false(is_busy(e));
    e.load = NAN;
    e.cpus = 0;
    assert_false(is_busy(e));
}

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

/* The thread waits for half an hour while it is measured. */
static bool wait_long(void *root, bool warming, uint64_t done, uint64_t planned, double fraction)
{
    (void)done;
    (void)planned;
    (void)fraction;
    if (!warming)
        put_file(root, "/proc/self/schedstat", "5000 1800000000000 7\n");
    return true;
}

static void test_configuration(void **state)
{
    (void)state;
    char root[] = "/tmp/assay-test-XXXXXX", command[64];
    assay_error err = {0};
    const uint64_t ns[] = {1000000};
    engine_script script = {.run_ns = ns, .n_run_ns = 1};
    const engine_config config = {.script = &script};
    profile_config c = {.batch = 4};
    profile_measured m = {.configs = &c, .n_configs = 1};
    notes n;
    assert_non_null(mkdtemp(root));
    put_file(root, "/proc/self/schedstat", "1000 0 3\n");
    put_file(root, "/proc/loadavg", "10.25 4.00 3.00 9/312 4711\n");
    measure_request q = {.model = {.path = "x"},
                         .options = ENGINE_OPTIONS,
                         .warmup = {.min_runs = 1, .max_runs = 1},
                         .rule = {.runs = 3},
                         .hooks = {.go_on = wait_long, .ctx = root},
                         .root = root,
                         .batch = 4};
    arena *a = arena_new(1 << 24);
    assert_int_equal(engine_open("null", &config, &q.engine, &err), ASSAY_OK);
    assert_int_equal(measure_config(&q, a, &c, NULL, NULL, &err), ASSAY_OK);
    assert_true(c.use.run_queue_wait_s == 1800 && c.use.load == 10.25 && c.use.busy.n > 0);
    /* The warning is the first of all. */
    notes_init(&n, a);
    notes_add(&n, "one", (str){0}, NULL, "One.");
    notes_add(&n, "two", (str){0}, NULL, "Two.");
    busy_note(&m, &n);
    assert_int_equal(n.list.n, 3);
    assert_string_equal(n.list.items[0].code, "machine-busy");
    assert_string_equal(n.list.items[1].code, "one");
    assert_string_equal(n.list.items[2].code, "two");
    engine_close(q.engine);
    arena_free(a);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

/* ---- models that run in turns ---- */

typedef struct turns_script {
    const char *root;
    uint64_t waited_ns, per_run_ns;
} turns_script;

/* Every run waits for a CPU. */
static uint64_t wait_in_run(void *context, uint64_t run)
{
    turns_script *s = context;
    char text[64];
    (void)run;
    s->waited_ns += s->per_run_ns;
    snprintf(text, sizeof text, "1000 %llu 3\n", (unsigned long long)s->waited_ns);
    put_file(s->root, "/proc/self/schedstat", text);
    return 10000000;
}

/* The second of two models that ran in turns while each run waited that long. */
static bool turns_are_busy(const char *root, uint64_t per_run_ns)
{
    turns_script s = {.root = root, .per_run_ns = per_run_ns};
    const engine_script told = {.duration = wait_in_run, .context = &s};
    const engine_config config = {.script = &told};
    measure_request both[2] = {{.warmup = {.min_runs = 1, .max_runs = 1}, .root = root},
                               {.warmup = {.min_runs = 1, .max_runs = 1}, .root = root}};
    const interleave_request q = {.subjects = both, .n = 2, .runs = 8};
    profile_config c = PROFILE_CONFIG_UNKNOWN;
    const profile p = {.total_flops = 1};
    interleave_series out[2];
    assay_error err = {0};
    arena *a = arena_new(1 << 24);
    assert_int_equal(engine_open("null", &config, &both[0].engine, &err), ASSAY_OK);
    both[1].engine = both[0].engine;
    assert_int_equal(interleave_measure(&q, a, out, NULL, NULL, &err), ASSAY_OK);
    double runs = out[1].ms.n;
    assert_true(fabs(out[1].wait_s - runs * (double)per_run_ns / 1e9) < 1e-9);
    assert_int_equal(turns_describe(&out[1], &p, a, &c, &err), ASSAY_OK);
    bool is_busy = c.use.busy.n > 0;
    engine_close(both[0].engine);
    arena_free(a);
    return is_busy;
}

static void test_turns(void **state)
{
    (void)state;
    char root[] = "/tmp/assay-test-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    put_file(root, "/proc/self/schedstat", "1000 0 3\n");
    assert_true(turns_are_busy(root, 5000000));
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

/* ---- verdicts ---- */

typedef struct specimen {
    profile p;
    profile_measured m;
    profile_config c;
    double ms[RUNS];
} specimen;

/* Runs between low and high, evenly. */
static void make(specimen *s, double low, double high, const char *busy)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < RUNS; i++)
        s->ms[i] = low + (high - low) * ((i * 37) % RUNS) / (RUNS - 1);
    double mean = (low + high) / 2;
    s->c = (profile_config){.batch = 1,
                            .precision = STR("fp32"),
                            .samples_ms = s->ms,
                            .n_samples = RUNS,
                            .samples_per_second = 1000 / mean,
                            .latency = {.runs = RUNS,
                                        .mean = mean,
                                        .min = low,
                                        .max = high,
                                        .p50 = mean,
                                        .p95 = high,
                                        .ci95_low = mean - (high - low) / 8,
                                        .ci95_high = mean + (high - low) / 8},
                            .use = {.busy = str_of(busy)}};
    s->m = (profile_measured){.configs = &s->c, .n_configs = 1, .concurrency = 1};
    s->p = (profile){.model = STR("net"), .total_parameters = 1000, .measured = &s->m};
    s->p.context = (profile_context){.timestamp = STR("2026-11-15T12:00:00Z")};
}

static verdict_kind against(const specimen *now, const specimen *base, verdicts *v, arena *a)
{
    assay_error err = {0};
    const metric_row *p50 = metric_find(STR("p50"));
    const judge_request q = {.now = &now->p,
                             .base = &base->p,
                             .base_name = STR("base.json"),
                             .metrics = &p50,
                             .n_metrics = 1,
                             .tolerance = 0.02};
    assert_int_equal(judge_profile(&q, a, v, &err), ASSAY_OK);
    return v->overall;
}

static bool is_too_busy(const verdicts *v)
{
    return str_starts(v->rows[0].why, "machine too busy");
}

/* The interval decides first. */
static void test_against_baseline(void **state)
{
    (void)state;
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 22);
    make(&base, 9.9, 10.1, "");
    make(&now, 14.9, 15.1, "the load was 10");
    assert_int_equal(against(&now, &base, &v, a), VERDICT_REGRESSION);
    assert_true(v.busy.n > 0 && !v.rows[0].why.n);
    make(&now, 9.9, 10.1, "the load was 10");
    assert_int_equal(against(&now, &base, &v, a), VERDICT_PASS);
    assert_true(v.busy.n > 0);
    make(&now, 8, 13, "the load was 10");
    assert_int_equal(against(&now, &base, &v, a), VERDICT_INCONCLUSIVE);
    assert_true(v.busy.n > 0 && is_too_busy(&v));
    /* A baseline of a busy machine decides as little. */
    make(&base, 7.5, 12.5, "the load was 10");
    make(&now, 9.9, 10.1, "");
    assert_int_equal(against(&now, &base, &v, a), VERDICT_INCONCLUSIVE);
    assert_true(v.busy.n > 0 && is_too_busy(&v));
    /* Without a busy machine it is noise. */
    make(&base, 9.9, 10.1, "");
    make(&now, 8, 13, "");
    assert_int_equal(against(&now, &base, &v, a), VERDICT_INCONCLUSIVE);
    assert_true(!v.busy.n && !is_too_busy(&v));
    arena_free(a);
}

static verdict_kind limited(const specimen *now, const char *metric, double limit, verdicts *v,
                            arena *a)
{
    assay_error err = {0};
    const metric_row *m = metric_find(str_of(metric));
    const verdict_limit l = {.metric = m, .at_least = m->more_is_better, .limit = limit};
    const judge_request q = {.now = &now->p, .limits = &l, .n_limits = 1};
    assert_int_equal(judge_profile(&q, a, v, &err), ASSAY_OK);
    return v->overall;
}

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *metric;
        double met, straddled, missed;
    } rows[] = {{"latency", 20, 10.2, 5},
                {"p50", 20, 10.2, 5},
                {"p95", 20, 11.8, 5},
                {"throughput", 50, 100.5, 200}};
    specimen quiet, busy;
    verdicts v;
    arena *a = arena_new(1 << 22);
    make(&quiet, 8, 12, "");
    make(&busy, 8, 12, "the load was 10");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(limited(&busy, rows[i].metric, rows[i].met, &v, a), VERDICT_PASS);
        assert_true(v.busy.n > 0);
        assert_int_equal(limited(&busy, rows[i].metric, rows[i].missed, &v, a), VERDICT_MISSED);
        assert_int_equal(limited(&busy, rows[i].metric, rows[i].straddled, &v, a),
                         VERDICT_INCONCLUSIVE);
        assert_true(is_too_busy(&v));
        assert_true(limited(&quiet, rows[i].metric, rows[i].straddled, &v, a) !=
                    VERDICT_INCONCLUSIVE);
    }
    /* Counts do not care. */
    assert_int_equal(limited(&busy, "params", 2000, &v, a), VERDICT_PASS);
    assert_false(v.busy.n > 0);
    arena_free(a);
}

/* A thread beside one busy program on two CPUs waits little; of nine threads on two CPUs each waits 7 parts of 9. */
static void waiting_keeps_from_calibrating(void **state)
{
    (void)state;
    assert_false(busy_for_calibration(0));
    assert_false(busy_for_calibration(1.0 / 3));
    assert_true(busy_for_calibration(7.0 / 9));
    assert_false(busy_for_calibration(NAN));
    double share = busy_probe("", 0.001);
    assert_true(isnan(share) || share >= 0);
}

int run_test_busy(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_keeps_from_calibrating),
        cmocka_unit_test(test_evidence),
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_against_baseline),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
