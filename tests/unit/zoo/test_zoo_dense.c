/* Segmentation, detection and optical flow: published counts at the number of boxes that each implies,
 * frozen normalisations, the contents of anchor tables, sizes with other batches and images, and
 * parameters that do not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "ir/verify.h"
#include "zoo/zoo.h"

enum { MEMORY = 1 << 30 };

/* ---- helpers ---- */

typedef struct wish {
    const char *name, *set;
    int64_t dims[4]; /* dims[0] 0: the model's own */
} wish;

static assay_status build(wish w, ir_model **m, assay_error *err)
{
    arena *a = arena_new(MEMORY);
    zoo_args set;
    const zoo_input input[] = {{.rank = 4, .dims = w.dims}, {.rank = 4, .dims = w.dims}};
    zoo_args_init(&set, a);
    err_clear(err);
    zoo_request q = {.row = zoo_find(str_of(w.name)),
                     .set = &set,
                     .inputs = input,
                     .n_inputs = w.dims[0] ? (strncmp(w.name, "raft", 4) ? 1 : 2) : 0,
                     .memory_limit = MEMORY};
    assert_non_null(q.row);
    assay_status status = zoo_args_parse(&set, str_of(w.set ? w.set : ""), false, err);
    if (status == ASSAY_OK)
        status = zoo_build(&q, m, err);
    arena_free(a);
    return status;
}

static ir_model *built(wish w)
{
    ir_model *m = NULL;
    assay_error err;
    if (build(w, &m, &err) != ASSAY_OK)
        fail_msg("%s %s: %s", w.name, w.set ? w.set : "", err.message);
    return m;
}

typedef struct counts {
    uint64_t params, buffers, macs;
    unsigned doubts; /* notes and assumptions other than a suppression's */
} counts;

static bool is_suppression(const ir_model *m, ir_id node)
{
    return str_is(ir_node_at(m, node)->op, "NonMaxSuppression");
}

static counts count(const ir_model *m)
{
    assay_error err;
    counted of;
    infer_result *r = NULL;
    arena *a = arena_new(MEMORY);
    profile *p = profile_new(MEMORY);
    unsigned nms = 0;
    err_clear(&err);
    if (ir_verify(m, &err) || infer_run(m, NULL, a, &r, &err) || count_run(r, NULL, p, &of, &err))
        fail_msg("%s", err.message);
    for (uint32_t i = 0; i < r->items.n; i++)
        nms += is_suppression(m, r->items.items[i].node);
    counts c = {.params = p->architecture.total_parameters,
                .buffers = p->architecture.buffers,
                .macs = p->architecture.macs + p->load_time.macs,
                .doubts = r->notes.list.n + r->items.n - 2 * nms + m->notes.list.n};
    profile_free(p);
    arena_free(a);
    return c;
}

static counts count_of(wish w)
{
    ir_model *m = built(w);
    counts c = count(m);
    ir_model_free(m);
    return c;
}

static const ir_value *value_named(const ir_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->values.n; i++)
        if (str_is(m->values.items[i].name, name))
            return &m->values.items[i];
    fail_msg("there is no value '%s'", name);
    return NULL;
}

static void assert_output(const ir_model *m, const char *name, int rank, const int64_t *dims)
{
    const ir_value *v = value_named(m, name);
    assert_true(v->flags & IR_VALUE_OUTPUT);
    assert_int_equal(v->declared.rank, rank);
    for (int i = 0; i < rank; i++)
        assert_int_equal(v->declared.dims[i].value, dims[i]);
}
#define ASSERT_OUTPUT(m, name, ...) \
    assert_output(m, name, NN_COUNT(__VA_ARGS__), (const int64_t[]){__VA_ARGS__})

/* ---- counts ---- */

/* What torchvision publishes, at the boxes that its count implies. All come out to the last digit. */
static void published_counts(void **state)
{
    static const struct {
        const char *name, *set;
        uint64_t params;
        double gmacs;
    } rows[] = {
        {"fcn_resnet50", NULL, 35322218, 152.717},
        {"fcn_resnet101", NULL, 54314346, 232.738},
        {"deeplabv3_resnet50", NULL, 42004074, 178.722},
        {"deeplabv3_resnet101", NULL, 60996202, 258.743},
        {"deeplabv3_mobilenet_v3_large", NULL, 11029328, 10.452},
        {"lraspp_mobilenet_v3_large", NULL, 3221538, 2.086},
        {"fasterrcnn_resnet50_fpn", NULL, 41755286, 134.38},
        {"fasterrcnn_resnet50_fpn_v2", NULL, 43712278, 280.371},
        {"fasterrcnn_mobilenet_v3_large_fpn", "detections=0", 19386354, 4.494},
        {"fasterrcnn_mobilenet_v3_large_320_fpn", "detections=0", 19386354, 0.719},
        {"maskrcnn_resnet50_fpn", "detections=0", 44401393, 134.38},
        {"maskrcnn_resnet50_fpn_v2", "detections=100", 46359409, 333.577},
        {"keypointrcnn_resnet50_fpn", "detections=0", 59137258, 133.924},
        {"keypointrcnn_resnet50_fpn", "detections=1", 59137258, 137.42},
        {"fcos_resnet50_fpn", NULL, 32269600, 128.207},
        {"retinanet_resnet50_fpn", NULL, 34014999, 151.54},
        {"retinanet_resnet50_fpn_v2", NULL, 38198935, 152.238},
        {"ssd300_vgg16", NULL, 35641826, 34.858},
        {"ssdlite320_mobilenet_v3_large", NULL, 3440060, 0.583},
        {"raft_large", NULL, 5257536, 211.007},
        {"raft_small", NULL, 990162, 47.655},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counts c = count_of((wish){.name = rows[i].name, .set = rows[i].set});
        if (c.params != rows[i].params || c.doubts ||
            llround((double)c.macs / 1e6) != llround(rows[i].gmacs * 1e3))
            fail_msg("%s: %llu parameters, %.6f GMACs, %u doubts", rows[i].name,
                     (unsigned long long)c.params, (double)c.macs / 1e9, c.doubts);
    }
}

/* A detection more costs its mask, a proposal more its box head; nothing else. */
static void boxes_cost_their_heads(void **state)
{
    (void)state;
    const uint64_t mask = UINT64_C(4) * 256 * 256 * 9 * 196 + 256 * 256 * 4 * 196 +
                          UINT64_C(91) * 256 * 784;
    const uint64_t box = 12544 * 1024 + 1024 * 1024 + 1024 * 91 * 5;
    uint64_t ten = count_of((wish){"maskrcnn_resnet50_fpn", "detections=10", {0}}).macs;
    uint64_t nine = count_of((wish){"maskrcnn_resnet50_fpn", "detections=9", {0}}).macs;
    assert_int_equal(ten - nine, mask);
    ten = count_of((wish){"fasterrcnn_resnet50_fpn", "proposals=10", {0}}).macs;
    nine = count_of((wish){"fasterrcnn_resnet50_fpn", "proposals=9", {0}}).macs;
    assert_int_equal(ten - nine, box);
}

/* FrozenBatchNorm2d holds its scale and shift as buffers; 53120 of each pair in a ResNet-50. */
static void frozen_norms_are_buffers(void **state)
{
    (void)state;
    counts frozen = count_of((wish){"fasterrcnn_resnet50_fpn", NULL, {0}});
    counts free_ = count_of((wish){"fasterrcnn_resnet50_fpn", "frozen_norm=false", {0}});
    assert_int_equal(free_.params - frozen.params, 53120);
    assert_int_equal(frozen.buffers - free_.buffers, 53120);
    ir_model *m = built((wish){"fasterrcnn_resnet50_fpn", NULL, {0}});
    assert_true(value_named(m, "backbone.body.bn1.weight")->flags & IR_VALUE_BUFFER);
    assert_true(value_named(m, "backbone.body.conv1.weight")->flags & IR_VALUE_PARAM);
    ir_model_free(m);
}

static void auxiliary_head_can_go(void **state)
{
    (void)state;
    counts with = count_of((wish){"fcn_resnet50", NULL, {0}});
    counts without = count_of((wish){"fcn_resnet50", "aux_loss=false", {0}});
    assert_int_equal(with.params - without.params, 1024 * 256 * 9 + 2 * 256 + 256 * 21 + 21);
}

/* ---- contents ---- */

static void assert_row(const ir_model *m, const char *name, int64_t row, float x, float y)
{
    float at[2];
    const ir_tensor *t = value_named(m, name)->constant;
    assert_non_null(t->bytes);
    memcpy(at, t->bytes + (size_t)row * sizeof at, sizeof at);
    assert_float_equal(at[0], x, 1e-4);
    assert_float_equal(at[1], y, 1e-4);
}

/* The values of torchvision's generators. */
static void anchors_have_content(void **state)
{
    (void)state;
    ir_model *m = built((wish){"fasterrcnn_resnet50_fpn", NULL, {0}});
    assert_int_equal(value_named(m, "rpn.anchors.size")->constant->dims[0], 159882);
    assert_row(m, "rpn.anchors.size", 0, 46, 22); /* 32 at ratio 1/2 */
    assert_row(m, "rpn.anchors.size", 1, 32, 32);
    assert_row(m, "rpn.anchors.size", 2, 22, 46);
    assert_row(m, "rpn.anchors.center", 5, 4, 0); /* the second cell */
    ir_model_free(m);
    m = built((wish){"ssd300_vgg16", NULL, {0}});
    assert_int_equal(value_named(m, "detections.anchors.size")->constant->dims[0], 8732);
    assert_row(m, "detections.anchors.center", 0, 4, 4);
    assert_row(m, "detections.anchors.size", 0, 21, 21);
    assert_row(m, "detections.anchors.size", 1, 30.7409F, 30.7409F); /* 300 * sqrt(.07 * .15) */
    ir_model_free(m);
}

/* ---- sizes ---- */

static void outputs_have_their_sizes(void **state)
{
    (void)state;
    ir_model *m = built((wish){"maskrcnn_resnet50_fpn", "detections=7", {2, 3, 192, 256}});
    ASSERT_OUTPUT(m, "boxes", 2, 7, 4);
    ASSERT_OUTPUT(m, "labels", 2, 7);
    ASSERT_OUTPUT(m, "scores", 2, 7);
    ASSERT_OUTPUT(m, "masks", 2, 7, 1, 28, 28);
    assert_int_equal(count(m).doubts, 0);
    ir_model_free(m);
    m = built((wish){"keypointrcnn_resnet50_fpn", "num_keypoints=5", {1, 3, 224, 160}});
    ASSERT_OUTPUT(m, "keypoints", 1, 100, 5, 3);
    ASSERT_OUTPUT(m, "keypoints_scores", 1, 100, 5);
    assert_int_equal(count(m).doubts, 0);
    ir_model_free(m);
    m = built((wish){"fcos_resnet50_fpn", "num_classes=3", {3, 3, 256, 192}});
    ASSERT_OUTPUT(m, "boxes", 3, 100, 4);
    assert_int_equal(count(m).doubts, 0);
    ir_model_free(m);
    m = built((wish){"raft_small", "num_flow_updates=2", {2, 3, 128, 160}});
    ASSERT_OUTPUT(m, "flow_1", 2, 2, 128, 160);
    ASSERT_OUTPUT(m, "flow_2", 2, 2, 128, 160);
    assert_int_equal(count(m).doubts, 0);
    ir_model_free(m);
}

/* ---- what does not fit ---- */

static void refusals(void **state)
{
    static const struct {
        wish w;
        const char *word;
    } rows[] = {
        {{"fasterrcnn_resnet50_fpn", "detections=-1", {0}}, "detections"},
        {{"fasterrcnn_resnet50_fpn", "num_classes=1", {0}}, "num_classes"},
        {{"fasterrcnn_resnet50_fpn", NULL, {1, 3, 40000, 40000}}, "anchors"},
        {{"fasterrcnn_resnet50_fpn", NULL, {100000, 3, 64, 64}}, "regions"},
        {{"retinanet_resnet50_fpn", "layers=3", {0}}, "layers"},
        {{"ssd300_vgg16", NULL, {1, 3, 32, 32}}, "extra"},
        {{"deeplabv3_resnet50", "atrous_rates=1,2", {0}}, "atrous_rates"},
        {{"raft_large", NULL, {1, 3, 100, 128}}, "multiples"},
        {{"raft_large", "num_flow_updates=0", {0}}, "num_flow_updates"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ir_model *m = NULL;
        assay_error err;
        assert_int_equal(build(rows[i].w, &m, &err), ASSAY_ERR_USAGE);
        if (!strstr(err.message, rows[i].word))
            fail_msg("%s %s: %s", rows[i].w.name, rows[i].w.set ? rows[i].w.set : "", err.message);
    }
}

int run_test_zoo_dense(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_counts),
        cmocka_unit_test(boxes_cost_their_heads),
        cmocka_unit_test(frozen_norms_are_buffers),
        cmocka_unit_test(auxiliary_head_can_go),
        cmocka_unit_test(anchors_have_content),
        cmocka_unit_test(outputs_have_their_sizes),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
