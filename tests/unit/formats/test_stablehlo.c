/* StableHLO text: what its operators, regions and calls become; where an error is; damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/stablehlo/hlo_impl.h"
#include "formats/stablehlo/stablehlo.h"
#include "support/folder.h"
#include "support/foreign.h"

#define NET  "tests/data/stablehlo/net.mlir"
#define LOOP "tests/data/stablehlo/loop.mlir"

static void operators_become_rows(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    const ir_node *conv = foreign_node_of(m, "Conv", 0), *pool = foreign_node_of(m, "MaxPool", 0);
    const ir_graph *g = ir_graph_at(m, 0);
    assert_true(str_is(m->format, "stablehlo"));
    assert_true(str_is(g->name, "main"));
    assert_int_equal(g->inputs.n, 2);
    assert_int_equal(g->outputs.n, 2);
    assert_true(str_is(conv->name, "convolution_0"));
    assert_true(str_is(conv->domain, FOREIGN_NHWC));
    assert_int_equal(ir_attr_find(conv, "strides")->v.ints[1], 2);
    assert_int_equal(ir_attr_find(conv, "pads")->v.ints[0], 0);
    assert_int_equal(ir_attr_find(conv, "pads")->v.ints[3], 1);
    assert_int_equal(ir_attr_find(pool, "kernel_shape")->n, 2);
    assert_true(str_is(ir_attr_str(foreign_node_of(m, "Einsum", 0), "equation", ""), "ba,ca->bc"));
    assert_non_null(foreign_node_of(m, "ReduceMax", 0));
    assert_non_null(foreign_node_of(m, "ReduceSum", 0)); /* its region adds */
    assert_true(str_is(foreign_input_of(m, foreign_node_of(m, "Gather", 0), 0)->name, "table"));
    assert_true(str_is(foreign_node_of(m, "Max", 0)->name, "maximum_1")); /* of the function */
    ir_model_free(m);
}

/* One number for all, bytes, bits of a float. */
static void constants_have_their_content(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    const ir_tensor *w = foreign_input_of(m, foreign_node_of(m, "Conv", 0), 1)->constant;
    const ir_tensor *b = foreign_input_of(m, foreign_node_of(m, "Expand", 0), 0)->constant;
    assert_int_equal(w->n_elems, 108);
    assert_true(ir_load_float(IR_FLOAT32, w->bytes + 4 * 107) == 0.5);
    assert_true(ir_load_float(IR_FLOAT32, b->bytes + 12) == 4);
    assert_int_equal(m->stored.elements, 108 + 4 + 1 + 1 + 80 + 60 + 1);
    static const int64_t dims[] = {2, 8, 8, 3};
    assert_true(foreign_declares(ir_value_at(m, ir_graph_at(m, 0)->inputs.items[0]), 4, dims));
    ir_model_free(m);
}

static void loops_are_counted(void **state)
{
    (void)state;
    ir_model *m = foreign_model(LOOP);
    const ir_node *loop = foreign_node_of(m, "Loop", 0);
    int64_t trips;
    assert_non_null(loop);
    memcpy(&trips, foreign_input_of(m, loop, 0)->constant->bytes, sizeof trips);
    assert_int_equal(trips, 5);
    assert_int_equal(loop->n_outputs, 3); /* the body returns x as it is */
    assert_non_null(foreign_node_of(m, "If", 0));
    assert_true(str_is(foreign_node_of(m, "mystery", 0)->domain, "stablehlo"));
    assert_non_null(foreign_node_of(m, "DynamicUpdateSlice", 0));
    ir_model_free(m);
}

static assay_status read_text(const char *text, ir_model **m, assay_error *err)
{
    static const format_row row = {.reader = FORMAT_FOREIGN, .read = stablehlo_read};
    *err = (assay_error){0};
    return format_read_bytes(&row, text, strlen(text), FOREIGN_TEST_LIMIT, m, err);
}

static void errors_have_a_line_and_a_column(void **state)
{
    (void)state;
    ir_model *m;
    assay_error err;
    assert_int_equal(read_text("func.func @main() {\n  return\n}\nfunc.func @f(%a", &m, &err),
                     ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "line 4, column 1"));
    assert_int_equal(read_text("func.func @main(%a: tensor<2xf32>) {\n  %0 = = %a\n}", &m, &err),
                     ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "line 2, column 8"));
    assert_int_equal(read_text("module {}", &m, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(read_text("func.func @main() {\n  cf.br ^bb1\n^bb1:\n  return\n}", &m, &err),
                     ASSAY_ERR_UNSUPPORTED);
}

static void unranked_types_have_no_sizes(void **state)
{
    (void)state;
    hlo_type t;
    assert_true(hlo_parse_type(STR("tensor<*xf32>"), &t));
    assert_int_equal(t.rank, -1);
    assert_false(hlo_parse_type(STR("tensor<*x2xf32>"), &t));
}

/* A function that calls itself ends at a depth; the last call is unknown. */
static void calls_have_a_depth(void **state)
{
    (void)state;
    ir_model *m = NULL;
    assay_error err;
    assert_int_equal(read_text("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                               "  %0 = call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
                               "  return %0 : tensor<2xf32>\n}",
                               &m, &err),
                     ASSAY_OK);
    assert_non_null(foreign_node_of(m, "call", 0));
    ir_model_free(m);
}

static void survives_damage(void **state)
{
    (void)state;
    foreign_survives(NET, stablehlo_read);
    foreign_survives(LOOP, stablehlo_read);
}

int run_test_stablehlo(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_become_rows),
        cmocka_unit_test(constants_have_their_content),
        cmocka_unit_test(loops_are_counted),
        cmocka_unit_test(errors_have_a_line_and_a_column),
        cmocka_unit_test(calls_have_a_depth),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(unranked_types_have_no_sizes),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
