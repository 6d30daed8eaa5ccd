/* The public functions: opening, options, walking, reports, outputs, structs of other sizes. */
#include "support/values.h"
#include <assay/assay.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define RESNET   "tests/models/resnet50.onnx"
#define SYMBOLIC "tests/cli/models/symbolic.onnx"
#define UNKNOWN  "tests/cli/models/unknown.onnx"

static assay_result *profile_of(const char *path, const char *const *settings,
                                assay_status expected)
{
    assay_error err;
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_options *o = assay_options_new();
    assert_non_null(o);
    assert_int_equal(assay_model_open(path, &m, &err), ASSAY_OK);
    for (; settings && settings[0]; settings += 2)
        assert_int_equal(assay_options_set(o, settings[0], settings[1], &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), expected);
    assay_options_free(o);
    assay_model_free(m);
    return p;
}

static void test_totals(void **state)
{
    (void)state;
    assay_result *p = profile_of(RESNET, NULL, ASSAY_OK);
    totals t = totals_of(p);
    /* torchvision's resnet50 counted by hand: 25,557,032 parameters, 4.089 GMACs. */
    assert_int_equal(t.macs, 4089184256);
    assert_true(t.flops > 2 * t.macs && t.flops < 2.02 * t.macs);
    assert_int_equal(t.nodes_unknown, 0);
    assert_int_equal(t.operators, count_at(p, "layers"));
    assert_true(t.peak_bytes >= t.activations_peak_bytes);
    assert_true(t.activations_peak_bytes >= t.lower_bound_bytes);
    assert_string_equal(text_at(p, "model"), RESNET);
    assay_result_free(p);
}

static void test_batch_scales(void **state)
{
    (void)state;
    static const char *const four[] = {"batch", "4", NULL};
    assay_result *one = profile_of(RESNET, NULL, ASSAY_OK), *p = profile_of(RESNET, four, ASSAY_OK);
    assert_int_equal(totals_of(p).macs, 4 * totals_of(one).macs);
    assert_int_equal(totals_of(p).parameters, totals_of(one).parameters);
    assay_result_free(one);
    assay_result_free(p);
}

static void test_walk(void **state)
{
    (void)state;
    static const char *const sizes[] = {"dim", "batch=2", "dim", "sequence=5", NULL};
    assay_result *p = profile_of(SYMBOLIC, sizes, ASSAY_OK);
    assay_value v = {.size = sizeof v};
    assert_int_equal(count_at(p, "layers"), 2);
    assert_string_equal(text_at(p, "layers.0.name"), "product");
    assert_string_equal(text_at(p, "layers.0.op"), "MatMul");
    assert_string_equal(text_at(p, "layers.0.type"), "matmul");
    assert_string_equal(text_at(p, "layers.0.certainty"), "exact");
    assert_int_equal(whole_at(p, "layers.0.macs"), 2 * 5 * 8 * 16);
    assert_int_equal(whole_at(p, "layers.0.parameters"), 8 * 16);
    assert_int_equal(whole_at(p, "layers.0.memory"), whole_at(p, "layers.0.read_bytes") +
                                                         whole_at(p, "layers.0.weight_bytes") +
                                                         whole_at(p, "layers.0.written_bytes"));
    assert_string_equal(text_at(p, "layers.0.output_types"), "[\"float32\"]");
    assert_string_equal(text_at(p, "config.outputs.0.dtype"), "float32");
    assert_int_equal(count_at(p, "config.outputs.0.shape"), 3);
    assert_int_equal(whole_at(p, "config.outputs.0.shape.2"), 16);
    assert_true(assay_result_item(p, "config.outputs.0.shape", 2, &v) && v.whole == 16);
    assert_false(assay_result_item(p, "config.outputs.0.shape", 3, &v));
    assert_int_equal(count_at(p, "operations"), 2);
    assert_string_equal(text_at(p, "operations.0.type"), "matmul");
    assert_int_equal(count_at(p, "warnings"), 0);
    assay_result_free(p);
}

/* Which weight changed with the input, or "" when the architecture stayed what it is. */
static void assert_changed(const char *model, const char *option, const char *value,
                           const char *weight)
{
    const char *const settings[] = {option, value, NULL};
    assay_result *p = profile_of(model, settings, ASSAY_OK);
    const char *changed = "";
    for (size_t i = 0; i < count_at(p, "warnings"); i++)
        if (strcmp(text_at(p, "warnings.%zu.code", i), "architecture-changed") == 0)
            changed = text_at(p, "warnings.%zu.node", i);
    assert_string_equal(changed, weight);
    assay_result_free(p);
}

static void test_changed_architecture(void **state)
{
    (void)state;
    static const char *const strict[] = {"input-shape", "1,4,224,224", "strict", NULL, NULL, NULL};
    assert_changed("resnet50", "input-shape", "1,4,224,224", "conv1.weight");
    assert_changed("resnet50", "input-shape", "8,3,320,256", "");
    assert_changed("mobilenet_v2", "input-shape", "1,1,224,224", "features.0.0.weight");
    assert_changed("vit_b_16", "input-shape", "1,3,384,384", "encoder.pos_embedding");
    assert_changed("vit_b_16", "set", "image_size=384", "encoder.pos_embedding");
    assert_changed("vit_b_16", "set", "image_size=224", "");
    assert_changed("vit_b_16", "set", "num_classes=10", "");
    assert_changed("swin_t", "input-shape", "1,3,256,256", "");
    assert_changed("gpt2", "input-shape", "2,64", "");
    assay_result *p = profile_of("resnet50", strict, ASSAY_ERR_UNSUPPORTED);
    char *text;
    size_t n;
    assert_int_equal(assay_result_write(p, "json", NULL, &text, &n, NULL), ASSAY_OK);
    assert_non_null(strstr(text, "\"architecture_changed\": true"));
    assert_non_null(strstr(text, "\"anything_assumed\": true"));
    assay_free(text);
    assay_result_free(p);
}

static void test_warnings_and_strict(void **state)
{
    (void)state;
    static const char *const strict[] = {"strict", NULL, NULL, NULL};
    assay_result *p = profile_of(UNKNOWN, NULL, ASSAY_OK);
    assert_true(count_at(p, "warnings") > 0);
    assert_string_equal(text_at(p, "warnings.0.code"), "unknown-operator");
    assert_string_equal(text_at(p, "warnings.0.node"), "mystery");
    assert_string_equal(text_at(p, "warnings.1000.node"), "");
    assert_int_equal(totals_of(p).nodes_unknown, 1);
    assay_result_free(p);
    p = profile_of(UNKNOWN, strict, ASSAY_ERR_UNSUPPORTED);
    assert_non_null(p);
    assay_result_free(p);
    p = profile_of(SYMBOLIC, strict, ASSAY_ERR_UNSUPPORTED);
    assert_non_null(p);
    assay_result_free(p);
}

static void test_option_errors(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *part;
    } cases[] = {
        {"bacth", "1", "'batch'"},
        {"batch", "x", "batch"},
        {"batch", NULL, "batch"},
        {"batch", "99999999999999999999", "batch"},
        {"dim", "=3", "NAME=N"},
        {"dim", "a=-3", "NAME=N"},
        {"input-shape", "", "NAME:"},
        {"input-shape", ":1,2", "NAME:"},
        {"input-shape", "1,,2", "NAME:"},
        {"lens", "asay", "'assay'"},
        {"precision", "string", "precision"},
        {"strict", "maybe", "true"},
        {"threshold", "0", "threshold"},
        {"threshold", "1.2.3", "threshold"},
    };
    assay_options *o = assay_options_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error err;
        assert_int_equal(assay_options_set(o, cases[i].name, cases[i].value, &err),
                         ASSAY_ERR_USAGE);
        if (!strstr(err.message, cases[i].part))
            fail_msg("'%s' does not say '%s'", err.message, cases[i].part);
        assert_int_equal(assay_options_set(o, cases[i].name, cases[i].value, NULL),
                         ASSAY_ERR_USAGE);
    }
    assert_int_equal(assay_options_set(o, "input-shape", "a:b:1x2,3", NULL), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "input-shape", "scalar:", NULL), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "threshold", "0.5", NULL), ASSAY_OK);
    assay_options_free(o);
    assay_options_free(NULL);
}

static void test_tables(void **state)
{
    (void)state;
    assay_option_info option = {.size = sizeof option};
    assay_op_info op = {.size = sizeof op};
    assay_lens_info lens = {.size = sizeof lens};
    assay_format_info format = {.size = sizeof format};
    size_t n;
    for (n = 0; assay_option_at(n, &option); n++)
        assert_true(option.name && option.about && option.about[strlen(option.about) - 1] == '.');
    assert_true(n > 50);
    for (n = 0; assay_op_at(n, &op); n++)
        assert_true(op.domain && op.name && op.type && op.versions && op.formula);
    assert_true(n > 200);
    for (n = 0; assay_lens_at(n, &lens); n++)
        assert_true(lens.name && lens.unit && lens.about);
    assert_true(n >= 1);
    for (n = 0; assay_format_at(n, &format); n++)
        assert_string_equal(assay_format_of(format.suffix), format.name);
    assert_null(assay_format_of("x.what"));
    for (int s = 0; s < 8; s++)
        assert_true(strlen(assay_status_text((assay_status)s)) > 3);
    assert_true(strlen(assay_status_text((assay_status)99)) > 3);
}

static void test_doctor(void **state)
{
    (void)state;
    assay_doctor_check c = {.size = sizeof c};
    bool engine = false;
    for (size_t i = 0; assay_doctor(i, &c); i++) {
        if (!c.ok && !c.optional)
            fail_msg("%s: %s", c.name, c.detail);
        assert_true(*c.detail);
        engine = engine || (c.optional && strcmp(c.name, "engine") == 0);
    }
    assert_true(engine);
}

static void test_reports(void **state)
{
    (void)state;
    assay_result *p = profile_of(SYMBOLIC, NULL, ASSAY_OK);
    assay_error err;
    char *text;
    size_t n;
    assert_int_equal(assay_result_write(p, "json", NULL, &text, &n, &err), ASSAY_OK);
    assert_true(n == strlen(text) && strstr(text, "\"schema\": \"assay.profile/1\""));
    assay_free(text);
    assert_int_equal(assay_result_write(p, "console", NULL, &text, &n, &err), ASSAY_OK);
    assert_non_null(strstr(text, "Parameters"));
    assert_null(strchr(text, '\033'));
    assay_free(text);
    assert_int_equal(assay_result_write(p, "jsom", NULL, &text, &n, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "'json'"));
    assert_null(text);
    assay_result_free(p);
}

/* A caller compiled against an older header has smaller structs: nothing is written past them. */
static void test_small_structs(void **state)
{
    (void)state;
    assay_result *p = profile_of(SYMBOLIC, NULL, ASSAY_OK);
    assay_value v;
    memset(&v, 0xab, sizeof v);
    v.size = offsetof(assay_value, real);
    assert_int_equal(assay_result_get(p, "total_parameters", &v, NULL), ASSAY_OK);
    assert_int_equal(v.size, offsetof(assay_value, real));
    assert_int_equal(v.whole, 128);
    assert_int_equal(v.count, 0xabababababababab);
    assay_result_free(p);
}

static void *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *p = malloc(1 << 20);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

static void test_bytes(void **state)
{
    (void)state;
    assay_error err;
    assay_model *m;
    assay_result *p;
    size_t n;
    void *bytes = read_file(SYMBOLIC, &n);
    assert_int_equal(assay_model_from_bytes(bytes, n, "in memory", NULL, &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assert_string_equal(text_at(p, "model"), "in memory");
    assay_model_free(m); /* the profile outlives the model and its bytes */
    free(bytes);
    assert_int_equal(totals_of(p).parameters, 128);
    assay_result_free(p);
    assert_int_equal(assay_model_from_bytes("", 0, NULL, NULL, &m, &err), ASSAY_ERR_MALFORMED);
    assert_null(m);
    assay_model_free(NULL);
    assay_result_free(NULL);
}

static void test_outputs(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-api-XXXXXX", path[64];
    assay_output *out;
    assay_error err;
    size_t n;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/result", folder);
    assert_int_equal(assay_output_open(path, &out, &err), ASSAY_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(assay_output_commit(out, "text", 4, &err), ASSAY_OK);
    assert_int_equal(assay_output_open(path, &out, &err), ASSAY_OK);
    assay_output_abandon(out);
    assay_output_abandon(NULL);
    char *text = read_file(path, &n);
    assert_int_equal(n, 4);
    assert_memory_equal(text, "text", 4);
    free(text);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing was left beside it */
    assert_int_equal(assay_output_open("/dev/null/x", &out, &err), ASSAY_ERR_SYSTEM);
    assert_null(out);
}

static void *analyse_in_thread(void *path)
{
    for (int i = 0; i < 5; i++) {
        assay_model *m = NULL;
        assay_result *p = NULL;
        if (assay_model_open(path, &m, NULL) != ASSAY_OK ||
            assay_analyze(m, NULL, &p, NULL) != ASSAY_OK)
            return path;
        assay_result_free(p);
        assay_model_free(m);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    char first[] = RESNET, second[] = SYMBOLIC;
    pthread_t threads[4];
    void *failed;
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, analyse_in_thread, i % 2 ? first : second), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int run_test_api(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_batch_scales),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_warnings_and_strict),
        cmocka_unit_test(test_changed_architecture),
        cmocka_unit_test(test_option_errors),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_doctor),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_small_structs),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
