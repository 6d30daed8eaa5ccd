/* Graphs of other formats as ONNX: no foreign operator is left, shapes stay, quantised values are real where something is
 * computed, and what has no form says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/infer.h"
#include "formats/format.h"
#include "ir/verify.h"
#include "rewrite/to_onnx.h"
#include "support/foreign.h"

static ir_model *read_model(const char *path)
{
    assay_error err = {0};
    ir_model *m = NULL;
    if (format_read(format_found(path), path, (size_t)64 << 20, &m, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    return m;
}

static assay_status convert(ir_model *m, assay_error *err)
{
    arena *a = arena_new((size_t)64 << 20);
    infer_result *r = NULL;
    assay_status s = infer_run(m, NULL, a, &r, err);
    if (s == ASSAY_OK)
        s = rewrite_to_onnx(m, (value_facts){r->info, m->values.n}, err);
    arena_free(a);
    return s;
}

static unsigned count_nodes(const ir_model *m, const char *op)
{
    unsigned n = 0;
    for (ir_id g = 0; g < m->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(m, g);
        for (uint32_t i = 0; i < graph->nodes.n; i++) {
            const ir_node *node = ir_node_at(m, graph->nodes.items[i]);
            assert_true(str_empty(node->domain));
            n += str_is(node->op, op);
        }
    }
    return n;
}

static const ir_node *node_named(const ir_model *m, const char *name)
{
    const ir_graph *graph = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < graph->nodes.n; i++)
        if (str_is(ir_node_at(m, graph->nodes.items[i])->name, name))
            return ir_node_at(m, graph->nodes.items[i]);
    fail_msg("no node %s", name);
    return NULL;
}

/* Converts, verifies, infers again: the first output has these dims. */
static ir_model *converted(const char *path, int rank, const int64_t *dims)
{
    assay_error err = {0};
    ir_model *m = read_model(path);
    if (convert(m, &err) != ASSAY_OK || ir_verify(m, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    arena *a = arena_new((size_t)64 << 20);
    infer_result *r = NULL;
    if (infer_run(m, NULL, a, &r, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    const op_info *out = &r->info[ir_graph_at(m, 0)->outputs.items[0]];
    assert_int_equal(out->rank, rank);
    for (int d = 0; d < rank; d++)
        assert_int_equal(out->dims[d], dims[d]);
    assert_int_equal(r->notes.list.n, 0);
    arena_free(a);
    assert_false(m->foreign);
    return m;
}

static void float_models_are_plain_onnx(void **state)
{
    (void)state;
    ir_model *m = converted("tests/data/tflite/float.tflite", 2, (const int64_t[]){1, 5});
    assert_int_equal(count_nodes(m, "Conv"), 2);
    assert_int_equal(count_nodes(m, "MaxPool"), 1);
    assert_int_equal(count_nodes(m, "Gemm"), 1);
    assert_int_equal(count_nodes(m, "DequantizeLinear"), 0);
    const ir_node *conv = node_named(m, "conv/Relu6");
    const ir_attr *pads = ir_attr_find(conv, "pads");
    assert_int_equal(pads->v.ints[0], 0); /* 8 with kernel 3 and stride 2: one behind */
    assert_int_equal(pads->v.ints[2], 1);
    assert_int_equal(ir_attr_int(node_named(m, "depthwise/Conv2D"), "group", 0), 4);
    ir_model_free(m);
}

static void quantised_models_compute_on_whole_numbers(void **state)
{
    (void)state;
    ir_model *m = converted("tests/data/tflite/quantised.tflite", 4, (const int64_t[]){1, 4, 4, 3});
    assert_int_equal(count_nodes(m, "QLinearConv"), 1);
    assert_int_equal(count_nodes(m, "DequantizeLinear"), 1); /* the end of the model */
    assert_int_equal(count_nodes(m, "QuantizeLinear"), 1);
    assert_int_equal(count_nodes(m, "Conv"), 0);
    ir_model_free(m);
}

/* Nothing between the operators is a real number that was scaled. */
static void integers_stay_integers(void **state)
{
    (void)state;
    ir_model *m = converted("tests/data/tflite/integer.tflite", 4, (const int64_t[]){1, 4, 4, 4});
    assert_int_equal(count_nodes(m, "QLinearConv"), 2);
    assert_int_equal(count_nodes(m, "MatMulInteger"), 1);
    assert_int_equal(count_nodes(m, "Clip"), 2); /* of a fused activation, in steps */
    assert_int_equal(count_nodes(m, "Resize"), 1);
    assert_int_equal(count_nodes(m, "AveragePool"), 1);
    for (ir_id i = 0; i < m->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, i);
        if (str_is(n->op, "DequantizeLinear") && n->n_outputs && n->inputs[1] != IR_NONE) {
            float scale = 0;
            memcpy(&scale, ir_value_at(m, n->inputs[1])->constant->bytes, sizeof scale);
            assert_true(scale == 1);
        }
    }
    ir_model_free(m);
}

static void loops_keep_their_trips(void **state)
{
    (void)state;
    ir_model *m = converted("tests/data/tflite/loop.tflite", 2, (const int64_t[]){1, 4});
    assert_int_equal(count_nodes(m, "Loop"), 1);
    assert_int_equal(count_nodes(m, "Gemm"), 1);
    ir_model_free(m);
}

static void what_has_no_form_is_named(void **state)
{
    (void)state;
    assay_error err = {0};
    ir_model *m = read_model("tests/data/tflite/odd.tflite");
    assert_int_equal(convert(m, &err), ASSAY_ERR_UNSUPPORTED);
    assert_string_equal(err.node, "int4");
    ir_model_free(m);
}

int run_test_to_onnx(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_models_are_plain_onnx),
        cmocka_unit_test(quantised_models_compute_on_whole_numbers),
        cmocka_unit_test(integers_stay_integers),
        cmocka_unit_test(loops_keep_their_trips),
        cmocka_unit_test(what_has_no_form_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
