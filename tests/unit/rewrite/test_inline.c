/* Inlining of model-local functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "formats/onnx_read.h"
#include "ir/verify.h"
#include "rewrite/inline.h"
#include "support/onnx_writer.h"
#include "support/place.h"

enum { F32 = 1 };

typedef struct loaded {
    ww bytes;
    ir_model *m;
    assay_error err;
    assay_status status;
} loaded;

static loaded inlined(ww bytes)
{
    loaded l = {.bytes = bytes};
    err_clear(&l.err);
    if (onnx_read_bytes(bytes.p, bytes.n, NULL, &l.m, &l.err) != ASSAY_OK)
        fail_msg("%s", l.err.message);
    l.status = rewrite_inline(l.m, &l.err);
    assert_int_equal(l.status, l.err.code);
    return l;
}

static void unload(loaded *l)
{
    ir_model_free(l->m);
    ww_free(&l->bytes);
}

static loaded inlined_good(ww bytes)
{
    loaded l = inlined(bytes);
    if (l.status != ASSAY_OK || ir_verify(l.m, &l.err) != ASSAY_OK)
        fail_msg("%s", l.err.message);
    return l;
}

static void refuse(ww bytes, assay_status status, const char *place, const char *fact)
{
    loaded l = inlined(bytes);
    error_is(&l.err, status, place, fact);
    unload(&l);
}

static ir_id node_named(const ir_model *m, const char *name)
{
    for (ir_id i = 0; i < m->nodes.n; i++)
        if (str_is(m->nodes.items[i].name, name))
            return i;
    return IR_NONE;
}

static const ir_node *node_of(const loaded *l, const char *name)
{
    ir_id id = node_named(l->m, name);
    if (id == IR_NONE)
        fail_msg("no node %s", name);
    return ir_node_at(l->m, id);
}

static str value_name(const loaded *l, ir_id id)
{
    assert_true(id != IR_NONE);
    return ir_value_at(l->m, id)->name;
}

static const ir_graph *main_of(const loaded *l)
{
    return ir_graph_at(l->m, 0);
}

static ww call(const char *fn, const char *name, const char *const *in, const char *const *out)
{
    ww n = ow_node(fn, name, in, out);
    ww_str(&n, 7, "my");
    return n;
}

/* x -> node -> y */
static ww graph_of(ww node)
{
    ww g = {0};
    ww_sub(&g, 1, node);
    ww_sub(&g, 11, ow_value("x"));
    ww_sub(&g, 12, ow_value("y"));
    return g;
}

static ww model_of(ww graph, ww function)
{
    ww m = ow_model(graph);
    ww_sub(&m, 8, ow_opset("my", 1));
    ww_sub(&m, 25, function);
    return m;
}

static ww with_node(ww function, ww node)
{
    ww_sub(&function, 7, node);
    return function;
}

static void test_plain(void **state)
{
    (void)state;
    ww f = ow_function("my", "F", NAMES("a", "b"), NAMES("c"));
    f = with_node(f, ow_node("Neg", "neg", NAMES("a"), NAMES("h")));
    f = with_node(f, ow_node("Clip", "clip", NAMES("h", "b", "a"), NAMES("c")));
    ww g = graph_of(call("F", "call", NAMES("x"), NAMES("y")));
    ww_sub(&g, 1, call("F", "two", NAMES("y", "x"), NAMES("z")));
    ww_sub(&g, 1, ow_node("Abs", "abs", NAMES("z"), NAMES("q")));
    loaded l = inlined_good(model_of(g, f));
    assert_int_equal(main_of(&l)->nodes.n, 5);
    const ir_node *neg = node_of(&l, "call/neg"), *clip = node_of(&l, "call/clip");
    assert_true(str_is(value_name(&l, neg->inputs[0]), "x"));
    assert_true(str_is(value_name(&l, neg->outputs[0]), "call/h"));
    assert_true(clip->inputs[1] == IR_NONE && clip->n_inputs == 3);
    assert_true(str_is(value_name(&l, clip->outputs[0]), "y"));
    assert_int_equal(clip->version, 15); /* the function's import, not the model's */
    assert_true(neg->call == node_named(l.m, "call"));
    assert_true(str_is(value_name(&l, node_of(&l, "two/clip")->inputs[1]), "x"));
    assert_int_equal(node_of(&l, "abs")->call, IR_NONE);
    assert_true(str_is(value_name(&l, node_of(&l, "two/clip")->outputs[0]), "z"));
    unload(&l);
}

static void test_matching(void **state)
{
    (void)state;
    ww f = with_node(ow_function("", "Relu", NAMES("a"), NAMES("c")),
                     ow_node("Max", "max", NAMES("a"), NAMES("c")));
    ww g = graph_of(ow_node("Relu", "relu", NAMES("x"), NAMES("y")));
    ww_sub(&g, 1, call("Relu", "other", NAMES("x"), NAMES("z"))); /* another domain */
    ww over = ow_node("Relu", "overload", NAMES("x"), NAMES("w"));
    ww_str(&over, 8, "v2");
    ww_sub(&g, 1, over);
    loaded l = inlined_good(model_of(g, f));
    assert_true(str_is(node_of(&l, "relu/max")->op, "Max"));
    assert_int_equal(main_of(&l)->nodes.n, 3);
    assert_int_equal(node_named(l.m, "other/max"), IR_NONE);
    assert_int_equal(node_named(l.m, "overload/max"), IR_NONE);
    unload(&l);
}

static void test_attributes(void **state)
{
    (void)state;
    ww f = ow_function("my", "F", NAMES("a"), NAMES("c"));
    ww body = ow_node("Odd", "odd", NAMES("a"), NAMES("h"));
    body = ow_with(ow_with(body, ow_attr_ref("given", 2, "p")), ow_attr_ref("fallback", 2, "q"));
    body = ow_with(ow_with(body, ow_attr_ref("absent", 2, "r")), ow_attr_int("own", 9));
    f = with_node(f, body);
    f = with_node(f, ow_with(ow_node("Constant", "k", NO_NAMES, NAMES("k")),
                             ow_attr_ref("value_int", 2, "p")));
    f = with_node(f,
                  ow_with(call("G", "g", NAMES("h", "k"), NAMES("c")), ow_attr_ref("s", 2, "p")));
    ww_str(&f, 6, "p");
    ww_str(&f, 6, "r");
    ww_sub(&f, 11, ow_attr_int("q", 5));
    ww g2 = ow_function("my", "G", NAMES("u", "v"), NAMES("w"));
    g2 = with_node(g2, ow_with(ow_node("Even", "even", NAMES("u", "v"), NAMES("w")),
                               ow_attr_ref("t", 2, "s")));
    ww m = model_of(
        graph_of(ow_with(call("F", "call", NAMES("x"), NAMES("y")), ow_attr_int("p", 3))), f);
    ww_sub(&m, 25, g2);
    loaded l = inlined_good(m);
    const ir_node *odd = node_of(&l, "call/odd"), *even = node_of(&l, "call/g/even");
    assert_int_equal(odd->n_attrs, 3);
    assert_int_equal(ir_attr_find(odd, "given")->v.i, 3);
    assert_int_equal(ir_attr_find(odd, "fallback")->v.i, 5);
    assert_null(ir_attr_find(odd, "absent"));
    assert_int_equal(ir_attr_find(odd, "own")->v.i, 9);
    assert_int_equal(ir_attr_find(even, "t")->v.i, 3); /* through two calls */
    assert_true(str_empty(ir_attr_find(even, "t")->ref));
    assert_true(even->call == node_named(l.m, "call"));
    const ir_tensor *k = ir_value_at(l.m, node_of(&l, "call/k")->outputs[0])->constant;
    assert_non_null(k);
    assert_int_equal(k->bytes[0], 3);
    unload(&l);
}

static ww branch(ww node, const char *out)
{
    ww g = {0};
    ww_sub(&g, 1, node);
    ww_sub(&g, 12, ow_value(out));
    return g;
}

static ww if_node(const char *name, const char *cond, const char *out, ww a, ww b)
{
    ww n = ow_node("If", name, NAMES(cond), NAMES(out));
    return ow_with(ow_with(n, ow_attr_graph("then_branch", a)), ow_attr_graph("else_branch", b));
}

static ww neg_function(const char *name)
{
    return with_node(ow_function("my", name, NAMES("a"), NAMES("b")),
                     ow_node("Neg", "neg", NAMES("a"), NAMES("b")));
}

static void test_subgraphs(void **state)
{
    (void)state;
    /* F's body holds an If whose branch calls N and reads F's input; main calls F inside an If
     * too */
    ww f = ow_function("my", "F", NAMES("a"), NAMES("c"));
    ww then = branch(call("N", "n", NAMES("a"), NAMES("p")), "p");
    ww_sub(&then, 5, ow_raw("w", F32, 0, NULL, "abcd", 4));
    f = with_node(f, if_node("if", "a", "c", then,
                             branch(ow_node("Abs", "abs", NAMES("a"), NAMES("q")), "q")));
    ww g = graph_of(if_node("outer", "x", "y", branch(call("F", "f1", NAMES("x"), NAMES("r")), "r"),
                            branch(call("F", "f2", NAMES("x"), NAMES("s")), "s")));
    ww m = model_of(g, f);
    ww_sub(&m, 25, neg_function("N"));
    loaded l = inlined_good(m);
    const ir_node *n1 = node_of(&l, "f1/n/neg"), *n2 = node_of(&l, "f2/n/neg");
    assert_true(str_is(value_name(&l, n1->inputs[0]), "x"));
    assert_true(n1->graph != n2->graph && n1->graph != 0);
    assert_true(n1->call == node_named(l.m, "f1"));
    const ir_node *inner_if = node_of(&l, "f1/if");
    ir_id sub = ir_attr_find(inner_if, "then_branch")->v.graph;
    assert_int_equal(ir_graph_at(l.m, sub)->parent, inner_if->graph);
    assert_int_equal(ir_graph_at(l.m, sub)->constants.n, 1);
    unload(&l);
}

static void test_graph_argument(void **state)
{
    (void)state;
    /* the caller's graph, given as an attribute, is used twice in the body */
    ww f = ow_function("my", "F", NAMES("a"), NAMES("c"));
    for (int i = 0; i < 2; i++) {
        ww n = ow_node("If", i ? "i1" : "i0", NAMES("a"), NAMES(i ? "c" : "h"));
        n = ow_with(ow_with(n, ow_attr_ref("then_branch", 5, "g")),
                    ow_attr_ref("else_branch", 5, "g"));
        f = with_node(f, n);
    }
    ww_str(&f, 6, "g");
    ww c = call("F", "call", NAMES("x"), NAMES("y"));
    c = ow_with(c, ow_attr_graph("g", branch(call("N", "n", NAMES("x"), NAMES("p")), "p")));
    ww m = model_of(graph_of(c), f);
    ww_sub(&m, 25, neg_function("N"));
    loaded l = inlined_good(m);
    assert_int_equal(main_of(&l)->nodes.n, 2);
    ir_id a = ir_attr_find(node_of(&l, "call/i0"), "then_branch")->v.graph;
    ir_id b = ir_attr_find(node_of(&l, "call/i1"), "else_branch")->v.graph;
    assert_true(a != b);
    unload(&l);
}

static void test_pass_through(void **state)
{
    (void)state;
    /* c and d are the same value, e is the input, f is not wanted */
    ww f = ow_function("my", "F", NAMES("a"), NAMES("c", "c", "a", "z"));
    f = with_node(f, ow_node("Split", "s", NAMES("a"), NAMES("c", "z")));
    ww g = graph_of(call("F", "call", NAMES("x"), NAMES("y", "d", "e", "")));
    loaded l = inlined_good(model_of(g, f));
    assert_int_equal(main_of(&l)->nodes.n, 3);
    assert_true(str_is(value_name(&l, node_of(&l, "call/Identity_1")->inputs[0]), "y"));
    assert_true(str_is(value_name(&l, node_of(&l, "call/Identity_2")->inputs[0]), "x"));
    assert_true(str_is(value_name(&l, node_of(&l, "call/s")->outputs[1]), "call/z"));
    unload(&l);

    f = ow_function("my", "F", NAMES("a", "b"), NAMES("b"));
    refuse(model_of(graph_of(call("F", "call", NAMES("x"), NAMES("y"))), f), ASSAY_ERR_MALFORMED,
           "'call'", NULL);
}

static void test_bad_calls(void **state)
{
    (void)state;
    refuse(model_of(graph_of(call("F", "call", NAMES("x", "x"), NAMES("y"))), neg_function("F")),
           ASSAY_ERR_MALFORMED, "'call'", "2");
    refuse(model_of(graph_of(call("F", "call", NAMES("x"), NAMES("y", "z"))), neg_function("F")),
           ASSAY_ERR_MALFORMED, "'call'", "2");
    ww f = with_node(ow_function("my", "F", NAMES("a"), NAMES("b")),
                     call("F", "again", NAMES("a"), NAMES("b")));
    refuse(model_of(graph_of(call("F", "call", NAMES("x"), NAMES("y"))), f), ASSAY_ERR_MALFORMED,
           "'again'", NULL);
    f = with_node(ow_function("my", "F", NAMES("a"), NAMES("b")),
                  call("G", "g", NAMES("a"), NAMES("b")));
    ww m = model_of(graph_of(call("F", "call", NAMES("x"), NAMES("y"))), f);
    ww_sub(&m, 25,
           with_node(ow_function("my", "G", NAMES("a"), NAMES("b")),
                     if_node("i", "a", "b", branch(call("F", "f", NAMES("a"), NAMES("p")), "p"),
                             branch(ow_node("Abs", "", NAMES("a"), NAMES("q")), "q"))));
    refuse(m, ASSAY_ERR_MALFORMED, "'f'", NULL);

    m = model_of(graph_of(call("F", "call", NAMES("x"), NAMES("y"))), neg_function("F"));
    ww_sub(&m, 25, neg_function("F"));
    ir_model *none;
    assay_error err;
    err_clear(&err);
    assert_int_equal(onnx_read_bytes(m.p, m.n, NULL, &none, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "'F'"));
    ww_free(&m);
}

/* levels functions, each calling the next ten times; the last holds one node, or none. */
static ww bomb(int levels, bool empty)
{
    ww m = model_of(graph_of(call("F0", "call", NAMES("x"), NAMES("y"))), neg_function("unused"));
    for (int i = 0; i < levels; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        ww f = ow_function("my", name, NAMES("a"), NAMES("v9"));
        for (int k = 0; k < 10; k++) {
            char in[8] = "a", out[8] = {'v', (char)('0' + k), '\0'};
            f = with_node(f, call(next, "", NAMES(in), NAMES(out)));
        }
        ww_sub(&m, 25, f);
    }
    char last[16];
    snprintf(last, sizeof last, "F%d", levels);
    ww f = ow_function("my", last, NAMES("a"), NAMES(empty ? "a" : "b"));
    if (!empty)
        f = with_node(f, ow_node("Neg", "", NAMES("a"), NAMES("b")));
    ww_sub(&m, 25, f);
    return m;
}

static void test_bombs(void **state)
{
    (void)state;
    loaded l = inlined_good(bomb(3, false));
    assert_int_equal(main_of(&l)->nodes.n, 1000);
    unload(&l);
    refuse(bomb(12, false), ASSAY_ERR_UNSUPPORTED, "", NULL);
    refuse(bomb(12, true), ASSAY_ERR_UNSUPPORTED, "", NULL);
    refuse(bomb(300, false), ASSAY_ERR_UNSUPPORTED, "", NULL);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    loaded l = inlined_good(ow_model(graph_of(ow_node("Abs", "abs", NAMES("x"), NAMES("y")))));
    assert_int_equal(l.m->nodes.n, 1);
    unload(&l);
}

int run_test_inline(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),          cmocka_unit_test(test_matching),
        cmocka_unit_test(test_attributes),     cmocka_unit_test(test_subgraphs),
        cmocka_unit_test(test_graph_argument), cmocka_unit_test(test_pass_through),
        cmocka_unit_test(test_bad_calls),      cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
