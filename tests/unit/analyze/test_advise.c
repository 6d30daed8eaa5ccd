/* Advice: every row of the table says something true of this profile or nothing, with a number; conditions
 * hold or do not; what was measured goes before what is predicted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <assay/study.h>

#include "analyze/advise.h"
#include "ir/dtype.h"
#include "support/values.h"

/* ---- through the API ---- */

typedef struct asked {
    assay_model *model;
    assay_options *o;
    assay_result *p;
} asked;

static asked ask(const char *model, const char *const *options)
{
    asked a = {.o = assay_options_new()};
    assay_error err;
    for (; options && *options; options += 2)
        assert_int_equal(assay_options_set(a.o, options[0], options[1], &err), ASSAY_OK);
    assert_int_equal(assay_options_set(a.o, "advice", "true", &err), ASSAY_OK);
    assert_int_equal(assay_model_open(model, &a.model, &err), ASSAY_OK);
    if (assay_analyze(a.model, a.o, &a.p, &err) != ASSAY_OK)
        fail_msg("%s: %s", model, err.message);
    return a;
}

static void leave(asked *a)
{
    assay_result_free(a->p);
    assay_model_free(a->model);
    assay_options_free(a->o);
}

typedef struct recommendation {
    const char *id, *title, *why, *expected;
} recommendation;

static bool recommendation_at(const assay_result *p, size_t i, recommendation *out)
{
    *out = (recommendation){.id = text_at(p, "recommendations.%zu.id", i),
                            .title = text_at(p, "recommendations.%zu.title", i),
                            .why = text_at(p, "recommendations.%zu.why", i),
                            .expected = text_at(p, "recommendations.%zu.expected", i)};
    return i < count_at(p, "recommendations");
}

static bool said(const assay_result *p, const char *id, recommendation *out)
{
    for (size_t i = 0; recommendation_at(p, i, out); i++)
        if (strcmp(out->id, id) == 0)
            return true;
    return false;
}

static bool has_number(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

static void every_recommendation_has_a_number(void **state)
{
    static const char *const models[] = {
        "resnet50", "vit_b_16", "gpt2", "mobilenet_v3_large", "swin_t", "lenet", "llama-3.1-8b"};
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        asked a = ask(models[m], (const char *const[]){"training", "true", NULL});
        recommendation r;
        assert_true(count_at(a.p, "recommendations") > 3);
        for (size_t i = 0; recommendation_at(a.p, i, &r); i++) {
            assert_true(*r.id && *r.title && *r.why);
            if (!has_number(r.expected))
                fail_msg("%s: %s promises nothing: %s", models[m], r.id, r.expected);
        }
        leave(&a);
    }
}

static void figures_are_the_models_own(void **state)
{
    recommendation r;
    (void)state;
    asked a = ask("resnet50", NULL);
    assert_true(said(a.p, "fusion", &r));
    assert_true(strstr(r.title, "175") && strstr(r.title, "73"));
    assert_non_null(strstr(r.expected, "174 → 72"));
    assert_true(said(a.p, "image-size", &r));
    assert_non_null(strstr(r.title, "224 → 112"));
    assert_non_null(strstr(r.expected, "÷ 3.79")); /* not 4: the classifier stays */
    assert_true(said(a.p, "depth", &r));
    assert_non_null(strstr(r.title, "3,4,6,3 → 2,3,4,2"));
    assert_true(said(a.p, "precision-fp16", &r));
    assert_non_null(strstr(r.expected, "97.69 MiB → 48.85 MiB"));
    assert_false(said(a.p, "checkpointing", &r)); /* training only */
    assert_false(said(a.p, "sharding", &r));
    assert_false(said(a.p, "sequence-length", &r));
    leave(&a);
}

static void conditions_are_looked_at(void **state)
{
    recommendation r;
    (void)state;
    asked a = ask("resnet50", (const char *const[]){"training", "true", NULL});
    assert_true(said(a.p, "checkpointing", &r));
    assert_true(said(a.p, "optimizer", &r));
    assert_non_null(strstr(r.why, "16 bytes"));
    leave(&a);
    a = ask("llama-3.1-70b", NULL);
    assert_true(said(a.p, "sharding", &r));
    assert_true(said(a.p, "sequence-length", &r));
    assert_false(said(a.p, "image-size", &r));
    leave(&a);
    a = ask("resnet50", (const char *const[]){"no-advice", "true", NULL});
    assert_int_equal(count_at(a.p, "recommendations"), 0);
    leave(&a);
    a = ask("tests/models/resnet18.onnx", NULL);
    assert_false(said(a.p, "width", &r)); /* a file is as it is */
    leave(&a);
}

/* The model can be used as before, whatever was tried on it. */
static void trying_leaves_the_model_alone(void **state)
{
    totals before, after;
    assay_result *again;
    assay_error err;
    (void)state;
    asked a = ask("resnet18", NULL);
    before = totals_of(a.p);
    assert_int_equal(assay_analyze(a.model, a.o, &again, &err), ASSAY_OK);
    after = totals_of(again);
    assert_memory_equal(&before, &after, sizeof before);
    assay_result_free(again);
    leave(&a);
}

/* Groups and patterns through the public structs. */
static void groups_are_walked(void **state)
{
    assay_error err;
    assay_model *m;
    assay_result *p;
    size_t nodes = 0;
    (void)state;
    assert_int_equal(assay_model_open("vit_b_16", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assert_int_equal(count_at(p, "fusion"), 0); /* not asked for */
    assert_int_equal(count_at(p, "groups"), 0);
    assay_result_free(p);
    assert_int_equal(assay_fuse(m, NULL, &p, &err), ASSAY_OK);
    assert_string_equal(text_at(p, "fusion.strategy"), "conventional");
    for (size_t i = 0; i < count_at(p, "groups"); i++) {
        for (size_t k = 0; k < count_at(p, "groups.%zu.depends_on", i); k++)
            assert_true(number_at(p, "groups.%zu.depends_on.%zu", i, k) < (double)i);
        nodes += count_at(p, "groups.%zu.nodes", i);
    }
    assert_int_equal(nodes, count_at(p, "layers"));
    assert_int_equal(count_at(p, "patterns"), 12 + 25 + 12); /* attention, layer norm, gelu */
    assert_true(count_at(p, "patterns.0.nodes") > 0);
    assay_result_free(p);
    assay_model_free(m);
}

/* ---- rows alone ---- */

typedef struct made {
    profile *p;
    profile_measured m;
    profile_config c[3];
    profile_layer layers[3];
    profile_operation ops[1];
} made;

static void make(made *x)
{
    *x = (made){.p = profile_new(1 << 20)};
    x->p->measured = &x->m;
    x->m.configs = x->c;
    x->p->layers = x->layers;
    x->p->operations = x->ops;
    x->p->n_operations = 1;
    x->ops[0].type = STR("conv2d");
    x->p->bottlenecks.threshold = 50;
    for (int i = 0; i < 3; i++)
        x->layers[i] = (profile_layer){.name = STR("layer"), .type = STR("conv2d"), .time_ms = -1};
}

static profile_config config(uint64_t batch, const char *precision, double ms)
{
    return (profile_config){.batch = batch,
                            .precision = str_of(precision),
                            .latency = {.runs = 50, .median = ms, .mean = ms},
                            .samples_per_second = (double)batch * 1000 / ms};
}

static const profile_advice *find(made *x, const char *id)
{
    static const advise_facts none;
    assay_error err;
    assert_int_equal(advise_run(&none, x->p, &err), ASSAY_OK);
    for (uint32_t i = 0; i < x->p->n_recommendations; i++)
        if (strcmp(x->p->recommendations[i].id, id) == 0)
            return &x->p->recommendations[i];
    return NULL;
}

static void a_sweep_decides_about_batches(void **state)
{
    made x;
    (void)state;
    make(&x);
    x.m.n_configs = 2;
    x.c[0] = config(1, "fp32", 10);
    x.c[1] = config(8, "fp32", 40); /* 200 instead of 100 samples/s */
    const profile_advice *a = find(&x, "batch-size");
    assert_non_null(a);
    assert_true(strstr(a->title.p, "8") && strstr(a->title.p, "1"));
    assert_non_null(strstr(a->expected.p, "2.00"));
    a = find(&x, "dynamic-batching");
    assert_non_null(strstr(a->expected.p, "35.0 ms"));
    x.c[1] = config(8, "fp32", 80);
    a = find(&x, "batch-size");
    assert_true(strstr(a->title.p, "1") && !strstr(a->title.p, "8"));
    assert_null(find(&x, "dynamic-batching"));
    profile_free(x.p);
}

static void a_slower_half_is_not_advised(void **state)
{
    made x;
    (void)state;
    make(&x);
    x.m.n_configs = 2;
    x.c[0] = config(1, "fp32", 10);
    x.c[1] = config(1, "fp16", 15);
    x.c[1].output_error = (profile_output_error){.present = true, .relative = 0.012};
    const profile_advice *a = find(&x, "precision-fp16");
    assert_non_null(strstr(a->title.p, "fp32"));
    assert_true(strstr(a->why.p, "15.00 ms") && strstr(a->why.p, "10.00"));
    assert_non_null(strstr(a->why.p, "1.2 %"));
    x.c[1].latency.median = 5;
    a = find(&x, "precision-fp16");
    assert_true(strstr(a->title.p, "fp16") && !strstr(a->title.p, "fp32"));
    assert_non_null(strstr(a->expected.p, "2.00"));
    x.c[1].error = STR("It failed.");
    assert_null(find(&x, "precision-fp16"));
    profile_free(x.p);
}

static void the_slowest_type_follows_amdahl(void **state)
{
    made x;
    (void)state;
    make(&x);
    x.p->n_layers = 2;
    x.layers[0].time_ms = 8;
    x.layers[1] = (profile_layer){.name = STR("other"), .type = STR("relu"), .time_ms = 2};
    const profile_advice *a = find(&x, "rewrite-first");
    assert_non_null(strstr(a->why.p, "80.0 %"));
    assert_non_null(strstr(a->expected.p, "1.67"));
    assert_non_null(strstr(a->expected.p, "1.25"));
    profile_free(x.p);
}

static void a_layer_far_below_its_kin_is_named(void **state)
{
    made x;
    (void)state;
    make(&x);
    x.p->n_layers = 2;
    for (int i = 0; i < 2; i++) {
        x.layers[i].flops = 1000000000;
        x.layers[i].macs = 500000000;
    }
    x.layers[0].name = STR("fast");
    x.layers[0].time_ms = 10;
    x.layers[1].name = STR("slow");
    x.layers[1].time_ms = 40;
    const profile_advice *a = find(&x, "slow-layer");
    assert_non_null(strstr(a->title.p, "slow"));
    assert_true(strstr(a->expected.p, "30.000 ms") && strstr(a->expected.p, "60.0 %"));
    profile_free(x.p);
}

static void idle_threads_are_seen(void **state)
{
    made x;
    (void)state;
    make(&x);
    x.m.n_configs = 1;
    x.c[0] = config(1, "fp32", 10);
    x.c[0].use = (profile_use){.threads = 8, .cpu_percent = 400};
    assert_non_null(strstr(find(&x, "threads")->why.p, "4.00"));
    x.c[0].use.busy = STR("the load was 10"); /* other programs had the CPUs */
    assert_null(find(&x, "threads"));
    x.c[0].use.busy = (str){0};
    x.c[0].use.cpu_percent = 790;
    assert_null(find(&x, "threads"));
    profile_free(x.p);
}

/* Four layers that keep 100 bytes each and have 10 alive between them. */
static void checkpointing_counts_both_sides(void **state)
{
    made x;
    (void)state;
    make(&x);
    profile_layer layers[4];
    for (int i = 0; i < 4; i++)
        layers[i] = (profile_layer){.name = STR("l"),
                                    .type = STR("conv2d"),
                                    .saved_bytes = 100,
                                    .live_bytes = 10,
                                    .flops = 1000,
                                    .time_ms = -1};
    x.p->layers = layers;
    x.p->n_layers = 4;
    assert_null(find(&x, "checkpointing"));
    x.p->training = (profile_training){.present = true,
                                       .saved_activation_bytes = 400,
                                       .forward_flops = 4000,
                                       .backward_flops = 8000};
    const profile_advice *a = find(&x, "checkpointing");
    /* in four parts: 3 cuts of 10 bytes and one part of 100; all but the last again */
    assert_non_null(strstr(a->title.p, "4"));
    assert_non_null(strstr(a->expected.p, "400 B → 130 B"));
    assert_non_null(strstr(a->expected.p, "25.0 %"));
    profile_free(x.p);
}

static void every_row_is_whole_and_known_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < advise_rows_n; i++) {
        assert_true(advise_rows[i].id && advise_rows[i].when && advise_rows[i].say);
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(advise_rows[i].id, advise_rows[k].id);
    }
}

int run_test_advise(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recommendation_has_a_number),
        cmocka_unit_test(figures_are_the_models_own),
        cmocka_unit_test(conditions_are_looked_at),
        cmocka_unit_test(trying_leaves_the_model_alone),
        cmocka_unit_test(groups_are_walked),
        cmocka_unit_test(a_sweep_decides_about_batches),
        cmocka_unit_test(a_slower_half_is_not_advised),
        cmocka_unit_test(the_slowest_type_follows_amdahl),
        cmocka_unit_test(a_layer_far_below_its_kin_is_named),
        cmocka_unit_test(idle_threads_are_seen),
        cmocka_unit_test(checkpointing_counts_both_sides),
        cmocka_unit_test(every_row_is_whole_and_known_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
