/* YOLO models: the counts that Ultralytics prints (model summaries in the files of its architectures, tables of its
 * documentation), tables of layers of one's own, and tables that do not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "ir/verify.h"
#include "zoo/zoo.h"

enum { MEMORY = 1 << 30 };

/* Takes `set`: "key=value ..." and, when not NULL, the JSON of "backbone". */
static assay_status build(const char *name, const char *set, const char *layers, ir_model **m,
                          assay_error *err)
{
    arena *a = arena_new(MEMORY);
    zoo_args args;
    json_value list;
    zoo_args_init(&args, a);
    err_clear(err);
    assert_int_equal(zoo_args_parse(&args, str_of(set), false, err), ASSAY_OK);
    if (layers) {
        assert_int_equal(json_tree_parse(str_of(layers), "test", NULL, a, &list, err), ASSAY_OK);
        assert_true(zoo_args_put(&args, STR("backbone"), list, false));
    }
    const zoo_row *row = layers ? zoo_find_family(str_of(name)) : zoo_find(str_of(name));
    assert_non_null(row);
    zoo_request q = {.row = row, .set = &args, .memory_limit = MEMORY};
    assay_status s = zoo_build(&q, m, err);
    arena_free(a);
    return s;
}

typedef struct counts {
    uint64_t params, thop, macs;
} counts;

static counts count(const char *name, const char *set)
{
    assay_error err;
    counted of;
    infer_result *r = NULL;
    ir_model *m = NULL;
    arena *a = arena_new(MEMORY);
    profile *p = profile_new(MEMORY);
    const count_options opt = {.lens = lens_find(STR("thop"))};
    if (build(name, set, NULL, &m, &err) || ir_verify(m, &err) || infer_run(m, NULL, a, &r, &err) ||
        count_run(r, &opt, p, &of, &err))
        fail_msg("%s: %s", name, err.message);
    counts c = {p->architecture.total_parameters, p->total_flops, p->total_macs};
    assert_int_equal(p->accounting.unknown, 0);
    profile_free(p);
    arena_free(a);
    ir_model_free(m);
    return c;
}

/* Summaries of the unfused models: parameters, and twice what thop counts. */
static void test_summaries(void **state)
{
    static const struct {
        const char *name;
        uint64_t params;
        double gflops;
    } rows[] = {
        {"yolov8n", 3157200, 8.9},    {"yolov8s", 11166560, 28.8},  {"yolov8m", 25902640, 79.3},
        {"yolov8l", 43691520, 165.7}, {"yolov8x", 68229648, 258.5}, {"yolo11n", 2624080, 6.6},
        {"yolo11s", 9458752, 21.7},   {"yolo11m", 20114688, 68.5},  {"yolo11l", 25372160, 87.6},
        {"yolo11x", 56966176, 196.0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counts c = count(rows[i].name, "");
        assert_int_equal(c.params, rows[i].params);
        assert_int_equal(llround(2e-8 * (double)c.thop), llround(10 * rows[i].gflops));
    }
}

/* Tables of the documentation, which are of fused models: parameters in tenths of a million, and twice the
 * multiply-accumulates in tenths of a billion, transposed convolutions by thop's rule. */
static void test_documentation(void **state)
{
    static const struct {
        const char *name, *set;
        double params, gflops;
    } rows[] = {
        {"yolov8n", "", 3.2, 8.7},        {"yolov8m", "", 25.9, 78.9},
        {"yolov8l", "", 43.7, 165.2},     {"yolov8n-seg", "", 3.4, 12.6},
        {"yolov8s-seg", "", 11.8, 42.6},  {"yolov8m-seg", "", 27.3, 110.2},
        {"yolov8n-pose", "", 3.3, 9.2},   {"yolov8m-pose", "", 26.4, 81.0},
        {"yolo11n", "", 2.6, 6.5},        {"yolo11m", "", 20.1, 68.0},
        {"yolo11l", "", 25.3, 86.9},      {"yolo11s-pose", "", 9.9, 23.1},
        {"yolov5nu", "", 2.6, 7.7},       {"yolov5su", "", 9.1, 24.0},
        {"yolov5lu", "", 53.2, 135.0},    {"yolov5s6u", "image_size=640", 15.3, 24.4},
        {"yolov5l-seg", "", 47.9, 147.7}, {"yolov5x-seg", "", 88.8, 265.6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char set[64];
        snprintf(set, sizeof set, "fused=true %s", rows[i].set);
        counts c = count(rows[i].name, set);
        if (llround(1e-5 * (double)c.params) != llround(10 * rows[i].params) ||
            llround(2e-8 * (double)c.thop) != llround(10 * rows[i].gflops))
            fail_msg("%s: %llu parameters, thop %llu", rows[i].name, (unsigned long long)c.params,
                     (unsigned long long)c.thop);
    }
}

static void test_yolov5(void **state)
{
    static const struct {
        const char *name;
        uint64_t params, fused;
    } rows[] = {{"yolov5n", 1872157, 1867405},
                {"yolov5s", 7235389, 7225885},
                {"yolov5m", 21190557, 21172173},
                {"yolov5l", 46563709, 46533693},
                {"yolov5x", 86749405, 86705005}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(count(rows[i].name, "").params, rows[i].params);
        assert_int_equal(count(rows[i].name, "fused=true").params, rows[i].fused);
    }
}

/* Names of weights as Ultralytics' modules have them: layers count from 0. */
static void test_weight_names(void **state)
{
    static const char *const wanted[] = {
        "model.0.conv.weight",
        "model.2.m.0.cv1.bn.bias",
        "model.9.cv2.conv.weight",
        "model.10.m.0.attn.pe.bn.bias",
        "model.10.m.0.ffn.1.conv.weight",
        "model.23.cv2.0.2.bias",
        "model.23.cv3.1.0.0.conv.weight",
        "model.23.dfl.conv.weight",
    };
    ir_model *m = NULL;
    assay_error err;
    (void)state;
    assert_int_equal(build("yolo11n", "", NULL, &m, &err), ASSAY_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool found = false;
        for (ir_id id = 0; id < m->values.n; id++)
            found |= str_is(ir_value_at(m, id)->name, wanted[i]);
        if (!found)
            fail_msg("no weight '%s'", wanted[i]);
    }
    ir_model_free(m);
}

static void test_names(void **state)
{
    (void)state;
    assert_ptr_equal(zoo_find(STR("yolov11n")), zoo_find(STR("yolo11n")));
    assert_non_null(zoo_find(STR("YOLOv8x-seg")));
    assert_non_null(zoo_find(STR("yolov5s6u")));
    assert_null(zoo_find(STR("yolov7")));
}

/* Other classes change the head alone; depth and width what they multiply. */
static void test_parameters(void **state)
{
    (void)state;
    uint64_t at_80 = count("yolov8n", "").params, at_3 = count("yolov8n", "num_classes=3").params;
    assert_true(at_3 < at_80);
    assert_int_equal(count("yolov5s", "depth_multiple=0.67 width_multiple=0.75 scale=m").params,
                     count("yolov5m", "").params);
    assert_int_equal(count("yolov8n", "image_size=320").macs * 4, count("yolov8n", "").macs);
}

static void test_own_table(void **state)
{
    static const struct {
        const char *layers;
        assay_status status;
    } rows[] = {
        {"[[-1,1,\"Conv\",[16,3,2]],[-1,2,\"C3\",[16]],[-1,3,\"Conv\",[16,3,1]]]", ASSAY_OK},
        {"[[-1,1,\"Conv\",[16,3,2]],[[-1,0],1,\"Concat\",[1]],[[1],1,\"Detect\",[\"nc\"]]]",
         ASSAY_OK},
        {"[[-1,1,\"Conv\",[16,3,2]],[-1,1,\"GhostConv\",[16]]]", ASSAY_ERR_UNSUPPORTED},
        {"[[-1,1,\"Conv\",[16,3,2]],[3,1,\"Conv\",[16]]]", ASSAY_ERR_USAGE},
        {"[[-3,1,\"Conv\",[16,3,2]]]", ASSAY_ERR_USAGE},
        {"[[-1,1000000,\"C3\",[16]]]", ASSAY_ERR_USAGE},
        {"[[-1,1,\"Conv\",[0]]]", ASSAY_ERR_USAGE},
        {"[[-1,1,\"Conv\"]]", ASSAY_ERR_USAGE},
        {"[7]", ASSAY_ERR_USAGE},
        {"[]", ASSAY_ERR_USAGE},
        {"[[-1,1,\"C2PSA\",[1]]]", ASSAY_ERR_USAGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ir_model *m = NULL;
        assay_error err;
        assay_status s = build("yolo", "image_size=64", rows[i].layers, &m, &err);
        if (s != rows[i].status)
            fail_msg("%s: %d %s", rows[i].layers, s, err.message);
        ir_model_free(m);
    }
}

int run_test_zoo_yolo(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summaries),  cmocka_unit_test(test_documentation),
        cmocka_unit_test(test_yolov5),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_parameters), cmocka_unit_test(test_weight_names),
        cmocka_unit_test(test_own_table),
    };
    return cmocka_run_group_tests_name("zoo_yolo", tests, NULL, NULL);
}
