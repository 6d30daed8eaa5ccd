/* Layers of two profiles aligned by structure: under other names, with layers put in and taken out, reshaped, in
 * another order, and ten thousand of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "jobs/job.h"
#include "profile/profile_read.h"
#include "study/align.h"
#include "study/compare.h"
#include "support/cpu.h"
#include "support/onnx_writer.h"

static assay_result *analyzed(const char *model)
{
    assay_model *m;
    assay_result *p;
    assay_error err;
    assert_int_equal(assay_model_open(model, &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assay_model_free(m);
    return p;
}

static str renamed(arena *a, str s)
{
    return s.n ? str_printf(a, "n%016llx", (unsigned long long)str_hash(s)) : s;
}

static profile_tensor *rename_values(arena *a, const profile_tensor *t, uint32_t n)
{
    profile_tensor *out = ARENA_ARRAY(a, profile_tensor, n + 1u);
    if (n)
        memcpy(out, t, sizeof *t * n);
    for (uint32_t i = 0; i < n; i++)
        out[i].name = renamed(a, t[i].name);
    return out;
}

/* As another exporter would write it: every name of a layer, module and value is another one. */
static void rename_all(arena *a, profile *p)
{
    p->layers = arena_copy(a, p->layers, sizeof *p->layers * p->n_layers);
    for (uint32_t i = 0; i < p->n_layers; i++) {
        profile_layer *l = &p->layers[i];
        l->inputs = rename_values(a, l->inputs, l->n_inputs);
        l->outputs = rename_values(a, l->outputs, l->n_outputs);
        l->name = str_printf(a, "%.*s_%u", STR_ARG(l->op), p->n_layers - i);
        l->module = STR("");
    }
}

static comparison compared(arena *a, const profile *x, const profile *y)
{
    static const profile *list[2];
    comparison c;
    assay_error err;
    list[0] = x;
    list[1] = y;
    assert_int_equal(compare_run(list, 2, a, &c, &err), ASSAY_OK);
    return c;
}

static void test_other_names(void **state)
{
    static const char *const models[] = {"resnet50",          "vit_b_16", "googlenet",
                                         "densenet121",       "gpt2",     "unet-sd15",
                                         "mobilenet_v3_small"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        assay_model_info info = {.size = sizeof info};
        bool known = false;
        for (size_t k = 0; !known && assay_model_at(k, &info); k++)
            known = strcmp(info.name, models[i]) == 0;
        if (!known)
            continue;
        assay_result *p = analyzed(models[i]);
        arena *a = arena_new((size_t)1 << 28);
        profile other = *p->p;
        rename_all(a, &other);
        comparison c = compared(a, p->p, &other);
        if (c.n_layers)
            print_error("%s: %u differ\n", models[i], c.n_layers);
        assert_int_equal(c.n_layers, 0);
        assert_int_equal(c.renamed, p->p->n_layers);
        arena_free(a);
        assay_result_free(p);
    }
}

/* One layer is gone from the middle, under other names: one layer is removed and nothing else is said. */
static void test_one_removed(void **state)
{
    assay_result *p = analyzed("resnet50");
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    for (uint32_t gone = 1; gone < p->p->n_layers; gone += 37) {
        profile other = *p->p;
        rename_all(a, &other);
        memmove(&other.layers[gone], &other.layers[gone + 1],
                sizeof *other.layers * (other.n_layers - gone - 1));
        other.n_layers--;
        comparison c = compared(a, p->p, &other);
        assert_int_equal(c.n_layers, 1);
        assert_int_equal(c.layers[0].change, CHANGE_REMOVED);
        assert_true(str_eq(c.layers[0].op, p->p->layers[gone].op));
    }
    arena_free(a);
    assay_result_free(p);
}

static profile *read_back(const profile *p)
{
    sbuf text = {0};
    profile *again = NULL;
    assay_error err = {0};
    profile_write_json(p, &text, 2);
    if (profile_read((str){text.p, (uint32_t)text.n}, "x", (size_t)1 << 28, &again, &err) !=
        ASSAY_OK)
        fail_msg("%s", err.message);
    sbuf_free(&text);
    return again;
}

static uint32_t find_op(const profile *p, const char *op, uint32_t from)
{
    while (from < p->n_layers && !str_is(p->layers[from].op, op))
        from++;
    assert_true(from < p->n_layers);
    return from;
}

static void expect_change(const profile *x, const profile *y, const char *shown)
{
    arena *a = arena_new((size_t)1 << 28);
    comparison c = compared(a, x, y);
    assert_int_equal(c.n_layers, shown ? 1 : 0);
    if (shown) {
        assert_int_equal(c.layers[0].change, CHANGE_CHANGED);
        assert_true(str_is(c.layers[0].changes, shown));
    }
    arena_free(a);
}

/* The same shapes and figures, told otherwise: of models and of results that were read back, under the same names
 * and others. An older file, which says nothing of attributes, differs in nothing. */
static void test_attributes(void **state)
{
    static const double epsilon[] = {1e-3}, same[] = {1e-5};
    static const int64_t dilations[] = {2, 2};
    const profile_attribute eps = {
        .name = STR("epsilon"), .kind = ATTRIBUTE_FLOATS, .n = 1, .v.floats = epsilon};
    const profile_attribute dil = {.name = STR("dilations"),
                                   .kind = ATTRIBUTE_INTS,
                                   .list = true,
                                   .n = 2,
                                   .v.ints = dilations};
    profile_attribute both[8] = {dil};
    assay_result *p = analyzed("resnet50");
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    profile other = *p->p;
    rename_all(a, &other);
    uint32_t at = find_op(&other, "BatchNormalization", 40);
    other.layers[at].attributes = (attribute_list){&eps, 1};
    expect_change(p->p, &other, "epsilon default → 0.001");
    profile *x = read_back(p->p), *y = read_back(&other);
    expect_change(x, y, "epsilon default → 0.001");
    expect_change(p->p, x, NULL);
    profile_attribute again = eps;
    again.v.floats = same; /* float32 of a file, double of a builder */
    other.layers[at].attributes = (attribute_list){&again, 1};
    expect_change(&other, &other, NULL);
    other.layers[at].attributes = p->p->layers[at].attributes;
    at = find_op(&other, "Conv", 60);
    attribute_list had = other.layers[at].attributes;
    assert_true(had.n < 7);
    memcpy(both + 1, had.items, sizeof *both * had.n); /* "dilations" is before "pads" */
    other.layers[at].attributes = (attribute_list){both, had.n + 1};
    expect_change(x, &other, "dilations default → [2,2]");
    /* A long list of words: a file tells its hash and not its kind. */
    const profile_attribute words = {
        .name = STR("words"), .kind = ATTRIBUTE_TEXTS, .list = true, .n = 100, .hash = 5};
    other.layers[at].attributes = (attribute_list){&words, 1};
    profile *z = read_back(&other);
    expect_change(z, &other, NULL);
    profile_free(z);
    for (uint32_t i = 0; i < x->n_layers; i++)
        x->layers[i].attributes_told = false;
    expect_change(x, &other, NULL);
    profile_free(x);
    profile_free(y);
    arena_free(a);
    assay_result_free(p);
}

/* A bound of minus infinity, which JSON has no number for. */
static void test_not_finite(void **state)
{
    static const char *const none[] = {NULL}, *const low[] = {"low", NULL},
                             *const in[] = {"x", "low", NULL}, *const out[] = {"y", NULL};
    const float least = -INFINITY;
    const int64_t dims[] = {4};
    ww g = {0}, constant = ow_attr("value", 4);
    ww_sub(&constant, 5, ow_raw("", IR_FLOAT32, 0, NULL, &least, sizeof least));
    ww_sub(&g, 1, ow_with(ow_node("Constant", "", none, low), constant));
    ww_sub(&g, 1, ow_node("Clip", "clip", in, out));
    ww_sub(&g, 11, ow_info("x", IR_FLOAT32, 1, dims));
    ww_sub(&g, 12, ow_value("y"));
    ww bytes = ow_model(g);
    assay_model *m = NULL;
    assay_result *p = NULL;
    (void)state;
    assert_int_equal(assay_model_from_bytes(bytes.p, bytes.n, "clip", NULL, &m, NULL), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, NULL), ASSAY_OK);
    attribute_list had = p->p->layers[find_op(p->p, "Clip", 0)].attributes;
    assert_int_equal(had.n, 1);
    assert_true(str_is(had.items[0].v.texts[0], "-inf"));
    profile *again = read_back(p->p);
    expect_change(p->p, again, NULL);
    profile_free(again);
    assay_result_free(p);
    assay_model_free(m);
    ww_free(&bytes);
}

/* Contributions add up to the difference of the totals, whatever was paired with what. */
static void test_adds_up(void **state)
{
    static const char *const pairs[][2] = {{"resnet50", "wide_resnet50_2"},
                                           {"resnet18", "resnet152"},
                                           {"vgg16", "vgg16_bn"},
                                           {"mobilenet_v2", "vit_b_16"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assay_result *x = analyzed(pairs[i][0]), *y = analyzed(pairs[i][1]);
        arena *a = arena_new((size_t)1 << 28);
        comparison c = compared(a, x->p, y->p);
        uint64_t macs = x->p->total_macs, bytes = x->p->total_memory, taken = 0;
        int64_t peak = 0;
        for (uint32_t k = 0; k < c.n_layers; k++) {
            const comparison_layer *l = &c.layers[k];
            macs += (l->after ? l->after->macs : 0) - (l->before ? l->before->macs : 0);
            bytes += (l->after ? l->after->memory : 0) - (l->before ? l->before->memory : 0);
            taken += l->before != NULL;
        }
        for (uint32_t k = 0; k < c.n_peak; k++)
            peak += (int64_t)((c.peak[k].after ? c.peak[k].after->peak_bytes : 0) -
                              (c.peak[k].before ? c.peak[k].before->peak_bytes : 0));
        assert_true(macs == y->p->total_macs);
        assert_true(bytes == y->p->total_memory);
        assert_int_equal(taken + c.same + c.renamed, x->p->n_layers);
        assert_true(peak == (int64_t)y->p->memory_plan.activations_peak_bytes -
                                (int64_t)x->p->memory_plan.activations_peak_bytes);
        arena_free(a);
        assay_result_free(x);
        assay_result_free(y);
    }
}

static void test_reshaped(void **state)
{
    assay_result *x = analyzed("resnet50"), *y = analyzed("wide_resnet50_2");
    arena *a = arena_new((size_t)1 << 28);
    profile other = *y->p;
    (void)state;
    rename_all(a, &other);
    comparison c = compared(a, x->p, &other);
    for (uint32_t i = 0; i < c.n_layers; i++)
        assert_int_equal(c.layers[i].change, CHANGE_RESHAPED);
    assert_true(c.n_layers > 90);
    arena_free(a);
    assay_result_free(x);
    assay_result_free(y);
}

/* Two branches of one fork, written the other way round. */
static void test_other_order(void **state)
{
    static const int64_t dims[] = {1, 8};
    static const profile_tensor values[] = {{.name = STR("x"), .shape = {2, dims}},
                                            {.name = STR("a"), .shape = {2, dims}},
                                            {.name = STR("b"), .shape = {2, dims}},
                                            {.name = STR("c"), .shape = {2, dims}}};
    static const profile_tensor sum[] = {{.name = STR("a"), .shape = {2, dims}},
                                         {.name = STR("b"), .shape = {2, dims}}};
    static const profile_tensor sum_back[] = {{.name = STR("b"), .shape = {2, dims}},
                                              {.name = STR("a"), .shape = {2, dims}}};
#define LAYER(o, in, n_in, out) \
    {.name = STR(o),            \
     .op = STR(o),              \
     .type = STR(o),            \
     .inputs = in,              \
     .n_inputs = n_in,          \
     .outputs = out,            \
     .n_outputs = 1}
    profile_layer first[] = {LAYER("Tanh", &values[0], 1, &values[1]),
                             LAYER("Exp", &values[0], 1, &values[2]),
                             LAYER("Add", sum, 2, &values[3])};
    profile_layer second[] = {LAYER("Exp", &values[0], 1, &values[2]),
                              LAYER("Tanh", &values[0], 1, &values[1]),
                              LAYER("Add", sum_back, 2, &values[3])};
    profile x = {.layers = first, .n_layers = 3}, y = {.layers = second, .n_layers = 3};
    arena *a = arena_new(1 << 20);
    (void)state;
    comparison c = compared(a, &x, &y);
    assert_int_equal(c.n_layers, 0);
    arena_free(a);
}

/* ---- ten thousand ---- */

enum { MANY = 10000 };

static profile chain(arena *a, uint32_t n, int64_t width, const char *prefix)
{
    static const char *const ops[] = {"Conv", "Relu", "Add"};
    profile p = {.n_layers = n, .layers = ARENA_ARRAY(a, profile_layer, n)};
    for (uint32_t i = 0; i < n; i++) {
        int64_t *dims = ARENA_ARRAY(a, int64_t, 2);
        profile_tensor *t = ARENA_ARRAY(a, profile_tensor, 3);
        dims[0] = 1;
        dims[1] = width;
        t[0] = (profile_tensor){.name = str_printf(a, "%s%u", prefix, i), .shape = {2, dims}};
        t[1] = (profile_tensor){.name = str_printf(a, "%s%u", prefix, i - 1), .shape = {2, dims}};
        t[2] = (profile_tensor){.name = str_printf(a, "%s%u", prefix, i - 4), .shape = {2, dims}};
        p.layers[i] = (profile_layer){.name = t[0].name,
                                      .op = str_of(ops[i % 3]),
                                      .type = STR("x"),
                                      .outputs = t,
                                      .n_outputs = 1,
                                      .inputs = i ? t + 1 : NULL,
                                      .n_inputs = i == 0                ? 0
                                                  : i % 3 == 2 && i > 4 ? 2
                                                                        : 1,
                                      .flops = (uint64_t)width * (10 + i % 7),
                                      .times = 1};
    }
    return p;
}

static double seconds_for(const profile *x, const profile *y, uint32_t differ)
{
    arena *a = arena_new((size_t)1 << 28);
    double from = cpu_seconds();
    comparison c = compared(a, x, y);
    double took = cpu_seconds() - from;
    assert_int_equal(c.n_layers, differ);
    arena_free(a);
    return took;
}

static double seconds_for_chains(uint32_t n)
{
    arena *a = arena_new((size_t)1 << 28);
    profile x = chain(a, n, 64, "a"), y = chain(a, n, 64, "b"), z = chain(a, n, 96, "c");
    profile w = chain(a, n + 300, 128, "d");
    double took = seconds_for(&x, &y, 0) + seconds_for(&x, &z, n) + seconds_for(&x, &w, n + 300);
    arena_free(a);
    return took;
}

/* Ten times the layers; quadratic would be a hundred times. */
static void test_many(void **state)
{
    (void)state;
    double few = seconds_for_chains(MANY / 10), many = seconds_for_chains(MANY);
    if (many > 40 * few)
        fail_msg("%d layers took %.3f s, %d %.3f s", MANY / 10, few, MANY, many);
}

int run_test_align(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_names), cmocka_unit_test(test_one_removed),
        cmocka_unit_test(test_adds_up),     cmocka_unit_test(test_reshaped),
        cmocka_unit_test(test_other_order), cmocka_unit_test(test_many),
        cmocka_unit_test(test_attributes),  cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
