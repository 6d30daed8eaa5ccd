/* Results read back: what was written is written again to the byte, in every format; documents by hand, of
 * older and newer versions, and wrong ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <assay/study.h>

#include "base/json_scan.h"
#include "base/sbuf.h"
#include "jobs/job.h"
#include "profile/metrics.h"
#include "profile/profile_fields.h"
#include "profile/profile_read.h"
#include "report/report.h"
#include "support/values.h"

#define LIMIT ((size_t)256 << 20)

/* ---- helpers ---- */

static profile *read_text(const char *text)
{
    assay_error err = {0};
    profile *p = NULL;
    assay_status s = profile_read(str_of(text), "t.json", LIMIT, &p, &err);
    if (s != ASSAY_OK)
        fail_msg("%s", err.message);
    return p;
}

static void refuse_as(assay_status code, const char *text, const char *part)
{
    assay_error err = {0};
    profile *p = NULL;
    assert_int_equal(profile_read(str_of(text), "t.json", LIMIT, &p, &err), code);
    assert_null(p);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in: %s", part, err.message);
}

#define DOC(rest) "{\"schema\": \"assay.profile/1\", " rest "}"

static void refuse(const char *text, const char *part)
{
    refuse_as(ASSAY_ERR_MALFORMED, text, part);
}

static sbuf written(const profile *p, const char *format)
{
    report_options o = REPORT_DEFAULTS;
    o.verbose = true;
    o.depth = 3;
    sbuf out = {0};
    assert_true(profile_settle((profile *)(uintptr_t)p));
    assert_int_equal(report_find(str_of(format))->write(p, &o, &out, NULL), ASSAY_OK);
    sbuf_cstr(&out);
    return out;
}

/* The first line that differs, for the complaint. */
static void same_text(const char *format, const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    if (*a || *b)
        fail_msg("%s differs: '%.120s' became '%.120s'", format, a, b);
}

/* write → read → write, and every other writer sees no difference either. */
static void round_trip(const profile *p)
{
    sbuf first = written(p, "json");
    profile *again = read_text(first.p);
    for (uint32_t i = 0; i < report_table_n; i++) {
        sbuf a = written(p, report_table[i].name), b = written(again, report_table[i].name);
        same_text(report_table[i].name, a.p, b.p);
        assert_int_equal(a.n, b.n);
        sbuf_free(&a);
        sbuf_free(&b);
    }
    sbuf_free(&first);
    profile_free(again);
}

/* Predicted times are rounded in the file, so other views are compared from the first reading on. */
static void round_trip_rounded(const profile *p)
{
    sbuf first = written(p, "json");
    profile *again = read_text(first.p);
    sbuf second = written(again, "json");
    same_text("json", first.p, second.p);
    round_trip(again);
    sbuf_free(&first);
    sbuf_free(&second);
    profile_free(again);
}

typedef struct setting {
    const char *name, *value;
} setting;

static void round_trip_of(const char *model, const setting *set, bool mapped)
{
    assay_error err = {0};
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_options *o = assay_options_new();
    for (; set && set->name; set++)
        assert_int_equal(assay_options_set(o, set->name, set->value, &err), ASSAY_OK);
    assert_int_equal(assay_model_open(model, &m, &err), ASSAY_OK);
    if ((mapped ? assay_map : assay_analyze)(m, o, &p, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    (mapped ? round_trip_rounded : round_trip)(p->p);
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
}

/* ---- write, read, write ---- */

static void test_static(void **state)
{
    (void)state;
    const setting all[] = {{"verbose", "true"}, {"training", "true"}, {0}};
    const setting half[] = {{"precision", "fp16"}, {"hardware", "t4"}, {"batch", "4"}, {0}};
    round_trip_of("resnet18", NULL, false);
    round_trip_of("mobilenet_v2", all, false);
    round_trip_of("vit_b_16", half, false);
    round_trip_of("tests/models/fasterrcnn_320.onnx", all, false); /* unknown sizes, branches */
    round_trip_of("tests/models/lstm_text.onnx", all, false);
}

static void test_mapped(void **state)
{
    (void)state;
    const setting one[] = {{"hardware", "rtx3090"}, {"batch-sizes", "1,8"}, {0}};
    const setting all[] = {{"hardware", "all"}, {"goal", "latency:5ms"}, {0}};
    round_trip_of("resnet18", one, true);
    round_trip_of("resnet18", all, true);
}

/* Groups, patterns, and what an engine did otherwise. */
static void test_fused(void **state)
{
    static const fusion_difference differences[] = {{.what = "split",
                                                     .kernel = STR("k"),
                                                     .op = STR("Add"),
                                                     .kind = STR("elementwise"),
                                                     .detail = STR("a | b")}};
    static const char *const models[] = {"efficientnet_b0", "tests/models/swin_t.onnx"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        assay_error err = {0};
        assay_model *m = NULL;
        assay_result *p = NULL;
        assay_options *o = assay_options_new();
        assert_int_equal(assay_options_set(o, "strategy", "aggressive", &err), ASSAY_OK);
        assert_int_equal(assay_model_open(models[k], &m, &err), ASSAY_OK);
        assert_int_equal(assay_fuse(m, o, &p, &err), ASSAY_OK);
        assert_true(p->p->n_patterns > 10 && p->p->fusion->n_groups > 10);
        if (k)
            p->p->fusion->engine = (fusion_engine){.present = true,
                                                   .name = STR("ONNX Runtime 1.30.0"),
                                                   .kernels = 7,
                                                   .pairs_ours = 3,
                                                   .differences = differences,
                                                   .n_differences = 1};
        round_trip(p->p);
        assay_result_free(p);
        assay_model_free(m);
        assay_options_free(o);
    }
}

#define HOSTILE "\x1b[31m\x07\n,\"q\"\\\xe6\x97\xa5 </script> |`"

static profile_config config_of(uint64_t batch, const double *samples, uint32_t n, double shift)
{
    static const profile_outlier outliers[] = {{1, 2.75, "steal"}, {2, 1e-3, "unknown"}};
    static const double warmup[] = {9, 3.25, 1.5, 1.25, 1.000001};
    static const profile_memory_sample curve[] = {{0.125, 10, 7, 3}, {1e3, 20, 16, 4}};
    return (profile_config){
        .percent_of_peak = NAN,
        .percent_of_bandwidth = 12.5,
        .batch = batch,
        .precision = STR("fp32"),
        .latency = {.runs = n,
                    .mean = 1.1 + shift,
                    .std = 0.1,
                    .min = 1,
                    .max = 2.75,
                    .median = 1.05 + shift,
                    .p50 = 1.0500001 + shift,
                    .p90 = 2,
                    .p95 = 2.5,
                    .p99 = 2.7,
                    .ci95_low = 1.0 / 3,
                    .ci95_high = 4.0 / 3,
                    .effective_runs = 2.5,
                    .p99_runs_needed = 459},
        .samples_ms = samples,
        .n_samples = n,
        .outliers = outliers,
        .n_outliers = 2,
        .file_bytes = 100 + batch,
        .warmup_runs = 5,
        .warmup_ms = warmup,
        .n_warmup_ms = batch == 2 ? 5 : 0,
        .steady_after = batch == 2 ? 4 : 0,
        .steady = true,
        .samples_per_second = (double)batch * 1000 / 3.3,
        .load_ms = 12.5,
        .session_ms = 3.75,
        .first_run_ms = 9,
        .pre_ms = batch == 2 ? 0.25 : NAN,
        .post_ms = NAN,
        .memory = {.before = 1000,
                   .after = 1200,
                   .run_peak = 1717,
                   .average = 900 + batch,
                   .before_session = 800,
                   .engine_bytes = 400,
                   .peak = 2000 + batch,
                   .peak_anon = 700,
                   .before_anon = 100,
                   .peak_file = 50,
                   .arena_in_use = PROFILE_NOT_TOLD,
                   .arena_requested = 17,
                   .arena_held = PROFILE_NOT_TOLD,
                   .arena_peak = 18,
                   .plan_activations = 600,
                   .fragmentation = batch == 4 ? NAN : 0.25},
        .use = {.present = true,
                .threads = batch == 4 ? 3 : 0,
                .wall_s = 1.5,
                .cpu_s = 2.5,
                .cpu_percent = batch == 2 ? (double)NAN : 166.66666666666666,
                .voluntary_switches = 3,
                .major_faults = 4,
                .io = {.read_bytes = PROFILE_NOT_TOLD,
                       .read_chars = 5,
                       .written_chars = PROFILE_NOT_TOLD},
                .steal_percent = NAN,
                .energy_j = 0.5,
                .frequency_mhz = 2999.9,
                .frequency_min_mhz = NAN,
                .gpu = PROFILE_GPU_UNKNOWN},
        .gflops_per_s = 1.0 / 7,
        .gbytes_per_s = 2.0 / 7,
        .curve = curve,
        .n_curve = 2,
    };
}

/* All that can be measured, at its corners: sizes that are not told, a size that failed, one that was not
 * reached, precisions beside each other. */
static void fill_measured(profile *p)
{
    static const double samples[] = {1.5, 2.75, 0.001, 1.234567};
    static const profile_kernel kernels[] = {{STR("r\x1b"), STR("ReorderInput"), 0.125}};
    static const profile_moment_measured moments[] = {{STR("a"), 5, 6},
                                                      {STR("b"), UINT64_MAX - 1, UINT64_MAX}};
    static const profile_level levels[] = {{STR("L1" HOSTILE), 4.5e11}, {STR("DRAM"), 2e10}};
    static const profile_setting settings[] = {{STR("session.x"), STR("1")},
                                               {STR("k" HOSTILE), STR("")}};
    static profile_time_group groups[] = {
        {.by = "type",
         .name = STR("conv2d"),
         .layers = 3,
         .time_ms = 1.25,
         .time_std_ms = 0.125,
         .flops = 1000,
         .memory = 10},
        {.by = "module",
         .name = STR("a" HOSTILE),
         .layers = 1,
         .time_ms = 0.5,
         .time_std_ms = NAN,
         .flops = UINT64_MAX - 1},
        {.by = "pattern", .name = STR("mlp"), .time_ms = 0.25, .memory = 7}};
    static profile_config configs[5];
    profile_measured *m = ARENA_NEW(p->arena, profile_measured);
    *m = (profile_measured){
        .engine = {.name = STR("ort"),
                   .title = STR("ONNX Runtime"),
                   .version = STR("1.2"),
                   .device = STR("cpu"),
                   .threads = 2,
                   .opt_level = 99,
                   .spin = true,
                   .settings = settings,
                   .n_settings = 2},
        .ceilings = {.present = true,
                     .name = STR("CPU" HOSTILE),
                     .measured = STR("2026-01-01T00:00:00Z"),
                     .dtype = STR("float32"),
                     .threads = 2,
                     .ops_per_s = 1.25e11,
                     .levels = levels,
                     .n_levels = 2},
        .governor = STR("performance"),
        .unit = "tokens",
        .units_per_sample = 127,
        .concurrency = 2,
        .rate = 30.5,
        .seed = 7,
        .interrupted = true,
        .stopped = STR("The next size does not fit."),
        .configs = configs,
        .n_configs = 5,
        .choice = {.batch = 4,
                   .precision = STR("fp32"),
                   .samples_per_second = 1.5,
                   .fastest_batch = 16,
                   .fastest_precision = STR("fp16" HOSTILE),
                   .fastest_samples_per_second = 1.51,
                   .room_bytes = UINT64_MAX,
                   .why = STR("Because" HOSTILE)},
    };
    configs[0] = config_of(4, samples, 4, 0.5);
    configs[1] = config_of(2, samples, 3, 0);
    configs[2] = config_of(4, samples, 2, 0.25);
    configs[2].precision = STR("fp16");
    configs[2].partial = true;
    configs[2].output_error = (profile_output_error){.present = true,
                                                     .max_abs = 1e-3,
                                                     .mean_abs = 1e-5,
                                                     .relative = NAN,
                                                     .cosine = NAN,
                                                     .elements = 9,
                                                     .left_out = 1};
    configs[3] = (profile_config){
        .batch = 8, .precision = STR("fp32"), .code = "memory", .error = STR("No " HOSTILE)};
    configs[4] = config_of(16, NULL, 0, 0);
    m->ledger = (profile_ledger){.present = true,
                                 .runs = 9,
                                 .run_ms = 1.5,
                                 .layers_ms = 1.25,
                                 .engine_ms = 0.125,
                                 .dispatch_ms = 0.0625,
                                 .unexplained_ms = 0.0625,
                                 .bias_us = 0.1,
                                 .overhead_us = 0.2,
                                 .latency_ms = 1.4,
                                 .kernels = 3,
                                 .fused_kernels = 1,
                                 .unmapped_layers = 1,
                                 .engine_kernels = kernels,
                                 .n_engine_kernels = 1,
                                 .groups = groups,
                                 .n_groups = 3};
    m->plan = (profile_plan_check){.present = true,
                                   .planned_expanded = 9,
                                   .planned_in_order = 4,
                                   .planned_as_run = 6,
                                   .planned_with_kept = 7,
                                   .planned_no_reuse = 7,
                                   .measured_no_reuse = 8,
                                   .workspace = UINT64_MAX,
                                   .planned_peak = 4,
                                   .measured_peak = 5,
                                   .peak_node = STR("a"),
                                   .moments = moments,
                                   .n_moments = 2,
                                   .shapes_checked = 3,
                                   .shapes_equal = 2,
                                   .first_unequal = STR("b")};
    p->measured = m;
}

static profile *hostile_profile(void)
{
    static const int64_t dims[] = {1, -1, 0};
    static profile_tensor tensors[] = {
        {STR(HOSTILE), IR_FLOAT32, "tensor", {3, dims}, "exact"},
        {STR("s"), IR_UNDEFINED, "sequence", {.rank = -1}, "unknown"},
        {{"nul\0name", 8}, IR_INT64, "tensor", {.rank = 0}, NULL}};
    profile *p = profile_new(LIMIT);
    p->model = STR(HOSTILE);
    p->format = STR("onnx");
    p->lens = STR("assay");
    p->inputs = p->outputs = p->values = tensors;
    p->n_inputs = p->n_outputs = p->n_values = 3;
    static const profile_batch_axis axes[] = {{STR("x"), 1}, {STR(HOSTILE), INT64_MIN}};
    p->batch = (profile_batch){.certainty = "tried",
                               .present = true,
                               .why = STR("dimension 1 of 'x' " HOSTILE),
                               .axes = axes,
                               .n_axes = 2};
    p->layers = ARENA_ARRAY(p->arena, profile_layer, 2);
    p->n_layers = 2;
    for (int i = 0; i < 2; i++)
        p->layers[i] = (profile_layer){.name = tensors[2 * i].name,
                                       .op = STR("Conv"),
                                       .type = STR("conv2d"),
                                       .inputs = tensors,
                                       .n_inputs = 3,
                                       .outputs = tensors,
                                       .n_outputs = (uint32_t)i * 2,
                                       .times = 3,
                                       .flops = UINT64_MAX,
                                       .macs = INT64_MAX,
                                       .memory = 7,
                                       .arithmetic_intensity = 1.0 / 3,
                                       .compute_bound = i,
                                       .band = "memory",
                                       .certainty = i ? PROFILE_ASSUMED : PROFILE_UNKNOWN,
                                       .time_ms = i ? 0.1 : NAN,
                                       .time_std_ms = i ? 0 : NAN};
    p->total_flops = UINT64_MAX;
    p->arithmetic_intensity = 1e300;
    p->anything_assumed = p->weights_differ = true;
    p->warnings.dropped = 3;
    notes_add(&p->warnings, "code", STR(HOSTILE), NULL, "A sentence.");
    return p;
}

static void test_measured(void **state)
{
    (void)state;
    profile *p = hostile_profile();
    round_trip(p);
    fill_measured(p);
    round_trip(p);
    p->measured->n_configs = 1; /* the one at the top alone */
    round_trip(p);
    p->measured->configs += 3; /* nothing ran */
    p->measured->unit = "samples";
    round_trip(p);
    p->measured->gpu = (profile_gpu){.why = STR("GPU: none " HOSTILE)};
    round_trip(p);
    profile_free(p);
}

static void fill_gpu(profile *p)
{
    static const profile_gpu_event events[] = {{STR("gemm" HOSTILE), false, 12, 0.25},
                                               {STR("Memcpy HtoD"), true, UINT64_MAX, 1.0 / 3}};
    fill_measured(p);
    p->measured->configs[0].use.gpu = (profile_gpu_use){.percent = 40.5,
                                                        .percent_max = 60,
                                                        .memory_percent = 0,
                                                        .power_w = 99.75,
                                                        .power_max_w = 200,
                                                        .temperature_max_c = 55,
                                                        .memory_peak = 1ull << 31,
                                                        .memory_total = 8ull << 30,
                                                        .process_peak = PROFILE_NOT_TOLD};
    p->measured->configs[0].percent_of_peak = 62.5;
    p->measured->configs[0].percent_of_bandwidth = 101.25;
    p->measured->gpu = (profile_gpu){.available = true,
                                     .name = STR("Stand-in"),
                                     .driver = STR("535.1"),
                                     .devices = 2,
                                     .ranges = true,
                                     .events = events,
                                     .n_events = 2};
}

/* From 4 planned by 9, 4, 6 and 7 to 5 measured; the workspace was not told. */
static void expect_steps(const assay_result *of)
{
    static const struct {
        const char *cause;
        int64_t bytes;
    } want[] = {{"planned", 4},  {"expanded_operators", 5}, {"engine_order", -5},
                {"in_place", 2}, {"kept_buffers", 1},       {"unexplained", -2},
                {"measured", 0}};
    double sum = 0;
    for (size_t i = 0; i < 7; i++) {
        sum += (double)want[i].bytes;
        assert_string_equal(text_at(of, "plan_check.ledger.%zu.cause", i), want[i].cause);
        assert_true(number_at(of, "plan_check.ledger.%zu.bytes", i) == (double)want[i].bytes);
        assert_true(number_at(of, "plan_check.ledger.%zu.total_bytes", i) == sum);
    }
    assert_true(sum == 5);
    assert_int_equal(count_at(of, "plan_check.ledger"), 7);
}

/* The second configuration has the smallest batch: its sections are at the top. */
#define CONFIG "configurations.1."
static void expect_studies(const assay_result *of)
{
    assert_true(number_at(of, "utilization.wall_s") == 1.5);
    assert_true(number_at(of, "utilization.major_faults") == 4);
    assert_true(isnan(number_at(of, "io.read_bytes")));
    assert_true(number_at(of, "utilization.energy_j") == 0.5);
    assert_true(isnan(number_at(of, "utilization.steal_percent")));
    assert_true(number_at(of, "memory.anonymous_peak") == 600);
    assert_true(number_at(of, "memory.arena_requested") == 17);
    assert_true(number_at(of, "end_to_end.preprocess_ms") == 0.25);
    assert_int_equal(count_at(of, "memory.curve"), 2);
    assert_true(number_at(of, "memory.curve.1.anonymous") == 16);
    assert_true(number_at(of, "context.engine.threads") == 2);
    assert_true(number_at(of, "context.engine.spin") == 1);
    assert_string_equal(text_at(of, "context.governor"), "performance");
    assert_int_equal(count_at(of, "context.engine.provider_options"), 2);
    assert_true(number_at(of, "ledger.run_ms") == 1.5);
    assert_true(number_at(of, "ledger.fused_kernels") == 1);
    assert_true(number_at(of, "plan_check.measured_peak") == 5);
    assert_int_equal(count_at(of, "plan_check.timeline"), 2);
    assert_string_equal(text_at(of, "plan_check.first_unequal"), "b");
    assert_int_equal(whole_at(of, "plan_check.timeline.1.live_bytes"), UINT64_MAX - 1);
    assert_true(isnan(number_at(of, "plan_check.timeline.1.planned_bytes")));
    assert_true(number_at(of, "plan_check.planned_expanded") == 9);
    assert_true(number_at(of, "plan_check.planned_with_kept") == 7);
    expect_steps(of);
}

/* Warm-up, provider options and sums of layers come back, and through the public functions; so does what is not
 * told: an empty batch has no throughput, and nothing is zero that nobody measured. */
static void test_measured_views(void **state)
{
    (void)state;
    profile *p = hostile_profile();
    fill_measured(p);
    p->measured->configs[0] = (profile_config)PROFILE_CONFIG_UNKNOWN;
    p->measured->configs[0].latency = p->measured->configs[1].latency;
    p->measured->configs[0].batch = 32;
    p->measured->configs[0].precision = STR("fp32");
    round_trip(p);
    sbuf text = written(p, "json");
    assay_result of = {.kind = &profile_kind, .saved = true, .p = read_text(text.p)};
    assert_true(profile_settle(of.p));
    assert_int_equal(whole_at(&of, CONFIG "batch"), 2);
    assert_int_equal(count_at(&of, "latency.warmup_ms"), 5);
    assert_true(number_at(&of, "latency.warmup_ms.4") == 1.000001);
    assert_int_equal(whole_at(&of, "latency.steady_after"), 4);
    assert_string_equal(text_at(&of, "throughput.unit"), "tokens");
    assert_float_equal(number_at(&of, "throughput.tokens_per_second"),
                       number_at(&of, CONFIG "samples_per_second") * 127, 1e-6);
    assert_string_equal(text_at(&of, "configurations.3.code"), "memory");
    assert_int_equal(whole_at(&of, "configurations.0.batch"), 32);
    assert_int_equal(whole_at(&of, "configurations.0.runs"), 3);
    assert_true(isnan(number_at(&of, "configurations.0.samples_per_second")));
    assert_true(isnan(number_at(&of, "configurations.0.gflops_per_s")));
    assert_true(isnan(number_at(&of, "configurations.0.cpu_percent")));
    assert_true(isnan(number_at(&of, "configurations.0.cold_start.session_ms")));
    assert_int_equal(count_at(&of, "configurations.0.latency.warmup_ms"), 0);
    assert_string_equal(text_at(&of, "context.engine.provider_options.0.key"), "session.x");
    assert_int_equal(whole_at(&of, "ledger.groups.0.layers"), 3);
    assert_int_equal(whole_at(&of, "ledger.groups.0.flops"), 1000);
    assert_string_equal(text_at(&of, "ledger.groups.0.by"), "type");
    assert_string_equal(text_at(&of, "ledger.groups.0.name"), "conv2d");
    assert_true(number_at(&of, "ledger.groups.0.time_std_ms") == 0.125);
    assert_true(isnan(number_at(&of, "ledger.groups.1.time_std_ms")));
    assert_int_equal(count_at(&of, "ledger.groups"), 3);
    expect_studies(&of);
    profile_free(of.p);
    sbuf_free(&text);
    profile_free(p);
    refuse(DOC("\"ledger\": {\"groups\": [{\"by\": \"colour\"}]}"), "ledger.groups[0]");
}

/* A result without throughput has none: not in what is compared, kept or shown either. */
static void test_no_throughput(void **state)
{
    static const char *const absent[] = {
        "throughput", "best-throughput", "memory", "cpu", "flops-per-second",
        "session",    "first-run",       "p95",    "p99"};
    (void)state;
    profile *p = read_text(
        DOC("\"latency\": {\"runs\": 2, \"mean\": 2, \"p50\": 1.5, \"samples_ms\": [1, 2]}"));
    metric_value v;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (metric_find(str_of(absent[i]))->get(p, &v))
            fail_msg("%s is %g.", absent[i], v.v);
    assert_true(metric_find(STR("latency"))->get(p, &v) && v.v == 2);
    sbuf text = written(p, "json");
    assert_null(strstr(text.p, "per_second"));
    assert_null(strstr(text.p, "fps\": 0"));
    assert_null(strstr(text.p, "\"memory\": {\"peak\""));
    sbuf_free(&text);
    profile_free(p);
}

/* The GPU, its use and the shares of ceilings come back, and through the public functions. */
static void test_gpu(void **state)
{
    (void)state;
    profile *p = hostile_profile();
    fill_gpu(p);
    round_trip(p);
    sbuf text = written(p, "json");
    assay_result of = {.kind = &profile_kind, .saved = true, .p = read_text(text.p)};
    assert_true(profile_settle(of.p));
    assert_true(number_at(&of, "gpu.available") == 1 && number_at(&of, "gpu.ranges") == 1);
    assert_int_equal(count_at(&of, "gpu.events"), 2);
    assert_string_equal(text_at(&of, "gpu.name"), "Stand-in");
    assert_string_equal(text_at(&of, "gpu.driver"), "535.1");
    assert_int_equal(whole_at(&of, "gpu.events.0.count"), 12);
    assert_true(number_at(&of, "gpu.events.0.time_ms") == 0.25);
    assert_true(isnan(number_at(&of, "gpu.events.1.count")));
    assert_string_equal(text_at(&of, "gpu.events.1.name"), "Memcpy HtoD");
    assert_true(number_at(&of, "configurations.0.utilization.gpu_percent") == 40.5);
    assert_true(number_at(&of, "configurations.0.utilization.gpu_power_w") == 99.75);
    assert_true(number_at(&of, "configurations.0.utilization.gpu_memory_peak") ==
                (double)(1ull << 31));
    assert_true(number_at(&of, "configurations.0.throughput.percent_of_peak") == 62.5);
    assert_true(number_at(&of, "configurations.0.throughput.percent_of_bandwidth") == 101.25);
    profile_free(of.p);
    sbuf_free(&text);
    p->measured = NULL;
    of.p = p;
    assert_int_equal(count_at(&of, "gpu"), 0);
    profile_free(p);
}

/* A watched process has no model; what the system did not tell stays so. */
static void test_watch(void **state)
{
    static const profile_watch_sample samples[] = {
        {0, 0, 1000, 600, 400, 1, 1, 0, 0, 5, 0},
        {0.125, 187.5, UINT64_MAX - 1, 700, PROFILE_NOT_TOLD, 2, 9, 4096, PROFILE_NOT_TOLD, 6, 1}};
    (void)state;
    profile *p = profile_new(LIMIT);
    p->watch = ARENA_NEW(p->arena, profile_watch);
    *p->watch = (profile_watch){.command = STR("sh -c " HOSTILE),
                                .pid = 42,
                                .exit_code = INT64_MIN,
                                .interrupted = true,
                                .interval_s = 0.1,
                                .wall_s = 1.5,
                                .cpu_s = 2.25,
                                .cpu_percent = 150,
                                .peak_resident = 1 << 20,
                                .average_resident = 1 << 19,
                                .peak_anon = 7,
                                .peak_file = PROFILE_NOT_TOLD,
                                .peak_processes = 3,
                                .peak_threads = 9,
                                .minor_faults = 6,
                                .read_bytes = 4096,
                                .written_bytes = PROFILE_NOT_TOLD,
                                .samples = samples,
                                .n_samples = 2};
    round_trip(p);
    sbuf text = written(p, "json");
    profile *q = read_text(text.p);
    assert_non_null(q->watch);
    assert_true(q->watch->pid == 42 && q->watch->exit_code < 0 && q->watch->interrupted);
    assert_true(q->watch->peak_file == PROFILE_NOT_TOLD && q->watch->n_samples == 2);
    assert_true(q->watch->samples[1].written_bytes == PROFILE_NOT_TOLD);
    assert_float_equal(q->watch->samples[1].cpu_percent, 187.5, 0);
    sbuf_free(&text);
    profile_free(q);
    p->watch->exit_code = 137;
    round_trip(p);
    profile_free(p);
}

/* More samples than a file holds are thinned once, not again. */
static void test_thinned(void **state)
{
    (void)state;
    const uint32_t sizes[] = {99999, 100000, 100001, 199999, 200000};
    double *samples = calloc(200000, sizeof *samples);
    for (uint32_t i = 0; i < 200000; i++)
        samples[i] = 1 + i % 1000 * 1e-3;
    for (int i = 0; i < 5; i++) {
        profile *p = hostile_profile();
        fill_measured(p);
        p->measured->n_configs = 1;
        p->measured->configs[0].samples_ms = samples;
        p->measured->configs[0].n_samples = sizes[i];
        sbuf one = written(p, "json");
        profile *q = read_text(one.p);
        assert_true(q->measured->configs[0].n_samples <= 100000);
        sbuf two = written(q, "json");
        assert_string_equal(one.p, two.p);
        sbuf_free(&one);
        sbuf_free(&two);
        profile_free(q);
        profile_free(p);
    }
    free(samples);
}

/* ---- documents that are not ours of today ---- */

static void test_by_hand(void **state)
{
    (void)state;
    profile *p = read_text("\xef\xbb\xbf" DOC("\"total_flops\": 7, \"later\": [{\"a\": 1e9}]"));
    assert_true(p->total_flops == 7 && !p->measured && !p->mapping && !p->n_layers);
    profile_free(p);
    p = read_text(
        DOC("\"latency\": {\"runs\": 2, \"mean\": 2, \"p50\": 1.5, \"samples_ms\": [1, 2]}"));
    assert_true(p->measured && p->measured->n_configs == 1);
    const profile_config *c = &p->measured->configs[0];
    assert_true(c->batch == 1 && c->n_samples == 2 && c->latency.median == 1.5);
    assert_true(c->memory.arena_peak == PROFILE_NOT_TOLD && isnan(c->use.energy_j));
    round_trip(p);
    profile_free(p);
    p = read_text(
        DOC("\"layers\": [{\"name\": \"x\", \"outputs\": [\"a\", \"b\"]}], "
            "\"modules\": [{\"depth\": 0}, {\"depth\": 1}, {\"depth\": 2}, {\"depth\": 1}]"));
    assert_true(p->n_layers == 1 && isnan(p->layers[0].time_ms) && p->layers[0].n_outputs == 2);
    assert_true(p->layers[0].outputs[1].shape.rank == -1 && p->modules[3].parent == 0);
    assert_true(p->modules[2].parent == 1);
    round_trip(p);
    profile_free(p);
    /* Slice backwards to the end: what is written is read. */
    p = read_text(DOC(
        "\"layers\": [{\"attributes\": {\"ends\": [-9223372036854775808, 9223372036854775807]}}]"));
    assert_true(p->layers[0].attributes.items[0].v.ints[0] == INT64_MIN);
    round_trip(p);
    profile_free(p);
    refuse_as(ASSAY_ERR_UNSUPPORTED, "{\"x\": 0, \"schema\": \"assay.profile/2\"}", "2");
    /* Of a newer minor version what is not known is skipped. */
    p = read_text(
        "{\"schema\": \"assay.profile/1.7\", \"later\": {\"x\": [1]}, \"total_macs\": 5}");
    assert_true(p->total_macs == 5);
    profile_free(p);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("", "JSON");
    refuse("[1]", "JSON");
    refuse("{\"a\": 1}", "schema");
    refuse("{\"schema\": \"assay.comparison/1\"}", "assay.comparison");
    refuse("{\"schema\": \"x/1\"}", "'x'");
    refuse("{\"schema\": 1}", "string");
    refuse("{\"a\": nul", "JSON");
    refuse(DOC("\"total_flops\": -1"), "total_flops");
    refuse(DOC("\"total_flops\": 1.5"), "total_flops");
    refuse(DOC("\"total_flops\": 18446744073709551616"), "2^64");
    refuse(DOC("\"total_flops\": \"7\""), "total_flops");
    refuse(DOC("\"total_flops\": 1, \"total_flops\": 1"), "total_flops");
    refuse(DOC("\"arithmetic_intensity\": NaN"), "arithmetic_intensity");
    refuse(DOC("\"arithmetic_intensity\": 1e999"), "arithmetic_intensity");
    refuse(DOC("\"arithmetic_intensity\": Infinity"), "arithmetic_intensity");
    refuse(DOC("\"layers\": [{}, {\"flops\": true}]"), "layers[1].flops");
    refuse(DOC("\"layers\": [{\"inputs\": [\"a\"], \"input_shapes\": []}, {\"inputs\": [], "
               "\"input_shapes\": [[1]]}]"),
           "layers[0].input_shapes");
    refuse(DOC("\"layers\": [{\"output_shapes\": [[1, \"x\"]]}]"), "layers[0].output_shapes");
    refuse(DOC("\"modules\": [{\"depth\": 1}]"), "modules");
    refuse(DOC("\"values\": {\"x\": {}, \"x\": {}}"), "values.x");
    refuse(DOC("\"latency\": {\"samples_ms\": [1, null]}"), "latency.samples_ms");
    refuse(DOC("\"devices\": [{\"name\": \"a\"}], \"map\": {}"), "hardware");
    refuse(DOC("\"map\": {\"pareto\": {\"rows\": [0]}}"), "pareto.rows");
    refuse(DOC("\"model\": \"x"), "model: ");
    refuse(DOC("\"model\": \"x\"") " x", "byte");
    refuse(DOC("\"training\": {\"optimizers\": [{},{},{},{},{},{}]}"), "optimizers");
    refuse(DOC("\"context\": {\"engine\": {\"threads\": 2147483648}}"), "context.engine.threads");
}

static void test_document(void **state)
{
    (void)state;
    assay_error err = {0};
    char schema[ASSAY_SCHEMA_BYTES];
    assert_int_equal(assay_result_schema("tests/data/results/profile-0.1.json", schema, &err),
                     ASSAY_OK);
    assert_string_equal(schema, "assay.profile");
    assert_int_equal(assay_result_schema("tests/models/gru_tagger.onnx", schema, &err),
                     ASSAY_ERR_MALFORMED);
    assert_string_equal(schema, "");
    assert_int_equal(assay_result_schema("no/such", schema, &err), ASSAY_ERR_SYSTEM);
}

/* ---- numbers ---- */

static double number(const char *text)
{
    assay_error err = {0};
    double v;
    json_scan s = scan_text(str_of(text), 0, "t", NULL, &err);
    assert_true(scan_f64(&s, &v) && scan_end(&s));
    return v;
}

static void test_numbers(void **state)
{
    (void)state;
    assert_true(number("0") == 0 && number("-0.5") == -0.5 &&
                number("123456789012345.6") == 123456789012345.6);
    assert_true(number("0.1") == 0.1 && number("1e-7") == 1e-7 && number("2.5E+3") == 2500);
    assert_true(number("9007199254740993") == 9007199254740992.0);
    assert_true(number("0.30000000000000004") == 0.1 + 0.2);
    assert_true(number("1.7976931348623157e308") == 1.7976931348623157e308);
    srand(7);
    for (int i = 0; i < 20000; i++) {
        char text[40];
        double v = ldexp(rand() / (double)RAND_MAX, rand() % 80 - 40);
        snprintf(text, sizeof text, "%.17g", v);
        assert_true(number(text) == v);
        snprintf(text, sizeof text, "%.6f", v);
        assert_true(number(text) == strtod(text, NULL));
    }
}

int run_test_profile_read(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static),        cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_fused),         cmocka_unit_test(test_measured),
        cmocka_unit_test(test_gpu),           cmocka_unit_test(test_measured_views),
        cmocka_unit_test(test_no_throughput), cmocka_unit_test(test_watch),
        cmocka_unit_test(test_thinned),       cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_document),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
