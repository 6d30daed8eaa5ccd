/* ai.onnx.ml and the training operators: shapes, types and hand-counted costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/count.h"
#include "support/net.h"

#define ML(op) "ai.onnx.ml:" op

/* The cost of the node that makes a value. */
static op_cost cost_of(net *n, ir_id value, uint64_t *read, uint64_t *written)
{
    const op_info *in[16];
    op_info out[16];
    op_ctx c;
    op_cost k = {.read = read, .written = written};
    infer_context(n->r, ir_value_at(n->m, value)->producer, in, out, &c);
    count_node(n->r, &c, IR_UNDEFINED, &k);
    return k;
}

static ir_attr at_floats(const char *name, uint32_t count)
{
    static const double zeros[64];
    assert_true(count <= 64);
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_FLOATS, .n = count, .v.floats = zeros};
}

static ir_attr at_strs(const char *name, uint32_t count, const str *v)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_STRINGS, .n = count, .v.strings = v};
}

static const int64_t counting[] = {0, 1, 2, 3, 4, 5, 6, 7};

static void feature_operators_have_their_shapes(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(5, 4));
    ir_id words = net_input(&n, 0, "words", IR_STRING, DIMS(5));
    ir_id v = net_input(&n, 0, "v", IR_INT64, DIMS(5, 2));
    ir_id which = net_ints(&n, 0, IR_INT64, DIMS(3), counting);
    ir_id picked = net_op(&n, 0, ML("ArrayFeatureExtractor"), IDS(x, which), NO_ATTRS);
    ir_id bin = net_op(&n, 0, ML("Binarizer"), IDS(v), NO_ATTRS);
    ir_id scaled = net_op(&n, 0, ML("Scaler"), IDS(v), NO_ATTRS);
    ir_id joined = net_op(&n, 0, ML("FeatureVectorizer"), IDS(x, v), NO_ATTRS);
    ir_id hot = net_op(&n, 0, ML("OneHotEncoder"), IDS(v),
                       ATTRS(at_ints("cats_int64s", 6, counting)));
    ir_id cat = net_op(&n, 0, ML("CategoryMapper"), IDS(words), NO_ATTRS);
    ir_id label = net_op(&n, 0, ML("LabelEncoder"), IDS(words),
                         ATTRS(at_floats("values_floats", 2)));
    ir_id zip = net_op(&n, 0, ML("ZipMap"), IDS(x),
                       ATTRS(at_ints("classlabels_int64s", 4, counting)));
    net_infer(&n);
    net_is(&n, picked, IR_FLOAT32, DIMS(5, 3));
    net_is(&n, bin, IR_INT64, DIMS(5, 2));
    net_is(&n, scaled, IR_FLOAT32, DIMS(5, 2));
    net_is(&n, joined, IR_FLOAT32, DIMS(5, 6));
    net_is(&n, hot, IR_FLOAT32, DIMS(5, 2, 6));
    net_is(&n, cat, IR_INT64, DIMS(5));
    net_is(&n, label, IR_FLOAT32, DIMS(5));
    const op_info *maps = &n.r->info[zip];
    assert_int_equal(maps->kind, IR_KIND_SEQUENCE);
    assert_int_equal(maps->length, 5);
    assert_int_equal(maps->elem->kind, IR_KIND_MAP);
    assert_int_equal(maps->elem->dtype, IR_INT64);
    net_close(&n);
}

static void linear_classifier_counts_products(void **state)
{
    (void)state;
    net n = net_open(1);
    uint64_t read[4], written[4];
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(10, 4));
    ir_id y = net_ops(&n, 0, ML("LinearClassifier"), IDS(x),
                      ATTRS(at_floats("coefficients", 12), at_floats("intercepts", 3),
                            at_ints("classlabels_ints", 3, counting),
                            at_str("post_transform", "LOGISTIC")),
                      2);
    net_infer(&n);
    net_is(&n, y, IR_INT64, DIMS(10));
    net_is(&n, y + 1, IR_FLOAT32, DIMS(10, 3));
    op_cost k = cost_of(&n, y, read, written);
    assert_int_equal(k.mac, 10 * 3 * 4);
    assert_int_equal(k.add, 10 * 3);
    assert_int_equal(k.cmp, 10 * 3);
    assert_int_equal(k.special, 10 * 3);
    net_close(&n);
}

static void rbf_svm_counts_kernels(void **state)
{
    (void)state;
    net n = net_open(1);
    uint64_t read[4], written[4];
    static const int64_t per_class[] = {3, 4, 2};
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(10, 6));
    ir_id y = net_ops(&n, 0, ML("SVMClassifier"), IDS(x),
                      ATTRS(at_ints("classlabels_ints", 3, counting), at_str("kernel_type", "RBF"),
                            at_ints("vectors_per_class", 3, per_class)),
                      2);
    ir_id z = net_op(&n, 0, ML("SVMRegressor"), IDS(x), ATTRS(at_int("n_supports", 5)));
    net_infer(&n);
    net_is(&n, y + 1, IR_FLOAT32, DIMS(10, 3));
    net_is(&n, z, IR_FLOAT32, DIMS(10, 1));
    op_cost k = cost_of(&n, y, read, written);
    assert_int_equal(k.mac, 10 * 9 * 6 + 10 * 9 * 2);
    assert_int_equal(k.add, 10 * 9 * 6 + 10 * 3);
    assert_int_equal(k.special, 10 * 9);
    k = cost_of(&n, z, read, written);
    assert_int_equal(k.mac, 10 * 5 * 6 + 10 * 5);
    net_close(&n);
}

/* Tree 0: 0 -> (1, 2), 2 -> (3, 4): depth 2. Tree 7: one leaf: depth 0. Listed out of order. */
static const int64_t trees[] = {7, 0, 0, 0, 0, 0};
static const int64_t nodes[] = {0, 2, 0, 1, 4, 3};
static const int64_t yes[] = {0, 3, 1, 0, 0, 0};
static const int64_t no[] = {0, 4, 2, 0, 0, 0};

static void old_trees_are_as_deep_as_their_longest_path(void **state)
{
    (void)state;
    const str leaf = STR("LEAF"), leq = STR("BRANCH_LEQ");
    const str modes[] = {leaf, leq, leq, leaf, leaf, leaf};
    net n = net_open(1);
    uint64_t read[4], written[4];
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(100, 6));
    ir_id y = net_op(&n, 0, ML("TreeEnsembleRegressor"), IDS(x),
                     ATTRS(at_int("n_targets", 1), at_ints("nodes_treeids", 6, trees),
                           at_ints("nodes_nodeids", 6, nodes), at_ints("nodes_truenodeids", 6, yes),
                           at_ints("nodes_falsenodeids", 6, no), at_strs("nodes_modes", 6, modes),
                           at_ints("target_ids", 4, counting)));
    ir_id z = net_ops(&n, 0, ML("TreeEnsembleClassifier"), IDS(x),
                      ATTRS(at_ints("classlabels_int64s", 3, counting)), 2);
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(100, 1));
    net_is(&n, z, IR_INT64, DIMS(100));
    net_is(&n, z + 1, IR_FLOAT32, DIMS(100, 3));
    op_cost k = cost_of(&n, y, read, written);
    assert_int_equal(k.cmp, 100 * 2);
    assert_int_equal(k.add, 100 * 2);
    net_close(&n);
}

static void new_trees_are_walked_by_index(void **state)
{
    (void)state;
    static const int64_t roots[] = {0, 3, 99}, yes_leaf[] = {0, 1, 1, 1}, no_leaf[] = {0, 1, 1, 1};
    static const int64_t yes_at[] = {1, 0, 1, 0}, no_at[] = {2, 2, 3, 0};
    net n = net_open(5);
    uint64_t read[4], written[4];
    ir_id x = net_input(&n, 0, "x", IR_FLOAT64, DIMS(100, 2));
    ir_id y = net_op(
        &n, 0, ML("TreeEnsemble"), IDS(x),
        ATTRS(at_int("n_targets", 2), at_ints("tree_roots", 3, roots),
              at_ints("nodes_trueleafs", 4, yes_leaf), at_ints("nodes_falseleafs", 4, no_leaf),
              at_ints("nodes_truenodeids", 4, yes_at), at_ints("nodes_falsenodeids", 4, no_at),
              at_ints("leaf_targetids", 5, counting)));
    net_infer(&n);
    net_is(&n, y, IR_FLOAT64, DIMS(100, 2));
    op_cost k = cost_of(&n, y, read, written);
    assert_int_equal(k.cmp, 100 * (2 + 1));
    assert_int_equal(k.add, 100 * 2);
    net_close(&n);
}

/* 0 -> 1 -> 0: a file may say so; the walk must end. */
static void trees_with_cycles_end(void **state)
{
    (void)state;
    static const int64_t roots[] = {0}, leaf[] = {0, 0}, at_one[] = {1, 0}, at_zero[] = {0, 1};
    net n = net_open(5);
    uint64_t read[4], written[4];
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 2));
    ir_id y = net_op(&n, 0, ML("TreeEnsemble"), IDS(x),
                     ATTRS(at_ints("tree_roots", 1, roots), at_ints("nodes_trueleafs", 2, leaf),
                           at_ints("nodes_falseleafs", 2, leaf),
                           at_ints("nodes_truenodeids", 2, at_one),
                           at_ints("nodes_falsenodeids", 2, at_zero)));
    net_infer(&n);
    assert_int_equal(cost_of(&n, y, read, written).cmp, 2);
    net_close(&n);
}

static void adam_updates_in_groups(void **state)
{
    (void)state;
    net n = net_open(1);
    uint64_t read[16], written[16];
    ir_id r = net_input(&n, 0, "r", IR_FLOAT32, SCALAR),
          t = net_input(&n, 0, "t", IR_INT64, SCALAR);
    ir_id a = net_input(&n, 0, "a", IR_FLOAT32, DIMS(3)),
          b = net_input(&n, 0, "b", IR_FLOAT32, DIMS(4, 5));
    ir_id y = net_ops(&n, 0, "ai.onnx.preview.training:Adam", IDS(r, t, a, b, a, b, a, b, a, b),
                      NO_ATTRS, 6);
    net_infer(&n);
    for (uint32_t o = 0; o < 6; o += 2) {
        net_is(&n, y + o, IR_FLOAT32, DIMS(3));
        net_is(&n, y + o + 1, IR_FLOAT32, DIMS(4, 5));
    }
    op_cost k = cost_of(&n, y, read, written);
    assert_int_equal(k.add + k.mul + k.div + k.special, 12 * 23);
    net_close(&n);
}

int run_test_ops_ml(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feature_operators_have_their_shapes),
        cmocka_unit_test(linear_classifier_counts_products),
        cmocka_unit_test(rbf_svm_counts_kernels),
        cmocka_unit_test(old_trees_are_as_deep_as_their_longest_path),
        cmocka_unit_test(new_trees_are_walked_by_index),
        cmocka_unit_test(trees_with_cycles_end),
        cmocka_unit_test(adam_updates_in_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
