/* Models of old opsets at newer ones: on ONNX Runtime every operator whose form changed gives the numbers
 * that it gave before, and what cannot be raised says so and stays as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/onnx_fill.h"
#include "ir/verify.h"
#include "rewrite/lower.h"
#include "support/net.h"
#include "support/runs.h"
#include "support/skip.h"

/* ---- what net.h has not ---- */

static ir_attr at_float(const char *name, double v)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_FLOAT, .n = 1, .v.f = v};
}

static ir_attr at_floats(const char *name, uint32_t n, const double *v)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_FLOATS, .n = n, .v.floats = v};
}

static ir_id floats(net *n, int64_t count, const float *content)
{
    ir_tensor *t = ir_make_tensor(n->m, STR("floats"), IR_FLOAT32, 1, &count);
    char name[32];
    snprintf(name, sizeof name, "floats%u", (unsigned)n->m->values.n);
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(n->m->arena, count ? (const void *)content : "",
                          count ? (size_t)count * sizeof(float) : 1);
    ir_id id = ir_add_value(n->m, 0, str_of(name));
    ir_add_constant(n->m, 0, id, t);
    return id;
}

static ir_id one(net *n, const char *op, ir_id x, uint32_t n_attrs, const ir_attr *attrs)
{
    return net_op(n, 0, op, 1, &x, n_attrs, attrs);
}

#define INTS(...) DIMS(__VA_ARGS__)
#define NUMBERS(...)                                                                     \
    (uint32_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (const double[]) \
    {                                                                                    \
        __VA_ARGS__                                                                      \
    }

/* ---- one of each: x is float32 [2, 4, 6, 6]; what is made becomes the output ---- */

static ir_id upsample_7(net *n, ir_id x)
{
    return one(n, "Upsample", x, ATTRS(at_floats("scales", NUMBERS(1, 1, 2, 3))));
}

static ir_id upsample_9(net *n, ir_id x)
{
    static const float scales[] = {1, 1, 2, 2};
    return net_op(n, 0, "Upsample", IDS(x, floats(n, 4, scales)), ATTRS(at_str("mode", "linear")));
}

static ir_id resize_more(net *n, ir_id x)
{
    static const float scales[] = {1, 1, 1.5f, 2};
    return net_op(n, 0, "Resize", IDS(x, floats(n, 4, scales)), NO_ATTRS);
}

static ir_id resize_less(net *n, ir_id x)
{
    static const float scales[] = {1, 1, 0.7f, 0.5f};
    return net_op(n, 0, "Resize", IDS(x, floats(n, 4, scales)), NO_ATTRS);
}

static ir_id resize_linear(net *n, ir_id x)
{
    static const float scales[] = {1, 1, 0.5f, 1.7f};
    return net_op(n, 0, "Resize", IDS(x, floats(n, 4, scales)), ATTRS(at_str("mode", "linear")));
}

static ir_id resize_sizes(net *n, ir_id x)
{
    ir_id none = floats(n, 0, NULL),
          size = net_ints(n, 0, IR_INT64, DIMS(4), (const int64_t[]){2, 4, 9, 5});
    return net_op(
        n, 0, "Resize", IDS(x, none, none, size),
        ATTRS(at_str("coordinate_transformation_mode", "align_corners"), at_str("mode", "linear")));
}

static ir_id batch_norm(net *n, ir_id x)
{
    static const float some[] = {1, 2, 0.5f, 3};
    ir_id p = floats(n, 4, some);
    return net_op(n, 0, "BatchNormalization", IDS(x, p, p, p, p), ATTRS(at_int("spatial", 1)));
}

static ir_id dropout_7(net *n, ir_id x)
{
    return net_ops(n, 0, "Dropout", IDS(x), ATTRS(at_float("ratio", 0.3)), 2);
}

static ir_id slice_1(net *n, ir_id x)
{
    return one(n, "Slice", x,
               ATTRS(at_ints("starts", INTS(1, -4)), at_ints("ends", INTS(3, 100)),
                     at_ints("axes", INTS(1, 3))));
}

static ir_id slice_all(net *n, ir_id x)
{
    return one(n, "Slice", x, ATTRS(at_ints("starts", INTS(0, 1)), at_ints("ends", INTS(1, 3))));
}

static ir_id top_k(net *n, ir_id x)
{
    return net_ops(n, 0, "TopK", IDS(x), ATTRS(at_int("k", 3)), 2);
}

static ir_id clip_both(net *n, ir_id x)
{
    return one(n, "Clip", x, ATTRS(at_float("min", -0.25), at_float("max", 0.5)));
}

static ir_id clip_below(net *n, ir_id x)
{
    return one(n, "Clip", x, ATTRS(at_float("max", 0.125)));
}

static ir_id pad_filled(net *n, ir_id x)
{
    return one(n, "Pad", x,
               ATTRS(at_ints("pads", INTS(0, 0, 1, 2, 0, 1, 0, 0)), at_float("value", 0.5)));
}

static ir_id pad_reflected(net *n, ir_id x)
{
    return one(n, "Pad", x,
               ATTRS(at_ints("pads", INTS(0, 0, 1, 2, 0, 0, 3, 0)), at_str("mode", "reflect")));
}

static ir_id scatter(net *n, ir_id x)
{
    static const int64_t at[] = {3, 1};
    ir_id index = net_ints(n, 0, IR_INT64, DIMS(1, 2, 1, 1), at);
    static const float put[] = {9, 8};
    ir_id updates = net_op(
        n, 0, "Reshape",
        IDS(floats(n, 2, put), net_ints(n, 0, IR_INT64, DIMS(4), (const int64_t[]){1, 2, 1, 1})),
        NO_ATTRS);
    return net_op(n, 0, "Scatter", IDS(x, index, updates), ATTRS(at_int("axis", 1)));
}

static ir_id softmax_inner(net *n, ir_id x)
{
    return one(n, "Softmax", x, NO_ATTRS);
}

static ir_id softmax_last(net *n, ir_id x)
{
    return one(n, "Softmax", x, ATTRS(at_int("axis", 3)));
}

static ir_id log_softmax(net *n, ir_id x)
{
    return one(n, "LogSoftmax", x, ATTRS(at_int("axis", 2)));
}

static ir_id hardmax(net *n, ir_id x)
{
    return one(n, "Hardmax", x, ATTRS(at_int("axis", -2)));
}

static ir_id split_given(net *n, ir_id x)
{
    return net_ops(n, 0, "Split", IDS(x), ATTRS(at_int("axis", 1), at_ints("split", INTS(1, 3))),
                   2);
}

static ir_id split_even(net *n, ir_id x)
{
    return net_ops(n, 0, "Split", IDS(x), ATTRS(at_int("axis", 3)), 3);
}

static ir_id squeezes(net *n, ir_id x)
{
    ir_id wide = one(n, "Unsqueeze", x, ATTRS(at_ints("axes", INTS(0, 3))));
    return one(n, "Squeeze", wide, ATTRS(at_ints("axes", INTS(3))));
}

static ir_id reductions(net *n, ir_id x)
{
    static const char *const ops[] = {"ReduceSum",  "ReduceMean",      "ReduceMax",
                                      "ReduceMin",  "ReduceL1",        "ReduceL2",
                                      "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare"};
    ir_id sum = one(n, "ReduceSum", x, NO_ATTRS);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        ir_id part = one(n, ops[i], x, ATTRS(at_ints("axes", INTS(1, 3)), at_int("keepdims", 1)));
        sum = net_op(n, 0, "Add", IDS(sum, part), NO_ATTRS);
    }
    return one(n, "ReduceLogSum", one(n, "Abs", sum, NO_ATTRS), ATTRS(at_ints("axes", INTS(2))));
}

static ir_id roi_align(net *n, ir_id x)
{
    static const float box[] = {0, 0, 4, 3};
    ir_id boxes = net_op(
        n, 0, "Reshape",
        IDS(floats(n, 4, box), net_ints(n, 0, IR_INT64, DIMS(2), (const int64_t[]){1, 4})),
        NO_ATTRS);
    ir_id batch = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){1});
    return net_op(n, 0, "RoiAlign", IDS(x, boxes, batch),
                  ATTRS(at_int("output_height", 3), at_int("output_width", 3)));
}

static ir_id grid_sample(net *n, ir_id x)
{
    ir_id grid = net_op(n, 0, "Reshape",
                        IDS(x, net_ints(n, 0, IR_INT64, DIMS(4), (const int64_t[]){2, 6, 12, 2})),
                        NO_ATTRS);
    return net_op(n, 0, "GridSample", IDS(x, grid), ATTRS(at_str("mode", "bicubic")));
}

/* Forms inside of bodies change too. */
static ir_id in_a_body(net *n, ir_id x)
{
    ir_id yes = net_graph(n, 0), no = net_graph(n, 0);
    ir_id a = net_op(n, yes, "Clip", IDS(x), ATTRS(at_float("min", 0.1)));
    ir_id b = net_op(n, no, "Softmax", IDS(x), ATTRS(at_int("axis", 2)));
    net_outputs(n, yes, IDS(a));
    net_outputs(n, no, IDS(b));
    return net_op(n, 0, "If", IDS(net_bool(n, 0, false)),
                  ATTRS(at_graph("then_branch", yes), at_graph("else_branch", no)));
}

static const struct {
    const char *name;
    int opset;
    ir_id (*make)(net *n, ir_id x);
} cases[] = {
    {"Upsample 7", 7, upsample_7},
    {"Upsample 9", 9, upsample_9},
    {"Resize 10, more", 10, resize_more},
    {"Resize 10, less", 10, resize_less},
    {"Resize 10, linear", 10, resize_linear},
    {"Resize 11, sizes", 11, resize_sizes},
    {"BatchNormalization 7", 7, batch_norm},
    {"Dropout 7", 7, dropout_7},
    {"Dropout 10", 10, dropout_7},
    {"Slice 1", 9, slice_1},
    {"Slice 1, all", 7, slice_all},
    {"TopK 1", 9, top_k},
    {"Clip 6", 7, clip_both},
    {"Clip 6, max", 10, clip_below},
    {"Pad 2, filled", 10, pad_filled},
    {"Pad 2, reflected", 7, pad_reflected},
    {"Scatter 9", 9, scatter},
    {"Softmax 1", 9, softmax_inner},
    {"Softmax 11, last", 12, softmax_last},
    {"LogSoftmax 11", 12, log_softmax},
    {"Hardmax 11", 11, hardmax},
    {"Split 2", 7, split_given},
    {"Split 2, even", 9, split_even},
    {"Split 13, even", 13, split_even},
    {"Squeeze 11", 12, squeezes},
    {"Reduce 11", 12, reductions},
    {"RoiAlign 10", 10, roi_align},
    {"GridSample 16", 16, grid_sample},
    {"If 1", 10, in_a_body},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static net made(int opset, ir_id (*make)(net *n, ir_id x))
{
    net n = net_open(opset);
    assert_true(ir_set_opset(n.m, STR(""), opset));
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 4, 6, 6));
    net_outputs(&n, 0, IDS(make(&n, x)));
    net_infer(&n);
    return n;
}

static value_facts facts_of(const net *n)
{
    return (value_facts){n->r->info, n->m->values.n};
}

static void same_numbers(void **state)
{
    static const int targets[] = {13, 17, 18, 22, 24};
    engine *e = runs_engine();
    unsigned n_compared = 0;
    (void)state;
    if (!e)
        SKIP_BECAUSE("no engine");
    for (size_t i = 0; i < N_CASES; i++) {
        net old = made(cases[i].opset, cases[i].make);
        run_output want = runs_model(e, old.m);
        net_close(&old);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            net n = made(cases[i].opset, cases[i].make);
            assay_error err = {0};
            if (targets[t] > cases[i].opset)
                must(rewrite_to_opset(n.m, facts_of(&n), targets[t], &err), &err);
            must(ir_verify(n.m, &err), &err);
            run_output got;
            assay_status s = runs_try(e, n.m, NULL, &got, &err);
            bool no_kernel = s != ASSAY_OK && strstr(err.message, "find an implementation");
            if (!no_kernel)
                must(s, &err);
            double d = no_kernel ? 0 : runs_difference(got, want);
            if (d > 1e-6)
                fail_msg("%s at opset %d is off by %g", cases[i].name, targets[t], d);
            n_compared += !no_kernel;
            free(got.p);
            net_close(&n);
        }
        free(want.p);
    }
    assert_true(n_compared >= 4 * N_CASES); /* engines lag behind with the newest versions */
    engine_close(e);
}

/* ---- what has no newer form ---- */

static ir_id mask_is_read(net *n, ir_id x)
{
    ir_id y = net_ops(n, 0, "Dropout", IDS(one(n, "Clip", x, ATTRS(at_float("min", 0)))), NO_ATTRS,
                      2);
    return net_op(n, 0, "Add", IDS(y, y + 1), NO_ATTRS);
}

static ir_id per_element(net *n, ir_id x)
{
    static const float some[] = {1, 2, 0.5f, 3};
    ir_id p = floats(n, 4, some);
    return net_op(n, 0, "BatchNormalization", IDS(x, p, p, p, p), ATTRS(at_int("spatial", 0)));
}

static ir_id too_old(net *n, ir_id x)
{
    return net_op(n, 0, "Add", IDS(x, x), ATTRS(at_int("broadcast", 1)));
}

static ir_id groups(net *n, ir_id x)
{
    static const float some[] = {1, 2};
    ir_id p = floats(n, 2, some);
    return net_op(n, 0, "GroupNormalization", IDS(x, p, p), ATTRS(at_int("num_groups", 2)));
}

static ir_id unknown_scales(net *n, ir_id x)
{
    ir_id scales = net_input(n, 0, "scales", IR_FLOAT32, DIMS(4));
    return net_op(n, 0, "Resize", IDS(x, scales), NO_ATTRS);
}

static void refused_and_as_it_was(void **state)
{
    static const struct {
        int opset;
        ir_id (*make)(net *n, ir_id x);
        const char *why;
    } rows[] = {
        {7, mask_is_read, "(Dropout)"}, {7, per_element, "spatial = 0"}, {6, too_old, "opset 7"},
        {18, groups, "opset 21"},       {10, unknown_scales, "scales"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        net n = net_open(rows[i].opset);
        assay_error err = {0};
        assert_true(ir_set_opset(n.m, STR(""), rows[i].opset));
        ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 4, 6, 6));
        net_outputs(&n, 0, IDS(rows[i].make(&n, x)));
        net_infer(&n);
        const ir_graph *g = ir_graph_at(n.m, 0);
        uint32_t nodes = g->nodes.n, constants = g->constants.n, values = n.m->values.n;
        assert_int_equal(rewrite_to_opset(n.m, facts_of(&n), 22, &err), ASSAY_ERR_UNSUPPORTED);
        if (!strstr(err.message, rows[i].why))
            fail_msg("'%s' is not in '%s'", rows[i].why, err.message);
        g = ir_graph_at(n.m, 0);
        assert_true(g->nodes.n == nodes && g->constants.n == constants && n.m->values.n == values);
        assert_int_equal(ir_opset_version(n.m, STR("")), rows[i].opset);
        must(ir_verify(n.m, &err), &err);
        net_infer(&n);
        net_close(&n);
    }
}

int run_test_raise(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_numbers),
        cmocka_unit_test(refused_and_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
