/* Sweeps through the public API, on the scripted engine: plans and their digests, tasks that are stored once, tasks that
 * are refused, lists of tasks for schedulers. */
#include <assay/sweep.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "support/folder.h"
#include "support/place.h"

static assay_error err;

static assay_options *options_of(const char *const (*pairs)[2])
{
    assay_options *o = assay_options_new();
    assert_int_equal(assay_options_set(o, "engine", "null", &err), ASSAY_OK);
    for (; (*pairs)[0]; pairs++)
        assert_int_equal(assay_options_set(o, (*pairs)[0], (*pairs)[1], &err), ASSAY_OK);
    return o;
}

static assay_status try_plan(const char *model, const char *const (*pairs)[2], assay_result **out)
{
    assay_options *o = options_of(pairs);
    const assay_sweep_request q = {.size = sizeof q, .models = &model, .n_models = 1, .options = o};
    assay_status s = assay_sweep_plan(&q, out, &err);
    assay_options_free(o);
    return s;
}

static const char *const small[][2] = {{"num-runs", "3"}, {"warmup-runs", "0"}, {NULL, NULL}};

static assay_result *plan_of(const char *const (*pairs)[2])
{
    assay_result *plan = NULL;
    assert_int_equal(try_plan("lenet", pairs, &plan), ASSAY_OK);
    return plan;
}

static void write_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

static void write_plan(const assay_result *plan, const char *path)
{
    char *text;
    size_t n;
    assert_int_equal(assay_result_write(plan, "json", NULL, &text, &n, &err), ASSAY_OK);
    write_file(path, text, n);
    assay_free(text);
}

/* ---- plans ---- */

static void every_combination_is_a_task(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"batch-sizes", "1,4"},  {"precisions", "fp32,fp16"},
                                           {"threads", "1,2,0"},    {"device", "cpu,cuda"},
                                           {"node-class", "a,b"},   {"repeat", "3"},
                                           {"sweep-name", "night"}, {NULL, NULL}};
    assay_result *plan = plan_of(pairs);
    assert_int_equal(assay_result_count(plan, "tasks"), 2 * 2 * 3 * 2 * 2 * 3);
    assert_string_equal(assay_result_text(plan, "tasks.0.node_class"), "a");
    assert_int_equal((int)assay_result_number(plan, "tasks.1.repeat"), 1);
    assert_int_equal((int)assay_result_number(plan, "tasks.3.threads"), 2);
    assert_int_equal((int)assay_result_number(plan, "tasks.143.task"), 143);
    assert_string_equal(assay_result_text(plan, "tasks.143.device"), "cuda");
    assert_true(strncmp(assay_result_text(plan, "id"), "night-", 6) == 0);
    assert_true(assay_result_number(plan, "tasks.0.time_limit_s") >= 300);
    assay_result_free(plan);
}

static void equal_requests_have_equal_digests(void **state)
{
    (void)state;
    static const char *const other[][2] = {{"num-runs", "4"}, {"warmup-runs", "0"}, {NULL, NULL}};
    assay_result *a = plan_of(small), *b = plan_of(small), *c = plan_of(other);
    assert_string_equal(assay_result_text(a, "digest"), assay_result_text(b, "digest"));
    assert_string_not_equal(assay_result_text(a, "digest"), assay_result_text(c, "digest"));
    assay_result_free(a);
    assay_result_free(b);
    assay_result_free(c);
}

static void plans_are_read_unless_changed(void **state)
{
    (void)state;
    assay_result *plan = plan_of(small), *again = NULL;
    char path[512], *text, *at;
    size_t n;
    snprintf(path, sizeof path, "%s", in_test_folder("plan.json"));
    write_plan(plan, path);
    assert_int_equal(assay_sweep_open(path, NULL, &again, &err), ASSAY_OK);
    assert_string_equal(assay_result_text(plan, "id"), assay_result_text(again, "id"));
    assay_result_free(again);
    /* An option would change fixed tasks. */
    assay_options *o = options_of(small);
    assert_int_equal(assay_sweep_open(path, o, &again, &err), ASSAY_ERR_USAGE);
    assert_null(again);
    assay_options_free(o);
    assert_int_equal(assay_result_write(plan, "json", NULL, &text, &n, &err), ASSAY_OK);
    at = strstr(text, "\"batch\": 1");
    assert_non_null(at);
    at[9] = '2';
    write_file(path, text, n);
    assay_free(text);
    assert_int_equal(assay_sweep_open(path, NULL, &again, &err), ASSAY_ERR_MALFORMED);
    assert_null(again);
    assay_result_free(plan);
}

static void requests_are_files_too(void **state)
{
    (void)state;
    static const char good[] =
        "{\"models\": [\"lenet\", \"mlp\"], \"batch_sizes\": [1, 8], \"threads\": 1, "
        "\"repeat\": 2, \"num_runs\": 5, \"engine\": \"null\"}";
    static const char *const bad[] = {
        "[]",
        "{",
        "{\"models\": \"lenet\"}",
        "{\"models\": [\"lenet\", 3]}",
        "{\"models\": [\"lenet\"], \"batches\": 3}",
        "{\"models\": [\"lenet\"], \"repeat\": {}}",
    };
    assay_result *plan = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", in_test_folder("request.json"));
    write_file(path, good, sizeof good - 1);
    assert_int_equal(assay_sweep_open(path, NULL, &plan, &err), ASSAY_OK);
    assert_int_equal(assay_result_count(plan, "tasks"), 2 * 2 * 2);
    assert_string_equal(assay_result_text(plan, "settings.0.value"), "5");
    assay_result_free(plan);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(path, bad[i], strlen(bad[i]));
        assert_int_equal(assay_sweep_open(path, NULL, &plan, &err), ASSAY_ERR_MALFORMED);
        assert_null(plan);
    }
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *model, *option, *value;
        assay_status code;
    } rows[] = {
        {"lenet", "precisions", "fp32,", ASSAY_ERR_USAGE},
        {"lenet", "precisions", "fp32,fp32", ASSAY_ERR_USAGE},
        {"lenet", "precisions", "fp33", ASSAY_ERR_UNSUPPORTED},
        {"lenet", "node-class", "a b", ASSAY_ERR_USAGE},
        {"lenet", "sweep-name", "Big", ASSAY_ERR_USAGE},
        {"lenet", "sweep-name", "-x", ASSAY_ERR_USAGE},
        {"no-such-model", "repeat", "1", ASSAY_ERR_USAGE},
        {"/nowhere/m.onnx", "repeat", "1", ASSAY_ERR_SYSTEM},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const pairs[][2] = {{rows[i].option, rows[i].value}, {NULL, NULL}};
        assay_result *plan = NULL;
        assert_int_equal(try_plan(rows[i].model, pairs, &plan), rows[i].code);
        assert_null(plan);
    }
    static const char *const many[][2] = {
        {"repeat", "1000"}, {"threads", "1,2,3,4,5,6,7"}, {"batch-sizes", "1,2,3"}, {NULL, NULL}};
    assay_result *plan = NULL;
    assert_int_equal(try_plan("lenet", many, &plan), ASSAY_ERR_UNSUPPORTED);
}

/* ---- tasks ---- */

static assay_store *new_store(const char *name)
{
    assay_store *store = NULL;
    unlink(in_test_folder(name));
    assert_int_equal(assay_store_open(in_test_folder(name), true, &store, &err), ASSAY_OK);
    return store;
}

static void a_task_is_stored_once(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"num-runs", "3"}, {"warmup-runs", "0"}, {"repeat", "2"}, {NULL, NULL}};
    assay_result *plan = plan_of(pairs), *list = NULL, *report = NULL;
    assay_store *store = new_store("once.db");
    assay_sweep_outcome done = {.size = sizeof done};
    setenv("SLURMD_NODENAME", "n7", 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assay_sweep_run(plan, 1, store, NULL, NULL, &done, &err), ASSAY_OK);
        assert_int_equal(done.record, 1);
        assert_int_equal(done.known, i);
        assert_true((done.result != NULL) == !i);
        assert_true(done.attempts <= 3);
        assert_true(strncmp(done.machine, "n7@", 3) == 0);
        assay_result_free(done.result);
    }
    unsetenv("SLURMD_NODENAME");
    assert_int_equal(assay_store_list(store, NULL, &list, &err), ASSAY_OK);
    assert_int_equal(assay_result_count(list, "records"), 1);
    assert_string_equal(assay_result_text(list, "records.0.sweep"), assay_result_text(plan, "id"));
    assert_int_equal((int)assay_result_number(list, "records.0.task"), 1);
    assert_int_equal(strlen(assay_result_text(list, "records.0.model_sha256")), 64);
    char *missing;
    uint64_t n;
    assert_int_equal(assay_sweep_missing(plan, store, &missing, &n, &err), ASSAY_OK);
    assert_string_equal(missing, "0");
    assay_free(missing);
    assert_int_equal(assay_sweep_report(plan, store, &report, &err), ASSAY_ERR_ENGINE);
    assert_int_equal((int)assay_result_number(report, "done"), 1);
    assay_result_free(report);
    assert_int_equal(assay_sweep_run(plan, 0, store, NULL, NULL, &done, &err), ASSAY_OK);
    assay_result_free(done.result);
    assert_int_equal(assay_sweep_report(plan, store, &report, &err), ASSAY_OK);
    assert_int_equal((int)assay_result_number(report, "cells.0.records"), 2);
    assay_result_free(report);
    assert_int_equal(assay_sweep_run(plan, 2, store, NULL, NULL, &done, &err), ASSAY_ERR_USAGE);
    assay_result_free(list);
    assay_result_free(plan);
    assay_store_close(store);
}

static void another_model_is_refused(void **state)
{
    (void)state;
    char path[512];
    assay_model *m = NULL;
    assay_result *plan = NULL;
    assay_sweep_outcome done = {.size = sizeof done};
    snprintf(path, sizeof path, "%s", in_test_folder("net.onnx"));
    assay_options *seed = assay_options_new();
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_export(m, path, seed, NULL, &err), ASSAY_OK);
    assert_int_equal(try_plan(path, small, &plan), ASSAY_OK);
    assert_int_equal(assay_options_set(seed, "seed", "9", &err), ASSAY_OK);
    assert_int_equal(assay_export(m, path, seed, NULL, &err), ASSAY_OK);
    assay_store *store = new_store("other.db");
    assert_int_equal(assay_sweep_run(plan, 0, store, NULL, NULL, &done, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_null(done.result);
    error_is(&err, ASSAY_ERR_UNSUPPORTED, NULL, assay_result_text(plan, "models.0.sha256"));
    assay_options_free(seed);
    assay_model_free(m);
    assay_result_free(plan);
    assay_store_close(store);
}

static void schedulers_name_the_task(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"repeat", "12"}, {NULL, NULL}};
    assay_result *plan = plan_of(pairs);
    int64_t task;
    assert_int_equal(assay_sweep_task(plan, &task, &err), ASSAY_OK);
    assert_int_equal(task, -1);
    setenv("JOB_COMPLETION_INDEX", "3", 1);
    assert_int_equal(assay_sweep_task(plan, &task, &err), ASSAY_OK);
    assert_int_equal(task, 3);
    setenv("ASSAY_TASKS", "1,4-6,11", 1);
    assert_int_equal(assay_sweep_task(plan, &task, &err), ASSAY_OK);
    assert_int_equal(task, 6);
    setenv("ASSAY_TASKS", "1,4-99", 1);
    assert_int_equal(assay_sweep_task(plan, &task, &err), ASSAY_ERR_USAGE);
    setenv("SLURM_ARRAY_TASK_ID", "7", 1);
    setenv("ASSAY_TASK_OFFSET", "1000", 1);
    assert_int_equal(assay_sweep_task(plan, &task, &err), ASSAY_OK);
    assert_int_equal(task, 1007);
    setenv("SLURM_ARRAY_TASK_ID", "x", 1);
    assert_int_equal(assay_sweep_task(plan, &task, &err), ASSAY_ERR_USAGE);
    static const char *const names[] = {"JOB_COMPLETION_INDEX", "ASSAY_TASKS",
                                        "SLURM_ARRAY_TASK_ID", "ASSAY_TASK_OFFSET"};
    for (size_t i = 0; i < 4; i++)
        unsetenv(names[i]);
    assay_result_free(plan);
}

int run_test_sweeps(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_is_a_task),
        cmocka_unit_test(equal_requests_have_equal_digests),
        cmocka_unit_test(plans_are_read_unless_changed),
        cmocka_unit_test(requests_are_files_too),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(a_task_is_stored_once),
        cmocka_unit_test(another_model_is_refused),
        cmocka_unit_test(schedulers_name_the_task),
    };
    return cmocka_run_group_tests_name("sweeps", tests, make_test_folder, remove_test_folder);
}
