/* Pooling, normalisation, reduction, signals and detection: shapes in all versions, contents,
 * counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/net.h"

#define F IR_FLOAT32

static op_cost cost_of(net *n, ir_id value)
{
    uint64_t read[16] = {0}, written[16] = {0};
    const op_info *in[16];
    op_info out[16];
    op_ctx c;
    op_cost k = {.read = read, .written = written};
    ir_id node = ir_value_at(n->m, value)->producer;
    infer_context(n->r, node, in, out, &c);
    assert_non_null(n->r->rows[node]->cost);
    n->r->rows[node]->cost(&c, &k);
    k.read = k.written = NULL;
    return k;
}

static uint64_t flops_of(net *n, ir_id value)
{
    op_cost k = cost_of(n, value);
    return 2 * k.mac + k.add + k.mul + k.div + k.special + k.cmp;
}

/* ---- pooling ---- */

typedef struct pool_case {
    int64_t in, kernel, stride, dilation, begin, end, ceil, out;
    const char *auto_pad;
} pool_case;

static const pool_case pools[] = {
    {.in = 112, .kernel = 3, .stride = 2, .dilation = 1, .begin = 1, .end = 1, .out = 56},
    {.in = 4, .kernel = 3, .stride = 2, .dilation = 1, .ceil = 1, .out = 2},
    {.in = 2, .kernel = 1, .stride = 2, .dilation = 1, .ceil = 1, .out = 1},
    {.in = 2, .kernel = 3, .stride = 2, .dilation = 1, .ceil = 1, .out = 1},
    {.in = 4, .kernel = 2, .stride = 1, .dilation = 2, .out = 2},
    {.in = 7, .kernel = 3, .stride = 2, .dilation = 1, .auto_pad = "SAME_UPPER", .out = 4},
    {.in = 7, .kernel = 2, .stride = 2, .dilation = 1, .auto_pad = "VALID", .begin = 9, .out = 3},
};

static void pools_slide_their_windows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        const pool_case *p = &pools[i];
        net n = net_open(12);
        int64_t pads[2] = {p->begin, p->end};
        ir_id x = net_input(&n, 0, "x", F, DIMS(2, 3, p->in));
        ir_id y = net_ops(&n, 0, "MaxPool", IDS(x),
                          ATTRS(at_ints("kernel_shape", 1, &p->kernel),
                                at_ints("strides", 1, &p->stride), at_ints("pads", 2, pads),
                                at_ints("dilations", 1, &p->dilation), at_int("ceil_mode", p->ceil),
                                at_str("auto_pad", p->auto_pad ? p->auto_pad : "NOTSET")),
                          2);
        net_infer(&n);
        net_is(&n, y, F, DIMS(2, 3, p->out));
        net_is(&n, y + 1, IR_INT64, DIMS(2, 3, p->out));
        assert_int_equal(cost_of(&n, y).cmp, 6 * p->out * p->kernel);
        net_close(&n);
    }
}

static void a_stride_of_zero_fails(void **state)
{
    (void)state;
    net n = net_open(12);
    const int64_t zero[] = {0, 0}, two[] = {2, 2};
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 1, 4, 4));
    net_op(&n, 0, "AveragePool", IDS(x),
           ATTRS(at_ints("kernel_shape", 2, two), at_ints("strides", 2, zero)));
    net_infer_fails(&n, "strides");
    net_close(&n);
}

static void global_pool_leaves_ones(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = net_input(&n, 0, "x", F, DIMS(2, 3, 4, 5));
    ir_id y = net_op(&n, 0, "GlobalAveragePool", IDS(x), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 3, 1, 1));
    assert_int_equal(flops_of(&n, y), 120 + 6);
    net_close(&n);
}

static void unpool_takes_the_shape_it_is_given(void **state)
{
    (void)state;
    net n = net_open(11);
    const int64_t two[] = {2, 2}, want[] = {1, 1, 5, 5};
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 1, 2, 2));
    ir_id at = net_input(&n, 0, "i", IR_INT64, DIMS(1, 1, 2, 2));
    ir_id shape = net_ints(&n, 0, IR_INT64, DIMS(4), want);
    ir_id y = net_op(&n, 0, "MaxUnpool", IDS(x, at),
                     ATTRS(at_ints("kernel_shape", 2, two), at_ints("strides", 2, two)));
    ir_id z = net_op(&n, 0, "MaxUnpool", IDS(x, at, shape),
                     ATTRS(at_ints("kernel_shape", 2, two), at_ints("strides", 2, two)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 1, 4, 4));
    net_is(&n, z, F, DIMS(1, 1, 5, 5));
    net_close(&n);
}

/* ---- normalisation ---- */

static void batch_norm_has_three_lives(void **state)
{
    (void)state;
    net n = net_open(6);
    ir_id x = net_input(&n, 0, "x", F, DIMS(2, 3, 4, 5)), s = net_weight(&n, 0, DIMS(3));
    ir_id old = net_ops(&n, 0, "BatchNormalization", IDS(x, s, s, s, s), NO_ATTRS, 5);
    n.version = 15;
    ir_id y = net_op(&n, 0, "BatchNormalization", IDS(x, s, s, s, s), NO_ATTRS);
    ir_id t = net_ops(&n, 0, "BatchNormalization", IDS(x, s, s, s, s),
                      ATTRS(at_int("training_mode", 1)), 3);
    net_infer(&n);
    for (ir_id o = 1; o < 5; o++)
        net_is(&n, old + o, F, DIMS(3));
    net_is(&n, y, F, DIMS(2, 3, 4, 5));
    net_is(&n, t + 2, F, DIMS(3));
    assert_int_equal(flops_of(&n, old), 7 * 120);
    assert_int_equal(flops_of(&n, y), 2 * 120);
    assert_int_equal(flops_of(&n, t), 7 * 120);
    net_close(&n);
}

static void layer_norm_counts_what_is_there(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT16, DIMS(2, 3, 8)), s = net_weight(&n, 0, DIMS(8));
    ir_id y = net_ops(&n, 0, "LayerNormalization", IDS(x, s, s), NO_ATTRS, 3);
    ir_id z = net_op(&n, 0, "LayerNormalization", IDS(x, s), ATTRS(at_int("axis", 1)));
    n.version = 23;
    ir_id r = net_op(&n, 0, "RMSNormalization", IDS(x, s), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, IR_FLOAT16, DIMS(2, 3, 8));
    net_is(&n, y + 1, F, DIMS(2, 3, 1));
    net_is(&n, r, F, DIMS(2, 3, 8));
    assert_int_equal(flops_of(&n, y), 7 * 48);
    assert_int_equal(flops_of(&n, z), 6 * 48);
    assert_int_equal(flops_of(&n, r), 4 * 48);
    net_close(&n);
}

static void softmax_is_five_per_element(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", F, DIMS(2, 10));
    ir_id y = net_op(&n, 0, "Softmax", IDS(x), ATTRS(at_int("axis", -1)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 10));
    assert_int_equal(flops_of(&n, y), 100);
    net_close(&n);
}

static void losses_reduce_or_not(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", F, DIMS(3, 5, 6)),
          t = net_input(&n, 0, "t", IR_INT64, DIMS(3, 6));
    ir_id y = net_ops(&n, 0, "SoftmaxCrossEntropyLoss", IDS(x, t), NO_ATTRS, 2);
    ir_id z = net_op(&n, 0, "NegativeLogLikelihoodLoss", IDS(x, t),
                     ATTRS(at_str("reduction", "none")));
    net_infer(&n);
    net_is(&n, y, F, SCALAR);
    net_is(&n, y + 1, F, DIMS(3, 5, 6));
    net_is(&n, z, F, DIMS(3, 6));
    net_close(&n);
}

/* ---- reduction ---- */

static void axes_come_as_attribute_or_input(void **state)
{
    (void)state;
    net n = net_open(11);
    const int64_t minus[] = {-1, 1}, one[] = {1};
    ir_id x = net_input(&n, 0, "x", F, DIMS(2, 3, 4));
    ir_id a = net_op(&n, 0, "ReduceMean", IDS(x), ATTRS(at_ints("axes", 2, minus)));
    ir_id all = net_op(&n, 0, "ReduceSum", IDS(x), ATTRS(at_int("keepdims", 0)));
    n.version = 18;
    ir_id axes = net_ints(&n, 0, IR_INT64, DIMS(1), one);
    ir_id open = net_input(&n, 0, "axes", IR_INT64, DIMS(2));
    ir_id none = net_input(&n, 0, "none", IR_INT64, DIMS(0));
    ir_id b = net_op(&n, 0, "ReduceMax", IDS(x, axes), ATTRS(at_int("keepdims", 0)));
    ir_id u = net_op(&n, 0, "ReduceL2", IDS(x, open), ATTRS(at_int("keepdims", 0)));
    ir_id k = net_op(&n, 0, "ReduceL1", IDS(x, none), ATTRS(at_int("noop_with_empty_axes", 1)));
    net_infer(&n);
    net_is(&n, a, F, DIMS(2, 1, 1));
    net_is(&n, all, F, SCALAR);
    net_is(&n, b, F, DIMS(2, 4));
    net_is(&n, u, F, DIMS(-1));
    net_is(&n, k, F, DIMS(2, 3, 4));
    assert_int_equal(flops_of(&n, a), 24 + 2);
    assert_int_equal(flops_of(&n, all), 24);
    net_close(&n);
}

typedef struct value_case {
    const char *op;
    int64_t want;
} value_case;

static const value_case values[] = {
    {"ReduceSum", 4},  {"ReduceProd", -30}, {"ReduceMax", 5},        {"ReduceMin", -3},
    {"ReduceMean", 1}, {"ReduceL1", 10},    {"ReduceSumSquare", 38},
};

static void reductions_follow_contents(void **state)
{
    (void)state;
    const int64_t content[] = {2, -3, 5};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        net n = net_open(13);
        ir_id x = net_ints(&n, 0, IR_INT64, DIMS(3), content);
        ir_id y = net_op(&n, 0, values[i].op, IDS(x), ATTRS(at_int("keepdims", 0)));
        net_infer(&n);
        net_is(&n, y, IR_INT64, SCALAR);
        net_holds(&n, y, values[i].want);
        net_close(&n);
    }
}

static void a_product_of_sizes_is_known(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", F, DIMS(6, 7, 8));
    ir_id s = net_op(&n, 0, "Shape", IDS(x), NO_ATTRS);
    ir_id y = net_op(&n, 0, "ReduceProd", IDS(s), ATTRS(at_int("keepdims", 0)));
    net_infer(&n);
    net_holds(&n, y, 336);
    net_close(&n);
}

/* ---- signals ---- */

static void transforms_take_their_lengths_from_contents(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 128, 1)), len = net_int(&n, 0, 16);
    ir_id step = net_int(&n, 0, 8), bins = net_int(&n, 0, 40);
    ir_id s = net_op(&n, 0, "STFT", IDS(x, step, IR_NONE, len), NO_ATTRS);
    ir_id d = net_op(&n, 0, "DFT", IDS(x), ATTRS(at_int("onesided", 1)));
    ir_id hz = net_input(&n, 0, "hz", F, SCALAR);
    ir_id m = net_op(&n, 0, "MelWeightMatrix", IDS(bins, len, step, hz, hz), NO_ATTRS);
    n.version = 20;
    ir_id axis = net_int(&n, 0, 1);
    ir_id d20 = net_op(&n, 0, "DFT", IDS(x, len, axis), NO_ATTRS);
    net_infer(&n);
    net_is(&n, s, F, DIMS(1, 15, 9, 2));
    net_is(&n, d, F, DIMS(1, 65, 2));
    net_is(&n, d20, F, DIMS(1, 16, 2));
    net_is(&n, m, F, DIMS(9, 40));
    assert_int_equal(flops_of(&n, d20), 8 * 4 * 10);
    net_close(&n);
}

/* ---- detection ---- */

static void suppression_is_bounded(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id b = net_input(&n, 0, "b", F, DIMS(2, 100, 4)),
          s = net_input(&n, 0, "s", F, DIMS(2, 3, 100));
    ir_id y = net_op(&n, 0, "NonMaxSuppression", IDS(b, s, net_int(&n, 0, 10)), NO_ATTRS);
    ir_id z = net_op(&n, 0, "NonMaxSuppression", IDS(b, s), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, IR_INT64, DIMS(60, 3));
    net_is(&n, z, IR_INT64, DIMS(0, 3));
    assert_true(net_assumed(&n, y));
    assert_false(net_assumed(&n, z));
    op_cost k = cost_of(&n, y); /* a comparison per score; an overlap per kept box */
    assert_int_equal(k.cmp, 2 * 3 * 100 + 60 * 7);
    assert_int_equal(k.add, 60 * 4);
    assert_int_equal(k.mul, 60);
    assert_int_equal(k.div, 60);
    net_close(&n);
}

static void sampling_follows_grid_and_regions(void **state)
{
    (void)state;
    net n = net_open(20);
    const int64_t size[] = {2, 3, 5, 6};
    ir_id theta = net_input(&n, 0, "t", F, DIMS(2, 2, 3));
    ir_id g = net_op(&n, 0, "AffineGrid", IDS(theta, net_ints(&n, 0, IR_INT64, DIMS(4), size)),
                     NO_ATTRS);
    ir_id x = net_input(&n, 0, "x", F, DIMS(2, 3, 8, 8));
    ir_id y = net_op(&n, 0, "GridSample", IDS(x, g), NO_ATTRS);
    ir_id rois = net_input(&n, 0, "r", F, DIMS(7, 4)),
          at = net_input(&n, 0, "i", IR_INT64, DIMS(7));
    ir_id r = net_op(&n, 0, "RoiAlign", IDS(x, rois, at),
                     ATTRS(at_int("output_height", 4), at_int("output_width", 5)));
    net_infer(&n);
    net_is(&n, g, F, DIMS(2, 5, 6, 2));
    net_is(&n, y, F, DIMS(2, 3, 5, 6));
    net_is(&n, r, F, DIMS(7, 3, 4, 5));
    assert_int_equal(cost_of(&n, g).mac, 2 * 5 * 6 * 2 * 3);
    assert_int_equal(flops_of(&n, y), 180 * 7);
    op_cost k = cost_of(&n, r); /* 2 by 2 points of 4 corners each, averaged */
    assert_int_equal(k.mul, 420 * 4 * 4);
    assert_int_equal(k.add, 420 * 4 * 4);
    assert_int_equal(k.div, 420);
    net_close(&n);
}

/* Each tap of a deformable convolution is one bilinear sample; a mask scales it. */
static void deformed_taps_are_interpolated(void **state)
{
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        net n = net_open(19);
        ir_id x = net_input(&n, 0, "x", F, DIMS(1, 2, 5, 5)),
              w = net_weight(&n, 0, DIMS(4, 2, 3, 3));
        ir_id at = net_input(&n, 0, "at", F, DIMS(1, 18, 3, 3));
        ir_id scale = net_input(&n, 0, "m", F, DIMS(1, 9, 3, 3));
        ir_id y = mask ? net_op(&n, 0, "DeformConv", IDS(x, w, at, IR_NONE, scale), NO_ATTRS)
                       : net_op(&n, 0, "DeformConv", IDS(x, w, at), NO_ATTRS);
        net_infer(&n);
        net_is(&n, y, F, DIMS(1, 4, 3, 3));
        op_cost k = cost_of(&n, y);
        uint64_t taps = 2 * 9 * 9;
        assert_int_equal(k.mac, 4 * 9 * 2 * 9);
        assert_int_equal(k.mul, taps * (4 + (uint64_t)mask));
        assert_int_equal(k.add, taps * 3);
        net_close(&n);
    }
}

int run_test_ops_reduce(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_slide_their_windows),
        cmocka_unit_test(a_stride_of_zero_fails),
        cmocka_unit_test(global_pool_leaves_ones),
        cmocka_unit_test(unpool_takes_the_shape_it_is_given),
        cmocka_unit_test(batch_norm_has_three_lives),
        cmocka_unit_test(layer_norm_counts_what_is_there),
        cmocka_unit_test(softmax_is_five_per_element),
        cmocka_unit_test(losses_reduce_or_not),
        cmocka_unit_test(axes_come_as_attribute_or_input),
        cmocka_unit_test(reductions_follow_contents),
        cmocka_unit_test(a_product_of_sizes_is_known),
        cmocka_unit_test(transforms_take_their_lengths_from_contents),
        cmocka_unit_test(suppression_is_bounded),
        cmocka_unit_test(sampling_follows_grid_and_regions),
        cmocka_unit_test(deformed_taps_are_interpolated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
