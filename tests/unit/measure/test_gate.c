/* Metrics and their units; the statistics of a gate over simulated runs; profiles before their judges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/rng.h"
#include "measure/gate.h"
#include "measure/judge.h"
#include "profile/verdicts.h"
#include "report/report.h"

/* ---- metrics ---- */

static void test_metric_rows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < metric_table_n; i++) {
        const metric_row *m = &metric_table[i];
        assert_non_null(m->get);
        assert_non_null(m->title);
        assert_ptr_equal(metric_find(str_of(m->name)), m); /* no name hides another */
        assert_true(m->measured || m->runs == RUNS_NOT);
        double v;
        assert_true(metric_parse(m->unit, str_of(metric_example(m->unit)), &v));
    }
    assert_ptr_equal(metric_find(STR("Mean")), metric_find(STR("latency")));
    assert_ptr_equal(metric_find(STR("best_throughput")), metric_find(STR("best-throughput")));
    assert_null(metric_find(STR("lat")));
}

/* ---- the gate ---- */

enum { RUNS = 50, TRIALS = 200 };

typedef struct noise {
    double deviation, memory; /* memory: of an AR(1) series */
    double spike;             /* share of runs that take half as long again */
} noise;

static void simulate(rng *r, const noise *n, double ms, double *out)
{
    double e = 0;
    for (int i = 0; i < RUNS; i++) {
        e = n->memory * e + sqrt(1 - n->memory * n->memory) * rng_normal(r);
        double spike = rng_uniform(r) < n->spike ? 1.5 : 1;
        out[i] = ms * (1 + n->deviation * e) * spike;
    }
}

typedef struct tally {
    int regression, improvement, pass, inconclusive;
} tally;

static tally trials(const noise *n, double slower, metric_of_runs what)
{
    double base[RUNS], now[RUNS];
    tally t = {0};
    rng r;
    rng_seed(&r, 7);
    for (int i = 0; i < TRIALS; i++) {
        simulate(&r, n, 10, base);
        simulate(&r, n, 10 * slower, now);
        const gate_question q = {.base = {base, RUNS},
                                 .now = {now, RUNS},
                                 .what = what,
                                 .quantile = 0.5,
                                 .tolerance = 0.02};
        gate_answer a;
        assert_int_equal(gate_ask(&q, &a, NULL), ASSAY_OK);
        t.regression += a.verdict == VERDICT_REGRESSION;
        t.improvement += a.verdict == VERDICT_IMPROVEMENT;
        t.pass += a.verdict == VERDICT_PASS;
        t.inconclusive += a.verdict == VERDICT_INCONCLUSIVE;
    }
    return t;
}

static void test_unchanged(void **state)
{
    static const noise quiet = {.deviation = 0.01}, loud = {.deviation = 0.05},
                       sticky = {.deviation = 0.02, .memory = 0.8},
                       spiky = {.deviation = 0.01, .spike = 0.05};
    (void)state;
    tally t = trials(&quiet, 1, RUNS_QUANTILE);
    assert_int_equal(t.regression + t.improvement, 0);
    assert_true(t.pass > TRIALS * 0.98);
    t = trials(&loud, 1, RUNS_QUANTILE);
    assert_true(t.regression < TRIALS * 0.01);
    assert_true(t.inconclusive > TRIALS / 2); /* and does not claim to know */
    t = trials(&sticky, 1, RUNS_QUANTILE);
    assert_true(t.regression <= TRIALS * 0.01);
    t = trials(&spiky, 1, RUNS_QUANTILE);
    assert_int_equal(t.regression, 0);
}

static void test_slower(void **state)
{
    static const noise quiet = {.deviation = 0.01};
    (void)state;
    assert_true(trials(&quiet, 1.05, RUNS_QUANTILE).regression > TRIALS * 0.95);
    assert_true(trials(&quiet, 1.05, RUNS_MEAN).regression > TRIALS * 0.95);
    assert_true(trials(&quiet, 0.95, RUNS_MEAN).improvement > TRIALS * 0.95);
    /* Certain, but within what is tolerated. */
    assert_true(trials(&quiet, 1.01, RUNS_MEAN).pass > TRIALS * 0.9);
}

/* The machine changed its mind half way: fifty runs are two. */
static void test_drift(void **state)
{
    double base[RUNS], now[RUNS];
    rng r;
    gate_answer a;
    (void)state;
    rng_seed(&r, 3);
    for (int i = 0; i < RUNS; i++) {
        base[i] = 10 + 0.05 * rng_normal(&r);
        now[i] = (i < RUNS / 2 ? 10 : 11) + 0.05 * rng_normal(&r);
    }
    const gate_question q = {
        .base = {base, RUNS}, .now = {now, RUNS}, .what = RUNS_MEAN, .tolerance = 0.02};
    assert_int_equal(gate_ask(&q, &a, NULL), ASSAY_OK);
    assert_int_equal(a.verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(a.reason, GATE_DEPENDENT);
}

/* Runs of a busy machine: stretches of ten runs at one of two speeds. */
static void simulate_groups(rng *r, double fast, double slow, double *out)
{
    for (int i = 0; i < RUNS; i++)
        out[i] = (i / 10 % 2 ? slow : fast) * (1 + 0.01 * rng_normal(r));
}

/* The interval decides: runs that come in groups are inconclusive only where it holds the limit. */
static void test_groups(void **state)
{
    static const struct {
        double fast, slow;
        verdict_kind verdict;
        gate_reason reason;
    } rows[] = {
        {21, 29, VERDICT_REGRESSION, GATE_CLEAR},
        {4, 6, VERDICT_IMPROVEMENT, GATE_CLEAR},
        {9.2, 9.9, VERDICT_PASS, GATE_CLEAR},
        {10, 11, VERDICT_INCONCLUSIVE, GATE_DEPENDENT},
        {9.5, 15, VERDICT_INCONCLUSIVE, GATE_DEPENDENT},
    };
    double base[RUNS], now[RUNS];
    rng r;
    (void)state;
    rng_seed(&r, 11);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gate_answer a;
        simulate(&r, &(noise){.deviation = 0.002}, 10, base);
        simulate_groups(&r, rows[i].fast, rows[i].slow, now);
        const gate_question q = {.base = {base, RUNS},
                                 .now = {now, RUNS},
                                 .what = RUNS_QUANTILE,
                                 .quantile = 0.5,
                                 .tolerance = 0.02,
                                 .allowance = 0.015};
        assert_int_equal(gate_ask(&q, &a, NULL), ASSAY_OK);
        assert_true(a.effective_now < 10); /* they do come in groups */
        assert_int_equal(a.verdict, rows[i].verdict);
        assert_int_equal(a.reason, rows[i].reason);
        assert_true(a.low < rows[i].fast / 9.9 && a.high > rows[i].slow / 10.1);
    }
}

/* Beyond the tolerance, within what two sessions differ by: no limit is in the interval. */
static void test_between_sessions(void **state)
{
    double base[RUNS], now[RUNS];
    rng r;
    gate_answer a;
    (void)state;
    rng_seed(&r, 4);
    simulate(&r, &(noise){.deviation = 0.001}, 10, base);
    simulate(&r, &(noise){.deviation = 0.001}, 10.275, now);
    const gate_question q = {.base = {base, RUNS},
                             .now = {now, RUNS},
                             .what = RUNS_MEAN,
                             .tolerance = 0.02,
                             .allowance = 0.015};
    assert_int_equal(gate_ask(&q, &a, NULL), ASSAY_OK);
    assert_int_equal(a.verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(a.reason, GATE_SESSIONS);
}

static void test_too_few(void **state)
{
    double x[RUNS];
    gate_answer a;
    (void)state;
    for (int i = 0; i < RUNS; i++)
        x[i] = 10 + i % 3;
    gate_question q = {.base = {x, 9}, .now = {x, RUNS}, .what = RUNS_MEAN, .tolerance = 0.02};
    gate_ask(&q, &a, NULL);
    assert_int_equal(a.reason, GATE_FEW_RUNS);
    q = (gate_question){.base = {x, RUNS},
                        .now = {x, RUNS},
                        .what = RUNS_QUANTILE,
                        .quantile = 0.99,
                        .tolerance = 0.02};
    gate_ask(&q, &a, NULL);
    assert_int_equal(a.reason, GATE_FEW_TAIL);
    assert_int_equal(a.runs_needed, 500);
    assert_int_equal(a.verdict, VERDICT_INCONCLUSIVE);
    q.base.n = 0;
    gate_ask(&q, &a, NULL);
    assert_int_equal(a.verdict, VERDICT_INCONCLUSIVE);
}

/* ---- judges ---- */

typedef struct specimen {
    profile p;
    profile_measured m;
    profile_config c;
    double ms[RUNS];
} specimen;

static void make(specimen *s, double ms, uint64_t seed)
{
    static const noise quiet = {.deviation = 0.01};
    rng r;
    memset(s, 0, sizeof *s);
    rng_seed(&r, seed);
    simulate(&r, &quiet, ms, s->ms);
    s->c = (profile_config){.batch = 1,
                            .precision = STR("fp32"),
                            .samples_ms = s->ms,
                            .n_samples = RUNS,
                            .samples_per_second = 1000 / ms,
                            .latency = {.runs = RUNS, .mean = ms, .p50 = ms, .p95 = ms, .p99 = ms}};
    s->c.memory = (profile_resident){.before_session = 100, .peak = 300};
    s->m = (profile_measured){.configs = &s->c, .n_configs = 1, .concurrency = 1};
    s->p = (profile){.model = STR("net"),
                     .lens = STR("assay"),
                     .total_parameters = 1000,
                     .total_flops = UINT64_C(9007199254740993), /* no double holds it */
                     .total_operators = 5,
                     .measured = &s->m};
    s->p.context = (profile_context){
        .timestamp = STR("2026-11-15T12:00:00Z"), .cpu = STR("Some CPU"), .cores = 4};
}

static const verdict_row *row_of(const verdicts *v, const char *metric)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->rows[i].metric, metric) == 0)
            return &v->rows[i];
    fail_msg("no row of %s", metric);
    return NULL;
}

static verdict_kind judged(arena *a, const specimen *now, const specimen *base, verdicts *v)
{
    assay_error err = {0};
    const judge_request q = {
        .now = &now->p, .base = &base->p, .base_name = STR("base.json"), .tolerance = 0.02};
    assert_int_equal(judge_profile(&q, a, v, &err), ASSAY_OK);
    return v->overall;
}

static void test_judge_counts(void **state)
{
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1);
    make(&now, 10, 2);
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_PASS);
    assert_int_equal(row_of(&v, "p50")->verdict, VERDICT_PASS);
    assert_true(verdict_is_tested(row_of(&v, "p50")));
    assert_int_equal(row_of(&v, "memory")->verdict, VERDICT_SHOWN);
    now.p.total_flops--; /* exactly: one less */
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_IMPROVEMENT);
    now.p.total_flops += 2;
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    assert_int_equal(row_of(&v, "flops")->verdict, VERDICT_REGRESSION);
    assert_int_equal(row_of(&v, "params")->verdict, VERDICT_PASS);
    arena_free(a);
}

static void test_judge_tolerances(void **state)
{
    specimen base, now;
    verdicts v;
    assay_error err = {0};
    const verdict_tolerance of[] = {{metric_find(STR("params")), 1},
                                    {metric_find(STR("memory")), 5}};
    judge_request q = {
        .now = &now.p, .base = &base.p, .tolerance = 0.02, .tolerances = of, .n_tolerances = 2};
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1);
    make(&now, 10, 2);
    now.p.total_parameters = 1010;
    assert_int_equal(judge_profile(&q, a, &v, &err), ASSAY_OK);
    assert_int_equal(row_of(&v, "params")->verdict, VERDICT_PASS);
    assert_true(row_of(&v, "params")->tolerance_percent == 1);
    assert_int_equal(row_of(&v, "memory")->verdict, VERDICT_PASS);
    now.p.total_parameters = 1011;
    now.c.memory.peak = 311;
    now.p.total_flops++; /* the others are compared exactly */
    assert_int_equal(judge_profile(&q, a, &v, &err), ASSAY_OK);
    assert_int_equal(row_of(&v, "params")->verdict, VERDICT_REGRESSION);
    assert_int_equal(row_of(&v, "memory")->verdict, VERDICT_REGRESSION);
    assert_int_equal(row_of(&v, "flops")->verdict, VERDICT_REGRESSION);
    now.p.total_parameters = 989;
    assert_int_equal(judge_profile(&q, a, &v, &err), ASSAY_OK);
    assert_int_equal(row_of(&v, "params")->verdict, VERDICT_IMPROVEMENT);
    /* A tolerance of what is not compared. */
    const metric_row *macs = metric_find(STR("macs"));
    q.metrics = &macs;
    q.n_metrics = 1;
    assert_int_equal(judge_profile(&q, a, &v, &err), ASSAY_ERR_USAGE);
    arena_free(a);
}

static void test_judge_runs(void **state)
{
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1);
    make(&now, 10.5, 2);
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    /* 5 % is told, of another day too; 3 % may be two sessions of one model. */
    now.p.context.timestamp = STR("2026-11-16T12:00:00Z");
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    make(&now, 10.3, 2);
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_INCONCLUSIVE);
    assert_int_equal(v.n_notes, 0);
    now.p.context.timestamp = STR("2026-11-16T12:00:00Z");
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_INCONCLUSIVE);
    assert_int_equal(v.n_notes, 1);
    arena_free(a);
}

static void test_judge_other_machine(void **state)
{
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1);
    make(&now, 20, 2);
    now.p.context.cpu = STR("Another CPU");
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_INCONCLUSIVE);
    assert_int_equal(v.n_notes, 1);
    make(&now, 10, 2);
    now.m.engine.threads = 3;
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_INCONCLUSIVE);
    make(&now, 20, 2); /* a newer engine is what one wants to know about */
    now.m.engine.version = STR("2");
    base.m.engine.version = STR("1");
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    arena_free(a);
}

/* A result of counts alone, for one input. */
static void make_counts(specimen *s, const profile_tensor *input, uint64_t seed)
{
    make(s, 10, seed);
    s->p.measured = NULL;
    s->p.inputs = input;
    s->p.n_inputs = 1;
}

/* Half the batch is half the work: that is no improvement, and twice of it no regression. */
static void test_judge_other_batch(void **state)
{
    static const int64_t one[] = {1, 3, 8}, two[] = {2, 3, 8}, wide[] = {2, 3, 16};
    profile_tensor at_one = {.name = STR("x"), .shape = {3, one}},
                   at_two = {.name = STR("x"), .shape = {3, two}};
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make_counts(&base, &at_two, 1);
    make_counts(&now, &at_one, 2);
    now.p.total_flops /= 2;
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_INCONCLUSIVE);
    assert_int_equal(row_of(&v, "flops")->verdict, VERDICT_INCONCLUSIVE);
    assert_true(row_of(&v, "flops")->why.n > 0);
    assert_int_equal(row_of(&v, "params")->verdict, VERDICT_PASS);
    assert_int_equal(v.n_notes, 1);
    assert_int_equal(judged(a, &base, &now, &v), VERDICT_INCONCLUSIVE);
    now.p.total_parameters++; /* which has nothing to do with it */
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    at_one.shape.dims = wide; /* another input, of the same batch: the model's own growth */
    make_counts(&now, &at_one, 2);
    now.p.total_flops++;
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    arena_free(a);
}

/* Steps before samples, as a run has found out: more of the first are a longer input, not another batch. */
static void test_judge_batch_axis(void **state)
{
    static const int64_t two[] = {12, 2, 8}, four[] = {12, 4, 8}, longer[] = {24, 2, 8};
    const profile_batch_axis second = {.input = STR("x"), .axis = 1};
    profile_tensor was = {.name = STR("x"), .shape = {3, two}}, is = was;
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make_counts(&base, &was, 1);
    make_counts(&now, &is, 2);
    base.p.batch = (profile_batch){
        .certainty = "tried", .present = true, .axes = &second, .n_axes = 1};
    now.p.total_flops *= 2;
    is.shape.dims = four;
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_INCONCLUSIVE);
    is.shape.dims = longer;
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    arena_free(a);
}

static void test_judge_refuses(void **state)
{
    specimen base, now;
    verdicts v;
    assay_error err = {0};
    const metric_row *p99 = metric_find(STR("energy"));
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1);
    make(&now, 10, 2);
    now.c.use.energy_j = -1;
    judge_request q = {
        .now = &now.p, .base = &base.p, .metrics = &p99, .n_metrics = 1, .tolerance = 0.02};
    assert_int_equal(judge_profile(&q, a, &v, &err), ASSAY_ERR_USAGE);
    base.p.lens = STR("fvcore");
    q.metrics = NULL;
    memset(&err, 0, sizeof err);
    assert_int_equal(judge_profile(&q, a, &v, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "fvcore"));
    arena_free(a);
}

static void test_limits(void **state)
{
    specimen now;
    verdicts v;
    assay_error err = {0};
    arena *a = arena_new(1 << 20);
    const verdict_limit limits[] = {{metric_find(STR("latency")), false, 12},
                                    {metric_find(STR("throughput")), true, 1000},
                                    {metric_find(STR("p99")), false, 1e9}};
    (void)state;
    make(&now, 10, 1);
    const judge_request q = {.now = &now.p, .limits = limits, .n_limits = 3};
    assert_int_equal(judge_profile(&q, a, &v, &err), ASSAY_OK);
    assert_int_equal(v.overall, VERDICT_MISSED);
    assert_int_equal(v.rows[0].verdict, VERDICT_PASS);
    assert_int_equal(v.rows[1].verdict, VERDICT_MISSED);
    assert_int_equal(v.rows[2].verdict, VERDICT_PASS);
    assert_true(v.rows[2].why.n > 0); /* a P99 of fifty runs */
    arena_free(a);
}

/* ---- texts ---- */

static char *rendered(const verdicts *v, const char *format)
{
    const report_options o = REPORT_DEFAULTS;
    sbuf b = {0};
    assert_int_equal(report_result(&check_kind, v, str_of(format), &o, &b, NULL), ASSAY_OK);
    sbuf_cstr(&b);
    return b.p;
}

static void has(const verdicts *v, const char *format, const char *part)
{
    char *text = rendered(v, format);
    if (!strstr(text, part))
        print_error("'%s' is not in:\n%s\n", part, text);
    assert_non_null(strstr(text, part));
    free(text);
}

static void test_texts(void **state)
{
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1);
    make(&now, 10.6, 2);
    now.p.model = STR("<b>&\"x\"|\n::error::");
    base.p.model = STR("b\nc");
    assert_int_equal(judged(a, &now, &base, &v), VERDICT_REGRESSION);
    has(&v, "json", "\"verdict\": \"regression\"");
    has(&v, "json", "\"ratio_ci99_low\": 1.0");
    has(&v, "csv", "p50,ms,regression,");
    has(&v, "junit", "&lt;b&gt;&amp;&quot;x&quot;|\\x0a::error::");
    has(&v, "junit", "<failure type=\"regression\"");
    has(&v, "md", "&lt;b&gt;&amp;");
    has(&v, "github", "::error title=assay p50 regression::<b>");
    has(&v, "console", "regression");
    char *lines = rendered(&v, "github");
    assert_null(strchr(strchr(lines, '\n') + 1, '\n')); /* one annotation, one line */
    free(lines);
    sbuf b = {0};
    const report_options o = REPORT_DEFAULTS;
    assert_int_equal(report_result(&check_kind, &v, STR("yaml"), &o, &b, NULL), ASSAY_ERR_USAGE);
    arena_free(a);
}

/* Of an interval that is wider to one side both ends are told. */
static void test_interval_texts(void **state)
{
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1);
    make(&now, 10, 2);
    judged(a, &now, &base, &v);
    verdict_row *row = &v.rows[row_of(&v, "p50") - v.rows];
    row->ratio = 1.146;
    row->low = 0.982;
    row->high = 1.519;
    static const char *const formats[] = {"console", "md"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        has(&v, formats[i], "−1.80 % to +51.9 %");
        char *text = rendered(&v, formats[i]);
        assert_null(strstr(text, "±"));
        free(text);
    }
    arena_free(a);
}

int run_test_gate(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metric_rows),
        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_slower),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_between_sessions),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_judge_counts),
        cmocka_unit_test(test_judge_tolerances),
        cmocka_unit_test(test_judge_runs),
        cmocka_unit_test(test_judge_other_machine),
        cmocka_unit_test(test_judge_other_batch),
        cmocka_unit_test(test_judge_batch_axis),
        cmocka_unit_test(test_judge_refuses),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_interval_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
