/* Reports of sweeps: medians of equal tasks, best per goal, Pareto front, slow machines, what is missing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "study/sweep.h"

enum { REPEATS = 6, CONFIGS = 3, TASKS = REPEATS * CONFIGS };

typedef struct fleet {
    arena *a;
    sweep_model model;
    sweep_task tasks[TASKS];
    sweep_plan plan;
    history_record records[TASKS];
    history_list list;
    sweep_report report;
} fleet;

/* Three batch sizes, six equal tasks each. */
static void begin_fleet(fleet *f)
{
    *f = (fleet){.a = arena_new((size_t)16 << 20), .model = {.name = STR("net")}};
    for (int i = 0; i < TASKS; i++)
        f->tasks[i] = (sweep_task){.task = i,
                                   .model = STR("net"),
                                   .device = STR("cpu"),
                                   .batch = (uint64_t)1 << (i / REPEATS),
                                   .precision = STR("fp32"),
                                   .repeat = (uint64_t)(i % REPEATS)};
    f->plan = (sweep_plan){.id = STR("sweep-1"),
                           .models = &f->model,
                           .n_models = 1,
                           .tasks = f->tasks,
                           .n_tasks = TASKS};
    f->list.records = f->records;
}

static void add_record(fleet *f, int task, const char *machine, double p50)
{
    history_record *r = &f->records[f->list.n++];
    *r = (history_record){.id = 100 + task, .task = task, .created_s = 1000 + 10 * task};
    r->machine = str_of(machine);
    for (int i = 0; i < HISTORY_FIGURES; i++)
        r->figures[i].v = NAN;
    r->figures[HISTORY_P50].v = p50;
    r->figures[HISTORY_THROUGHPUT].v = 1000.0 * (double)f->tasks[task].batch / p50;
    r->figures[HISTORY_MEMORY].v = 1e6 * (double)f->tasks[task].batch;
}

static void report_fleet(fleet *f)
{
    assay_error err = {0};
    assert_int_equal(sweep_report_make(&f->plan, &f->list, f->a, &f->report, &err), ASSAY_OK);
}

/* n1 takes `slow` times as long as n2. */
static void fill_fleet(fleet *f, double slow)
{
    for (int i = 0; i < TASKS; i++)
        add_record(f, i, i % 2 ? "n2" : "n1",
                   (i % 2 ? 1 : slow) * (double)f->tasks[i].batch * (1 + 0.01 * (i % REPEATS)));
}

static const sweep_machine *machine_of(const fleet *f, const char *name)
{
    for (uint32_t i = 0; i < f->report.n_machines; i++)
        if (str_is(f->report.machines[i].machine, name))
            return &f->report.machines[i];
    fail();
    return NULL;
}

static void slow_machine_is_named(void **state)
{
    (void)state;
    fleet f;
    begin_fleet(&f);
    fill_fleet(&f, 1.5);
    report_fleet(&f);
    assert_int_equal(f.report.n_machines, 2);
    assert_int_equal(machine_of(&f, "n1")->pace, PACE_SLOW);
    assert_int_equal(machine_of(&f, "n1")->compared, TASKS / 2);
    assert_int_equal(machine_of(&f, "n1")->slower, TASKS / 2);
    assert_true(machine_of(&f, "n1")->ratio > 1.4 && machine_of(&f, "n1")->ratio < 1.6);
    assert_int_equal(machine_of(&f, "n2")->pace, PACE_FAST);
    arena_free(f.a);
}

static void equal_machines_are_not(void **state)
{
    (void)state;
    fleet f;
    begin_fleet(&f);
    fill_fleet(&f, 1.05);
    report_fleet(&f);
    assert_int_equal(machine_of(&f, "n1")->pace, PACE_LIKE_PEERS);
    assert_int_equal(machine_of(&f, "n2")->pace, PACE_LIKE_PEERS);
    arena_free(f.a);
}

/* Without equal tasks elsewhere there is nothing to compare with, and two records prove nothing. */
static void lonely_machines_are_not_compared(void **state)
{
    (void)state;
    fleet f;
    begin_fleet(&f);
    for (int i = 0; i < REPEATS; i++)
        add_record(&f, i, "n1", 5);
    report_fleet(&f);
    assert_int_equal(machine_of(&f, "n1")->pace, PACE_NOT_COMPARED);
    add_record(&f, REPEATS, "n1", 9);
    add_record(&f, REPEATS + 1, "n2", 1);
    report_fleet(&f);
    assert_int_equal(machine_of(&f, "n1")->compared, 1);
    assert_int_equal(machine_of(&f, "n1")->pace, PACE_LIKE_PEERS);
    arena_free(f.a);
}

static void cells_best_and_front(void **state)
{
    (void)state;
    fleet f;
    begin_fleet(&f);
    /* Batch 1: 2 ms. Batch 2: 5 ms, slower in all. Batch 4: 6 ms, the best throughput. */
    const double times[CONFIGS] = {2, 5, 6};
    for (int i = 0; i < TASKS; i++)
        add_record(&f, i, "n1", times[i / REPEATS] + (i % REPEATS == 0 ? 50 : 0));
    report_fleet(&f);
    assert_int_equal(f.report.n_cells, CONFIGS);
    assert_int_equal(f.report.cells[0].repeats, REPEATS);
    assert_true(f.report.cells[0].figures.p50_ms == 2); /* the median: one was disturbed */
    assert_true(f.report.cells[0].best_latency && f.report.cells[0].best_memory);
    assert_true(f.report.cells[2].best_throughput && f.report.cells[2].pareto);
    assert_true(f.report.cells[0].pareto);
    assert_false(f.report.cells[1].pareto);
    assert_int_equal(f.report.n_best, 3);
    assert_string_equal(f.report.best[1].goal, "throughput");
    assert_true(str_is(f.report.best[1].config, "batch 4 · fp32"));
    arena_free(f.a);
}

static void missing_and_noisy_are_listed(void **state)
{
    (void)state;
    static const str tags[] = {{"noisy", 5}};
    fleet f;
    begin_fleet(&f);
    for (int i = 0; i < TASKS; i++)
        if (i != 3 && i != 17)
            add_record(&f, i, "n1", 1);
    f.records[0].tags = tags;
    f.records[0].n_tags = 1;
    report_fleet(&f);
    assert_int_equal(f.report.done, TASKS - 2);
    assert_int_equal(f.report.noisy, 1);
    assert_int_equal(f.report.n_missing, 2);
    assert_int_equal(f.report.missing[0], 3);
    assert_int_equal(f.report.missing[1], 17);
    assert_true(f.report.rows[3].record == INT64_MIN);
    /* 16 records, 10 seconds apart: two more take 20. */
    assert_int_equal(sweep_expected_end(&f.list, 2, 5000), 5000 + 21);
    assert_true(sweep_expected_end(&f.list, 0, 5000) == INT64_MIN);
    arena_free(f.a);
}

int run_test_sweep(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_machine_is_named),
        cmocka_unit_test(equal_machines_are_not),
        cmocka_unit_test(lonely_machines_are_not_compared),
        cmocka_unit_test(cells_best_and_front),
        cmocka_unit_test(missing_and_noisy_are_listed),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
