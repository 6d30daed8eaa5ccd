/* What waits for what, of a scripted trace: a diamond whose branches are run one after the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/blocking.h"

enum { LAYERS = 4 };

/* a makes x, b and c read it, d joins them. */
static const profile_tensor values[] = {{.name = STR("in")},
                                        {.name = STR("x")},
                                        {.name = STR("y")},
                                        {.name = STR("z")},
                                        {.name = STR("out")}};
static const profile_tensor joined[] = {{.name = STR("y")}, {.name = STR("z")}};

static void make_layers(profile_layer *l)
{
    static const double ms[LAYERS] = {1, 5, 2, 1};
    static const char *const names[LAYERS] = {"a", "b", "c", "d"};
    for (int i = 0; i < LAYERS; i++)
        l[i] = (profile_layer){.name = str_of(names[i]),
                               .inputs = &values[i == 0 ? 0 : 1],
                               .n_inputs = 1,
                               .outputs = &values[i + 1],
                               .n_outputs = 1,
                               .time_ms = ms[i]};
    l[3].inputs = joined;
    l[3].n_inputs = 2;
}

/* A warm-up run that must not count, and two runs: a, c, b, d. */
static void make_trace(trace_event *e, trace_run *runs, trace *t)
{
    static const uint32_t order[LAYERS] = {0, 2, 1, 3};
    static const uint64_t start[LAYERS] = {0, 1000, 3000, 8000},
                          dur[LAYERS] = {1000, 2000, 5000, 1000};
    for (uint32_t r = 0; r < 3; r++) {
        runs[r] = (trace_run){
            .start_us = 100000 * r, .dur_us = 10000, .first = r * LAYERS, .n = LAYERS};
        for (uint32_t i = 0; i < LAYERS; i++)
            e[r * LAYERS + i] = (trace_event){.node = order[i],
                                              .run = r,
                                              .parent = TRACE_NONE,
                                              .start_us = 100000 * r + start[i] + (r ? 0 : 7),
                                              .dur_us = dur[i]};
        /* Of b: worker 1 helps for 4 ms, of which the main thread waits one. */
        e[r * LAYERS + 2].own_us = 2500;
        e[r * LAYERS + 2].wait_us = r ? 1000 : 999999;
        e[r * LAYERS + 2].share_us = 500;
        e[r * LAYERS + 2].workers = 1;
    }
    *t = (trace){.events = e,
                 .runs = runs,
                 .n_events = 3 * LAYERS,
                 .n_runs = 3,
                 .n_nodes = LAYERS,
                 .n_workers = 1};
}

static void test_diamond(void **state)
{
    (void)state;
    profile_layer layers[LAYERS];
    trace_event events[3 * LAYERS];
    trace_run runs[3];
    trace t;
    assay_error err = {0};
    static const layer_span spans[LAYERS] = {{0, 1}, {1, 1}, {2, 1}, {3, 1}};
    static const uint32_t list[LAYERS] = {0, 1, 2, 3};
    profile_measured m = {0};
    arena *a = arena_new(1 << 20);
    profile p = {.arena = a, .layers = layers, .n_layers = LAYERS, .measured = &m};
    make_layers(layers);
    make_trace(events, runs, &t);
    const layer_times_request q = {
        .trace = &t, .warmup_runs = 1, .of = &p, .spans = spans, .layers = list};
    assert_int_equal(blocking_fill(&q, a, &p, &err), ASSAY_OK);
    const profile_blocking *b = &m.blocking;
    assert_true(b->present && b->n_layers == LAYERS);
    assert_true(b->layers_ms == 9 && b->critical_ms == 7 && b->critical_layers == 3);
    assert_true(fabs(b->parallelism - 9.0 / 7) < 1e-12);
    /* b was ready when a had ended, and waited for c to be run. */
    assert_true(str_is(b->layers[1].waits_for, "a") && b->layers[1].critical);
    assert_true(b->layers[1].ready_ms == 1 && b->layers[1].start_ms == 3 &&
                b->layers[1].queued_ms == 2);
    assert_true(!b->layers[2].critical && b->layers[2].queued_ms == 0);
    /* d waits for the branch that ends last, whatever its length. */
    assert_true(str_is(b->layers[3].waits_for, "b") && b->layers[3].critical);
    assert_true(b->layers[0].waits_for.n == 0 && b->layers[0].critical);
    assert_int_equal(b->n_threads, 2);
    assert_true(str_is(b->threads[0].thread, "main") && b->threads[0].wait_ms == 1 &&
                b->threads[0].percent == 10);
    assert_true(str_is(b->threads[1].thread, "worker 1") && b->threads[1].wait_ms == 6);
    arena_free(a);
}

int run_test_blocking(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_diamond)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
