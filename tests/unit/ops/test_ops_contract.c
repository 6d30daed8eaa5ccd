/* Contractions: shapes and exact multiply-accumulates of convolutions, products, recurrent layers
 * and attention. The numbers are worked out by hand from the rules of docs/counting.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/net.h"

#define F IR_FLOAT32

/* The vector of the node that makes `value`; its byte arrays are not looked at here. */
static op_cost cost_of(net *n, ir_id value)
{
    static const op_cost none = {0};
    uint64_t read[16] = {0}, written[16] = {0};
    const op_info *in[16];
    op_info out[16];
    op_ctx c;
    op_cost k = none;
    ir_id node = ir_value_at(n->m, value)->producer;
    k.read = read;
    k.written = written;
    infer_context(n->r, node, in, out, &c);
    assert_non_null(n->r->rows[node]->cost);
    n->r->rows[node]->cost(&c, &k);
    k.read = k.written = NULL;
    return k;
}

/* ---- convolutions ---- */

static void conv_counts_what_resnet_publishes(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 3, 224, 224));
    ir_id w = net_weight(&n, 0, DIMS(64, 3, 7, 7)), b = net_weight(&n, 0, DIMS(64));
    const int64_t two[] = {2, 2}, pads[] = {3, 3, 3, 3};
    ir_id y = net_op(&n, 0, "Conv", IDS(x, w, b),
                     ATTRS(at_ints("strides", 2, two), at_ints("pads", 4, pads)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 64, 112, 112));
    op_cost k = cost_of(&n, y);
    assert_int_equal(k.mac, 118013952);
    assert_int_equal(k.causal_mac, k.mac);
    assert_int_equal(k.add, 64 * 112 * 112);
    net_close(&n);
}

static void grouped_conv_divides_its_channels(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id x = net_input(&n, 0, "x", F, DIMS(2, 32, 10, 12));
    ir_id w = net_weight(&n, 0, DIMS(32, 1, 3, 3));
    const int64_t two[] = {2, 2};
    ir_id y = net_op(&n, 0, "Conv", IDS(x, w),
                     ATTRS(at_int("group", 32), at_ints("dilations", 2, two)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 32, 6, 8));
    assert_int_equal(cost_of(&n, y).mac, 2 * 32 * 6 * 8 * 9);
    net_close(&n);
}

static void same_padding_ignores_the_kernel(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 1, 13));
    ir_id w = net_weight(&n, 0, DIMS(1, 1, 5));
    const int64_t three[] = {3};
    ir_id y = net_op(&n, 0, "Conv", IDS(x, w),
                     ATTRS(at_str("auto_pad", "SAME_LOWER"), at_ints("strides", 1, three)));
    ir_id z = net_op(&n, 0, "Conv", IDS(x, w),
                     ATTRS(at_str("auto_pad", "VALID"), at_ints("strides", 1, three)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 1, 5));
    net_is(&n, z, F, DIMS(1, 1, 3));
    net_close(&n);
}

static void conv_names_both_shapes_when_channels_differ(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 3, 8, 8));
    net_op(&n, 0, "Conv", IDS(x, net_weight(&n, 0, DIMS(8, 4, 3, 3))), NO_ATTRS);
    net_infer_fails(&n, "input [1,3,8,8] and weight [8,4,3,3]");
    net_close(&n);
}

static void a_kernel_that_does_not_fit_fails(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 1, 2, 2));
    net_op(&n, 0, "Conv", IDS(x, net_weight(&n, 0, DIMS(1, 1, 3, 3))), NO_ATTRS);
    net_infer_fails(&n, "[3,3]");
    net_close(&n);
}

static void quantised_convs_know_their_types(void **state)
{
    (void)state;
    net n = net_open(10);
    ir_id x = net_input(&n, 0, "x", IR_UINT8, DIMS(1, 2, 5, 5));
    ir_id w = net_input(&n, 0, "w", IR_INT8, DIMS(4, 2, 3, 3));
    ir_id s = net_input(&n, 0, "s", F, SCALAR), zp = net_input(&n, 0, "z", IR_INT8, SCALAR);
    ir_id y = net_op(&n, 0, "ConvInteger", IDS(x, w), NO_ATTRS);
    ir_id q = net_op(&n, 0, "QLinearConv", IDS(x, s, zp, w, s, zp, s, zp), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, IR_INT32, DIMS(1, 4, 3, 3));
    net_is(&n, q, IR_INT8, DIMS(1, 4, 3, 3));
    assert_int_equal(cost_of(&n, q).mac, 4 * 9 * 2 * 9);
    assert_int_equal(cost_of(&n, q).int_ops, 2 * 4 * 9);
    net_close(&n);
}

static void transposed_conv_counts_input_positions(void **state)
{
    (void)state;
    net n = net_open(11);
    ir_id x = net_input(&n, 0, "x", F, DIMS(1, 8, 5, 5));
    ir_id w = net_weight(&n, 0, DIMS(8, 4, 3, 3));
    const int64_t two[] = {2, 2}, one[] = {1, 1}, pads[] = {1, 1, 1, 1}, want[] = {12, 11};
    ir_id y = net_op(&n, 0, "ConvTranspose", IDS(x, w),
                     ATTRS(at_ints("strides", 2, two), at_ints("pads", 4, pads),
                           at_ints("output_padding", 2, one), at_int("group", 2)));
    ir_id z = net_op(&n, 0, "ConvTranspose", IDS(x, w),
                     ATTRS(at_ints("strides", 2, two), at_str("auto_pad", "SAME_UPPER")));
    ir_id o = net_op(&n, 0, "ConvTranspose", IDS(x, w),
                     ATTRS(at_ints("strides", 2, two), at_ints("output_shape", 2, want)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 8, 10, 10));
    net_is(&n, z, F, DIMS(1, 4, 10, 10));
    net_is(&n, o, F, DIMS(1, 4, 12, 11));
    assert_int_equal(cost_of(&n, y).mac, 8 * 25 * 4 * 9);
    net_close(&n);
}

static void causal_conv_carries_its_state(void **state)
{
    (void)state;
    net n = net_open(27);
    ir_id x = net_input(&n, 0, "x", F, DIMS(2, 6, 9));
    ir_id w = net_weight(&n, 0, DIMS(6, 1, 4));
    ir_id y = net_ops(&n, 0, "CausalConvWithState", IDS(x, w), ATTRS(at_str("activation", "silu")),
                      2);
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 6, 9));
    net_is(&n, y + 1, F, DIMS(2, 6, 3));
    op_cost k = cost_of(&n, y);
    assert_int_equal(k.mac, 2 * 6 * 9 * 4);
    assert_int_equal(k.special, 2 * 6 * 9);
    net_close(&n);
}

/* ---- products ---- */

static void matmul_follows_numpy(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id a = net_input(&n, 0, "a", F, DIMS(5, 1, 2, 3));
    ir_id b = net_input(&n, 0, "b", F, DIMS(4, 3, 7));
    ir_id v = net_input(&n, 0, "v", F, DIMS(3));
    ir_id ab = net_op(&n, 0, "MatMul", IDS(a, b), NO_ATTRS);
    ir_id av = net_op(&n, 0, "MatMul", IDS(a, v), NO_ATTRS);
    ir_id vb = net_op(&n, 0, "MatMul", IDS(v, b), NO_ATTRS);
    ir_id vv = net_op(&n, 0, "MatMul", IDS(v, v), NO_ATTRS);
    net_infer(&n);
    net_is(&n, ab, F, DIMS(5, 4, 2, 7));
    net_is(&n, av, F, DIMS(5, 1, 2));
    net_is(&n, vb, F, DIMS(4, 7));
    net_is(&n, vv, F, SCALAR);
    assert_int_equal(cost_of(&n, ab).mac, 5 * 4 * 2 * 7 * 3);
    assert_int_equal(cost_of(&n, vv).mac, 3);
    net_close(&n);
}

static void matmul_names_both_shapes(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id a = net_input(&n, 0, "a", F, DIMS(2, 3)), b = net_input(&n, 0, "b", F, DIMS(4, 5));
    net_op(&n, 0, "MatMul", IDS(a, b), NO_ATTRS);
    net_infer_fails(&n, "[2,3] and [4,5]");
    net_close(&n);
}

static void gemm_transposes_and_adds(void **state)
{
    (void)state;
    net n = net_open(13);
    ir_id a = net_input(&n, 0, "a", F, DIMS(10, 3));
    ir_id b = net_weight(&n, 0, DIMS(7, 10)), c = net_weight(&n, 0, DIMS(7));
    ir_id y = net_op(&n, 0, "Gemm", IDS(a, b, c), ATTRS(at_int("transA", 1), at_int("transB", 1)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(3, 7));
    op_cost k = cost_of(&n, y);
    assert_int_equal(k.mac, 3 * 7 * 10);
    assert_int_equal(k.add, 3 * 7);
    assert_int_equal(k.mul, 0);
    net_close(&n);
}

typedef struct einsum_case {
    const char *equation;
    int rank_a, rank_b; /* rank_b < 0: one operand */
    int64_t a[4], b[4];
    int rank;
    int64_t dims[4];
    uint64_t mac, mul, add;
} einsum_case;

static const einsum_case einsums[] = {
    {"ij,jk->ik", 2, 2, {2, 3}, {3, 5}, 2, {2, 5}, .mac = 30},
    {" b i j , b j k -> b i k ", 3, 3, {4, 2, 3}, {4, 3, 5}, 3, {4, 2, 5}, .mac = 120},
    {"...ij,...jk->...ik", 3, 4, {4, 2, 3}, {6, 1, 3, 5}, 4, {6, 4, 2, 5}, .mac = 720},
    {"ij,jk", 2, 2, {2, 3}, {3, 5}, 2, {2, 5}, .mac = 30},
    {"i,j->ij", 1, 1, {2}, {3}, 2, {2, 3}, .mul = 6},
    {"ij->ji", 2, -1, {2, 3}, {0}, 2, {3, 2}, .mac = 0},
    {"ij->i", 2, -1, {2, 3}, {0}, 1, {2}, .add = 6},
    {"ii", 2, -1, {3, 3}, {0}, 0, {0}, .add = 3},
    {"ii->i", 2, -1, {3, 3}, {0}, 1, {3}, .mac = 0},
    {"bA,Ab", 2, 2, {2, 3}, {3, 2}, 0, {0}, .mac = 6},
    {"ba", 2, -1, {2, 3}, {0}, 2, {3, 2}, .mac = 0},
};

static void einsum_reads_every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof einsums / sizeof *einsums; i++) {
        const einsum_case *e = &einsums[i];
        net n = net_open(12);
        ir_id in[2] = {net_input(&n, 0, "a", F, e->rank_a, e->a), 0};
        if (e->rank_b >= 0)
            in[1] = net_input(&n, 0, "b", F, e->rank_b, e->b);
        ir_id y = net_op(&n, 0, "Einsum", e->rank_b >= 0 ? 2 : 1, in,
                         ATTRS(at_str("equation", e->equation)));
        net_infer(&n);
        net_is(&n, y, F, e->rank, e->dims);
        op_cost k = cost_of(&n, y);
        assert_int_equal(k.mac, e->mac);
        assert_int_equal(k.mul, e->mul);
        assert_int_equal(k.add, e->add);
        net_close(&n);
    }
}

static void einsum_goes_pairwise_from_the_left(void **state)
{
    (void)state;
    net n = net_open(12);
    ir_id a = net_input(&n, 0, "a", F, DIMS(2, 3)), b = net_input(&n, 0, "b", F, DIMS(3, 5));
    ir_id c = net_input(&n, 0, "c", F, DIMS(5, 7));
    ir_id y = net_op(&n, 0, "Einsum", IDS(a, b, c), ATTRS(at_str("equation", "ij,jk,kl->il")));
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 7));
    assert_int_equal(cost_of(&n, y).mac, 2 * 3 * 5 + 2 * 5 * 7);
    net_close(&n);
}

static void einsum_refuses_nonsense(void **state)
{
    (void)state;
    static const char *const bad[] = {"ij,jk", "i$->i", "ij->k", "...i...->i", "ij->ij,", "i"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        net n = net_open(12);
        ir_id a = net_input(&n, 0, "a", F, DIMS(2, 3));
        net_op(&n, 0, "Einsum", IDS(a), ATTRS(at_str("equation", bad[i])));
        net_infer_fails(&n, "Einsum");
        net_close(&n);
    }
}

/* ---- recurrent ---- */

static void lstm_has_two_layouts(void **state)
{
    (void)state;
    for (int64_t layout = 0; layout < 2; layout++) {
        net n = net_open(14);
        ir_id x = layout ? net_input(&n, 0, "x", F, DIMS(3, 7, 10))
                         : net_input(&n, 0, "x", F, DIMS(7, 3, 10));
        ir_id w = net_weight(&n, 0, DIMS(2, 80, 10)), r = net_weight(&n, 0, DIMS(2, 80, 20));
        ir_id b = net_weight(&n, 0, DIMS(2, 160));
        ir_id y = net_ops(&n, 0, "LSTM", IDS(x, w, r, b),
                          ATTRS(at_str("direction", "bidirectional"), at_int("layout", layout)), 3);
        net_infer(&n);
        if (layout) {
            net_is(&n, y, F, DIMS(3, 7, 2, 20));
            net_is(&n, y + 2, F, DIMS(3, 2, 20));
        } else {
            net_is(&n, y, F, DIMS(7, 2, 3, 20));
            net_is(&n, y + 1, F, DIMS(2, 3, 20));
        }
        op_cost k = cost_of(&n, y);
        assert_int_equal(k.mac, 7 * 3 * 2 * 4 * 20 * (10 + 20));
        assert_int_equal(k.special, 7 * 3 * 2 * 20 * 5);
        assert_int_equal(k.add, 7 * 3 * 2 * 20 * (1 + 8));
        net_close(&n);
    }
}

/* ---- attention ---- */

static void attention_unpacks_heads_and_cache(void **state)
{
    (void)state;
    net n = net_open(24);
    ir_id q = net_input(&n, 0, "q", F, DIMS(2, 4, 72)),
          k = net_input(&n, 0, "k", F, DIMS(2, 6, 24));
    ir_id v = net_input(&n, 0, "v", F, DIMS(2, 6, 30));
    ir_id pk = net_input(&n, 0, "pk", F, DIMS(2, 3, 12, 8));
    ir_id pv = net_input(&n, 0, "pv", F, DIMS(2, 3, 12, 10));
    ir_id y = net_ops(&n, 0, "Attention", IDS(q, k, v, IR_NONE, pk, pv),
                      ATTRS(at_int("q_num_heads", 9), at_int("kv_num_heads", 3)), 4);
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 4, 90));
    net_is(&n, y + 1, F, DIMS(2, 3, 18, 8));
    net_is(&n, y + 2, F, DIMS(2, 3, 18, 10));
    net_is(&n, y + 3, F, DIMS(2, 9, 4, 18));
    op_cost c = cost_of(&n, y);
    uint64_t scores = 2 * 9 * 4 * 18;
    assert_int_equal(c.mac, scores * (8 + 10));
    assert_int_equal(c.mac_qk, scores * 8);
    assert_int_equal(c.mac_av, scores * 10);
    assert_int_equal(c.add + c.mul + c.div + c.special + c.cmp, scores * 6);
    net_close(&n);
}

/* MACs over head size 1+1, so that they are twice the visible pairs. */
static op_cost square_attention(int64_t sq, int64_t sk, uint32_t n_attrs, const ir_attr *attrs)
{
    net n = net_open(25);
    ir_id q = net_input(&n, 0, "q", F, DIMS(1, 1, sq, 1)),
          k = net_input(&n, 0, "k", F, DIMS(1, 1, sk, 1));
    ir_id y = net_op(&n, 0, "Attention", IDS(q, k, k), n_attrs, attrs);
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 1, sq, 1));
    op_cost c = cost_of(&n, y);
    net_close(&n);
    return c;
}

static void causal_masks_halve_only_the_causal_figure(void **state)
{
    (void)state;
    op_cost c = square_attention(4, 4, ATTRS(at_int("is_causal", 1)));
    assert_int_equal(c.mac, 2 * 16);
    assert_int_equal(c.causal_mac, 2 * 10);
    c = square_attention(4, 4, NO_ATTRS);
    assert_int_equal(c.causal_mac, c.mac);
}

static void windows_bound_the_keys(void **state)
{
    (void)state;
    op_cost c = square_attention(
        4, 6, ATTRS(at_int("left_window_size", 2), at_int("right_window_size", 1)));
    assert_int_equal(c.mac, 2 * 4 * 4);
    c = square_attention(5, 5, ATTRS(at_int("left_window_size", 1), at_int("is_causal", 1)));
    assert_int_equal(c.mac, 2 * 5 * 2);
    assert_int_equal(c.causal_mac, 2 * (1 + 2 + 2 + 2 + 2));
}

static void linear_attention_keeps_a_state(void **state)
{
    (void)state;
    net n = net_open(27);
    ir_id q = net_input(&n, 0, "q", F, DIMS(2, 5, 12)), k = net_input(&n, 0, "k", F, DIMS(2, 5, 6));
    ir_id v = net_input(&n, 0, "v", F, DIMS(2, 5, 8));
    ir_id y = net_ops(
        &n, 0, "LinearAttention", IDS(q, k, v),
        ATTRS(at_int("q_num_heads", 4), at_int("kv_num_heads", 2), at_str("update_rule", "linear")),
        2);
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 5, 16));
    net_is(&n, y + 1, F, DIMS(2, 2, 3, 4));
    assert_int_equal(cost_of(&n, y).mac, 2 * 5 * 3 * 4 * (2 + 4));
    net_close(&n);
}

int run_test_ops_contract(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_counts_what_resnet_publishes),
        cmocka_unit_test(grouped_conv_divides_its_channels),
        cmocka_unit_test(same_padding_ignores_the_kernel),
        cmocka_unit_test(conv_names_both_shapes_when_channels_differ),
        cmocka_unit_test(a_kernel_that_does_not_fit_fails),
        cmocka_unit_test(quantised_convs_know_their_types),
        cmocka_unit_test(transposed_conv_counts_input_positions),
        cmocka_unit_test(causal_conv_carries_its_state),
        cmocka_unit_test(matmul_follows_numpy),
        cmocka_unit_test(matmul_names_both_shapes),
        cmocka_unit_test(gemm_transposes_and_adds),
        cmocka_unit_test(einsum_reads_every_form),
        cmocka_unit_test(einsum_goes_pairwise_from_the_left),
        cmocka_unit_test(einsum_refuses_nonsense),
        cmocka_unit_test(lstm_has_two_layouts),
        cmocka_unit_test(attention_unpacks_heads_and_cache),
        cmocka_unit_test(causal_masks_halve_only_the_causal_figure),
        cmocka_unit_test(windows_bound_the_keys),
        cmocka_unit_test(linear_attention_keeps_a_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
