/* The engine's traces: runs, nesting, what is kept of an event, and files that are broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/trace.h"

static const char nested[] =
    "[\n{\"cat\" : \"Session\",\"tid\" :1,\"dur\" :40,\"ts\" :1,\"name\" :\"session_initialization\",\"args\" : {}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":5,\"ts\":110,\"ph\":\"X\",\"name\":\"inner_kernel_time\",\"args\":{\"op_name\":\"Add\","
    "\"node_index\":\"0\",\"output_size\":\"8\",\"parameter_size\":\"4\",\"activation_size\":\"12\",\"provider\":\"CPU\","
    "\"mem_bytes_in_use\":\"1\",\"mem_bytes_requested_in_use\":\"2\",\"mem_in_use_peak\":\"3\",\"mem_arena_held\":\"4\","
    "\"output_type_shape\":[{\"float\":[2]},{\"int64\":[]}],\"extra\":{\"a\":[1,{\"b\":null}],\"c\":-1.5e3}}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":5,\"ts\":120,\"name\":\"inner_kernel_time\",\"args\":{\"op_name\":\"Add\",\"node_index\":\"0\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":40,\"ts\":105,\"name\":\"l\\u00f6op_kernel_time\",\"args\":{\"op_name\":\"Loop\",\"node_index\":\"0\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":1,\"ts\":150,\"name\":\"x_fence_after\",\"args\":{\"op_name\":\"Loop\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":0,\"ts\":151,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":0,\"ts\":151,\"name\":\"b_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"2\"}},\n"
    "{\"cat\":\"Kernel\",\"tid\":0,\"dur\":3,\"ts\":152,\"name\":\"relu_kernel\",\"args\":{\"op_name\":\"Relu\"}},\n"
    "{\"cat\":\"Session\",\"tid\":1,\"dur\":60,\"ts\":100,\"name\":\"model_run\",\"args\":{}},\n"
    "{\"cat\":\"Node\",\"tid\":2,\"dur\":9,\"ts\":300,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":4,\"ts\":301,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}},\n"
    "{\"cat\":\"Session\",\"tid\":1,\"dur\":20,\"ts\":290,\"name\":\"model_run\",\"args\":{}},\n"
    "{\"cat\":\"Session\",\"tid\":2,\"dur\":30,\"ts\":291,\"name\":\"model_run\",\"args\":{}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":4,\"ts\":400,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}}\n]\n";

static void threads_are_read(void **state)
{
    static const char text[] =
        "[{\"cat\":\"Node\",\"tid\":1,\"dur\":9,\"ts\":5,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Conv\","
        "\"thread_scheduling_stats\" : {\"main_thread\": {\"thread_pool_name\": \"intra\", \"thread_id\": \"7\", "
        "\"block_size\": [1, 2], \"core\": 1, \"Distribution\": 1, \"DistributionEnqueue\": 2, \"Run\": 30, "
        "\"Wait\": 4, \"WaitRevoke\": 5}, \"sub_threads\": {\"140230122272448\": {\"num_run\": 0, \"core\": 1}, "
        "\"140230122272449\": {\"num_run\": 3, \"core\": 0}, \"odd\": 3}, \"more\": [1]}}},\n"
        "{\"cat\":\"Node\",\"tid\":1,\"dur\":9,\"ts\":25,\"name\":\"b_kernel_time\",\"args\":{\"op_name\":\"Conv\","
        "\"thread_scheduling_stats\":\"none\"}}]";
    arena *a = arena_new(1 << 20);
    trace t;
    (void)state;
    assert_int_equal(trace_parse(STR(text), a, &t, NULL), ASSAY_OK);
    assert_int_equal(t.n_events, 2);
    assert_int_equal(t.events[0].own_us, 30);
    assert_int_equal(t.events[0].wait_us, 9);
    assert_int_equal(t.events[0].share_us, 3);
    assert_int_equal(t.events[0].workers, 2);
    assert_int_equal(t.n_workers, 2);
    assert_int_equal(t.events[1].workers + t.events[1].wait_us, 0);
    arena_free(a);
}

static void traces_nest_by_time(void **state)
{
    static const struct {
        uint32_t run, parent;
        uint64_t start;
    } want[] = {{0, TRACE_NONE, 105}, {0, 0, 110},
                {0, 0, 120},          {0, TRACE_NONE, 151},
                {0, TRACE_NONE, 151}, {1, TRACE_NONE, 301},
                {2, TRACE_NONE, 300}, {TRACE_NONE, TRACE_NONE, 400}};
    arena *a = arena_new(1 << 22);
    trace t;
    (void)state;
    assert_int_equal(trace_parse(STR(nested), a, &t, NULL), ASSAY_OK);
    assert_int_equal(t.session_us, 40);
    assert_int_equal(t.n_events, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(t.events[i].run, want[i].run);
        assert_int_equal(t.events[i].parent, want[i].parent);
        assert_int_equal(t.events[i].start_us, want[i].start);
    }
    assert_int_equal(t.n_nodes, 4);
    assert_true(str_is(t.nodes[t.events[0].node].name, "l\xc3\xb6op"));
    assert_int_equal(t.n_runs, 3);
    assert_int_equal(t.runs[0].n, 5);
    assert_int_equal(t.runs[1].first, 5);
    assert_int_equal(t.runs[1].dur_us, 20);
    const trace_event *inner = &t.events[1];
    assert_int_equal(inner->output_bytes + inner->weight_bytes + inner->input_bytes, 24);
    assert_int_equal(inner->mem_in_use, 1);
    assert_int_equal(inner->mem_held, 4);
    const trace_node *node = &t.nodes[inner->node];
    assert_int_equal(node->n_outputs, 2);
    assert_int_equal(node->outputs[0].rank, 1);
    assert_int_equal(node->outputs[1].rank, 0);
    assert_true(str_is(node->outputs[1].type, "int64"));
    assert_int_equal(t.n_kernels, 1);
    assert_true(str_is(t.nodes[t.kernels[0].node].name, "b"));
    arena_free(a);
}

/* Any cut or changed byte gives an answer or a sentence, never more. */
static void broken_traces_are_refused(void **state)
{
    static const char *const bad[] = {"",        "{}",        "[",
                                      "[1,]x",   "[{\"a\"}]", "[{\"a\":}]",
                                      "[{]}",    "[\"\\q\"]", "[\"\\u12g4\"]",
                                      "[{} {}]", "[] []",     "nonsense"};
    size_t n = sizeof nested - 1;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        arena *a = arena_new(1 << 20);
        assay_error err = {0};
        trace t;
        if (trace_parse(str_of(bad[i]), a, &t, &err) != ASSAY_ERR_ENGINE)
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(t.n_events, 0);
        arena_free(a);
    }
    for (size_t i = 0; i < n - 2; i += 7) {
        arena *a = arena_new(1 << 22);
        trace t;
        assert_int_equal(trace_parse((str){nested, (uint32_t)i}, a, &t, NULL), ASSAY_ERR_ENGINE);
        char *copy = malloc(n);
        memcpy(copy, nested, n);
        copy[i] = "[]{}\",:0x"[i % 9];
        trace_parse((str){copy, (uint32_t)n}, a, &t, NULL);
        free(copy);
        arena_free(a);
    }
}

/* The runtime writes names without escaping them. */
static void raw_bytes_in_names_are_taken(void **state)
{
    static const char text[] =
        "[{\"cat\":\"Node\",\"tid\":1,\"dur\":5,\"ts\":110,\"name\":\"\xff\tb_kernel_time\",\"args\":"
        "{\"op_name\":\"Add\",\"node_index\":\"0\",\"output_size\":12.7}}]";
    arena *a = arena_new(1 << 22);
    assay_error err = {0};
    trace t;
    (void)state;
    assert_int_equal(trace_parse(STR(text), a, &t, NULL), ASSAY_OK);
    assert_int_equal(t.n_events, 1);
    assert_int_equal(t.events[0].output_bytes, 12);
    assert_true(str_is(t.nodes[0].name, "\xff\tb"));
    assert_int_equal(trace_parse(STR("[{},\n{\"cat\" 1}]"), a, &t, &err), ASSAY_ERR_ENGINE);
    assert_int_equal(err.offset, 12);
    arena_free(a);
}

static void deep_traces_do_not_overflow(void **state)
{
    size_t n = 1 << 20;
    char *text = malloc(n);
    arena *a = arena_new(1 << 20);
    trace t;
    (void)state;
    memset(text, '[', n);
    assert_int_equal(trace_parse((str){text, (uint32_t)n}, a, &t, NULL), ASSAY_ERR_ENGINE);
    assert_int_equal(trace_read("/nonexistent/trace.json", a, &t, NULL), ASSAY_ERR_SYSTEM);
    arena_free(a);
    free(text);
}

int run_test_trace(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_nest_by_time),
        cmocka_unit_test(threads_are_read),
        cmocka_unit_test(broken_traces_are_refused),
        cmocka_unit_test(raw_bytes_in_names_are_taken),
        cmocka_unit_test(deep_traces_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
