/* Control flow: which subgraph runs how often, and what comes out of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/net.h"

/* A graph whose one output is X[2,k] times a weight [k,width]. */
static ir_id product_branch(net *n, ir_id parent, ir_id x, int64_t k, int64_t width)
{
    ir_id g = net_graph(n, parent);
    ir_id w = net_weight(n, g, DIMS(k, width));
    ir_id y = net_op(n, g, "MatMul", IDS(x, w), NO_ATTRS);
    net_outputs(n, g, IDS(y));
    return g;
}

static ir_id add_if(net *n, ir_id graph, ir_id cond, ir_id yes, ir_id no)
{
    return net_op(n, graph, "If", IDS(cond),
                  ATTRS(at_graph("then_branch", yes), at_graph("else_branch", no)));
}

static void if_with_known_condition_is_its_branch(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id yes = product_branch(&n, 0, x, 3, 4), no = product_branch(&n, 0, x, 3, 5);
    ir_id y = add_if(&n, 0, net_bool(&n, 0, false), yes, no);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 5));
    assert_int_equal(n.r->times[yes], 0);
    assert_int_equal(n.r->times[no], 1);
    assert_int_equal(n.r->items.n, 0);
    assert_false(net_assumed(&n, y));
    net_close(&n);
}

static void if_with_unknown_condition_is_its_costlier_branch(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id cond = net_input(&n, 0, "c", IR_BOOL, SCALAR);
    ir_id yes = product_branch(&n, 0, x, 3, 4), no = product_branch(&n, 0, x, 3, 50);
    ir_id y = add_if(&n, 0, cond, yes, no);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 50));
    assert_int_equal(n.r->times[yes], 0);
    assert_int_equal(n.r->times[no], 1);
    assert_true(net_assumed(&n, y));
    assert_int_equal(n.r->items.n, 1);
    net_close(&n);
}

static void if_cannot_take_a_branch_that_contradicts(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id cond = net_input(&n, 0, "c", IR_BOOL, SCALAR);
    ir_id yes = product_branch(&n, 0, x, 99, 500), no = product_branch(&n, 0, x, 3, 5);
    ir_id y = add_if(&n, 0, cond, yes, no);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 5));
    assert_int_equal(n.r->times[yes], 0);
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

static void if_fails_when_both_branches_contradict(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id cond = net_input(&n, 0, "c", IR_BOOL, SCALAR);
    ir_id yes = product_branch(&n, 0, x, 99, 5), no = product_branch(&n, 0, x, 77, 5);
    net_outputs(&n, 0, IDS(add_if(&n, 0, cond, yes, no)));
    net_infer_fails(&n, "MatMul");
    net_close(&n);
}

static ir_id add_ints(net *n, ir_id g, int64_t a, int64_t b)
{
    return net_op(n, g, "Add", IDS(net_int(n, g, a), net_int(n, g, b)), NO_ATTRS);
}

static void if_keeps_content_that_both_branches_agree_on(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_id cond = net_input(&n, 0, "c", IR_BOOL, SCALAR);
    ir_id yes = net_graph(&n, 0), no = net_graph(&n, 0);
    net_outputs(&n, yes, IDS(add_ints(&n, yes, 3, 4), add_ints(&n, yes, 1, 0)));
    net_outputs(&n, no, IDS(add_ints(&n, no, 5, 2), add_ints(&n, no, 2, 0)));
    ir_id y = net_ops(&n, 0, "If", IDS(cond),
                      ATTRS(at_graph("then_branch", yes), at_graph("else_branch", no)), 2);
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer(&n);
    net_holds(&n, y, 7);
    net_is(&n, y + 1, IR_INT64, SCALAR);
    assert_null(n.r->info[y + 1].val);
    net_close(&n);
}

/* The inner If reads a value of the main graph and one of the outer branch. */
static void nested_ifs_see_outer_values(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id outer = net_graph(&n, 0);
    ir_id w = net_weight(&n, outer, DIMS(3, 8));
    ir_id h = net_op(&n, outer, "MatMul", IDS(x, w), NO_ATTRS); /* [2,8] */
    ir_id deep = product_branch(&n, outer, h, 8, 16), flat = product_branch(&n, outer, x, 3, 1);
    ir_id inner = add_if(&n, outer, net_bool(&n, 0, true), deep, flat);
    net_outputs(&n, outer, IDS(inner));
    ir_id other = product_branch(&n, 0, x, 3, 2);
    ir_id y = add_if(&n, 0, net_bool(&n, 0, true), outer, other);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 16));
    assert_int_equal(n.r->times[outer], 1);
    assert_int_equal(n.r->times[deep], 1);
    assert_int_equal(n.r->times[flat], 0);
    assert_int_equal(n.r->times[other], 0);
    net_close(&n);
}

static void graph_inside_a_dead_branch_never_runs(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id dead = net_graph(&n, 0);
    ir_id a = product_branch(&n, dead, x, 3, 4), b = product_branch(&n, dead, x, 3, 4);
    net_outputs(&n, dead, IDS(add_if(&n, dead, net_bool(&n, 0, true), a, b)));
    ir_id live = product_branch(&n, 0, x, 3, 2);
    net_outputs(&n, 0, IDS(add_if(&n, 0, net_bool(&n, 0, false), dead, live)));
    net_infer(&n);
    assert_int_equal(n.r->times[dead], 0);
    assert_int_equal(n.r->times[a], 0);
    assert_int_equal(n.r->times[live], 1);
    net_close(&n);
}

/* ---- Loop ---- */

typedef struct body {
    ir_id g, iteration, cond, carried, scan;
} body;

/* carried' = carried * W[4,4] of the main graph; so is the scan output. `keep` is the condition
 * that goes out; IR_NONE passes the incoming one. */
static body product_body(net *n, ir_id parent, ir_id w, ir_id keep)
{
    body b = {.g = net_graph(n, parent)};
    b.iteration = net_formal(n, b.g, "i");
    b.cond = net_formal(n, b.g, "c");
    b.carried = net_formal(n, b.g, "h");
    b.scan = net_op(n, b.g, "MatMul", IDS(b.carried, w), NO_ATTRS);
    net_outputs(n, b.g, IDS(keep == IR_NONE ? b.cond : keep, b.scan, b.scan));
    return b;
}

static ir_id add_loop(net *n, ir_id graph, ir_id m, ir_id cond, ir_id init, ir_id g,
                      uint32_t outputs)
{
    return net_ops(n, graph, "Loop", IDS(m, cond, init), ATTRS(at_graph("body", g)), outputs);
}

typedef struct loop_case {
    int64_t limit; /* -1: a graph input, -2: absent */
    int keep;      /* condition out: 1 true, 0 false, -1 depends on data */
    int64_t trips;
    bool assumed;
} loop_case;

static void loop_counts_trips(void **state)
{
    (void)state;
    static const loop_case cases[] = {
        {5, 1, 5, false}, {1, 1, 1, false},         {0, 1, 0, false},  {-3, 1, 0, false},
        {-1, 1, 1, true}, {-2, 1, 1, true},         {7, -1, 7, true},  {-1, -1, 1, true},
        {7, 0, 1, false}, {INT64_MAX, -1, 1, true}, {-2, 0, 1, false}, {1, -1, 1, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const loop_case *t = &cases[k];
        net n = net_open(13);
        ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(2, 4));
        ir_id w = net_weight(&n, 0, DIMS(4, 4));
        ir_id m = t->limit == -1   ? net_input(&n, 0, "m", IR_INT64, SCALAR)
                  : t->limit == -2 ? IR_NONE
                                   : net_int(&n, 0, t->limit);
        ir_id keep = t->keep == 1   ? IR_NONE
                     : t->keep == 0 ? net_bool(&n, 0, false)
                                    : net_input(&n, 0, "again", IR_BOOL, SCALAR);
        body b = product_body(&n, 0, w, keep);
        ir_id y = add_loop(&n, 0, m, net_bool(&n, 0, true), h, b.g, 2);
        net_outputs(&n, 0, IDS(y, y + 1));
        net_infer(&n);
        assert_int_equal(n.r->times[b.g], t->trips);
        net_is(&n, y, IR_FLOAT32, DIMS(2, 4));
        net_is(&n, y + 1, IR_FLOAT32, DIMS(t->trips, 2, 4));
        assert_int_equal(net_assumed(&n, y), t->assumed);
        assert_int_equal(n.r->items.n, t->assumed);
        net_close(&n);
    }
}

static void loop_with_false_condition_does_not_run(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id w = net_weight(&n, 0, DIMS(4, 4));
    ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(2, 4));
    body b = product_body(&n, 0, w, IR_NONE);
    ir_id y = add_loop(&n, 0, net_int(&n, 0, 9), net_bool(&n, 0, false), h, b.g, 2);
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer(&n);
    assert_int_equal(n.r->times[b.g], 0);
    net_is(&n, y + 1, IR_FLOAT32, DIMS(0, 2, 4));
    net_close(&n);
}

static void loop_with_unknown_initial_condition_is_assumed(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id w = net_weight(&n, 0, DIMS(4, 4));
    ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(2, 4));
    ir_id cond = net_input(&n, 0, "c", IR_BOOL, SCALAR);
    body b = product_body(&n, 0, w, IR_NONE);
    ir_id y = add_loop(&n, 0, net_int(&n, 0, 3), cond, h, b.g, 2);
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer(&n);
    assert_int_equal(n.r->times[b.g], 3);
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

static void loops_in_loops_multiply(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id w = net_weight(&n, 0, DIMS(4, 4));
    ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(2, 4));
    ir_id outer = net_graph(&n, 0);
    net_formal(&n, outer, "i");
    ir_id c = net_formal(&n, outer, "c"), carried = net_formal(&n, outer, "h");
    body inner = product_body(&n, outer, w, IR_NONE);
    ir_id deep = add_loop(&n, outer, net_int(&n, 0, 4), net_bool(&n, 0, true), carried, inner.g, 2);
    net_outputs(&n, outer, IDS(c, deep));
    ir_id y = add_loop(&n, 0, net_int(&n, 0, 3), net_bool(&n, 0, true), h, outer, 1);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    assert_int_equal(n.r->times[outer], 3);
    assert_int_equal(n.r->times[inner.g], 12);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 4));
    assert_int_equal(n.r->items.n, 0);
    net_close(&n);
}

/* Contents flow through a single trip and through no trip, not through more. */
static void loop_follows_contents_of_one_trip_only(void **state)
{
    (void)state;
    for (int64_t trips = 0; trips <= 2; trips++) {
        net n = net_open(13);
        ir_id g = net_graph(&n, 0);
        ir_id i = net_formal(&n, g, "i"), c = net_formal(&n, g, "c"), k = net_formal(&n, g, "k");
        ir_id next = net_op(&n, g, "Add", IDS(k, i), NO_ATTRS);
        net_outputs(&n, g, IDS(c, next));
        ir_id y = add_loop(&n, 0, net_int(&n, 0, trips), net_bool(&n, 0, true), net_int(&n, 0, 40),
                           g, 1);
        net_outputs(&n, 0, IDS(y));
        net_infer(&n);
        net_is(&n, y, IR_INT64, SCALAR);
        if (trips < 2)
            net_holds(&n, y, 40);
        else
            assert_null(n.r->info[y].val);
        net_close(&n);
    }
}

/* carried [1,3] -> Concat with X [2,3] each trip. */
static void loop_follows_linear_growth(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(1, 3));
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id g = net_graph(&n, 0);
    net_formal(&n, g, "i");
    ir_id c = net_formal(&n, g, "c"), k = net_formal(&n, g, "k");
    ir_id next = net_op(&n, g, "Concat", IDS(k, x), ATTRS(at_int("axis", 0)));
    net_outputs(&n, g, IDS(c, next));
    ir_id y = add_loop(&n, 0, net_int(&n, 0, 10), net_bool(&n, 0, true), h, g, 1);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(21, 3));
    net_is(&n, next, IR_FLOAT32, DIMS(21, 3)); /* the last trip */
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

/* carried [1] -> Concat(carried, carried): doubles, which is not linear. */
static void loop_does_not_guess_other_growth(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(1, 3));
    ir_id g = net_graph(&n, 0);
    net_formal(&n, g, "i");
    ir_id c = net_formal(&n, g, "c"), k = net_formal(&n, g, "k");
    ir_id next = net_op(&n, g, "Concat", IDS(k, k), ATTRS(at_int("axis", 0)));
    net_outputs(&n, g, IDS(c, next));
    ir_id y = add_loop(&n, 0, net_int(&n, 0, 10), net_bool(&n, 0, true), h, g, 1);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(-1, 3));
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

/* The rank grows with every trip. */
static void loop_with_changing_rank_is_unknown(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(2, 3));
    ir_id axes = net_ints(&n, 0, IR_INT64, DIMS(1), (const int64_t[]){0});
    ir_id g = net_graph(&n, 0);
    net_formal(&n, g, "i");
    ir_id c = net_formal(&n, g, "c"), k = net_formal(&n, g, "k");
    ir_id next = net_op(&n, g, "Unsqueeze", IDS(k, axes), NO_ATTRS);
    net_outputs(&n, g, IDS(c, next));
    ir_id y = add_loop(&n, 0, net_int(&n, 0, 10), net_bool(&n, 0, true), h, g, 1);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, -1, NULL);
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

static void loop_collects_a_sequence(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id empty = net_op(&n, 0, "SequenceEmpty", NO_IDS, NO_ATTRS);
    ir_id g = net_graph(&n, 0);
    net_formal(&n, g, "i");
    ir_id c = net_formal(&n, g, "c"), s = net_formal(&n, g, "s");
    net_outputs(&n, g, IDS(c, net_op(&n, g, "SequenceInsert", IDS(s, x), NO_ATTRS)));
    ir_id all = add_loop(&n, 0, net_int(&n, 0, 6), net_bool(&n, 0, true), empty, g, 1);
    ir_id y = net_op(&n, 0, "ConcatFromSequence", IDS(all), ATTRS(at_int("axis", 0)));
    ir_id length = net_op(&n, 0, "SequenceLength", IDS(all), NO_ATTRS);
    net_outputs(&n, 0, IDS(y, length));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(12, 3));
    net_holds(&n, length, 6);
    net_close(&n);
}

static void loop_with_wrong_body_is_refused(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id h = net_input(&n, 0, "h", IR_FLOAT32, DIMS(2, 3));
    ir_id g = net_graph(&n, 0);
    ir_id i = net_formal(&n, g, "i");
    net_outputs(&n, g, IDS(i));
    net_outputs(&n, 0, IDS(add_loop(&n, 0, net_int(&n, 0, 2), IR_NONE, h, g, 1)));
    net_infer_fails(&n, "body");
    net_close(&n);
}

/* Loops nested deeper than a file can need, each with a growing value: must end soon. */
static void deep_loops_end(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3));
    ir_id graphs[40] = {0}, conds[40] = {0}, carried[40] = {0};
    carried[0] = x;
    for (int d = 1; d < 40; d++) {
        graphs[d] = net_graph(&n, graphs[d - 1]);
        net_formal(&n, graphs[d], "i");
        conds[d] = net_formal(&n, graphs[d], "c");
        carried[d] = net_formal(&n, graphs[d], "h");
    }
    ir_id inner = net_op(&n, graphs[39], "Concat", IDS(carried[39], x), ATTRS(at_int("axis", 0)));
    for (int d = 39; d >= 1; d--) {
        net_outputs(&n, graphs[d], IDS(conds[d], inner));
        inner = add_loop(&n, graphs[d - 1], net_int(&n, 0, 3), net_bool(&n, 0, true),
                         carried[d - 1], graphs[d], 1);
    }
    net_outputs(&n, 0, IDS(inner));
    net_infer(&n);
    assert_true(net_assumed(&n, inner));
    net_close(&n);
}

/* ---- Scan ---- */

/* body(state, slice) -> state, slice */
static ir_id pass_body(net *n)
{
    ir_id g = net_graph(n, 0);
    ir_id s = net_formal(n, g, "s"), x = net_formal(n, g, "x");
    net_outputs(n, g, IDS(s, x));
    return g;
}

static void scan_9_slices_along_its_axes(void **state)
{
    (void)state;
    net n = net_open(9);
    ir_id s = net_input(&n, 0, "s", IR_FLOAT32, DIMS(4));
    ir_id x = net_input(&n, 0, "x", IR_INT32, DIMS(3, 7, 5));
    ir_id g = pass_body(&n);
    static const int64_t in_axes[] = {1}, out_axes[] = {-1}, directions[] = {1};
    ir_id y = net_ops(&n, 0, "Scan", IDS(s, x),
                      ATTRS(at_graph("body", g), at_int("num_scan_inputs", 1),
                            at_ints("scan_input_axes", 1, in_axes),
                            at_ints("scan_output_axes", 1, out_axes),
                            at_ints("scan_input_directions", 1, directions)),
                      2);
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer(&n);
    assert_int_equal(n.r->times[g], 7);
    net_is(&n, y, IR_FLOAT32, DIMS(4));
    net_is(&n, y + 1, IR_INT32, DIMS(3, 5, 7));
    assert_int_equal(n.r->items.n, 0);
    net_close(&n);
}

static ir_id scan_8(net *n, ir_id lens, ir_id *g)
{
    ir_id s = net_input(n, 0, "s", IR_FLOAT32, DIMS(2, 4));
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(2, 5, 3));
    *g = pass_body(n);
    ir_id y = net_ops(n, 0, "Scan", IDS(lens, s, x),
                      ATTRS(at_graph("body", *g), at_int("num_scan_inputs", 1)), 2);
    net_outputs(n, 0, IDS(y, y + 1));
    net_infer(n);
    net_is(n, y, IR_FLOAT32, DIMS(2, 4));
    net_is(n, y + 1, IR_FLOAT32, DIMS(2, 5, 3));
    return y;
}

static void scan_8_runs_per_batch_and_step(void **state)
{
    (void)state;
    ir_id g;
    net n = net_open(8);
    ir_id y = scan_8(&n, IR_NONE, &g);
    assert_int_equal(n.r->times[g], 10);
    assert_false(net_assumed(&n, y));
    net_close(&n);
    n = net_open(8);
    scan_8(&n, net_ints(&n, 0, IR_INT64, DIMS(2), (const int64_t[]){5, 3}), &g);
    assert_int_equal(n.r->times[g], 8);
    net_close(&n);
    n = net_open(8);
    y = scan_8(&n, net_input(&n, 0, "lens", IR_INT64, DIMS(2)), &g);
    assert_int_equal(n.r->times[g], 10);
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

static void scan_refuses_sequences_of_different_length(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id a = net_input(&n, 0, "a", IR_FLOAT32, DIMS(7, 3));
    ir_id b = net_input(&n, 0, "b", IR_FLOAT32, DIMS(6, 3));
    ir_id g = pass_body(&n);
    ir_id y = net_ops(&n, 0, "Scan", IDS(a, b),
                      ATTRS(at_graph("body", g), at_int("num_scan_inputs", 2)), 2);
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer_fails(&n, "length");
    net_close(&n);
}

static void scan_refuses_state_that_changes_shape(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id s = net_input(&n, 0, "s", IR_FLOAT32, DIMS(2, 4));
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(7, 3));
    ir_id w = net_weight(&n, 0, DIMS(4, 5));
    ir_id g = net_graph(&n, 0);
    ir_id in = net_formal(&n, g, "s");
    ir_id slice = net_formal(&n, g, "x");
    net_outputs(&n, g, IDS(net_op(&n, g, "MatMul", IDS(in, w), NO_ATTRS), slice));
    ir_id y = net_ops(&n, 0, "Scan", IDS(s, x),
                      ATTRS(at_graph("body", g), at_int("num_scan_inputs", 1)), 2);
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer_fails(&n, "state");
    net_close(&n);
}

/* ---- SequenceMap ---- */

static void sequence_map_runs_once_per_item(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 4));
    ir_id seq = net_op(&n, 0, "SequenceConstruct", IDS(x, x, x), NO_ATTRS);
    ir_id w = net_weight(&n, 0, DIMS(4, 9));
    ir_id g = net_graph(&n, 0);
    ir_id item = net_formal(&n, g, "item"), by = net_formal(&n, g, "w");
    net_outputs(&n, g, IDS(net_op(&n, g, "MatMul", IDS(item, by), NO_ATTRS)));
    ir_id out = net_op(&n, 0, "SequenceMap", IDS(seq, w), ATTRS(at_graph("body", g)));
    ir_id y = net_op(&n, 0, "SequenceAt", IDS(out, net_int(&n, 0, 1)), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    assert_int_equal(n.r->times[g], 3);
    assert_int_equal(n.r->info[out].length, 3);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 9));
    net_close(&n);
}

int run_test_ops_control(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_with_known_condition_is_its_branch),
        cmocka_unit_test(if_with_unknown_condition_is_its_costlier_branch),
        cmocka_unit_test(if_cannot_take_a_branch_that_contradicts),
        cmocka_unit_test(if_fails_when_both_branches_contradict),
        cmocka_unit_test(if_keeps_content_that_both_branches_agree_on),
        cmocka_unit_test(nested_ifs_see_outer_values),
        cmocka_unit_test(graph_inside_a_dead_branch_never_runs),
        cmocka_unit_test(loop_counts_trips),
        cmocka_unit_test(loop_with_false_condition_does_not_run),
        cmocka_unit_test(loop_with_unknown_initial_condition_is_assumed),
        cmocka_unit_test(loops_in_loops_multiply),
        cmocka_unit_test(loop_follows_contents_of_one_trip_only),
        cmocka_unit_test(loop_follows_linear_growth),
        cmocka_unit_test(loop_does_not_guess_other_growth),
        cmocka_unit_test(loop_with_changing_rank_is_unknown),
        cmocka_unit_test(loop_collects_a_sequence),
        cmocka_unit_test(loop_with_wrong_body_is_refused),
        cmocka_unit_test(deep_loops_end),
        cmocka_unit_test(scan_9_slices_along_its_axes),
        cmocka_unit_test(scan_8_runs_per_batch_and_step),
        cmocka_unit_test(scan_refuses_sequences_of_different_length),
        cmocka_unit_test(scan_refuses_state_that_changes_shape),
        cmocka_unit_test(sequence_map_runs_once_per_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
