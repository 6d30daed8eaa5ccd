/* Elementwise and data-movement rows: the forms that the backend suite does not reach (old opsets,
 * partly known shapes, contradictions), the shape arithmetic that exporters emit, and costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/net.h"

#define INTS(n, ...)                                                        \
    net_ints((n), 0, IR_INT64, 1, (const int64_t[]){COUNT_OF(__VA_ARGS__)}, \
             (const int64_t[]){__VA_ARGS__})

static ir_id floats(net *n, int count, const float *content)
{
    ir_tensor *t = ir_make_tensor(n->m, STR("f"), IR_FLOAT32, 1, &(const int64_t){count});
    ir_id id = ir_add_value(n->m, 0, STR("f"));
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(n->m->arena, content, (size_t)count * sizeof *content);
    assert_true(ir_add_constant(n->m, 0, id, t));
    return id;
}

static ir_attr at_float(const char *name, double v)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_FLOAT, .n = 1, .v.f = v};
}

static void holds_list(const net *n, ir_id value, int count, const int64_t *want)
{
    const op_val *v = n->r->info[value].val;
    assert_non_null(v);
    assert_int_equal(v->n, count);
    for (int k = 0; k < count; k++) {
        assert_true(op_val_known(v, k));
        assert_int_equal(v->cells[k].i, want[k]);
    }
}

static op_cost cost_of(net *n, ir_id value)
{
    static uint64_t read[16], written[16];
    const op_info *in[16];
    op_info out[16];
    op_ctx c;
    op_cost k = {.read = read, .written = written};
    infer_context(n->r, ir_value_at(n->m, value)->producer, in, out, &c);
    memset(read, 0xff, sizeof read);
    memset(written, 0xff, sizeof written);
    if (c.row->cost)
        c.row->cost(&c, &k);
    return k;
}

/* view(x, [x.shape[0], -1, 8]) as exporters write it. */
static void reshape_by_arithmetic(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(6, 4, 10));
    ir_id shape = net_op(&n, 0, "Shape", IDS(x), NO_ATTRS);
    ir_id batch = net_op(&n, 0, "Gather", IDS(shape, net_int(&n, 0, 0)), NO_ATTRS);
    ir_id one = net_op(&n, 0, "Unsqueeze", IDS(batch, INTS(&n, 0)), NO_ATTRS);
    ir_id to = net_op(&n, 0, "Concat", IDS(one, INTS(&n, -1, 8)), ATTRS(at_int("axis", 0)));
    ir_id y = net_op(&n, 0, "Reshape", IDS(x, to), NO_ATTRS);
    net_infer(&n);
    holds_list(&n, to, 3, (const int64_t[]){6, -1, 8});
    net_is(&n, y, IR_FLOAT32, DIMS(6, 5, 8));
    net_close(&n);
}

/* A shape that went to the host and back is still a shape. */
static void copies_keep_content(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(6, 4));
    ir_id there = net_op(&n, 0, "MemcpyToHost", IDS(x), NO_ATTRS);
    ir_id shape = net_op(&n, 0, "MemcpyFromHost", IDS(INTS(&n, 3, -1)), NO_ATTRS);
    ir_id y = net_op(&n, 0, "Reshape", IDS(there, shape), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(3, 8));
    net_close(&n);
}

static void reshape_forms(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3, 4));
    ir_id none = net_input(&n, 0, "none", IR_FLOAT32, DIMS(0, 4));
    ir_id open = net_input(&n, 0, "open", IR_INT64, DIMS(1));
    ir_id part = net_op(&n, 0, "Concat", IDS(open, INTS(&n, 4)), ATTRS(at_int("axis", 0)));
    ir_id copied = net_op(&n, 0, "Reshape", IDS(x, INTS(&n, 0, -1)), NO_ATTRS);
    ir_id zero = net_op(&n, 0, "Reshape", IDS(none, INTS(&n, 4, 0)), ATTRS(at_int("allowzero", 1)));
    ir_id counted = net_op(&n, 0, "Reshape", IDS(x, part), NO_ATTRS);
    ir_id all = net_op(&n, 0, "Flatten", IDS(x), ATTRS(at_int("axis", -1)));
    n.version = 1;
    ir_id old = net_op(&n, 0, "Reshape", IDS(x), ATTRS(at_ints("shape", DIMS(4, 0, 2))));
    net_infer(&n);
    net_is(&n, copied, IR_FLOAT32, DIMS(2, 12));
    net_is(&n, zero, IR_FLOAT32, DIMS(4, 0));
    net_is(&n, counted, IR_FLOAT32, DIMS(6, 4));
    net_is(&n, all, IR_FLOAT32, DIMS(6, 4));
    net_is(&n, old, IR_FLOAT32, DIMS(4, 3, 2));
    net_close(&n);
}

static void reshape_contradiction(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    net_op(&n, 0, "Reshape", IDS(x, INTS(&n, 4, -1)), NO_ATTRS);
    net_infer_fails(&n, "[2,3]");
    net_close(&n);
}

static void broadcast_contradiction(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id y = net_input(&n, 0, "y", IR_FLOAT32, DIMS(4, 3));
    net_op(&n, 0, "Add", IDS(x, y), NO_ATTRS);
    net_infer_fails(&n, "[4,3]");
    net_close(&n);
}

/* Below opset 7 the second operand is aligned by `axis`. */
static void legacy_alignment(void **state)
{
    (void)state;
    net n = net_open(6);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3, 4, 5));
    ir_id b = net_weight(&n, 0, DIMS(3, 4));
    ir_id y = net_op(&n, 0, "Mul", IDS(x, b), ATTRS(at_int("broadcast", 1), at_int("axis", 1)));
    ir_id z = net_op(&n, 0, "Less", IDS(x, b), ATTRS(at_int("broadcast", 1), at_int("axis", 1)));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 3, 4, 5));
    net_is(&n, z, IR_BOOL, DIMS(2, 3, 4, 5));
    net_close(&n);
}

static void slices(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(10, 6));
    ir_id back = net_op(&n, 0, "Slice",
                        IDS(x, INTS(&n, -1), INTS(&n, INT64_MIN), INTS(&n, 0), INTS(&n, -3)),
                        NO_ATTRS);
    ir_id far = net_op(&n, 0, "Slice", IDS(x, INTS(&n, 2), INTS(&n, INT64_MAX), INTS(&n, -1)),
                       NO_ATTRS);
    ir_id open = net_input(&n, 0, "open", IR_INT64, DIMS(1));
    ir_id part = net_op(&n, 0, "Slice", IDS(x, open, INTS(&n, 5), INTS(&n, 1)), NO_ATTRS);
    ir_id numbers = net_op(
        &n, 0, "Slice",
        IDS(INTS(&n, 1, 2, 3, 4, 5), INTS(&n, 4), INTS(&n, 0), INTS(&n, 0), INTS(&n, -2)),
        NO_ATTRS);
    n.version = 1;
    ir_id old = net_op(&n, 0, "Slice", IDS(x),
                       ATTRS(at_ints("starts", DIMS(1, -2)), at_ints("ends", DIMS(-1, 100))));
    net_infer(&n);
    net_is(&n, back, IR_FLOAT32, DIMS(4, 6));
    net_is(&n, far, IR_FLOAT32, DIMS(10, 4));
    net_is(&n, part, IR_FLOAT32, DIMS(10, -1));
    net_is(&n, old, IR_FLOAT32, DIMS(8, 2));
    holds_list(&n, numbers, 2, (const int64_t[]){5, 3});
    assert_int_equal(cost_of(&n, old).read[0], 8 * 2 * 4);
    net_close(&n);
}

static void split_uneven(void **state)
{
    (void)state;
    net n = net_open(18);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(7, 2));
    ir_id a = net_ops(&n, 0, "Split", IDS(x), ATTRS(at_int("num_outputs", 4)), 4);
    net_infer(&n);
    net_is(&n, a, IR_FLOAT32, DIMS(2, 2));
    net_is(&n, a + 3, IR_FLOAT32, DIMS(1, 2));
    net_close(&n);
}

static void split_contradiction(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(7, 2));
    net_ops(&n, 0, "Split", IDS(x, INTS(&n, 3, 3)), NO_ATTRS, 2);
    net_infer_fails(&n, "[7,2]");
    net_close(&n);
}

static void pads(void **state)
{
    (void)state;
    net n = net_open(18);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3, 8, 8));
    ir_id some = net_op(&n, 0, "Pad", IDS(x, INTS(&n, 1, -2, 3, 0), IR_NONE, INTS(&n, 2, -1)),
                        NO_ATTRS);
    ir_id numbers = net_op(&n, 0, "Pad", IDS(INTS(&n, 1, 2, 3), INTS(&n, 2, 1)),
                           ATTRS(at_str("mode", "reflect")));
    n.version = 1;
    ir_id old = net_op(&n, 0, "Pad", IDS(x),
                       ATTRS(at_ints("paddings", DIMS(0, 0, 1, 1, 0, 0, 2, 2))));
    net_infer(&n);
    net_is(&n, some, IR_FLOAT32, DIMS(1, 3, 12, 6));
    net_is(&n, old, IR_FLOAT32, DIMS(1, 3, 11, 11));
    holds_list(&n, numbers, 6, (const int64_t[]){3, 2, 1, 2, 3, 2});
    net_close(&n);
}

static void tiles(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    ir_id y = net_op(&n, 0, "Tile", IDS(x, INTS(&n, 2, 4)), NO_ATTRS);
    ir_id numbers = net_op(&n, 0, "Tile", IDS(INTS(&n, 5, 6), INTS(&n, 2)), NO_ATTRS);
    n.version = 1;
    ir_id times = floats(&n, 1, (const float[]){5}), axis = floats(&n, 1, (const float[]){1});
    ir_id old = net_op(&n, 0, "Tile", IDS(x, times, axis), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(4, 12));
    net_is(&n, old, IR_FLOAT32, DIMS(2, 15));
    holds_list(&n, numbers, 4, (const int64_t[]){5, 6, 5, 6});
    net_close(&n);
}

static void resizes(void **state)
{
    (void)state;
    net n = net_open(19);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3, 10, 20));
    ir_id scales = floats(&n, 2, (const float[]){2.3f, 0.5f});
    ir_id some = net_op(&n, 0, "Resize", IDS(x, IR_NONE, scales),
                        ATTRS(at_ints("axes", DIMS(2, 3)), at_str("mode", "linear")));
    ir_id fit = net_op(
        &n, 0, "Resize", IDS(x, IR_NONE, IR_NONE, INTS(&n, 7, 8)),
        ATTRS(at_ints("axes", DIMS(-2, -1)), at_str("keep_aspect_ratio_policy", "not_larger")));
    n.version = 11;
    ir_id empty = floats(&n, 0, (const float[]){0});
    ir_id sized = net_op(&n, 0, "Resize", IDS(x, empty, empty, INTS(&n, 1, 3, 40, 40)), NO_ATTRS);
    n.version = 1;
    ir_id old = net_op(&n, 0, "Upsample", IDS(x),
                       ATTRS(at_float("height_scale", 2), at_float("width_scale", 3)));
    net_infer(&n);
    net_is(&n, some, IR_FLOAT32, DIMS(1, 3, 23, 10));
    net_is(&n, fit, IR_FLOAT32, DIMS(1, 3, 4, 8));
    net_is(&n, sized, IR_FLOAT32, DIMS(1, 3, 40, 40));
    net_is(&n, old, IR_FLOAT32, DIMS(1, 3, 20, 60));
    assert_int_equal(cost_of(&n, some).mul, 4 * 3 * 23 * 10);
    assert_int_equal(cost_of(&n, sized).mul, 0);
    net_close(&n);
}

/* floor(height * 1.5) the way a dynamic interpolate is exported. */
static void float_arithmetic(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3, 7, 9));
    ir_id shape = net_op(&n, 0, "Shape", IDS(x), NO_ATTRS);
    ir_id plane = net_op(&n, 0, "Slice", IDS(shape, INTS(&n, 2), INTS(&n, 4)), NO_ATTRS);
    ir_id real = net_op(&n, 0, "Cast", IDS(plane), ATTRS(at_int("to", IR_FLOAT32)));
    ir_id scaled = net_op(&n, 0, "Mul", IDS(real, floats(&n, 1, (const float[]){1.5f})), NO_ATTRS);
    ir_id whole = net_op(&n, 0, "Floor", IDS(scaled), NO_ATTRS);
    ir_id size = net_op(&n, 0, "Cast", IDS(whole), ATTRS(at_int("to", IR_INT64)));
    net_infer(&n);
    holds_list(&n, size, 2, (const int64_t[]){10, 13});
    net_close(&n);
}

/* expand(-1, 4) as exporters write it: Where(shape == -1, ones, shape). */
static void expand_by_where(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(3, 1));
    ir_id want = INTS(&n, -1, 4);
    ir_id ones = net_op(&n, 0, "ConstantOfShape", IDS(INTS(&n, 2)), NO_ATTRS);
    ir_id one = net_op(
        &n, 0, "Add",
        IDS(net_op(&n, 0, "Cast", IDS(ones), ATTRS(at_int("to", IR_INT64))), net_int(&n, 0, 1)),
        NO_ATTRS);
    ir_id is = net_op(&n, 0, "Equal", IDS(want, INTS(&n, -1)), NO_ATTRS);
    ir_id to = net_op(&n, 0, "Where", IDS(is, one, want), NO_ATTRS);
    ir_id y = net_op(&n, 0, "Expand", IDS(x, to), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(3, 4));
    net_close(&n);
}

static void integer_arithmetic(void **state)
{
    (void)state;
    net n = net_open(14);
    ir_id a = INTS(&n, 7, -7, INT64_MAX);
    ir_id div = net_op(&n, 0, "Div", IDS(a, INTS(&n, 2)), NO_ATTRS);
    ir_id mod = net_op(&n, 0, "Mod", IDS(INTS(&n, 7, -7), INTS(&n, 3)), NO_ATTRS);
    ir_id fmod = net_op(&n, 0, "Mod", IDS(INTS(&n, 7, -7), INTS(&n, 3)), ATTRS(at_int("fmod", 1)));
    ir_id over = net_op(&n, 0, "Add", IDS(a, INTS(&n, 1)), NO_ATTRS);
    ir_id by_zero = net_op(&n, 0, "Div", IDS(a, INTS(&n, 0)), NO_ATTRS);
    ir_id range = net_op(&n, 0, "Range",
                         IDS(net_int(&n, 0, 10), net_int(&n, 0, 4), net_int(&n, 0, -4)), NO_ATTRS);
    net_infer(&n);
    holds_list(&n, div, 3, (const int64_t[]){3, -3, INT64_MAX / 2});
    holds_list(&n, mod, 2, (const int64_t[]){1, 2});
    holds_list(&n, fmod, 2, (const int64_t[]){1, -1});
    assert_false(op_val_known(n.r->info[over].val, 2));
    assert_null(n.r->info[by_zero].val);
    holds_list(&n, range, 2, (const int64_t[]){10, 6});
    net_close(&n);
}

static void data_dependent(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(4, 5));
    ir_id bound = net_op(&n, 0, "NonZero", IDS(x), NO_ATTRS);
    ir_id exact = net_op(&n, 0, "NonZero", IDS(INTS(&n, 0, 3, 0, 9)), NO_ATTRS);
    ir_id mask = net_input(&n, 0, "mask", IR_BOOL, DIMS(3));
    ir_id some = net_op(&n, 0, "Compress", IDS(x, mask), ATTRS(at_int("axis", 1)));
    ir_id sorted = net_ops(&n, 0, "Unique", IDS(INTS(&n, 4, 1, 4)), NO_ATTRS, 1);
    net_infer(&n);
    net_is(&n, bound, IR_INT64, DIMS(2, 20));
    net_is(&n, exact, IR_INT64, DIMS(1, 2));
    net_is(&n, some, IR_FLOAT32, DIMS(4, 3));
    assert_true(net_assumed(&n, bound) && net_assumed(&n, some));
    assert_false(net_assumed(&n, exact) || net_assumed(&n, sorted));
    holds_list(&n, exact, 2, (const int64_t[]){1, 3});
    holds_list(&n, sorted, 2, (const int64_t[]){1, 4});
    net_close(&n);
}

static void dtypes(void **state)
{
    (void)state;
    net n = net_open(21);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT16, DIMS(2, 3));
    ir_id scale = net_input(&n, 0, "s", IR_FLOAT16, SCALAR);
    ir_id q = net_op(&n, 0, "QuantizeLinear", IDS(x, scale),
                     ATTRS(at_int("output_dtype", IR_INT4)));
    ir_id d = net_op(&n, 0, "DequantizeLinear", IDS(q, scale), NO_ATTRS);
    ir_id arg = net_op(&n, 0, "ArgMax", IDS(x), ATTRS(at_int("keepdims", 0), at_int("axis", 1)));
    ir_id drop = net_ops(&n, 0, "Dropout", IDS(x), NO_ATTRS, 2);
    ir_id draw = net_op(&n, 0, "RandomNormalLike", IDS(x), ATTRS(at_int("dtype", IR_FLOAT64)));
    n.version = 1;
    ir_id old = net_op(&n, 0, "Cast", IDS(x), ATTRS(at_str("to", "DOUBLE")));
    net_infer(&n);
    net_is(&n, q, IR_INT4, DIMS(2, 3));
    net_is(&n, d, IR_FLOAT16, DIMS(2, 3));
    net_is(&n, arg, IR_INT64, DIMS(2));
    net_is(&n, drop + 1, IR_BOOL, DIMS(2, 3));
    net_is(&n, draw, IR_FLOAT64, DIMS(2, 3));
    net_is(&n, old, IR_FLOAT64, DIMS(2, 3));
    net_close(&n);
}

static void costs(void **state)
{
    (void)state;
    net n = net_open(20);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 8));
    ir_id i = net_input(&n, 0, "i", IR_INT64, DIMS(4));
    ir_id table = net_weight(&n, 0, DIMS(1000, 8));
    ir_id gelu = net_op(&n, 0, "Gelu", IDS(x), NO_ATTRS);
    ir_id add = net_op(&n, 0, "Add", IDS(i, i), NO_ATTRS);
    ir_id rows = net_op(&n, 0, "Gather", IDS(table, i), NO_ATTRS);
    ir_id view = net_op(&n, 0, "Reshape", IDS(x, INTS(&n, 16)), NO_ATTRS);
    ir_id max = net_op(&n, 0, "Max", IDS(x, x, x), NO_ATTRS);
    net_infer(&n);
    op_cost k = cost_of(&n, gelu);
    assert_true(k.mul == 48 && k.add == 16 && k.special == 16 && k.int_ops == 0);
    k = cost_of(&n, add);
    assert_true(k.add == 0 && k.int_ops == 4);
    assert_int_equal(cost_of(&n, rows).read[0], 4 * 8 * 4);
    k = cost_of(&n, view);
    assert_true(k.read[0] == 0 && k.written[0] == 0);
    assert_int_equal(cost_of(&n, max).cmp, 32);
    net_close(&n);
}

int run_test_ops_shape(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshape_by_arithmetic),
        cmocka_unit_test(copies_keep_content),
        cmocka_unit_test(reshape_forms),
        cmocka_unit_test(reshape_contradiction),
        cmocka_unit_test(broadcast_contradiction),
        cmocka_unit_test(legacy_alignment),
        cmocka_unit_test(slices),
        cmocka_unit_test(split_uneven),
        cmocka_unit_test(split_contradiction),
        cmocka_unit_test(pads),
        cmocka_unit_test(tiles),
        cmocka_unit_test(resizes),
        cmocka_unit_test(float_arithmetic),
        cmocka_unit_test(expand_by_where),
        cmocka_unit_test(integer_arithmetic),
        cmocka_unit_test(data_dependent),
        cmocka_unit_test(dtypes),
        cmocka_unit_test(costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
