/* The MCP server, message by message: what is answered, what is refused with which code, and the limits. The client of
 * the protocol's own SDK is in tests/mcp/client.mjs. */
#include <assay/mcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/json_tree.h"

/* The answer as a tree, valid until the next one. NULL: none. */
static const json_value *ask(const char *message)
{
    static arena *a;
    static json_value tree;
    char *reply = NULL;
    size_t n = 0;
    assay_error err = {0};
    assert_int_equal(assay_mcp_answer(message, strlen(message), &reply, &n, &err), ASSAY_OK);
    if (!reply)
        return NULL;
    assert_null(memchr(reply, '\n', n));
    arena_free(a);
    a = arena_new((size_t)1 << 28);
    if (json_tree_parse((str){reply, (uint32_t)n}, "reply", NULL, a, &tree, &err) != ASSAY_OK)
        fail_msg("%s: %s", err.message, reply);
    assay_free(reply);
    assert_true(str_is(json_path(&tree, "jsonrpc")->s, "2.0"));
    return &tree;
}

static const json_value *call(const char *tool, const char *arguments)
{
    char message[2048];
    snprintf(message, sizeof message,
             "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":%s}}",
             tool, arguments);
    const json_value *r = ask(message);
    assert_int_equal(json_path(r, "id")->i, 7);
    return r;
}

static void refused(const char *message, int code)
{
    const json_value *r = ask(message);
    assert_non_null(r);
    assert_int_equal(json_path(r, "error.code")->i, code);
    assert_true(json_path(r, "error.message")->s.n > 10);
    assert_null(json_get(r, "result"));
}

static void versions_are_negotiated(void **state)
{
    static const char *const pairs[][2] = {
        {"2025-06-18", "2025-06-18"}, {"2024-11-05", "2024-11-05"}, {"1999-01-01", "2025-11-25"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char message[300];
        snprintf(message, sizeof message,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"%s\",\"capabilities\":{}}}",
                 pairs[i][0]);
        const json_value *r = ask(message);
        assert_true(str_is(json_path(r, "id")->s, "x"));
        assert_true(str_is(json_path(r, "result.protocolVersion")->s, pairs[i][1]));
        assert_true(str_is(json_path(r, "result.serverInfo.version")->s, assay_version()));
    }
}

static void notifications_have_no_answer(void **state)
{
    (void)state;
    assert_null(ask("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    assert_null(ask("{\"jsonrpc\":\"2.0\",\"method\":\"no/such\",\"params\":[1]}"));
    assert_null(ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
}

static void faults_have_the_codes_of_the_protocol(void **state)
{
    char deep[400] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":";
    (void)state;
    refused("", -32700);
    refused("{", -32700);
    refused("\xff\xfe", -32700);
    memset(deep + strlen(deep), '[', 200);
    refused(deep, -32700);
    refused("[]", -32600);
    refused("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600);
    refused("{\"id\":1,\"method\":\"ping\"}", -32600);
    refused("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", -32600);
    refused("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600);
    refused("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600);
    refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":4}", -32600);
    refused("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600);
    refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", -32601);
    refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32602);
    refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}", -32602);
    refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", -32602);
}

static void arguments_are_checked(void **state)
{
    static const char *const wrong[][2] = {
        {"no_such_tool", "{}"},
        {"profile", "{}"},
        {"profile", "[]"},
        {"profile", "{\"model\":4}"},
        {"profile", "{\"model\":\"lenet\",\"batch\":0}"},
        {"profile", "{\"model\":\"lenet\",\"batch\":1.5}"},
        {"profile", "{\"model\":\"lenet\",\"no_such\":1}"},
        {"profile", "{\"model\":\"lenet\",\"dims\":[1]}"},
        {"compare", "{\"models\":[\"lenet\"]}"},
        {"map", "{\"model\":\"lenet\",\"hardware\":[]}"},
        {"list_models", "{\"limit\":100000}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(json_path(call(wrong[i][0], wrong[i][1]), "error.code")->i, -32602);
}

/* Every row: a schema whose required keys are properties, and a name that can be called. */
static void tools_are_listed(void **state)
{
    const json_value *r = ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    const json_value *tools = json_path(r, "result.tools");
    assay_mcp_tool_info t = {.size = sizeof t};
    (void)state;
    assert_true(tools->n >= 5 && !assay_mcp_tool_at(tools->n, &t));
    for (uint32_t i = 0; i < tools->n; i++) {
        const json_value *required = json_path(&tools->items[i], "inputSchema.required"),
                         *known = json_path(&tools->items[i], "inputSchema.properties");
        assert_true(assay_mcp_tool_at(i, &t));
        assert_true(str_is(json_path(&tools->items[i], "name")->s, t.name));
        assert_true(json_is_true(json_path(&tools->items[i], "annotations.readOnlyHint")));
        for (uint32_t k = 0; k < required->n; k++)
            assert_non_null(json_member(known, required->items[k].s));
    }
}

static void the_numbers_are_the_librarys(void **state)
{
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_error err;
    (void)state;
    assert_int_equal(assay_model_open("resnet18", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    const json_value *data = json_path(call("profile", "{\"model\":\"resnet18\",\"top\":3}"),
                                       "result.structuredContent");
    assert_true(json_path(data, "total_macs")->f == assay_result_number(p, "total_macs"));
    assert_int_equal(json_path(data, "top_layers")->n, 3);
    assert_true(json_path(data, "top_layers.0.flops")->f >=
                json_path(data, "top_layers.1.flops")->f);
    data = json_path(call("explain_layer", "{\"model\":\"resnet18\",\"layer\":\"5\"}"),
                     "result.structuredContent");
    assert_true(json_path(data, "layer.flops")->f == assay_result_number(p, "layers.4.flops"));
    assert_true(json_path(data, "share.flops.percent")->f ==
                100 * assay_result_number(p, "layers.4.flops") /
                    assay_result_number(p, "total_flops"));
    assert_true(json_path(data, "operator.formula")->s.n > 0 && json_path(data, "before")->n == 1);
    data = json_path(call("map", "{\"model\":\"resnet18\",\"hardware\":[\"t4\"],\"batch\":2}"),
                     "result.structuredContent");
    assert_true(json_path(data, "devices.0.latency_ms")->f > 0);
    assay_result_free(p);
    assay_model_free(m);
}

/* Failures of the work are results, which the client's model sees. */
static void failures_are_results(void **state)
{
    static const char *const wrong[][2] = {
        {"profile", "{\"model\":\"resnet180\"}"},
        {"profile", "{\"model\":\"/no/such/file.onnx\"}"},
        {"profile", "{\"model\":\"resnet18\",\"precision\":\"fp99\"}"},
        {"explain_layer", "{\"model\":\"resnet18\",\"layer\":\"layer1.0.conv9\"}"},
        {"map", "{\"model\":\"resnet18\",\"hardware\":[\"t44\"]}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const json_value *r = call(wrong[i][0], wrong[i][1]);
        assert_true(json_is_true(json_path(r, "result.isError")));
        assert_true(json_path(r, "result.content.0.text")->s.n > 10);
    }
}

static void limits_hold(void **state)
{
    (void)state;
    setenv("ASSAY_LIMITS", "mcp-message=100", 1);
    refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"................"
            "........................................................\"}}",
            -32600);
    setenv("ASSAY_LIMITS", "mcp-result=1000", 1);
    const json_value *r = call("profile", "{\"model\":\"lenet\"}");
    assert_true(json_is_true(json_path(r, "result.isError")));
    assert_true(str_contains(json_path(r, "result.content.0.text")->s, "mcp-result"));
    unsetenv("ASSAY_LIMITS");
}

int run_test_mcp(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_negotiated),
        cmocka_unit_test(notifications_have_no_answer),
        cmocka_unit_test(faults_have_the_codes_of_the_protocol),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(tools_are_listed),
        cmocka_unit_test(the_numbers_are_the_librarys),
        cmocka_unit_test(failures_are_results),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests_name("mcp", tests, NULL, NULL);
}
