/* Calls that are ended on the way: the n-th time that a hook is asked it says no, for every n until the call
 * comes to its end. Whatever n is: a status, no object, and nothing left behind. */
#include <assay/measure.h>
#include <assay/study.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct counted_hook {
    unsigned asked, ends_at, told;
} counted_hook;

static bool cancelled(void *ctx)
{
    counted_hook *c = ctx;
    return ++c->asked >= c->ends_at;
}

static bool progress(void *ctx, const assay_progress *p)
{
    counted_hook *c = ctx;
    assert_string_equal(p->what, "sizes");
    assert_int_equal(p->done, c->told);
    c->told++;
    return true;
}

typedef assay_status ended_call(assay_model *m, assay_options *o, assay_error *err);

static assay_status scale(assay_model *m, assay_options *o, assay_error *err)
{
    assay_result *s = NULL;
    assay_status status = assay_scale(m, o, &s, err);
    assert_true((status == ASSAY_OK) == (s != NULL));
    assay_result_free(s);
    return status;
}

static assay_status profiled(assay_status status, assay_result *p)
{
    assert_true((status == ASSAY_OK) == (p != NULL));
    assay_result_free(p);
    return status;
}

static assay_status map(assay_model *m, assay_options *o, assay_error *err)
{
    assay_result *p = NULL;
    assay_status status = assay_map(m, o, &p, err);
    return profiled(status, p);
}

static assay_status advise(assay_model *m, assay_options *o, assay_error *err)
{
    assay_result *p = NULL;
    assay_status status = assay_analyze(m, o, &p, err);
    return profiled(status, p);
}

static assay_status validate(assay_model *m, assay_options *o, assay_error *err)
{
    assay_result *result = NULL;
    (void)m;
    assay_status status = assay_validate(NULL, 0, o, &result, err);
    assert_true((status == ASSAY_OK) == (result != NULL));
    assay_result_free(result);
    return status;
}

static char file[64];

static assay_status export(assay_model *m, assay_options *o, assay_error *err)
{
    assay_status status = assay_export(m, file, o, NULL, err);
    assert_true((status == ASSAY_OK) == (access(file, F_OK) == 0));
    unlink(file);
    return status;
}

static const struct ended_row {
    ended_call *call;
    const char *model, *option, *value;
    unsigned least; /* questions that it must have asked */
    bool tells;
} rows[] = {
    {scale, "resnet18", "dim", "batch=1..64", 10, true},
    {map, "resnet18", "hardware", "all", 4, false},
    {advise, "resnet18", "advice", "true", 4, false},
    {validate, "resnet18", "lens", "fvcore", 8, false},
    {export, "squeezenet1_1", "seed", "1", 2, false},
};

static assay_status run(const struct ended_row *row, counted_hook *c)
{
    assay_model *m = NULL;
    assay_error err;
    assay_options *o = assay_options_new();
    const assay_hooks hooks = {.size = sizeof hooks,
                               .ctx = c,
                               .cancelled = cancelled,
                               .progress = row->tells ? progress : NULL};
    assert_int_equal(assay_model_open(row->model, &m, &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, row->option, row->value, &err), ASSAY_OK);
    assert_int_equal(assay_options_hooks(o, &hooks, NULL), ASSAY_OK);
    assay_status s = row->call(m, o, &err);
    assert_true(s == ASSAY_OK || (s == ASSAY_ERR_INTERRUPTED && err.code == s));
    assay_options_free(o);
    assay_model_free(m);
    return s;
}

static void test_ended_at_every_question(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counted_hook c = {.ends_at = 0};
        do {
            c = (counted_hook){.ends_at = c.ends_at + 1 + c.ends_at / 4};
        } while (run(&rows[i], &c) == ASSAY_ERR_INTERRUPTED);
        assert_true(c.asked >= rows[i].least);
        assert_true(c.asked < c.ends_at);
        assert_true(!rows[i].tells || c.told >= rows[i].least);
    }
}

/* Without a function to call: a number that another thread sets. */
static void test_a_number_ends_it(void **state)
{
    (void)state;
    const volatile int stop = 1;
    const assay_hooks hooks = {.size = sizeof hooks, .stop = &stop};
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_error err;
    assay_options *o = assay_options_new();
    assert_int_equal(assay_model_open("resnet18", &m, &err), ASSAY_OK);
    assert_int_equal(assay_options_hooks(o, &hooks, NULL), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_ERR_INTERRUPTED);
    assert_null(p);
    assert_int_equal(assay_options_hooks(o, NULL, NULL), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    assay_result_free(p);
    assay_options_free(o);
    assay_model_free(m);
}

static assay_status fuse(assay_model *m, assay_options *o, const assay_hooks *h, assay_error *err)
{
    assay_result *p = NULL;
    assert_int_equal(assay_options_hooks(o, h, NULL), ASSAY_OK);
    assay_status status = assay_fuse(m, o, &p, err);
    assay_result_free(p);
    return status;
}

static assay_status race(assay_model *m, assay_options *o, const assay_hooks *h, assay_error *err)
{
    assay_model *const models[] = {m, m};
    assay_result *p = NULL;
    assay_result *c = NULL;
    assert_int_equal(assay_analyze(m, NULL, &p, err), ASSAY_OK);
    const assay_result *const both[] = {p, p};
    assert_int_equal(assay_compare(both, 2, o, &c, err), ASSAY_OK);
    assay_status status = assay_compare_measure(c, models, 2, o, h, err);
    assay_result_free(c);
    assay_result_free(p);
    return status;
}

/* The engine fails when it is stopped: the error then says what the status says. */
static void test_a_failure_of_the_ended_engine(void **state)
{
    assay_status (*const calls[])(assay_model *, assay_options *, const assay_hooks *,
                                  assay_error *) = {fuse, race};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        counted_hook c = {0};
        const assay_hooks hooks = {.size = sizeof hooks, .ctx = &c, .cancelled = cancelled};
        assay_model *m = NULL;
        assay_error err;
        assay_options *o = assay_options_new();
        assay_status s;
        unsigned ended = 0;
        assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
        assert_int_equal(assay_options_set(o, "engine-lib", "/none/engine.so", &err), ASSAY_OK);
        assert_int_equal(assay_options_set(o, "against-engine", "true", &err), ASSAY_OK);
        for (;; ended++) {
            c = (counted_hook){.ends_at = ended + 1};
            s = calls[i](m, o, &hooks, &err);
            assert_int_equal(err.code, s);
            if (s != ASSAY_ERR_INTERRUPTED)
                break;
        }
        assert_int_equal(s, ASSAY_ERR_ENGINE);
        assert_true(ended >= 1);
        assay_options_free(o);
        assay_model_free(m);
    }
}

static void test_watching_ends(void **state)
{
    (void)state;
    const volatile int stop = 1;
    const assay_watch_hooks hooks = {.size = sizeof hooks, .stop = &stop};
    const char *const argv[] = {"sleep", "600", NULL};
    assay_result *p = NULL;
    assay_error err;
    assert_int_equal(assay_watch(argv, 0, NULL, &hooks, &p, &err), ASSAY_ERR_INTERRUPTED);
    assert_true(assay_result_number(p, "watch.interrupted") == 1);
    assay_result_free(p);
}

int run_test_hooks(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ended_at_every_question),
        cmocka_unit_test(test_a_number_ends_it),
        cmocka_unit_test(test_a_failure_of_the_ended_engine),
        cmocka_unit_test(test_watching_ends),
    };
    snprintf(file, sizeof file, "/tmp/assay-hooks-%d.onnx", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
