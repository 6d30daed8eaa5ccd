/* Contrib operators (com.microsoft and its relatives): shapes as ONNX Runtime 1.30 gave them, and
 * costs worked out by hand from the rules of docs/counting.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/net.h"

#define F   IR_FLOAT32
#define MS  "com.microsoft:"
#define NIL IR_NONE

typedef struct vector {
    op_cost k;
    uint64_t read[16], written[16];
} vector;

/* Cost of the node that makes `value`. */
static vector cost_of(net *n, ir_id value)
{
    vector v = {0};
    const op_info *in[24];
    op_info out[8];
    op_ctx c;
    ir_id node = ir_value_at(n->m, value)->producer;
    v.k.read = v.read;
    v.k.written = v.written;
    infer_context(n->r, node, in, out, &c);
    assert_non_null(n->r->rows[node]->cost);
    n->r->rows[node]->cost(&c, &v.k);
    return v;
}

static ir_id floats(net *n, const char *name, int rank, const int64_t *dims)
{
    return net_input(n, 0, name, F, rank, dims);
}

static ir_id int32(net *n, int64_t content)
{
    return net_ints(n, 0, IR_INT32, SCALAR, &content);
}

/* ---- attention with projections ---- */

static void attention_projects_and_attends(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(2, 5, 16)), w = net_weight(&n, 0, DIMS(16, 96));
    ir_id y = net_ops(&n, 0, MS "Attention", IDS(x, w, net_weight(&n, 0, DIMS(96))),
                      ATTRS(at_int("num_heads", 4)), 2);
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 5, 32));
    net_is(&n, y + 1, F, DIMS(2, 2, 4, 5, 8));
    op_cost k = cost_of(&n, y).k;
    assert_int_equal(k.mac, 2 * 5 * 16 * 96 + 2 * 4 * 5 * 5 * (8 + 8));
    assert_int_equal(k.causal_mac, k.mac);
    assert_int_equal(k.mac_qk, 2 * 4 * 5 * 5 * 8);
    assert_int_equal(k.mac_av, k.mac_qk);
    assert_int_equal(k.special, 2 * 4 * 5 * 5);
    assert_int_equal(k.add, 2 * 5 * 96 + 2 * (2 * 4 * 5 * 5));
    net_close(&n);
}

static void attention_with_past_is_causal_from_there(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(2, 5, 16)), w = net_weight(&n, 0, DIMS(16, 96));
    ir_id past = floats(&n, "past", DIMS(2, 2, 4, 3, 8));
    ir_id y = net_ops(&n, 0, MS "Attention", IDS(x, w, net_weight(&n, 0, DIMS(96)), NIL, past),
                      ATTRS(at_int("num_heads", 4), at_int("unidirectional", 1)), 2);
    net_infer(&n);
    net_is(&n, y + 1, F, DIMS(2, 2, 4, 8, 8));
    op_cost k = cost_of(&n, y).k;
    uint64_t projections = 2 * 5 * 16 * 96;
    assert_int_equal(k.mac, projections + 2 * 4 * 5 * 8 * 16);
    assert_int_equal(k.causal_mac, projections + 2 * 4 * (4 + 5 + 6 + 7 + 8) * 16);
    net_close(&n);
}

static void attention_takes_unequal_widths(void **state)
{
    (void)state;
    net n = net_open(1);
    const int64_t sizes[] = {32, 32, 16};
    ir_id x = floats(&n, "x", DIMS(2, 5, 16)), w = net_weight(&n, 0, DIMS(16, 80));
    ir_id y = net_op(&n, 0, MS "Attention", IDS(x, w),
                     ATTRS(at_int("num_heads", 4), at_ints("qkv_hidden_sizes", 3, sizes)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 5, 16));
    assert_int_equal(cost_of(&n, y).k.mac, 2 * 5 * 16 * 80 + 2 * 4 * 5 * 5 * (8 + 4));
    net_close(&n);
}

static void attention_names_shapes_that_do_not_fit(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(2, 5, 16)), w = net_weight(&n, 0, DIMS(15, 96));
    net_op(&n, 0, MS "Attention", IDS(x, w), ATTRS(at_int("num_heads", 4)));
    net_infer_fails(&n, "[15,96]");
    net_close(&n);
}

/* ---- attention over projected tensors ---- */

static void multi_head_attention_crosses(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id q = floats(&n, "q", DIMS(2, 5, 32)), k = floats(&n, "k", DIMS(2, 7, 32));
    ir_id v = floats(&n, "v", DIMS(2, 7, 16));
    ir_id y = net_op(&n, 0, MS "MultiHeadAttention", IDS(q, k, v), ATTRS(at_int("num_heads", 4)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 5, 16));
    assert_int_equal(cost_of(&n, y).k.mac, 2 * 4 * 5 * 7 * (8 + 4));
    net_close(&n);
}

static void multi_head_attention_grows_its_cache(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id q = floats(&n, "q", DIMS(2, 5, 32)), past = floats(&n, "p", DIMS(2, 4, 3, 8));
    ir_id y = net_ops(&n, 0, MS "MultiHeadAttention", IDS(q, q, q, NIL, NIL, NIL, past, past),
                      ATTRS(at_int("num_heads", 4)), 4);
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 5, 32));
    net_is(&n, y + 1, F, DIMS(2, 4, 8, 8));
    net_is(&n, y + 3, F, DIMS(2, 4, 5, 8));
    assert_int_equal(cost_of(&n, y).k.mac, 2 * 4 * 5 * 8 * 16);
    net_close(&n);
}

static void a_shared_cache_keeps_its_length(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id q = floats(&n, "q", DIMS(2, 1, 32)), past = floats(&n, "p", DIMS(2, 4, 12, 8));
    ir_id y = net_ops(&n, 0, MS "MultiHeadAttention",
                      IDS(q, q, q, NIL, NIL, NIL, past, past, int32(&n, 4)),
                      ATTRS(at_int("num_heads", 4)), 3);
    net_infer(&n);
    net_is(&n, y + 1, F, DIMS(2, 4, 12, 8));
    assert_false(net_assumed(&n, y));
    vector v = cost_of(&n, y);
    assert_int_equal(v.k.mac, 2 * 4 * 1 * 5 * 16);
    assert_int_equal(v.read[6], 2 * 4 * 4 * 8 * 4);
    assert_int_equal(v.written[1], 2 * 4 * 1 * 8 * 4);
    net_close(&n);
}

static ir_id grouped(net *n, int64_t fresh, int64_t cached, int64_t total, int64_t window)
{
    ir_id q = floats(n, "q", DIMS(1, fresh, 64)), kv = floats(n, "kv", DIMS(1, fresh, 32));
    ir_id past = floats(n, "past", DIMS(1, 2, cached, 16));
    ir_id table = net_weight(n, 0, DIMS(64, 8));
    return net_ops(n, 0, MS "GroupQueryAttention",
                   IDS(q, kv, kv, past, past, int32(n, total - 1),
                       total < 0 ? net_input(n, 0, "t", IR_INT32, SCALAR) : int32(n, total), table,
                       table),
                   ATTRS(at_int("num_heads", 4), at_int("kv_num_heads", 2), at_int("do_rotary", 1),
                         at_int("local_window_size", window)),
                   3);
}

static void grouped_queries_share_keys(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id y = grouped(&n, 5, 0, 5, -1);
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 5, 64));
    net_is(&n, y + 1, F, DIMS(1, 2, 5, 16));
    op_cost k = cost_of(&n, y).k;
    assert_int_equal(k.mac, 4 * 5 * 5 * 32);
    assert_int_equal(k.causal_mac, 4 * 15 * 32);
    assert_int_equal(k.mul, 4 * 5 * 5 + 2 * 5 * (64 + 32));
    net_close(&n);
}

static void a_window_bounds_the_keys(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id y = grouped(&n, 1, 9, 10, 4);
    net_infer(&n);
    net_is(&n, y + 2, F, DIMS(1, 2, 10, 16));
    op_cost k = cost_of(&n, y).k;
    assert_int_equal(k.mac, 4 * 4 * 32);
    assert_int_equal(k.causal_mac, k.mac);
    net_close(&n);
}

static void an_unknown_total_is_assumed(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id y = grouped(&n, 1, 9, -1, -1);
    net_infer(&n);
    assert_true(net_assumed(&n, y));
    assert_int_equal(cost_of(&n, y).k.mac, 4 * 10 * 32);
    net_close(&n);
}

/* ---- packed weights ---- */

static uint64_t elems_of(net *n, ir_id value, uint32_t input)
{
    const op_info *in[16];
    op_info out[8];
    op_ctx c;
    ir_id node = ir_value_at(n->m, value)->producer;
    infer_context(n->r, node, in, out, &c);
    const ir_tensor *t = ir_value_at(n->m, ir_node_at(n->m, node)->inputs[input])->constant;
    assert_non_null(t);
    return n->r->rows[node]->weight_elems(&c, input, t);
}

static void packed_weights_stand_for_whole_matrices(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(2, 3, 32)), b = net_weight(&n, 0, DIMS(8, 2, 8));
    ir_id y = net_op(
        &n, 0, MS "MatMulNBits",
        IDS(x, b, net_weight(&n, 0, DIMS(16)), NIL, NIL, net_weight(&n, 0, DIMS(8))),
        ATTRS(at_int("K", 32), at_int("N", 8), at_int("bits", 4), at_int("block_size", 16)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 3, 8));
    op_cost k = cost_of(&n, y).k;
    assert_int_equal(k.mac, 2 * 3 * 8 * 32);
    assert_int_equal(k.add, 2 * 3 * 8);
    assert_int_equal(elems_of(&n, y, 1), 32 * 8);
    assert_int_equal(elems_of(&n, y, 5), 8);
    net_close(&n);
}

static void a_packed_table_is_read_by_rows(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id data = net_input(&n, 0, "d", IR_UINT8, DIMS(10, 16));
    ir_id ids = net_input(&n, 0, "i", IR_INT64, DIMS(1, 3));
    ir_id y = net_op(&n, 0, MS "GatherBlockQuantized",
                     IDS(data, ids, net_weight(&n, 0, DIMS(10, 2))),
                     ATTRS(at_int("block_size", 16), at_int("bits", 4)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 3, 32));
    assert_int_equal(cost_of(&n, y).read[0], 3 * 16);
    net_close(&n);
}

static void experts_cost_by_visit(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(3, 8)), r = floats(&n, "r", DIMS(3, 16));
    ir_id y = net_op(
        &n, 0, MS "MoE",
        IDS(x, r, net_weight(&n, 0, DIMS(16, 6, 8)), NIL, net_weight(&n, 0, DIMS(16, 8, 6))),
        ATTRS(at_int("k", 2), at_str("activation_type", "relu")));
    net_infer(&n);
    net_is(&n, y, F, DIMS(3, 8));
    vector v = cost_of(&n, y);
    assert_int_equal(v.k.mac, 3 * 2 * (6 * 8 + 8 * 6));
    assert_int_equal(v.read[2], 6 * (6 * 8) * 4); /* six of sixteen experts at most */
    net_close(&n);
}

/* ---- the rest, by family ---- */

static void norms_count_their_summands(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(2, 5, 16)), g = net_weight(&n, 0, DIMS(16));
    ir_id y = net_ops(&n, 0, MS "SkipLayerNormalization", IDS(x, x, g, g, g), NO_ATTRS, 4);
    ir_id z = net_op(&n, 0, MS "SkipSimplifiedLayerNormalization", IDS(x, x, g), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y + 1, F, DIMS(2, 5, 1));
    net_is(&n, y + 3, F, DIMS(2, 5, 16));
    op_cost k = cost_of(&n, y).k, s = cost_of(&n, z).k;
    assert_int_equal(k.add + k.mul, 160 * (7 + 2));
    assert_int_equal(s.add + s.mul, 160 * (4 + 1));
    net_close(&n);
}

static void embeddings_calculate_in_floats(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id ids = net_input(&n, 0, "ids", IR_INT32, DIMS(2, 5)), g = net_weight(&n, 0, DIMS(16));
    ir_id y = net_ops(&n, 0, MS "EmbedLayerNormalization",
                      IDS(ids, ids, net_weight(&n, 0, DIMS(100, 16)),
                          net_weight(&n, 0, DIMS(8, 16)), net_weight(&n, 0, DIMS(2, 16)), g, g),
                      NO_ATTRS, 2);
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 5, 16));
    net_is(&n, y + 1, IR_INT32, DIMS(2));
    vector v = cost_of(&n, y);
    assert_int_equal(v.k.add + v.k.mul, 160 * (7 + 2));
    assert_int_equal(v.k.int_ops, 0);
    assert_int_equal(v.read[2], 160 * 4);
    net_close(&n);
}

static void products_transpose_in_batches(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id a = floats(&n, "a", DIMS(3, 2, 4)), b = floats(&n, "b", DIMS(2, 4, 5));
    ir_id y = net_op(&n, 0, MS "FusedMatMul", IDS(a, b), ATTRS(at_int("transBatchA", 1)));
    net_infer(&n);
    net_is(&n, y, F, DIMS(2, 3, 5));
    assert_int_equal(cost_of(&n, y).k.mac, 2 * 3 * 5 * 4);
    net_close(&n);
}

static void convolutions_add_and_activate(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(1, 8, 9, 3)), w = net_weight(&n, 0, DIMS(4, 3, 3, 3));
    ir_id z = floats(&n, "z", DIMS(1, 6, 7, 4));
    ir_id y = net_op(&n, 0, MS "NhwcFusedConv", IDS(x, w, net_weight(&n, 0, DIMS(4)), z),
                     ATTRS(at_str("activation", "Relu")));
    net_infer(&n);
    net_is(&n, y, F, DIMS(1, 6, 7, 4));
    op_cost k = cost_of(&n, y).k;
    assert_int_equal(k.mac, 6 * 7 * 4 * 27);
    assert_int_equal(k.add, 2 * 6 * 7 * 4);
    assert_int_equal(k.cmp, 6 * 7 * 4);
    net_close(&n);
}

static void blocked_layouts_take_channels_from_the_reader(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(1, 24, 4, 4)), w = net_weight(&n, 0, DIMS(48, 32, 1, 1));
    ir_id r = net_op(&n, 0, "com.microsoft.nchwc:ReorderInput", IDS(x), NO_ATTRS);
    ir_id y = net_op(&n, 0, "com.microsoft.nchwc:Conv", IDS(r, w), NO_ATTRS);
    ir_id z = net_op(&n, 0, "com.microsoft.nchwc:ReorderOutput", IDS(y),
                     ATTRS(at_int("channels", 40)));
    net_infer(&n);
    net_is(&n, r, F, DIMS(1, 32, 4, 4));
    net_is(&n, z, F, DIMS(1, 40, 4, 4));
    net_close(&n);
}

static void quantised_concat_skips_scales(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id s = floats(&n, "s", SCALAR), z = net_input(&n, 0, "z", IR_UINT8, SCALAR);
    ir_id a = net_input(&n, 0, "a", IR_UINT8, DIMS(2, 3));
    ir_id b = net_input(&n, 0, "b", IR_UINT8, DIMS(2, 4));
    ir_id y = net_op(&n, 0, MS "QLinearConcat", IDS(s, z, a, s, z, b, s, z),
                     ATTRS(at_int("axis", 1)));
    net_infer(&n);
    net_is(&n, y, IR_UINT8, DIMS(2, 7));
    net_close(&n);
}

static void a_vendor_blob_is_never_free(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id x = floats(&n, "x", DIMS(1, 3));
    ir_id y = net_op(&n, 0, MS "EPContext", IDS(x), NO_ATTRS);
    net_infer(&n);
    net_is(&n, y, IR_UNDEFINED, -1, NULL);
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

/* ---- generation ---- */

/* A decoder of one product: ids, positions, mask, past -> logits, present. */
static ir_id tiny_decoder(net *n)
{
    ir_id g = net_graph(n, 0);
    ir_id ids = net_input(n, g, "input_ids", IR_INT32, DIMS(-1, -1));
    net_input(n, g, "position_ids", IR_INT32, DIMS(-1, -1));
    net_input(n, g, "attention_mask", IR_INT32, DIMS(-1, -1));
    ir_id past = net_input(n, g, "past_0", F, DIMS(2, -1, 4, -1, 8));
    ir_id hidden = net_op(n, g, "Gather", IDS(net_weight(n, g, DIMS(50, 16)), ids), NO_ATTRS);
    ir_id logits = net_op(n, g, "MatMul", IDS(hidden, net_weight(n, g, DIMS(16, 50))), NO_ATTRS);
    net_outputs(n, g, IDS(logits, past));
    return g;
}

static void a_search_runs_its_decoder_per_token(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id prompt = net_input(&n, 0, "ids", IR_INT32, DIMS(2, 4)), g = tiny_decoder(&n);
    ir_id y = net_ops(&n, 0, MS "BeamSearch",
                      IDS(prompt, int32(&n, 20), int32(&n, 1), int32(&n, 3), int32(&n, 1)),
                      ATTRS(at_graph("decoder", g)), 3);
    net_infer(&n);
    net_is(&n, y, IR_INT32, DIMS(2, 1, 20));
    net_is(&n, y + 2, F, DIMS(16, 2, 3, 50));
    assert_int_equal(n.r->times[g], 16);
    const ir_graph *body = ir_graph_at(n.m, g);
    net_is(&n, body->outputs.items[0], F, DIMS(6, 1, 50));
    net_is(&n, body->outputs.items[1], F, DIMS(2, 6, 4, 19, 8));
    assert_true(net_assumed(&n, y));
    net_close(&n);
}

/* ---- simulated quantisation, images, pipeline stages ---- */

static void quantisers_of_qonnx_round_each_element(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        uint32_t inputs;
        uint64_t div, add, special, cmp, mul;
    } rows[] = {
        {"qonnx.custom_op.general:Quant", 4, 1, 2, 1, 2, 1},
        {"onnx.brevitas:Quant", 4, 1, 2, 1, 2, 1},
        {"finn.custom_op.general:BipolarQuant", 2, 0, 0, 0, 1, 1},
        {"qonnx.custom_op.general:Trunc", 5, 2, 2, 2, 0, 1},
        {"qonnx.custom_op.general:Trunc", 6, 2, 2, 2, 2, 1},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        net n = net_open(1);
        ir_id in[6] = {floats(&n, "x", DIMS(2, 3, 5))};
        for (uint32_t i = 1; i < rows[k].inputs; i++)
            in[i] = net_weight(&n, 0, DIMS(1));
        ir_id y = net_op(&n, 0, rows[k].op, rows[k].inputs, in, NO_ATTRS);
        net_infer(&n);
        net_is(&n, y, F, DIMS(2, 3, 5));
        op_cost c = cost_of(&n, y).k;
        assert_int_equal(c.div, 30 * rows[k].div);
        assert_int_equal(c.add, 30 * rows[k].add);
        assert_int_equal(c.special, 30 * rows[k].special);
        assert_int_equal(c.cmp, 30 * rows[k].cmp);
        assert_int_equal(c.mul, 30 * rows[k].mul);
        assert_int_equal(c.mac + c.int_ops, 0);
        net_close(&n);
    }
}

static void what_comes_from_elsewhere_has_its_declared_shape(void **state)
{
    (void)state;
    net n = net_open(1);
    ir_id bytes = net_input(&n, 0, "jpeg", IR_UINT8, DIMS(1000));
    ir_id image = net_op(&n, 0, "ai.onnx.contrib:DecodeImage", IDS(bytes), NO_ATTRS);
    ir_id go = net_bool(&n, 0, true), rank = net_int(&n, 0, 1);
    ir_id sent = net_op(&n, 0, MS "Send", IDS(go, rank, floats(&n, "x", DIMS(2, 3))), NO_ATTRS);
    const int64_t types[] = {IR_FLOAT16};
    ir_id got = net_ops(&n, 0, MS "Recv", IDS(go, rank), ATTRS(at_ints("element_types", 1, types)),
                        2);
    net_declare(&n, got + 1, IR_FLOAT16, DIMS(4, 7));
    net_infer(&n);
    net_is(&n, image, IR_UINT8, DIMS(-1, -1, 3));
    net_is(&n, sent, IR_BOOL, SCALAR);
    net_is(&n, got, IR_BOOL, SCALAR);
    net_is(&n, got + 1, IR_FLOAT16, DIMS(4, 7));
    net_close(&n);
}

int run_test_ops_microsoft(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_projects_and_attends),
        cmocka_unit_test(attention_with_past_is_causal_from_there),
        cmocka_unit_test(attention_takes_unequal_widths),
        cmocka_unit_test(attention_names_shapes_that_do_not_fit),
        cmocka_unit_test(multi_head_attention_crosses),
        cmocka_unit_test(multi_head_attention_grows_its_cache),
        cmocka_unit_test(a_shared_cache_keeps_its_length),
        cmocka_unit_test(grouped_queries_share_keys),
        cmocka_unit_test(a_window_bounds_the_keys),
        cmocka_unit_test(an_unknown_total_is_assumed),
        cmocka_unit_test(packed_weights_stand_for_whole_matrices),
        cmocka_unit_test(a_packed_table_is_read_by_rows),
        cmocka_unit_test(experts_cost_by_visit),
        cmocka_unit_test(norms_count_their_summands),
        cmocka_unit_test(embeddings_calculate_in_floats),
        cmocka_unit_test(products_transpose_in_batches),
        cmocka_unit_test(convolutions_add_and_activate),
        cmocka_unit_test(blocked_layouts_take_channels_from_the_reader),
        cmocka_unit_test(quantised_concat_skips_scales),
        cmocka_unit_test(a_vendor_blob_is_never_free),
        cmocka_unit_test(a_search_runs_its_decoder_per_token),
        cmocka_unit_test(quantisers_of_qonnx_round_each_element),
        cmocka_unit_test(what_comes_from_elsewhere_has_its_declared_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
