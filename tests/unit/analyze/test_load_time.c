/* Work on weights alone is counted apart: it is no layer, no traffic and no activation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "analyze/count.h"
#include "analyze/memory.h"
#include "analyze/training.h"
#include "support/net.h"

static profile *count_net(net *n, const char *by)
{
    const count_options opt = {.lens = lens_find(str_of(by))};
    profile *p = profile_new((size_t)16 << 20);
    counted of;
    net_infer(n);
    assert_int_equal(count_run(n->r, &opt, p, &of, &n->err), ASSAY_OK);
    assert_int_equal(memory_run(n->r, &of, IR_UNDEFINED, NULL, p, &n->err), ASSAY_OK);
    assert_int_equal(training_run(n->r, &of, p, &n->err), ASSAY_OK);
    return p;
}

static void close_counted(net *n, profile *p)
{
    profile_free(p);
    net_close(n);
}

static ir_id slice_rows(net *n, ir_id x, int64_t from, int64_t to)
{
    ir_id starts = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){from});
    ir_id ends = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){to});
    ir_id axes = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){0});
    return net_op(n, 0, "Slice", IDS(x, starts, ends, axes), NO_ATTRS);
}

/* Torch orders an LSTM's gates i, f, g, o and ONNX i, o, f, g: the export reorders the weights in the graph. */
static ir_id reordered_gates(net *n, ir_id w)
{
    ir_id i = slice_rows(n, w, 0, 64), f = slice_rows(n, w, 64, 192),
          o = slice_rows(n, w, 192, 256);
    ir_id all = net_op(n, 0, "Concat", IDS(i, o, f), ATTRS(at_int("axis", 0)));
    ir_id axis = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){0});
    return net_op(n, 0, "Unsqueeze", IDS(all, axis), NO_ATTRS);
}

enum { GATES = 256 * 32, RECURRENT = 256 * 64 };

static net exported_lstm(void)
{
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(5, 1, 32));
    ir_id w = reordered_gates(&n, net_weight(&n, 0, DIMS(256, 32)));
    ir_id r = reordered_gates(&n, net_weight(&n, 0, DIMS(256, 64)));
    ir_id y = net_op(&n, 0, "LSTM", IDS(x, w, r), ATTRS(at_int("hidden_size", 64)));
    net_outputs(&n, 0, IDS(y));
    return n;
}

static void weights_of_an_exported_lstm_are_ordered_once(void **state)
{
    (void)state;
    net n = exported_lstm();
    profile *p = count_net(&n, "assay");
    assert_int_equal(p->total_operators, 1);
    assert_true(str_is(p->layers[0].op, "LSTM"));
    assert_int_equal(p->layers[0].parameters, GATES + RECURRENT);
    assert_int_equal(p->layers[0].weight_bytes, 4 * (GATES + RECURRENT));
    assert_int_equal(p->layers[0].read_bytes, 4 * 5 * 32);
    assert_int_equal(p->total_parameters, GATES + RECURRENT);
    assert_int_equal(p->memory_plan.activations_peak_bytes, 4 * 5 * 64); /* Y */
    assert_int_equal(p->load_time.operators, 2 * 5);
    assert_int_equal(p->load_time.flops, 0);
    assert_int_equal(p->load_time.memory, (2 + 2) * 4 * (GATES + RECURRENT) + 6 * 3 * 8);
    assert_int_equal(p->load_time.kept_bytes, 4 * (GATES + RECURRENT));
    close_counted(&n, p);
}

/* A weight that the graph takes apart first has its gradient all the same. */
static void training_repeats_it(void **state)
{
    (void)state;
    net n = exported_lstm();
    profile *p = count_net(&n, "assay");
    assert_int_equal(p->training.backward_macs, p->total_macs); /* of the weights; x needs none */
    close_counted(&n, p);
}

static net scaled_weight(bool by_input)
{
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 8));
    ir_id w = net_weight(&n, 0, DIMS(8, 100)), s = net_weight(&n, 0, DIMS(8, 1));
    ir_id big = net_op(&n, 0, "Mul", IDS(w, by_input ? x : s), NO_ATTRS);
    net_outputs(&n, 0, IDS(net_op(&n, 0, "MatMul", IDS(x, big), NO_ATTRS)));
    return n;
}

static void arithmetic_is_in_the_totals_of_eager_tools_alone(void **state)
{
    (void)state;
    static const struct {
        const char *by;
        uint64_t flops, load;
    } rows[] = {{"assay", 2 * 1600, 800}, {"calflops", 2 * 1600 + 0, 0}, {"onnx-tool", 2400, 800}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        net n = scaled_weight(false);
        profile *p = count_net(&n, rows[k].by);
        assert_int_equal(p->load_time.flops, rows[k].load);
        assert_int_equal(p->total_flops, rows[k].flops);
        assert_int_equal(p->total_macs, 1600);
        close_counted(&n, p);
    }
}

/* What a run decides, what engines decode as they go, and what nobody knows is not done in advance. */
static void what_is_not_load_time_work(void **state)
{
    (void)state;
    net n = net_open(21);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(8, 300));
    ir_id w = net_weight(&n, 0, DIMS(8, 300)), scale = net_weight(&n, 0, DIMS(1));
    ir_id packed = net_op(&n, 0, "QuantizeLinear", IDS(w, scale), NO_ATTRS);
    ir_id a = net_op(&n, 0, "DequantizeLinear", IDS(packed, scale), NO_ATTRS);
    ir_id b = net_op(&n, 0, "Mul", IDS(w, x), NO_ATTRS);
    ir_id c = net_op(&n, 0, "somewhere:Odd", IDS(w), NO_ATTRS);
    ir_id sizes = net_op(&n, 0, "Shape", IDS(x), NO_ATTRS);
    ir_id d = net_op(&n, 0, "Expand", IDS(w, sizes), NO_ATTRS);
    net_outputs(&n, 0, IDS(a, b, c, d));
    profile *p = count_net(&n, "assay");
    assert_int_equal(p->load_time.operators, 1); /* QuantizeLinear */
    assert_int_equal(p->total_operators, 4);
    close_counted(&n, p);
}

int run_test_load_time(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_an_exported_lstm_are_ordered_once),
        cmocka_unit_test(training_repeats_it),
        cmocka_unit_test(arithmetic_is_in_the_totals_of_eager_tools_alone),
        cmocka_unit_test(what_is_not_load_time_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
