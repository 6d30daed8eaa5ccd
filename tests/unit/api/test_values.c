/* Results of every kind through one handle: values by path, unknown paths, other types; and structs whose size was not
 * set, which every function refuses. */
#include "support/folder.h"
#include <assay/device.h>
#include <assay/history.h>
#include <assay/measure.h>
#include <assay/study.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "support/values.h"

static assay_result *from_json(const char *json, const char *kind)
{
    assay_result *r = NULL;
    assay_error err;
    if (assay_result_from_json(json, strlen(json), "t", kind, &r, &err) != ASSAY_OK)
        fail_msg("%s: %s", kind, err.message);
    return r;
}

/* ---- kinds ---- */

/* One document of each kind, a path into it, and the number that is there. */
static const struct {
    const char *kind, *json, *path;
    double number;
} kinds[] = {
    {"profile", "{\"schema\": \"assay.profile/1\", \"model\": \"m\", \"total_macs\": 12}",
     "total_macs", 12},
    {"machine",
     "{\"schema\": \"assay.machine/1\", \"bandwidth_by_set\": [{\"set_bytes\": 4096, \"read\": 1e9, "
     "\"triad\": 2e9}]}",
     "bandwidth_by_set.0.triad", 2e9},
    {"records", "{\"schema\": \"assay.records/1\", \"total\": 3, \"records\": []}", "total", 3},
    {"models",
     "{\"schema\": \"assay.models/1\", \"models\": [{\"model\": \"a\", \"records\": 4, \"newest\": "
     "{\"id\": 7, \"created\": \"2026-11-15T19:06:00Z\"}}]}",
     "models.0.newest.id", 7},
    {"trend", "{\"schema\": \"assay.trend/1\", \"model\": \"m\", \"left_out\": 5}", "left_out", 5},
    {"capacity", "{\"schema\": \"assay.capacity/1\", \"plans\": [{\"batch\": 8}]}", "plans.0.batch",
     8},
    {"validation",
     "{\"schema\": \"assay.validation/1\", \"models\": [{\"model\": \"m\", \"ours\": 9}]}",
     "models.0.ours", 9},
    {"check",
     "{\"schema\": \"assay.check/1\", \"checks\": [{\"metric\": \"p50\", \"value\": 2.5}]}",
     "checks.0.value", 2.5},
    {"scaling",
     "{\"schema\": \"assay.scaling/1\", \"points\": [{\"sizes\": {\"batch\": 2}, \"macs\": 6}]}",
     "points.0.sizes.batch", 2},
    {"language",
     "{\"schema\": \"assay.pipeline/1\", \"kind\": \"language\", \"enabled\": true, \"total_macs\": 77}",
     "total_macs", 77},
    {"pipeline",
     "{\"schema\": \"assay.pipeline/1\", \"kind\": \"diffusion\", \"enabled\": true, \"steps_run\": 30}",
     "steps_run", 30},
    {"pipelines",
     "{\"schema\": \"assay.pipelines/1\", \"pipelines\": [{\"schema\": \"assay.pipeline/1\", "
     "\"kind\": \"diffusion\", \"enabled\": true, \"total_macs\": 11}]}",
     "pipelines.0.total_macs", 11},
    {"comparison",
     "{\"schema\": \"assay.comparison/1\", \"models\": [{\"model\": \"a\", \"macs\": 13}]}",
     "models.0.macs", 13},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        assay_result *r = from_json(kinds[i].json, kinds[i].kind);
        assay_value v = {.size = sizeof v};
        assay_error err;
        assert_string_equal(assay_result_kind(r), kinds[i].kind);
        if (assay_result_get(r, kinds[i].path, &v, &err) != ASSAY_OK || v.real != kinds[i].number)
            fail_msg("%s: %s is %g", kinds[i].kind, kinds[i].path, v.real);
        assert_true(assay_result_number(r, kinds[i].path) == kinds[i].number);
        assert_int_equal(assay_result_get(r, "", &v, &err), ASSAY_OK);
        assert_true(v.type == ASSAY_OBJECT && v.count > 0);
        assert_int_equal(assay_result_get(r, "no_such_key", &v, &err), ASSAY_ERR_USAGE);
        assay_result_free(r);
    }
}

static void test_other_kind_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        const char *other = kinds[(i + 1) % KINDS].kind;
        assay_result *r = NULL;
        assert_int_equal(
            assay_result_from_json(kinds[i].json, strlen(kinds[i].json), "t", other, &r, NULL),
            ASSAY_ERR_MALFORMED);
        assert_null(r);
    }
}

/* What takes a profile refuses every other kind. */
static void test_profiles_are_needed(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        assay_result *r = from_json(kinds[i].json, kinds[i].kind), *out = NULL;
        const assay_result *list[] = {r, r};
        assay_options *o = assay_options_new();
        double v;
        assay_options_set(o, "target", "10rps", NULL);
        assert_int_equal(assay_measure(NULL, o, 0, NULL, r, NULL), ASSAY_ERR_USAGE);
        assert_int_equal(assay_check(r, NULL, NULL, o, &out, NULL), ASSAY_ERR_USAGE);
        assert_int_equal(assay_compare(list, 2, o, &out, NULL), ASSAY_ERR_USAGE);
        assert_int_equal(assay_compare_measure(r, NULL, 0, o, NULL, NULL), ASSAY_ERR_USAGE);
        assert_int_equal(assay_capacity(list, NULL, 1, o, &out, NULL), ASSAY_ERR_USAGE);
        assert_int_equal(assay_pipeline_measure(r, o, NULL, NULL), ASSAY_ERR_USAGE);
        assert_int_equal(assay_options_follow(o, r, NULL), ASSAY_ERR_USAGE);
        assert_false(assay_result_metric(r, "p50", &v));
        assert_null(out);
        assay_options_free(o);
        assay_result_free(r);
    }
}

/* ---- types and paths ---- */

static assay_result *lenet(void)
{
    assay_model *m;
    assay_result *r;
    assert_int_equal(assay_model_open("lenet", &m, NULL), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &r, NULL), ASSAY_OK);
    assay_model_free(m);
    return r;
}

static assay_value value(const assay_result *r, const char *path)
{
    assay_value v = {.size = sizeof v};
    assay_error err;
    if (assay_result_get(r, path, &v, &err) != ASSAY_OK)
        fail_msg("%s: %s", path, err.message);
    return v;
}

static void test_types(void **state)
{
    assay_result *r = lenet();
    (void)state;
    assay_value v = value(r, "total_parameters");
    assert_true(v.type == ASSAY_WHOLE && v.whole == 61706 && v.real == 61706);
    assert_string_equal(v.key, "total_parameters");
    assert_true(*v.label && *v.about);
    v = value(r, "memory_plan.peak_bytes");
    assert_string_equal(v.unit, "bytes");
    assert_int_equal(value(r, "arithmetic_intensity").type, ASSAY_REAL);
    v = value(r, "layers.0.name");
    assert_true(v.type == ASSAY_TEXT && isnan(v.real));
    assert_string_equal(v.text, "conv1");
    v = value(r, "layers");
    assert_true(v.type == ASSAY_LIST && v.count == 12);
    assert_int_equal(value(r, "memory_plan").type, ASSAY_OBJECT);
    v = value(r, "config.inputs.0.shape");
    assert_true(v.type == ASSAY_LIST && v.count == 4);
    assert_string_equal(v.text, "[1,1,32,32]");
    assert_int_equal(value(r, "config.inputs.0.shape.2").whole, 32);
    assert_true(*assay_result_text(r, "context.host.os")); /* asked of the system when read */
    /* another type than asked for */
    assert_true(isnan(assay_result_number(r, "model")));
    assert_string_equal(assay_result_text(r, "total_macs"), "");
    assert_int_equal(assay_result_count(r, "total_macs"), 0);
    assay_result_free(r);
}

/* Unknown values are none; unknown keys are errors; nothing is looked up past the end. */
static void test_paths(void **state)
{
    static const char *const absent[] = {"latency.p95",
                                         "layers.12.name",
                                         "layers.99999999999.name",
                                         "batch_profiling.4.timing.mean_ms",
                                         "watch.pid",
                                         "latency.samples_ms.3",
                                         "config.inputs.0.shape.4"};
    static const char *const wrong[] = {
        "latency.p96", "layers.0.first", "total_macs.x",          "layers.0.name.x", ".",
        "..",          "layers.0.shape", "latency.samples_ms.x.y"};
    assay_result *r = lenet();
    (void)state;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (value(r, absent[i]).type != ASSAY_NONE)
            fail_msg("%s is there", absent[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assay_value v = {.size = sizeof v};
        if (assay_result_get(r, wrong[i], &v, NULL) != ASSAY_ERR_USAGE)
            fail_msg("%s was taken", wrong[i]);
        assert_true(isnan(assay_result_number(r, wrong[i])));
        assert_string_equal(assay_result_text(r, wrong[i]), "");
        assert_int_equal(assay_result_count(r, wrong[i]), 0);
    }
    assay_result_free(r);
}

/* Without knowing a key, everything can be walked; every member can be got by its key. */
static void walk(const assay_result *r, const char *path, int depth)
{
    assay_value v = {.size = sizeof v}, again = {.size = sizeof again};
    for (size_t i = 0; depth < 4 && assay_result_item(r, path, i, &v); i++) {
        char inner[160], key[24];
        snprintf(key, sizeof key, "%zu", i);
        snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", *v.key ? v.key : key);
        if (strchr(v.key, '.')) /* of a map by names that have dots */
            continue;
        if (strlen(inner) > 150 || assay_result_get(r, inner, &again, NULL) != ASSAY_OK ||
            again.type != v.type)
            fail_msg("%s is not got", inner);
        walk(r, inner, depth + 1);
    }
}

static void test_walk(void **state)
{
    assay_result *r = lenet();
    (void)state;
    walk(r, "", 0);
    assay_result_free(r);
    for (size_t i = 0; i < KINDS; i++) {
        r = from_json(kinds[i].json, kinds[i].kind);
        walk(r, "", 0);
        assay_result_free(r);
    }
}

/* ---- sizes ---- */

static bool no_progress(void *ctx, const assay_progress *p)
{
    (void)ctx;
    (void)p;
    return true;
}

static void test_size_zero_of_outputs(void **state)
{
    assay_result *r = lenet();
    assay_devices *devices;
    (void)state;
    assert_int_equal(assay_devices_open("t4", &devices, NULL), ASSAY_OK);
    assert_int_equal(assay_result_get(r, "total_macs", &(assay_value){0}, NULL), ASSAY_ERR_USAGE);
    assert_false(assay_result_item(r, "layers", 0, &(assay_value){0}));
    assert_false(assay_model_at(0, &(assay_model_info){0}));
    assert_int_equal(assay_model_cost(0, &(assay_model_info){0}, NULL), ASSAY_ERR_USAGE);
    assert_false(assay_option_at(0, &(assay_option_info){0}));
    assert_false(assay_format_at(0, &(assay_format_info){0}));
    assert_false(assay_op_at(0, &(assay_op_info){0}));
    assert_false(assay_lens_at(0, &(assay_lens_info){0}));
    assert_false(assay_doctor(0, &(assay_doctor_check){0}));
    assert_false(assay_metric_at(0, &(assay_metric_info){0}));
    assert_false(assay_devices_at(devices, 0, &(assay_device_info){0}));
    assert_int_equal(assay_engine_find(NULL, &(assay_engine_info){0}, NULL), ASSAY_ERR_USAGE);
    assert_int_equal(assay_export(NULL, "/nowhere/x", NULL, &(assay_export_info){0}, NULL),
                     ASSAY_ERR_USAGE);
    assay_devices_free(devices);
    assay_result_free(r);
}

static void test_size_zero_of_inputs(void **state)
{
    const assay_hooks hooks = {.progress = no_progress};
    const char *const argv[] = {"true", NULL};
    assay_result *r = lenet(), *out = NULL;
    const assay_result *list[] = {r, r};
    assay_options *o = assay_options_new();
    assay_store *store;
    (void)state;
    assert_int_equal(assay_options_input(o, &(assay_input){0}, NULL), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_hooks(o, &hooks, NULL), ASSAY_ERR_USAGE);
    assert_int_equal(assay_measure(NULL, o, 0, &hooks, r, NULL), ASSAY_ERR_USAGE);
    assert_int_equal(assay_machine_measure(o, &hooks, &out, NULL), ASSAY_ERR_USAGE);
    assert_int_equal(assay_watch(argv, 0, o, &(assay_watch_hooks){0}, &out, NULL), ASSAY_ERR_USAGE);
    assert_null(out);
    assert_int_equal(assay_compare(list, 2, o, &out, NULL), ASSAY_OK);
    assert_int_equal(assay_compare_measure(out, NULL, 0, o, &hooks, NULL), ASSAY_ERR_USAGE);
    assay_result_free(out);
    out = NULL;
    assert_int_equal(assay_pipeline_measure(r, o, &hooks, NULL), ASSAY_ERR_USAGE);
    assert_int_equal(assay_store_open(in_test_folder("h.db"), true, &store, NULL), ASSAY_OK);
    assert_int_equal(assay_store_list(store, &(assay_record_filter){0}, &out, NULL),
                     ASSAY_ERR_USAGE);
    assert_int_equal(assay_store_trend(store, &(assay_trend_request){.model = "m"}, &out, NULL),
                     ASSAY_ERR_USAGE);
    assert_null(out);
    assay_store_close(store);
    assay_options_free(o);
    assay_result_free(r);
}

static void test_version(void **state)
{
    char text[32];
    (void)state;
    assert_int_equal(assay_version_number(), ASSAY_VERSION_NUMBER);
    snprintf(text, sizeof text, "%d.%d.%d", ASSAY_VERSION_NUMBER / 10000,
             ASSAY_VERSION_NUMBER / 100 % 100, ASSAY_VERSION_NUMBER % 100);
    assert_string_equal(assay_version(), text);
}

int run_test_values(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_other_kind_is_refused),
        cmocka_unit_test(test_profiles_are_needed),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_size_zero_of_outputs),
        cmocka_unit_test(test_size_zero_of_inputs),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
