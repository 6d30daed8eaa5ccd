/* Lowering to older opsets: the graph stays whole, shapes are those that were declared, MACs and
 * parameters do not change, and what cannot be lowered says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/infer.h"
#include "formats/onnx_write.h"
#include "ir/verify.h"
#include "rewrite/lower.h"
#include "support/values.h"
#include "zoo/zoo.h"

static void must(assay_status s, const assay_error *err)
{
    if (s != ASSAY_OK)
        fail_msg("%s", err->message);
}

/* ---- one of everything that has a lowering ---- */

static nn_t input4(nn *b, const char *name, int64_t n, int64_t c, int64_t h, int64_t w)
{
    return nn_input(b, name, IR_FLOAT32, 4, (const int64_t[]){n, c, h, w});
}

static void attentions(nn *b)
{
    nn_t q = input4(b, "q", 2, 8, 5, 16), k = input4(b, "k", 2, 2, 7, 16);
    nn_t v = input4(b, "v", 2, 2, 7, 12), mask = input4(b, "mask", 1, 1, 5, 7);
    nn_output(b, nn_attention(b, "causal", q, k, v, mask, 0, true), "causal_y");
    nn_output(b, nn_attention(b, "plain", q, k, v, NN_ABSENT, 0.3, false), "plain_y");
    const nn_t in[] = {nn_input(b, "q3", IR_FLOAT32, 3, (const int64_t[]){2, 5, 128}),
                       nn_input(b, "k3", IR_FLOAT32, 3, (const int64_t[]){2, 6, 32}),
                       nn_input(b, "v3", IR_FLOAT32, 3, (const int64_t[]){2, 6, 24}),
                       NN_ABSENT,
                       input4(b, "past_k", 2, 2, 3, 16),
                       input4(b, "past_v", 2, 2, 3, 12)};
    const nn_attr attrs[] = {NN_INT("q_num_heads", 8), NN_INT("kv_num_heads", 2),
                             NN_INT("is_causal", 1), NN_FLOAT("softcap", 2.0)};
    nn_t out[] = {NN_F32(2, 5, 96), NN_F32(2, 2, 9, 16), NN_F32(2, 2, 9, 12)};
    nn_emit(b, &(nn_call){.op = "Attention",
                          .name = "packed",
                          .in = in,
                          .n_in = 6,
                          .out = out,
                          .n_out = 3,
                          .attrs = attrs,
                          .n_attrs = 4});
    nn_output(b, out[0], "packed_y");
    nn_output(b, out[1], "present_k");
    nn_output(b, out[2], "present_v");
}

static void rotaries(nn *b)
{
    static const float angles[20];
    static const int64_t at[10];
    nn_t x = input4(b, "heads", 2, 3, 5, 8);
    nn_t flat = nn_input(b, "flat", IR_FLOAT32, 3, (const int64_t[]){2, 5, 36});
    nn_t table = nn_table_of(b, "cos", IR_FLOAT32, 2, (const int64_t[]){5, 4}, angles);
    nn_t rows = nn_table_of(b, "rows", IR_INT64, 2, (const int64_t[]){2, 5}, at);
    const nn_attr partly[] = {NN_INT("num_heads", 3), NN_INT("rotary_embedding_dim", 8)};
    const nn_t in[] = {x, table, table, rows}, in3[] = {flat, table, table, rows};
    nn_output(b, nn_one(b, "RotaryEmbedding", "rotary", 4, in, x, 0, NULL), "rotary_y");
    nn_output(b, nn_one(b, "RotaryEmbedding", "pairs", 4, in, x, 1, &NN_INT("interleaved", 1)),
              "pairs_y");
    nn_output(b, nn_one(b, "RotaryEmbedding", "part", 4, in3, flat, 2, partly), "part_y");
}

static void others(nn *b)
{
    static const char *const acts[] = {"Swish", "Mish", "HardSwish"};
    nn_t x = input4(b, "x", 2, 8, 6, 6), parts[3];
    nn_output(b, nn_groupnorm(b, "group", x, 4, 1e-5), "group_y");
    nn_output(b, nn_rmsnorm(b, "rms", x, 1e-6), "rms_y");
    nn_output(b, nn_layernorm(b, "layer", x, 1e-6), "layer_y");
    nn_output(b, nn_gelu(b, "gelu", x, false), "gelu_y");
    nn_output(b, nn_gelu(b, "tanh", x, true), "tanh_y");
    for (size_t i = 0; i < 3; i++)
        nn_output(b, nn_act(b, acts[i], acts[i], x), acts[i]);
    nn_output(b, nn_mean(b, "mean", x, 2, (const int64_t[]){2, 3}, false), "mean_y");
    nn_split(b, "split", x, 2, 3, parts);
    nn_output(b, parts[1], "split_y");
    nn_output(b, nn_resize(b, "resize", x, 9, 12, "linear", false), "resize_y");
    nn_output(b, nn_squeeze(b, "squeeze", nn_unsqueeze(b, "unsqueeze", x, 1), 1), "squeeze_y");
    nn_output(b, nn_softmax(b, "softmax", x, -1), "softmax_y");
}

static void build(nn *b)
{
    attentions(b);
    rotaries(b);
    others(b);
}

static ir_model *made(zoo_build_fn *of)
{
    const zoo_row row = {
        .name = "net", .family = "net", .task = "test", .build = of, .defaults = ""};
    const zoo_request q = {.row = &row};
    ir_model *m = NULL;
    assay_error err = {0};
    must(zoo_build(&q, &m, &err), &err);
    return m;
}

/* ---- checks ---- */

static void no_composites(const ir_model *m, int opset)
{
    static const struct {
        const char *op;
        int since;
    } young[] = {{"Attention", 23}, {"RotaryEmbedding", 23},    {"RMSNormalization", 23},
                 {"Swish", 24},     {"GroupNormalization", 21}, {"Gelu", 20},
                 {"Mish", 18},      {"LayerNormalization", 17}, {"HardSwish", 14}};
    const ir_graph *g = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, g->nodes.items[i]);
        assert_int_equal(n->version, opset);
        for (size_t k = 0; k < sizeof young / sizeof *young; k++)
            if (opset < young[k].since && str_is(n->op, young[k].op))
                fail_msg("%s is left at opset %d", young[k].op, opset);
    }
}

/* What the rules infer is what the lowering declared, for every value of known shape. */
static void shapes_agree(const ir_model *m)
{
    arena *a = arena_new((size_t)64 << 20);
    const infer_options opt = {.ignore_declared = true};
    infer_result *r = NULL;
    assay_error err = {0};
    must(infer_run(m, &opt, a, &r, &err), &err);
    const ir_graph *g = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, g->nodes.items[i]);
        const ir_type *t = &ir_value_at(m, n->outputs[0])->declared;
        const op_info *x = &r->info[n->outputs[0]];
        bool same = x->rank == t->rank && x->dtype == t->dtype;
        for (int d = 0; same && d < t->rank; d++)
            same = x->dims[d] == t->dims[d].value;
        if (!same)
            fail_msg("the shape of %s (%s) is not what was declared", n->name.p, n->op.p);
    }
    arena_free(a);
}

static totals model_totals(const ir_model *m)
{
    sbuf out = {0};
    wire_sink to = wire_sink_sbuf(&out);
    totals t;
    assay_model *model = NULL;
    assay_result *p = NULL;
    assay_error err = {0};
    must(onnx_write_sinks(m, NULL, &to, NULL, "", NULL, &err), &err);
    must(assay_model_from_bytes(out.p, out.n, "net", NULL, &model, &err), &err);
    must(assay_analyze(model, NULL, &p, &err), &err);
    t = totals_of(p);
    assay_result_free(p);
    assay_model_free(model);
    sbuf_free(&out);
    return t;
}

static void every_opset(void **state)
{
    ir_model *whole = made(build);
    totals want = model_totals(whole);
    (void)state;
    assert_true(want.macs > 0 && want.parameters > 0 && want.nodes_unknown == 0);
    for (int opset = LOWER_OLDEST; opset <= LOWER_NEWEST; opset++) {
        ir_model *m = made(build);
        assay_error err = {0};
        must(rewrite_lower(m, opset, &err), &err);
        must(ir_verify(m, &err), &err);
        assert_int_equal(ir_opset_version(m, STR("")), opset);
        no_composites(m, opset);
        shapes_agree(m);
        totals got = model_totals(m);
        assert_int_equal(got.macs, want.macs);
        assert_int_equal(got.parameters, want.parameters);
        ir_model_free(m);
    }
    ir_model_free(whole);
}

/* Parts are called after their node and lead back to it. */
static void parts_lead_back(void **state)
{
    ir_model *m = made(build);
    assay_error err = {0};
    uint32_t n_parts = 0;
    (void)state;
    must(rewrite_lower(m, 17, &err), &err);
    const ir_graph *g = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, g->nodes.items[i]);
        if (n->call == IR_NONE)
            continue;
        const ir_node *of = ir_node_at(m, n->call);
        assert_true(str_starts(n->name, of->name.p) && n->name.p[of->name.n] == '/');
        assert_true(str_eq(n->module, of->module));
        n_parts++;
    }
    assert_true(n_parts > 50);
    ir_model_free(m);
}

/* ---- refusals ---- */

static void build_einsum(nn *b)
{
    nn_t x = nn_input(b, "x", IR_FLOAT32, 2, (const int64_t[]){3, 4});
    const nn_attr equation = NN_TEXT("equation", "ij->ji");
    nn_output(b, nn_one(b, "Einsum", "turn", 1, &x, NN_F32(4, 3), 1, &equation), "y");
}

static void build_wrap(nn *b)
{
    nn_t x = nn_input(b, "x", IR_FLOAT32, 1, (const int64_t[]){4});
    nn_output(b, nn_pad(b, "pad", x, (const int64_t[]){1, 1}, "wrap"), "y");
}

static void refuse(zoo_build_fn *of, int opset, assay_status status, const char *part)
{
    ir_model *m = made(of);
    assay_error err = {0};
    assert_int_equal(rewrite_lower(m, opset, &err), status);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in '%s'", part, err.message);
    ir_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    refuse(build_einsum, 11, ASSAY_ERR_UNSUPPORTED, "12");
    refuse(build_einsum, 11, ASSAY_ERR_UNSUPPORTED, "'turn'");
    refuse(build_wrap, 17, ASSAY_ERR_UNSUPPORTED, "'pad'");
    refuse(build_einsum, 10, ASSAY_ERR_USAGE, "24");
    refuse(build_einsum, 25, ASSAY_ERR_USAGE, "24");
}

/* ---- and up again ---- */

static void down_and_up(void **state)
{
    ir_model *whole = made(others);
    totals want = model_totals(whole);
    assay_error err = {0};
    (void)state;
    for (int opset = LOWER_OLDEST; opset < LOWER_NEWEST; opset++) {
        ir_model *m = made(others);
        must(rewrite_lower(m, opset, &err), &err);
        for (int up = opset + 1; up <= LOWER_NEWEST; up += 3) {
            must(rewrite_lower(m, up, &err), &err);
            must(ir_verify(m, &err), &err);
            assert_int_equal(ir_opset_version(m, STR("")), up);
            shapes_agree(m);
            assert_int_equal(model_totals(m).macs, want.macs);
        }
        ir_model_free(m);
    }
    ir_model_free(whole);
}

int run_test_lower(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opset),
        cmocka_unit_test(parts_lead_back),
        cmocka_unit_test(refusals),
        cmocka_unit_test(down_and_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
