/* Shapes of a whole model: sizes that a file leaves open, what it declares against what the rules find, and how
 * sure the result is said to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/count.h"
#include "support/net.h"

/* ---- sizes that a file leaves open ---- */

/* Attention over a past: [1,2,sequence,4] queries and keys, [1,2,past,4] before them. */
typedef struct attention {
    net n;
    ir_id q, past, keys, scores;
} attention;

static attention open_attention(void)
{
    attention a = {.n = net_open(13)};
    net *n = &a.n;
    a.q = net_input(n, 0, "query", IR_FLOAT32, DIMS(1, 2, -1, 4));
    net_call(n, a.q, 2, "sequence");
    a.past = net_input(n, 0, "past_0", IR_FLOAT32, DIMS(1, 2, -1, 4));
    net_call(n, a.past, 2, "past");
    a.keys = net_op(n, 0, "Concat", IDS(a.past, a.q), ATTRS(at_int("axis", 2)));
    ir_id turned = net_op(n, 0, "Transpose", IDS(a.keys), ATTRS(at_ints("perm", DIMS(0, 1, 3, 2))));
    a.scores = net_op(n, 0, "MatMul", IDS(a.q, turned), NO_ATTRS);
    return a;
}

static void a_mask_gets_the_sum_of_what_it_covers(void **state)
{
    (void)state;
    attention a = open_attention();
    ir_id mask = net_input(&a.n, 0, "bias", IR_FLOAT32, DIMS(1, 1, 1, -1));
    net_call(&a.n, mask, 3, "total_sequence");
    ir_id y = net_op(&a.n, 0, "Add", IDS(a.scores, mask), NO_ATTRS);
    net_outputs(&a.n, 0, IDS(y));
    net_infer(&a.n);
    net_is(&a.n, a.q, IR_FLOAT32, DIMS(1, 2, 128, 4)); /* as usual */
    net_is(&a.n, a.past, IR_FLOAT32, DIMS(1, 2, 128, 4));
    net_is(&a.n, mask, IR_FLOAT32, DIMS(1, 1, 1, 256));
    net_is(&a.n, y, IR_FLOAT32, DIMS(1, 2, 128, 256));
    assert_true(a.n.r->assumed_inputs);
    assert_true(a.n.r->info[mask].defaulted);
    assert_int_equal(a.n.r->notes.list.n, 3); /* one for each open dimension */
    net_close(&a.n);
}

static ir_id length_of(net *n, ir_id value)
{
    ir_id shape = net_op(n, 0, "Shape", IDS(value), NO_ATTRS);
    ir_id at = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){2});
    return net_op(n, 0, "Gather", IDS(shape, at), NO_ATTRS);
}

/* The causal table of 8 x 8 is cut to the rows of the new tokens: past and sequence share its 8. */
static void a_table_bounds_past_and_sequence_together(void **state)
{
    (void)state;
    attention a = open_attention();
    net *n = &a.n;
    ir_id table = net_weight(n, 0, DIMS(1, 1, 8, 8));
    ir_id rows = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){2});
    ir_id columns = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){3});
    ir_id zero = net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){0});
    ir_id past = length_of(n, a.past), all = length_of(n, a.keys);
    ir_id cut = net_op(n, 0, "Slice", IDS(table, past, all, rows), NO_ATTRS);
    cut = net_op(n, 0, "Slice", IDS(cut, zero, all, columns), NO_ATTRS);
    ir_id y = net_op(n, 0, "Mul", IDS(a.scores, cut), NO_ATTRS);
    ir_id mask = net_input(n, 0, "bias", IR_FLOAT32, DIMS(1, 1, 1, -1));
    net_call(n, mask, 3, "total_sequence");
    y = net_op(n, 0, "Add", IDS(y, mask), NO_ATTRS);
    net_outputs(n, 0, IDS(y));
    net_infer(n);
    net_is(n, y, IR_FLOAT32, DIMS(1, 2, 4, 8));
    net_is(n, a.past, IR_FLOAT32, DIMS(1, 2, 4, 4));
    net_is(n, mask, IR_FLOAT32, DIMS(1, 1, 1, 8));
    net_close(n);
}

static void sizes_that_were_given_stay(void **state)
{
    (void)state;
    attention a = open_attention();
    ir_id mask = net_input(&a.n, 0, "bias", IR_FLOAT32, DIMS(1, 1, 1, -1));
    net_call(&a.n, mask, 3, "total_sequence");
    ir_id y = net_op(&a.n, 0, "Add", IDS(a.scores, mask), NO_ATTRS);
    net_outputs(&a.n, 0, IDS(y));
    const infer_dim dims[] = {{.symbol = STR("total_sequence"), .value = 40},
                              {.symbol = STR("sequence"), .value = 8}};
    const infer_options opt = {.dims = dims, .n_dims = 2};
    assert_int_equal(infer_run(a.n.m, &opt, a.n.scratch, &a.n.r, &a.n.err), ASSAY_OK);
    net_is(&a.n, a.past, IR_FLOAT32, DIMS(1, 2, 32, 4));
    assert_true(a.n.r->info[y].defaulted);
    assert_true(a.n.r->info[a.past].defaulted);
    assert_false(a.n.r->info[mask].defaulted);
    net_close(&a.n);
}

/* The weight is an input of the graph as well: nothing but the contradiction tells the width. */
static void a_width_follows_from_what_it_is_multiplied_with(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(-1, -1));
    ir_id w = net_input(&n, 0, "w", IR_FLOAT32, DIMS(500, 784));
    ir_id y = net_op(&n, 0, "Gemm", IDS(x, w), ATTRS(at_int("transB", 1)));
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, x, IR_FLOAT32, DIMS(1, 784));
    net_is(&n, y, IR_FLOAT32, DIMS(1, 500));
    net_close(&n);
}

static void an_integer_that_an_operator_reads_bounds_a_size(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(-1));
    ir_id k = net_ints(&n, 0, IR_INT64, DIMS(1), (const int64_t[]){300});
    ir_id y = net_ops(&n, 0, "TopK", IDS(x, k), ATTRS(at_int("axis", 0)), 2);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, x, IR_FLOAT32, DIMS(300));
    net_close(&n);
}

static void what_no_size_mends_still_fails(void **state)
{
    (void)state;
    attention a = open_attention();
    ir_id p = net_weight(&a.n, 0, DIMS(3)), q = net_weight(&a.n, 0, DIMS(5));
    ir_id y = net_op(&a.n, 0, "Add", IDS(p, q), NO_ATTRS);
    net_outputs(&a.n, 0, IDS(y, a.scores));
    net_infer_fails(&a.n, "[3] and [5]");
    net_close(&a.n);
}

/* ---- what the file declares ---- */

/* A Loop of `trips` (a constant, or an input when negative) with one scan output of [6] rows. */
static ir_id add_loop(net *n, int64_t trips, int counter_rank, ir_id *counter)
{
    static const int64_t one = 1;
    ir_id init = net_input(n, 0, "init", IR_FLOAT32, DIMS(6));
    ir_id limit = trips < 0 ? net_input(n, 0, "m", IR_INT64, SCALAR) : net_int(n, 0, trips);
    ir_id go = net_bool(n, 0, true), body = net_graph(n, 0);
    *counter = net_input(n, body, "i", IR_INT64, counter_rank, &one);
    ir_id cond = net_input(n, body, "c", IR_BOOL, counter_rank, &one);
    ir_id acc = net_formal(n, body, "acc");
    ir_id again = net_op(n, body, "Identity", IDS(cond), NO_ATTRS);
    ir_id next = net_op(n, body, "Relu", IDS(acc), NO_ATTRS);
    ir_id row = net_op(n, body, "Identity", IDS(next), NO_ATTRS);
    if (counter_rank) {
        ir_id axes = net_ints(n, body, IR_INT64, DIMS(1), (const int64_t[]){0});
        net_op(n, body, "Squeeze", IDS(*counter, axes), NO_ATTRS);
    }
    net_outputs(n, body, IDS(again, next, row));
    return net_ops(n, 0, "Loop", IDS(limit, go, init), ATTRS(at_graph("body", body)), 2);
}

static void a_loop_counter_may_have_one_element(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id counter, y = add_loop(&n, 3, 1, &counter);
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer(&n);
    net_is(&n, counter, IR_INT64, DIMS(1));
    net_is(&n, counter + 1, IR_BOOL, DIMS(1));
    net_is(&n, y + 1, IR_FLOAT32, DIMS(3, 6));
    assert_false(net_assumed(&n, y + 1));
    net_close(&n);
}

static void declared_rows_of_a_scan_output_are_the_trips(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id counter, y = add_loop(&n, -1, 0, &counter);
    net_declare(&n, y + 1, IR_FLOAT32, DIMS(5, 6));
    net_outputs(&n, 0, IDS(y, y + 1));
    net_infer(&n);
    net_is(&n, counter, IR_INT64, SCALAR);
    net_is(&n, y + 1, IR_FLOAT32, DIMS(5, 6));
    assert_true(net_assumed(&n, y + 1));
    assert_int_equal(n.r->times[1], 5);
    net_close(&n);
}

static void a_declared_shape_wins_over_one_that_was_assumed(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(4, 3));
    ir_id y = net_op(&n, 0, "NonZero", IDS(x), NO_ATTRS); /* at most [2,12] */
    ir_id z = net_op(&n, 0, "Relu", IDS(x), NO_ATTRS);
    net_declare(&n, y, IR_INT64, DIMS(2, 20));
    net_declare(&n, z, IR_FLOAT32, DIMS(4, 9));
    net_outputs(&n, 0, IDS(y, z));
    net_infer(&n);
    net_is(&n, y, IR_INT64, DIMS(2, 20));
    assert_true(net_assumed(&n, y));
    net_is(&n, z, IR_FLOAT32, DIMS(4, 3));
    net_close(&n);
}

/* The target shape is data; the declared output has other elements than the input. */
static void a_view_must_keep_its_elements(void **state)
{
    static const struct {
        const char *op;
        int64_t declared[2];
        int64_t answer[2]; /* 0: a contradiction */
    } cases[] = {
        {"Reshape", {4, 1}, {0}},        {"Reshape", {2, 3}, {2, 3}},  {"Reshape", {-1, 4}, {0}},
        {"Reshape", {-1, 2}, {3, 2}},    {"Reshape", {6, -1}, {6, 1}}, {"Reshape", {0, -1}, {0}},
        {"Reshape", {-1, -1}, {-1, -1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net n = net_open(17);
        ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(3, 2));
        ir_id s = net_input(&n, 0, "s", IR_INT64, DIMS(2));
        ir_id y = net_op(&n, 0, cases[i].op, IDS(x, s), NO_ATTRS);
        net_declare(&n, y, IR_FLOAT32, 2, cases[i].declared);
        net_outputs(&n, 0, IDS(y));
        if (cases[i].answer[0]) {
            net_infer(&n);
            net_is(&n, y, IR_FLOAT32, 2, cases[i].answer);
        } else {
            net_infer_fails(&n, "[3,2]");
        }
        net_close(&n);
    }
}

static void a_sequence_has_the_type_of_its_elements(void **state)
{
    (void)state;
    net n = net_open(16);
    ir_type tensor = ir_tensor_type(n.m, IR_INT32, DIMS(2, 3));
    ir_type sequence = {.kind = IR_KIND_SEQUENCE, .rank = -1, .elem = &tensor};
    ir_id x = net_formal(&n, 0, "x"), o = net_formal(&n, 0, "o");
    ir_value_at(n.m, x)->declared = sequence;
    ir_value_at(n.m, o)->declared = (ir_type){
        .kind = IR_KIND_OPTIONAL, .rank = -1, .elem = &sequence};
    ir_id y = net_op(&n, 0, "OptionalGetElement", IDS(o), NO_ATTRS);
    ir_id z = net_op(&n, 0, "my.domain:Mystery", IDS(x), NO_ATTRS);
    ir_value_at(n.m, z)->declared = sequence;
    net_outputs(&n, 0, IDS(y, z));
    net_infer(&n);
    for (size_t i = 0; i < 4; i++) {
        const op_info *v = &n.r->info[(ir_id[]){x, o, y, z}[i]];
        assert_int_equal(v->kind, i == 1 ? IR_KIND_OPTIONAL : IR_KIND_SEQUENCE);
        assert_int_equal(v->dtype, IR_INT32);
    }
    net_close(&n);
}

static void layer_norm_before_opset_17_has_the_type_of_its_scale(void **state)
{
    static const struct {
        int version;
        const char *op;
        ir_dtype answer;
    } cases[] = {{16, "LayerNormalization", IR_FLOAT32},
                 {11, "LayerNormalization", IR_FLOAT32},
                 {17, "LayerNormalization", IR_FLOAT16},
                 {1, "com.microsoft:LayerNormalization", IR_FLOAT32},
                 {12, "SimplifiedLayerNormalization", IR_FLOAT32}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net n = net_open(cases[i].version);
        ir_id x = net_input(&n, 0, "x", IR_FLOAT16, DIMS(2, 4));
        ir_id scale = net_weight(&n, 0, DIMS(4));
        ir_id y = net_op(&n, 0, cases[i].op, IDS(x, scale), NO_ATTRS);
        net_outputs(&n, 0, IDS(y));
        net_infer(&n);
        net_is(&n, y, cases[i].answer, DIMS(2, 4));
        net_close(&n);
    }
}

/* ---- how sure it is ---- */

static profile *counted_net(net *n)
{
    const count_options opt = {.verbose = true};
    profile *p = profile_new((size_t)16 << 20);
    counted of;
    net_infer(n);
    assert_int_equal(count_run(n->r, &opt, p, &of, &n->err), ASSAY_OK);
    return p;
}

static const char *certainty_of(const profile *p, const net *n, ir_id value)
{
    for (uint32_t i = 0; i < p->n_values; i++)
        if (str_eq(p->values[i].name, ir_value_at(n->m, value)->name))
            return p->values[i].certainty;
    return "absent";
}

static void values_use_the_words_of_the_accounting(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(-1, 3));
    ir_id given = net_input(&n, 0, "given", IR_FLOAT32, DIMS(4, 3));
    ir_id s = net_input(&n, 0, "s", IR_INT64, DIMS(2));
    ir_id open = net_op(&n, 0, "Reshape", IDS(given, s), NO_ATTRS);
    ir_id known = net_op(&n, 0, "Relu", IDS(given), NO_ATTRS);
    ir_id follows = net_op(&n, 0, "Relu", IDS(x), NO_ATTRS);
    ir_id some = net_op(&n, 0, "NonZero", IDS(given), NO_ATTRS);
    ir_id odd = net_op(&n, 0, "my.domain:Mystery", IDS(x), NO_ATTRS);
    net_outputs(&n, 0, IDS(open, known, some, odd, follows));
    profile *p = counted_net(&n);
    assert_string_equal(certainty_of(p, &n, x), "assumed");
    assert_string_equal(certainty_of(p, &n, follows), "assumed");
    assert_string_equal(certainty_of(p, &n, given), "exact");
    assert_string_equal(certainty_of(p, &n, known), "exact");
    assert_string_equal(certainty_of(p, &n, open), "unknown");
    assert_string_equal(certainty_of(p, &n, some), "assumed");
    assert_string_equal(certainty_of(p, &n, odd), "unknown");
    assert_int_equal(p->accounting.exact, 2); /* for the sizes of the inputs */
    assert_int_equal(p->accounting.assumed, 1);
    assert_int_equal(p->accounting.unknown,
                     2); /* the Reshape moves nothing, but its output is open */
    profile_free(p);
    net_close(&n);
}

/* Operators that ask for no shape do not hide that one is missing. */
static void a_tensor_of_unknown_sizes_is_not_exact(void **state)
{
    static const char *const ops[] = {"Identity", "Shape", "Flatten"};
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        net n = net_open(17);
        ir_id x = net_input(&n, 0, "x", IR_FLOAT32, -1, NULL);
        ir_id y = net_op(&n, 0, ops[i], IDS(x), NO_ATTRS);
        net_outputs(&n, 0, IDS(y));
        profile *p = counted_net(&n);
        assert_int_equal(p->accounting.unknown, 1);
        assert_true(p->anything_assumed);
        profile_free(p);
        net_close(&n);
    }
}

static void an_input_that_nobody_reads_counts_too(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, -1, NULL);
    net_outputs(&n, 0, IDS(x));
    profile *p = counted_net(&n);
    assert_true(p->anything_assumed);
    profile_free(p);
    net_close(&n);
}

/* The weight of the convolution, seen through a Transpose, tells rank and channels of the input before a sum. */
static void a_missing_rank_follows_from_the_readers(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, -1, NULL);
    ir_id mean = net_weight(&n, 0, DIMS(1));
    ir_id weight = net_weight(&n, 0, DIMS(3, 3, 5, 4));
    weight = net_op(&n, 0, "Transpose", IDS(weight), ATTRS(at_ints("perm", DIMS(3, 2, 0, 1))));
    ir_id y = net_op(&n, 0, "Sub", IDS(x, mean), NO_ATTRS);
    y = net_op(&n, 0, "Relu", IDS(y), NO_ATTRS);
    y = net_op(&n, 0, "Conv", IDS(y, weight), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    net_is(&n, x, IR_FLOAT32, DIMS(1, 5, 224, 224));
    assert_true(n.r->assumed_inputs);
    net_close(&n);
}

/* The end of a Slice is a list: what becomes its one number is a scalar. */
static void a_number_of_a_list_is_a_scalar(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(8, 4));
    ir_id length = net_input(&n, 0, "length", IR_INT64, -1, NULL);
    ir_id flag = net_input(&n, 0, "flag", IR_BOOL, -1, NULL);
    ir_id zero = net_ints(&n, 0, IR_INT64, DIMS(1), (const int64_t[]){0});
    ir_id one = net_ints(&n, 0, IR_INT64, 0, NULL, (const int64_t[]){1});
    ir_id end = net_op(&n, 0, "Add", IDS(length, one), NO_ATTRS);
    end = net_op(&n, 0, "Unsqueeze", IDS(end, zero), NO_ATTRS);
    ir_id y = net_op(&n, 0, "Slice", IDS(x, zero, end), NO_ATTRS);
    net_outputs(&n, 0, IDS(y, flag));
    net_infer(&n);
    net_is(&n, length, IR_INT64, 0, NULL);
    net_is(&n, flag, IR_BOOL, 0, NULL);
    assert_int_equal(n.r->notes.list.n, 2); /* assumed-rank of both */
    net_close(&n);
}

/* An image that its first reader needs, of a size that a later one cannot take: nothing is known of it. */
static void a_rank_that_no_size_fits_stays_open(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, -1, NULL);
    ir_id shape = net_ints(&n, 0, IR_INT64, DIMS(2), (const int64_t[]){1, -1});
    ir_id y = net_op(&n, 0, "Conv", IDS(x, net_weight(&n, 0, DIMS(5, 3, 1, 1))), NO_ATTRS);
    y = net_op(&n, 0, "Reshape", IDS(y, shape), NO_ATTRS);
    y = net_op(&n, 0, "MatMul", IDS(y, net_weight(&n, 0, DIMS(31, 4))), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    net_infer(&n);
    assert_int_equal(n.r->info[x].rank, -1);
    net_close(&n);
}

int run_test_infer(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mask_gets_the_sum_of_what_it_covers),
        cmocka_unit_test(a_table_bounds_past_and_sequence_together),
        cmocka_unit_test(sizes_that_were_given_stay),
        cmocka_unit_test(a_width_follows_from_what_it_is_multiplied_with),
        cmocka_unit_test(an_integer_that_an_operator_reads_bounds_a_size),
        cmocka_unit_test(what_no_size_mends_still_fails),
        cmocka_unit_test(a_rank_that_no_size_fits_stays_open),
        cmocka_unit_test(a_loop_counter_may_have_one_element),
        cmocka_unit_test(declared_rows_of_a_scan_output_are_the_trips),
        cmocka_unit_test(a_declared_shape_wins_over_one_that_was_assumed),
        cmocka_unit_test(a_view_must_keep_its_elements),
        cmocka_unit_test(a_sequence_has_the_type_of_its_elements),
        cmocka_unit_test(layer_norm_before_opset_17_has_the_type_of_its_scale),
        cmocka_unit_test(values_use_the_words_of_the_accounting),
        cmocka_unit_test(a_tensor_of_unknown_sizes_is_not_exact),
        cmocka_unit_test(an_input_that_nobody_reads_counts_too),
        cmocka_unit_test(a_missing_rank_follows_from_the_readers),
        cmocka_unit_test(a_number_of_a_list_is_a_scalar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
