/* Comparison and validation through the public functions; processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include <assay/study.h>

#include "base/process.h"
#include "profile/comparison.h"
#include "study/compare.h"

static assay_result *analyzed(const char *model)
{
    assay_model *m;
    assay_result *p;
    assay_error err;
    assert_int_equal(assay_model_open(model, &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assay_model_free(m);
    return p;
}

static assay_status write_comparison(const assay_result *const *list, size_t n, const char *format,
                                     char **text, size_t *size)
{
    assay_result *c = NULL;
    assay_error err;
    assay_status s = assay_compare(list, n, NULL, &c, &err);
    if (s == ASSAY_OK)
        s = assay_result_write(c, format, NULL, text, size, &err);
    assay_result_free(c);
    return s;
}

static char *compared(const char *const *models, size_t n, const char *format)
{
    assay_result *p[12];
    char *text;
    size_t size;
    for (size_t i = 0; i < n; i++)
        p[i] = analyzed(models[i]);
    assert_int_equal(write_comparison((const assay_result *const *)p, n, format, &text, &size),
                     ASSAY_OK);
    assert_int_equal(strlen(text), size);
    for (size_t i = 0; i < n; i++)
        assay_result_free(p[i]);
    return text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        print_error("'%s' is not in:\n%s\n", part, text);
    assert_non_null(strstr(text, part));
}

static const char *rank_text(const assay_result *c, size_t i, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "budget.ranking.%zu.%s", i, key);
    return assay_result_text(c, path);
}

static double rank_number(const assay_result *c, size_t i, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "budget.ranking.%zu.%s", i, key);
    return assay_result_number(c, path);
}

static assay_result *ranked(assay_result *const *p, size_t n, const char *budget)
{
    assay_options *o = assay_options_new();
    assay_result *c = NULL;
    assert_int_equal(assay_options_set(o, "budget", budget, NULL), ASSAY_OK);
    assert_int_equal(assay_compare((const assay_result *const *)p, n, o, &c, NULL), ASSAY_OK);
    assay_options_free(o);
    return c;
}

/* What fits first, most of the budget used first; then what is over, the nearest first. */
static void test_budget(void **state)
{
    static const char *const order[] = {"resnet18", "mobilenet_v2", "resnet50", "vgg16"};
    assay_result *p[] = {analyzed("vgg16"), analyzed("mobilenet_v2"), analyzed("resnet50"),
                         analyzed("resnet18")};
    (void)state;
    assay_result *c = ranked(p, 4, "flops:5G,memory:100MB");
    assert_int_equal((int)assay_result_number(c, "budget.fits"), 2);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(rank_text(c, i, "model"), order[i]);
        assert_string_equal(rank_text(c, i, "verdict"), i < 2 ? "fits" : "over");
    }
    assert_true(rank_number(c, 0, "share") == 3638007784.0 / 5e9);
    assert_string_equal(rank_text(c, 0, "tightest"), "flops");
    assert_string_equal(rank_text(c, 0, "uses.1.metric"), "plan"); /* memory was not measured */
    assert_true(rank_number(c, 0, "uses.1.value") == 53222976);
    assay_result_free(c);
    c = ranked(p, 4, "latency:20ms,params:50M"); /* nothing was run; one is over all the same */
    assert_string_equal(rank_text(c, 0, "verdict"), "unknown");
    assert_string_equal(rank_text(c, 3, "verdict"), "over");
    assert_string_equal(rank_text(c, 3, "model"), "vgg16");
    assay_result_free(c);
    c = ranked(p, 4, "intensity>=20,params<=12M"); /* at least */
    assert_string_equal(rank_text(c, 0, "model"), "resnet18");
    assert_int_equal((int)assay_result_number(c, "budget.fits"), 1);
    assay_result_free(c);
    for (size_t i = 0; i < 4; i++)
        assay_result_free(p[i]);
}

static void test_budget_usage(void **state)
{
    static const char *const wrong[] = {"flops", "flps:5G", "flops:x", "flops:5G,", ""};
    assay_options *o = assay_options_new();
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(assay_options_set(o, "budget", wrong[i], NULL), ASSAY_ERR_USAGE);
    assay_options_free(o);
}

/* Models that were mapped: each on each device. */
static void test_places(void **state)
{
    static const char *const models[] = {"lenet", "resnet18"};
    assay_options *o = assay_options_new();
    assay_result *p[2], *c = NULL;
    (void)state;
    assert_int_equal(
        assay_options_set(o, "hardware", "orin-nano,orin-nano-super,agx-orin,t4", NULL), ASSAY_OK);
    for (size_t i = 0; i < 2; i++) {
        assay_model *m = NULL;
        assert_int_equal(assay_model_open(models[i], &m, NULL), ASSAY_OK);
        assert_int_equal(assay_map(m, o, &p[i], NULL), ASSAY_OK);
        assay_model_free(m);
    }
    assert_int_equal(assay_compare((const assay_result *const *)p, 2, NULL, &c, NULL), ASSAY_OK);
    assert_int_equal(assay_result_count(c, "placements"), 8);
    assert_string_equal(assay_result_text(c, "placements.7.label"), "resnet18");
    assert_string_equal(assay_result_text(c, "placements.7.device"), "t4");
    assert_true(assay_result_number(c, "placements.7.latency_ms") >
                assay_result_number(c, "placements.3.latency_ms"));
    assay_result_free(c);
    for (size_t i = 0; i < 2; i++)
        assay_result_free(p[i]);
    assay_options_free(o);
}

/* A comparison says of which model the runs are unreliable. */
static void test_busy_machine(void **state)
{
    profile_config config = PROFILE_CONFIG_UNKNOWN;
    profile_measured runs = {.configs = &config, .n_configs = 1};
    const profile quiet = {.model = STR("quiet")}, busy = {.model = STR("busy"), .measured = &runs};
    const profile *const list[] = {&quiet, &busy};
    const comparison_timing no_times[2] = {{.verdict = NULL}};
    comparison c = {0};
    arena *a = arena_new(1 << 20);
    (void)state;
    assert_true(compare_settle(list, 2, no_times, a, &c));
    assert_int_equal(c.busy.n, 0);
    config.latency.runs = 1;
    config.use.busy = STR("the load was 9");
    assert_true(compare_settle(list, 2, no_times, a, &c));
    assert_true(str_is(c.busy, "while busy ran, the load was 9"));
    arena_free(a);
}

static void test_compare_json(void **state)
{
    static const char *const models[] = {"resnet18", "resnet34"};
    (void)state;
    char *text = compared(models, 2, "json");
    has(text, "\"schema\": \"assay.comparison/1\"");
    has(text, "\"macs\": 1814073344");
    has(text, "\"same_layers\": 69");
    has(text, "\"renamed_layers\": 0");
    has(text, "\"change\": \"added\"");
    assert_null(strstr(text, "\"change\": \"removed\""));
    assert_null(strstr(text, "\"change\": \"changed\""));
    assay_free(text);
}

/* What the console says of instructions is in JSON too. */
static void test_compare_opinion(void **state)
{
    comparison_timing faster = {.verdict = "faster",
                                .ratio = 0.5,
                                .low = NAN,
                                .high = NAN,
                                .instructions = {true, 0.5, 0.5, 0.5},
                                .opinion = STR("Less.")};
    const comparison c = {.measured = &faster, .n_measured = 1};
    sbuf out = {0};
    (void)state;
    result_write(&comparison_kind, &c, 2, &out);
    has(sbuf_cstr(&out), "\"opinion\": \"Less.\"");
    out.n = 0;
    faster.opinion = (str){0};
    result_write(&comparison_kind, &c, 2, &out);
    assert_null(strstr(sbuf_cstr(&out), "opinion"));
    sbuf_free(&out);
}

/* The same network from a file: names differ, modules agree, folded norms are gone. */
static void test_compare_file(void **state)
{
    static const char *const models[] = {"resnet18", "tests/models/resnet18.onnx"};
    (void)state;
    char *text = compared(models, 2, "json");
    has(text, "\"change\": \"removed\"");
    has(text, "\"change\": \"changed\"");
    assert_null(strstr(text, "\"change\": \"added\""));
    assay_free(text);
}

static void test_compare_views(void **state)
{
    static const char *const models[] = {"lenet", "mlp", "lenet"};
    (void)state;
    char *text = compared(models, 3, "csv");
    assert_int_equal(strncmp(text, "model,parameters,", 17), 0);
    has(text, "\r\nlenet #3,61706,");
    assay_free(text);
    text = compared(models, 3, "console");
    has(text, "1.00×");
    assay_free(text);
    /* A model beside itself has no layers behind the difference. */
    static const char *const twice[] = {"lenet", "lenet"};
    text = compared(twice, 2, "json");
    has(text, "\"layers\": []");
    assay_free(text);
}

static void test_compare_usage(void **state)
{
    assay_result *p = analyzed("lenet");
    const assay_result *list[13];
    char *text;
    size_t n;
    (void)state;
    for (int i = 0; i < 13; i++)
        list[i] = p;
    assert_int_equal(write_comparison(list, 1, "json", &text, &n), ASSAY_ERR_USAGE);
    assert_int_equal(write_comparison(list, 13, "json", &text, &n), ASSAY_ERR_USAGE);
    assert_int_equal(write_comparison(list, 2, "yaml", &text, &n), ASSAY_ERR_USAGE);
    assert_int_equal(write_comparison(list, 12, "console", &text, &n), ASSAY_OK);
    assay_free(text);
    assay_result_free(p);
}

static char *validated(const char *const *models, size_t count, const char *lens,
                       const char *format)
{
    assay_options *o = assay_options_new();
    assay_result *v;
    assay_error err;
    char *text;
    size_t n;
    if (lens)
        assert_int_equal(assay_options_set(o, "lens", lens, &err), ASSAY_OK);
    assert_int_equal(assay_validate(models, count, o, &v, &err), ASSAY_OK);
    assert_int_equal(assay_result_write(v, format, NULL, &text, &n, &err), ASSAY_OK);
    assay_result_free(v);
    assay_options_free(o);
    return text;
}

static void test_validate(void **state)
{
    static const char *const one[] = {"resnet18"};
    (void)state;
    char *text = validated(NULL, 0, NULL, "csv");
    has(text,
        "resnet18,fvcore,MAC,1814073344,1819065856,-0.274455,99.725545,acceptable,1819065856\r\n");
    has(text, "\r\nvit_b_16,fvcore,MAC,17563828224,17582740224,");
    assay_free(text);
    text = validated(one, 1, "all", "csv");
    has(text, "resnet18,torch,FLOP,3638007784,3628146688,");
    has(text, "resnet18,calflops,FLOP,3638007784,3636250112,");
    assay_free(text);
    text = validated(one, 1, "fvcore", "json");
    has(text, "\"equal\": true");
    has(text, "\"type\": \"batchnorm\", \"ours\": 0, \"theirs\": 4967424");
    assay_free(text);
    text = validated(one, 1, "thop", "console");
    has(text, "1,814,073,344");
    has(text, "multiply-accumulates");
    assay_free(text);
}

static void test_validate_usage(void **state)
{
    static const char *const none[] = {"resnet99"}, *const file[] = {"tests/models/resnet18.onnx"};
    assay_error err;
    char *text;
    size_t n;
    (void)state;
    assay_result *v;
    assert_int_equal(assay_validate(none, 1, NULL, &v, &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_validate(file, 1, NULL, &v, &err), ASSAY_OK);
    assert_int_equal(assay_result_write(v, "pdf", NULL, &text, &n, &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_result_write(v, "json", NULL, &text, &n, &err), ASSAY_OK);
    assay_result_free(v);
    has(text, "\"recorded\": null");
    assay_free(text);
}

/* ---- processes ---- */

enum { NO_LIMIT_MS = 600000 };

static void test_process(void **state)
{
    const char *const say[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
    const char *const wait_long[] = {"sh", "-c", "echo begun; sleep 600", NULL};
    const char *const much[] = {"sh", "-c", "yes | head -c 100000", NULL};
    const char *const none[] = {"assay-no-such-program", NULL};
    process_result r;
    assay_error err = {0};
    (void)state;
    assert_int_equal(process_run(say, NO_LIMIT_MS, 1000, &r, &err), ASSAY_OK);
    assert_int_equal(r.code, 3);
    assert_string_equal(r.out.p, "out\nerr\n");
    assert_false(r.timed_out || r.cut);
    sbuf_free(&r.out);
    assert_int_equal(process_run(wait_long, 200, 1000, &r, &err), ASSAY_OK);
    assert_true(r.timed_out);
    sbuf_free(&r.out);
    assert_int_equal(process_run(much, NO_LIMIT_MS, 1000, &r, &err), ASSAY_OK);
    assert_true(r.cut);
    assert_int_equal(r.out.n, 1000);
    sbuf_free(&r.out);
    assert_int_equal(process_run(none, NO_LIMIT_MS, 1000, &r, &err), ASSAY_ERR_SYSTEM);
    sbuf_free(&r.out);
}

int run_test_study(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),         cmocka_unit_test(test_budget_usage),
        cmocka_unit_test(test_places),         cmocka_unit_test(test_busy_machine),
        cmocka_unit_test(test_compare_json),   cmocka_unit_test(test_compare_opinion),
        cmocka_unit_test(test_compare_file),   cmocka_unit_test(test_compare_views),
        cmocka_unit_test(test_compare_usage),  cmocka_unit_test(test_validate),
        cmocka_unit_test(test_validate_usage), cmocka_unit_test(test_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
