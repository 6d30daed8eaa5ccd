/* Files that lie, on the whole road: bytes to model to profile to report through the public header.
 *
 * Whatever the bytes are, the answer is a profile, or a status 3 or 4 with one sentence. A profile that comes out
 * holds together: its totals are the sums of its layers. Time and memory stay below HONEST_TIMES of what an honest
 * model of 20,000 nodes takes on the same machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <assay/assay.h>

#include "base/num.h"
#include "support/cpu.h"
#include "support/onnx_writer.h"
#include "support/values.h"

enum { F32 = 1, I64 = 7, BOOL = 9 };

#define GIANT INT64_C(0x4000000000000000)
#define DIMS(...)                                                                \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) \
    {                                                                            \
        __VA_ARGS__                                                              \
    }
#define SCALAR 0, NULL

/* ---- the road ---- */

static void check_profile(const assay_result *p)
{
    totals t;
    uint64_t flops = 0, macs = 0;
    t = totals_of(p);
    for (size_t k = 0; k < count_at(p, "layers"); k++) {
        flops = sat_add(flops, whole_at(p, "layers.%zu.flops", k));
        macs = sat_add(macs, whole_at(p, "layers.%zu.macs", k));
    }
    assert_int_equal(flops, t.flops);
    assert_int_equal(macs, t.macs);
    assert_true(t.activations_peak_bytes >= t.lower_bound_bytes);
}

static assay_status report_all(const assay_result *p, const assay_options *o, assay_error *err)
{
    static const char *const formats[] = {"console", "json", "csv"};
    assay_status s = ASSAY_OK;
    for (size_t k = 0; k < 3 && s == ASSAY_OK; k++) {
        char *text = NULL;
        size_t n = 0;
        s = assay_result_write(p, formats[k], o, &text, &n, err);
        assert_true(s != ASSAY_OK || n > 0);
        assay_free(text);
    }
    return s;
}

static assay_status analyse(assay_model *m, assay_error *err)
{
    assay_options *o = assay_options_new();
    assay_result *p = NULL;
    assert_int_equal(assay_options_set(o, "training", NULL, err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "verbose", NULL, err), ASSAY_OK);
    assay_status s = assay_analyze(m, o, &p, err);
    if (s == ASSAY_OK) {
        check_profile(p);
        s = report_all(p, o, err);
    }
    assay_result_free(p);
    assay_options_free(o);
    return s;
}

/* What a hostile file takes is measured beside what an honest one of 20,000 nodes takes here. */
enum { HONEST_TIMES = 10 };
static double honest_s;

static assay_status road(const void *bytes, size_t n)
{
    assay_error err = {0};
    assay_model *m = NULL;
    /* Exactly as large, so that a sanitizer sees a read past the end. */
    uint8_t *exact = malloc(n ? n : 1);
    memcpy(exact, bytes, n);
    double since = cpu_seconds();
    assay_status s = assay_model_from_bytes(exact, n, "bad", NULL, &m, &err);
    if (s == ASSAY_OK)
        s = analyse(m, &err);
    assay_model_free(m);
    double took = cpu_seconds() - since;
    free(exact);
    if (honest_s > 0 && took > HONEST_TIMES * honest_s)
        fail_msg("took %.1f s, an honest model %.1f s (status %d: %s)", took, honest_s, s,
                 err.message);
    if (s != ASSAY_OK && s != ASSAY_ERR_MALFORMED && s != ASSAY_ERR_UNSUPPORTED)
        fail_msg("status %d: %s", s, err.message);
    assert_true((s == ASSAY_OK) == (err.message[0] == '\0'));
    return s;
}

/* Takes m. */
static assay_status road_of(ww m)
{
    assay_status s = road(m.p, m.n);
    ww_free(&m);
    return s;
}

static ww graph_of(const char *input, int rank, const int64_t *dims, const char *output)
{
    ww g = {0};
    ww_str(&g, 2, "g");
    ww_sub(&g, 11, ow_info(input, F32, rank, dims));
    ww_sub(&g, 12, ow_value(output));
    return g;
}

/* Every value lives to the end. */
static ww wide_model(void)
{
    ww g = graph_of("x", DIMS(2), "y");
    ww all = {0};
    for (int k = 0; k < 20000; k++) {
        char out[16];
        snprintf(out, sizeof out, "v%d", k);
        ww_sub(&g, 1, ow_node("Relu", "", NAMES("x"), NAMES(out)));
        ww_str(&all, 1, out);
    }
    ww_str(&all, 2, "y");
    ww_str(&all, 4, "Concat");
    ww_sub(&g, 1, ow_with(all, ow_attr_int("axis", 0)));
    return ow_model(g);
}

static int time_an_honest_model(void **state)
{
    (void)state;
    double since = cpu_seconds();
    assert_int_equal(road_of(wide_model()), ASSAY_OK);
    honest_s = cpu_seconds() - since;
    return 0;
}

#define GOOD(m)    assert_int_equal(road_of(m), ASSAY_OK)
#define REFUSED(m) assert_int_not_equal(road_of(m), ASSAY_OK)
#define BROKEN(m)  assert_int_equal(road_of(m), ASSAY_ERR_MALFORMED)

/* ---- models to damage ---- */

static ww ints(const char *name, int n, const int64_t *v)
{
    int64_t dims[] = {n};
    return ow_raw(name, I64, n == 1 ? 0 : 1, dims, v, (size_t)n * 8);
}

static ww attr_ints(const char *name, int n, const int64_t *v)
{
    ww w = ow_attr(name, 7);
    for (int k = 0; k < n; k++)
        ww_int(&w, 8, v[k]);
    return w;
}

static ww zeros(const char *name, int rank, const int64_t *dims)
{
    static const float content[4096];
    size_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= (size_t)dims[d];
    return ow_raw(name, F32, rank, dims, content, n * sizeof *content);
}

/* Convolution, normalisation, pooling, shape arithmetic, linear. */
static ww vision_model(void)
{
    ww g = graph_of("x", DIMS(1, 2, 6, 6), "y");
    ww conv = ow_node("Conv", "/a/Conv", NAMES("x", "w"), NAMES("c"));
    ww_sub(&g, 1, ow_with(conv, attr_ints("pads", DIMS(1, 1, 1, 1))));
    ww_sub(&g, 1,
           ow_node("BatchNormalization", "/a/bn", NAMES("c", "s", "s", "s", "s"), NAMES("n")));
    ww pool = ow_node("MaxPool", "/b/MaxPool", NAMES("n"), NAMES("p"));
    ww_sub(&g, 1, ow_with(pool, attr_ints("kernel_shape", DIMS(2, 2))));
    ww_sub(&g, 1, ow_node("Shape", "", NAMES("p"), NAMES("ps")));
    ww_sub(&g, 1, ow_node("Gather", "", NAMES("ps", "zero"), NAMES("batch")));
    ww_sub(&g, 1, ow_node("Unsqueeze", "", NAMES("batch", "axis"), NAMES("b1")));
    ww_sub(
        &g, 1,
        ow_with(ow_node("Concat", "", NAMES("b1", "rest"), NAMES("to")), ow_attr_int("axis", 0)));
    ww_sub(&g, 1, ow_node("Reshape", "", NAMES("p", "to"), NAMES("flat")));
    ww_sub(&g, 1, ow_node("MatMul", "/fc/MatMul", NAMES("flat", "fc"), NAMES("y")));
    ww_sub(&g, 5, zeros("w", DIMS(2, 2, 3, 3)));
    ww_sub(&g, 5, zeros("s", DIMS(2)));
    ww_sub(&g, 5, zeros("fc", DIMS(50, 3)));
    ww_sub(&g, 5, ints("zero", 1, (int64_t[]){0}));
    ww_sub(&g, 5, ow_raw("axis", I64, DIMS(1), (int64_t[]){0}, 8));
    ww_sub(&g, 5, ow_raw("rest", I64, DIMS(1), (int64_t[]){-1}, 8));
    return ow_model(g);
}

static ww branch(const char *op, const char *in)
{
    ww g = {0};
    ww_sub(&g, 1, ow_node(op, "", NAMES(in), NAMES("r")));
    ww_str(&g, 2, "branch");
    ww_sub(&g, 12, ow_value("r"));
    return g;
}

static ww if_node(const char *out, ww then_branch, ww else_branch)
{
    ww n = ow_node("If", "", NAMES("cond"), NAMES(out));
    n = ow_with(n, ow_attr_graph("then_branch", then_branch));
    return ow_with(n, ow_attr_graph("else_branch", else_branch));
}

/* A body that doubles its state by `op`, to be run as (trip, condition, state). */
static ww loop_body(const char *op)
{
    ww g = {0};
    ww_sub(&g, 1, ow_node(op, "", NAMES("s", "s"), NAMES("t")));
    ww_sub(&g, 1, ow_node("Identity", "", NAMES("c"), NAMES("d")));
    ww_str(&g, 2, "body");
    ww_sub(&g, 11, ow_value("i"));
    ww_sub(&g, 11, ow_value("c"));
    ww_sub(&g, 11, ow_value("s"));
    ww_sub(&g, 12, ow_value("d"));
    ww_sub(&g, 12, ow_value("t"));
    return g;
}

static ww call(const char *function, const char *in, const char *out)
{
    ww n = ow_node(function, "", NAMES(in), NAMES(out));
    ww_str(&n, 7, "own");
    return n;
}

/* Branches, a loop, a function. */
static ww control_model(void)
{
    ww g = graph_of("x", DIMS(2, 3), "y");
    ww_sub(&g, 11, ow_info("cond", BOOL, SCALAR));
    ww_sub(&g, 1, if_node("a", branch("Relu", "x"), branch("Exp", "x")));
    ww loop = ow_node("Loop", "loop", NAMES("trips", "", "a"), NAMES("b"));
    ww_sub(&g, 1, ow_with(loop, ow_attr_graph("body", loop_body("Add"))));
    ww_sub(&g, 1, call("F", "b", "y"));
    ww_sub(&g, 5, ints("trips", 1, (int64_t[]){4}));
    ww f = ow_function("own", "F", NAMES("p"), NAMES("q"));
    ww_sub(&f, 7, ow_node("Sigmoid", "", NAMES("p"), NAMES("h")));
    ww_sub(&f, 7, ow_node("Mul", "", NAMES("h", "p"), NAMES("q")));
    ww m = ow_model(g);
    ww_sub(&m, 8, ow_opset("own", 1));
    ww_sub(&m, 25, f);
    return m;
}

/* Recurrence and attention: long attribute lists, many optional inputs. */
static ww sequence_model(void)
{
    ww g = graph_of("x", DIMS(5, 1, 4), "y");
    ww lstm = ow_node("LSTM", "lstm", NAMES("x", "w", "r"), NAMES("h", "hn", "cn"));
    ww_sub(&g, 1, ow_with(lstm, ow_attr_int("hidden_size", 2)));
    ww_sub(&g, 1,
           ow_with(ow_node("Squeeze", "", NAMES("h", "axis"), NAMES("q")), ow_attr_int("k", 1)));
    ww_sub(&g, 1, ow_with(ow_node("Softmax", "", NAMES("q"), NAMES("y")), ow_attr_int("axis", -1)));
    ww_sub(&g, 5, zeros("w", DIMS(1, 8, 4)));
    ww_sub(&g, 5, zeros("r", DIMS(1, 8, 2)));
    ww_sub(&g, 5, ow_raw("axis", I64, DIMS(1), (int64_t[]){1}, 8));
    return ow_model(g);
}

static void damage(ww m)
{
    static const uint8_t flips[] = {0xff, 0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80};
    assert_int_equal(road(m.p, m.n), ASSAY_OK);
    for (size_t n = 0; n < m.n; n++)
        road(m.p, n);
    for (size_t i = 0; i < m.n; i++) {
        for (size_t k = 0; k < sizeof flips; k++) {
            m.p[i] ^= flips[k];
            road(m.p, m.n);
            m.p[i] ^= flips[k];
        }
    }
    ww_free(&m);
}

static void test_damaged_vision(void **state)
{
    (void)state;
    damage(vision_model());
}

static void test_damaged_control(void **state)
{
    (void)state;
    damage(control_model());
}

static void test_damaged_sequence(void **state)
{
    (void)state;
    damage(sequence_model());
}

/* ---- files that are no model ---- */

static void test_no_model(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "hello\n",
                                        "<!DOCTYPE html><html></html>",
                                        "{\"a\": 1}",
                                        "PK\x03\x04zip",
                                        "\x80\x02}q",
                                        "GGUF\x03",
                                        "\n",
                                        "\x08\x08"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        assert_int_not_equal(road(texts[k], strlen(texts[k])), ASSAY_OK);
    uint8_t zero[4096] = {0};
    assert_int_not_equal(road(zero, sizeof zero), ASSAY_OK);
}

/* ---- the wire ---- */

static void test_wire(void **state)
{
    (void)state;
    /* Each field of the graph and the model with each wire type. */
    for (unsigned field = 1; field < 28; field++) {
        for (unsigned type = 0; type < 8; type++) {
            ww g = graph_of("x", DIMS(2), "y"), m;
            ww_sub(&g, 1, ow_node("Relu", "", NAMES("x"), NAMES("y")));
            ww_tag(&g, field, type);
            ww_fixed(&g, 1, 8);
            road_of(ow_model(g));
            m = vision_model();
            ww_tag(&m, field, type);
            ww_fixed(&m, 1, 8);
            road_of(m);
        }
    }
    for (unsigned field = 1; field < 28; field++) {
        ww m = vision_model();
        ww_tag(&m, field, 2);
        ww_varint(&m, UINT64_MAX - field);
        BROKEN(m);
    }
}

static void test_groups(void **state)
{
    (void)state;
    ww m = vision_model();
    for (int k = 0; k < 1000000; k++)
        ww_tag(&m, 900, 3);
    BROKEN(m);
}

static void test_long_lists(void **state)
{
    (void)state;
    static int64_t many[1000000];
    ww g = graph_of("x", DIMS(2), "y");
    ww t = ow_tensor("t", I64, DIMS(1000000));
    ww_packed(&t, 7, many, 1000000);
    ww_sub(&g, 5, t);
    ww a = ow_attr("many", 7);
    ww_packed(&a, 8, many, 1000000);
    ww_sub(&g, 1, ow_with(ow_node("Relu", "", NAMES("x"), NAMES("y")), a));
    ww_sub(&g, 1, ow_node("Add", "", NAMES("t", "t"), NAMES("z")));
    GOOD(ow_model(g));
    /* A tensor of a million dims. */
    ww rank = {0};
    ww_packed(&rank, 1, many, 1000000);
    ww_int(&rank, 2, F32);
    ww_str(&rank, 8, "rank");
    g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 5, rank);
    ww_sub(&g, 1, ow_node("Relu", "", NAMES("x"), NAMES("y")));
    REFUSED(ow_model(g));
}

/* Two bytes each in the file: empty nodes, inputs, attributes, declarations. */
static void test_empty_messages(void **state)
{
    (void)state;
    static const unsigned fields[] = {1, 5, 11, 12, 13, 15};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        ww g = graph_of("x", DIMS(2), "y");
        ww_sub(&g, 1, ow_node("Relu", "", NAMES("x"), NAMES("y")));
        for (int n = 0; n < 100000; n++)
            ww_sub(&g, fields[k], (ww){0});
        road_of(ow_model(g));
    }
    for (unsigned field = 1; field <= 7; field++) {
        ww node = ow_node("Relu", "", NAMES("x"), NAMES("y"));
        for (int n = 0; n < 100000; n++)
            ww_sub(&node, field, (ww){0});
        ww g = graph_of("x", DIMS(2), "y");
        ww_sub(&g, 1, node);
        road_of(ow_model(g));
    }
}

/* ---- sizes ---- */

static ww op_on(const char *op, int rank, const int64_t *dims, const char *second, ww init)
{
    ww g = graph_of("x", rank, dims, "y");
    ww_sub(&g, 1, ow_node(op, "", NAMES("x", second), NAMES("y")));
    if (init.n)
        ww_sub(&g, 5, init);
    return ow_model(g);
}

static void test_giant_dims(void **state)
{
    (void)state;
    static const char *const ops[] = {"Add",
                                      "MatMul",
                                      "Conv",
                                      "Reshape",
                                      "Expand",
                                      "Tile",
                                      "Pad",
                                      "Concat",
                                      "Gather",
                                      "Gemm",
                                      "ScatterND",
                                      "OneHot",
                                      "Resize",
                                      "TopK",
                                      "Slice",
                                      "Einsum",
                                      "ConstantOfShape",
                                      "Range",
                                      "Compress",
                                      "Split",
                                      "GatherND",
                                      "Upsample",
                                      "LSTM"};
    static const int64_t odd[] = {GIANT, INT64_MAX, INT64_MIN, -1, 0, INT64_C(1) << 32, -GIANT};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        for (size_t a = 0; a < sizeof odd / sizeof *odd; a++) {
            const int64_t v = odd[a];
            road_of(op_on(ops[k], DIMS(v, v, v), "x", (ww){0}));
            road_of(op_on(ops[k], DIMS(v), "x", (ww){0}));
            road_of(op_on(ops[k], DIMS(1, 2, 3), "k", ints("k", 3, (int64_t[]){v, v, v})));
            road_of(
                op_on(ops[k], DIMS(1, 2, 3), "k", ow_raw("k", I64, DIMS(1), (int64_t[]){v}, 8)));
            road_of(op_on(ops[k], DIMS(v, 2, 3), "k", ow_tensor("k", F32, DIMS(v, 1, v))));
            road_of(op_on(ops[k], DIMS(1, 2, 3), "k", ow_tensor("k", F32, DIMS(v, 1, v))));
        }
    }
}

static void test_giant_attributes(void **state)
{
    (void)state;
    static const char *const ops[] = {"Conv", "MaxPool", "ConvTranspose", "AveragePool", "LpPool"};
    static const char *const names[] = {"kernel_shape", "pads", "strides", "dilations",
                                        "output_shape"};
    static const int64_t odd[] = {GIANT, INT64_MAX, INT64_MIN, -1, 0};
    for (size_t k = 0; k < 5; k++) {
        for (size_t n = 0; n < 5; n++) {
            for (size_t a = 0; a < 5; a++) {
                ww g = graph_of("x", DIMS(1, 2, 9, 9), "y");
                ww node = ow_node(ops[k], "", NAMES("x", "w"), NAMES("y"));
                node = ow_with(node, attr_ints(names[n], DIMS(odd[a], odd[a], odd[a], odd[a])));
                ww_sub(&g, 1, ow_with(node, ow_attr_int("group", odd[a])));
                ww_sub(&g, 5, ow_tensor("w", F32, DIMS(2, 2, 3, 3)));
                road_of(ow_model(g));
            }
        }
    }
}

/* x, x+x, ... : contents that double until they cannot be followed. */
static void test_doubling(void **state)
{
    (void)state;
    ww g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 5, ints("v0", 2, (int64_t[]){1, 2}));
    ww_sub(&g, 1, ow_node("Relu", "", NAMES("x"), NAMES("y")));
    for (int k = 0; k < 70; k++) {
        char in[16], out[16];
        snprintf(in, sizeof in, "v%d", k);
        snprintf(out, sizeof out, "v%d", k + 1);
        ww_sub(&g, 1,
               ow_with(ow_node("Concat", "", NAMES(in, in), NAMES(out)), ow_attr_int("axis", 0)));
    }
    road_of(ow_model(g));
}

/* Many large contents: shape arithmetic is followed, but not without end. */
static void test_many_contents(void **state)
{
    (void)state;
    static int64_t content[16384];
    ww g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 5, ints("v0", 16384, content));
    ww_sub(&g, 1, ow_node("Relu", "", NAMES("x"), NAMES("y")));
    for (int k = 0; k < 20000; k++) {
        char in[16], out[16];
        snprintf(in, sizeof in, "v%d", k);
        snprintf(out, sizeof out, "v%d", k + 1);
        ww_sub(&g, 1, ow_node("Add", "", NAMES(in, "v0"), NAMES(out)));
    }
    GOOD(ow_model(g));
}

/* ---- names and order ---- */

static void test_cycles(void **state)
{
    (void)state;
    ww g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1, ow_node("Add", "a", NAMES("x", "c"), NAMES("b")));
    ww_sub(&g, 1, ow_node("Relu", "b", NAMES("b"), NAMES("c")));
    ww_sub(&g, 1, ow_node("Relu", "c", NAMES("c"), NAMES("y")));
    BROKEN(ow_model(g));
    g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1, ow_node("Add", "self", NAMES("x", "y"), NAMES("y")));
    BROKEN(ow_model(g));
    g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 11, ow_info("cond", BOOL, SCALAR));
    ww_sub(&g, 1, if_node("y", branch("Relu", "y"), branch("Exp", "x")));
    BROKEN(ow_model(g));
}

static void test_duplicates(void **state)
{
    (void)state;
    ww g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1, ow_node("Relu", "a", NAMES("x"), NAMES("y")));
    ww_sub(&g, 1, ow_node("Exp", "a", NAMES("x"), NAMES("y")));
    BROKEN(ow_model(g));
    g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1, ow_node("Split", "a", NAMES("x"), NAMES("y", "y")));
    BROKEN(ow_model(g));
    g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 11, ow_info("x", F32, DIMS(3)));
    ww_sub(&g, 1, ow_node("Relu", "a", NAMES("x"), NAMES("y")));
    BROKEN(ow_model(g));
    ww m = control_model();
    ww f = ow_function("own", "F", NAMES("p"), NAMES("q"));
    ww_sub(&f, 7, ow_node("Relu", "", NAMES("p"), NAMES("q")));
    ww_sub(&m, 25, f);
    BROKEN(m);
    g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1, ow_node("Relu", "a", NAMES("nowhere"), NAMES("y")));
    BROKEN(ow_model(g));
}

/* Names as paths of thousands of modules. */
static void test_deep_names(void **state)
{
    (void)state;
    enum { DEPTH = 20000, NODES = 50 };
    static char name[2 * DEPTH + 32];
    ww g = graph_of("x", DIMS(2), "v0");
    for (int k = 0; k < NODES; k++) {
        char out[16];
        for (int d = 0; d < DEPTH; d++)
            memcpy(name + 2 * d, d % 2 ? "/b" : "/a", 2);
        snprintf(name + 2 * DEPTH, 32, "%d/Relu", k);
        snprintf(out, sizeof out, "v%d", k);
        ww_sub(&g, 1, ow_node("Relu", name, NAMES("x"), NAMES(out)));
    }
    GOOD(ow_model(g));
}

/* ---- bombs ---- */

static void test_nested_branches(void **state)
{
    (void)state;
    for (int depth = 10; depth <= 10000; depth *= 10) {
        ww inner = branch("Relu", "x");
        for (int k = 0; k < depth; k++) {
            ww g = {0};
            ww_sub(&g, 1, if_node("r", inner, branch("Exp", "x")));
            ww_str(&g, 2, "b");
            ww_sub(&g, 12, ow_value("r"));
            inner = g;
        }
        ww g = graph_of("x", DIMS(2), "y");
        ww_sub(&g, 11, ow_info("cond", BOOL, SCALAR));
        ww_sub(&g, 1, if_node("y", inner, branch("Exp", "x")));
        road_of(ow_model(g));
    }
}

/* A loop in a loop in a loop: each level may be looked at more than once, but not twice per level. */
static ww loops(int depth, const char *op, const char *limit)
{
    ww inner = loop_body(op);
    for (int k = 0; k < depth; k++) {
        ww g = {0};
        ww n = ow_node("Loop", "", NAMES(limit, "", "s"), NAMES("t"));
        ww_sub(&g, 1, ow_with(n, ow_attr_graph("body", inner)));
        ww_sub(&g, 1, ow_node("Identity", "", NAMES("c"), NAMES("d")));
        ww_str(&g, 2, "b");
        ww_sub(&g, 11, ow_value("i"));
        ww_sub(&g, 11, ow_value("c"));
        ww_sub(&g, 11, ow_value("s"));
        ww_sub(&g, 12, ow_value("d"));
        ww_sub(&g, 12, ow_value("t"));
        inner = g;
    }
    ww g = graph_of("x", DIMS(2), "y");
    ww n = ow_node("Loop", "", NAMES(limit, "", "x"), NAMES("y"));
    ww_sub(&g, 1, ow_with(n, ow_attr_graph("body", inner)));
    ww_sub(&g, 5, ints("trips", 1, (int64_t[]){1000000}));
    return ow_model(g);
}

static void test_nested_loops(void **state)
{
    (void)state;
    static const char *const ops[] = {"Add", "MatMul", "Concat", "Reshape", "Mystery"};
    for (size_t k = 0; k < 5; k++) {
        road_of(loops(3, ops[k], "trips"));
        road_of(loops(25, ops[k], "trips"));
        road_of(loops(25, ops[k], ""));
    }
}

/* Attributes that refer to those of a function's caller, outside of any function. */
static void test_loose_references(void **state)
{
    (void)state;
    ww g = graph_of("x", DIMS(2), "y");
    ww n = ow_node("If", "", NAMES("cond"), NAMES("y"));
    n = ow_with(n, ow_attr_ref("then_branch", 5, "a"));
    n = ow_with(n, ow_attr_ref("else_branch", 5, "b"));
    ww_sub(&g, 11, ow_info("cond", BOOL, SCALAR));
    ww_sub(&g, 1, n);
    REFUSED(ow_model(g));
    g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1,
           ow_with(ow_node("Constant", "", NO_NAMES, NAMES("c")), ow_attr_ref("value", 4, "a")));
    ww_sub(&g, 1, ow_node("Add", "", NAMES("x", "c"), NAMES("y")));
    road_of(ow_model(g));
}

/* f0 calls f1 twice, f1 calls f2 twice, ...; the last one does nothing or one thing. */
static ww function_bomb(int depth, bool work)
{
    ww g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1, call("f0", "x", "y"));
    ww m = ow_model(g);
    ww_sub(&m, 8, ow_opset("own", 1));
    for (int k = 0; k < depth; k++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "f%d", k);
        snprintf(next, sizeof next, "f%d", k + 1);
        ww f = ow_function("own", name, NAMES("p"), NAMES("q"));
        ww_sub(&f, 7, call(next, "p", "h"));
        ww_sub(&f, 7, call(next, "h", "q"));
        ww_sub(&m, 25, f);
    }
    char last[16];
    snprintf(last, sizeof last, "f%d", depth);
    ww f = work ? ow_function("own", last, NAMES("p"), NAMES("q"))
                : ow_function("own", last, NAMES("p"), NAMES("p"));
    if (work)
        ww_sub(&f, 7, ow_node("Relu", "", NAMES("p"), NAMES("q")));
    ww_sub(&m, 25, f);
    return m;
}

static void test_function_bombs(void **state)
{
    (void)state;
    GOOD(function_bomb(4, true));
    GOOD(function_bomb(4, false));
    for (int depth = 14; depth <= 40; depth += 13) {
        road_of(function_bomb(depth, true));
        road_of(function_bomb(depth, false));
    }
    REFUSED(function_bomb(40, true));
}

static void test_function_circles(void **state)
{
    (void)state;
    ww m = control_model();
    ww f = ow_function("own", "G", NAMES("p"), NAMES("q"));
    ww_sub(&f, 7, call("G", "p", "q"));
    ww_sub(&m, 25, f);
    road_of(m); /* nobody calls it */
    ww g = graph_of("x", DIMS(2), "y");
    ww_sub(&g, 1, call("G", "x", "y"));
    m = ow_model(g);
    ww_sub(&m, 8, ow_opset("own", 1));
    f = ow_function("own", "G", NAMES("p"), NAMES("q"));
    ww_sub(&f, 7, call("H", "p", "q"));
    ww_sub(&m, 25, f);
    f = ow_function("own", "H", NAMES("p"), NAMES("q"));
    ww_sub(&f, 7, call("G", "p", "q"));
    ww_sub(&m, 25, f);
    BROKEN(m);
}

/* ---- large but honest ---- */

static void test_wide(void **state)
{
    (void)state;
    GOOD(wide_model());
}

/* Stored last to first. */
static void test_backwards(void **state)
{
    (void)state;
    ww g = graph_of("v0", DIMS(2), "v20000");
    for (int k = 20000; k > 0; k--) {
        char in[16], out[16];
        snprintf(in, sizeof in, "v%d", k - 1);
        snprintf(out, sizeof out, "v%d", k);
        ww_sub(&g, 1, ow_node("Relu", "", NAMES(in), NAMES(out)));
    }
    GOOD(ow_model(g));
}

static long peak_resident(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* In a process of its own, whose peak is of these models alone. */
static int bombs_take_less_than_honest_models_allow(void)
{
    road_of(wide_model());
    long honest = peak_resident();
    for (int depth = 14; depth <= 40; depth += 13)
        road_of(function_bomb(depth, true));
    print_message("peak resident memory: %ld KiB, then %ld KiB\n", honest, peak_resident());
    return peak_resident() > HONEST_TIMES * honest;
}

static void test_memory(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(bombs_take_less_than_honest_models_allow());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int run_test_malformed(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_vision),
        cmocka_unit_test(test_damaged_control),
        cmocka_unit_test(test_damaged_sequence),
        cmocka_unit_test(test_no_model),
        cmocka_unit_test(test_wire),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_empty_messages),
        cmocka_unit_test(test_giant_dims),
        cmocka_unit_test(test_giant_attributes),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_many_contents),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_deep_names),
        cmocka_unit_test(test_nested_branches),
        cmocka_unit_test(test_nested_loops),
        cmocka_unit_test(test_loose_references),
        cmocka_unit_test(test_function_bombs),
        cmocka_unit_test(test_function_circles),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, time_an_honest_model, NULL);
}
