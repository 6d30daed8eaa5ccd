/* Sequences, optionals and strings: items followed one by one, lengths, joined sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/net.h"

static ir_id at(net *n, ir_id seq, int64_t place)
{
    return net_op(n, 0, "SequenceAt", IDS(seq, net_int(n, 0, place)), NO_ATTRS);
}

static ir_id length_of(net *n, ir_id seq)
{
    return net_op(n, 0, "SequenceLength", IDS(seq), NO_ATTRS);
}

/* [2,3], [2,4], [2,5] */
static ir_id three(net *n)
{
    ir_id a = net_input(n, 0, "a", IR_FLOAT32, DIMS(2, 3));
    ir_id b = net_input(n, 0, "b", IR_FLOAT32, DIMS(2, 4));
    ir_id c = net_input(n, 0, "c", IR_FLOAT32, DIMS(2, 5));
    return net_op(n, 0, "SequenceConstruct", IDS(a, b, c), NO_ATTRS);
}

static void construct_knows_each_item(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id seq = three(&n), first = at(&n, seq, 0), last = at(&n, seq, -1), len = length_of(&n, seq);
    ir_id where = net_input(&n, 0, "where", IR_INT64, SCALAR);
    ir_id any = net_op(&n, 0, "SequenceAt", IDS(seq, where), NO_ATTRS);
    net_infer(&n);
    net_is(&n, first, IR_FLOAT32, DIMS(2, 3));
    net_is(&n, last, IR_FLOAT32, DIMS(2, 5));
    net_is(&n, any, IR_FLOAT32, DIMS(2, -1));
    net_holds(&n, len, 3);
    net_close(&n);
}

static void position_outside_is_refused(void **state)
{
    (void)state;
    net n = net_open(17);
    at(&n, three(&n), 3);
    net_infer_fails(&n, "position 3");
    net_close(&n);
}

static void insert_and_erase_shift_items(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id seq = three(&n), x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(9));
    ir_id back = net_op(&n, 0, "SequenceInsert", IDS(seq, x), NO_ATTRS);
    ir_id front = net_op(&n, 0, "SequenceInsert", IDS(seq, x, net_int(&n, 0, 0)), NO_ATTRS);
    ir_id before_last = net_op(&n, 0, "SequenceInsert", IDS(seq, x, net_int(&n, 0, -1)), NO_ATTRS);
    ir_id shorter = net_op(&n, 0, "SequenceErase", IDS(front, net_int(&n, 0, 1)), NO_ATTRS);
    ir_id popped = net_op(&n, 0, "SequenceErase", IDS(back), NO_ATTRS);
    ir_id where = net_input(&n, 0, "where", IR_INT64, SCALAR);
    ir_id blind = net_op(&n, 0, "SequenceErase", IDS(seq, where), NO_ATTRS);
    ir_id y[] = {at(&n, back, 3), at(&n, front, 0), at(&n, before_last, 2), at(&n, shorter, 1),
                 at(&n, popped, 2)};
    ir_id len = length_of(&n, blind);
    net_infer(&n);
    net_is(&n, y[0], IR_FLOAT32, DIMS(9));
    net_is(&n, y[1], IR_FLOAT32, DIMS(9));
    net_is(&n, y[2], IR_FLOAT32, DIMS(9));
    net_is(&n, y[3], IR_FLOAT32, DIMS(2, 4));
    net_is(&n, y[4], IR_FLOAT32, DIMS(2, 5));
    net_holds(&n, len, 2);
    net_close(&n);
}

static void split_has_a_shorter_last_part(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(7, 3));
    ir_id by3 = net_op(&n, 0, "SplitToSequence", IDS(x, net_int(&n, 0, 3)), NO_ATTRS);
    ir_id rows = net_op(&n, 0, "SplitToSequence", IDS(x), ATTRS(at_int("keepdims", 0)));
    ir_id list = net_ints(&n, 0, IR_INT64, DIMS(2), (const int64_t[]){1, 2});
    ir_id parts = net_op(&n, 0, "SplitToSequence", IDS(x, list), ATTRS(at_int("axis", -1)));
    ir_id y[] = {at(&n, by3, 0), at(&n, by3, 2), at(&n, rows, 6), at(&n, parts, 1)};
    ir_id len[] = {length_of(&n, by3), length_of(&n, rows), length_of(&n, parts)};
    net_infer(&n);
    net_is(&n, y[0], IR_FLOAT32, DIMS(3, 3));
    net_is(&n, y[1], IR_FLOAT32, DIMS(1, 3));
    net_is(&n, y[2], IR_FLOAT32, DIMS(3));
    net_is(&n, y[3], IR_FLOAT32, DIMS(7, 2));
    net_holds(&n, len[0], 3);
    net_holds(&n, len[1], 7);
    net_holds(&n, len[2], 2);
    net_close(&n);
}

/* More parts than are followed one by one: what all share is still right. */
static void split_into_many_parts(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(100000, 3));
    ir_id even = net_op(&n, 0, "SplitToSequence", IDS(x, net_int(&n, 0, 2)), NO_ATTRS);
    ir_id odd = net_op(&n, 0, "SplitToSequence", IDS(x, net_int(&n, 0, 3)), NO_ATTRS);
    ir_id y = at(&n, even, 40000), z = at(&n, odd, 7), len = length_of(&n, even);
    ir_id joined = net_op(&n, 0, "ConcatFromSequence", IDS(even), ATTRS(at_int("axis", 0)));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 3));
    net_is(&n, z, IR_FLOAT32, DIMS(-1, 3));
    net_holds(&n, len, 50000);
    net_is(&n, joined, IR_FLOAT32, DIMS(100000, 3));
    net_close(&n);
}

static void split_refuses_nonsense(void **state)
{
    (void)state;
    for (int64_t part = -1; part <= 0; part++) {
        net n = net_open(17);
        ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(7, 3));
        net_op(&n, 0, "SplitToSequence", IDS(x, net_int(&n, 0, part)), NO_ATTRS);
        net_infer_fails(&n, "length");
        net_close(&n);
    }
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(7, 3));
    ir_id list = net_ints(&n, 0, IR_INT64, DIMS(2), (const int64_t[]){4, 4});
    net_op(&n, 0, "SplitToSequence", IDS(x, list), NO_ATTRS);
    net_infer_fails(&n, "7");
    net_close(&n);
}

static void concat_sums_or_stacks(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id seq = three(&n), x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(4, 6));
    ir_id pair = net_op(&n, 0, "SequenceConstruct", IDS(x, x), NO_ATTRS);
    ir_id sum = net_op(&n, 0, "ConcatFromSequence", IDS(seq), ATTRS(at_int("axis", 1)));
    ir_id stack = net_op(&n, 0, "ConcatFromSequence", IDS(pair),
                         ATTRS(at_int("axis", -1), at_int("new_axis", 1)));
    net_infer(&n);
    net_is(&n, sum, IR_FLOAT32, DIMS(2, 12));
    net_is(&n, stack, IR_FLOAT32, DIMS(4, 6, 2));
    net_close(&n);
}

static void concat_refuses_different_shapes(void **state)
{
    (void)state;
    net n = net_open(17);
    net_op(&n, 0, "ConcatFromSequence", IDS(three(&n)), ATTRS(at_int("axis", 0)));
    net_infer_fails(&n, "[2,3] and [2,4]");
    net_close(&n);
}

static void optional_knows_whether_it_holds(void **state)
{
    (void)state;
    net n = net_open(18);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    static const ir_dim dims[] = {{.value = 5}};
    static const ir_type type = {.kind = IR_KIND_TENSOR, .dtype = IR_INT8, .rank = 1, .dims = dims};
    ir_attr of_type = {.name = STR("type"), .kind = IR_ATTR_TYPE, .n = 1, .v.type = &type};
    ir_id full = net_op(&n, 0, "Optional", IDS(x), NO_ATTRS);
    ir_id empty = net_op(&n, 0, "Optional", NO_IDS, ATTRS(of_type));
    ir_id y[] = {net_op(&n, 0, "OptionalHasElement", IDS(full), NO_ATTRS),
                 net_op(&n, 0, "OptionalHasElement", IDS(empty), NO_ATTRS),
                 net_op(&n, 0, "OptionalHasElement", IDS(x), NO_ATTRS),
                 net_op(&n, 0, "OptionalHasElement", NO_IDS, NO_ATTRS)};
    ir_id got = net_op(&n, 0, "OptionalGetElement", IDS(full), NO_ATTRS);
    ir_id none = net_op(&n, 0, "OptionalGetElement", IDS(empty), NO_ATTRS);
    ir_id same = net_op(&n, 0, "OptionalGetElement", IDS(x), NO_ATTRS);
    net_infer(&n);
    net_holds(&n, y[0], 1);
    net_holds(&n, y[1], 0);
    net_holds(&n, y[2], 1);
    net_holds(&n, y[3], 0);
    net_is(&n, got, IR_FLOAT32, DIMS(2, 3));
    net_is(&n, none, IR_INT8, DIMS(5));
    net_is(&n, same, IR_FLOAT32, DIMS(2, 3));
    net_close(&n);
}

static void strings_have_shapes_too(void **state)
{
    (void)state;
    net n = net_open(20);
    ir_id x = net_input(&n, 0, "x", IR_STRING, DIMS(1, 6));
    ir_id y = net_input(&n, 0, "y", IR_STRING, DIMS(4, 1));
    ir_id both = net_op(&n, 0, "StringConcat", IDS(x, y), NO_ATTRS);
    ir_id match = net_op(&n, 0, "RegexFullMatch", IDS(y), NO_ATTRS);
    ir_id split = net_ops(&n, 0, "StringSplit", IDS(y), ATTRS(at_int("maxsplit", 2)), 2);
    ir_id open = net_ops(&n, 0, "StringSplit", IDS(y), NO_ATTRS, 2);
    ir_id normal = net_op(&n, 0, "StringNormalizer", IDS(x), NO_ATTRS);
    net_infer(&n);
    net_is(&n, both, IR_STRING, DIMS(4, 6));
    net_is(&n, match, IR_BOOL, DIMS(4, 1));
    net_is(&n, split, IR_STRING, DIMS(4, 1, 3));
    assert_true(net_assumed(&n, split));
    net_is(&n, split + 1, IR_INT64, DIMS(4, 1));
    net_is(&n, open, IR_STRING, DIMS(4, 1, -1));
    net_is(&n, normal, IR_STRING, DIMS(1, 6));
    net_close(&n);
}

static void tfidf_is_as_wide_as_its_largest_index(void **state)
{
    (void)state;
    static const int64_t indexes[] = {0, 6, 2};
    net n = net_open(9);
    ir_id x = net_input(&n, 0, "x", IR_INT32, DIMS(2, 6));
    ir_id v = net_input(&n, 0, "v", IR_INT32, DIMS(12));
    ir_id y = net_op(&n, 0, "TfIdfVectorizer", IDS(x), ATTRS(at_ints("ngram_indexes", 3, indexes)));
    ir_id z = net_op(&n, 0, "TfIdfVectorizer", IDS(v), ATTRS(at_ints("ngram_indexes", 3, indexes)));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 7));
    net_is(&n, z, IR_FLOAT32, DIMS(7));
    net_close(&n);
}

int run_test_ops_sequence(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(construct_knows_each_item),
        cmocka_unit_test(position_outside_is_refused),
        cmocka_unit_test(insert_and_erase_shift_items),
        cmocka_unit_test(split_has_a_shorter_last_part),
        cmocka_unit_test(split_into_many_parts),
        cmocka_unit_test(split_refuses_nonsense),
        cmocka_unit_test(concat_sums_or_stacks),
        cmocka_unit_test(concat_refuses_different_shapes),
        cmocka_unit_test(optional_knows_whether_it_holds),
        cmocka_unit_test(strings_have_shapes_too),
        cmocka_unit_test(tfidf_is_as_wide_as_its_largest_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
