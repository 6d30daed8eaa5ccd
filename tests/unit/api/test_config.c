/* Built-in models, training configurations and custom models through the public functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "support/values.h"
#include <assay/assay.h>

static char path[256];

static int make_file(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/assay-config-XXXXXX.json", P_tmpdir);
    int fd = mkstemps(path, 5);
    return fd < 0 ? -1 : close(fd);
}

static int drop_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Opens and analyses; pairs of option name and value, NULL at the end. */
static assay_status ask(const char *model, const char *const *pairs, totals *t, assay_error *err)
{
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_options *o = assay_options_new();
    *t = (totals){0};
    for (; pairs && *pairs; pairs += 2)
        assert_int_equal(assay_options_set(o, pairs[0], pairs[1], err), ASSAY_OK);
    assay_status s = assay_model_open(model, &m, err);
    if (s == ASSAY_OK)
        s = assay_analyze(m, o, &p, err);
    if (p)
        *t = totals_of(p);
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
    return s;
}

static void expect(const char *text, assay_status status, const char *part)
{
    totals t;
    assay_error err;
    write_file(text);
    assay_status s = ask(path, NULL, &t, &err);
    if (s != status)
        print_error("%s: %s\n", text, err.message);
    assert_int_equal(s, status);
    if (part && !strstr(err.message, part))
        print_error("'%s' is not in '%s'\n", part, err.message);
    assert_true(!part || strstr(err.message, part));
}

/* ---- built-in models ---- */

static void test_builtin(void **state)
{
    totals t;
    assay_error err;
    (void)state;
    assert_int_equal(ask("resnet50", NULL, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 25557032);
    assert_int_equal(t.macs, 4089184256);
    const char *const ten[] = {"set", "num_classes=10", "batch", "4", NULL};
    assert_int_equal(ask("resnet18", ten, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 11689512 - 513 * 990);
    assert_int_equal(t.macs, 4 * (1814073344LL - 512 * 990));
    const char *const large[] = {"input-shape", "1,3,384,384", NULL};
    assert_int_equal(ask("ResNet-18", large, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 11689512);
}

static void test_usage(void **state)
{
    totals t;
    assay_error err;
    (void)state;
    assert_int_equal(ask("resnet5", NULL, &t, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "resnet50"));
    assert_non_null(strstr(err.message, "assay models"));
    const char *const key[] = {"set", "depht=3", NULL};
    assert_int_equal(ask("resnet18", key, &t, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "num_classes"));
    const char *const shape[] = {"input-shape", "1,3,224", NULL};
    assert_int_equal(ask("resnet18", shape, &t, &err), ASSAY_ERR_USAGE);
    const char *const set[] = {"set", "num_classes=3", NULL};
    assert_int_equal(ask("tests/models/resnet18.onnx", set, &t, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "--set"));
}

/* One model, two analyses: the second is not the first. */
static void test_again(void **state)
{
    assay_model *m;
    assay_result *p;
    assay_error err;
    totals t;
    assay_options *o = assay_options_new();
    (void)state;
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    t = totals_of(p);
    assay_result_free(p);
    assert_int_equal(t.parameters, 61706);
    assert_int_equal(assay_options_set(o, "set", "num_classes=20", &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    t = totals_of(p);
    assay_result_free(p);
    assert_int_equal(t.parameters, 61706 + 850);
    assay_options_free(o);
    assay_model_free(m);
}

static void test_list(void **state)
{
    assay_model_info m = {.size = sizeof m};
    assay_error err;
    size_t n = 0;
    bool found = false;
    (void)state;
    for (; assay_model_at(n, &m); n++) {
        assert_true(*m.name && *m.family && *m.task);
        assert_int_equal(m.parameters, 0);
        if (strcmp(m.name, "resnet18") != 0)
            continue;
        found = true;
        assert_int_equal(assay_model_cost(n, &m, &err), ASSAY_OK);
        assert_int_equal(m.parameters, 11689512);
        assert_int_equal(m.macs, 1814073344);
        assert_int_equal(m.n_inputs, 1);
        assert_int_equal(m.inputs[0].rank, 4);
        assert_int_equal(m.inputs[0].dims[3], 224);
        m.parameters = 0;
    }
    assert_true(found && n >= 100);
    assert_int_equal(assay_model_cost(n, &m, &err), ASSAY_ERR_USAGE);
    /* A caller that knows only the first members. */
    assay_model_info old = {.size = offsetof(assay_model_info, family), .family = "mine"};
    assert_true(assay_model_at(0, &old));
    assert_string_equal(old.family, "mine");
}

/* ---- training configurations ---- */

#define SWINIR                                                                       \
    "\"net_type\": \"swinir\", \"upscale\": 1, \"in_chans\": 1, \"img_size\": 256, " \
    "\"window_size\": 8, \"img_range\": 1.0, \"depths\": [6,6,6,6,6,6], "            \
    "\"num_heads\": [6,6,6,6,6,6], \"mlp_ratio\": 2, \"upsampler\": null, "          \
    "\"resi_connection\": \"1conv\""

static void test_swinir(void **state)
{
    totals t;
    assay_error err;
    (void)state;
    write_file("{\"task\": \"x\", \"model\": {" SWINIR ", \"embed_dim\": 180}}");
    assert_int_equal(ask(path, NULL, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 11497681);
    assert_int_equal((t.macs + 50000000) / 100000000, 7999);
    const char *const small[] = {"set", "embed_dim=60", NULL};
    assert_int_equal(ask(path, small, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 1337761);
    assert_int_equal((t.macs + 50000000) / 100000000, 1010);
    /* KAIR's name of the section, and the section alone. */
    write_file("{\"model\": \"plain\", \"netG\": {" SWINIR ", \"embed_dim\": 60}}");
    assert_int_equal(ask(path, NULL, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 1337761);
    write_file("{" SWINIR ", \"embed_dim\": 60, \"img_size\": 256}");
    assert_int_equal(ask(path, NULL, &t, &err), ASSAY_ERR_MALFORMED);
    write_file("{" SWINIR ", \"embed_dim\": 60}");
    assert_int_equal(ask(path, NULL, &t, &err), ASSAY_OK);
}

static void test_any_net(void **state)
{
    totals t;
    assay_error err;
    (void)state;
    write_file(
        "{\"model\": {\"net_type\": \"resnet18\", \"num_classes\": 10, \"img_size\": [64, 64]}}");
    assert_int_equal(ask(path, NULL, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 11689512 - 513 * 990);
    const char *const beside[] = {"config", path, NULL};
    assert_int_equal(ask("resnet34", beside, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 21797672 - 513 * 990);
    assert_int_equal(ask("tests/models/resnet18.onnx", beside, &t, &err), ASSAY_ERR_USAGE);
}

static void test_unknown_keys(void **state)
{
    assay_model *m;
    assay_result *p;
    assay_error err;
    (void)state;
    write_file("{\"model\": {\"net_type\": \"lenet\", \"init_type\": \"default\"}}");
    assert_int_equal(assay_model_open(path, &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assert_int_equal(count_at(p, "warnings"), 1);
    assert_string_equal(text_at(p, "warnings.0.code"), "unknown-key");
    assert_string_equal(text_at(p, "warnings.0.node"), "init_type");
    assay_result_free(p);
    assay_model_free(m);
    /* What the user types is not forgiven. */
    totals t;
    const char *const key[] = {"set", "init_type=x", NULL};
    assert_int_equal(ask(path, key, &t, &err), ASSAY_ERR_USAGE);
}

static void test_bad_configs(void **state)
{
    static const struct {
        const char *text;
        assay_status status;
        const char *part;
    } cases[] = {
        {"", ASSAY_ERR_MALFORMED, "line 1"},
        {"{\"model\": ", ASSAY_ERR_MALFORMED, "line 1"},
        {"{\"model\": {\"net_type\": \"lenet\"}} x", ASSAY_ERR_MALFORMED, "line 1, column"},
        {"{\"a\": 1, \"a\": 2}", ASSAY_ERR_MALFORMED, "'a'"},
        {"[]", ASSAY_ERR_MALFORMED, NULL},
        {"{\"model\": 3}", ASSAY_ERR_MALFORMED, NULL},
        {"{\"model\": {}}", ASSAY_ERR_MALFORMED, "model.net_type"},
        {"{\"model\": {\"net_type\": 7}}", ASSAY_ERR_MALFORMED, "model.net_type"},
        {"{\"model\": {\"net_type\": \"swinirr\"}}", ASSAY_ERR_MALFORMED, "swinir"},
        {"{\"model\": {\"net_type\": \"swinir\", \"depths\": [6, 6, \"x\"]}}", ASSAY_ERR_MALFORMED,
         "model.depths[2]"},
        {"{\"model\": {\"net_type\": \"swinir\", \"depths\": \"6\"}}", ASSAY_ERR_MALFORMED,
         "model.depths"},
        {"{\"model\": {\"net_type\": \"swinir\", \"embed_dim\": 60.5}}", ASSAY_ERR_MALFORMED,
         "model.embed_dim"},
        {"{\"model\": {\"net_type\": \"swinir\", \"upsampler\": 3}}", ASSAY_ERR_MALFORMED,
         "model.upsampler"},
        {"{\"model\": {\"net_type\": \"swinir\", \"upsampler\": \"magic\"}}", ASSAY_ERR_MALFORMED,
         "upsampler"},
        {"{\"model\": {\"net_type\": \"swinir\", \"mlp_ratio\": \"2\"}}", ASSAY_ERR_MALFORMED,
         "model.mlp_ratio"},
        {"{\"model\": {\"net_type\": \"swinir\", \"img_size\": [1, 2, 3]}}", ASSAY_ERR_MALFORMED,
         "model.img_size"},
        {"{\"model\": {\"net_type\": \"resnet18\", \"num_classes\": \"many\"}}",
         ASSAY_ERR_MALFORMED, "num_classes"},
        {"{\"model\": {\"net_type\": \"vit_b_16\", \"num_heads\": 7}}", ASSAY_ERR_MALFORMED,
         "heads"},
        {"{\"model_type\": \"nonesuch\"}", ASSAY_ERR_UNSUPPORTED, "nonesuch"},
        {"{\"schema\": \"assay.model/9\"}", ASSAY_ERR_UNSUPPORTED, "assay.model/1"},
        {"{\"model\": {\"net_type\": \"lenet\", \"num_classes\": 99999999999999999999}}",
         ASSAY_ERR_MALFORMED, "line 1"},
        {"{\"model\": {\"net_type\": \"lenet\", \"num_classes\": -1}}", ASSAY_ERR_MALFORMED, NULL},
        {"{\"model\": {\"net_type\": \"lenet\", \"num_classes\": 9000000000000000000}}",
         ASSAY_ERR_MALFORMED, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, cases[i].status, cases[i].part);
}

static void test_deep_json(void **state)
{
    char text[600] = "{\"model\": ";
    (void)state;
    size_t n = strlen(text);
    memset(text + n, '[', 200);
    memset(text + n + 200, ']', 200);
    strcpy(text + n + 400, "}");
    expect(text, ASSAY_ERR_MALFORMED, "line 1");
}

/* ---- custom models ---- */

static void test_custom_resnet(void **state)
{
    totals t;
    assay_error err;
    (void)state;
    write_file(
        "{\"schema\": \"assay.model/1\", \"name\": \"mine\", \"input\": [1, 3, 224, 224], "
        "\"layers\": ["
        "{\"conv\": {\"out\": 64, \"kernel\": 7, \"stride\": 2, \"padding\": 3, \"bias\": false}},"
        "\"batchnorm\", \"relu\", {\"maxpool\": {\"kernel\": 3, \"stride\": 2, \"padding\": 1}},"
        "{\"resnet_stage\": {\"planes\": 64, \"blocks\": 2}},"
        "{\"resnet_stage\": {\"planes\": 128, \"blocks\": 2, \"stride\": 2}},"
        "{\"resnet_stage\": {\"planes\": 256, \"blocks\": 2, \"stride\": 2}},"
        "{\"resnet_stage\": {\"planes\": 512, \"blocks\": 2, \"stride\": 2}},"
        "\"globalavgpool\", \"flatten\", {\"linear\": 1000, \"name\": \"fc\"}]}");
    assert_int_equal(ask(path, NULL, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 11689512);
    assert_int_equal(t.macs, 1814073344);
    const char *const batch[] = {"batch", "2", NULL};
    assert_int_equal(ask(path, batch, &t, &err), ASSAY_OK);
    assert_int_equal(t.macs, 2 * 1814073344ULL);
}

static void test_custom_vit(void **state)
{
    totals t;
    assay_error err;
    (void)state;
    write_file(
        "{\"schema\": \"assay.model/1\", \"input\": [1, 3, 224, 224], \"layers\": ["
        "{\"conv\": {\"out\": 768, \"kernel\": 16, \"stride\": 16}}, \"tokens\", \"class_token\","
        "\"positions\", {\"repeat\": 12, \"layers\": [{\"transformer_layer\": {\"heads\": 12}}]},"
        "\"layernorm\", {\"select\": 0}, {\"linear\": 1000}]}");
    assert_int_equal(ask(path, NULL, &t, &err), ASSAY_OK);
    assert_int_equal(t.parameters, 86567656);
    assert_int_equal(t.macs, 17563828224);
}

/* Every kind of layer at least once; figures of the small ones by hand. */
static void test_custom_layers(void **state)
{
    static const struct {
        const char *input, *layers;
        uint64_t parameters, macs;
    } cases[] = {
        {"[1, 8]", "{\"linear\": {\"out\": 4, \"bias\": false}}", 32, 32},
        {"[2, 3, 8, 8]", "{\"conv\": {\"out\": 4, \"kernel\": [1, 3], \"padding\": \"same\"}}", 40,
         2 * 4 * 64 * 9},
        {"[1, 4, 8, 8]", "{\"deconv\": {\"out\": 2, \"kernel\": 2, \"stride\": 2}}", 34,
         64 * 4 * 8},
        {"[1, 4, 8, 8]", "{\"residual\": [{\"conv\": {\"out\": 4, \"kernel\": 1}}, \"relu\"]}", 20,
         16 * 64},
        {"[1, 4, 8, 8]", "{\"concat\": [[\"relu\"], [\"sigmoid\"], []]}, {\"conv\": {\"out\": 1}}",
         13, 12 * 64},
        {"[1, 4, 8, 8]", "{\"add\": [[\"tanh\"], [\"elu\"]]}, {\"mul\": [[], [\"mish\"]]}", 0, 0},
        {"[1, 4, 8, 8]", "{\"conv_norm_act\": {\"out\": 8, \"act\": \"silu\"}}", 288 + 16,
         288 * 64},
        {"[1, 8, 8, 8]", "{\"squeeze_excite\": 2}", 18 + 24, 32},
        {"[1, 8, 8, 8]", "{\"inverted_residual\": {\"out\": 8, \"expand\": 2, \"squeeze\": 4}}", 0,
         0},
        {"[1, 8, 8, 8]", "{\"groupnorm\": 4}, \"relu6\", \"hardswish\", \"hardsigmoid\", \"selu\"",
         16, 0},
        {"[1, 8, 8, 8]", "{\"avgpool\": 2}, {\"adaptiveavgpool\": 2}, {\"mean\": [2, 3]}", 0, 0},
        {"[1, 8, 8, 8]", "{\"resize\": 2}, {\"pixelshuffle\": 2}, {\"scale\": 0.5}", 0, 0},
        {"[1, 8, 8, 8]", "{\"resize\": {\"size\": [3, 5], \"mode\": \"cubic\"}}, {\"flatten\": {}}",
         0, 0},
        {"[1, 8, 8]",
         "{\"transpose\": [0, 2, 1]}, {\"slice\": {\"axis\": 1, \"to\": 4}}, \"rmsnorm\"", 8, 0},
        {"[1, 6, 8]", "{\"attention\": {\"heads\": 2, \"causal\": true}}", 8 * 24 + 24 + 72,
         6 * 8 * 24 + 2 * 36 * 8 + 6 * 64},
        {"[1, 6, 8]", "{\"mlp\": 16}, {\"softmax\": -1}, {\"dropout\": 0.1}, {\"reshape\": [-1]}",
         8 * 16 * 2 + 24, 6 * 8 * 16 * 2},
        {"{\"dtype\": \"int64\", \"shape\": [1, 5]}",
         "{\"embedding\": {\"count\": 10, \"dim\": 4}}, \"gelu\", \"leakyrelu\", \"softplus\"", 40,
         0},
        {"[1, 4, 8, 8]", "{\"sequence\": [\"silu\", {\"maxpool\": 2}], \"name\": \"stem\"}", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        totals t;
        assay_error err;
        snprintf(text, sizeof text,
                 "{\"schema\": \"assay.model/1\", \"input\": %s, \"layers\": [%s]}", cases[i].input,
                 cases[i].layers);
        write_file(text);
        assay_status s = ask(path, NULL, &t, &err);
        if (s != ASSAY_OK)
            print_error("%s: %s\n", text, err.message);
        assert_int_equal(s, ASSAY_OK);
        if (!cases[i].parameters)
            continue;
        if (t.parameters != cases[i].parameters || t.macs != cases[i].macs)
            print_error("%s\n", text);
        assert_int_equal(t.parameters, cases[i].parameters);
        assert_int_equal(t.macs, cases[i].macs);
    }
}

static void test_bad_custom(void **state)
{
    static const struct {
        const char *input, *layers, *part;
    } cases[] = {
        {"[1, 8]", "{\"liner\": 4}", "layers[0].liner"},
        {"[1, 8]", "\"relu\", {\"linear\": {\"outt\": 4}}", "layers[1].linear"},
        {"[1, 8]", "{\"linear\": {}}", "layers[0].linear"},
        {"[1, 8]", "{\"linear\": 0}", "layers[0].linear"},
        {"[1, 8]", "{\"linear\": 4, \"relu\": {}}", "layers[0]"},
        {"[1, 8]", "{\"conv\": {\"out\": 4}}", "rank"},
        {"[1, 8]", "7", "layers[0]"},
        {"[1, 8]", "{}", "layers[0]"},
        {"[1, 8]", "{\"relu\": 3}", "layers[0]"},
        {"[1, 8]", "{\"relu\": {}, \"name\": 3}", "layers[0]"},
        {"[1, 8]", "{\"relu\": {}, \"name\": \"a b\"}", "layers[0]"},
        {"[1, 8]", "{\"residual\": [{\"linear\": 4}]}", ""},
        {"[1, 8]", "{\"residual\": 3}", "layers[0]"},
        {"[1, 8]", "{\"concat\": [[]]}", "2 to"},
        {"[1, 8]", "{\"repeat\": 0, \"layers\": []}", "repeat"},
        {"[1, 8]",
         "{\"repeat\": 10000, \"layers\": [{\"repeat\": 10000, \"layers\": [\"dropout\"]}]}",
         "more than"},
        {"[1, 8]",
         "{\"repeat\": 10000, \"layers\": [{\"repeat\": 10000, \"layers\": [{\"repeat\": 10000, "
         "\"layers\": []}]}]}",
         "more than"},
        {"[1, 6, 8]", "{\"attention\": 3}", "3 heads"},
        {"[1, 8, 4, 4]", "{\"groupnorm\": 3}", "3 groups"},
        {"[1, 8, 4, 4]", "{\"conv\": {\"out\": 6, \"groups\": 5}}", ""},
        {"[1, 8, 4, 4]", "{\"conv\": {\"out\": 6, \"kernel\": 9}}", ""},
        {"[1, 8, 4, 4]", "{\"maxpool\": 9}", ""},
        {"[1, 8, 4, 4]", "{\"resize\": {\"scale\": 2, \"mode\": \"magic\"}}", "mode"},
        {"[1, 8]", "{\"embedding\": {\"count\": 3, \"dim\": 3}}", "whole numbers"},
        {"[1, 8]", "{\"transpose\": [0, 0]}", "perm"},
        {"[1, 8]", "{\"reshape\": [3]}", ""},
        {"[1, 8]", "{\"softmax\": 7}", "axis"},
        {"[1, 8]", "{\"mean\": [5]}", "axis"},
        {"[]", "\"relu\"", "input"},
        {"[0]", "\"relu\"", "input"},
        {"\"x\"", "\"relu\"", "input"},
        {"{\"dtype\": \"float77\", \"shape\": [1]}", "\"relu\"", "input"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"schema\": \"assay.model/1\", \"input\": %s, \"layers\": [%s]}", cases[i].input,
                 cases[i].layers);
        expect(text, ASSAY_ERR_MALFORMED, cases[i].part);
    }
    expect("{\"schema\": \"assay.model/1\", \"input\": [1, 8], \"layer\": []}", ASSAY_ERR_MALFORMED,
           NULL);
    expect("{\"schema\": \"assay.model/1\", \"layers\": []}", ASSAY_ERR_MALFORMED, "input");
    expect("{\"schema\": \"assay.model/1\", \"name\": 3}", ASSAY_ERR_MALFORMED, "name");
}

int run_test_config(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),      cmocka_unit_test(test_usage),
        cmocka_unit_test(test_again),        cmocka_unit_test(test_list),
        cmocka_unit_test(test_swinir),       cmocka_unit_test(test_any_net),
        cmocka_unit_test(test_unknown_keys), cmocka_unit_test(test_bad_configs),
        cmocka_unit_test(test_deep_json),    cmocka_unit_test(test_custom_resnet),
        cmocka_unit_test(test_custom_vit),   cmocka_unit_test(test_custom_layers),
        cmocka_unit_test(test_bad_custom),
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
