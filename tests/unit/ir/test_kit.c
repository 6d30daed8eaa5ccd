/* The kit for building graphs: names that nothing has yet, constants, nodes with attributes, inputs that are
 * replaced, constants that nothing reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/kit.h"
#include "ir/verify.h"

static ir_model *new_model(size_t limit)
{
    ir_model *m;
    assert_int_equal(ir_model_new(limit, &m, NULL), ASSAY_OK);
    return m;
}

static void names_are_used_once(void **state)
{
    static const char *const asked[] = {"a", "b", "a", "a", "a_1", "b_1", "a", "c", "c"};
    static const char *const given[] = {"a_2", "b",   "a_3", "a_4", "a_1_1",
                                        "b_1", "a_5", "c",   "c_1"};
    ir_model *m = new_model(1 << 20);
    arena *scratch = arena_new(1 << 20);
    ir_kit k;
    (void)state;
    ir_add_value(m, 0, STR("a"));
    ir_add_value(m, 0, STR("a_1"));
    assert_true(ir_kit_begin(&k, m, scratch, 0));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        assert_true(str_is(ir_kit_name(&k, str_of(asked[i])), given[i]));
    assert_null(ir_kit_name(&k, (str){0}).p);
    assert_true(str_is(ir_kit_numbered(&k, STR("x"), "_out", 0), "x_out"));
    assert_true(str_is(ir_kit_numbered(&k, STR(""), "_", 120), "_120"));
    arena_free(scratch);
    ir_model_free(m);
}

static void constants_hold_copies(void **state)
{
    ir_model *m = new_model(1 << 20);
    const ir_t shape = {.dtype = IR_INT64, .rank = 1, .d = {2}}, scalar = {.dtype = IR_FLOAT32};
    int64_t values[] = {7, INT64_MIN};
    (void)state;
    ir_id a = ir_kit_const(m, 0, STR("a"), &shape, values, IR_VALUE_NOT_PARAM);
    ir_id b = ir_kit_const(m, 0, STR("b"), &scalar, NULL, IR_VALUE_PARAM);
    values[0] = 0;
    const ir_tensor *t = ir_value_at(m, a)->constant;
    assert_int_equal(((const int64_t *)(const void *)t->bytes)[0], 7);
    assert_int_equal(t->size_bytes, 16);
    assert_int_equal(ir_value_at(m, a)->flags, IR_VALUE_NOT_PARAM);
    assert_int_equal(ir_value_at(m, b)->constant->storage, IR_DATA_NONE);
    const ir_t impossible = {.dtype = IR_FLOAT32, .rank = 2, .d = {INT64_MAX, INT64_MAX}};
    assert_int_equal(ir_kit_const(m, 0, STR("c"), &impossible, NULL, 0), IR_NONE);
    assert_int_equal(ir_kit_const(m, 0, (str){0}, &scalar, NULL, 0), IR_NONE);
    ir_model_free(m);
}

/* x -> Gemm(x, w) -> y */
static ir_id add_gemm(ir_model *m, const ir_kit *k, ir_id w)
{
    const ir_t shape = {.dtype = IR_FLOAT32, .rank = 2, .d = {2, 2}};
    const int64_t list[] = {3, 4};
    ir_id x = ir_kit_value(k, 0, STR("x"), &shape), y = ir_kit_value(k, 0, STR("y"), &shape);
    const ir_id in[] = {x, w};
    const ir_attr_spec attrs[] = {IR_SPEC_INT("transB", 1), IR_SPEC_FLOAT("alpha", 0.1),
                                  IR_SPEC_TEXT("word", "w"), IR_SPEC_INTS("list", 2, list)};
    assert_true(ir_add_input(m, 0, x));
    ir_id id = ir_kit_add(m, &(ir_kit_node){.proto = {.name = STR("gemm"),
                                                      .version = 13,
                                                      .call = IR_NONE,
                                                      .inputs = in,
                                                      .n_inputs = 2,
                                                      .outputs = &y,
                                                      .n_outputs = 1},
                                            .op = "Gemm",
                                            .attrs = attrs,
                                            .n_attrs = 4});
    assert_true(ir_add_output(m, 0, y));
    return id;
}

static void nodes_hold_their_attributes(void **state)
{
    ir_model *m = new_model(1 << 20);
    arena *scratch = arena_new(1 << 20);
    const ir_t shape = {.dtype = IR_FLOAT32, .rank = 2, .d = {2, 2}};
    ir_kit k;
    (void)state;
    assert_true(ir_kit_begin(&k, m, scratch, 0));
    assert_true(ir_set_opset(m, STR(""), 13));
    ir_id w = ir_kit_const(m, 0, STR("w"), &shape, NULL, IR_VALUE_PARAM);
    const ir_node *n = ir_node_at(m, add_gemm(m, &k, w));
    assert_int_equal(ir_verify(m, NULL), ASSAY_OK);
    assert_int_equal(ir_attr_int(n, "transB", 0), 1);
    assert_int_equal(ir_attr_int(n, "alpha", 5), 5); /* of another kind */
    assert_int_equal(ir_attr_int(n, "transA", 6), 6);
    assert_true(ir_attr_float(n, "alpha", 0) == (double)0.1f);
    assert_true(str_is(ir_attr_str(n, "word", ""), "w"));
    assert_int_equal(ir_attr_find(n, "list")->v.ints[1], 4);
    arena_free(scratch);
    ir_model_free(m);
}

static bool is_read(const void *ctx, ir_id value)
{
    return ((const uint32_t *)ctx)[value] > 0;
}

static void inputs_are_replaced_and_orphans_dropped(void **state)
{
    ir_model *m = new_model(1 << 20);
    arena *scratch = arena_new(1 << 20);
    const ir_t shape = {.dtype = IR_FLOAT32, .rank = 2, .d = {2, 2}};
    ir_kit k;
    uint32_t n;
    (void)state;
    assert_true(ir_kit_begin(&k, m, scratch, 0));
    assert_true(ir_set_opset(m, STR(""), 13));
    ir_id old = ir_kit_const(m, 0, STR("old"), &shape, NULL, IR_VALUE_PARAM);
    ir_id new = ir_kit_const(m, 0, STR("new"), &shape, NULL, IR_VALUE_PARAM);
    ir_id node = add_gemm(m, &k, old);
    assert_true(ir_kit_set_input(m, ir_node_at(m, node), 1, new));
    assert_true(ir_kit_set_input(m, ir_node_at(m, node), 3, old));
    assert_int_equal(ir_node_at(m, node)->n_inputs, 4);
    assert_int_equal(ir_node_at(m, node)->inputs[1], new);
    assert_int_equal(ir_node_at(m, node)->inputs[2], IR_NONE);
    ir_node_at(m, node)->n_inputs = 2;
    const ir_id *nodes = ir_kit_take_nodes(m, 0, scratch, &n);
    assert_true(n == 1 && nodes[0] == node && ir_graph_at(m, 0)->nodes.n == 0);
    assert_true(ir_kit_put_node(m, 0, node));
    const uint32_t *uses = ir_kit_uses(m, NULL, m->graphs.n, scratch);
    assert_true(uses[old] == 0 && uses[new] == 1);
    assert_int_equal(uses[ir_graph_at(m, 0)->outputs.items[0]], 1);
    ir_kit_keep_constants(m, 0, is_read, uses);
    assert_int_equal(ir_graph_at(m, 0)->constants.n, 1);
    assert_null(ir_value_at(m, old)->constant);
    assert_int_equal(ir_verify(m, NULL), ASSAY_OK);
    arena_free(scratch);
    ir_model_free(m);
}

/* Whatever allocation fails, calls say so and nothing is written elsewhere. */
static void memory_that_runs_out_is_reported(void **state)
{
    const ir_t shape = {.dtype = IR_INT64, .rank = 1, .d = {20}};
    const int64_t values[20] = {0};
    (void)state;
    for (size_t limit = 1 << 10; limit < 8 << 10; limit += 64) {
        ir_model *m = NULL;
        arena *scratch = arena_new(1 << 20);
        ir_kit k;
        if (ir_model_new(limit, &m, NULL) == ASSAY_OK && ir_kit_begin(&k, m, scratch, 0)) {
            bool good = true;
            for (int i = 0; i < 10 && good; i++)
                good = ir_kit_const(m, 0, ir_kit_name(&k, STR("x")), &shape, values, 0) != IR_NONE;
            assert_int_equal(good, !arena_failed(m->arena));
        }
        ir_model_free(m);
        arena_free(scratch);
    }
}

int run_test_kit(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_used_once),
        cmocka_unit_test(constants_hold_copies),
        cmocka_unit_test(nodes_hold_their_attributes),
        cmocka_unit_test(inputs_are_replaced_and_orphans_dropped),
        cmocka_unit_test(memory_that_runs_out_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
