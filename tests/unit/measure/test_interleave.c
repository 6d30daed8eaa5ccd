/* Runs turn by turn on a scripted clock; instructions from an injected counter; what a judge makes of both. */
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
#include "engine/null.h"
#include "measure/interleave.h"
#include "measure/judge.h"
#include "measure/pulse.h"
#include "profile/profile_read.h"

enum { WARM = 10, RUNS = 50, TURN = INTERLEAVE_BLOCK + 1 };

/* ---- the order of turns ---- */

typedef struct script {
    rng r;
    double slower, noise, drift;
    uint64_t run, first_of_all;
} script;

static bool is_second(uint64_t k)
{
    if (k < 2 * WARM)
        return k >= WARM;
    uint64_t turn = (k - 2 * WARM) / TURN, round = turn / 2;
    return (turn % 2 == 1) != (round % 2 == 1); /* A B, B A, A B, ... */
}

static uint64_t duration(void *context, uint64_t run)
{
    script *s = context;
    double ms = is_second(run) ? 10 * s->slower : 10;
    bool counted = run >= 2 * WARM && (run - 2 * WARM) % TURN != 0;
    ms *= 1 + s->noise * rng_normal(&s->r);
    ms *= 1 + s->drift * (double)run / 160; /* the machine becomes slower and slower */
    return (uint64_t)((counted ? ms : 5 * ms) *
                      1e6); /* what is not counted may take what it likes */
}

static assay_status race(script *s, bool (*go_on)(void *, bool, uint64_t, uint64_t, double),
                         arena *a, interleave_series *out, assay_error *err)
{
    const engine_script told = {.duration = duration, .context = s};
    const engine_config config = {.script = &told};
    measure_request both[2] = {{.warmup = {.min_runs = WARM, .max_runs = WARM}},
                               {.warmup = {.min_runs = WARM, .max_runs = WARM}}};
    engine *e = NULL;
    rng_seed(&s->r, 5);
    assert_int_equal(engine_open("null", &config, &e, err), ASSAY_OK);
    both[0].engine = both[1].engine = e;
    const interleave_request q = {
        .subjects = both, .n = 2, .runs = RUNS, .hooks = {.go_on = go_on, .ctx = s}};
    assay_status status = interleave_measure(&q, a, out, NULL, NULL, err);
    engine_close(e);
    return status;
}

static gate_answer answer(double slower, double noise, double drift)
{
    script s = {.slower = slower, .noise = noise, .drift = drift};
    interleave_series both[2];
    gate_answer g;
    assay_error err = {0};
    arena *a = arena_new(1 << 20);
    assert_int_equal(race(&s, NULL, a, both, &err), ASSAY_OK);
    assert_int_equal(both[0].ms.n,
                     14 * INTERLEAVE_BLOCK); /* at least what was asked for, rounds in pairs */
    assert_int_equal(both[1].turns.n, 14);
    interleave_judge(&both[0], &both[1], 0.02, &g);
    arena_free(a);
    return g;
}

static void test_verdicts(void **state)
{
    (void)state;
    gate_answer g = answer(1, 0.005, 0);
    assert_int_equal(g.verdict, VERDICT_PASS);
    assert_true(g.low < 1 && 1 < g.high);
    g = answer(1.05, 0.005, 0);
    assert_int_equal(g.verdict, VERDICT_REGRESSION);
    assert_true(g.low < 1.05 && 1.05 < g.high);
    assert_int_equal(answer(0.9, 0.005, 0).verdict, VERDICT_IMPROVEMENT);
    assert_int_equal(answer(1.01, 0.0001, 0).verdict, VERDICT_PASS); /* certain, and tolerated */
    g = answer(1, 0.2, 0);
    assert_int_equal(g.verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(g.reason, GATE_NOISE);
}

/* A machine that becomes a third slower on the way does so to both. */
static void test_drift_cancels(void **state)
{
    (void)state;
    assert_int_equal(answer(1, 0.005, 0.33).verdict, VERDICT_PASS);
    assert_int_equal(answer(1.06, 0.005, 0.33).verdict, VERDICT_REGRESSION);
}

static bool stop_soon(void *ctx, bool warming, uint64_t done, uint64_t planned, double fraction)
{
    (void)ctx;
    (void)planned;
    (void)fraction;
    return warming || done < 3;
}

static void test_interrupted(void **state)
{
    script s = {.slower = 1};
    interleave_series both[2];
    assay_error err = {0};
    arena *a = arena_new(1 << 20);
    (void)state;
    assert_int_equal(race(&s, stop_soon, a, both, &err), ASSAY_ERR_INTERRUPTED);
    arena_free(a);
}

enum { ROUNDS = 14 };

static gate_answer answer_of_groups(double one, double other)
{
    double base[ROUNDS], now[ROUNDS];
    gate_answer g;
    for (int i = 0; i < ROUNDS; i++) {
        base[i] = 10 + 0.001 * i;
        now[i] = 10 * (i < ROUNDS / 2 ? one : other);
    }
    const interleave_series a = {.ms = {base, ROUNDS, ROUNDS}, .turns = {base, ROUNDS, ROUNDS}},
                            b = {.ms = {now, ROUNDS, ROUNDS}, .turns = {now, ROUNDS, ROUNDS}};
    interleave_judge(&a, &b, 0.02, &g);
    assert_true(g.effective_now < 5); /* they do hang together */
    assert_true(g.low < 1.01 * fmin(one, other) && g.high > 0.99 * fmax(one, other));
    return g;
}

/* Rounds that hang together are told by all that they showed. */
static void test_groups(void **state)
{
    (void)state;
    assert_int_equal(answer_of_groups(2.1, 2.9).verdict, VERDICT_REGRESSION);
    assert_int_equal(answer_of_groups(0.5, 0.7).verdict, VERDICT_IMPROVEMENT);
    assert_int_equal(answer_of_groups(0.99, 1.01).verdict, VERDICT_PASS);
    gate_answer g = answer_of_groups(1, 2.9);
    assert_int_equal(g.verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(g.reason, GATE_DEPENDENT);
}

static void test_too_few(void **state)
{
    double x[] = {1, 1, 1};
    const interleave_series few = {.ms = {x, 3, 3}, .turns = {x, 3, 3}};
    gate_answer g;
    (void)state;
    interleave_judge(&few, &few, 0.02, &g);
    assert_int_equal(g.verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(g.reason, GATE_FEW_RUNS);
}

/* ---- instructions ---- */

typedef struct fake {
    uint64_t now, per_read;
    int opened, closed;
    bool broken;
} fake;

static bool fake_open(void *ctx)
{
    fake *f = ctx;
    f->opened++;
    return !f->broken;
}

static bool fake_read(void *ctx, uint64_t *out)
{
    fake *f = ctx;
    *out = f->now += f->per_read;
    return true;
}

static void fake_close(void *ctx)
{
    ((fake *)ctx)->closed++;
}

static profile_config measured(fake *f, uint32_t concurrency, arena *a)
{
    static const uint64_t times[] = {1000000, 1100000};
    const engine_script told = {.run_ns = times, .n_run_ns = 2};
    const engine_config config = {.script = &told};
    const counter_source source = {fake_open, fake_read, fake_close, f};
    profile_config c = {.batch = 1};
    engine *e = NULL;
    assay_error err = {0};
    assert_int_equal(engine_open("null", &config, &e, &err), ASSAY_OK);
    const measure_request q = {.engine = e,
                               .options = ENGINE_OPTIONS,
                               .warmup = {.min_runs = 1, .max_runs = 1},
                               .rule = {.runs = 20},
                               .load = {.concurrency = concurrency},
                               .counter = &source,
                               .batch = 1};
    assert_int_equal(measure_config(&q, a, &c, NULL, NULL, &err), ASSAY_OK);
    engine_close(e);
    return c;
}

static void test_counter(void **state)
{
    arena *a = arena_new(1 << 20);
    fake f = {.per_read = 12345};
    (void)state;
    profile_config c = measured(&f, 1, a);
    assert_true(c.use.instructions == 12345 && c.use.instructions_min == 12345);
    assert_true(c.use.pulse_us > 0);
    assert_int_equal(f.opened, 1);
    assert_int_equal(f.closed, 1);
    /* Of several runs at once nobody can tell whose they were. */
    c = measured(&f, 2, a);
    assert_true(c.use.instructions == 0);
    fake none = {.broken = true};
    c = measured(&none, 1, a);
    assert_true(c.use.instructions == 0);
    assert_int_equal(none.closed, 0);
    arena_free(a);
}

/* Turn by turn too: every counted run of each has its count; a counter that breaks off tells nothing. */
static void test_counter_of_turns(void **state)
{
    script s = {.slower = 1};
    const engine_script told = {.duration = duration, .context = &s};
    const engine_config config = {.script = &told};
    fake f = {.per_read = 500}, none = {.broken = true};
    (void)state;
    rng_seed(&s.r, 5);
    for (int k = 0; k < 2; k++) {
        const counter_source source = {fake_open, fake_read, fake_close, k ? &none : &f};
        measure_request both[2] = {{.warmup = {.min_runs = WARM, .max_runs = WARM}},
                                   {.warmup = {.min_runs = WARM, .max_runs = WARM}}};
        interleave_series out[2];
        engine *e = NULL;
        assay_error err = {0};
        arena *a = arena_new(1 << 20);
        assert_int_equal(engine_open("null", &config, &e, &err), ASSAY_OK);
        both[0].engine = both[1].engine = e;
        const interleave_request q = {.subjects = both, .n = 2, .runs = RUNS, .counter = &source};
        assert_int_equal(interleave_measure(&q, a, out, NULL, NULL, &err), ASSAY_OK);
        for (int i = 0; i < 2; i++) {
            double each = k ? 0 : 500;
            assert_int_equal(out[i].counts.n, k ? 0 : out[i].ms.n);
            assert_true(out[i].instructions.median == each && out[i].instructions.fewest == each &&
                        out[i].instructions.most == each);
            assert_true(out[i].wall_ns > 0);
        }
        engine_close(e);
        arena_free(a);
    }
    assert_int_equal(f.opened, 1);
    assert_int_equal(f.closed, 1);
    assert_int_equal(none.closed, 0);
}

/* ---- what a judge makes of it ---- */

typedef struct specimen {
    profile p;
    profile_measured m;
    profile_config c;
    double ms[RUNS];
} specimen;

static void make(specimen *s, double ms, uint64_t seed, double instructions, double pulse)
{
    rng r;
    memset(s, 0, sizeof *s);
    rng_seed(&r, seed);
    for (int i = 0; i < RUNS; i++)
        s->ms[i] = ms * (1 + 0.01 * rng_normal(&r));
    s->c = (profile_config){.batch = 1,
                            .samples_ms = s->ms,
                            .n_samples = RUNS,
                            .latency = {.runs = RUNS, .mean = ms, .p50 = ms}};
    s->c.use.instructions = instructions;
    s->c.use.instructions_min = instructions * 0.9999;
    s->c.use.instructions_max = instructions * 1.0001;
    s->c.use.pulse_us = pulse;
    s->m = (profile_measured){.configs = &s->c, .n_configs = 1, .concurrency = 1};
    s->p = (profile){
        .model = STR("net"), .total_parameters = 1, .total_operators = 1, .measured = &s->m};
}

static verdict_kind judged(arena *a, const specimen *now, const specimen *base, const char *metric,
                           verdicts *v)
{
    const metric_row *m = metric ? metric_find(str_of(metric)) : NULL;
    assay_error err = {0};
    const judge_request q = {.now = &now->p,
                             .base = &base->p,
                             .base_name = STR("b"),
                             .metrics = m ? &m : NULL,
                             .n_metrics = m != NULL,
                             .tolerance = 0.02};
    assert_int_equal(judge_profile(&q, a, v, &err), ASSAY_OK);
    return v->overall;
}

static bool noted(const verdicts *v, const char *part)
{
    for (uint32_t i = 0; i < v->n_notes; i++)
        if (str_contains(v->notes[i], part))
            return true;
    return false;
}

static void test_second_opinion(void **state)
{
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1, 1e9, 0);
    make(&now, 10.8, 2, 1e9, 0); /* slower, and nothing more to do */
    assert_int_equal(judged(a, &now, &base, NULL, &v), VERDICT_REGRESSION);
    assert_true(noted(&v, "+0.00 %"));
    make(&now, 10, 2, 1.05e9, 0);
    assert_int_equal(judged(a, &now, &base, NULL, &v),
                     VERDICT_PASS); /* shown, not judged unasked */
    assert_true(noted(&v, "+5.00 %"));
    assert_int_equal(judged(a, &now, &base, "instructions", &v), VERDICT_REGRESSION);
    make(&now, 10, 2, 1.0001e9, 0);
    assert_int_equal(judged(a, &now, &base, "instructions", &v), VERDICT_PASS);
    make(&now, 10, 2, 0.9e9, 0);
    assert_int_equal(judged(a, &now, &base, "instructions", &v), VERDICT_IMPROVEMENT);
    arena_free(a);
}

/* The machine itself was slower: what would be a regression cannot be told from it. */
static void test_machine_speed(void **state)
{
    specimen base, now;
    verdicts v;
    arena *a = arena_new(1 << 20);
    (void)state;
    make(&base, 10, 1, 0, 100);
    make(&now, 11.5, 2, 0, 100.5);
    assert_int_equal(judged(a, &now, &base, NULL, &v), VERDICT_REGRESSION);
    make(&now, 11.5, 2, 0, 118);
    assert_int_equal(judged(a, &now, &base, NULL, &v), VERDICT_INCONCLUSIVE);
    assert_true(noted(&v, "18.0 %"));
    make(&now, 20, 2, 0, 118); /* far more than the machine explains */
    assert_int_equal(judged(a, &now, &base, NULL, &v), VERDICT_REGRESSION);
    make(&now, 8, 2, 0, 80);
    assert_int_equal(judged(a, &now, &base, NULL, &v), VERDICT_PASS);
    arena_free(a);
}

static void test_pulse(void **state)
{
    double beats[PULSE_BEATS];
    uint32_t n = 0;
    (void)state;
    pulse_take(beats, &n);
    assert_int_equal(n, PULSE_BEATS);
    assert_true(pulse_median(beats, n) > 1);
    assert_true(pulse_median(beats, 0) == 0);
}

int run_test_interleave(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),       cmocka_unit_test(test_drift_cancels),
        cmocka_unit_test(test_interrupted),    cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_groups),         cmocka_unit_test(test_counter),
        cmocka_unit_test(test_second_opinion), cmocka_unit_test(test_machine_speed),
        cmocka_unit_test(test_pulse),          cmocka_unit_test(test_counter_of_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
