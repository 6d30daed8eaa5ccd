/* Models at other precisions: structure and counts of the rewritten graphs, content of converted weights,
 * and, where ONNX Runtime is installed, outputs against those of float32. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "formats/onnx_fill.h"
#include "formats/onnx_write.h"
#include "ir/verify.h"
#include "jobs/job.h"
#include "jobs/precision.h"
#include "options/rows.h"
#include "rewrite/convert.h"
#include "rewrite/half.h"
#include "rewrite/lower.h"
#include "support/net.h"
#include "support/runs.h"
#include "support/skip.h"

/* ---- models ---- */

typedef struct zoo_model {
    assay_model *a;
    ir_model *m;
} zoo_model;

static zoo_model open_zoo(const char *name, const char *shape, int opset)
{
    zoo_model z;
    assay_error err = {0};
    assay_options *o = assay_options_new();
    must(assay_model_open(name, &z.a, &err), &err);
    if (shape)
        must(assay_options_set(o, "input-shape", shape, &err), &err);
    must(job_model_build(z.a, o, &err), &err);
    must(rewrite_lower(z.a->ir, opset, &err), &err);
    z.m = z.a->ir;
    assay_options_free(o);
    return z;
}

static const ir_node *nodes_of(const ir_model *m, uint32_t i)
{
    return ir_node_at(m, ir_graph_at(m, 0)->nodes.items[i]);
}

static uint32_t count_op(const ir_model *m, ir_id graph, const char *op)
{
    const ir_graph *g = ir_graph_at(m, graph);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nodes.n; i++)
        n += str_is(ir_node_at(m, g->nodes.items[i])->op, op);
    return n;
}

static uint64_t constant_bytes(const ir_model *m, ir_dtype t)
{
    uint64_t n = 0;
    const ir_graph *g = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < g->constants.n; i++) {
        const ir_tensor *c = ir_value_at(m, g->constants.items[i])->constant;
        n += c->dtype == t ? c->size_bytes : 0;
    }
    return n;
}

typedef struct totals {
    uint64_t macs, parameters;
} totals;

/* Infers the model as it is now: no notes, nothing unknown. */
static totals totals_of(const ir_model *m)
{
    arena *a = arena_new((size_t)256 << 20);
    profile *p = profile_new((size_t)256 << 20);
    infer_result *r;
    counted of;
    assay_error err = {0};
    must(ir_verify(m, &err), &err);
    must(infer_run(m, NULL, a, &r, &err), &err);
    must(count_run(r, &(count_options){.precision = IR_UNDEFINED}, p, &of, &err), &err);
    if (r->notes.list.n || r->items.n)
        fail_msg("%s",
                 r->notes.list.n ? r->notes.list.items[0].text.p : r->items.items[0].reason.p);
    totals t = {.macs = p->total_macs, .parameters = p->total_parameters};
    profile_free(p);
    arena_free(a);
    return t;
}

/* ---- running ---- */

static job_precision asked(const char *name, engine *e)
{
    const assay_options none = options_default();
    return (job_precision){.row = precision_find(str_of(name)),
                           .engine = e,
                           .engine_config = &runs_config,
                           .seed = RUNS_SEED,
                           .int8 = {.seven_bits = job_seven_bits(&none)}};
}

/* ---- numbers ---- */

static void halves_round_to_even(void **state)
{
    (void)state;
    static const struct {
        float v;
        uint16_t half, bfloat;
    } rows[] = {
        {0.0f, 0x0000, 0x0000},           {-0.0f, 0x8000, 0x8000},
        {1.0f, 0x3c00, 0x3f80},           {-2.0f, 0xc000, 0xc000},
        {65504.0f, 0x7bff, 0x4780},       {65519.0f, 0x7bff, 0x4780},
        {1e30f, 0x7bff, 0x714a},          {-3.4028235e38f, 0xfbff, 0xff7f},
        {INFINITY, 0x7c00, 0x7f80},       {-INFINITY, 0xfc00, 0xff80},
        {6.1035156e-5f, 0x0400, 0x3880},  {5.9604645e-8f, 0x0001, 0x3380},
        {2.9802322e-8f, 0x0000, 0x3300},  {8.9406967e-8f, 0x0002, 0x33c0},
        {1.00048828125f, 0x3c00, 0x3f80}, {1.00146484375f, 0x3c02, 0x3f80},
        {0.333333343f, 0x3555, 0x3eab},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(ir_half_of(rows[i].v), rows[i].half);
        assert_int_equal(ir_bfloat_of(rows[i].v), rows[i].bfloat);
    }
    assert_int_equal(ir_half_of(NAN) & 0x7c00, 0x7c00);
    assert_true(ir_half_of(NAN) & 0x3ff);
    assert_true(ir_bfloat_of(NAN) & 0x7f);
}

static void names_of_precisions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < precision_table_n; i++) {
        assert_ptr_equal(precision_find(str_of(precision_table[i].name)), &precision_table[i]);
        assert_non_null(precision_table[i].about);
    }
    assert_int_equal(precision_find(STR("float16"))->kind, PRECISION_FP16);
    assert_int_equal(precision_find(STR("bfloat16"))->kind, PRECISION_BF16);
    assert_int_equal(precision_find(STR("int8"))->kind, PRECISION_INT8);
    assert_null(precision_find(STR("int4")));
    assert_null(precision_find(STR("")));
}

/* The constant as float32 and as what it became, read whole and in odd pieces. */
static void weights_convert_when_read(void **state)
{
    (void)state;
    net n = net_open(17);
    assay_error err = {0};
    float w[6] = {1.0f, -0.5f, 0.25f, 3.0f, 2e9f, -127.0f}, back[6], peaks[2];
    static const float scale[] = {0.5f, 1.0f};
    ir_tensor *t = ir_make_tensor(n.m, STR("w"), IR_FLOAT32, DIMS(2, 3));
    t->storage = IR_DATA_INLINE;
    t->bytes = (const uint8_t *)w;
    job_precision q = asked("fp32", NULL);
    must(job_make_precise(n.m, &q, NULL, &err), &err);
    must(onnx_fill_model(n.m, 0, NULL, &err), &err); /* wraps the reader */
    must(convert_peaks(n.m, t, 2, 3, peaks, &err), &err);
    assert_true(peaks[0] == 1.0f && peaks[1] == 2e9f);
    conversion c = {
        .source = t, .to = IR_INT8, .scale = scale, .channels = 2, .inner = 3, .limit = 127};
    const ir_tensor *q8 = convert_tensor(n.m, STR("q"), &c);
    int8_t got[6];
    must(n.m->reader.read(n.m->reader.ctx, q8, got, &err), &err);
    assert_memory_equal(got, ((const int8_t[]){2, -1, 0, 3, 127, -127}), 6);
    c.transpose = true;
    c.inner = 1;
    const ir_tensor *turned = convert_tensor(n.m, STR("t"), &c);
    assert_true(turned->dims[0] == 3 && turned->dims[1] == 2);
    must(n.m->reader.read(n.m->reader.ctx, turned, got, &err), &err);
    assert_memory_equal(got, ((const int8_t[]){2, 3, -1, 127, 0, -127}), 6);
    c = (conversion){.source = t, .to = IR_FLOAT32, .scale = scale, .channels = 2, .inner = 3};
    const ir_tensor *scaled = convert_tensor(n.m, STR("s"), &c);
    must(convert_floats(n.m, scaled, back, &err), &err);
    assert_true(back[0] == 0.5f && back[3] == 3.0f);
    ir_tensor part = *q8;
    part.offset = 3;
    part.size_bytes = 2;
    must(n.m->reader.read(n.m->reader.ctx, &part, got, &err), &err);
    assert_memory_equal(got, ((const int8_t[]){3, 127}), 2);
    net_close(&n);
}

/* ---- 16 bits ---- */

static net opened(int opset)
{
    net n = net_open(opset);
    assert_true(ir_set_opset(n.m, STR(""), opset));
    return n;
}

static value_facts facts_of(const net *n)
{
    return (value_facts){n->r->info, n->m->values.n};
}

static void halve(net *n, ir_dtype t, bool convert_inputs)
{
    assay_error err = {0};
    net_infer(n);
    half_options opt = {.dtype = t, .convert_inputs = convert_inputs};
    must(rewrite_half(n->m, facts_of(n), &opt, &err), &err);
    must(ir_verify(n->m, &err), &err);
    net_infer(n);
}

static void half_keeps_what_callers_see(void **state)
{
    (void)state;
    net n = opened(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3)), w = net_weight(&n, 0, DIMS(3, 4));
    ir_id y = net_op(&n, 0, "Relu", IDS(net_op(&n, 0, "MatMul", IDS(x, w), NO_ATTRS)), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    halve(&n, IR_FLOAT16, false);
    assert_int_equal(count_op(n.m, 0, "Cast"), 2);
    assert_int_equal(ir_value_at(n.m, w)->constant->dtype, IR_FLOAT16);
    assert_int_equal(ir_graph_at(n.m, 0)->outputs.items[0], y);
    net_is(&n, x, IR_FLOAT32, DIMS(2, 3));
    net_is(&n, y, IR_FLOAT32, DIMS(2, 4));
    net_is(&n, nodes_of(n.m, 1)->outputs[0], IR_FLOAT16, DIMS(2, 4));
    net_close(&n);
}

static void half_to_the_border(void **state)
{
    (void)state;
    net n = opened(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3)), w = net_weight(&n, 0, DIMS(3, 4));
    ir_id y = net_op(&n, 0, "MatMul", IDS(x, w), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    halve(&n, IR_BFLOAT16, true);
    assert_int_equal(count_op(n.m, 0, "Cast"), 0);
    net_is(&n, x, IR_BFLOAT16, DIMS(2, 3));
    net_is(&n, y, IR_BFLOAT16, DIMS(2, 4));
    net_close(&n);
}

/* A weight read by an operator that may and by one that may not is there twice. */
static void half_and_whole_of_one_weight(void **state)
{
    (void)state;
    net n = opened(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(4, 4)), w = net_weight(&n, 0, DIMS(4, 4));
    ir_id a = net_op(&n, 0, "MatMul", IDS(x, w), NO_ATTRS);
    ir_id b = net_op(&n, 0, "Celu", IDS(w), NO_ATTRS);
    ir_id y = net_op(&n, 0, "Add", IDS(a, b), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    halve(&n, IR_FLOAT16, false);
    assert_int_equal(ir_value_at(n.m, w)->constant->dtype, IR_FLOAT32);
    assert_int_equal(constant_bytes(n.m, IR_FLOAT32), 64);
    assert_int_equal(constant_bytes(n.m, IR_FLOAT16), 32);
    assert_int_equal(count_op(n.m, 0, "Cast"), 3); /* x, b, y */
    net_close(&n);
}

/* Scales of Resize stay, its image does not; sizes that are computed stay whole. */
static void half_leaves_shape_arithmetic(void **state)
{
    (void)state;
    net n = opened(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3, 8, 8));
    ir_id c = net_op(&n, 0, "Cast", IDS(net_op(&n, 0, "Shape", IDS(x), NO_ATTRS)),
                     ATTRS(at_int("to", IR_FLOAT32)));
    ir_id size = net_op(&n, 0, "Cast", IDS(net_op(&n, 0, "Add", IDS(c, c), NO_ATTRS)),
                        ATTRS(at_int("to", IR_INT64)));
    ir_id y = net_op(&n, 0, "Resize", IDS(x, IR_NONE, IR_NONE, size), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    halve(&n, IR_FLOAT16, false);
    net_is(&n, c, IR_FLOAT32, DIMS(4));
    assert_int_equal(count_op(n.m, 0, "Cast"), 4);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 6, 16, 16));
    net_close(&n);
}

static void half_goes_into_bodies(void **state)
{
    (void)state;
    net n = opened(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3)),
          c = net_input(&n, 0, "c", IR_BOOL, SCALAR);
    ir_id yes = net_graph(&n, 0), no = net_graph(&n, 0);
    ir_id a = net_op(&n, yes, "Relu", IDS(x), NO_ATTRS),
          b = net_op(&n, no, "Celu", IDS(x), NO_ATTRS);
    net_outputs(&n, yes, IDS(a));
    net_outputs(&n, no, IDS(b));
    ir_id y = net_op(&n, 0, "If", IDS(c),
                     ATTRS(at_graph("then_branch", yes), at_graph("else_branch", no)));
    net_outputs(&n, 0, IDS(y));
    halve(&n, IR_FLOAT16, false);
    assert_int_equal(count_op(n.m, 0, "Cast"), 2);
    assert_int_equal(count_op(n.m, yes, "Cast"), 0);
    assert_int_equal(count_op(n.m, no, "Cast"), 1);
    net_is(&n, ir_graph_at(n.m, no)->outputs.items[0], IR_FLOAT16, DIMS(2, 3));
    net_is(&n, y, IR_FLOAT32, DIMS(2, 3));
    net_close(&n);
}

static void bfloat_needs_its_opset(void **state)
{
    (void)state;
    assay_error err = {0};
    for (int opset = 17; opset <= 22; opset += 5) {
        net n = opened(opset);
        ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3, 8, 8));
        ir_id w = net_weight(&n, 0, DIMS(4, 3, 3, 3));
        ir_id y = net_op(&n, 0, "Conv", IDS(x, w), NO_ATTRS);
        net_outputs(&n, 0, IDS(net_op(&n, 0, "Relu", IDS(y), NO_ATTRS)));
        halve(&n, IR_BFLOAT16, false);
        assert_int_equal(ir_value_at(n.m, w)->constant->dtype,
                         opset < 22 ? IR_FLOAT32 : IR_BFLOAT16);
        assert_int_equal(count_op(n.m, 0, "Cast"), 2);
        net_close(&n);
    }
    assert_int_equal(half_find(STR("NonMaxSuppression"))->float16, HALF_NEVER);
    assert_int_equal(half_find(STR("MatMul"))->bfloat16, 13);
    net n = opened(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3, 8, 8));
    net_outputs(&n, 0,
                IDS(net_op(&n, 0, "Conv", IDS(x, net_weight(&n, 0, DIMS(4, 3, 3, 3))), NO_ATTRS)));
    net_infer(&n);
    half_options opt = {.dtype = IR_BFLOAT16};
    assert_int_equal(rewrite_half(n.m, facts_of(&n), &opt, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "(Conv)"));
    net_close(&n);
}

/* A model that is as it was does not go by another name. */
static void nothing_to_halve_is_said(void **state)
{
    (void)state;
    assay_error err = {0};
    half_options opt = {.dtype = IR_FLOAT16};
    net n = opened(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT16, DIMS(2, 3));
    net_outputs(&n, 0, IDS(net_op(&n, 0, "Relu", IDS(x), NO_ATTRS)));
    net_infer(&n);
    assert_int_equal(rewrite_half(n.m, facts_of(&n), &opt, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "float32"));
    net_close(&n);
    err_clear(&err);
    n = opened(17);
    x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    net_outputs(&n, 0, IDS(net_op(&n, 0, "Celu", IDS(x), NO_ATTRS)));
    net_infer(&n);
    assert_int_equal(rewrite_half(n.m, facts_of(&n), &opt, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "(Celu)"));
    net_close(&n);
    err_clear(&err);
    n = opened(17); /* a Cast alone only loses digits */
    x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
    net_outputs(&n, 0, IDS(net_op(&n, 0, "Cast", IDS(x), ATTRS(at_int("to", IR_FLOAT64)))));
    net_infer(&n);
    assert_int_equal(rewrite_half(n.m, facts_of(&n), &opt, &err), ASSAY_ERR_UNSUPPORTED);
    net_close(&n);
}

/* ---- 8 bits ---- */

static void dynamic_takes_gemm_apart(void **state)
{
    (void)state;
    net n = opened(17);
    assay_error err = {0};
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 8)), w = net_weight(&n, 0, DIMS(4, 8));
    ir_id b = net_weight(&n, 0, DIMS(4));
    ir_id y = net_op(&n, 0, "Gemm", IDS(x, w, b), ATTRS(at_int("transB", 1)));
    ir_id z = net_op(&n, 0, "MatMul", IDS(x, net_weight(&n, 0, DIMS(8, 6))), NO_ATTRS);
    net_outputs(&n, 0, IDS(y, z));
    must(onnx_fill_model(n.m, RUNS_SEED, NULL, &err), &err);
    net_infer(&n);
    must(rewrite_int8_dynamic(n.m, facts_of(&n), NULL, &err), &err);
    must(ir_verify(n.m, &err), &err);
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(2, 4));
    net_is(&n, z, IR_FLOAT32, DIMS(2, 6));
    assert_int_equal(count_op(n.m, 0, "DynamicQuantizeLinear"), 1);
    assert_int_equal(count_op(n.m, 0, "MatMulInteger"), 2);
    assert_int_equal(count_op(n.m, 0, "Add"), 1);
    assert_int_equal(count_op(n.m, 0, "Gemm") + count_op(n.m, 0, "MatMul"), 0);
    assert_int_equal(constant_bytes(n.m, IR_INT8), 4 * 8 + 8 * 6 + 4 + 6);
    assert_int_equal(constant_bytes(n.m, IR_FLOAT32), 4 * (4 + 4 + 6));
    net_close(&n);
}

static void nothing_to_quantise_is_said(void **state)
{
    (void)state;
    net n = opened(17);
    assay_error err = {0};
    const ir_id *points;
    uint32_t count;
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 8));
    net_outputs(&n, 0, IDS(net_op(&n, 0, "Relu", IDS(x), NO_ATTRS)));
    net_infer(&n);
    assert_int_equal(rewrite_int8_dynamic(n.m, facts_of(&n), NULL, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "MatMul"));
    err_clear(&err);
    assert_int_equal(
        rewrite_calibration_points(n.m, facts_of(&n), n.scratch, &points, &count, &err),
        ASSAY_ERR_UNSUPPORTED);
    net_close(&n);
}

/* x -> Conv -> Relu -> Conv -> Add(x2) -> y: what is marked and what becomes of it. */
static void qdq_surrounds_convolutions(void **state)
{
    (void)state;
    net n = opened(17);
    assay_error err = {0};
    const ir_id *points;
    uint32_t count;
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 4, 8, 8));
    ir_id c1 = net_op(&n, 0, "Conv",
                      IDS(x, net_weight(&n, 0, DIMS(4, 4, 1, 1)), net_weight(&n, 0, DIMS(4))),
                      NO_ATTRS);
    ir_id r1 = net_op(&n, 0, "Relu", IDS(c1), NO_ATTRS);
    ir_id c2 = net_op(&n, 0, "Conv", IDS(r1, net_weight(&n, 0, DIMS(4, 4, 1, 1))), NO_ATTRS);
    ir_id s = net_op(&n, 0, "Add", IDS(c2, x), NO_ATTRS);
    ir_id p = net_op(&n, 0, "MaxPool", IDS(s), ATTRS(at_ints("kernel_shape", DIMS(2, 2))));
    ir_id y = net_op(&n, 0, "Tanh", IDS(p), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    must(onnx_fill_model(n.m, RUNS_SEED, NULL, &err), &err);
    net_infer(&n);
    must(rewrite_calibration_points(n.m, facts_of(&n), n.scratch, &points, &count, &err), &err);
    assert_int_equal(count, 4);
    assert_int_equal(points[0], x);
    assert_int_equal(points[1], r1);
    assert_int_equal(points[2], c2);
    assert_int_equal(points[3], s);
    const value_range ranges[] = {{x, -1, 1}, {r1, 0, 2}, {c2, -3, 1}, {s, 5, -INFINITY}};
    must(rewrite_qdq(n.m, facts_of(&n), ranges, 4, NULL, &err), &err);
    must(ir_verify(n.m, &err), &err);
    net_infer(&n);
    net_is(&n, y, IR_FLOAT32, DIMS(1, 4, 7, 7));
    assert_int_equal(count_op(n.m, 0, "QuantizeLinear"), 5);
    assert_int_equal(count_op(n.m, 0, "DequantizeLinear"), 5 + 3);
    assert_int_equal(constant_bytes(n.m, IR_INT8), 2 * (16 + 4));
    assert_int_equal(constant_bytes(n.m, IR_INT32), 2 * 16);
    net_close(&n);
}

/* ---- whole models ---- */

static void counts_stay_and_bytes_shrink(void **state)
{
    (void)state;
    static const struct {
        const char *model, *shape, *precision;
        int opset;
        ir_dtype t;
        double least; /* share of the float32 bytes that are of the new type */
    } rows[] = {
        {"lenet", NULL, "fp16", 17, IR_FLOAT16, 1.0},
        {"resnet18", "1,3,64,64", "fp16", 17, IR_FLOAT16, 1.0},
        {"resnet18", "1,3,64,64", "bf16", 22, IR_BFLOAT16, 1.0},
        {"mobilenet_v2", "1,3,64,64", "fp16", 17, IR_FLOAT16, 1.0},
        {"lenet", NULL, "int8-dynamic", 17, IR_INT8, 0.9},
        {"mlp", NULL, "int8-dynamic", 17, IR_INT8, 0.9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zoo_model z = open_zoo(rows[i].model, rows[i].shape, rows[i].opset);
        assay_error err = {0};
        job_precision q = asked(rows[i].precision, NULL);
        totals before = totals_of(z.m);
        double bytes = (double)constant_bytes(z.m, IR_FLOAT32);
        double width = ir_dtype_get(rows[i].t)->bits / 32.0;
        uint64_t random;
        must(job_make_precise(z.m, &q, &random, &err), &err);
        totals after = totals_of(z.m);
        assert_true(random > 0);
        assert_int_equal(after.macs, before.macs);
        assert_int_equal(after.parameters, before.parameters);
        assert_true((double)constant_bytes(z.m, rows[i].t) >= rows[i].least * width * bytes);
        if (rows[i].least == 1.0)
            assert_int_equal(constant_bytes(z.m, IR_FLOAT32), 0);
        assay_model_free(z.a);
    }
}

/* ---- old opsets ---- */

static ir_id old_network(net *n, bool mask_read)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(1, 3, 8, 8));
    ir_id c = net_op(n, 0, "Conv", IDS(x, net_weight(n, 0, DIMS(4, 3, 3, 3))), NO_ATTRS);
    ir_id f = net_op(n, 0, "Flatten", IDS(c), NO_ATTRS);
    ir_id g = net_op(n, 0, "Gemm",
                     IDS(f, net_weight(n, 0, DIMS(144, 10)), net_weight(n, 0, DIMS(10))), NO_ATTRS);
    ir_id d = net_ops(n, 0, "Dropout", IDS(g), NO_ATTRS, 2);
    ir_id y = net_op(n, 0, "Softmax", IDS(d), NO_ATTRS);
    if (mask_read)
        net_outputs(n, 0, IDS(y, d + 1));
    else
        net_outputs(n, 0, IDS(y));
    return y;
}

/* Every precision really converts a file of opset 7: it is raised where it must be. */
static void old_files_are_raised(void **state)
{
    (void)state;
    static const struct {
        const char *precision;
        int opset;
        ir_dtype t;
    } rows[] = {{"fp16", 7, IR_FLOAT16}, {"bf16", 22, IR_BFLOAT16}, {"int8-dynamic", 11, IR_INT8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        net n = opened(7);
        assay_error err = {0};
        job_precision q = asked(rows[i].precision, NULL);
        old_network(&n, false);
        must(job_make_precise(n.m, &q, NULL, &err), &err);
        assert_int_equal(ir_opset_version(n.m, STR("")), rows[i].opset);
        assert_true(constant_bytes(n.m, rows[i].t) > 0);
        totals_of(n.m);
        net_close(&n);
    }
}

/* What cannot be raised is converted as far as it goes, or refused with both reasons. */
static void out_of_reach_is_said(void **state)
{
    (void)state;
    job_precision q = asked("bf16", NULL);
    assay_error err = {0};
    net n = opened(7);
    old_network(&n, true);
    assert_int_equal(job_make_precise(n.m, &q, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "opset 7"));
    assert_non_null(strstr(err.message, "(Dropout)"));
    net_close(&n);
    n = opened(18);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 4, 8, 8)),
          w = net_weight(&n, 0, DIMS(8, 8));
    ir_id p = net_weight(&n, 0, DIMS(2));
    ir_id y = net_op(&n, 0, "GroupNormalization", IDS(x, p, p), ATTRS(at_int("num_groups", 2)));
    net_outputs(&n, 0, IDS(net_op(&n, 0, "MatMul", IDS(y, w), NO_ATTRS)));
    err_clear(&err);
    must(job_make_precise(n.m, &q, NULL, &err), &err);
    assert_int_equal(ir_opset_version(n.m, STR("")), 18);
    assert_int_equal(ir_value_at(n.m, w)->constant->dtype, IR_BFLOAT16);
    net_close(&n);
    n = opened(13); /* an opset that was asked for stays */
    x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 4, 8, 8));
    net_outputs(&n, 0,
                IDS(net_op(&n, 0, "Conv", IDS(x, net_weight(&n, 0, DIMS(2, 4, 1, 1))), NO_ATTRS)));
    q.keep_opset = true;
    assert_int_equal(job_make_precise(n.m, &q, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    net_close(&n);
}

/* A scaled bias, and weights that are a stack of matrices. */
static void dynamic_forms_run(void **state)
{
    (void)state;
    engine *e = runs_engine();
    if (!e)
        SKIP_BECAUSE("no engine");
    for (int stack = 0; stack < 2; stack++) {
        ir_attr half = {.name = STR("beta"), .kind = IR_ATTR_FLOAT, .n = 1, .v.f = 0.5};
        job_precision q = asked("int8-dynamic", e);
        assay_error err = {0};
        net n = opened(17);
        ir_id y;
        if (stack)
            y = net_op(&n, 0, "MatMul",
                       IDS(net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3, 8)),
                           net_weight(&n, 0, DIMS(2, 8, 5))),
                       NO_ATTRS);
        else
            y = net_op(&n, 0, "Gemm",
                       IDS(net_input(&n, 0, "x", IR_FLOAT32, DIMS(3, 8)),
                           net_weight(&n, 0, DIMS(8, 5)), net_weight(&n, 0, DIMS(5))),
                       1, &half);
        net_outputs(&n, 0, IDS(y));
        run_output whole = runs_model(e, n.m);
        must(job_make_precise(n.m, &q, NULL, &err), &err);
        run_output less = runs_model(e, n.m);
        assert_true(runs_difference(less, whole) < 0.05);
        free(whole.p);
        free(less.p);
        net_close(&n);
    }
    engine_close(e);
}

/* Bounds are on |y - y32| / |y32| with random weights, which are harder than trained ones: errors do not
 * fall on directions that training made unimportant. */
static void outputs_are_close(void **state)
{
    engine *e = runs_engine();
    (void)state;
    if (!e)
        SKIP_BECAUSE("no engine");
    static const struct {
        const char *model, *shape, *precision;
        double bound, size; /* of the file, against float32's */
    } rows[] = {
        {"lenet", NULL, "fp16", 1e-2, 0.52},
        {"lenet", NULL, "int8-dynamic", 0.05, 0.32},
        {"lenet", NULL, "int8", 0.1, 0.32},
        {"mlp", NULL, "fp16", 1e-2, 0.52},
        {"mlp", NULL, "int8-dynamic", 0.05, 0.32},
        {"mlp", NULL, "int8", 0.1, 0.32},
        {"resnet18", "1,3,64,64", "fp16", 1e-2, 0.51},
        {"resnet18", "1,3,64,64", "int8-dynamic", 0.05, 1.0},
        {"resnet18", "1,3,64,64", "int8", 0.1, 0.27},
        {"mobilenet_v2", "1,3,64,64", "fp16", 1e-2, 0.52},
        {"mobilenet_v2", "1,3,64,64", "int8", 0.25, 0.33},
        {"swinir_lightweight_x2", "1,3,32,32", "fp16", 1e-2, 0.6},
        {"swinir_lightweight_x2", "1,3,32,32", "int8-dynamic", 0.05, 0.6},
        {"swinir_lightweight_x2", "1,3,32,32", "int8", 0.1, 0.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assay_error err = {0};
        job_precision q = asked(rows[i].precision, e);
        zoo_model z = open_zoo(rows[i].model, rows[i].shape, 17);
        run_output whole = runs_model(e, z.m);
        must(job_make_precise(z.m, &q, NULL, &err), &err);
        totals_of(z.m);
        run_output less = runs_model(e, z.m);
        double d = runs_difference(less, whole),
               size = (double)less.file_bytes / (double)whole.file_bytes;
        print_message("%-21s %-13s error %.5f, file %.3f\n", rows[i].model, rows[i].precision, d,
                      size);
        assert_true(d > 0 && d < rows[i].bound);
        assert_true(size < rows[i].size);
        free(whole.p);
        free(less.p);
        assay_model_free(z.a);
    }
    engine_close(e);
}

/* A model from a file, through the public functions: the model stays as it was. */
static void files_are_converted(void **state)
{
    (void)state;
    static const char *const names[] = {"fp16", "int8-dynamic", "bf16"};
    assay_error err = {0};
    assay_model *a, *b;
    char *folder, path[512], to[512];
    assay_export_info first = {.size = sizeof first}, got = {.size = sizeof got};
    must(file_temp_folder(&folder, &err), &err);
    snprintf(path, sizeof path, "%s/a.onnx", folder);
    snprintf(to, sizeof to, "%s/b.onnx", folder);
    must(assay_model_open("mlp", &a, &err), &err);
    must(assay_export(a, path, NULL, &first, &err), &err);
    must(assay_model_open(path, &b, &err), &err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assay_options *o = assay_options_new();
        must(assay_options_set(o, "precision", names[i], &err), &err);
        must(assay_export(b, to, o, &got, &err), &err);
        assert_int_equal(got.random_tensors, 0);
        assert_true(got.model_bytes < first.model_bytes * 11 / 20);
        assay_options_free(o);
    }
    must(assay_export(b, to, NULL, &got, &err), &err);
    assert_int_equal(got.model_bytes, first.model_bytes);
    assay_options *o = assay_options_new();
    must(assay_options_set(o, "precision", "int4", &err), &err);
    assert_int_equal(assay_export(b, to, o, &got, &err), ASSAY_ERR_UNSUPPORTED);
    assay_options_free(o);
    assay_model_free(a);
    assay_model_free(b);
    file_remove_folder(folder);
    free(folder);
}

int run_test_precision(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(names_of_precisions),
        cmocka_unit_test(weights_convert_when_read),
        cmocka_unit_test(half_keeps_what_callers_see),
        cmocka_unit_test(half_to_the_border),
        cmocka_unit_test(half_and_whole_of_one_weight),
        cmocka_unit_test(half_leaves_shape_arithmetic),
        cmocka_unit_test(half_goes_into_bodies),
        cmocka_unit_test(bfloat_needs_its_opset),
        cmocka_unit_test(nothing_to_halve_is_said),
        cmocka_unit_test(dynamic_takes_gemm_apart),
        cmocka_unit_test(nothing_to_quantise_is_said),
        cmocka_unit_test(qdq_surrounds_convolutions),
        cmocka_unit_test(counts_stay_and_bytes_shrink),
        cmocka_unit_test(files_are_converted),
        cmocka_unit_test(outputs_are_close),
        cmocka_unit_test(old_files_are_raised),
        cmocka_unit_test(out_of_reach_is_said),
        cmocka_unit_test(dynamic_forms_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
