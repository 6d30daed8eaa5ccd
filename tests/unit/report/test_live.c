/* A result just computed and the same result written as JSON and read back give the same bytes, in every format and at
 * every width. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/machine.h"
#include "device/serving.h"
#include "profile/history.h"
#include "profile/language.h"
#include "profile/pipeline.h"
#include "profile/result_kinds.h"
#include "report/report.h"
#include "study/language.h"
#include "study/pipeline.h"

#define LIMIT ((size_t)64 << 20)

static void write_as(const result_kind *kind, const void *data, const char *format, int width,
                     sbuf *out)
{
    report_options o = REPORT_DEFAULTS;
    assay_error err = {0};
    o.width = width;
    o.verbose = width == 160;
    if (report_result(kind, data, str_of(format), &o, out, &err) != ASSAY_OK)
        fail_msg("%s as %s: %s", kind->name, format, err.message);
}

static void same_as_saved(const result_kind *kind, const void *data)
{
    static const struct {
        const char *format;
        int width;
    } cases[] = {{"console", 80}, {"console", 120}, {"console", 160},
                 {"md", 80},      {"csv", 80},      {"summary-html", 80}};
    sbuf json = {0};
    result saved = {0};
    assay_error err = {0};
    result_write(kind, data, 2, &json);
    if (result_read((str){json.p, (uint32_t)json.n}, "t.json", LIMIT, &saved, &err) != ASSAY_OK)
        fail_msg("%s: %s", kind->name, err.message);
    assert_ptr_equal(saved.kind, kind);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sbuf live = {0}, again = {0};
        write_as(kind, data, cases[i].format, cases[i].width, &live);
        write_as(kind, saved.data, cases[i].format, cases[i].width, &again);
        assert_true(live.n > 20);
        assert_string_equal(sbuf_cstr(&live), sbuf_cstr(&again));
        sbuf_free(&live);
        sbuf_free(&again);
    }
    result_free(&saved);
    sbuf_free(&json);
}

static void console_has(const result_kind *kind, const void *data, const char *const *parts)
{
    sbuf b = {0};
    write_as(kind, data, "console", 120, &b);
    for (; *parts; parts++)
        if (!strstr(sbuf_cstr(&b), *parts))
            fail_msg("'%s' is not in: %s", *parts, sbuf_cstr(&b));
    sbuf_free(&b);
}

/* ---- history ---- */

static history_record some_record(int64_t id)
{
    static const str tags[] = {{"nightly", 7}, {"a b", 3}};
    history_record r = {.id = id,
                        .created_s = 1790000000 + 60 * id,
                        .kind = STR("profile"),
                        .model = STR("m.onnx"),
                        .command = STR("assay bench m.onnx"),
                        .host = STR("box"),
                        .precision = STR("fp32"),
                        .batch = 4,
                        .tags = tags,
                        .n_tags = id == 1 ? 2 : 0};
    for (int i = 0; i < HISTORY_FIGURES; i++)
        r.figures[i].v = NAN;
    r.figures[HISTORY_P50].v = 12.3456;
    r.figures[HISTORY_MACS] = (metric_value){.v = 1814073344, .whole = true, .n = 1814073344};
    return r;
}

static void test_records(void **state)
{
    const history_record records[] = {some_record(2), some_record(1)};
    const history_list list = {.records = records, .n = 2, .total = 7}, none = {0};
    static const char *const parts[] = {"7 records", "2026-09-21 14:14", "m.onnx", "12.35 ms",
                                        "1.81 G",    "nightly, a b",     "2 of 7", NULL};
    sbuf b = {0};
    (void)state;
    same_as_saved(&records_kind, &list);
    console_has(&records_kind, &list, parts);
    write_as(&records_kind, &none, "csv", 80, &b);
    assert_int_equal(strncmp(sbuf_cstr(&b), "id,created,model,", 17), 0);
    sbuf_free(&b);
}

static void test_models(void **state)
{
    const history_model models[] = {
        {.model = STR("m.onnx"), .records = 3, .newest = some_record(2)},
        {.model = STR("n.onnx"), .records = 1, .newest = some_record(1)},
    };
    const history_models all = {.models = models, .n = 2};
    static const char *const parts[] = {"2 models", "n.onnx", "2026-09-21 14:15", "12.35 ms", NULL};
    (void)state;
    same_as_saved(&models_kind, &all);
    console_has(&models_kind, &all, parts);
}

static void test_trend(void **state)
{
    history_point points[] = {
        {.id = 1, .created_s = 1790000000, .v = {.v = 10.125}},
        {.id = 2, .created_s = 1790086400, .v = {.v = 12.5}, .change = "worse"}};
    const history_change changes[] = {{.at = 1,
                                       .id = 2,
                                       .created_s = 1790086400,
                                       .before = 10.125,
                                       .after = 12.5,
                                       .ratio = 12.5 / 10.125,
                                       .p = 0.001,
                                       .worse = true}};
    const history_alert alerts[] = {{.expression = STR("p50 > 1.1x median(all)"),
                                     .verdict = ALERT_FIRED,
                                     .value = 12.5,
                                     .limit = 11.1375,
                                     .window_records = 1,
                                     .why = STR("12.50 ms is above 11.14 ms")}};
    history_trend t = trend_of(metric_find(STR("p50")));
    static const char *const parts[] = {"2 records", "▁█",      "12.50 ms",  "+23.5 %", "worse",
                                        "≤ 0.1 %",   "⚠ p50 >", "3 records", NULL};
    (void)state;
    t.model = STR("m.onnx");
    t.setup = STR("box · batch 1");
    t.points = points;
    t.n = 2;
    t.left_out = 3;
    t.min = t.median = t.mean = 10.125;
    t.max = t.newest = 12.5;
    t.changes = changes;
    t.n_changes = 1;
    t.alerts = alerts;
    t.n_alerts = 1;
    same_as_saved(&trend_kind, &t);
    console_has(&trend_kind, &t, parts);
}

/* ---- machine ---- */

static machine_figure figure(double value)
{
    return (machine_figure){.value = value,
                            .low = 0.99 * value,
                            .high = 1.01 * value,
                            .spread = value / 1e12,
                            .samples = 9};
}

static void fill_machine(machine *m)
{
    static const char *const kinds[] = {"read", "write", "copy", "triad"};
    *m = (machine){
        .timestamp = "2026-01-02T03:04:05Z",
        .quick = true,
        .seconds = 20.5,
        .steal_percent = 0.25,
        .isas = {{"sse2"}, {"avx2+fma"}},
        .n_isas = 2,
        .rates = {{"float32", "avx", 1, figure(1e11)}, {"float32", "avx", 2, figure(19e10)}},
        .n_rates = 2,
        .curve = {{4096, 2e11, 2.1e11}},
        .n_curve = 1,
        .dispatch = {.present = true, .engine = "ONNX Runtime 1.30.0", .seconds = figure(6e-7)},
        .where = {.cpu = "Fake CPU 2000",
                  .cores = 2,
                  .cpus = 2,
                  .usable = 2,
                  .memory_bytes = (uint64_t)16 << 30,
                  .quota_cpus = 1.5,
                  .mhz_now = 2400,
                  .mhz_min = NAN,
                  .mhz_max = NAN,
                  .mhz_base = NAN,
                  .steal_percent = NAN,
                  .caches = {{.level = 1, .kind = "data", .size_bytes = 32768}},
                  .n_caches = 1}};
    for (; m->n_flows < 4; m->n_flows++) {
        machine_flow *f = &m->flows[m->n_flows];
        *f = (machine_flow){.level = "L1", .threads = 1, .set_bytes = 16384};
        f->bytes = figure(1e11 + 1e10 * m->n_flows);
        snprintf(f->kind, sizeof f->kind, "%s", kinds[m->n_flows]);
    }
    topology_find_gaps(&m->where);
}

static void test_machine(void **state)
{
    static const char *const parts[] = {"usable of 2 · 2 cores",
                                        "1.50",
                                        "16.00 GiB",
                                        "2,400 MHz",
                                        "sse2, avx2+fma",
                                        "sockets, threads per core",
                                        "100 G/s  10.0 %    190 G/s  19.0 %",
                                        "100 G/s  110 G/s  120 G/s  130 G/s  13.0 %",
                                        "210 G/s",
                                        "0.60 µs",
                                        "0.59 µs to 0.61 µs",
                                        "--quick",
                                        NULL};
    machine *m = malloc(sizeof *m);
    (void)state;
    assert_non_null(m);
    fill_machine(m);
    same_as_saved(&machine_kind, m);
    console_has(&machine_kind, m, parts);
    free(m);
}

/* ---- pipelines ---- */

static pipeline_result *some_images(arena *a, const char *name)
{
    const pipeline_settings settings = {.steps = 10, .guidance = -1, .memory_limit = LIMIT};
    pipeline_plan plan;
    assay_error err = {0};
    pipeline_result *r = ARENA_NEW(a, pipeline_result);
    assert_true(pipeline_find(str_of(name), &plan));
    if (pipeline_run(&plan, &settings, a, r, &err) != ASSAY_OK ||
        pipeline_sweep_over(&plan, &settings, STR("resolution=512,768"), a, r, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    for (uint32_t i = 0; i < r->n_components; i++)
        r->components[i].time_ms = 12.344999 * (i + 1);
    r->inference_time_s = 1.2344999999;
    notes_add(&r->warnings, "test", STR("unet"), "Do this.", "Something is odd.");
    assert_true(pipeline_settle(r, a));
    return r;
}

static void test_images(void **state)
{
    static const char *const parts[] = {"9.30 TMACs",  "latents 1×4×64×64", "86.34 %",  "401.64 G",
                                        "cross",       "889.41 M",          "0.4 %",    "768×768",
                                        "(linear and", "unet: Something",   "Do this.", NULL};
    static const char *const timed[] = {"1234.5 ms", "TFLOP/s", "24.69 ms", NULL};
    arena *a = arena_new(LIMIT);
    (void)state;
    pipeline_result *r = some_images(a, "sd15");
    same_as_saved(&diffusion_kind, r);
    console_has(&diffusion_kind, r, parts);
    console_has(&diffusion_kind, r, timed);
    arena_free(a);
}

static language_result *some_language(arena *a, const char *name)
{
    const language_settings settings = {.model = str_of(name),
                                        .row = zoo_find(str_of(name)),
                                        .prompt_tokens = 100,
                                        .generate = 28,
                                        .batch = 2,
                                        .memory = (uint64_t)1 << 30,
                                        .memory_limit = LIMIT,
                                        .serving = ARENA_NEW(a, serving_model)};
    language_users_asked users = {.n = 0};
    language_sweep_asked sweep = {STR("batch=1,2"), STR("t4"), &settings};
    assay_error err = {0};
    language_result *r = ARENA_NEW(a, language_result);
    users.slo = (language_slo){
        .present = true, .text = STR("itl:9ms"), .limits = {{"itl", 99, 9}}, .n_limits = 1};
    if (language_run(&settings, a, r, &err) != ASSAY_OK ||
        language_sweep_over(&sweep, &users, a, r, &err) != ASSAY_OK ||
        language_on_devices(STR("t4,l4"), &settings, &users, a, r, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    r->measured = (language_measured){.present = true,
                                      .prefill_ms = 12.344999,
                                      .first_step_ms = 2.5,
                                      .last_step_ms = 3.5,
                                      .total_s = 0.1,
                                      .tokens_per_s = 333.3333,
                                      .prefill_tokens_per_s = 81004.5,
                                      .prefill_tflops = 0.01234,
                                      .decode_tflops = 0.00056};
    assert_true(language_settle(r, a));
    return r;
}

static void test_language(void **state)
{
    static const char *const parts[] = {
        "25.08 GMACs", "First token", "GGUF: 34 bytes for 32 weights",
        "12.35 ms",    "333.3",       "3.00 ms",
        "t4",          "80 % within", "B·(",
        "Users on t4", "2 × 128",     "tokens on (",
        NULL};
    arena *a = arena_new(LIMIT);
    (void)state;
    language_result *r = some_language(a, "gpt2");
    same_as_saved(&language_kind, r);
    console_has(&language_kind, r, parts);
    arena_free(a);
}

static void check_several(const field_result *list, const char *const *parts)
{
    const pipelines_result all = {.list = list, .n = 2};
    same_as_saved(&pipelines_kind, &all);
    console_has(&pipelines_kind, &all, parts);
}

static void test_several(void **state)
{
    static const char *const images[] = {"Components", "Side by side", "sd21", "1.00×", NULL};
    static const char *const texts[] = {"Closed forms", "Side by side", "Prefill MACs", NULL};
    arena *a = arena_new(LIMIT);
    const field_result two[] = {{&diffusion_kind, some_images(a, "sd15")},
                                {&diffusion_kind, some_images(a, "sd21")}};
    const field_result models[] = {{&language_kind, some_language(a, "gpt2")},
                                   {&language_kind, some_language(a, "gpt2-medium")}};
    (void)state;
    check_several(two, images);
    check_several(models, texts);
    arena_free(a);
}

int run_test_live(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records), cmocka_unit_test(test_models),
        cmocka_unit_test(test_trend),   cmocka_unit_test(test_machine),
        cmocka_unit_test(test_images),  cmocka_unit_test(test_language),
        cmocka_unit_test(test_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
