/* Capacity against a discrete-event simulation of what it assumes: Poisson arrivals, batches that leave when full,
 * c servers in order of arrival, service times of the measured runs. And known answers of queueing theory. */
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
#include "study/capacity.h"

enum { RUNS = 400, REQUESTS = 400000 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Samples of mean 10 ms: almost constant, like a model; or exponential. */
static void make_samples(double *out, const char *kind)
{
    rng r;
    rng_seed(&r, 11);
    for (int i = 0; i < RUNS; i++)
        out[i] = strcmp(kind, "exponential") == 0 ? -10 * log((i + 0.5) / RUNS)
                 : strcmp(kind, "spiky") == 0     ? (i % 20 ? 8.5 : 38.5)
                                                  : 10 * exp(0.05 * rng_normal(&r));
}

typedef struct outcome {
    double mean, p99, waiting;
} outcome;

static outcome simulate(const capacity_machine *m, uint64_t seed)
{
    double *times = malloc(sizeof *times * REQUESTS), *arrived = malloc(sizeof *arrived * m->batch);
    double *free_at = calloc(m->servers, sizeof *free_at);
    double now = 0, sum = 0, waits = 0;
    uint32_t done = 0, batches = 0;
    rng r;
    rng_seed(&r, seed);
    while (done + m->batch <= REQUESTS) {
        for (uint64_t k = 0; k < m->batch; k++) {
            now += -log(1 - rng_uniform(&r)) / m->rate;
            arrived[k] = now;
        }
        uint64_t first = 0;
        for (uint64_t c = 1; c < m->servers; c++)
            first = free_at[c] < free_at[first] ? c : first;
        double start = free_at[first] > now ? free_at[first] : now;
        double service = m->samples_ms[(uint32_t)(rng_uniform(&r) * m->n_samples)];
        free_at[first] = start + service;
        waits += start - now;
        batches++;
        for (uint64_t k = 0; k < m->batch; k++) {
            times[done] = start + service - arrived[k];
            sum += times[done++];
        }
    }
    qsort(times, done, sizeof *times, compare_doubles);
    outcome o = {sum / done, times[(uint32_t)(0.99 * done)], waits / batches};
    free(times);
    free(arrived);
    free(free_at);
    return o;
}

static double quantile_of(const capacity_machine *m, const capacity_times *t, double q)
{
    double service[CAPACITY_GRID], forming[CAPACITY_GRID], sorted[RUNS];
    memcpy(sorted, m->samples_ms, sizeof sorted);
    qsort(sorted, RUNS, sizeof *sorted, compare_doubles);
    capacity_service_grid(sorted, RUNS, service);
    capacity_forming_grid(m->batch, forming);
    return capacity_quantile(m, t, service, forming, q);
}

static void test_simulated(void **state)
{
    static const struct {
        const char *kind;
        uint64_t batch, servers;
        double load;
    } rows[] = {
        {"steady", 1, 1, 0.5},      {"steady", 1, 1, 0.8},      {"steady", 1, 4, 0.8},
        {"steady", 8, 1, 0.5},      {"steady", 8, 1, 0.8},      {"steady", 16, 2, 0.7},
        {"spiky", 1, 1, 0.6},       {"spiky", 4, 1, 0.7},       {"spiky", 1, 2, 0.7},
        {"exponential", 1, 1, 0.7}, {"exponential", 1, 3, 0.8}, {"exponential", 4, 2, 0.6},
    };
    double samples[RUNS];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        capacity_machine m = {.batch = rows[i].batch,
                              .servers = rows[i].servers,
                              .samples_ms = samples,
                              .n_samples = RUNS};
        capacity_times t;
        make_samples(samples, rows[i].kind);
        double mean = 0;
        for (int k = 0; k < RUNS; k++)
            mean += samples[k] / RUNS;
        m.rate = rows[i].load * (double)(m.servers * m.batch) / mean;
        assert_true(capacity_times_of(&m, &t));
        assert_true(fabs(t.load - rows[i].load) < 1e-9);
        double predicted = quantile_of(&m, &t, 0.99);
        double whole = t.forming_ms + t.waiting_ms + t.service_ms;
        outcome o = simulate(&m, 100 + i);
        print_message("%-11s batch %2llu servers %llu load %.1f: mean %6.2f simulated %6.2f, "
                      "P99 %6.1f simulated %6.1f (%+.0f %%)\n",
                      rows[i].kind, (unsigned long long)m.batch, (unsigned long long)m.servers,
                      rows[i].load, whole, o.mean, predicted, o.p99, 100 * (predicted / o.p99 - 1));
        assert_true(fabs(whole / o.mean - 1) < 0.08);
        assert_true(predicted / o.p99 > 0.9 && predicted / o.p99 < 1.25);
    }
}

/* M/M/1: W = rho / (mu - lambda); M/M/c: Erlang's C; M/D/1: half of M/M/1. */
static void test_known(void **state)
{
    double samples[RUNS];
    capacity_machine m = {.batch = 1, .servers = 1, .samples_ms = samples, .n_samples = RUNS};
    capacity_times t;
    (void)state;
    for (int i = 0; i < RUNS; i++)
        samples[i] = 10;
    m.rate = 0.08;
    assert_true(capacity_times_of(&m, &t));
    assert_true(fabs(t.waiting_ms - 20) < 1e-9);
    assert_true(fabs(t.wait_chance - 0.8) < 1e-9);
    m.rate = 0.1;
    assert_false(capacity_times_of(&m, &t));
    make_samples(samples, "exponential");
    m.servers = 2;
    m.rate = 0.15;
    assert_true(capacity_times_of(&m, &t));
    assert_true(fabs(t.wait_chance - 0.642857) < 2e-3); /* Erlang C(2, 1.5) = 9/14 */
    /* Forming: the first of b waits for b - 1 more on average, the last for none. */
    double grid[CAPACITY_GRID], mean = 0;
    capacity_forming_grid(8, grid);
    for (int i = 0; i < CAPACITY_GRID; i++)
        mean += grid[i] / CAPACITY_GRID;
    assert_true(fabs(mean - 3.5) < 0.05);
    assert_true(grid[0] == 0);
}

/* ---- whole questions ---- */

typedef struct measured {
    profile p;
    profile_measured m;
    profile_config c[3];
    double samples[3][100];
} measured;

static void make_profile(measured *x)
{
    static const uint64_t batches[] = {1, 4, 16};
    static const double ms[] = {10, 24, 80}; /* 100, 167 and 200 per second */
    *x = (measured){.p = {.model = STR("net")}, .m = {.n_configs = 3, .concurrency = 1}};
    x->p.measured = &x->m;
    x->m.configs = x->c;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 100; k++)
            x->samples[i][k] = ms[i] * (1 + 0.0005 * (k - 50));
        x->c[i] = (profile_config){.batch = batches[i],
                                   .precision = STR("fp32"),
                                   .samples_ms = x->samples[i],
                                   .n_samples = 100,
                                   .latency = {.runs = 100}};
    }
}

static assay_status ask(measured *x, double target, double quantile, double limit, arena *a,
                        capacity *out, assay_error *err)
{
    const profile *p = &x->p;
    const str source = STR("net.json");
    const capacity_request q = {.profiles = &p,
                                .sources = &source,
                                .n = 1,
                                .target = target,
                                .quantile = quantile,
                                .limit_ms = limit,
                                .headroom = 0.2};
    err_clear(err);
    return capacity_run(&q, a, out, err);
}

static void test_planned(void **state)
{
    measured x;
    capacity c;
    assay_error err;
    arena *a = arena_new((size_t)64 << 20);
    (void)state;
    make_profile(&x);
    /* Without a limit the load alone decides: 1000 / (0.8 * 200). */
    assert_int_equal(ask(&x, 1000, 0.99, 0, a, &c, &err), ASSAY_OK);
    assert_int_equal(c.best, 2);
    assert_int_equal(c.plans[2].machines, 7);
    assert_int_equal(c.plans[0].machines, 13);
    assert_true(c.plans[2].utilization <= 0.8);
    /* A batch of 16 takes longer than the limit; one machine fewer must break what was asked. */
    assert_int_equal(ask(&x, 1000, 0.99, 60, a, &c, &err), ASSAY_OK);
    assert_false(c.plans[2].feasible);
    assert_true(c.best < 2 && c.plans[c.best].quantile_ms <= 60);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t least = c.plans[i].machines;
        capacity_machine m = {.rate = 1 / (double)(least - 1),
                              .batch = c.plans[i].batch,
                              .servers = 1,
                              .samples_ms = x.samples[i],
                              .n_samples = 100};
        capacity_times t;
        double service[CAPACITY_GRID], forming[CAPACITY_GRID];
        capacity_service_grid(x.samples[i], 100, service);
        capacity_forming_grid(m.batch, forming);
        bool fits = capacity_times_of(&m, &t) && t.load <= 0.8 &&
                    capacity_quantile(&m, &t, service, forming, 0.99) <= 60;
        assert_false(fits);
    }
    /* Little's law. */
    const capacity_plan *p = &c.plans[c.best];
    assert_true(fabs(p->in_flight - p->per_machine * p->mean_ms / 1000) < 1e-9);
    /* Few requests: batches of 4 form for seconds, so batch 1 is taken. */
    assert_int_equal(ask(&x, 1, 0.99, 60, a, &c, &err), ASSAY_OK);
    assert_int_equal(c.best, 0);
    assert_int_equal(c.plans[0].machines, 1);
    assert_false(c.plans[1].feasible);
    /* Nothing is fast enough. */
    assert_int_equal(ask(&x, 1000, 0.99, 5, a, &c, &err), ASSAY_OK);
    assert_int_equal(c.best, UINT32_MAX);
    assert_true(c.plans[0].machines == FIELD_UNKNOWN && isnan(c.plans[0].mean_ms));
    /* Many machines are found in a blink. */
    assert_int_equal(ask(&x, 1e8, 0.99, 100, a, &c, &err), ASSAY_OK);
    assert_true(c.best < c.n && c.plans[c.best].machines > 400000);
    /* An open loop's times hold waits; a result without runs says nothing. */
    x.m.rate = 10;
    assert_int_equal(ask(&x, 1000, 0.99, 50, a, &c, &err), ASSAY_ERR_UNSUPPORTED);
    x.p.measured = NULL;
    assert_int_equal(ask(&x, 1000, 0.99, 50, a, &c, &err), ASSAY_ERR_UNSUPPORTED);
    arena_free(a);
}

static void test_names(void **state)
{
    char buf[16];
    (void)state;
    assert_string_equal(capacity_quantile_name(0.99, buf), "P99");
    assert_string_equal(capacity_quantile_name(0.999, buf), "P99.9");
    assert_string_equal(capacity_quantile_name(0.9999, buf), "P99.99");
    assert_string_equal(capacity_quantile_name(0, buf), "mean");
}

int run_test_capacity(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_planned),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
